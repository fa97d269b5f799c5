// SPDX-License-Identifier: Apache-2.0
#include "lowering/validate/described.h"

namespace tilewright::validate {

namespace {

// The cell of an operand at a point of the meaning's dimensions.
std::int64_t cell_of(const machine::Meaning::Operand& operand,
                     const std::vector<std::int64_t>& point) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < operand.dims.size(); ++d)
    at = at * operand.shape[d] + point[operand.dims[d]];
  return at;
}

// The next point of dimensions begin .. end; false after the last.
bool advance(std::vector<std::int64_t>& point, const std::vector<std::int64_t>& lengths,
             std::size_t begin, std::size_t end) {
  for (std::size_t d = end; d-- > begin;) {
    if (++point[d] < lengths[d]) return true;
    point[d] = 0;
  }
  return false;
}

Datum widened(Arithmetic& arithmetic, ir::ScalarType type, const Datum& value, int width) {
  const Sort from = int_sort(ir::type_info(type).width);
  if (ir::is_unsigned(type)) return arithmetic.zext(value, width);
  return arithmetic(TermOp::SExt, int_sort(width), from, value);
}

}  // namespace

std::optional<machine::Meaning> find_emission(ir::Context& context, std::string_view intrinsic) {
  for (const std::string_view name : machine::instruction_names()) {
    const auto instruction = machine::find_instruction(name);
    if (!instruction.ok() || instruction->emission != intrinsic) continue;
    auto meaning = machine::meaning(context, *instruction);
    if (!meaning.ok()) continue;
    bool is_full = true;
    for (const auto& operand : meaning->operands) is_full &= operand.broadcast == 1;
    if (is_full) return *std::move(meaning);
  }
  return std::nullopt;
}

std::vector<Datum> execute_described(
    Arithmetic& arithmetic, const machine::Meaning& meaning,
    const std::function<Datum(std::size_t, std::int64_t)>& element) {
  const auto& left = meaning.operands[meaning.left];
  const auto& right = meaning.operands[meaning.right];
  const auto& start = meaning.operands[meaning.accumulator];
  const std::size_t all = meaning.dims.size();
  std::vector<std::int64_t> point(all, 0);
  std::vector<Datum> out;
  do {
    std::vector<std::pair<Datum, Datum>> pairs;
    do {
      pairs.emplace_back(element(meaning.left, cell_of(left, point)),
                         element(meaning.right, cell_of(right, point)));
    } while (advance(point, meaning.lengths, meaning.num_results, all));
    Datum sum = element(meaning.accumulator, cell_of(start, point));
    if (meaning.unit.kind == units::DotKind::FusedChain) {
      for (const std::int64_t t : meaning.unit.order) {
        const auto& [a, b] = pairs[static_cast<std::size_t>(t)];
        sum = arithmetic(TermOp::FusedStep, kF32, int_sort(16), a, b, sum,
                         meaning.unit.subnormals ? 1 : 0);
      }
    } else {
      const int width = ir::type_info(start.type).width;
      for (const auto& [a, b] : pairs) {
        const Datum product = arithmetic(TermOp::Mul, int_sort(width), int_sort(width),
                                         widened(arithmetic, left.type, a, width),
                                         widened(arithmetic, right.type, b, width));
        sum = arithmetic(TermOp::Add, int_sort(width), int_sort(width), sum, product);
      }
    }
    out.push_back(sum);
  } while (advance(point, meaning.lengths, 0, meaning.num_results));
  return out;
}

}  // namespace tilewright::validate

// SPDX-License-Identifier: Apache-2.0
//
// A term has the value of the expression that it was made from, and making it anew gives itself. Expected values are
// those of the interpreter of algorithms, within its bound on rounding. TILEWRIGHT_FIRST_SEED and TILEWRIGHT_CASES
// choose other cases.
#include <cstdlib>

#include "frontend/ir/evaluate.h"
#include "frontend/ir/generate.h"
#include "frontend/ir/interpret.h"
#include "frontend/ir/walk.h"
#include "tests/unit/frontend/algebra/term_cases.h"

namespace tilewright::algebra {
namespace {

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given ? std::strtoull(given, nullptr, 10) : otherwise;
}

// The unknown functions of from_expr, by the meaning of the operations that they stand for.
double function(const std::string& name, std::span<const double> args, bool* known) {
  const auto type_after = [&](const char* word) {
    const std::size_t at = name.find(word);
    return ir::parse_type(name.substr(at + std::string_view(word).size()));
  };
  for (double arg : args)
    if (std::abs(arg) > 0x1p52) *known = false;
  bool undefined = false;
  if (const auto of = name.find(" of "); of != std::string::npos) {
    const ir::ScalarType type = *type_after(" of ");
    if (ir::is_complex(type)) *known = false;
    if (ir::is_complex(type)) return 0;
    for (int op = 0; op < ir::kNumOps; ++op) {
      if (ir::kOpInfo[op].text != name.substr(0, of)) continue;
      // The parts of a complex number are no number of the line.
      const auto code = static_cast<ir::OpCode>(op);
      if (code == ir::OpCode::Re || code == ir::OpCode::Im || code == ir::OpCode::Complex ||
          code == ir::OpCode::Conj || !ir::op_accepts(code, type)) {
        *known = false;
        return 0;
      }
      // No integer, or one that a double does not hold.
      for (double arg : args)
        if (!(std::abs(arg) < 0x1p62)) *known = false;
      if (!*known) return 0;
      ir::Scalar in[3] = {};
      for (std::size_t i = 0; i < args.size(); ++i)
        in[i].i = type == ir::ScalarType::U64 && args[i] >= 0x1p63
                      ? static_cast<std::int64_t>(static_cast<std::uint64_t>(args[i]))
                      : static_cast<std::int64_t>(args[i]);
      return ir::integer_value(
          type, ir::evaluate_op(static_cast<ir::OpCode>(op), type, in, &undefined).i);
    }
  }
  if (name.starts_with("round_to")) {
    const ir::ScalarType grid = *ir::parse_type(name.substr(9, name.find(" to ", 9) - 9));
    return ir::round_to_type(*type_after(" to "), ir::round_to_type(grid, args[0]));
  }
  if (name.starts_with("truncate")) return std::trunc(args[0]);
  if (name == "rint") return std::nearbyint(args[0]);
  if (name == "tanh") return std::tanh(args[0]);
  if (name == "erf") return std::erf(args[0]);
  if (name == "sin") return std::sin(args[0]);
  if (name == "cos") return std::cos(args[0]);
  *known = false;  // saturate: the type it is from is not known
  return 0;
}

// Cells of every equation against the interpreter.
struct Count {
  int cells = 0;
  int skipped = 0;
};

void compare(std::uint64_t seed, const ir::GenerateOptions& options, Count* count) {
  ir::Context context;
  const ir::Algorithm algorithm = ir::random_algorithm(context, seed, options);
  const auto bindings = ir::random_bindings(algorithm, seed, 4);
  if (!bindings) return;
  const ir::TensorMap inputs = ir::random_inputs(algorithm, *bindings, seed);
  const auto expected = ir::interpret_with_bound(algorithm, *bindings, inputs);
  if (!expected.ok()) return;
  TermStore store;
  TermPoint point;
  std::vector<std::int64_t> cell;
  const ir::Equation* equation = nullptr;
  point.index = [&](Symbol name) {
    if (const auto bound = bindings->find(name); bound != bindings->end()) return bound->second;
    for (std::size_t i = 0; i < equation->indices.size(); ++i)
      if (equation->indices[i] == name) return cell[i];
    return std::int64_t{0};
  };
  point.read = [&](Symbol tensor, std::span<const std::int64_t> indices) {
    const auto& from = inputs.contains(tensor) ? inputs.at(tensor) : expected->at(tensor).value;
    for (std::size_t i = 0; i < indices.size(); ++i)
      if (indices[i] < 0 || indices[i] >= from.shape[i]) return std::nan("");
    const ir::Scalar value = from.data[static_cast<std::size_t>(from.offset(indices))];
    return ir::is_float(from.type) ? value.f : ir::integer_value(from.type, value.i);
  };
  bool known = true;
  point.call = [&](const std::string& name, std::span<const double> args) {
    return function(name, args, &known);
  };
  for (const ir::Equation& each : algorithm.equations) {
    equation = &each;
    if (each.is_view || !each.parts.empty()) continue;
    Leaves leaves;
    leaves.read = [&](const ir::Read& read, std::span<const Term> indices) {
      const ir::Input* input = algorithm.find_input(read.tensor);
      return input ? input_cell(store, *input, indices) : Term();
    };
    const Term term = from_expr(store, each.value, leaves);
    const Term again =
        store.inline_values(term, [](std::int64_t, std::span<const Term>) { return Term(); });
    EXPECT_TRUE(again == term) << seed << "\n" << store.print(store.subtract(again, term));
    const ir::BoundedTensor& want = expected->at(each.name);
    cell.assign(want.value.shape.size(), 0);
    for (std::int64_t flat = 0; flat < std::min<std::int64_t>(want.value.size(), 12); ++flat) {
      std::int64_t rest = flat;
      for (std::size_t i = cell.size(); i-- > 0;) {
        cell[i] = rest % want.value.shape[i];
        rest /= want.value.shape[i];
      }
      const ir::Scalar value = want.value.data[static_cast<std::size_t>(flat)];
      const double reference =
          ir::is_float(each.type) ? value.f : ir::integer_value(each.type, value.i);
      const double bound = want.bound[static_cast<std::size_t>(flat)];
      known = true;
      const std::optional<double> got = evaluate(store, term, point);
      if (!got || !known || std::isnan(*got) || std::isnan(reference) || !std::isfinite(bound) ||
          std::abs(reference) > 0x1p52) {
        ++count->skipped;
        continue;
      }
      ++count->cells;
      const bool close = *got == reference ||
                         std::abs(*got - reference) <= bound + 1e-7 * (1 + std::abs(reference));
      EXPECT_TRUE(close) << "seed " << seed << ": " << *got << " instead of " << reference << " +- "
                         << bound << "\n"
                         << ir::print(each.value) << "\n"
                         << store.print(term);
      if (!close) return;
    }
  }
}

TEST(FromExpr, HasTheValueOfTheExpression) {
  const std::uint64_t first = number_of("TILEWRIGHT_FIRST_SEED", 0);
  const std::uint64_t cases = number_of("TILEWRIGHT_CASES", 150);
  Count count;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    ir::GenerateOptions options;
    options.declarations = options.loops = options.in_place = false;
    if (seed % 3 == 0) options.types = {ir::ScalarType::F64, ir::ScalarType::F32};
    if (seed % 3 == 1)
      options.types = {ir::ScalarType::I32, ir::ScalarType::I8, ir::ScalarType::Bool};
    compare(seed, options, &count);
  }
  EXPECT_GT(count.cells, count.skipped);
  RecordProperty("cells", count.cells);
  RecordProperty("skipped", count.skipped);
}

}  // namespace
}  // namespace tilewright::algebra

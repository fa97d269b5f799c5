// SPDX-License-Identifier: Apache-2.0
//
// From the text of an instruction to its meaning. Law: a Meaning comes out only when every operand is an
// input, every part has the one form that a unit and a match rely on, and all registers have one size.
#include "schedules/machine/instruction.h"

#include <algorithm>
#include <bit>
#include <set>

#include "frontend/base/format.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "schedules/machine/embedded.h"
#include "schedules/machine/text.h"

namespace tilewright::machine {

namespace {

using ir::Expr;

// Takes one description apart. Every failure names the instruction.
class Reading {
 public:
  Reading(ir::Context& context, const Instruction& instruction)
      : context_(context), instruction_(instruction) {}

  Result<Meaning> run() {
    auto parsed = ir::parse_algorithm(context_, Source("algorithm", instruction_.algorithm));
    if (!parsed.ok())
      return misfit("algorithm", "its algorithm: " + parsed.diagnostics()[0].message);
    out_.algorithm = *std::move(parsed);
    if (out_.algorithm.name.text() != instruction_.name)
      return misfit("algorithm", "its algorithm has another name");
    TILEWRIGHT_CHECK_OK(equations());
    TILEWRIGHT_CHECK_OK(operands());
    TILEWRIGHT_CHECK_OK(term());
    TILEWRIGHT_CHECK_OK(unit());
    return std::move(out_);
  }

 private:
  // The first piece of evidence names the key, which a reader turns into a place.
  Failure misfit(const std::string& key, const std::string& what) const {
    return fail(Diagnostic{Code::InstructionMalformed,
                           {},
                           "the description of instruction " + in_backticks(instruction_.name) +
                               " does not fit together: " + what,
                           "see docs/machines.md for the form of an instruction",
                           {},
                           {{key, instruction_.name}}});
  }

  static bool plain(const std::vector<Expr>& shape) {
    return std::all_of(shape.begin(), shape.end(), [](Expr e) {
      const auto* n = e.as<ir::IntConst>();
      return n && n->value >= 1 && n->value <= 1024;
    });
  }
  static std::vector<std::int64_t> literals(std::span<const Expr> shape) {
    std::vector<std::int64_t> out;
    for (Expr e : shape) out.push_back(e.as<ir::IntConst>()->value);
    return out;
  }

  // sum[i] = fold(...) and output d[i] = c[i] + sum[i].
  Result<Ok> equations() {
    const ir::Algorithm& a = out_.algorithm;
    if (!a.extents.empty() || a.equations.size() != 2)
      return misfit(
          "algorithm",
          "it needs no extents and two equations: a reduction, and an output that adds it "
          "to an operand");
    const ir::Equation& sum = a.equations[0];
    const ir::Equation& result = a.equations[1];
    const ir::Fold* fold = sum.value.as<ir::Fold>();
    if (!fold || !fold->is_plain() || sum.is_output || !result.is_output || sum.type != result.type)
      return misfit("algorithm",
                    "the first equation is a reduction, the second an output of its type");
    if (!plain(sum.shape) || sum.shape != result.shape)
      return misfit("algorithm", "both equations have one shape of literal extents from 1 to 1024");
    for (std::size_t i = 0; i < fold->vars.size(); ++i)
      if (!(fold->lower[i] == context_.index(0)) || !plain({fold->upper[i]}))
        return misfit("algorithm", "the reduction runs from 0 to literals");
    out_.monoid = fold->monoid_kind();
    out_.term = fold->body[0];
    out_.num_results = sum.indices.size();
    out_.dims = sum.indices;
    out_.dims.insert(out_.dims.end(), fold->vars.begin(), fold->vars.end());
    out_.lengths = literals(sum.shape);
    for (std::int64_t n : literals(std::span(fold->upper.begin(), fold->upper.size())))
      out_.lengths.push_back(n);
    // The combination of the two, in either order.
    const auto* combine = result.value.as<ir::Op>();
    if (!combine || combine->op != ir::monoid_op(fold->monoid_kind()))
      return misfit(
          "algorithm",
          "the output combines an operand with the reduction by the reduction's own monoid");
    for (std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      const auto* c = combine->args[side].as<ir::Read>();
      const auto* s = combine->args[1 - side].as<ir::Read>();
      if (!c || !s || !(s->tensor == sum.name) || !a.find_input(c->tensor)) continue;
      if (!along(c->indices, result.indices) || !along(s->indices, result.indices)) continue;
      accumulator_ = c->tensor;
      out_.result = {result.name, result.type, literals(result.shape), {}, 1};
      for (std::size_t i = 0; i < out_.num_results; ++i) out_.result.dims.push_back(i);
      return Ok{};
    }
    return misfit("algorithm",
                  "the output reads the accumulator and the reduction at its own indices");
  }

  static bool along(NodeList<Expr> indices, const std::vector<Symbol>& names) {
    if (indices.size() != names.size()) return false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto* var = indices[i].as<ir::Var>();
      if (!var || !(var->name == names[i])) return false;
    }
    return true;
  }

  Result<Ok> operands() {
    std::set<std::string> seen;
    std::int64_t register_bits = 0;
    for (const InstructionOperand& given : instruction_.operands) {
      const ir::Input* input = out_.algorithm.find_input(context_.symbol(given.name));
      if (!input || !seen.insert(given.name).second)
        return misfit("operand",
                      "operand " + in_backticks(given.name) + " is no input, or is there twice");
      if (!plain(input->shape))
        return misfit("operand", "operands have literal extents from 1 to 1024");
      Meaning::Operand operand{
          input->name, input->type, literals(input->shape), {}, given.broadcast};
      std::int64_t bits = 8 * ir::size_bytes(input->type) * given.broadcast;
      for (std::int64_t n : operand.shape) bits *= n;
      if (register_bits != 0 && bits != register_bits)
        return misfit("operand", "operand " + in_backticks(given.name) + " fills " +
                                     std::to_string(bits) + " bits, another " +
                                     std::to_string(register_bits));
      register_bits = bits;
      if (input->name == accumulator_) {
        out_.accumulator = out_.operands.size();
        operand.dims = out_.result.dims;
        if (given.broadcast != 1 || input->type != out_.result.type ||
            operand.shape != out_.result.shape)
          return misfit("operand", "the accumulator has the type and shape of the output");
      }
      out_.operands.push_back(std::move(operand));
    }
    if (seen.size() != out_.algorithm.inputs.size())
      return misfit("operand", "an input is no operand");
    return Ok{};
  }

  // Each other operand is read once, along distinct dimensions of its own lengths.
  Result<Ok> term() {
    std::set<Symbol> read_already;
    for (const ir::Read* read : ir::reads(out_.term)) {
      auto at = std::find_if(out_.operands.begin(), out_.operands.end(),
                             [&](const auto& o) { return o.name == read->tensor; });
      if (at == out_.operands.end() || read->tensor == accumulator_ ||
          !read_already.insert(read->tensor).second)
        return misfit("algorithm",
                      "the term reads each operand but the accumulator, and each once");
      for (std::size_t i = 0; i < read->indices.size(); ++i) {
        const auto* var = read->indices[i].as<ir::Var>();
        const auto dim =
            var ? std::find(out_.dims.begin(), out_.dims.end(), var->name) : out_.dims.end();
        const auto which = static_cast<std::size_t>(dim - out_.dims.begin());
        if (dim == out_.dims.end() || out_.lengths[which] != at->shape[i] ||
            std::find(at->dims.begin(), at->dims.end(), which) != at->dims.end())
          return misfit("algorithm",
                        "operand " + in_backticks(at->name.text()) +
                            " is not read along distinct dimensions of its own lengths");
        at->dims.push_back(which);
      }
    }
    if (read_already.size() + 1 != out_.operands.size())
      return misfit("algorithm", "the term does not read every operand");
    return Ok{};
  }

  Result<Ok> unit() {
    const auto kind = units::parse_dot_kind(instruction_.unit.kind);
    if (!kind)
      return misfit("unit.kind", "unit " + in_backticks(instruction_.unit.kind) + " is not known");
    out_.unit = {*kind, instruction_.unit.order, instruction_.unit.subnormals};
    const auto* product = out_.term.as<ir::Op>();
    if (out_.monoid != ir::Monoid::Sum || !product || product->op != ir::OpCode::Mul)
      return misfit("algorithm", "a dot unit adds products");
    const auto factor = [&](Expr e) -> std::optional<std::size_t> {
      if (const auto* cast = e.as<ir::Cast>()) e = cast->value;
      const auto* read = e.as<ir::Read>();
      for (std::size_t i = 0; read && i < out_.operands.size(); ++i)
        if (out_.operands[i].name == read->tensor) return i;
      return std::nullopt;
    };
    const auto left = factor(product->args[0]);
    const auto right = factor(product->args[1]);
    if (!left || !right)
      return misfit("algorithm", "a dot unit multiplies two operands, each widened at most");
    out_.left = *left;
    out_.right = *right;
    if (!units::takes(*kind, out_.operands[*left].type, out_.operands[*right].type,
                      out_.result.type))
      return misfit("unit.kind", "the unit does not take operands of these types");
    std::int64_t terms = 1;
    for (std::size_t i = out_.num_results; i < out_.lengths.size(); ++i) terms *= out_.lengths[i];
    std::vector<std::int64_t> order = out_.unit.order;
    std::sort(order.begin(), order.end());
    const std::int64_t wanted = *kind == units::DotKind::FusedChain ? terms : 0;
    if (static_cast<std::int64_t>(order.size()) != wanted)
      return misfit("unit.order", "the order of the unit names " + std::to_string(order.size()) +
                                      " terms of " + std::to_string(wanted));
    for (std::size_t i = 0; i < order.size(); ++i)
      if (order[i] != static_cast<std::int64_t>(i))
        return misfit("unit.order", "the order of the unit does not name each term once");
    return Ok{};
  }

  ir::Context& context_;
  const Instruction& instruction_;
  Symbol accumulator_;
  Meaning out_;
};

// Between the values of the interpreters and bit patterns.
std::int64_t to_bits(ir::ScalarType type, ir::Scalar value) {
  if (type == ir::ScalarType::BF16) return ir::float_bits(type, value.f);
  if (type == ir::ScalarType::F32) return std::bit_cast<std::uint32_t>(static_cast<float>(value.f));
  return value.i;
}
ir::Scalar from_bits(ir::ScalarType type, std::int64_t bits) {
  ir::Scalar out{};
  if (type == ir::ScalarType::F32)
    out.f = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else
    out.i = ir::wrap_to_type(type, bits);
  return out;
}

// The row-major offset of an operand's element at a point of all dimensions.
std::size_t offset_at(const Meaning::Operand& operand, const std::vector<std::int64_t>& point) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < operand.dims.size(); ++i)
    offset = offset * operand.shape[i] + point[operand.dims[i]];
  return static_cast<std::size_t>(offset);
}

// Counts `point` up over the dimensions from `first` to `last`; false at the end, when they are 0 again.
bool advance(std::vector<std::int64_t>& point, const std::vector<std::int64_t>& lengths,
             std::size_t first, std::size_t last) {
  for (std::size_t d = last; d-- > first;) {
    if (++point[d] < lengths[d]) return true;
    point[d] = 0;
  }
  return false;
}

}  // namespace

const Meaning::Operand* Meaning::find(Symbol operand) const {
  for (const Operand& o : operands)
    if (o.name == operand) return &o;
  return nullptr;
}

Result<Meaning> meaning(ir::Context& context, const Instruction& instruction) {
  return Reading(context, instruction).run();
}

std::vector<ir::Scalar> execute(const Meaning& m,
                                const std::vector<std::vector<ir::Scalar>>& operands) {
  std::vector<ir::Scalar> out;
  std::vector<std::int64_t> point(m.dims.size());
  const Meaning::Operand& left = m.operands[m.left];
  const Meaning::Operand& right = m.operands[m.right];
  do {
    std::vector<std::int64_t> a;
    std::vector<std::int64_t> b;
    do {
      a.push_back(to_bits(left.type, operands[m.left][offset_at(left, point)]));
      b.push_back(to_bits(right.type, operands[m.right][offset_at(right, point)]));
    } while (advance(point, m.lengths, m.num_results, m.dims.size()));
    const std::size_t cell = offset_at(m.result, point);
    const std::int64_t c = to_bits(m.result.type, operands[m.accumulator][cell]);
    out.push_back(from_bits(m.result.type, units::dot(m.unit, a, b, c)));
  } while (advance(point, m.lengths, 0, m.num_results));
  return out;
}

std::vector<std::string_view> instruction_names() {
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : embedded_files())
    if (file.name.ends_with(kInstructionSuffix))
      names.push_back(file.name.substr(0, file.name.size() - kInstructionSuffix.size()));
  std::sort(names.begin(), names.end());
  return names;
}

Result<Instruction> find_instruction(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.name == std::string(name) + std::string(kInstructionSuffix))
      return parse_instruction(Source(std::string(file.name) + ".toml", std::string(file.text)));
  std::string names;
  for (std::string_view known : instruction_names())
    names += (names.empty() ? "`" : ", `") + std::string(known) + "`";
  return fail(Code::UnknownInstruction, {}, "no instruction is named " + in_backticks(name),
              "the instructions are " + names);
}

Result<std::vector<Instruction>> find_forms(std::string_view name) {
  std::vector<Instruction> out;
  TILEWRIGHT_TRY(first, find_instruction(name));
  out.push_back(std::move(first));
  for (std::string_view other : instruction_names()) {
    if (!other.starts_with(std::string(name) + ".")) continue;
    TILEWRIGHT_TRY(form, find_instruction(other));
    out.push_back(std::move(form));
  }
  return out;
}

}  // namespace tilewright::machine

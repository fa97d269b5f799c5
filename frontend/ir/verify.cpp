// SPDX-License-Identifier: Apache-2.0
//
// Invariants of an Algorithm:
//   names       every name is one the text form can write; extents, inputs, equations are distinct; an index
//               or fold variable is distinct from those and from the others of its equation.
//   extents     0 <= min <= max; multiple_of >= 1; some multiple lies in the range.
//   requirements  bool, over extents alone, comparing quasi-affine expressions.
//   shapes      index, over extents alone, quasi-affine.
//   reads       of an input or an earlier equation, with its type and rank; indices are index, piecewise
//               quasi-affine, over indices, fold variables and extents.
//   folds       at the root of an equation, or under one cast there; bounds as indices of reads, over outer
//               indices and earlier variables; the body is a number.
//   types       every operation takes its operands; arms of a select agree; no conversion to bool; every
//               constant lies on the grid of its type; the value has the declared type.
//   depth       at most kMaxNesting levels.
//   divisors    no integer division or modulus by a constant zero.
//   outputs     at least one.
#include "frontend/ir/verify.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>

#include "frontend/base/format.h"
#include "frontend/base/text.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"

namespace tilewright::ir {

namespace {

std::optional<std::int64_t> index_constant(Expr e) {
  const auto* node = e.as<IntConst>();
  return node ? std::optional(node->value) : std::nullopt;
}

bool affine(Expr e, bool piecewise) {
  if (e.type() != ScalarType::Index) return false;
  if (e.as<IntConst>() || e.as<Var>() || e.as<Extent>()) return true;
  const auto* op = e.as<Op>();
  if (!op) return false;
  for (Expr arg : op->args)
    if (!affine(arg, piecewise)) return false;
  switch (op->op) {
    case OpCode::Add:
    case OpCode::Sub:
    case OpCode::Neg: return true;
    case OpCode::Mul: return index_constant(op->args[0]) || index_constant(op->args[1]);
    case OpCode::Div:
    case OpCode::Mod: return index_constant(op->args[1]).value_or(0) > 0;
    case OpCode::Min:
    case OpCode::Max: return piecewise;
    default: return false;
  }
}

Diagnostic finding(Code code, std::string message, std::string remedy) {
  return {code, {}, std::move(message), std::move(remedy), {}, {}};
}

bool on_grid(const FloatConst& n) {
  if (std::isnan(n.value)) return has_nan(n.type);
  return std::bit_cast<std::uint64_t>(round_to_type(n.type, n.value)) ==
         std::bit_cast<std::uint64_t>(n.value);
}

void verify_op(Expr expr, const Op& n, const ExprReport& report) {
  ScalarType type = ScalarType::Index;
  if (!op_type(n.op, n.args, &type) || type != n.type) {
    report(expr, finding(Code::OperandType,
                         in_backticks(op_info(n.op).text) + " on operands that it does not take",
                         "convert the operands to one type that it takes"));
    return;
  }
  if ((n.op != OpCode::Div && n.op != OpCode::Mod) || is_float(n.type)) return;
  if (index_constant(n.args[1]) == 0)
    report(expr,
           finding(Code::ZeroDivisor, in_backticks(op_info(n.op).text) + " by the constant zero",
                   "divide by something else"));
}

class Verifier {
 public:
  Verifier(const Algorithm& algorithm, const AlgorithmSpans* spans)
      : algorithm_(algorithm), spans_(spans) {}

  std::vector<Diagnostic> run() {
    if (has_missing_parts()) {
      out_.push_back(finding(Code::Malformed, "an expression of the algorithm is missing",
                             "give every equation a value and every dimension an extent"));
      return std::move(out_);
    }
    verify_name(algorithm_.name, "the algorithm", {}, out_);
    for (const ExtentDecl& extent : algorithm_.extents) {
      declare(extent.name, "the extent", extent.span);
      extents_.insert(extent.name);
      verify_extent(extent, out_);
    }
    for (Expr requirement : algorithm_.requirements) verify_requirement(requirement);
    for (const Input& input : algorithm_.inputs) {
      declare(input.name, "the input", input.span);
      enter(input.name, input.span);
      for (Expr extent : input.shape) verify_shape(extent);
      tensors_[input.name] = {input.type, input.shape.size()};
    }
    for (const Equation& equation : algorithm_.equations) verify_equation(equation);
    if (algorithm_.outputs().empty())
      out_.push_back(finding(Code::NoOutput, "the algorithm has no output",
                             "write `output` before the equations to keep"));
    verify_no_name_is_an_index();
    return std::move(out_);
  }

 private:
  struct Declared {
    ScalarType type;
    std::size_t rank;
  };

  bool has_missing_parts() const {
    auto missing = [](const std::vector<Expr>& exprs) {
      return std::any_of(exprs.begin(), exprs.end(), [](Expr e) { return !e; });
    };
    return missing(algorithm_.requirements) ||
           std::any_of(algorithm_.inputs.begin(), algorithm_.inputs.end(),
                       [&](const Input& i) { return missing(i.shape); }) ||
           std::any_of(algorithm_.equations.begin(), algorithm_.equations.end(),
                       [&](const Equation& e) { return !e.value || missing(e.shape); });
  }

  void enter(Symbol declaration, Span span) {
    span_ = span;
    expr_spans_ = nullptr;
    if (!spans_) return;
    const auto it = spans_->declarations.find(declaration);
    if (it != spans_->declarations.end()) expr_spans_ = &it->second;
  }

  void report(Expr expr, Diagnostic d) {
    d.span = expr_spans_ ? find_span(*expr_spans_, expr, span_) : span_;
    if (d.span.none()) d.evidence.emplace_back("expression", print(expr));
    out_.push_back(std::move(d));
  }

  void declare(Symbol name, std::string_view what, Span span) {
    verify_name(name, what, span, out_);
    if (declared_.emplace(name, span).second) return;
    Diagnostic d = finding(Code::DuplicateName, in_backticks(name.text()) + " is declared twice",
                           "give one of the two another name");
    d.span = span;
    out_.push_back(std::move(d));
  }

  // Which names an expression may use, and whether it may read tensors.
  struct Allowed {
    const std::unordered_set<Symbol>* vars = nullptr;
    bool reads = false;
  };

  // Names, and the rules of single expressions.
  void verify_names(Expr root, const Allowed& allowed) {
    verify_expr(root, [&](Expr e, Diagnostic d) { report(e, std::move(d)); });
    walk(root, [&](Expr e) {
      if (const auto* extent = e.as<Extent>(); extent && !extents_.contains(extent->name))
        report(e, finding(Code::UnknownName, in_backticks(extent->name.text()) + " is no extent",
                          "declare it after the name of the algorithm"));
      if (const auto* var = e.as<Var>()) {
        if (!allowed.vars || !allowed.vars->contains(var->name) || var->type != ScalarType::Index)
          report(e, finding(allowed.vars ? Code::UnknownName : Code::ExtentsOnly,
                            in_backticks(var->name.text()) + " is no index here",
                            "use the indices of the equation and the variables of its fold"));
      }
      if (const auto* read = e.as<Read>()) verify_read(e, *read, allowed.reads);
    });
  }

  void verify_read(Expr e, const Read& read, bool allowed) {
    const std::string name = in_backticks(read.tensor.text());
    if (!allowed) {
      report(e, finding(Code::ExtentsOnly, name + " is read where only sizes are known",
                        "use extents and integers alone in shapes and requirements"));
      return;
    }
    const auto it = tensors_.find(read.tensor);
    if (it == tensors_.end()) {
      report(e, finding(Code::UnknownName, name + " is no input and no earlier equation",
                        "declare it before it is read"));
      return;
    }
    if (it->second.rank != read.indices.size())
      report(e, finding(Code::WrongRank,
                        name + " has " + std::to_string(it->second.rank) + " indices, found " +
                            std::to_string(read.indices.size()),
                        "write one index for each dimension"));
    if (it->second.type != read.type)
      report(e, finding(Code::TypeMismatch, name + " is read as another type than it has",
                        "read it as declared and convert the value"));
    for (Expr index : read.indices) require_affine(index, true, "the index");
  }

  void require_affine(Expr e, bool piecewise, const std::string& what) {
    if (affine(e, piecewise)) return;
    bool data = false;
    walk(e, [&](Expr part) { data = data || part.as<Read>(); });
    report(e, finding(Code::NotAffine, what + (data ? " depends on data" : " is not affine"),
                      data ? "select on the data instead of indexing by it"
                           : "use sums, constant factors, and `/` and `%` by positive constants"));
  }

  void verify_shape(Expr extent) {
    verify_names(extent, {});
    require_affine(extent, false, "the extent");
  }

  void verify_requirement(Expr root) {
    span_ = {};
    expr_spans_ = spans_ ? &spans_->requirements : nullptr;
    if (root.type() != ScalarType::Bool)
      report(root, finding(Code::DeclaredType, "the requirement is no condition",
                           "compare it with something"));
    verify_names(root, {});
    walk(root, [&](Expr e) {
      const auto* op = e.as<Op>();
      if (!op || !is_comparison(op->op)) return;
      for (Expr side : op->args)
        if (side.type() == ScalarType::Index) require_affine(side, true, "the requirement");
    });
  }

  void verify_equation(const Equation& equation) {
    declare(equation.name, "the equation", equation.span);
    enter(equation.name, equation.span);
    std::unordered_set<Symbol> vars;
    for (Symbol index : equation.indices) bind(index, vars, equation.span);
    if (equation.indices.size() != equation.shape.size())
      report(equation.value, finding(Code::Malformed, "the equation has more indices than ranges",
                                     "give every index one range"));
    for (Expr extent : equation.shape) verify_shape(extent);
    const Fold* fold = equation.fold();
    if (fold) {
      verify_fold(equation, *fold, vars);
    } else {
      verify_names(equation.value, {&vars, true});
    }
    verify_no_fold(fold ? fold->body : equation.value);
    if (equation.value.type() != equation.type)
      report(equation.value,
             finding(Code::DeclaredType,
                     "the value has type " + in_backticks(type_text(equation.value.type())) +
                         ", but " + in_backticks(equation.name.text()) + " is declared " +
                         in_backticks(type_text(equation.type)),
                     "convert it to the declared type"));
    tensors_[equation.name] = {equation.type, equation.indices.size()};
  }

  void bind(Symbol var, std::unordered_set<Symbol>& vars, Span span) {
    verify_name(var, "the index", span, out_);
    index_uses_.emplace(var, span);
    if (vars.insert(var).second) return;
    Diagnostic d = finding(Code::DuplicateName, in_backticks(var.text()) + " is bound twice",
                           "give one of the two another name");
    d.span = span;
    out_.push_back(std::move(d));
  }

  void verify_fold(const Equation& equation, const Fold& fold, std::unordered_set<Symbol>& vars) {
    const Expr root(&fold);
    if (fold.vars.empty() || fold.vars.size() != fold.lower.size() ||
        fold.vars.size() != fold.upper.size()) {
      report(root, finding(Code::Malformed, "a fold whose variables and bounds differ in number",
                           "give every variable two bounds"));
      return;
    }
    for (std::size_t i = 0; i < fold.vars.size(); ++i) {
      for (Expr bound : {fold.lower[i], fold.upper[i]}) {
        verify_names(bound, {&vars, false});
        require_affine(bound, true, "the bound");
      }
      bind(fold.vars[i], vars, equation.span);
    }
    verify_names(fold.body, {&vars, true});
    if (!folds(fold.monoid, fold.body.type()) || fold.type != fold.body.type())
      report(root, finding(Code::OperandType, "a fold of something that is no number",
                           "choose numbers first with `select`"));
    if (const auto* cast = equation.value.as<Cast>(); cast && cast->type == ScalarType::Bool)
      report(equation.value, finding(Code::BadCast, "there is no conversion to `bool`",
                                     "compare with zero, as in `x != 0`"));
  }

  void verify_no_fold(Expr root) {
    walk(root, [&](Expr e) {
      if (e.as<Fold>())
        report(e, finding(Code::FoldPlacement, "a fold stands inside an expression",
                          "give the fold its own equation and read that here"));
    });
  }

  void verify_no_name_is_an_index() {
    for (const auto& [name, span] : declared_) {
      const auto use = index_uses_.find(name);
      if (use == index_uses_.end()) continue;
      Diagnostic d = finding(Code::DuplicateName,
                             in_backticks(name.text()) + " is declared and is also an index",
                             "give one of the two another name");
      d.span = span;
      if (!use->second.none()) d.labels.push_back({use->second, "an index here"});
      out_.push_back(std::move(d));
    }
  }

  const Algorithm& algorithm_;
  const AlgorithmSpans* spans_;
  std::vector<Diagnostic> out_;
  std::unordered_map<Symbol, Span> declared_;
  std::unordered_map<Symbol, Span> index_uses_;
  std::unordered_set<Symbol> extents_;
  std::unordered_map<Symbol, Declared> tensors_;
  Span span_;
  const ExprSpans* expr_spans_ = nullptr;
};

}  // namespace

std::vector<Diagnostic> verify(const Algorithm& algorithm, const AlgorithmSpans* spans) {
  return Verifier(algorithm, spans).run();
}

bool is_quasi_affine(Expr expr) { return affine(expr, false); }
bool is_piecewise_quasi_affine(Expr expr) { return affine(expr, true); }

void verify_expr(Expr root, const ExprReport& report) {
  std::unordered_map<Expr, int> depth;
  walk(root, [&](Expr e) {
    int& levels = depth[e];
    for_each_child(e, [&](Expr child) { levels = std::max(levels, depth[child] + 1); });
    if (levels == kMaxNesting)
      report(e, finding(Code::NestingTooDeep,
                        "an expression of more than " + std::to_string(kMaxNesting) + " levels",
                        "give a part of it a name of its own (an equation or a `let`)"));
  });
  walk(root, [&](Expr e) {
    visit(e, Overloaded{
                 [&](const IntConst& n) {
                   const bool integer = n.type == ScalarType::Index || is_integer(n.type);
                   if (!integer || wrap_to_type(n.type, n.value) != n.value)
                     report(e, finding(Code::LiteralRange, "a constant that its type does not hold",
                                       "use a wider type"));
                 },
                 [&](const FloatConst& n) {
                   if (!is_float(n.type) || !on_grid(n))
                     report(e, finding(Code::LiteralRange, "a constant off the grid of its type",
                                       "round it to the type"));
                 },
                 [&](const Op& n) { verify_op(e, n, report); },
                 [&](const Select& n) {
                   if (n.condition.type() != ScalarType::Bool ||
                       n.then_value.type() != n.else_value.type())
                     report(e, finding(Code::TypeMismatch, "a select whose arms differ in type",
                                       "convert one arm"));
                 },
                 [&](const Cast& n) {
                   if (!casts(n.value.type(), n.type))
                     report(e, finding(Code::BadCast, "a conversion that does not exist",
                                       "compare with zero, as in `x != 0`, or take a part, as in "
                                       "`re(z)`"));
                 },
                 [&](const Saturate& n) {
                   if (!saturates(n.value.type(), n.type))
                     report(e, finding(Code::OperandType,
                                       "`saturate` of something that is no number, or to no number",
                                       "saturate numbers to integers or floats"));
                 },
                 [&](const RoundTo& n) {
                   if (!is_float(n.grid) || !op_accepts(OpCode::Rint, n.value.type()))
                     report(e,
                            finding(Code::OperandType, "`round_to` of something that is no float",
                                    "convert it to a float first"));
                 },
                 [](const BoolConst&) {},
                 [](const Var&) {},
                 [](const Extent&) {},
                 [](const Read&) {},
                 [](const Fold&) {},
             });
  });
}

void verify_name(Symbol name, std::string_view what, Span span, std::vector<Diagnostic>& out) {
  if (is_name(name.text()) && !is_reserved_name(name.text())) return;
  Diagnostic d =
      finding(Code::ReservedName, in_backticks(name.text()) + " cannot name " + std::string(what),
              "use ASCII letters, digits, `_` and `.`, and no word of the language");
  d.span = span;
  out.push_back(std::move(d));
}

void verify_extent(const ExtentDecl& extent, std::vector<Diagnostic>& out) {
  const std::string name = in_backticks(extent.name.text());
  auto report = [&](const std::string& message, const std::string& remedy) {
    Diagnostic d = finding(Code::ExtentRange, message, remedy);
    d.span = extent.span;
    out.push_back(std::move(d));
  };
  if (extent.min < 0) return report(name + " may be negative", "write a `min` of at least 0");
  if (extent.multiple_of < 1)
    return report("`multiple_of` of " + name + " is not positive", "write at least 1");
  const std::int64_t limit = extent.max.value_or(INT64_MAX);
  const std::int64_t last = limit - (limit < 0 ? 0 : limit % extent.multiple_of);
  if (limit < extent.min || last < extent.min)
    report("no value of " + name + " is possible", "widen `min` and `max`");
}

}  // namespace tilewright::ir

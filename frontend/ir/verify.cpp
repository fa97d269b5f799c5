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
//   folds       at the root of an equation, or one of one value under one cast there; of a known monoid, with a
//               term of the right type for each of its fields. Of a reduction: bounds as indices of reads, over
//               outer indices and earlier variables; a condition. Of a scan: along an index of the equation.
//               Of an update: what it starts from is over the indices alone, its terms and cells over its
//               variables alone.
//   data        an index or bound may hold integers that are read, of which a range is known.
//   facts       of inputs of integers; see Facts.
//   views       no outputs; reads and constants under selects.
//   parts       of a fold of several fields: one tensor for each, named `equation.field`.
//   monoids     an identity and a combination of the right types for each field; the laws hold on samples.
//   types       every operation takes its operands; arms of a select agree; no conversion to bool; every
//               constant lies on the grid of its type; the value has the declared type.
//   depth       at most kMaxNesting levels.
//   divisors    no integer division or modulus by a constant zero.
//   into        an output of one tensor, outside of loops, into an input of its type and shape of which nothing
//               is declared; one for each input.
//   loops       their runs of equations are not empty and lie in one another or apart; the number of iterations is
//               as a bound, over extents and the variables of loops around; the condition is a bool over what
//               is known before an iteration. What is carried starts from a known tensor, goes on with one that
//               is known in the body, and all have one type and shape. No output in a body.
//   outputs     at least one.
#include "frontend/ir/verify.h"

#include <algorithm>
#include <unordered_set>

#include "frontend/base/format.h"
#include "frontend/base/text.h"
#include "frontend/ir/facts.h"
#include "frontend/ir/monoid_laws.h"
#include "frontend/ir/reduction.h"
#include "frontend/ir/text.h"
#include "frontend/ir/verify_storage.h"
#include "frontend/ir/walk.h"

namespace tilewright::ir {

namespace {

Diagnostic finding(Code code, std::string message, std::string remedy) {
  return {code, {}, std::move(message), std::move(remedy), {}, {}};
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
    for (const MonoidDecl& monoid : algorithm_.monoids) verify_monoid(monoid);
    for (Expr requirement : algorithm_.requirements) verify_requirement(requirement);
    for (const Input& input : algorithm_.inputs) {
      declare(input.name, "the input", input.span);
      enter(input.name, input.span);
      for (Expr extent : input.shape) verify_shape(extent);
      verify_facts(input);
      tensors_[input.name] = {input.type, input.shape.size()};
    }
    verify_equations();
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
           std::any_of(
               algorithm_.monoids.begin(), algorithm_.monoids.end(),
               [&](const MonoidDecl& m) { return missing(m.identity) || missing(m.combine); }) ||
           std::any_of(algorithm_.equations.begin(), algorithm_.equations.end(),
                       [&](const Equation& e) { return !e.value || missing(e.shape); }) ||
           std::any_of(algorithm_.loops.begin(), algorithm_.loops.end(),
                       [](const Loop& l) { return !l.trips; });
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
    const std::unordered_map<Symbol, ScalarType>* typed = nullptr;  // variables that are no indices
  };

  // Names, and the rules of single expressions.
  void verify_names(Expr root, const Allowed& allowed) {
    verify_expr(root, [&](Expr e, Diagnostic d) { report(e, std::move(d)); });
    walk(root, [&](Expr e) {
      if (const auto* extent = e.as<Extent>(); extent && !extents_.contains(extent->name))
        report(e, finding(Code::UnknownName, in_backticks(extent->name.text()) + " is no extent",
                          "declare it after the name of the algorithm"));
      if (const auto* var = e.as<Var>()) {
        if (allowed.typed) {
          const auto it = allowed.typed->find(var->name);
          if (it != allowed.typed->end() && it->second == var->type) return;
        }
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
    for (Expr index : read.indices) require_index(index, "the index");
  }

  void require_affine(Expr e, bool piecewise, const std::string& what) {
    if (piecewise ? is_piecewise_quasi_affine(e) : is_quasi_affine(e)) return;
    report(e, finding(Code::NotAffine, what + " is not affine",
                      "use sums, constant factors, and `/` and `%` by positive constants"));
  }

  // An index or a bound: it may hold integers that are read, of which a range is known.
  void require_index(Expr e, const std::string& what) {
    if (!depends_on_data(e)) return require_affine(e, true, what);
    if (!is_quasi_affine_with_data(e)) {
      report(e, finding(Code::NotAffine, what + " depends on data and is not affine",
                        "convert an integer that is read, as in `x[index(row[i]) + 1]`"));
      return;
    }
    Context scratch;
    if (value_range(scratch, algorithm_, e)) return;
    report(e, finding(Code::UnknownValues, what + " depends on data of which no range is known",
                      "declare one, as in `input row : i32[N] range 0 .. M`, or clamp the index: "
                      "`max(min(index(row[i]), M - 1), 0)`"));
  }

  void verify_facts(const Input& input) {
    if (auto wrong = wrong_facts(input)) return out_.push_back(std::move(*wrong));
    if (!input.facts.lower) return;
    for (Expr bound : {input.facts.lower, input.facts.upper}) verify_shape(bound);
  }

  // Reads and constants under selects.
  void verify_view(const Equation& equation) {
    if (!equation.is_view) return;
    const std::function<bool(Expr)> reads_only = [&](Expr e) {
      if (const auto* choice = e.as<Select>())
        return reads_only(choice->then_value) && reads_only(choice->else_value);
      return e.as<Read>() || is_constant(e);
    };
    if (!equation.is_output && reads_only(equation.value)) return;
    report(equation.value,
           finding(Code::ViewForm,
                   in_backticks(equation.name.text()) + " is a view, but " +
                       (equation.is_output ? "an output too" : "computes something"),
                   "read cells of tensors, chosen by `select`, or drop `view`"));
  }

  void verify_shape(Expr extent) {
    verify_names(extent, {});
    require_affine(extent, false, "the extent");
    walk(extent, [&](Expr e) {
      const auto* name = e.as<Extent>();
      if (name && loop_vars_.contains(name->name))
        report(e, finding(Code::ExtentsOnly,
                          in_backticks(name->name.text()) + " changes from iteration to iteration",
                          "give all iterations one shape, and `select` what is used of it"));
    });
  }

  void verify_equations() {
    std::size_t next = 0;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < algorithm_.equations.size(); ++i) {
      for (; next < algorithm_.loops.size() && algorithm_.loops[next].first == i; ++next) {
        if (!open_loop(next, open)) return;
        open.push_back(next);
      }
      verify_equation(algorithm_.equations[i]);
      if (!open.empty() && algorithm_.equations[i].is_output)
        misplaced(algorithm_.equations[i].name, algorithm_.equations[i].span,
                  " is an output of a loop's body", "carry it, and give it out after the loop");
      for (; !open.empty() && algorithm_.loops[open.back()].last == i + 1; open.pop_back())
        close_loop(open.back());
    }
    if (next != algorithm_.loops.size()) misplaced_loop(algorithm_.loops[next]);
  }

  void misplaced(Symbol name, Span span, std::string_view what, std::string remedy) {
    Diagnostic d =
        finding(Code::LoopForm, in_backticks(name.text()) + std::string(what), std::move(remedy));
    d.span = span;
    out_.push_back(std::move(d));
  }
  void misplaced_loop(const Loop& loop) {
    misplaced(loop.var, loop.span, " is the variable of a loop without equations, or across others",
              "give the loop a run of equations that lies inside of others or apart");
  }

  bool open_loop(std::size_t index, const std::vector<std::size_t>& open) {
    const Loop& loop = algorithm_.loops[index];
    if (loop.last <= loop.first || loop.last > algorithm_.equations.size() ||
        (!open.empty() && loop.last > algorithm_.loops[open.back()].last)) {
      misplaced_loop(loop);
      return false;
    }
    declare(loop.var, "the variable of the loop", loop.span);
    enter(loop.var, loop.span);
    verify_names(loop.trips, {});
    require_affine(loop.trips, true, "the number of iterations");
    if (loop.trips.type() != ScalarType::Index)
      report(loop.trips, finding(Code::DeclaredType, "the number of iterations is no `index`",
                                 "write extents and integers"));
    if (loop.carries.empty())
      misplaced(loop.var, loop.span, " is the variable of a loop that carries nothing",
                "write `carry h = h0 then n`");
    extents_.insert(loop.var);
    loop_vars_.insert(loop.var);
    std::unordered_map<Symbol, Declared> carried;
    for (const Carry& carry : loop.carries) {
      declare(carry.name, "the carried tensor", loop.span);
      const auto start = tensors_.find(carry.start);
      if (start == tensors_.end())
        misplaced(carry.start, loop.span, " is no tensor that is known before the loop",
                  "start from an input or an earlier equation");
      else
        carried[carry.name] = start->second;
    }
    tensors_.insert(carried.begin(), carried.end());
    if (!loop.condition) return true;
    const std::unordered_set<Symbol> none;
    verify_names(loop.condition, {&none, true});
    verify_no_fold(loop.condition);
    if (loop.condition.type() != ScalarType::Bool)
      report(loop.condition, finding(Code::DeclaredType, "the condition of the loop is no `bool`",
                                     "compare it with something"));
    return true;
  }

  // What the body alone knows is forgotten.
  void close_loop(std::size_t index) {
    const Loop& loop = algorithm_.loops[index];
    for (const Carry& carry : loop.carries) {
      const auto next = tensors_.find(carry.next);
      if (next == tensors_.end()) {
        misplaced(carry.next, loop.span, " is no tensor that the body of the loop knows",
                  "go on with a tensor that an equation of the body defines");
        continue;
      }
      const auto* wanted = algorithm_.shape_of(carry.name);
      const auto* found = algorithm_.shape_of(carry.next);
      if (!tensors_.contains(carry.name) || !wanted || !found) continue;
      if (*wanted == *found && algorithm_.type_of(carry.next) == algorithm_.type_of(carry.name))
        continue;
      misplaced(carry.next, loop.span,
                " has another type or shape than " + in_backticks(carry.start.text()) +
                    ", after which it is carried",
                "give both the same");
    }
    for (std::size_t i = loop.first; i < loop.last; ++i)
      for (const TensorPart& part : algorithm_.equations[i].tensors()) tensors_.erase(part.name);
    for (std::size_t i = index + 1; i < algorithm_.loops.size(); ++i)
      if (loop.holds(algorithm_.loops[i].first))
        for (const Carry& carry : algorithm_.loops[i].carries) tensors_.erase(carry.name);
    extents_.erase(loop.var);
    loop_vars_.erase(loop.var);
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
      verify_no_fold(equation.value);
    }
    if (equation.value.type() != equation.type)
      report(equation.value,
             finding(Code::DeclaredType,
                     "the value has type " + in_backticks(type_text(equation.value.type())) +
                         ", but " + in_backticks(equation.name.text()) + " is declared " +
                         in_backticks(type_text(equation.type)),
                     "convert it to the declared type"));
    verify_parts(equation, fold);
    verify_view(equation);
    if (auto wrong = wrong_into(algorithm_, equation)) out_.push_back(std::move(*wrong));
    for (const TensorPart& part : equation.tensors())
      tensors_[part.name] = {part.type, equation.indices.size()};
  }

  void verify_parts(const Equation& equation, const Fold* fold) {
    std::vector<TensorPart> expected;
    if (fold && !fold->body.empty() &&
        (fold->monoid_kind() != Monoid::Declared || algorithm_.find_monoid(fold->monoid))) {
      const auto names = part_names(algorithm_, *fold);
      for (std::size_t i = 0; i < names.size(); ++i) expected.push_back({{}, fold->body[i].type()});
      for (std::size_t i = 0; i < std::min(names.size(), equation.parts.size()); ++i) {
        const std::string name = std::string(equation.name.text()) + "." + names[i];
        if (equation.parts[i].name.text() == name) expected[i].name = equation.parts[i].name;
      }
    }
    if (!(expected == equation.parts))
      report(equation.value, finding(Code::Malformed,
                                     "the tensors of " + in_backticks(equation.name.text()) +
                                         " are not those of its reduction",
                                     "give it one for each field, named `equation.field`"));
    for (const TensorPart& part : equation.parts) declare(part.name, "the tensor", equation.span);
  }

  void verify_monoid(const MonoidDecl& monoid) {
    declare(monoid.name, "the reduction", monoid.span);
    auto malformed = [&](std::string message, std::string remedy) {
      Diagnostic d =
          finding(Code::MonoidMalformed, in_backticks(monoid.name.text()) + std::move(message),
                  std::move(remedy));
      d.span = monoid.span;
      out_.push_back(std::move(d));
      return;
    };
    const std::size_t n = monoid.fields.size();
    if (n == 0 || monoid.types.size() != n || monoid.identity.size() != n ||
        monoid.combine.size() != n)
      return malformed(" has " + std::to_string(n) + " fields, " +
                           std::to_string(monoid.identity.size()) + " values of its identity and " +
                           std::to_string(monoid.combine.size()) + " of its combination",
                       "give each field one of both");
    if (monoid.left == monoid.right)
      return malformed(" combines two elements of one name", "name them apart, as in `(a, b)`");
    std::unordered_map<Symbol, ScalarType> typed;
    std::unordered_set<std::string> seen;
    for (std::size_t i = 0; i < n; ++i) {
      verify_name(monoid.fields[i], "the field", monoid.span, out_);
      if (!seen.insert(std::string(monoid.fields[i].text())).second)
        return malformed(" has two fields of one name", "rename one");
      if (monoid.types[i] == ScalarType::Index)
        return malformed(" has a field of type `index`", "use `i64`");
    }
    span_ = monoid.span;
    expr_spans_ = nullptr;
    const std::size_t before = out_.size();
    for (std::size_t i = 0; i < n; ++i) {
      const Expr value = monoid.identity[i];
      if (!is_constant(value))
        malformed(" has an identity that is no constant", "write a literal for each field");
      for (Expr e : {value, monoid.combine[i]})
        if (e.type() != monoid.types[i])
          malformed(" has a value that is not of the type of its field", "convert it");
      for (Symbol side : {monoid.left, monoid.right}) {
        const std::string name =
            std::string(side.text()) + "." + std::string(monoid.fields[i].text());
        for (Expr e : monoid.combine)
          walk(e, [&](Expr part) {
            const auto* var = part.as<Var>();
            if (var && var->name.text() == name) typed[var->name] = monoid.types[i];
          });
      }
    }
    for (Expr e : monoid.combine) {
      verify_names(e, {nullptr, false, &typed});
      verify_no_fold(e);
    }
    if (out_.size() != before) return;
    if (auto broken = broken_law(monoid)) out_.push_back(std::move(*broken));
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
    const bool bounded = fold.scan
                             ? fold.vars.size() == 1 && fold.lower.empty() && fold.upper.empty()
                             : !fold.vars.empty() && fold.vars.size() == fold.lower.size() &&
                                   fold.vars.size() == fold.upper.size();
    if (!bounded || fold.body.empty() || fold.where.size() > 1) {
      report(root, finding(Code::Malformed, "a fold whose variables and bounds differ in number",
                           "give every variable two bounds"));
      return;
    }
    if (!verify_fields(fold)) return;
    if (fold.scan)
      verify_scan(equation, fold, vars);
    else if (fold.is_update())
      verify_update(equation, fold, vars);
    else
      verify_reduction(equation, fold, vars);
    for (NodeList<Expr> list : {fold.body, fold.where, fold.on_empty, fold.base, fold.at})
      for (Expr e : list) verify_no_fold(e);
    const auto* cast = equation.value.as<Cast>();
    if (cast && cast->type == ScalarType::Bool)
      report(equation.value, finding(Code::BadCast, "there is no conversion to `bool`",
                                     "compare with zero, as in `x != 0`"));
    if (cast && !fold.is_reduction())
      report(equation.value, finding(Code::FoldForm, "a scan or an update under a conversion",
                                     "convert in an equation of its own"));
    if (cast && fold.body.size() > 1)
      report(equation.value,
             finding(Code::FoldForm, "a reduction of several values under a conversion",
                     "convert its parts in equations of their own"));
  }

  // A known monoid, a term of the right type for each of its fields, and as many of everything else.
  bool verify_fields(const Fold& fold) {
    const Expr root(&fold);
    const Monoid kind = fold.monoid_kind();
    const std::string name = in_backticks(fold.monoid.text());
    const MonoidDecl* declared = algorithm_.find_monoid(fold.monoid);
    if (kind == Monoid::Declared && !declared) {
      report(root, finding(Code::UnknownName, name + " is no reduction",
                           "declare it before the algorithm: `monoid ...`"));
      return false;
    }
    const MonoidForm form = monoid_form(kind);
    const std::size_t wanted = declared                      ? declared->fields.size()
                               : !fold.state.empty()         ? fold.state.size()
                               : form == MonoidForm::Indexed ? 2
                               : form == MonoidForm::Last    ? fold.body.size()
                                                             : 1;
    const std::size_t n = fold.body.size();
    if (n != wanted || (!fold.on_empty.empty() && fold.on_empty.size() != n) ||
        (!fold.base.empty() && fold.base.size() != n)) {
      report(root, finding(Code::FoldFields,
                           name + " combines " + std::to_string(wanted) + " values, found " +
                               std::to_string(n) + " terms, " + std::to_string(fold.base.size()) +
                               " values to start from and " + std::to_string(fold.on_empty.size()) +
                               " after `on_empty`",
                           "give each field one of each, or none"));
      return false;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const ScalarType type = fold.body[i].type();
      for (NodeList<Expr> list : {fold.on_empty, fold.base})
        if (!list.empty() && list[i].type() != type)
          report(list[i], finding(Code::TypeMismatch,
                                  "a value of type " + in_backticks(type_text(list[i].type())) +
                                      " for terms of type " + in_backticks(type_text(type)),
                                  "convert one of them"));
      if (declared && declared->types[i] != type)
        report(fold.body[i],
               finding(Code::TypeMismatch,
                       "a term of type " + in_backticks(type_text(type)) + " for the field " +
                           in_backticks(declared->fields[i].text()) + " of type " +
                           in_backticks(type_text(declared->types[i])),
                       "convert it"));
    }
    const bool logic = kind == Monoid::And || kind == Monoid::Or;
    const ScalarType first = fold.body[0].type();
    const bool number_needed = form == MonoidForm::Simple || form == MonoidForm::Indexed;
    const bool accepted =
        !number_needed || (op_accepts(monoid_op(kind), first) &&
                           (form == MonoidForm::Simple || first != ScalarType::Bool));
    if (!accepted)
      report(root, finding(Code::OperandType,
                           logic               ? "a fold of something that is no `bool`"
                           : is_complex(first) ? name + " of complex numbers, which have no order"
                                               : "a fold of something that is no number",
                           logic               ? "compare it with something"
                           : is_complex(first) ? "fold the sizes or the parts: `abs(z)`, `re(z)`"
                                               : "choose numbers first with `select`"));
    if (form == MonoidForm::Indexed && !is_integer(fold.body[1].type()))
      report(fold.body[1], finding(Code::OperandType, "the index of " + name + " is no integer",
                                   "convert it, as in `i64(j)`"));
    if (form == MonoidForm::Last && fold.is_reduction())
      report(root, finding(Code::FoldForm, "`last` has no value before the first term",
                           "use it in an `update`, or write a recurrence `scan(t, h = h0) ...`"));
    if (!fold.is_reduction() && (!fold.on_empty.empty() || (fold.scan && !fold.where.empty())))
      report(root, finding(Code::FoldForm,
                           std::string("a ") + (fold.scan ? "scan" : "update") + " with " +
                               (fold.on_empty.empty() ? "a condition" : "`on_empty`"),
                           "only reductions have them; `select` the terms instead"));
    return true;
  }

  void verify_ranges(const Fold& fold, std::unordered_set<Symbol>& vars, Span span) {
    for (std::size_t i = 0; i < fold.vars.size(); ++i) {
      for (Expr bound : {fold.lower[i], fold.upper[i]}) {
        verify_names(bound, {&vars, true});
        require_index(bound, "the bound");
      }
      bind(fold.vars[i], vars, span);
    }
    for (Expr condition : fold.where) {
      verify_names(condition, {&vars, true});
      if (condition.type() != ScalarType::Bool)
        report(condition, finding(Code::DeclaredType, "the condition of a reduction is no `bool`",
                                  "compare it with something"));
    }
  }

  void verify_reduction(const Equation& equation, const Fold& fold,
                        std::unordered_set<Symbol>& vars) {
    for (Expr value : fold.on_empty) verify_names(value, {&vars, true});
    if (!fold.at.empty() || !fold.state.empty())
      report(Expr(&fold), finding(Code::Malformed, "a reduction with parts of a scan or an update",
                                  "give it what it starts from"));
    verify_ranges(fold, vars, equation.span);
    for (Expr term : fold.body) verify_names(term, {&vars, true});
  }

  void verify_scan(const Equation& equation, const Fold& fold, std::unordered_set<Symbol>& vars) {
    const Expr root(&fold);
    const auto& indices = equation.indices;
    if (std::find(indices.begin(), indices.end(), fold.vars[0]) == indices.end())
      report(root,
             finding(Code::FoldForm,
                     in_backticks(fold.vars[0].text()) + " is no index of the equation, so nothing "
                                                         "is there to run along",
                     "scan along an index of the left side"));
    if (fold.state.size() != fold.base.size() || !fold.at.empty() ||
        (fold.monoid_kind() == Monoid::Last && fold.state.empty()) ||
        (fold.monoid_kind() != Monoid::Last && !fold.state.empty()))
      report(root,
             finding(Code::Malformed, "a recurrence whose names and first values differ in number",
                     "give every name one value to start from"));
    std::unordered_set<Symbol> others = vars;
    others.erase(fold.vars[0]);
    for (Expr value : fold.base) verify_names(value, {&others, true});
    std::unordered_map<Symbol, ScalarType> typed;
    for (std::size_t i = 0; i < fold.state.size(); ++i) {
      bind(fold.state[i], vars, equation.span);
      vars.erase(fold.state[i]);
      typed[fold.state[i]] = fold.body[i].type();
    }
    for (Expr term : fold.body) verify_names(term, {&vars, true, &typed});
  }

  // The terms do not belong to one cell, so the indices of the equation mean nothing in them.
  void verify_update(const Equation& equation, const Fold& fold, std::unordered_set<Symbol>& vars) {
    for (Expr value : fold.base) verify_names(value, {&vars, true});
    if (fold.at.size() != equation.indices.size())
      report(Expr(&fold), finding(Code::WrongRank,
                                  "a cell of " + in_backticks(equation.name.text()) + " has " +
                                      std::to_string(equation.indices.size()) + " indices, found " +
                                      std::to_string(fold.at.size()) + " after `at`",
                                  "write one index for each dimension"));
    std::unordered_set<Symbol> own;
    verify_ranges(fold, own, equation.span);
    for (Symbol var : own)
      if (vars.contains(var)) bind(var, vars, equation.span);
    for (Expr index : fold.at) {
      verify_names(index, {&own, true});
      require_index(index, "the index");
    }
    for (Expr term : fold.body) verify_names(term, {&own, true});
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
  std::unordered_set<Symbol> loop_vars_;  // of the loops that are open
  std::unordered_map<Symbol, Declared> tensors_;
  Span span_;
  const ExprSpans* expr_spans_ = nullptr;
};

}  // namespace

std::vector<Diagnostic> verify(const Algorithm& algorithm, const AlgorithmSpans* spans) {
  return Verifier(algorithm, spans).run();
}

}  // namespace tilewright::ir

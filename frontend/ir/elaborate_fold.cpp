// SPDX-License-Identifier: Apache-2.0
//
// Folds from their syntax: reductions, scans, recurrences and updates.
#include <algorithm>

#include "frontend/base/format.h"
#include "frontend/ir/elaborate.h"

namespace tilewright::ir {

namespace {

bool all_there(std::span<const Expr> exprs) {
  return std::all_of(exprs.begin(), exprs.end(), [](Expr e) { return static_cast<bool>(e); });
}

}  // namespace

// One value, or the elements of a tuple, each of the type that stands in its place.
bool Elaborator::tuple(const Syntax& syntax, std::span<const ScalarType> types,
                       std::vector<Expr>& out) {
  std::vector<const Syntax*> elements;
  if (syntax.kind == SyntaxKind::Tuple)
    for (const SyntaxPtr& element : syntax.args) elements.push_back(element.get());
  else
    elements.push_back(&syntax);
  for (std::size_t i = 0; i < elements.size(); ++i)
    out.push_back(
        expression(*elements[i], i < types.size() ? std::optional(types[i]) : std::nullopt));
  return all_there(out);
}

bool Elaborator::fold_ranges(const FoldSyntax& fold, std::vector<Symbol>& vars,
                             std::vector<Expr>& lower, std::vector<Expr>& upper) {
  bool good = true;
  for (std::size_t i = 0; i < fold.vars.size(); ++i) {
    // Bounds are read before their variable is declared: they may use earlier ones only.
    const Syntax* low = fold.bounds[2 * i].get();
    lower.push_back(low ? index_expression(*low, "the lower bound") : context_.index(0));
    upper.push_back(index_expression(*fold.bounds[2 * i + 1], "the upper bound"));
    good = good && lower.back() && upper.back();
    const Token& var = fold.vars[i];
    if (declare(var, {Meaning::Kind::Variable, ScalarType::Index, 0, var.span}))
      vars.push_back(context_.symbol(var.text));
    else
      good = false;
  }
  return good;
}

// What a recurrence or an update begins with; the types of its values follow from it.
bool Elaborator::fold_start(const Syntax& syntax, std::vector<ScalarType>& types,
                            std::vector<Symbol>& state, std::vector<Expr>& base) {
  const FoldSyntax& fold = *syntax.fold;
  bool good = true;
  if (fold.form == FoldSyntax::Form::Update) {
    good = tuple(*fold.base[0], types, base);
  } else {
    for (std::size_t i = 0; i < fold.base.size(); ++i)
      base.push_back(
          expression(*fold.base[i], i < types.size() ? std::optional(types[i]) : std::nullopt));
    good = all_there(base);
  }
  if (!good) return false;
  if (base.empty()) return true;
  types.clear();
  for (Expr value : base) types.push_back(value.type());
  for (std::size_t i = 0; i < fold.state.size(); ++i) {
    const Token& name = fold.state[i];
    if (!declare(name, {Meaning::Kind::Variable, types[i], 0, name.span})) return false;
    state.push_back(context_.symbol(name.text));
  }
  return true;
}

bool Elaborator::fold_terms(const Syntax& syntax, const MonoidDecl* declared,
                            std::span<const ScalarType> types, std::vector<Expr>& out) {
  const Syntax& body = *syntax.args[0];
  const FoldSyntax& fold = *syntax.fold;
  if (!tuple(body, types, out)) return false;
  const MonoidForm form = monoid_form(monoid_of_name(syntax.text));
  std::size_t wanted = 1;
  if (declared) wanted = declared->fields.size();
  if (!fold.state.empty()) wanted = fold.state.size();
  if (form == MonoidForm::Indexed) wanted = 2;
  // The index of a lone value is the variable that it depends on.
  if (form == MonoidForm::Indexed && out.size() == 1 && fold.vars.size() == 1)
    out.push_back(context_.cast(ScalarType::I64, context_.var(context_.symbol(fold.vars[0].text))));
  if (out.size() == wanted) return true;
  cursor_.report(Code::FoldFields, body.span,
                 in_backticks(syntax.text) + " combines " + std::to_string(wanted) + " value" +
                     (wanted == 1 ? "" : "s") + ", found " + std::to_string(out.size()),
                 wanted == 1 ? "write one value" : "write a tuple, as in `(x[j], i64(j))`");
  return false;
}

Expr Elaborator::fold(const Syntax& syntax, std::span<const ScalarType> expected) {
  const FoldSyntax& from = *syntax.fold;
  const Monoid kind = monoid_of_name(syntax.text);
  const MonoidDecl* declared = nullptr;
  if (kind == Monoid::Declared) {
    for (std::size_t i = 0; monoids_ && i < monoids_->size(); ++i)
      if ((*monoids_)[i].name.text() == syntax.text) declared = &(*monoids_)[i];
    if (!declared) {
      cursor_.report(Code::UnknownName, syntax.text_span,
                     in_backticks(syntax.text) + " is no function and no reduction",
                     "declare it before the algorithm: `monoid " + std::string(syntax.text) +
                         "(...) { ... }`");
      return {};
    }
  }
  std::vector<ScalarType> types(expected.begin(), expected.end());
  if (declared) types = declared->types;
  if (monoid_form(kind) == MonoidForm::Indexed) types.resize(2, ScalarType::I64);
  std::vector<Symbol> vars, state;
  std::vector<Expr> lower, upper, where, body, on_empty, base, at;
  const bool scan = from.form == FoldSyntax::Form::Scan;
  bool good = fold_start(syntax, types, state, base);
  std::vector<Symbol> bound;
  if (scan) {
    vars.push_back(context_.symbol(from.vars[0].text));
  } else {
    good = fold_ranges(from, vars, lower, upper) && good;
    bound = vars;
  }
  bound.insert(bound.end(), state.begin(), state.end());
  if (from.where) where.push_back(expression_of(*from.where, ScalarType::Bool, "the condition"));
  for (const SyntaxPtr& index : from.at) at.push_back(index_expression(*index, "the cell"));
  good = fold_terms(syntax, declared, types, body) && good && all_there(where) && all_there(at);
  for (Symbol name : bound) scope_.forget(name);
  std::vector<ScalarType> found;
  if (all_there(body))
    for (Expr term : body) found.push_back(term.type());
  if (from.on_empty) good = tuple(*from.on_empty, found, on_empty) && good;
  if (!good) return {};
  Fold out;
  out.monoid = context_.symbol(syntax.text);
  out.scan = scan;
  out.vars = vars;
  out.lower = lower;
  out.upper = upper;
  out.where = where;
  out.body = body;
  out.on_empty = on_empty;
  out.state = state;
  out.base = base;
  out.at = at;
  const MonoidForm form = monoid_form(kind);
  const bool logic = kind == Monoid::And || kind == Monoid::Or;
  if (form == MonoidForm::Simple && is_storage_float(body[0].type())) {
    report_storage(syntax, body[0].type());
    return {};
  }
  if (form == MonoidForm::Simple && (body[0].type() == ScalarType::Bool) != logic) {
    cursor_.report(Code::OperandType, syntax.args[0]->span,
                   in_backticks(syntax.text) +
                       (logic ? " folds `bool`, found " : " folds numbers, found ") +
                       in_backticks(type_text(body[0].type())),
                   logic ? "compare it with something, as in `x != 0`"
                         : "choose numbers first, as in `select(c, i32(1), i32(0))`");
    return {};
  }
  if (form != MonoidForm::Last && form != MonoidForm::Declared && is_complex(body[0].type()) &&
      !op_accepts(monoid_op(kind), body[0].type())) {
    cursor_.report(Code::OperandType, syntax.args[0]->span,
                   in_backticks(syntax.text) + " wants an order, which " +
                       in_backticks(type_text(body[0].type())) + " has not",
                   "fold the sizes or the parts, as in `abs(z)` or `re(z)`");
    return {};
  }
  return context_.fold(out);
}

}  // namespace tilewright::ir

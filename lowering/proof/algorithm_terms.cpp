// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/algorithm_terms.h"

#include <algorithm>

#include "frontend/algebra/from_expr.h"

namespace tilewright::proof {

std::vector<Term> FoldTarget::unknowns() const {
  std::vector<Term> out = indices;
  out.insert(out.end(), bound.begin(), bound.end());
  return out;
}

AlgorithmTerms::AlgorithmTerms(ir::Context& context, TermStore& terms,
                               const ir::Algorithm& algorithm)
    : context_(context),
      terms_(terms),
      lifted_(lifted(context, algorithm)),
      algorithm_(lifted_.algorithm) {
  for (const ir::Equation& equation : algorithm_.equations)
    if (algorithm_.loops_around(equation).empty()) add(equation);
  const auto size = [&](const FoldTarget& one) {
    return std::tuple(one.is_stated, terms_.monomials(one.body).size(),
                      terms_.print(one.body).size());
  };
  std::stable_sort(targets_.begin(), targets_.end(),
                   [&](const FoldTarget& a, const FoldTarget& b) { return size(a) > size(b); });
}

Term AlgorithmTerms::cell(Symbol tensor, std::span<const Term> indices) {
  for (const Carried& carried : lifted_.carried)
    if (carried.name == tensor) return terms_.read(tensor, indices, carried.type);
  return terms_.read(tensor, indices, algorithm_.type_of(tensor).value_or(ir::ScalarType::F64));
}

Term AlgorithmTerms::expanded(Symbol tensor, std::span<const Term> indices) {
  ir::Read read;
  read.tensor = tensor;
  const Term value = algebra::inline_equations(terms_, algorithm_).read(read, indices);
  return value ? value : cell(tensor, indices);
}

Term AlgorithmTerms::expand(Term term) {
  return terms_.inline_reads(term, [&](Symbol tensor, std::span<const Term> indices) {
    return is_input(tensor) ? Term() : expanded(tensor, indices);
  });
}

namespace {

struct CellRange {
  Term low;
  Term high;
};

}  // namespace

// Of a cell of an input: what is declared of its values.
static std::optional<CellRange> declared_range(TermStore& terms, const ir::Algorithm& algorithm,
                                               Term term) {
  const auto cell = terms.cell_of(term);
  const ir::Input* input = cell ? algorithm.find_input(cell->tensor) : nullptr;
  if (input == nullptr || !input->facts.lower || input->facts.clamp) return {};
  const algebra::Leaves extents;
  return CellRange{
      algebra::from_expr(terms, input->facts.lower, extents),
      terms.subtract(algebra::from_expr(terms, input->facts.upper, extents), terms.integer(1))};
}

poly::BasicSet AlgorithmTerms::declared(Translator& translator, const DataNames& data) {
  poly::BasicSet out;
  for (const auto& [name, term] : data.names) {
    const auto range = declared_range(terms_, algorithm_, term);
    if (!range) continue;
    const AffineExpr value = AffineExpr::variable(name);
    if (const auto low = translator.affine(range->low)) out.at_least(value, *low);
    if (const auto high = translator.affine(range->high)) out.at_least(*high, value);
  }
  return out;
}

std::optional<Term> AlgorithmTerms::widest(Term value) {
  const auto parts = terms_.index_parts(value, true);
  if (!parts) return {};
  Term out = terms_.integer(0);
  for (const algebra::IndexPart& part : *parts) {
    Term of = part.of ? part.of : terms_.integer(1);
    if (part.denominator != 0) {
      // A floor of names alone stays.
      if (!terms_.index_parts(of)) return {};
      of = terms_.floor_divide(of, terms_.integer(part.denominator));
    } else if (part.of && !terms_.is_name(part.of)) {
      const auto range = declared_range(terms_, algorithm_, part.of);
      if (!range) return {};
      of = part.coefficient > 0 ? range->high : range->low;
    }
    out = terms_.add(out, terms_.multiply(terms_.integer(part.coefficient), of));
  }
  return out;
}

// With names that are dimensions of sets too.
FoldTarget AlgorithmTerms::target(const std::vector<Term>& indices, const algebra::Domain& domain,
                                  Term body, bool is_maximum) {
  FoldTarget out;
  out.is_maximum = is_maximum;
  out.indices = indices;
  std::vector<std::pair<Term, Term>> values;
  for (Term variable : domain.variables) {
    const std::string name =
        "?" + std::to_string(targets_.size()) + "." + std::to_string(out.bound.size());
    out.bound.push_back(terms_.variable(context_.symbol(name)));
    values.emplace_back(variable, out.bound.back());
  }
  out.body = terms_.substitute(body, values);
  for (algebra::Conjunction part : domain.parts) {
    for (algebra::Constraint& one : part) one.value = terms_.substitute(one.value, values);
    out.domain.push_back(std::move(part));
  }
  return out;
}

void AlgorithmTerms::add(const ir::Equation& equation) {
  std::vector<Term> indices;
  for (Symbol index : equation.indices)
    indices.push_back(terms_.variable(context_.symbol("?" + std::string(index.text()))));
  if (equation.fold() != nullptr) {
    add_steps(equation, indices);
    if (equation.parts.empty()) add_fold(equation, indices);
    return;
  }
  algebra::Leaves leaves;
  leaves.variable = [&](Symbol name) -> Term {
    for (std::size_t i = 0; i < equation.indices.size(); ++i)
      if (equation.indices[i] == name) return indices[i];
    return {};
  };
  const Term value = algebra::from_expr(terms_, equation.value, leaves);
  // Another name for a cell says nothing of it.
  if (!terms_.is_read(value) && !terms_.is_constant(value))
    patterns_.push_back({equation.name, indices, value});
}

std::optional<AlgorithmTerms::Range> AlgorithmTerms::range(const ir::Fold& fold,
                                                           const std::vector<Term>& variables,
                                                           const algebra::Leaves& leaves) {
  Range out{{}, {}, terms_.integer(1)};
  for (std::size_t i = 0; i < fold.lower.size(); ++i) {
    const Term lower = algebra::from_expr(terms_, fold.lower[i], leaves);
    const Term upper = algebra::from_expr(terms_, fold.upper[i], leaves);
    for (Term room : {terms_.subtract(variables[i], lower),
                      terms_.subtract(terms_.subtract(upper, variables[i]), terms_.integer(1))}) {
      // Bounds on data are of the body, which is the identity where they do not hold.
      if (!terms_.index_parts(room)) {
        const auto wide = widest(room);
        if (!wide) return {};
        out.holds = terms_.both(out.holds, terms_.at_least_zero(room));
        room = *wide;
        out.implied.push_back({room, false});
      }
      out.where.push_back({room, false});
    }
  }
  return out;
}

void AlgorithmTerms::add_steps(const ir::Equation& equation, const std::vector<Term>& indices) {
  StepTarget out;
  out.name = std::string(equation.name.text());
  out.equation = &equation;
  out.fold = equation.fold();
  const ir::Fold& fold = *out.fold;
  out.reduction = ir::reduction_of(algorithm_, fold);
  for (const ir::TensorPart& part : equation.tensors()) out.tensors.push_back(part.name);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (fold.scan && equation.indices[i] == fold.vars[0]) {
      out.scanned = static_cast<int>(i);
      continue;
    }
    out.index_names.push_back(equation.indices[i]);
    out.indices.push_back(indices[i]);
  }
  for (std::size_t i = 0; i < fold.vars.size(); ++i)
    out.bound.push_back(terms_.variable(
        context_.symbol("?s" + std::to_string(steps_.size()) + "." + std::to_string(i))));
  algebra::Leaves leaves;
  leaves.variable = [&](Symbol name) -> Term {
    for (std::size_t i = 0; i < out.index_names.size(); ++i)
      if (out.index_names[i] == name) return out.indices[i];
    for (std::size_t i = 0; i < out.bound.size(); ++i)
      if (fold.vars[i] == name) return out.bound[i];
    return {};
  };
  const auto points = range(fold, out.bound, leaves);
  if (!points) return;
  out.domain = {points->where};
  out.implied = points->implied;
  std::vector<Expr> before;
  std::vector<Expr> other;
  for (std::size_t i = 0; i < out.tensors.size(); ++i) {
    out.before.push_back(context_.symbol("?before." + std::to_string(i)));
    out.other.push_back(context_.symbol("?other." + std::to_string(i)));
    before.push_back(context_.var(out.before.back(), fold.body[i].type()));
    other.push_back(context_.var(out.other.back(), fold.body[i].type()));
  }
  out.next = ir::next_values(context_, out.reduction, fold, before);
  const bool is_recurrence = !fold.state.empty();
  if (!is_recurrence) out.merged = ir::combine(context_, out.reduction, before, other);
  if (fold.base.empty())
    out.start = ir::identity(context_, out.reduction);
  else
    out.start.assign(fold.base.begin(), fold.base.end());
  steps_.push_back(std::move(out));
}

void AlgorithmTerms::add_fold(const ir::Equation& equation, const std::vector<Term>& indices) {
  const ir::Fold& fold = *equation.fold();
  const ir::Monoid monoid = fold.monoid_kind();
  const bool steps = fold.scan || fold.is_update() || !fold.state.empty();
  if (steps || (monoid != ir::Monoid::Sum && monoid != ir::Monoid::Max)) return;
  const bool is_maximum = monoid == ir::Monoid::Max;
  for (const bool stated : {true, false}) {
    algebra::Domain domain;
    algebra::Conjunction implied;
    algebra::Leaves leaves;
    if (!stated) leaves = algebra::inline_equations(terms_, algorithm_);
    leaves.variable = [&](Symbol name) -> Term {
      for (std::size_t i = 0; i < equation.indices.size(); ++i)
        if (equation.indices[i] == name) return indices[i];
      for (std::size_t i = 0; i < domain.variables.size(); ++i)
        if (fold.vars[i] == name) return domain.variables[i];
      return {};
    };
    for (std::size_t i = 0; i < fold.vars.size(); ++i)
      domain.variables.push_back(terms_.fresh_variable());
    const auto points = range(fold, domain.variables, leaves);
    if (!points) return;
    Term holds = points->holds;
    implied = points->implied;
    if (!fold.where.empty())
      holds = terms_.both(holds, algebra::from_expr(terms_, fold.where[0], leaves));
    domain.parts.push_back(points->where);
    const Term term_value = algebra::from_expr(terms_, fold.body[0], leaves);
    // A sum of wrapped terms is the sum wrapped once.
    const Term body_value = terms_.unwrapped(fold.body[0].type(), term_value).value_or(term_value);
    const Term body = is_maximum ? terms_.select(holds, body_value, terms_.infinity(true))
                                 : terms_.guard(holds, body_value);
    if (!stated && body == targets_.back().body) return;
    FoldTarget whole = target(indices, domain, body, is_maximum);
    for (algebra::Constraint& one : implied)
      for (std::size_t i = 0; i < whole.bound.size(); ++i) {
        const std::pair<Term, Term> by[] = {{domain.variables[i], whole.bound[i]}};
        one.value = terms_.substitute(one.value, by);
      }
    whole.implied = std::move(implied);
    whole.is_stated = stated;
    whole.type = fold.body[0].type();
    if (stated) whole.tensor = equation.name;
    targets_.push_back(std::move(whole));
  }
  if (ir::is_integer(fold.body[0].type())) return;
  const Term value = expanded(equation.name, indices);
  for (const Term monomial : terms_.monomials(value)) {
    const auto opened = terms_.open(monomial);
    if (!opened) continue;
    FoldTarget part = target(indices, opened->domain, opened->body, opened->is_maximum);
    part.is_stated = false;
    targets_.push_back(std::move(part));
  }
}

}  // namespace tilewright::proof

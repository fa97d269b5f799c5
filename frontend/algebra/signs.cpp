// SPDX-License-Identifier: Apache-2.0
#include "frontend/algebra/signs.h"

#include <algorithm>
#include <array>

#include "frontend/algebra/nodes_wall.h"

namespace tilewright::algebra {

namespace {

class Signs {
 public:
  Signs(TermStore& store, const SignQuestions& questions) : store_(store), questions_(questions) {}

  bool holds(const Obligation& obligation) {
    if (obligation.unless_empty && is_empty(obligation.unless_empty)) return true;
    switch (obligation.condition) {
      case Condition::Finite: return finite(obligation.term);
      case Condition::NotPosInf: return not_positive_infinity(obligation.term);
      case Condition::Positive: return positive(obligation.term);
      case Condition::NonNegative: return non_negative(obligation.term);
      case Condition::NonZero:
        return positive(obligation.term) || positive(store_.negate(obligation.term));
      case Condition::Never: return never(obligation.term);
    }
    return false;
  }

 private:
  // A condition that is a product of constraints on indices.
  bool never(Term condition) {
    if (condition->monomials.empty()) return condition->is_finite_form();
    return std::all_of(condition->monomials.begin(), condition->monomials.end(),
                       [&](const Monomial& monomial) {
                         Conjunction where;
                         for (const Factor& factor : monomial.factors) {
                           if (factor.atom->kind == AtomKind::AtLeast)
                             where.push_back({factor.atom->args[0], false});
                           if (factor.atom->kind == AtomKind::Zero)
                             where.push_back({factor.atom->args[0], true});
                         }
                         return !where.empty() && questions_.has_none({}, where);
                       });
  }

  bool not_positive_infinity(Term term) {
    for (const Term special : {term->special[kPosInf], term->special[kNan]})
      if (special && !never(special)) return false;
    return std::all_of(
        term->monomials.begin(), term->monomials.end(),
        [&](const Monomial& monomial) { return finite(monomial) || is_low_maximum(monomial); });
  }

  // A maximum over no points is -inf.
  bool is_low_maximum(const Monomial& monomial) {
    return monomial.coefficient > 0 && !monomial.exponent && monomial.factors.size() == 1 &&
           monomial.factors[0].power == 1 && monomial.factors[0].atom->kind == AtomKind::MaxOver &&
           inside(monomial.factors[0].atom, [&](Term body) { return not_positive_infinity(body); });
  }

  bool finite(Term term) {
    for (const Term special : term->special)
      if (special && !never(special)) return false;
    return std::all_of(term->monomials.begin(), term->monomials.end(),
                       [&](const Monomial& monomial) { return finite(monomial); });
  }
  bool finite(const Monomial& monomial) {
    const bool factors =
        std::all_of(monomial.factors.begin(), monomial.factors.end(), [&](const Factor& factor) {
          if (!finite(factor.atom)) return false;
          // Roots are of what is not negative, quotients by what is not 0.
          if (factor.power.get_den() != 1)
            return factor.power > 0 ? non_negative(factor.atom) : positive(factor.atom);
          return factor.power > 0 || positive(factor.atom) ||
                 positive(store_.negate(of(factor.atom)));
        });
    return factors && (!monomial.exponent || finite(monomial.exponent));
  }
  bool finite(Atom atom) {
    constexpr std::array<std::string_view, 4> kBounded = {"sin", "cos", "tanh", "erf"};
    switch (atom->kind) {
      case AtomKind::Variable:
      case AtomKind::Extent:
      case AtomKind::Read:
      case AtomKind::Constant:
      case AtomKind::AtLeast:
      case AtomKind::Zero:
      case AtomKind::Less: return true;
      case AtomKind::Call:
        if (!is_whole(atom) &&
            std::find(kBounded.begin(), kBounded.end(), atom->text) == kBounded.end())
          return false;
        [[fallthrough]];
      case AtomKind::Floor:
      case AtomKind::Wrap:
      case AtomKind::Max:
      case AtomKind::Base:
        return std::all_of(atom->args.begin(), atom->args.end(),
                           [&](Term arg) { return finite(arg); });
      case AtomKind::Sum: return inside(atom, [&](Term body) { return finite(body); });
      case AtomKind::MaxOver:
        return has_point(atom) && inside(atom, [&](Term body) { return finite(body); });
      case AtomKind::Value:
      case AtomKind::Fold:
      case AtomKind::Unknown: return false;
    }
    return false;
  }

  bool positive(Term term) {
    if (!finite(term)) return false;
    bool some = false;
    for (const Monomial& monomial : term->monomials) {
      if (!non_negative(monomial)) {
        const auto rest = without_square(term, monomial);
        return rest && positive(*rest);
      }
      some = some || positive(monomial);
    }
    return some;
  }

  // Of `-m s^2`, s the sum of f over n points: the term less `m (n * sum of f^2 - s^2)`, which is not negative by the
  // inequality of Cauchy and Schwarz.
  std::optional<Term> without_square(Term term, const Monomial& monomial) {
    if (monomial.coefficient >= 0) return {};
    for (std::size_t i = 0; i < monomial.factors.size(); ++i) {
      const Factor& square = monomial.factors[i];
      if (square.atom->kind != AtomKind::Sum || square.power != 2) continue;
      Monomial rest = monomial;
      rest.coefficient = -rest.coefficient;
      rest.factors.erase(rest.factors.begin() + static_cast<std::ptrdiff_t>(i));
      if (!non_negative(rest)) continue;
      auto [binder, bodies] = store_.impl().open(square.atom);
      const Term count = store_.impl().num_points(binder);
      const Term body = bodies[0];
      const Term squares = store_.impl().sum(binder, store_.multiply(body, body));
      const Term sum = of(square.atom);
      const Term gap = store_.subtract(store_.multiply(count, squares), store_.multiply(sum, sum));
      const Term less = store_.subtract(term, store_.multiply(store_.impl().of(rest), gap));
      if (less->monomials.size() < term->monomials.size()) return less;
    }
    return {};
  }
  bool positive(const Monomial& monomial) {
    return monomial.coefficient > 0 &&
           std::all_of(monomial.factors.begin(), monomial.factors.end(),
                       [&](const Factor& factor) { return positive(factor.atom); });
  }
  bool positive(Atom atom) {
    switch (atom->kind) {
      case AtomKind::Base: return positive(atom->args[0]);
      case AtomKind::Constant: return true;
      case AtomKind::Sum:
        return has_point(atom) && inside(atom, [&](Term body) { return positive(body); });
      case AtomKind::Extent: {
        const Term less = store_.subtract(store_.negate(of(atom)), store_.integer(0));
        const Conjunction where = {{less, false}};
        return questions_.has_none({}, where);
      }
      case AtomKind::Max:
        return std::any_of(atom->args.begin(), atom->args.end(),
                           [&](Term arg) { return positive(arg); });
      default: return false;
    }
  }

  bool non_negative(Term term) {
    if (!finite(term)) return false;
    for (const Monomial& monomial : term->monomials) {
      if (non_negative(monomial)) continue;
      const auto rest = without_square(term, monomial);
      return rest && non_negative(*rest);
    }
    return true;
  }
  bool non_negative(const Monomial& monomial) {
    return monomial.coefficient > 0 &&
           std::all_of(monomial.factors.begin(), monomial.factors.end(), [&](const Factor& factor) {
             const bool even = factor.power.get_den() == 1 && factor.power.get_num() % 2 == 0;
             return even || non_negative(factor.atom);
           });
  }
  bool non_negative(Atom atom) {
    switch (atom->kind) {
      case AtomKind::Base: return non_negative(atom->args[0]);
      case AtomKind::Constant:
      case AtomKind::Extent:
      case AtomKind::AtLeast:
      case AtomKind::Zero:
      case AtomKind::Less: return true;
      case AtomKind::Sum: return inside(atom, [&](Term body) { return non_negative(body); });
      case AtomKind::Max:
        return std::any_of(atom->args.begin(), atom->args.end(),
                           [&](Term arg) { return non_negative(arg); });
      default: return positive(atom);
    }
  }

  Term of(Atom atom) { return store_.impl().of(atom); }

  // What stands inside, at all points of the fold.
  template <class F>
  bool inside(Atom fold, F&& f) {
    const auto opened = store_.impl().open(fold);
    const std::size_t outer = around_.size();
    for (const Constraint& one : opened.first.where) around_.push_back(one);
    for (Atom variable : opened.first.variables) bound_.push_back(of(variable));
    const bool result = std::all_of(opened.second.begin(), opened.second.end(), f);
    around_.resize(outer);
    bound_.resize(bound_.size() - opened.first.variables.size());
    return result;
  }

  bool has_point(Atom fold) {
    // Within another fold the point would have to exist for each of its points.
    if (!bound_.empty()) return false;
    const auto opened = store_.impl().open(fold);
    std::vector<Term> variables;
    for (Atom variable : opened.first.variables) variables.push_back(of(variable));
    return questions_.has_point(variables, opened.first.where);
  }

  bool is_empty(Term sum) {
    return std::all_of(sum->monomials.begin(), sum->monomials.end(), [&](const Monomial& monomial) {
      return std::any_of(monomial.factors.begin(), monomial.factors.end(),
                         [&](const Factor& factor) {
                           if (factor.atom->kind != AtomKind::Sum) return false;
                           const auto opened = store_.impl().open(factor.atom);
                           std::vector<Term> variables;
                           for (Atom variable : opened.first.variables)
                             variables.push_back(of(variable));
                           return questions_.has_none(variables, opened.first.where);
                         });
    });
  }

  TermStore& store_;
  const SignQuestions& questions_;
  Conjunction around_;
  std::vector<Term> bound_;
};

}  // namespace

bool holds(TermStore& store, const Obligation& obligation, const SignQuestions& questions) {
  Obligation over_inputs = obligation;
  if (questions.cell) {
    over_inputs.term = store.inline_reads(obligation.term, questions.cell);
    if (obligation.unless_empty)
      over_inputs.unless_empty = store.inline_reads(obligation.unless_empty, questions.cell);
  }
  return Signs(store, questions).holds(over_inputs);
}

}  // namespace tilewright::algebra

// SPDX-License-Identifier: Apache-2.0
#include "frontend/algebra/evaluate_term.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/algebra/nodes_wall.h"

namespace tilewright::algebra {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Evaluator {
 public:
  Evaluator(TermStore::Impl& impl, const TermPoint& point) : impl_(impl), point_(point) {}

  double term(Term a) {
    if (holds(a->special[kNan])) return std::nan("");
    if (holds(a->special[kNegInf])) return -kInfinity;
    if (holds(a->special[kPosInf])) return kInfinity;
    // Conditions first: what they end, and what then cancels, may have no value.
    std::vector<Monomial> live;
    for (const Monomial& monomial : a->monomials) {
      const bool zero = std::any_of(
          monomial.factors.begin(), monomial.factors.end(),
          [&](const Factor& factor) { return is_bool(factor.atom) && atom(factor.atom) == 0; });
      if (zero) continue;
      Monomial rest = monomial;
      std::erase_if(rest.factors, [](const Factor& factor) { return is_bool(factor.atom); });
      const auto same = std::find_if(live.begin(), live.end(), [&](const Monomial& other) {
        return compare_keys(other, rest) == 0;
      });
      if (same == live.end())
        live.push_back(std::move(rest));
      else
        same->coefficient += rest.coefficient;
    }
    long double sum = 0;
    for (const Monomial& monomial : live) {
      if (monomial.coefficient == 0) continue;
      long double product = monomial.coefficient.get_d();
      for (const Factor& factor : monomial.factors) product *= power(factor);
      if (monomial.exponent) product *= std::exp(static_cast<long double>(term(monomial.exponent)));
      sum += product;
    }
    return static_cast<double>(sum);
  }

  bool failed = false;

 private:
  bool holds(Term condition) { return condition && term(condition) != 0; }

  long double power(const Factor& factor) {
    const long double base = atom(factor.atom);
    return factor.power == 1 ? base
                             : std::pow(base, static_cast<long double>(factor.power.get_d()));
  }

  std::vector<std::int64_t> indices(Atom a) {
    std::vector<std::int64_t> out;
    for (Term arg : a->args) out.push_back(std::llround(term(arg)));
    return out;
  }

  double atom(Atom a) {
    switch (a->kind) {
      case AtomKind::Variable:
        if (const auto known = bound_.find(a); known != bound_.end())
          return static_cast<double>(known->second);
        if (!a->name.valid()) return fail();
        return static_cast<double>(point_.index(a->name));
      case AtomKind::Extent: return static_cast<double>(point_.index(a->name));
      case AtomKind::Read: return point_.read ? point_.read(a->name, indices(a)) : fail();
      case AtomKind::Value: return point_.value ? point_.value(a->a, indices(a)) : fail();
      case AtomKind::Constant: return a->a == 0 ? std::log(2.0) : static_cast<double>(a->a);
      case AtomKind::Call: return call(a);
      case AtomKind::AtLeast: return term(a->args[0]) >= 0 ? 1 : 0;
      case AtomKind::Zero: return term(a->args[0]) == 0 ? 1 : 0;
      case AtomKind::Less: return term(a->args[0]) < term(a->args[1]) ? 1 : 0;
      case AtomKind::Floor: return std::floor(term(a->args[0]) + 1e-9);
      case AtomKind::Wrap: return wrap(a->type, term(a->args[0]));
      case AtomKind::Max: {
        double most = -kInfinity;
        for (Term arg : a->args) most = greater(most, term(arg));
        return most;
      }
      case AtomKind::Base: return term(a->args[0]);
      case AtomKind::Sum: {
        long double sum = 0;
        over_points(a, [&] { sum += term(a->args[0]); });
        return static_cast<double>(sum);
      }
      case AtomKind::MaxOver: {
        double most = -kInfinity;
        over_points(a, [&] { most = greater(most, term(a->args[0])); });
        return most;
      }
      case AtomKind::Fold: return other_fold(a);
      case AtomKind::Unknown: return fail();
    }
    return fail();
  }

  // NaN stays.
  static double greater(double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
  }

  // Beyond 2^53 the value is not exact, and what it wraps to unknown.
  double wrap(ir::ScalarType type, double value) {
    const double size = std::ldexp(1.0, ir::type_info(type).width);
    const double low = ir::is_unsigned(type) ? 0 : -size / 2;
    if (value >= low && value < low + size) return value;
    if (std::abs(value) > 0x1p53) return fail();
    return value - size * std::floor((value - low) / size);
  }

  double call(Atom a) {
    std::vector<double> args;
    for (Term arg : a->args) args.push_back(term(arg));
    if (a->text == "log") return std::log(args[0]);
    if (a->text == "floor") return std::floor(args[0]);
    if (a->text == "product") return args[0] * args[1];
    if (a->text == "power") return std::pow(args[0], args[1]);
    if (a->text == "equal") return args[0] == args[1] ? 1 : 0;
    return point_.call ? point_.call(a->text, args) : fail();
  }

  // Folds without laws, as from_expr makes them: the first argument says whether a point takes part.
  double other_fold(Atom a) {
    if (a->text == "or") {
      bool any = false;
      over_points(a, [&] { any = any || term(a->args[0]) != 0; });
      return any ? 1 : 0;
    }
    const std::string monoid = a->text.substr(0, a->text.find(' '));
    const bool least = monoid == "min" || monoid == "argmin";
    const bool indexed = monoid == "argmin" || monoid == "argmax";
    if (monoid != "prod" && monoid != "min" && monoid != "max" && !indexed) return fail();
    double best = monoid == "prod" ? 1 : least ? kInfinity : -kInfinity;
    double place = kInfinity;
    bool any = monoid == "prod";
    over_points(a, [&] {
      if (term(a->args[0]) == 0) return;
      const double x = term(a->args[1]);
      const double at = indexed ? term(a->args[2]) : 0;
      if (monoid == "prod") {
        best *= x;
        if (ir::is_integer(a->type)) best = wrap(a->type, best);
      } else if (least ? x < best : x > best) {
        best = x;
        place = at;
      } else if (x == best) {
        place = std::min(place, at);
      }
      any = true;
    });
    if (!any) return fail();
    return a->b == 0 ? best : place;
  }

  // Calls f with the bound variables set to each point of the domain.
  void over_points(Atom fold, const std::function<void()>& f) {
    std::vector<Atom> left;
    for (int i = 0; i < fold->num_bound; ++i) {
      AtomNode node;
      node.kind = AtomKind::Variable;
      node.type = ir::ScalarType::Index;
      node.text = "bound";
      node.a = fold->height;
      node.b = i;
      left.push_back(impl_.atom(std::move(node)));
    }
    points(fold, left, f);
  }

  void points(Atom fold, const std::vector<Atom>& left, const std::function<void()>& f) {
    if (left.empty()) {
      for (const Constraint& constraint : fold->constraints) {
        const double value = term(constraint.value);
        if (constraint.equality ? value != 0 : value < 0) return;
      }
      f();
      return;
    }
    for (Atom variable : left) {
      double low = -kInfinity;
      double high = kInfinity;
      for (const Constraint& constraint : fold->constraints)
        narrow(constraint, variable, left, &low, &high);
      if (std::isinf(low) || std::isinf(high)) continue;
      std::vector<Atom> rest = left;
      std::erase(rest, variable);
      for (auto i = std::llround(low); i <= std::llround(high); ++i) {
        bound_[variable] = i;
        points(fold, rest, f);
      }
      bound_.erase(variable);
      return;
    }
    fail();
  }

  // What a constraint that is linear in the variable, and knows all others, leaves of its values.
  void narrow(const Constraint& constraint, Atom variable, const std::vector<Atom>& left,
              double* low, double* high) {
    double slope = 0;
    long double rest = 0;
    for (const Monomial& monomial : constraint.value->monomials) {
      const std::vector<Atom> free = free_of(monomial);
      if (contains(free, variable)) {
        if (monomial.factors.size() != 1 || monomial.factors[0].atom != variable ||
            monomial.factors[0].power != 1)
          return;
        slope += monomial.coefficient.get_d();
      } else {
        if (intersects(free, left)) return;
        rest += term(impl_.of(monomial));
      }
    }
    if (slope == 0) return;
    const double at = static_cast<double>(-rest) / slope;
    if (slope > 0 || constraint.equality) *low = std::max(*low, std::ceil(at - 1e-9));
    if (slope < 0 || constraint.equality) *high = std::min(*high, std::floor(at + 1e-9));
  }

  double fail() {
    failed = true;
    return 0;
  }

  TermStore::Impl& impl_;
  const TermPoint& point_;
  std::unordered_map<Atom, std::int64_t> bound_;
};

}  // namespace

std::optional<double> evaluate(TermStore& store, Term term, const TermPoint& point) {
  Evaluator evaluator(store.impl(), point);
  const double value = evaluator.term(term);
  if (evaluator.failed) return std::nullopt;
  return value;
}

}  // namespace tilewright::algebra

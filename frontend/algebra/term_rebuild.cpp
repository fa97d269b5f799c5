// SPDX-License-Identifier: Apache-2.0
//
// Terms made anew with other leaves, through the same constructors, so that the result is in normal form. Folds are
// opened with fresh variables first: nothing is captured.
#include "frontend/algebra/nodes_wall.h"

namespace tilewright::algebra {

namespace {

class Rebuilder {
 public:
  // `changes` says whether anything inside of what has these variables may change.
  Rebuilder(TermStore::Impl& impl, const std::function<Term(Atom)>& replace,
            const std::function<bool(const std::vector<Atom>&)>& changes)
      : impl_(impl), replace_(replace), changes_(changes) {}

  Term term(Term a) {
    if (!a || !changes_(a->free)) return a;
    if (const auto known = terms_.find(a.node()); known != terms_.end()) return known->second;
    std::vector<Term> parts;
    for (const Monomial& monomial : a->monomials) parts.push_back(product(monomial));
    while (parts.size() > 1) {
      std::vector<Term> next;
      for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
        next.push_back(impl_.add(parts[i], parts[i + 1]));
      if (parts.size() % 2 == 1) next.push_back(parts.back());
      parts = std::move(next);
    }
    Term out = parts.empty() ? impl_.make({}) : parts[0];
    if (a->special[kPosInf])
      out = impl_.store.select(term(a->special[kPosInf]), impl_.store.infinity(false), out);
    if (a->special[kNegInf])
      out = impl_.store.select(term(a->special[kNegInf]), impl_.store.infinity(true), out);
    if (a->special[kNan]) out = impl_.store.select(term(a->special[kNan]), impl_.store.nan(), out);
    terms_.emplace(a.node(), out);
    return out;
  }

 private:
  Term product(const Monomial& monomial) {
    // The factors that stay, together.
    Monomial kept;
    kept.coefficient = monomial.coefficient;
    std::vector<Term> conditions;
    std::vector<Term> changed;
    for (const Factor& factor : monomial.factors) {
      const Term now = changes_(factor.atom->free) ? atom(factor.atom) : impl_.of(factor.atom);
      if (impl_.single_atom(now) == factor.atom)
        kept.factors.push_back(factor);
      else if (is_bool(factor.atom))
        conditions.push_back(now);
      else
        changed.push_back(impl_.power(now, factor.power));
    }
    Term out;
    if (monomial.exponent && changes_(monomial.exponent->free)) {
      out = impl_.exp(term(monomial.exponent));
      out = impl_.multiply(impl_.of(std::move(kept)), out);
    } else {
      kept.exponent = monomial.exponent;
      out = impl_.of(std::move(kept));
    }
    for (Term factor : changed) out = impl_.multiply(out, factor);
    for (Term condition : conditions) out = impl_.guard(condition, out);
    return out;
  }

  Term atom(Atom a) {
    if (const auto known = atoms_.find(a); known != atoms_.end()) return known->second;
    Term out = replace_(a);
    if (!out) out = inside(a);
    atoms_.emplace(a, out);
    return out;
  }

  Term inside(Atom a) {
    if (a->num_bound > 0) return fold(a);
    std::vector<Term> args;
    bool same = true;
    for (Term arg : a->args) {
      args.push_back(term(arg));
      same = same && args.back() == arg;
    }
    if (same) return a->kind == AtomKind::Base ? a->args[0] : impl_.of(a);
    switch (a->kind) {
      case AtomKind::Variable:
      case AtomKind::Extent:
      case AtomKind::Constant: return impl_.of(a);
      case AtomKind::AtLeast: return impl_.at_least_zero(args[0]);
      case AtomKind::Zero: return impl_.is_zero_condition(args[0]);
      case AtomKind::Less: return impl_.less(args[0], args[1]);
      case AtomKind::Floor: return impl_.floor(args[0]);
      case AtomKind::Wrap: return impl_.wrap(a->type, args[0]);
      case AtomKind::Max: return impl_.maximum(std::move(args));
      case AtomKind::Base: return args[0];
      case AtomKind::Call: return call(a, args);
      case AtomKind::Read:
      case AtomKind::Value:
      case AtomKind::Unknown: {
        AtomNode node = bare(a);
        node.args = std::move(args);
        return impl_.of(impl_.atom(std::move(node)));
      }
      case AtomKind::Sum:
      case AtomKind::MaxOver:
      case AtomKind::Fold: break;
    }
    return fold(a);
  }

  // What a call stands for may be known of other arguments.
  Term call(Atom a, const std::vector<Term>& args) {
    if (a->text == "log") return impl_.log(args[0]);
    if (a->text == "equal") return impl_.equal_to(args[0], args[1]);
    if (a->text == "product") return impl_.multiply(args[0], args[1]);
    if (a->text == "floor") return impl_.floor(args[0]);
    if (a->text == "power")
      if (const mpq_class* by = impl_.constant_of(args[1])) return impl_.power(args[0], *by);
    return impl_.store.call(a->text, args, a->type);
  }

  Term fold(Atom a) {
    auto [binder, args] = impl_.open(a);
    for (Constraint& constraint : binder.where) constraint.value = term(constraint.value);
    for (Term& arg : args) arg = term(arg);
    if (a->kind == AtomKind::Sum) return impl_.sum(std::move(binder), args[0]);
    if (a->kind == AtomKind::MaxOver) return impl_.maximum_over(std::move(binder), args[0]);
    AtomNode node = bare(a);
    node.args = std::move(args);
    return impl_.fold(std::move(node), std::move(binder));
  }

  static AtomNode bare(Atom a) {
    AtomNode node;
    node.kind = a->kind;
    node.type = a->type;
    node.name = a->name;
    node.text = a->text;
    node.a = a->a;
    node.b = a->b;
    return node;
  }

  TermStore::Impl& impl_;
  const std::function<Term(Atom)>& replace_;
  const std::function<bool(const std::vector<Atom>&)>& changes_;
  std::unordered_map<const TermNode*, Term> terms_;
  std::unordered_map<Atom, Term> atoms_;
};

}  // namespace

Term TermStore::Impl::rebuild(Term a, const std::function<Term(Atom)>& replace) {
  const std::function<bool(const std::vector<Atom>&)> always = [](const auto&) { return true; };
  return Rebuilder(*this, replace, always).term(a);
}

Term TermStore::Impl::substitute(Term a, const Values& values) {
  const std::function<Term(Atom)> replace = [&](Atom atom) {
    const auto found = values.find(atom);
    return found == values.end() ? Term() : found->second;
  };
  const std::function<bool(const std::vector<Atom>&)> changes = [&](const auto& free) {
    for (Atom variable : free)
      if (values.contains(variable)) return true;
    return false;
  };
  return Rebuilder(*this, replace, changes).term(a);
}

}  // namespace tilewright::algebra

// SPDX-License-Identifier: Apache-2.0
#include "frontend/algebra/claims.h"

#include "frontend/algebra/from_expr.h"

namespace tilewright::algebra {

namespace {

// The value atoms of symbols have negative numbers, which no store has.
std::int64_t id_of(std::int64_t number) { return -1 - number; }

constexpr std::int64_t kFirstOwn = 1 << 20;  // symbols that the proofs here add

using Fields = std::vector<Term>;

class Prover {
 public:
  explicit Prover(TermStore& store) : store_(store) {}

  // All fields equal.
  LawVerdict compare(Law law, const std::vector<std::pair<Term, Term>>& sides) {
    LawVerdict out;
    out.law = law;
    out.shown = true;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      if (store_.equal(sides[i].first, sides[i].second).verdict == Verdict::Equal) continue;
      out.shown = false;
      out.field = static_cast<int>(i);
      break;
    }
    out.obligations = store_.take_obligations();
    return out;
  }

  Fields own_symbols(std::size_t count) {
    Fields out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(symbol(store_, kFirstOwn + num_own_++));
    return out;
  }

  Term replace(Term term, const Fields& symbols, const Fields& values) {
    return store_.inline_values(term, [&](std::int64_t id, std::span<const Term> instance) {
      for (std::size_t i = 0; i < symbols.size(); ++i)
        if (store_.value(id, instance, ir::ScalarType::F64) == symbols[i]) return values[i];
      return Term();
    });
  }

 private:
  TermStore& store_;
  std::int64_t num_own_ = 0;
};

Fields joined(Fields a, const Fields& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

Term symbol(TermStore& store, std::int64_t number) {
  return store.value(id_of(number), {}, ir::ScalarType::F64);
}

std::vector<LawVerdict> prove_transport(TermStore& store, const Transport& transport) {
  Prover prover(store);
  store.take_obligations();
  const std::size_t n = transport.state.size();
  const auto moved = [&](const Fields& from, const Fields& to, const Fields& state, std::size_t i) {
    return prover.replace(transport.moved[i],
                          joined(joined(transport.from, transport.to), transport.state),
                          joined(joined(from, to), state));
  };
  std::vector<LawVerdict> out;
  std::vector<std::pair<Term, Term>> sides;
  for (std::size_t i = 0; i < n; ++i)
    sides.emplace_back(moved(transport.from, transport.to, transport.bodies, i),
                       prover.replace(transport.bodies[i], transport.from, transport.to));
  out.push_back(prover.compare(Law::Moves, sides));

  sides.clear();
  const Fields x = prover.own_symbols(n);
  const Fields y = prover.own_symbols(n);
  Fields both;
  Fields identity;
  const auto combine = [&](std::size_t i, Term a, Term b) {
    return transport.by_maximum[i] ? store.maximum(a, b) : store.add(a, b);
  };
  for (std::size_t i = 0; i < n; ++i) {
    both.push_back(combine(i, x[i], y[i]));
    identity.push_back(transport.by_maximum[i] ? store.infinity(true) : store.integer(0));
  }
  for (std::size_t i = 0; i < n; ++i)
    sides.emplace_back(moved(transport.from, transport.to, both, i),
                       combine(i, moved(transport.from, transport.to, x, i),
                               moved(transport.from, transport.to, y, i)));
  for (std::size_t i = 0; i < n; ++i)
    sides.emplace_back(moved(transport.from, transport.to, identity, i), identity[i]);
  out.push_back(prover.compare(Law::Homomorphism, sides));

  sides.clear();
  const Fields last = prover.own_symbols(transport.from.size());
  for (std::size_t i = 0; i < n; ++i) {
    sides.emplace_back(moved(transport.from, transport.from, x, i), x[i]);
    Fields once;
    for (std::size_t j = 0; j < n; ++j) once.push_back(moved(transport.from, transport.to, x, j));
    sides.emplace_back(moved(transport.to, last, once, i), moved(transport.from, last, x, i));
  }
  out.push_back(prover.compare(Law::Composes, sides));
  return out;
}

std::vector<LawVerdict> prove_monoid(TermStore& store, const ir::MonoidDecl& monoid) {
  Prover prover(store);
  store.take_obligations();
  const std::size_t n = monoid.fields.size();
  const auto combine = [&](const Fields& left, const Fields& right) {
    Leaves leaves;
    leaves.variable = [&](Symbol name) -> Term {
      for (std::size_t i = 0; i < n; ++i) {
        const std::string field = "." + std::string(monoid.fields[i].text());
        if (name.text() == std::string(monoid.left.text()) + field) return left[i];
        if (name.text() == std::string(monoid.right.text()) + field) return right[i];
      }
      return {};
    };
    Fields out;
    for (ir::Expr value : monoid.combine) out.push_back(from_expr(store, value, leaves));
    return out;
  };
  const auto pairs = [&](const Fields& a, const Fields& b) {
    std::vector<std::pair<Term, Term>> out;
    for (std::size_t i = 0; i < n; ++i) out.emplace_back(a[i], b[i]);
    return out;
  };
  Fields identity;
  for (ir::Expr value : monoid.identity) identity.push_back(from_expr(store, value, {}));
  // Symbols of the types of the fields.
  std::int64_t next = 0;
  const auto symbols = [&] {
    Fields out;
    for (ir::ScalarType type : monoid.types) out.push_back(store.value(id_of(next++), {}, type));
    return out;
  };
  const Fields a = symbols();
  const Fields b = symbols();
  const Fields c = symbols();
  std::vector<LawVerdict> out;
  std::vector<std::pair<Term, Term>> sides = pairs(combine(identity, a), a);
  for (const auto& side : pairs(combine(a, identity), a)) sides.push_back(side);
  out.push_back(prover.compare(Law::Identity, sides));
  out.push_back(prover.compare(Law::Associative,
                               pairs(combine(combine(a, b), c), combine(a, combine(b, c)))));
  if (monoid.commutative)
    out.push_back(prover.compare(Law::Commutative, pairs(combine(a, b), combine(b, a))));
  return out;
}

}  // namespace tilewright::algebra

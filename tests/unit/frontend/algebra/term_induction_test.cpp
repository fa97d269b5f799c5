// SPDX-License-Identifier: Apache-2.0
//
// What the proof asks of the algebra, by hand: the steps and the exit of loops that keep partial folds.
#include "tests/unit/frontend/algebra/term_cases.h"

namespace tilewright::algebra {
namespace {

constexpr ir::ScalarType kReal = ir::ScalarType::F32;
constexpr const char* kAttention =
    "  requires S <= T && 1 <= T\n"
    "  input q : f32[S, D]\n  input k : f32[T, D]\n  input v : f32[T, D]\n"
    "  score[s < S, t < T] : f32 = sum(d < D) q[s,d] * k[t,d]\n";

// No sets make them equal: a body is on one side alone.
bool is_refused(const Equality& equality) {
  if (equality.verdict != Verdict::IfSameSets) return equality.verdict == Verdict::NotShown;
  return std::any_of(equality.sets.begin(), equality.sets.end(),
                     [](const SameSets& sets) { return sets.left.empty() || sets.right.empty(); });
}

class Induction : public ::testing::Test {
 protected:
  Term variable(const char* name) { return store.variable(terms.symbol(name)); }
  Term extent(const char* name) { return store.extent(terms.symbol(name)); }
  Term read(const char* tensor, std::vector<Term> indices) {
    return store.read(terms.symbol(tensor), indices, kReal);
  }
  Term stored(std::int64_t id, std::vector<Term> instance) {
    return store.value(id, instance, kReal);
  }
  Term plus(Term a, std::int64_t b) { return store.add(a, store.integer(b)); }
  // low <= x < high.
  Conjunction between(Term low, Term x, Term high) {
    return {{store.subtract(x, low), false}, {plus(store.subtract(high, x), -1), false}};
  }
  Term sum(Term low, Term high, const std::function<Term(Term)>& body) {
    const Term x = store.fresh_variable();
    return store.sum({{x}, {between(low, x, high)}}, body(x));
  }
  Term maximum(Term low, Term high, const std::function<Term(Term)>& body) {
    const Term x = store.fresh_variable();
    return store.maximum_over({{x}, {between(low, x, high)}}, body(x));
  }
  Term times(Term a, Term b) { return store.multiply(a, b); }
  Term minus(Term a, Term b) { return store.subtract(a, b); }
  // The scores of row s.
  Term score(Term t) {
    return times(
        sum(store.integer(0), extent("D"),
            [&](Term d) { return times(read("q", {variable("s"), d}), read("k", {t, d})); }),
        store.power(extent("D"), -1, 2));
  }
  std::vector<std::string> obligations() {
    std::vector<std::string> out;
    for (const Obligation& obligation : store.take_obligations())
      out.push_back(store.print(obligation));
    return out;
  }

  Terms terms;
  TermStore& store = terms.store;
  Term zero = store.integer(0);
  Term j = variable("j");
  Term tile = store.multiply(store.integer(4), variable("j"));
};

// l and o after tile j, with the reference that the store number 1 wrote.
class Flash : public Induction {
 protected:
  Term reference(Term at) { return stored(1, {at}); }
  Term l(Term high, Term m) {
    return sum(zero, high, [&](Term t) { return store.exp(minus(score(t), m)); });
  }
  Term o(Term high, Term m) {
    return sum(zero, high, [&](Term t) {
      return times(store.exp(minus(score(t), m)), read("v", {t, variable("d")}));
    });
  }
};

TEST_F(Flash, StepOfTheTotal) {
  const Term next = reference(plus(j, 1));
  const Term rescale = store.exp(minus(reference(j), next));
  const Term increment =
      sum(tile, plus(tile, 4), [&](Term t) { return store.exp(minus(score(t), next)); });
  const Term stored_now = store.add(times(l(tile, reference(j)), rescale), increment);
  const Equality equal = store.equal(stored_now, l(plus(tile, 4), next));
  ASSERT_EQ(equal.verdict, Verdict::IfSameSets);
  ASSERT_EQ(equal.sets.size(), 1U);
  EXPECT_EQ(equal.sets[0].left.size() + equal.sets[0].right.size(), 3U);
  EXPECT_EQ(equal.sets[0].variables.size(), 1U);
  // Without the rescale, or with one of the wrong sign, no sets would do: two bodies remain.
  const Term wrong[] = {
      store.add(l(tile, reference(j)), increment),
      store.add(times(l(tile, reference(j)), store.exp(minus(next, reference(j)))), increment)};
  for (Term each : wrong) {
    const Equality different = store.equal(each, l(plus(tile, 4), next));
    EXPECT_TRUE(is_refused(different));
    EXPECT_FALSE(terms.agree(each, l(plus(tile, 4), next)));
  }
  EXPECT_TRUE(terms.agree(stored_now, l(plus(tile, 4), next)));
}

TEST_F(Flash, StepOfTheOutput) {
  const Term next = reference(plus(j, 1));
  const Term rescale = store.exp(minus(reference(j), next));
  const Term increment = sum(tile, plus(tile, 4), [&](Term t) {
    return times(read("v", {t, variable("d")}), store.exp(minus(score(t), next)));
  });
  const Term stored_now = store.add(increment, times(rescale, o(tile, reference(j))));
  const Equality equal = store.equal(stored_now, o(plus(tile, 4), next));
  EXPECT_EQ(equal.verdict, Verdict::IfSameSets);
  EXPECT_EQ(equal.sets.size(), 1U);
}

// Whatever the reference was, it cancels in the quotient: one handle, no sets.
TEST_F(Flash, ExitByQuotient) {
  const Term out =
      terms.output("S, T, D", std::string(kAttention) +
                                  "  logit[s < S, t < T] : f32 = score[s,t] * rsqrt(f32(D))\n"
                                  "  peak[s < S] : f32 = max(t < T) logit[s,t]\n"
                                  "  e[s < S, t < T] : f32 = exp(logit[s,t] - peak[s])\n"
                                  "  total[s < S] : f32 = sum(t < T) e[s,t]\n"
                                  "  p[s < S, t < T] : f32 = e[s,t] / total[s]\n"
                                  "  output o[s < S, d < D] : f32 = sum(t < T) p[s,t] * v[t,d]");
  const Term last = reference(variable("n"));
  const Term quotient = store.divide(o(extent("T"), last), l(extent("T"), last));
  EXPECT_TRUE(quotient == out) << store.print(quotient) << "\n" << store.print(out);
  const Term other = store.divide(o(extent("T"), last), l(extent("T"), reference(j)));
  EXPECT_TRUE(is_refused(store.equal(other, out)));
  EXPECT_FALSE(terms.agree(other, out));
}

// The last tile is cut off at T: the domains of both folds are what must be shown, the denominator's too.
TEST_F(Flash, ExitWithATail) {
  const Term last = reference(variable("n"));
  const Term high = store.multiply(store.integer(4), variable("n"));
  const auto cut = [&](const std::function<Term(Term)>& body) {
    const Term t = store.fresh_variable();
    Conjunction where = between(zero, t, extent("T"));
    where.push_back({plus(minus(high, t), -1), false});
    return store.sum({{t}, {where}}, body(t));
  };
  const auto e = [&](Term t) { return store.exp(minus(score(t), last)); };
  const auto ev = [&](Term t) { return times(e(t), read("v", {t, variable("d")})); };
  const Term quotient = store.divide(cut(ev), cut(e));
  const Term out = store.divide(o(extent("T"), last), l(extent("T"), last));
  const Equality equal = store.equal(quotient, out);
  ASSERT_EQ(equal.verdict, Verdict::IfSameSets);
  EXPECT_EQ(equal.sets.size(), 2U);
  EXPECT_FALSE(is_refused(equal));
  // Of the denominator another body.
  const Term wrong = store.divide(cut(ev), cut([&](Term t) { return store.exp(score(t)); }));
  EXPECT_TRUE(is_refused(store.equal(wrong, out)));
}

TEST_F(Flash, SaysThatTheReferenceMustBeFinite) {
  store.take_obligations();
  l(tile, reference(j));
  bool found = false;
  for (const Obligation& obligation : store.take_obligations())
    found = found || (obligation.condition == Condition::Finite &&
                      obligation.term == reference(j) && obligation.unless_empty);
  EXPECT_TRUE(found);
}

// What the program's own operations need: the new reference is finite in any case, the old one if there was a key.
TEST_F(Flash, SaysWhatTheProgramNeeds) {
  const Source source("p.tw",
                      "algorithm p(N) {\n  input l : f32[N]\n  input m : f32[N]\n"
                      "  output o[j < N - 1] : f32 = l[j] * exp(m[j] - m[j + 1])\n}\n");
  auto algorithm = ir::parse_algorithm(terms.context, source);
  ASSERT_TRUE(algorithm.ok()) << algorithm.diagnostics()[0].message;
  Leaves leaves;
  leaves.must_be_defined = true;
  leaves.read = [&](const ir::Read& r, std::span<const Term> at) {
    return r.tensor.text() == "m" ? reference(at[0])
                                  : l(times(store.integer(4), at[0]), reference(at[0]));
  };
  store.take_obligations();
  from_expr(store, algorithm->equations[0].value, leaves);
  bool next_always = false;
  bool last_always = false;
  bool last_with_keys = false;
  for (const Obligation& obligation : store.take_obligations()) {
    if (obligation.condition != Condition::Finite) continue;
    const bool always = !obligation.unless_empty;
    next_always = next_always || (always && obligation.term == reference(plus(j, 1)));
    last_always = last_always || (always && obligation.term == reference(j));
    last_with_keys = last_with_keys || (!always && obligation.term == reference(j));
  }
  EXPECT_TRUE(next_always);
  EXPECT_FALSE(last_always);
  EXPECT_TRUE(last_with_keys);
}

// A split of the keys: two partial sums with their own references, and the larger of these in the end.
TEST_F(Flash, MergeOfTwoParts) {
  const Term half = variable("h");
  const Term a = stored(1, {});
  const Term b = stored(2, {});
  const Term m = store.maximum(a, b);
  const Term right = sum(half, extent("T"), [&](Term t) { return store.exp(minus(score(t), b)); });
  const Term merged =
      store.add(times(l(half, a), store.exp(minus(a, m))), times(store.exp(minus(b, m)), right));
  const Equality equal = store.equal(merged, l(extent("T"), m));
  EXPECT_EQ(equal.verdict, Verdict::IfSameSets);
  EXPECT_EQ(equal.sets.size(), 1U);
}

// A mask with minus infinity is a smaller domain.
TEST_F(Flash, CausalMask) {
  const Term out = terms.output(
      "S, T, D",
      std::string(kAttention) +
          "  logit[s < S, t < T] : f32 = select(t <= s + T - S, score[s,t] * rsqrt(f32(D)), -inf)\n"
          "  peak[s < S] : f32 = max(t < T) logit[s,t]\n"
          "  e[s < S, t < T] : f32 = exp(logit[s,t] - peak[s])\n"
          "  total[s < S] : f32 = sum(t < T) e[s,t]\n"
          "  p[s < S, t < T] : f32 = e[s,t] / total[s]\n"
          "  output o[s < S, d < D] : f32 = sum(t < T) p[s,t] * v[t,d]");
  const Term last = reference(variable("n"));
  const Term row = plus(store.add(variable("s"), minus(extent("T"), extent("S"))), 1);
  const auto masked = [&](const std::function<Term(Term)>& body) {
    const Term t = store.fresh_variable();
    Conjunction where = between(zero, t, extent("T"));
    where.push_back({plus(minus(row, t), -1), false});
    return store.sum({{t}, {where}}, body(t));
  };
  const Term total = masked([&](Term t) { return store.exp(minus(score(t), last)); });
  const Term sums = masked([&](Term t) {
    return times(store.exp(minus(score(t), last)), read("v", {t, variable("d")}));
  });
  const Term quotient = store.divide(sums, total);
  EXPECT_EQ(store.equal(quotient, out).verdict, Verdict::Equal) << store.print(quotient) << "\n"
                                                                << store.print(out);
}

// One key at a time: the last point of the domain stands alone in what is stored.
TEST_F(Flash, StepOfOneKey) {
  const Term next = reference(plus(j, 1));
  const Term stored_now =
      store.add(times(o(j, reference(j)), store.exp(minus(reference(j), next))),
                times(store.exp(minus(score(j), next)), read("v", {j, variable("d")})));
  const Equality equal = store.equal(stored_now, o(plus(j, 1), next));
  ASSERT_EQ(equal.verdict, Verdict::IfSameSets);
  ASSERT_EQ(equal.sets.size(), 1U);
  EXPECT_EQ(equal.sets[0].left.size() + equal.sets[0].right.size(), 3U);
  // The key of v is another than that of the score.
  const Term torn =
      store.add(times(o(j, reference(j)), store.exp(minus(reference(j), next))),
                times(store.exp(minus(score(j), next)), read("v", {tile, variable("d")})));
  EXPECT_TRUE(is_refused(store.equal(torn, o(plus(j, 1), next))));
  EXPECT_FALSE(terms.agree(torn, o(plus(j, 1), next)));
}

TEST_F(Flash, StepOfTheMaximum) {
  const auto body = [&](Term t) { return score(t); };
  const Term before = maximum(zero, tile, body);
  const Term now = store.maximum(before, maximum(tile, plus(tile, 4), body));
  const Equality equal = store.equal(now, maximum(zero, plus(tile, 4), body));
  ASSERT_EQ(equal.verdict, Verdict::IfSameSets);
  ASSERT_EQ(equal.sets.size(), 1U);
  EXPECT_FALSE(equal.sets[0].counted);
  EXPECT_EQ(equal.sets[0].left.size(), 2U);
  EXPECT_EQ(equal.sets[0].right.size(), 1U);
  const Equality one =
      store.equal(store.maximum(maximum(zero, j, body), score(j)), maximum(zero, plus(j, 1), body));
  ASSERT_EQ(one.verdict, Verdict::IfSameSets);
  EXPECT_EQ(one.sets[0].left.size(), 2U);
  EXPECT_TRUE(terms.agree(now, maximum(zero, plus(tile, 4), body)));
  // A minimum and a maximum of something else are not it.
  const Term other = maximum(zero, tile, [&](Term t) { return read("x", {t}); });
  EXPECT_TRUE(is_refused(store.equal(store.maximum(before, score(variable("h"))), other)));
  // A part that another holds adds nothing.
  const Equality part = store.equal(store.maximum(before, maximum(zero, plus(tile, 4), body)),
                                    maximum(zero, plus(tile, 4), body));
  EXPECT_EQ(part.verdict, Verdict::IfSameSets);
  EXPECT_FALSE(is_refused(part));
}

// A row of the domain is added, which was summed before.
TEST_F(Induction, StepOfARow) {
  const Term c = store.fresh_variable();
  const Term r = store.fresh_variable();
  const auto body = [&](Term x, Term y) { return times(read("a", {x, y}), read("b", {y, x})); };
  const auto rows = [&](Term high) {
    Conjunction where = between(zero, c, high);
    for (const Constraint& each : between(zero, r, extent("R"))) where.push_back(each);
    return store.sum({{c, r}, {where}}, body(c, r));
  };
  const Term row = sum(zero, extent("R"), [&](Term y) { return body(j, y); });
  const Equality equal = store.equal(store.add(rows(j), row), rows(plus(j, 1)));
  ASSERT_EQ(equal.verdict, Verdict::IfSameSets);
  ASSERT_EQ(equal.sets.size(), 1U);
  EXPECT_EQ(equal.sets[0].variables.size(), 2U);
  EXPECT_TRUE(terms.agree(store.add(rows(j), row), rows(plus(j, 1))));
  const Term column = sum(zero, extent("R"), [&](Term y) { return body(y, j); });
  EXPECT_FALSE(terms.agree(store.add(rows(j), column), rows(plus(j, 1))));
  const Equality other = store.equal(store.add(rows(j), column), rows(plus(j, 1)));
  // It is the same body at other points: the sets then differ.
  EXPECT_TRUE(other.verdict == Verdict::IfSameSets || other.verdict == Verdict::NotShown);
}

// Each way of writing attention that the search is tried with is the same term.
TEST_F(Flash, ObfuscatedStatementsAreOneTerm) {
  const std::string head = kAttention;
  const std::string usual = head +
                            "  logit[s < S, t < T] : f32 = score[s,t] * rsqrt(f32(D))\n"
                            "  peak[s < S] : f32 = max(t < T) logit[s,t]\n";
  const std::string e = "  e[s < S, t < T] : f32 = exp(logit[s,t] - peak[s])\n";
  const std::string total = "  total[s < S] : f32 = sum(t < T) e[s,t]\n";
  const Term plain =
      terms.output("S, T, D", usual + e + total +
                                  "  p[s < S, t < T] : f32 = e[s,t] / total[s]\n"
                                  "  output o[s < S, d < D] : f32 = sum(t < T) p[s,t] * v[t,d]");
  const std::string others[] = {
      // renamed, reordered, re-associated
      "  requires S <= T && 1 <= T\n  input v : f32[T, D]\n  input k : f32[T, D]\n  input q : "
      "f32[S, D]\n"
      "  a[x < S, y < T] : f32 = sum(z < D) k[y,z] * (q[x,z] * rsqrt(f32(D)))\n"
      "  b[x < S] : f32 = max(y < T) a[x,y]\n"
      "  c[x < S, y < T] : f32 = exp(-b[x] + a[x,y])\n"
      "  n[x < S] : f32 = sum(y < T) c[x,y]\n"
      "  output o[s < S, d < D] : f32 = sum(y < T) c[s,y] * (v[y,d] * (1.0 / n[s]))",
      // split, subtract then add, exp2 with the symbolic constant
      usual +
          "  f[s < S, t < T] : f32 = (logit[s,t] + v[0,0] - peak[s]) - v[0,0]\n"
          "  e[s < S, t < T] : f32 = exp2(f[s,t] * log2(exp(f32(1.0))))\n" +
          total +
          "  r[s < S] : f32 = 1.0 / total[s]\n"
          "  u[s < S, d < D] : f32 = sum(t < T) e[s,t] * v[t,d]\n"
          "  output o[s < S, d < D] : f32 = u[s,d] * r[s]",
      // an extra scale, and no maximum
      usual + "  e[s < S, t < T] : f32 = 3.0 * exp(logit[s,t])\n" + total +
          "  u[s < S, d < D] : f32 = sum(t < T) (e[s,t] * v[t,d]) * 0.5\n"
          "  output o[s < S, d < D] : f32 = u[s,d] / (total[s] * 0.5)",
  };
  for (const std::string& text : others) {
    const Term other = terms.output("S, T, D", text);
    EXPECT_TRUE(other == plain) << text << "\n" << store.print(other) << "\n" << store.print(plain);
  }
  const std::string wrong[] = {
      usual + e + total +
          "  u[s < S, d < D] : f32 = sum(t < T) e[s,t] * v[t,d]\n"
          "  output o[s < S, d < D] : f32 = u[s,d] / (total[s] + 0.001)",
      usual + "  e[s < S, t < T] : f32 = exp2(logit[s,t] - peak[s])\n" + total +
          "  u[s < S, d < D] : f32 = sum(t < T) e[s,t] * v[t,d]\n"
          "  output o[s < S, d < D] : f32 = u[s,d] / total[s]",
  };
  for (const std::string& text : wrong) {
    const Term other = terms.output("S, T, D", text);
    EXPECT_TRUE(is_refused(store.equal(other, plain))) << text;
    EXPECT_FALSE(terms.agree(other, plain)) << text;
  }
}

TEST_F(Induction, VarianceByFiniteRank) {
  const Term two_passes =
      terms.output("N",
                   "  requires 1 <= N\n  input x : f64[N]\n"
                   "  total = sum(i < N) x[i]\n  mean[] : f64 = total[] / f64(N)\n"
                   "  squares = sum(i < N) (x[i] - mean[]) * (x[i] - mean[])\n"
                   "  output o[] : f64 = squares[] / f64(N)");
  const Term one_pass = terms.output(
      "N",
      "  requires 1 <= N\n  input x : f64[N]\n"
      "  total = sum(i < N) x[i]\n  squares = sum(i < N) x[i] * x[i]\n"
      "  output o[] : f64 = squares[] / f64(N) - (total[] / f64(N)) * (total[] / f64(N))");
  EXPECT_TRUE(two_passes == one_pass) << store.print(two_passes) << "\n" << store.print(one_pass);
  EXPECT_TRUE(terms.agree(two_passes, one_pass));
  bool divides = false;
  for (const Obligation& obligation : store.take_obligations())
    divides =
        divides || (obligation.condition == Condition::NonZero && obligation.term == extent("N"));
  EXPECT_TRUE(divides);
}

TEST_F(Induction, LayerNormByRawMoments) {
  const char* head = "  requires 1 <= N\n  input x : f64[N]\n  input g : f64[N]\n";
  const Term two_passes = terms.output(
      "N",
      std::string(head) +
          "  total = sum(i < N) x[i]\n  mean[] : f64 = total[] / f64(N)\n"
          "  squares = sum(i < N) (x[i] - mean[]) * (x[i] - mean[])\n"
          "  output o[i < N] : f64 = (x[i] - mean[]) * rsqrt(squares[] / f64(N) + 0.00001) * g[i]");
  const Term one_pass = terms.output(
      "N", std::string(head) +
               "  total = sum(i < N) x[i]\n  squares = sum(i < N) x[i] * x[i]\n"
               "  mean[] : f64 = total[] / f64(N)\n"
               "  inverse[] : f64 = 1.0 / sqrt(squares[] / f64(N) - mean[] * mean[] + 0.00001)\n"
               "  output o[i < N] : f64 = g[i] * inverse[] * x[i] - mean[] * (g[i] * inverse[])");
  EXPECT_EQ(store.equal(two_passes, one_pass).verdict, Verdict::Equal)
      << store.print(two_passes) << "\n"
      << store.print(one_pass);
  EXPECT_TRUE(terms.agree(two_passes, one_pass));
}

// log-sum-exp about any reference.
TEST_F(Induction, LogSumExp) {
  const auto x = [&](Term i) { return read("x", {i}); };
  const Term m = maximum(zero, extent("N"), x);
  const Term about = store.add(
      m, store.log(sum(zero, extent("N"), [&](Term i) { return store.exp(minus(x(i), m)); })));
  const Term plain = store.log(sum(zero, extent("N"), [&](Term i) { return store.exp(x(i)); }));
  EXPECT_TRUE(about == plain) << store.print(about) << "\n" << store.print(plain);
}

// The body of the algorithm's fold at some point is what a store adds.
TEST_F(Flash, MatchFindsThePoint) {
  const Term t = store.fresh_variable();
  const Term body = times(store.exp(score(t)), read("v", {t, variable("d")}));
  const Term at = store.add(store.multiply(store.integer(4), variable("u")), variable("i"));
  const Term increment =
      times(store.exp(minus(score(at), reference(j))), read("v", {at, variable("d")}));
  const Term unknowns[] = {t};
  const std::optional<Match> match = store.match(body, unknowns, increment);
  ASSERT_TRUE(match);
  ASSERT_EQ(match->values.size(), 1U);
  EXPECT_TRUE(match->values[0].second == at) << store.print(match->values[0].second);
  EXPECT_TRUE(match->factor == store.exp(store.negate(reference(j))));
  // Different points in the two reads: no point.
  const Term torn = times(store.exp(score(at)), read("v", {plus(at, 1), variable("d")}));
  EXPECT_FALSE(store.match(body, unknowns, torn));
}

}  // namespace
}  // namespace tilewright::algebra

// SPDX-License-Identifier: Apache-2.0
//
// Laws of transports and of declared reductions: shown for the right ones, not for those with one fault.
#include "frontend/algebra/claims.h"

#include "tests/unit/frontend/algebra/term_cases.h"

namespace tilewright::algebra {
namespace {

bool all_shown(const std::vector<LawVerdict>& verdicts) {
  return std::all_of(verdicts.begin(), verdicts.end(),
                     [](const LawVerdict& verdict) { return verdict.shown; });
}

std::vector<Law> not_shown(const std::vector<LawVerdict>& verdicts) {
  std::vector<Law> out;
  for (const LawVerdict& verdict : verdicts)
    if (!verdict.shown) out.push_back(verdict.law);
  return out;
}

class Transports : public ::testing::Test {
 protected:
  Term c(const char* tensor) {
    const Term index[] = {store.variable(terms.symbol("t"))};
    return store.read(terms.symbol(tensor), index, ir::ScalarType::F64);
  }
  Term minus(Term a, Term b) { return store.subtract(a, b); }
  Term times(Term a, Term b) { return store.multiply(a, b); }

  Terms terms;
  TermStore& store = terms.store;
  Term r = symbol(store, 0);
  Term to = symbol(store, 1);
  Term x = symbol(store, 2);
  Term y = symbol(store, 3);
  Term rescale = store.exp(minus(r, to));
};

TEST_F(Transports, OfSoftmaxAndItsProduct) {
  Transport softmax{{r},
                    {to},
                    {x, y},
                    {times(x, rescale), times(y, rescale)},
                    {store.exp(minus(c("s"), r)), times(store.exp(minus(c("s"), r)), c("v"))},
                    {false, false}};
  const std::vector<LawVerdict> verdicts = prove_transport(store, softmax);
  ASSERT_EQ(verdicts.size(), 3U);
  EXPECT_TRUE(all_shown(verdicts));
  // Moving needs a finite reference, and says so.
  EXPECT_FALSE(verdicts[0].obligations.empty());
  softmax.moved[1] = y;
  EXPECT_EQ(not_shown(prove_transport(store, softmax)), std::vector<Law>({Law::Moves}));
  softmax.moved[1] = times(y, store.exp(minus(to, r)));
  EXPECT_EQ(not_shown(prove_transport(store, softmax)), std::vector<Law>({Law::Moves}));
  softmax.moved[1] = store.add(times(y, rescale), minus(r, to));
  EXPECT_EQ(not_shown(prove_transport(store, softmax)),
            std::vector<Law>({Law::Moves, Law::Homomorphism, Law::Composes}));
}

// The base is (peak, total): the quotient is kept, and moved by total / total'.
TEST_F(Transports, OfAQuotient) {
  const Term total = symbol(store, 4);
  const Term total_to = symbol(store, 5);
  const Transport quotient{{r, total},
                           {to, total_to},
                           {x},
                           {times(times(x, rescale), store.divide(total, total_to))},
                           {store.divide(times(store.exp(minus(c("s"), r)), c("v")), total)},
                           {false}};
  EXPECT_TRUE(all_shown(prove_transport(store, quotient)));
}

// A maximum of what a moving reference is subtracted from.
TEST_F(Transports, OfAMaximum) {
  const Transport shifted{{r}, {to}, {x}, {store.add(x, minus(r, to))}, {minus(c("s"), r)}, {true}};
  EXPECT_TRUE(all_shown(prove_transport(store, shifted)));
  const Transport squared{
      {r}, {to}, {x}, {store.add(x, minus(r, to))}, {minus(c("s"), times(r, r))}, {true}};
  EXPECT_EQ(not_shown(prove_transport(store, squared)), std::vector<Law>({Law::Moves}));
}

// Composition alone may fail: twice half of the way is not the way.
TEST_F(Transports, ThatDoesNotCompose) {
  const Transport wrong{{r},
                        {to},
                        {x},
                        {times(x, store.exp(times(minus(r, to), minus(r, to))))},
                        {store.integer(0)},
                        {false}};
  EXPECT_EQ(not_shown(prove_transport(store, wrong)), std::vector<Law>({Law::Composes}));
}

// The running softmax as a declared reduction; the reader samples its laws, the proof is for all values.
class Monoids : public ::testing::Test {
 protected:
  void SetUp() override {
    const Source source(
        "m.tw",
        "monoid lse(m : f32, s : f32) commutative {\n  identity -inf, 0\n"
        "  combine(a, b) = max(a.m, b.m), a.s * exp(a.m - max(a.m, b.m)) + b.s * exp(b.m - "
        "max(a.m, b.m))\n}\n"
        "algorithm a(N) {\n  input x : f32[N]\n  output o[] = lse(i < N) (x[i], 1)\n}\n");
    auto algorithm = ir::parse_algorithm(context, source);
    ASSERT_TRUE(algorithm.ok()) << algorithm.diagnostics()[0].message;
    lse = algorithm->monoids.at(0);
  }
  ir::Expr field(const char* name) {
    return context.var(context.symbol(name), ir::ScalarType::F32);
  }

  ir::Context context;
  TermStore store;
  ir::MonoidDecl lse;
};

TEST_F(Monoids, LawsOfRunningSoftmax) {
  const std::vector<LawVerdict> verdicts = prove_monoid(store, lse);
  ASSERT_EQ(verdicts.size(), 3U);
  EXPECT_TRUE(all_shown(verdicts));
}

TEST_F(Monoids, FaultsAreNotShown) {
  ir::MonoidDecl no_rescale = lse;
  no_rescale.combine[1] = context.add(field("a.s"), field("b.s"));
  EXPECT_TRUE(all_shown(prove_monoid(store, no_rescale)));  // a reduction too, of something else
  ir::MonoidDecl one_side = lse;
  const ir::Expr shift = context.op(ir::OpCode::Exp, {context.sub(field("a.m"), field("b.m"))});
  one_side.combine[1] = context.add(context.mul(field("a.s"), shift), field("b.s"));
  EXPECT_EQ(not_shown(prove_monoid(store, one_side)),
            std::vector<Law>({Law::Identity, Law::Associative, Law::Commutative}));
  ir::MonoidDecl wrong_identity = lse;
  wrong_identity.identity[1] = context.real(ir::ScalarType::F32, 1);
  EXPECT_TRUE(all_shown(prove_monoid(store, wrong_identity)));  // exp(-inf) * 1 is 0 too
  wrong_identity.identity[0] = context.real(ir::ScalarType::F32, 0);
  EXPECT_EQ(not_shown(prove_monoid(store, wrong_identity)), std::vector<Law>({Law::Identity}));
}

}  // namespace
}  // namespace tilewright::algebra

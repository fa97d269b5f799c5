// SPDX-License-Identifier: Apache-2.0
//
// The law of terms: what `make` gives has the value of the operation that was asked for. Random operations on terms
// made before, with values of the variables that are apt to show a wrong rewrite; the expected value is that of the
// operation on the values of its operands. And some pairs that must meet in one node, or must not.
#include "lowering/validate/terms.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "frontend/ir/random.h"

namespace tilewright::validate {
namespace {

struct Known {
  TermId id = 0;
  std::uint64_t value = 0;
};

// Terms of a sort, each with its value for one choice of the variables.
class Pool {
 public:
  explicit Pool(std::uint64_t seed) : random_(seed) {
    for (const Sort sort : kSorts)
      for (int i = 0; i < 4; ++i) {
        const std::uint64_t value = interesting(sort);
        const auto number = static_cast<std::uint64_t>(variables_.size());
        variables_.push_back(value);
        known_.push_back({terms_.var(sort, number), value});
      }
  }

  // What is wrong with one more operation; empty: nothing.
  std::string step() {
    const auto op = static_cast<TermOp>(
        random_.between(static_cast<int>(TermOp::Add), static_cast<int>(TermOp::AsFloat)));
    Sort from, sort;
    std::uint64_t extra = 0;
    if (!choose(op, &from, &sort, &extra)) return {};
    const Known a = pick(op == TermOp::Ite ? kBit : from);
    const Known b = arity_of(op) > 1 ? pick(op == TermOp::Ite ? sort : second(op, from)) : Known{};
    const Known c = arity_of(op) > 2 ? pick(op == TermOp::Ite ? sort : from) : Known{};
    if (op == TermOp::Concat) sort = int_sort(terms_.sort(a.id).bits + terms_.sort(b.id).bits);
    if (sort.bits > 64) return {};
    const auto wanted = fold(op, sort, terms_.sort(a.id), a.value, b.value, c.value, extra);
    const TermId made = terms_.make(op, sort, a.id, b.id, c.id, extra);
    // Of a NaN nothing but that it is one is claimed, nor of an integer made from its bits.
    if (!wanted || is_nan(sort, *wanted)) return {};
    const auto got = made == 0 ? std::nullopt : Evaluation(terms_, variables_)(made);
    if (got && *got == *wanted && terms_.sort(made) == sort) {
      known_.push_back({made, *wanted});
      return {};
    }
    return std::string(term_op_text(op)) + "." + std::to_string(extra) + " of " +
           terms_.text(a.id) + ", " + terms_.text(b.id) + ", " + terms_.text(c.id) + " is " +
           terms_.text(made) + " = " + (got ? std::to_string(*got) : "nothing") + " instead of " +
           std::to_string(*wanted);
  }

 private:
  static constexpr Sort kSorts[] = {
      kBit, int_sort(4), int_sort(8), int_sort(16), int_sort(32), int_sort(64), kF16, kF32, kF64};
  static Sort second(TermOp op, Sort from) { return op == TermOp::Concat ? int_sort(4) : from; }

  std::uint64_t interesting(Sort sort) {
    if (is_float(sort)) {
      static const double kValues[] = {0.0,   -0.0, 1.0,     -1.0, 0.5,   2.0,
                                       -3.25, 1e-7, 65504.0, 1e30, 1e-40, 0.1};
      return bits_of_double(sort, kValues[random_.between(0, 11)]);
    }
    const std::uint64_t mask = mask_of(sort.bits);
    switch (random_.between(0, 5)) {
      case 0: return 0;
      case 1: return mask;
      case 2: return std::uint64_t{1} << (sort.bits - 1);
      case 3: return random_.next() & mask & 15U;
      default: return random_.next() & mask;
    }
  }

  Known pick(Sort sort) {
    std::vector<Known> fit;
    for (const Known& one : known_)
      if (terms_.sort(one.id) == sort) fit.push_back(one);
    if (fit.empty() || random_.chance(30)) {
      const std::uint64_t value = interesting(sort);
      return {terms_.constant(sort, value), value};
    }
    // What was made last more often: depth is where rewrites meet.
    if (random_.chance(50))
      return fit[fit.size() - 1 - random_.next() % std::min<std::size_t>(3, fit.size())];
    return random_.pick(fit);
  }

  Sort any_int() { return kSorts[random_.between(0, 5)]; }
  Sort any_float() { return kSorts[random_.between(6, 8)]; }

  bool choose(TermOp op, Sort* from, Sort* sort, std::uint64_t* extra) {
    *from = *sort = any_int();
    switch (op) {
      case TermOp::Eq:
      case TermOp::Ult:
      case TermOp::Slt: *sort = kBit; return true;
      case TermOp::Ite: *sort = random_.chance(50) ? any_int() : any_float(); return true;
      case TermOp::Extract:
        if (from->bits < 2) return false;
        *extra = random_.next() % (from->bits - 1U);
        *sort = int_sort(1 + static_cast<int>(random_.next() % (from->bits - *extra)));
        return true;
      case TermOp::Concat: *from = int_sort(4 << random_.between(0, 3)); return true;
      case TermOp::SExt: *sort = int_sort(64); return true;
      case TermOp::FCmp:
        *from = any_float();
        *sort = kBit;
        *extra = random_.next() % 16;
        return true;
      case TermOp::FToSI:
      case TermOp::FToUI:
      case TermOp::FToSISat:
      case TermOp::FToUISat: *from = any_float(); return true;
      case TermOp::SIToF:
      case TermOp::UIToF: *sort = any_float(); return true;
      case TermOp::FExt:
        *from = kF16;
        *sort = random_.chance(50) ? kF32 : kF64;
        if (random_.chance(30)) *from = kF32, *sort = kF64;
        return true;
      case TermOp::FRound:
        *from = kF64;
        *sort = random_.chance(50) ? kF32 : kF16;
        if (random_.chance(30)) *from = kF32, *sort = kF16;
        return true;
      case TermOp::AsBits:
        *from = any_float();
        *sort = int_sort(from->bits);
        return true;
      case TermOp::AsFloat:
        *sort = any_float();
        *from = int_sort(sort->bits);
        return true;
      default: break;
    }
    if (op >= TermOp::FAdd && op <= TermOp::FTrunc) *from = *sort = any_float();
    return true;
  }

  ir::Random random_;
  Terms terms_;
  std::vector<std::uint64_t> variables_;
  std::vector<Known> known_;
};

TEST(Terms, KeepTheValueOfTheOperation) {
  const int pools = std::getenv("TILEWRIGHT_SLOW_TESTS") ? 20'000 : 400;
  for (int seed = 1; seed <= pools; ++seed) {
    Pool pool(static_cast<std::uint64_t>(seed));
    for (int i = 0; i < 150; ++i) {
      const std::string wrong = pool.step();
      ASSERT_EQ(wrong, "") << "seed " << seed << ", step " << i;
    }
  }
}

class Meet : public testing::Test {
 protected:
  TermId f(int n) { return t.var(kF32, static_cast<std::uint64_t>(n)); }
  TermId w(int n) { return t.var(int_sort(32), static_cast<std::uint64_t>(n)); }
  TermId word(std::uint64_t bits) { return t.constant(int_sort(32), bits); }
  Terms t;
};

TEST_F(Meet, OrderOfOperands) {
  EXPECT_EQ(t.same(TermOp::FAdd, f(0), f(1)), t.same(TermOp::FAdd, f(1), f(0)));
  EXPECT_EQ(t.same(TermOp::Fma, f(0), f(1), f(2)), t.same(TermOp::Fma, f(1), f(0), f(2)));
  EXPECT_NE(t.same(TermOp::FSub, f(0), f(1)), t.same(TermOp::FSub, f(1), f(0)));
  EXPECT_NE(t.same(TermOp::Fma, f(0), f(1), f(2)), t.same(TermOp::Fma, f(0), f(2), f(1)));
}

TEST_F(Meet, SumsAreNotRegrouped) {
  const TermId left = t.same(TermOp::FAdd, t.same(TermOp::FAdd, f(0), f(1)), f(2));
  const TermId right = t.same(TermOp::FAdd, f(0), t.same(TermOp::FAdd, f(1), f(2)));
  EXPECT_NE(left, right);
  EXPECT_NE(t.same(TermOp::FAdd, t.same(TermOp::FMul, f(0), f(1)), f(2)),
            t.same(TermOp::Fma, f(0), f(1), f(2)));
}

TEST_F(Meet, ZerosHaveSigns) {
  EXPECT_EQ(t.same(TermOp::FAdd, f(0), t.real(kF32, -0.0)), f(0));
  EXPECT_NE(t.same(TermOp::FAdd, f(0), t.real(kF32, 0.0)), f(0));
  EXPECT_EQ(t.same(TermOp::FSub, t.real(kF32, -0.0), f(0)), t.same(TermOp::FNeg, f(0)));
  EXPECT_NE(t.same(TermOp::FSub, t.real(kF32, 0.0), f(0)), t.same(TermOp::FNeg, f(0)));
}

// max by comparison takes its second operand for equal and unordered ones; swapped it is another function.
TEST_F(Meet, MaximaAreOrdered) {
  const auto max = [&](TermId a, TermId b) { return t.ite(t.fcmp(2, a, b), a, b); };
  EXPECT_NE(max(f(0), f(1)), max(f(1), f(0)));
  EXPECT_EQ(max(f(0), f(1)), t.ite(t.fcmp(4, f(1), f(0)), f(0), f(1)));
  EXPECT_EQ(max(f(0), f(1)), t.ite(t.fcmp(13, f(0), f(1)), f(1), f(0)));
}

TEST_F(Meet, ShiftsMasksAndExtensions) {
  const Sort s = int_sort(32);
  const TermId low = t.make(TermOp::And, s, w(0), word(0xffff));
  EXPECT_EQ(low, t.zext(t.extract(w(0), 0, 16), 32));
  EXPECT_EQ(low, t.make(TermOp::LShr, s, t.make(TermOp::Shl, s, w(0), word(16)), word(16)));
  EXPECT_EQ(t.make(TermOp::URem, s, w(0), word(65536)), low);
  EXPECT_EQ(t.make(TermOp::Mul, s, w(0), word(8)), t.make(TermOp::Shl, s, w(0), word(3)));
  EXPECT_EQ(t.slt(w(0), word(0)), t.extract(w(0), 31, 1));
}

TEST_F(Meet, BitsOfSigns) {
  const TermId cleared = t.make(TermOp::And, int_sort(32), t.bits(f(0)), word(0x7fffffff));
  EXPECT_EQ(t.as_float(kF32, cleared), t.same(TermOp::FAbs, f(0)));
  const TermId flipped = t.make(TermOp::Xor, int_sort(32), t.bits(f(0)), word(0x80000000));
  EXPECT_EQ(t.as_float(kF32, flipped), t.same(TermOp::FNeg, f(0)));
}

// f64 has twice the digits of f32 and two more; f32 has fewer than that over bf16's 8, but not over 12.
TEST_F(Meet, RoundingOnceIsEnough) {
  const auto wide = [&](int n) { return t.make(TermOp::FExt, kF64, f(n)); };
  const TermId sum = t.make(TermOp::FAdd, kF64, wide(0), wide(1));
  EXPECT_EQ(t.make(TermOp::FRound, kF32, sum), t.same(TermOp::FAdd, f(0), f(1)));
  const TermId fused = t.make(TermOp::Fma, kF64, wide(0), wide(1), wide(2));
  EXPECT_NE(t.make(TermOp::FRound, kF32, fused), t.same(TermOp::Fma, f(0), f(1), f(2)));
}

}  // namespace
}  // namespace tilewright::validate

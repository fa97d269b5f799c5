// SPDX-License-Identifier: Apache-2.0
//
// simplify() keeps the value of an expression for every binding within the ranges, and twice is once;
// interval() holds every value. Values come from an evaluator written here.
#include "frontend/ir/simplify.h"

#include "frontend/ir/text.h"
#include "tests/laws/index_value.h"
#include "tests/laws/random_case.h"

namespace tilewright::ir {
namespace {

using laws::value_of;

class Maker {
 public:
  Maker(Context& context, std::uint64_t seed) : context_(context), state_(seed * 77 + 5) {
    for (const char* name : {"i", "j", "N"}) {
      const Symbol symbol = context.symbol(name);
      const bool extent = name[0] == 'N';
      atoms_.push_back(extent ? context.extent(symbol) : context.var(symbol));
      Interval range;
      // Without a declared range an extent is at least 0.
      if (below(4)) range.lo = extent ? below(4) : below(9) - 4;
      if (below(4)) range.hi = range.lo.value_or(extent ? 0 : -3) + below(12);
      if (extent && !range.lo) range.lo = 0;
      ranges[symbol] = range;
    }
  }
  int below(int n) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(n));
  }
  Expr index(int depth) {
    if (depth == 0 || below(5) == 0)
      return below(3) ? atoms_[below(3)] : context_.index(below(15) - 5);
    const Expr a = index(depth - 1);
    switch (below(9)) {
      case 0:
      case 1: return context_.add(a, index(depth - 1));
      case 2: return context_.sub(a, index(depth - 1));
      case 3: return context_.mul(a, context_.index(below(9) - 3));
      case 4: return context_.floor_div(a, context_.index(1 + below(8)));
      case 5: return context_.floor_mod(a, context_.index(1 + below(8)));
      case 6: return context_.min(a, index(depth - 1));
      case 7: return context_.max(a, index(depth - 1));
      default: {
        // The parts of a split that was fused.
        const Expr c = context_.index(1 + below(6));
        return context_.add(context_.mul(context_.floor_div(a, c), c), context_.floor_mod(a, c));
      }
    }
  }
  Expr condition(int depth) {
    static constexpr OpCode kOps[] = {OpCode::Lt, OpCode::Le, OpCode::Gt,
                                      OpCode::Ge, OpCode::Eq, OpCode::Ne};
    if (depth > 0 && below(4) == 0) {
      const Expr a = condition(depth - 1);
      if (below(3) == 0) return context_.op(OpCode::Not, {a});
      return context_.op(below(2) ? OpCode::And : OpCode::Or, {a, condition(depth - 1)});
    }
    return context_.op(kOps[below(6)], {index(depth), index(depth)});
  }
  std::map<Symbol, std::int64_t> values() {
    std::map<Symbol, std::int64_t> out;
    for (const auto& [name, range] : ranges) {
      const std::int64_t lo = range.lo ? *range.lo : range.hi ? *range.hi - 40 : -20;
      const std::int64_t hi = range.hi ? *range.hi : lo + 60;
      out[name] = lo + below(static_cast<int>(hi - lo + 1));
    }
    return out;
  }
  Ranges ranges;

 private:
  Context& context_;
  std::uint64_t state_;
  std::vector<Expr> atoms_;
};

TEST(Simplify, KeepsValuesAndIsIdempotent) {
  const std::uint64_t first = laws::first_seed();
  const int cases = laws::num_cases(50000, 3000000);
  int smaller = 0;
  int failed = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(cases) && failed < 5;
       ++seed) {
    Context context;
    Maker maker(context, seed);
    const bool bool_case = seed % 3 == 0;
    const Expr e = bool_case ? maker.condition(3) : maker.index(4);
    const Expr simple = simplify(context, e, maker.ranges);
    smaller += !(simple == e);
    const std::string what =
        "seed " + std::to_string(seed) + ": " + print(e) + "  =>  " + print(simple);
    const Expr again = simplify(context, simple, maker.ranges);
    if (!(again == simple)) {
      ADD_FAILURE() << what << "  =>  " << print(again);
      ++failed;
    }
    const Interval range = bool_case ? Interval{} : interval(e, maker.ranges);
    for (int i = 0; i < 8; ++i) {
      const auto values = maker.values();
      const std::int64_t expected = value_of(e, values);
      std::string at;
      for (const auto& [name, value] : values)
        at += " " + std::string(name.text()) + "=" + std::to_string(value);
      if (value_of(simple, values) != expected || (range.lo && *range.lo > expected) ||
          (range.hi && *range.hi < expected)) {
        ADD_FAILURE() << what << at << " expected " << expected;
        ++failed;
        break;
      }
    }
  }
  EXPECT_TRUE(failed || smaller > cases / 20) << smaller;
}

TEST(Simplify, JoinsQuotientAndRemainder) {
  Context context;
  const Expr x = context.add(context.mul(context.var(context.symbol("o")), context.index(4)),
                             context.var(context.symbol("t")));
  const Expr sixteen = context.index(16);
  const Expr e = context.add(context.mul(context.floor_div(x, sixteen), sixteen),
                             context.floor_mod(x, sixteen));
  EXPECT_EQ(print(simplify(context, e, {})), "o * 4 + t");
}

}  // namespace
}  // namespace tilewright::ir

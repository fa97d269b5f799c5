// SPDX-License-Identifier: Apache-2.0
//
// Index arithmetic that leaves 64 bits at sizes that a call may have, and some that only looks as if it did.
#include "lowering/proof/width.h"

#include <gtest/gtest.h>

#include "frontend/base/source.h"
#include "lowering/program/text.h"
#include "lowering/proof/index_range.h"

namespace tilewright::proof {
namespace {

struct Subject {
  ir::Context context;
  program::Program program;

  explicit Subject(const std::string& text) {
    auto parsed = program::parse_program(context, Source("case.twp", text));
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? text : parsed.diagnostics()[0].message + text);
    if (parsed.ok()) program = *parsed;
  }
  Width width() { return index_width(context, program); }
};

// `y[0]` is added to in the loops of `body`.
std::string with(const std::string& extents, const std::string& inputs, const std::string& body) {
  return "program p for p {\n" + extents + inputs + "  output y : i32[1]\n" + body + "}\n";
}
const char* kAdd = "y[0] = y[0] + i32(1)\n";

void expect_fault(const std::string& text, const std::string& operation, const std::string& at) {
  Subject subject(text);
  const Width width = subject.width();
  ASSERT_EQ(width.faults.size(), 1U) << text;
  EXPECT_EQ(width.faults[0].operation, operation);
  EXPECT_EQ(width.faults[0].at, at);
}

void expect_none(const std::string& text) {
  Subject subject(text);
  for (const WidthFault& fault : subject.width().faults)
    ADD_FAILURE() << text << fault.operation << " in " << fault.range << " at " << fault.at;
}

// The rows of a tile are between 1 and 8, though an interval of `M - 8*t` is wide.
TEST(Width, TheRestOfATile) {
  const std::string sizes = "  extent M\n  extent K\n";
  const auto tiles = [](const char* rows) {
    return "  for t in 0 .. (M + 7) / 8 {\n for k in 0 .. (K + 3) / 4 {\n  for i in 0 .. " +
           std::string(rows) + " * (min(4, K - k * 4) * 4) {\n" + kAdd + "}\n}\n}\n";
  };
  const std::string inputs = "  input x : f32[M, K]\n";
  expect_none(with(sizes, inputs, tiles("min(8, M - t * 8)")));
  // Of 16 rows a tile, with half of the tiles in the loop's range left over: far below zero.
  Subject subject(with(sizes, inputs, tiles("min(8, M - t * 4611686018427387904)")));
  EXPECT_FALSE(subject.width().faults.empty());
}

// An i8 tensor has fewer than 2^61 cells: 4 * N fits, 8 * N does not.
TEST(Width, ALiteralTimesAnExtent) {
  const std::string input = "  input x : i8[N]\n";
  const auto loop = [](const char* bound) {
    return "  for i in 0 .. " + std::string(bound) + " {\n    " + kAdd + "  }\n";
  };
  expect_none(with("  extent N\n", input, loop("N * 4")));
  expect_fault(with("  extent N\n", input, loop("N * 8")), "N * 8",
               "N = 2305843009213693951: 18446744073709551608");
  // Nor does it of an f32 tensor, with a quarter of the cells, where the literal is larger; with a declared range it
  // depends on that alone.
  expect_fault(with("  extent N\n", "  input x : f32[N]\n", loop("N * 32")), "N * 32",
               "N = 576460752303423487: 18446744073709551584");
  expect_none(with("  extent N max 576460752303423487\n", input, loop("N * 8")));
  expect_fault(
      with("  extent N min 3 max 1152921504606846976 multiple_of 16\n", input, loop("N * 8")),
      "N * 8", "N = 1152921504606846976: 9223372036854775808");
}

// The bytes of a parameter limit the product of its extents; two parameters limit each their own.
TEST(Width, ProductsOfExtentsThatOneParameterHas) {
  const std::string extents = "  extent M\n  extent N\n";
  const std::string body = "  for f in 0 .. M * N {\n    y[0] = y[0] + i32(f / N)\n  }\n";
  expect_none(with(extents, "  input x : i8[M, N]\n", body));
  expect_none(with(extents, "  input x : f32[N, 2, M]\n", body));
  Subject apart(with(extents, "  input x : i8[M]\n  input w : i8[N]\n", body));
  const Width width = apart.width();
  ASSERT_EQ(width.faults.size(), 1U);
  EXPECT_EQ(width.faults[0].operation, "M * N");
  // The witness is no more than a product that everybody can check.
  EXPECT_NE(width.faults[0].at.find("M = 2305843009213693951, N = "), std::string::npos)
      << width.faults[0].at;
}

// (i * N + j) of rows that were laid out by hand, the loop's bound rounded up to tiles.
TEST(Width, AnIndexOverTiles) {
  expect_none(with("  extent M\n  extent N\n", "  input x : u4[M, N]\n",
                   "  for io in 0 .. (M + 47) / 48 {\n    for ii in 0 .. 48 {\n"
                   "      if io * 48 + ii < M {\n        for j in 0 .. N {\n"
                   "          y[0] = y[0] + i32((io * 48 + ii) * N + j)\n        }\n      }\n"
                   "    }\n  }\n"));
}

// Both sides fit; code for lanes compares their difference.
TEST(Width, LanesCompareByDifference) {
  const auto body = [](const char* kind) {
    return "  " + std::string(kind) +
           " l in 0 .. 4 {\n    if l - 9223372036854775800 > N * 4 {\n      t[l] = i32(1)\n"
           "    }\n  }\n";
  };
  const auto text = [&](const char* kind) {
    return "program p for p {\n  extent N\n  input x : i8[N]\n  output t : i32[4]\n" + body(kind) +
           "}\n";
  };
  expect_none(text("for"));
  Subject lanes(text("vector"));
  ASSERT_EQ(lanes.width().faults.size(), 1U);
  EXPECT_FALSE(lanes.width().faults[0].at.empty());
}

// What a tensor holds: the range of its type, or what is declared and checked at the entry.
TEST(Width, IndicesThatAreData) {
  const auto text = [](const char* type, const char* facts) {
    return "program p for p {\n  extent N\n  input x : f32[N]\n  input page : " +
           std::string(type) + "[N]" + facts +
           "\n  output y : f32[1]\n  for i in 0 .. N {\n"
           "    y[0] = x[index(page[i]) * 16 - index(page[i]) * 15]\n  }\n}\n";
  };
  expect_none(text("i32", ""));
  Subject wide(text("i64", ""));
  EXPECT_EQ(wide.width().faults.size(), 3U);
  EXPECT_TRUE(wide.width().faults[0].at.empty());  // it depends on data
  expect_none(text("i64", " range 0 .. N"));
}

// A branch that is never taken at such sizes needs no width; one that may be does.
TEST(Width, AWitnessFollowsConditions) {
  const auto body = [](const char* condition) {
    return "  if " + std::string(condition) + " {\n    for i in 0 .. N * 8 {\n      " + kAdd +
           "    }\n  }\n";
  };
  const std::string input = "  input x : i8[N]\n";
  expect_fault(with("  extent N\n", input, body("N > 1000")), "N * 8",
               "N = 2305843009213693951: 18446744073709551608");
  expect_none(with("  extent N\n", input, body("N < 1000")));
  expect_none(with("  extent N\n", input, body("!(N >= 1000 || N < 5)")));
  // Nothing is claimed where no sizes lead.
  expect_fault(with("  extent N\n", input, body("N % 2 == 3")), "N * 8", "");
}

TEST(Width, RangesHoldWhatOperationsGive) {
  Subject subject(with("  extent N\n", "  input x : i8[N]\n", ""));
  const SizeLimits limits(subject.context, subject.program);
  const ir::OpCode ops[] = {ir::OpCode::Add, ir::OpCode::Sub, ir::OpCode::Mul, ir::OpCode::Div,
                            ir::OpCode::Mod, ir::OpCode::Min, ir::OpCode::Max};
  const auto floor_div = [](int a, int b) {
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
  };
  for (ir::OpCode op : ops)
    for (int al = -4; al <= 4; ++al)
      for (int ah = al; ah <= 4; ++ah)
        for (int bl = -3; bl <= 3; ++bl)
          for (int bh = bl; bh <= 3; ++bh) {
            const auto range = [](int low, int high) {
              IndexRange out = hull(exactly(low), exactly(high));
              return out;
            };
            const IndexRange out = operate(limits, op, {range(al, ah), range(bl, bh)});
            for (int a = al; a <= ah; ++a)
              for (int b = bl; b <= bh; ++b) {
                int value = 0;
                switch (op) {
                  case ir::OpCode::Add: value = a + b; break;
                  case ir::OpCode::Sub: value = a - b; break;
                  case ir::OpCode::Mul: value = a * b; break;
                  case ir::OpCode::Min: value = std::min(a, b); break;
                  case ir::OpCode::Max: value = std::max(a, b); break;
                  default:
                    if (b == 0) continue;
                    value = op == ir::OpCode::Div ? floor_div(a, b) : a - floor_div(a, b) * b;
                }
                ASSERT_TRUE(out.low <= value && value <= out.high)
                    << static_cast<int>(op) << " " << a << " " << b;
              }
          }
}

}  // namespace
}  // namespace tilewright::proof

// SPDX-License-Identifier: Apache-2.0
//
// Law: of two numbers whose digits are in range, later_by and later_by_at_least hold just where the numbers, computed
// with the products, are so far apart.
#include "lowering/build/digits.h"

#include <gtest/gtest.h>

#include <functional>

namespace tilewright::build {
namespace {

using poly::AffineExpr;
using poly::BasicSet;

Digits number(const std::string& suffix, int digits) {
  Digits out;
  for (int i = 0; i < digits; ++i) {
    out.digit.push_back(AffineExpr::variable("d" + std::to_string(i) + suffix));
    out.length.push_back(i == 0 ? AffineExpr(0) : AffineExpr::variable("n" + std::to_string(i)));
  }
  return out;
}

bool holds(const std::vector<BasicSet>& pieces, const poly::Binding& at) {
  for (const BasicSet& piece : pieces)
    if (piece.contains(at).value()) return true;
  return false;
}

// All values of all names: first digits up to 4, lengths 1 to 3, the other digits below their lengths.
void enumerate(int digits, const std::function<void(const poly::Binding&)>& visit) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(digits), 5);
  std::function<void(int, poly::Binding&)> at_digit = [&](int i, poly::Binding& at) {
    if (i == digits) return visit(at);
    for (std::int64_t x = 0; x < lengths[static_cast<std::size_t>(i)]; ++x)
      for (std::int64_t y = 0; y < lengths[static_cast<std::size_t>(i)]; ++y) {
        at["d" + std::to_string(i) + "a"] = x;
        at["d" + std::to_string(i) + "b"] = y;
        at_digit(i + 1, at);
      }
  };
  std::function<void(int, poly::Binding&)> at_length = [&](int i, poly::Binding& at) {
    if (i == digits) return at_digit(0, at);
    for (std::int64_t n = 1; n <= 3; ++n) {
      lengths[static_cast<std::size_t>(i)] = n;
      at["n" + std::to_string(i)] = n;
      at_length(i + 1, at);
    }
  };
  poly::Binding at;
  at_length(1, at);
}

std::int64_t value(const poly::Binding& at, const std::string& suffix, int digits) {
  std::int64_t out = at.find("d0" + suffix)->second;
  for (int i = 1; i < digits; ++i)
    out = out * at.find("n" + std::to_string(i))->second +
          at.find("d" + std::to_string(i) + suffix)->second;
  return out;
}

TEST(Digits, TellDistances) {
  for (const int digits : {1, 2, 3}) {
    const Digits a = number("a", digits);
    const Digits b = number("b", digits);
    ASSERT_TRUE(are_comparable(a, b));
    std::vector<std::vector<BasicSet>> exactly;
    std::vector<std::vector<BasicSet>> at_least;
    for (std::int64_t n = 0; n <= 5; ++n) {
      exactly.push_back(later_by(a, b, n));
      at_least.push_back(n == 0 ? std::vector<BasicSet>() : later_by_at_least(a, b, n));
    }
    int points = 0;
    enumerate(digits, [&](const poly::Binding& at) {
      if (++points % (digits == 3 ? 7 : 1) != 0) return;
      ASSERT_TRUE(in_range(a).contains(at).value());
      const std::int64_t apart = value(at, "b", digits) - value(at, "a", digits);
      for (std::size_t n = 0; n <= 5; ++n) {
        ASSERT_EQ(holds(exactly[n], at), apart == static_cast<std::int64_t>(n));
        if (n > 0) {
          ASSERT_EQ(holds(at_least[n], at), apart >= static_cast<std::int64_t>(n));
        }
      }
    });
    EXPECT_GE(points, 25);
  }
}

TEST(Digits, OfOtherLoopsAreNotCompared) {
  const Digits a = number("a", 2);
  Digits b = number("b", 2);
  b.length[1] = AffineExpr::variable("other");
  EXPECT_FALSE(are_comparable(a, b));
  EXPECT_FALSE(are_comparable(a, number("b", 3)));
}

}  // namespace
}  // namespace tilewright::build

// SPDX-License-Identifier: Apache-2.0
#include "lowering/build/digits.h"

namespace tilewright::build {

using poly::AffineExpr;
using poly::BasicSet;

namespace {

// The distance of the first `count` digits is n; n >= 0.
std::vector<BasicSet> exactly(const Digits& a, const Digits& b, std::size_t count, std::int64_t n) {
  const AffineExpr apart = b.digit[count - 1] - a.digit[count - 1];
  if (count == 1) return {BasicSet().equal(apart, AffineExpr(n))};
  std::vector<BasicSet> out;
  for (std::int64_t m = 0; m <= n; ++m)
    for (BasicSet& piece : exactly(a, b, count - 1, m)) {
      piece.equal(b.length[count - 1] * m + apart, AffineExpr(n));
      out.push_back(std::move(piece));
    }
  return out;
}

std::vector<BasicSet> at_least(const Digits& a, const Digits& b, std::size_t count,
                               std::int64_t n) {
  const AffineExpr apart = b.digit[count - 1] - a.digit[count - 1];
  if (count == 1) return {BasicSet().at_least(apart, AffineExpr(n))};
  std::vector<BasicSet> out = at_least(a, b, count - 1, n);
  for (std::int64_t m = 0; m < n; ++m)
    for (BasicSet& piece : exactly(a, b, count - 1, m)) {
      piece.at_least(b.length[count - 1] * m + apart, AffineExpr(n));
      out.push_back(std::move(piece));
    }
  return out;
}

}  // namespace

bool are_comparable(const Digits& a, const Digits& b) {
  if (a.digit.size() != b.digit.size()) return false;
  for (std::size_t i = 1; i < a.length.size(); ++i)
    if (!(a.length[i] == b.length[i])) return false;
  return true;
}

BasicSet in_range(const Digits& number) {
  BasicSet out;
  for (std::size_t i = 1; i < number.digit.size(); ++i) {
    out.at_least(number.digit[i], AffineExpr(0));
    out.less(number.digit[i], number.length[i]);
  }
  return out;
}

std::vector<BasicSet> later_by(const Digits& a, const Digits& b, std::int64_t n) {
  return exactly(a, b, a.digit.size(), n);
}

std::vector<BasicSet> later_by_at_least(const Digits& a, const Digits& b, std::int64_t n) {
  return at_least(a, b, a.digit.size(), n);
}

}  // namespace tilewright::build

// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/index_range.h"

#include <algorithm>
#include <cmath>

namespace tilewright::proof {

namespace {

using ir::OpCode;

constexpr WideIndex kFar = WideIndex{1} << 120;
constexpr std::size_t kMostTerms = 16;
constexpr double kUp = 1 + 0x1p-50;  // after each rounding of a coefficient

WideIndex bounded(WideIndex value) { return std::clamp(value, -kFar, kFar); }

// Factors are at most kFar.
WideIndex product(WideIndex a, WideIndex b) {
  WideIndex out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return (a < 0) == (b < 0) ? kFar : -kFar;
  return bounded(out);
}

WideIndex floored(WideIndex a, WideIndex b) {
  const WideIndex q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

using Size = std::optional<SizePolynomial>;

Size kept(SizePolynomial out) {
  return out.size() > kMostTerms ? std::nullopt : Size(std::move(out));
}

Size sum(const Size& a, const Size& b) {
  if (!a || !b) return std::nullopt;
  SizePolynomial out = *a;
  for (const auto& [factors, coefficient] : *b) out[factors] = (out[factors] + coefficient) * kUp;
  return kept(std::move(out));
}

Size product(const Size& a, const Size& b) {
  if (!a || !b) return std::nullopt;
  SizePolynomial out;
  for (const auto& [f, x] : *a)
    for (const auto& [g, y] : *b) {
      Product both = f;
      both.insert(both.end(), g.begin(), g.end());
      std::sort(both.begin(), both.end());
      out[both] = (out[both] + x * y) * kUp;
    }
  return kept(std::move(out));
}

// At least both.
Size larger(const Size& a, const Size& b) {
  if (!a || !b) return std::nullopt;
  SizePolynomial out = *a;
  for (const auto& [factors, coefficient] : *b) out[factors] = std::max(out[factors], coefficient);
  return kept(std::move(out));
}

Size divided(const IndexRange& a, WideIndex by) {
  if (!a.size) return std::nullopt;
  SizePolynomial out = *a.size;
  for (auto& [factors, coefficient] : out)
    coefficient = coefficient / static_cast<double>(by) * kUp;
  if (a.low < 0) out[{}] += 1;  // rounded down, below zero is away from it
  return out;
}

Size constant(WideIndex value) {
  return SizePolynomial{{{}, static_cast<double>(value < 0 ? -value : value) * kUp}};
}

WideIndex most(const SizeLimits& limits, const SizePolynomial& size) {
  double total = 0;
  for (const auto& [factors, coefficient] : size)
    total += coefficient * static_cast<double>(limits.most(factors)) * kUp;
  total = std::ceil(total * (1 + 0x1p-40));
  return total < 0x1p120 ? static_cast<WideIndex>(total) : kFar;
}

// A divisor of 0 gives 0 in code, and is a trap elsewhere.
IndexRange quotient(const IndexRange& a, const IndexRange& b) {
  IndexRange out;
  if (b.low > 0) {
    const WideIndex q[] = {floored(a.low, b.low), floored(a.low, b.high), floored(a.high, b.low),
                           floored(a.high, b.high)};
    out.low = *std::min_element(q, q + 4);
    out.high = *std::max_element(q, q + 4);
    out.size = divided(a, b.low);
    return out;
  }
  const WideIndex far = std::max(a.high < 0 ? -a.high : a.high, a.low < 0 ? -a.low : a.low);
  out.low = b.low >= 0 && a.low >= 0 ? 0 : -far - (a.low < 0 ? 1 : 0);
  out.high = far;
  out.size = divided(a, 1);
  return out;
}

IndexRange remainder(const IndexRange& a, const IndexRange& b) {
  if (b.low >= 0) {
    IndexRange out{0, std::max<WideIndex>(b.high - 1, 0), b.size};
    if (a.low >= 0) out.high = std::min(out.high, std::max<WideIndex>(a.high, 0));
    return out;
  }
  return {std::min<WideIndex>(b.low + 1, 0), std::max<WideIndex>(b.high - 1, 0), b.size};
}

IndexRange computed(OpCode op, const std::vector<IndexRange>& a) {
  switch (op) {
    case OpCode::Add:
      return {bounded(a[0].low + a[1].low), bounded(a[0].high + a[1].high),
              sum(a[0].size, a[1].size)};
    case OpCode::Sub:
      return {bounded(a[0].low - a[1].high), bounded(a[0].high - a[1].low),
              sum(a[0].size, a[1].size)};
    case OpCode::Mul: {
      const WideIndex p[] = {product(a[0].low, a[1].low), product(a[0].low, a[1].high),
                             product(a[0].high, a[1].low), product(a[0].high, a[1].high)};
      return {*std::min_element(p, p + 4), *std::max_element(p, p + 4),
              product(a[0].size, a[1].size)};
    }
    case OpCode::Fma: return computed(OpCode::Add, {computed(OpCode::Mul, {a[0], a[1]}), a[2]});
    case OpCode::Neg: return {-a[0].high, -a[0].low, a[0].size};
    case OpCode::Abs:
      if (a[0].low >= 0) return a[0];
      return {a[0].high <= 0 ? -a[0].high : WideIndex{0}, std::max(-a[0].low, a[0].high),
              a[0].size};
    case OpCode::Min:
      return {
          std::min(a[0].low, a[1].low), std::min(a[0].high, a[1].high),
          a[0].low >= 0 && a[1].low >= 0 && a[0].size ? a[0].size : larger(a[0].size, a[1].size)};
    case OpCode::Max:
      return {std::max(a[0].low, a[1].low), std::max(a[0].high, a[1].high),
              larger(a[0].size, a[1].size)};
    case OpCode::Div: return quotient(a[0], a[1]);
    case OpCode::Mod: return remainder(a[0], a[1]);
    default: return {};
  }
}

void cut(const SizeLimits& limits, IndexRange& range) {
  if (!range.size) return;
  const WideIndex far = most(limits, *range.size);
  range.low = std::max(range.low, -far);
  range.high = std::min(range.high, far);
}

}  // namespace

IndexRange exactly(WideIndex value) { return {value, value, constant(value)}; }

IndexRange range_of(const SizeLimits& limits, Symbol extent) {
  const SizeLimits::Range& range = limits.of(extent);
  return {range.low, range.high, SizePolynomial{{{extent}, 1.0}}};
}

IndexRange hull(const IndexRange& a, const IndexRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), larger(a.size, b.size)};
}

IndexRange operate(const SizeLimits& limits, OpCode op, const std::vector<IndexRange>& args) {
  IndexRange out = computed(op, args);
  cut(limits, out);
  return out;
}

std::optional<IndexRange> between(const IndexRange& lower, const IndexRange& upper) {
  if (upper.high - 1 < lower.low) return std::nullopt;
  return IndexRange{lower.low, upper.high - 1,
                    lower.low >= 0 ? upper.size : larger(lower.size, upper.size)};
}

}  // namespace tilewright::proof

// SPDX-License-Identifier: Apache-2.0
//
// Endpoints are computed in f64 and moved outwards: by one f64 rounding, then to the nearest grid
// value of the type when that lies further out. Rounding is monotone, so the rounded result of any
// operands inside lies inside; the value before rounding does too, since a fused operation uses it.
// Compiled at -O3 (cmake/TilewrightRoom.cmake).
#include "frontend/ir/intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/ir/evaluate.h"
#include "frontend/ir/int_range.h"
#include "frontend/ir/math_table.h"

namespace tilewright::ir {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kTiny = 5e-324;
constexpr std::int64_t kIntMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kIntMax = std::numeric_limits<std::int64_t>::max();

struct Range {
  double low;
  double high;
};
constexpr Range kNoClaim{-kInf, kInf};

template <ScalarType T>
inline double grid(double x) {
  if constexpr (T == ScalarType::F64) return x;
  if constexpr (T == ScalarType::F32) return static_cast<double>(static_cast<float>(x));
  return round_narrow(T, static_cast<double>(static_cast<float>(x)));
}

// Below 1e-290 the relative step no longer covers the rounding of f64 itself.
inline double step_of(double x) {
  const double size = std::fabs(x);
  return size * 0x1p-52 + (size < 1e-290 && size > 0 ? kTiny : 0.0);
}

template <ScalarType T>
inline double down(double x) {
  const double out = x - step_of(x);
  const double rounded = grid<T>(out);
  return rounded < out ? rounded : out;
}
template <ScalarType T>
inline double up(double x) {
  const double out = x + step_of(x);
  const double rounded = grid<T>(out);
  return rounded > out ? rounded : out;
}
template <ScalarType T>
inline Range outward(double low, double high) {
  return {down<T>(low), up<T>(high)};
}

// Infinite endpoints stay; outward() would take their step from them.
template <ScalarType T>
inline Range settle(double low, double high) {
  const Range out = outward<T>(low, high);
  return {std::fabs(low) == kInf ? low : out.low, std::fabs(high) == kInf ? high : out.high};
}

inline Range hull4(double p, double q, double r, double s) {
  // A NaN among the four shows in their sum.
  if (std::isnan(p + q + r + s)) return {kInf, -kInf};
  return {std::min(std::min(p, q), std::min(r, s)), std::max(std::max(p, q), std::max(r, s))};
}

// Of exact f64 products; the signs of the operands bound what underflows.
inline Range product(Range a, Range b, bool square) {
  if ((a.low == 0 && a.high == 0 && std::isfinite(b.low) && std::isfinite(b.high)) ||
      (b.low == 0 && b.high == 0 && std::isfinite(a.low) && std::isfinite(a.high)))
    return {0, 0};
  Range out = hull4(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high);
  const bool same_sign = square || (a.low >= 0 && b.low >= 0) || (a.high <= 0 && b.high <= 0);
  const bool other_sign = (a.low >= 0 && b.high <= 0) || (a.high <= 0 && b.low >= 0);
  if (same_sign && out.low < 1e-290 && out.low < out.high) out.low = 0;
  if (other_sign && out.high > -1e-290 && out.low < out.high) out.high = 0;
  if (!same_sign && out.low <= 0 && out.low > -1e-290) out.low -= kTiny;
  if (!other_sign && out.high >= 0 && out.high < 1e-290) out.high += kTiny;
  return out;
}

inline Range quotient(Range a, Range b) {
  if (!(b.low > 0 || b.high < 0)) return {kInf, -kInf};
  Range out = hull4(a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high);
  if (a.low != 0 || a.high != 0) {
    if (out.low <= 0 && out.low > -1e-290 && (a.low < 0 || b.low < 0)) out.low -= kTiny;
    if (out.high >= 0 && out.high < 1e-290) out.high += kTiny;
  }
  return out;
}

// The error of a definition: `ulps` units of f32 (of f64 for f64), and f64's own in our evaluation.
template <ScalarType T>
inline Range widen(double low, double high, double ulps) {
  constexpr bool is_f64 = T == ScalarType::F64;
  const double relative = 2 * ulps * (is_f64 ? 0x1p-53 : 0x1p-24) + 0x1p-49;
  const double absolute = 2 * ulps * (is_f64 ? kTiny : 0x1p-149);
  return settle<T>(low - (std::fabs(low) * relative + absolute),
                   high + (std::fabs(high) * relative + absolute));
}

template <ScalarType T>
Range periodic(MathFunction function, Range a, double ulps) {
  if (!(std::isfinite(a.low) && std::isfinite(a.high))) return {kInf, -kInf};
  const double middle = a.low + (a.high - a.low) / 2;
  const double radius = std::max(a.high - middle, middle - a.low) * (1 + 0x1p-50);
  const double value = function(middle);
  return widen<T>(std::max(-1.0, value - radius), std::min(1.0, value + radius), ulps);
}

template <ScalarType T>
Range math_range(OpCode op, Range a) {
  const MathFunction function = reference_math(op);
  const double ulps = math_ulps(op);
  if (op == OpCode::Sin || op == OpCode::Cos) return periodic<T>(function, a, ulps);
  if (op == OpCode::Rsqrt) {
    if (!(a.low >= 0)) return {kInf, -kInf};
    Range out = widen<T>(function(a.high), function(a.low), ulps);
    out.low = std::max(out.low, 0.0);
    return out;
  }
  const Range exact{function(a.low), function(a.high)};
  const bool exponential = op == OpCode::Exp || op == OpCode::Exp2;
  // The exponential of minus infinity is exactly zero: a masked score adds nothing.
  if (exponential && a.high == -kInf) return {0, 0};
  if ((op == OpCode::Log || op == OpCode::Log2) && !(a.low >= 0)) return {kInf, -kInf};
  if (op == OpCode::Log1p && !(a.low >= -1)) return {kInf, -kInf};
  Range out = widen<T>(exact.low, exact.high, ulps);
  if (exponential) out.low = std::max(out.low, 0.0);
  return out;
}

template <ScalarType T>
inline Range float_range(OpCode op, Range a, Range b, Range c, bool square) {
  switch (op) {
    case OpCode::Add: return settle<T>(a.low + b.low, a.high + b.high);
    case OpCode::Sub: return settle<T>(a.low - b.high, a.high - b.low);
    case OpCode::Mul: {
      const Range p = product(a, b, square);
      return settle<T>(p.low, p.high);
    }
    case OpCode::Div: {
      const Range q = quotient(a, b);
      return settle<T>(q.low, q.high);
    }
    case OpCode::Fma: {
      const Range p = product(a, b, square);
      // The product is rounded once here, in f64; its own step covers that.
      return settle<T>(p.low - step_of(p.low) + c.low, p.high + step_of(p.high) + c.high);
    }
    case OpCode::Sqrt:
      if (!(a.low >= 0)) return {kInf, -kInf};
      return settle<T>(std::sqrt(a.low), std::sqrt(a.high));
    case OpCode::Neg: return {-a.high, -a.low};
    case OpCode::Abs:
      if (a.low >= 0) return a;
      if (a.high <= 0) return {-a.high, -a.low};
      return {0, std::max(-a.low, a.high)};
    case OpCode::Min: return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case OpCode::Max: return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case OpCode::Floor: return {std::floor(a.low), std::floor(a.high)};
    case OpCode::Ceil: return {std::ceil(a.low), std::ceil(a.high)};
    case OpCode::Rint: return {std::nearbyint(a.low), std::nearbyint(a.high)};
    default: return math_range<T>(op, a);
  }
}

inline bool claim(Range a) { return a.low > -kInf || a.high < kInf; }

struct Columns {
  const Scalar* low[3];
  const Scalar* high[3];
  Scalar* out_low;
  Scalar* out_high;
};

template <ScalarType T>
inline void float_loop(OpCode op, int arity, bool square, const Columns& at, int n) {
  for (int l = 0; l < n; ++l) {
    const Range a{at.low[0][l].f, at.high[0][l].f};
    const Range b{at.low[1][l].f, at.high[1][l].f};
    const Range c{at.low[2][l].f, at.high[2][l].f};
    Range out = float_range<T>(op, a, b, c, square);
    if (!claim(a) || (arity > 1 && !claim(b)) || (arity > 2 && !claim(c)) || !(out.low <= out.high))
      out = kNoClaim;
    at.out_low[l].f = out.low;
    at.out_high[l].f = out.high;
  }
}

// The f32 operations that fill inner loops, without branches, for operands whose results are finite.
// False when a lane is not: then float_loop does it all again. Products below 1e-290 need no care in
// f32: rounded or fused, they lie below its grid.
template <OpCode O>
bool fast_f32(const Columns& at, int n) {
  const double* al = floats(at.low[0]);
  const double* ah = floats(at.high[0]);
  const double* bl = floats(at.low[1]);
  const double* bh = floats(at.high[1]);
  double* __restrict out_low = floats(at.out_low);
  double* __restrict out_high = floats(at.out_high);
  std::int64_t bad = 0;
  for (int l = 0; l < n; ++l) {
    double low = 0;
    double high = 0;
    if constexpr (O == OpCode::Add) {
      low = al[l] + bl[l];
      high = ah[l] + bh[l];
    } else if constexpr (O == OpCode::Sub) {
      low = al[l] - bh[l];
      high = ah[l] - bl[l];
    } else {
      const double p = al[l] * bl[l];
      const double q = al[l] * bh[l];
      const double r = ah[l] * bl[l];
      const double s = ah[l] * bh[l];
      const double pq_low = p < q ? p : q;
      const double rs_low = r < s ? r : s;
      const double pq_high = p < q ? q : p;
      const double rs_high = r < s ? s : r;
      low = pq_low < rs_low ? pq_low : rs_low;
      high = pq_high < rs_high ? rs_high : pq_high;
      // A NaN shows in the sum of sizes.
      bad |= std::fabs(p) + std::fabs(q) + std::fabs(r) + std::fabs(s) < 1e300 ? 0 : 1;
    }
    bad |= std::fabs(low) + std::fabs(high) < 1e300 ? 0 : 1;
    low -= std::fabs(low) * 0x1p-52;
    high += std::fabs(high) * 0x1p-52;
    const double grid_low = static_cast<double>(static_cast<float>(low));
    const double grid_high = static_cast<double>(static_cast<float>(high));
    out_low[l] = grid_low < low ? grid_low : low;
    out_high[l] = grid_high > high ? grid_high : high;
  }
  return bad == 0;
}

void float_op(OpCode op, ScalarType type, int arity, bool square, const Columns& at, int n) {
  switch (type) {
    case ScalarType::F64: return float_loop<ScalarType::F64>(op, arity, square, at, n);
    case ScalarType::F32:
      if (op == OpCode::Mul && !square && fast_f32<OpCode::Mul>(at, n)) return;
      if (op == OpCode::Add && fast_f32<OpCode::Add>(at, n)) return;
      if (op == OpCode::Sub && fast_f32<OpCode::Sub>(at, n)) return;
      return float_loop<ScalarType::F32>(op, arity, square, at, n);
    case ScalarType::F16: return float_loop<ScalarType::F16>(op, arity, square, at, n);
    case ScalarType::TF32: return float_loop<ScalarType::TF32>(op, arity, square, at, n);
    default: return float_loop<ScalarType::BF16>(op, arity, square, at, n);
  }
}

// Truth of a comparison: {certainly, possibly}.
template <class V>
std::pair<bool, bool> compare(OpCode op, V al, V ah, V bl, V bh) {
  switch (op) {
    case OpCode::Lt: return {ah < bl, al < bh};
    case OpCode::Le: return {ah <= bl, al <= bh};
    case OpCode::Gt: return {al > bh, ah > bl};
    case OpCode::Ge: return {al >= bh, ah >= bl};
    case OpCode::Eq: return {al == ah && bl == bh && al == bl, al <= bh && bl <= ah};
    default: return {ah < bl || bh < al, !(al == ah && bl == bh && al == bl)};
  }
}

IntRange range_of(ScalarType type, const Columns& at, int i, int l) {
  return {wide(type, at.low[i][l].i), wide(type, at.high[i][l].i)};
}

void compare_loop(OpCode op, ScalarType type, const Columns& at, int n) {
  for (int l = 0; l < n; ++l) {
    std::pair<bool, bool> truth{false, true};
    if (!is_float(type)) {
      const IntRange a = range_of(type, at, 0, l);
      const IntRange b = range_of(type, at, 1, l);
      truth = compare(op, a.low, a.high, b.low, b.high);
    } else if (claim({at.low[0][l].f, at.high[0][l].f}) &&
               claim({at.low[1][l].f, at.high[1][l].f})) {
      truth = compare(op, at.low[0][l].f, at.high[0][l].f, at.low[1][l].f, at.high[1][l].f);
    }
    at.out_low[l].i = truth.first;
    at.out_high[l].i = truth.second;
  }
}

void logic_loop(OpCode op, const Columns& at, int n) {
  for (int l = 0; l < n; ++l) {
    const bool al = at.low[0][l].i != 0;
    const bool ah = at.high[0][l].i != 0;
    const bool bl = at.low[1][l].i != 0;
    const bool bh = at.high[1][l].i != 0;
    const bool low = op == OpCode::And ? al && bl : op == OpCode::Or ? al || bl : !ah;
    const bool high = op == OpCode::And ? ah && bh : op == OpCode::Or ? ah || bh : !al;
    at.out_low[l].i = low;
    at.out_high[l].i = high;
  }
}

void put(const IntRange& range, const Columns& at, int l) {
  at.out_low[l].i = static_cast<std::int64_t>(range.low);
  at.out_high[l].i = static_cast<std::int64_t>(range.high);
}

void int_loop(OpCode op, ScalarType type, const Columns& at, int n) {
  const IntRange limits = limits_of(type);
  for (int l = 0; l < n; ++l) {
    IntRange out =
        int_range(op, range_of(type, at, 0, l), range_of(type, at, 1, l), range_of(type, at, 2, l));
    // A wrapped result may be anything of the type.
    if (out.low < limits.low || out.high > limits.high) out = limits;
    put(out, at, l);
  }
}

double to_grid(ScalarType type, double x) { return round_to_type(type, x); }

// The hull of a range and of its ends moved by f; without a claim where f leaves the numbers.
template <class F>
Range hull_with(Range a, F&& f) {
  if (!claim(a)) return a;
  const Range moved{f(a.low), f(a.high)};
  if (!(moved.low <= moved.high)) return kNoClaim;
  return {std::min(a.low, moved.low), std::max(a.high, moved.high)};
}

void put(const Range& range, const Columns& at, int l) {
  at.out_low[l].f = range.low;
  at.out_high[l].f = range.high;
}

void float_cast(ScalarType to, const Columns& at, int n) {
  for (int l = 0; l < n; ++l)
    put(hull_with({at.low[0][l].f, at.high[0][l].f}, [&](double x) { return to_grid(to, x); }), at,
        l);
}

void float_to_int(ScalarType to, const Columns& at, int n) {
  const IntRange limits = to == ScalarType::Bool ? IntRange{0, 1} : limits_of(to);
  const double below = static_cast<double>(limits.low);
  const double beyond = static_cast<double>(limits.high + 1);
  for (int l = 0; l < n; ++l) {
    const double low = std::trunc(at.low[0][l].f);
    const double high = std::trunc(at.high[0][l].f);
    const bool fits = low >= below && high < beyond;
    put(fits ? IntRange{static_cast<Wide>(low), static_cast<Wide>(high)} : limits, at, l);
  }
}

Range int_as_float(ScalarType from, ScalarType to, Scalar a, Scalar b) {
  double low = integer_value(from, a.i);
  double high = integer_value(from, b.i);
  if (std::fabs(low) > 0x1p53) low -= step_of(low);
  if (std::fabs(high) > 0x1p53) high += step_of(high);
  // Narrow conversions go through f32.
  const Range direct = hull_with({low, high}, [&](double x) { return to_grid(to, x); });
  return hull_with(direct, [&](double x) { return to_grid(to, to_grid(ScalarType::F32, x)); });
}

void int_to_float(ScalarType from, ScalarType to, const Columns& at, int n) {
  for (int l = 0; l < n; ++l) put(int_as_float(from, to, at.low[0][l], at.high[0][l]), at, l);
}

void cast_loop(ScalarType from, ScalarType to, const Columns& at, int n) {
  if (is_float(from) && is_float(to)) return float_cast(to, at, n);
  if (is_float(to)) return int_to_float(from, to, at, n);
  if (to == ScalarType::Bool) {
    for (int l = 0; l < n; ++l) {
      const bool floating = is_float(from);
      const bool zero = floating ? at.low[0][l].f == 0 && at.high[0][l].f == 0
                                 : at.low[0][l].i == 0 && at.high[0][l].i == 0;
      const IntRange whole = range_of(from, at, 0, l);
      const bool with_zero = floating ? at.low[0][l].f <= 0 && at.high[0][l].f >= 0
                                      : whole.low <= 0 && whole.high >= 0;
      at.out_low[l].i = !with_zero;
      at.out_high[l].i = !zero;
    }
    return;
  }
  if (is_float(from)) return float_to_int(to, at, n);
  const IntRange limits = limits_of(to);
  for (int l = 0; l < n; ++l) {
    const IntRange a = range_of(from, at, 0, l);
    put(a.low >= limits.low && a.high <= limits.high ? a : limits, at, l);
  }
}

// To integers the conversion is part of the meaning; to floats the limits are, and a rounding that a program
// adds.
void saturate_loop(ScalarType from, ScalarType to, const Columns& at, int n) {
  const double most = largest_finite(to);
  const double least = type_info(to).specials == Specials::Scale ? 0.0 : -most;
  for (int l = 0; l < n; ++l) {
    const Scalar a = at.low[0][l];
    const Scalar b = at.high[0][l];
    if (!is_float(to)) {
      put(IntRange{wide(to, evaluate_saturate(from, to, a).i),
                   wide(to, evaluate_saturate(from, to, b).i)},
          at, l);
      continue;
    }
    const Range value = is_float(from) ? Range{a.f, b.f} : int_as_float(from, to, a, b);
    Range out = kNoClaim;
    if (claim(value) && !(least == 0.0 && value.low < 0)) {
      const Range limited{std::clamp(value.low, least, most), std::clamp(value.high, least, most)};
      out = hull_with(limited, [&](double x) { return saturate_to_type(to, x); });
    }
    put(out, at, l);
  }
}

// The grid is part of the meaning; the rounding to the type that follows is one that a program adds.
void round_loop(ScalarType type, ScalarType target, const Columns& at, int n) {
  for (int l = 0; l < n; ++l) {
    Range a{at.low[0][l].f, at.high[0][l].f};
    if (claim(a)) {
      a = {to_grid(target, a.low), to_grid(target, a.high)};
      a = a.low <= a.high ? hull_with(a, [&](double x) { return to_grid(type, x); }) : kNoClaim;
    }
    put(a, at, l);
  }
}

void op_step(const Op& op, bool square, const Columns& at, int n) {
  const ScalarType type = op.args[0].type();
  const OpInfo& info = op_info(op.op);
  if (is_comparison(op.op)) return compare_loop(op.op, type, at, n);
  if (info.rule == TypeRule::Logic) return logic_loop(op.op, at, n);
  if (is_float(type)) return float_op(op.op, type, info.arity, square, at, n);
  int_loop(op.op, type, at, n);
}

}  // namespace

bool claims(double low, double high) { return claim({low, high}); }

void no_claim(ScalarType type, Scalar* low, Scalar* high) {
  if (is_float(type)) {
    low->f = -kInf;
    high->f = kInf;
  } else {
    low->i = is_integer(type) ? lowest_integer(type) : kIntMin;
    high->i = is_integer(type) ? greatest_integer(type) : kIntMax;
  }
}

void interval_step(const Instr& instr, TapeFrame& frame, int n) {
  Columns at{};
  for (int i = 0; i < 3; ++i) {
    at.low[i] = frame.low[instr.args[i]];
    at.high[i] = frame.high[instr.args[i]];
  }
  at.out_low = frame.low[instr.dst];
  at.out_high = frame.high[instr.dst];
  if (const auto* op = instr.expr.as<Op>())
    return op_step(*op, instr.args[0] == instr.args[1], at, n);
  if (const auto* cast = instr.expr.as<Cast>())
    return cast_loop(cast->value.type(), instr.expr.type(), at, n);
  if (const auto* saturate = instr.expr.as<Saturate>())
    return saturate_loop(saturate->value.type(), instr.expr.type(), at, n);
  if (const auto* round = instr.expr.as<RoundTo>())
    return round_loop(round->type, round->grid, at, n);
}

void interval_cast(ScalarType from, ScalarType to, const Scalar* low, const Scalar* high,
                   Scalar* out_low, Scalar* out_high, int n) {
  Columns at{{low, low, low}, {high, high, high}, out_low, out_high};
  cast_loop(from, to, at, n);
}

void FoldIntervals::start(Monoid monoid, ScalarType type, int lanes) {
  monoid_ = monoid;
  type_ = type;
  const auto n = static_cast<std::size_t>(lanes);
  const double identity = monoid == Monoid::Prod  ? 1.0
                          : monoid == Monoid::Sum ? 0.0
                          : monoid == Monoid::Min ? kInf
                                                  : -kInf;
  low_.assign(n, identity);
  high_.assign(n, identity);
  magnitude_.assign(n, monoid == Monoid::Prod ? 1.0 : 0.0);
  shrink_.assign(n, 1.0);
  least_.assign(n, kInf);
  greatest_.assign(n, -kInf);
  count_.assign(n, 0.0);
}

namespace {
// A term that certainly is an infinity adds no rounding error; one that may be has no bound.
inline double term_size(double low, double high) {
  const double size = std::max(std::fabs(low), std::fabs(high));
  return low == high && size == kInf ? 0.0 : size;
}
}  // namespace

inline void FoldIntervals::add_term(std::size_t lane, double low, double high) {
  const double size = term_size(low, high);
  least_[lane] = std::min(least_[lane], low);
  greatest_[lane] = std::max(greatest_[lane], high);
  count_[lane] += 1;
  switch (monoid_) {
    case Monoid::Sum:
      low_[lane] += low;
      high_[lane] += high;
      magnitude_[lane] += size;
      break;
    case Monoid::Prod: {
      const Range p = product({low_[lane], high_[lane]}, {low, high}, false);
      low_[lane] = p.low;
      high_[lane] = p.high;
      const double smallest =
          low <= 0 && high >= 0 ? 0.0 : std::min(std::fabs(low), std::fabs(high));
      magnitude_[lane] *= std::max(std::max(std::fabs(low), std::fabs(high)), 1.0);
      shrink_[lane] *= std::min(smallest, 1.0);
      break;
    }
    case Monoid::Min:
      low_[lane] = std::min(low_[lane], low);
      high_[lane] = std::min(high_[lane], high);
      break;
    case Monoid::Max:
      low_[lane] = std::max(low_[lane], low);
      high_[lane] = std::max(high_[lane], high);
      break;
    default: break;  // no other monoid is folded here
  }
}

namespace {
inline double as_double(Scalar x, ScalarType type) {
  return is_float(type) ? x.f : integer_value(type, x.i);
}
}  // namespace

void FoldIntervals::add(const Scalar* low, const Scalar* high, int n, const std::uint8_t* mask) {
  const bool floating = is_float(type_);
  if (monoid_ == Monoid::Sum && floating && !mask) {
    const double* term_low = floats(low);
    const double* term_high = floats(high);
    double* __restrict sum_low = low_.data();
    double* __restrict sum_high = high_.data();
    double* __restrict size = magnitude_.data();
    double* __restrict least = least_.data();
    double* __restrict greatest = greatest_.data();
    double* __restrict count = count_.data();
    for (int l = 0; l < n; ++l) {
      const double a = term_low[l];
      const double b = term_high[l];
      const double left = std::fabs(a);
      const double right = std::fabs(b);
      const double larger = left > right ? left : right;
      sum_low[l] += a;
      sum_high[l] += b;
      size[l] += a == b && larger == kInf ? 0.0 : larger;
      least[l] = a < least[l] ? a : least[l];
      greatest[l] = b > greatest[l] ? b : greatest[l];
      count[l] += 1;
    }
    return;
  }
  for (int l = 0; l < n; ++l)
    if (!mask || mask[l])
      add_term(static_cast<std::size_t>(l), as_double(low[l], type_), as_double(high[l], type_));
}

void FoldIntervals::add_to_one(const Scalar* low, const Scalar* high, int n,
                               const std::uint8_t* mask) {
  for (int l = 0; l < n; ++l)
    if (!mask || mask[l]) add_term(0, as_double(low[l], type_), as_double(high[l], type_));
}

// n terms t with computed values in their intervals, in any order: the rounding errors of the n
// additions add at most n u times the sum of magnitudes. For plain additions that holds for every n
// (Jeannerod and Rump, 2013); where n u < 1/2 the classical n u / (1 - n u) is used, which covers
// fused products as well, and twice n u beyond. One f64 roundoff per addition is that of our own sums.
void FoldIntervals::finish_sum(std::size_t lane, double* low, double* high) const {
  const double n = count_[lane];
  *low = low_[lane];
  *high = high_[lane];
  if (n == 0) return;
  const bool short_type = type_info(type_).digits() < type_info(ScalarType::F32).digits();
  const double u = unit_roundoff(type_) + (short_type ? 0x1p-23 : 0.0) + 0x1p-52;
  const double nu = n * u;
  const double factor = n < 2 ? 0.0 : nu < 0.5 ? nu / (1 - nu) : 2 * nu;
  const double size = magnitude_[lane] * (1 + n * 0x1p-52);
  if (!(size * (1 + factor) <= largest_finite(type_))) {
    *low = -kInf;
    *high = kInf;
    return;
  }
  if (std::fabs(*low) == kInf) return;  // a sum with infinite terms of one sign
  *low -= factor * size * (1 + 0x1p-50);
  *high += factor * size * (1 + 0x1p-50);
  // Sums of non-negative values are non-negative in every rounding.
  if (least_[lane] >= 0) *low = std::max(*low, 0.0);
  if (greatest_[lane] <= 0) *high = std::min(*high, 0.0);
}

// Partial products lie within `magnitude_` and, unless one is zero, above `shrink_`; what underflows
// on the way is magnified by at most `magnitude_`.
void FoldIntervals::finish_product(std::size_t lane, double* low, double* high) const {
  const double n = count_[lane];
  *low = low_[lane];
  *high = high_[lane];
  if (n < 2) return;
  const bool short_type = type_info(type_).digits() < type_info(ScalarType::F32).digits();
  const double u = unit_roundoff(type_) + (short_type ? 0x1p-23 : 0.0) + 0x1p-52;
  const double growth = std::expm1(n * std::log1p(u)) * (1 + 0x1p-40);
  if (!(magnitude_[lane] * (1 + growth) <= largest_finite(type_) * (1 - 0x1p-40))) {
    *low = -kInf;
    *high = kInf;
    return;
  }
  double error = std::max(std::fabs(*low), std::fabs(*high)) * growth;
  const double normal = smallest_subnormal(type_) / unit_roundoff(type_);
  const bool all_zero = *low == 0 && *high == 0;
  if (!all_zero && !(shrink_[lane] > 2 * normal))
    error += n * smallest_subnormal(type_) * magnitude_[lane] * (1 + growth);
  *low -= error;
  *high += error;
}

void FoldIntervals::finish(Scalar* low, Scalar* high, int n) const {
  const bool floating = is_float(type_);
  const IntRange limits = limits_of(type_);
  for (int l = 0; l < n; ++l) {
    const auto lane = static_cast<std::size_t>(l);
    double a = low_[lane];
    double b = high_[lane];
    if (floating) {
      if (monoid_ == Monoid::Sum) finish_sum(lane, &a, &b);
      if (monoid_ == Monoid::Prod) finish_product(lane, &a, &b);
      // A term without a claim may be NaN, and so may then be the fold.
      const bool lost = count_[lane] > 0 && least_[lane] == -kInf && greatest_[lane] == kInf;
      if (!(a <= b) || lost) a = -kInf, b = kInf;
      low[l].f = a;
      high[l].f = b;
      continue;
    }
    if (count_[lane] == 0) {  // the identity, of Min and Max beyond what f64 holds
      low[l].i = high[l].i = monoid_ == Monoid::Sum || monoid_ == Monoid::Prod
                                 ? static_cast<std::int64_t>(a)
                             : monoid_ == Monoid::Min ? static_cast<std::int64_t>(limits.high)
                                                      : static_cast<std::int64_t>(limits.low);
      continue;
    }
    // Integers: exact in f64 up to 2^53; beyond, or when the type may wrap, no claim.
    const bool exact = std::fabs(a) < 0x1p52 && std::fabs(b) < 0x1p52 &&
                       a >= static_cast<double>(limits.low) &&
                       b <= static_cast<double>(limits.high);
    low[l].i = exact ? static_cast<std::int64_t>(a) : static_cast<std::int64_t>(limits.low);
    high[l].i = exact ? static_cast<std::int64_t>(b) : static_cast<std::int64_t>(limits.high);
  }
}

}  // namespace tilewright::ir

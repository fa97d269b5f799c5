// SPDX-License-Identifier: Apache-2.0
//
// Operations on bits. Law: floats are IEEE, rounded once to nearest even in their sort; each NaN that an operation
// makes is the one quiet NaN.
#include <bit>
#include <cmath>
#include <limits>

#include "frontend/ir/type.h"
#include "lowering/validate/terms.h"
#include "schedules/units/dot.h"

namespace tilewright::validate {

namespace {

using ir::ScalarType;

std::uint64_t quieted(Sort sort, std::uint64_t bits) {
  return is_nan(sort, bits) ? quiet_nan(sort) : bits;
}

template <class F>
F real_of(std::uint64_t bits) {
  if constexpr (sizeof(F) == 4) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else {
    return std::bit_cast<double>(bits);
  }
}
template <class F>
std::uint64_t bits_of(F value) {
  if constexpr (sizeof(F) == 4) {
    return std::bit_cast<std::uint32_t>(value);
  } else {
    return std::bit_cast<std::uint64_t>(value);
  }
}

template <class F>
F round_even(F x) {
  const F floor = std::floor(x);
  const F rest = x - floor;
  if (!(rest >= F(0.5))) return std::copysign(floor, x);
  const bool up = rest > F(0.5) || std::fmod(floor, F(2)) != F(0);
  return std::copysign(up ? floor + F(1) : floor, x);
}

// In f32 or f64.
template <class F>
std::optional<F> compute(TermOp op, F a, F b, F c) {
  switch (op) {
    case TermOp::FAdd: return a + b;
    case TermOp::FSub: return a - b;
    case TermOp::FMul: return a * b;
    case TermOp::FDiv: return a / b;
    case TermOp::Fma: return std::fma(a, b, c);
    case TermOp::Sqrt: return std::sqrt(a);
    case TermOp::RoundEven: return round_even(a);
    case TermOp::Floor: return std::floor(a);
    case TermOp::Ceil: return std::ceil(a);
    case TermOp::FTrunc: return std::trunc(a);
    default: return std::nullopt;
  }
}

bool is_float_arithmetic(TermOp op) {
  switch (op) {
    case TermOp::FAdd:
    case TermOp::FSub:
    case TermOp::FMul:
    case TermOp::FDiv:
    case TermOp::Fma:
    case TermOp::Sqrt:
    case TermOp::RoundEven:
    case TermOp::Floor:
    case TermOp::Ceil:
    case TermOp::FTrunc: return true;
    default: return false;
  }
}

// An operation of half precision is the f32 operation rounded once more; that is the correctly rounded result of
// all but fma, which nothing here does in halves.
std::optional<std::uint64_t> arithmetic(TermOp op, Sort sort, std::uint64_t a, std::uint64_t b,
                                        std::uint64_t c) {
  if (sort == kF32) {
    const auto out = compute(op, real_of<float>(a), real_of<float>(b), real_of<float>(c));
    return out ? std::optional(quieted(sort, bits_of(*out))) : std::nullopt;
  }
  if (sort == kF64) {
    const auto out = compute(op, real_of<double>(a), real_of<double>(b), real_of<double>(c));
    return out ? std::optional(quieted(sort, bits_of(*out))) : std::nullopt;
  }
  if (op == TermOp::Fma) return std::nullopt;
  const auto wide = [&](std::uint64_t x) { return static_cast<float>(double_of(sort, x)); };
  const auto out = compute(op, wide(a), wide(b), wide(c));
  return out ? std::optional(bits_of_double(sort, static_cast<double>(*out))) : std::nullopt;
}

std::optional<std::uint64_t> to_integer(TermOp op, Sort sort, double x) {
  const bool is_signed = op == TermOp::FToSI || op == TermOp::FToSISat;
  const bool saturates = op == TermOp::FToSISat || op == TermOp::FToUISat;
  const double least = is_signed ? -std::ldexp(1.0, sort.bits - 1) : 0.0;
  const double beyond = std::ldexp(1.0, is_signed ? sort.bits - 1 : sort.bits);
  if (std::isnan(x)) return saturates ? std::optional<std::uint64_t>(0) : std::nullopt;
  const double whole = std::trunc(x);
  if (whole < least || whole >= beyond) {
    if (!saturates) return std::nullopt;
    const std::uint64_t top = std::uint64_t{1} << (sort.bits - 1);
    if (whole < least) return is_signed ? top : 0;
    return is_signed ? top - 1 : mask_of(sort.bits);
  }
  const auto value = is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                               : static_cast<std::uint64_t>(whole);
  return value & mask_of(sort.bits);
}

// Rounded once: an f64 between would round twice.
std::uint64_t from_integer(TermOp op, Sort sort, Sort from, std::uint64_t a) {
  const std::int64_t value = sign_extend(a, from.bits);
  const bool is_signed = op == TermOp::SIToF;
  if (sort == kF64) return bits_of(is_signed ? static_cast<double>(value) : static_cast<double>(a));
  const float single = is_signed ? static_cast<float>(value) : static_cast<float>(a);
  if (sort == kF32) return bits_of(single);
  // 11 digits of a number of 64 bits: by f64, rounded to odd where it is not exact.
  const double near = is_signed ? static_cast<double>(value) : static_cast<double>(a);
  return bits_of_double(sort, near);
}

std::uint64_t compare(Sort from, std::uint64_t outcomes, std::uint64_t a, std::uint64_t b) {
  const double x = double_of(from, a);
  const double y = double_of(from, b);
  const unsigned outcome = std::isnan(x) || std::isnan(y) ? 8U : x == y ? 1U : x > y ? 2U : 4U;
  return (outcomes & outcome) != 0;
}

std::optional<std::uint64_t> integer(TermOp op, Sort from, std::uint64_t a, std::uint64_t b) {
  const int bits = from.bits;
  const std::uint64_t mask = mask_of(bits);
  const std::int64_t x = sign_extend(a, bits);
  const std::int64_t y = sign_extend(b, bits);
  switch (op) {
    case TermOp::Add: return (a + b) & mask;
    case TermOp::Sub: return (a - b) & mask;
    case TermOp::Mul: return (a * b) & mask;
    case TermOp::UDiv: return b == 0 ? std::nullopt : std::optional(a / b);
    case TermOp::URem: return b == 0 ? std::nullopt : std::optional(a % b);
    case TermOp::SDiv:
    case TermOp::SRem:
      if (y == 0 || (y == -1 && a == std::uint64_t{1} << (bits - 1))) return std::nullopt;
      return static_cast<std::uint64_t>(op == TermOp::SDiv ? x / y : x % y) & mask;
    case TermOp::Shl:
      return b >= static_cast<unsigned>(bits) ? std::nullopt : std::optional((a << b) & mask);
    case TermOp::LShr:
      return b >= static_cast<unsigned>(bits) ? std::nullopt : std::optional(a >> b);
    case TermOp::AShr:
      return b >= static_cast<unsigned>(bits)
                 ? std::nullopt
                 : std::optional(static_cast<std::uint64_t>(x >> b) & mask);
    case TermOp::And: return a & b;
    case TermOp::Or: return a | b;
    case TermOp::Xor: return a ^ b;
    case TermOp::Not: return ~a & mask;
    case TermOp::Eq: return a == b;
    case TermOp::Ult: return a < b;
    case TermOp::Slt: return x < y;
    case TermOp::UMin: return a < b ? a : b;
    case TermOp::UMax: return a < b ? b : a;
    case TermOp::SMin: return x < y ? a : b;
    case TermOp::SMax: return x < y ? b : a;
    default: return std::nullopt;
  }
}

ScalarType half_type() { return ScalarType::F16; }

}  // namespace

bool is_nan(Sort sort, std::uint64_t bits) {
  return is_float(sort) && std::isnan(double_of(sort, bits));
}

std::uint64_t quiet_nan(Sort sort) {
  return sort == kF16 ? 0x7e00 : sort == kF32 ? 0x7fc00000 : 0x7ff8000000000000;
}

double double_of(Sort sort, std::uint64_t bits) {
  if (sort == kF64) return real_of<double>(bits);
  if (sort == kF32) return static_cast<double>(real_of<float>(bits));
  return ir::float_value(half_type(), static_cast<std::uint16_t>(bits));
}

std::uint64_t bits_of_double(Sort sort, double value) {
  if (std::isnan(value)) return quiet_nan(sort);
  if (sort == kF64) return bits_of(value);
  if (sort == kF32) return bits_of(static_cast<float>(value));
  return ir::float_bits(half_type(), ir::round_to_type(half_type(), value));
}

std::optional<std::uint64_t> fold(TermOp op, Sort sort, Sort from, std::uint64_t a, std::uint64_t b,
                                  std::uint64_t c, std::uint64_t extra) {
  const std::uint64_t sign = std::uint64_t{1} << (sort.bits - 1);
  if (is_float_arithmetic(op)) return arithmetic(op, sort, a, b, c);
  switch (op) {
    case TermOp::Const:
    case TermOp::Var: return std::nullopt;
    case TermOp::Ite: return a != 0 ? b : c;
    case TermOp::Extract: return (a >> extra) & mask_of(sort.bits);
    // `from` is the high part.
    case TermOp::Concat: return (a << (sort.bits - from.bits)) | b;
    case TermOp::SExt:
      return static_cast<std::uint64_t>(sign_extend(a, from.bits)) & mask_of(sort.bits);
    case TermOp::FNeg: return quieted(sort, a ^ sign);
    case TermOp::FAbs: return quieted(sort, a & ~sign);
    case TermOp::FCmp: return compare(from, extra, a, b);
    case TermOp::FToSI:
    case TermOp::FToUI:
    case TermOp::FToSISat:
    case TermOp::FToUISat: return to_integer(op, sort, double_of(from, a));
    case TermOp::SIToF:
    case TermOp::UIToF: return from_integer(op, sort, from, a);
    case TermOp::FExt:
    case TermOp::FRound: return bits_of_double(sort, double_of(from, a));
    case TermOp::AsBits: return a;
    case TermOp::AsFloat: return quieted(sort, a);
    case TermOp::FusedStep:
      return quieted(sort,
                     units::fused_step(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b),
                                       static_cast<std::uint32_t>(c), extra != 0));
    default: return integer(op, from, a, b);
  }
}

std::optional<std::uint64_t> Evaluation::operator()(TermId root) {
  if (values_.size() < terms_.size()) {
    values_.resize(terms_.size());
    state_.resize(terms_.size());
  }
  // Operands have smaller numbers, so a stack of what is left ends.
  std::vector<TermId> stack{root};
  while (!stack.empty()) {
    const TermId id = stack.back();
    if (state_[id] != 0) {
      stack.pop_back();
      continue;
    }
    const Term& term = terms_[id];
    if (term.op == TermOp::Const || term.op == TermOp::Var) {
      values_[id] = term.op == TermOp::Const ? term.extra : variables_[term.extra];
      state_[id] = 1;
      stack.pop_back();
      continue;
    }
    bool ready = true;
    for (const TermId child : {term.a, term.b, term.c})
      if (child != 0 && state_[child] == 0) {
        stack.push_back(child);
        ready = false;
      }
    if (!ready) continue;
    stack.pop_back();
    // What a select does not choose need not have a value.
    if (term.op == TermOp::Ite) {
      const TermId chosen = state_[term.a] == 1 ? (values_[term.a] != 0 ? term.b : term.c) : term.a;
      state_[id] = state_[chosen];
      values_[id] = values_[chosen];
      continue;
    }
    bool defined = true;
    for (const TermId child : {term.a, term.b, term.c}) defined &= child == 0 || state_[child] == 1;
    const auto value =
        defined ? fold(term.op, term.sort, terms_.sort(term.a), values_[term.a],
                       term.b ? values_[term.b] : 0, term.c ? values_[term.c] : 0, term.extra)
                : std::nullopt;
    state_[id] = value ? 1 : 2;
    values_[id] = value.value_or(0);
  }
  if (state_[root] == 2) return std::nullopt;
  return values_[root];
}

}  // namespace tilewright::validate

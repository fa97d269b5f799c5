// SPDX-License-Identifier: Apache-2.0
//
// Types, casts and roundings. Each conversion gives the bits of frontend/ir/evaluate.h: one rounding to
// nearest even, NaN stays NaN.
#include "lowering/llvm/emit_wall.h"

#include <llvm/IR/Intrinsics.h>

#include <cmath>
#include <limits>

namespace tilewright::llvm_wall {

namespace {

// The value's bits count up from zero: bool and the unsigned integers.
bool zero_extends(ScalarType type) { return type == ScalarType::Bool || ir::is_unsigned(type); }

}  // namespace

// f32 values and their bits as i32, in the shape (scalar or lanes) of a value.
class Emitter::Lanes {
 public:
  Lanes(Emitter& emitter, llvm::Value* like) : b_(emitter.b_), like_(like->getType()) {}
  llvm::Type* with(llvm::Type* element) const {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like_);
    return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
  }
  llvm::Value* bits(llvm::Value* v) const { return b_.CreateBitCast(v, with(b_.getInt32Ty())); }
  llvm::Value* real(llvm::Value* v) const { return b_.CreateBitCast(v, with(b_.getFloatTy())); }
  llvm::Value* word(std::uint32_t c) const {
    return llvm::ConstantInt::get(with(b_.getInt32Ty()), c);
  }
  llvm::Value* number(double c) const { return llvm::ConstantFP::get(with(b_.getFloatTy()), c); }

 private:
  llvm::IRBuilder<>& b_;
  llvm::Type* like_;
};

llvm::Type* register_type(llvm::LLVMContext& context, ScalarType type) {
  if (type == ScalarType::F64) return llvm::Type::getDoubleTy(context);
  if (ir::is_float(type)) return llvm::Type::getFloatTy(context);
  return llvm::Type::getIntNTy(context, static_cast<unsigned>(ir::type_info(type).width));
}

llvm::Type* storage_type(llvm::LLVMContext& context, ScalarType type) {
  const bool as_float =
      type == ScalarType::F64 || type == ScalarType::F32 || type == ScalarType::TF32;
  if (as_float) return register_type(context, type);
  return llvm::Type::getIntNTy(context, static_cast<unsigned>(8 * ir::size_bytes(type)));
}

llvm::Type* Emitter::type_of(ScalarType type, bool varying) {
  llvm::Type* element = register_type(state_.llvm, type);
  return varying ? llvm::FixedVectorType::get(element, lanes_) : element;
}

llvm::Value* Emitter::broadcast(Value value) {
  if (value.varying || lanes_ == 1) return value.v;
  return b_.CreateVectorSplat(lanes_, value.v);
}

Value Emitter::match(Value value, bool varying) {
  return varying && !value.varying ? Value{broadcast(value), true} : value;
}

// 0, 1, .. W-1.
llvm::Value* Emitter::ramp(llvm::Type* element) {
  std::vector<llvm::Constant*> lanes(lanes_);
  for (int i = 0; i < lanes_; ++i) lanes[i] = llvm::ConstantInt::get(element, i);
  return llvm::ConstantVector::get(lanes);
}

// bf16 is the upper half of an f32. Nearest even: add 0x7fff and the last kept bit; a NaN keeps its upper
// bits and is quieted. The result is the f32 on the grid.
llvm::Value* Emitter::round_f32_to_bf16(llvm::Value* v) {
  llvm::Type* bits_type = v->getType()->getWithNewType(b_.getInt32Ty());
  auto bits_of = [&](std::uint32_t c) { return llvm::ConstantInt::get(bits_type, c); };
  llvm::Value* bits = b_.CreateBitCast(v, bits_type);
  llvm::Value* last = b_.CreateAnd(b_.CreateLShr(bits, bits_of(16)), bits_of(1));
  llvm::Value* rounded = b_.CreateAdd(bits, b_.CreateAdd(last, bits_of(0x7fff)));
  llvm::Value* quiet = b_.CreateOr(bits, bits_of(0x00400000));
  llvm::Value* is_nan = b_.CreateFCmpUNO(v, v);
  llvm::Value* chosen = b_.CreateSelect(is_nan, quiet, rounded);
  return b_.CreateBitCast(b_.CreateAnd(chosen, bits_of(0xffff0000U)), v->getType());
}

llvm::Value* Emitter::round_f32_to_f16(llvm::Value* v) {
  llvm::Type* half = llvm::Type::getHalfTy(state_.llvm);
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType()))
    half = llvm::FixedVectorType::get(half, vector->getNumElements());
  return b_.CreateFPExt(b_.CreateFPTrunc(v, half), v->getType());
}

// f64 to f32 rounding to odd: the last bit of the result is set when it is inexact. A later rounding to a
// format with at most 22 bits then equals the direct one (Boldo and Melquiond, 2008).
llvm::Value* Emitter::narrow_to_odd(llvm::Value* f64) {
  llvm::Type* f64_type = f64->getType();
  llvm::Type* f32_type = llvm::Type::getFloatTy(state_.llvm);
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(f64_type))
    f32_type = llvm::FixedVectorType::get(f32_type, vector->getNumElements());
  llvm::Type* bits_type = f32_type->getWithNewType(b_.getInt32Ty());
  llvm::Value* near = b_.CreateFPTrunc(f64, f32_type);
  llvm::Value* back = b_.CreateFPExt(near, f64_type);
  llvm::Value* magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, f64);
  llvm::Value* back_magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back);
  llvm::Value* bits = b_.CreateBitCast(near, bits_type);
  llvm::Value* one = llvm::ConstantInt::get(bits_type, 1);
  llvm::Value* too_large = b_.CreateFCmpOGT(back_magnitude, magnitude);
  bits = b_.CreateSelect(too_large, b_.CreateSub(bits, one), bits);
  llvm::Value* inexact = b_.CreateFCmpONE(back, f64);
  bits = b_.CreateSelect(inexact, b_.CreateOr(bits, one), bits);
  return b_.CreateBitCast(bits, f32_type);
}

// tf32 is an f32 whose low 13 bits are zero.
llvm::Value* Emitter::round_f32_to_tf32(llvm::Value* v) {
  const Lanes b(*this, v);
  llvm::Value* bits = b.bits(v);
  llvm::Value* last = b_.CreateAnd(b_.CreateLShr(bits, b.word(13)), b.word(1));
  llvm::Value* rounded = b_.CreateAdd(bits, b_.CreateAdd(last, b.word(0xfff)));
  llvm::Value* chosen =
      b_.CreateSelect(b_.CreateFCmpUNO(v, v), b_.CreateOr(bits, b.word(0x00400000)), rounded);
  return b.real(b_.CreateAnd(chosen, b.word(0xffffe000U)));
}

// To the grid of a float of 8 bits or fewer. Adding 1.5 * 2^(place + 23) makes the f32 addition round at that
// place; the magnitude is cut off first where the sum would lose it, far beyond the largest value.
llvm::Value* Emitter::round_f32_to_small(llvm::Value* v, ScalarType grid, bool saturates) {
  const ir::TypeInfo& info = ir::type_info(grid);
  if (info.specials == ir::Specials::Scale) return round_f32_to_scale(v, saturates);
  const Lanes b(*this, v);
  const double largest = ir::largest_finite(grid);
  llvm::Value* size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v);
  llvm::Value* most = b.number(4 * largest);
  size = b_.CreateSelect(b_.CreateFCmpOLT(size, most), size, most);
  llvm::Value* place = b_.CreateSub(b_.CreateLShr(b.bits(size), b.word(23)),
                                    b.word(static_cast<std::uint32_t>(127 + info.mantissa_bits)));
  llvm::Value* least = b.word(static_cast<std::uint32_t>(info.min_place()));
  place = b_.CreateSelect(b_.CreateICmpSLT(place, least), least, place);
  llvm::Value* magic = b.real(b_.CreateOr(
      b_.CreateShl(b_.CreateAdd(place, b.word(127 + 23)), b.word(23)), b.word(1U << 22)));
  llvm::Value* rounded = b_.CreateFSub(b_.CreateFAdd(size, magic), magic);
  const bool to_largest = saturates || info.specials == ir::Specials::Finite;
  const double beyond = to_largest ? largest
                        : info.specials == ir::Specials::Ieee
                            ? std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::quiet_NaN();
  rounded =
      b_.CreateSelect(b_.CreateFCmpOGT(rounded, b.number(largest)), b.number(beyond), rounded);
  llvm::Value* sign = b_.CreateAnd(b.bits(v), b.word(0x80000000U));
  llvm::Value* signed_value = b.real(b_.CreateOr(b.bits(rounded), sign));
  llvm::Value* nan = info.specials == ir::Specials::Finite ? b.number(largest) : v;
  return b_.CreateSelect(b_.CreateFCmpUNO(v, v), nan, signed_value);
}

// To a power of two: half of the bits below the exponent decide, and its last bit a tie. Below 2^-126 there is
// 2^-127 alone, which f32 holds as a subnormal.
llvm::Value* Emitter::round_f32_to_scale(llvm::Value* v, bool saturates) {
  const Lanes b(*this, v);
  llvm::Value* bits = b.bits(v);
  llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(bits, b.word(23)), b.word(1));
  llvm::Value* up = b_.CreateAdd(bits, b_.CreateAdd(odd, b.word(0x003fffff)));
  llvm::Value* normal = b_.CreateAnd(up, b.word(0x7f800000U));
  llvm::Value* small = b_.CreateSelect(b_.CreateICmpULE(bits, b.word(0x00600000)),
                                       b.word(0x00400000), b.word(0x00800000));
  llvm::Value* chosen = b_.CreateSelect(b_.CreateICmpULT(bits, b.word(0x00800000)), small, normal);
  llvm::Value* large = b_.CreateICmpUGE(chosen, b.word(0x7f800000U));
  chosen = b_.CreateSelect(large, b.word(saturates ? 0x7f000000U : 0x7fc00000U), chosen);
  llvm::Value* zero = b_.CreateFCmpOEQ(v, b.number(0));
  chosen = b_.CreateSelect(zero, b.word(0x00400000), chosen);
  // Negative or NaN.
  llvm::Value* none = b_.CreateFCmpULT(v, b.number(0));
  return b.real(b_.CreateSelect(none, b.word(0x7fc00000U), chosen));
}

// `v` in the register type of `from`; the result in that of `grid` where both are floats.
llvm::Value* Emitter::round_to_grid(llvm::Value* v, ScalarType from, ScalarType grid,
                                    bool saturates) {
  const bool is_double = from == ScalarType::F64;
  const Lanes b(*this, v);
  if (grid == ScalarType::F64)
    return is_double ? v : b_.CreateFPExt(v, b.with(llvm::Type::getDoubleTy(state_.llvm)));
  if (grid == ScalarType::F32) {
    return is_double ? b_.CreateFPTrunc(v, b.with(llvm::Type::getFloatTy(state_.llvm))) : v;
  }
  if (from == grid && !saturates) return v;
  llvm::Value* single = is_double ? narrow_to_odd(v) : v;
  switch (grid) {
    case ScalarType::BF16: return round_f32_to_bf16(single);
    case ScalarType::F16: return round_f32_to_f16(single);
    case ScalarType::TF32: return round_f32_to_tf32(single);
    default: return round_f32_to_small(single, grid, saturates);
  }
}

Value Emitter::cast(Value value, ScalarType from, ScalarType to) {
  if (from == to) return value;
  llvm::Type* target = type_of(to, value.varying);
  const bool from_float = ir::is_float(from);
  llvm::Value* v = value.v;
  if (from_float && ir::is_float(to)) return {round_to_grid(v, from, to), value.varying};
  if (ir::is_float(to)) return {integer_to_float(value, from, to, false), value.varying};
  if (to == ScalarType::Bool) {
    llvm::Value* zero = llvm::Constant::getNullValue(v->getType());
    return {from_float ? b_.CreateFCmpUNE(v, zero) : b_.CreateICmpNE(v, zero), value.varying};
  }
  if (from_float)
    // Saturating: out of range is undefined in a Program, but must not be undefined behaviour here.
    return {truncate(v, to, target), value.varying};
  return {zero_extends(from) ? b_.CreateZExtOrTrunc(v, target) : b_.CreateSExtOrTrunc(v, target),
          value.varying};
}

// To f32 or f64 in one rounding; the narrower formats are that f32 rounded once more.
llvm::Value* Emitter::integer_to_float(Value value, ScalarType from, ScalarType to,
                                       bool saturates) {
  llvm::Type* target = type_of(to, value.varying);
  llvm::Value* wide =
      zero_extends(from) ? b_.CreateUIToFP(value.v, target) : b_.CreateSIToFP(value.v, target);
  return round_to_grid(wide, to == ScalarType::F64 ? to : ScalarType::F32, to, saturates);
}

// Towards zero, to the nearest integer of the type; NaN gives 0.
llvm::Value* Emitter::truncate(llvm::Value* v, ScalarType to, llvm::Type* target) {
  const auto id = ir::is_unsigned(to) ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat;
  return b_.CreateIntrinsic(target, id, {v});
}

// The formats of 16 bits and more become infinite where they are too large; the others saturated when rounded.
llvm::Value* Emitter::within_limits(llvm::Value* v, ScalarType type) {
  if (ir::is_storage_float(type)) return v;
  auto limit = [&](double x) { return llvm::ConstantFP::get(v->getType(), x); };
  const double most = ir::largest_finite(type);
  llvm::Value* high = b_.CreateSelect(b_.CreateFCmpOGT(v, limit(most)), limit(most), v);
  return b_.CreateSelect(b_.CreateFCmpOLT(v, limit(-most)), limit(-most), high);
}

Value Emitter::saturate(Value value, ScalarType from, ScalarType to) {
  llvm::Value* v = value.v;
  if (ir::is_float(to)) {
    if (!ir::is_float(from))
      return {within_limits(integer_to_float(value, from, to, true), to), value.varying};
    return {within_limits(round_to_grid(v, from, to, true), to), value.varying};
  }
  llvm::Type* target = type_of(to, value.varying);
  if (ir::is_float(from)) return {truncate(v, to, target), value.varying};
  // In the wider of the two widths. A limit matters where the type is narrower, or only one has a sign.
  const bool from_unsigned = ir::is_unsigned(from);
  const bool to_unsigned = ir::is_unsigned(to);
  const int width = std::max(ir::type_info(from).width, ir::type_info(to).width);
  const bool narrower = ir::type_info(to).width < width;
  const Lanes b(*this, v);
  llvm::Type* wide = b.with(llvm::Type::getIntNTy(state_.llvm, static_cast<unsigned>(width)));
  llvm::Value* x = from_unsigned ? b_.CreateZExt(v, wide) : b_.CreateSExt(v, wide);
  auto limit = [&](std::int64_t end) { return llvm::ConstantInt::getSigned(wide, end); };
  if (!from_unsigned && (to_unsigned || narrower)) {
    llvm::Value* low = limit(ir::lowest_integer(to));
    x = b_.CreateSelect(b_.CreateICmpSLT(x, low), low, x);
  }
  if (narrower || (from_unsigned && !to_unsigned)) {
    llvm::Value* high = limit(ir::greatest_integer(to));
    llvm::Value* beyond = from_unsigned ? b_.CreateICmpUGT(x, high) : b_.CreateICmpSGT(x, high);
    x = b_.CreateSelect(beyond, high, x);
  }
  return {b_.CreateTrunc(x, target), value.varying};
}

// Register form to the bits in memory. Floats are on their grid, so this is exact.
llvm::Value* Emitter::to_storage(llvm::Value* v, ScalarType type) {
  const Lanes b(*this, v);
  llvm::Type* stored = b.with(storage_type(state_.llvm, type));
  if (stored == v->getType()) return v;
  switch (type) {
    case ScalarType::BF16: return b_.CreateTrunc(b_.CreateLShr(b.bits(v), b.word(16)), stored);
    case ScalarType::F16:
      return b_.CreateBitCast(b_.CreateFPTrunc(v, b.with(llvm::Type::getHalfTy(state_.llvm))),
                              stored);
    default: break;
  }
  if (ir::is_float(type)) return b_.CreateTrunc(small_float_bits(v, type), stored);
  return zero_extends(type) ? b_.CreateZExt(v, stored) : b_.CreateSExt(v, stored);
}

// The code of a float of 8 bits or fewer, as i32. A subnormal is a whole number of smallest values; else
// exponent and fraction move down and the bias changes.
llvm::Value* Emitter::small_float_bits(llvm::Value* v, ScalarType type) {
  const ir::TypeInfo& info = ir::type_info(type);
  const Lanes b(*this, v);
  llvm::Value* bits = b.bits(v);
  const auto ones = (std::uint32_t{1} << (info.exponent_bits + info.mantissa_bits)) - 1;
  llvm::Value* is_nan = b_.CreateFCmpUNO(v, v);
  if (info.specials == ir::Specials::Scale)
    return b_.CreateSelect(is_nan, b.word(ones), b_.CreateLShr(bits, b.word(23)));
  const auto fraction = static_cast<std::uint32_t>(23 - info.mantissa_bits);
  const auto rebias = static_cast<std::uint32_t>(127 - info.bias()) << info.mantissa_bits;
  llvm::Value* size = b_.CreateAnd(bits, b.word(0x7fffffffU));
  llvm::Value* normal = b_.CreateSub(b_.CreateLShr(size, b.word(fraction)), b.word(rebias));
  llvm::Value* least_normal = b.number(std::ldexp(1.0, 1 - info.bias()));
  llvm::Value* is_small = b_.CreateFCmpOLT(b.real(size), least_normal);
  llvm::Value* units = b_.CreateFMul(b_.CreateSelect(is_small, b.real(size), b.number(0)),
                                     b.number(std::ldexp(1.0, -info.min_place())));
  llvm::Value* code =
      b_.CreateSelect(is_small, b_.CreateFPToUI(units, b.with(b_.getInt32Ty())), normal);
  if (info.specials == ir::Specials::Ieee) {
    const std::uint32_t infinity = ones & ~((std::uint32_t{1} << info.mantissa_bits) - 1);
    llvm::Value* is_infinite = b_.CreateICmpEQ(size, b.word(0x7f800000U));
    code = b_.CreateSelect(is_infinite, b.word(infinity), code);
    code = b_.CreateSelect(is_nan, b.word(infinity | 1U << (info.mantissa_bits - 1)), code);
  } else if (info.specials == ir::Specials::Fn) {
    code = b_.CreateSelect(is_nan, b.word(ones), code);
  }
  llvm::Value* sign = b_.CreateAnd(
      b_.CreateLShr(bits, b.word(static_cast<std::uint32_t>(32 - info.width))), b.word(ones + 1));
  return b_.CreateOr(code, sign);
}

llvm::Value* Emitter::from_storage(llvm::Value* v, ScalarType type) {
  const Lanes b(*this, v);
  llvm::Type* target = b.with(register_type(state_.llvm, type));
  switch (type) {
    case ScalarType::Bool: return b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
    case ScalarType::BF16:
      return b.real(b_.CreateShl(b_.CreateZExt(v, b.with(b_.getInt32Ty())), b.word(16)));
    case ScalarType::F16:
      return b_.CreateFPExt(b_.CreateBitCast(v, b.with(llvm::Type::getHalfTy(state_.llvm))),
                            target);
    // What the caller gives need not lie on the grid.
    case ScalarType::TF32: return round_f32_to_tf32(v);
    default: break;
  }
  if (ir::is_float(type) && v->getType() != target)
    return small_float_value(b_.CreateZExt(v, b.with(b_.getInt32Ty())), type);
  return v->getType() == target ? v : b_.CreateTrunc(v, target);
}

llvm::Value* Emitter::small_float_value(llvm::Value* code, ScalarType type) {
  const ir::TypeInfo& info = ir::type_info(type);
  const Lanes b(*this, code);
  const auto ones = (std::uint32_t{1} << (info.exponent_bits + info.mantissa_bits)) - 1;
  llvm::Value* nan = b.number(std::numeric_limits<double>::quiet_NaN());
  if (info.specials == ir::Specials::Scale) {
    llvm::Value* bits = b_.CreateShl(code, b.word(23));
    bits = b_.CreateSelect(b_.CreateICmpEQ(code, b.word(0)), b.word(0x00400000), bits);
    return b_.CreateSelect(b_.CreateICmpEQ(code, b.word(ones)), nan, b.real(bits));
  }
  llvm::Value* size = b_.CreateAnd(code, b.word(ones));
  const auto fraction = static_cast<std::uint32_t>(23 - info.mantissa_bits);
  llvm::Value* moved = b_.CreateShl(size, b.word(fraction));
  llvm::Value* normal =
      b.real(b_.CreateAdd(moved, b.word(static_cast<std::uint32_t>(127 - info.bias()) << 23)));
  llvm::Value* small = b_.CreateFMul(b_.CreateUIToFP(size, normal->getType()),
                                     b.number(std::ldexp(1.0, info.min_place())));
  const std::uint32_t hidden = std::uint32_t{1} << info.mantissa_bits;
  llvm::Value* value = b_.CreateSelect(b_.CreateICmpULT(size, b.word(hidden)), small, normal);
  if (info.specials == ir::Specials::Ieee) {
    llvm::Value* special = b.real(b_.CreateOr(moved, b.word(0x7f800000U)));
    value = b_.CreateSelect(b_.CreateICmpUGE(size, b.word(ones & ~(hidden - 1))), special, value);
  } else if (info.specials == ir::Specials::Fn) {
    value = b_.CreateSelect(b_.CreateICmpEQ(size, b.word(ones)), nan, value);
  }
  llvm::Value* sign = b_.CreateShl(b_.CreateAnd(code, b.word(ones + 1)),
                                   b.word(static_cast<std::uint32_t>(32 - info.width)));
  return b.real(b_.CreateOr(b.bits(value), sign));
}

}  // namespace tilewright::llvm_wall

// SPDX-License-Identifier: Apache-2.0
//
// Types, casts and roundings. Each conversion gives the bits of frontend/ir/evaluate.h: one rounding to
// nearest even, NaN stays NaN.
#include "lowering/llvm/emit_wall.h"

#include <llvm/IR/Intrinsics.h>

#include <numeric>

namespace tilewright::llvm_wall {

llvm::Type* register_type(llvm::LLVMContext& context, ScalarType type) {
  switch (type) {
    case ScalarType::Bool: return llvm::Type::getInt1Ty(context);
    case ScalarType::I8: return llvm::Type::getInt8Ty(context);
    case ScalarType::I32: return llvm::Type::getInt32Ty(context);
    case ScalarType::Index:
    case ScalarType::I64: return llvm::Type::getInt64Ty(context);
    case ScalarType::BF16:
    case ScalarType::F16:
    case ScalarType::F32: return llvm::Type::getFloatTy(context);
    case ScalarType::F64: return llvm::Type::getDoubleTy(context);
  }
  __builtin_unreachable();
}

llvm::Type* storage_type(llvm::LLVMContext& context, ScalarType type) {
  switch (type) {
    case ScalarType::Bool: return llvm::Type::getInt8Ty(context);
    case ScalarType::BF16:
    case ScalarType::F16: return llvm::Type::getInt16Ty(context);
    default: return register_type(context, type);
  }
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

// `v` in the register type of `from`; the result in that of `grid` where both are floats.
llvm::Value* Emitter::round_to_grid(llvm::Value* v, ScalarType from, ScalarType grid) {
  const bool is_double = from == ScalarType::F64;
  llvm::Type* f32_type = v->getType()->getWithNewType(llvm::Type::getFloatTy(state_.llvm));
  switch (grid) {
    case ScalarType::F64:
      return is_double ? v
                       : b_.CreateFPExt(
                             v, v->getType()->getWithNewType(llvm::Type::getDoubleTy(state_.llvm)));
    case ScalarType::F32: return is_double ? b_.CreateFPTrunc(v, f32_type) : v;
    case ScalarType::BF16:
      return from == ScalarType::BF16 ? v : round_f32_to_bf16(is_double ? narrow_to_odd(v) : v);
    case ScalarType::F16:
      return from == ScalarType::F16 ? v : round_f32_to_f16(is_double ? narrow_to_odd(v) : v);
    default: return v;
  }
}

Value Emitter::cast(Value value, ScalarType from, ScalarType to) {
  if (from == to) return value;
  llvm::Type* target = type_of(to, value.varying);
  const bool from_float = ir::is_float(from);
  const bool to_float = ir::is_float(to);
  llvm::Value* v = value.v;
  if (from_float && to_float) return {round_to_grid(v, from, to), value.varying};
  if (to_float) {
    // To f32 or f64 in one rounding; the 16-bit formats are that f32 rounded once more.
    llvm::Value* wide =
        from == ScalarType::Bool ? b_.CreateUIToFP(v, target) : b_.CreateSIToFP(v, target);
    return {round_to_grid(wide, to == ScalarType::F64 ? to : ScalarType::F32, to), value.varying};
  }
  if (to == ScalarType::Bool) {
    llvm::Value* zero = llvm::Constant::getNullValue(v->getType());
    return {from_float ? b_.CreateFCmpUNE(v, zero) : b_.CreateICmpNE(v, zero), value.varying};
  }
  if (from_float)
    // Saturating: out of range is undefined in a Program, but must not be undefined behaviour here.
    return {b_.CreateIntrinsic(target, llvm::Intrinsic::fptosi_sat, {v}), value.varying};
  if (from == ScalarType::Bool) return {b_.CreateZExt(v, target), value.varying};
  return {b_.CreateSExtOrTrunc(v, target), value.varying};
}

// Register form to the bits in memory. bf16 and f16 values are on their grid, so this is exact.
llvm::Value* Emitter::to_storage(llvm::Value* v, ScalarType type) {
  auto with = [&](llvm::Type* element) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
  };
  llvm::Type* i16 = llvm::Type::getInt16Ty(state_.llvm);
  llvm::Type* i32 = llvm::Type::getInt32Ty(state_.llvm);
  switch (type) {
    case ScalarType::Bool: return b_.CreateZExt(v, with(llvm::Type::getInt8Ty(state_.llvm)));
    case ScalarType::BF16:
      return b_.CreateTrunc(
          b_.CreateLShr(b_.CreateBitCast(v, with(i32)), llvm::ConstantInt::get(with(i32), 16)),
          with(i16));
    case ScalarType::F16:
      return b_.CreateBitCast(b_.CreateFPTrunc(v, with(llvm::Type::getHalfTy(state_.llvm))),
                              with(i16));
    default: return v;
  }
}

llvm::Value* Emitter::from_storage(llvm::Value* v, ScalarType type) {
  auto with = [&](llvm::Type* element) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
  };
  llvm::Type* i32 = llvm::Type::getInt32Ty(state_.llvm);
  llvm::Type* f32 = llvm::Type::getFloatTy(state_.llvm);
  switch (type) {
    case ScalarType::Bool: return b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
    case ScalarType::BF16:
      return b_.CreateBitCast(
          b_.CreateShl(b_.CreateZExt(v, with(i32)), llvm::ConstantInt::get(with(i32), 16)),
          with(f32));
    case ScalarType::F16:
      return b_.CreateFPExt(b_.CreateBitCast(v, with(llvm::Type::getHalfTy(state_.llvm))),
                            with(f32));
    default: return v;
  }
}

}  // namespace tilewright::llvm_wall

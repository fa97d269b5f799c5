// SPDX-License-Identifier: Apache-2.0
//
// Math functions: the definitions that the interpreter runs too, instantiated over an IRBuilder. The values
// may be scalars or vectors; the definitions cannot tell.
#include <llvm/IR/Intrinsics.h>

#include "frontend/ir/math_definitions.h"
#include "frontend/ir/random_bits.h"
#include "lowering/llvm/emit_wall.h"

namespace tilewright::llvm_wall {

// The primitives of frontend/ir/math_primitives.h. `lanes` is 0 for scalars.
class LlvmMath {
 public:
  struct F32 {
    llvm::Value* v;
  };
  struct F64 {
    llvm::Value* v;
  };
  struct I32 {
    llvm::Value* v;
  };
  struct I64 {
    llvm::Value* v;
  };
  struct Bool {
    llvm::Value* v;
  };

  LlvmMath(llvm::IRBuilder<>& b, unsigned lanes) : b_(b), lanes_(lanes) {}

  F32 f32(float c) {
    return {splat(llvm::ConstantFP::get(b_.getFloatTy(), static_cast<double>(c)))};
  }
  F64 f64(double c) { return {splat(llvm::ConstantFP::get(b_.getDoubleTy(), c))}; }
  I32 i32(std::int32_t c) { return {splat(b_.getInt32(static_cast<std::uint32_t>(c)))}; }
  I64 i64(std::int64_t c) { return {splat(b_.getInt64(static_cast<std::uint64_t>(c)))}; }

  template <class F>
  F fma(F x, F y, F z) {
    return {b_.CreateIntrinsic(x.v->getType(), llvm::Intrinsic::fma, {x.v, y.v, z.v})};
  }
  template <class T>
  T add(T x, T y) {
    return {is_real<T> ? b_.CreateFAdd(x.v, y.v) : b_.CreateAdd(x.v, y.v)};
  }
  template <class T>
  T sub(T x, T y) {
    return {is_real<T> ? b_.CreateFSub(x.v, y.v) : b_.CreateSub(x.v, y.v)};
  }
  template <class F>
  F mul(F x, F y) {
    return {b_.CreateFMul(x.v, y.v)};
  }
  template <class F>
  F div(F x, F y) {
    return {b_.CreateFDiv(x.v, y.v)};
  }
  template <class F>
  F neg(F x) {
    return {b_.CreateFNeg(x.v)};
  }
  template <class F>
  F sqrt(F x) {
    return {b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x.v)};
  }
  template <class F>
  F rint(F x) {
    return {b_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x.v)};
  }
  template <class F>
  F abs(F x) {
    return {b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x.v)};
  }
  template <class F>
  F min(F x, F y) {
    return {b_.CreateSelect(b_.CreateFCmpOLT(x.v, y.v), x.v, y.v)};
  }
  template <class F>
  F max(F x, F y) {
    return {b_.CreateSelect(b_.CreateFCmpOGT(x.v, y.v), x.v, y.v)};
  }
  template <class I>
  I and_(I x, I y) {
    return {b_.CreateAnd(x.v, y.v)};
  }
  template <class I>
  I or_(I x, I y) {
    return {b_.CreateOr(x.v, y.v)};
  }
  template <class I>
  I xor_(I x, I y) {
    return {b_.CreateXor(x.v, y.v)};
  }
  template <class I>
  I shl(I x, I count) {
    return {b_.CreateShl(x.v, count.v)};
  }
  template <class I>
  I lshr(I x, I count) {
    return {b_.CreateLShr(x.v, count.v)};
  }
  template <class T>
  Bool eq(T x, T y) {
    return {is_real<T> ? b_.CreateFCmpOEQ(x.v, y.v) : b_.CreateICmpEQ(x.v, y.v)};
  }
  template <class T>
  Bool ne(T x, T y) {
    return {is_real<T> ? b_.CreateFCmpUNE(x.v, y.v) : b_.CreateICmpNE(x.v, y.v)};
  }
  template <class T>
  Bool lt(T x, T y) {
    return {is_real<T> ? b_.CreateFCmpOLT(x.v, y.v) : b_.CreateICmpSLT(x.v, y.v)};
  }
  template <class T>
  Bool le(T x, T y) {
    return {is_real<T> ? b_.CreateFCmpOLE(x.v, y.v) : b_.CreateICmpSLE(x.v, y.v)};
  }
  template <class T>
  T select(Bool c, T x, T y) {
    return {b_.CreateSelect(c.v, x.v, y.v)};
  }

  F64 to_f64(F32 x) { return {b_.CreateFPExt(x.v, like(x.v, b_.getDoubleTy()))}; }
  F32 to_f32(F64 x) { return {b_.CreateFPTrunc(x.v, like(x.v, b_.getFloatTy()))}; }
  I32 trunc(I64 x) { return {b_.CreateTrunc(x.v, like(x.v, b_.getInt32Ty()))}; }
  I32 bitcast(F32 x) { return {b_.CreateBitCast(x.v, like(x.v, b_.getInt32Ty()))}; }
  F32 bitcast(I32 x) { return {b_.CreateBitCast(x.v, like(x.v, b_.getFloatTy()))}; }
  I64 bitcast(F64 x) { return {b_.CreateBitCast(x.v, like(x.v, b_.getInt64Ty()))}; }
  F64 bitcast(I64 x) { return {b_.CreateBitCast(x.v, like(x.v, b_.getDoubleTy()))}; }

 private:
  template <class T>
  static constexpr bool is_real = std::is_same_v<T, F32> || std::is_same_v<T, F64>;
  llvm::Value* splat(llvm::Constant* c) { return lanes_ ? b_.CreateVectorSplat(lanes_, c) : c; }
  static llvm::Type* like(llvm::Value* v, llvm::Type* element) {
    return v->getType()->getWithNewType(element);
  }

  llvm::IRBuilder<>& b_;
  unsigned lanes_;
};

llvm::Value* Emitter::math_function(OpCode op, ScalarType type, llvm::Value* x) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  LlvmMath math(b_, vector ? vector->getNumElements() : 0);
  const bool is_double = type == ScalarType::F64;
  switch (op) {
#define TILEWRIGHT_EMIT(Name, name)                                   \
  case OpCode::Name:                                                  \
    return is_double ? ir::math::name##_f64(math, LlvmMath::F64{x}).v \
                     : ir::math::name##_f32(math, LlvmMath::F32{x}).v;
    TILEWRIGHT_EMIT(Rsqrt, rsqrt)
    TILEWRIGHT_EMIT(Exp, exp)
    TILEWRIGHT_EMIT(Exp2, exp2)
    TILEWRIGHT_EMIT(Expm1, expm1)
    TILEWRIGHT_EMIT(Log, log)
    TILEWRIGHT_EMIT(Log2, log2)
    TILEWRIGHT_EMIT(Log1p, log1p)
    TILEWRIGHT_EMIT(Tanh, tanh)
    TILEWRIGHT_EMIT(Erf, erf)
    TILEWRIGHT_EMIT(Sin, sin)
    TILEWRIGHT_EMIT(Cos, cos)
#undef TILEWRIGHT_EMIT
    default: break;
  }
  state_.refuse(Code::UnsupportedByTarget,
                "`" + std::string(ir::op_info(op).text) + "` has no code", kReport);
  return llvm::PoisonValue::get(x->getType());
}

llvm::Value* Emitter::random_bits(ScalarType type, llvm::Value* key, llvm::Value* counter) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(key->getType());
  LlvmMath math(b_, vector ? vector->getNumElements() : 0);
  using Pair = ir::WordPair<LlvmMath::I32>;
  const bool two = type == ScalarType::U64;
  llvm::Type* word = key->getType()->getWithNewType(b_.getInt32Ty());
  auto words = [&](llvm::Value* x) {
    if (!two) return Pair{{x}, math.i32(0)};
    llvm::Value* high = b_.CreateLShr(x, llvm::ConstantInt::get(x->getType(), 32));
    return Pair{{b_.CreateTrunc(x, word)}, {b_.CreateTrunc(high, word)}};
  };
  const Pair out = ir::threefry2x32(math, words(key), words(counter));
  if (!two) return out.first.v;
  llvm::Value* high = b_.CreateShl(b_.CreateZExt(out.second.v, key->getType()),
                                   llvm::ConstantInt::get(key->getType(), 32));
  return b_.CreateOr(high, b_.CreateZExt(out.first.v, key->getType()));
}

}  // namespace tilewright::llvm_wall

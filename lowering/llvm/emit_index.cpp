// SPDX-License-Identifier: Apache-2.0
//
// Index expressions as variable + constant + lane * stride. Law: materialise(affine(e)) is the value of e in
// every lane. What is not affine in the lane has no such form, and its accesses gather.
#include "lowering/llvm/emit_wall.h"

namespace tilewright::llvm_wall {

namespace {

llvm::Value* constant(llvm::IRBuilder<>& b, std::int64_t value) {
  return llvm::ConstantInt::getSigned(b.getInt64Ty(), value);
}

// A constant operand moves out of the variable part.
void normalise(LaneIndex& index) {
  if (auto* c = llvm::dyn_cast_or_null<llvm::ConstantInt>(index.variable)) {
    index.constant += c->getSExtValue();
    index.variable = nullptr;
  }
  if (auto* c = llvm::dyn_cast_or_null<llvm::ConstantInt>(index.stride))
    if (c->isZero()) index.stride = nullptr;
}

}  // namespace

// Addresses are computed in masked and speculated places too, where a Program promises nothing about them:
// so plain wrapping arithmetic here, and nsw only where the value itself is used (index_arithmetic).
LaneIndex Emitter::add(const LaneIndex& a, const LaneIndex& b, bool negate) {
  auto sum = [&](llvm::Value* x, llvm::Value* y) -> llvm::Value* {
    if (y == nullptr) return x;
    if (x == nullptr) return negate ? b_.CreateNeg(y) : y;
    return negate ? b_.CreateSub(x, y) : b_.CreateAdd(x, y);
  };
  LaneIndex result{
      sum(a.variable, b.variable),
      static_cast<std::int64_t>(
          negate ? static_cast<std::uint64_t>(a.constant) - static_cast<std::uint64_t>(b.constant)
                 : static_cast<std::uint64_t>(a.constant) + static_cast<std::uint64_t>(b.constant)),
      sum(a.stride, b.stride)};
  normalise(result);
  return result;
}

// Precondition: `factor` is uniform.
LaneIndex Emitter::scale(const LaneIndex& a, const LaneIndex& factor) {
  if (factor.variable == nullptr && factor.constant == 1) return a;
  LaneIndex result;
  if (factor.variable == nullptr) {
    llvm::Value* by = constant(b_, factor.constant);
    if (factor.constant != 0 && a.variable) result.variable = b_.CreateMul(a.variable, by);
    result.constant = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.constant) *
                                                static_cast<std::uint64_t>(factor.constant));
    if (factor.constant != 0 && a.stride) result.stride = b_.CreateMul(a.stride, by);
  } else {
    llvm::Value* by = base_of(factor);
    if (a.variable) result.variable = b_.CreateMul(a.variable, by);
    if (a.constant != 0) {
      llvm::Value* part = b_.CreateMul(by, constant(b_, a.constant));
      result.variable = result.variable ? b_.CreateAdd(result.variable, part) : part;
    }
    if (a.stride) result.stride = b_.CreateMul(a.stride, by);
  }
  normalise(result);
  return result;
}

// The value in lane 0.
llvm::Value* Emitter::base_of(const LaneIndex& index) {
  if (index.variable == nullptr) return constant(b_, index.constant);
  return index.constant == 0 ? index.variable
                             : b_.CreateAdd(index.variable, constant(b_, index.constant));
}

Value Emitter::materialise(const LaneIndex& index) {
  llvm::Value* base = base_of(index);
  if (is_uniform(index)) return {base, false};
  llvm::Value* steps =
      b_.CreateMul(ramp(b_.getInt64Ty()), b_.CreateVectorSplat(lanes_, index.stride));
  return {b_.CreateAdd(b_.CreateVectorSplat(lanes_, base), steps), true};
}

std::optional<LaneIndex> Emitter::affine(Expr expr) {
  if (const auto* c = expr.as<ir::IntConst>()) return LaneIndex{nullptr, c->value, nullptr};
  if (const auto* var = expr.as<ir::Var>()) {
    auto it = env_.find(var->name);
    if (it != env_.end() && it->second.index) return it->second.index;
  }
  if (const auto* op = expr.as<ir::Op>(); op && overflow_ == nullptr) {
    switch (op->op) {
      case OpCode::Add:
      case OpCode::Sub: {
        auto a = affine(op->args[0]);
        auto b = a ? affine(op->args[1]) : std::nullopt;
        if (!b) return std::nullopt;
        return add(*a, *b, op->op == OpCode::Sub);
      }
      case OpCode::Mul: {
        auto a = affine(op->args[0]);
        auto b = a ? affine(op->args[1]) : std::nullopt;
        if (!b || (!is_uniform(*a) && !is_uniform(*b))) return std::nullopt;
        return is_uniform(*b) ? scale(*a, *b) : scale(*b, *a);
      }
      case OpCode::Neg: {
        auto a = affine(op->args[0]);
        if (!a) return std::nullopt;
        return add({}, *a, true);
      }
      default: break;
    }
  }
  if (varies(expr)) return std::nullopt;
  LaneIndex index{evaluate(expr).v, 0, nullptr};
  normalise(index);
  return index;
}

}  // namespace tilewright::llvm_wall

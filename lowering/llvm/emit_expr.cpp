// SPDX-License-Identifier: Apache-2.0
//
// Expressions. Laws: the value is that of frontend/ir/evaluate.h in each active lane; what a select does not
// choose, and what the mask turns off, neither faults nor divides.
#include "lowering/llvm/emit_wall.h"

#include <llvm/IR/Intrinsics.h>

#include <utility>

#include "frontend/ir/walk.h"

namespace tilewright::llvm_wall {

namespace {

bool is_integral(ScalarType type) { return type == ScalarType::Index || ir::is_integer(type); }

// bool is an unsigned i1: false < true.
llvm::CmpInst::Predicate predicate(OpCode op, ScalarType type) {
  using P = llvm::CmpInst::Predicate;
  const bool is_float = ir::is_float(type);
  const bool is_bool = type == ScalarType::Bool || ir::is_unsigned(type);
  switch (op) {
    case OpCode::Eq: return is_float ? P::FCMP_OEQ : P::ICMP_EQ;
    case OpCode::Ne: return is_float ? P::FCMP_UNE : P::ICMP_NE;
    case OpCode::Lt: return is_float ? P::FCMP_OLT : is_bool ? P::ICMP_ULT : P::ICMP_SLT;
    case OpCode::Le: return is_float ? P::FCMP_OLE : is_bool ? P::ICMP_ULE : P::ICMP_SLE;
    case OpCode::Gt: return is_float ? P::FCMP_OGT : is_bool ? P::ICMP_UGT : P::ICMP_SGT;
    default: return is_float ? P::FCMP_OGE : is_bool ? P::ICMP_UGE : P::ICMP_SGE;
  }
}

bool keeps_grid(OpCode op) {
  switch (op) {
    case OpCode::Neg:
    case OpCode::Abs:
    case OpCode::Min:
    case OpCode::Max:
    case OpCode::Floor:
    case OpCode::Ceil:
    case OpCode::Rint: return true;
    default: return false;
  }
}

}  // namespace

// Whether the value may differ between lanes, as far as the form of the expression says.
bool Emitter::varies(Expr expr) {
  if (lanes_ == 1) return false;
  if (auto it = varies_.find(expr); it != varies_.end()) return it->second;
  bool result = false;
  if (const auto* var = expr.as<ir::Var>()) {
    auto it = env_.find(var->name);
    result = it != env_.end() &&
             (it->second.value.varying || (it->second.index && it->second.index->stride));
  } else {
    if (const auto* read = expr.as<ir::Read>()) {
      auto it = buffers_.find(read->tensor);
      result = it != buffers_.end() && it->second.private_lanes > 1;
    }
    ir::for_each_child(expr, [&](Expr child) { result = result || varies(child); });
  }
  varies_[expr] = result;
  return result;
}

Value Emitter::evaluate(Expr expr) {
  if (auto it = memo_.find(expr); it != memo_.end()) return it->second;
  Value value = ir::visit(
      expr,
      ir::Overloaded{
          [&](const ir::IntConst& c) {
            llvm::Type* type = register_type(state_.llvm, c.type);
            return Value{ir::is_unsigned(c.type)
                             ? llvm::ConstantInt::get(type, static_cast<std::uint64_t>(c.value))
                             : llvm::ConstantInt::getSigned(type, c.value)};
          },
          [&](const ir::FloatConst& c) {
            llvm::Type* type = register_type(state_.llvm, c.type);
            return Value{llvm::ConstantFP::get(type, c.value)};
          },
          [&](const ir::BoolConst& c) { return Value{b_.getInt1(c.value)}; },
          [&](const ir::Var& var) {
            auto it = env_.find(var.name);
            if (it == env_.end()) {
              state_.refuse(Code::UnsupportedByTarget,
                            "`" + std::string(var.name.text()) + "` is not bound here", kReport);
              return Value{llvm::PoisonValue::get(register_type(state_.llvm, var.type))};
            }
            if (it->second.index && !it->second.value.v) return materialise(*it->second.index);
            return it->second.value;
          },
          [&](const ir::Extent& extent) {
            auto it = env_.find(extent.name);
            return it != env_.end() ? it->second.value
                                    : Value{llvm::PoisonValue::get(b_.getInt64Ty())};
          },
          [&](const ir::Read& read) { return load(read); },
          [&](const ir::Op& op) { return evaluate_op(op); },
          [&](const ir::Select& s) { return select(s); },
          [&](const ir::Cast& c) { return cast(evaluate(c.value), c.value.type(), c.type); },
          [&](const ir::Saturate& s) {
            return saturate(evaluate(s.value), s.value.type(), s.type);
          },
          [&](const ir::RoundTo& r) {
            // The value stays in its type; a grid that holds all of it changes nothing.
            Value inner = evaluate(r.value);
            if (ir::holds_all(r.grid, r.type)) return inner;
            llvm::Value* v = round_to_grid(inner.v, r.type, r.grid);
            if (r.type == ScalarType::F64) v = b_.CreateFPExt(v, inner.v->getType());
            // Some grids go beyond the range of f16.
            const bool beyond = ir::largest_finite(r.grid) > ir::largest_finite(r.type);
            if (r.type == ScalarType::F16 && beyond) v = round_f32_to_f16(v);
            return Value{v, inner.varying};
          },
          [&](const ir::Fold& fold) {
            state_.refuse(Code::UnsupportedByTarget, "a fold inside a program",
                          "write the fold as a loop that stores its partial results");
            return Value{llvm::PoisonValue::get(register_type(state_.llvm, fold.type))};
          },
      });
  memo_[expr] = value;
  return value;
}

llvm::Value* Emitter::evaluate_uniform(Expr expr) {
  Value value = evaluate(expr);
  if (!value.varying) return value.v;
  state_.refuse(Code::UnsupportedByTarget, "a loop bound or size that differs between vector lanes",
                "vectorize a loop on which the bound or size does not depend");
  return llvm::PoisonValue::get(register_type(state_.llvm, expr.type()));
}

// A value that was kept would not say again that it overflows, and may stand in another branch.
llvm::Value* Emitter::evaluate_alone(Expr expr, llvm::Value** overflow) {
  memo_.clear();
  if (overflow) overflow_ = b_.getFalse();
  llvm::Value* value = evaluate_uniform(expr);
  if (overflow) *overflow = std::exchange(overflow_, nullptr);
  memo_.clear();
  return value;
}

Value Emitter::evaluate_op(const ir::Op& op) {
  const ScalarType type = op.args[0].type();
  const Expr self(&op);
  if (type == ScalarType::Index && op.type == ScalarType::Index && overflow_ == nullptr &&
      (op.op == OpCode::Add || op.op == OpCode::Sub || op.op == OpCode::Mul ||
       op.op == OpCode::Neg))
    if (auto index = affine(self)) return materialise(*index);
  if (is_comparison(op.op)) return compare(op.op, op.args[0], op.args[1]);
  std::vector<Value> values;
  bool varying = false;
  for (Expr arg : op.args) {
    values.push_back(evaluate(arg));
    varying |= values.back().varying;
  }
  std::vector<llvm::Value*> args;
  for (Value value : values) args.push_back(match(value, varying).v);
  if (type == ScalarType::Bool) {
    switch (op.op) {
      case OpCode::And: return {b_.CreateAnd(args[0], args[1]), varying};
      case OpCode::Or: return {b_.CreateOr(args[0], args[1]), varying};
      default: return {b_.CreateNot(args[0]), varying};
    }
  }
  if (is_integral(type)) return {integer_op(op.op, type, args), varying};
  Value value = float_op(op.op, type, args);
  value.varying = varying;
  // A narrower operation is the f32 operation rounded once more; some stay on the grid by themselves.
  if (!keeps_grid(op.op))
    value.v = round_to_grid(value.v, type == ScalarType::F64 ? type : ScalarType::F32, type);
  return value;
}

// min and max are compare and select: one vminps, with the second operand for equal and unordered.
Value Emitter::float_op(OpCode op, ScalarType type, std::span<llvm::Value* const> a) {
  namespace I = llvm::Intrinsic;
  switch (op) {
    case OpCode::Add: return {b_.CreateFAdd(a[0], a[1])};
    case OpCode::Sub: return {b_.CreateFSub(a[0], a[1])};
    case OpCode::Mul: return {b_.CreateFMul(a[0], a[1])};
    case OpCode::Div: return {b_.CreateFDiv(a[0], a[1])};
    case OpCode::Neg: return {b_.CreateFNeg(a[0])};
    case OpCode::Abs: return {b_.CreateUnaryIntrinsic(I::fabs, a[0])};
    case OpCode::Min: return {b_.CreateSelect(b_.CreateFCmpOLT(a[0], a[1]), a[0], a[1])};
    case OpCode::Max: return {b_.CreateSelect(b_.CreateFCmpOGT(a[0], a[1]), a[0], a[1])};
    case OpCode::Fma: return {b_.CreateIntrinsic(a[0]->getType(), I::fma, {a[0], a[1], a[2]})};
    case OpCode::Floor: return {b_.CreateUnaryIntrinsic(I::floor, a[0])};
    case OpCode::Ceil: return {b_.CreateUnaryIntrinsic(I::ceil, a[0])};
    case OpCode::Rint: return {b_.CreateUnaryIntrinsic(I::roundeven, a[0])};
    case OpCode::Sqrt: return {b_.CreateUnaryIntrinsic(I::sqrt, a[0])};
    default: return {math_function(op, type == ScalarType::F64 ? type : ScalarType::F32, a[0])};
  }
}

// Two's complement at the width. Index is Z in a Program and its proof obligation is that i64 holds it.
llvm::Value* Emitter::integer_op(OpCode op, ScalarType type, std::span<llvm::Value* const> a) {
  if (type == ScalarType::Index && (op == OpCode::Add || op == OpCode::Sub || op == OpCode::Mul))
    return index_arithmetic(op, a[0], a[1]);
  const ir::TypeRule rule = ir::op_info(op).rule;
  if (rule == ir::TypeRule::Bits) return bit_op(op, type, a);
  if (rule == ir::TypeRule::Random) return random_bits(type, a[0], a[1]);
  const bool is_unsigned = ir::is_unsigned(type);
  switch (op) {
    case OpCode::Add: return b_.CreateAdd(a[0], a[1]);
    case OpCode::Sub: return b_.CreateSub(a[0], a[1]);
    case OpCode::Mul: return b_.CreateMul(a[0], a[1]);
    case OpCode::Div:
    case OpCode::Mod:
      return is_unsigned ? unsigned_division(a[0], a[1], op == OpCode::Mod)
                         : floor_division(a[0], a[1], op == OpCode::Mod);
    case OpCode::Neg: return b_.CreateNeg(a[0]);
    case OpCode::Min:
      return b_.CreateSelect(b_.CreateCmp(predicate(OpCode::Lt, type), a[0], a[1]), a[0], a[1]);
    case OpCode::Max:
      return b_.CreateSelect(b_.CreateCmp(predicate(OpCode::Gt, type), a[0], a[1]), a[0], a[1]);
    case OpCode::Abs:
      if (is_unsigned) return a[0];
      return b_.CreateSelect(b_.CreateICmpSLT(a[0], llvm::Constant::getNullValue(a[0]->getType())),
                             b_.CreateNeg(a[0]), a[0]);
    case OpCode::Fma: return b_.CreateAdd(b_.CreateMul(a[0], a[1]), a[2]);
    default:
      state_.refuse(Code::UnsupportedByTarget,
                    "`" + std::string(ir::op_info(op).text) + "` on integers",
                    "cast to a float type first");
      return llvm::PoisonValue::get(a[0]->getType());
  }
}

llvm::Value* Emitter::index_arithmetic(OpCode op, llvm::Value* a, llvm::Value* b) {
  if (overflow_ == nullptr) {
    if (op == OpCode::Add) return b_.CreateAdd(a, b);
    return op == OpCode::Sub ? b_.CreateSub(a, b) : b_.CreateMul(a, b);
  }
  const auto id = op == OpCode::Add   ? llvm::Intrinsic::sadd_with_overflow
                  : op == OpCode::Sub ? llvm::Intrinsic::ssub_with_overflow
                                      : llvm::Intrinsic::smul_with_overflow;
  llvm::Value* pair = b_.CreateBinaryIntrinsic(id, a, b);
  overflow_ = b_.CreateOr(overflow_, b_.CreateExtractValue(pair, 1));
  return b_.CreateExtractValue(pair, 0);
}

// Floor division and modulus. Powers of two are shifts and masks. A divisor of 0 or -1 is replaced before
// the machine division, which would trap: by zero gives 0, and x / -1 wraps.
llvm::Value* Emitter::floor_division(llvm::Value* a, llvm::Value* b, bool want_modulus) {
  llvm::Type* type = a->getType();
  auto* scalar = llvm::dyn_cast<llvm::Constant>(b);
  if (scalar && type->isVectorTy()) scalar = scalar->getSplatValue();
  const auto* divisor = llvm::dyn_cast_or_null<llvm::ConstantInt>(scalar);
  if (divisor && divisor->getValue().isStrictlyPositive() && divisor->getValue().isPowerOf2()) {
    const llvm::APInt& value = divisor->getValue();
    if (want_modulus) return b_.CreateAnd(a, llvm::ConstantInt::get(type, value - 1));
    return b_.CreateAShr(a, llvm::ConstantInt::get(type, value.logBase2()));
  }
  llvm::Value* zero = llvm::Constant::getNullValue(type);
  llvm::Value* one = llvm::ConstantInt::get(type, 1);
  llvm::Value* minus_one = llvm::Constant::getAllOnesValue(type);
  llvm::Value* is_zero = b_.CreateICmpEQ(b, zero);
  llvm::Value* is_minus_one = b_.CreateICmpEQ(b, minus_one);
  llvm::Value* safe = b_.CreateSelect(b_.CreateOr(is_zero, is_minus_one), one, b);
  llvm::Value* quotient = b_.CreateSDiv(a, safe);
  llvm::Value* rest = b_.CreateSub(a, b_.CreateMul(quotient, safe));
  llvm::Value* below =
      b_.CreateAnd(b_.CreateICmpNE(rest, zero), b_.CreateICmpSLT(b_.CreateXor(rest, safe), zero));
  if (want_modulus) {
    llvm::Value* modulus = b_.CreateSelect(below, b_.CreateAdd(rest, safe), rest);
    return b_.CreateSelect(is_zero, zero, modulus);
  }
  llvm::Value* floor = b_.CreateSelect(below, b_.CreateSub(quotient, one), quotient);
  floor = b_.CreateSelect(is_minus_one, b_.CreateNeg(a), floor);
  return b_.CreateSelect(is_zero, zero, floor);
}

// By zero gives 0, for what is computed and dropped.
llvm::Value* Emitter::unsigned_division(llvm::Value* a, llvm::Value* b, bool want_modulus) {
  llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
  llvm::Value* is_zero = b_.CreateICmpEQ(b, zero);
  llvm::Value* safe = b_.CreateSelect(is_zero, llvm::ConstantInt::get(a->getType(), 1), b);
  llvm::Value* out = want_modulus ? b_.CreateURem(a, safe) : b_.CreateUDiv(a, safe);
  return b_.CreateSelect(is_zero, zero, out);
}

// A count of the width or more leaves nothing, or the sign alone.
llvm::Value* Emitter::bit_op(OpCode op, ScalarType type, std::span<llvm::Value* const> a) {
  switch (op) {
    case OpCode::BitAnd: return b_.CreateAnd(a[0], a[1]);
    case OpCode::BitOr: return b_.CreateOr(a[0], a[1]);
    case OpCode::BitXor: return b_.CreateXor(a[0], a[1]);
    case OpCode::BitNot: return b_.CreateNot(a[0]);
    default: break;
  }
  llvm::Type* bits = a[0]->getType();
  auto number = [&](int n) { return llvm::ConstantInt::get(bits, static_cast<std::uint64_t>(n)); };
  const int width = ir::type_info(type).width;
  llvm::Value* beyond = b_.CreateICmpUGE(a[1], number(width));
  llvm::Value* count = b_.CreateSelect(beyond, number(width - 1), a[1]);
  if (op == OpCode::ShiftRight && !ir::is_unsigned(type)) return b_.CreateAShr(a[0], count);
  llvm::Value* moved =
      op == OpCode::ShiftLeft ? b_.CreateShl(a[0], count) : b_.CreateLShr(a[0], count);
  return b_.CreateSelect(beyond, number(0), moved);
}

Value Emitter::compare(OpCode op, Expr a, Expr b) {
  if (a.type() == ScalarType::Index && overflow_ == nullptr && (varies(a) || varies(b)))
    if (llvm::Value* mask = compare_lanes(op, a, b)) return {mask, true};
  Value x = evaluate(a);
  Value y = evaluate(b);
  const bool varying = x.varying || y.varying;
  return {b_.CreateCmp(predicate(op, a.type()), match(x, varying).v, match(y, varying).v), varying};
}

// For indices whose difference steps by one per lane, a bound on the lane number: one 32-bit compare
// instead of two 64-bit ones. lane + base < 0 becomes lane < clamp(-base, 0, W).
llvm::Value* Emitter::compare_lanes(OpCode op, Expr a, Expr b) {
  auto x = affine(a);
  auto y = x ? affine(b) : std::nullopt;
  if (!y) return nullptr;
  if (op == OpCode::Eq || op == OpCode::Ne) return nullptr;
  // a op b  is  d op 0  with d = a - b.
  LaneIndex d = add(*x, *y, true);
  const auto* stride = llvm::dyn_cast_or_null<llvm::ConstantInt>(d.stride);
  if (stride == nullptr || !(stride->isOne() || stride->isMinusOne())) return nullptr;
  // lane < limit, or its negation.
  const bool rising = stride->isOne();
  const bool less = op == OpCode::Lt || op == OpCode::Le;
  const bool strict = op == OpCode::Lt || op == OpCode::Gt;
  llvm::Value* base = base_of({d.variable, d.constant, nullptr});
  // rising:  d < 0 iff lane < -base; d <= 0 iff lane < 1 - base.
  // falling: d > 0 iff lane < base;  d >= 0 iff lane < base + 1.
  const bool inclusive = rising == less ? !strict : strict;
  llvm::Value* one = b_.getInt64(inclusive ? 1 : 0);
  llvm::Value* limit = rising ? b_.CreateSub(one, base) : b_.CreateAdd(base, one);
  limit = b_.CreateSelect(b_.CreateICmpSLT(limit, b_.getInt64(0)), b_.getInt64(0), limit);
  limit = b_.CreateSelect(b_.CreateICmpSGT(limit, b_.getInt64(lanes_)), b_.getInt64(lanes_), limit);
  llvm::Value* bound = b_.CreateVectorSplat(lanes_, b_.CreateTrunc(limit, b_.getInt32Ty()));
  llvm::Value* lane = ramp(b_.getInt32Ty());
  return rising == less ? b_.CreateICmpSLT(lane, bound) : b_.CreateICmpSGE(lane, bound);
}

// Reads may be out of bounds in an arm that is not taken; everything else is computed and dropped.
bool Emitter::may_fault(Expr expr) { return !ir::reads(expr).empty(); }

Value Emitter::select(const ir::Select& s) {
  Value condition = evaluate(s.condition);
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(condition.v))
    return evaluate(constant->isZero() ? s.else_value : s.then_value);
  if (may_fault(s.then_value) || may_fault(s.else_value))
    return condition.varying ? select_by_mask(s, condition.v) : select_by_branch(s, condition.v);
  Value a = evaluate(s.then_value);
  Value b = evaluate(s.else_value);
  const bool varying = condition.varying || a.varying || b.varying;
  return {b_.CreateSelect(condition.v, match(a, varying).v, match(b, varying).v), varying};
}

// Each arm runs under the lanes that chose it.
Value Emitter::select_by_mask(const ir::Select& s, llvm::Value* condition) {
  auto arm = [&](Expr value, llvm::Value* lanes) {
    const Mask outer = mask_;
    const auto outer_memo = memo_;
    mask_ = {outer.lanes ? b_.CreateAnd(outer.lanes, lanes) : lanes, true};
    llvm::Value* result = broadcast(evaluate(value));
    mask_ = outer;
    memo_ = outer_memo;
    return result;
  };
  llvm::Value* a = arm(s.then_value, condition);
  llvm::Value* b = arm(s.else_value, b_.CreateNot(condition));
  return {b_.CreateSelect(condition, a, b), true};
}

Value Emitter::select_by_branch(const ir::Select& s, llvm::Value* condition) {
  const bool varying = varies(s.then_value) || varies(s.else_value);
  llvm::BasicBlock* blocks[2] = {block("then"), block("else")};
  llvm::BasicBlock* join = block("chosen");
  b_.CreateCondBr(condition, blocks[0], blocks[1]);
  llvm::Value* results[2];
  for (int arm = 0; arm < 2; ++arm) {
    const auto outer_memo = memo_;
    b_.SetInsertPoint(blocks[arm]);
    results[arm] = match(evaluate(arm == 0 ? s.then_value : s.else_value), varying).v;
    blocks[arm] = b_.GetInsertBlock();
    b_.CreateBr(join);
    memo_ = outer_memo;
  }
  b_.SetInsertPoint(join);
  llvm::PHINode* phi = b_.CreatePHI(results[0]->getType(), 2);
  phi->addIncoming(results[0], blocks[0]);
  phi->addIncoming(results[1], blocks[1]);
  return {phi, varying};
}

llvm::Value* Emitter::any(llvm::Value* mask) { return b_.CreateOrReduce(mask); }

}  // namespace tilewright::llvm_wall

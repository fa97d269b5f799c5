// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of parameters whose elements share bytes. A store reads the byte, changes its part and
// writes it back. Laws: the other elements of the byte keep their values; lanes store one after the other, so
// lanes of one byte do not disturb each other. That no other thread writes the byte is what `build` and the
// Program interpreter see to.
#include "frontend/ir/context.h"
#include "lowering/llvm/emit_wall.h"

namespace tilewright::llvm_wall {

std::vector<LaneIndex> Emitter::parameter_strides(const program::Parameter& parameter, int step) {
  std::vector<Expr> extents = parameter.shape;
  const int per_byte = ir::elements_per_byte(parameter.type);
  if (per_byte > 1 && extents.size() > 1)
    extents.back() = state_.context.mul(state_.context.ceil_div(extents.back(), per_byte),
                                        state_.context.index(per_byte));
  std::vector<LaneIndex> strides = row_major(extents);
  for (LaneIndex& stride : strides) stride = scale(stride, {nullptr, step, nullptr});
  return strides;
}

// `element` counts from the start of the buffer; it may be lanes. 8 / per_byte bits each.
Emitter::PackedPlace Emitter::packed_place(const Buffer& buffer, llvm::Value* element) {
  auto number = [&](std::int64_t n) { return llvm::ConstantInt::get(element->getType(), n); };
  const int per_byte = buffer.per_byte;
  llvm::Value* byte = b_.CreateAShr(element, number(per_byte == 2 ? 1 : 2));
  llvm::Value* part = b_.CreateAnd(element, number(per_byte - 1));
  llvm::Value* shift = b_.CreateMul(part, number(8 / per_byte));
  return {b_.CreateGEP(b_.getInt8Ty(), buffer.base, byte),
          b_.CreateTrunc(shift, element->getType()->getWithNewType(b_.getInt8Ty()))};
}

llvm::Value* Emitter::load_packed(const Buffer& buffer, const Address& where) {
  llvm::Type* byte = b_.getInt8Ty();
  const llvm::Align align(1);
  if (where.affine && is_uniform(*where.affine)) {
    auto one = [&]() -> llvm::Value* {
      const PackedPlace place = packed_place(buffer, base_of(*where.affine));
      llvm::Value* whole = tag(b_.CreateAlignedLoad(byte, place.pointer, align), buffer);
      return b_.CreateLShr(whole, place.shift);
    };
    if (mask_.lanes && mask_.may_be_empty) return guarded(any(mask_.lanes), byte, one);
    return one();
  }
  llvm::Value* elements = where.affine ? broadcast(materialise(*where.affine)) : where.lanes;
  const PackedPlace place = packed_place(buffer, elements);
  auto* bytes = llvm::FixedVectorType::get(byte, lanes_);
  llvm::Value* mask =
      mask_.lanes
          ? mask_.lanes
          : llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), lanes_));
  llvm::Value* whole = tag(
      b_.CreateMaskedGather(bytes, place.pointer, align, mask, llvm::Constant::getNullValue(bytes)),
      buffer);
  return b_.CreateLShr(whole, place.shift);
}

void Emitter::store_packed_element(const Buffer& buffer, llvm::Value* element, llvm::Value* value) {
  llvm::Type* byte = b_.getInt8Ty();
  const llvm::Align align(1);
  const PackedPlace place = packed_place(buffer, element);
  const auto ones = static_cast<std::uint8_t>((1 << (8 / buffer.per_byte)) - 1);
  // What nobody wrote yet is some value, whichever.
  llvm::Value* old = b_.CreateFreeze(tag(b_.CreateAlignedLoad(byte, place.pointer, align), buffer));
  llvm::Value* hole = b_.CreateNot(b_.CreateShl(b_.getInt8(ones), place.shift));
  llvm::Value* part = b_.CreateShl(b_.CreateAnd(value, b_.getInt8(ones)), place.shift);
  llvm::Value* fresh = b_.CreateOr(b_.CreateAnd(old, hole), part);
  tag(b_.CreateAlignedStore(fresh, place.pointer, align), buffer);
}

void Emitter::store_packed(const Buffer& buffer, const Address& where, Value value) {
  const bool uniform = where.affine && is_uniform(*where.affine);
  auto at = [&](llvm::Value* element, llvm::Value* stored) {
    return [&, element, stored]() -> llvm::Value* {
      store_packed_element(buffer, element, stored);
      return nullptr;
    };
  };
  if (uniform && !value.varying) {
    auto one = at(base_of(*where.affine), value.v);
    if (mask_.lanes && mask_.may_be_empty)
      guarded(any(mask_.lanes), b_.getVoidTy(), one);
    else
      one();
    return;
  }
  llvm::Value* elements = where.affine ? broadcast(materialise(*where.affine)) : where.lanes;
  llvm::Value* values = broadcast(value);
  for (int lane = 0; lane < lanes_; ++lane) {
    auto one = at(b_.CreateExtractElement(elements, b_.getInt64(static_cast<std::uint64_t>(lane))),
                  b_.CreateExtractElement(values, b_.getInt64(static_cast<std::uint64_t>(lane))));
    if (mask_.lanes)
      guarded(b_.CreateExtractElement(mask_.lanes, b_.getInt64(static_cast<std::uint64_t>(lane))),
              b_.getVoidTy(), one);
    else
      one();
  }
}

}  // namespace tilewright::llvm_wall

// SPDX-License-Identifier: Apache-2.0
//
// Math functions: the definitions that the interpreter runs too, instantiated over an IRBuilder.
#include "lowering/llvm/emit_wall.h"

namespace tilewright::llvm_wall {

llvm::Value* Emitter::math_function(OpCode op, ScalarType type, llvm::Value* x) {
  (void)type;
  state_.refuse(Code::UnsupportedByTarget, "`" + std::string(ir::op_info(op).text) + "` has no code yet", "");
  return llvm::PoisonValue::get(x->getType());
}

}  // namespace tilewright::llvm_wall

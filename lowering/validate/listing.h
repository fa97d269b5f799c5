// SPDX-License-Identifier: Apache-2.0
//
// A module of LLVM IR as plain data: functions, blocks, instructions, constants; nothing of LLVM in it. Types are
// flattened to lanes, layouts of structures to byte offsets. read_ir.cpp makes it from the text that code generation
// was given; execute.h runs it; mutate.h breaks it. Law: an instruction or a type that the listing has no form for
// is kept as `Unsupported` with its text, so that reaching it is a refusal and never a silence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/base/result.h"
#include "lowering/validate/sort.h"

namespace tilewright::validate {

struct Type {
  std::vector<Sort> lanes;  // empty: no value
  bool is_vector = false;
};

enum class Opcode : std::uint8_t {
#define TILEWRIGHT_OPCODE(name) name,
#include "lowering/validate/opcodes.def"
#undef TILEWRIGHT_OPCODE
};
std::string_view opcode_text(Opcode opcode);

// As bits of what may hold, so that a predicate is their union: of floats, Unordered too.
inline constexpr unsigned kEqual = 1, kGreater = 2, kLess = 4, kUnordered = 8;

using ValueId = std::uint32_t;

struct Instruction {
  Opcode opcode = Opcode::Unsupported;
  Type type;
  ValueId result = 0;
  std::vector<ValueId> operands;  // of a call: the arguments
  // Flags, whose promise a run checks: a broken one gives poison.
  bool nsw = false, nuw = false, exact = false, disjoint = false, nneg = false, inbounds = false;
  bool is_signed = false;  // of ICmp
  unsigned predicate = 0;
  std::vector<int>
      mask;  // ShuffleVector: lanes, negative where poison; ExtractValue, InsertValue: the lane
  std::vector<std::int64_t> scales;  // Gep: bytes for each operand behind the first
  std::int64_t offset = 0;  // Gep: bytes on top
  std::int64_t bytes = 0;  // Alloca
  std::int64_t align = 1;
  std::vector<std::uint32_t> blocks;  // targets of a branch; of Phi where each operand comes from
  std::vector<std::uint64_t> cases;  // Switch: the values of blocks[1..]
  std::string
      callee;  // Intrinsic, Call: its name; CallPointer: empty, the pointer is the last operand
  std::string text;
};

struct ConstantLane {
  enum class Kind : std::uint8_t { Bits, Poison, Global, Function };
  Kind kind = Kind::Bits;
  std::uint32_t index = 0;  // of the global or function
  std::uint64_t bits = 0;  // or the offset in the global
};
struct Constant {
  ValueId value = 0;
  Type type;
  std::vector<ConstantLane> lanes;
};

struct Function {
  std::string name;
  bool is_declaration = false;
  std::vector<ValueId> parameters;
  std::vector<Type> parameter_types;
  std::vector<std::vector<Instruction>> blocks;
  std::vector<std::string> labels;  // of the blocks
  std::vector<Constant> constants;
  std::vector<std::uint32_t> lanes_of;  // by value
};

struct Global {
  std::string name;
  std::string bytes;
};

struct Listing {
  std::vector<Function> functions;
  std::vector<Global> globals;
  const Function* find(std::string_view name) const;
};

// E0831 for what LLVM does not read or does not verify.
Result<Listing> read_ir(std::string_view text);

}  // namespace tilewright::validate

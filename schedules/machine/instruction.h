// SPDX-License-Identifier: Apache-2.0
//
// Described instructions: a machine instruction that works on whole tiles, as data. Its meaning is a small
// algorithm over operand tiles of literal extents, `d = c + sum of terms`; its numeric unit says which bits
// that sum has; the rest says where its operands lie and how it is emitted. `tensorize` matches that meaning,
// the interpreter of Programs executes the unit, code generation emits the instruction: one description,
// read from NAME.instruction.toml (text.h), and no other place knows an instruction by name.
// Tests: tests/unit/schedules/machine/instruction_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/base/result.h"
#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"
#include "frontend/ir/value.h"
#include "schedules/units/dot.h"

namespace tilewright::machine {

// An argument of the instruction, in the order in which the emission takes them. Its elements in row-major
// order are the lanes of one register, repeated `broadcast` times to fill it.
struct InstructionOperand {
  std::string name;  // an input of the algorithm
  std::int64_t broadcast = 1;
  friend bool operator==(const InstructionOperand&, const InstructionOperand&) = default;
};

// The numeric unit in the words of a file: units::DotUnit.
struct InstructionUnit {
  std::string kind;
  std::vector<std::int64_t> order;
  bool subnormals = true;
  friend bool operator==(const InstructionUnit&, const InstructionUnit&) = default;
};

struct Instruction {
  std::string name;
  std::string summary;
  std::string feature;  // of the processor, in LLVM's spelling
  std::string emission;  // the LLVM intrinsic: arguments are the operands, the result is the output
  std::string algorithm;  // its meaning, text of frontend/ir
  std::vector<InstructionOperand> operands;
  InstructionUnit unit;
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

// The names of all instructions, sorted.
std::vector<std::string_view> instruction_names();
// E0414 where there is none, with the names that there are.
Result<Instruction> find_instruction(std::string_view name);
// The instruction of this name, then the forms of it, NAME.FORM: the same with operands that lie otherwise.
Result<std::vector<Instruction>> find_forms(std::string_view name);

// An instruction's meaning, taken apart: result[i...] = accumulator[i...] (+) fold over t... of term.
struct Meaning {
  struct Operand {
    Symbol name;
    ir::ScalarType type = ir::ScalarType::F32;
    std::vector<std::int64_t> shape;
    // Which of `dims` each of its dimensions runs along.
    std::vector<std::size_t> dims;
    std::int64_t broadcast = 1;
  };

  ir::Algorithm algorithm;
  ir::Monoid monoid = ir::Monoid::Sum;
  ir::Expr term;  // over `dims`, reading operands
  std::vector<Symbol> dims;  // indices of the result, then variables of the fold
  std::vector<std::int64_t> lengths;  // of each
  std::size_t num_results = 0;  // how many of `dims` index the result
  std::vector<Operand> operands;  // arguments in order
  std::size_t accumulator = 0;  // which operand
  Operand result;
  std::size_t left = 0;  // the operands whose products the unit adds
  std::size_t right = 0;
  units::DotUnit unit;

  const Operand* find(Symbol operand) const;
};
// E0413 when the parts of the description contradict each other.
Result<Meaning> meaning(ir::Context& context, const Instruction& instruction);

// What the instruction computes, bit for bit. `operands` in the order of the meaning, each row-major; so is the
// result.
std::vector<ir::Scalar> execute(const Meaning& meaning,
                                const std::vector<std::vector<ir::Scalar>>& operands);

}  // namespace tilewright::machine

// SPDX-License-Identifier: Apache-2.0
#include "lowering/validate/mutate.h"

namespace tilewright::validate {

namespace {

const Constant* find_constant(const Function& function, ValueId id) {
  for (const Constant& constant : function.constants)
    if (constant.value == id) return &constant;
  return nullptr;
}

std::optional<Opcode> other_operation(Opcode opcode) {
  switch (opcode) {
    case Opcode::Add: return Opcode::Sub;
    case Opcode::Sub: return Opcode::Add;
    case Opcode::Mul: return Opcode::Add;
    case Opcode::FAdd: return Opcode::FSub;
    case Opcode::FSub: return Opcode::FAdd;
    case Opcode::FMul: return Opcode::FAdd;
    case Opcode::FDiv: return Opcode::FMul;
    case Opcode::And: return Opcode::Or;
    case Opcode::Or: return Opcode::And;
    case Opcode::Xor: return Opcode::Or;
    case Opcode::Shl: return Opcode::LShr;
    case Opcode::LShr: return Opcode::Shl;
    case Opcode::AShr: return Opcode::LShr;
    case Opcode::ZExt: return Opcode::SExt;
    case Opcode::SExt: return Opcode::ZExt;
    default: return std::nullopt;
  }
}

bool swaps(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::Sub:
    case Opcode::FSub:
    case Opcode::FDiv:
    case Opcode::ICmp:
    case Opcode::FCmp:
    case Opcode::Shl:
    case Opcode::LShr: return true;
    default: return i.callee == "llvm.fma";
  }
}

// A value of the same type that an earlier instruction of the block defines.
std::optional<ValueId> other_value(const std::vector<Instruction>& block, std::size_t at,
                                   ValueId is) {
  const Instruction* own = nullptr;
  for (std::size_t k = 0; k < at; ++k)
    if (block[k].result == is && block[k].opcode != Opcode::Store) own = &block[k];
  if (own == nullptr) return std::nullopt;
  for (std::size_t k = at; k-- > 0;)
    if (&block[k] != own && block[k].opcode != Opcode::Store &&
        block[k].type.lanes == own->type.lanes && !block[k].type.lanes.empty())
      return block[k].result;
  return std::nullopt;
}

class Finder {
 public:
  explicit Finder(std::vector<Mutation>& out) : out_(out) {}
  void visit(const Function& function, Mutation at) {
    const std::vector<Instruction>& block = function.blocks[at.block];
    const Instruction& i = block[at.instruction];
    const auto add = [&](Fault fault, std::size_t place) {
      at.fault = fault;
      at.place = place;
      out_.push_back(at);
    };
    if (swaps(i)) add(Fault::SwapOperands, i.callee == "llvm.fma" ? 1 : 0);
    if (i.opcode == Opcode::Select) add(Fault::SwapArms, 0);
    if (other_operation(i.opcode)) add(Fault::OtherOperation, 0);
    if (i.opcode == Opcode::ICmp || i.opcode == Opcode::FCmp) {
      add(Fault::OtherPredicate, kEqual);
      add(Fault::OtherPredicate, kLess | kGreater);
    }
    if (i.opcode == Opcode::Gep) {
      add(Fault::OtherOffset, 0);
      add(Fault::OtherOffset, 1);
    }
    if (i.opcode == Opcode::Store || i.callee == "llvm.masked.store") add(Fault::DropStore, 0);
    if (i.opcode == Opcode::ShuffleVector && i.mask.size() > 1) {
      add(Fault::PermuteLanes, 0);
      add(Fault::PermuteLanes, i.mask.size() / 2);
    }
    if (i.opcode == Opcode::Br && i.blocks.size() == 2) add(Fault::SwapBranch, 0);
    for (std::size_t o = 0; o < i.operands.size(); ++o) {
      const Constant* constant = find_constant(function, i.operands[o]);
      if (constant && constant->lanes[0].kind == ConstantLane::Kind::Bits &&
          constant->type.lanes[0] != kPointer && i.opcode != Opcode::Phi)
        add(Fault::OtherConstant, o);
      if (i.opcode != Opcode::Phi && other_value(block, at.instruction, i.operands[o]))
        add(Fault::OtherOperand, o);
    }
  }

 private:
  std::vector<Mutation>& out_;
};

}  // namespace

std::string_view fault_text(Fault fault) {
  static constexpr std::string_view kTexts[kNumFaults] = {
      "swap_operands", "swap_arms",  "other_operation", "other_predicate", "other_constant",
      "other_offset",  "drop_store", "permute_lanes",   "other_operand",   "swap_branch"};
  return kTexts[static_cast<std::size_t>(fault)];
}

std::vector<Mutation> mutations(const Listing& listing, std::string_view prefix) {
  std::vector<Mutation> out;
  Finder finder(out);
  for (std::size_t f = 0; f < listing.functions.size(); ++f) {
    const Function& function = listing.functions[f];
    if (!function.name.starts_with(prefix)) continue;
    for (std::size_t b = 0; b < function.blocks.size(); ++b)
      for (std::size_t i = 0; i < function.blocks[b].size(); ++i)
        finder.visit(function, {Fault::SwapOperands, f, b, i, 0});
  }
  return out;
}

Listing mutated(const Listing& listing, const Mutation& m) {
  Listing out = listing;
  Function& function = out.functions[m.function];
  std::vector<Instruction>& block = function.blocks[m.block];
  Instruction& i = block[m.instruction];
  switch (m.fault) {
    case Fault::SwapOperands: std::swap(i.operands[m.place], i.operands[m.place + 1]); break;
    case Fault::SwapArms: std::swap(i.operands[1], i.operands[2]); break;
    case Fault::OtherOperation:
      i.opcode = *other_operation(i.opcode);
      i.nsw = i.nuw = i.exact = i.disjoint = i.nneg = false;
      break;
    case Fault::OtherPredicate: i.predicate ^= static_cast<unsigned>(m.place); break;
    case Fault::OtherOffset: {
      const std::int64_t unit = i.scales.empty() || i.scales[0] == 0 ? 4 : i.scales[0];
      i.offset += m.place == 0 ? unit : -unit;
      break;
    }
    case Fault::DropStore:
      block.erase(block.begin() + static_cast<std::ptrdiff_t>(m.instruction));
      break;
    case Fault::PermuteLanes: {
      const std::size_t other = (m.place + 1) % i.mask.size();
      if (i.mask[m.place] == i.mask[other])
        i.mask[m.place] = (i.mask[m.place] + 1) % static_cast<int>(i.mask.size());
      else
        std::swap(i.mask[m.place], i.mask[other]);
      break;
    }
    case Fault::SwapBranch: std::swap(i.blocks[0], i.blocks[1]); break;
    case Fault::OtherOperand:
      i.operands[m.place] = *other_value(block, m.instruction, i.operands[m.place]);
      break;
    case Fault::OtherConstant: {
      Constant fresh = *find_constant(function, i.operands[m.place]);
      fresh.value = static_cast<ValueId>(function.lanes_of.size());
      function.lanes_of.push_back(static_cast<std::uint32_t>(fresh.lanes.size()));
      ConstantLane& lane = fresh.lanes[0];
      // The next number; of a bit the other one.
      lane.bits = (lane.bits + 1) & mask_of(fresh.type.lanes[0].bits);
      function.constants.push_back(fresh);
      i.operands[m.place] = fresh.value;
      break;
    }
  }
  return out;
}

std::string mutation_text(const Listing& listing, const Mutation& m) {
  const Function& function = listing.functions[m.function];
  return std::string(fault_text(m.fault)) + " " + std::to_string(m.place) + " in " + function.name +
         ": " + function.blocks[m.block][m.instruction].text;
}

}  // namespace tilewright::validate

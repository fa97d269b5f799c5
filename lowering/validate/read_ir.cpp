// SPDX-License-Identifier: Apache-2.0
//
// LLVM IR to a listing; no other file of this room sees LLVM.
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ModuleSlotTracker.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <unordered_map>

#include "lowering/validate/listing.h"

namespace tilewright::validate {

namespace {

Failure unreadable(std::string what) {
  return fail(Code::CodeUnreadable, {}, std::move(what),
              "give the optimised LLVM IR that `tilewright compile --emit llvm` writes");
}

std::optional<Sort> sort_of(const llvm::Type& type) {
  if (type.isIntegerTy()) {
    const unsigned bits = type.getIntegerBitWidth();
    if (bits > 64) return std::nullopt;
    return int_sort(static_cast<int>(bits));
  }
  // Nothing computes with it: bits alone.
  if (type.isBFloatTy()) return int_sort(16);
  if (type.isHalfTy()) return kF16;
  if (type.isFloatTy()) return kF32;
  if (type.isDoubleTy()) return kF64;
  if (type.isPointerTy()) return kPointer;
  return std::nullopt;
}

// False where a lane has no sort.
bool flatten(const llvm::Type& type, std::vector<Sort>* lanes) {
  if (type.isVoidTy()) return true;
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type)) {
    const auto sort = sort_of(*vector->getElementType());
    if (!sort) return false;
    lanes->insert(lanes->end(), vector->getNumElements(), *sort);
    return true;
  }
  if (const auto* structure = llvm::dyn_cast<llvm::StructType>(&type)) {
    for (const llvm::Type* member : structure->elements())
      if (!flatten(*member, lanes)) return false;
    return true;
  }
  const auto sort = sort_of(type);
  if (sort) lanes->push_back(*sort);
  return sort.has_value();
}

unsigned icmp_predicate(llvm::CmpInst::Predicate p) {
  using P = llvm::CmpInst::Predicate;
  switch (p) {
    case P::ICMP_EQ: return kEqual;
    case P::ICMP_NE: return kLess | kGreater;
    case P::ICMP_UGT:
    case P::ICMP_SGT: return kGreater;
    case P::ICMP_UGE:
    case P::ICMP_SGE: return kGreater | kEqual;
    case P::ICMP_ULT:
    case P::ICMP_SLT: return kLess;
    default: return kLess | kEqual;
  }
}

class Reader {
 public:
  explicit Reader(llvm::Module& module)
      : module_(module), layout_(module.getDataLayout()), slots_(&module) {}

  Listing read() {
    for (const llvm::GlobalVariable& global : module_.globals()) {
      globals_[&global] = static_cast<std::uint32_t>(out_.globals.size());
      Global one{std::string(global.getName()), {}};
      if (global.hasInitializer())
        if (const auto* data =
                llvm::dyn_cast<llvm::ConstantDataSequential>(global.getInitializer()))
          one.bytes = std::string(data->getRawDataValues());
      if (global.hasInitializer() &&
          llvm::isa<llvm::ConstantAggregateZero>(global.getInitializer()))
        one.bytes.assign(layout_.getTypeAllocSize(global.getValueType()), '\0');
      out_.globals.push_back(std::move(one));
    }
    for (const llvm::Function& function : module_) {
      functions_[&function] = static_cast<std::uint32_t>(functions_.size());
    }
    for (llvm::Function& function : module_) read(function);
    return std::move(out_);
  }

 private:
  void read(llvm::Function& function) {
    Function f;
    f.name = std::string(function.getName());
    f.is_declaration = function.isDeclaration();
    current_ = &f;
    values_.clear();
    blocks_.clear();
    for (const llvm::Argument& argument : function.args()) {
      f.parameters.push_back(define(argument));
      Type type;
      flatten(*argument.getType(), &type.lanes);
      type.is_vector = argument.getType()->isVectorTy();
      f.parameter_types.push_back(std::move(type));
    }
    if (!f.is_declaration) {
      slots_.incorporateFunction(function);
      for (const llvm::BasicBlock& block : function) {
        blocks_[&block] = static_cast<std::uint32_t>(blocks_.size());
        f.labels.emplace_back(block.getName());
      }
      for (const llvm::BasicBlock& block : function)
        for (const llvm::Instruction& instruction : block) define(instruction);
      f.blocks.resize(blocks_.size());
      for (const llvm::BasicBlock& block : function)
        for (const llvm::Instruction& instruction : block)
          f.blocks[blocks_[&block]].push_back(read(instruction));
    }
    out_.functions.push_back(std::move(f));
  }

  ValueId define(const llvm::Value& value) {
    const auto id = static_cast<ValueId>(current_->lanes_of.size());
    values_[&value] = id;
    std::vector<Sort> lanes;
    if (!flatten(*value.getType(), &lanes)) lanes.clear();
    current_->lanes_of.push_back(static_cast<std::uint32_t>(lanes.size()));
    return id;
  }

  // None: the operand has no form here.
  std::optional<ValueId> operand(const llvm::Value& value) {
    if (const auto it = values_.find(&value); it != values_.end()) return it->second;
    const auto* constant = llvm::dyn_cast<llvm::Constant>(&value);
    if (constant == nullptr) return std::nullopt;
    Constant out;
    out.type.is_vector = value.getType()->isVectorTy();
    if (!flatten(*value.getType(), &out.type.lanes) || !lanes_of(*constant, &out.lanes) ||
        out.lanes.size() != out.type.lanes.size())
      return std::nullopt;
    out.value = define(value);
    current_->constants.push_back(out);
    return out.value;
  }

  bool lanes_of(const llvm::Constant& constant, std::vector<ConstantLane>* lanes) {
    using Kind = ConstantLane::Kind;
    if (llvm::isa<llvm::UndefValue>(constant)) {  // poison is one
      std::vector<Sort> sorts;
      if (!flatten(*constant.getType(), &sorts)) return false;
      lanes->insert(lanes->end(), sorts.size(), {Kind::Poison, 0, 0});
      return true;
    }
    if (constant.getType()->isVectorTy() || constant.getType()->isStructTy()) {
      const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(constant.getType());
      const unsigned n =
          vector ? vector->getNumElements() : constant.getType()->getStructNumElements();
      for (unsigned i = 0; i < n; ++i) {
        const llvm::Constant* element = constant.getAggregateElement(i);
        if (element == nullptr || !lanes_of(*element, lanes)) return false;
      }
      return true;
    }
    if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&constant)) {
      if (number->getBitWidth() > 64) return false;
      lanes->push_back({Kind::Bits, 0, number->getZExtValue()});
      return true;
    }
    if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(&constant)) {
      const llvm::APInt bits = number->getValueAPF().bitcastToAPInt();
      if (bits.getBitWidth() > 64) return false;
      lanes->push_back({Kind::Bits, 0, bits.getZExtValue()});
      return true;
    }
    if (llvm::isa<llvm::ConstantPointerNull>(constant)) {
      lanes->push_back({Kind::Bits, 0, 0});
      return true;
    }
    if (!constant.getType()->isPointerTy()) return false;
    llvm::APInt offset(64, 0);
    const llvm::Value* base =
        constant.stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
    if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(base)) {
      lanes->push_back({Kind::Global, globals_.at(global), offset.getZExtValue()});
      return true;
    }
    if (const auto* function = llvm::dyn_cast<llvm::Function>(base); function && offset.isZero()) {
      lanes->push_back({Kind::Function, functions_.at(function), 0});
      return true;
    }
    return false;
  }

  Instruction read(const llvm::Instruction& from) {
    Instruction to;
    llvm::raw_string_ostream stream(to.text);
    from.print(stream, slots_);
    while (to.text.starts_with(' ')) to.text.erase(0, 1);
    if (const std::size_t end = to.text.find(", !"); end != std::string::npos) to.text.resize(end);
    to.result = values_.at(&from);
    to.type.is_vector = from.getType()->isVectorTy();
    if (!flatten(*from.getType(), &to.type.lanes)) return unsupported(std::move(to));
    if (promises(from) || from.isVolatile()) return unsupported(std::move(to));
    if (!fill(from, to)) return unsupported(std::move(to));
    return to;
  }

  // Metadata that makes a value poison or an execution undefined, or lets a result be inexact.
  static bool promises(const llvm::Instruction& from) {
    using C = llvm::LLVMContext;
    for (const unsigned kind : {C::MD_range, C::MD_nonnull, C::MD_noundef, C::MD_align,
                                C::MD_dereferenceable, C::MD_dereferenceable_or_null, C::MD_fpmath})
      if (from.hasMetadata(kind)) return true;
    return false;
  }

  // Whether the function lets floats be computed in another way than IEEE's.
  static bool is_loose(const llvm::Function& function) {
    for (const char* name : {"unsafe-fp-math", "no-nans-fp-math", "no-infs-fp-math",
                             "no-signed-zeros-fp-math", "approx-func-fp-math"})
      if (function.getFnAttribute(name).getValueAsBool()) return true;
    for (const char* name : {"denormal-fp-math", "denormal-fp-math-f32"}) {
      const llvm::StringRef mode = function.getFnAttribute(name).getValueAsString();
      if (!mode.empty() && mode != "ieee" && mode != "ieee,ieee") return true;
    }
    return function.hasFnAttribute(llvm::Attribute::StrictFP);
  }

  static Instruction unsupported(Instruction instruction) {
    instruction.opcode = Opcode::Unsupported;
    return instruction;
  }

  bool add_operands(const llvm::Instruction& from, Instruction& to, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      const auto id = operand(*from.getOperand(i));
      if (!id) return false;
      to.operands.push_back(*id);
    }
    return true;
  }

  bool fill(const llvm::Instruction& from, Instruction& to) {
    using I = llvm::Instruction;
    if (const auto* math = llvm::dyn_cast<llvm::FPMathOperator>(&from))
      if (math->getFastMathFlags().any() || is_loose(*from.getFunction())) return false;
    const auto brain = [](const llvm::Value* v) {
      return v->getType()->getScalarType()->isBFloatTy();
    };
    const bool moves = llvm::isa<llvm::BitCastInst, llvm::LoadInst, llvm::StoreInst, llvm::PHINode,
                                 llvm::SelectInst, llvm::ShuffleVectorInst, llvm::InsertElementInst,
                                 llvm::ExtractElementInst, llvm::CallInst>(from);
    if (!moves && (brain(&from) || llvm::any_of(from.operand_values(), brain))) return false;
    flags(from, to);
    switch (from.getOpcode()) {
#define TILEWRIGHT_SAME(Llvm, Ours) \
  case I::Llvm: to.opcode = Opcode::Ours; return add_operands(from, to, from.getNumOperands())
      TILEWRIGHT_SAME(Add, Add);
      TILEWRIGHT_SAME(Sub, Sub);
      TILEWRIGHT_SAME(Mul, Mul);
      TILEWRIGHT_SAME(UDiv, UDiv);
      TILEWRIGHT_SAME(SDiv, SDiv);
      TILEWRIGHT_SAME(URem, URem);
      TILEWRIGHT_SAME(SRem, SRem);
      TILEWRIGHT_SAME(Shl, Shl);
      TILEWRIGHT_SAME(LShr, LShr);
      TILEWRIGHT_SAME(AShr, AShr);
      TILEWRIGHT_SAME(And, And);
      TILEWRIGHT_SAME(Or, Or);
      TILEWRIGHT_SAME(Xor, Xor);
      TILEWRIGHT_SAME(FAdd, FAdd);
      TILEWRIGHT_SAME(FSub, FSub);
      TILEWRIGHT_SAME(FMul, FMul);
      TILEWRIGHT_SAME(FDiv, FDiv);
      TILEWRIGHT_SAME(FNeg, FNeg);
      TILEWRIGHT_SAME(Select, Select);
      TILEWRIGHT_SAME(Trunc, Trunc);
      TILEWRIGHT_SAME(ZExt, ZExt);
      TILEWRIGHT_SAME(SExt, SExt);
      TILEWRIGHT_SAME(FPTrunc, FPTrunc);
      TILEWRIGHT_SAME(FPExt, FPExt);
      TILEWRIGHT_SAME(FPToUI, FPToUI);
      TILEWRIGHT_SAME(FPToSI, FPToSI);
      TILEWRIGHT_SAME(UIToFP, UIToFP);
      TILEWRIGHT_SAME(SIToFP, SIToFP);
      TILEWRIGHT_SAME(PtrToInt, PtrToInt);
      TILEWRIGHT_SAME(BitCast, BitCast);
      TILEWRIGHT_SAME(Freeze, Freeze);
      TILEWRIGHT_SAME(ExtractElement, ExtractElement);
      TILEWRIGHT_SAME(InsertElement, InsertElement);
      TILEWRIGHT_SAME(Ret, Ret);
      TILEWRIGHT_SAME(Unreachable, Unreachable);
#undef TILEWRIGHT_SAME
      case I::ICmp: {
        const auto& compare = llvm::cast<llvm::ICmpInst>(from);
        to.opcode = Opcode::ICmp;
        to.predicate = icmp_predicate(compare.getPredicate());
        to.is_signed = compare.isSigned();
        return add_operands(from, to, 2);
      }
      case I::FCmp:
        to.opcode = Opcode::FCmp;
        // LLVM's number has the same bits.
        to.predicate = static_cast<unsigned>(llvm::cast<llvm::FCmpInst>(from).getPredicate());
        return add_operands(from, to, 2);
      case I::ShuffleVector: {
        const auto& shuffle = llvm::cast<llvm::ShuffleVectorInst>(from);
        to.opcode = Opcode::ShuffleVector;
        to.mask.assign(shuffle.getShuffleMask().begin(), shuffle.getShuffleMask().end());
        return add_operands(from, to, 2);
      }
      case I::Load: {
        const auto& load = llvm::cast<llvm::LoadInst>(from);
        to.opcode = Opcode::Load;
        to.align = static_cast<std::int64_t>(load.getAlign().value());
        return add_operands(from, to, 1);
      }
      case I::Store: {
        const auto& store = llvm::cast<llvm::StoreInst>(from);
        to.opcode = Opcode::Store;
        to.align = static_cast<std::int64_t>(store.getAlign().value());
        std::vector<Sort> lanes;
        if (!flatten(*store.getValueOperand()->getType(), &lanes)) return false;
        to.type.lanes = lanes;
        to.type.is_vector = store.getValueOperand()->getType()->isVectorTy();
        return add_operands(from, to, 2);
      }
      case I::Alloca: {
        const auto& alloca = llvm::cast<llvm::AllocaInst>(from);
        const auto size = alloca.getAllocationSize(layout_);
        if (!size || size->isScalable()) return false;
        to.opcode = Opcode::Alloca;
        to.bytes = static_cast<std::int64_t>(size->getFixedValue());
        to.align = static_cast<std::int64_t>(alloca.getAlign().value());
        return true;
      }
      case I::GetElementPtr: return gep(llvm::cast<llvm::GetElementPtrInst>(from), to);
      case I::ExtractValue:
      case I::InsertValue: return member(from, to);
      case I::PHI: {
        const auto& phi = llvm::cast<llvm::PHINode>(from);
        to.opcode = Opcode::Phi;
        for (const llvm::BasicBlock* block : phi.blocks()) to.blocks.push_back(blocks_.at(block));
        return add_operands(from, to, phi.getNumIncomingValues());
      }
      case I::Br: {
        const auto& branch = llvm::cast<llvm::BranchInst>(from);
        to.opcode = Opcode::Br;
        for (unsigned i = 0; i < branch.getNumSuccessors(); ++i)
          to.blocks.push_back(blocks_.at(branch.getSuccessor(i)));
        return !branch.isConditional() || add_operands(from, to, 1);
      }
      case I::Switch: {
        const auto& choice = llvm::cast<llvm::SwitchInst>(from);
        to.opcode = Opcode::Switch;
        to.blocks.push_back(blocks_.at(choice.getDefaultDest()));
        for (const auto& one : choice.cases()) {
          to.cases.push_back(one.getCaseValue()->getZExtValue());
          to.blocks.push_back(blocks_.at(one.getCaseSuccessor()));
        }
        return add_operands(from, to, 1);
      }
      case I::Call: return call(llvm::cast<llvm::CallInst>(from), to);
      default: return false;
    }
  }

  static void flags(const llvm::Instruction& from, Instruction& to) {
    if (const auto* o = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&from)) {
      to.nsw = o->hasNoSignedWrap();
      to.nuw = o->hasNoUnsignedWrap();
    }
    if (const auto* t = llvm::dyn_cast<llvm::TruncInst>(&from)) {
      to.nsw = t->hasNoSignedWrap();
      to.nuw = t->hasNoUnsignedWrap();
    }
    if (const auto* e = llvm::dyn_cast<llvm::PossiblyExactOperator>(&from)) to.exact = e->isExact();
    if (const auto* d = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&from))
      to.disjoint = d->isDisjoint();
    if (const auto* n = llvm::dyn_cast<llvm::PossiblyNonNegInst>(&from)) to.nneg = n->hasNonNeg();
    // samesign: a signed and an unsigned comparison agree.
    if (const auto* c = llvm::dyn_cast<llvm::ICmpInst>(&from)) to.disjoint = c->hasSameSign();
  }

  bool gep(const llvm::GetElementPtrInst& from, Instruction& to) {
    to.opcode = Opcode::Gep;
    to.inbounds = from.isInBounds();
    llvm::SmallMapVector<llvm::Value*, llvm::APInt, 4> variable;
    const auto base = operand(*from.getPointerOperand());
    if (!base) return false;
    to.operands.push_back(*base);
    // A vector of indices is one of addresses; its element type is always a scalar here.
    const llvm::Type* type = from.getSourceElementType();
    if (from.getNumIndices() == 1) {
      const std::uint64_t size = layout_.getTypeAllocSize(const_cast<llvm::Type*>(type));
      const llvm::Value* index = from.idx_begin()->get();
      if (const auto* c = llvm::dyn_cast<llvm::ConstantInt>(index)) {
        to.offset = c->getSExtValue() * static_cast<std::int64_t>(size);
        return true;
      }
      const auto id = operand(*index);
      if (!id || !index->getType()->getScalarType()->isIntegerTy(64)) return false;
      to.operands.push_back(*id);
      to.scales.push_back(static_cast<std::int64_t>(size));
      return true;
    }
    llvm::APInt constant(64, 0);
    if (!from.collectOffset(layout_, 64, variable, constant)) return false;
    to.offset = constant.getSExtValue();
    for (const auto& [index, scale] : variable) {
      const auto id = operand(*index);
      if (!id || !index->getType()->getScalarType()->isIntegerTy(64)) return false;
      to.operands.push_back(*id);
      to.scales.push_back(scale.getSExtValue());
    }
    return true;
  }

  bool member(const llvm::Instruction& from, Instruction& to) {
    const auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&from);
    const auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&from);
    const auto indices = extract ? extract->getIndices() : insert->getIndices();
    if (indices.size() != 1) return false;
    const auto* structure = llvm::dyn_cast<llvm::StructType>(from.getOperand(0)->getType());
    if (structure == nullptr) return false;
    std::vector<Sort> before;
    for (unsigned i = 0; i < indices[0]; ++i)
      if (!flatten(*structure->getElementType(i), &before)) return false;
    to.opcode = extract ? Opcode::ExtractValue : Opcode::InsertValue;
    to.mask = {static_cast<int>(before.size())};
    return add_operands(from, to, from.getNumOperands());
  }

  bool call(const llvm::CallInst& from, Instruction& to) {
    if (from.isInlineAsm() || from.hasOperandBundles()) return false;
    const auto* callee = llvm::dyn_cast<llvm::Function>(from.getCalledOperand());
    for (const llvm::Use& argument : from.args()) {
      const auto id = operand(*argument);
      if (!id) return false;
      to.operands.push_back(*id);
    }
    if (callee == nullptr) {
      const auto pointer = operand(*from.getCalledOperand());
      if (!pointer) return false;
      to.operands.push_back(*pointer);
      to.opcode = Opcode::CallPointer;
      return true;
    }
    to.opcode = callee->isIntrinsic() ? Opcode::Intrinsic : Opcode::Call;
    to.callee = callee->isIntrinsic()
                    ? std::string(llvm::Intrinsic::getBaseName(callee->getIntrinsicID()))
                    : std::string(callee->getName());
    if (callee->isIntrinsic())
      for (unsigned i = 0; i < from.arg_size(); ++i)
        if (const auto align = from.getParamAlign(i))
          to.align = static_cast<std::int64_t>(align->value());
    return true;
  }

  llvm::Module& module_;
  const llvm::DataLayout& layout_;
  llvm::ModuleSlotTracker slots_;
  Listing out_;
  Function* current_ = nullptr;
  std::unordered_map<const llvm::Value*, ValueId> values_;
  std::unordered_map<const llvm::BasicBlock*, std::uint32_t> blocks_;
  std::unordered_map<const llvm::GlobalVariable*, std::uint32_t> globals_;
  std::unordered_map<const llvm::Function*, std::uint32_t> functions_;
};

}  // namespace

Result<Listing> read_ir(std::string_view text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module =
      llvm::parseAssemblyString(llvm::StringRef(text.data(), text.size()), error, context);
  if (module == nullptr)
    return unreadable("line " + std::to_string(error.getLineNo()) +
                      " is not LLVM IR: " + std::string(error.getMessage()));
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(*module, &stream)) return unreadable("malformed LLVM IR: " + broken);
  if (!module->getDataLayout().isLittleEndian() ||
      module->getDataLayout().getPointerSizeInBits() != 64)
    return unreadable("LLVM IR for a machine that is not little-endian of 64 bits");
  return Reader(*module).read();
}

const Function* Listing::find(std::string_view name) const {
  for (const Function& function : functions)
    if (function.name == name) return &function;
  return nullptr;
}

std::string_view opcode_text(Opcode opcode) {
  static constexpr std::string_view kTexts[] = {
#define TILEWRIGHT_OPCODE(name) #name,
#include "lowering/validate/opcodes.def"
#undef TILEWRIGHT_OPCODE
  };
  return kTexts[static_cast<std::size_t>(opcode)];
}

}  // namespace tilewright::validate

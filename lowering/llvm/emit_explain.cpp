// SPDX-License-Identifier: Apache-2.0
//
// NAME_explain: which variant runs and why, and which check refuses a call, as text in the caller's buffer. Laws:
// the text is cut to fit and terminated, its whole length is told; nothing but the buffer is written; the
// variant that is named is the one that NAME runs, by the same conditions.
#include "frontend/ir/text.h"
#include "lowering/llvm/abi_wall.h"
#include "lowering/llvm/entry_wall.h"
#include "lowering/program/explain.h"

namespace tilewright::llvm_wall {

namespace {

// Members of TextWriter::state.
enum Member : unsigned { kBuffer, kSize, kLength };

// Emits the writer's functions: straight code on the base processor, in bytes, since a library calls nothing.
class WriterMaker {
 public:
  explicit WriterMaker(ModuleState& state)
      : state_(state), c_(state.llvm), b_(state.llvm), ptr_(b_.getPtrTy()), i64_(b_.getInt64Ty()) {}

  TextWriter make() {
    out_.state = llvm::StructType::get(c_, {ptr_, i64_, i64_});
    make_put_byte();
    make_put_text();
    make_put_number();
    make_put_numbers();
    make_finish();
    return out_;
  }

 private:
  llvm::Function* begin(const char* name, llvm::ArrayRef<llvm::Type*> types) {
    function_ = llvm::Function::Create(
        llvm::FunctionType::get(b_.getVoidTy(), types, false), llvm::GlobalValue::InternalLinkage,
        std::string(state_.program.name.text()) + "." + name, state_.module);
    for (auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind,
                           llvm::Attribute::Cold, llvm::Attribute::OptimizeForSize})
      function_->addFnAttr(attribute);
    function_->addFnAttr("no-builtins");
    b_.SetInsertPoint(block("entry"));
    return function_;
  }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(c_, name, function_);
  }
  llvm::Value* member(Member which) {
    return b_.CreateStructGEP(out_.state, function_->getArg(0), which);
  }
  llvm::Value* text_at(llvm::Value* text, llvm::Value* index) {
    return b_.CreateGEP(b_.getInt8Ty(), text, index);
  }

  // The last byte of the buffer is for the end of the text.
  void make_put_byte() {
    put_byte_ = begin("put_byte", {ptr_, b_.getInt8Ty()});
    llvm::Value* length = b_.CreateLoad(i64_, member(kLength));
    llvm::Value* next = b_.CreateAdd(length, b_.getInt64(1));
    llvm::BasicBlock* fits = block("fits");
    llvm::BasicBlock* done = block("done");
    b_.CreateStore(next, member(kLength));
    b_.CreateCondBr(b_.CreateICmpULT(next, b_.CreateLoad(i64_, member(kSize))), fits, done);
    b_.SetInsertPoint(fits);
    b_.CreateStore(function_->getArg(1), text_at(b_.CreateLoad(ptr_, member(kBuffer)), length));
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    b_.CreateRetVoid();
  }

  void make_put_text() {
    out_.put_text = begin("put_text", {ptr_, ptr_});
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* loop = block("loop");
    llvm::BasicBlock* more = block("more");
    llvm::BasicBlock* done = block("done");
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode* i = b_.CreatePHI(i64_, 2);
    i->addIncoming(b_.getInt64(0), before);
    llvm::Value* byte = b_.CreateLoad(b_.getInt8Ty(), text_at(function_->getArg(1), i));
    b_.CreateCondBr(b_.CreateICmpEQ(byte, b_.getInt8(0)), done, more);
    b_.SetInsertPoint(more);
    b_.CreateCall(put_byte_, {function_->getArg(0), byte});
    i->addIncoming(b_.CreateAdd(i, b_.getInt64(1)), more);
    b_.CreateBr(loop);
    b_.SetInsertPoint(done);
    b_.CreateRetVoid();
  }

  // Digits from the last to the first, then the other way round.
  void make_put_number() {
    constexpr std::uint64_t kDigits = 20;
    out_.put_number = begin("put_number", {ptr_, i64_});
    llvm::Value* digits = b_.CreateAlloca(b_.getInt8Ty(), b_.getInt64(kDigits));
    llvm::Value* negative = b_.CreateICmpSLT(function_->getArg(1), b_.getInt64(0));
    llvm::Value* magnitude =
        b_.CreateSelect(negative, b_.CreateNeg(function_->getArg(1)), function_->getArg(1));
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* loop = block("digit");
    llvm::BasicBlock* sign = block("sign");
    llvm::BasicBlock* minus = block("minus");
    llvm::BasicBlock* print = block("print");
    llvm::BasicBlock* done = block("done");
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode* rest = b_.CreatePHI(i64_, 2);
    llvm::PHINode* at = b_.CreatePHI(i64_, 2);
    rest->addIncoming(magnitude, before);
    at->addIncoming(b_.getInt64(kDigits), before);
    llvm::Value* left = b_.CreateUDiv(rest, b_.getInt64(10));
    llvm::Value* digit = b_.CreateTrunc(b_.CreateURem(rest, b_.getInt64(10)), b_.getInt8Ty());
    llvm::Value* place = b_.CreateSub(at, b_.getInt64(1));
    b_.CreateStore(b_.CreateAdd(digit, b_.getInt8('0')), text_at(digits, place));
    rest->addIncoming(left, loop);
    at->addIncoming(place, loop);
    b_.CreateCondBr(b_.CreateICmpEQ(left, b_.getInt64(0)), sign, loop);
    b_.SetInsertPoint(sign);
    b_.CreateCondBr(negative, minus, print);
    b_.SetInsertPoint(minus);
    b_.CreateCall(put_byte_, {function_->getArg(0), b_.getInt8('-')});
    b_.CreateBr(print);
    b_.SetInsertPoint(print);
    llvm::PHINode* i = b_.CreatePHI(i64_, 3);
    i->addIncoming(place, sign);
    i->addIncoming(place, minus);
    llvm::Value* byte = b_.CreateLoad(b_.getInt8Ty(), text_at(digits, i));
    b_.CreateCall(put_byte_, {function_->getArg(0), byte});
    llvm::Value* next = b_.CreateAdd(i, b_.getInt64(1));
    i->addIncoming(next, print);
    b_.CreateCondBr(b_.CreateICmpEQ(next, b_.getInt64(kDigits)), done, print);
    b_.SetInsertPoint(done);
    b_.CreateRetVoid();
  }

  void make_put_numbers() {
    llvm::Function* function = begin("put_numbers", {ptr_, i64_, i64_});
    out_.put_numbers = function;
    auto* writer = function->getArg(0);
    llvm::Value* both = b_.CreateOr(function->getArg(1), function->getArg(2));
    llvm::BasicBlock* none = block("none");
    llvm::BasicBlock* some = block("some");
    b_.CreateCondBr(b_.CreateICmpEQ(both, b_.getInt64(0)), none, some);
    b_.SetInsertPoint(none);
    b_.CreateRetVoid();
    b_.SetInsertPoint(some);
    b_.CreateCall(out_.put_text, {writer, state_.text(": expected ")});
    b_.CreateCall(out_.put_number, {writer, function->getArg(1)});
    b_.CreateCall(out_.put_text, {writer, state_.text(", got ")});
    b_.CreateCall(out_.put_number, {writer, function->getArg(2)});
    b_.CreateRetVoid();
  }

  void make_finish() {
    out_.finish = begin("finish", {ptr_, ptr_});
    llvm::BasicBlock* end = block("end");
    llvm::BasicBlock* ended = block("ended");
    llvm::BasicBlock* tell = block("tell");
    llvm::BasicBlock* done = block("done");
    llvm::Value* length = b_.CreateLoad(i64_, member(kLength));
    llvm::Value* size = b_.CreateLoad(i64_, member(kSize));
    b_.CreateCondBr(b_.CreateICmpEQ(size, b_.getInt64(0)), ended, end);
    b_.SetInsertPoint(end);
    llvm::Value* last = b_.CreateSub(size, b_.getInt64(1));
    llvm::Value* place = b_.CreateSelect(b_.CreateICmpULT(length, last), length, last);
    b_.CreateStore(b_.getInt8(0), text_at(b_.CreateLoad(ptr_, member(kBuffer)), place));
    b_.CreateBr(ended);
    b_.SetInsertPoint(ended);
    b_.CreateCondBr(b_.CreateIsNull(function_->getArg(1)), done, tell);
    b_.SetInsertPoint(tell);
    b_.CreateStore(length, function_->getArg(1));
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    b_.CreateRetVoid();
  }

  ModuleState& state_;
  llvm::LLVMContext& c_;
  llvm::IRBuilder<> b_;
  llvm::PointerType* ptr_;
  llvm::IntegerType* i64_;
  llvm::Function* function_ = nullptr;
  llvm::Function* put_byte_ = nullptr;
  TextWriter out_;
};

}  // namespace

TextWriter make_text_writer(ModuleState& state) { return WriterMaker(state).make(); }

// Sets up the writer, over no bytes at all where there is no buffer, and writes the table.
void Entry::begin_explain() {
  const auto n = static_cast<unsigned>(tensors_.size());
  llvm::StructType* type = callees_.writer.state;
  writer_ = b().CreateAlloca(type);
  llvm::Value* text = function_->getArg(1 + n);
  llvm::Value* size = b().CreateSelect(b().CreateIsNull(text), i64(0), function_->getArg(2 + n));
  b().CreateStore(text, b().CreateStructGEP(type, writer_, kBuffer));
  b().CreateStore(size, b().CreateStructGEP(type, writer_, kSize));
  b().CreateStore(i64(0), b().CreateStructGEP(type, writer_, kLength));
  std::vector<llvm::Value*> args{function_->getArg(0)};
  for (const Tensor& tensor : tensors_) args.push_back(tensor.descriptor);
  args.push_back(writer_);
  b().CreateCall(callees_.table, args);
}

void Entry::put_refusal(const Check& c, llvm::Value* expected, llvm::Value* got,
                        std::int32_t status) {
  put(program::refusal_text(state_.program, c, status));
  if (expected && got && c.kind != program::CheckKind::Call)
    b().CreateCall(callees_.writer.put_numbers, {writer_, widen(expected), widen(got)});
  put("\n");
  b().CreateCall(callees_.writer.finish,
                 {writer_, function_->getArg(static_cast<unsigned>(tensors_.size()) + 3)});
}

// "`M <= 4` fails (7 <= 4)".
void Entry::put_condition(Expr condition) {
  llvm::Value* overflow = nullptr;
  llvm::Value* value = evaluate_checked(condition, &overflow);
  llvm::Value* holds = b().CreateAnd(value, b().CreateNot(overflow));
  const std::string shown = "`" + ir::print(condition) + "`";
  put(b().CreateSelect(holds, state_.text(shown + " holds"), state_.text(shown + " fails")));
  const ir::Op* comparison = program::as_comparison(condition);
  if (!comparison) return;
  put(" (");
  put_number(evaluate_checked(comparison->args[0], &overflow));
  put(" " + std::string(ir::op_info(comparison->op).text) + " ");
  put_number(evaluate_checked(comparison->args[1], &overflow));
  put(")");
}

void Entry::put_table() {
  std::string before = std::string(state_.program.name.text()) + ": ";
  for (const ir::ExtentDecl& extent : state_.program.extents) {
    put(before + std::string(extent.name.text()) + " = ");
    put_number(extents_.at(extent.name));
    before = ", ";
  }
  put(state_.program.extents.empty() ? before + "no extents\n" : "\n");
  llvm::Value* taken = b().getFalse();
  for (std::size_t i = 0; i < dispatch_.variants.size(); ++i) {
    const program::Variant& variant = dispatch_.variants[i];
    llvm::Value* runs = b().CreateAnd(holds_[i], b().CreateNot(taken));
    const auto words = program::row_words(variant);
    put(b().CreateSelect(
        runs, state_.text(words.runs),
        b().CreateSelect(taken, state_.text(words.later), state_.text(words.fails))));
    for (std::size_t g = 0; g < variant.guard.size(); ++g) {
      if (g > 0) put(", ");
      put_condition(variant.guard[g]);
    }
    put(variant.guard.empty() ? "every size\n" : "\n");
    taken = b().CreateOr(taken, holds_[i]);
  }
  put_bytes("workspace: ", needed_, overflow_);
  if (dispatch_.has_plan()) put_bytes("plan: ", plan_needed_, plan_overflow_);
}

void Entry::put_bytes(const std::string& what, llvm::Value* bytes, llvm::Value* overflow) {
  put(what);
  llvm::BasicBlock* known = block("known");
  llvm::BasicBlock* unknown = block("unknown");
  llvm::BasicBlock* after = block("after");
  b().CreateCondBr(overflow, unknown, known);
  b().SetInsertPoint(unknown);
  put("more bytes than 64 bits count\n");
  b().CreateBr(after);
  b().SetInsertPoint(known);
  put_number(bytes);
  put(" bytes\n");
  b().CreateBr(after);
  b().SetInsertPoint(after);
}

}  // namespace tilewright::llvm_wall

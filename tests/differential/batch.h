// SPDX-License-Identifier: Apache-2.0
//
// Programs compiled in batches: for each host target, and as C, in one file for each C compiler; linked once,
// then run on given inputs and compared with given values.
#pragma once

#include "lowering/targets/c/target.h"
#include "tests/differential/compiled_program.h"
#include "tests/differential/subjects.h"

namespace tilewright::test {

// The targets that this machine runs; the others are named in the test's output.
inline std::vector<host::Target> targets_here() {
  std::vector<host::Target> found;
  for (std::string_view name : host::target_names()) {
    auto target = host::find_target(name);
    if (!target.ok() || !host::runs_here(*target)) continue;
    // With all instructions that are described, where this machine has them.
    auto more = host::with_features(*target, {"avx512bf16", "avx512vnni"});
    found.push_back(host::runs_here(more) ? std::move(more) : std::move(*target));
  }
  return found;
}

// Programs under one link, and their runs.
class Batch {
 public:
  // `in_turn`: each Program for one of the targets, in turn, instead of for all of them.
  Batch(std::vector<host::Target> targets, std::vector<CCompiler> compilers, Tally& tally,
        bool in_turn = false)
      : targets_(std::move(targets)),
        compilers_(std::move(compilers)),
        tally_(tally),
        in_turn_(in_turn) {
    EXPECT_EQ(tilewright_pool_create(3, &pool_), TILEWRIGHT_OK);
  }
  ~Batch() { tilewright_pool_destroy(pool_); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Compiles for every target; a message when something is wrong.
  std::string add(ir::Context& context, Subject subject) {
    ++tally_.programs;
    tally_.parallel += has_loop(subject.program.body, program::LoopKind::Parallel);
    tally_.vector += has_loop(subject.program.body, program::LoopKind::Vector);
    tally_.planned += program::has_plan(subject.program);
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const host::Target& target = targets_[t];
      if (in_turn_ && t != subjects_.size() % targets_.size()) continue;
      Function function{subjects_.size(), subject.program, target.name};
      function.program.name = context.symbol("f" + std::to_string(functions_.size()));
      auto dispatch = program::single_dispatch(context, function.program, "alone");
      if (!dispatch.ok()) return laws::messages(dispatch.diagnostics());
      auto object = llvm_wall::compile_function(context, *dispatch, target.options);
      if (!object.ok() && is_refusal(object.diagnostics()[0])) {
        ++tally_.unlowered;
        continue;
      }
      if (!object.ok())
        return target.name + ": " + laws::messages(object.diagnostics()) +
               program::print(subject.program);
      objects_.add(std::move(object->bytes));
      functions_.push_back(std::move(function));
    }
    for (const CCompiler& compiler : compilers_) {
      Function function{subjects_.size(), subject.program, compiler.name};
      function.program.name = context.symbol("f" + std::to_string(functions_.size()));
      // Alone first, so that a refusal names its program.
      auto dispatch = program::single_dispatch(context, function.program, "alone");
      if (!dispatch.ok()) return laws::messages(dispatch.diagnostics());
      const c_target::Function alone[] = {{&context, &*dispatch}};
      const auto source = c_target::emit_file(alone);
      if (!source.ok() && is_refusal(source.diagnostics()[0])) {
        ++tally_.not_in_c;
        break;
      }
      if (!source.ok())
        return compiler.name + ": " + laws::messages(source.diagnostics()) +
               program::print(subject.program);
      in_c_.push_back({&compiler, functions_.size(), &context, *std::move(dispatch)});
      functions_.push_back(std::move(function));
    }
    tally_.as_c += !in_c_.empty() && in_c_.back().function + 1 == functions_.size();
    subjects_.push_back(std::move(subject));
    return {};
  }

  // The first difference.
  std::string run() {
    if (functions_.empty()) return {};
    if (const std::string wrong = compile_c(); !wrong.empty()) return wrong;
    if (!objects_.load()) return "the objects do not link";
    int turn = 0;
    for (const Function& function : functions_) {
      const Subject& subject = subjects_[function.subject];
      for (const Expected& expected : subject.expected) {
        const std::string what = function.target + ", " + laws::print_sizes(expected.bindings) +
                                 program::print(function.program) + subject.text;
        const FaultReport report(what);
        for (const tilewright_executor* executor : executors()) {
          const auto wall = ++turn % 3 ? GuardedMemory::Wall::Behind : GuardedMemory::Wall::Before;
          const std::string wrong =
              run_and_compare(objects_, function.program, expected.bindings, expected.inputs,
                              expected.values, executor, wall);
          ++(function.target.starts_with("C ") ? tally_.c_runs : tally_.runs);
          if (!wrong.empty()) return wrong + (executor ? "\non a pool, " : "\nserial, ") + what;
        }
      }
    }
    return {};
  }

 private:
  struct Function {
    std::size_t subject = 0;
    program::Program program;
    std::string target;
  };
  struct InC {
    const CCompiler* compiler;
    std::size_t function;
    ir::Context* context;
    program::Dispatch dispatch;
  };

  // One file and one run of the compiler for all functions of a compiler.
  std::string compile_c() {
    for (const CCompiler& compiler : compilers_) {
      std::vector<c_target::Function> functions;
      for (const InC& one : in_c_)
        if (one.compiler == &compiler) functions.push_back({one.context, &one.dispatch});
      auto source = c_target::emit_file(functions);
      if (!source.ok()) return laws::messages(source.diagnostics());
      std::string object;
      if (std::string wrong = test::compile_c(compiler, *source, object); !wrong.empty())
        return wrong;
      objects_.add(std::move(object));
    }
    return {};
  }
  std::array<const tilewright_executor*, 2> executors() const {
    return {nullptr, tilewright_pool_executor(pool_)};
  }

  std::vector<host::Target> targets_;
  std::vector<CCompiler> compilers_;
  Tally& tally_;
  bool in_turn_;
  tilewright_pool* pool_ = nullptr;
  std::vector<Subject> subjects_;
  std::vector<Function> functions_;
  std::vector<InC> in_c_;
  LoadedObjects objects_;
};

}  // namespace tilewright::test

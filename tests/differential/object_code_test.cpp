// SPDX-License-Identifier: Apache-2.0
//
// Law: object code and compiled C equal the Program interpreter bit for bit (all NaNs are one). Random
// algorithms x random schedules and the applications' own ones, for each host target that this machine runs
// and for the C target under g++'s and clang's C compilers, at sizes with 0, 1 and primes among them, serial
// and on a pool; outputs and workspace poisoned, a wall around every buffer.
// TILEWRIGHT_FIRST_SEED, TILEWRIGHT_CASES and TILEWRIGHT_SLOW_TESTS as in tests/laws.
#include "tests/differential/batch.h"
#include "tests/laws/random_case.h"

namespace tilewright::test {
namespace {

constexpr std::uint64_t kPerLink = 32;

<<<<<<< HEAD
// One C compiler for each link, in turn.
std::vector<CCompiler> compilers(std::uint64_t seed) {
  const std::vector<CCompiler> all = all_compilers();
  return {all[seed / kPerLink % all.size()]};
=======
struct Tally {
  int programs = 0;
  int refused = 0;  // by build
  int unlowered =
      0;  // by code generation: a register buffer under a loop that stays one, and the like
  int skipped = 0;  // sizes that take the interpreter too long
  int runs = 0;
  int parallel = 0;  // programs with a parallel loop
  int vector = 0;
};

bool has_loop(program::Stmt body, program::LoopKind kind) {
  bool found = false;
  program::walk(body, [&](program::Stmt stmt) {
    const auto* loop = stmt.as<program::For>();
    found |= loop != nullptr && loop->loop == kind;
  });
  return found;
}

// One Program with what the interpreter says it computes, at some sizes.
struct Expected {
  ir::Bindings bindings;
  ir::TensorMap inputs;
  ir::TensorMap values;  // of every parameter
};
struct Subject {
  std::string text;
  program::Program program;
  std::vector<Expected> expected;
};

// Programs under one link, and their runs.
class Batch {
 public:
  Batch(const std::vector<host::Target>& targets, Tally& tally) : targets_(targets), tally_(tally) {
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
    auto contract = program::derive_contract(context, subject.program);
    if (!contract.ok()) return laws::messages(contract.diagnostics());
    for (const host::Target& target : targets_) {
      Function function{subjects_.size(), subject.program, target.name};
      function.program.name = context.symbol("f" + std::to_string(functions_.size()));
      auto object =
          llvm_wall::compile_program(context, function.program, *contract, target.options);
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
    subjects_.push_back(std::move(subject));
    return {};
  }

  // The first difference.
  std::string run() {
    if (functions_.empty()) return {};
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
          ++tally_.runs;
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
  static bool is_refusal(const Diagnostic& d) {
    return !d.remedy.empty() &&
           (d.code == Code::RegisterIndex || d.code == Code::UnsupportedByTarget);
  }
  std::array<const tilewright_executor*, 2> executors() const {
    return {nullptr, tilewright_pool_executor(pool_)};
  }

  const std::vector<host::Target>& targets_;
  Tally& tally_;
  tilewright_pool* pool_ = nullptr;
  std::vector<Subject> subjects_;
  std::vector<Function> functions_;
  LoadedObjects objects_;
};

// What the interpreter says of the Program at these sizes; nothing when it takes too long.
Result<std::optional<Expected>> interpret(ir::Context& context, const program::Program& program,
                                          const ir::Bindings& bindings, ir::TensorMap inputs,
                                          std::int64_t step_limit) {
  program::InterpretOptions options;
  options.step_limit = step_limit;
  auto run = program::interpret(context, program, bindings, inputs, options);
  if (!run.ok()) {
    if (const Code code = run.diagnostics()[0].code;
        code == Code::ProgramLimit || code == Code::FactBroken)
      return std::optional<Expected>();
    return Failure{run.diagnostics()};
  }
  Expected expected{bindings, inputs, std::move(inputs)};
  for (auto& [name, tensor] : run->outputs) expected.values[name] = std::move(tensor);
  return std::optional(std::move(expected));
}

// Random algorithms may have extents that no dimension gives, which no library function can learn: inputs of
// those sizes give them.
std::vector<Symbol> add_extent_inputs(ir::Context& context, program::Program& program) {
  std::vector<Symbol> added;
  for (const ir::ExtentDecl& extent : program.extents) {
    const ir::Expr size = context.extent(extent.name);
    const bool given = std::any_of(
        program.parameters.begin(), program.parameters.end(), [&](const program::Parameter& p) {
          return std::find(p.shape.begin(), p.shape.end(), size) != p.shape.end();
        });
    if (given) continue;
    added.push_back(context.symbol("size_of_" + std::string(extent.name.text())));
    program.parameters.insert(program.parameters.begin(),
                              {added.back(), ir::ScalarType::I8, {size}, false});
  }
  return added;
}

// A random algorithm and schedule, lowered; the Program that `build` gives for some, that after all passes
// for the others. False: refused.
bool lower(laws::Case& random, program::Program& out) {
  auto built =
      build::build(random.context, random.polyhedra, random.algorithm, random.random.schedule);
  if (!built.ok()) return false;
  out = *built;
  if (random.seed % 8 == 7) return true;
  auto passed = passes::run_passes(random.context, *built);
  if (passed.ok()) out = std::move(*passed);
  return passed.ok();
}

std::string add_random(laws::Case& random, Batch& batch, Tally& tally) {
  Subject subject;
  if (!lower(random, subject.program)) {
    ++tally.refused;
    return {};
  }
  subject.text = random.text();
  const std::vector<Symbol> added = add_extent_inputs(random.context, subject.program);
  for (int which = 0; which < 4; ++which) {
    const auto bindings = random.bindings(which);
    if (!bindings) continue;
    ir::TensorMap inputs =
        ir::random_inputs(random.algorithm, *bindings, random.seed + which, random.seed % 3 == 0);
    for (Symbol name : added)
      inputs[name] = ir::make_tensor(
          ir::ScalarType::I8,
          {ir::evaluate_extents(subject.program.find_parameter(name)->shape[0], *bindings)});
    auto expected =
        interpret(random.context, subject.program, *bindings, std::move(inputs), 300000);
    if (!expected.ok())
      return laws::messages(expected.diagnostics()) + laws::print_sizes(*bindings) +
             program::print(subject.program) + subject.text;
    if (*expected) {
      subject.expected.push_back(std::move(**expected));
    } else {
      ++tally.skipped;
    }
  }
  if (subject.expected.empty()) return {};
  return batch.add(random.context, std::move(subject));
>>>>>>> equations
}

void check_random(std::uint64_t first, int cases) {
  const std::vector<host::Target> targets = targets_here();
  if (targets.empty()) GTEST_SKIP() << "this processor runs no host target";
  Tally tally;
  const std::uint64_t last = first + static_cast<std::uint64_t>(cases);
  for (std::uint64_t seed = first; seed < last && !::testing::Test::HasFailure();) {
    std::vector<std::unique_ptr<laws::Case>> subjects;  // own what the batch's Programs are made of
    Batch batch(targets, compilers(seed), tally);
    for (const std::uint64_t end = std::min(seed + kPerLink, last); seed < end; ++seed) {
      subjects.push_back(std::make_unique<laws::Case>(seed));
      std::string wrong;
      auto subject = random_subject(*subjects.back(), tally, &wrong);
      if (subject) wrong = batch.add(subjects.back()->context, *std::move(subject));
      EXPECT_EQ(wrong, "");
    }
    EXPECT_EQ(batch.run(), "");
  }
  std::printf(
      "%d programs (%d parallel, %d vector) for %zu targets, %d runs; %d as C, %d runs; %d "
      "refused, "
      "%d not lowered, %d sizes skipped\n",
      tally.programs, tally.parallel, tally.vector, targets.size(), tally.runs, tally.as_c,
      tally.c_runs, tally.refused, tally.unlowered, tally.skipped);
  if (cases >= 100 && !::testing::Test::HasFailure()) {
    EXPECT_GT(tally.programs, cases / 2);
    EXPECT_EQ(tally.as_c, tally.programs) << "C has no registers to run out of";
    EXPECT_LT(tally.unlowered, tally.programs / 5);
    EXPECT_GT(tally.vector, cases / 10);
    EXPECT_GT(tally.parallel, cases / 20);
  }
}

TEST(ObjectCode, EqualsTheInterpreter) {
  check_random(laws::first_seed(), laws::num_cases(160, 160));
}

TEST(ObjectCodeSlow, EqualsTheInterpreter) {
  if (!std::getenv("TILEWRIGHT_SLOW_TESTS")) GTEST_SKIP() << "slow: set TILEWRIGHT_SLOW_TESTS=1";
  check_random(laws::first_seed() + 1000000, laws::num_cases(0, 8000));
}

// The comparison itself: a value that is off by one bit is found, and so is one that was not written.
TEST(ObjectCode, ADifferenceIsSeen) {
  const std::vector<host::Target> targets = targets_here();
  if (targets.empty()) GTEST_SKIP() << "this processor runs no host target";
  ir::Context context;
  const program::Program program = parse(context, R"(program part for part {
  extent N
  input x : f32[N]
  output y : f32[N]
  for i in 0 .. N - 1 {
    y[i] = x[i]
  }
})");
  CompiledProgram library(context, program, targets[0]);
  ASSERT_TRUE(library.ready());
  const ir::Bindings bindings{{context.symbol("N"), 3}};
  ir::Tensor x = ir::make_tensor(ir::ScalarType::F32, {3});
  for (int i = 0; i < 3; ++i) x.data[i].f = i + 1;
  const ir::TensorMap inputs{{context.symbol("x"), x}};
  ir::TensorMap expected{{context.symbol("x"), x}, {context.symbol("y"), x}};
  const auto compare = [&] {
    return run_and_compare(library.objects(), program, bindings, inputs, expected, nullptr);
  };
  EXPECT_NE(compare().find("y cell 2"), std::string::npos) << "the last cell is never written";
  expected[context.symbol("y")].data[1].f = 2 + 0x1p-22;
  EXPECT_NE(compare().find("y cell 1"), std::string::npos);
}

class ObjectCodeApplications : public ::testing::TestWithParam<Application> {};

TEST_P(ObjectCodeApplications, EqualTheInterpreter) {
  const std::vector<host::Target> targets = targets_here();
  if (targets.empty()) GTEST_SKIP() << "this processor runs no host target";
  ApplicationSubjects& application = application_subjects(GetParam());
  ASSERT_EQ(application.wrong, "");
  ASSERT_GE(application.subjects.size(), 3U)
      << "an application has schedules for both host targets";
  Tally tally;
  Batch batch(targets, {all_compilers()[0], all_compilers()[1]}, tally);
  for (const Subject& subject : application.subjects)
    ASSERT_EQ(batch.add(application.context, subject), "");
  EXPECT_EQ(batch.run(), "");
}

INSTANTIATE_TEST_SUITE_P(Apps, ObjectCodeApplications, ::testing::ValuesIn(all_applications()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tilewright::test

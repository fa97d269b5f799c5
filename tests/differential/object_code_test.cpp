// SPDX-License-Identifier: Apache-2.0
//
// Law: object code equals the Program interpreter bit for bit (all NaNs are one). Random algorithms x random
// schedules and the applications' own ones, for each host target that this machine runs, at sizes with 0, 1
// and primes among them, serial and on a pool; outputs and workspace poisoned, a wall around every buffer.
// TILEWRIGHT_FIRST_SEED, TILEWRIGHT_CASES and TILEWRIGHT_SLOW_TESTS as in tests/laws.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/differential/compiled_program.h"
#include "tests/laws/random_case.h"

namespace tilewright::test {
namespace {

// The targets that this machine runs; the others are named in the test's output.
std::vector<host::Target> targets_here() {
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
           (d.code == Code::RegisterIndex || d.code == Code::UnsupportedByTarget ||
            d.code == Code::InstructionUnavailable);
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
    if (run.diagnostics()[0].code == Code::ProgramLimit) return std::optional<Expected>();
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
}

void check_random(std::uint64_t first, int cases) {
  const std::vector<host::Target> targets = targets_here();
  if (targets.empty()) GTEST_SKIP() << "this processor runs no host target";
  constexpr std::uint64_t kPerLink = 32;
  Tally tally;
  const std::uint64_t last = first + static_cast<std::uint64_t>(cases);
  for (std::uint64_t seed = first; seed < last && !::testing::Test::HasFailure();) {
    std::vector<std::unique_ptr<laws::Case>> subjects;  // own what the batch's Programs are made of
    Batch batch(targets, tally);
    for (const std::uint64_t end = std::min(seed + kPerLink, last); seed < end; ++seed) {
      subjects.push_back(std::make_unique<laws::Case>(seed));
      EXPECT_EQ(add_random(*subjects.back(), batch, tally), "");
    }
    EXPECT_EQ(batch.run(), "");
  }
  std::printf(
      "%d programs (%d parallel, %d vector) for %zu targets, %d runs; %d refused, %d not "
      "lowered, %d sizes skipped\n",
      tally.programs, tally.parallel, tally.vector, targets.size(), tally.runs, tally.refused,
      tally.unlowered, tally.skipped);
  if (cases >= 100 && !::testing::Test::HasFailure()) {
    EXPECT_GT(tally.programs, cases / 2);
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

// Every schedule of every application, at small sizes that reach tiles, tails and empty loops.
struct Application {
  const char* name;
  std::vector<std::vector<std::pair<const char*, std::int64_t>>> sizes;
};

class ObjectCodeApplications : public ::testing::TestWithParam<Application> {};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_P(ObjectCodeApplications, EqualTheInterpreter) {
  const std::vector<host::Target> targets = targets_here();
  if (targets.empty()) GTEST_SKIP() << "this processor runs no host target";
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  const std::filesystem::path folder =
      std::filesystem::path(root ? root : ".") / "apps" / GetParam().name;
  const std::string name = GetParam().name;
  ir::Context context;
  poly::Context polyhedra;
  auto algorithm =
      ir::parse_algorithm(context, Source(name + ".tw", read_file(folder / (name + ".tw"))));
  ASSERT_TRUE(algorithm.ok()) << laws::messages(algorithm.diagnostics());

  std::vector<tree::Schedule> schedules = {
      directives::default_schedule(context, *algorithm, "x86-64-v3")};
  for (const auto& entry : std::filesystem::directory_iterator(folder / "schedules")) {
    auto schedule = directives::parse_schedule(
        context, *algorithm, Source(entry.path().filename().string(), read_file(entry.path())));
    ASSERT_TRUE(schedule.ok()) << entry.path() << laws::messages(schedule.diagnostics());
    schedules.push_back(std::move(*schedule));
  }
  ASSERT_GE(schedules.size(), 3U) << "an application has schedules for both host targets";

  Tally tally;
  Batch batch(targets, tally);
  for (const tree::Schedule& schedule : schedules) {
    auto built = build::build(context, polyhedra, *algorithm, schedule);
    ASSERT_TRUE(built.ok()) << laws::messages(built.diagnostics());
    auto passed = passes::run_passes(context, *built);
    ASSERT_TRUE(passed.ok());
    Subject subject{directives::print(schedule), std::move(*passed), {}};
    for (const auto& sizes : GetParam().sizes) {
      ir::Bindings bindings;
      for (const auto& [extent, value] : sizes) bindings[context.symbol(extent)] = value;
      const bool guarded =
          std::all_of(subject.program.requirements.begin(), subject.program.requirements.end(),
                      [&](ir::Expr e) { return ir::evaluate_extents(e, bindings) != 0; });
      if (!guarded) continue;  // the schedule is for other sizes
      auto expected = interpret(context, subject.program, bindings,
                                ir::random_inputs(*algorithm, bindings, 7), std::int64_t{1} << 32);
      ASSERT_TRUE(expected.ok()) << laws::messages(expected.diagnostics());
      subject.expected.push_back(std::move(**expected));
    }
    ASSERT_FALSE(subject.expected.empty()) << subject.text;
    ASSERT_EQ(batch.add(context, std::move(subject)), "");
  }
  EXPECT_EQ(batch.run(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Apps, ObjectCodeApplications,
    ::testing::Values(Application{"gemm",
                                  {{{"M", 0}, {"N", 3}, {"K", 2}},
                                   {{"M", 1}, {"N", 1}, {"K", 0}},
                                   {{"M", 3}, {"N", 600}, {"K", 19}},
                                   {{"M", 13}, {"N", 131}, {"K", 7}},
                                   {{"M", 6}, {"N", 64}, {"K", 17}}}},
                      Application{"gemm_bf16",
                                  {{{"M", 1}, {"N", 0}, {"K", 2}},
                                   {{"M", 1}, {"N", 1}, {"K", 1}},
                                   {{"M", 6}, {"N", 64}, {"K", 16}},
                                   {{"M", 13}, {"N", 131}, {"K", 7}}}},
                      Application{"gemm_i8",
                                  {{{"M", 1}, {"N", 0}, {"K", 2}},
                                   {{"M", 1}, {"N", 1}, {"K", 1}},
                                   {{"M", 6}, {"N", 64}, {"K", 16}},
                                   {{"M", 13}, {"N", 131}, {"K", 27}}}},
                      Application{"softmax",
                                  {{{"R", 0}, {"C", 5}},
                                   {{"R", 1}, {"C", 1}},
                                   {{"R", 5}, {"C", 64}},
                                   {{"R", 3}, {"C", 211}}}},
                      Application{"layernorm",
                                  {{{"R", 0}, {"C", 5}},
                                   {{"R", 1}, {"C", 1}},
                                   {{"R", 5}, {"C", 64}},
                                   {{"R", 3}, {"C", 211}}}},
                      Application{"blur",
                                  {{{"H", 0}, {"W", 7}},
                                   {{"H", 1}, {"W", 1}},
                                   {{"H", 37}, {"W", 67}},
                                   {{"H", 3}, {"W", 300}}}},
                      Application{"attention",
                                  {{{"B", 1}, {"H", 1}, {"S", 1}, {"T", 1}, {"D", 1}},
                                   {{"B", 1}, {"H", 2}, {"S", 7}, {"T", 67}, {"D", 5}},
                                   {{"B", 2}, {"H", 1}, {"S", 5}, {"T", 17}, {"D", 67}}}}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tilewright::test

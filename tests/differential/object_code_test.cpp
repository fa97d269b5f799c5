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

constexpr std::uint64_t kPerLink = 32;

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

// One C compiler for each link, in turn.
std::vector<CCompiler> compilers(std::uint64_t seed) {
  const std::vector<CCompiler> all = all_compilers();
  return {all[seed / kPerLink % all.size()]};
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
      EXPECT_EQ(add_random(*subjects.back(), batch, tally), "");
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

// Every schedule of every application, at small sizes that reach tiles, tails and empty loops.
struct Application {
  const char* name;
  std::vector<std::vector<std::pair<const char*, std::int64_t>>> sizes;
};

class ObjectCodeApplications : public ::testing::TestWithParam<Application> {};

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
  Batch batch(targets, all_compilers(), tally);
  for (const tree::Schedule& schedule : schedules) {
    auto built = build::build(context, polyhedra, *algorithm, schedule);
    ASSERT_TRUE(built.ok()) << laws::messages(built.diagnostics());
    auto passed = passes::run_passes(context, *built);
    ASSERT_TRUE(passed.ok());
    Subject subject{directives::print(schedule), std::move(*passed), {}};
    for (const auto& sizes : GetParam().sizes) {
      ir::Bindings bindings;
      for (const auto& [extent, value] : sizes) bindings[context.symbol(extent)] = value;
      auto expected = interpret(context, subject.program, bindings,
                                ir::random_inputs(*algorithm, bindings, 7), std::int64_t{1} << 32);
      ASSERT_TRUE(expected.ok()) << laws::messages(expected.diagnostics());
      subject.expected.push_back(std::move(**expected));
    }
    ASSERT_EQ(batch.add(context, std::move(subject)), "");
  }
  EXPECT_EQ(batch.run(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Apps, ObjectCodeApplications,
    ::testing::Values(Application{"gemm",
                                  {{{"M", 0}, {"N", 3}, {"K", 2}},
                                   {{"M", 1}, {"N", 1}, {"K", 0}},
                                   {{"M", 13}, {"N", 131}, {"K", 7}},
                                   {{"M", 6}, {"N", 64}, {"K", 17}}}},
                      Application{"gemm_bf16",
                                  {{{"M", 1}, {"N", 0}, {"K", 2}},
                                   {{"M", 1}, {"N", 1}, {"K", 1}},
                                   {{"M", 13}, {"N", 131}, {"K", 7}}}},
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

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
      std::string wrong;
      auto subject = random_subject(*subjects.back(), tally, &wrong);
      if (subject) wrong = batch.add(subjects.back()->context, *std::move(subject));
      EXPECT_EQ(wrong, "");
    }
    EXPECT_EQ(batch.run(), "");
  }
  std::printf(
      "%d programs (%d parallel, %d vector) for %zu targets, %d runs; %d as C, %d runs, %d not; "
      "%d refused, "
      "%d not lowered, %d sizes skipped\n",
      tally.programs, tally.parallel, tally.vector, targets.size(), tally.runs, tally.as_c,
      tally.c_runs, tally.not_in_c, tally.refused, tally.unlowered, tally.skipped);
  if (cases >= 100 && !::testing::Test::HasFailure()) {
    EXPECT_GT(tally.programs, cases / 2);
    // C has no registers to run out of, but neither packed nor small floats.
    EXPECT_EQ(tally.as_c + tally.not_in_c, tally.programs);
    EXPECT_GT(tally.as_c, tally.programs / 4);
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

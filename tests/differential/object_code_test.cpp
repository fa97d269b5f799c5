// SPDX-License-Identifier: Apache-2.0
//
// Law: for a random algorithm and a random schedule every representation reads back as itself (text and JSON of
// the algorithm, directives, tree, text and JSON of the Program before and after the passes), and the
// interpreter of algorithms where the tree fixes the order of folds, the Program interpreter, object code and
// compiled C compute the same bits (all NaNs are one); so do the applications' own schedules. Each host target
// that this machine runs and each C compiler has its part of the cases; sizes with 0, 1 and primes among them,
// serial and on a pool; outputs and workspace poisoned, a wall around every buffer.
// TILEWRIGHT_FIRST_SEED, TILEWRIGHT_CASES and TILEWRIGHT_SLOW_TESTS as in tests/laws.
#include "tests/differential/batch.h"
#include "tests/laws/random_case.h"

namespace tilewright::test {
namespace {

constexpr std::uint64_t kPerLink = 32;

// One C compiler for each link, in turn; every third link optimises, so that each compiler does.
std::vector<CCompiler> compilers(std::uint64_t seed) {
  const std::uint64_t link = seed / kPerLink;
  const bool users = link % 3 == 2 || std::getenv("TILEWRIGHT_SLOW_TESTS") != nullptr;
  const auto all = all_compilers(users ? Optimise::Users : Optimise::Fast);
  return {all[link % all.size()]};
}

void check_random(std::uint64_t first, int cases) {
  const std::vector<host::Target> targets = targets_here();
  if (targets.empty()) GTEST_SKIP() << "this processor runs no host target";
  Tally tally;
  const std::uint64_t last = first + static_cast<std::uint64_t>(cases);
  for (std::uint64_t seed = first; seed < last && !::testing::Test::HasFailure();) {
    std::vector<std::unique_ptr<laws::Case>> subjects;  // own what the batch's Programs are made of
    Batch batch(targets, compilers(seed), tally, true);
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
      "%d cases: all representations read back; %d refused, %d Programs (%d parallel, %d vector, "
      "%d with a plan); "
      "%d runs of object code for %zu targets (%d not lowered), %d runs of C, all bit for bit; "
      "%d sizes equal to the algorithm bit for bit, %d skipped\n",
      tally.cases, tally.refused, tally.programs, tally.parallel, tally.vector, tally.planned,
      tally.runs, targets.size(), tally.unlowered, tally.c_runs, tally.exact, tally.skipped);
  if (::testing::Test::HasFailure()) return;
  EXPECT_EQ(tally.cases, cases);
  EXPECT_EQ(tally.as_c, tally.programs) << "C has a form for every type and statement";
  if (cases < 100) return;
  EXPECT_GT(tally.programs, cases / 2);
  EXPECT_LT(tally.unlowered, tally.programs / 5);
  EXPECT_GT(tally.exact, tally.programs);
  EXPECT_GT(tally.vector, cases / 10);
  EXPECT_GT(tally.parallel, cases / 20);
  EXPECT_GE(tally.planned, cases / 60);
}

TEST(ObjectCode, AllFormsAgree) { check_random(laws::first_seed(), laws::num_cases(300, 300)); }

TEST(ObjectCodeSlow, AllFormsAgree) {
  if (!std::getenv("TILEWRIGHT_SLOW_TESTS")) GTEST_SKIP() << "slow: set TILEWRIGHT_SLOW_TESTS=1";
  check_random(laws::first_seed() + 1000000, laws::num_cases(0, 10000));
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
  const std::vector<CCompiler> all = all_compilers(Optimise::Users);
  Batch batch(targets, {all[0], all[1]}, tally);
  for (const Subject& subject : application.subjects)
    ASSERT_EQ(batch.add(application.context, subject), "");
  EXPECT_EQ(batch.run(), "");
}

INSTANTIATE_TEST_SUITE_P(Apps, ObjectCodeApplications, ::testing::ValuesIn(all_applications()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tilewright::test

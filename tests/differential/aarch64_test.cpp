// SPDX-License-Identifier: Apache-2.0
//
// Law: code for AArch64, of the code generator and of a C compiler from the C target, equals the Program
// interpreter bit for bit (all NaNs are one): random algorithms x random schedules and every application,
// under qemu, serial and in pieces.
#include "tests/differential/emulated.h"

namespace tilewright::test {
namespace {

TEST(AArch64, RandomProgramsEqualTheInterpreter) {
  if (const std::string reason = Emulated::why_not(); !reason.empty()) GTEST_SKIP() << reason;
  const auto cases = static_cast<std::uint64_t>(laws::num_cases(24, 1000));
  const std::uint64_t first = laws::first_seed() + 500000;
  constexpr std::uint64_t kPerLink = 48;
  Tally tally;
  for (std::uint64_t seed = first; seed < first + cases && !HasFailure();) {
    std::vector<std::unique_ptr<laws::Case>> owners;
    Emulated batch(tally);
    for (const std::uint64_t end = std::min(seed + kPerLink, first + cases); seed < end; ++seed) {
      owners.push_back(std::make_unique<laws::Case>(seed));
      std::string wrong;
      auto subject = random_subject(*owners.back(), tally, &wrong);
      if (subject) wrong = batch.add(owners.back()->context, *std::move(subject));
      EXPECT_EQ(wrong, "");
    }
    EXPECT_EQ(batch.run(), "");
  }
  std::printf("%d programs (%d parallel, %d vector), %d runs; as C %d runs; %d not lowered\n",
              tally.programs, tally.parallel, tally.vector, tally.runs, tally.c_runs,
              tally.unlowered);
  EXPECT_GT(tally.runs, static_cast<int>(cases));
  EXPECT_GT(tally.c_runs, static_cast<int>(cases));
  EXPECT_EQ(tally.as_c, tally.programs);
}

class AArch64Applications : public ::testing::TestWithParam<Application> {};

TEST_P(AArch64Applications, EqualTheInterpreter) {
  if (const std::string reason = Emulated::why_not(); !reason.empty()) GTEST_SKIP() << reason;
  ApplicationSubjects& application = application_subjects(GetParam());
  ASSERT_EQ(application.wrong, "");
  Tally tally;
  Emulated batch(tally);
  for (const Subject& subject : application.subjects)
    ASSERT_EQ(batch.add(application.context, subject), "");
  EXPECT_EQ(batch.run(), "");
  // Instructions of another machine, and nothing else.
  const auto calling =
      std::count_if(application.subjects.begin(), application.subjects.end(),
                    [](const Subject& subject) { return !subject.program.intrinsics.empty(); });
  EXPECT_EQ(tally.unlowered, calling);
  EXPECT_EQ(tally.not_in_c, calling);
}

INSTANTIATE_TEST_SUITE_P(Apps, AArch64Applications, ::testing::ValuesIn(all_applications()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tilewright::test

// SPDX-License-Identifier: Apache-2.0
//
// Applications and random programs validate; a run of the listing on known values gives what the Program's
// interpreter gives, which is another program than either side of the validation.
#include "tests/unit/lowering/validate/subjects.h"

namespace tilewright::validate {
namespace {

bool slow() { return std::getenv("TILEWRIGHT_SLOW_TESTS") != nullptr; }

std::string why(const Subject& subject, const Report& report) {
  return subject.name + ": " + verdict_line(*subject.dispatch, report) +
         "\n  program: " + report.expected + "\n  code:    " + report.got + "\n  " +
         report.instruction;
}

void expect_validated(const std::string& name, const std::string& schedule) {
  Subject subject;
  ASSERT_EQ(application(subject, name, schedule), "");
  Options options;
  options.step_budget = slow() ? 8'000'000 : 200'000;
  const auto report =
      validate(*subject.context, subject.algorithm, *subject.dispatch, subject.listing, options);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->is_validated) << why(subject, *report);
  EXPECT_GT(report->cells, 20);
  EXPECT_GE(report->runs.size(), 3U);
  // No input had to be given values: what was shown holds for all.
  for (const Run& run : report->runs) EXPECT_TRUE(run.given.empty()) << why(subject, *report);
}

TEST(Validate, Gemm) {
  expect_validated("gemm", "blocked");
  expect_validated("gemm", "blocked_avx2");
}
TEST(Validate, GemmOfOtherTypes) {
  expect_validated("gemm_bf16", "blocked_avx2");
  expect_validated("gemm_bf16", "dot");
  expect_validated("gemm_i8", "dot");
}
TEST(Validate, Softmax) { expect_validated("softmax", "rows"); }
TEST(Validate, Layernorm) { expect_validated("layernorm", "rows_avx2"); }
TEST(Validate, WithAPlan) { expect_validated("linear", "tile"); }
TEST(Validate, AllApplications) {
  if (!slow()) GTEST_SKIP() << "slow: set TILEWRIGHT_SLOW_TESTS=1";
  for (const auto& [name, schedules] : std::map<std::string, std::vector<std::string>>{
           {"attention", {"row_tiles", "row_tiles_avx2"}},
           {"blur", {"tiled", "tiled_avx2"}},
           {"gemm", {"blocked", "blocked_avx2", "few_rows", "row"}},
           {"gemm_bf16", {"blocked", "blocked_avx2", "dot"}},
           {"gemm_i8", {"blocked_avx2", "dot"}},
           {"layernorm", {"rows", "rows_avx2"}},
           {"linear", {"row", "tile", "tile_avx2"}},
           {"softmax", {"rows", "rows_avx2"}}})
    for (const std::string& schedule : schedules) expect_validated(name, schedule);
}

TEST(Validate, RunsOfTheListingAreRunsOfTheProgram) {
  for (const auto& [name, schedule, sizes] :
       {std::tuple{"softmax", "rows",
                   std::vector<std::pair<const char*, int>>{{"R", 3}, {"C", 67}}},
        std::tuple{"gemm_bf16", "dot",
                   std::vector<std::pair<const char*, int>>{{"M", 7}, {"N", 17}, {"K", 5}}}}) {
    Subject subject;
    ASSERT_EQ(application(subject, name, schedule), "");
    ir::Bindings bindings;
    for (const auto& [extent, value] : sizes) bindings[subject.context->symbol(extent)] = value;
    const ir::TensorMap inputs = ir::random_inputs(subject.algorithm, bindings, 5);
    const auto expected = program::interpret(
        *subject.context, subject.dispatch->variants[0].program, bindings, inputs);
    const auto got =
        run_code(*subject.context, *subject.dispatch, subject.listing, bindings, inputs);
    ASSERT_TRUE(expected.ok());
    ASSERT_TRUE(got.ok()) << text_of(got.diagnostics());
    for (const auto& [output, tensor] : expected->outputs)
      EXPECT_EQ(laws::first_difference(tensor, got->at(output)), "") << subject.name;
  }
}

// Right code may be beyond the normal form; that most is not is measured here.
TEST(Validate, RandomPrograms) {
  if (!slow()) GTEST_SKIP() << "slow: set TILEWRIGHT_SLOW_TESTS=1";
  const int cases = laws::num_cases(25, 600);
  int validated = 0, refused = 0;
  for (int i = 0; i < cases; ++i) {
    laws::Case random(laws::first_seed() + static_cast<std::uint64_t>(i));
    const auto lowered = test::lower(random);
    if (!lowered) continue;
    Subject subject;
    subject.context = &random.context;
    subject.algorithm = random.algorithm;
    subject.name = "seed " + std::to_string(random.seed);
    program::Program program = lowered->program;
    test::add_extent_inputs(random.context, program);
    bool cannot = false;
    const std::string wrong =
        emit(subject, program, i % 2 == 0 ? "x86-64-v3" : "x86-64-v4", {}, &cannot);
    refused += cannot;
    if (cannot) continue;
    ASSERT_EQ(wrong, "") << random.text();
    Options options;
    for (int which = 0; which < 3; ++which)
      if (const auto sizes = random.bindings(which)) options.sizes.push_back(*sizes);
    if (options.sizes.empty()) continue;
    const auto report =
        validate(random.context, subject.algorithm, *subject.dispatch, subject.listing, options);
    ASSERT_TRUE(report.ok()) << text_of(report.diagnostics());
    if (!report->is_validated) std::printf("%s\n", why(subject, *report).c_str());
    validated += report->is_validated;
  }
  EXPECT_GE(validated * 2, cases) << refused << " refused by code generation";
}

}  // namespace
}  // namespace tilewright::validate

// SPDX-License-Identifier: Apache-2.0
//
// Programs that are correct and unusual (tests/laws/unusual): recomputed, overlapping, peeled, skewed, split three
// ways, with a lagging maximum, in the order of trees, from behind, under conditions on data. A run agrees that each
// computes its algorithm, and at least 95 % are proved, for all sizes. None of their wrong twins is: each has the edits
// of lowering/mutants, of which those count that a run shows to be wrong.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "lowering/mutants/trial.h"
#include "lowering/proof/prove.h"
#include "tests/laws/random_case.h"

namespace tilewright {
namespace {

std::filesystem::path folder() {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  return std::filesystem::path(root ? root : ".") / "tests" / "laws" / "unusual";
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> programs() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    if (entry.path().extension() == ".twp") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

struct Loaded {
  ir::Context context;
  std::optional<ir::Algorithm> algorithm;
  std::optional<program::Program> program;

  explicit Loaded(const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    const std::filesystem::path stated =
        path.parent_path() / (name.substr(0, name.find('.')) + ".tw");
    auto first = ir::parse_algorithm(context, Source(stated.string(), read_file(stated)));
    EXPECT_TRUE(first.ok()) << stated << laws::messages(first.diagnostics());
    auto second = program::parse_program(context, Source(path.string(), read_file(path)));
    EXPECT_TRUE(second.ok()) << path << laws::messages(second.diagnostics());
    if (first.ok()) algorithm = *std::move(first);
    if (second.ok()) program = *std::move(second);
  }
  bool ok() const { return algorithm && program; }
};

TEST(Unusual, ComputesItsAlgorithm) {
  for (const auto& path : programs()) {
    Loaded one(path);
    ASSERT_TRUE(one.ok());
    check::Options options;
    options.step_budget = 100'000;
    const auto report = check::check_program(one.context, *one.algorithm, *one.program, options);
    ASSERT_TRUE(report.ok()) << path << laws::messages(report.diagnostics());
    EXPECT_EQ(report->verdict, check::Verdict::Checked) << path;
  }
}

TEST(Unusual, IsProved) {
  int proved = 0;
  std::string others;
  const auto all = programs();
  EXPECT_GE(all.size(), 60U);
  for (const auto& path : all) {
    Loaded one(path);
    ASSERT_TRUE(one.ok());
    const auto proof = proof::prove(one.context, *one.algorithm, *one.program);
    if (proof.ok() && proof->verdict == proof::Verdict::Proved) {
      ++proved;
      continue;
    }
    others += path.filename().string() + "\n";
    if (!proof.ok()) {
      others += laws::messages(proof.diagnostics());
      continue;
    }
    EXPECT_NE(proof->verdict, proof::Verdict::Refuted) << path;
    for (const proof::Obligation& obligation : proof->obligations)
      if (obligation.verdict != proof::Verdict::Proved)
        others += "  " + std::string(proof::obligation_text(obligation.kind)) + ": " +
                  obligation.subject + ": " + obligation.detail + "\n";
  }
  EXPECT_GE(proved * 100, static_cast<int>(all.size()) * 95) << others;
  if (std::getenv("TILEWRIGHT_SLOW_TESTS")) std::fprintf(stderr, "%s", others.c_str());
}

TEST(Unusual, NoWrongTwinIsProved) {
  const int per_kind = laws::num_cases(0, 6);
  std::uint64_t seed = laws::first_seed();
  for (const auto& path : programs()) {
    // Without the slow run every eighth Program, with one edit of each kind.
    if (per_kind == 0 && ++seed % 8 != 0) continue;
    Loaded one(path);
    ASSERT_TRUE(one.ok());
    mutants::TrialOptions options;
    options.mutate.seed = seed;
    options.mutate.per_kind = std::max(per_kind, 1);
    options.step_budget = 50'000;
    const auto trial =
        mutants::try_mutants(one.context, *one.algorithm, *one.program, options);
    ASSERT_TRUE(trial.ok()) << path << laws::messages(trial.diagnostics());
    for (const mutants::Tried& tried : trial->list)
      EXPECT_NE(tried.outcome, mutants::Outcome::Proved)
          << path << " " << tried.mutant.kind->name << ": " << tried.mutant.before << " became "
          << tried.mutant.after << "\n"
          << program::print(tried.mutant.program);
  }
}

}  // namespace
}  // namespace tilewright

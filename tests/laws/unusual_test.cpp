// SPDX-License-Identifier: Apache-2.0
//
// Programs that are correct and unusual (tests/laws/unusual): recomputed, overlapping, peeled, skewed, split three
// ways, with a lagging maximum, in the order of trees, from behind, under conditions on data. A run agrees that each
// computes its algorithm; all but those of a list are proved, for all sizes. None of their wrong twins is: each has the edits
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

// To be proved one day: a list that may only get shorter.
constexpr std::string_view kNotYet[] = {
    "gathered.backwards", "gathered.blocks",  "least.negated",          "product.hilbert_by_hand",
    "product.two_by_two", "rows.peeled",      "rows.unequal_lanes",     "running.all_again",
    "weights.lagging",    "weights.online",   "running.from_results",   "weights.stored",
    "window.double_halo", "window.scattered", "weights.two_references", "window.ring_of_three",
    "stages.two_halves"};

TEST(Unusual, IsProved) {
  int proved = 0;
  const auto all = programs();
  for (const auto& path : all) {
    const std::string name = path.stem().string();
    const bool not_yet =
        std::find(std::begin(kNotYet), std::end(kNotYet), name) != std::end(kNotYet);
    if (not_yet && !std::getenv("TILEWRIGHT_SLOW_TESTS")) continue;
    Loaded one(path);
    ASSERT_TRUE(one.ok());
    const auto proof = proof::prove(one.context, *one.algorithm, *one.program);
    if (proof.ok()) {
      EXPECT_NE(proof->verdict, proof::Verdict::Refuted) << name;
    }
    const bool is_proved = proof.ok() && proof->verdict == proof::Verdict::Proved;
    proved += is_proved;
    if (is_proved || not_yet) continue;
    std::string why = proof.ok() ? "" : laws::messages(proof.diagnostics());
    if (proof.ok())
      for (const proof::Obligation& obligation : proof->obligations)
        if (obligation.verdict != proof::Verdict::Proved)
          why += std::string(proof::obligation_text(obligation.kind)) + ": " + obligation.subject +
                 ": " + obligation.detail + "\n";
    ADD_FAILURE() << name << " is not proved\n" << why;
  }
  EXPECT_GE(proved, 39);
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
    const auto trial = mutants::try_mutants(one.context, *one.algorithm, *one.program, options);
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

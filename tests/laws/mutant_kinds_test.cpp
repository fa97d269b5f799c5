// SPDX-License-Identifier: Apache-2.0
//
// Wrong Programs by kind of fault (lowering/mutants) against the prover: a run shows that each counted one is
// wrong, the run can be made again from the Program's text, and the prover proves none of them.
#include <algorithm>
#include <fstream>
#include <set>

#include "lowering/mutants/trial.h"
#include "tests/laws/random_case.h"

namespace tilewright {
namespace {

using mutants::Outcome;

struct Subject {
  const char* name;  // of a Program under tests/laws
  const char* algorithm;
};

constexpr Subject kOneThread[] = {
    {"mutants/dot4", "mutants/dot4"},     {"mutants/gap", "mutants/gap"},
    {"mutants/masked", "mutants/masked"}, {"mutants/online", "mutants/online"},
    {"mutants/staged", "mutants/staged"}, {"mutants/quantise", "mutants/quantise"},
    {"mutants/shift", "mutants/shift"},   {"mutants/wide", "mutants/wide"},
    {"mutants/half", "mutants/half"},
};
constexpr Subject kAgents[] = {
    {"mutants/hand_over", "mutants/hand_over"},
    {"flow/warps.derived", "flow/gemm"},
    {"agents/gemm_ring", "agents/gemm"},
    {"agents/ping_pong", "agents/gemm"},
    {"agents/attention_roles", "agents/attention"},
};

std::string read_file(const std::string& name) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  std::ifstream in(std::string(root ? root : ".") + "/tests/laws/" + name);
  EXPECT_TRUE(in.good()) << name << " is missing; run from the root of the source tree";
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

struct Loaded {
  ir::Context context;
  ir::Algorithm algorithm;
  program::Program program;

  explicit Loaded(const Subject& subject) {
    const Source first("algorithm", read_file(std::string(subject.algorithm) + ".tw"));
    auto parsed = ir::parse_algorithm(context, first);
    const Source second("program", read_file(std::string(subject.name) + ".twp"));
    auto read = program::parse_program(context, second);
    EXPECT_TRUE(parsed.ok()) << laws::messages(parsed.diagnostics());
    EXPECT_TRUE(read.ok()) << laws::messages(read.diagnostics());
    if (!parsed.ok() || !read.ok()) return;
    algorithm = *std::move(parsed);
    program = *std::move(read);
    program.name = algorithm.name;  // several Programs of one algorithm have names of their own
  }
};

// The counterexample of a mutant is one of the text that a person would be shown.
void expect_replays(const Subject& subject, const mutants::Tried& one) {
  Loaded fresh(subject);
  const Source source("mutant", program::print(one.mutant.program));
  auto program = program::parse_program(fresh.context, source);
  ASSERT_TRUE(program.ok()) << source.text() << laws::messages(program.diagnostics());
  check::Options options;
  options.seed = one.counterexample->run.seed;
  options.wide = one.counterexample->run.wide;
  options.sizes.emplace_back();
  for (const auto& [name, value] : one.counterexample->run.sizes)
    options.sizes.front()[fresh.context.symbol(name.text())] = value;
  options.seek_unreached = false;
  const auto report = check::check_program(fresh.context, fresh.algorithm, *program, options);
  ASSERT_TRUE(report.ok()) << laws::messages(report.diagnostics());
  ASSERT_EQ(report->verdict, check::Verdict::Refuted) << source.text();
  EXPECT_EQ(report->findings.front().message, one.counterexample->findings.front().message)
      << source.text();
}

class MutantKinds : public testing::TestWithParam<Subject> {};
void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

TEST_P(MutantKinds, NoneIsProvedAndEachRefutationIsOneOfItsText) {
  Loaded subject(GetParam());
  mutants::TrialOptions options;
  options.mutate.seed = laws::first_seed() + 1;
  options.mutate.per_kind = laws::num_cases(2, 40);
  // A proof of agents takes some tenths of a second.
  const bool agents = !program::is_sequential(subject.program.body);
  if (agents) options.mutate.every = static_cast<std::uint64_t>(laws::num_cases(6, 1));
  if (agents) options.mutate.per_kind = laws::num_cases(1, 40);
  options.step_budget = 200'000;
  const auto trial =
      mutants::try_mutants(subject.context, subject.algorithm, subject.program, options);
  ASSERT_TRUE(trial.ok()) << laws::messages(trial.diagnostics());
  int counted = 0;
  for (const mutants::Tried& one : trial->list) {
    EXPECT_EQ(one.outcome == Outcome::Equivalent, !one.counterexample.has_value());
    if (one.outcome == Outcome::Equivalent) continue;
    ++counted;
    expect_replays(GetParam(), one);
    EXPECT_NE(one.outcome, Outcome::Proved)
        << one.mutant.kind->name << ": " << one.mutant.before << " became " << one.mutant.after
        << "\n"
        << check::counterexample_text(one.mutant.program, *one.counterexample) << "\n"
        << program::print(one.mutant.program);
  }
  EXPECT_GE(counted, options.mutate.every > 1 ? 1 : 10) << mutants::table(*trial);
  // The rest are those that only sizes of the right Program lead to.
  EXPECT_GE(trial->count(Outcome::Refuted) * 10, (counted - trial->count(Outcome::Proved)) * 9)
      << mutants::table(*trial);
}

INSTANTIATE_TEST_SUITE_P(OneThread, MutantKinds, testing::ValuesIn(kOneThread));
INSTANTIATE_TEST_SUITE_P(Agents, MutantKinds, testing::ValuesIn(kAgents));

std::vector<std::string> texts_of(const Subject& name, std::uint64_t seed) {
  Loaded subject(name);
  mutants::MutateOptions options;
  options.seed = seed;
  options.per_kind = 3;
  std::vector<std::string> out;
  for (const mutants::Mutant& one : mutants::mutate(subject.context, subject.program, options).list)
    out.push_back(std::string(one.kind->name) + "\n" + program::print(one.program));
  return out;
}

TEST(MutantKinds, TheSameSeedMakesTheSameMutants) {
  for (const Subject& subject : {kOneThread[4], kAgents[2]}) {
    const std::vector<std::string> first = texts_of(subject, 5);
    EXPECT_EQ(first, texts_of(subject, 5));
    EXPECT_NE(first, texts_of(subject, 6));
    const std::set<std::string> distinct(first.begin(), first.end());
    EXPECT_EQ(distinct.size(), first.size());
  }
}

TEST(MutantKinds, EachIsWellFormedAndNotTheProgram) {
  for (const Subject& name : {kOneThread[4], kAgents[2]}) {
    Loaded subject(name);
    const std::string right = program::print(subject.program);
    for (const mutants::Mutant& one : mutants::mutate(subject.context, subject.program).list) {
      EXPECT_EQ(laws::messages(program::verify(one.program)), "") << one.kind->name;
      EXPECT_NE(program::print(one.program), right) << one.kind->name;
      EXPECT_NE(one.before, one.after) << one.kind->name;
    }
  }
}

// Every kind is made of some Program and shown to be wrong there: a kind of edits without an effect tests nothing.
TEST(MutantKinds, EachKindChangesWhatSomeProgramComputes) {
  std::set<std::string_view> missing;
  for (const mutants::Kind& kind : mutants::all_kinds()) missing.insert(kind.name);
  EXPECT_GE(missing.size(), 25u);
  const auto look = [&](const Subject& name) {
    Loaded subject(name);
    check::RefuteOptions run;
    run.step_budget = 200'000;
    run.seeds = 1;
    for (const std::string_view kind : std::set<std::string_view>(missing)) {
      mutants::MutateOptions options;
      options.kind = kind;
      for (const mutants::Mutant& one :
           mutants::mutate(subject.context, subject.program, options).list) {
        auto found = check::refute(subject.context, subject.algorithm, one.program, run);
        ASSERT_TRUE(found.ok()) << laws::messages(found.diagnostics());
        if (!*found) continue;
        missing.erase(kind);
        break;
      }
    }
  };
  for (const Subject& subject : kOneThread) look(subject);
  for (const Subject& subject : kAgents) look(subject);
  EXPECT_TRUE(missing.empty()) << testing::PrintToString(missing);
}

TEST(MutantKinds, TheRightProgramIsNotRefuted) {
  for (const Subject& name : kOneThread) {
    Loaded subject(name);
    auto found = check::refute(subject.context, subject.algorithm, subject.program);
    ASSERT_TRUE(found.ok()) << laws::messages(found.diagnostics());
    EXPECT_FALSE(found->has_value()) << name.name;
  }
}

}  // namespace
}  // namespace tilewright

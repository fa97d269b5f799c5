// SPDX-License-Identifier: Apache-2.0
//
// `tilewright mutants FILE.tw`: wrong programs made from what a schedule makes of it, or from a program that
// someone wrote, and whether the proof takes one of them for right.
#include "apps/cli/verb.h"
#include "apps/cli/work.h"
#include "frontend/base/format.h"
#include "lowering/mutants/trial.h"
#include "lowering/program/text.h"

namespace tilewright::cli {

namespace {

class Mutants final : public Verb {
 public:
  void declare(Arguments& arguments) override {
    stages_.declare_inputs(arguments);
    arguments.option("-p,--program", program_, "FILE",
                     "a .twp file to make mutants of instead of a schedule");
    arguments.number("--seed", seed_, 0, "N", "which of the mutants");
    arguments.number("--per-kind", per_kind_, 1, "N", "how many of each kind at most");
    arguments.option("--kind", kind_, "NAME", "this kind of fault alone");
    arguments.number("--budget", budget_, 1, "STEPS",
                     "steps that the runs of one mutant may take, about");
    arguments.option("-o,--output", output_, "DIR", "write the counted mutants into a folder");
    arguments.flag("--report", report_, "print the table by kind alone");
    arguments.flag("--json", json_, "print the report as JSON");
  }

  int run(Session& session) override {
    if (!program_.empty() && !stages_.schedule.empty())
      return session.usage("mutants: --program and --schedule exclude each other");
    if (!kind_.empty() && !mutants::find_kind(kind_)) return session.usage(unknown_kind());
    Work work(session, stages_);
    if (const int status = work.check_usage(); status != kExitOk) return status;
    if (program_.empty() ? !work.load_and_lower("") : !work.load_algorithm() || !work.fix_extents())
      return kExitDiagnostics;
    if (!program_.empty() && !work.read_program(program_, &program_source_, &loaded_))
      return kExitDiagnostics;
    mutants::TrialOptions options;
    options.mutate.seed = static_cast<std::uint64_t>(seed_);
    options.mutate.per_kind = static_cast<int>(std::min<std::int64_t>(per_kind_, 1'000'000));
    options.mutate.kind = kind_;
    options.step_budget = budget_;
    const program::Program& program = program_.empty() ? work.program() : loaded_;
    const auto trial = session.take(
        mutants::try_mutants(work.context(), work.algorithm(), program, options,
                             [&](const mutants::Tried& one) { session.progress(line(one)); }),
        program_source_ ? &*program_source_ : nullptr);
    if (!trial) return kExitDiagnostics;
    if (json_)
      session.print_json(mutants::to_json(program, *trial));
    else
      print(session, *trial);
    if (!output_.empty() && !write(session, *trial)) return kExitDiagnostics;
    return trial->count(mutants::Outcome::Proved) == 0 ? kExitOk : kExitDiagnostics;
  }

 private:
  std::string unknown_kind() const {
    std::string text = "mutants: no kind is named " + in_backticks(kind_) + "; there are";
    for (const mutants::Kind& kind : mutants::all_kinds()) text += " " + std::string(kind.name);
    return text;
  }

  static std::string line(const mutants::Tried& one) {
    const mutants::Mutant& mutant = one.mutant;
    std::string edit = in_backticks(mutant.before) + " became " + in_backticks(mutant.after);
    if (mutant.after.empty()) edit = in_backticks(mutant.before) + " is gone";
    if (mutant.before.empty()) edit = in_backticks(mutant.after) + " was added";
    return std::string(mutants::outcome_text(one.outcome)) + ": " + std::string(mutant.kind->name) +
           ": " + edit + "\n";
  }

  void print(Session& session, const mutants::Trial& trial) const {
    std::string text;
    for (const mutants::Tried& one : trial.list) {
      // What the prover is to be blamed for stands in the table's report too.
      if (report_ && one.outcome != mutants::Outcome::Proved) continue;
      text += line(one);
      if (one.counterexample)
        text += "    " + check::counterexample_text(one.mutant.program, *one.counterexample) + "\n";
      if (!one.obligation.empty() && one.outcome != mutants::Outcome::Proved)
        text += "    " + one.obligation + "\n";
    }
    text += "the program itself: " + std::string(proof::verdict_text(trial.original)) + "\n";
    session.print(text + mutants::table(trial));
  }

  // `missing_init_3.twp`: the third mutant of the kind that counts.
  bool write(Session& session, const mutants::Trial& trial) const {
    std::map<std::string, int> numbers;
    std::vector<std::pair<std::string, std::string>> texts;
    for (const mutants::Tried& one : trial.list) {
      if (one.outcome == mutants::Outcome::Equivalent) continue;
      const std::string kind(one.mutant.kind->name);
      texts.emplace_back(kind + "_" + std::to_string(++numbers[kind]) + ".twp",
                         program::print(one.mutant.program));
    }
    std::vector<OutputFile> files;
    for (const auto& [name, text] : texts) files.push_back({name, text});
    return session.take(write_files(output_, files)).has_value();
  }

  StageOptions stages_;
  std::string program_;
  std::string kind_;
  std::string output_;
  std::int64_t seed_ = 1;
  std::int64_t per_kind_ = 8;
  std::int64_t budget_ = 1'000'000;
  bool report_ = false;
  bool json_ = false;
  std::optional<Source> program_source_;
  program::Program loaded_;
};

}  // namespace

std::unique_ptr<Verb> make_mutants() { return std::make_unique<Mutants>(); }

}  // namespace tilewright::cli

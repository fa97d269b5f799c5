// SPDX-License-Identifier: Apache-2.0
#include "lowering/mutants/trial.h"

#include "frontend/base/format.h"
#include "lowering/check/plan.h"

namespace tilewright::mutants {

namespace {

constexpr int kMinRuns = 3;

std::string obligation_line(const proof::Obligation& one) {
  return std::string(proof::obligation_text(one.kind)) + ": " + one.subject +
         (one.detail.empty() ? "" : ": " + one.detail);
}

class Judge {
 public:
  Judge(ir::Context& context, const ir::Algorithm& algorithm, const program::Program& original,
        const TrialOptions& options)
      : context_(context), algorithm_(algorithm) {
    own_.step_budget = options.step_budget;
    thorough_.step_budget = options.step_budget;
    thorough_.seeds = 4;
    // An edit may hide a tail of the Program from those who look for its constants.
    for (check::Candidate& one : check::choose_sizes(original, options.step_budget, kMinRuns))
      if (one.cost <= options.step_budget) thorough_.sizes.push_back(std::move(one.sizes));
  }

  Result<Tried> judge(Mutant mutant) {
    Tried out;
    TILEWRIGHT_TRY(own, check::refute(context_, algorithm_, mutant.program, own_));
    const bool found = own.has_value();
    out.counterexample = std::move(own);
    if (!found) {
      TILEWRIGHT_TRY(any, check::refute(context_, algorithm_, mutant.program, thorough_));
      out.counterexample = std::move(any);
    }
    if (out.counterexample) {
      out.outcome = Outcome::Unknown;
      prove(mutant.program, out);
      if (out.outcome == Outcome::Unknown && found) out.outcome = Outcome::Refuted;
    }
    out.mutant = std::move(mutant);
    return out;
  }

 private:
  void prove(const program::Program& program, Tried& out) {
    const auto proof = proof::prove(context_, algorithm_, program);
    if (!proof.ok()) {
      out.obligation = proof.diagnostics().front().message;
      return;
    }
    if (proof->verdict == proof::Verdict::Proved) out.outcome = Outcome::Proved;
    if (proof->verdict == proof::Verdict::Refuted) out.outcome = Outcome::Refuted;
    out.by_proof = proof->verdict == proof::Verdict::Refuted;
    for (const proof::Obligation& one : proof->obligations)
      if (one.verdict == proof->verdict && proof->verdict != proof::Verdict::Proved) {
        out.obligation = obligation_line(one);
        break;
      }
  }

  ir::Context& context_;
  const ir::Algorithm& algorithm_;
  check::RefuteOptions own_;
  check::RefuteOptions thorough_;
};

struct Row {
  int made = 0;
  std::array<int, 4> outcomes{};
  int by_proof = 0;

  int counted() const { return made - outcomes[static_cast<int>(Outcome::Equivalent)]; }
  void add(const Tried& one) {
    ++made;
    ++outcomes[static_cast<int>(one.outcome)];
    by_proof += one.by_proof;
  }
};

std::vector<Row> rows_of(const Trial& trial) {
  std::vector<Row> rows(all_kinds().size());
  for (const Tried& one : trial.list)
    rows[static_cast<std::size_t>(one.mutant.kind - all_kinds().data())].add(one);
  return rows;
}

std::string line(std::string_view name, const Row& row) {
  std::string text(name);
  text.resize(std::max<std::size_t>(text.size(), 18), ' ');
  for (int value : {row.made, row.counted(), row.outcomes[static_cast<int>(Outcome::Proved)],
                    row.outcomes[static_cast<int>(Outcome::Refuted)], row.by_proof,
                    row.outcomes[static_cast<int>(Outcome::Unknown)]}) {
    const std::string number = std::to_string(value);
    text += std::string(10 - std::min<std::size_t>(number.size(), 9), ' ') + number;
  }
  return text + "\n";
}

}  // namespace

std::string_view outcome_text(Outcome outcome) {
  constexpr std::string_view kTexts[] = {"equivalent", "proved", "refuted", "unknown"};
  return kTexts[static_cast<int>(outcome)];
}

int Trial::count(Outcome outcome) const {
  return static_cast<int>(std::count_if(list.begin(), list.end(),
                                        [&](const Tried& one) { return one.outcome == outcome; }));
}

Result<Trial> try_mutants(ir::Context& context, const ir::Algorithm& algorithm,
                          const program::Program& program, const TrialOptions& options,
                          const Progress& progress) {
  Trial out;
  check::RefuteOptions first;
  first.step_budget = options.step_budget;
  TILEWRIGHT_TRY(wrong, check::refute(context, algorithm, program, first));
  if (wrong) return Failure{wrong->findings};
  const auto proof = proof::prove(context, algorithm, program);
  if (proof.ok()) out.original = proof->verdict;
  Mutants mutants = mutate(context, program, options.mutate);
  out.ill_formed = std::move(mutants.ill_formed);
  Judge judge(context, algorithm, program, options);
  for (Mutant& mutant : mutants.list) {
    TILEWRIGHT_TRY(tried, judge.judge(std::move(mutant)));
    if (progress) progress(tried);
    out.list.push_back(std::move(tried));
  }
  return out;
}

std::string table(const Trial& trial) {
  std::string text =
      "kind                    made   counted    proved   refuted  by proof   unknown\n";
  Row sum;
  const std::vector<Row> rows = rows_of(trial);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].made > 0) text += line(all_kinds()[i].name, rows[i]);
  for (const Tried& one : trial.list) sum.add(one);
  return text + line("all", sum);
}

Json to_json(const program::Program& program, const Trial& trial) {
  Json out = Json::object();
  out.set("version", 1);
  out.set("program", program.name.text());
  out.set("original", proof::verdict_text(trial.original));
  Json kinds = Json::array();
  const std::vector<Row> rows = rows_of(trial);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Json row = Json::object();
    row.set("kind", all_kinds()[i].name);
    row.set("fault", all_kinds()[i].fault);
    row.set("ill_formed", trial.ill_formed[i]);
    row.set("made", rows[i].made);
    row.set("counted", rows[i].counted());
    for (Outcome outcome : {Outcome::Proved, Outcome::Refuted, Outcome::Unknown})
      row.set(outcome_text(outcome), rows[i].outcomes[static_cast<std::size_t>(outcome)]);
    row.set("by_proof", rows[i].by_proof);
    kinds.push(std::move(row));
  }
  out.set("kinds", std::move(kinds));
  Json list = Json::array();
  for (const Tried& one : trial.list) {
    Json row = Json::object();
    row.set("kind", one.mutant.kind->name);
    row.set("statement", one.mutant.statement);
    row.set("before", one.mutant.before);
    row.set("after", one.mutant.after);
    row.set("outcome", outcome_text(one.outcome));
    if (one.counterexample)
      row.set("counterexample", check::to_json(one.mutant.program, *one.counterexample));
    if (!one.obligation.empty()) row.set("obligation", one.obligation);
    list.push(std::move(row));
  }
  out.set("mutants", std::move(list));
  return out;
}

}  // namespace tilewright::mutants

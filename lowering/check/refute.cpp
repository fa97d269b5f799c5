// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/refute.h"

#include <algorithm>

#include "lowering/check/plan.h"

namespace tilewright::check {

namespace {

constexpr int kMinRuns = 3;

std::vector<ir::Bindings> sizes_to_try(const program::Program& program,
                                       const RefuteOptions& options) {
  std::vector<Candidate> chosen = choose_sizes(program, options.step_budget, kMinRuns);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
  std::vector<ir::Bindings> out;
  for (Candidate& one : chosen)
    if (one.cost <= options.step_budget) out.push_back(std::move(one.sizes));
  for (const ir::Bindings& sizes : options.sizes)
    if (satisfies(program, sizes) && std::find(out.begin(), out.end(), sizes) == out.end())
      out.push_back(sizes);
  return out;
}

std::string evidence(const Diagnostic& diagnostic, std::string_view key) {
  for (const auto& [name, value] : diagnostic.evidence)
    if (name == key) return value;
  return {};
}

Counterexample counterexample_of(Report report) {
  Counterexample out;
  out.run = report.runs.back();
  const Diagnostic& first = report.findings.front();
  if (first.code == Code::CheckRefuted) {
    out.cell = evidence(first, "cell");
    out.expected = evidence(first, "expected");
    out.got = evidence(first, "got");
    out.bound = evidence(first, "bound");
  }
  out.findings = std::move(report.findings);
  return out;
}

}  // namespace

std::string counterexample_text(const program::Program& program, const Counterexample& one) {
  std::string text = sizes_text(program.extents, one.run.sizes) + ", seed " +
                     std::to_string(one.run.seed) + (one.run.wide ? ", wide" : "") + ": ";
  if (one.cell.empty()) return text + one.findings.front().message;
  return text + one.cell + " is " + one.got + " instead of " + one.expected;
}

Json to_json(const program::Program& program, const Counterexample& one) {
  Json sizes = Json::object();
  for (const ir::ExtentDecl& extent : program.extents)
    sizes.set(extent.name.text(), one.run.sizes.at(extent.name));
  Json out = Json::object();
  out.set("sizes", std::move(sizes));
  out.set("seed", static_cast<std::int64_t>(one.run.seed));
  out.set("wide", one.run.wide);
  if (one.cell.empty()) {
    out.set("trap", one.findings.front().message);
    return out;
  }
  out.set("cell", one.cell);
  out.set("expected", one.expected);
  out.set("got", one.got);
  out.set("bound", one.bound);
  return out;
}

Result<std::optional<Counterexample>> refute(ir::Context& context, const ir::Algorithm& algorithm,
                                             const program::Program& program,
                                             const RefuteOptions& options) {
  TILEWRIGHT_CHECK_OK(check_interface(algorithm, program));
  Options run;
  run.derived = options.derived;
  run.seek_unreached = false;
  run.step_limit = options.step_budget * 4;
  run.sizes = sizes_to_try(program, options);
  if (run.sizes.empty()) return std::optional<Counterexample>();
  for (int round = 0; round <= options.seeds; ++round) {
    run.wide = round == options.seeds;
    run.seed = static_cast<std::uint64_t>(run.wide ? 1 : round + 1);
    TILEWRIGHT_TRY(report, check_program(context, algorithm, program, run));
    if (report.verdict == Verdict::Refuted)
      return std::optional(counterexample_of(std::move(report)));
  }
  return std::optional<Counterexample>();
}

}  // namespace tilewright::check

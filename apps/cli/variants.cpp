// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/variants.h"

#include "frontend/base/format.h"
#include "frontend/base/hash.h"
#include "frontend/ir/text.h"
#include "schedules/directives/text.h"

namespace tilewright::cli {

namespace {
constexpr std::string_view kGeneric = "generic";
}  // namespace

bool Variants::load(const std::string& machine) {
  for (const std::string& path : paths_) {
    One one;
    auto schedule = work_.read_schedule(path, &one.source);
    if (!schedule) return false;
    one.schedule = *std::move(schedule);
    all_.push_back(std::move(one));
    const tree::Schedule& last = all_.back().schedule;
    if (machine.empty() && last.machine != all_.front().schedule.machine) {
      session_.report({{Code::VariantTargets,
                        last.machine_span,
                        in_backticks(last.name.text()) + " is for " + in_backticks(last.machine) +
                            ", " + in_backticks(all_.front().name()) + " is for " +
                            in_backticks(all_.front().schedule.machine),
                        "name one machine for all of them with --target",
                        {}}},
                      &*all_.back().source);
      return false;
    }
  }
  machine_ = machine.empty() ? all_.front().schedule.machine : machine;
  if (!all_.back().schedule.guards.empty()) {
    One one;
    one.schedule = directives::default_schedule(work_.context(), work_.algorithm(), machine_);
    one.schedule.name = work_.context().symbol(kGeneric);
    all_.push_back(std::move(one));
  }
  return true;
}

bool Variants::lower(std::string_view without) {
  std::vector<tree::Schedule> schedules;
  for (const One& one : all_) schedules.push_back(one.schedule);
  std::size_t at = 0;
  auto table = build::decide(work_.polyhedra(), work_.algorithm(), schedules, &at);
  if (!table.ok()) {
    // The name `generic` is taken by a schedule before it.
    std::vector<Diagnostic> diagnostics = table.diagnostics();
    const Source* source = all_[at].source ? &*all_[at].source : nullptr;
    for (std::size_t i = 0; !source && i < at; ++i)
      if (all_[i].schedule.name == all_[at].schedule.name) {
        source = &*all_[i].source;
        for (Diagnostic& d : diagnostics) d.span = all_[i].schedule.span;
      }
    session_.report(diagnostics, source);
    return false;
  }
  table_ = *std::move(table);
  for (One& one : all_) {
    auto program = work_.lower_schedule(one.schedule, one.source ? &*one.source : nullptr, without,
                                        &one.derived);
    if (!program) return false;
    one.program = *std::move(program);
  }
  return true;
}

bool Variants::check(const check::Options& options) {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    One& one = all_[i];
    session_.progress("checking " + one.name() + " against the algorithm");
    check::Options own = options;
    own.derived = one.derived ? &*one.derived : nullptr;
    for (const build::DecisionTable::Boundary& boundary : table_.boundaries)
      if (boundary.row == i) own.more_sizes.push_back(boundary.sizes);
    auto report =
        session_.take(check::check_program(work_.context(), work_.algorithm(), one.program, own),
                      work_.algorithm_source());
    if (!report) return false;
    one.report = *std::move(report);
    if (one.report.verdict == check::Verdict::Refuted) {
      session_.note("the schedule " + in_backticks(one.name()) + ":");
      report_findings(session_, work_, one.report, nullptr);
      return false;
    }
    const bool checked = one.report.verdict == check::Verdict::Checked;
    if (checked && one.report.unreached.empty()) continue;
    Diagnostic diagnostic{
        checked ? Code::PartNotReached : Code::NotChecked,
        {},
        checked ? "the check reached only a part of the program of " + in_backticks(one.name())
                : "the program of " + in_backticks(one.name()) +
                      " was not checked: " + one.report.reason,
        "raise --check-budget, leave extents open, or give --no-check",
        {}};
    for (const check::Unreached& open : one.report.unreached)
      diagnostic.evidence.emplace_back("not reached", open.outcome + ": " + open.reason);
    session_.report(diagnostic);
  }
  return true;
}

void Variants::leave_unchecked(const std::string& reason) {
  for (One& one : all_) one.report.reason = reason;
}

void Variants::prove() {
  for (One& one : all_) one.proving = try_to_prove(work_, one.program);
}

Result<program::Dispatch> Variants::dispatch() {
  std::vector<program::Variant> variants;
  for (const One& one : all_) variants.push_back({one.name(), one.schedule.guards, one.program});
  TILEWRIGHT_TRY(dispatch, program::derive_dispatch(work_.context(), std::move(variants)));
  // The table that is built evaluates guards; the one that was judged is made of polyhedra.
  for (const build::DecisionTable::Boundary& boundary : table_.boundaries) {
    const std::size_t chosen = program::choose(dispatch, boundary.sizes);
    if (chosen == boundary.row) continue;
    return fail(Code::CheckRefuted, {},
                "at " + check::sizes_text(work_.algorithm().extents, boundary.sizes) +
                    " the decision table chooses " + in_backticks(all_[chosen].name()) +
                    ", the guards say " + in_backticks(all_[boundary.row].name()),
                "this is a defect of Tilewright: please report it with the schedules");
  }
  return dispatch;
}

void Variants::describe(artifact::Origin& origin) const {
  std::string texts;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const One& one = all_[i];
    const std::string text = directives::print(one.schedule);
    texts += text;
    const std::string verdict =
        with_proof(one.proving, check::verdict_line(one.program, one.report));
    origin.verdict += (i == 0 ? "" : "; ") + one.name() + ": " + verdict;
    origin.variants.push_back({content_hash(text), table_.sizes[i], verdict,
                               check::to_json(one.program, one.report), one.proving.json});
  }
  origin.schedule_name = names();
  origin.schedule_hash = content_hash(texts);
}

Json Variants::to_json() const {
  Json list = Json::array();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const One& one = all_[i];
    Json guard = Json::array();
    for (ir::Expr condition : one.schedule.guards) guard.push(ir::print(condition));
    Json entry = Json::object();
    entry.set("name", one.name());
    entry.set("guard", std::move(guard));
    entry.set("runs_for", table_.sizes[i]);
    entry.set("check", check::to_json(one.program, one.report, true));
    entry.set("proof", one.proving.json);
    list.push(std::move(entry));
  }
  return list;
}

std::string Variants::names() const {
  std::string text;
  for (const One& one : all_) text += (text.empty() ? "" : ", ") + one.name();
  return text;
}

}  // namespace tilewright::cli

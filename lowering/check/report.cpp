// SPDX-License-Identifier: Apache-2.0
//
// A report as a line for the manifest and as JSON.
#include "lowering/check/check.h"

namespace tilewright::check {

std::string_view verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::Checked: return "checked";
    case Verdict::Refuted: return "refuted";
    case Verdict::NotChecked: return "not checked";
  }
  __builtin_unreachable();
}

std::string sizes_text(const std::vector<ir::ExtentDecl>& extents, const ir::Bindings& sizes) {
  std::string text;
  for (const ir::ExtentDecl& extent : extents) {
    const auto it = sizes.find(extent.name);
    if (it == sizes.end()) continue;
    if (!text.empty()) text += ' ';
    text += std::string(extent.name.text()) + "=" + std::to_string(it->second);
  }
  return text.empty() ? "(no extents)" : text;
}

std::string verdict_line(const program::Program& program, const Report& report) {
  if (report.verdict == Verdict::Refuted) return "refuted";
  if (report.verdict == Verdict::NotChecked) return "not checked: " + report.reason;
  std::string text = "checked for sizes ";
  std::vector<std::string> seen;
  for (const Run& run : report.runs) {
    std::string sizes = sizes_text(program.extents, run.sizes);
    bool known = false;
    for (const std::string& other : seen) known = known || other == sizes;
    if (known) continue;
    if (!seen.empty()) text += ", ";
    text += sizes;
    seen.push_back(std::move(sizes));
  }
  if (const std::size_t missed = report.unreached.size(); missed > 0)
    text +=
        "; " + std::to_string(missed) + (missed == 1 ? " outcome" : " outcomes") + " not reached";
  return text;
}

Json to_json(const program::Program& program, const Report& report, bool in_full) {
  Json runs = Json::array();
  for (const Run& run : report.runs) {
    Json sizes = Json::object();
    for (const ir::ExtentDecl& extent : program.extents)
      if (const auto it = run.sizes.find(extent.name); it != run.sizes.end())
        sizes.set(extent.name.text(), it->second);
    Json entry = Json::object();
    entry.set("sizes", std::move(sizes));
    entry.set("seed", static_cast<std::int64_t>(run.seed));
    entry.set("wide", run.wide);
    runs.push(std::move(entry));
  }
  Json unreached = Json::array();
  for (const Unreached& one : report.unreached) {
    Json entry = Json::object();
    entry.set("outcome", one.outcome);
    entry.set("reason", one.reason);
    unreached.push(std::move(entry));
  }
  Json out = Json::object();
  out.set("verdict", verdict_text(report.verdict));
  if (!report.reason.empty()) out.set("reason", report.reason);
  out.set("runs", std::move(runs));
  out.set("steps", report.steps);
  out.set("cells", report.cells);
  out.set("cells_without_bound", report.cells_without_bound);
  out.set("worst_error_over_bound", report.worst_ratio);
  out.set("unreached", std::move(unreached));
  out.set("impossible", static_cast<std::int64_t>(report.impossible.size()));
  if (!in_full) return out;
  Json impossible = Json::array();
  for (const std::string& outcome : report.impossible) impossible.push(outcome);
  out.set("impossible_outcomes", std::move(impossible));
  return out;
}

}  // namespace tilewright::check

// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/entries.h"

namespace tilewright::program {

bool needs_data(EntryKind kind, const Dispatch& dispatch, int argument) {
  const Parameter& of = dispatch.interface.parameters[static_cast<std::size_t>(argument)];
  switch (kind) {
    case EntryKind::Query:
    case EntryKind::Table:
    case EntryKind::PlanQuery: return false;
    case EntryKind::Run:
    case EntryKind::Explain: return true;
    case EntryKind::Plan: return of.is_const;
    case EntryKind::RunPlanned: return dispatch.run_reads(of);
  }
  __builtin_unreachable();
}

namespace {

// Beside those of a query: it has no workspace, and writes to no tensor.
bool plan_makes(const Check& check, bool has_data) {
  switch (check.kind) {
    case CheckKind::Cpu:
    case CheckKind::PlanSize:
    case CheckKind::PlanAlignment: return true;
    case CheckKind::PlanOverlap: return check.argument >= 0 && has_data;
    case CheckKind::Strides:
    case CheckKind::Alignment:
    case CheckKind::ValueRange:
    case CheckKind::RangeNotEmpty:
    case CheckKind::Monotone: return has_data;
    default: return false;
  }
}

}  // namespace

bool makes_check(EntryKind kind, const Dispatch& dispatch, const Check& check) {
  const bool has_data = check.argument < 0 || needs_data(kind, dispatch, check.argument);
  switch (kind) {
    case EntryKind::Run: return !is_plan_check(check.kind);
    case EntryKind::Query:
    case EntryKind::Table:
    case EntryKind::PlanQuery: return check.in_query;
    case EntryKind::Explain:
      return !is_plan_check(check.kind) && check.kind != CheckKind::WorkspaceAlignment &&
             check.kind != CheckKind::WorkspaceOverlap && check.kind != CheckKind::Injective;
    case EntryKind::Plan: return check.in_query || plan_makes(check, has_data);
    case EntryKind::RunPlanned:
      return check.in_query ||
             (has_data && (check.other < 0 || needs_data(kind, dispatch, check.other)));
  }
  __builtin_unreachable();
}

}  // namespace tilewright::program

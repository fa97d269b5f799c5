// SPDX-License-Identifier: Apache-2.0
//
// The functions of a library, and which checks of the contract each makes: one list for all code generators.
// Laws: no entry touches the data of a tensor that it does not need; what an entry reads was checked by it, or where
// its plan was made. Tests: tests/differential/plan_test.cpp, llvm_entry_test.cpp, dispatch_test.cpp.
#pragma once

#include "lowering/program/dispatch.h"

namespace tilewright::program {

enum class EntryKind : std::uint8_t {
  Run,  // NAME
  Query,  // NAME_query: the bytes of workspace
  Table,  // internal: sizes and variants as text, or nothing where a check of Query fails
  Explain,  // NAME_explain: the table, then every check that needs no workspace
  PlanQuery,  // NAME_plan_query: the bytes of a plan, and of the workspace of a run with it
  Plan,  // NAME_plan: fills the plan
  RunPlanned,  // NAME_run: with a plan
};

inline constexpr bool takes_plan(EntryKind kind) { return kind >= EntryKind::PlanQuery; }
// Whether it looks at the elements of an argument; of the others their data may be null.
bool needs_data(EntryKind kind, const Dispatch& dispatch, int argument);
bool makes_check(EntryKind kind, const Dispatch& dispatch, const Check& check);

}  // namespace tilewright::program

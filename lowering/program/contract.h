// SPDX-License-Identifier: Apache-2.0
//
// What a library function demands of its arguments, derived from the Program alone, as one ordered list:
// the code generator emits it, the header documents it, the manifest prints it. Also the caller's workspace:
// where each buffer lies in it and how large it is. Laws: when every check passes, each extent has the value
// that the shapes say, and no check reads what an earlier one has not made safe to read.
// Tests: tests/unit/lowering/program/contract_test.cpp.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/base/result.h"
#include "lowering/program/program.h"

namespace tilewright::program {

// An extent's value is read from the first input dimension that is exactly it (else an output's).
struct ExtentBinding {
  Symbol extent;
  int parameter = 0;
  int dimension = 0;
};

enum class CheckKind : std::uint8_t {
  Call,  // the call context, its executor and error detail are well formed
  Cpu,  // the target's instructions are there; after Call, whose error detail says what failed
  NotNull,  // a descriptor
  Rank,  // value: the rank
  ElementType,  // of parameter `argument`
  Device,  // host memory
  ShapeNotNull,  // the shape array, where the rank is not 0
  ExtentMin,  // value: least allowed; binds the extent in `expr` on first sight
  ExtentMax,  // value: largest allowed
  ExtentMultiple,  // value: divisor
  Shape,  // the dimension equals `expr`
  Strides,  // null, or compact row-major
  Bytes,  // fewer than 2^61 bytes, also without the zeros among extents; they fit size_bytes; data is there
  Alignment,  // value: of one element
  Writable,  // an output is not marked read-only
  Requires,  // `expr` holds
  Overlap,  // arguments `argument` and `other` share no byte
  WorkspaceSize,  // at least the formula
  WorkspaceAlignment,  // value: the alignment
  WorkspaceOverlap,  // the workspace shares no byte with `argument`
  // Of the values of an input; these read its data, and write to the workspace alone.
  ValueRange,  // expr <= value < other_expr
  RangeNotEmpty,  // expr < other_expr, unless there are no values: a clamp needs somewhere to clamp to
  Monotone,  // along the last dimension no value is less than the one before
  Injective,  // along the last dimension no value stands twice; after ValueRange of the same argument
  // Of a call with a plan.
  PlanSize,  // at least the formula
  PlanAlignment,  // value: the alignment
  PlanOverlap,  // the plan shares no byte with `argument`; -1: with the workspace
  PlanMagic,  // it was made by a plan function, and finished
  PlanVariant,  // of the same text as what the chosen variant reads
  PlanExtent,  // at the same value of the extent in `expr`, if it depends on it; value: the extent's number
};
std::string_view check_text(CheckKind kind);
bool is_plan_check(CheckKind kind);  // made by NAME_plan or NAME_run alone
// The status (runtime.h) that a call gets where the check fails, and its name: "TILEWRIGHT_WRONG_RANK".
std::int32_t status_of(CheckKind kind);
std::string_view status_name(std::int32_t status);

struct Check {
  CheckKind kind = CheckKind::Call;
  int argument = -1;
  int dimension = -1;
  int other = -1;
  std::int64_t value = 0;
  Expr expr;
  bool in_query = false;  // `_query` makes this check too
  Expr other_expr = {};
};

// Offsets are relative to the start of the caller's workspace, or inside a parallel loop to the worker's
// slice. All are expressions over extents and `workers`.
struct WorkspacePlan {
  std::unordered_map<Symbol, Expr> offset;  // bytes, by buffer
  std::unordered_map<Symbol, Expr> slice_begin;  // bytes, by variable of an outermost parallel loop
  std::unordered_map<Symbol, Expr> slice_size;  // bytes of one worker
  Symbol workers;  // the variable that stands for the number of workers
  Expr total;  // bytes; the check Injective uses them before the body does
};
inline constexpr std::int64_t kWorkspaceAlignment = 64;
// That many times the bytes of a parameter fit 63 bits: rounding up to tiles, and counting elements that share a
// byte, then stays within 64 bits too (lowering/proof/width.h).
inline constexpr std::int64_t kByteHeadroom = 4;

struct Contract {
  std::vector<ExtentBinding> bindings;
  std::vector<Check> checks;
  WorkspacePlan workspace;
};

// Refuses a Program with an extent that no dimension gives (E0601), or with a workspace buffer whose size
// depends on a loop variable (E0602).
Result<Contract> derive_contract(ir::Context& context, const Program& program);
// The bytes of workspace of a body that needs `total`: its checks of values need a byte for each value that a row
// may hold, and are over before it begins.
Expr with_checks_of_values(ir::Context& context, const Contract& contract, Expr total);
// The workspace alone, buffers of the plan included.
Result<WorkspacePlan> derive_workspace(ir::Context& context, const Program& program);

}  // namespace tilewright::program

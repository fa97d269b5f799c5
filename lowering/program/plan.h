// SPDX-License-Identifier: Apache-2.0
//
// What a Program makes once of its constants: the buffers that it allocates in `plan` memory. They stand at the
// root, one inside the other, and each is filled by the statements before the rest of its body, from constants
// and from earlier buffers of the plan alone. So a Program is two: `plan` fills the buffers, `run` reads them.
// The caller keeps the plan between calls; a call without one fills the buffers in its workspace.
// Laws: running `plan` and then `run` gives the bits of the Program itself; two variants whose plans have the
// same text share them.
//
//   alloc wp : f32[(N + 15) / 16, K, 16] in plan {
//     for j_o in 0 .. (N + 15) / 16 { ... wp[j_o, k, j_i] = w[k, j_o * 16 + j_i] ... }
//     for i in 0 .. M { ... reads wp ... }
//   }
// Tests: tests/unit/lowering/program/plan_test.cpp, tests/differential/plan_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowering/program/contract.h"

namespace tilewright::program {

struct PlanBuffer {
  Symbol name;
  ScalarType type = ScalarType::F32;
  std::vector<Expr> extents;
  Expr offset;  // bytes from the start of the first buffer
};

struct Planned {
  Program plan;  // the inputs, and an output for each buffer
  Program run;  // the inputs, an input for each buffer, the outputs
  // Their workspaces alone; `plan` needs none.
  Contract plan_contract;
  Contract run_contract;
  std::vector<PlanBuffer> buffers;
  std::vector<bool> depends_on;  // by extent in order of declaration: whether the buffers do
  Expr bytes;  // of all buffers
  // What tells plans of different texts apart.
  std::uint64_t hash[2] = {0, 0};
};

// A plan in memory: this head, then the buffers. Words of 64 bits: magic, the two of the hash, the bytes of the
// whole plan, then for each extent its value, or -1 where the plan does not depend on it.
inline constexpr std::uint64_t kPlanMagic = 0x31304e414c505754;  // "TWPLAN01"
inline constexpr int kPlanHash = 1;
inline constexpr int kPlanBytes = 3;
inline constexpr int kPlanExtents = 4;
std::int64_t plan_head_bytes(const Program& program);

bool has_plan(const Program& program);
// Whether any statement reads the tensor.
bool reads_tensor(const Program& program, Symbol tensor);

// The first statement that keeps a Program from being taken apart, and why.
struct PlanFault {
  Stmt stmt;
  std::string message;
  std::string remedy;
};
std::optional<PlanFault> find_plan_fault(const Program& program);

// Of a well-formed Program with a plan.
Result<Planned> split_plan(ir::Context& context, const Program& program);

}  // namespace tilewright::program

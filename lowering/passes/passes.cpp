// SPDX-License-Identifier: Apache-2.0
#include "lowering/passes/passes.h"

namespace tilewright::passes {

const std::vector<Pass>& all_passes() {
  static const std::vector<Pass> passes = [] {
    std::vector<Pass> out;
#define TILEWRIGHT_PASS(name, summary) \
  out.push_back({static_cast<int>(out.size()) + 1, #name, summary, &name});
#include "lowering/passes/passes.def"
#undef TILEWRIGHT_PASS
    return out;
  }();
  return passes;
}

namespace {

Result<Ok> observe(const AfterPass& after, int number, std::string_view name, Program& program) {
  if (!after) return Ok{};
  TILEWRIGHT_TRY(replacement, after(number, name, program));
  if (replacement) program = *std::move(replacement);
  return Ok{};
}

}  // namespace

Result<Program> run_passes(ir::Context& context, Program program, const AfterPass& after,
                           std::string_view without) {
  TILEWRIGHT_CHECK_OK(observe(after, 0, "build", program));
  for (const Pass& pass : all_passes()) {
    if (pass.name != without) program = pass.run(context, program);
    TILEWRIGHT_CHECK_OK(observe(after, pass.number, pass.name, program));
  }
  return program;
}

}  // namespace tilewright::passes

// SPDX-License-Identifier: Apache-2.0
//
// The blocks of docs/program.md hold what the page says of them: `twp canonical` is printed as it stands, `twp run`
// runs in every order of asynchronous operations, `twp error CODE` is refused with that code, when it
// is read or in every order when it is run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "frontend/base/render.h"
#include "lowering/program/interpret.h"
#include "lowering/program/text.h"

namespace tilewright::program {
namespace {

// Every extent is 16, every input counts up.
Result<InterpretResult> run(ir::Context& context, const Program& program, AsyncOrder order) {
  ir::Bindings sizes;
  for (const ir::ExtentDecl& extent : program.extents) sizes[extent.name] = 16;
  ir::TensorMap inputs;
  for (const Parameter& parameter : program.parameters) {
    if (parameter.is_output) continue;
    std::vector<std::int64_t> shape;
    for (Expr e : parameter.shape) shape.push_back(ir::evaluate_extents(e, sizes));
    ir::Tensor tensor = ir::make_tensor(parameter.type, shape);
    for (std::size_t i = 0; i < tensor.data.size(); ++i) tensor.data[i].f = double(i % 7);
    inputs.emplace(parameter.name, std::move(tensor));
  }
  InterpretOptions options;
  options.async_order = order;
  options.schedule_seed = 7;
  return interpret(context, program, sizes, inputs, options);
}

TEST(ProgramPage, BlocksHoldWhatTheySay) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  std::ifstream page(std::string(root ? root : ".") + "/docs/program.md");
  ASSERT_TRUE(page.is_open());
  int blocks = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("```twp", 0) != 0) continue;
    std::istringstream info(line.substr(3));
    std::string language, kind, code;
    info >> language >> kind >> code;
    std::string text;
    while (std::getline(page, line) && line != "```") text += line + "\n";
    ++blocks;
    SCOPED_TRACE(kind + " " + code + "\n" + text);
    ir::Context context;
    const Source source("program.md", text);
    auto program = parse_program(context, source);
    if (kind == "error" && !program.ok()) {
      EXPECT_EQ(code_text(program.diagnostics()[0].code), code);
      continue;
    }
    ASSERT_TRUE(program.ok()) << render(program.diagnostics(), &source);
    if (kind == "canonical") {
      EXPECT_EQ(print(*program), text);
    }
    for (AsyncOrder order : {AsyncOrder::Eager, AsyncOrder::Lazy, AsyncOrder::Random}) {
      auto result = run(context, *program, order);
      if (kind != "error") {
        EXPECT_TRUE(result.ok()) << render(result.diagnostics(), &source);
        continue;
      }
      ASSERT_FALSE(result.ok());
      EXPECT_EQ(code_text(result.diagnostics()[0].code), code)
          << render(result.diagnostics(), &source);
    }
  }
  EXPECT_GE(blocks, 16);
}

}  // namespace
}  // namespace tilewright::program

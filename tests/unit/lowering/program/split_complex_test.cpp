// SPDX-License-Identifier: Apache-2.0
//
// Programs with complex numbers: what the parts of stores are, by hand, and what statements do not hold them.
#include "lowering/program/split_complex.h"

#include <gtest/gtest.h>

#include "frontend/base/render.h"
#include "lowering/program/contract.h"
#include "lowering/program/interpret.h"
#include "lowering/program/text.h"
#include "lowering/program/verify.h"

namespace tilewright::program {
namespace {

class SplitComplex : public ::testing::Test {
 protected:
  Program parse(const std::string& text) {
    const Source source("p.twp", text);
    auto program = parse_program(context, source);
    EXPECT_TRUE(program.ok()) << render(program.diagnostics(), &source);
    return program.ok() ? *program : Program{};
  }
  ir::Context context;
};

TEST_F(SplitComplex, BothPartsAreComputedBeforeEitherIsStored) {
  const Program program = parse(R"(program p for p {
  input z : c64[2]
  output y : c64[2]
  for i in 0 .. 2 {
    y[i] = z[i] * complex(f32(0), f32(1))
    y[i] = y[i] * y[i]
  }
}
)");
  ir::Tensor z = ir::make_tensor(ScalarType::C64, {2});
  ASSERT_EQ(z.data.size(), 4U);
  const double values[] = {1, 2, -3, 0.5};
  for (std::size_t i = 0; i < 4; ++i) z.data[i].f = values[i];
  auto run = interpret(context, program, {}, {{context.symbol("z"), z}});
  ASSERT_TRUE(run.ok()) << run.diagnostics()[0].message;
  const ir::Tensor& y = run->outputs.at(context.symbol("y"));
  // (i z)^2 = -(z^2): -(1 - 4 + 4i), -(9 - 0.25 - 3i).
  const double expected[] = {3, -4, -8.75, 3};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(y.data[i].f, expected[i]) << i;
}

TEST_F(SplitComplex, AnIndexIsReadBeforeThePartThatItReadsChanges) {
  const Program program = parse(R"(program p for p {
  output y : c64[3]
  for i in 0 .. 3 {
    y[i] = complex(f32(i), f32(i))
  }
  y[index(re(y[1]))] = complex(f32(2), f32(7))
}
)");
  auto run = interpret(context, program, {}, {});
  ASSERT_TRUE(run.ok()) << run.diagnostics()[0].message;
  const ir::Tensor& y = run->outputs.at(context.symbol("y"));
  const double expected[] = {0, 0, 2, 7, 2, 2};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(y.data[i].f, expected[i]) << i;
}

TEST_F(SplitComplex, ParametersBuffersAndTheContract) {
  const Program program = parse(R"(program p for p {
  extent N
  input z : c64[N]
  input x : f32[N]
  output y : c128[N]
  alloc t : c64[N] in workspace {
    for i in 0 .. N {
      t[i] = z[i]
    }
    for j in 0 .. N {
      y[j] = c128(t[j])
    }
  }
}
)");
  EXPECT_TRUE(has_complex(program));
  const Program parts = split_complex(context, program);
  EXPECT_FALSE(has_complex(parts));
  ASSERT_EQ(parts.parameters.size(), 5U);
  const char* names[] = {"z're", "z'im", "x", "y're", "y'im"};
  for (std::size_t p = 0; p < 5; ++p) {
    EXPECT_EQ(parts.parameters[p].name.text(), names[p]);
    EXPECT_EQ(parts.parameters[p].type, p < 3 ? ScalarType::F32 : ScalarType::F64);
  }
  EXPECT_EQ(print(program), print(parse(print(program))));
  auto contract = derive_contract(context, program);
  ASSERT_TRUE(contract.ok());
  // Two parts of 4 N bytes each, every one aligned to 64.
  EXPECT_EQ(ir::evaluate_extents(contract->workspace.total, {{context.symbol("N"), 20}}), 2 * 128);
  const std::int64_t bytes[] = {8, 4, 16};
  const std::int64_t alignment[] = {4, 4, 8};
  for (const Check& check : contract->checks) {
    if (check.kind == CheckKind::Bytes) {
      EXPECT_EQ(check.value, bytes[check.argument]);
    } else if (check.kind == CheckKind::Alignment) {
      EXPECT_EQ(check.value, alignment[check.argument]);
    }
  }
}

TEST_F(SplitComplex, WhatIsOneNumberForOthersIsRefused) {
  for (const char* body :
       {"atomic sum y[0] by x[0]", "channel c[1] : c64 holds 1 {\n y[0] = x[0]\n }"}) {
    const Source source(
        "p.twp", std::string("program p for p {\n input x : c64[2]\n output y : c64[2]\n ") + body +
                     "\n}\n");
    auto program = parse_program(context, source);
    ASSERT_FALSE(program.ok()) << body;
    EXPECT_EQ(program.diagnostics()[0].code, Code::OperandType) << body;
    EXPECT_FALSE(program.diagnostics()[0].remedy.empty());
  }
}

}  // namespace
}  // namespace tilewright::program

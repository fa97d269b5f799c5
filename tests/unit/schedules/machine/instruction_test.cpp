// SPDX-License-Identifier: Apache-2.0
#include "schedules/machine/instruction.h"

#include <gtest/gtest.h>

#include <bit>

#include "frontend/base/json.h"
#include "frontend/ir/text.h"
#include "schedules/machine/text.h"
#include "schedules/machine/unify.h"

namespace tilewright::machine {
namespace {

TEST(Instruction, EveryDescriptionFitsTogether) {
  const auto names = instruction_names();
  ASSERT_FALSE(names.empty());
  for (std::string_view name : names) {
    const auto instruction = find_instruction(name);
    ASSERT_TRUE(instruction.ok()) << name << ": " << instruction.diagnostics()[0].message;
    EXPECT_EQ(instruction->name, name);
    ir::Context context;
    const auto made = meaning(context, *instruction);
    ASSERT_TRUE(made.ok()) << made.diagnostics()[0].message;
    const auto again = parse_instruction(Source("again.toml", print(*instruction)));
    ASSERT_TRUE(again.ok()) << again.diagnostics()[0].message;
    EXPECT_EQ(*again, *instruction);
    const auto json = instruction_from_json(to_json(*instruction));
    ASSERT_TRUE(json.ok());
    EXPECT_EQ(*json, *instruction);
  }
  EXPECT_EQ(find_forms("vdpbf16ps")->size(), 2U);
}

TEST(Instruction, MeaningTakenApart) {
  ir::Context context;
  const auto m = meaning(context, *find_instruction("vdpbf16ps.broadcast"));
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->lengths, (std::vector<std::int64_t>{16, 2}));
  EXPECT_EQ(m->num_results, 1U);
  EXPECT_EQ(m->monoid, ir::Monoid::Sum);
  ASSERT_EQ(m->operands.size(), 3U);
  EXPECT_EQ(m->accumulator, 0U);
  EXPECT_EQ(m->operands[1].dims, std::vector<std::size_t>{1});
  EXPECT_EQ(m->operands[2].dims, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(m->operands[1].broadcast, 16);
}

// Each lane its own numbers; the sums by hand.
TEST(Instruction, Executes) {
  ir::Context context;
  const auto m = meaning(context, *find_instruction("vdpbf16ps"));
  ASSERT_TRUE(m.ok());
  std::vector<std::vector<ir::Scalar>> operands(3);
  for (int i = 0; i < 16; ++i) {
    operands[0].push_back({.f = 0.5 * i});
    for (int p = 0; p < 2; ++p) {
      operands[1].push_back({.f = 1.0 + i});
      operands[2].push_back({.f = p == 0 ? 2.0 : -1.0});
    }
  }
  const auto out = execute(*m, operands);
  ASSERT_EQ(out.size(), 16U);
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(out[static_cast<std::size_t>(i)].f, 0.5 * i + (1.0 + i) * 2 - (1.0 + i));
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(InstructionRefusals, PartsThatDoNotFit) {
  const std::string good = print(*find_instruction("vdpbf16ps"));
  const std::pair<const char*, const char*> edits[] = {
      {"sum(p < 2)", "sum(1 <= p < 2)"},
      {"algorithm vdpbf16ps()", "algorithm other()"},
      {"c[i] + dot[i]", "c[i] * dot[i]"},
      {"c[i] + dot[i]", "c[15 - i] + dot[i]"},
      {"f32(a[i, p]) * f32(b[i, p])", "f32(a[i, p]) * f32(a[i, p])"},
      {"f32(a[i, p]) * f32(b[i, p])", "f32(a[i, p]) + f32(b[i, p])"},
      {"f32(b[i, p])", "f32(b[i, 1 - p])"},
      {"input b : bf16[16, 2]", "input b : bf16[16, 3]"},
      {"input c : f32[16]", "input c : f32[17]"},
      {"broadcast = 1", "broadcast = 2"},
      {"name = \"a\"", "name = \"b\""},
      {"kind = \"fused_chain\"", "kind = \"wrapping\""},
      {"kind = \"fused_chain\"", "kind = \"none\""},
      {"order = [1, 0]", "order = [1]"},
      {"order = [1, 0]", "order = [0, 0]"},
      {"order = [1, 0]", "order = [0, 2]"}};
  for (const auto& [from, to] : edits) {
    const auto read = parse_instruction(Source("t.toml", with(good, from, to)));
    ASSERT_FALSE(read.ok()) << from << " -> " << to;
    EXPECT_EQ(read.diagnostics()[0].code, Code::InstructionMalformed) << from << " -> " << to;
    EXPECT_FALSE(read.diagnostics()[0].remedy.empty());
  }
}

ir::Expr term_of(ir::Context& context, const std::string& term) {
  const auto a = ir::parse_algorithm(
      context, Source("t.tw",
                      "algorithm t(K) {\n  input x : bf16[K]\n  input y : bf16[K, K]\n"
                      "  output z[i < K] : f32 = sum(k < K) " +
                          term + "\n}\n"));
  EXPECT_TRUE(a.ok()) << (a.ok() ? "" : a.diagnostics()[0].message);
  return a->equations[0].fold()->body[0];
}

TEST(Unify, BothOrdersOfAProduct) {
  ir::Context context;
  const auto m = meaning(context, *find_instruction("vdpbf16ps"));
  ASSERT_TRUE(m.ok());
  const auto found = unify(*m, term_of(context, "f32(x[k]) * f32(y[i, k])"));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].reads[1]->tensor.text(), "x");
  EXPECT_EQ(found[0].reads[2]->tensor.text(), "y");
  EXPECT_EQ(found[1].reads[1]->tensor.text(), "y");
  EXPECT_EQ(found[0].reads[0], nullptr);
}

TEST(Unify, SaysWhatDiffers) {
  ir::Context context;
  const auto m = meaning(context, *find_instruction("vdpbf16ps"));
  ASSERT_TRUE(m.ok());
  Mismatch why;
  EXPECT_TRUE(unify(*m, term_of(context, "f32(x[k]) + f32(y[i, k])"), &why).empty());
  EXPECT_EQ(why.wanted, "`f32(a[i, p]) * f32(b[i, p])`");
  EXPECT_EQ(why.found, "`f32(x[k]) + f32(y[i, k])`");
  why = {};
  EXPECT_TRUE(unify(*m, term_of(context, "f32(x[k]) * f32(0.5)"), &why).empty());
  EXPECT_EQ(why.wanted, "`f32(b[i, p])`");
  EXPECT_EQ(why.found, "`f32(0.5)`");
}

}  // namespace
}  // namespace tilewright::machine

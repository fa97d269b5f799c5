// SPDX-License-Identifier: Apache-2.0
//
// text(compile(cpp(x))) == print(x), for random algorithms and those of the applications.
#include <gtest/gtest.h>

#include <string>

#include "frontend/ir/expr.h"
#include "frontend/ir/type.h"
#include "tests/cpp_language/generated.h"

namespace tilewright {
namespace {

void expect_their_texts(std::span<const generated::Case> cases) {
  for (const generated::Case& one : cases) {
    auto text = one.make().text();
    ASSERT_TRUE(text.ok()) << one.name << "\n" << one.text << language::render(text.diagnostics());
    ASSERT_EQ(*text, one.text) << one.name;
  }
}

TEST(CppLanguage, AlgorithmsPrintedAsCppHaveTheirText) {
  ASSERT_GT(generated::cases().size(), 150U);
  expect_their_texts(generated::cases());
}

// A row that a table gets has a C++ form: without one the generated code does not compile.
TEST(CppLanguage, TheBatchHasEveryOperationMonoidAndType) {
  std::string all;
  for (const generated::Case& one : generated::cases()) all += one.text;
  for (int op = 0; op < ir::kNumOps; ++op) {
    const ir::OpInfo& info = ir::op_info(static_cast<ir::OpCode>(op));
    const std::string text(info.text);
    const bool function = info.syntax == ir::OpSyntax::Function;
    EXPECT_NE(all.find(function ? text + "(" : text), std::string::npos) << text;
  }
  for (const std::string text : {"sum", "prod", "min", "max", "and", "or", "argmin", "argmax"}) {
    EXPECT_NE(all.find("= " + text + "("), std::string::npos) << text;
  }
  for (const std::string text :
       {"monoid ", "commutative", " where ", " on_empty ", "= scan ",    "= scan(",  "= update ",
        " last(",  " range ",     " clamp",  " monotone",  " injective", " assumed", "const input ",
        "view ",   "inout ",      " into ",  "loop ",      " while ",    " carry "}) {
    EXPECT_NE(all.find(text), std::string::npos) << text;
  }
  // A tensor has any type but index, and index is what nobody needs to write.
  for (int type = 0; type < ir::kNumScalarTypes; ++type) {
    const std::string text(ir::type_text(static_cast<ir::ScalarType>(type)));
    if (text == "index") continue;
    EXPECT_NE(all.find(" : " + text), std::string::npos) << text;
  }
}

TEST(CppLanguage, BlocksOfThePageHaveTheTextBesideThem) {
  ASSERT_EQ(generated::documented().size(), 6U);
  expect_their_texts(generated::documented());
}

}  // namespace
}  // namespace tilewright

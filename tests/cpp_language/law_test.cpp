// SPDX-License-Identifier: Apache-2.0
//
// text(compile(cpp(x))) == print(x), for random algorithms and those of the applications.
#include <gtest/gtest.h>

#include "tests/cpp_language/generated.h"

namespace tilewright {
namespace {

TEST(CppLanguage, AlgorithmsPrintedAsCppHaveTheirText) {
  ASSERT_GT(generated::cases().size(), 120U);
  for (const generated::Case& one : generated::cases()) {
    auto text = one.make().text();
    ASSERT_TRUE(text.ok()) << one.name << "\n" << one.text << language::render(text.diagnostics());
    ASSERT_EQ(*text, one.text) << one.name;
  }
}

}  // namespace
}  // namespace tilewright

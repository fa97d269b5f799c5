// SPDX-License-Identifier: Apache-2.0
//
// The blocks of docs/language.md hold what the page says of them: `tw` is read, `tw canonical` is also
// printed as it stands, `tw error CODE` is refused with that code.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "frontend/base/render.h"
#include "frontend/ir/text.h"

namespace tilewright::ir {
namespace {

TEST(LanguagePage, BlocksHoldWhatTheySay) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  std::ifstream page(std::string(root ? root : ".") + "/docs/language.md");
  ASSERT_TRUE(page.is_open());
  int blocks = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("```tw", 0) != 0) continue;
    std::istringstream info(line.substr(3));
    std::string language;
    std::string kind;
    std::string code;
    info >> language >> kind >> code;
    std::string text;
    while (std::getline(page, line) && line != "```") text += line + "\n";
    ++blocks;
    Context context;
    const Source source("language.md", text);
    auto algorithm = parse_algorithm(context, source);
    const std::string shown = text + render(algorithm.diagnostics(), &source);
    if (kind == "error") {
      ASSERT_FALSE(algorithm.ok()) << shown;
      EXPECT_EQ(code_text(algorithm.diagnostics()[0].code), code) << shown;
      continue;
    }
    ASSERT_TRUE(algorithm.ok()) << shown;
    if (kind == "canonical") {
      EXPECT_EQ(print(*algorithm), text);
    }
  }
  EXPECT_GE(blocks, 10);
}

}  // namespace
}  // namespace tilewright::ir

// SPDX-License-Identifier: Apache-2.0
#include "lowering/targets/c/lines.h"

namespace tilewright::c_target {

std::string wrapped(std::string line, int indent) {
  constexpr std::size_t kWidth = 100;
  constexpr std::size_t kFurther = 4;
  const auto spaces = static_cast<std::size_t>(indent);
  std::string text(spaces, ' ');
  std::size_t room = kWidth > spaces + 40 ? kWidth - spaces : 40;
  bool first = true;
  while (line.size() > room) {
    std::size_t at = 0;
    bool in_text = false;
    for (std::size_t i = 0; i + 1 < line.size() && (i < room || at == 0); ++i) {
      if (line[i] == '"') in_text = !in_text;
      if (!in_text && line.compare(i, 2, "/*") == 0) break;
      if (!in_text && line[i] == ',' && line[i + 1] == ' ') at = i + 1;
    }
    if (at == 0) break;
    text += line.substr(0, at) + "\n" + std::string(spaces + kFurther, ' ');
    line.erase(0, at + 1);
    if (first) room -= kFurther;
    first = false;
  }
  return text + line;
}

}  // namespace tilewright::c_target

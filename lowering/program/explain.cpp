// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/explain.h"

namespace tilewright::program {

RowWords row_words(const Variant& variant) {
  return {variant.name + ": runs: ", variant.name + ": comes later: ", variant.name + ": no: "};
}

std::string refusal_text(const Program& program, const Check& check, std::int32_t status) {
  std::string text = "refused: " + std::string(status_name(status)) + ": ";
  if (check.argument >= 0) {
    text += program.parameters[static_cast<std::size_t>(check.argument)].name.text();
    if (check.dimension >= 0) text += "[" + std::to_string(check.dimension) + "]";
    text += ": ";
  }
  return text + std::string(check_text(check.kind));
}

}  // namespace tilewright::program

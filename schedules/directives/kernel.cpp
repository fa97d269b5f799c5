// SPDX-License-Identifier: Apache-2.0
//
// kernel e, total, y
//   the nests, which follow one another at the root, are one launch, named after the last: `kernel y`
#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Kernel> Kernel::parse(Reader& reader) {
  Kernel out;
  do {
    auto name = reader.path("an equation");
    if (!name) return std::nullopt;
    out.nests.push_back(*name);
  } while (reader.cursor.accept(","));
  return out;
}

std::string Kernel::print() const {
  std::string text = "kernel ";
  for (std::size_t i = 0; i < nests.size(); ++i)
    text += (i ? ", " : "") + std::string(nests[i].text());
  return text;
}

Result<Ok> Kernel::apply(Target& target) const {
  for (const Word& name : nests) {
    TILEWRIGHT_TRY(nest, find_nest(target, name, name.span));
    if (nest->kernel.valid())
      return refuse(name.span,
                    "`" + std::string(name.text()) + "` is in kernel `" +
                        std::string(nest->kernel.text()) + "` already",
                    "name each nest in one kernel", {{"nest", std::string(name.text())}});
    nest->kernel = nests.back();
    nest->launched = {name.span};
  }
  return Ok{};
}

}  // namespace tilewright::directives

// SPDX-License-Identifier: Apache-2.0
//
// set a, b, c
//   a b c, one after the other    becomes    set { a b c }, all at the same time
// They follow one another in one place. `order a before c` lets one wait for another.
#include <algorithm>

#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Set> Set::parse(Reader& reader) {
  Set out;
  do {
    auto name = reader.path("an equation or a staged copy");
    if (!name) return std::nullopt;
    out.nests.push_back(*name);
  } while (reader.cursor.accept(","));
  return out;
}

std::string Set::print() const {
  std::string text = "set ";
  for (std::size_t i = 0; i < nests.size(); ++i)
    text += (i ? ", " : "") + std::string(nests[i].text());
  return text;
}

Result<Ok> Set::apply(Target& target) const {
  tree::Set set;
  for (const Word& name : nests) {
    TILEWRIGHT_CHECK_OK(find_nest(target, name, name.span));
    const bool again =
        std::find(set.members.begin(), set.members.end(), name.symbol) != set.members.end();
    if (again || target.tree.set_of(name))
      return refuse(name.span, "`" + std::string(name.text()) + "` is in a set already",
                    "name each nest in one set", {{"nest", std::string(name.text())}});
    set.members.push_back(name);
  }
  set.place = {nests[0].span};
  target.tree.sets.push_back(std::move(set));
  return Ok{};
}

}  // namespace tilewright::directives

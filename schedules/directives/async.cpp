// SPDX-License-Identifier: Apache-2.0
//
// async bp
//   the staged copy bp, or an equation that copies, is started where it stands and waited for where it is read
#include "frontend/ir/text.h"
#include "schedules/directives/directive.h"

namespace tilewright::directives {

std::optional<Async> Async::parse(Reader& reader) {
  auto nest = reader.path("a staged copy");
  if (!nest) return std::nullopt;
  return Async{*nest};
}

std::string Async::print() const { return "async " + std::string(nest.text()); }

Result<Ok> Async::apply(Target& target) const {
  TILEWRIGHT_TRY(found, find_nest(target, nest, nest.span));
  if (!tree::is_copy(target.tree.algorithm(target.algorithm), *found))
    return refuse(
        nest.span,
        "`" + std::string(nest.text()) + "` is computed, and only copies are asynchronous",
        "stage a copy of it and make that asynchronous",
        {{"nest", std::string(nest.text())},
         {"computes",
          ir::print(target.tree.algorithm(target.algorithm).find_equation(nest)->value)}});
  found->is_async = true;
  found->made_async = {nest.span};
  return Ok{};
}

}  // namespace tilewright::directives

// SPDX-License-Identifier: Apache-2.0
//
// roles c.ko: load(ap, bp) on warp registers 40, math(c) on warpgroup
//   for ko { ap bp c }    becomes    { for ko { ap bp } } of one agent and { for ko { c } } of another
// Each role runs all iterations, of its statements alone; it waits for another as far as values and `order` demand.
#include "schedules/directives/directive.h"

namespace tilewright::directives {

bool Roles::parse_roles(Reader& reader, std::vector<tree::Role>& roles) {
  TextCursor& cursor = reader.cursor;
  do {
    auto name = reader.name("a role");
    if (!name || !cursor.expect("(", "after the role", "write its statements in brackets"))
      return false;
    tree::Role role;
    role.name = *name;
    role.place = {name->span};
    do {
      auto statement = reader.path("a statement of the loop");
      if (!statement) return false;
      role.statements.push_back(*statement);
    } while (cursor.accept(","));
    if (!cursor.expect(")", "after the statements") ||
        !cursor.expect("on", "after the statements", "write `on warp`, `on warpgroup`, ..."))
      return false;
    auto scope = reader.scope();
    if (!scope) return false;
    role.scope = *scope;
    for (const auto& [word, field] :
         {std::pair("lanes", &tree::Role::lanes), std::pair("registers", &tree::Role::registers)}) {
      if (!cursor.accept(word)) continue;
      auto number = reader.factor();
      if (!number) return false;
      role.*field = *number;
    }
    roles.push_back(std::move(role));
  } while (cursor.accept(","));
  return true;
}

std::optional<Roles> Roles::parse(Reader& reader) {
  Roles out;
  auto loop = reader.loop_name();
  if (!loop || !reader.cursor.expect(":", "after the loop", "write `:` and the roles"))
    return std::nullopt;
  out.loop = *loop;
  if (!parse_roles(reader, out.roles)) return std::nullopt;
  return out;
}

std::string Roles::print_roles(const std::vector<tree::Role>& roles) {
  std::string text;
  for (const tree::Role& role : roles) {
    text += (text.empty() ? "" : ", ") + std::string(role.name.text()) + "(";
    for (std::size_t i = 0; i < role.statements.size(); ++i)
      text += (i ? ", " : "") + std::string(role.statements[i].text());
    text += ") on " + std::string(tree::scope_text(role.scope));
    if (role.lanes) text += " lanes " + std::to_string(role.lanes);
    if (role.registers) text += " registers " + std::to_string(role.registers);
  }
  return text;
}

std::string Roles::print() const {
  return "roles " + directives::print(loop) + ": " + print_roles(roles);
}

Result<Ok> Roles::apply(Target& target) const {
  TILEWRIGHT_TRY(found, find_loop(target, loop));
  if (!found.loop().roles.empty())
    return refuse(loop.span, "loop `" + directives::print(loop) + "` has roles already",
                  "name all roles of a loop at once",
                  {{"loop", loop_path(*found.nest, found.loop().name)}});
  for (const tree::Role& role : roles)
    for (Symbol statement : role.statements)
      TILEWRIGHT_CHECK_OK(find_nest(target, statement, role.place.span));
  found.loop().roles = roles;
  return Ok{};
}

}  // namespace tilewright::directives

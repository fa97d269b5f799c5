// SPDX-License-Identifier: Apache-2.0
//
// What a schedule asks for and its machine does not have, and memory that is too small.
#include <algorithm>

#include "lowering/build/builder.h"

namespace tilewright::build {

Result<Ok> Builder::fits_machine() const {
  const auto absent = [&](Span place, std::string message, std::string remedy, std::string wanted) {
    return refuse(place, std::move(message) + ", and a function of the host has none",
                  std::move(remedy), {{"wants", std::move(wanted)}, {"machine", schedule.machine}});
  };
  const bool device = machine_ && !machine_->teams.empty();
  for (const tree::Nest& nest : schedule.tree.nests) {
    const std::string name = "`" + std::string(nest.name.text()) + "`";
    for (const tree::Loop& loop : nest.loops) {
      const std::string path =
          "`" + std::string(nest.name.text()) + "." + std::string(loop.name.text()) + "`";
      if (loop.scope != tree::Scope::None && !device)
        return absent(loop.bound.span, "loop " + path + " is bound to agents of a device",
                      "use `parallel` and `vectorize`", std::string(tree::scope_text(loop.scope)));
      if (!loop.roles.empty() && !device)
        return absent(loop.roles[0].place.span, "loop " + path + " is run by roles of a device",
                      "drop `roles`", "role " + std::string(loop.roles[0].name.text()));
      if (!loop.pipeline.empty() && !device)
        return absent(loop.pipeline[0].place.span,
                      "loop " + path + " has a pipeline for copies that run ahead",
                      "drop `pipeline`", "pipeline");
    }
    if (device) continue;
    if (nest.kernel.valid())
      return absent(nest.launched.span, name + " is in a launch of a device", "drop `kernel`",
                    "kernel " + std::string(nest.kernel.text()));
    if (nest.space != tree::Space::None)
      return absent(nest.registered.span, name + " is kept in a memory of a device",
                    "keep it in registers, or leave its place to build",
                    std::string(tree::space_text(nest.space)));
    if (nest.is_async)
      return absent(nest.made_async.span, name + " is copied by a unit of its own",
                    "drop `async`: the copy then runs where it stands", "async");
    if (nest.ring > 1)
      return absent(nest.ringed.span, name + " has several buffers for copies that run ahead",
                    "drop `ring`", "ring " + std::to_string(nest.ring));
  }
  return Ok{};
}

// All memories of a team live at the same time.
Result<Ok> Builder::fits_spaces(const program::Program& program) const {
  std::map<program::Space, std::int64_t> used;
  std::map<program::Space, std::string> largest;
  const std::function<void(Stmt, std::map<program::Space, std::int64_t>)> add =
      [&](Stmt stmt, std::map<program::Space, std::int64_t> around) {
        if (const auto* alloc = stmt.as<program::Alloc>()) {
          std::int64_t bytes = ir::size_bytes(alloc->type);
          for (Expr extent : alloc->extents)
            if (const auto* known = extent.as<ir::IntConst>()) bytes *= known->value;
          around[alloc->space] += bytes;
          used[alloc->space] = std::max(used[alloc->space], around[alloc->space]);
        }
        program::for_each_part(stmt, [&](std::string_view, auto part) {
          if constexpr (std::is_same_v<decltype(part), Stmt>) add(part, around);
        });
      };
  add(program.body, {});
  for (const tree::Nest& nest : schedule.tree.nests) {
    if (nest.space == tree::Space::None || nest.space == tree::Space::Register) continue;
    const std::string_view name = tree::space_text(nest.space);
    const machine::Space* space = machine_->find_space(name);
    if (!space)
      return refuse(nest.registered.span,
                    "`" + schedule.machine + "` has no memory called `" + std::string(name) + "`",
                    "keep `" + std::string(nest.name.text()) + "` in a memory that its file names",
                    {{"machine", schedule.machine}});
    std::int64_t bytes = 0;
    for (const auto& [kind, amount] : used)
      if (program::space_text(kind) == name) bytes = amount;
    if (bytes > space->bytes)
      return refuse(
          nest.registered.span,
          "a team needs " + std::to_string(bytes) + " bytes of `" + std::string(name) +
              "` memory and has " + std::to_string(space->bytes),
          "use smaller tiles or fewer slots",
          {{"needed", std::to_string(bytes)}, {"available", std::to_string(space->bytes)}});
  }
  return Ok{};
}

}  // namespace tilewright::build

// SPDX-License-Identifier: Apache-2.0
//
// Who runs what, and where it lives: bound loops, memories, rings, asynchronous copies and kernels.
#include <set>

#include "schedules/tree/verify_parts.h"

namespace tilewright::tree {

namespace {

// Agents inside of a team, as many as some hardware may have.
constexpr std::int64_t kMaxAgentsBy = 65536;

Result<Ok> verify_whole_teams(const Nest& nest, const Loop& loop) {
  if (loop.agents_by == 1) return Ok{};
  if (loop.agents_by < 1 || loop.agents_by > kMaxAgentsBy)
    return malformed(
        loop.bound.span,
        "loop " + quoted(nest.name, loop.name) + " is bound by " + std::to_string(loop.agents_by),
        "use 1 to " + std::to_string(kMaxAgentsBy) + " agents",
        {{"loop", path(nest.name, loop.name)}});
  if (loop.scope != Scope::None && loop.scope < Scope::Block) return Ok{};
  return malformed(
      loop.bound.span,
      "loop " + quoted(nest.name, loop.name) +
          " is bound by a number of agents, and is run by none inside of a team",
      "bind it to lanes, warps or warpgroups, or leave `by` out",
      {{"loop", path(nest.name, loop.name)}, {"scope", std::string(scope_text(loop.scope))}});
}

}  // namespace

// Scopes narrow from outside to inside, through the placements; memories, rings and asynchronous copies belong to
// what is placed in a loop.
Result<Ok> verify_mapping(const ir::Algorithm& algorithm, const Tree& tree, const Nest& nest) {
  const std::string name(nest.name.text());
  Scope around = Scope::None;
  const Nest* n = &nest;
  std::vector<std::pair<const Nest*, const Loop*>> outside;
  for (std::size_t hops = 0; n->at && hops <= tree.nests.size(); ++hops) {
    const Nest* owner = tree.find(n->at->nest);
    if (!owner) break;
    std::vector<std::pair<const Nest*, const Loop*>> level;
    for (const Loop& loop : owner->loops) {
      level.emplace_back(owner, &loop);
      if (loop.name == n->at->loop) break;
    }
    outside.insert(outside.begin(), level.begin(), level.end());
    n = owner;
  }
  for (const auto& [owner, loop] : outside)
    if (loop->scope != Scope::None) around = loop->scope;
  for (const Loop& loop : nest.loops) {
    TILEWRIGHT_CHECK_OK(verify_whole_teams(nest, loop));
    if (loop.scope == Scope::None) continue;
    if (around != Scope::None && loop.scope > around)
      return malformed(loop.bound.span,
                       "loop " + quoted(nest.name, loop.name) + " is bound to a " +
                           std::string(scope_text(loop.scope)) + " inside of a loop bound to a " +
                           std::string(scope_text(around)),
                       "bind outer loops to wider scopes",
                       {{"loop", path(nest.name, loop.name)},
                        {"scope", std::string(scope_text(loop.scope))},
                        {"around", std::string(scope_text(around))}});
    if (loop.kind != LoopKind::Serial)
      return malformed(loop.bound.span,
                       "bound loop " + quoted(nest.name, loop.name) + " is marked otherwise too",
                       "drop one of the two", {{"loop", path(nest.name, loop.name)}});
    around = loop.scope;
  }
  if (nest.ring < 1)
    return malformed(nest.ringed.span, "a ring of " + std::to_string(nest.ring) + " buffers",
                     "use at least 1", {{"nest", name}});
  const bool placed_only = nest.ring > 1 || nest.space != Space::None;
  if (placed_only && !nest.at)
    return malformed(nest.ring > 1 ? nest.ringed.span : nest.registered.span,
                     quoted(nest.name) + " stands at the root, where it is a whole tensor",
                     "place it in a loop, or stage a copy of it", {{"nest", name}});
  if (nest.in_register && nest.space != Space::None)
    return malformed(nest.registered.span, quoted(nest.name) + " is kept in two memories",
                     "keep it in one", {{"nest", name}});
  if (nest.is_async && !is_copy(algorithm, nest))
    return malformed(nest.made_async.span,
                     quoted(nest.name) + " is computed, and only copies are asynchronous",
                     "stage a copy of it and make that asynchronous", {{"nest", name}});
  return Ok{};
}

// The nests at the root are launched in groups, one after the other: all of them, or none.
Result<Ok> verify_kernels(const Tree& tree) {
  std::set<Symbol> closed;
  const Nest* last = nullptr;
  for (const Nest& nest : tree.nests) {
    if (nest.at) {
      if (nest.kernel.valid())
        return malformed(nest.launched.span,
                         quoted(nest.name) + " is placed in a loop, and so belongs to its kernel",
                         "name the nest at the root around it",
                         {{"nest", std::string(nest.name.text())},
                          {"loop", path(nest.at->nest, nest.at->loop)}});
      continue;
    }
    if (last && last->kernel.valid() != nest.kernel.valid())
      return malformed(
          nest.launched.span,
          quoted(nest.kernel.valid() ? last->name : nest.name) + " is in no kernel, and others are",
          "put every nest at the root into a kernel",
          {{"nest", std::string((nest.kernel.valid() ? last->name : nest.name).text())}});
    if (last && !(last->kernel == nest.kernel)) closed.insert(last->kernel);
    if (nest.kernel.valid() && closed.contains(nest.kernel))
      return malformed(nest.launched.span,
                       "kernel " + quoted(nest.kernel) + " is interrupted by " + quoted(last->name),
                       "put nests that follow one another into one kernel",
                       {{"kernel", std::string(nest.kernel.text())},
                        {"between", std::string(last->name.text())}});
    last = &nest;
  }
  return Ok{};
}

}  // namespace tilewright::tree

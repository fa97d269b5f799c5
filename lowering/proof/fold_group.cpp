// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/fold_group.h"

#include <algorithm>
#include <functional>
#include <set>

#include "lowering/proof/names.h"

namespace tilewright::proof {

using poly::BasicSet;
using poly::Set;

FoldGroup::FoldGroup(Tools& tools, const std::vector<std::vector<Flow>>& flows,
                     std::vector<std::size_t> members)
    : tools_(tools), flows_(flows), members_(std::move(members)) {
  find_kept();
}

bool FoldGroup::has(std::size_t statement) const {
  return std::find(members_.begin(), members_.end(), statement) != members_.end();
}

bool FoldGroup::is_inner(const Flow& flow) const {
  return std::any_of(flow.sources.begin(), flow.sources.end(),
                     [&](const Source& source) { return has(source.writer); });
}

// Loops whose value a step hands on are one; those that every store has, and that no step changes, are kept.
void FoldGroup::find_kept() {
  using Name = std::pair<std::size_t, std::string>;
  std::map<Name, Name> parent;
  const std::function<Name(Name)> root = [&](Name name) {
    while (!(parent.at(name) == name)) name = parent.at(name);
    return name;
  };
  for (std::size_t number : members_)
    for (const Loop& loop : tools_.statements.list[number].loops)
      parent[{number, loop.name}] = {number, loop.name};
  std::vector<std::pair<Name, std::optional<Name>>> steps;
  for (std::size_t number : members_)
    for (const Flow& flow : flows_[number])
      for (const Source& source : flow.sources) {
        if (std::find(members_.begin(), members_.end(), source.writer) == members_.end()) continue;
        const Statement& writer = tools_.statements.list[source.writer];
        for (std::size_t i = 0; i < writer.loops.size(); ++i) {
          std::optional<Name> same;
          for (const Loop& loop : tools_.statements.list[number].loops)
            if (source.instance[i] == variable(loop.name)) same = Name{number, loop.name};
          steps.emplace_back(Name{source.writer, writer.loops[i].name}, same);
          if (same) parent[root(*same)] = root(steps.back().first);
        }
      }
  std::set<Name> changed;
  for (const auto& [name, same] : steps)
    if (!same) changed.insert(root(name));
  std::map<Name, std::map<std::size_t, std::string>> classes;
  for (const auto& [name, unused] : parent) {
    auto& members = classes[root(name)];
    if (!members.emplace(name.first, name.second).second) changed.insert(root(name));
  }
  for (const auto& [name, members] : classes) {
    if (changed.contains(name) || members.size() != members_.size()) continue;
    for (const auto& [number, loop] : members) kept_[{number, loop}] = num_kept_;
    ++num_kept_;
  }
}

std::vector<std::string> FoldGroup::kept_of(const Statement& one) const {
  std::vector<std::string> out(num_kept_);
  for (const Loop& loop : one.loops)
    if (const auto found = kept_.find({one.number, loop.name}); found != kept_.end())
      out[found->second] = loop.name;
  return out;
}

Term FoldGroup::carried(Term term, const Statement& from, const Statement& to) const {
  const auto a = kept_of(from);
  const auto b = kept_of(to);
  std::vector<std::pair<Term, Term>> values;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i])
      values.emplace_back(tools_.translator.variable(a[i]), tools_.translator.variable(b[i]));
  return values.empty() ? term : tools_.terms.substitute(term, values);
}

Result<Set> FoldGroup::so_far(const Statement& one, const Statement& adder,
                              const std::vector<BasicSet>& added, const Set& around) const {
  const std::vector<Loop>& loops = adder.loops;
  std::vector<BasicSet> order;
  for (const Before& way : before({adder.time, loops, kEarlier}, {one.time, one.loops, ""}))
    order.push_back(way.condition);
  if (adder.number == one.number) {
    BasicSet equal;
    for (const Loop& loop : loops) equal.equal(variable(loop.name, kEarlier), variable(loop.name));
    order.push_back(equal);
  }
  BasicSet keeps;
  const auto theirs = kept_of(adder);
  const auto ours = kept_of(one);
  for (std::size_t i = 0; i < ours.size(); ++i)
    keeps.equal(variable(theirs[i], kEarlier), variable(ours[i]));
  poly::Space space = around.space();
  const std::vector<std::string> more = names(loops, kEarlier);
  space.dims.insert(space.dims.end(), more.begin(), more.end());
  const Set all(space, both(both(both(around.pieces(), order), {keeps}), added));
  return poly::project_out(tools_.polyhedra, all, more, tools_.limits);
}

}  // namespace tilewright::proof

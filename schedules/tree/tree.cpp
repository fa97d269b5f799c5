// SPDX-License-Identifier: Apache-2.0
#include "schedules/tree/tree.h"

#include <algorithm>

namespace tilewright::tree {

namespace {
constexpr std::string_view kScopes[] = {"none", "lane",    "warp", "warpgroup", "block",
                                        "pair", "cluster", "core", "device"};
constexpr std::string_view kSpaces[] = {"none",   "register",   "shared",
                                        "tensor", "scratchpad", "accumulator"};

// `none` is no word of a schedule.
template <class T, std::size_t N>
std::optional<T> find_in(const std::string_view (&names)[N], std::string_view text) {
  const auto it = std::find(std::begin(names) + 1, std::end(names), text);
  return it == std::end(names) ? std::nullopt
                               : std::optional(static_cast<T>(it - std::begin(names)));
}
}  // namespace

std::string_view scope_text(Scope scope) { return kScopes[static_cast<std::size_t>(scope)]; }
std::string_view space_text(Space space) { return kSpaces[static_cast<std::size_t>(space)]; }
std::optional<Scope> find_scope(std::string_view text) { return find_in<Scope>(kScopes, text); }
std::optional<Space> find_space(std::string_view text) { return find_in<Space>(kSpaces, text); }

const Loop* Nest::find_loop(Symbol loop) const {
  auto it = std::find_if(loops.begin(), loops.end(), [&](const Loop& l) { return l.name == loop; });
  return it == loops.end() ? nullptr : &*it;
}
Loop* Nest::find_loop(Symbol loop) {
  return const_cast<Loop*>(static_cast<const Nest*>(this)->find_loop(loop));
}

const Nest* Tree::find(Symbol nest) const {
  auto it = std::find_if(nests.begin(), nests.end(), [&](const Nest& n) { return n.name == nest; });
  return it == nests.end() ? nullptr : &*it;
}
Nest* Tree::find(Symbol nest) {
  return const_cast<Nest*>(static_cast<const Tree*>(this)->find(nest));
}

const Set* Tree::set_of(Symbol nest) const {
  const auto holds = [&](const Set& set) {
    return std::find(set.members.begin(), set.members.end(), nest) != set.members.end();
  };
  const auto it = std::find_if(sets.begin(), sets.end(), holds);
  return it == sets.end() ? nullptr : &*it;
}

std::vector<const Nest*> Tree::placed_in(const LoopRef& loop) const {
  std::vector<const Nest*> out;
  for (const Nest& nest : nests)
    if (nest.at && *nest.at == loop) out.push_back(&nest);
  return out;
}

bool operator==(const Schedule& a, const Schedule& b) {
  return a.name == b.name && a.algorithm == b.algorithm && a.machine == b.machine &&
         a.algorithm_hash == b.algorithm_hash && a.guards == b.guards && a.tree == b.tree;
}

std::vector<Symbol> dimensions(const ir::Equation& equation) {
  std::vector<Symbol> dims = equation.indices;
  for (Symbol var : fold_variables(equation)) dims.push_back(var);
  return dims;
}

std::vector<Symbol> fold_variables(const ir::Equation& equation) {
  const ir::Fold* fold = equation.fold();
  if (!fold || fold->scan) return {};
  return {fold->vars.begin(), fold->vars.end()};
}

std::vector<Symbol> ordered_dimensions(const ir::Equation& equation) {
  const ir::Fold* fold = equation.fold();
  if (!fold) return {};
  const bool any_order = fold->is_reduction() && fold->monoid_kind() != ir::Monoid::Declared;
  return any_order ? std::vector<Symbol>()
                   : std::vector<Symbol>(fold->vars.begin(), fold->vars.end());
}

Nest default_nest(const ir::Equation& equation) {
  Nest nest;
  nest.name = equation.name;
  for (Symbol dim : dimensions(equation)) nest.loops.push_back({dim, LoopKind::Serial, false});
  return nest;
}

Tree default_tree(const ir::Algorithm& algorithm) {
  Tree tree;
  for (const ir::Equation& equation : algorithm.equations)
    if (!equation.is_view) tree.nests.push_back(default_nest(equation));
  return tree;
}

namespace {

void append_nest(const Tree& tree, std::size_t at, std::vector<bool>& done,
                 std::vector<Nest>& out) {
  if (done[at]) return;
  done[at] = true;
  const Nest& nest = tree.nests[at];
  for (const Loop& loop : nest.loops)
    for (std::size_t i = 0; i < tree.nests.size(); ++i)
      if (tree.nests[i].at && *tree.nests[i].at == LoopRef{nest.name, loop.name})
        append_nest(tree, i, done, out);
  out.push_back(nest);
}

}  // namespace

bool is_copy(const ir::Algorithm& algorithm, const Nest& nest) {
  if (nest.stage) return true;
  const ir::Equation* equation = algorithm.find_equation(nest.name);
  return equation && equation->value.as<ir::Read>();
}

std::vector<const Nest*> in_order(const Tree& tree, std::vector<const Nest*> nests) {
  std::vector<const Nest*> out;
  for (std::size_t begin = 0; begin < nests.size();) {
    const Set* set = tree.set_of(nests[begin]->name);
    std::vector<const Nest*> members;
    do members.push_back(nests[begin++]);
    while (set && begin < nests.size() && tree.set_of(nests[begin]->name) == set);
    while (!members.empty()) {
      const auto waits = [&](const Nest* nest) {
        return set && std::any_of(set->order.begin(), set->order.end(), [&](const OrderEdge& e) {
                 return e.after == nest->name &&
                        std::any_of(members.begin(), members.end(),
                                    [&](const Nest* other) { return other->name == e.before; });
               });
      };
      auto next = std::find_if_not(members.begin(), members.end(), waits);
      if (next == members.end()) next = members.begin();  // a circle, which verify() refuses
      out.push_back(*next);
      members.erase(next);
    }
  }
  return out;
}

void order_nests(Tree& tree) {
  std::vector<bool> done(tree.nests.size());
  std::vector<Nest> out;
  out.reserve(tree.nests.size());
  for (std::size_t i = 0; i < tree.nests.size(); ++i)
    if (!tree.nests[i].at) append_nest(tree, i, done, out);
  // A placement that names no loop, or a cycle: verify() refuses it.
  for (std::size_t i = 0; i < tree.nests.size(); ++i) append_nest(tree, i, done, out);
  tree.nests = std::move(out);
  const auto position = [&](Symbol name) {
    const Nest* nest = tree.find(name);
    return nest ? static_cast<std::size_t>(nest - tree.nests.data()) : tree.nests.size();
  };
  const auto earlier = [&](Symbol a, Symbol b) { return position(a) < position(b); };
  for (Set& set : tree.sets) std::stable_sort(set.members.begin(), set.members.end(), earlier);
  const auto first = [&](const Set& set) {
    return set.members.empty() ? tree.nests.size() : position(set.members[0]);
  };
  std::stable_sort(tree.sets.begin(), tree.sets.end(),
                   [&](const Set& a, const Set& b) { return first(a) < first(b); });
}

}  // namespace tilewright::tree

// SPDX-License-Identifier: Apache-2.0
#include "schedules/tree/tree.h"

#include <algorithm>

namespace tilewright::tree {

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

bool operator==(const Schedule& a, const Schedule& b) {
  return a.name == b.name && a.algorithm == b.algorithm && a.machine == b.machine &&
         a.algorithm_hash == b.algorithm_hash && a.guards == b.guards && a.tree == b.tree;
}

std::vector<Symbol> dimensions(const ir::Equation& equation) {
  std::vector<Symbol> dims = equation.indices;
  if (const ir::Fold* fold = equation.fold())
    dims.insert(dims.end(), fold->vars.begin(), fold->vars.end());
  return dims;
}

Tree default_tree(const ir::Algorithm& algorithm) {
  Tree tree;
  for (const ir::Equation& equation : algorithm.equations) {
    Nest nest;
    nest.name = equation.name;
    for (Symbol dim : dimensions(equation)) nest.loops.push_back({dim, LoopKind::Serial, false});
    tree.nests.push_back(std::move(nest));
  }
  return tree;
}

}  // namespace tilewright::tree

// SPDX-License-Identifier: Apache-2.0
#include "lowering/validate/comparison.h"

namespace tilewright::validate {

namespace {

constexpr int kMostDepth = 4000;

}  // namespace

bool Comparison::same(TermId a, TermId b) {
  if (a == b) return true;
  if (a == 0 || b == 0 || terms_.sort(a) != terms_.sort(b)) return false;
  const std::uint64_t key = static_cast<std::uint64_t>(std::min(a, b)) << 32U | std::max(a, b);
  if (const auto it = known_.find(key); it != known_.end()) return it->second;
  // Not yet known counts as different: terms have no circles, so this is only met from the depth limit.
  if (depth_ > kMostDepth) return false;
  ++depth_;
  const bool equal = compare(a, b);
  --depth_;
  known_[key] = equal;
  return equal;
}

bool Comparison::compare(TermId a, TermId b) {
  const Term x = terms_[a];
  const Term y = terms_[b];
  if (x.op == TermOp::Const && y.op == TermOp::Const) return false;
  if (x.op == y.op && x.extra == y.extra && x.op != TermOp::Var && x.op != TermOp::Const) {
    const bool c = (x.c == 0 && y.c == 0) || same(x.c, y.c);
    if (c && same(x.a, y.a) && ((x.b == 0 && y.b == 0) || same(x.b, y.b))) return true;
    if (c && is_commutative(x.op) && same(x.a, y.b) && same(x.b, y.a)) return true;
  }
  // Float operations that are unlike are unlike for some values, or beyond us.
  if (!is_bit_level(x.op) && !is_bit_level(y.op)) return false;
  return solve(a, b);
}

bool Comparison::solve(TermId a, TermId b) {
  std::vector<TermId> leaves;
  const auto representative = [&](TermId id) {
    for (const TermId leaf : leaves)
      if (leaf == id || (terms_[leaf].op == terms_[id].op && same(leaf, id))) return leaf;
    leaves.push_back(id);
    return id;
  };
  return solver_.equal(a, b, representative);
}

bool Comparison::holds(const Claim& claim) {
  return solver_.holds(claim, [](TermId id) { return id; });
}

}  // namespace tilewright::validate

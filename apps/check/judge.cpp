// SPDX-License-Identifier: Apache-2.0
#include "apps/check/judge.h"

#include <algorithm>

#include "apps/check/certificate.h"

namespace tilewright::checker {

bool Judge::empty(const Conjunction& set) {
  affine_.spend(set.equal.size() + set.at_least.size());
  const std::string facts = check::facts_text(set);
  if (facts.empty()) throw Refused("a number leaves 64 bits");
  if (facts == "!") return true;
  const auto [it, is_new] = known_.emplace(facts, false);
  if (is_new) {
    const std::optional<std::string> evidence = evidence_.of(set, digest(facts));
    if (evidence) affine_.spend(evidence->size() / 16);
    it->second = evidence && check::check_empty(set, *evidence).empty();
  }
  return it->second;
}

bool Judge::empty(const Union& set) {
  return std::all_of(set.begin(), set.end(), [this](const Conjunction& c) { return empty(c); });
}

bool Judge::covered(const Conjunction& set, const Union& parts, std::size_t first) {
  if (empty(set)) return true;
  if (first == parts.size()) return false;
  if (parts.size() > 1000) throw Refused("conditions with too many cases");
  const Conjunction& part = parts[first];
  if (empty(both({set}, {part}))) return covered(set, parts, first + 1);
  // Split by the constraints of the part: what does not satisfy one must lie in other parts.
  Conjunction inside = set;
  const auto outside = [&](const Linear& at_least) {
    Conjunction rest = inside;
    rest.at_least.push_back(at_least);
    return covered(rest, parts, first + 1);
  };
  for (const Linear& e : part.equal) {
    if (!outside(e - Linear(1)) || !outside(e * -1 - Linear(1))) return false;
    inside.equal.push_back(e);
  }
  for (const Linear& e : part.at_least) {
    if (!outside(e * -1 - Linear(1))) return false;
    inside.at_least.push_back(e);
  }
  return true;
}

bool Judge::covered(const Union& set, const Union& parts) {
  return std::all_of(set.begin(), set.end(),
                     [&](const Conjunction& c) { return covered(c, parts); });
}

}  // namespace tilewright::checker

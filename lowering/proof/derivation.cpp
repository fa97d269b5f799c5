// SPDX-License-Identifier: Apache-2.0
//
// From derived facts to the steps of evidence.
#include "lowering/proof/derivation.h"

#include <algorithm>

namespace tilewright::proof {

FactId Derivations::combine(Combination terms, bool is_step) {
  Combination expanded;
  if (is_step || !expand(terms, expanded)) return push({std::move(terms), false, 0, false});
  return push({std::move(expanded), false, 0, true});
}

FactId Derivations::squeeze(FactId at_least, FactId at_most) {
  return push({{{at_least, 1}, {at_most, 1}}, true, at_least, false});
}

// Marks what the ends of a branch rest on.
static void visit_ends(const Branch& branch, const auto& visit) {
  if (!branch.low) return visit(branch.end);
  visit_ends(*branch.low, visit);
  visit_ends(*branch.high, visit);
}

bool Derivations::is_used(const Branch& branch, FactId fact) const {
  std::vector<bool> seen(facts_.size());
  std::vector<FactId> open;
  auto mark = [&](const Combination& terms) {
    for (const auto& [id, factor] : terms) {
      if (!seen[id]) open.push_back(id);
      seen[id] = true;
    }
  };
  visit_ends(branch, mark);
  while (!open.empty()) {
    FactId id = open.back();
    open.pop_back();
    mark(facts_[id].terms);
  }
  return seen[fact];
}

// Replaces inline facts by what they were made of, which is no inline fact.
bool Derivations::expand(const Combination& terms, Combination& out) const {
  for (const auto& [id, factor] : terms) {
    if (!facts_[id].is_inline) {
      if (!add_product(out[id], factor, 1)) return false;
      continue;
    }
    for (const auto& [part, times] : facts_[id].terms) {
      if (!add_product(out[part], factor, times)) return false;
    }
  }
  std::erase_if(out, [](const auto& term) { return term.second == 0; });
  return true;
}

// Writes what is needed, in the order in which it was made.
struct Derivations::Writer {
  const Derivations& all;
  std::vector<bool> needed;
  // The number of a fact in the text.
  std::vector<std::uint32_t> numbers;
  // As written: inline facts expanded.
  std::vector<Combination> terms;
  Evidence out;
  std::uint32_t next = 0;

  bool need(const Combination& raw) {
    Combination expanded;
    if (!all.expand(raw, expanded)) return false;
    std::vector<FactId> open;
    for (const auto& [id, factor] : expanded) open.push_back(id);
    while (!open.empty()) {
      FactId id = open.back();
      open.pop_back();
      if (needed[id]) continue;
      needed[id] = true;
      if (!all.expand(all.facts_[id].terms, terms[id])) return false;
      for (const auto& [part, factor] : terms[id]) open.push_back(part);
    }
    return true;
  }

  std::vector<Term> written(const Combination& expanded) const {
    std::vector<Term> result;
    for (const auto& [id, factor] : expanded) {
      result.push_back({factor, numbers[id]});
    }
    std::sort(result.begin(), result.end(),
              [](const Term& a, const Term& b) { return a.index < b.index; });
    return result;
  }

  void name(FactId id) { numbers[id] = next++; }

  bool write(const Branch& branch) {
    for (FactId id : branch.made) {
      if (!needed[id] || all.facts_[id].is_inline) continue;
      const Derived& fact = all.facts_[id];
      std::vector<Term> parts = written(terms[id]);
      if (fact.is_squeeze && parts[0].index != numbers[fact.first]) std::swap(parts[0], parts[1]);
      out.steps.push_back({fact.is_squeeze ? Step::Kind::Squeeze : Step::Kind::Combine, 0, parts});
      name(id);
    }
    if (!branch.low) {
      Combination expanded;
      if (!all.expand(branch.end, expanded)) return false;
      out.steps.push_back({Step::Kind::End, 0, written(expanded)});
      return true;
    }
    out.steps.push_back({Step::Kind::Cases, branch.bound, branch.form});
    std::uint32_t first = next;
    name(branch.low_fact);
    if (!write(*branch.low)) return false;
    next = first;
    name(branch.high_fact);
    return write(*branch.high);
  }
};

std::optional<Evidence> Derivations::evidence(const Branch& root) const {
  Writer writer{*this,
                std::vector<bool>(facts_.size()),
                std::vector<std::uint32_t>(facts_.size()),
                std::vector<Combination>(facts_.size()),
                {},
                0};
  for (FactId id = 0; id < num_start_; ++id) writer.name(id);
  bool good = true;
  visit_ends(root, [&](const Combination& end) { good = good && writer.need(end); });
  if (!good || !writer.write(root)) return std::nullopt;
  return std::move(writer.out);
}

}  // namespace tilewright::proof

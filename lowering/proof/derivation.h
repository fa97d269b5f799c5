// SPDX-License-Identifier: Apache-2.0
//
// How the search came to each fact, and the evidence that is left of it, private to this room. The search
// derives far more than it needs: what an end does not use is not written, a combination that was not divided
// is written as part of those that use it, and cases of which a branch uses none are dropped. Tests:
// tests/unit/lowering/proof/emptiness_test.cpp.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "lowering/proof/evidence.h"
#include "lowering/proof/numbers.h"

namespace tilewright::proof {

// Facts of the search, in the order in which they were made.
using FactId = std::uint32_t;

// Sum of facts, each times its factor; no zero factors.
using Combination = std::map<FactId, Int>;

// A part of the evidence tree: facts made one after the other, then an end or two cases.
struct Branch {
  std::vector<FactId> made;
  Combination end;
  // Of cases: the form over variables, `form <= bound` in the first.
  std::vector<Term> form;
  Int bound = 0;
  FactId low_fact = 0;
  FactId high_fact = 0;
  std::unique_ptr<Branch> low;
  std::unique_ptr<Branch> high;
};

class Derivations {
 public:
  // The facts of the conjunction are the first ones.
  explicit Derivations(std::size_t num_start) : facts_(num_start), num_start_(num_start) {}

  // A combination that is a step of its own, or, as long as its factors fit, a part of those that use it.
  FactId combine(Combination terms, bool is_step);
  FactId squeeze(FactId at_least, FactId at_most);
  FactId assume() { return push({}); }

  // The branch leads to its ends also without the fact.
  bool is_used(const Branch& branch, FactId fact) const;
  // Nothing when a factor leaves 62 bits.
  std::optional<Evidence> evidence(const Branch& root) const;

 private:
  struct Derived {
    // What it was made of; nothing for facts of the conjunction and cases.
    Combination terms;
    bool is_squeeze = false;
    // Of a squeeze: the fact whose sign the equality has.
    FactId first = 0;
    // Written as a part of what uses it; made of facts that are not.
    bool is_inline = false;
  };
  struct Writer;

  FactId push(Derived derived) {
    facts_.push_back(std::move(derived));
    return static_cast<FactId>(facts_.size() - 1);
  }
  bool expand(const Combination& terms, Combination& out) const;

  std::vector<Derived> facts_;
  std::size_t num_start_ = 0;
};

}  // namespace tilewright::proof

// SPDX-License-Identifier: Apache-2.0
//
// Questions of sets, and who answers them: the lemmas of a certificate, or for the one who writes it a prover that
// records them. Law: a set is said to be empty only where evidence was followed here; no evidence, then it may hold points.
#pragma once

#include <optional>
#include <unordered_map>

#include "apps/check/affine.h"

namespace tilewright::checker {

class Evidence {
 public:
  virtual ~Evidence() = default;
  // Text for check_empty; nothing where there is none.
  virtual std::optional<std::string> of(const Conjunction& set, const std::string& key) = 0;
};

class Judge {
 public:
  Judge(Affine& affine, Evidence& evidence) : affine_(affine), evidence_(evidence) {}
  bool empty(const Conjunction& set);
  bool empty(const Union& set);
  // Every point of the set lies in one of the parts, from number `first` on.
  bool covered(const Conjunction& set, const Union& parts, std::size_t first = 0);
  bool covered(const Union& set, const Union& parts);

 private:
  Affine& affine_;
  Evidence& evidence_;
  std::unordered_map<std::string, bool> known_;  // by facts
};

}  // namespace tilewright::checker

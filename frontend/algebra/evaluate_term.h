// SPDX-License-Identifier: Apache-2.0
//
// The number that a term stands for, by its definition and in floating point: a witness in tests that two terms
// differ, and what the normal form is tested against. Folds are summed point by point.
#pragma once

#include "frontend/algebra/term.h"

namespace tilewright::algebra {

struct TermPoint {
  std::function<std::int64_t(Symbol name)> index;  // of variables and extents
  std::function<double(Symbol tensor, std::span<const std::int64_t> indices)> read;
  std::function<double(std::int64_t id, std::span<const std::int64_t> instance)> value;
  std::function<double(const std::string& function, std::span<const double> arguments)> call;
};

// None where something in it has no number here: an unknown, a fold by another monoid, a domain without bounds.
std::optional<double> evaluate(TermStore& store, Term term, const TermPoint& point);

}  // namespace tilewright::algebra

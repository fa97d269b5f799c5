// SPDX-License-Identifier: Apache-2.0
//
// The text form that sets and maps share, private to this room. isl's notation, printed by us so that it
// is deterministic and every name is ours.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/polyhedra/set.h"

namespace tilewright::poly {

// `[i, j]`
std::string name_list(const std::vector<std::string>& names);
// `[params] -> { tuple : ...; tuple : ... }`
std::string set_text(const std::vector<std::string>& params, const std::string& tuple,
                     const std::vector<BasicSet>& pieces);
// One constraint with all coefficients positive: `96*io + 95 >= i`.
std::string constraint_text(const AffineExpr& expr, bool is_equality);
// Constraints joined by `and`; `true` when there is none.
std::string conjunction_text(const BasicSet& piece);

std::optional<bool> any_contains(const std::vector<BasicSet>& pieces, const Binding& values);
std::size_t hash_of(const std::vector<BasicSet>& pieces);

// Refuses text that is too long or nests too deeply for isl's recursive reader.
Result<Ok> check_text(std::string_view text);

}  // namespace tilewright::poly

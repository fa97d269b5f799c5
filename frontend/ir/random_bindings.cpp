// SPDX-License-Identifier: Apache-2.0
//
// Sizes for random algorithms.
#include <algorithm>

#include "frontend/ir/generate.h"
#include "frontend/ir/index_math.h"
#include "frontend/ir/random.h"

namespace tilewright::ir {

std::optional<Bindings> random_bindings(const Algorithm& algorithm, std::uint64_t seed,
                                        std::int64_t limit) {
  constexpr std::int64_t kFavoured[] = {0, 1, 2, 3, 5, 7, 8, 11, 13, 16, 17, 31, 61, 127};
  Random random(seed);
  for (int attempt = 0; attempt < 64; ++attempt) {
    Bindings bindings;
    for (const ExtentDecl& extent : algorithm.extents) {
      const std::int64_t most = std::min(extent.max.value_or(INT64_MAX), extent.min + limit);
      std::int64_t size = random.chance(70)
                              ? kFavoured[random.between(0, 13)]
                              : static_cast<std::int64_t>(random.next() >> 1) % (limit + 1);
      size = std::clamp(size, extent.min, std::max(extent.min, most));
      size = floor_div(size, extent.multiple_of) * extent.multiple_of;
      if (size < extent.min) size += extent.multiple_of;
      bindings[extent.name] = size;
      if (extent.max && size > *extent.max) return std::nullopt;
    }
    const bool good = std::all_of(algorithm.requirements.begin(), algorithm.requirements.end(),
                                  [&](Expr r) { return evaluate_extents(r, bindings) != 0; });
    if (good) return bindings;
  }
  return std::nullopt;
}

}  // namespace tilewright::ir

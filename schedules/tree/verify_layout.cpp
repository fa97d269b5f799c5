// SPDX-License-Identifier: Apache-2.0
//
// The layout of a staged copy: its components cover each dimension of the tensor once, and its swizzles lose no
// cell.
#include <algorithm>
#include <set>

#include "schedules/layout/linear_map.h"
#include "schedules/tree/verify_parts.h"

namespace tilewright::tree {

namespace {

// Each swizzle is a map of the bits of two components, and must take different cells to different places.
Result<Ok> swizzles(const Nest& nest) {
  const Stage& stage = *nest.stage;
  const auto is_component = [&](Symbol name) {
    return std::any_of(stage.layout.begin(), stage.layout.end(),
                       [&](const LayoutComponent& part) { return part.name == name; });
  };
  for (const Swizzle& s : stage.swizzles) {
    for (Symbol name : {s.target, s.source})
      if (!is_component(name))
        return malformed(s.place.span,
                         quoted(name) + " is no component of the layout of " + quoted(nest.name),
                         "swizzle components that stand in the brackets after `as`");
    const int last = std::max(s.target_bit, s.source_bit) + s.bits;
    if (s.bits < 1 || s.target_bit < 0 || s.source_bit < 0 || last > kMaxSwizzleBits)
      return malformed(s.place.span,
                       "a swizzle in the layout of " + quoted(nest.name) +
                           " takes no bits, or bits beyond " + std::to_string(kMaxSwizzleBits),
                       "write ranges of one length, as in `j[2:5] by k[0:3]`");
    if (!(s.target == s.source)) continue;
    const auto map =
        layout::LinearMap::swizzle(kMaxSwizzleBits, s.target_bit, s.source_bit, s.bits);
    if (const auto kernel = map.kernel())
      return malformed(
          s.place.span,
          "a swizzle in the layout of " + quoted(nest.name) + " takes different cells to one place",
          "change bits of a component by bits that it leaves as they are",
          {{"cells", std::string(s.target.text()) + " = 0 and " + std::string(s.target.text()) +
                         " = " + std::to_string(*kernel)},
           {"place", std::string(s.target.text()) + " = 0"}});
  }
  return Ok{};
}

}  // namespace

Result<Ok> verify_layout(const ir::Algorithm& algorithm, const Nest& nest, bool inlined) {
  const Stage& stage = *nest.stage;
  const auto* shape = algorithm.shape_of(stage.tensor);
  if (!shape)
    return malformed(stage.tensor_place.span, quoted(stage.tensor) + " is not a tensor",
                     "stage an input or an equation");
  if (inlined)
    return malformed(stage.tensor_place.span,
                     quoted(stage.tensor) + " is inlined, so there is nothing to copy",
                     "drop the `inline` or the `stage`");
  if (std::set<Symbol>(stage.dims.begin(), stage.dims.end()).size() != stage.dims.size())
    return malformed(stage.tensor_place.span,
                     "two dimensions of staged " + quoted(stage.tensor) + " have one name",
                     "name each dimension once");
  for (std::size_t i = 0; i < stage.layout.size(); ++i)
    if (const LayoutComponent& part = stage.layout[i]; part.factor < 1)
      return malformed(
          stage.layout_places.of(i),
          "the layout of " + quoted(nest.name) + " divides by " + std::to_string(part.factor),
          "divide by at least 1");
  if (shape->size() != stage.dims.size())
    return malformed(stage.tensor_place.span,
                     quoted(stage.tensor) + " has " + std::to_string(shape->size()) +
                         " dimensions, not " + std::to_string(stage.dims.size()),
                     "name each dimension once");
  for (std::size_t i = 0; i < stage.dims.size(); ++i) {
    const Symbol dim = stage.dims[i];
    int whole = 0;
    std::int64_t quotient = 0;
    std::int64_t remainder = 0;
    for (const LayoutComponent& part : stage.layout) {
      if (!(part.dim == dim)) continue;
      if (part.part == LayoutComponent::Part::Whole) ++whole;
      if (part.part == LayoutComponent::Part::Quotient) quotient = quotient ? -1 : part.factor;
      if (part.part == LayoutComponent::Part::Remainder) remainder = remainder ? -1 : part.factor;
    }
    const bool alone = whole == 1 && quotient == 0 && remainder == 0;
    const bool pair = whole == 0 && quotient > 0 && quotient == remainder;
    if (!alone && !pair)
      return malformed(stage.dim_places.of(i),
                       "dimension " + quoted(dim) + " of staged " + quoted(stage.tensor) +
                           " does not appear once, or once as `/ f` and once as `% f`",
                       "write for example `[j / 64, k, j % 64]`",
                       with({{"dimension", std::string(dim.text())}}, uncovered_layout(nest, i)));
  }
  for (std::size_t i = 0; i < stage.layout.size(); ++i)
    if (const LayoutComponent& part = stage.layout[i];
        std::find(stage.dims.begin(), stage.dims.end(), part.dim) == stage.dims.end())
      return malformed(stage.layout_places.of(i),
                       quoted(part.dim) + " is not a dimension of staged " + quoted(stage.tensor),
                       "use the dimensions named after the tensor");
  return swizzles(nest);
}

}  // namespace tilewright::tree

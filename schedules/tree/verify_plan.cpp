// SPDX-License-Identifier: Apache-2.0
//
// Copies at the plan: each of a whole constant input, in plain memory, before everything else, and read by something.
#include <algorithm>

#include "schedules/tree/verify_parts.h"

namespace tilewright::tree {

namespace {

// Of the dimension that a component of the layout is a part of.
Evidence last_tile(const Case& where, const ir::Input& input, const Stage& stage,
                   std::size_t part) {
  const LayoutComponent& cut = stage.layout[part];
  const auto dim = std::find(stage.dims.begin(), stage.dims.end(), cut.dim);
  return with({{"dimension", std::string(cut.dim.text())}},
              partial_tile(where, input.shape[static_cast<std::size_t>(dim - stage.dims.begin())],
                           cut.factor));
}

// What its memory can hold.
Result<Ok> verify_contents(const Case& where, const Nest& nest) {
  const Stage& stage = *nest.stage;
  const ir::Input* input = where.algorithm.find_input(stage.tensor);
  if (!input || !input->is_const)
    return malformed(stage.tensor_place.span,
                     quoted(stage.tensor) + " is " +
                         (input ? "an input that may change between calls" : "no input") +
                         ", so no plan can hold a copy of it",
                     "declare it `const input`, or stage it at a loop",
                     {{"tensor", std::string(stage.tensor.text())}});
  if (!stage.swizzles.empty() || nest.ring != 1 || nest.is_async || nest.in_register ||
      nest.space != Space::None || nest.kernel.valid())
    return malformed(nest.place.span,
                     quoted(nest.name) + " is a copy of the plan, which is plain memory",
                     "leave out its swizzle, ring, space, kernel or `async`");
  if (ir::is_packed(input->type))
    return malformed(stage.tensor_place.span,
                     quoted(stage.tensor) + " holds several elements in a byte, a plan whole bytes",
                     "stage it at a loop");
  if (input->facts.injective && !input->facts.assumed)
    return malformed(
        stage.tensor_place.span,
        quoted(stage.tensor) + " is checked to be injective in every call, but a plan is made once",
        "stage it at a loop");
  for (std::size_t i = 0; i < stage.layout.size(); ++i)
    if (stage.layout[i].part != LayoutComponent::Part::Whole && !stage.pad)
      return malformed(stage.layout_places.of(i),
                       "a dimension of " + quoted(nest.name) +
                           " is cut, so that the last tile of the plan may not be full",
                       "add `pad`: it fills the tile", last_tile(where, *input, stage, i));
  return Ok{};
}

}  // namespace

Result<Ok> verify_plan(const Case& where, const Tree& tree, const ReadsOf& reads,
                       const Nest& nest) {
  TILEWRIGHT_CHECK_OK(verify_contents(where, nest));
  const Symbol tensor = nest.stage->tensor;
  for (const Nest& other : tree.nests) {
    if (other.name == nest.name) break;
    if (!other.stage || !other.stage->at_plan)
      return malformed(nest.place.span,
                       "staged copy " + quoted(nest.name) + " of the plan does not come first",
                       "put it before the nests of equations");
    if (other.stage->tensor == tensor)
      return malformed(nest.place.span,
                       quoted(tensor) + " has two copies in the plan: " + quoted(other.name) +
                           " and " + quoted(nest.name),
                       "stage it once");
  }
  for (const Nest& reader : tree.nests) {
    const auto it = reads.find(reader.name);
    if (it != reads.end() && it->second.contains(tensor)) return Ok{};
  }
  return malformed(nest.place.span, "nothing reads " + quoted(tensor),
                   "leave its copy out of the plan");
}

}  // namespace tilewright::tree

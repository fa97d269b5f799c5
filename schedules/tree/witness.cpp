// SPDX-License-Identifier: Apache-2.0
#include "schedules/tree/witness.h"

#include <algorithm>
#include <map>

#include "frontend/ir/walk.h"

namespace tilewright::tree {

namespace {

// What a loop of the nest is at a point of its equation, following the steps; nothing where the steps fuse
// loops whose length depends on the point.
class LoopValue {
 public:
  LoopValue(const ir::Equation& equation, const Nest& nest, Symbol loop)
      : equation_(equation), nest_(nest), loop_(loop) {}

  std::optional<std::int64_t> at(const poly::Values& point) const {
    std::map<Symbol, std::pair<std::int64_t, std::optional<std::int64_t>>> names;  // value, length
    for (std::size_t i = 0; i < equation_.indices.size(); ++i)
      names[equation_.indices[i]] = {point.at(equation_.indices[i]),
                                     poly::evaluate_index(equation_.shape[i], point)};
    if (const ir::Fold* fold = equation_.fold())
      for (std::size_t i = 0; i < fold->vars.size(); ++i) {
        const auto lower = poly::evaluate_index(fold->lower[i], point);
        const auto upper = poly::evaluate_index(fold->upper[i], point);
        if (!lower || !upper) return std::nullopt;
        const bool fixed =
            depends_on_sizes_alone(fold->lower[i]) && depends_on_sizes_alone(fold->upper[i]);
        names[fold->vars[i]] = {point.at(fold->vars[i]) - *lower,
                                fixed ? std::optional(*upper - *lower) : std::nullopt};
      }
    for (const Step& step : nest_.steps) {
      if (const auto* s = std::get_if<SplitStep>(&step)) {
        const auto [value, length] = names.at(s->parent);
        names[s->outer] = {
            value / s->factor,
            length ? std::optional((*length + s->factor - 1) / s->factor) : std::nullopt};
        names[s->inner] = {value % s->factor, s->factor};
      } else {
        const auto& f = std::get<FuseStep>(step);
        const auto [outer, rows] = names.at(f.outer);
        const auto [inner, columns] = names.at(f.inner);
        if (!rows || !columns) return std::nullopt;
        names[f.fused] = {outer * *columns + inner, *rows * *columns};
      }
    }
    const auto it = names.find(loop_);
    return it == names.end() ? std::nullopt : std::optional(it->second.first);
  }

 private:
  static bool depends_on_sizes_alone(Expr expr) { return ir::free_vars(expr).empty(); }

  const ir::Equation& equation_;
  const Nest& nest_;
  Symbol loop_;
};

}  // namespace

Evidence reading_instance(const ir::Algorithm& algorithm, const Tree& tree,
                          const ir::Equation& reader, Symbol tensor) {
  const std::function<bool(Symbol)> inlined = [&](Symbol name) {
    return std::binary_search(tree.inlined.begin(), tree.inlined.end(), name);
  };
  const poly::AllowedSizes allowed(algorithm);
  std::optional<poly::Values> point;
  std::optional<poly::CellRead> cell;
  const auto sizes = allowed.find([&](const poly::Values& at) {
    point = poly::find_instance(reader, at, [&](const poly::Values& values) {
      cell = poly::find_read(algorithm, inlined, reader, values, tensor);
      return cell.has_value();
    });
    return point.has_value();
  });
  if (!sizes) return {};
  return {{"sizes", allowed.text(*sizes)},
          {"instance", poly::instance_text(reader, *point)},
          {"reads", cell->text()}};
}

Evidence iterations_that_meet(const ir::Algorithm& algorithm, const Nest& nest, Symbol loop) {
  const ir::Equation* equation = nest.stage ? nullptr : algorithm.find_equation(nest.name);
  if (!equation) return {};
  poly::AllowedSizes allowed(algorithm);
  for (const Step& step : nest.steps)
    if (const auto* split = std::get_if<SplitStep>(&step)) allowed.try_around(split->factor);
  const LoopValue value(*equation, nest, loop);
  struct Met {
    poly::Values point;
    std::int64_t iteration = 0;
  };
  std::optional<Met> one;
  std::optional<Met> other;
  const auto sizes = allowed.find([&](const poly::Values& at) {
    one.reset();
    return poly::find_instance(*equation, at,
                               [&](const poly::Values& point) {
                                 const auto iteration = value.at(point);
                                 if (!iteration) return false;
                                 const bool same_cell =
                                     one &&
                                     std::all_of(equation->indices.begin(), equation->indices.end(),
                                                 [&](Symbol index) {
                                                   return one->point.at(index) == point.at(index);
                                                 });
                                 if (!same_cell) one = Met{point, *iteration};
                                 if (one->iteration == *iteration) return false;
                                 other = Met{point, *iteration};
                                 return true;
                               })
        .has_value();
  });
  if (!sizes) return {};
  auto text = [&](const Met& met) {
    return std::string(loop.text()) + " = " + std::to_string(met.iteration) + ": " +
           poly::instance_text(*equation, met.point);
  };
  return {{"sizes", allowed.text(*sizes)}, {"one", text(*one)}, {"another", text(*other)}};
}

Evidence uncovered_layout(const Nest& nest, std::size_t dim) {
  const Stage& stage = *nest.stage;
  std::vector<LayoutComponent> parts;
  std::int64_t span = 2;
  for (const LayoutComponent& part : stage.layout) {
    if (!(part.dim == stage.dims[dim])) continue;
    parts.push_back(part);
    if (part.part != LayoutComponent::Part::Whole) span = std::max(span, 2 * part.factor);
  }
  auto place_of = [&](std::int64_t value) {
    std::vector<std::int64_t> place;
    for (const LayoutComponent& part : parts)
      place.push_back(part.part == LayoutComponent::Part::Whole      ? value
                      : part.part == LayoutComponent::Part::Quotient ? value / part.factor
                                                                     : value % part.factor);
    return place;
  };
  auto cell_text = [&](std::int64_t value) {
    return std::string(stage.dims[dim].text()) + " = " + std::to_string(value);
  };
  auto place_text = [&](const std::vector<std::int64_t>& place) {
    std::string out;
    for (std::size_t i = 0; i < parts.size(); ++i)
      out += (i ? ", " : "") + std::string(parts[i].name.text()) + " = " + std::to_string(place[i]);
    return out.empty() ? std::string("none") : out;
  };
  std::map<std::vector<std::int64_t>, std::int64_t> taken;
  constexpr std::int64_t kMaxValues = 4096;
  for (std::int64_t value = 0; value < std::min(span, kMaxValues); ++value) {
    const auto [it, fresh] = taken.emplace(place_of(value), value);
    if (!fresh)
      return {{"cells", cell_text(it->second) + " and " + cell_text(value)},
              {"place", place_text(it->first)}};
  }
  // Each has its own place: then the box of places has one that no coordinate comes to.
  std::vector<std::int64_t> box(parts.size());
  for (const auto& [place, value] : taken)
    for (std::size_t i = 0; i < box.size(); ++i) box[i] = std::max(box[i], place[i] + 1);
  std::vector<std::int64_t> place(parts.size());
  for (std::size_t tries = 0; tries <= taken.size(); ++tries) {
    if (!taken.contains(place)) return {{"unused place", place_text(place)}};
    for (std::size_t i = place.size(); i-- > 0;) {
      if (++place[i] < box[i]) break;
      place[i] = 0;
    }
  }
  return {};
}

}  // namespace tilewright::tree

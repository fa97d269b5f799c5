// SPDX-License-Identifier: Apache-2.0
#include "schedules/tree/witness.h"

#include <algorithm>
#include <map>
#include <set>

#include "frontend/ir/walk.h"

namespace tilewright::tree {

namespace {

using Inlined = std::function<bool(Symbol)>;

Inlined inlined_by(const ir::Algorithm& algorithm, const Tree& tree) {
  return [&](Symbol name) {
    const ir::Equation* equation = algorithm.find_equation(name);
    return (equation && equation->is_view) ||
           std::binary_search(tree.inlined.begin(), tree.inlined.end(), name);
  };
}

// The first two terms of a reduction at a cell; nothing where it has fewer.
std::string two_terms(const ir::Equation& reduction, const std::vector<std::int64_t>& cell,
                      const poly::Values& sizes) {
  std::vector<std::string> terms;
  const auto second = poly::find_instance(reduction, sizes, [&](const poly::Values& at) {
    for (std::size_t i = 0; i < cell.size(); ++i)
      if (at.at(reduction.indices[i]) != cell[i]) return false;
    terms.push_back(poly::instance_text(reduction, at));
    return terms.size() == 2;
  });
  return second ? terms[0] + " and " + terms[1] : std::string();
}

std::string cell_text(const ir::Equation& equation, const poly::Values& at) {
  poly::CellRead cell{equation.name, {}};
  for (Symbol index : equation.indices) cell.cell.push_back(at.at(index));
  return cell.text();
}

}  // namespace

Evidence reading_instance(const Case& where, const Tree& tree, const ir::Equation& reader,
                          Symbol tensor) {
  const Inlined inlined = inlined_by(where.algorithm, tree);
  const poly::AllowedSizes allowed(where.algorithm, where.guards);
  std::optional<poly::Values> point;
  std::optional<poly::CellRead> cell;
  const auto sizes = allowed.find([&](const poly::Values& at) {
    point = poly::find_instance(reader, at, [&](const poly::Values& values) {
      cell = poly::find_read(where.algorithm, inlined, reader, values, tensor);
      return cell.has_value();
    });
    return point.has_value();
  });
  if (!sizes) return {};
  return {{"sizes", allowed.text(*sizes)},
          {"instance", poly::instance_text(reader, *point)},
          {"reads", cell->text()}};
}

Evidence reduction_read(const Case& where, const Tree& tree, const ir::Equation& reduction) {
  const Inlined inlined = inlined_by(where.algorithm, tree);
  const poly::AllowedSizes allowed(where.algorithm, where.guards);
  for (const ir::Equation& reader : where.algorithm.equations) {
    if (inlined(reader.name) || reader.name == reduction.name) continue;
    std::optional<poly::Values> point;
    std::optional<poly::CellRead> cell;
    std::string terms;
    const auto sizes = allowed.find([&](const poly::Values& at) {
      point = poly::find_instance(reader, at, [&](const poly::Values& values) {
        cell = poly::find_read(where.algorithm, inlined, reader, values, reduction.name);
        terms = cell ? two_terms(reduction, cell->cell, at) : std::string();
        return !terms.empty();
      });
      return point.has_value();
    });
    if (sizes)
      return {{"sizes", allowed.text(*sizes)},
              {"instance", poly::instance_text(reader, *point)},
              {"reads", cell->text()},
              {"terms", terms}};
  }
  return {};
}

Evidence read_without_terms(const Case& where, const Tree& tree, const ir::Equation& reader,
                            Symbol tensor) {
  const Inlined inlined = inlined_by(where.algorithm, tree);
  const poly::AllowedSizes allowed(where.algorithm, where.guards);
  const ir::Fold& fold = *reader.fold();
  // The cells alone: what an empty reduction is worth, or its bounds, stand outside of its variables.
  ir::Equation cells = reader;
  for (NodeList<Expr> list : {fold.on_empty, fold.lower, fold.upper})
    for (Expr outside : list) {
      cells.value = outside;
      std::optional<poly::Values> point;
      std::optional<poly::CellRead> cell;
      const auto sizes = allowed.find([&](const poly::Values& at) {
        point = poly::find_instance(cells, at, [&](const poly::Values& values) {
          const auto lower = poly::evaluate_index(fold.lower[0], values);
          const auto upper = poly::evaluate_index(fold.upper[0], values);
          if (!lower || !upper || *lower < *upper) return false;
          cell = poly::find_read(where.algorithm, inlined, cells, values, tensor);
          return cell.has_value();
        });
        return point.has_value();
      });
      if (sizes)
        return {{"sizes", allowed.text(*sizes)},
                {"instance", cell_text(reader, *point) + ", which has no term"},
                {"reads", cell->text()}};
    }
  return {};
}

Evidence elements_that_differ(const Case& where, const ir::Equation& reduction, Symbol tensor) {
  const Inlined elementwise = [&](Symbol name) {
    const ir::Equation* equation = where.algorithm.find_equation(name);
    return equation && !equation->fold() && !(name == tensor);
  };
  const poly::AllowedSizes allowed(where.algorithm, where.guards);
  struct Element {
    poly::Values point;
    poly::CellRead read;
    std::string text(const ir::Equation& equation) const {
      return poly::instance_text(equation, point) + " reads " + read.text();
    }
  };
  std::optional<Element> one;
  std::optional<Element> other;
  const auto sizes = allowed.find([&](const poly::Values& at) {
    one.reset();
    return poly::find_instance(
               reduction, at,
               [&](const poly::Values& point) {
                 const auto read =
                     poly::find_read(where.algorithm, elementwise, reduction, point, tensor);
                 if (!read) return false;
                 if (!one || cell_text(reduction, one->point) != cell_text(reduction, point))
                   one = Element{point, *read};
                 other = Element{point, *read};
                 return one->read.cell != read->cell;
               })
        .has_value();
  });
  if (!sizes) return {};
  return {{"sizes", allowed.text(*sizes)},
          {"one", one->text(reduction)},
          {"another", other->text(reduction)}};
}

Evidence unread_cell(const Case& where, const ir::Equation& output, const ir::Equation* reader) {
  const poly::AllowedSizes allowed(where.algorithm, where.guards);
  std::vector<const ir::Read*> reads;
  if (reader)
    for (const ir::Read* read : ir::reads(reader->value))
      if (output.defines(read->tensor)) reads.push_back(read);
  // Of several reads, or of reads through other equations, what they read together is not counted here.
  const bool elsewhere = reader && reads.empty() && where.algorithm.is_used(output);
  if (reads.size() > 1 || elsewhere) return {};
  ir::Equation cells = output;
  if (output.fold() && !output.fold()->scan) cells.value = output.fold()->body[0];
  std::string cell;
  const auto sizes = allowed.find([&](const poly::Values& at) {
    std::set<std::vector<std::int64_t>> covered;
    bool unknown = false;
    if (!reads.empty() && poly::find_instance(
                              *reader, at,
                              [&](const poly::Values& point) {
                                std::vector<std::int64_t> read;
                                for (Expr index : reads[0]->indices) {
                                  const auto value = poly::evaluate_index(index, point);
                                  if (!value) return true;
                                  read.push_back(*value);
                                }
                                covered.insert(std::move(read));
                                return false;
                              },
                              &unknown))
      unknown = true;
    return !unknown && poly::find_instance(cells, at, [&](const poly::Values& point) {
                         std::vector<std::int64_t> place;
                         for (Symbol index : output.indices) place.push_back(point.at(index));
                         if (covered.contains(place)) return false;
                         cell = cell_text(output, point);
                         return true;
                       }).has_value();
  });
  if (!sizes) return {};
  return {{"sizes", allowed.text(*sizes)}, {"not computed", cell}};
}

Evidence partial_tile(const Case& where, Expr extent, std::int64_t factor) {
  poly::AllowedSizes allowed(where.algorithm, where.guards);
  allowed.try_around(factor);
  std::int64_t rest = 0;
  const auto sizes = allowed.find([&](const poly::Values& at) {
    const auto size = poly::evaluate_index(extent, at);
    rest = size && *size > 0 ? *size % factor : 0;
    return rest > 0;
  });
  if (!sizes) return {};
  return {{"sizes", allowed.text(*sizes)},
          {"last tile", std::to_string(rest) + " of " + std::to_string(factor)}};
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

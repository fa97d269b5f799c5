// SPDX-License-Identifier: Apache-2.0
//
// Scans and updates, whose cells hold what came before: one cell at a time, in order.
#include <algorithm>

#include "frontend/ir/walk.h"
#include "lowering/build/nest_emitter.h"

namespace tilewright::build {

using program::OriginRole;

Stmt NestEmitter::step(const std::vector<Place>& before, const std::vector<Place>& after,
                       const std::vector<Expr>& terms, OriginRole role,
                       const std::vector<Expr>& at) {
  // A lone operation is written as it is. What uses its operands more than once has them bound.
  if (ir::monoid_form(reduction_.kind) == ir::MonoidForm::Simple) {
    std::vector<Expr> values = ir::combine(context_, reduction_, read(before), terms);
    if (values.size() < after.size()) values.push_back(context_.boolean(true));
    return assign(after, values, role, at);
  }
  std::vector<Expr> old = read(before);
  old.resize(reduction_.types.size());
  std::vector<Expr> now = terms;
  return bind(old, "_before", [&] {
    return bind(now, "_term", [&] {
      std::vector<Expr> values = ir::combine(context_, reduction_, old, now);
      if (values.size() < after.size()) values.push_back(context_.boolean(true));
      return assign(after, values, role, at);
    });
  });
}

// y[t] = y[t - 1] combined with the term; in the first iteration, with what the scan starts from.
Result<Stmt> NestEmitter::scan(Point& point) {
  const std::vector<Expr> guards = take_guards(point);
  const ir::Substitution values = index_values(point);
  const std::vector<Place> after = result_places(point);
  const Expr along = values.at(scan_->vars[0]);
  std::vector<Expr> previous_cell = cell(point);
  for (std::size_t i = 0; i < equation_->indices.size(); ++i)
    if (equation_->indices[i] == scan_->vars[0])
      previous_cell[i] = context_.sub(along, context_.index(1));
  const std::vector<Expr> start =
      scan_->base.empty() ? ir::identity(context_, reduction_) : localise(point, scan_->base);
  std::vector<Expr> before;
  const auto tensors = equation_->tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i)
    before.push_back(context_.select(context_.lt(context_.index(0), along),
                                     builder_.read(point.env, tensors[i].name, previous_cell),
                                     start[i]));
  // The previous values keep the names of the recurrence until they are bound: no loop has these names.
  const Stmt body = bind(before, "_before", [&] {
    ir::Substitution state;
    for (std::size_t i = 0; i < scan_->state.size(); ++i) state[scan_->state[i]] = before[i];
    std::vector<Expr> terms;
    for (Expr term : scan_->body) {
      ir::Substitution all = values;
      all.insert(state.begin(), state.end());
      terms.push_back(builder_.localise(point.env, term, all));
    }
    if (!scan_->state.empty()) return assign(after, terms, OriginRole::Value, cell(point));
    return bind(terms, "_term", [&] {
      return assign(after, ir::combine(context_, reduction_, before, terms), OriginRole::Value,
                    cell(point));
    });
  });
  return guarded(guards, body);
}

// Every cell starts at the base; then the terms go to their cells in order.
Result<Stmt> NestEmitter::update(Point& point) {
  std::vector<std::size_t> cells;
  std::vector<std::size_t> terms;
  for (std::size_t i = 0; i < nest_.loops.size(); ++i)
    (space_.is_fold(nest_.loops[i].name) ? terms : cells).push_back(i);
  // In place, where every cell starts at what it holds, there is nothing to do.
  bool changes = false;
  TILEWRIGHT_TRY(
      start, over_loops(cells, 0, point, [&](Point& p) {
        const std::vector<Expr> guards = take_guards(p);
        const std::vector<Place> places = result_places(p);
        const std::vector<Expr> values = localise(p, update_->base);
        changes = changes || values != read(places);
        return Result<Stmt>(guarded(guards, assign(places, values, OriginRole::Init, cell(p))));
      }));
  if (!changes) start = program::make_block(context_, {});
  TILEWRIGHT_TRY(steps, over_loops(terms, 0, point, [&](Point& p) { return update_step(p); }));
  const Stmt both[] = {start, steps};
  return program::make_block(context_, both);
}

Result<Stmt> NestEmitter::update_step(Point& point) {
  const std::vector<Expr> guards = take_guards(point);
  std::vector<Expr> at = localise(point, update_->at);
  std::vector<Place> places;
  for (const ir::TensorPart& part : equation_->tensors()) {
    Place place;
    place.origin = part.name;
    place.index = builder_.buffer_index(point.env, part.name, at, &place.buffer);
    places.push_back(std::move(place));
  }
  Stmt out = step(places, places, localise(point, update_->body), OriginRole::Fold, {});
  const std::vector<Expr> where = localise(point, update_->where);
  if (!where.empty()) out = program::make_if(context_, where[0], out);
  return guarded(guards, out);
}

}  // namespace tilewright::build

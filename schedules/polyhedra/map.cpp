// SPDX-License-Identifier: Apache-2.0
//
// Operations on maps, through isl.
#include "schedules/polyhedra/map.h"

#include "schedules/polyhedra/isl_wall.h"
#include "schedules/polyhedra/text.h"

namespace tilewright::poly {

Map Map::from_expressions(MapSpace space, const std::vector<AffineExpr>& values) {
  BasicSet piece;
  for (std::size_t i = 0; i < values.size(); ++i) {
    piece.equal(AffineExpr::variable(space.out[i]), values[i]);
  }
  return Map(std::move(space), std::move(piece));
}

std::optional<bool> Map::contains(const Binding& values) const {
  return any_contains(pieces_, values);
}

std::string Map::text() const {
  return set_text(space_.params, name_list(space_.in) + " -> " + name_list(space_.out), pieces_);
}

std::size_t Map::hash() const {
  std::string names = name_list(space_.params) + name_list(space_.in) + name_list(space_.out);
  return std::hash<std::string>()(names) ^ hash_of(pieces_);
}

static std::vector<std::string> named_dims(isl_map* map, isl_dim_type type, const char* prefix) {
  std::vector<std::string> names;
  isl_size count = isl_map_dim(map, type);
  for (int i = 0; i < count; ++i) {
    const char* name = isl_map_get_dim_name(map, type, static_cast<unsigned>(i));
    names.push_back(name != nullptr ? name : prefix + std::to_string(i));
  }
  return names;
}

Result<Map> parse_map(Context& context, std::string_view text, const Limits& limits) {
  TILEWRIGHT_CHECK_OK(check_text(text));
  Operation op(context, limits);
  isl_map* map = isl_map_read_from_str(op.ctx(), std::string(text).c_str());
  std::vector<std::string> in = named_dims(map, isl_dim_in, "i");
  std::vector<std::string> out = named_dims(map, isl_dim_out, "o");
  return op.finish(map, std::move(in), std::move(out), "read a map");
}

using Binary = isl_map* (*)(isl_map*, isl_map*);

static Result<Map> binary(Context& context, const Map& a, const Map& b, const Limits& limits,
                          Binary function, std::string_view doing) {
  Operation op(context, limits);
  op.share_params(a.space().params, b.space().params);
  isl_map* left = op.to_isl(a);
  isl_map* result = function(left, op.to_isl(b));
  return op.finish(result, a.space().in, a.space().out, doing);
}

Result<Map> intersect(Context& context, const Map& a, const Map& b, const Limits& limits) {
  return binary(context, a, b, limits, isl_map_intersect, "intersect two maps");
}

Result<Map> unite(Context& context, const Map& a, const Map& b, const Limits& limits) {
  return binary(context, a, b, limits, isl_map_union, "unite two maps");
}

Result<Map> subtract(Context& context, const Map& a, const Map& b, const Limits& limits) {
  return binary(context, a, b, limits, isl_map_subtract, "subtract two maps");
}

Result<Map> gist(Context& context, const Map& map, const Map& assumed, const Limits& limits) {
  return binary(context, map, assumed, limits, isl_map_gist, "simplify a map in a context");
}

Result<Map> intersect_domain(Context& context, const Map& map, const Set& set,
                             const Limits& limits) {
  Operation op(context, limits);
  op.share_params(map.space().params, set.space().params);
  isl_map* left = op.to_isl(map);
  isl_map* result = isl_map_intersect_domain(left, op.to_isl(set));
  return op.finish(result, map.space().in, map.space().out, "restrict the domain of a map");
}

Result<Map> intersect_range(Context& context, const Map& map, const Set& set,
                            const Limits& limits) {
  Operation op(context, limits);
  op.share_params(map.space().params, set.space().params);
  isl_map* left = op.to_isl(map);
  isl_map* result = isl_map_intersect_range(left, op.to_isl(set));
  return op.finish(result, map.space().in, map.space().out, "restrict the range of a map");
}

Result<Map> inverse(Context& context, const Map& map, const Limits& limits) {
  Operation op(context, limits);
  isl_map* result = isl_map_reverse(op.to_isl(map));
  return op.finish(result, map.space().out, map.space().in, "invert a map");
}

Result<Map> compose(Context& context, const Map& first, const Map& second, const Limits& limits) {
  Operation op(context, limits);
  op.share_params(first.space().params, second.space().params);
  isl_map* left = op.to_isl(first);
  isl_map* result = isl_map_apply_range(left, op.to_isl(second));
  return op.finish(result, first.space().in, second.space().out, "compose two maps");
}

Result<Set> domain(Context& context, const Map& map, const Limits& limits) {
  Operation op(context, limits);
  return op.finish(isl_map_domain(op.to_isl(map)), map.space().in, "find the domain of a map");
}

Result<Set> range(Context& context, const Map& map, const Limits& limits) {
  Operation op(context, limits);
  return op.finish(isl_map_range(op.to_isl(map)), map.space().out, "find the range of a map");
}

Result<Set> apply(Context& context, const Set& set, const Map& map, const Limits& limits) {
  Operation op(context, limits);
  op.share_params(set.space().params, map.space().params);
  isl_set* points = op.to_isl(set);
  isl_set* image = isl_set_apply(points, op.to_isl(map));
  return op.finish(image, map.space().out, "apply a map to a set");
}

Result<Map> lexmin(Context& context, const Map& map, const Limits& limits) {
  Operation op(context, limits);
  isl_map* result = isl_map_lexmin(op.to_isl(map));
  return op.finish(result, map.space().in, map.space().out, "find the smallest outputs of a map");
}

Result<Map> lexmax(Context& context, const Map& map, const Limits& limits) {
  Operation op(context, limits);
  isl_map* result = isl_map_lexmax(op.to_isl(map));
  return op.finish(result, map.space().in, map.space().out, "find the largest outputs of a map");
}

namespace {
struct Collected {
  Operation* op;
  const MapSpace* space;
  std::vector<std::string> names;
  std::vector<Function> pieces;
};
}  // namespace

static isl_stat collect(isl_set* set, isl_multi_aff* values, void* user) {
  auto& all = *static_cast<Collected*>(user);
  Function piece{Set(Space{all.space->params, all.space->in}), {}};
  IslSet owned(set);
  piece.domain = Set(piece.domain.space(), all.op->pieces_of(set, all.space->in));
  for (std::size_t i = 0; i < all.space->out.size(); ++i) {
    IslAff value(isl_multi_aff_get_at(values, static_cast<int>(i)));
    piece.values.push_back(all.op->affine_of(value.get(), all.names));
  }
  isl_multi_aff_free(values);
  all.pieces.push_back(std::move(piece));
  return all.op->failed() ? isl_stat_error : isl_stat_ok;
}

Result<std::vector<Function>> lexmax_functions(Context& context, const Map& map,
                                               const Limits& limits) {
  Operation op(context, limits);
  isl_pw_multi_aff* best = isl_map_lexmax_pw_multi_aff(op.to_isl(map));
  Collected all{&op, &map.space(), map.space().params, {}};
  all.names.insert(all.names.end(), map.space().in.begin(), map.space().in.end());
  if (best != nullptr) isl_pw_multi_aff_foreach_piece(best, collect, &all);
  isl_pw_multi_aff_free(best);
  if (op.failed()) return op.failure("find the largest outputs of a map");
  return std::move(all.pieces);
}

Result<bool> is_empty(Context& context, const Map& map, const Limits& limits) {
  Operation op(context, limits);
  IslMap isl(op.to_isl(map));
  return op.finish(isl_map_is_empty(isl.get()), "decide whether a map is empty");
}

Result<bool> is_subset(Context& context, const Map& inner, const Map& outer, const Limits& limits) {
  Operation op(context, limits);
  op.share_params(inner.space().params, outer.space().params);
  IslMap a(op.to_isl(inner));
  IslMap b(op.to_isl(outer));
  return op.finish(isl_map_is_subset(a.get(), b.get()), "decide whether a map is a subset");
}

Result<bool> is_equal(Context& context, const Map& left, const Map& right, const Limits& limits) {
  Operation op(context, limits);
  op.share_params(left.space().params, right.space().params);
  IslMap a(op.to_isl(left));
  IslMap b(op.to_isl(right));
  return op.finish(isl_map_is_equal(a.get(), b.get()), "decide whether two maps are equal");
}

Result<bool> is_single_valued(Context& context, const Map& map, const Limits& limits) {
  Operation op(context, limits);
  IslMap isl(op.to_isl(map));
  return op.finish(isl_map_is_single_valued(isl.get()), "decide whether a map is a function");
}

Result<bool> is_injective(Context& context, const Map& map, const Limits& limits) {
  Operation op(context, limits);
  IslMap isl(op.to_isl(map));
  return op.finish(isl_map_is_injective(isl.get()), "decide whether a map is injective");
}

Set wrap(const Map& map) {
  Space space{map.space().params, map.space().in};
  space.dims.insert(space.dims.end(), map.space().out.begin(), map.space().out.end());
  return Set(std::move(space), map.pieces());
}

Map unwrap(const Set& set, std::size_t num_inputs) {
  auto border = set.space().dims.begin() + static_cast<std::ptrdiff_t>(num_inputs);
  MapSpace space{
      set.space().params, {set.space().dims.begin(), border}, {border, set.space().dims.end()}};
  return Map(std::move(space), set.pieces());
}

}  // namespace tilewright::poly

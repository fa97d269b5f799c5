// SPDX-License-Identifier: Apache-2.0
//
// Relations between integer points: accesses, schedules, dependences. Same conventions and laws as set.h.
// All names of one MapSpace are distinct, so that every constraint reads without position: where an
// operation would make an input and an output share a name, the output gets a prime (`i'`).
// Tests: tests/unit/schedules/polyhedra/map_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schedules/polyhedra/set.h"

namespace tilewright::poly {

struct MapSpace {
  std::vector<std::string> params;
  std::vector<std::string> in;
  std::vector<std::string> out;
  friend bool operator==(const MapSpace&, const MapSpace&) = default;
};

class Map {
 public:
  // The empty relation.
  explicit Map(MapSpace space) : space_(std::move(space)) {}
  Map(MapSpace space, BasicSet piece) : space_(std::move(space)), pieces_{std::move(piece)} {}
  Map(MapSpace space, std::vector<BasicSet> pieces)
      : space_(std::move(space)), pieces_(std::move(pieces)) {}
  // { [in] -> [out] : out_k = values_k }. Precondition: values.size() == space.out.size().
  static Map from_expressions(MapSpace space, const std::vector<AffineExpr>& values);

  const MapSpace& space() const { return space_; }
  // Constraints over parameters, inputs and outputs.
  const std::vector<BasicSet>& pieces() const { return pieces_; }
  std::optional<bool> contains(const Binding& values) const;
  // `[M] -> { [i] -> [j] : j = i + 1 }`
  std::string text() const;
  std::size_t hash() const;
  friend bool operator==(const Map&, const Map&) = default;

 private:
  MapSpace space_;
  std::vector<BasicSet> pieces_;
};

// Without a name, inputs are `i0`, ... and outputs `o0`, ...; a set reads as a relation without inputs.
Result<Map> parse_map(Context& context, std::string_view text, const Limits& limits = {});

Result<Map> intersect(Context&, const Map&, const Map&, const Limits& = {});
Result<Map> unite(Context&, const Map&, const Map&, const Limits& = {});
Result<Map> subtract(Context&, const Map&, const Map&, const Limits& = {});
Result<Map> intersect_domain(Context&, const Map&, const Set&, const Limits& = {});
Result<Map> intersect_range(Context&, const Map&, const Set&, const Limits& = {});
Result<Map> gist(Context&, const Map&, const Map& assumed, const Limits& = {});
Result<Map> inverse(Context&, const Map&, const Limits& = {});
// First `first`, then `second`: { x -> z : exists y: (x, y) in first, (y, z) in second }.
Result<Map> compose(Context&, const Map& first, const Map& second, const Limits& = {});
Result<Set> domain(Context&, const Map&, const Limits& = {});
Result<Set> range(Context&, const Map&, const Limits& = {});
// The image of a set.
Result<Set> apply(Context&, const Set&, const Map&, const Limits& = {});
// For each input only its lexicographically smallest (largest) output.
Result<Map> lexmin(Context&, const Map&, const Limits& = {});
Result<Map> lexmax(Context&, const Map&, const Limits& = {});

// The outputs of the inputs in `domain`, as functions of them.
struct Function {
  Set domain;
  std::vector<AffineExpr> values;
};
// `lexmax` in pieces whose domains are disjoint.
Result<std::vector<Function>> lexmax_functions(Context&, const Map&, const Limits& = {});

Result<bool> is_empty(Context&, const Map&, const Limits& = {});
Result<bool> is_subset(Context&, const Map& inner, const Map& outer, const Limits& = {});
Result<bool> is_equal(Context&, const Map&, const Map&, const Limits& = {});
// At most one output for each input.
Result<bool> is_single_valued(Context&, const Map&, const Limits& = {});
Result<bool> is_injective(Context&, const Map&, const Limits& = {});

// The pairs of a relation as a set over inputs and then outputs, and back; without isl.
Set wrap(const Map& map);
// Precondition: num_inputs <= set.space().dims.size().
Map unwrap(const Set& set, std::size_t num_inputs);

}  // namespace tilewright::poly

template <>
struct std::hash<tilewright::poly::Map> {
  std::size_t operator()(const tilewright::poly::Map& map) const { return map.hash(); }
};

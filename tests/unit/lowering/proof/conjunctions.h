// SPDX-License-Identifier: Apache-2.0
//
// Conjunctions for the tests of emptiness: random ones, and ones as the proof of a Program asks them, with a
// constant off by one now and then so that some are empty and some are not. And the way from the compiler's
// expressions to the checker's.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "apps/check/emptiness.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::proof {

using poly::AffineExpr;
using poly::BasicSet;

inline AffineExpr var(const std::string& name) { return AffineExpr::variable(name); }

inline check::Linear linear_of(const AffineExpr& expr) {
  check::Linear result(expr.constant());
  for (const poly::LinearTerm& term : expr.terms()) {
    result = result + check::Linear::symbol(term.name) * term.coefficient;
  }
  for (const poly::FloorTerm& floor : expr.floors()) {
    result = result + floor_div(linear_of(floor.numerator), floor.denominator) * floor.coefficient;
  }
  return result;
}

// In an order of its own: the checker's facts do not depend on it.
inline check::Conjunction conjunction_of(const BasicSet& set) {
  check::Conjunction result;
  for (auto e = set.equalities.rbegin(); e != set.equalities.rend(); ++e) {
    result.equal.push_back(linear_of(*e));
  }
  for (auto e = set.inequalities.rbegin(); e != set.inequalities.rend(); ++e) {
    result.at_least.push_back(linear_of(*e));
  }
  return result;
}

// Every name of the set as a parameter.
inline poly::Space space_of(const BasicSet& set) {
  poly::Space space;
  for (const AffineExpr& expr : set.equalities) expr.collect_names(space.params);
  for (const AffineExpr& expr : set.inequalities) expr.collect_names(space.params);
  return space;
}

class ConjunctionMaker {
 public:
  explicit ConjunctionMaker(std::uint32_t seed) : random_(seed) {}

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool one_in(int count) { return pick(1, count) == 1; }

  // Anything over a few names, perhaps without bounds.
  BasicSet anything(std::size_t num_names, bool boxed) {
    std::vector<std::string> names;
    for (std::size_t v = 0; v < num_names; ++v)
      names.push_back(std::string(1, static_cast<char>('a' + v)));
    BasicSet set;
    for (const std::string& name : names) {
      if (boxed) set.at_least(var(name), AffineExpr(-4)).at_least(AffineExpr(4), var(name));
    }
    std::int64_t count = pick(1, static_cast<std::int64_t>(num_names) + 3);
    for (std::int64_t c = 0; c < count; ++c) {
      AffineExpr expr = random_expr(names);
      if (one_in(4)) {
        set.equalities.push_back(expr);
      } else {
        set.inequalities.push_back(expr);
        // A thin slab: where rationals and integers differ.
        if (one_in(3)) set.at_least(AffineExpr(pick(0, 3)), expr);
      }
    }
    return set;
  }

  // A point of a loop that is not in the tile that it should be in.
  BasicSet tile_with_tail() {
    std::int64_t tile = pick(2, 40) * (one_in(2) ? 8 : 1);
    AffineExpr i = var("i");
    AffineExpr io = var("io");
    BasicSet set;
    set.at_least(i, 0).less(i, var("M"));
    if (one_in(2)) {
      set.equal(io, floor_div(i, tile)).equal(var("ii"), modulo(i, tile));
    } else {
      set.equal(i, io * tile + var("ii"))
          .at_least(var("ii"), 0)
          .less(var("ii"), off() + AffineExpr(tile));
    }
    switch (pick(0, 3)) {
      case 0: set.less(var("ii") + io * tile, 0); break;
      case 1: set.at_least(io, ceil_div(var("M"), tile) + off()); break;
      case 2: set.less(AffineExpr(tile - 1), var("ii") + off()); break;
      default:
        // A full tile that the loop's end cuts, before the last tile.
        set.less(io, floor_div(var("M"), tile) + off()).less(var("M"), io * tile + tile);
    }
    return set;
  }

  // Two steps of a loop whose chunks meet in a slot of a ring though they are fewer steps apart.
  BasicSet ring_slots() {
    std::int64_t depth = pick(2, 6);
    AffineExpr k = var("k");
    AffineExpr l = var("l");
    BasicSet set;
    for (const AffineExpr& step : {k, l}) {
      set.at_least(step, 0).less(step, ceil_div(var("K"), pick(1, 3) * 16));
    }
    set.less(k, l).less(l, k + AffineExpr(depth) + off());
    set.equal(modulo(k, depth), modulo(l, depth));
    if (one_in(2)) set.equal(var("phase"), modulo(floor_div(k, depth), 2));
    return set;
  }

  // Two waits on a barrier of a ring that see the same slot and phase though less than two rounds apart; in
  // the second form, a step between a chunk's copy and its use that copies to the same slot.
  BasicSet ring_phases() {
    std::int64_t depth = pick(2, 9);
    std::int64_t chunk = pick(1, 4) * 16;
    AffineExpr k = var("k");
    AffineExpr l = var("l");
    BasicSet set;
    for (const AffineExpr& step : {k, l}) {
      set.at_least(step, 0).less(step * chunk, var("K"));
    }
    set.equal(modulo(k, depth), modulo(l, depth)).less(k, l);
    if (one_in(2)) {
      set.equal(modulo(floor_div(k, depth), 2), modulo(floor_div(l, depth), 2));
      set.less(l, k + AffineExpr(2 * depth) + off());
    } else {
      AffineExpr ahead(depth - 1);
      set.equal(var("use"), k + ahead).at_least(var("use") + off(), l);
      set.equal(var("x"), var("use") * chunk + var("lane")).at_least(var("lane"), 0);
      set.less(var("lane"), chunk).less(var("x"), var("K"));
    }
    return set;
  }

  // A tensor's index from a flat thread number, lanes first, back to the flat number: another thread, same
  // element.
  BasicSet thread_layout() {
    std::int64_t lanes = std::int64_t{1} << pick(2, 5);
    std::int64_t width = std::int64_t{1} << pick(0, 3);
    std::int64_t rows = pick(1, 8);
    BasicSet set;
    for (const char* tag : {"0", "1"}) {
      AffineExpr thread = var(std::string("t") + tag);
      AffineExpr item = var(std::string("e") + tag);
      set.at_least(thread, 0).less(thread, lanes * 4).at_least(item, 0);
      set.less(item, width * rows);
      set.equal(var(std::string("column") + tag),
                modulo(thread, lanes) * width + modulo(item, width) + off());
      set.equal(var(std::string("row") + tag),
                floor_div(thread, lanes) * rows + floor_div(item, width));
    }
    set.equal(var("row0"), var("row1")).equal(var("column0"), var("column1"));
    if (one_in(2)) {
      set.less(var("t0"), var("t1"));
    } else {
      set.equal(var("t0"), var("t1")).less(var("e0"), var("e1"));
    }
    return set;
  }

  // Reader and writer of a cell of a tiled matrix, and a writer between them.
  BasicSet writer_between() {
    std::int64_t tile_m = pick(2, 12);
    std::int64_t tile_k = pick(2, 64);
    BasicSet set;
    auto instance = [&](const std::string& tag) {
      auto at = [&](const std::string& name) { return var(name + tag); };
      set.at_least(at("io"), 0).less(at("io"), ceil_div(var("M"), tile_m));
      set.at_least(at("ii"), 0).less(at("ii"), tile_m).less(at("io") * tile_m + at("ii"), var("M"));
      set.at_least(at("j"), 0).less(at("j"), var("N"));
      set.at_least(at("ko"), 0).less(at("ko") * tile_k, var("K"));
      set.at_least(at("ki"), 0).less(at("ki"), tile_k).less(at("ko") * tile_k + at("ki"), var("K"));
    };
    for (const char* tag : {"0", "1", "2"}) instance(tag);
    // All on one cell.
    for (const char* tag : {"1", "2"}) {
      set.equal(var("io0") * tile_m + var("ii0"),
                var(std::string("io") + tag) * tile_m + var(std::string("ii") + tag));
      set.equal(var("j0"), var(std::string("j") + tag));
    }
    // The writer is the step before, of this chunk or the last.
    if (one_in(2)) {
      set.equal(var("ko1"), var("ko0")).equal(var("ki1"), var("ki0") - AffineExpr(1) - off());
    } else {
      set.equal(var("ki0"), 0).equal(var("ko1"), var("ko0") - AffineExpr(1));
      set.equal(var("ki1"), AffineExpr(tile_k - 1) - off());
    }
    before(set, "1", "2");
    before(set, "2", "0");
    return set;
  }

  // The same for three dimensions that are each split twice: about thirty names and eighty constraints.
  BasicSet deep_nest() {
    BasicSet set;
    const char* dims[] = {"m", "n", "k"};
    std::int64_t inner[3];
    std::int64_t outer[3];
    for (int d = 0; d < 3; ++d) {
      inner[d] = pick(1, 4) * 2;
      outer[d] = inner[d] * pick(2, 12);
    }
    auto at = [&](int d, const char* part, const char* tag) {
      return var(std::string(dims[d]) + part + tag);
    };
    auto index = [&](int d, const char* tag) {
      return at(d, "o", tag) * outer[d] + at(d, "i", tag) * inner[d] + at(d, "l", tag);
    };
    for (const char* tag : {"0", "1", "2"}) {
      for (int d = 0; d < 3; ++d) {
        AffineExpr size = var(std::string(1, static_cast<char>(dims[d][0] - 'a' + 'A')));
        set.at_least(at(d, "o", tag), 0).less(at(d, "o", tag), ceil_div(size, outer[d]));
        set.at_least(at(d, "i", tag), 0).less(at(d, "i", tag), outer[d] / inner[d]);
        set.at_least(at(d, "l", tag), 0).less(at(d, "l", tag), inner[d]).less(index(d, tag), size);
      }
    }
    for (int d = 0; d < 2; ++d) {
      for (const char* tag : {"1", "2"}) set.equal(index(d, "0"), index(d, tag));
    }
    // Step k - 1 wrote what step k reads; is there a step between, in the order ko, ki, kl?
    set.equal(index(2, "1"), index(2, "0") - AffineExpr(1) - off());
    const char* parts[] = {"o", "i", "l"};
    auto precedes = [&](const char* a, const char* b, std::int64_t equal) {
      for (std::int64_t p = 0; p < equal; ++p) set.equal(at(2, parts[p], a), at(2, parts[p], b));
      set.less(at(2, parts[equal], a), at(2, parts[equal], b));
    };
    precedes("1", "2", pick(0, 2));
    precedes("2", "0", pick(0, 2));
    return set;
  }

  // A tile staged with a halo: a cell that is read is not among those copied.
  BasicSet staged_halo() {
    std::int64_t tile = pick(4, 100);
    std::int64_t radius = pick(1, 4);
    BasicSet set;
    AffineExpr x = var("xo") * tile + var("xi");
    set.at_least(var("xo"), 0).at_least(var("xi"), 0).less(var("xi"), tile);
    set.less(x, var("W") - AffineExpr(2 * radius));
    set.at_least(var("r"), 0).at_least(AffineExpr(2 * radius), var("r"));
    set.equal(var("cell"), x + var("r"));
    if (one_in(2)) {
      set.less(var("cell"), var("xo") * tile + off());
    } else {
      set.at_least(var("cell"), var("xo") * tile + AffineExpr(tile + 2 * radius) + off());
    }
    return set;
  }

  // A flat address split three ways, that meets itself at another index.
  BasicSet flat_address() {
    std::int64_t rows = pick(2, 9);
    std::int64_t columns = pick(2, 33);
    BasicSet set;
    auto address = [&](const std::string& tag) {
      set.at_least(var("a" + tag), 0).at_least(var("b" + tag), 0).less(var("b" + tag), rows);
      set.at_least(var("c" + tag), 0).less(var("c" + tag), AffineExpr(columns) + off());
      return (var("a" + tag) * rows + var("b" + tag)) * columns + var("c" + tag);
    };
    set.equal(address("0"), address("1"));
    std::string other = std::string(1, static_cast<char>('a' + pick(0, 2)));
    set.less(var(other + "0"), var(other + "1"));
    if (one_in(2)) set.equal(var("bank"), modulo(var("c0") * 4 + floor_div(var("b0"), 2), 32));
    return set;
  }

  BasicSet structured() {
    switch (pick(0, 7)) {
      case 0: return tile_with_tail();
      case 1: return ring_slots();
      case 2: return writer_between();
      case 3: return staged_halo();
      case 4: return deep_nest();
      case 5: return ring_phases();
      case 6: return thread_layout();
      default: return flat_address();
    }
  }

 private:
  AffineExpr off() { return AffineExpr(one_in(4) ? 1 : 0); }

  // Instance `a` comes before `b`, with the first so many loops equal.
  void before(BasicSet& set, const std::string& a, const std::string& b) {
    const char* loops[] = {"io", "ko", "ii", "j", "ki"};
    std::int64_t equal = pick(0, 4);
    for (std::int64_t d = 0; d < equal; ++d) {
      set.equal(var(loops[d] + a), var(loops[d] + b));
    }
    set.less(var(loops[equal] + a), var(loops[equal] + b));
  }

  AffineExpr random_expr(const std::vector<std::string>& names) {
    std::int64_t most = one_in(6) ? 30 : 4;
    AffineExpr expr(pick(-2 * most, 2 * most));
    for (const std::string& name : names) {
      if (!one_in(3)) expr = expr + var(name) * pick(-most, most);
    }
    while (one_in(4)) {
      AffineExpr inner(pick(-3, 3));
      for (const std::string& name : names) inner = inner + var(name) * pick(-3, 3);
      if (one_in(3)) inner = inner + floor_div(var(names[0]) + AffineExpr(1), pick(2, 3));
      AffineExpr rounded = one_in(2) ? floor_div(inner, pick(2, 9)) : modulo(inner, pick(2, 9));
      expr = expr + rounded * pick(-2, 2);
    }
    return expr;
  }

  std::mt19937 random_;
};

}  // namespace tilewright::proof

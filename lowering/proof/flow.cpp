// SPDX-License-Identifier: Apache-2.0
//
// The last writer of each read: candidates by how late they are, the latest first, until every instance has
// one.
#include "lowering/proof/flow.h"

#include <algorithm>
#include <limits>

#include "lowering/proof/names.h"

namespace tilewright::proof {

namespace {

using poly::BasicSet;
using poly::Set;

constexpr std::string_view kWriter = "'w";
constexpr std::string_view kFirst = "'a";
constexpr std::string_view kSecond = "'b";

// Equal constants in all places that hold one on both sides.
bool may_meet(const std::vector<AffineExpr>& a, const std::vector<AffineExpr>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].is_constant() && b[i].is_constant() && a[i].constant() != b[i].constant())
      return false;
  return true;
}

}  // namespace

Reader reader_of(const Statement& statement, const Access& access) {
  Reader out;
  out.loops = statement.loops;
  out.time = statement.time;
  out.access = access;
  if (access.data.empty()) return out;
  for (const std::string& name : access.data.names())
    out.loops.push_back({name, program::LoopKind::Vector, true});
  out.access.points = with_names(access.points, access.data);
  return out;
}

Set with_names(const Set& points, const Known& data) {
  poly::Space space = points.space();
  for (const std::string& name : data.names()) space.dims.push_back(name);
  return Set(std::move(space), both(points.pieces(), data.facts.pieces));
}

Reader reader_of(const Statements&, const Buffer& output) {
  Reader out;
  out.time = {{std::numeric_limits<int>::max(), -1}};  // after all
  out.access.buffer = output.name;
  out.access.points = output.cells;
  for (std::size_t d = 0; d < output.extents.size(); ++d) {
    out.loops.push_back({"d" + std::to_string(d), program::LoopKind::Serial});
    out.access.cell.push_back(variable(out.loops.back().name));
  }
  return out;
}

std::vector<ValueFlow::Candidate> ValueFlow::candidates(const Reader& reader) const {
  std::vector<Candidate> out;
  for (const Statement& writer : statements_.list) {
    if (writer.buffer != reader.access.buffer || !may_meet(writer.cell, reader.access.cell))
      continue;
    for (Before& way :
         before({writer.time, writer.loops, kWriter}, {reader.time, reader.loops, ""}))
      out.push_back({writer.number, way.decided, way.position, std::move(way.condition)});
  }
  std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.decided, a.position) > std::pair(b.decided, b.position);
  });
  return out;
}

// For each of the points the latest instance of the candidate that wrote the cell.
Result<std::vector<Source>> ValueFlow::latest(const Reader& reader, const Buffer& buffer,
                                              const Candidate& candidate, const Set& points) const {
  const Statement& writer = statements_.list[candidate.writer];
  BasicSet link = candidate.condition;
  for (const Loop& loop : buffer.loops)
    link.equal(variable(loop.name, kWriter), variable(loop.name));
  std::vector<AffineExpr> to;
  for (const Loop& loop : writer.loops) to.push_back(variable(loop.name, kWriter));
  for (std::size_t d = 0; d < writer.cell.size(); ++d)
    link.equal(replaced(writer.cell[d], names(writer.loops), to), reader.access.cell[d]);
  std::vector<BasicSet> pieces;
  for (const BasicSet& domain : writer.domain.pieces()) {
    for (const BasicSet& point : points.pieces()) {
      BasicSet piece = link;
      add(piece, point);
      add(piece, suffixed(domain, writer.loops, kWriter));
      pieces.push_back(std::move(piece));
    }
  }
  // The order of outputs is the order of time.
  std::vector<std::size_t> order;
  for (const TimeStep& step : writer.time)
    if (step.loop >= 0) order.push_back(static_cast<std::size_t>(step.loop));
  for (std::size_t loop = 0; loop < writer.loops.size(); ++loop)
    if (writer.loops[loop].kind == program::LoopKind::Vector) order.push_back(loop);
  poly::MapSpace space{points.space().params, names(reader.loops), {}};
  for (std::size_t loop : order)
    space.out.push_back(writer.loops[loop].name + std::string(kWriter));
  TILEWRIGHT_TRY(functions,
                 poly::lexmax_functions(polyhedra_, poly::Map(space, std::move(pieces)), limits_));
  std::vector<Source> out;
  for (poly::Function& function : functions) {
    Source source;
    source.writer = candidate.writer;
    source.condition = std::move(function.domain);
    source.instance.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      source.instance[order[i]] = std::move(function.values[i]);
    out.push_back(std::move(source));
  }
  return out;
}

// The points at which the instance of `a` is before that of `b`.
Result<Set> ValueFlow::earlier(const Source& a, const Source& b, const Set& points) const {
  const Statement& x = statements_.list[a.writer];
  const Statement& y = statements_.list[b.writer];
  std::vector<std::string> from = names(x.loops, kFirst);
  std::vector<AffineExpr> to = a.instance;
  for (const std::string& name : names(y.loops, kSecond)) from.push_back(name);
  to.insert(to.end(), b.instance.begin(), b.instance.end());
  std::vector<BasicSet> pieces;
  for (const Before& way : before({x.time, x.loops, kFirst}, {y.time, y.loops, kSecond})) {
    const BasicSet condition = replaced(way.condition, from, to);
    for (const BasicSet& point : points.pieces()) {
      BasicSet piece = point;
      add(piece, condition);
      pieces.push_back(std::move(piece));
    }
  }
  return Set(points.space(), std::move(pieces));
}

// A loop around both that has the same value is written as itself, whatever else its value is.
Result<Ok> ValueFlow::keep_names(const Reader& reader, Source& source) const {
  const Statement& writer = statements_.list[source.writer];
  for (std::size_t i = 0; i < writer.loops.size(); ++i) {
    const AffineExpr itself = variable(writer.loops[i].name);
    const bool shared = i < reader.loops.size() && reader.loops[i].name == writer.loops[i].name;
    if (!shared || source.instance[i] == itself) continue;
    BasicSet same;
    same.equal(source.instance[i], itself);
    TILEWRIGHT_TRY(always, poly::is_subset(polyhedra_, source.condition,
                                           Set(source.condition.space(), same), limits_));
    if (always) source.instance[i] = itself;
  }
  return Ok{};
}

// Keeps of both the later one at each point.
Result<Ok> ValueFlow::merge(const Reader&, std::vector<Source>& all,
                            std::vector<Source> more) const {
  for (Source& b : more) {
    for (Source& a : all) {
      TILEWRIGHT_TRY(both, poly::intersect(polyhedra_, a.condition, b.condition, limits_));
      TILEWRIGHT_TRY(apart, poly::is_empty(polyhedra_, both, limits_));
      if (apart) continue;
      TILEWRIGHT_TRY(b_later, earlier(a, b, both));
      TILEWRIGHT_TRY(a_later, poly::subtract(polyhedra_, both, b_later, limits_));
      TILEWRIGHT_TRY(of_a, poly::subtract(polyhedra_, a.condition, b_later, limits_));
      TILEWRIGHT_TRY(of_b, poly::subtract(polyhedra_, b.condition, a_later, limits_));
      a.condition = std::move(of_a);
      b.condition = std::move(of_b);
    }
  }
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  std::vector<Source> kept;
  for (Source& one : all) {
    TILEWRIGHT_TRY(empty, poly::is_empty(polyhedra_, one.condition, limits_));
    if (!empty) kept.push_back(std::move(one));
  }
  all = std::move(kept);
  return Ok{};
}

Result<Flow> ValueFlow::flow(const Reader& reader) const {
  Flow out;
  const Buffer& buffer = *statements_.find(reader.access.buffer);
  TILEWRIGHT_TRY(
      left, poly::intersect_params(polyhedra_, reader.access.points, statements_.sizes, limits_));
  const std::vector<Candidate> all =
      buffer.kind == Buffer::Kind::Input ? std::vector<Candidate>() : candidates(reader);
  for (std::size_t i = 0; i < all.size();) {
    TILEWRIGHT_TRY(done, poly::is_empty(polyhedra_, left, limits_));
    if (done) break;
    std::vector<Source> group;
    const std::size_t first = i;
    for (; i < all.size() && all[i].decided == all[first].decided &&
           all[i].position == all[first].position;
         ++i) {
      TILEWRIGHT_TRY(more, latest(reader, buffer, all[i], left));
      TILEWRIGHT_CHECK_OK(merge(reader, group, std::move(more)));
    }
    for (Source& source : group) {
      TILEWRIGHT_CHECK_OK(keep_names(reader, source));
      TILEWRIGHT_TRY(rest, poly::subtract(polyhedra_, left, source.condition, limits_));
      left = std::move(rest);
      out.sources.push_back(std::move(source));
    }
  }
  out.unwritten = left;
  if (buffer.kind == Buffer::Kind::Input || buffer.kind == Buffer::Kind::Inout) {
    out.unwritten = Set(left.space());
    TILEWRIGHT_TRY(none, poly::is_empty(polyhedra_, left, limits_));
    if (!none) {
      Source given;
      given.condition = std::move(left);
      out.sources.push_back(std::move(given));
    }
  }
  return out;
}

namespace {

class Faults {
 public:
  Faults(const Statements& statements, poly::Context& polyhedra, poly::Limits limits)
      : statements_(statements), polyhedra_(polyhedra), limits_(limits) {}

  Result<std::vector<Fault>> out_of_bounds() {
    for (const Statement& one : statements_.list) {
      TILEWRIGHT_CHECK_OK(inside(one, one.buffer, one.target, with_names(one.domain, one.data),
                                 one.under.empty() && one.data.empty()));
      for (const Access& read : one.reads)
        if (!read.is_own)
          TILEWRIGHT_CHECK_OK(inside(one, read.buffer, read.cell,
                                     with_names(read.points, read.known),
                                     read.under.empty() && read.known.empty()));
    }
    return std::move(found_);
  }

  Result<std::vector<Fault>> conflicts() {
    for (const Statement& a : statements_.list) {
      TILEWRIGHT_CHECK_OK(lanes(a));
      for (const Statement& b : statements_.list) {
        if (b.number >= a.number && b.buffer == a.buffer)
          TILEWRIGHT_CHECK_OK(race(a, b, b.buffer, b.cell, b.domain));
        for (const Access& read : b.reads)
          if (read.buffer == a.buffer && !read.only_kept)
            TILEWRIGHT_CHECK_OK(
                race(a, b, read.buffer, read.cell, with_names(read.points, read.known)));
      }
    }
    return std::move(found_);
  }

 private:
  Result<Ok> report(Fault::Kind kind, std::size_t first, std::size_t second, Symbol buffer,
                    std::vector<std::string> dims, std::vector<BasicSet> pieces, bool certain) {
    Set set(poly::Space{statements_.extents(), std::move(dims)}, std::move(pieces));
    TILEWRIGHT_TRY(allowed, poly::intersect_params(polyhedra_, set, statements_.sizes, limits_));
    TILEWRIGHT_TRY(empty, poly::is_empty(polyhedra_, allowed, limits_));
    if (empty) return Ok{};
    Fault fault;
    fault.kind = kind;
    fault.first = first;
    fault.second = second;
    fault.buffer = buffer;
    fault.where = std::move(allowed);
    fault.certain = certain;
    found_.push_back(std::move(fault));
    return Ok{};
  }

  Result<Ok> inside(const Statement& one, Symbol name, const std::vector<AffineExpr>& cell,
                    const Set& points, bool certain) {
    const Buffer& buffer = *statements_.find(name);
    std::vector<std::string> from;
    for (std::size_t d = 0; d < cell.size(); ++d) from.push_back("d" + std::to_string(d));
    std::vector<BasicSet> cells;
    for (const BasicSet& piece : buffer.cells.pieces())
      cells.push_back(replaced(piece, from, cell));
    TILEWRIGHT_TRY(outside,
                   poly::subtract(polyhedra_, points, Set(points.space(), cells), limits_));
    return report(Fault::Kind::OutOfBounds, one.number, one.number, name, points.space().dims,
                  outside.pieces(), certain);
  }

  // `a` writes, `b` writes or reads, in two iterations of a parallel loop around both that is inside of the
  // buffer's own instance.
  Result<Ok> race(const Statement& a, const Statement& b, Symbol name,
                  const std::vector<AffineExpr>& cell, const Set& points) {
    const Buffer& buffer = *statements_.find(name);
    if (!may_meet(a.cell, cell)) return Ok{};
    std::vector<BasicSet> pieces;
    BasicSet same;
    const std::size_t shared = std::min(a.loops.size(), b.loops.size());
    for (std::size_t i = 0; i < shared && a.loops[i].name == b.loops[i].name; ++i) {
      const AffineExpr x = variable(a.loops[i].name, kFirst);
      const AffineExpr y = variable(b.loops[i].name, kSecond);
      const bool own = std::any_of(buffer.loops.begin(), buffer.loops.end(),
                                   [&](const Loop& loop) { return loop.name == a.loops[i].name; });
      if (!own && a.loops[i].kind == program::LoopKind::Parallel) {
        BasicSet less = same;
        BasicSet more = same;
        pieces.push_back(less.less(x, y));
        pieces.push_back(more.less(y, x));
      }
      same.equal(x, y);
    }
    return meet(Fault::Kind::Race, a, b, name, cell, points, std::move(pieces));
  }

  // Two lanes of one execution of a statement.
  Result<Ok> lanes(const Statement& one) {
    std::vector<BasicSet> pieces;
    for (std::size_t lane = 0; lane < one.loops.size(); ++lane) {
      if (one.loops[lane].kind != program::LoopKind::Vector) continue;
      if (one.loops[lane].of_call) continue;
      BasicSet same;
      for (std::size_t i = 0; i < one.loops.size(); ++i) {
        if (one.loops[i].kind == program::LoopKind::Vector) continue;
        same.equal(variable(one.loops[i].name, kFirst), variable(one.loops[i].name, kSecond));
      }
      const AffineExpr x = variable(one.loops[lane].name, kFirst);
      const AffineExpr y = variable(one.loops[lane].name, kSecond);
      BasicSet less = same;
      BasicSet more = same;
      pieces.push_back(less.less(x, y));
      pieces.push_back(more.less(y, x));
    }
    if (pieces.empty()) return Ok{};
    TILEWRIGHT_CHECK_OK(
        meet(Fault::Kind::LaneConflict, one, one, one.buffer, one.cell, one.domain, pieces));
    for (const Access& read : one.reads)
      if (read.buffer == one.buffer && !read.only_kept)
        TILEWRIGHT_CHECK_OK(meet(Fault::Kind::LaneConflict, one, one, read.buffer, read.cell,
                                 with_names(read.points, read.known), pieces));
    return Ok{};
  }

  Result<Ok> meet(Fault::Kind kind, const Statement& a, const Statement& b, Symbol name,
                  const std::vector<AffineExpr>& cell, const Set& points,
                  std::vector<BasicSet> pairs) {
    if (pairs.empty()) return Ok{};
    const Buffer& buffer = *statements_.find(name);
    BasicSet link;
    for (const Loop& loop : buffer.loops)
      link.equal(variable(loop.name, kFirst), variable(loop.name, kSecond));
    std::vector<AffineExpr> first;
    std::vector<AffineExpr> second;
    for (const Loop& loop : a.loops) first.push_back(variable(loop.name, kFirst));
    for (const Loop& loop : b.loops) second.push_back(variable(loop.name, kSecond));
    for (std::size_t d = 0; d < cell.size(); ++d)
      link.equal(replaced(a.cell[d], names(a.loops), first),
                 replaced(cell[d], names(b.loops), second));
    std::vector<BasicSet> pieces;
    for (const BasicSet& pair : pairs)
      for (const BasicSet& x : a.domain.pieces())
        for (const BasicSet& y : points.pieces()) {
          BasicSet piece = link;
          add(piece, pair);
          add(piece, suffixed(x, a.loops, kFirst));
          add(piece, suffixed(y, b.loops, kSecond));
          pieces.push_back(std::move(piece));
        }
    std::vector<std::string> dims = names(a.loops, kFirst);
    for (const std::string& dim : names(b.loops, kSecond)) dims.push_back(dim);
    for (std::size_t i = b.loops.size(); i < points.space().dims.size(); ++i)
      dims.push_back(points.space().dims[i]);  // names of values
    const bool certain =
        a.under.empty() && b.under.empty() && points.space().dims.size() == b.loops.size();
    return report(kind, a.number, b.number, name, std::move(dims), std::move(pieces), certain);
  }

  const Statements& statements_;
  poly::Context& polyhedra_;
  poly::Limits limits_;
  std::vector<Fault> found_;
};

}  // namespace

Result<std::vector<Fault>> out_of_bounds(const Statements& statements, poly::Context& polyhedra,
                                         poly::Limits limits) {
  return Faults(statements, polyhedra, limits).out_of_bounds();
}

Result<std::vector<Fault>> conflicts(const Statements& statements, poly::Context& polyhedra,
                                     poly::Limits limits) {
  return Faults(statements, polyhedra, limits).conflicts();
}

}  // namespace tilewright::proof

// SPDX-License-Identifier: Apache-2.0
//
// Value flow: which store wrote the cell that a read finds. Law: the sources of a read are disjoint and cover,
// with `unwritten`, exactly the instances that evaluate it; the instance of a source wrote the cell before
// the read, and no store wrote it in between, provided that no two iterations of a `parallel` loop conflict
// (conflicts, below).
// Tests: tests/laws/value_flow_test.cpp (against a traced run).
#pragma once

#include "lowering/proof/statements.h"
#include "schedules/polyhedra/map.h"

namespace tilewright::proof {

// What the caller gave, of an input or an inout.
inline constexpr std::size_t kGiven = static_cast<std::size_t>(-1);

struct Source {
  std::size_t writer = kGiven;  // statement
  poly::Set condition;  // on the instance that reads
  std::vector<AffineExpr>
      instance;  // the loops of the writer, outermost first, over those of the reader

  Source() : condition(poly::Space{}) {}
};

struct Flow {
  std::vector<Source> sources;
  poly::Set unwritten;  // instances that read a cell without a value

  Flow() : unwritten(poly::Space{}) {}
};

// Who reads: a statement, or the caller after the end, who has one loop for each dimension of an output.
struct Reader {
  std::vector<Loop> loops;
  std::vector<TimeStep> time;
  Access access;

  Reader() : access{{}, {}, {}, poly::Set(poly::Space{})} {}
};
// The names of an access stand behind its loops: lanes of their own, in no time.
Reader reader_of(const Statement& statement, const Access& access);
// With the names as dimensions, and what is known of them.
poly::Set with_names(const poly::Set& points, const Known& data);
// Of every cell of an output; its loops are named `d0`, `d1`, ...
Reader reader_of(const Statements& statements, const Buffer& output);

class ValueFlow {
 public:
  ValueFlow(const Statements& statements, poly::Context& polyhedra, poly::Limits limits = {})
      : statements_(statements), polyhedra_(polyhedra), limits_(limits) {}

  Result<Flow> flow(const Reader& reader) const;

 private:
  struct Candidate {
    std::size_t writer = 0;
    std::size_t decided = 0;
    int position = -1;
    poly::BasicSet condition;
  };
  std::vector<Candidate> candidates(const Reader& reader) const;
  Result<std::vector<Source>> latest(const Reader& reader, const Buffer& buffer,
                                     const Candidate& candidate, const poly::Set& points) const;
  Result<Ok> keep_names(const Reader& reader, Source& source) const;
  Result<Ok> merge(const Reader& reader, std::vector<Source>& all, std::vector<Source> more) const;
  Result<poly::Set> earlier(const Source& a, const Source& b, const poly::Set& points) const;

  const Statements& statements_;
  poly::Context& polyhedra_;
  poly::Limits limits_;
};

// A set of instances, or pairs of them, that must be empty and is not.
struct Fault {
  enum class Kind : std::uint8_t { OutOfBounds, Unwritten, Race, LaneConflict };
  Kind kind = Kind::OutOfBounds;
  std::size_t first = 0;  // statement
  std::size_t second = 0;  // of a conflict
  Symbol buffer;
  poly::Set where;
  bool certain = true;  // false: data decide whether a run gets there

  Fault() : where(poly::Space{}) {}
};

// Accesses outside of their buffer.
Result<std::vector<Fault>> out_of_bounds(const Statements&, poly::Context&, poly::Limits = {});
// Instances of two iterations of a `parallel` loop, or two lanes of one statement, that touch one cell, of which
// one writes.
Result<std::vector<Fault>> conflicts(const Statements&, poly::Context&, poly::Limits = {});

}  // namespace tilewright::proof

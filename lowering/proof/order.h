// SPDX-License-Identifier: Apache-2.0
//
// What happens before what in every run of a Program with agents (docs/decisions/proof.md): chains of the programs of
// agents, of arrivals and the waits for their phase, of operations from their start to a wait for their completion,
// of syncs and fences. Law: two instances are called ordered only where the vector clocks of the interpreter know the
// first at the second in every run, provided that phases are what they were said to be (synchronised.h shows that).
// The rest is not known to be ordered.
// Tests: tests/laws/agents_proof_test.cpp.
#pragma once

#include <optional>

#include "lowering/proof/statements.h"
#include "schedules/polyhedra/context.h"

namespace tilewright::proof {

// Suffixes of the loops of the first and second end of a pair.
inline constexpr std::string_view kFrom = "'a";
inline constexpr std::string_view kTo = "'b";

// How many of the agents around are outside of the group of this scope, that included.
std::size_t instance_of(const std::vector<AgentStep>& agents, program::Scope scope);
// Equal values of all loops around a point.
poly::BasicSet same_instance(const Point& point, std::string_view sa, std::string_view sb);

// An agent's access, or one of an operation that it starts.
struct End {
  const Point* at = nullptr;  // of an operation its start
  const Event* operation = nullptr;
};

struct Need {
  bool seen = false;  // what the first wrote, by
  program::Proxy by = program::Proxy::Generic;  // this path of the second
};

class Order {
 public:
  // `phases`: of each event at a barrier.
  Order(const Statements& statements, poly::Context& polyhedra,
        const std::vector<std::optional<AffineExpr>>& phases, poly::Limits limits = {});

  Result<Ok> find_links();
  // What of the pairs, over the loops of both ends that are around events, no chain leads through.
  Result<poly::Set> unordered(const End& from, const End& to, poly::Set pairs,
                              Need need = {}) const;

  // That the instance of `a` is before that of `b` in the program of an agent, or before it splits or after its parts
  // have joined; as far as loops around events decide it.
  std::vector<poly::BasicSet> program_order(const Point& a, std::string_view sa, const Point& b,
                                            std::string_view sb) const;
  // The loops of a point that are around some event.
  std::vector<Loop> outer(const Point& point) const;
  // Over the loops around events of both.
  Result<poly::Set> pairs(const Point& a, const Point& b, std::vector<poly::BasicSet> pieces) const;
  End end_of(const Statement& statement) const;
  // Same object, by its own loops.
  std::optional<poly::BasicSet> same_object(const Event& a, std::string_view sa, const Event& b,
                                            std::string_view sb) const;
  const AffineExpr* phase(const Event& event) const;
  // Over these dimensions, for sizes that the Program allows; of those that are gone some value exists.
  Result<poly::Set> keep(std::vector<poly::BasicSet> pieces, const std::vector<std::string>& dims,
                         const std::vector<std::string>& gone) const;

 private:
  struct Link {
    const Event* from = nullptr;  // an arrival, the start of an operation, a sync, a fence
    const Event* to = nullptr;
    std::vector<poly::BasicSet> pieces;  // of instances of both: `'p`, `'w`
    bool keeps_seen = false;
  };
  struct Reached {
    const Point* at = nullptr;
    const Event* operation = nullptr;  // complete
    std::string suffix;
    poly::Set relation;
    unsigned seen = 0;
  };
  bool is_around(const Loop& loop) const;
  Result<Ok> add_link(const Event& from, const Event& to, std::vector<poly::BasicSet> pieces,
                      bool by_object);
  Result<Ok> token_links(const Event& wait);
  Result<Ok> group_links(const Event& wait);
  Result<Ok> sync_link(const Event& sync);
  Result<std::optional<Reached>> follow(const Reached& at, const Link& link) const;
  Result<poly::Set> close(const Reached& at, const End& to, Need need, poly::Set left) const;

  const Statements& statements_;
  poly::Context& polyhedra_;
  const std::vector<std::optional<AffineExpr>>& phases_;
  poly::Limits limits_;
  std::vector<std::string> around_;
  std::vector<Link> links_;
};

}  // namespace tilewright::proof

// SPDX-License-Identifier: Apache-2.0
//
// Chains are followed from the first end breadth first, as relations between it and the points reached; what leads to
// no more instances of a point than another chain did is left.
#include "lowering/proof/order.h"

#include <algorithm>

#include "lowering/proof/names.h"

namespace tilewright::proof {

using poly::BasicSet;
using poly::Set;
using program::Proxy;

namespace {

constexpr std::string_view kNow = "'c";  // the point that a chain has reached
constexpr std::string_view kTell = "'p";
constexpr std::string_view kLearn = "'w";
constexpr std::string_view kBetween = "'x";

// Links of a chain, and chains. More are possible in theory: they count for nothing.
constexpr int kMaxLinks = 5;
constexpr std::size_t kMaxChains = 200;

unsigned bit(Proxy proxy) { return 1U << static_cast<unsigned>(proxy); }

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

std::size_t instance_of(const std::vector<AgentStep>& agents, program::Scope scope) {
  for (std::size_t k = agents.size(); k-- > 0;) {
    if (agents[k].scope == scope) return k + 1;
    if (agents[k].scope > scope) return std::min(agents.size(), k + 2);
  }
  return scope == program::Scope::System ? 0 : std::min<std::size_t>(agents.size(), 1);
}

BasicSet same_instance(const Point& point, std::string_view sa, std::string_view sb) {
  BasicSet out;
  for (const Loop& loop : point.loops) out.equal(variable(loop.name, sa), variable(loop.name, sb));
  return out;
}

Order::Order(const Statements& statements, poly::Context& polyhedra,
             const std::vector<std::optional<AffineExpr>>& phases, poly::Limits limits)
    : statements_(statements), polyhedra_(polyhedra), phases_(phases), limits_(limits) {
  for (const Event& event : statements.events)
    for (const Loop& loop : event.loops)
      if (std::find(around_.begin(), around_.end(), loop.name) == around_.end())
        around_.push_back(loop.name);
}

std::vector<Loop> Order::outer(const Point& point) const {
  std::vector<Loop> out;
  for (const Loop& loop : point.loops)
    if (is_around(loop)) out.push_back(loop);
  return out;
}

bool Order::is_around(const Loop& loop) const {
  return std::find(around_.begin(), around_.end(), loop.name) != around_.end();
}

std::vector<BasicSet> Order::program_order(const Point& a, std::string_view sa, const Point& b,
                                           std::string_view sb) const {
  std::vector<BasicSet> out;
  BasicSet same;
  for (std::size_t i = 0; i < std::min(a.order.size(), b.order.size()); ++i) {
    const TimeStep& x = a.order[i];
    const TimeStep& y = b.order[i];
    if (x.loop < 0) {
      if (x.position == y.position) continue;
      if (!x.splits && x.position < y.position) out.push_back(same);
      return out;
    }
    if (!is_around(a.loops[static_cast<std::size_t>(x.loop)])) return out;
    const AffineExpr from = variable(a.loops[static_cast<std::size_t>(x.loop)].name, sa);
    const AffineExpr to = variable(b.loops[static_cast<std::size_t>(y.loop)].name, sb);
    BasicSet piece = same;
    if (!x.splits) out.push_back(piece.less(from, to));
    same.equal(from, to);
  }
  return out;
}

End Order::end_of(const Statement& statement) const {
  if (statement.operation == kNone) return {&statement, nullptr};
  const Event& start = statements_.events[statement.operation];
  return {&start, &start};
}

const AffineExpr* Order::phase(const Event& event) const {
  const auto& phase = phases_[static_cast<std::size_t>(&event - statements_.events.data())];
  return phase ? &*phase : nullptr;
}

std::optional<BasicSet> Order::same_object(const Event& a, std::string_view sa, const Event& b,
                                           std::string_view sb) const {
  const bool uses = a.kind != Event::Kind::End && b.kind != Event::Kind::End;
  if (!uses || a.object == kNone || a.object != b.object) return {};
  BasicSet out;
  for (std::size_t i = 0; i < statements_.objects[a.object].loops; ++i)
    out.equal(variable(a.loops[i].name, sa), variable(b.loops[i].name, sb));
  for (std::size_t d = 0; d < a.element.size(); ++d)
    out.equal(replaced(a.element[d], names(a.loops), variables(a.loops, sa)),
              replaced(b.element[d], names(b.loops), variables(b.loops, sb)));
  return out;
}

Result<Set> Order::keep(std::vector<BasicSet> pieces, const std::vector<std::string>& dims,
                        const std::vector<std::string>& gone) const {
  Set all({statements_.extents(), joined(dims, gone)}, std::move(pieces));
  TILEWRIGHT_TRY(allowed, poly::intersect_params(polyhedra_, all, statements_.sizes, limits_));
  if (gone.empty()) return allowed;
  return poly::project_out(polyhedra_, allowed, gone, limits_);
}

Result<Set> Order::pairs(const Point& a, const Point& b, std::vector<BasicSet> pieces) const {
  std::vector<std::string> dims;
  std::vector<std::string> gone;
  const auto add_names = [&](const Point& point, std::string_view suffix) {
    const std::size_t kept = outer(point).size();
    for (std::size_t i = 0; i < point.loops.size(); ++i)
      (i < kept ? dims : gone).push_back(point.loops[i].name + std::string(suffix));
  };
  add_names(a, kFrom);
  add_names(b, kTo);
  return keep(std::move(pieces), dims, gone);
}

Result<Ok> Order::add_link(const Event& from, const Event& to, std::vector<BasicSet> pieces,
                           bool by_object) {
  std::vector<BasicSet> there;
  for (const BasicSet& x : from.domain.pieces())
    for (const BasicSet& y : to.domain.pieces()) {
      there.push_back(suffixed(x, from.loops, kTell));
      add(there.back(), suffixed(y, to.loops, kLearn));
    }
  Link link{&from, &to, both(pieces, there), !by_object};
  if (by_object) {
    // Who is told sees what was written if the two are together in the narrower of both scopes.
    const SyncObject& object = statements_.objects[from.object];
    const program::Scope own =
        object.agents == 0 ? program::Scope::System : to.agents[object.agents - 1].scope;
    const auto given = [&](program::Scope scope) {
      return scope == program::Scope::None ? own : scope;
    };
    const program::Scope scope =
        std::min(given(from.kind == Event::Kind::Start ? program::Scope::None : from.scope),
                 given(to.scope));
    const std::size_t a = instance_of(from.agents, scope);
    bool same = a == instance_of(to.agents, scope);
    BasicSet together;
    for (std::size_t k = 0; same && k < a; ++k) {
      same = from.agents[k].node == to.agents[k].node;
      if (!same || from.agents[k].loop < 0) continue;
      const std::string& name = from.loops[static_cast<std::size_t>(from.agents[k].loop)].name;
      together.equal(variable(name, kTell), variable(name, kLearn));
    }
    if (same) {
      links_.push_back(link);
      links_.back().pieces = both(link.pieces, {together});
      links_.back().keeps_seen = true;
    }
  }
  links_.push_back(std::move(link));
  return Ok{};
}

// The operation that a token was given to last, by the agent itself.
Result<Ok> Order::token_links(const Event& wait) {
  for (const Event& start : statements_.events) {
    if (start.kind != Event::Kind::Start || start.object != wait.object) continue;
    const auto same = same_object(start, kTell, wait, kLearn);
    std::vector<BasicSet> pieces =
        both(both({*same}, program_order(start, kTell, wait, kLearn)), {BasicSet()});
    std::vector<BasicSet> domains;
    for (const BasicSet& x : start.domain.pieces())
      for (const BasicSet& y : wait.domain.pieces()) {
        domains.push_back(suffixed(x, start.loops, kTell));
        add(domains.back(), suffixed(y, wait.loops, kLearn));
      }
    const auto dims = joined(names(start.loops, kTell), names(wait.loops, kLearn));
    TILEWRIGHT_TRY(left, keep(both(pieces, domains), dims, {}));
    for (const Event& other : statements_.events) {
      if (other.kind != Event::Kind::Start || other.object != wait.object) continue;
      std::vector<BasicSet> there;
      for (const BasicSet& x : other.domain.pieces())
        there.push_back(suffixed(x, other.loops, kBetween));
      const std::vector<BasicSet> between =
          both(both(program_order(start, kTell, other, kBetween),
                    program_order(other, kBetween, wait, kLearn)),
               both(there, {*same_object(other, kBetween, wait, kLearn)}));
      TILEWRIGHT_TRY(not_last, keep(between, dims, names(other.loops, kBetween)));
      TILEWRIGHT_TRY(rest, poly::subtract(polyhedra_, left, not_last, limits_));
      left = std::move(rest);
    }
    TILEWRIGHT_CHECK_OK(add_link(start, wait, left.pieces(), true));
  }
  return Ok{};
}

// An operation of a group is complete if more than `value` groups were committed since.
Result<Ok> Order::group_links(const Event& wait) {
  if (!wait.value.is_constant() || wait.value.constant() < 0 || wait.value.constant() > 3)
    return Ok{};
  const std::int64_t count = wait.value.constant() + 1;
  for (const Event& start : statements_.events) {
    if (start.kind != Event::Kind::Start || start.object != kNone) continue;
    const auto dims = joined(names(start.loops, kTell), names(wait.loops, kLearn));
    // Each way to choose commits in turn, among the statements that commit.
    struct Way {
      const Event* last;
      std::string suffix;
      std::vector<BasicSet> pieces;
      std::vector<std::string> gone;
    };
    std::vector<Way> ways;
    ways.push_back({&start, std::string(kTell), {BasicSet()}, {}});
    for (std::int64_t i = 0; i < count; ++i) {
      std::vector<Way> next;
      for (const Way& way : ways)
        for (const Event& commit : statements_.events) {
          if (commit.kind != Event::Kind::Commit) continue;
          Way more;
          more.last = &commit;
          more.suffix = std::string(kBetween) + std::to_string(i);
          const auto order = program_order(*way.last, way.suffix, commit, more.suffix);
          if (order.empty()) continue;
          std::vector<BasicSet> there;
          for (const BasicSet& x : commit.domain.pieces())
            there.push_back(suffixed(x, commit.loops, more.suffix));
          more.pieces = both(both(way.pieces, order), there);
          more.gone = joined(way.gone, names(commit.loops, more.suffix));
          next.push_back(std::move(more));
        }
      ways = std::move(next);
    }
    for (const Way& way : ways) {
      const auto order = program_order(*way.last, way.suffix, wait, kLearn);
      if (order.empty()) continue;
      TILEWRIGHT_TRY(complete, keep(both(way.pieces, order), dims, way.gone));
      TILEWRIGHT_CHECK_OK(add_link(start, wait, complete.pieces(), false));
    }
  }
  return Ok{};
}

// All agents of a group at the same sync.
Result<Ok> Order::sync_link(const Event& sync) {
  const std::size_t whole = instance_of(sync.agents, sync.scope);
  std::vector<std::string> free;
  for (std::size_t k = whole; k < sync.agents.size(); ++k) {
    if (sync.agents[k].loop < 0) return Ok{};
    free.push_back(sync.loops[static_cast<std::size_t>(sync.agents[k].loop)].name);
  }
  BasicSet same;
  for (const Loop& loop : sync.loops)
    if (std::find(free.begin(), free.end(), loop.name) == free.end())
      same.equal(variable(loop.name, kTell), variable(loop.name, kLearn));
  return add_link(sync, sync, {same}, false);
}

Result<Ok> Order::find_links() {
  for (const Event& event : statements_.events) {
    if (event.kind == Event::Kind::Sync) TILEWRIGHT_CHECK_OK(sync_link(event));
    if (event.kind == Event::Kind::WaitGroups) TILEWRIGHT_CHECK_OK(group_links(event));
    if (event.kind == Event::Kind::Fence)
      TILEWRIGHT_CHECK_OK(add_link(event, event, {same_instance(event, kTell, kLearn)}, false));
    if (event.kind != Event::Kind::Wait) continue;
    if (statements_.objects[event.object].kind == program::ObjectKind::Token) {
      TILEWRIGHT_CHECK_OK(token_links(event));
      continue;
    }
    for (const Event& told : statements_.events) {
      if (told.kind != Event::Kind::Arrive && told.kind != Event::Kind::Start) continue;
      const auto same = same_object(told, kTell, event, kLearn);
      if (!same || !phase(told)) continue;
      BasicSet piece = *same;
      piece.equal(replaced(*phase(told), names(told.loops), variables(told.loops, kTell)),
                  replaced(event.value, names(event.loops), variables(event.loops, kLearn)));
      TILEWRIGHT_CHECK_OK(add_link(told, event, {piece}, true));
    }
  }
  return Ok{};
}

Result<std::optional<Order::Reached>> Order::follow(const Reached& at, const Link& link) const {
  const Event& from = *link.from;
  std::vector<BasicSet> way;
  unsigned seen = 0;
  const bool operation = from.kind == Event::Kind::Start;
  if (at.operation == nullptr) {
    way = program_order(*at.at, at.suffix, from, kTell);
    // An arrival tells of itself.
    if (at.at == &from && from.kind == Event::Kind::Arrive)
      way.push_back(same_instance(from, at.suffix, kTell));
    // An operation tells of no writes but its own.
    seen = operation || !link.keeps_seen ? 0 : at.seen;
    if (from.kind == Event::Kind::Fence) {
      const unsigned joins = bit(Proxy::Generic) | bit(from.proxy);
      if (seen == 0 || (seen & joins) == 0 || (seen & joins) == joins)
        return std::optional<Reached>();
      seen |= joins;
    }
  } else if (operation && at.operation == &from) {
    BasicSet itself;
    for (const Loop& loop : from.loops)
      itself.equal(variable(loop.name, at.suffix), variable(loop.name, kTell));
    way = {itself};
    seen = bit(from.proxy);
    if (from.proxy == Proxy::Async) seen |= bit(Proxy::Generic);
    if (!link.keeps_seen) seen = 0;
  } else if (operation && at.operation->proxy == Proxy::Tensor && from.proxy == Proxy::Tensor) {
    way = program_order(*at.at, at.suffix, from, kTell);
    seen = link.keeps_seen ? bit(Proxy::Tensor) : 0;
  }
  if (way.empty()) return std::optional<Reached>();
  std::vector<std::string> gone = names(from.loops, kTell);
  std::vector<std::string> first;
  for (const std::string& dim : at.relation.space().dims)
    (dim.ends_with(kFrom) ? first : gone).push_back(dim);
  TILEWRIGHT_TRY(relation, keep(both(both(at.relation.pieces(), way), link.pieces),
                                joined(first, names(link.to->loops, kLearn)), gone));
  TILEWRIGHT_TRY(none, poly::is_empty(polyhedra_, relation, limits_));
  if (none) return std::optional<Reached>();
  std::vector<BasicSet> pieces;
  for (const BasicSet& piece : relation.pieces())
    pieces.push_back(
        replaced(piece, names(link.to->loops, kLearn), variables(link.to->loops, kNow)));
  return std::optional(Reached{
      link.to, nullptr, std::string(kNow),
      Set({relation.space().params, joined(first, names(link.to->loops, kNow))}, std::move(pieces)),
      seen});
}

Result<Set> Order::close(const Reached& at, const End& to, Need need, Set left) const {
  if (need.seen && at.operation == nullptr && (at.seen & bit(need.by)) == 0) return left;
  if (at.operation != nullptr) {
    const bool in_turn = at.operation->proxy == Proxy::Tensor && to.operation != nullptr &&
                         to.operation->proxy == Proxy::Tensor;
    if (!in_turn || (need.seen && need.by != Proxy::Tensor)) return left;
  }
  const std::vector<BasicSet> order = program_order(*at.at, at.suffix, *to.at, kTo);
  if (order.empty()) return left;
  std::vector<std::string> gone;
  for (const std::string& dim : at.relation.space().dims)
    if (!dim.ends_with(kFrom)) gone.push_back(dim);
  TILEWRIGHT_TRY(kept, keep(both(at.relation.pieces(), order), left.space().dims, gone));
  return poly::subtract(polyhedra_, left, kept, limits_);
}

Result<Set> Order::unordered(const End& from, const End& to, Set left, Need need) const {
  std::vector<std::string> second;
  std::vector<std::string> first;
  for (const std::string& dim : left.space().dims)
    (dim.ends_with(kFrom) ? first : second).push_back(dim);
  TILEWRIGHT_TRY(begin, second.empty() ? Result<Set>(left)
                                       : poly::project_out(polyhedra_, left, second, limits_));
  std::vector<Reached> chains;
  chains.push_back(
      {from.at, from.operation, std::string(kFrom), std::move(begin), bit(Proxy::Generic)});
  std::size_t next = 0;
  for (int links = 0; links <= kMaxLinks; ++links) {
    const std::size_t end = chains.size();
    for (std::size_t i = next; i < end; ++i) {
      TILEWRIGHT_TRY(rest, close(chains[i], to, need, std::move(left)));
      left = std::move(rest);
    }
    TILEWRIGHT_TRY(done, poly::is_empty(polyhedra_, left, limits_));
    if (done || links == kMaxLinks) return left;
    for (std::size_t i = next; i < end; ++i)
      for (const Link& link : links_) {
        if (chains.size() > kMaxChains) continue;
        if (link.from->kind == Event::Kind::Fence && !need.seen) continue;
        TILEWRIGHT_TRY(more, follow(chains[i], link));
        if (!more) continue;
        bool known = false;
        for (const Reached& other : chains) {
          if (other.at != more->at || other.operation || (other.seen & more->seen) != more->seen)
            continue;
          if (other.suffix != more->suffix) continue;
          TILEWRIGHT_TRY(inside,
                         poly::is_subset(polyhedra_, more->relation, other.relation, limits_));
          known = known || inside;
        }
        if (!known) chains.push_back(std::move(*more));
      }
    next = end;
  }
  return left;
}

}  // namespace tilewright::proof

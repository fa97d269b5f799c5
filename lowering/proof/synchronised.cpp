// SPDX-License-Identifier: Apache-2.0
//
// Every rule is a relation of instances, of which Order must leave nothing, or a set that must be empty.
#include "lowering/proof/synchronised.h"

#include <algorithm>

#include "lowering/proof/interleave.h"
#include "lowering/proof/names.h"
#include "lowering/proof/phases.h"

namespace tilewright::proof {

using poly::BasicSet;
using poly::Set;
using program::Proxy;
using program::Space;
using Kind = Event::Kind;
using Rule = SyncFinding::Rule;

namespace {

// The path by which an access reaches memory.
Proxy path_of(const Event* operation, Space space) {
  if (operation == nullptr) return Proxy::Generic;
  if (operation->proxy == Proxy::Tensor && space != Space::Tensor) return Proxy::Async;
  return operation->proxy;
}

// Registers have no proxies.
bool has_paths(Space space) { return space != Space::Register && space != Space::Stack; }

bool arrives(const Event& event) { return event.kind == Kind::Arrive || event.kind == Kind::Start; }

class Check {
 public:
  Check(const Statements& statements, poly::Context& polyhedra, const Phases& phases,
        poly::Limits limits)
      : statements_(statements),
        polyhedra_(polyhedra),
        limits_(limits),
        order_(statements, polyhedra, phases, limits) {}

  Result<Ok> prepare() {
    TILEWRIGHT_CHECK_OK(order_.find_links());
    for (std::size_t object = 0; object < statements_.objects.size(); ++object) {
      completed_.emplace_back();
      if (statements_.objects[object].kind != program::ObjectKind::Barrier) continue;
      TILEWRIGHT_TRY(found, completed_phases(statements_, polyhedra_, order_, object, limits_));
      completed_.back() = std::move(found);
    }
    return Ok{};
  }

  // Of one order; waits that it cannot pass.
  Result<std::vector<SyncFinding>> progress() {
    for (const Event& event : statements_.events) {
      if (event.kind == Kind::Sync) TILEWRIGHT_CHECK_OK(meets(event));
      if (event.kind != Kind::Wait) continue;
      if (object_of(event).kind == program::ObjectKind::Token)
        TILEWRIGHT_CHECK_OK(token_is_held(event));
      else
        TILEWRIGHT_CHECK_OK(phase_comes(event));
    }
    return std::move(found_);
  }

  Result<std::vector<SyncFinding>> run(const FlowsOf& flows) {
    TILEWRIGHT_CHECK_OK(elements_exist());
    for (const Completed& completed : completed_)
      for (const Unshown& one : completed.wrong)
        TILEWRIGHT_CHECK_OK(
            report(Rule::Phases, line(statements_.events[one.event]), one.what, one.where));
    TILEWRIGHT_CHECK_OK(phases_in_turn());
    TILEWRIGHT_CHECK_OK(tokens());
    for (const Event& event : statements_.events) {
      if (event.kind == Kind::Wait && object_of(event).kind == program::ObjectKind::Barrier)
        TILEWRIGHT_CHECK_OK(next_phase(event));
      if (event.kind == Kind::Start) TILEWRIGHT_CHECK_OK(completes(event));
    }
    for (const Statement& one : statements_.list) TILEWRIGHT_CHECK_OK(accesses(one, flows));
    return std::move(found_);
  }

 private:
  const SyncObject& object_of(const Event& event) const {
    return statements_.objects[event.object];
  }
  static std::string line(const Event& event) { return program::headline(event.origin); }

  // One finding for each subject and reason.
  Result<Ok> report(Rule rule, std::string subject, std::string what, const Set& where) {
    TILEWRIGHT_TRY(allowed, poly::intersect_params(polyhedra_, where, statements_.sizes, limits_));
    TILEWRIGHT_TRY(none, poly::is_empty(polyhedra_, allowed, limits_));
    if (none) return Ok{};
    TILEWRIGHT_TRY(point, poly::smallest_point(polyhedra_, allowed, limits_));
    if (point) what += " at " + point->text();
    found_.push_back({rule, std::move(subject), std::move(what)});
    return Ok{};
  }

  static std::vector<BasicSet> domains(const Point& a, std::string_view sa, const Point& b,
                                       std::string_view sb) {
    std::vector<BasicSet> x;
    std::vector<BasicSet> y;
    for (const BasicSet& piece : a.domain.pieces()) x.push_back(suffixed(piece, a.loops, sa));
    for (const BasicSet& piece : b.domain.pieces()) y.push_back(suffixed(piece, b.loops, sb));
    return both(x, y);
  }
  static std::vector<BasicSet> in_time(const Point& a, const Point& b) {
    std::vector<BasicSet> out;
    for (Before& way : before({a.time, a.loops, kFrom}, {b.time, b.loops, kTo}))
      out.push_back(std::move(way.condition));
    return out;
  }

  AffineExpr phase_at(const Event& event, std::string_view suffix) const {
    return replaced(*order_.phase(event), names(event.loops), variables(event.loops, suffix));
  }
  static AffineExpr value_at(const Event& event, std::string_view suffix) {
    return replaced(event.value, names(event.loops), variables(event.loops, suffix));
  }

  Result<Ok> elements_exist() {
    for (const Event& event : statements_.events) {
      if (event.object == kNone || event.kind == Kind::End) continue;
      BasicSet inside;
      for (std::size_t d = 0; d < event.element.size(); ++d)
        inside.at_least(event.element[d], 0).less(event.element[d], object_of(event).extents[d]);
      TILEWRIGHT_TRY(outside, poly::subtract(polyhedra_, event.domain,
                                             Set(event.domain.space(), inside), limits_));
      TILEWRIGHT_CHECK_OK(report(Rule::Phases, line(event), "no such element", outside));
    }
    return Ok{};
  }

  // Nothing of a phase comes before all of the phase before has; what is expected is so before an arrival.
  Result<Ok> phases_in_turn() {
    for (const Event& a : statements_.events) {
      if (a.object == kNone || !order_.phase(a)) continue;
      if (a.kind == Kind::Expect) TILEWRIGHT_CHECK_OK(expected_in_time(a));
      if (!arrives(a)) continue;
      for (const Event& b : statements_.events) {
        const auto same = order_.same_object(a, kFrom, b, kTo);
        if (!same || !order_.phase(b)) continue;
        BasicSet next = *same;
        next.equal(phase_at(a, kFrom) + AffineExpr(1), phase_at(b, kTo));
        TILEWRIGHT_TRY(pairs, order_.pairs(a, b, both(domains(a, kFrom, b, kTo), {next})));
        TILEWRIGHT_TRY(left, order_.unordered(told_by(a), {&b, nullptr}, std::move(pairs)));
        TILEWRIGHT_CHECK_OK(report(Rule::Phases, line(b),
                                   "it may come before the phase before is complete, by " + line(a),
                                   left));
      }
    }
    return Ok{};
  }

  static End told_by(const Event& event) {
    return {&event, event.kind == Kind::Start ? &event : nullptr};
  }

  Result<Ok> expected_in_time(const Event& expect) {
    Set left = expect.domain;
    for (const Event& arrival : statements_.events) {
      const auto same = order_.same_object(expect, "", arrival, kTo);
      if (!same || arrival.kind != Kind::Arrive || !order_.phase(arrival)) continue;
      BasicSet equal = *same;
      equal.equal(*order_.phase(expect), phase_at(arrival, kTo));
      const auto later = order_.program_order(expect, "", arrival, kTo);
      TILEWRIGHT_TRY(good,
                     order_.keep(both(both(domains(expect, "", arrival, kTo), {equal}), later),
                                 left.space().dims, names(arrival.loops, kTo)));
      TILEWRIGHT_TRY(rest, poly::subtract(polyhedra_, left, good, limits_));
      left = std::move(rest);
    }
    return report(Rule::Phases, line(expect), "its phase may be complete before", left);
  }

  // Phases of waits, over the loops of the wait, that are complete some time.
  Set passable(const Event& wait) const {
    const Set& phases = completed_[wait.object].phases;
    std::vector<std::string> from;
    for (std::size_t d = 0; d < wait.element.size(); ++d) from.push_back("e" + std::to_string(d));
    from.emplace_back("p");
    std::vector<AffineExpr> to = wait.element;
    to.push_back(wait.value);
    std::vector<BasicSet> pieces;
    for (const BasicSet& piece : phases.pieces()) pieces.push_back(replaced(piece, from, to));
    return Set(wait.domain.space(), std::move(pieces));
  }
  static Set waits(const Event& wait, std::int64_t least) {
    BasicSet piece;
    piece.at_least(wait.value, least);
    return Set(wait.domain.space(), both(wait.domain.pieces(), {piece}));
  }

  Result<Ok> phase_comes(const Event& wait) {
    TILEWRIGHT_TRY(never, poly::subtract(polyhedra_, waits(wait, 0), passable(wait), limits_));
    TILEWRIGHT_CHECK_OK(report(Rule::Progress, line(wait), "its phase is never complete", never));
    for (const Event& other : statements_.events) {
      const auto same = order_.same_object(wait, kFrom, other, kTo);
      if (!same || !order_.phase(other)) continue;
      BasicSet equal = *same;
      equal.equal(value_at(wait, kFrom), phase_at(other, kTo));
      TILEWRIGHT_TRY(late, order_.pairs(wait, other,
                                        both(both(domains(wait, kFrom, other, kTo), {equal}),
                                             in_time(wait, other))));
      TILEWRIGHT_CHECK_OK(report(Rule::Progress, line(wait),
                                 "its phase is not shown to come: " + line(other) + " is later",
                                 late));
    }
    return Ok{};
  }

  Result<Ok> token_is_held(const Event& wait) {
    Set left = wait.domain;
    for (const Event& start : statements_.events) {
      const auto same = order_.same_object(wait, "", start, kFrom);
      if (!same || start.kind != Kind::Start) continue;
      const auto earlier = order_.program_order(start, kFrom, wait, "");
      TILEWRIGHT_TRY(held,
                     order_.keep(both(both(domains(wait, "", start, kFrom), {*same}), earlier),
                                 left.space().dims, names(start.loops, kFrom)));
      TILEWRIGHT_TRY(rest, poly::subtract(polyhedra_, left, held, limits_));
      left = std::move(rest);
    }
    return report(Rule::Progress, line(wait), "nobody holds the token", left);
  }

  // All agents of the group come to it, or none.
  Result<Ok> meets(const Event& sync) {
    const std::size_t whole = instance_of(sync.agents, sync.scope);
    const std::vector<std::string> together = in_step(statements_);
    for (std::size_t k = whole; k < sync.agents.size(); ++k) {
      if (sync.agents[k].loop < 0)
        return report(Rule::Progress, line(sync), "roles meet at it", sync.domain);
      const std::string& name = sync.loops[static_cast<std::size_t>(sync.agents[k].loop)].name;
      if (std::find(together.begin(), together.end(), name) == together.end())
        return report(Rule::Progress, line(sync), "its agents do not go in step", sync.domain);
      const auto split = std::find_if(
          statements_.events.begin(), statements_.events.end(), [&](const Event& each) {
            return each.kind == Kind::Split && each.agents.back().node == sync.agents[k].node;
          });
      // Instances of the sync by others than those that come to it.
      std::vector<BasicSet> pieces;
      for (const BasicSet& x : sync.domain.pieces())
        for (const BasicSet& y : split->domain.pieces()) {
          pieces.push_back(replaced(x, {name}, {variable(name, kFrom)}));
          add(pieces.back(), y);
        }
      TILEWRIGHT_TRY(all, order_.keep(std::move(pieces), sync.domain.space().dims,
                                      {name + std::string(kFrom)}));
      TILEWRIGHT_TRY(absent, poly::subtract(polyhedra_, all, sync.domain, limits_));
      TILEWRIGHT_CHECK_OK(report(Rule::Progress, line(sync), "an agent does not come", absent));
    }
    return Ok{};
  }

  // A wait is for a phase after those that its agent waited for, when the phase before is known to be complete and
  // the phase after cannot be.
  Result<Ok> next_phase(const Event& wait) {
    TILEWRIGHT_TRY(after,
                   poly::intersect(polyhedra_, waits(wait, 0), passable_next(wait), limits_));
    for (const Event& other : statements_.events) {
      const auto same = order_.same_object(wait, kFrom, other, kTo);
      if (!same) continue;
      if (other.kind == Kind::Wait) {
        BasicSet again = *same;
        again.at_least(value_at(wait, kFrom), value_at(other, kTo))
            .at_least(value_at(other, kTo), 0);
        TILEWRIGHT_TRY(pairs, order_.pairs(wait, other,
                                           both(both(domains(wait, kFrom, other, kTo), {again}),
                                                order_.program_order(wait, kFrom, other, kTo))));
        TILEWRIGHT_CHECK_OK(
            report(Rule::Phases, line(other), "its phase is not the next one", pairs));
      }
      if (!arrives(other) || !order_.phase(other)) continue;
      BasicSet before_it = *order_.same_object(other, kFrom, wait, kTo);
      before_it.equal(phase_at(other, kFrom) + AffineExpr(1), value_at(wait, kTo));
      TILEWRIGHT_TRY(
          earlier, order_.pairs(other, wait, both(domains(other, kFrom, wait, kTo), {before_it})));
      TILEWRIGHT_TRY(unknown,
                     order_.unordered(told_by(other), {&wait, nullptr}, std::move(earlier)));
      TILEWRIGHT_CHECK_OK(report(Rule::Phases, line(wait),
                                 "the phase before is not known to be complete, by " + line(other),
                                 unknown));
      BasicSet after_it = *same;
      after_it.equal(value_at(wait, kFrom) + AffineExpr(1), phase_at(other, kTo))
          .at_least(value_at(wait, kFrom), 0);
      TILEWRIGHT_TRY(pairs,
                     order_.pairs(wait, other, both(domains(wait, kFrom, other, kTo), {after_it})));
      TILEWRIGHT_TRY(left, order_.unordered({&wait, nullptr}, {&other, nullptr}, pairs));
      TILEWRIGHT_TRY(later, poly::subtract(polyhedra_, pairs, left, limits_));
      TILEWRIGHT_TRY(good, first_of(later, wait));
      TILEWRIGHT_TRY(rest, poly::subtract(polyhedra_, after, good, limits_));
      after = std::move(rest);
    }
    return report(Rule::Phases, line(wait), "the phase after may be complete", after);
  }
  // Where the next phase is complete some time.
  Set passable_next(const Event& wait) const {
    Event next = wait;
    next.value = wait.value + AffineExpr(1);
    return passable(next);
  }
  // The first ends of pairs.
  Result<Set> first_of(const Set& pairs, const Event& event) const {
    std::vector<std::string> gone;
    for (const std::string& dim : pairs.space().dims)
      if (dim.ends_with(kTo)) gone.push_back(dim);
    TILEWRIGHT_TRY(left, gone.empty() ? Result<Set>(pairs)
                                      : poly::project_out(polyhedra_, pairs, gone, limits_));
    std::vector<BasicSet> pieces;
    for (const BasicSet& piece : left.pieces())
      pieces.push_back(replaced(piece, names(event.loops, kFrom), variables(event.loops)));
    return Set(event.domain.space(), std::move(pieces));
  }

  // Held and awaited by one agent, which knows one operation to be complete before it gives it to another.
  Result<Ok> tokens() {
    for (const Event& a : statements_.events) {
      if (a.object == kNone || object_of(a).kind != program::ObjectKind::Token) continue;
      if (a.kind != Kind::Start && a.kind != Kind::Wait) continue;
      for (const Event& b : statements_.events) {
        const auto same = order_.same_object(a, kFrom, b, kTo);
        if (!same || (b.kind != Kind::Start && b.kind != Kind::Wait)) continue;
        TILEWRIGHT_TRY(
            pairs,
            order_.pairs(a, b, both(both(domains(a, kFrom, b, kTo), {*same}), in_time(a, b))));
        TILEWRIGHT_TRY(own, order_.pairs(a, b, order_.program_order(a, kFrom, b, kTo)));
        TILEWRIGHT_TRY(others, poly::subtract(polyhedra_, pairs, own, limits_));
        TILEWRIGHT_CHECK_OK(report(Rule::Phases, line(b), "its token is of another agent", others));
        if (a.kind != Kind::Start || b.kind != Kind::Start) continue;
        TILEWRIGHT_TRY(left, order_.unordered({&a, &a}, {&b, nullptr}, std::move(pairs)));
        TILEWRIGHT_CHECK_OK(
            report(Rule::Complete, line(b), "its token may still be held by " + line(a), left));
      }
    }
    return Ok{};
  }

  // Before the end of what it uses.
  Result<Ok> completes(const Event& start) {
    const auto number = static_cast<std::size_t>(&start - statements_.events.data());
    const auto uses = [&](const Event& end) {
      if (end.kind != Kind::End) return false;
      if (end.origin.as<program::Kernel>() || end.origin.as<program::Object>())
        return end.object == kNone || end.object == start.object;
      const Symbol buffer = end.origin.as<program::Alloc>()->buffer;
      return std::any_of(
          statements_.list.begin(), statements_.list.end(), [&](const Statement& one) {
            return one.operation == number &&
                   (one.buffer == buffer ||
                    std::any_of(one.reads.begin(), one.reads.end(),
                                [&](const Access& read) { return read.buffer == buffer; }));
          });
    };
    for (std::size_t n = number + 1; n < statements_.events.size(); ++n) {
      const Event& end = statements_.events[n];
      if (!uses(end)) continue;
      BasicSet same;
      for (const Loop& loop : end.loops)
        same.equal(variable(loop.name, kFrom), variable(loop.name, kTo));
      TILEWRIGHT_TRY(pairs,
                     order_.pairs(start, end, both(domains(start, kFrom, end, kTo), {same})));
      TILEWRIGHT_TRY(left, order_.unordered({&start, &start}, {&end, nullptr}, std::move(pairs)));
      return report(Rule::Complete, line(start),
                    "nobody waits for it before the end of " + line(end), left);
    }
    return report(Rule::Complete, line(start), "it is in no kernel", start.domain);
  }

  // Conditions under which two statements are of different agents or operations.
  std::vector<BasicSet> apart(const Statement& a, const Statement& b) const {
    std::vector<BasicSet> out;
    BasicSet same;
    const auto differ = [&](const std::string& name) {
      const AffineExpr x = variable(name, kFrom);
      const AffineExpr y = variable(name, kTo);
      BasicSet less = same;
      BasicSet more = same;
      out.push_back(less.less(x, y));
      out.push_back(more.less(y, x));
      same.equal(x, y);
    };
    if (a.operation != kNone && a.operation == b.operation) {
      for (const Loop& loop : statements_.events[a.operation].loops) differ(loop.name);
      return out;
    }
    if (a.operation != kNone || b.operation != kNone) return {BasicSet()};
    for (std::size_t k = 0; k < std::min(a.agents.size(), b.agents.size()); ++k) {
      if (a.agents[k].node != b.agents[k].node) {
        out.push_back(same);
        return out;
      }
      if (a.agents[k].loop >= 0) differ(a.loops[static_cast<std::size_t>(a.agents[k].loop)].name);
    }
    return out;
  }

  // Pairs on one cell, the first earlier.
  Result<Set> conflicts(const Statement& a, const std::vector<AffineExpr>& a_cell,
                        const Statement& b, const std::vector<AffineExpr>& b_cell,
                        const Buffer& buffer) const {
    BasicSet link;
    for (const Loop& loop : buffer.loops)
      link.equal(variable(loop.name, kFrom), variable(loop.name, kTo));
    for (std::size_t d = 0; d < a_cell.size(); ++d)
      link.equal(replaced(a_cell[d], names(a.loops), variables(a.loops, kFrom)),
                 replaced(b_cell[d], names(b.loops), variables(b.loops, kTo)));
    const auto pieces = both(both(in_time(a, b), apart(a, b)), {link});
    if (pieces.empty()) return Set(poly::Space{});
    return order_.pairs(a, b, both(pieces, domains(a, kFrom, b, kTo)));
  }

  Result<Ok> ordered(const Statement& a, const Statement& b, const Buffer& buffer, Set pairs,
                     bool seen) {
    TILEWRIGHT_TRY(none, poly::is_empty(polyhedra_, pairs, limits_));
    if (none) return Ok{};
    const End from = order_.end_of(a);
    const End to = order_.end_of(b);
    const Need need{seen && has_paths(buffer.space), path_of(to.operation, buffer.space)};
    TILEWRIGHT_TRY(left, order_.unordered(from, to, std::move(pairs), need));
    return report(Rule::Ordered,
                  program::headline(a.origin) + " and " + program::headline(b.origin),
                  std::string(buffer.name.text()) + (need.seen ? " may not be seen" : ""), left);
  }

  Result<Ok> accesses(const Statement& one, const FlowsOf& flows) {
    const Buffer& written = *statements_.find(one.buffer);
    for (const Statement& other : statements_.list) {
      if (other.buffer != one.buffer) continue;
      TILEWRIGHT_TRY(pairs, conflicts(one, one.cell, other, other.cell, written));
      const auto path = [&](const Statement& s) {
        return path_of(order_.end_of(s).operation, written.space);
      };
      TILEWRIGHT_CHECK_OK(ordered(one, other, written, std::move(pairs), path(one) != path(other)));
    }
    for (std::size_t r = 0; r < one.reads.size(); ++r) {
      const Access& read = one.reads[r];
      const Buffer& buffer = *statements_.find(read.buffer);
      if (buffer.kind == Buffer::Kind::Input) continue;
      for (const Statement& other : statements_.list) {
        if (other.buffer != read.buffer) continue;
        TILEWRIGHT_TRY(pairs, conflicts(one, read.cell, other, other.cell, buffer));
        TILEWRIGHT_CHECK_OK(ordered(one, other, buffer, std::move(pairs), false));
      }
      for (const Source& source : flows(one.number)[r].sources) {
        if (source.writer == kGiven) continue;
        const Statement& writer = statements_.list[source.writer];
        BasicSet link;
        for (std::size_t i = 0; i < writer.loops.size(); ++i)
          link.equal(variable(writer.loops[i].name, kFrom),
                     replaced(source.instance[i], names(one.loops), variables(one.loops, kTo)));
        std::vector<BasicSet> where;
        for (const BasicSet& piece : source.condition.pieces())
          where.push_back(suffixed(piece, one.loops, kTo));
        const auto pieces = both(both(where, apart(writer, one)), {link});
        if (pieces.empty()) continue;
        TILEWRIGHT_TRY(pairs, order_.pairs(writer, one, pieces));
        TILEWRIGHT_CHECK_OK(ordered(writer, one, buffer, std::move(pairs), true));
      }
    }
    return Ok{};
  }

  const Statements& statements_;
  poly::Context& polyhedra_;
  poly::Limits limits_;
  Order order_;
  std::vector<Completed> completed_;  // of each object
  std::vector<SyncFinding> found_;
};

}  // namespace

Result<Ok> choose_interleaving(Statements& statements, poly::Context& polyhedra) {
  TILEWRIGHT_TRY(phases, guess_phases(statements, polyhedra));
  for (const int turn : {0, 1}) {
    interleave(statements, turn);
    Check check(statements, polyhedra, phases, {});
    TILEWRIGHT_CHECK_OK(check.prepare());
    TILEWRIGHT_TRY(found, check.progress());
    if (found.empty()) return Ok{};
  }
  interleave(statements, 0);
  return Ok{};
}

Result<std::vector<SyncFinding>> not_synchronised(const Statements& statements,
                                                  poly::Context& polyhedra, const FlowsOf& flows,
                                                  poly::Limits limits) {
  TILEWRIGHT_TRY(phases, guess_phases(statements, polyhedra, limits));
  Check check(statements, polyhedra, phases, limits);
  TILEWRIGHT_CHECK_OK(check.prepare());
  TILEWRIGHT_TRY(blocked, check.progress());
  TILEWRIGHT_TRY(found, check.run(flows));
  blocked.insert(blocked.end(), found.begin(), found.end());
  return blocked;
}

}  // namespace tilewright::proof

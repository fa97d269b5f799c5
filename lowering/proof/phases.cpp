// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/phases.h"

#include <algorithm>
#include <functional>
#include <map>

#include "frontend/ir/text.h"
#include "frontend/ir/type.h"
#include "lowering/proof/names.h"
#include "schedules/polyhedra/index.h"

namespace tilewright::proof {

using poly::BasicSet;
using poly::Set;

namespace {

// Iterations of loops that the phase does not decide, all arriving in it.
constexpr std::int64_t kMostAlike = 8;

bool counts(const Event& event) {
  return event.kind == Event::Kind::Arrive || event.kind == Event::Kind::Start ||
         event.kind == Event::Kind::Expect;
}

// A number of bytes as a constant times factors of which nothing is known but that they are at least 1.
struct Bytes {
  std::int64_t constant = 1;
  std::vector<std::string> factors;
};

// Amounts as they are at the instances of one event.
class Amounts {
 public:
  Amounts(const Statements& statements, poly::Context& polyhedra, const Event& event,
          poly::Limits limits)
      : statements_(statements), polyhedra_(polyhedra), event_(event), limits_(limits) {}

  // Nothing where the amount is no such product.
  Result<std::optional<Bytes>> expected() {
    Bytes out;
    TILEWRIGHT_TRY(good, multiply(event_.bytes, out));
    return good ? std::optional(std::move(out)) : std::nullopt;
  }

  // What the operation that the event starts writes, which is something: else it tells of nothing.
  Result<std::optional<std::vector<Bytes>>> written() {
    std::vector<Bytes> all;
    const auto number = static_cast<std::size_t>(&event_ - statements_.events.data());
    for (const Statement& one : statements_.list) {
      if (one.operation != number) continue;
      Bytes out;
      out.constant = ir::size_bytes(statements_.find(one.buffer)->type);
      poly::Region region{event_.domain.pieces(), true};
      for (std::size_t i = event_.loops.size(); i < one.loops.size(); ++i) {
        const Loop& loop = one.loops[i];
        const auto* from = loop.lower ? loop.lower.as<ir::IntConst>() : nullptr;
        if (from == nullptr || from->value != 0) return std::optional<std::vector<Bytes>>();
        region = poly::meet(region, poly::range_region(loop.name, {}, loop.upper));
        TILEWRIGHT_TRY(good, multiply(loop.upper, out));
        if (!good) return std::optional<std::vector<Bytes>>();
      }
      // Nothing else restricts it.
      TILEWRIGHT_TRY(all_of_them,
                     poly::is_subset(polyhedra_, poly::Set(one.domain.space(), region.pieces),
                                     one.domain, limits_));
      if (!region.exact || !all_of_them || out.constant < 1)
        return std::optional<std::vector<Bytes>>();
      all.push_back(std::move(out));
    }
    if (all.empty()) return std::optional<std::vector<Bytes>>();
    return std::optional(std::move(all));
  }

 private:
  Result<bool> multiply(Expr expr, Bytes& out) {
    if (const auto* constant = expr.as<ir::IntConst>()) {
      out.constant *= constant->value;
      return constant->value >= 0 && constant->value < 1'000'000 && out.constant < 1'000'000'000;
    }
    const auto* op = expr.as<ir::Op>();
    if (op != nullptr && op->op == ir::OpCode::Mul) {
      TILEWRIGHT_TRY(first, multiply(op->args[0], out));
      if (!first) return false;
      return multiply(op->args[1], out);
    }
    if (op != nullptr && op->op == ir::OpCode::Max)
      for (std::size_t i = 0; i < 2; ++i)
        if (const auto* zero = op->args[i].as<ir::IntConst>(); zero != nullptr && zero->value == 0)
          return multiply(op->args[1 - i], out);
    return factor(expr, out);
  }

  Result<bool> factor(Expr expr, Bytes& out) {
    const auto cases = poly::index_cases(expr);
    if (!cases || !cases->exact) return false;
    std::vector<std::string> used;
    for (const poly::IndexCase& one : cases->cases) one.value.collect_names(used);
    const auto& dims = event_.domain.space().dims;
    const auto& params = event_.domain.space().params;
    for (const std::string& name : used)
      if (std::find(dims.begin(), dims.end(), name) == dims.end() &&
          std::find(params.begin(), params.end(), name) == params.end())
        return false;
    // Nothing remains of the instances for which `holds` says false.
    const auto always =
        [&](const std::function<BasicSet(const AffineExpr&)>& otherwise) -> Result<bool> {
      for (const poly::IndexCase& one : cases->cases) {
        BasicSet piece = otherwise(one.value);
        add(piece, one.condition);
        Set set(event_.domain.space(), both(event_.domain.pieces(), {piece}));
        TILEWRIGHT_TRY(allowed,
                       poly::intersect_params(polyhedra_, set, statements_.sizes, limits_));
        TILEWRIGHT_TRY(none, poly::is_empty(polyhedra_, allowed, limits_));
        if (!none) return false;
      }
      return true;
    };
    TILEWRIGHT_TRY(counts,
                   always([](const AffineExpr& value) { return BasicSet().less(value, 1); }));
    if (!counts) return false;
    for (const poly::IndexCase& one : cases->cases) {
      if (!one.value.is_constant()) continue;
      const std::int64_t value = one.value.constant();
      TILEWRIGHT_TRY(not_less,
                     always([&](const AffineExpr& e) { return BasicSet().less(e, value); }));
      TILEWRIGHT_TRY(not_more,
                     always([&](const AffineExpr& e) { return BasicSet().less(value, e); }));
      if (!not_less || !not_more) continue;
      out.constant *= value;
      return out.constant < 1'000'000'000;
    }
    out.factors.push_back(ir::print(expr));
    return true;
  }

  const Statements& statements_;
  poly::Context& polyhedra_;
  const Event& event_;
  poly::Limits limits_;
};

class Counting {
 public:
  Counting(const Statements& statements, poly::Context& polyhedra, const Order& order,
           std::size_t object, poly::Limits limits)
      : statements_(statements),
        polyhedra_(polyhedra),
        order_(order),
        number_(object),
        object_(statements.objects[object]),
        limits_(limits) {}

  Result<Completed> run() {
    for (const Event& event : statements_.events)
      if (event.object == number_ && counts(event)) TILEWRIGHT_CHECK_OK(add(event));
    if (parts_.empty()) return std::move(out_);
    TILEWRIGHT_CHECK_OK(sum());
    TILEWRIGHT_CHECK_OK(in_turn());
    return std::move(out_);
  }

 private:
  struct Part {
    const Event* event = nullptr;
    Set phases;  // that it is of
    std::int64_t arrivals = 0;
    // That come, less those that are expected: a multiple of each product of factors.
    std::map<std::string, std::int64_t> bytes;
  };

  Result<Ok> wrong(const Event& event, std::string what, Set where) {
    Unshown one;
    one.event = static_cast<std::size_t>(&event - statements_.events.data());
    one.what = std::move(what);
    one.where = std::move(where);
    out_.wrong.push_back(std::move(one));
    return Ok{};
  }

  std::vector<std::string> dims(const Event& event) const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < object_.loops; ++i) out.push_back(event.loops[i].name);
    for (std::size_t d = 0; d < object_.extents.size(); ++d) out.push_back("e" + std::to_string(d));
    out.push_back("p");
    return out;
  }

  BasicSet named(const Event& event) const {
    BasicSet out;
    for (std::size_t d = 0; d < event.element.size(); ++d)
      out.equal(variable("e" + std::to_string(d)), event.element[d]);
    out.equal(variable("p"), *order_.phase(event));
    return out;
  }

  // Loops that differ between two instances of one phase.
  Result<std::vector<std::string>> alike(const Event& event) const {
    std::vector<std::string> out;
    BasicSet same = *order_.same_object(event, kFrom, event, kTo);
    same.equal(replaced(*order_.phase(event), names(event.loops), variables(event.loops, kFrom)),
               replaced(*order_.phase(event), names(event.loops), variables(event.loops, kTo)));
    for (std::size_t i = object_.loops; i < event.loops.size(); ++i) {
      BasicSet less = same;
      less.less(variable(event.loops[i].name, kFrom), variable(event.loops[i].name, kTo));
      std::vector<BasicSet> pieces;
      for (const BasicSet& x : event.domain.pieces())
        for (const BasicSet& y : event.domain.pieces()) {
          pieces.push_back(less);
          proof::add(pieces.back(), suffixed(x, event.loops, kFrom));
          proof::add(pieces.back(), suffixed(y, event.loops, kTo));
        }
      TILEWRIGHT_TRY(pairs, order_.pairs(event, event, std::move(pieces)));
      TILEWRIGHT_TRY(none, poly::is_empty(polyhedra_, pairs, limits_));
      if (!none) out.push_back(event.loops[i].name);
    }
    return out;
  }

  Result<bool> bytes(const Event& event, Part& part) {
    Amounts amounts(statements_, polyhedra_, event, limits_);
    // The same names stand for the same values at all that is of one phase, where the phases are written alike.
    std::string where = order_.phase(event)->text() + event.domain.text();
    for (const AffineExpr& element : event.element) where += element.text();
    const auto note = [&](Bytes one, std::int64_t sign) {
      std::sort(one.factors.begin(), one.factors.end());
      std::string key;
      for (const std::string& factor : one.factors) key += "(" + factor + ")";
      if (!key.empty()) key += where;
      part.bytes[key] += sign * one.constant;
    };
    if (event.kind == Event::Kind::Expect) {
      TILEWRIGHT_TRY(expected, amounts.expected());
      if (expected) note(*expected, -1);
      return expected.has_value();
    }
    TILEWRIGHT_TRY(written, amounts.written());
    if (!written) return false;
    for (const Bytes& one : *written) note(one, 1);
    return true;
  }

  Result<Ok> add(const Event& event) {
    Part part{&event, Set(poly::Space{statements_.extents(), dims(event)}), 0, {}};
    if (!order_.phase(event)) return wrong(event, "its phase is not known", event.domain);
    if (event.kind == Event::Kind::Arrive) {
      if (!event.value.is_constant() || event.value.constant() < 1)
        return wrong(event, "the amount is not a constant of at least 1", event.domain);
      part.arrivals = event.value.constant();
    } else if (event.kind == Event::Kind::Start &&
               event.completion == program::Completion::Arrive) {
      part.arrivals = 1;
    } else {
      TILEWRIGHT_TRY(known, bytes(event, part));
      if (!known) return wrong(event, "how many bytes is not known", event.domain);
    }
    TILEWRIGHT_TRY(free, alike(event));
    std::vector<BasicSet> values = {BasicSet()};
    for (const std::string& name : free) {
      BasicSet below;
      below.less(variable(name), 0);
      BasicSet above;
      above.at_least(variable(name), kMostAlike);
      TILEWRIGHT_TRY(outside, order_.keep(both(event.domain.pieces(), {below, above}),
                                          names(event.loops), {}));
      TILEWRIGHT_TRY(few, poly::is_empty(polyhedra_, outside, limits_));
      if (!few) return wrong(event, "arrivals of one phase are not counted", outside);
      std::vector<BasicSet> more;
      for (const BasicSet& value : values)
        for (std::int64_t at = 0; at < kMostAlike; ++at) {
          more.push_back(value);
          more.back().equal(variable(name), at);
        }
      values = std::move(more);
      if (values.size() > 64)
        return wrong(event, "arrivals of one phase are not counted", event.domain);
    }
    std::vector<std::string> gone;
    for (std::size_t i = object_.loops; i < event.loops.size(); ++i)
      gone.push_back(event.loops[i].name);
    for (const BasicSet& value : values) {
      TILEWRIGHT_TRY(phases, order_.keep(both(event.domain.pieces(), both({named(event)}, {value})),
                                         dims(event), gone));
      TILEWRIGHT_TRY(none, poly::is_empty(polyhedra_, phases, limits_));
      if (none) continue;
      part.phases = std::move(phases);
      parts_.push_back(part);
    }
    return Ok{};
  }

  // Parts that are of the same phases are one; each has all that its phases wait for.
  Result<Ok> sum() {
    std::vector<Part> all;
    for (const Part& part : parts_) {
      bool taken = false;
      for (Part& other : all) {
        if (taken) break;
        TILEWRIGHT_TRY(equal, poly::is_equal(polyhedra_, other.phases, part.phases, limits_));
        taken = equal;
        if (!equal) continue;
        other.arrivals += part.arrivals;
        for (const auto& [key, count] : part.bytes) other.bytes[key] += count;
      }
      if (!taken) all.push_back(part);
    }
    out_.phases = Set(all[0].phases.space());
    for (const Part& part : all) {
      TILEWRIGHT_TRY(shared, poly::intersect(polyhedra_, out_.phases, part.phases, limits_));
      TILEWRIGHT_TRY(apart, poly::is_empty(polyhedra_, shared, limits_));
      if (!apart)
        TILEWRIGHT_CHECK_OK(wrong(*part.event, "arrivals of one phase are not counted", shared));
      const bool all_bytes = std::all_of(part.bytes.begin(), part.bytes.end(),
                                         [](const auto& each) { return each.second == 0; });
      if (part.arrivals != object_.count || !all_bytes) {
        TILEWRIGHT_CHECK_OK(wrong(*part.event,
                                  std::to_string(part.arrivals) + " arrivals of " +
                                      std::to_string(object_.count) +
                                      (all_bytes ? "" : ", and other bytes than are expected"),
                                  part.phases));
        continue;
      }
      TILEWRIGHT_TRY(more, poly::unite(polyhedra_, out_.phases, part.phases, limits_));
      out_.phases = std::move(more);
    }
    return Ok{};
  }

  // Phases are complete from 0 on.
  Result<Ok> in_turn() {
    const auto space = out_.phases.space();
    BasicSet negative;
    negative.less(variable("p"), 0);
    TILEWRIGHT_TRY(below, order_.keep(both(out_.phases.pieces(), {negative}), space.dims, {}));
    TILEWRIGHT_TRY(none, poly::is_empty(polyhedra_, below, limits_));
    if (!none) TILEWRIGHT_CHECK_OK(wrong(*parts_[0].event, "a phase below 0", below));
    std::vector<BasicSet> next;
    for (const BasicSet& piece : out_.phases.pieces())
      next.push_back(replaced(piece, {"p"}, {variable("p") - AffineExpr(1)}));
    BasicSet later;
    later.at_least(variable("p"), 1);
    TILEWRIGHT_TRY(second, order_.keep(both(out_.phases.pieces(), {later}), space.dims, {}));
    TILEWRIGHT_TRY(missing, poly::subtract(polyhedra_, second, Set(space, next), limits_));
    TILEWRIGHT_TRY(all, poly::is_empty(polyhedra_, missing, limits_));
    if (!all)
      TILEWRIGHT_CHECK_OK(wrong(*parts_[0].event, "the phase before is never complete", missing));
    return Ok{};
  }

  const Statements& statements_;
  poly::Context& polyhedra_;
  const Order& order_;
  std::size_t number_;
  const SyncObject& object_;
  poly::Limits limits_;
  std::vector<Part> parts_;
  Completed out_;
};

}  // namespace

Result<Phases> guess_phases(const Statements& statements, poly::Context& polyhedra,
                            poly::Limits limits) {
  Phases out(statements.events.size());
  for (std::size_t n = 0; n < statements.events.size(); ++n) {
    const Event& event = statements.events[n];
    if (!counts(event) || event.object == kNone) continue;
    const SyncObject& object = statements.objects[event.object];
    if (object.kind != program::ObjectKind::Barrier) continue;
    std::vector<AffineExpr> laps;
    for (const AffineExpr& element : event.element)
      for (const poly::FloorTerm& floor : element.floors())
        if (floor.coefficient == -floor.denominator)
          laps.push_back(poly::floor_div(floor.numerator, floor.denominator));
    for (std::size_t i = object.loops; laps.empty() && i < event.loops.size(); ++i) {
      const bool splits =
          std::any_of(event.agents.begin(), event.agents.end(),
                      [&](const AgentStep& agent) { return agent.loop == static_cast<int>(i); });
      if (!splits) laps.push_back(variable(event.loops[i].name));
    }
    laps.emplace_back(0);
    const auto some = [&](const AffineExpr& lap, std::int64_t shift, bool at_zero) -> Result<bool> {
      BasicSet piece;
      if (at_zero)
        piece.equal(lap + AffineExpr(shift), 0);
      else
        piece.less(lap + AffineExpr(shift), 0);
      Set set(event.domain.space(), both(event.domain.pieces(), {piece}));
      TILEWRIGHT_TRY(allowed, poly::intersect_params(polyhedra, set, statements.sizes, limits));
      TILEWRIGHT_TRY(none, poly::is_empty(polyhedra, allowed, limits));
      return !none;
    };
    for (const AffineExpr& lap : laps)
      for (const std::int64_t shift : {0, -1, 1, -2, 2}) {
        if (out[n]) break;
        TILEWRIGHT_TRY(begins, some(lap, shift, true));
        TILEWRIGHT_TRY(below, some(lap, shift, false));
        if (begins && !below) out[n] = lap + AffineExpr(shift);
      }
  }
  return out;
}

Result<Completed> completed_phases(const Statements& statements, poly::Context& polyhedra,
                                   const Order& order, std::size_t object, poly::Limits limits) {
  return Counting(statements, polyhedra, order, object, limits).run();
}

}  // namespace tilewright::proof

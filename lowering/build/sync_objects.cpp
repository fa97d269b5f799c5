// SPDX-License-Identifier: Apache-2.0
//
// The objects by which operations tell that they are done: how many elements, arrivals and uses they have, and which
// operations share one.
#include <algorithm>

#include "frontend/base/format.h"
#include "frontend/ir/simplify.h"
#include "lowering/build/sync_emitter.h"
#include "schedules/polyhedra/bounds.h"

namespace tilewright::build {

using poly::AffineExpr;
using poly::BasicSet;
using poly::Set;
using program::ObjectKind;

namespace {

// Operations of one kind in flight at a time, at most.
constexpr std::int64_t kMaxElements = 64;
// Uses whose distance is told exactly: the cases grow with it.
constexpr std::int64_t kExactDistance = 8;
constexpr std::string_view kEarlier = "'y";

// The first buffer that an operation writes.
std::string written_by(Stmt stmt) {
  std::string out;
  program::walk(stmt, [&](Stmt s) {
    if (const auto* store = s.as<program::Store>(); store && out.empty())
      out = store->buffer.text();
  });
  return out.empty() ? "copy" : out;
}

}  // namespace

Failure refuse_sync(const Item& item, const std::string& why, const std::string& remedy) {
  return fail(Diagnostic{Code::EdgeNotKept,
                         {},
                         in_backticks(program::headline(item.stmt)) + " " + why,
                         remedy,
                         {},
                         {}});
}

bool is_within(const Item* item, const Item* owner) {
  for (; item; item = item->parent)
    if (item == owner) return true;
  return false;
}

std::optional<Expr> bytes_of(ir::Context& context, const Item& operation) {
  std::unordered_set<Symbol> inner;
  const std::function<std::optional<Expr>(Stmt)> count = [&](Stmt s) -> std::optional<Expr> {
    if (const auto* store = s.as<program::Store>())
      return context.index(ir::size_bytes(store->value.type()));
    if (const auto* loop = s.as<program::For>()) {
      inner.insert(loop->var);
      const auto body = count(loop->body);
      if (!body) return std::nullopt;
      return context.mul(context.sub(loop->upper, loop->lower), *body);
    }
    if (const auto* let = s.as<program::Let>()) {
      inner.insert(let->var);
      return count(let->body);
    }
    if (const auto* block = s.as<program::Block>()) {
      Expr sum = context.index(0);
      for (Stmt part : block->body) {
        const auto one = count(part);
        if (!one) return std::nullopt;
        sum = context.add(sum, *one);
      }
      return sum;
    }
    return std::nullopt;
  };
  const auto total = count(operation.stmt.as<program::Async>()->body);
  if (!total) return std::nullopt;
  for (Symbol var : ir::free_vars(*total))
    if (inner.contains(var)) return std::nullopt;
  // An empty loop may have a negative length.
  const Expr simple = ir::simplify(context, *total, {});
  return simple.as<ir::IntConst>() ? simple : context.max(context.index(0), simple);
}

const Item& SyncEmitter::item_of(std::size_t source) const {
  if (!is_signal(source)) return *statements_[source].item;
  const SignalPoint& signal = plan_.signals[source - plan_.first_signal];
  return signal.item ? *signal.item : *signal.gap.owner;
}

// The innermost memory that an operation uses: it is awaited before that ends. A signal tells another role, so its
// object stands around all of them.
Result<const Item*> SyncEmitter::owner_of(std::size_t source) const {
  if (is_signal(source)) return team_.split()->parent;
  const Item* out = &team_.root();
  for (const Access& access : statements_[source].accesses) {
    const Item* alloc = team_.alloc_of(access.buffer);
    if (alloc && is_within(alloc, out)) out = alloc;
  }
  for (const WaitPoint& wait : plan_.waits)
    if (wait.source == source && out->role.valid() && !(wait.where.role == out->role))
      return refuse_sync(item_of(source), "uses a memory of one role and is awaited by another",
                         "keep it in a memory of the team");
  return out;
}

// That two values over parameters alone are equal.
Result<bool> SyncEmitter::is_same(const std::optional<poly::BoundExpr>& a,
                                  const poly::BoundExpr& b) const {
  using Kind = poly::BoundExpr::Kind;
  if (!a || a->kind() != Kind::Affine || b.kind() != Kind::Affine) return false;
  const AffineExpr apart = a->affine() - b.affine();
  std::vector<std::string> names;
  apart.collect_names(names);
  const std::vector<std::string>& params = team_.params();
  for (const std::string& name : names)
    if (std::find(params.begin(), params.end(), name) == params.end()) return false;
  const Set facts = team_.facts();
  return poly::is_subset(polyhedra_, facts,
                         Set(facts.space(), BasicSet().equal(apart, AffineExpr(0))));
}

Result<std::vector<SyncEmitter::Count>> SyncEmitter::counts_of(std::size_t source,
                                                               const Item& owner) const {
  const Where& told = known_.source(source);
  BasicSet set;
  (void)team_.constrain(told, kFrom, set);
  const Set facts = team_.facts();
  std::vector<std::string> dims = team_.names(told.loops, kFrom);
  std::vector<Count> out;
  std::vector<std::string> params = team_.params();
  for (const Item* loop : told.loops) {
    const std::string name = Team::name(*loop, kFrom);
    if (loop->bind() || !is_within(loop, &owner)) continue;
    Count count{loop, {}, {}};
    const auto* n = loop->stmt.as<program::For>();
    TILEWRIGHT_TRY(of_loop,
                   poly::intersect_params(polyhedra_, Set({team_.params(), dims}, set), facts));
    std::vector<std::string> outer;
    for (const Item* other : told.loops) {
      if (other == loop) break;
      outer.push_back(Team::name(*other, kFrom));
    }
    auto bounds = poly::dim_bounds(polyhedra_, poly::dims_to_params(of_loop, outer), name, facts);
    if (bounds.ok()) {
      const auto first = team_.to_program(bounds->lower);
      const auto length = team_.to_program(bounds->extent);
      if (first && length) count = {loop, *first, *length};
      // As the loop says it, where that is the same: rings around are then found again.
      const Expr own = context_.sub(n->upper, n->lower);
      const auto said = team_.value(own, kFrom);
      TILEWRIGHT_TRY(same, is_same(said, bounds->extent));
      if (first && same) count.length = own;
    }
    // A bound that is not quasi-affine is the loop's own.
    if (!count.first) count = {loop, n->lower, context_.sub(n->upper, n->lower)};
    count.first = ir::simplify(context_, count.first, {});
    count.length = ir::simplify(context_, count.length, {});
    out.push_back(count);
  }
  // The length of an inner loop must be the same each time, or the uses before it could not be counted.
  for (std::size_t i = 1; i < out.size(); ++i)
    for (Symbol var : ir::free_vars(out[i].length))
      for (const Count& outer : out)
        if (Team::name(*outer.loop, "") == var.text())
          return refuse_sync(item_of(source), "is started a varying number of times in a loop",
                             "stage the copy at a loop directly inside its memory");
  return out;
}

// How many agents start or give it each time.
Result<Expr> SyncEmitter::agents_of(std::size_t source, const Item& owner) const {
  Expr out = context_.index(1);
  BasicSet set;
  const Where& told = known_.source(source);
  (void)team_.constrain(told, kFrom, set);
  const Set facts = team_.facts();
  for (const Item* loop : told.loops) {
    if (!loop->bind() || !is_within(loop, &owner)) continue;
    std::vector<std::string> outer;
    for (const Item* other : told.loops)
      if (other != loop) outer.push_back(Team::name(*other, kFrom));
    Set of_loop({team_.params(), team_.names(told.loops, kFrom)}, set);
    TILEWRIGHT_TRY(bounds, poly::dim_bounds(polyhedra_, poly::dims_to_params(of_loop, outer),
                                            Team::name(*loop, kFrom), facts));
    const auto length = team_.to_program(bounds.extent);
    bool same = length.has_value();
    for (Symbol var : same ? ir::free_vars(*length) : std::vector<Symbol>())
      for (const Item* other : told.loops) same = same && Team::name(*other, "") != var.text();
    if (!same)
      return refuse_sync(item_of(source), "is started by a varying number of agents",
                         "bind the loops of the copy to as many agents each time");
    out = ir::simplify(context_, context_.mul(out, *length), {});
  }
  return out;
}

// The number of a use of an object, by its loops at a point. `behind`: of iterations of the innermost loop that the
// point runs behind.
std::optional<Digits> SyncEmitter::use_digits(const Object& object, std::string_view suffix,
                                              std::int64_t behind) const {
  Digits out;
  for (const Count& count : object.counts) {
    const auto first = team_.value(count.first, suffix);
    const auto length = team_.value(count.length, suffix);
    if (!first || first->kind() != poly::BoundExpr::Kind::Affine || !length) return std::nullopt;
    out.digit.push_back(AffineExpr::variable(Team::name(*count.loop, suffix)) - first->affine());
    // Where there is an iteration, the length is not the 0 of a maximum.
    const AffineExpr* known = nullptr;
    if (length->kind() == poly::BoundExpr::Kind::Affine) known = &length->affine();
    if (length->kind() == poly::BoundExpr::Kind::Max && length->operands().size() == 2)
      for (std::size_t i : {0U, 1U})
        if (length->operands()[i] == poly::BoundExpr(0) &&
            length->operands()[1 - i].kind() == poly::BoundExpr::Kind::Affine)
          known = &length->operands()[1 - i].affine();
    if (!known && out.digit.size() > 1) return std::nullopt;
    out.length.push_back(known ? *known : AffineExpr(0));
  }
  if (out.digit.empty()) return std::nullopt;
  out.digit.back() = out.digit.back() - AffineExpr(behind);
  return out;
}

// The uses, over kOther, that are number n or later after one over kFrom: more than these where their distance is not
// affine, or of too many cases.
std::vector<BasicSet> SyncEmitter::later_uses(const Where& told, const Object& object,
                                              std::int64_t n) const {
  std::vector<BasicSet> out;
  BasicSet same;
  const auto from = use_digits(object, kFrom, 0);
  const auto other = use_digits(object, kOther, 0);
  if (from && other && n <= kExactDistance) {
    for (const Item* loop : serial(told.loops))
      if (!is_within(loop, object.owner))
        same.equal(AffineExpr::variable(Team::name(*loop, kFrom)),
                   AffineExpr::variable(Team::name(*loop, kOther)));
    return both({same}, later_by_at_least(*from, *other, n));
  }
  const std::size_t inner = object.counts.size() - 1;
  std::size_t at = 0;
  for (const Item* loop : serial(told.loops)) {
    const AffineExpr x = AffineExpr::variable(Team::name(*loop, kFrom));
    const AffineExpr y = AffineExpr::variable(Team::name(*loop, kOther));
    if (is_within(loop, object.owner)) {
      BasicSet piece = same;
      std::int64_t least = at == inner ? n : 1;
      if (at + 1 == inner) {
        // What is left of the innermost loop, and what has run of it again.
        const Count& count = object.counts[inner];
        const AffineExpr i = AffineExpr::variable(Team::name(*count.loop, kFrom));
        const AffineExpr j = AffineExpr::variable(Team::name(*count.loop, kOther));
        const auto length = team_.value(count.length, kFrom);
        const auto begin = team_.value(count.first, kFrom);
        const auto again = team_.value(count.first, kOther);
        const auto affine = [](const auto& e) {
          return e && e->kind() == poly::BoundExpr::Kind::Affine;
        };
        if (affine(length) && affine(begin) && affine(again)) {
          BasicSet next = same;
          next.equal(y, x + AffineExpr(1));
          next.at_least(length->affine() - (i - begin->affine()) + (j - again->affine()),
                        AffineExpr(n));
          out.push_back(std::move(next));
          least = 2;
        }
      }
      piece.at_least(y, x + AffineExpr(least));
      out.push_back(std::move(piece));
      ++at;
    }
    same.equal(x, y);
  }
  return out;
}

// Waits and later uses of the same source that nothing puts in this order: the use is number n or later after the
// one that is awaited.
Result<bool> SyncEmitter::overtakes(const WaitPoint& wait, const Object& object,
                                    std::int64_t n) const {
  const Where& told = known_.source(wait.source);
  BasicSet later;
  (void)team_.constrain(told, kOther, later);
  const std::vector<BasicSet> after = later_uses(told, object, n);
  std::vector<std::string> dims = team_.names(wait.where.loops, kAt);
  for (const std::string& name : team_.names(serial(told.loops), kFrom)) dims.push_back(name);
  for (const std::string& name : team_.names(told.loops, kOther)) dims.push_back(name);
  const std::vector<BasicSet> all = both(both(wait.awaits.pieces(), after), {later});
  TILEWRIGHT_TRY(
      left, poly::intersect_params(polyhedra_, Set({team_.params(), dims}, all), team_.facts()));
  const Question question{&wait.where, kAt, &told, kOther, false, {BasicSet()}, {}, {}};
  TILEWRIGHT_TRY(rest, known_.without(question, std::move(left)));
  TILEWRIGHT_TRY(empty, poly::is_empty(polyhedra_, rest));
  return !empty;
}

// Waits for a use that do not know that the use before, of the same element, was given: the number of a phase is kept
// in one bit, so a wait is right only where the phase before is known to be complete.
Result<bool> SyncEmitter::skips(const WaitPoint& wait, const Object& object, std::int64_t n) const {
  const Where& told = known_.source(wait.source);
  const auto use = use_digits(object, kFrom, 0);
  const auto before = use_digits(object, kOther, 0);
  if (!use || !before) return false;
  BasicSet there;
  (void)team_.constrain(told, kOther, there);
  for (const Item* loop : serial(told.loops))
    if (!is_within(loop, object.owner))
      there.equal(AffineExpr::variable(Team::name(*loop, kFrom)),
                  AffineExpr::variable(Team::name(*loop, kOther)));
  std::vector<std::string> dims = team_.names(wait.where.loops, kAt);
  for (const std::string& name : team_.names(serial(told.loops), kFrom)) dims.push_back(name);
  for (const std::string& name : team_.names(told.loops, kOther)) dims.push_back(name);
  const Set all({team_.params(), dims},
                both(both(wait.awaits.pieces(), later_by(*before, *use, n)), {there}));
  TILEWRIGHT_TRY(left, poly::intersect_params(polyhedra_, all, team_.facts()));
  for (const WaitPoint& other : plan_.waits) {
    if (other.source != wait.source) continue;
    std::vector<BasicSet> given = other.awaits.pieces();
    for (BasicSet& piece : given)
      for (auto* exprs : {&piece.equalities, &piece.inequalities})
        for (AffineExpr& e : *exprs) {
          for (const Item* loop : other.where.loops)
            e = e.renamed(Team::name(*loop, kAt), Team::name(*loop, kEarlier));
          for (const Item* loop : serial(told.loops))
            e = e.renamed(Team::name(*loop, kFrom), Team::name(*loop, kOther));
        }
    const Question question{&other.where,
                            kEarlier,
                            &wait.where,
                            kAt,
                            false,
                            given,
                            team_.names(other.where.loops, kEarlier),
                            {{&wait.where, kAt}}};
    TILEWRIGHT_TRY(rest, known_.without(question, std::move(left)));
    left = std::move(rest);
  }
  // Of a signal it is enough to know what its agent did after it.
  if (is_signal(wait.source)) {
    const Question question{
        &told, kOther,       &wait.where, kAt,
        false, {BasicSet()}, {},          {{&wait.where, kAt}, {&told, kOther}}};
    TILEWRIGHT_TRY(rest, known_.without(question, std::move(left)));
    left = std::move(rest);
  }
  TILEWRIGHT_TRY(empty, poly::is_empty(polyhedra_, left));
  return !empty;
}

// The fewest elements of which none is used again before it has been awaited, and of which phases are awaited in turn.
Result<std::int64_t> SyncEmitter::elements_of(std::size_t source, const Object& object) const {
  if (object.counts.empty()) return 1;
  const auto again = [&](std::int64_t n) -> Result<bool> {
    for (const WaitPoint& wait : plan_.waits) {
      if (wait.source != source) continue;
      TILEWRIGHT_TRY(overtaken, overtakes(wait, object, n));
      if (overtaken) return true;
      if (object.kind != ObjectKind::Barrier) continue;
      TILEWRIGHT_TRY(skipped, skips(wait, object, n));
      if (skipped) return true;
    }
    return false;
  };
  for (std::int64_t n = 1; n <= kMaxElements; ++n) {
    if (n == kExactDistance + 1) {
      TILEWRIGHT_TRY(beyond, again(kMaxElements));
      if (beyond) break;
    }
    TILEWRIGHT_TRY(overtaken, again(n));
    if (!overtaken) return n;
  }
  return refuse_sync(item_of(source),
                     "may be in flight more than " + std::to_string(kMaxElements) + " times",
                     "use fewer stages, or wait in the same loop");
}

Result<SyncEmitter::Object> SyncEmitter::object_of(std::size_t source) {
  const bool signal = is_signal(source);
  Object object;
  TILEWRIGHT_TRY(owner, owner_of(source));
  object.owner = owner;
  object.sources = {source};
  TILEWRIGHT_TRY(counts, counts_of(source, *object.owner));
  object.counts = std::move(counts);
  TILEWRIGHT_TRY(agents, agents_of(source, *object.owner));
  object.arrivals = agents;
  // A token that no operation holds yet is free: it tells nothing to a role that does not start the operation.
  const bool token =
      tells_ == Tells::Tokens && !signal &&
      std::all_of(plan_.waits.begin(), plan_.waits.end(), [&](const WaitPoint& wait) {
        return wait.source != source || wait.where.role == known_.source(source).role;
      });
  object.kind = token ? ObjectKind::Token : ObjectKind::Barrier;
  TILEWRIGHT_TRY(elements, elements_of(source, object));
  object.elements = elements;
  object.bytes = tells_ == Tells::Bytes && !signal && bytes_of(context_, item_of(source));
  const auto* alone = agents.as<ir::IntConst>();
  if (token && !(alone && alone->value == 1))
    return refuse_sync(item_of(source),
                       "is started by several agents, and a token is for one operation",
                       "bind none of the loops of the copy");
  object.name = names_.make(
      context_, signal ? plan_.signals[source - plan_.first_signal].name
                       : written_by(item_of(source).stmt) + (token ? "_token" : "_full"));
  return object;
}

// Waits for the same uses at the same places, and started next to each other.
Result<bool> SyncEmitter::same_waits(std::size_t a, std::size_t b) const {
  const Statement& x = statements_[a];
  const Statement& y = statements_[b];
  if (x.where.loops != y.where.loops || !(x.where.role == y.where.role)) return false;
  std::vector<const WaitPoint*> first;
  std::vector<const WaitPoint*> second;
  for (const WaitPoint& wait : plan_.waits) {
    if (wait.source == a) first.push_back(&wait);
    if (wait.source == b) second.push_back(&wait);
  }
  if (first.size() != second.size()) return false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!(first[i]->gap == second[i]->gap) || !(first[i]->where.role == second[i]->where.role))
      return false;
    TILEWRIGHT_TRY(equal, poly::is_equal(polyhedra_, first[i]->awaits, second[i]->awaits));
    if (!equal) return false;
  }
  BasicSet of_x;
  BasicSet of_y;
  (void)team_.constrain(x.where, kFrom, of_x);
  (void)team_.constrain(y.where, kFrom, of_y);
  const poly::Space space{team_.params(), team_.names(x.where.loops, kFrom)};
  return poly::is_equal(polyhedra_, Set(space, of_x), Set(space, of_y));
}

Result<Ok> SyncEmitter::find_objects() {
  for (std::size_t op = 0; op < statements_.size(); ++op) {
    if (!statements_[op].is_async) continue;
    TILEWRIGHT_TRY(own, object_of(op));
    bool shared = false;
    if (!objects_.empty() && own.kind == ObjectKind::Barrier) {
      Object& last = objects_.back();
      TILEWRIGHT_TRY(same, same_waits(last.sources.front(), op));
      const bool nested = is_within(own.owner, last.owner) || is_within(last.owner, own.owner);
      shared = same && nested && last.bytes == own.bytes && last.elements == own.elements &&
               last.counts.size() == own.counts.size();
      if (shared) {
        if (is_within(last.owner, own.owner)) last.owner = own.owner;
        if (!last.bytes)
          last.arrivals = ir::simplify(context_, context_.add(last.arrivals, own.arrivals), {});
        last.sources.push_back(op);
        object_of_[op] = objects_.size() - 1;
      }
    }
    if (shared) continue;
    object_of_[op] = objects_.size();
    objects_.push_back(std::move(own));
  }
  for (std::size_t i = 0; i < plan_.signals.size(); ++i) {
    const std::size_t source = plan_.first_signal + i;
    if (std::none_of(plan_.waits.begin(), plan_.waits.end(),
                     [&](const WaitPoint& wait) { return wait.source == source; }))
      continue;
    TILEWRIGHT_TRY(own, object_of(source));
    object_of_[source] = objects_.size();
    objects_.push_back(std::move(own));
  }
  return Ok{};
}

}  // namespace tilewright::build

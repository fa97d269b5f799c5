// SPDX-License-Identifier: Apache-2.0
//
// One walk over a Program that keeps what holds on the way: loops, conditions, scalars, time.
#include "lowering/proof/statements.h"

#include <algorithm>
#include <map>
#include <set>

#include "frontend/ir/reduction.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "lowering/proof/call_values.h"
#include "schedules/polyhedra/index.h"

namespace tilewright::proof {

namespace {

using poly::BasicSet;
using poly::Region;
using program::LoopKind;
using program::Stmt;

AffineExpr variable(std::string_view name) { return AffineExpr::variable(name); }

class Walk {
 public:
  Walk(ir::Context& context, const program::Program& program)
      : context_(context), program_(program), data_(context, program) {}

  Result<Statements> run() {
    for (const ir::ExtentDecl& extent : program_.extents) params_.emplace_back(extent.name.text());
    TILEWRIGHT_CHECK_OK(add_sizes());
    for (const program::Parameter& parameter : program_.parameters) {
      using Kind = Buffer::Kind;
      const Kind kind = parameter.is_inout    ? Kind::Inout
                        : parameter.is_output ? Kind::Output
                                              : Kind::Input;
      TILEWRIGHT_CHECK_OK(add_buffer(parameter.name, parameter.type, parameter.shape, kind));
    }
    TILEWRIGHT_CHECK_OK(statement(program_.body));
    return std::move(out_);
  }

 private:
  Failure refuse(std::string what, std::string remedy) const {
    return fail(Code::ProofUnknown, Span{}, std::move(what), std::move(remedy));
  }
  Failure not_affine(std::string_view what, Expr expr) const {
    return refuse("the proof cannot follow " + std::string(what) + " `" + ir::print(expr) +
                      "`: it is not affine in loop variables and sizes",
                  "split by literals, or read data that an input holds");
  }

  Result<Ok> add_sizes() {
    BasicSet ranges;
    for (const ir::ExtentDecl& extent : program_.extents) {
      const AffineExpr size = variable(extent.name.text());
      ranges.at_least(size, AffineExpr(std::max<std::int64_t>(extent.min, 0)));
      if (extent.max) ranges.at_least(AffineExpr(*extent.max), size);
      if (extent.multiple_of > 1)
        ranges.equal(poly::modulo(size, extent.multiple_of), AffineExpr());
    }
    Region allowed{{ranges}, true};
    for (Expr requirement : program_.requirements)
      allowed = meet(allowed, poly::region_of(requirement));
    out_.sizes = poly::Set(poly::Space{params_, {}}, std::move(allowed.pieces));
    return Ok{};
  }

  Result<Ok> add_buffer(Symbol name, ir::ScalarType type, std::span<const Expr> extents,
                        Buffer::Kind kind, bool own_lanes = false) {
    Buffer buffer;
    buffer.name = name;
    buffer.type = type;
    buffer.kind = kind;
    for (const Loop& loop : loops_)
      if (own_lanes || loop.kind != LoopKind::Vector) buffer.loops.push_back(loop);
    Region region = region_;
    poly::Space space{params_, names(loops_)};
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const Expr extent = substituted(extents[d]);
      buffer.extents.push_back(extent);
      space.dims.push_back("d" + std::to_string(d));
      if (!poly::index_cases(extent)) return not_affine("the size", extents[d]);
      region = meet(region, poly::range_region(space.dims.back(), {}, extent));
    }
    if (!region.exact)
      return refuse("too many cases lead to `" + std::string(name.text()) + "`",
                    "split the Program");
    buffer.cells = poly::Set(std::move(space), std::move(region.pieces));
    out_.buffers.push_back(std::move(buffer));
    return Ok{};
  }

  static std::vector<std::string> names(const std::vector<Loop>& loops) {
    std::vector<std::string> out;
    for (const Loop& loop : loops) out.push_back(loop.name);
    return out;
  }

  Expr substituted(Expr expr) const {
    return scalars_.empty() ? expr : ir::substitute(context_, expr, scalars_);
  }

  Result<Ok> statement(Stmt stmt) {
    if (!stmt) return Ok{};
    current_ = stmt;
    if (const auto* block = stmt.as<program::Block>()) {
      for (Stmt child : block->body) TILEWRIGHT_CHECK_OK(statement(child));
      return Ok{};
    }
    if (const auto* loop = stmt.as<program::For>()) return for_loop(*loop);
    if (const auto* branch = stmt.as<program::If>()) return branches(*branch);
    if (const auto* let = stmt.as<program::Let>()) return scalar(stmt, *let);
    if (const auto* ring = stmt.as<program::Ring>()) return ring_of(*ring);
    if (const auto* alloc = stmt.as<program::Alloc>()) {
      TILEWRIGHT_CHECK_OK(
          add_buffer(alloc->buffer, alloc->type,
                     std::span<const Expr>(alloc->extents.begin(), alloc->extents.size()),
                     Buffer::Kind::Local));
      return statement(alloc->body);
    }
    if (const auto* store = stmt.as<program::Store>())
      return add(stmt, store->buffer,
                 std::span<const Expr>(store->indices.begin(), store->indices.size()),
                 store->value);
    if (const auto* call = stmt.as<program::Call>()) return call_of(stmt, *call);
    if (stmt.as<program::Prefetch>()) return Ok{};
    return refuse("the proof cannot follow `" + program::headline(stmt) + "` yet",
                  "state the Program for one thread of a host");
  }

  // A position of its own for what follows, within the innermost serial loop.
  Result<Ok> for_loop(const program::For& loop) {
    const Region outer = region_;
    const std::string name(loop.var.text());
    const std::size_t conditions = under_.size();
    TILEWRIGHT_TRY(lower, bound(loop.lower, true, loop.var));
    TILEWRIGHT_TRY(upper, bound(loop.upper, false, loop.var));
    region_ = meet(region_, poly::range_region(name, lower, upper));
    loops_.push_back({name, loop.loop, false});
    // Lanes do each statement together.
    const int number = static_cast<int>(loops_.size()) - 1;
    const bool lane = loop.loop == LoopKind::Vector;
    const std::size_t depth = time_.size();
    if (!lane) {
      time_.push_back({next_++, -1});
      time_.push_back({0, number});
    }
    const int outer_next = next_;
    if (!lane) next_ = 0;
    TILEWRIGHT_CHECK_OK(statement(loop.body));
    if (!lane) next_ = outer_next;
    time_.resize(depth);
    loops_.pop_back();
    under_.resize(conditions);
    region_ = outer;
    return Ok{};
  }

  // The bound itself, or one that every value of it respects, and then the iterations are under a condition.
  Result<Expr> bound(Expr given, bool is_lower, Symbol var) {
    const Expr value = substituted(given);
    if (poly::index_cases(value)) return value;
    const auto range = data_.range(value);
    if (!range || !poly::index_cases(is_lower ? range->low : range->high))
      return not_affine("the bound", given);
    TILEWRIGHT_TRY(fixed, kept_value(value));
    const Expr at = context_.var(var);
    under_.push_back(is_lower ? context_.le(fixed, at) : context_.lt(at, fixed));
    return is_lower ? range->low : range->high;
  }

  // What the expression is now, for later: a name for it where what it reads may be written.
  Result<Expr> kept_value(Expr value) {
    if (data_.is_fixed(value)) return value;
    const Symbol name = context_.symbol("?now" + std::to_string(out_.list.size()));
    TILEWRIGHT_CHECK_OK(add_buffer(name, value.type(), {}, Buffer::Kind::Local, true));
    TILEWRIGHT_CHECK_OK(add(current_, name, {}, value));
    data_.define(name, value);
    return context_.read(name, {}, value.type());
  }

  // Affine conditions restrict instances; those on data stay conditions.
  Result<Ok> branches(const program::If& branch) {
    const Region outer = region_;
    const Expr condition = substituted(branch.condition);
    const Region holds = poly::region_of(condition, true);
    const Region fails = poly::region_of(condition, false);
    if (holds.exact && fails.exact) {
      region_ = meet(outer, holds);
      TILEWRIGHT_CHECK_OK(statement(branch.then_body));
      region_ = meet(outer, fails);
      TILEWRIGHT_CHECK_OK(statement(branch.else_body));
      region_ = outer;
      return Ok{};
    }
    std::vector<Expr> on_data;
    for (Expr part : conjuncts(condition)) {
      const Region where = poly::region_of(part, true);
      if (where.exact)
        region_ = meet(region_, where);
      else
        on_data.push_back(part);
    }
    // Evaluated where the others hold.
    const std::size_t before = under_.size();
    for (Expr part : on_data) {
      TILEWRIGHT_TRY(fixed, kept_value(part));
      under_.push_back(fixed);
    }
    std::vector<Expr> held(under_.begin() + static_cast<std::ptrdiff_t>(before), under_.end());
    TILEWRIGHT_CHECK_OK(statement(branch.then_body));
    under_.resize(before);
    region_ = outer;
    if (!branch.else_body) return Ok{};
    // Those on data are known where the others hold; where one of the others does not, this arm is taken too.
    Expr affine;
    for (Expr part : conjuncts(condition))
      if (poly::region_of(part, true).exact) affine = affine ? context_.both(affine, part) : part;
    Expr all;
    for (Expr part : held) all = all ? context_.both(all, part) : part;
    const Expr fails_there = context_.op(ir::OpCode::Not, {all});
    under_.push_back(affine ? context_.select(affine, fails_there, context_.boolean(true))
                            : fails_there);
    TILEWRIGHT_CHECK_OK(statement(branch.else_body));
    under_.resize(before);
    return Ok{};
  }

  static std::vector<Expr> conjuncts(Expr condition) {
    const auto* op = condition.as<ir::Op>();
    if (op == nullptr || op->op != ir::OpCode::And) return {condition};
    std::vector<Expr> out = conjuncts(op->args[0]);
    for (Expr more : conjuncts(op->args[1])) out.push_back(more);
    return out;
  }

  Result<Ok> scalar(Stmt stmt, const program::Let& let) {
    const Expr value = substituted(let.value);
    const bool affine = let.value.type() == ir::ScalarType::Index && poly::index_cases(value);
    if (affine) {
      scalars_[let.var] = value;
    } else {
      TILEWRIGHT_CHECK_OK(add_buffer(let.var, let.value.type(), {}, Buffer::Kind::Local, true));
      TILEWRIGHT_CHECK_OK(add(stmt, let.var, {}, let.value));
      data_.define(let.var, value);
      scalars_[let.var] = context_.read(let.var, {}, let.value.type());
    }
    TILEWRIGHT_CHECK_OK(statement(let.body));
    scalars_.erase(let.var);
    return Ok{};
  }

  Result<Ok> ring_of(const program::Ring& ring) {
    const Expr use = substituted(ring.use);
    const Expr depth = context_.index(ring.depth);
    scalars_[ring.slot] = context_.floor_mod(use, depth);
    scalars_[ring.phase] = context_.floor_div(use, depth);
    TILEWRIGHT_CHECK_OK(statement(ring.body));
    scalars_.erase(ring.slot);
    scalars_.erase(ring.phase);
    return Ok{};
  }

  // All outputs at one time, since all operands are read before.
  Result<Ok> call_of(Stmt stmt, const program::Call& call) {
    const std::string prefix = "?call" + std::to_string(out_.list.size()) + ".";
    TILEWRIGHT_TRY(outputs, outputs_of(context_, program_, call, prefix));
    const Region outer = region_;
    const std::size_t depth = loops_.size();
    const int position = next_;
    for (const CallOutput& output : outputs) {
      for (const CallOutput::Lane& lane : output.lanes) {
        const std::string name(lane.name.text());
        const Expr length = substituted(lane.length);
        if (!poly::index_cases(length)) return not_affine("the length", lane.length);
        region_ = meet(region_, poly::range_region(name, {}, length));
        loops_.push_back({name, LoopKind::Vector, true});
      }
      next_ = position;
      TILEWRIGHT_CHECK_OK(add(stmt, output.buffer, output.cell, output.value));
      loops_.resize(depth);
      region_ = outer;
    }
    return Ok{};
  }

  Result<Ok> add(Stmt stmt, Symbol buffer, std::span<const Expr> indices, Expr value) {
    if (!region_.exact)
      return refuse("too many cases lead to `" + program::headline(stmt) + "`",
                    "split the Program");
    Statement one;
    one.number = out_.list.size();
    one.origin = stmt;
    one.buffer = buffer;
    one.under = under_;
    one.time = time_;
    one.time.push_back({next_++, -1});
    if (const auto* store = stmt.as<program::Store>()) {
      one.marked = store->origin;
      for (Expr index : store->point) one.mark.push_back(substituted(index));
    }
    const Region outer = region_;
    const std::size_t depth = loops_.size();
    Expr written = substituted(value);
    Expr own;
    one.value = written;
    TILEWRIGHT_TRY(cell, target_of(one, indices));
    // What is computed on the way is not asked for where it was not computed.
    const bool is_store = stmt.as<program::Store>() || stmt.as<program::Call>();
    one.keeps = is_store && !one.under.empty();
    if (one.keeps) {
      own = context_.read(buffer, cell, value.type());
      // Where the store does something, the cell that data name is that one.
      std::vector<Expr> named;
      for (Expr index : indices) named.push_back(substituted(index));
      const Expr given = context_.read(buffer, named, value.type());
      written =
          ir::rewrite(context_, written, [&](Expr each) { return each == given ? own : each; });
      one.value = kept_unless(one.under, written, own);
    }
    one.loops = loops_;
    one.domain = poly::Set(poly::Space{params_, names(loops_)}, region_.pieces);
    for (Expr condition : one.under)
      one.data.facts = meet(one.data.facts, data_.condition(condition, true, one.data));
    std::vector<Expr> under;
    if (!one.keeps)
      for (Expr condition : one.under) {
        TILEWRIGHT_CHECK_OK(reads_of(one, condition, region_, under));
        under.push_back(condition);
      }
    TILEWRIGHT_CHECK_OK(reads_of(one, one.value, region_, under));
    if (own) {
      bool is_read = false;
      ir::walk(written, [&](Expr each) { is_read = is_read || each == own; });
      for (Access& access : one.reads) {
        access.is_own = access.read == own;
        access.only_kept = access.is_own && !is_read;
      }
    }
    loops_.resize(depth);
    region_ = outer;
    out_.list.push_back(std::move(one));
    return Ok{};
  }

  // The cell that is written. Where data say which, every cell along that dimension is, under a condition.
  Result<std::vector<Expr>> target_of(Statement& one, std::span<const Expr> indices) {
    std::vector<Expr> cell;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const Expr index = substituted(indices[d]);
      if (const auto affine = poly::affine_of(index)) {
        one.cell.push_back(*affine);
        one.target.push_back(*affine);
        cell.push_back(index);
        continue;
      }
      one.target.push_back(data_.index(index, one.data));
      const std::string lane = "?cell" + std::to_string(one.number) + "." + std::to_string(d);
      const Expr at = context_.var(context_.symbol(lane));
      const Expr extent = out_.find(one.buffer)->extents[d];
      if (!poly::index_cases(extent)) return not_affine("the size", extent);
      region_ = meet(region_, poly::range_region(lane, {}, extent));
      loops_.push_back({lane, LoopKind::Vector, true});
      one.cell.push_back(variable(lane));
      one.under.push_back(context_.op(ir::OpCode::Eq, {at, index}));
      cell.push_back(at);
    }
    return cell;
  }

  // The value where all conditions hold, else what the cell held. Of a step of a fold only the term depends on them:
  // a term that is not there is the identity.
  Expr kept_unless(const std::vector<Expr>& under, Expr value, Expr own) {
    // A later condition is evaluated where the earlier ones hold.
    const auto where_all = [&](Expr yes, Expr no) {
      for (auto part = under.rbegin(); part != under.rend(); ++part)
        yes = context_.select(*part, yes, no);
      return yes;
    };
    if (const auto* op = value.as<ir::Op>()) {
      const auto neutral = [&]() -> std::optional<ir::Monoid> {
        switch (op->op) {
          case ir::OpCode::Add: return ir::Monoid::Sum;
          case ir::OpCode::Max: return ir::Monoid::Max;
          case ir::OpCode::Min: return ir::Monoid::Min;
          default: return {};
        }
      }();
      for (std::size_t i = 0; neutral && !ir::is_complex(value.type()) && i < 2; ++i)
        if (op->args[i] == own) {
          const Expr term =
              where_all(op->args[1 - i], context_.monoid_identity(*neutral, value.type()));
          return context_.op(op->op, {own, term});
        }
    }
    return where_all(value, own);
  }

  // Only the arm of a `select` that is chosen is evaluated.
  Result<Ok> reads_of(Statement& one, Expr expr, const Region& region, std::vector<Expr>& under) {
    if (const auto* read = expr.as<ir::Read>()) {
      Access access{read->tensor, {}, expr, poly::Set(one.domain.space(), region.pieces)};
      access.under = under;
      for (Expr index : read->indices) {
        const Expr value = substituted(index);
        if (const auto affine = poly::affine_of(value)) {
          access.cell.push_back(*affine);
          continue;
        }
        access.cell.push_back(data_.index(value, access.data));
        TILEWRIGHT_CHECK_OK(reads_of(one, value, region, under));
      }
      access.known = access.data;
      for (Expr condition : under)
        access.known.facts =
            meet(access.known.facts, data_.condition(condition, true, access.known));
      one.reads.push_back(std::move(access));
      return Ok{};
    }
    if (const auto* select = expr.as<ir::Select>()) {
      TILEWRIGHT_CHECK_OK(reads_of(one, select->condition, region, under));
      const Region holds = poly::region_of(select->condition, true);
      const Region fails = poly::region_of(select->condition, false);
      if (holds.exact && fails.exact) {
        TILEWRIGHT_CHECK_OK(reads_of(one, select->then_value, meet(region, holds), under));
        return reads_of(one, select->else_value, meet(region, fails), under);
      }
      under.push_back(select->condition);
      TILEWRIGHT_CHECK_OK(reads_of(one, select->then_value, region, under));
      under.back() = context_.op(ir::OpCode::Not, {select->condition});
      TILEWRIGHT_CHECK_OK(reads_of(one, select->else_value, region, under));
      under.pop_back();
      return Ok{};
    }
    Result<Ok> done = Ok{};
    ir::for_each_child(expr, [&](Expr child) {
      if (done.ok()) done = reads_of(one, child, region, under);
    });
    return done;
  }

  ir::Context& context_;
  const program::Program& program_;
  DataValues data_;
  Stmt current_;  // the statement that is walked
  std::vector<Expr> under_;  // conditions on data
  std::vector<std::string> params_;
  std::vector<Loop> loops_;
  std::vector<TimeStep> time_;
  int next_ = 0;
  Region region_ = Region::everywhere();
  ir::Substitution scalars_;
  Statements out_;
};

}  // namespace

const Buffer* Statements::find(Symbol name) const {
  for (const Buffer& buffer : buffers)
    if (buffer.name == name) return &buffer;
  return nullptr;
}

Result<Statements> statements_of(ir::Context& context, const program::Program& program) {
  return Walk(context, program).run();
}

std::vector<Before> before(const Moment& a, const Moment& b) {
  std::vector<Before> out;
  BasicSet same;
  const auto value = [](const Moment& moment, const TimeStep& step) {
    if (step.loop < 0) return AffineExpr(step.position);
    return variable(moment.loops[static_cast<std::size_t>(step.loop)].name +
                    std::string(moment.suffix));
  };
  for (std::size_t i = 0; i < std::min(a.time.size(), b.time.size()); ++i) {
    const AffineExpr x = value(a, a.time[i]);
    const AffineExpr y = value(b, b.time[i]);
    if (x == y) continue;
    if (x.is_constant() && y.is_constant()) {
      if (x.constant() < y.constant()) out.push_back({i, a.time[i].position, same});
      return out;
    }
    BasicSet piece = same;
    out.push_back({i, -1, piece.less(x, y)});
    same.equal(x, y);
  }
  return out;
}

}  // namespace tilewright::proof

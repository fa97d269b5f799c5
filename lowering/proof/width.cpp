// SPDX-License-Identifier: Apache-2.0
//
// One walk that keeps the range of every name, and the way that led there, along which a witness is sought.
#include "lowering/proof/width.h"

#include <algorithm>
#include <set>

#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "lowering/proof/index_range.h"
#include "lowering/proof/width_witness.h"
#include "schedules/polyhedra/index.h"

namespace tilewright::proof {

namespace {

using ir::Expr;
using ir::OpCode;
using ir::ScalarType;
using program::LoopKind;
using program::Stmt;

class Walk {
 public:
  Walk(ir::Context& context, const program::Program& program)
      : context_(context),
        program_(program),
        limits_(context, program),
        witness_(program, limits_) {}

  Width run() {
    statement(program_.body);
    return std::move(out_);
  }

 private:
  // ---- statements ----

  void statement(Stmt stmt) {
    if (!stmt) return;
    current_ = stmt;
    if (const auto* loop = stmt.as<program::For>())
      return loop_over(stmt, loop->var, loop->lower, loop->upper, loop->body,
                       loop->loop == LoopKind::Vector);
    if (const auto* bind = stmt.as<program::Bind>())
      return loop_over(stmt, bind->var, bind->lower, bind->upper, bind->body, false);
    if (const auto* branch = stmt.as<program::If>()) {
      visit(branch->condition);
      under({PathStep::Kind::Holds, {}, branch->condition, {}},
            [&] { statement(branch->then_body); });
      return under({PathStep::Kind::Fails, {}, branch->condition, {}},
                   [&] { statement(branch->else_body); });
    }
    if (const auto* let = stmt.as<program::Let>()) return scalar(*let);
    if (const auto* ring = stmt.as<program::Ring>()) return ring_of(*ring);
    if (const auto* alloc = stmt.as<program::Alloc>()) buffer(*alloc);
    if (stmt.as<program::Store>()) ++out_.addresses;
    others(stmt);
  }

  // Marks are read by nobody who runs.
  void others(Stmt stmt) {
    for (Symbol name : program::bound_names(stmt)) ranges_[name] = {};
    if (const auto* store = stmt.as<program::Store>()) {
      for (Expr index : store->indices) visit(index);
      return visit(store->value);
    }
    program::for_each_part(stmt, [&](std::string_view name, auto part) {
      using Part = decltype(part);
      current_ = stmt;
      if constexpr (std::is_same_v<Part, Expr>) {
        if (name != "point") visit(part);
      }
      if constexpr (std::is_same_v<Part, Stmt>) statement(part);
    });
  }

  void loop_over(Stmt stmt, Symbol var, Expr lower, Expr upper, Stmt body, bool is_vector) {
    visit(lower);
    visit(upper);
    const IndexRange from = range(lower);
    const IndexRange to = range(upper);
    // Lanes count from their own lower bound.
    if (in_vector_) difference(upper, to, lower, from);
    const auto values = between(from, to);
    if (!values) return;
    ranges_[var] = *values;
    const bool outer = in_vector_;
    in_vector_ = in_vector_ || is_vector;
    under({PathStep::Kind::Loop, var, lower, upper}, [&] { statement(body); });
    in_vector_ = outer;
    current_ = stmt;
  }

  void scalar(const program::Let& let) {
    visit(let.value);
    if (let.value.type() == ScalarType::Index) ranges_[let.var] = range(let.value);
    under({PathStep::Kind::Value, let.var, let.value, {}}, [&] { statement(let.body); });
  }

  void ring_of(const program::Ring& ring) {
    visit(ring.use);
    const Expr depth = context_.index(ring.depth);
    ranges_[ring.slot] = range(context_.floor_mod(ring.use, depth));
    ranges_[ring.phase] = range(context_.floor_div(ring.use, depth));
    statement(ring.body);
  }

  // A workspace is judged where the entry evaluates its formula. Everything else is of literal size, or of a memory
  // that code generation for agents lays out: its bytes must fit all the same.
  void buffer(const program::Alloc& alloc) {
    if (alloc.space == program::Space::Workspace || alloc.space == program::Space::Plan) return;
    Expr bytes = context_.index(ir::size_bytes(alloc.type));
    for (Expr extent : alloc.extents) bytes = context_.mul(bytes, extent);
    visit(bytes);
  }

  template <class F>
  void under(PathStep step, F&& body) {
    const std::size_t before = known_.size();
    if (step.kind == PathStep::Kind::Holds || step.kind == PathStep::Kind::Fails)
      learn(step.a, step.kind == PathStep::Kind::Holds);
    path_.push_back(std::move(step));
    body();
    path_.pop_back();
    known_.resize(before);
  }

  // What a condition says of the expressions in it, wherever they stand again.
  void learn(Expr condition, bool holds) {
    const auto* op = condition.as<ir::Op>();
    if (op == nullptr) return;
    if (op->op == OpCode::Not) return learn(op->args[0], !holds);
    if (op->op == (holds ? OpCode::And : OpCode::Or)) {
      learn(op->args[0], holds);
      return learn(op->args[1], holds);
    }
    if (op->args.empty() || op->args[0].type() != ScalarType::Index) return;
    if (!ir::reads(condition).empty()) return;  // a buffer may change
    switch (op->op) {
      case OpCode::Lt: return learn_order(op->args[0], op->args[1], holds, holds);
      case OpCode::Le: return learn_order(op->args[0], op->args[1], holds, !holds);
      case OpCode::Gt: return learn_order(op->args[1], op->args[0], holds, holds);
      case OpCode::Ge: return learn_order(op->args[1], op->args[0], holds, !holds);
      default: return;
    }
  }

  // a < b or a <= b; where that does not hold, b <= a or b < a.
  void learn_order(Expr a, Expr b, bool holds, bool strict) {
    if (!holds) std::swap(a, b);
    const IndexRange x = range(a);
    const IndexRange y = range(b);
    const WideIndex apart = strict ? 1 : 0;
    IndexRange less = x;
    less.high = std::min(less.high, y.high - apart);
    if (x.low >= 0 && y.size && (!x.size || y.size->size() <= x.size->size())) less.size = y.size;
    IndexRange more = y;
    more.low = std::max(more.low, x.low + apart);
    if (less.low <= less.high) known_.emplace_back(a, std::move(less));
    if (more.low <= more.high) known_.emplace_back(b, std::move(more));
  }

  // ---- expressions ----

  // Every operation on indices in it, at whatever depth.
  void visit(Expr expr) {
    if (!expr) return;
    if (const auto* select = expr.as<ir::Select>()) {
      visit(select->condition);
      under({PathStep::Kind::Holds, {}, select->condition, {}}, [&] { visit(select->then_value); });
      return under({PathStep::Kind::Fails, {}, select->condition, {}},
                   [&] { visit(select->else_value); });
    }
    if (const auto* op = expr.as<ir::Op>(); op && op->type == ScalarType::Bool) {
      if (op->op == OpCode::And || op->op == OpCode::Or) {
        visit(op->args[0]);
        const auto kind = op->op == OpCode::And ? PathStep::Kind::Holds : PathStep::Kind::Fails;
        return under({kind, {}, op->args[0], {}}, [&] { visit(op->args[1]); });
      }
    }
    if (expr.as<ir::Read>()) ++out_.addresses;
    ir::for_each_child(expr, [&](Expr child) { visit(child); });
    const auto* op = expr.as<ir::Op>();
    if (op == nullptr) return;
    if (op->type == ScalarType::Index) {
      ++out_.operations;
      demand(expr, values_of(expr));
    } else if (in_vector_ && ir::is_comparison(op->op) && op->args[0].type() == ScalarType::Index) {
      difference(op->args[0], range(op->args[0]), op->args[1], range(op->args[1]));
    }
  }

  // Of two lanes that are compared; one more or less is taken on the way.
  void difference(Expr a, const IndexRange& x, Expr b, const IndexRange& y) {
    ++out_.operations;
    IndexRange out = operate(limits_, OpCode::Sub, {x, y});
    out.low -= 1;
    out.high += 1;
    demand(context_.sub(a, b), out);
  }

  void demand(Expr operation, const IndexRange& values) {
    if (fits_index(values.low) && fits_index(values.high)) return;
    if (!reported_.insert(operation.node()).second) return;
    out_.faults.push_back({program::headline(current_), ir::print(operation),
                           index_text(values.low) + " .. " + index_text(values.high),
                           witness_.find(path_, operation)});
  }

  // What does not fit is reported where it is computed; from there on it is taken for what a machine makes of it.
  IndexRange range(Expr expr) {
    IndexRange values = values_of(expr);
    if (!fits_index(values.low) || !fits_index(values.high)) return {};
    return values;
  }

  IndexRange values_of(Expr expr) {
    for (auto one = known_.rbegin(); one != known_.rend(); ++one)
      if (one->first == expr) return one->second;
    if (const auto* c = expr.as<ir::IntConst>()) return exactly(c->value);
    if (const auto* var = expr.as<ir::Var>()) {
      const auto found = ranges_.find(var->name);
      return found == ranges_.end() ? IndexRange{} : found->second;
    }
    if (const auto* extent = expr.as<ir::Extent>())
      return limits_.knows(extent->name) ? range_of(limits_, extent->name) : IndexRange{};
    if (const auto* select = expr.as<ir::Select>())
      return hull(range(select->then_value), range(select->else_value));
    if (const auto* cast = expr.as<ir::Cast>()) return data(cast->value);
    const auto* op = expr.as<ir::Op>();
    if (op == nullptr) return {};
    std::vector<IndexRange> args;
    for (Expr arg : op->args) args.push_back(range(arg));
    IndexRange out = operate(limits_, op->op, args);
    if (out.low < 0 && (op->op == OpCode::Add || op->op == OpCode::Sub))
      if (const auto least = least_in_loops(expr)) out.low = std::max<WideIndex>(out.low, *least);
    return out;
  }

  // What intervals lose: `M - 8*it` is positive for each `it < (M + 7)/8`. Each loop is at the end where the value
  // is least, from the inside out, and a quotient of which a multiple of the divisor is taken is what it was rounded from.
  std::optional<std::int64_t> least_in_loops(Expr expr) const {
    auto value = poly::affine_of(expr);
    if (!value) return std::nullopt;
    for (auto step = path_.rbegin(); step != path_.rend(); ++step) {
      const std::string_view name = step->var.valid() ? step->var.text() : std::string_view();
      if (name.empty() || !value->mentions(name)) continue;
      const std::int64_t coefficient = value->coefficient(name);
      const auto at = poly::affine_of(coefficient < 0 ? step->b : step->a);
      const bool in_floor = (*value - poly::AffineExpr::variable(name, coefficient)).mentions(name);
      if (step->kind != PathStep::Kind::Loop || in_floor || !at) return std::nullopt;
      value = value->substituted(name, coefficient < 0 ? *at - poly::AffineExpr(1) : *at);
    }
    poly::AffineExpr linear(value->constant());
    for (const poly::LinearTerm& term : value->terms())
      linear = linear + poly::AffineExpr::variable(term.name, term.coefficient);
    for (const poly::FloorTerm& floor : value->floors()) {
      if (floor.coefficient % floor.denominator != 0) return std::nullopt;
      const std::int64_t times = floor.coefficient / floor.denominator;
      const std::int64_t lost = times > 0 ? floor.denominator - 1 : 0;
      linear = linear + (floor.numerator - poly::AffineExpr(lost)) * times;
    }
    if (linear.overflowed() || !linear.floors().empty()) return std::nullopt;
    for (const poly::LinearTerm& term : linear.terms()) {
      const bool is_extent = std::any_of(
          program_.extents.begin(), program_.extents.end(),
          [&](const ir::ExtentDecl& extent) { return extent.name.text() == term.name; });
      if (term.coefficient < 0 || !is_extent) return std::nullopt;
    }
    return linear.constant();  // extents are not negative
  }

  // An integer that becomes an index: what its type holds, or what its tensor is declared to hold.
  IndexRange data(Expr value) {
    if (const auto* c = value.as<ir::IntConst>(); c && value.type() != ScalarType::U64)
      return exactly(c->value);
    if (const auto* read = value.as<ir::Read>()) {
      const program::Parameter* parameter = program_.find_parameter(read->tensor);
      if (parameter && parameter->facts.lower && !parameter->facts.clamp) {
        const auto declared = between(range(parameter->facts.lower), range(parameter->facts.upper));
        if (declared) return *declared;
      }
    }
    if (!ir::is_integer(value.type()) || value.type() == ScalarType::U64) return {};
    return {ir::lowest_integer(value.type()), ir::greatest_integer(value.type()), std::nullopt};
  }

  ir::Context& context_;
  const program::Program& program_;
  SizeLimits limits_;
  WidthWitness witness_;
  std::unordered_map<Symbol, IndexRange> ranges_;
  std::vector<PathStep> path_;
  std::vector<std::pair<Expr, IndexRange>> known_;  // by conditions around
  Stmt current_;
  bool in_vector_ = false;
  std::set<const void*> reported_;
  Width out_;
};

}  // namespace

Width index_width(ir::Context& context, const program::Program& program) {
  return Walk(context, program).run();
}

}  // namespace tilewright::proof

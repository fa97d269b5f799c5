// SPDX-License-Identifier: Apache-2.0
//
// A Program run in the plainest way, straight from the words of program.h: lanes of a vector loop together,
// statement by statement, every operation by ir::evaluate_op. Slow, without traps; an oracle of its own
// beside the Program interpreter, for tests of generated code.
#pragma once

#include <map>
#include <vector>

#include "frontend/ir/evaluate.h"
#include "lowering/program/program.h"
#include "tests/laws/complex_cells.h"

namespace tilewright::test {

class PlainRun {
 public:
  PlainRun(const program::Program& program, const ir::Bindings& bindings, ir::TensorMap& tensors)
      : bindings_(bindings), tensors_(tensors) {
    std::vector<Lane> lanes(1);
    run(program.body, lanes);
  }
  bool undefined() const { return undefined_; }

 private:
  using Cell = laws::Cell;
  struct Lane {
    int number = -1;  // of the vector loop, or -1
    std::map<Symbol, Cell> values;
  };
  using Lanes = std::vector<Lane>;

  // A buffer allocated in a vector loop is one per lane.
  ir::Tensor& tensor(Symbol name, const Lane& lane) {
    if (auto it = private_.find(name); it != private_.end()) return it->second[lane.number];
    return tensors_.at(name);
  }

  std::vector<std::int64_t> indices(std::span<const ir::Expr> exprs, const Lane& lane) {
    std::vector<std::int64_t> out;
    for (ir::Expr e : exprs) out.push_back(value(e, lane).i);
    return out;
  }

  Cell read(const ir::Read& r, const Lane& lane) {
    const ir::Tensor& t = tensor(r.tensor, lane);
    return laws::get_cell(t, static_cast<std::size_t>(t.offset(indices(r.indices, lane))));
  }

  Cell second(const ir::Op& op, const Lane& lane) {
    return op.args.size() > 1 ? cell(op.args[1], lane) : Cell{};
  }

  // A complex number, or a value of another type.
  Cell cell(ir::Expr expr, const Lane& lane) {
    using namespace ir;
    if (!is_complex(expr.type())) return {value(expr, lane)};
    if (const auto* v = expr.as<Var>()) return lane.values.at(v->name);
    if (const auto* r = expr.as<Read>()) return read(*r, lane);
    if (const auto* s = expr.as<Select>())
      return cell(value(s->condition, lane).i ? s->then_value : s->else_value, lane);
    const ScalarType part = part_type(expr.type());
    if (const auto* c = expr.as<Cast>()) {
      const Cell z = cell(c->value, lane);
      const ScalarType from = part_type(c->value.type());
      const Scalar re = evaluate_cast(from, part, z[0], &undefined_);
      if (!is_complex(c->value.type())) return {re};
      return {re, evaluate_cast(from, part, z[1], &undefined_)};
    }
    const Op& op = *expr.as<Op>();
    if (op.op == OpCode::Complex) return {value(op.args[0], lane), value(op.args[1], lane)};
    return laws::ComplexArithmetic(part).apply(op.op, cell(op.args[0], lane), second(op, lane));
  }

  ir::Scalar value(ir::Expr expr, const Lane& lane) {
    using namespace ir;
    return visit(
        expr, Overloaded{
                  [&](const IntConst&) { return constant_value(expr); },
                  [&](const FloatConst&) { return constant_value(expr); },
                  [&](const BoolConst&) { return constant_value(expr); },
                  [&](const Var& v) { return lane.values.at(v.name)[0]; },
                  [&](const Extent& e) { return Scalar{.i = bindings_.at(e.name)}; },
                  [&](const Read& r) { return read(r, lane)[0]; },
                  [&](const Op& op) {
                    const ScalarType type = op.args[0].type();
                    if (is_complex(type))
                      return laws::ComplexArithmetic(part_type(type))
                          .real(op.op, cell(op.args[0], lane), second(op, lane));
                    std::vector<Scalar> args;
                    for (Expr a : op.args) args.push_back(value(a, lane));
                    return evaluate_op(op.op, type, args.data(), &undefined_);
                  },
                  [&](const Select& s) {
                    return value(value(s.condition, lane).i ? s.then_value : s.else_value, lane);
                  },
                  [&](const Cast& c) {
                    return evaluate_cast(c.value.type(), c.type, value(c.value, lane), &undefined_);
                  },
                  [&](const Saturate& s) {
                    return evaluate_saturate(s.value.type(), s.type, value(s.value, lane));
                  },
                  [&](const RoundTo& r) {
                    return evaluate_round_to(r.type, r.grid, value(r.value, lane));
                  },
                  [&](const Fold&) { return Scalar{.i = 0}; }});
  }

  void run(program::Stmt stmt, Lanes& lanes) {
    using namespace program;
    if (!stmt || lanes.empty()) return;
    visit(stmt, ir::Overloaded{[&](const Block& s) {
                                 for (Stmt child : s.body) run(child, lanes);
                               },
                               [&](const For& s) { run_loop(s, lanes); },
                               [&](const If& s) { run_if(s, lanes); },
                               [&](const Let& s) {
                                 for (Lane& lane : lanes) lane.values[s.var] = cell(s.value, lane);
                                 run(s.body, lanes);
                               },
                               [&](const Alloc& s) { run_alloc(s, lanes); },
                               [&](const Store& s) { run_store(s, lanes); }, [](const Prefetch&) {},
                               [](const auto&) { ADD_FAILURE() << "not of the host part"; }});
  }

  void run_loop(const program::For& loop, Lanes& lanes) {
    if (loop.loop == program::LoopKind::Vector) {
      Lanes inner;
      const std::int64_t lower = value(loop.lower, lanes[0]).i;
      const std::int64_t upper = value(loop.upper, lanes[0]).i;
      for (std::int64_t i = lower; i < upper; ++i) {
        inner.push_back(lanes[0]);
        inner.back().number = static_cast<int>(i - lower);
        inner.back().values[loop.var] = {ir::Scalar{.i = i}};
      }
      return run(loop.body, inner);
    }
    for (std::int64_t step = 0;; ++step) {
      Lanes active;
      for (const Lane& lane : lanes) {
        const std::int64_t i = value(loop.lower, lane).i + step;
        if (i >= value(loop.upper, lane).i) continue;
        active.push_back(lane);
        active.back().values[loop.var] = {ir::Scalar{.i = i}};
      }
      if (active.empty()) return;
      run(loop.body, active);
    }
  }

  void run_if(const program::If& branch, Lanes& lanes) {
    Lanes arms[2];
    for (const Lane& lane : lanes) arms[value(branch.condition, lane).i ? 0 : 1].push_back(lane);
    run(branch.then_body, arms[0]);
    run(branch.else_body, arms[1]);
  }

  void run_alloc(const program::Alloc& alloc, Lanes& lanes) {
    const ir::Tensor fresh = ir::make_tensor(alloc.type, indices(alloc.extents, lanes[0]));
    if (lanes[0].number < 0) {
      tensors_[alloc.buffer] = fresh;
    } else {
      private_[alloc.buffer].assign(static_cast<std::size_t>(lanes.back().number) + 1, fresh);
    }
    run(alloc.body, lanes);
  }

  void run_store(const program::Store& store, Lanes& lanes) {
    std::vector<Cell> values;
    for (const Lane& lane : lanes) values.push_back(cell(store.value, lane));
    for (std::size_t l = 0; l < lanes.size(); ++l) {
      ir::Tensor& t = tensor(store.buffer, lanes[l]);
      laws::put_cell(t, static_cast<std::size_t>(t.offset(indices(store.indices, lanes[l]))),
                     values[l]);
    }
  }

  const ir::Bindings& bindings_;
  ir::TensorMap& tensors_;
  std::map<Symbol, std::vector<ir::Tensor>> private_;
  bool undefined_ = false;
};

}  // namespace tilewright::test

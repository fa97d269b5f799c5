// SPDX-License-Identifier: Apache-2.0
//
// A walk over the Program with the lanes of `vector` loops side by side: each statement is done for all lanes before
// the next. Iterations of `parallel` loops run in order; that the order does not matter is proved elsewhere.
#include "lowering/rounding/running.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "lowering/program/call.h"

namespace tilewright::rounding {

namespace {

using ir::Expr;
using ir::ScalarType;
using program::Stmt;

struct Cells {
  ScalarType type = ScalarType::F32;
  std::vector<std::int64_t> shape;
  std::vector<Tracked> data;
};

// Names of one lane; what is not here is the outer one's.
struct Lane {
  const Lane* outer = nullptr;
  std::vector<std::pair<Symbol, Tracked>> scalars = {};
  std::vector<std::pair<Symbol, std::shared_ptr<Cells>>> buffers = {};

  const Tracked* scalar(Symbol name) const {
    for (const Lane* lane = this; lane; lane = lane->outer)
      for (auto it = lane->scalars.rbegin(); it != lane->scalars.rend(); ++it)
        if (it->first == name) return &it->second;
    return nullptr;
  }
  Cells* buffer(Symbol name) const {
    for (const Lane* lane = this; lane; lane = lane->outer)
      for (auto it = lane->buffers.rbegin(); it != lane->buffers.rend(); ++it)
        if (it->first == name) return it->second.get();
    return nullptr;
  }
};
using Lanes = std::vector<Lane*>;

class Run {
 public:
  Run(ir::Context& context, const program::Program& program, const ir::Bindings& sizes,
      const RunOptions& options)
      : context_(context),
        program_(program),
        sizes_(sizes),
        options_(options),
        arithmetic_(options.units) {}

  Result<TrackedRun> run(const ir::TensorMap& inputs) {
    Lane root;
    for (const program::Parameter& parameter : program_.parameters)
      TILEWRIGHT_CHECK_OK(add_parameter(root, parameter, inputs));
    if (!statement(program_.body, {&root}) || failure_) return std::move(*failure_);
    if (arithmetic_.undefined())
      return refuse("an operation on integers that has no value", "look at the run of the program");
    TrackedRun out;
    for (const program::Parameter& parameter : program_.parameters) {
      if (!parameter.is_output) continue;
      Cells& cells = *root.buffer(parameter.name);
      out.outputs[parameter.name] = {cells.type, cells.shape, std::move(cells.data)};
    }
    out.near_ties = arithmetic_.near_ties();
    out.extremes = std::move(extremes_);
    return out;
  }

 private:
  Failure refuse(std::string what, std::string remedy) const {
    return fail(Code::ProofUnknown, Span{}, std::move(what), std::move(remedy));
  }
  bool stop(std::string what) {
    if (!failure_)
      failure_ =
          refuse(std::move(what), "state the program for one thread of a host, at small sizes");
    return false;
  }

  Result<Ok> add_parameter(Lane& root, const program::Parameter& parameter,
                           const ir::TensorMap& inputs) {
    if (ir::is_complex(parameter.type))
      return refuse("no rounding bound of complex numbers", "state both parts by themselves");
    auto cells = std::make_shared<Cells>();
    cells->type = parameter.type;
    std::int64_t count = 1;
    for (Expr extent : parameter.shape) {
      cells->shape.push_back(ir::evaluate_extents(extent, sizes_));
      count *= cells->shape.back();
    }
    cells->data.assign(static_cast<std::size_t>(count), unwritten());
    if (!parameter.is_output || parameter.is_inout) {
      const auto given = inputs.find(parameter.name);
      if (given == inputs.end() || given->second.data.size() != cells->data.size())
        return refuse("no input " + std::string(parameter.name.text()), "give every input");
      for (std::size_t i = 0; i < cells->data.size(); ++i) {
        Tracked& cell = cells->data[i];
        cell.machine = given->second.data[i];
        cell.exact = ir::is_float(parameter.type) ? cell.machine.f : 0;
        cell.error = 0;
      }
    }
    root.buffers.emplace_back(parameter.name, std::move(cells));
    return Ok{};
  }

  static Tracked unwritten() {
    Tracked out;
    out.error = std::numeric_limits<double>::infinity();
    return out;
  }

  // ---- statements ----

  bool statement(Stmt stmt, const Lanes& lanes) {
    if (!stmt || lanes.empty()) return true;
    if (const auto* block = stmt.as<program::Block>()) {
      for (Stmt child : block->body)
        if (!statement(child, lanes)) return false;
      return true;
    }
    if (const auto* loop = stmt.as<program::For>())
      return loop->loop == program::LoopKind::Vector ? vector(*loop, lanes) : serial(*loop, lanes);
    if (const auto* branch = stmt.as<program::If>()) return branches(*branch, lanes);
    if (const auto* let = stmt.as<program::Let>()) {
      std::vector<Tracked> values;
      for (const Lane* lane : lanes) values.push_back(value(let->value, *lane));
      return with(lanes, let->var, values, [&] { return statement(let->body, lanes); });
    }
    if (const auto* ring = stmt.as<program::Ring>()) return ring_of(*ring, lanes);
    if (const auto* alloc = stmt.as<program::Alloc>()) return allocate(*alloc, lanes);
    if (const auto* store = stmt.as<program::Store>()) return write(*store, lanes);
    if (const auto* call = stmt.as<program::Call>()) return call_of(*call, lanes);
    if (stmt.as<program::Prefetch>()) return true;
    return stop("no rounding bound beyond `" + program::headline(stmt) + "`");
  }

  template <class F>
  bool with(const Lanes& lanes, Symbol name, const std::vector<Tracked>& values, F&& body) {
    for (std::size_t l = 0; l < lanes.size(); ++l) lanes[l]->scalars.emplace_back(name, values[l]);
    const bool done = body();
    for (Lane* lane : lanes) lane->scalars.pop_back();
    return done;
  }

  static Tracked index(std::int64_t value) { return {ir::Scalar{.i = value}, 0, 0}; }

  // Each lane counts from its own lower bound.
  bool serial(const program::For& loop, const Lanes& lanes) {
    std::vector<std::int64_t> lower;
    std::vector<std::int64_t> count;
    std::int64_t longest = 0;
    for (const Lane* lane : lanes) {
      lower.push_back(integer(loop.lower, *lane));
      count.push_back(integer(loop.upper, *lane) - lower.back());
      longest = std::max(longest, count.back());
    }
    for (std::int64_t i = 0; i < longest; ++i) {
      Lanes on;
      std::vector<Tracked> values;
      for (std::size_t l = 0; l < lanes.size(); ++l) {
        if (i >= count[l]) continue;
        on.push_back(lanes[l]);
        values.push_back(index(lower[l] + i));
      }
      if (!with(on, loop.var, values, [&] { return statement(loop.body, on); })) return false;
    }
    return true;
  }

  bool vector(const program::For& loop, const Lanes& lanes) {
    std::vector<std::unique_ptr<Lane>> inner;
    Lanes all;
    for (const Lane* lane : lanes) {
      const std::int64_t upper = integer(loop.upper, *lane);
      for (std::int64_t i = integer(loop.lower, *lane); i < upper; ++i) {
        inner.push_back(std::make_unique<Lane>(Lane{lane}));
        inner.back()->scalars.emplace_back(loop.var, index(i));
        all.push_back(inner.back().get());
      }
    }
    return statement(loop.body, all);
  }

  bool branches(const program::If& branch, const Lanes& lanes) {
    Lanes on;
    Lanes off;
    for (Lane* lane : lanes)
      (value(branch.condition, *lane).machine.i != 0 ? on : off).push_back(lane);
    return statement(branch.then_body, on) && statement(branch.else_body, off);
  }

  bool ring_of(const program::Ring& ring, const Lanes& lanes) {
    std::vector<Tracked> slots;
    std::vector<Tracked> phases;
    for (const Lane* lane : lanes) {
      const std::int64_t use = integer(ring.use, *lane);
      slots.push_back(index(use % ring.depth));
      phases.push_back(index(use / ring.depth));
    }
    return with(lanes, ring.slot, slots, [&] {
      return with(lanes, ring.phase, phases, [&] { return statement(ring.body, lanes); });
    });
  }

  bool allocate(const program::Alloc& alloc, const Lanes& lanes) {
    if (ir::is_complex(alloc.type)) return stop("no rounding bound of complex numbers");
    for (Lane* lane : lanes) {
      auto cells = std::make_shared<Cells>();
      cells->type = alloc.type;
      std::int64_t count = 1;
      for (Expr extent : alloc.extents) {
        cells->shape.push_back(std::max<std::int64_t>(integer(extent, *lane), 0));
        count *= cells->shape.back();
      }
      steps_ += count;
      if (steps_ > options_.step_limit) return stop("the limit of steps was reached");
      cells->data.assign(static_cast<std::size_t>(count), unwritten());
      lane->buffers.emplace_back(alloc.buffer, std::move(cells));
    }
    const bool done = statement(alloc.body, lanes);
    for (Lane* lane : lanes) lane->buffers.pop_back();
    return done;
  }

  bool write(const program::Store& store, const Lanes& lanes) {
    std::vector<std::pair<Tracked*, Tracked>> all;
    for (const Lane* lane : lanes) {
      Tracked* cell = place(store.buffer, store.indices, *lane);
      if (!cell) return false;
      all.emplace_back(cell, value(store.value, *lane));
    }
    for (auto& [cell, stored] : all) *cell = stored;
    return !failure_;
  }

  // ---- expressions ----

  template <class List>
  Tracked* place(Symbol name, const List& indices, const Lane& lane) {
    Cells* cells = lane.buffer(name);
    if (!cells) {
      stop("no buffer " + std::string(name.text()));
      return nullptr;
    }
    std::int64_t offset = 0;
    std::size_t d = 0;
    for (Expr one : indices) {
      const std::int64_t at = integer(one, lane);
      if (at < 0 || at >= cells->shape[d]) {
        stop("a cell outside of " + std::string(name.text()));
        return nullptr;
      }
      offset = offset * cells->shape[d++] + at;
    }
    return &cells->data[static_cast<std::size_t>(offset)];
  }

  std::int64_t integer(Expr expr, const Lane& lane) { return value(expr, lane).machine.i; }

  Tracked value(Expr expr, const Lane& lane) {
    if (++steps_ > options_.step_limit) stop("the limit of steps was reached");
    if (ir::is_complex(expr.type())) stop("no rounding bound of complex numbers");
    if (failure_) return {};
    return ir::visit(expr,
                     ir::Overloaded{
                         [&](const ir::IntConst&) { return arithmetic_.constant(expr); },
                         [&](const ir::FloatConst&) { return arithmetic_.constant(expr); },
                         [&](const ir::BoolConst&) { return arithmetic_.constant(expr); },
                         [&](const ir::Var& var) {
                           const Tracked* found = lane.scalar(var.name);
                           if (!found) stop("no value of " + std::string(var.name.text()));
                           return found ? *found : Tracked{};
                         },
                         [&](const ir::Extent& extent) { return index(sizes_.at(extent.name)); },
                         [&](const ir::Read& read) {
                           const Tracked* cell = place(read.tensor, read.indices, lane);
                           return cell ? *cell : Tracked{};
                         },
                         [&](const ir::Op& op) {
                           Tracked args[3];
                           int n = 0;
                           for (Expr arg : op.args) args[n++] = value(arg, lane);
                           if (failure_) return Tracked{};
                           note(op, args);
                           return arithmetic_.apply(op.op, op.args[0].type(), args);
                         },
                         [&](const ir::Select& select) {
                           const bool chosen = value(select.condition, lane).machine.i != 0;
                           return value(chosen ? select.then_value : select.else_value, lane);
                         },
                         [&](const ir::Cast& cast) {
                           const Tracked given = value(cast.value, lane);
                           if (failure_) return Tracked{};
                           return arithmetic_.cast(cast.value.type(), cast.type, given);
                         },
                         [&](const ir::Saturate& s) {
                           const Tracked given = value(s.value, lane);
                           if (failure_) return Tracked{};
                           return arithmetic_.saturate(s.value.type(), s.type, given);
                         },
                         [&](const ir::RoundTo& r) {
                           const Tracked given = value(r.value, lane);
                           if (failure_) return Tracked{};
                           return arithmetic_.round_to(r.type, r.grid, given);
                         },
                         [&](const ir::Fold&) {
                           stop("a fold inside a program");
                           return Tracked{};
                         },
                     });
  }

  void note(const ir::Op& op, const Tracked* args) {
    if (!ir::is_float(op.type)) return;
    switch (op.op) {
      case ir::OpCode::Exp:
      case ir::OpCode::Exp2:
      case ir::OpCode::Expm1: {
        const auto most = static_cast<double>(args[0].exact);
        const auto [at, fresh] = extremes_.try_emplace(&op, most);
        at->second = std::max(at->second, most);
        return;
      }
      case ir::OpCode::Div:
      case ir::OpCode::Rsqrt:
      case ir::OpCode::Log:
      case ir::OpCode::Log2: {
        const bool second = op.op == ir::OpCode::Div;
        const auto least = static_cast<double>(std::fabs(args[second ? 1 : 0].exact));
        const auto [at, fresh] = extremes_.try_emplace(&op, least);
        at->second = std::min(at->second, least);
        return;
      }
      default: return;
    }
  }

  // ---- described instructions ----

  struct Operand {
    std::vector<Tracked> cells;
    std::vector<Tracked*> places;
  };

  // The cells of a tile in row-major order.
  bool walk_tile(const program::TileNode& tile, const Lane& lane, Operand& out) {
    std::vector<std::int64_t> start;
    for (Expr one : tile.indices) start.push_back(integer(one, lane));
    std::vector<std::int64_t> lengths;
    for (Expr one : tile.lengths) lengths.push_back(integer(one, lane));
    Cells* cells = lane.buffer(tile.buffer);
    if (!cells) return stop("no buffer " + std::string(tile.buffer.text()));
    std::vector<std::int64_t> at(lengths.size(), 0);
    std::int64_t count = 1;
    for (std::int64_t length : lengths) count *= length;
    for (std::int64_t n = 0; n < count; ++n) {
      std::vector<std::int64_t> cell = start;
      for (std::size_t d = 0; d < lengths.size(); ++d)
        cell[static_cast<std::size_t>(tile.sliced[d])] += at[d];
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < cell.size(); ++d) {
        if (cell[d] < 0 || cell[d] >= cells->shape[d])
          return stop("a cell outside of " + std::string(tile.buffer.text()));
        offset = offset * cells->shape[d] + cell[d];
      }
      out.places.push_back(&cells->data[static_cast<std::size_t>(offset)]);
      out.cells.push_back(*out.places.back());
      for (std::size_t d = lengths.size(); d-- > 0;) {
        if (++at[d] < lengths[d]) break;
        at[d] = 0;
      }
    }
    return true;
  }

  bool call_of(const program::Call& call, const Lanes& lanes) {
    const program::Intrinsic* intrinsic = program_.find_intrinsic(call.callee);
    const auto meaning = intrinsic ? program::description_of(context_, *intrinsic) : std::nullopt;
    if (!meaning)
      return stop("no numeric unit is known of `" + std::string(call.callee.text()) + "`");
    for (const Lane* lane : lanes)
      if (!call_one(call, *meaning, *lane)) return false;
    return true;
  }

  // c + sum of a[t] * b[t], by the unit: its bits by its description, its error by the number of its steps.
  bool call_one(const program::Call& call, const machine::Meaning& meaning, const Lane& lane) {
    std::vector<Operand> operands;
    std::vector<std::vector<ir::Scalar>> bits;
    Operand result;
    for (const machine::Meaning::Operand& wanted : meaning.operands) {
      operands.emplace_back();
      for (program::Tile tile : call.operands)
        if (tile->operand == wanted.name && !walk_tile(*tile, lane, operands.back())) return false;
      bits.emplace_back();
      for (const Tracked& cell : operands.back().cells) bits.back().push_back(cell.machine);
    }
    for (program::Tile tile : call.operands)
      if (tile->operand == meaning.result.name && !walk_tile(*tile, lane, result)) return false;
    const std::vector<ir::Scalar> out = machine::execute(meaning, bits);
    if (out.size() != result.places.size()) return stop("an operand of another shape");
    std::vector<Tracked> values(out.size());
    const bool real = ir::is_float(meaning.result.type);
    for (std::size_t i = 0; i < out.size(); ++i) {
      values[i].machine = out[i];
      if (real) add_up(meaning, operands, i, values[i]);
    }
    for (std::size_t i = 0; i < out.size(); ++i) *result.places[i] = values[i];
    return true;
  }

  void add_up(const machine::Meaning& meaning, const std::vector<Operand>& operands, std::size_t i,
              Tracked& out) const {
    std::vector<std::int64_t> point(meaning.dims.size(), 0);
    std::size_t rest = i;
    for (std::size_t d = meaning.result.dims.size(); d-- > 0;) {
      const std::size_t dim = meaning.result.dims[d];
      point[dim] = static_cast<std::int64_t>(rest % static_cast<std::size_t>(meaning.lengths[dim]));
      rest /= static_cast<std::size_t>(meaning.lengths[dim]);
    }
    const auto cell = [&](std::size_t operand) -> const Tracked& {
      std::size_t offset = 0;
      for (std::size_t dim : meaning.operands[operand].dims)
        offset = offset * static_cast<std::size_t>(meaning.lengths[dim]) +
                 static_cast<std::size_t>(point[dim]);
      return operands[operand].cells[offset];
    };
    Units units = options_.units;
    units.subnormals = units.subnormals && meaning.unit.subnormals;
    const Step step = rounding_step(units, meaning.result.type);
    const Tracked& c = cell(meaning.accumulator);
    out.exact = c.exact;
    double size = std::fabs(c.machine.f);
    double error = c.error;
    double terms = 0;
    const double flushed = meaning.unit.subnormals ? 0 : 0x1p-126;  // the most of an operand
    std::int64_t count = 1;
    for (std::size_t d = meaning.num_results; d < meaning.dims.size(); ++d)
      count *= meaning.lengths[d];
    for (std::int64_t n = 0; n < count; ++n) {
      const Tracked& a = cell(meaning.left);
      const Tracked& b = cell(meaning.right);
      out.exact += a.exact * b.exact;
      const double x = std::fabs(a.machine.f);
      const double y = std::fabs(b.machine.f);
      size += x * y;
      error += x * b.error + y * a.error + a.error * b.error + flushed * (x + y + flushed);
      ++terms;
      for (std::size_t d = meaning.dims.size(); d-- > meaning.num_results;) {
        if (++point[d] < meaning.lengths[d]) break;
        point[d] = 0;
      }
    }
    // Partial results are at most `size` and what was off by then.
    out.error = (error + terms * (step.relative * size * (1 + terms * step.relative) * 1.001 +
                                  step.absolute)) *
                (1 + 0x1p-40);
    if (!std::isfinite(out.machine.f) || !(out.error >= 0))
      out.error = std::numeric_limits<double>::infinity();
  }

  ir::Context& context_;
  const program::Program& program_;
  const ir::Bindings& sizes_;
  const RunOptions& options_;
  Arithmetic arithmetic_;
  std::map<const void*, double> extremes_;
  std::int64_t steps_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace

Result<TrackedRun> run_tracked(ir::Context& context, const program::Program& program,
                               const ir::Bindings& sizes, const ir::TensorMap& inputs,
                               const RunOptions& options) {
  return Run(context, program, sizes, options).run(inputs);
}

Measured measure(const TrackedRun& run) {
  Measured out;
  for (const auto& [name, tensor] : run.outputs) {
    if (!ir::is_float(tensor.type)) continue;
    for (const Tracked& cell : tensor.cells) {
      ++out.cells;
      if (!std::isfinite(cell.error)) {
        ++out.without_bound;
        continue;
      }
      const long double apart = cell.machine.f == cell.exact ? 0.0L : cell.machine.f - cell.exact;
      const double error = static_cast<double>(std::fabs(apart));
      out.largest_error = std::max(out.largest_error, error);
      out.largest_bound = std::max(out.largest_bound, cell.error);
      if (error > 0)
        out.worst_ratio =
            std::max(out.worst_ratio,
                     cell.error > 0 ? error / cell.error : std::numeric_limits<double>::infinity());
    }
  }
  return out;
}

}  // namespace tilewright::rounding

// SPDX-License-Identifier: Apache-2.0
//
// Lanes of a vector loop run each statement together: a store computes the values of all lanes
// before the first is written, an `if` splits the lanes, and an inner loop whose bounds differ
// between lanes runs from the least to the greatest bound with the lanes outside of theirs off.
#include "lowering/program/execution.h"

#include <algorithm>
#include <limits>

#include "frontend/ir/cells.h"
#include "frontend/ir/facts.h"
#include "frontend/ir/given.h"
#include "frontend/ir/index_math.h"
#include "frontend/ir/text.h"
#include "lowering/program/machine.h"
#include "lowering/program/places.h"
#include "lowering/program/text.h"

namespace tilewright::program {

namespace {
constexpr std::int64_t kMaxCells = std::int64_t{1} << 31;
}  // namespace

Result<InterpretResult> Execution::run(const ir::TensorMap& inputs) {
  for (std::size_t p = 0; p < program_.parameters.size(); ++p)
    TILEWRIGHT_CHECK_OK(set_up(program_.parameters[p], compiled_.buffers_[p], inputs));
  if (!run_body()) return *failure_;
  InterpretResult out;
  for (std::size_t p = 0; p < program_.parameters.size(); ++p)
    if (program_.parameters[p].is_output) {
      TILEWRIGHT_CHECK_OK(check_written(compiled_.buffers_[p]));
      ir::Tensor& tensor = out.outputs[program_.parameters[p].name];
      tensor.type = compiled_.buffers_[p].type;
      tensor.shape = compiled_.buffers_[p].shape;
      tensor.data = std::move(compiled_.buffers_[p].cells);
    }
  out.coverage = std::move(coverage_);
  out.steps = steps_;
  out.copies = copies_;
  return out;
}

Result<Ok> Execution::set_up(const Parameter& parameter, Buffer& buffer,
                             const ir::TensorMap& inputs) {
  TILEWRIGHT_TRY(shape, ir::bound_shape(parameter.name, parameter.shape, bindings_, {}));
  if (parameter.is_output) {
    buffer.per_byte = ir::elements_per_byte(parameter.type);
    buffer.allocate(shape, compiled_.width_ > 1, has_agents());
    if (!parameter.is_inout) return Ok{};
    TILEWRIGHT_CHECK_OK(
        ir::check_tensor(parameter.name, parameter.type, parameter.shape, bindings_, inputs, {}));
    buffer.give(inputs.at(parameter.name).data);
    return Ok{};
  }
  TILEWRIGHT_CHECK_OK(
      ir::check_tensor(parameter.name, parameter.type, parameter.shape, bindings_, inputs, {}));
  TILEWRIGHT_CHECK_OK(
      ir::check_facts(parameter.name, parameter.facts, bindings_, inputs.at(parameter.name), {}));
  buffer.shape = shape;
  buffer.strides = ir::row_major(shape);
  buffer.given = inputs.at(parameter.name).data.data();
  return Ok{};
}

Result<Ok> Execution::check_written(const Buffer& buffer) const {
  for (std::size_t i = 0; i < buffer.writer.size(); ++i) {
    if (buffer.writer[i] != kNoStrand) continue;
    std::vector<std::int64_t> cell(buffer.shape.size());
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t d = cell.size(); d-- > 0; rest /= buffer.shape[d])
      cell[d] = rest % buffer.shape[d];
    Diagnostic out{
        Code::OutputNotWritten,
        place_of(program_, buffer.name),
        "a cell of the output `" + std::string(buffer.name.text()) + "` is never written",
        "store every cell of an output",
        {}};
    out.evidence.emplace_back("cell", std::string(buffer.name.text()) + ir::shape_text(cell));
    add_sizes(&out);
    return fail(std::move(out));
  }
  return Ok{};
}

bool Execution::run_node(std::uint32_t id) {
  const Node& node = compiled_.nodes_[id];
  switch (node.stmt.kind()) {
    case StmtKind::Block:
      for (std::uint32_t child : node.body)
        if (!run_node(child)) return false;
      return true;
    case StmtKind::For: return run_for(node, *node.stmt.as<For>());
    case StmtKind::If: return run_if(node);
    case StmtKind::Let: return run_let(node);
    case StmtKind::Alloc: return run_alloc(node);
    case StmtKind::Store: return run_store(node);
    case StmtKind::While: return run_while(node);
    case StmtKind::Ring: return run_ring(node);
    case StmtKind::Call: return run_call(node);
    case StmtKind::Atomic: return run_atomic(node);
    case StmtKind::Prefetch: return run_prefetch(node);
    default: return false;  // Machine runs what holds others
  }
}

bool Execution::evaluate(const Node& node) {
  steps_ += static_cast<std::int64_t>(compiled_.builder_->tape().blocks[node.block].size() + 1) *
            (node.column ? lanes_.n : 1);
  if (steps_ > options_.step_limit) {
    Diagnostic out{Code::ProgramLimit,
                   place_of(program_, node.stmt),
                   "the program reached the interpreter's step limit",
                   "run it at smaller sizes, or raise the limit",
                   {}};
    return refuse(std::move(out), 0);
  }
  access_.begin_statement(in_vector_, number_of(node));
  if (atomic_node_ == &node) {
    // Whoever reaches the buffer belongs to its scope.
    const Scope scope = node.stmt.as<Atomic>()->scope;
    access_.begin_atomic(*buffers_[node.buffer], scope == Scope::None ? Scope::System : scope);
  }
  ir::Undefined bad;
  if (ir::run(compiled_.builder_->tape(), node.block, frame_, lanes_, access_, &bad)) return true;
  return stopped(node, bad);
}

void Execution::decide(int decision, bool first, bool second) {
  if (decision < 0) return;
  auto& seen = coverage_.decisions[static_cast<std::size_t>(decision)];
  seen.first |= first;
  seen.second |= second;
}

void Execution::note_min_bounds(const Node& node) {
  for (const Node::MinBound& bound : node.min_bounds) {
    const bool columns = compiled_.builder_->info(bound.first).column;
    const bool columns2 = compiled_.builder_->info(bound.second).column;
    for (int l = 0; l < (columns || columns2 ? lanes_.n : 1); ++l) {
      if (lanes_.mask && !lanes_.mask[l] && (columns || columns2)) continue;
      const std::int64_t a = frame_.value[bound.first][columns ? l : 0].i;
      const std::int64_t b = frame_.value[bound.second][columns2 ? l : 0].i;
      decide(bound.decision, a < b, b < a);
    }
  }
}

bool Execution::run_for(const Node& node, const For& loop) {
  if (!evaluate(node)) return false;
  note_min_bounds(node);
  if (node.column) return run_uneven(node, loop);
  const std::int64_t lower = frame_.value[node.slots[0]]->i;
  const std::int64_t upper = frame_.value[node.slots[1]]->i;
  // The first outcome of a loop is that it does nothing.
  decide(node.decision, lower >= upper, lower < upper);
  if (lower >= upper) return true;
  switch (loop.loop) {
    case LoopKind::Vector: return run_vector(node, loop, lower, upper);
    case LoopKind::Parallel: return run_parallel(node, loop, lower, upper);
    case LoopKind::Serial:
    case LoopKind::Unrolled: break;
  }
  loops_.push_back({loop.var, lower, false});
  for (std::int64_t i = lower; i < upper; ++i) {
    loops_.back().value = i;
    frame_.value[node.var]->i = i;
    if (!run_node(node.body[0])) return false;
  }
  loops_.pop_back();
  return true;
}

bool Execution::run_vector(const Node& node, const For& loop, std::int64_t lower,
                           std::int64_t upper) {
  lanes_ = {static_cast<int>(upper - lower), nullptr, ir::kActive};
  in_vector_ = true;
  frame_.value[node.var]->i = lower;
  for (int l = 0; l < lanes_.n; ++l) frame_.value[node.var_column][l].i = lower + l;
  loops_.push_back({loop.var, lower, true});
  const bool done = run_node(node.body[0]);
  loops_.pop_back();
  in_vector_ = false;
  lanes_ = {};
  return done;
}

bool Execution::run_parallel(const Node& node, const For& loop, std::int64_t lower,
                             std::int64_t upper) {
  const StrandId outer = strands_.current();
  const std::uint32_t instance = strands_.new_instance();
  std::vector<std::int64_t> order;
  if (options_.schedule_seed != 0 && upper - lower <= (1 << 24)) {
    for (std::int64_t i = lower; i < upper; ++i) order.push_back(i);
    std::shuffle(order.begin(), order.end(), random_);
  }
  loops_.push_back({loop.var, lower, false, true});
  for (std::int64_t i = lower; i < upper; ++i) {
    const std::int64_t now = order.empty() ? i : order[static_cast<std::size_t>(i - lower)];
    loops_.back().value = now;
    frame_.value[node.var]->i = now;
    if (options_.detect_races) strands_.enter(instance, now);
    if (!run_node(node.body[0])) return false;
    strands_.leave(outer);
  }
  loops_.pop_back();
  return true;
}

bool Execution::run_masked(std::uint32_t body, const std::vector<std::uint8_t>& mask) {
  std::uint8_t any = 0;
  for (std::uint8_t m : mask) any |= m;
  if (!any) return true;
  const ir::Lanes outer = lanes_;
  lanes_ = {outer.n, mask.data(), any};
  const bool done = run_node(body);
  lanes_ = outer;
  return done;
}

bool Execution::run_uneven(const Node& node, const For& loop) {
  const auto n = static_cast<std::size_t>(lanes_.n);
  std::vector<std::int64_t> lower(n), upper(n);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (std::size_t l = 0; l < n; ++l) {
    lower[l] = frame_.value[node.slots[0]][l].i;
    upper[l] = frame_.value[node.slots[1]][l].i;
    if (lanes_.mask && !lanes_.mask[l])
      lower[l] = upper[l] = 0;
    else
      decide(node.decision, lower[l] >= upper[l], lower[l] < upper[l]);
    if (lower[l] >= upper[l]) continue;
    first = std::min(first, lower[l]);
    end = std::max(end, upper[l]);
  }
  std::vector<std::uint8_t> mask(n);
  loops_.push_back({loop.var, first, false});
  for (std::int64_t i = first; i < end; ++i) {
    for (std::size_t l = 0; l < n; ++l)
      mask[l] = lower[l] <= i && i < upper[l] ? ir::kActive : std::uint8_t{0};
    loops_.back().value = i;
    frame_.value[node.var]->i = i;
    if (!run_masked(node.body[0], mask)) return false;
  }
  loops_.pop_back();
  return true;
}

bool Execution::run_if(const Node& node) {
  if (!evaluate(node)) return false;
  const ir::Scalar* condition = frame_.value[node.slots[0]];
  if (!node.column) {
    const bool taken = condition->i != 0;
    decide(node.decision, taken, !taken);
    if (taken) return run_node(node.body[0]);
    return node.body.size() < 2 || run_node(node.body[1]);
  }
  const auto n = static_cast<std::size_t>(lanes_.n);
  std::vector<std::uint8_t> then_mask(n), else_mask(n);
  for (std::size_t l = 0; l < n; ++l) {
    if (lanes_.mask && !lanes_.mask[l]) continue;
    const bool taken = condition[l].i != 0;
    decide(node.decision, taken, !taken);
    (taken ? then_mask : else_mask)[l] = ir::kActive;
  }
  if (!run_masked(node.body[0], then_mask)) return false;
  return node.body.size() < 2 || run_masked(node.body[1], else_mask);
}

bool Execution::run_let(const Node& node) {
  if (!evaluate(node)) return false;
  std::copy_n(frame_.value[node.slots[0]], node.column ? lanes_.n : 1, frame_.value[node.var]);
  return run_node(node.body[0]);
}

bool Execution::run_alloc(const Node& node) { return allocate(node) && run_node(node.body[0]); }

bool Execution::allocate(const Node& node) {
  if (!evaluate(node)) return false;
  note_min_bounds(node);
  std::vector<std::int64_t> shape;
  std::int64_t cells = 1;
  Buffer& buffer = *buffers_[node.buffer];
  for (ir::Slot slot : node.slots) {
    const std::int64_t extent = frame_.value[slot]->i;
    shape.push_back(extent);
    if (extent >= 0 && !__builtin_mul_overflow(cells, std::max<std::int64_t>(extent, 1), &cells) &&
        cells <= kMaxCells)
      continue;
    Diagnostic out{Code::ProgramLimit,
                   place_of(program_, node.stmt),
                   "`" + std::string(buffer.name.text()) + "` cannot have these extents",
                   "give a buffer extents that are not negative, and fewer cells",
                   {}};
    out.evidence.emplace_back("extents", ir::shape_text(shape));
    return refuse(std::move(out), 0);
  }
  buffer.allocate(std::move(shape), node.in_vector || compiled_.width_ > 1, has_agents());
  return true;
}

bool Execution::run_while(const Node& node) {
  while (true) {
    if (!evaluate(node)) return false;
    const bool taken = frame_.value[node.slots[0]]->i != 0;
    decide(node.decision, taken, !taken);
    if (!taken) return true;
    if (!run_node(node.body[0])) return false;
  }
}

bool Execution::run_ring(const Node& node) {
  if (!evaluate(node)) return false;
  const std::int64_t use = frame_.value[node.slots[0]]->i;
  const std::int64_t depth = node.stmt.as<Ring>()->depth;
  frame_.value[node.var]->i = ir::floor_mod(use, depth);
  frame_.value[node.second]->i = ir::floor_div(use, depth);
  return run_node(node.body[0]);
}

bool Execution::run_atomic(const Node& node) {
  ir::Scalar old{};
  if (!update_atomically(node, &old)) return false;
  if (!node.stmt.as<Atomic>()->old.valid()) return true;
  *frame_.value[node.var] = old;
  return run_node(node.body[0]);
}

bool Execution::update_atomically(const Node& node, ir::Scalar* old) {
  atomic_node_ = &node;
  const bool done = evaluate(node);
  atomic_node_ = nullptr;
  if (!done) return false;
  cell_.resize(node.slots.size() - 2);
  for (std::size_t d = 0; d < cell_.size(); ++d) cell_[d] = frame_.value[node.slots[d + 2]]->i;
  *old = *frame_.value[node.slots[1]];
  if (!access_.write(node.buffer, cell_.data(), 0, *frame_.value[node.slots[0]]))
    return stopped(node, {nullptr, 0});
  return true;
}

bool Execution::run_store(const Node& node) {
  if (!evaluate(node)) return false;
  const std::size_t rank = node.slots.size() - 1;
  cell_.resize(rank);
  const int n = in_vector_ ? lanes_.n : 1;
  for (int l = 0; l < n; ++l) {
    if (lanes_.mask && !lanes_.mask[l]) continue;
    for (std::size_t d = 0; d < rank; ++d) cell_[d] = frame_.value[node.slots[d + 1]][l].i;
    if (!access_.write(node.buffer, cell_.data(), l, frame_.value[node.slots[0]][l]))
      return stopped(node, {nullptr, l});
    copies_ += node.stmt.as<Store>()->role == OriginRole::Copy;
  }
  return true;
}

// A cell that is not there is refused, as in an access; what is in it does not matter.
bool Execution::run_prefetch(const Node& node) {
  if (!evaluate(node)) return false;
  cell_.resize(node.slots.size());
  for (std::size_t d = 0; d < cell_.size(); ++d) cell_[d] = frame_.value[node.slots[d]][0].i;
  return access_.is_inside(node.buffer, cell_.data()) || stopped(node, {nullptr, 0});
}

bool Execution::stopped(const Node& node, const ir::Undefined& bad) {
  const bool is_access = !bad.instr || bad.instr->kind == ir::Instr::Kind::Read;
  if (is_access) return refuse(describe(node, access_.trap()), access_.trap().lane);
  Diagnostic out{Code::ProgramUndefined,
                 place_of(program_, node.stmt),
                 "`" + ir::print(bad.instr->expr) + "` has no value here",
                 "guard the statement so that it runs only where the operation is defined",
                 {}};
  return refuse(std::move(out), bad.lane);
}

Diagnostic Execution::describe(const Node& node, const Trap& trap) const {
  Diagnostic out{Code::BufferOutOfBounds, place_of(program_, node.stmt), "", "", {}};
  const std::string name(trap.buffer->name.text());
  const std::string verb = trap.writes ? "writes" : "reads";
  switch (trap.kind) {
    case Trap::Kind::None:
    case Trap::Kind::OutOfBounds:
      out.message = "a statement " + verb + " outside of `" + name + "`";
      out.remedy = "guard the access, or give the buffer more cells";
      break;
    case Trap::Kind::Uninitialised:
      out.code = Code::UninitialisedRead;
      out.message = "a statement reads a cell of `" + name + "` that nothing wrote";
      out.remedy = "store the cell before it is read; an alloc starts without values";
      break;
    case Trap::Kind::Race:
      out.code = Code::ParallelRace;
      out.message = "a statement " + verb + " a cell of `" + name +
                    "` that another iteration of a parallel loop " +
                    (trap.writes ? "reads or writes" : "writes");
      out.remedy = trap.buffer->per_byte > 1
                       ? "give each iteration whole bytes of its own, or make the loop serial"
                       : "give each iteration cells of its own, or make the loop serial";
      out.evidence.emplace_back("other iteration",
                                parallel_var(trap.fork_depth) + " = " + std::to_string(trap.other));
      break;
    case Trap::Kind::LaneConflict:
      out.code = Code::LaneConflict;
      out.message = "lanes of a vector loop write and access the same cell of `" + name +
                    "` in one statement";
      out.remedy = "give each lane a cell of its own, or make the loop serial";
      out.evidence.emplace_back("other lane",
                                trap.other < 0 ? "several" : std::to_string(trap.other));
      break;
    case Trap::Kind::AgentRace:
      out.code = Code::AgentRace;
      out.message = "a statement " + verb + " a cell of `" + name + "` that another agent " +
                    (trap.writes ? "reads or writes" : "writes") +
                    ", with nothing to order the two";
      out.remedy = "let one of the two wait for a signal of the other";
      break;
    case Trap::Kind::ReadInFlight:
      out.code = Code::ReadInFlight;
      out.message =
          "a cell of `" + name + "` is read while an asynchronous operation may still write it";
      out.remedy = "wait for the completion of the operation before the read";
      break;
    case Trap::Kind::Overwritten:
      out.code = Code::SlotOverwritten;
      out.message =
          "a cell of `" + name + "` is overwritten before those who use it are known to be done";
      out.remedy = "wait until they have said so, or use a ring with more slots";
      break;
    case Trap::Kind::MissingFence:
      out.code = Code::MissingFence;
      out.message = "a statement " + verb + " a cell of `" + name +
                    "` through another proxy than it was written, with no fence between";
      out.remedy = "put a `fence` after the write, before the signal that announces it";
      break;
    case Trap::Kind::NarrowScope:
      out.code = Code::NarrowScope;
      out.message = "a statement " + verb + " a cell of `" + name +
                    "` after the write, but by nothing that makes the write visible to it";
      out.remedy =
          "signal, wait or update at a scope that holds both agents; the completion of an "
          "operation tells of its own writes only";
      break;
  }
  std::string statement = print(node.stmt);
  if (auto end = statement.find('\n'); end != std::string::npos) statement.resize(end);
  out.evidence.emplace_back("statement", statement);
  out.evidence.emplace_back("cell", name + ir::shape_text(trap.cell));
  out.evidence.emplace_back("shape", ir::shape_text(trap.buffer->shape));
  add_parties(trap, &out);
  return out;
}

bool Execution::refuse(Diagnostic diagnostic, int lane) {
  for (const ActiveLoop& loop : loops_)
    diagnostic.evidence.emplace_back(loop.var.text(),
                                     std::to_string(loop.value + (loop.lanes ? lane : 0)));
  add_sizes(&diagnostic);
  failure_ = fail(std::move(diagnostic));
  return false;
}

void Execution::add_sizes(Diagnostic* diagnostic) const {
  for (const ir::ExtentDecl& extent : program_.extents)
    diagnostic->evidence.emplace_back(extent.name.text(),
                                      std::to_string(bindings_.at(extent.name)));
}

std::string Execution::parallel_var(std::uint32_t depth) const {
  for (const ActiveLoop& loop : loops_)
    if (loop.parallel && --depth == 0) return std::string(loop.var.text());
  return "iteration";
}

Result<InterpretResult> execute(const Program& program, Compiled& compiled,
                                const ir::Bindings& bindings, const ir::TensorMap& inputs,
                                const InterpretOptions& options) {
  if (compiled.has_agents()) return Machine(program, compiled, bindings, options).run(inputs);
  return Execution(program, compiled, bindings, options).run(inputs);
}

}  // namespace tilewright::program

// SPDX-License-Identifier: Apache-2.0
#include "lowering/validate/specification.h"

#include <limits>

#include "frontend/ir/index_math.h"
#include "frontend/ir/text.h"
#include "lowering/program/call.h"

namespace tilewright::validate {

namespace {
constexpr std::int64_t kMostCells = std::int64_t{1} << 24;
}  // namespace

void Specification::bind(Symbol parameter, std::shared_ptr<Cells> cells, std::int64_t first,
                         std::int64_t step) {
  const program::Parameter& declared = *program_.find_parameter(parameter);
  Buffer buffer;
  buffer.type = declared.type;
  for (const ir::Expr extent : declared.shape)
    buffer.shape.push_back(ir::evaluate_extents(extent, sizes_));
  buffer.copies = {std::move(cells)};
  buffer.first = first;
  buffer.step = step;
  buffers_[parameter] = std::move(buffer);
}

bool Specification::fail(std::string reason) {
  if (stop.reason.empty()) stop.reason = std::move(reason);
  return false;
}

bool Specification::known(const std::optional<Datum>& datum, const char* what, std::int64_t* out) {
  if (!datum) return false;
  if (datum->is_bits()) {
    *out = static_cast<std::int64_t>(datum->bits);
    return true;
  }
  if (datum->is_term()) stop.data = datum->id;
  return fail(std::string(what) + " of the program " +
              (datum->is_term() ? "depends on the values of inputs" : "has no value"));
}

bool Specification::run() { return run(program_.body, {0}); }

bool Specification::run(program::Stmt stmt, const Lanes& lanes) {
  if (lanes.empty() || !stmt) return true;
  steps += static_cast<std::int64_t>(lanes.size());
  if (steps > step_limit)
    return fail("more than " + std::to_string(step_limit) + " steps of the program");
  return program::visit(
      stmt, ir::Overloaded{
                [&](const program::Block& s) {
                  for (const program::Stmt child : s.body)
                    if (!run(child, lanes)) return false;
                  return true;
                },
                [&](const program::For& s) { return loop(s, lanes); },
                [&](const program::If& s) { return branch(s, lanes); },
                [&](const program::Let& s) {
                  std::vector<Datum> values(static_cast<std::size_t>(width_));
                  for (const int lane : lanes) {
                    const auto value = evaluate(s.value, lane);
                    if (!value) return false;
                    values[static_cast<std::size_t>(lane)] = *value;
                  }
                  values_[s.var] = std::move(values);
                  return run(s.body, lanes);
                },
                [&](const program::Alloc& s) { return allocate(s, lanes) && run(s.body, lanes); },
                [&](const program::Store& s) { return store(s, lanes); },
                [&](const program::Call& s) { return call(s); },
                [&](const program::Prefetch&) { return true; },
                [&](const auto&) { return fail("a statement beyond the host part"); },
            });
}

bool Specification::loop(const program::For& loop, const Lanes& lanes) {
  std::vector<std::int64_t> lower(lanes.size()), upper(lanes.size());
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    if (!known(evaluate(loop.lower, lanes[l]), "a bound", &lower[l]) ||
        !known(evaluate(loop.upper, lanes[l]), "a bound", &upper[l]))
      return false;
    if (lower[l] >= upper[l]) continue;
    first = std::min(first, lower[l]);
    end = std::max(end, upper[l]);
  }
  if (loop.loop == program::LoopKind::Vector && width_ == 1 && end - first > 1) {
    width_ = static_cast<int>(end - first);
    Lanes all;
    std::vector<Datum> values;
    for (int l = 0; l < width_; ++l) {
      all.push_back(l);
      values.push_back(Datum::number(static_cast<std::uint64_t>(first + l)));
    }
    values_[loop.var] = std::move(values);
    const bool ok = run(loop.body, all);
    width_ = 1;
    return ok;
  }
  for (std::int64_t i = first; i < end; ++i) {
    Lanes on;
    for (std::size_t l = 0; l < lanes.size(); ++l)
      if (lower[l] <= i && i < upper[l]) on.push_back(lanes[l]);
    values_[loop.var] = {Datum::number(static_cast<std::uint64_t>(i))};
    if (!run(loop.body, on)) return false;
  }
  return true;
}

bool Specification::branch(const program::If& branch, const Lanes& lanes) {
  Lanes taken, other;
  for (const int lane : lanes) {
    std::int64_t holds = 0;
    if (!known(evaluate(branch.condition, lane), "a condition", &holds)) return false;
    (holds != 0 ? taken : other).push_back(lane);
  }
  return run(branch.then_body, taken) && run(branch.else_body, other);
}

bool Specification::allocate(const program::Alloc& alloc, const Lanes& lanes) {
  Buffer buffer;
  buffer.type = alloc.type;
  std::int64_t cells = 1;
  for (const ir::Expr extent : alloc.extents) {
    std::int64_t length = 0;
    if (!known(evaluate(extent, lanes[0]), "an extent", &length)) return false;
    if (length < 0 || __builtin_mul_overflow(cells, length, &cells) || cells > kMostCells)
      return fail("a buffer of the program is too large");
    buffer.shape.push_back(length);
  }
  for (int l = 0; l < width_; ++l)
    buffer.copies.push_back(std::make_shared<Cells>(static_cast<std::size_t>(cells)));
  buffers_[alloc.buffer] = std::move(buffer);
  return true;
}

Datum* Specification::cell_at(Buffer& buffer, Symbol name, std::span<const std::int64_t> indices,
                              int lane) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (indices[d] < 0 || indices[d] >= buffer.shape[d]) {
      fail("the program goes outside of `" + std::string(name.text()) + "`");
      return nullptr;
    }
    at = at * buffer.shape[d] + indices[d];
  }
  Cells& cells = *buffer.copies[buffer.copies.size() == 1 ? 0 : static_cast<std::size_t>(lane)];
  return &cells[static_cast<std::size_t>(buffer.first + at * buffer.step)];
}

Datum* Specification::cell(Symbol name, std::span<const ir::Expr> indices, int lane) {
  const auto found = buffers_.find(name);
  if (found == buffers_.end()) {
    fail("`" + std::string(name.text()) + "` is not in scope");
    return nullptr;
  }
  std::vector<std::int64_t> at(indices.size());
  for (std::size_t d = 0; d < indices.size(); ++d)
    if (!known(evaluate(indices[d], lane), "an index", &at[d])) return nullptr;
  return cell_at(found->second, name, at, lane);
}

// All lanes compute before one stores.
bool Specification::store(const program::Store& store, const Lanes& lanes) {
  std::vector<std::pair<Datum*, Datum>> writes;
  for (const int lane : lanes) {
    const auto value = evaluate(store.value, lane);
    if (!value) return false;
    Datum* const to = cell(store.buffer, store.indices, lane);
    if (to == nullptr) return false;
    const auto stored = operations_.store(buffers_.at(store.buffer).type, *value);
    if (!stored) return fail("a value of a type that has no form here");
    writes.emplace_back(to, *stored);
  }
  for (const auto& [to, value] : writes) *to = value;
  return true;
}

std::optional<Datum> Specification::evaluate(ir::Expr expr, int lane) {
  ++steps;
  switch (expr.kind()) {
    case ir::ExprKind::IntConst:
    case ir::ExprKind::FloatConst:
    case ir::ExprKind::BoolConst: return operations_.constant(expr.type(), *expr.node());
    case ir::ExprKind::Extent:
      return Datum::number(static_cast<std::uint64_t>(sizes_.at(expr.as<ir::Extent>()->name)));
    case ir::ExprKind::Var: {
      const auto found = values_.find(expr.as<ir::Var>()->name);
      if (found == values_.end()) {
        fail("a name of the program that is not bound");
        return std::nullopt;
      }
      return found->second[found->second.size() == 1 ? 0 : static_cast<std::size_t>(lane)];
    }
    case ir::ExprKind::Read: {
      const auto& read = *expr.as<ir::Read>();
      const Datum* from = cell(read.tensor, read.indices, lane);
      if (from == nullptr) return std::nullopt;
      if (from->is_poison()) {
        fail("the program reads a cell of `" + std::string(read.tensor.text()) +
             "` that nothing wrote");
        return std::nullopt;
      }
      return operations_.load(read.type, *from);
    }
    case ir::ExprKind::Op: return operation(*expr.as<ir::Op>(), lane);
    case ir::ExprKind::Select: return choose(*expr.as<ir::Select>(), lane);
    default: break;
  }
  std::optional<Datum> out;
  if (const auto* cast = expr.as<ir::Cast>()) {
    const auto value = evaluate(cast->value, lane);
    if (!value) return value;
    if (cast->type == ir::ScalarType::Bool) {
      const ir::ScalarType from = cast->value.type();
      const Datum zero = Datum::number(0);
      const Datum pair[] = {*value, zero};
      return operations_.op(ir::OpCode::Ne, from, pair);
    }
    out = operations_.cast(cast->value.type(), cast->type, *value);
  } else if (const auto* saturate = expr.as<ir::Saturate>()) {
    const auto value = evaluate(saturate->value, lane);
    if (!value) return value;
    out = operations_.saturate(saturate->value.type(), saturate->type, *value);
  } else if (const auto* round = expr.as<ir::RoundTo>()) {
    const auto value = evaluate(round->value, lane);
    if (!value) return value;
    out = operations_.round_to(round->type, round->grid, *value);
  }
  if (!out) fail("`" + ir::print(expr) + "` has no form here");
  return out;
}

std::optional<Datum> Specification::operation(const ir::Op& op, int lane) {
  Datum args[3];
  std::size_t count = 0;
  for (const ir::Expr arg : op.args) {
    const auto value = evaluate(arg, lane);
    if (!value) return value;
    args[count++] = *value;
  }
  auto out = operations_.op(op.op, op.args[0].type(), std::span<const Datum>(args, count));
  if (!out) fail("`" + ir::print(ir::Expr(&op)) + "` has no form here");
  return out;
}

std::optional<Datum> Specification::choose(const ir::Select& select, int lane) {
  const auto condition = evaluate(select.condition, lane);
  if (!condition) return condition;
  if (condition->is_bits())
    return evaluate(condition->bits != 0 ? select.then_value : select.else_value, lane);
  const auto a = evaluate(select.then_value, lane);
  const auto b = a ? evaluate(select.else_value, lane) : std::nullopt;
  if (!a || !b) {
    // An arm that has no value where it is not chosen: the condition must be known.
    if (stop.data == 0 && condition->is_term()) stop.data = condition->id;
    return std::nullopt;
  }
  return operations_.select(value_sort(select.type), *condition, *a, *b);
}

bool Specification::tile_cells(const program::TileNode& tile, std::vector<Datum*>* cells,
                               ir::ScalarType* type) {
  const auto found = buffers_.find(tile.buffer);
  if (found == buffers_.end()) return fail("a tile of a buffer that is not in scope");
  *type = found->second.type;
  std::vector<std::int64_t> base(tile.indices.size());
  for (std::size_t d = 0; d < base.size(); ++d)
    if (!known(evaluate(tile.indices[d], 0), "an index", &base[d])) return false;
  std::vector<std::int64_t> lengths(tile.lengths.size());
  std::int64_t count = 1;
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    if (!known(evaluate(tile.lengths[d], 0), "a length", &lengths[d])) return false;
    count *= lengths[d];
  }
  std::vector<std::int64_t> at(lengths.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<std::int64_t> index = base;
    for (std::size_t d = 0; d < at.size(); ++d)
      index[static_cast<std::size_t>(tile.sliced[d])] += at[d];
    Datum* const one = cell_at(found->second, tile.buffer, index, 0);
    if (one == nullptr) return false;
    cells->push_back(one);
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < lengths[d]) break;
      at[d] = 0;
    }
  }
  return true;
}

bool Specification::call(const program::Call& call) {
  auto [it, fresh] = meanings_.try_emplace(call.callee);
  if (fresh) {
    const program::Intrinsic* intrinsic = program_.find_intrinsic(call.callee);
    if (intrinsic) it->second = program::description_of(context_, *intrinsic);
  }
  if (!it->second)
    return fail("a call of `" + std::string(call.callee.text()) + "`, which is not described");
  const machine::Meaning& meaning = *it->second;
  std::vector<std::vector<Datum*>> operands(meaning.operands.size());
  std::vector<Datum*> result;
  ir::ScalarType type = ir::ScalarType::F32;
  for (const program::Tile tile : call.operands) {
    for (std::size_t o = 0; o < operands.size(); ++o)
      if (meaning.operands[o].name == tile->operand && !tile_cells(*tile, &operands[o], &type))
        return false;
    if (meaning.result.name == tile->operand && !tile_cells(*tile, &result, &type)) return false;
  }
  bool fits = true;
  const auto out = execute_described(do_, meaning, [&](std::size_t operand, std::int64_t cell) {
    const auto& cells = operands[operand];
    if (static_cast<std::size_t>(cell) >= cells.size()) {
      fits = false;
      return Datum{};
    }
    return *cells[static_cast<std::size_t>(cell)];
  });
  if (!fits || out.size() != result.size()) return fail("tiles that do not fit the instruction");
  for (std::size_t i = 0; i < out.size(); ++i) *result[i] = out[i];
  return true;
}

}  // namespace tilewright::validate

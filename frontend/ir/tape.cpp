// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/tape.h"

#include <algorithm>

#include "frontend/ir/evaluate.h"
#include "frontend/ir/walk.h"

namespace tilewright::ir {

TapeBuilder::TapeBuilder(const TapeScope& scope, int num_levels, bool reals, bool intervals)
    : scope_(scope), reals_(reals), intervals_(intervals) {
  for (int level = 0; level < num_levels; ++level) new_block();
  frames_.emplace_back();
}

ScalarType TapeBuilder::in_reading(ScalarType type) const {
  return reals_ && is_float(type) ? ScalarType::F64 : type;
}

Slot TapeBuilder::new_slot(SlotInfo info) {
  tape_.slots.push_back(info);
  return static_cast<Slot>(tape_.slots.size() - 1);
}

BlockId TapeBuilder::new_block() {
  tape_.blocks.emplace_back();
  return static_cast<BlockId>(tape_.blocks.size() - 1);
}

Slot TapeBuilder::add_var(Symbol name, int level, bool floating, bool certain) {
  SlotInfo info;
  info.level = level;
  info.certain = certain || !intervals_;
  info.floating = floating;
  Variable variable;
  variable.scalar = new_slot(info);
  variable.level = level;
  bind(name, variable);
  return variable.scalar;
}

TapeBuilder::LaneSlots TapeBuilder::add_lane_var(Symbol name, int level) {
  SlotInfo info;
  info.level = level;
  Variable variable;
  variable.scalar = new_slot(info);
  info.column = true;
  variable.column = new_slot(info);
  variable.is_lane = variable.has_column = true;
  variable.level = level;
  bind(name, variable);
  return {variable.scalar, variable.column};
}

Slot TapeBuilder::add_column_var(Symbol name, int level, bool floating) {
  SlotInfo info;
  info.level = level;
  info.column = true;
  info.floating = floating;
  Variable variable;
  variable.column = new_slot(info);
  variable.has_column = true;
  variable.level = level;
  bind(name, variable);
  return variable.column;
}

void TapeBuilder::bind(Symbol name, const Variable& variable) {
  // What was derived from an earlier meaning of the name no longer holds.
  if (!vars_.insert_or_assign(name, variable).second) facts_.clear();
}

BlockId TapeBuilder::begin_flat() {
  Frame frame;
  frame.block = new_block();
  frame.flat = true;
  frames_.push_back(std::move(frame));
  return frames_.back().block;
}

void TapeBuilder::end_flat() { frames_.pop_back(); }

const TapeBuilder::Facts& TapeBuilder::facts(Expr expr) {
  if (auto it = facts_.find(expr.index()); it != facts_.end()) return it->second;
  Facts out;
  if (const auto* var = expr.as<Var>()) {
    if (auto it = vars_.find(var->name); it != vars_.end()) {
      out.level = it->second.level;
      out.lanes = it->second.has_column;
    }
  }
  for_each_child(expr, [&](Expr child) {
    const Facts& inner = facts(child);
    out.level = std::max(out.level, inner.level);
    out.lanes |= inner.lanes;
  });
  return facts_[expr.index()] = out;
}

std::optional<std::int64_t> TapeBuilder::constant_index(Expr expr) {
  if (const auto* known = expr.as<IntConst>()) return known->value;
  if (const auto* extent = expr.as<Extent>()) return scope_.extent(extent->name);
  return std::nullopt;
}

// How much an index grows from lane to lane, where that is a constant.
std::optional<std::int64_t> TapeBuilder::step(Expr expr) {
  if (!facts(expr).lanes) return 0;
  if (const auto* var = expr.as<Var>())
    return vars_.at(var->name).is_lane ? std::optional<std::int64_t>(1) : std::nullopt;
  const auto* op = expr.as<Op>();
  if (!op || expr.type() != ScalarType::Index) return std::nullopt;
  std::int64_t out = 0;
  if (op->op == OpCode::Neg) {
    auto inner = step(op->args[0]);
    if (!inner || __builtin_sub_overflow(std::int64_t{0}, *inner, &out)) return std::nullopt;
    return out;
  }
  if (op->op == OpCode::Mul) {
    auto factor = constant_index(op->args[0]);
    auto inner = factor ? step(op->args[1]) : step(op->args[0]);
    if (!factor) factor = constant_index(op->args[1]);
    if (!inner || !factor || __builtin_mul_overflow(*factor, *inner, &out)) return std::nullopt;
    return out;
  }
  if (op->op != OpCode::Add && op->op != OpCode::Sub) return std::nullopt;
  auto a = step(op->args[0]);
  auto b = step(op->args[1]);
  if (!a || !b) return std::nullopt;
  const bool overflow = op->op == OpCode::Add ? __builtin_add_overflow(*a, *b, &out)
                                              : __builtin_sub_overflow(*a, *b, &out);
  return overflow ? std::nullopt : std::optional<std::int64_t>(out);
}

void TapeBuilder::refuse(Expr, std::string message) {
  if (!failure_)
    failure_ =
        fail(Code::Malformed, {}, std::move(message), "run the verifier; it says what is missing");
}

Result<Slot> TapeBuilder::compile(Expr expr) {
  const Slot slot = compile(expr, false);
  if (failure_) return *failure_;
  return slot;
}

Slot TapeBuilder::constant(Scalar value, bool floating) {
  SlotInfo info;
  info.constant = true;
  info.value = value;
  info.floating = floating;
  info.certain = !floating;
  return new_slot(info);
}

Slot TapeBuilder::compile(Expr expr, bool first_lane) {
  first_lane = first_lane && facts(expr).lanes;
  const std::uint64_t key =
      (static_cast<std::uint64_t>(expr.index()) << 1) | (first_lane ? 1U : 0U);
  for (std::size_t i = frames_.size(); i-- > 0;) {
    if (auto it = frames_[i].done.find(key); it != frames_[i].done.end()) return it->second;
    if (frames_[i].flat) break;
  }
  const Slot slot = compile_new(expr, first_lane);
  const bool local = tape_.slots[slot].in_arm;
  (local ? frames_.back() : frames_.front()).done.emplace(key, slot);
  return slot;
}

Slot TapeBuilder::compile_new(Expr expr, bool first_lane) {
  return visit(
      expr,
      Overloaded{
          [&](const IntConst&) { return constant(constant_value(expr), false); },
          [&](const BoolConst&) { return constant(constant_value(expr), false); },
          [&](const FloatConst&) { return constant(constant_value(expr), true); },
          [&](const Var& var) {
            auto it = vars_.find(var.name);
            if (it == vars_.end()) {
              refuse(expr, "the variable `" + std::string(var.name.text()) + "` is not bound");
              return constant({0.0}, is_float(expr.type()));
            }
            const Variable& variable = it->second;
            return variable.has_column && !first_lane ? variable.column : variable.scalar;
          },
          [&](const Extent& extent) {
            auto value = scope_.extent(extent.name);
            if (!value)
              refuse(expr, "the extent `" + std::string(extent.name.text()) + "` is not declared");
            Scalar known;
            known.i = value.value_or(0);
            return constant(known, false);
          },
          [&](const Read& read) { return compile_read(read, first_lane); },
          [&](const Op& op) {
            const ScalarType type = op.args[0].type();
            // Only what cannot be undefined may leave its arm.
            const TypeRule rule = op_info(op.op).rule;
            const bool total = is_float(type) || is_comparison(op.op) || rule == TypeRule::Logic ||
                               rule == TypeRule::Bits || rule == TypeRule::Random;
            return compile_compute(expr, op.args, op_kernel(op.op, in_reading(type)), total,
                                   first_lane);
          },
          [&](const Select& select) { return compile_select(select, first_lane); },
          [&](const Cast& cast) {
            const ScalarType from = in_reading(cast.value.type());
            const ScalarType to = in_reading(expr.type());
            return compile_compute(expr, {&cast.value, 1}, cast_kernel(from, to),
                                   cast_is_total(from, to), first_lane);
          },
          [&](const Saturate& saturate) {
            const ScalarType from = saturate.value.type();
            const Kernel kernel =
                reals_ ? limit_kernel(from, expr.type()) : saturate_kernel(from, expr.type());
            return compile_compute(expr, {&saturate.value, 1}, kernel, true, first_lane);
          },
          [&](const RoundTo& round) {
            return compile_compute(expr, {&round.value, 1},
                                   round_kernel(in_reading(expr.type()), round.grid), true,
                                   first_lane);
          },
          [&](const Fold&) {
            refuse(expr, "a fold stands inside of an expression");
            return constant({0.0}, is_float(expr.type()));
          },
      });
}

Slot TapeBuilder::emit(Instr instr, Expr expr, bool total, bool first_lane, bool uncertain) {
  Frame& frame = frames_.back();
  const Facts& fact = facts(expr);
  const int num_args = instr.kind == Instr::Kind::Compute ? 3 : 0;
  bool in_arm = frames_.size() > 1 && (!total || frame.flat);
  for (std::size_t i = 1; i < frames_.size(); ++i) in_arm |= frames_[i].flat;
  for (int i = 0; i < num_args; ++i)
    if (frames_.size() > 1) in_arm |= tape_.slots[instr.args[i]].in_arm;
  SlotInfo info;
  info.column = fact.lanes && !first_lane;
  info.floating = is_float(expr.type());
  info.type = expr.type();
  info.certain = !info.floating && !(uncertain && intervals_);
  info.in_arm = in_arm;
  info.level = fact.level;
  instr.column = info.column;
  instr.certain = info.certain || !intervals_;
  instr.expr = expr;
  instr.dst = new_slot(info);
  const BlockId block = in_arm ? frame.block : static_cast<BlockId>(fact.level);
  tape_.blocks[block].push_back(instr);
  return instr.dst;
}

Slot TapeBuilder::compile_compute(Expr expr, std::span<const Expr> args, Kernel kernel, bool total,
                                  bool first_lane) {
  Instr instr;
  instr.kernel = kernel;
  if (!kernel || args.size() > 3) {
    refuse(expr, "an operation does not accept its operand type");
    return constant({0.0}, is_float(expr.type()));
  }
  bool columns = facts(expr).lanes && !first_lane;
  bool uncertain = false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Slot slot = compile(args[i], first_lane);
    instr.args[i] = columns ? as_column(slot) : slot;
    uncertain |= !tape_.slots[slot].certain;
  }
  // Unused operands must still point somewhere.
  for (std::size_t i = args.size(); i < 3; ++i) instr.args[i] = instr.args[0];
  return emit(instr, expr, total, first_lane, uncertain);
}

Slot TapeBuilder::as_column(Slot slot) {
  const SlotInfo from = tape_.slots[slot];
  if (from.column) return slot;
  SlotInfo info = from;
  info.column = true;
  const bool flat =
      std::any_of(frames_.begin(), frames_.end(), [](const Frame& f) { return f.flat; });
  // A slot of the levels is broadcast there once; one of an arm, inside of that arm.
  const bool local = flat || from.in_arm;
  Frame& frame = local && !from.constant ? frames_.back() : frames_.front();
  if (auto it = frame.broadcasts.find(slot); it != frame.broadcasts.end()) return it->second;
  info.in_arm = local && !from.constant;
  const Slot out = new_slot(info);
  frame.broadcasts.emplace(slot, out);
  if (from.constant) return out;
  Instr instr;
  instr.kind = Instr::Kind::Broadcast;
  instr.column = true;
  instr.certain = from.certain || !intervals_;
  instr.dst = out;
  instr.args[0] = slot;
  tape_.blocks[local ? frame.block : static_cast<BlockId>(from.level)].push_back(instr);
  return out;
}

Slot TapeBuilder::compile_select(const Select& select, bool first_lane) {
  const Expr expr(&select);
  const bool columns = facts(expr).lanes && !first_lane;
  SelectSite site;
  Instr instr;
  instr.kind = Instr::Kind::Select;
  instr.args[0] = compile(select.condition, first_lane);
  bool uncertain = !tape_.slots[instr.args[0]].certain;
  auto arm = [&](Expr value, BlockId* block) {
    Frame frame;
    frame.block = *block = new_block();
    frames_.push_back(std::move(frame));
    Slot slot = compile(value, first_lane);
    uncertain |= !tape_.slots[slot].certain;
    if (columns) slot = as_column(slot);
    frames_.pop_back();
    return slot;
  };
  site.then_slot = arm(select.then_value, &site.then_block);
  site.else_slot = arm(select.else_value, &site.else_block);
  instr.site = static_cast<std::uint32_t>(tape_.selects.size());
  tape_.selects.push_back(site);
  return emit(instr, expr, false, first_lane, uncertain);
}

Slot TapeBuilder::compile_read(const Read& read, bool first_lane) {
  const Expr expr(&read);
  auto tensor = scope_.tensor(read.tensor);
  if (!tensor) {
    refuse(expr,
           "the tensor `" + std::string(read.tensor.text()) + "` is not declared before its use");
    return constant({0.0}, is_float(expr.type()));
  }
  const bool columns = facts(expr).lanes && !first_lane;
  ReadSite site;
  site.tensor = *tensor;
  for (Expr index : read.indices) site.affine &= !columns || step(index).has_value();
  for (Expr index : read.indices) {
    ReadSite::Part part;
    part.slot = compile(index, first_lane || site.affine);
    if (columns && site.affine) part.step = *step(index);
    if (columns && !site.affine) part.slot = as_column(part.slot);
    site.certain_index &= tape_.slots[part.slot].certain;
    site.parts.push_back(part);
  }
  Instr instr;
  instr.kind = Instr::Kind::Read;
  instr.site = static_cast<std::uint32_t>(tape_.reads.size());
  const bool uncertain = !site.certain_index || !scope_.certain(*tensor);
  tape_.reads.push_back(std::move(site));
  return emit(instr, expr, false, first_lane, uncertain);
}

}  // namespace tilewright::ir

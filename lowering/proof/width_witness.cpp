// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/width_witness.h"

#include <algorithm>

namespace tilewright::proof {

namespace {
constexpr int kMostSteps = 4096;  // of one search at one choice of sizes
constexpr std::size_t kMostCandidates = 400;
}  // namespace

WidthWitness::WidthWitness(const program::Program& program, const SizeLimits& limits)
    : program_(program), limits_(limits) {}

// With the other sizes as they are; multiples of what is declared.
WideIndex WidthWitness::greatest(const IndexValues& sizes, Symbol extent) const {
  const SizeLimits::Range& range = limits_.of(extent);
  IndexValues with = sizes;
  WideIndex low = (range.low + range.multiple_of - 1) / range.multiple_of;
  WideIndex high = range.high / range.multiple_of;
  while (low < high) {
    const WideIndex middle = low + (high - low + 1) / 2;
    with[extent] = middle * range.multiple_of;
    if (limits_.fits(with))
      low = middle;
    else
      high = middle - 1;
  }
  return low * range.multiple_of;
}

// Everything small but one extent, two, or all of them, each as large as the others let it be.
void WidthWitness::add_candidates() {
  has_candidates_ = true;
  std::vector<Symbol> extents;
  IndexValues small;
  for (const ir::ExtentDecl& extent : program_.extents) {
    const SizeLimits::Range& range = limits_.of(extent.name);
    extents.push_back(extent.name);
    const WideIndex least = std::max<WideIndex>(range.low, 1);
    small[extent.name] = (least + range.multiple_of - 1) / range.multiple_of * range.multiple_of;
  }
  const auto add = [&](const IndexValues& sizes) {
    if (candidates_.size() < kMostCandidates && limits_.allows(sizes)) candidates_.push_back(sizes);
  };
  const auto grow = [&](IndexValues sizes, std::initializer_list<Symbol> order) {
    for (Symbol extent : order) sizes[extent] = greatest(sizes, extent);
    add(sizes);
  };
  add(small);
  for (Symbol one : extents) grow(small, {one});
  for (Symbol one : extents)
    for (Symbol two : extents) {
      if (one == two) continue;
      grow(small, {one, two});
      for (int bits = 8; bits < 60; bits += 12) {
        IndexValues sizes = small;
        const SizeLimits::Range& range = limits_.of(one);
        const WideIndex wanted = std::min(WideIndex{1} << bits, range.high);
        sizes[one] = std::max(sizes[one], wanted / range.multiple_of * range.multiple_of);
        if (limits_.fits(sizes)) grow(sizes, {two});
        sizes[two] = sizes[one];
        add(sizes);
      }
    }
  IndexValues all = small;
  for (Symbol extent : extents) all[extent] = greatest(all, extent);
  add(all);
}

std::string WidthWitness::find(const std::vector<PathStep>& path, ir::Expr operation) {
  if (!has_candidates_) add_candidates();
  for (const IndexValues& sizes : candidates_) {
    names_ = sizes;
    budget_ = kMostSteps;
    if (!follow(path, 0, operation)) continue;
    std::string text;
    const auto name = [&](Symbol symbol) {
      text += (text.empty() ? "" : ", ") + std::string(symbol.text()) + " = " +
              index_text(names_.at(symbol));
    };
    for (const ir::ExtentDecl& extent : program_.extents) name(extent.name);
    for (const PathStep& step : path)
      if (step.kind == PathStep::Kind::Loop) name(step.var);
    return text + ": " + index_text(value_);
  }
  return {};
}

bool WidthWitness::follow(const std::vector<PathStep>& path, std::size_t step, ir::Expr operation) {
  if (--budget_ < 0) return false;
  if (step == path.size()) return leaves(operation);
  const PathStep& one = path[step];
  const auto a = exact_value(one.a, names_);
  if (one.kind == PathStep::Kind::Value) {
    // A value that cannot be had may not matter.
    names_.erase(one.var);
    if (a) names_[one.var] = *a;
    return follow(path, step + 1, operation);
  }
  if (!a) return false;
  if (one.kind != PathStep::Kind::Loop)
    return (*a != 0) == (one.kind == PathStep::Kind::Holds) && follow(path, step + 1, operation);
  const auto b = exact_value(one.b, names_);
  if (!b || *a >= *b) return false;
  for (const WideIndex value : {*b - 1, *a}) {
    names_[one.var] = value;
    if (follow(path, step + 1, operation)) return true;
    if (*b - *a == 1) break;
  }
  return false;
}

// The operands fit, since they are operations of their own; the result does not.
bool WidthWitness::leaves(ir::Expr operation) {
  const auto* op = operation.as<ir::Op>();
  if (op == nullptr || exact_value(operation, names_)) return false;
  std::vector<WideIndex> args;
  for (ir::Expr arg : op->args) {
    const auto value = exact_value(arg, names_);
    if (!value) return false;
    args.push_back(*value);
  }
  switch (op->op) {
    case ir::OpCode::Add: value_ = args[0] + args[1]; return true;
    case ir::OpCode::Sub: value_ = args[0] - args[1]; return true;
    case ir::OpCode::Mul: value_ = args[0] * args[1]; return true;
    case ir::OpCode::Fma: value_ = args[0] * args[1] + args[2]; return true;
    case ir::OpCode::Neg: value_ = -args[0]; return true;
    default: return false;
  }
}

}  // namespace tilewright::proof

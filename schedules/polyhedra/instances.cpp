// SPDX-License-Identifier: Apache-2.0
#include "schedules/polyhedra/instances.h"

#include <algorithm>

#include "frontend/ir/walk.h"
#include "schedules/polyhedra/domain.h"

namespace tilewright::poly {

namespace {

// Sizes, points and reads looked at before a search gives up: a refusal may take milliseconds, not more.
constexpr int kMaxSizes = 4096;
constexpr int kMaxPoints = 4096;
constexpr int kMaxReads = 4096;
constexpr std::int64_t kMaxSteps = 6;  // above the smallest value of each extent, taken together

std::optional<std::int64_t> apply(ir::OpCode op, std::int64_t a, std::int64_t b) {
  std::int64_t exact = 0;
  switch (op) {
    case ir::OpCode::Add:
      return __builtin_add_overflow(a, b, &exact) ? std::nullopt : std::optional(exact);
    case ir::OpCode::Sub:
      return __builtin_sub_overflow(a, b, &exact) ? std::nullopt : std::optional(exact);
    case ir::OpCode::Mul:
      return __builtin_mul_overflow(a, b, &exact) ? std::nullopt : std::optional(exact);
    case ir::OpCode::Div: return b > 0 ? std::optional(floor_div(a, b)) : std::nullopt;
    case ir::OpCode::Mod: return b > 0 ? std::optional(modulo(a, b)) : std::nullopt;
    case ir::OpCode::Min: return std::min(a, b);
    case ir::OpCode::Max: return std::max(a, b);
    case ir::OpCode::Eq: return a == b;
    case ir::OpCode::Ne: return a != b;
    case ir::OpCode::Lt: return a < b;
    case ir::OpCode::Le: return a <= b;
    case ir::OpCode::Gt: return a > b;
    case ir::OpCode::Ge: return a >= b;
    case ir::OpCode::And: return a != 0 && b != 0;
    case ir::OpCode::Or: return a != 0 || b != 0;
    default: return std::nullopt;
  }
}

// The nearest value at or above `value` that the declaration allows.
std::optional<std::int64_t> fit(const ir::ExtentDecl& extent, std::int64_t value) {
  const std::int64_t step = std::max<std::int64_t>(extent.multiple_of, 1);
  value = std::max(value, extent.min);
  if (value > INT64_MAX - step) return std::nullopt;
  value = ceil_div(AffineExpr(value), step).constant() * step;
  if (extent.max && value > *extent.max) return std::nullopt;
  return value;
}

}  // namespace

Evidence with(Evidence evidence, const Evidence& more) {
  evidence.insert(evidence.end(), more.begin(), more.end());
  return evidence;
}

std::optional<std::int64_t> evaluate_index(ir::Expr expr, const Values& values) {
  auto value_of = [&](Symbol name) -> std::optional<std::int64_t> {
    const auto it = values.find(name);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  };
  if (const auto* known = expr.as<ir::IntConst>()) return known->value;
  if (const auto* known = expr.as<ir::BoolConst>()) return known->value;
  if (const auto* extent = expr.as<ir::Extent>()) return value_of(extent->name);
  if (const auto* var = expr.as<ir::Var>()) return value_of(var->name);
  if (const auto* choice = expr.as<ir::Select>()) {
    const auto condition = evaluate_index(choice->condition, values);
    if (!condition) return std::nullopt;
    return evaluate_index(*condition ? choice->then_value : choice->else_value, values);
  }
  const auto* op = expr.as<ir::Op>();
  if (!op || op->args.size() > 2) return std::nullopt;
  // Only what is counted: an operand of another type belongs to the data.
  for (ir::Expr arg : op->args)
    if (arg.type() != ir::ScalarType::Index && arg.type() != ir::ScalarType::Bool)
      return std::nullopt;
  const auto a = evaluate_index(op->args[0], values);
  if (!a) return std::nullopt;
  if (op->args.size() == 1) {
    if (op->op == ir::OpCode::Neg) return apply(ir::OpCode::Sub, 0, *a);
    if (op->op == ir::OpCode::Not) return *a == 0;
    return std::nullopt;
  }
  const auto b = evaluate_index(op->args[1], values);
  return b ? apply(op->op, *a, *b) : std::nullopt;
}

AllowedSizes::AllowedSizes(const ir::Algorithm& algorithm, const std::vector<ir::Expr>& guards)
    : algorithm_(algorithm), conditions_(algorithm.requirements) {
  conditions_.insert(conditions_.end(), guards.begin(), guards.end());
  ir::Algorithm guarded;
  guarded.extents = algorithm.extents;
  guarded.requirements = conditions_;
  Context context;
  const auto point = smallest_point(context, assumptions(guarded).sizes);
  if (!point.ok() || !*point) return;
  Values sizes;
  for (const ir::ExtentDecl& extent : algorithm.extents)
    sizes[extent.name] = (*point)->value(extent.name.text()).value_or(extent.min);
  smallest_ = std::move(sizes);
}

std::optional<std::size_t> first_contradiction(const ir::Algorithm& algorithm,
                                               const std::vector<ir::Expr>& conditions) {
  ir::Algorithm guarded;
  guarded.extents = algorithm.extents;
  guarded.requirements = algorithm.requirements;
  Context context;
  const auto none = is_empty(context, assumptions(guarded).sizes);
  if (!none.ok() || *none) return std::nullopt;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    guarded.requirements.push_back(conditions[i]);
    const auto empty = is_empty(context, assumptions(guarded).sizes);
    if (empty.ok() && *empty) return i;
  }
  return std::nullopt;
}

bool AllowedSizes::allowed(const Values& sizes) const {
  for (const ir::ExtentDecl& extent : algorithm_.extents) {
    const auto fitting = fit(extent, sizes.at(extent.name));
    if (!fitting || *fitting != sizes.at(extent.name)) return false;
  }
  return std::all_of(conditions_.begin(), conditions_.end(), [&](ir::Expr condition) {
    return evaluate_index(condition, sizes).value_or(0) != 0;
  });
}

std::optional<Values> AllowedSizes::find(const std::function<bool(const Values&)>& accepts) const {
  if (!smallest_) return std::nullopt;
  const auto& extents = algorithm_.extents;
  int tries = 0;
  std::optional<Values> found;
  Values sizes = *smallest_;
  auto attempt = [&] {
    ++tries;
    if (allowed(sizes) && accepts(sizes)) found = sizes;
    return found || tries >= kMaxSizes;
  };
  // All ways to take `left` steps with the extents from `at` on.
  const std::function<bool(std::size_t, std::int64_t)> spread = [&](std::size_t at,
                                                                    std::int64_t left) {
    if (at == extents.size()) return left == 0 && attempt();
    const std::int64_t base = smallest_->at(extents[at].name);
    for (std::int64_t steps = 0; steps <= left; ++steps) {
      // Only the last extent can take what is left.
      if (at + 1 == extents.size() && steps != left) continue;
      sizes[extents[at].name] = base + steps * std::max<std::int64_t>(extents[at].multiple_of, 1);
      if (spread(at + 1, left - steps)) return true;
    }
    return false;
  };
  for (std::int64_t steps = 0; steps <= kMaxSteps; ++steps)
    if (spread(0, steps)) return found;
  // Then past each hint: one extent alone, with the others a step above their smallest, and all of them.
  for (std::int64_t hint : hints_)
    for (std::int64_t value : {hint, hint + 1, 2 * hint, 2 * hint + 1}) {
      auto put = [&](const ir::ExtentDecl& extent, std::int64_t wanted) {
        const std::int64_t base = smallest_->at(extent.name);
        sizes[extent.name] = fit(extent, wanted).value_or(base);
      };
      for (const std::int64_t above : {0, 1})
        for (const ir::ExtentDecl& extent : extents) {
          for (const ir::ExtentDecl& other : extents) put(other, smallest_->at(other.name) + above);
          put(extent, value);
          if (attempt()) return found;
        }
      for (const ir::ExtentDecl& extent : extents) put(extent, value);
      if (attempt()) return found;
    }
  return found;
}

std::string AllowedSizes::text(const Values& sizes) const {
  std::string out;
  for (const ir::ExtentDecl& extent : algorithm_.extents)
    out += (out.empty() ? "" : ", ") + std::string(extent.name.text()) + " = " +
           std::to_string(sizes.at(extent.name));
  return out;
}

// A scan runs along an index, which has its range.
static const ir::Fold* fold_with_ranges(const ir::Equation& equation) {
  const ir::Fold* fold = equation.fold();
  return fold && !fold->scan ? fold : nullptr;
}

std::optional<Values> find_instance(const ir::Equation& equation, const Values& sizes,
                                    const std::function<bool(const Values&)>& accepts,
                                    bool* gave_up) {
  const ir::Fold* fold = fold_with_ranges(equation);
  const std::size_t num_indices = equation.indices.size();
  const std::size_t num_dims = num_indices + (fold ? fold->vars.size() : 0);
  int tries = 0;
  bool unknown = false;  // a range that depends on data
  Values point = sizes;
  std::optional<Values> found;
  const std::function<bool(std::size_t)> visit = [&](std::size_t at) {
    if (at == num_dims) {
      ++tries;
      if (accepts(point)) found = point;
      return found || tries >= kMaxPoints;
    }
    const bool index = at < num_indices;
    const Symbol name = index ? equation.indices[at] : fold->vars[at - num_indices];
    const auto lower = index ? std::optional<std::int64_t>(0)
                             : evaluate_index(fold->lower[at - num_indices], point);
    const auto upper =
        evaluate_index(index ? equation.shape[at] : fold->upper[at - num_indices], point);
    if (!lower || !upper) {
      unknown = true;
      return false;
    }
    bool done = false;
    for (std::int64_t value = *lower; value < *upper && !done; ++value) {
      // Ranges that turn out empty further in cost a try too.
      if (++tries >= kMaxPoints) done = true;
      point[name] = value;
      done = visit(at + 1) || done;
    }
    point.erase(name);
    return done;
  };
  visit(0);
  if (gave_up) *gave_up = !found && (unknown || tries >= kMaxPoints);
  return found;
}

std::string instance_text(const ir::Equation& equation, const Values& point) {
  CellRead cell{equation.name, {}};
  for (Symbol index : equation.indices) cell.cell.push_back(point.at(index));
  std::string out = cell.text();
  if (const ir::Fold* fold = fold_with_ranges(equation))
    for (std::size_t i = 0; i < fold->vars.size(); ++i)
      out += (i ? ", " : " at ") + std::string(fold->vars[i].text()) + " = " +
             std::to_string(point.at(fold->vars[i]));
  return out;
}

std::string CellRead::text() const {
  std::string out(tensor.text());
  for (std::size_t i = 0; i < cell.size(); ++i) out += (i ? ", " : "[") + std::to_string(cell[i]);
  return out + (cell.empty() ? "[]" : "]");
}

namespace {

class ReadFinder {
 public:
  ReadFinder(const ir::Algorithm& algorithm, const std::function<bool(Symbol)>& inlined,
             Symbol tensor)
      : algorithm_(algorithm), inlined_(inlined), tensor_(tensor) {}

  std::optional<CellRead> in(ir::Expr expr, const Values& values) {
    if (++steps_ > kMaxReads) return std::nullopt;
    if (const auto* read = expr.as<ir::Read>()) return of(*read, values);
    if (const auto* choice = expr.as<ir::Select>())
      if (const auto condition = evaluate_index(choice->condition, values))
        return in(*condition ? choice->then_value : choice->else_value, values);
    // A term whose condition does not hold is not evaluated.
    if (const auto* fold = expr.as<ir::Fold>(); fold && !fold->where.empty())
      if (evaluate_index(fold->where[0], values).value_or(1) == 0) return std::nullopt;
    std::optional<CellRead> found;
    ir::for_each_child(expr, [&](ir::Expr child) {
      if (!found) found = in(child, values);
    });
    return found;
  }

 private:
  std::optional<CellRead> of(const ir::Read& read, const Values& values) {
    CellRead cell{read.tensor, {}};
    for (ir::Expr index : read.indices) {
      if (auto found = in(index, values)) return found;
      const auto value = evaluate_index(index, values);
      if (!value) return std::nullopt;
      cell.cell.push_back(*value);
    }
    if (read.tensor == tensor_) return cell;
    const ir::Equation* producer =
        inlined_(read.tensor) ? algorithm_.find_equation(read.tensor) : nullptr;
    if (!producer) return std::nullopt;
    Values inner;
    for (const ir::ExtentDecl& extent : algorithm_.extents)
      inner[extent.name] = values.at(extent.name);
    for (std::size_t i = 0; i < producer->indices.size(); ++i)
      inner[producer->indices[i]] = cell.cell[i];
    return in(producer->value, inner);
  }

  const ir::Algorithm& algorithm_;
  const std::function<bool(Symbol)>& inlined_;
  Symbol tensor_;
  int steps_ = 0;
};

}  // namespace

std::optional<CellRead> find_read(const ir::Algorithm& algorithm,
                                  const std::function<bool(Symbol)>& inlined,
                                  const ir::Equation& equation, const Values& point,
                                  Symbol tensor) {
  return ReadFinder(algorithm, inlined, tensor).in(equation.value, point);
}

}  // namespace tilewright::poly

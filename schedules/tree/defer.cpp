// SPDX-License-Identifier: Apache-2.0
//
// defer total out of o
//   p[t] = e[t] / total    o = sum(t) p[t] * v[t]        becomes
//   o.sum = sum(t) e[t] * v[t]    o = select(0 < T, o.sum / total, 0)
// The factors that read `total` are found in the normal form of the summand as a product, through elementwise
// equations that stand between. Side conditions: the fold is a sum, since multiplication distributes over no
// other monoid for factors of any sign; the factors are the same for all its elements; nothing else of the
// summand reads the tensor. An empty sum stays zero, or what `on_empty` says, whatever the factor is: where sizes
// do not exclude it, the result selects; where it depends on the elements, by a second equation o.some.
#include <algorithm>
#include <functional>
#include <map>

#include "frontend/algebra/factors.h"
#include "frontend/ir/simplify.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "schedules/tree/derive.h"
#include "schedules/tree/witness.h"

namespace tilewright::tree {

namespace {

bool reads_tensor(Expr expr, Symbol tensor) {
  const auto reads = ir::reads(expr);
  return std::any_of(reads.begin(), reads.end(),
                     [&](const ir::Read* read) { return read->tensor == tensor; });
}

class Deferral {
 public:
  Deferral(ir::Context& context, const ir::Algorithm& algorithm, const DeferStep& step)
      : context_(context), algorithm_(algorithm), step_(step) {}

  Result<Derivation> run() {
    const ir::Equation* equation = algorithm_.find_equation(step_.equation);
    const ir::Fold* fold = equation ? equation->fold() : nullptr;
    if (!algorithm_.shape_of(step_.tensor))
      return refuse(name(step_.tensor) + " is not a tensor", "name an input or an equation");
    if (!fold || !fold->is_reduction() || fold->monoid_kind() != ir::Monoid::Sum)
      return refuse(
          name(step_.equation) + " is not a sum",
          "factors move out of sums; " +
              std::string(!fold               ? "a pointwise equation"
                          : fold->scan        ? "a scan"
                          : fold->is_update() ? "an update"
                                              : "`" + std::string(fold->monoid.text()) + "`") +
              " keeps them");
    const std::vector<Symbol> vars(fold->vars.begin(), fold->vars.end());
    const Expr term = look_through(fold->body[0]);
    if (!reads_tensor(term, step_.tensor))
      return refuse(
          "the summand of " + name(step_.equation) + " does not read " + name(step_.tensor),
          "name a tensor that its summand reads, directly or through elementwise equations");
    const auto is_fixed = [&](Expr expr) {
      const std::vector<Symbol> free = ir::free_vars(expr);
      return std::none_of(free.begin(), free.end(), [&](Symbol var) {
        return std::find(vars.begin(), vars.end(), var) != vars.end();
      });
    };
    const algebra::Factors factors = algebra::take_factors(context_, term, [&](Expr expr) {
      return is_fixed(expr) && reads_tensor(expr, step_.tensor) && expr.type() == fold->type;
    });
    if (reads_tensor(factors.rest, step_.tensor)) return not_a_factor(factors.rest, is_fixed);
    return make(*equation, *fold, factors);
  }

 private:
  static std::string name(Symbol symbol) { return "`" + std::string(symbol.text()) + "`"; }

  Failure refuse(std::string message, std::string remedy,
                 std::vector<std::pair<std::string, std::string>> evidence = {}) const {
    evidence.insert(evidence.begin(), {{"sum", std::string(step_.equation.text())},
                                       {"factor", std::string(step_.tensor.text())}});
    return refuse_step(step_.place.span, std::move(message), std::move(remedy),
                       std::move(evidence));
  }

  // Elementwise equations through which the tensor is read take the place of their reads.
  Expr look_through(Expr expr) {
    return ir::rewrite(context_, expr, [&](Expr e) -> Expr {
      const auto* read = e.as<ir::Read>();
      const ir::Equation* producer = read ? algorithm_.find_equation(read->tensor) : nullptr;
      if (!producer || producer->fold() || read->tensor == step_.tensor || !leads(*producer))
        return {};
      looked_through_.push_back(producer->name);
      ir::Substitution indices;
      for (std::size_t i = 0; i < producer->indices.size(); ++i)
        indices[producer->indices[i]] = read->indices[i];
      return look_through(ir::substitute(context_, producer->value, indices));
    });
  }

  bool leads(const ir::Equation& equation) {
    if (const auto known = leads_.find(equation.name); known != leads_.end()) return known->second;
    bool found = false;
    for (const ir::Read* read : ir::reads(equation.value)) {
      const ir::Equation* producer = algorithm_.find_equation(read->tensor);
      found = found || read->tensor == step_.tensor ||
              (producer && !producer->fold() && leads(*producer));
    }
    return leads_[equation.name] = found;
  }

  // The smallest read of the tensor that stays behind, and what it stands in.
  Failure not_a_factor(Expr rest, const std::function<bool(Expr)>& is_fixed) const {
    std::vector<std::pair<std::string, std::string>> evidence;
    const ir::Read* moving = nullptr;
    for (const ir::Read* read : ir::reads(rest))
      if (read->tensor == step_.tensor && !is_fixed(Expr(read))) moving = read;
    if (moving) {
      evidence =
          with({{"reads", ir::print(Expr(moving))}},
               elements_that_differ({algorithm_, {}}, *algorithm_.find_equation(step_.equation),
                                    step_.tensor));
      return refuse(
          name(step_.tensor) + " differs between the elements of the sum " + name(step_.equation),
          "defer what is the same for all elements", std::move(evidence));
    }
    evidence.emplace_back("stays", ir::print(rest));
    return refuse(
        name(step_.tensor) + " is not a factor of every element of the sum " + name(step_.equation),
        "defer a tensor by which the whole summand is multiplied or divided", std::move(evidence));
  }

  Result<Derivation> make(const ir::Equation& equation, const ir::Fold& fold,
                          const algebra::Factors& factors) {
    Derivation out;
    out.algorithm = algorithm_;
    ir::Equation sum = equation;
    sum.name = path_below(context_, algorithm_, equation.name, "sum");
    sum.type = fold.type;
    sum.is_output = false;
    sum.into = {};
    const std::vector<Expr> term = {factors.rest};
    ir::Fold without = fold;
    without.body = term;
    without.on_empty = {};
    sum.value = context_.fold(without);
    std::vector<ir::Equation> added = {sum};
    std::vector<Expr> cell;
    for (Symbol index : equation.indices) cell.push_back(context_.var(index));
    const Expr total = context_.read(sum.name, cell, fold.type);
    Expr value = algebra::with_factors(context_, total, factors.over, factors.under);
    Expr inhabited;
    if (!has_elements(fold, inhabited)) {
      const Symbol some = path_below(context_, algorithm_, equation.name, "some");
      added.push_back(has_terms(context_, equation, some));
      inhabited = context_.read(some, cell, ir::ScalarType::Bool);
    }
    if (inhabited)
      value = context_.select(
          inhabited, value,
          fold.on_empty.empty() ? context_.constant(fold.type, 0) : fold.on_empty[0]);
    const auto position =
        std::find_if(out.algorithm.equations.begin(), out.algorithm.equations.end(),
                     [&](const ir::Equation& e) { return e.name == equation.name; });
    position->value = context_.cast(equation.type, value);
    for (const ir::Equation& e : added) out.added.push_back(e.name);
    out.reshaped = equation.name;
    out.algorithm.insert_equations(
        static_cast<std::size_t>(position - out.algorithm.equations.begin()), added);
    // Last first: what only served one that goes, goes too.
    for (bool again = true; again;) {
      again = false;
      for (Symbol through : looked_through_) {
        const ir::Equation* e = out.algorithm.find_equation(through);
        if (!e || e->is_output || is_read(out.algorithm, *e)) continue;
        out.algorithm.erase_equation(through);
        out.removed.push_back(through);
        again = true;
      }
    }
    return out;
  }

  // When the sum has an element: null for all sizes and indices. False where that depends on the elements.
  bool has_elements(const ir::Fold& fold, Expr& all) const {
    ir::Ranges ranges;
    for (const ir::ExtentDecl& extent : algorithm_.extents)
      ranges[extent.name] = {extent.min, extent.max};
    if (!fold.where.empty()) return false;
    for (std::size_t i = 0; i < fold.vars.size(); ++i) {
      const Expr some = ir::simplify(context_, context_.lt(fold.lower[i], fold.upper[i]), ranges);
      if (const auto* known = some.as<ir::BoolConst>(); known && known->value) continue;
      if (is_required(some)) continue;
      for (Symbol free : ir::free_vars(some))
        if (std::find(fold.vars.begin(), fold.vars.end(), free) != fold.vars.end()) return false;
      all = all ? context_.both(all, some) : some;
    }
    return true;
  }

  // `1 <= T` among the requirements says that `0 < T`.
  bool is_required(Expr some) const {
    const auto* less = some.as<ir::Op>();
    if (!less || less->op != ir::OpCode::Lt) return false;
    const Expr difference = context_.sub(less->args[1], less->args[0]);
    const auto wanted = ir::linear_form(difference);
    for (Expr requirement : algorithm_.requirements) {
      const auto* op = requirement.as<ir::Op>();
      if (!wanted || !op || op->args[0].type() != ir::ScalarType::Index) continue;
      const bool forward = op->op == ir::OpCode::Lt || op->op == ir::OpCode::Le;
      const bool backward = op->op == ir::OpCode::Gt || op->op == ir::OpCode::Ge;
      if (!forward && !backward) continue;
      const auto given =
          ir::linear_form(context_.sub(op->args[forward ? 1 : 0], op->args[forward ? 0 : 1]));
      const std::int64_t least = op->op == ir::OpCode::Lt || op->op == ir::OpCode::Gt ? 1 : 0;
      // given >= least and wanted = given + d, so wanted >= least + d.
      if (given && given->terms == wanted->terms && wanted->constant - given->constant + least >= 1)
        return true;
    }
    return false;
  }

  ir::Context& context_;
  const ir::Algorithm& algorithm_;
  const DeferStep& step_;
  std::map<Symbol, bool> leads_;
  std::vector<Symbol> looked_through_;
};

}  // namespace

Result<Derivation> defer(ir::Context& context, const ir::Algorithm& algorithm,
                         const DeferStep& step) {
  return Deferral(context, algorithm, step).run();
}

}  // namespace tilewright::tree

// SPDX-License-Identifier: Apache-2.0
//
// split_reduction c.k by F as ko, ki
//   c[i]          = fold(lo <= k < hi) f(i, k)                      becomes
//   c.part[i, ko] = fold(ki < min(F, hi - lo - F ko)) f(i, lo + F ko + ki)
//   c[i]          = fold(ko < chunks) c.part[i, ko]
// for a reduction by any monoid, of one value or several: the partial results are folded in the order of the
// chunks. Chunks beyond the end of a short row hold the identity. A condition (`where`) goes with the terms;
// with `on_empty` a second equation c.some says which chunks have terms, and c folds those. Side conditions: the
// number of chunks is known from the sizes alone, where bounds depend on data by their declared range; terms
// whose order matters stay in it.
#include <algorithm>

#include "frontend/ir/facts.h"
#include "frontend/ir/reduction.h"
#include "frontend/ir/simplify.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "schedules/polyhedra/instances.h"
#include "schedules/tree/derive.h"
#include "schedules/tree/witness.h"

namespace tilewright::tree {

namespace {

// An expression over extents that is at least `length` for every value of the names in `largest`, which lie
// between 0 and the value given, and of all data; nothing where its shape gives none. Minima and maxima do not
// occur in the result.
class UpperBound {
 public:
  UpperBound(ir::Context& context, const ir::Algorithm& algorithm, const ir::Substitution& largest)
      : context_(context), algorithm_(algorithm), largest_(largest) {}

  std::optional<Expr> of(Expr length) const {
    const auto form = ir::linear_form(length);
    if (!form) return std::nullopt;
    Expr sum = context_.index(form->constant);
    for (const auto& [atom, coefficient] : form->terms) {
      const auto bound = coefficient > 0 ? above(atom) : below(atom);
      if (!bound) return std::nullopt;
      sum = context_.add(sum, context_.mul(*bound, context_.index(coefficient)));
    }
    return sum;
  }

 private:
  std::optional<Expr> above(Expr atom) const {
    if (const auto* var = atom.as<ir::Var>()) {
      const auto it = largest_.find(var->name);
      return it == largest_.end() ? std::nullopt : std::optional(it->second);
    }
    if (const auto* op = atom.as<ir::Op>(); op && op->op == ir::OpCode::Min) {
      const auto first = of(op->args[0]);
      return first ? first : of(op->args[1]);
    }
    if (ir::depends_on_data(atom)) {
      const auto range = ir::value_range(context_, algorithm_, atom);
      return range && !(range->high == atom) ? of(range->high) : std::nullopt;
    }
    return is_known(atom) ? std::optional(atom) : std::nullopt;
  }

  std::optional<Expr> below(Expr atom) const {
    if (const auto* var = atom.as<ir::Var>())
      return largest_.contains(var->name) ? std::optional(context_.index(0)) : std::nullopt;
    if (const auto* op = atom.as<ir::Op>(); op && op->op == ir::OpCode::Max) {
      const auto first = lower_of(op->args[0]);
      return first ? first : lower_of(op->args[1]);
    }
    if (ir::depends_on_data(atom)) {
      const auto range = ir::value_range(context_, algorithm_, atom);
      return range && !(range->low == atom) ? lower_of(range->low) : std::nullopt;
    }
    return is_known(atom) ? std::optional(atom) : std::nullopt;
  }

  std::optional<Expr> lower_of(Expr expr) const {
    const auto upper = of(context_.sub(context_.index(0), expr));
    return upper ? std::optional(context_.sub(context_.index(0), *upper)) : std::nullopt;
  }

  // Over extents alone, without minima and maxima.
  static bool is_known(Expr atom) {
    bool known = ir::free_vars(atom).empty();
    ir::walk(atom, [&](Expr e) {
      const auto* op = e.as<ir::Op>();
      known = known && !(op && (op->op == ir::OpCode::Min || op->op == ir::OpCode::Max));
    });
    return known;
  }

  ir::Context& context_;
  const ir::Algorithm& algorithm_;
  const ir::Substitution& largest_;
};

std::string names(const std::vector<Symbol>& symbols) {
  std::string out;
  for (Symbol symbol : symbols) out += (out.empty() ? "" : ", ") + std::string(symbol.text());
  return out;
}

// A size at which the number of chunks would be below zero.
std::optional<std::string> negative_at(const ir::Algorithm& algorithm, Expr chunks) {
  const poly::AllowedSizes allowed(algorithm);
  const auto sizes = allowed.find([&](const poly::Values& at) {
    const auto value = poly::evaluate_index(chunks, at);
    return value && *value < 0;
  });
  return sizes ? std::optional(allowed.text(*sizes)) : std::nullopt;
}

class Splitting {
 public:
  Splitting(ir::Context& context, const ir::Algorithm& algorithm, const SplitReductionStep& step)
      : context_(context), algorithm_(algorithm), step_(step) {
    for (const ir::ExtentDecl& extent : algorithm.extents)
      ranges_[extent.name] = {extent.min, extent.max};
  }

  Result<Derivation> run() {
    TILEWRIGHT_CHECK_OK(find());
    TILEWRIGHT_CHECK_OK(count_chunks());
    Derivation out;
    out.algorithm = algorithm_;
    const auto position =
        std::find_if(out.algorithm.equations.begin(), out.algorithm.equations.end(),
                     [&](const ir::Equation& e) { return e.name == step_.equation; });
    const ir::Equation part = chunk_of(below("part"));
    std::vector<ir::Equation> added = {part};
    std::optional<Symbol> some;
    if (!fold_->on_empty.empty()) {
      some = below("some");
      added.push_back(has_terms(context_, part, *some));
    }
    position->value = context_.cast(equation_->type, fold_chunks(part, some));
    for (const ir::Equation& e : added) out.added.push_back(e.name);
    out.algorithm.insert_equations(
        static_cast<std::size_t>(position - out.algorithm.equations.begin()), added);
    out.reshaped = step_.equation;
    return out;
  }

 private:
  Symbol below(std::string_view part) const {
    return path_below(context_, algorithm_, step_.equation, part);
  }

  Failure refuse(std::string message, std::string remedy,
                 std::vector<std::pair<std::string, std::string>> evidence) const {
    return refuse_step(step_.place.span, std::move(message), std::move(remedy),
                       std::move(evidence));
  }

  Result<Ok> find() {
    equation_ = algorithm_.find_equation(step_.equation);
    fold_ = equation_ ? equation_->fold() : nullptr;
    shown_ = "`" + std::string(step_.equation.text()) + "`";
    const std::string name(step_.equation.text());
    if (!fold_ || !fold_->is_reduction())
      return refuse(
          shown_ + (!fold_        ? " is not a reduction"
                    : fold_->scan ? " is a scan, whose values are all results"
                                  : " is an update, whose terms go to cells of their own"),
          "split the reduction of an equation that folds", {{"equation", name}});
    vars_.assign(fold_->vars.begin(), fold_->vars.end());
    at_ =
        static_cast<std::size_t>(std::find(vars_.begin(), vars_.end(), step_.var) - vars_.begin());
    if (at_ == vars_.size())
      return refuse(
          "`" + std::string(step_.var.text()) + "` is no variable of the reduction " + shown_,
          "split one of its variables: " + names(vars_),
          {{"equation", name}, {"variables", names(vars_)}});
    if (at_ > 0 && !ir::reduction_of(algorithm_, *fold_).commutative)
      return refuse(
          "chunks of `" + std::string(step_.var.text()) +
              "` would change the order of the terms of " + shown_ + ", and `" +
              std::string(fold_->monoid.text()) + "` is not declared commutative",
          "split `" + std::string(vars_[0].text()) + "`, or declare it so",
          with({{"equation", name}, {"monoid", std::string(fold_->monoid.text())}},
               chunks_out_of_order({algorithm_, {}}, *equation_, step_.var, step_.factor)));
    return Ok{};
  }

  Result<Ok> count_chunks() {
    length_ = ir::simplify(context_, context_.sub(fold_->upper[at_], fold_->lower[at_]), ranges_);
    ir::Substitution largest;
    for (std::size_t i = 0; i < equation_->indices.size(); ++i)
      largest[equation_->indices[i]] = context_.sub(equation_->shape[i], context_.index(1));
    // So do the variables before, where they run from 0 or more and to something known.
    for (std::size_t i = 0; i < at_; ++i) {
      const auto least = ir::interval(fold_->lower[i], ranges_).lo;
      const auto end = UpperBound(context_, algorithm_, largest).of(fold_->upper[i]);
      if (least.value_or(-1) >= 0 && end) largest[vars_[i]] = context_.sub(*end, context_.index(1));
    }
    const auto longest = UpperBound(context_, algorithm_, largest).of(length_);
    if (!longest)
      return refuse("how many chunks the reduction " + shown_ + " has is not known from the sizes",
                    "bound `" + std::string(step_.var.text()) +
                        "` by extents, by the indices of the equation and by data with a range",
                    {{"length", ir::print(length_)}});
    chunks_ = ir::simplify(context_, context_.ceil_div(*longest, step_.factor), ranges_);
    if (const auto sizes = negative_at(algorithm_, chunks_))
      return refuse("the reduction " + shown_ + " would have fewer than no chunks",
                    "require sizes for which `" + ir::print(*longest) + "` is not negative",
                    {{"chunks", ir::print(chunks_)}, {"sizes", *sizes}});
    return Ok{};
  }

  // One more index, the chunk; the variable runs inside of it.
  ir::Equation chunk_of(Symbol name) const {
    const Expr factor = context_.index(step_.factor);
    const Expr begin = context_.mul(context_.var(step_.outer), factor);
    const ir::Substitution moved = {{step_.var, context_.add(context_.add(fold_->lower[at_], begin),
                                                             context_.var(step_.inner))}};
    const auto move = [&](NodeList<Expr> exprs) {
      std::vector<Expr> out;
      for (Expr e : exprs) out.push_back(ir::substitute(context_, e, moved));
      return out;
    };
    std::vector<Symbol> vars = vars_;
    vars[at_] = step_.inner;
    std::vector<Expr> lower(fold_->lower.begin(), fold_->lower.end());
    std::vector<Expr> upper(fold_->upper.begin(), fold_->upper.end());
    lower[at_] = context_.index(0);
    // The last chunk may be partial, or empty.
    upper[at_] =
        context_.min(factor, ir::simplify(context_, context_.sub(length_, begin), ranges_));
    for (std::size_t i = at_ + 1; i < vars.size(); ++i) {
      lower[i] = ir::substitute(context_, lower[i], moved);
      upper[i] = ir::substitute(context_, upper[i], moved);
    }
    const std::vector<Expr> where = move(fold_->where);
    const std::vector<Expr> body = move(fold_->body);
    ir::Fold fold = *fold_;
    fold.vars = vars;
    fold.lower = lower;
    fold.upper = upper;
    fold.where = where;
    fold.body = body;
    fold.on_empty = {};
    ir::Equation part = *equation_;
    part.name = name;
    part.indices.push_back(step_.outer);
    part.shape.push_back(chunks_);
    part.type = fold_->type;
    part.parts = parts_below(context_, algorithm_, name, *fold_);
    part.is_output = false;
    part.into = {};
    part.value = context_.fold(fold);
    return part;
  }

  // Over the chunks, or those of them that have terms.
  Expr fold_chunks(const ir::Equation& part, std::optional<Symbol> some) const {
    std::vector<Expr> cell;
    for (Symbol index : part.indices) cell.push_back(context_.var(index));
    const std::vector<Symbol> vars = {step_.outer};
    const std::vector<Expr> lower = {context_.index(0)};
    const std::vector<Expr> upper = {chunks_};
    std::vector<Expr> where;
    if (some) where.push_back(context_.read(*some, cell, ir::ScalarType::Bool));
    std::vector<Expr> body;
    for (const ir::TensorPart& tensor : part.tensors())
      body.push_back(context_.read(tensor.name, cell, tensor.type));
    ir::Fold fold = *fold_;
    fold.vars = vars;
    fold.lower = lower;
    fold.upper = upper;
    fold.where = where;
    fold.body = body;
    return context_.fold(fold);
  }

  ir::Context& context_;
  const ir::Algorithm& algorithm_;
  const SplitReductionStep& step_;
  ir::Ranges ranges_;
  const ir::Equation* equation_ = nullptr;
  const ir::Fold* fold_ = nullptr;
  std::string shown_;
  std::vector<Symbol> vars_;
  std::size_t at_ = 0;  // of the variable that is split
  Expr length_;
  Expr chunks_;
};

}  // namespace

Result<Derivation> split_reduction(ir::Context& context, const ir::Algorithm& algorithm,
                                   const SplitReductionStep& step) {
  return Splitting(context, algorithm, step).run();
}

}  // namespace tilewright::tree

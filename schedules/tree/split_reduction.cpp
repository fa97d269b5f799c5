// SPDX-License-Identifier: Apache-2.0
//
// split_reduction c.k by F as ko, ki
//   c[i]          = fold(lo <= k < hi) f(i, k)                      becomes
//   c.part[i, ko] = fold(ki < min(F, hi - lo - F ko)) f(i, lo + F ko + ki)
//   c[i]          = fold(ko < chunks) c.part[i, ko]
// for any monoid: the partial results are folded in the order of the chunks. Chunks beyond the end of a short
// row hold the identity. Side condition: the number of chunks is known from the sizes alone.
#include <algorithm>

#include "frontend/ir/simplify.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "schedules/polyhedra/instances.h"
#include "schedules/tree/derive.h"

namespace tilewright::tree {

namespace {

ir::Ranges extent_ranges(const ir::Algorithm& algorithm) {
  ir::Ranges ranges;
  for (const ir::ExtentDecl& extent : algorithm.extents)
    ranges[extent.name] = {extent.min, extent.max};
  return ranges;
}

// An expression over extents that is at least `length` for every value of the names in `largest`, which run
// from 0 to the value given; nothing where its shape gives none. Minima and maxima do not occur in the result.
class UpperBound {
 public:
  UpperBound(ir::Context& context, const ir::Substitution& largest)
      : context_(context), largest_(largest) {}

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
    return ir::free_vars(atom).empty() && is_plain(atom) ? std::optional(atom) : std::nullopt;
  }

  std::optional<Expr> below(Expr atom) const {
    if (const auto* var = atom.as<ir::Var>())
      return largest_.contains(var->name) ? std::optional(context_.index(0)) : std::nullopt;
    if (const auto* op = atom.as<ir::Op>(); op && op->op == ir::OpCode::Max) {
      const auto first = lower_of(op->args[0]);
      return first ? first : lower_of(op->args[1]);
    }
    return ir::free_vars(atom).empty() && is_plain(atom) ? std::optional(atom) : std::nullopt;
  }

  std::optional<Expr> lower_of(Expr expr) const {
    const auto upper = of(context_.sub(context_.index(0), expr));
    return upper ? std::optional(context_.sub(context_.index(0), *upper)) : std::nullopt;
  }

  static bool is_plain(Expr atom) {
    bool plain = true;
    ir::walk(atom, [&](Expr e) {
      const auto* op = e.as<ir::Op>();
      plain = plain && !(op && (op->op == ir::OpCode::Min || op->op == ir::OpCode::Max));
    });
    return plain;
  }

  ir::Context& context_;
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

}  // namespace

Result<Derivation> split_reduction(ir::Context& context, const ir::Algorithm& algorithm,
                                   const SplitReductionStep& step) {
  const ir::Equation* equation = algorithm.find_equation(step.equation);
  const ir::Fold* fold = equation ? equation->fold() : nullptr;
  const std::string shown = "`" + std::string(step.equation.text()) + "`";
  if (!fold)
    return refuse_step(step.place.span, shown + " is not a reduction",
                       "split the reduction of an equation that folds",
                       {{"equation", std::string(step.equation.text())}});
  const std::vector<Symbol> vars(fold->vars.begin(), fold->vars.end());
  const auto at =
      static_cast<std::size_t>(std::find(vars.begin(), vars.end(), step.var) - vars.begin());
  if (at == vars.size())
    return refuse_step(
        step.place.span,
        "`" + std::string(step.var.text()) + "` is no variable of the reduction " + shown,
        "split one of its variables: " + names(vars),
        {{"equation", std::string(step.equation.text())}, {"variables", names(vars)}});
  const ir::Ranges ranges = extent_ranges(algorithm);
  const Expr factor = context.index(step.factor);
  const Expr length = ir::simplify(context, context.sub(fold->upper[at], fold->lower[at]), ranges);
  ir::Substitution largest;
  for (std::size_t i = 0; i < equation->indices.size(); ++i)
    largest[equation->indices[i]] = context.sub(equation->shape[i], context.index(1));
  const auto longest = UpperBound(context, largest).of(length);
  if (!longest)
    return refuse_step(
        step.place.span,
        "how many chunks the reduction " + shown + " has is not known from the sizes",
        "bound `" + std::string(step.var.text()) +
            "` by extents and by the indices of the equation",
        {{"length", ir::print(length)}});
  const Expr chunks = ir::simplify(context, context.ceil_div(*longest, step.factor), ranges);
  if (const auto sizes = negative_at(algorithm, chunks))
    return refuse_step(step.place.span,
                       "the reduction " + shown + " would have fewer than no chunks",
                       "require sizes for which `" + ir::print(*longest) + "` is not negative",
                       {{"chunks", ir::print(chunks)}, {"sizes", *sizes}});

  Derivation out;
  out.algorithm = algorithm;
  const Symbol part_name = path_below(context, algorithm, step.equation, "part");
  const Expr chunk_begin = context.mul(context.var(step.outer), factor);
  const Expr var_value =
      context.add(context.add(fold->lower[at], chunk_begin), context.var(step.inner));
  const ir::Substitution moved = {{step.var, var_value}};

  ir::Equation part = *equation;
  part.name = part_name;
  part.indices.push_back(step.outer);
  part.shape.push_back(chunks);
  part.type = fold->type;
  part.is_output = false;
  std::vector<Symbol> part_vars = vars;
  part_vars[at] = step.inner;
  std::vector<Expr> lower(fold->lower.begin(), fold->lower.end());
  std::vector<Expr> upper(fold->upper.begin(), fold->upper.end());
  lower[at] = context.index(0);
  // The last chunk may be partial, or empty.
  upper[at] = context.min(factor, ir::simplify(context, context.sub(length, chunk_begin), ranges));
  for (std::size_t i = at + 1; i < vars.size(); ++i) {
    lower[i] = ir::substitute(context, lower[i], moved);
    upper[i] = ir::substitute(context, upper[i], moved);
  }
  part.value = context.fold(fold->monoid, part_vars, lower, upper,
                            ir::substitute(context, fold->body, moved));

  const auto position =
      std::find_if(out.algorithm.equations.begin(), out.algorithm.equations.end(),
                   [&](const ir::Equation& e) { return e.name == step.equation; });
  std::vector<Expr> cell;
  for (Symbol index : equation->indices) cell.push_back(context.var(index));
  cell.push_back(context.var(step.outer));
  const Symbol outer[] = {step.outer};
  const Expr zero[] = {context.index(0)};
  const Expr end[] = {chunks};
  position->value = context.cast(
      equation->type,
      context.fold(fold->monoid, outer, zero, end, context.read(part_name, cell, fold->type)));
  out.algorithm.equations.insert(position, std::move(part));
  out.reshaped = step.equation;
  out.added = {part_name};
  return out;
}

}  // namespace tilewright::tree

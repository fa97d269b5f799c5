// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/data.h"

#include <algorithm>

#include "frontend/ir/facts.h"
#include "frontend/ir/walk.h"

namespace tilewright::proof {

using ir::OpCode;

std::vector<std::string> Known::names() const {
  std::vector<std::string> out;
  for (const auto& [name, value] : values) out.push_back(name);
  return out;
}

DataValues::DataValues(ir::Context& context, const program::Program& program) : context_(context) {
  inputs_.extents = program.extents;
  for (const program::Parameter& parameter : program.parameters) {
    if (parameter.is_output || parameter.is_inout) continue;
    ir::Input input;
    input.name = parameter.name;
    input.type = parameter.type;
    input.shape = parameter.shape;
    // Of a clamped one the Program reads what the caller gave, and clamps it.
    if (!parameter.facts.clamp) input.facts = parameter.facts;
    inputs_.inputs.push_back(std::move(input));
  }
}

bool DataValues::is_fixed(Expr expr) const {
  const auto reads = ir::reads(expr);
  return std::all_of(reads.begin(), reads.end(), [&](const ir::Read* read) {
    return inputs_.find_input(read->tensor) != nullptr || lets_.contains(read->tensor);
  });
}

Expr DataValues::with_lets(Expr expr) const {
  return ir::rewrite(context_, expr, [&](Expr each) -> Expr {
    const auto* read = each.as<ir::Read>();
    if (read == nullptr) return each;
    const auto let = lets_.find(read->tensor);
    return let == lets_.end() ? each : with_lets(let->second);
  });
}

std::optional<ir::ValueRange> DataValues::range(Expr expr) const {
  return ir::value_range(context_, inputs_, with_lets(expr));
}

// The same expression has the same name wherever it stands.
Expr DataValues::name_of(Expr expr, Known& known, bool describe) {
  auto [at, is_new] = names_.try_emplace(expr.node());
  if (is_new) at->second = "?v" + std::to_string(names_.size());
  const Expr out = context_.var(context_.symbol(at->second));
  for (const auto& [name, value] : known.values)
    if (name == at->second) return out;
  known.values.emplace_back(at->second, expr);
  if (!describe) return out;
  if (const auto within = range(expr)) {
    known.facts = meet(known.facts, poly::region_of(context_.le(within->low, out)));
    known.facts = meet(known.facts, poly::region_of(context_.le(out, within->high)));
  }
  return out;
}

// Names for the largest parts that are no arithmetic of loops and extents.
Expr DataValues::named(Expr expr, Known& known) {
  if (expr.type() != ir::ScalarType::Index) return expr;
  if (poly::index_cases(expr)) return expr;
  if (expr.as<ir::Op>()) {
    Known with = known;
    const Expr out = ir::rebuild(context_, expr, [&](Expr child) { return named(child, with); });
    if (poly::index_cases(out)) {
      known = std::move(with);
      return out;
    }
  }
  return name_of(expr, known, true);
}

AffineExpr DataValues::index(Expr expr, Known& known) {
  const Expr out = named(expr, known);
  if (const auto affine = poly::affine_of(out)) return *affine;
  // Several cases: a name that is one of them.
  const Expr name = name_of(expr, known, false);
  known.facts = meet(known.facts, poly::region_of(context_.op(OpCode::Eq, {name, out})));
  return *poly::affine_of(name);
}

poly::Region DataValues::condition(Expr expr, bool truth, Known& known) {
  const Expr out = ir::rewrite(context_, expr, [&](Expr each) -> Expr {
    const auto* op = each.as<ir::Op>();
    if (op == nullptr || !ir::is_comparison(op->op) || op->args[0].type() != ir::ScalarType::Index)
      return each;
    return ir::rebuild(context_, each, [&](Expr child) { return named(child, known); });
  });
  return poly::region_of(out, truth);
}

}  // namespace tilewright::proof

// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/generate_monoids.h"

namespace tilewright::ir {

namespace {

MonoidDecl declare(Context& context, std::string_view name, std::vector<std::string_view> fields,
                   std::vector<ScalarType> types) {
  MonoidDecl out;
  out.name = context.symbol(name);
  for (std::string_view field : fields) out.fields.push_back(context.symbol(field));
  out.types = std::move(types);
  out.left = context.symbol("a");
  out.right = context.symbol("b");
  return out;
}

Expr side(Context& context, const MonoidDecl& of, bool right, std::size_t field) {
  const std::string name = (right ? "b." : "a.") + std::string(of.fields[field].text());
  return context.var(context.symbol(name), of.types[field]);
}

}  // namespace

std::vector<Monoid> numeric_monoids(ScalarType type) {
  if (is_complex(type)) return {Monoid::Sum, Monoid::Prod};
  return {Monoid::Sum, Monoid::Prod, Monoid::Min, Monoid::Max};
}

MonoidDecl sample_monoid(Context& context, std::string_view name) {
  using enum ScalarType;
  if (name == "maps") {
    MonoidDecl out = declare(context, name, {"slope", "offset"}, {I32, I32});
    auto of = [&](bool right, std::size_t field) { return side(context, out, right, field); };
    out.identity = {context.constant(I32, 1), context.constant(I32, 0)};
    out.combine = {context.mul(of(false, 0), of(true, 0)),
                   context.add(context.mul(of(true, 0), of(false, 1)), of(true, 1))};
    return out;
  }
  const bool mean = name == "mean";
  MonoidDecl out = mean ? declare(context, name, {"total", "count"}, {C64, I32})
                        : declare(context, name, {"low", "high"}, {F32, F32});
  for (std::size_t i = 0; i < 2; ++i) {
    const ScalarType type = out.types[i];
    const Monoid kind = mean ? Monoid::Sum : i == 0 ? Monoid::Min : Monoid::Max;
    out.identity.push_back(context.monoid_identity(kind, type));
    out.combine.push_back(
        context.op(monoid_op(kind), {side(context, out, false, i), side(context, out, true, i)}));
  }
  out.commutative = true;
  return out;
}

}  // namespace tilewright::ir

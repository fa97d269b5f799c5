// SPDX-License-Identifier: Apache-2.0
//
// Random algorithms: the column interpreter gives what a naive one gives cell by cell, in every
// reading, and the exact reading stays inside of the bound. The naive evaluator stands here and shares
// only the scalar operations of evaluate.h.
#include "frontend/ir/interpret.h"

#include <cmath>

#include <gtest/gtest.h>
#include "frontend/ir/evaluate.h"
#include "frontend/ir/generate.h"
#include "frontend/ir/text.h"

namespace tilewright::ir {
namespace {

class Naive {
 public:
  Naive(const Algorithm& algorithm, const Bindings& bindings, const TensorMap& inputs, bool reals,
        bool fused)
      : algorithm_(algorithm), bindings_(bindings), values_(inputs), reals_(reals), fused_(fused) {}

  // False when an operation was undefined.
  bool run(TensorMap* out) {
    for (const Equation& equation : algorithm_.equations) {
      std::vector<std::int64_t> shape;
      for (Expr extent : equation.shape) shape.push_back(evaluate_extents(extent, bindings_));
      Tensor tensor = make_tensor(equation.type, shape);
      for (std::size_t i = 0; i < tensor.data.size(); ++i) {
        auto rest = static_cast<std::int64_t>(i);
        for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d])
          vars_[equation.indices[d]] = rest % shape[d];
        tensor.data[i] = value(equation.value);
        if (undefined_) return false;
      }
      (*out)[equation.name] = tensor;
      values_[equation.name] = std::move(tensor);
    }
    return true;
  }

 private:
  ScalarType reading(ScalarType type) const {
    return reals_ && is_float(type) ? ScalarType::F64 : type;
  }
  Scalar value(Expr expr) {
    return visit(expr,
                 Overloaded{
                     [&](const IntConst&) { return constant_value(expr); },
                     [&](const FloatConst&) { return constant_value(expr); },
                     [&](const BoolConst&) { return constant_value(expr); },
                     [&](const Var& n) { return whole(vars_.at(n.name)); },
                     [&](const Extent& n) { return whole(bindings_.at(n.name)); },
                     [&](const Read& n) { return read(n); },
                     [&](const Op& n) {
                       Scalar args[3] = {};
                       for (std::size_t i = 0; i < n.args.size(); ++i) args[i] = value(n.args[i]);
                       return evaluate_op(n.op, reading(n.args[0].type()), args, &undefined_);
                     },
                     [&](const Select& n) {
                       return value(n.condition).i ? value(n.then_value) : value(n.else_value);
                     },
                     [&](const Cast& n) {
                       return evaluate_cast(reading(n.value.type()), reading(expr.type()),
                                            value(n.value), &undefined_);
                     },
                     [&](const Saturate& n) {
                       const Scalar x = value(n.value);
                       if (!reals_ || !is_float(expr.type()))
                         return evaluate_saturate(reading(n.value.type()), expr.type(), x);
                       return limited(n.value.type(), expr.type(), x);
                     },
                     [&](const RoundTo& n) {
                       return evaluate_round_to(reading(expr.type()), n.grid, value(n.value));
                     },
                     [&](const Fold& n) {
                       Scalar acc = constant_value(context_.monoid_identity(n.monoid, expr.type()));
                       fold(n, 0, &acc);
                       return acc;
                     },
                 });
  }
  // Over the reals a float type only limits the value; a scale holds no negatives.
  static Scalar limited(ScalarType from, ScalarType to, Scalar x) {
    Scalar out;
    out.f = is_float(from) ? x.f : integer_value(from, x.i);
    const bool scale = to == ScalarType::F8E8M0;
    if (scale && out.f < 0) out.f = std::nan("");
    if (out.f > largest_finite(to)) out.f = largest_finite(to);
    if (out.f < (scale ? 0x1p-127 : -largest_finite(to)))
      out.f = scale ? 0x1p-127 : -largest_finite(to);
    return out;
  }
  static Scalar whole(std::int64_t i) {
    Scalar out;
    out.i = i;
    return out;
  }
  Scalar read(const Read& n) {
    const Tensor& tensor = values_.at(n.tensor);
    std::vector<std::int64_t> at;
    for (std::size_t d = 0; d < n.indices.size(); ++d) {
      at.push_back(value(n.indices[d]).i);
      if (at[d] < 0 || at[d] >= tensor.shape[d]) undefined_ = true;
    }
    return undefined_ ? whole(0) : tensor.data[static_cast<std::size_t>(tensor.offset(at))];
  }
  void fold(const Fold& n, std::size_t depth, Scalar* acc) {
    if (depth < n.vars.size()) {
      const std::int64_t upper = value(n.upper[depth]).i;
      for (std::int64_t i = value(n.lower[depth]).i; i < upper && !undefined_; ++i) {
        vars_[n.vars[depth]] = i;
        fold(n, depth + 1, acc);
      }
      return;
    }
    const ScalarType type = reading(n.type);
    const auto* product = n.body.as<Op>();
    if (!reals_ && fused_ && n.monoid == Monoid::Sum && is_float(type) && product &&
        product->op == OpCode::Mul) {
      const Scalar args[] = {value(product->args[0]), value(product->args[1]), *acc};
      *acc = evaluate_op(OpCode::Fma, type, args, &undefined_);
      return;
    }
    const Scalar args[] = {*acc, value(n.body)};
    *acc = evaluate_op(monoid_op(n.monoid), type, args, &undefined_);
  }

  const Algorithm& algorithm_;
  const Bindings& bindings_;
  Context context_;
  TensorMap values_;
  bool reals_;
  bool fused_;
  bool undefined_ = false;
  std::unordered_map<Symbol, std::int64_t> vars_;
};

bool same(ScalarType type, Scalar a, Scalar b) {
  if (!is_float(type)) return a.i == b.i;
  return a.f == b.f ? std::signbit(a.f) == std::signbit(b.f) : std::isnan(a.f) && std::isnan(b.f);
}

TEST(InterpretLaw, ColumnsGiveWhatCellsGiveAndExactStaysInsideTheBound) {
  int compared = 0;
  int cells = 0;
  int bounded = 0;
  int finite = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Context context;
    GenerateOptions options;
    options.defined = seed % 3 != 0;
    const Algorithm algorithm = random_algorithm(context, seed, options);
    auto bindings = random_bindings(algorithm, seed, 7);
    if (!bindings) continue;
    const TensorMap inputs = random_inputs(algorithm, *bindings, seed, seed % 5 == 0);
    TensorMap exact;
    bool exact_defined = false;
    for (int mode = 0; mode < 3; ++mode) {
      const bool reals = mode == 0;
      const bool fused = mode == 2;
      TensorMap want;
      const bool defined = Naive(algorithm, *bindings, inputs, reals, fused).run(&want);
      auto got = interpret(algorithm, *bindings, inputs,
                           {reals ? Reading::Reals : Reading::Exact, {fused}});
      if (!defined) {
        ASSERT_FALSE(got.ok()) << seed << "\n" << print(algorithm);
        continue;
      }
      if (reals && !got.ok()) {  // an output over the reals may be undefined
        ASSERT_EQ(got.diagnostics()[0].code, Code::UndefinedOutput) << print(algorithm);
        continue;
      }
      ASSERT_TRUE(got.ok()) << seed << "\n" << print(algorithm) << got.diagnostics()[0].message;
      for (const auto& [name, tensor] : want)
        for (std::size_t i = 0; i < tensor.data.size(); ++i, ++cells)
          ASSERT_TRUE(same(tensor.type, tensor.data[i], got->at(name).data[i]))
              << seed << " mode " << mode << " " << name.text() << " " << i << ": "
              << tensor.data[i].f << " " << got->at(name).data[i].f << "\n"
              << print(algorithm);
      ++compared;
      if (fused) exact = std::move(*got), exact_defined = true;
    }
    auto bound = interpret_with_bound(algorithm, *bindings, inputs);
    if (!bound.ok() || !exact_defined) continue;
    ++bounded;
    for (const auto& [name, reference] : *bound) {
      auto violation = find_violation(reference, exact.at(name));
      ASSERT_FALSE(violation) << seed << " " << name.text() << " expected " << violation->expected
                              << " got " << violation->got << " bound " << violation->bound << "\n"
                              << print(algorithm);
      for (double b : reference.bound) finite += std::isfinite(b);
    }
  }
  // The law says something only where there is something.
  EXPECT_GT(compared, 600);
  EXPECT_GT(cells, 10000);
  EXPECT_GT(bounded, 200);
  EXPECT_GT(finite, 2000);
}

}  // namespace
}  // namespace tilewright::ir

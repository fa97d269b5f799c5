// SPDX-License-Identifier: Apache-2.0
//
// Random algorithms: the column interpreter gives what a naive one gives cell by cell, in every
// reading, and the exact reading stays inside of the bound. The naive evaluator stands here and shares
// only the scalar operations of evaluate.h.
#include "frontend/ir/interpret.h"

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include <gtest/gtest.h>
#include "frontend/ir/evaluate.h"
#include "frontend/ir/generate.h"
#include "frontend/ir/text.h"
#include "tests/laws/complex_cells.h"

namespace tilewright::ir {
namespace {

using laws::Cell;

class Naive {
 public:
  Naive(const Algorithm& algorithm, const Bindings& bindings, const TensorMap& inputs, bool reals,
        bool fused)
      : algorithm_(algorithm), bindings_(bindings), values_(inputs), reals_(reals), fused_(fused) {}

  // False when an operation was undefined.
  bool run(TensorMap* out) {
    for (const Input& input : algorithm_.inputs)
      if (!has_facts(input.facts, values_.at(input.name))) return false;
    return run_from(0, algorithm_.equations.size(), 0, out);
  }

 private:
  // Equations [from, to), and the loops that begin among them, of which `loop` is the next.
  bool run_from(std::size_t from, std::size_t to, std::size_t loop, TensorMap* out) {
    const auto& loops = algorithm_.loops;
    for (std::size_t e = from; e < to; ++e) {
      while (loop < loops.size() && loops[loop].first < e) ++loop;
      if (loop < loops.size() && loops[loop].first == e) {
        if (!iterate(loops[loop], loop + 1, out)) return false;
        e = loops[loop].last - 1;
        continue;
      }
      const Equation& equation = algorithm_.equations[e];
      std::vector<std::int64_t> shape;
      for (Expr extent : equation.shape) shape.push_back(evaluate_extents(extent, bindings_));
      result_.clear();
      for (const TensorPart& part : equation.tensors())
        result_.push_back(make_tensor(part.type, shape));
      const Fold* fold = equation.fold();
      const bool update = fold && fold->is_update();
      for (std::size_t i = 0; i < static_cast<std::size_t>(result_[0].size()); ++i) {
        auto rest = static_cast<std::int64_t>(i);
        for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d])
          vars_[equation.indices[d]] = rest % shape[d];
        if (update) {
          for (std::size_t p = 0; p < result_.size(); ++p)
            laws::put_cell(result_[p], i, cell(fold->base[p]));
        } else if (fold && !equation.value.as<Cast>()) {
          const std::vector<Cell> cells = fold->scan ? scan(*fold) : reduction(*fold);
          for (std::size_t p = 0; p < result_.size(); ++p) laws::put_cell(result_[p], i, cells[p]);
        } else {
          laws::put_cell(result_[0], i, cell(equation.value));
        }
        if (undefined_) return false;
      }
      if (update) terms(*fold, 0, [&] { update_cell(*fold); });
      if (undefined_) return false;
      for (std::size_t p = 0; p < result_.size(); ++p) {
        (*out)[equation.tensors()[p].name] = result_[p];
        values_[equation.tensors()[p].name] = std::move(result_[p]);
      }
    }
    return true;
  }

  bool iterate(const Loop& loop, std::size_t inner, TensorMap* out) {
    const auto set = [&](auto source) {
      std::vector<Tensor> now;
      for (const Carry& carry : loop.carries) now.push_back(values_.at(source(carry)));
      for (std::size_t c = 0; c < now.size(); ++c)
        (*out)[loop.carries[c].name] = values_[loop.carries[c].name] = now[c];
    };
    set([](const Carry& carry) { return carry.start; });
    bool good = true;
    const std::int64_t trips = evaluate_extents(loop.trips, bindings_);
    for (std::int64_t l = 0; good && l < trips; ++l) {
      bindings_[loop.var] = l;
      if (loop.condition && (value(loop.condition).i == 0 || undefined_)) break;
      good = run_from(loop.first, loop.last, inner, out);
      if (good) set([](const Carry& carry) { return carry.next; });
    }
    bindings_.erase(loop.var);
    return good && !undefined_;
  }

  // Whether the values have what is declared of them; clamps those that are to be.
  bool has_facts(const Facts& facts, Tensor& tensor) {
    const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
    for (std::size_t i = 0; i < tensor.data.size(); ++i) {
      std::int64_t& value = tensor.data[i].i;
      if (facts.lower) {
        const std::int64_t lower = evaluate_extents(facts.lower, bindings_);
        const std::int64_t upper = evaluate_extents(facts.upper, bindings_);
        if (facts.clamp && lower >= upper) return false;
        if (facts.clamp) value = value < lower ? lower : value >= upper ? upper - 1 : value;
        if (!facts.assumed && (value < lower || value >= upper)) return false;
      }
      if (facts.assumed) continue;
      for (std::size_t j = i - i % static_cast<std::size_t>(row); j < i; ++j)
        if ((facts.monotone && tensor.data[j].i > value) ||
            (facts.injective && tensor.data[j].i == value))
          return false;
    }
    return true;
  }
  ScalarType reading(ScalarType type) const {
    return reals_ && is_float(type) ? ScalarType::F64 : type;
  }
  Cell cell(Expr expr) {
    if (!is_complex(expr.type())) return {value(expr), whole(0)};
    if (const auto* n = expr.as<Var>()) return state_.at(std::string(n->name.text()));
    if (const auto* n = expr.as<Read>()) return read(*n);
    if (const auto* n = expr.as<Select>())
      return value(n->condition).i ? cell(n->then_value) : cell(n->else_value);
    if (const auto* n = expr.as<Fold>()) return reduction(*n)[0];
    const ScalarType part = reading(part_type(expr.type()));
    if (const auto* n = expr.as<Cast>()) {
      const Cell z = cell(n->value);
      Cell out = {};
      for (int p = 0; p < scalars_of(n->value.type()); ++p)
        out[static_cast<std::size_t>(p)] = evaluate_cast(
            reading(part_type(n->value.type())), part, z[static_cast<std::size_t>(p)], &undefined_);
      return out;
    }
    const Op& n = *expr.as<Op>();
    if (n.op == OpCode::Complex) return {value(n.args[0]), value(n.args[1])};
    return laws::ComplexArithmetic(part).apply(n.op, cell(n.args[0]),
                                               n.args.size() > 1 ? cell(n.args[1]) : Cell{});
  }
  // Of complex operands.
  Scalar real_value(const Op& n) {
    const laws::ComplexArithmetic arithmetic(reading(part_type(n.args[0].type())));
    return arithmetic.real(n.op, cell(n.args[0]), n.args.size() > 1 ? cell(n.args[1]) : Cell{});
  }
  Scalar value(Expr expr) {
    return visit(expr,
                 Overloaded{
                     [&](const IntConst&) { return constant_value(expr); },
                     [&](const FloatConst&) { return constant_value(expr); },
                     [&](const BoolConst&) { return constant_value(expr); },
                     [&](const Var& n) {
                       if (auto it = state_.find(std::string(n.name.text())); it != state_.end())
                         return it->second[0];
                       return whole(vars_.at(n.name));
                     },
                     [&](const Extent& n) { return whole(bindings_.at(n.name)); },
                     [&](const Read& n) { return read(n)[0]; },
                     [&](const Op& n) {
                       if (is_complex(n.args[0].type())) return real_value(n);
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
                     [&](const Fold& n) { return reduction(n)[0][0]; },
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
  Cell read(const Read& n) {
    const Tensor& tensor = values_.at(n.tensor);
    std::vector<std::int64_t> at;
    for (std::size_t d = 0; d < n.indices.size(); ++d) {
      at.push_back(value(n.indices[d]).i);
      if (at[d] < 0 || at[d] >= tensor.shape[d]) undefined_ = true;
    }
    return undefined_ ? Cell{whole(0), whole(0)}
                      : laws::get_cell(tensor, static_cast<std::size_t>(tensor.offset(at)));
  }
  // Each point of the bounds where the condition holds, in order.
  void terms(const Fold& n, std::size_t depth, const std::function<void()>& f) {
    if (depth == n.vars.size()) {
      if (!n.where.empty() && value(n.where[0]).i == 0) return;
      if (!undefined_) f();
      return;
    }
    const std::int64_t upper = value(n.upper[depth]).i;
    for (std::int64_t i = value(n.lower[depth]).i; i < upper && !undefined_; ++i) {
      vars_[n.vars[depth]] = i;
      terms(n, depth + 1, f);
    }
  }

  std::vector<Cell> start(const Fold& n) {
    std::vector<Cell> out;
    const Monoid kind = n.monoid_kind();
    const MonoidDecl* declared = algorithm_.find_monoid(n.monoid);
    for (std::size_t i = 0; i < n.body.size(); ++i)
      out.push_back(!n.base.empty() ? cell(n.base[i])
                    : declared      ? cell(declared->identity[i])
                    : i == 1 ? Cell{whole(std::numeric_limits<std::int64_t>::max()), whole(0)}
                             : cell(context_.monoid_identity(kind, n.body[i].type())));
    return out;
  }

  std::vector<Cell> reduction(const Fold& n) {
    std::vector<Cell> acc = start(n);
    bool live = false;
    terms(n, 0, [&] {
      live = true;
      step(n, acc);
    });
    for (std::size_t i = 0; !live && i < n.on_empty.size(); ++i) acc[i] = cell(n.on_empty[i]);
    return acc;
  }

  // All over again for each cell.
  std::vector<Cell> scan(const Fold& n) {
    const std::int64_t last = vars_.at(n.vars[0]);
    vars_[n.vars[0]] = 0;
    std::vector<Cell> acc = start(n);
    for (std::int64_t t = 0; t <= last && !undefined_; ++t) {
      vars_[n.vars[0]] = t;
      step(n, acc);
    }
    return acc;
  }

  void update_cell(const Fold& n) {
    std::vector<std::int64_t> at;
    for (std::size_t d = 0; d < n.at.size(); ++d) {
      at.push_back(value(n.at[d]).i);
      if (at[d] < 0 || at[d] >= result_[0].shape[d]) undefined_ = true;
    }
    if (undefined_) return;
    const auto offset = static_cast<std::size_t>(result_[0].offset(at));
    std::vector<Cell> acc;
    for (const Tensor& tensor : result_) acc.push_back(laws::get_cell(tensor, offset));
    step(n, acc);
    for (std::size_t p = 0; p < result_.size(); ++p) laws::put_cell(result_[p], offset, acc[p]);
  }

  void step(const Fold& n, std::vector<Cell>& acc) {
    const ScalarType type = reading(n.type);
    const Monoid kind = n.monoid_kind();
    const auto* product = n.body[0].as<Op>();
    if (!reals_ && fused_ && !n.scan && kind == Monoid::Sum && is_float(type) && product &&
        product->op == OpCode::Mul) {
      const Scalar args[] = {value(product->args[0]), value(product->args[1]), acc[0][0]};
      acc[0][0] = evaluate_op(OpCode::Fma, type, args, &undefined_);
      return;
    }
    const auto& names = n.state;
    for (std::size_t i = 0; i < names.size(); ++i) state_[std::string(names[i].text())] = acc[i];
    std::vector<Cell> term;
    for (Expr e : n.body) term.push_back(cell(e));
    state_.clear();
    if (const MonoidDecl* declared = algorithm_.find_monoid(n.monoid)) {
      for (std::size_t i = 0; i < acc.size(); ++i) {
        const std::string field = "." + std::string(declared->fields[i].text());
        state_[std::string(declared->left.text()) + field] = acc[i];
        state_[std::string(declared->right.text()) + field] = term[i];
      }
      for (std::size_t i = 0; i < acc.size(); ++i) term[i] = cell(declared->combine[i]);
      state_.clear();
      acc = term;
    } else if (kind == Monoid::Last) {
      acc = term;
    } else if (kind == Monoid::ArgMin || kind == Monoid::ArgMax) {
      const auto compare = [&](OpCode op) {
        const Scalar args[] = {term[0][0], acc[0][0]};
        return evaluate_op(op, type, args, &undefined_).i != 0;
      };
      const bool better = compare(kind == Monoid::ArgMin ? OpCode::Lt : OpCode::Gt);
      if (better || (compare(OpCode::Eq) && term[1][0].i < acc[1][0].i)) acc = term;
    } else if (is_complex(n.type)) {
      acc[0] = laws::ComplexArithmetic(reading(part_type(n.type)))
                   .apply(monoid_op(kind), acc[0], term[0]);
    } else {
      const Scalar args[] = {acc[0][0], term[0][0]};
      acc[0][0] = evaluate_op(monoid_op(kind), type, args, &undefined_);
    }
  }

  const Algorithm& algorithm_;
  Bindings bindings_;
  Context context_;
  TensorMap values_;
  bool reals_;
  bool fused_;
  bool undefined_ = false;
  std::vector<Tensor> result_;
  std::unordered_map<Symbol, std::int64_t> vars_;
  std::map<std::string, Cell> state_;  // previous values, and the sides of a combination
};

bool same(ScalarType type, Scalar a, Scalar b) {
  if (!holds_floats(type)) return a.i == b.i;
  return a.f == b.f ? std::signbit(a.f) == std::signbit(b.f) : std::isnan(a.f) && std::isnan(b.f);
}

// Nothing is claimed of the body of a loop once it is over: rounding may give it another number of trips.
bool is_inside_a_loop(const Algorithm& algorithm, Symbol tensor) {
  const auto around = [&](std::size_t first, std::size_t last, const Loop* own) {
    return std::any_of(algorithm.loops.begin(), algorithm.loops.end(), [&](const Loop& loop) {
      return &loop != own && loop.holds(first) && last <= loop.last;
    });
  };
  for (const Loop& loop : algorithm.loops)
    for (const Carry& carry : loop.carries)
      if (carry.name == tensor) return around(loop.first, loop.last, &loop);
  const Equation* equation = algorithm.definition(tensor);
  if (!equation) return false;
  const auto at = static_cast<std::size_t>(equation - algorithm.equations.data());
  return around(at, at + 1, nullptr);
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
      if (is_inside_a_loop(algorithm, name)) continue;
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

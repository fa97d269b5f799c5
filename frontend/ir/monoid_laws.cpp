// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/monoid_laws.h"

#include <cmath>
#include <unordered_map>

#include "frontend/base/format.h"
#include "frontend/ir/complex.h"
#include "frontend/ir/evaluate.h"

namespace tilewright::ir {

namespace {

constexpr int kSamples = 400;
// The samples are small, so what f64 rounds away is far below this.
constexpr double kMargin = 1e-6;

using Values = std::vector<Scalar>;

ScalarType reading(ScalarType type) { return is_float(type) ? ScalarType::F64 : type; }

// `combine` of two elements over the reals.
class Combiner {
 public:
  explicit Combiner(const MonoidDecl& declared) : declared_(declared) {}

  // Nothing where some operation has no value.
  std::optional<Values> operator()(const Values& a, const Values& b) {
    known_.clear();
    undefined_ = false;
    for (std::size_t i = 0; i < declared_.fields.size(); ++i) {
      const std::string field = "." + std::string(declared_.fields[i].text());
      vars_[std::string(declared_.left.text()) + field] = a[i];
      vars_[std::string(declared_.right.text()) + field] = b[i];
    }
    Values out;
    for (Expr value : declared_.combine) {
      out.push_back(evaluate(value));
      if (is_float(value.type()) && std::isnan(out.back().f)) undefined_ = true;
    }
    return undefined_ ? std::nullopt : std::optional(out);
  }

 private:
  Scalar evaluate(Expr expr) {
    if (const auto it = known_.find(expr); it != known_.end()) return it->second;
    return known_[expr] = compute(expr);
  }
  Scalar compute(Expr expr) {
    if (const auto* var = expr.as<Var>()) return vars_[std::string(var->name.text())];
    if (const auto* choice = expr.as<Select>())
      return evaluate(choice->condition).i ? evaluate(choice->then_value)
                                           : evaluate(choice->else_value);
    if (const auto* cast = expr.as<Cast>())
      return evaluate_cast(reading(cast->value.type()), reading(expr.type()), evaluate(cast->value),
                           &undefined_);
    if (const auto* round = expr.as<RoundTo>())
      return evaluate_round_to(reading(expr.type()), round->grid, evaluate(round->value));
    if (const auto* op = expr.as<Op>()) {
      Scalar args[3] = {};
      for (std::size_t i = 0; i < op->args.size(); ++i) args[i] = evaluate(op->args[i]);
      return evaluate_op(op->op, reading(op->args[0].type()), args, &undefined_);
    }
    return constant_value(expr);
  }

  const MonoidDecl& declared_;
  std::unordered_map<std::string, Scalar> vars_;
  std::unordered_map<Expr, Scalar> known_;
  bool undefined_ = false;
};

bool same(const MonoidDecl& declared, const Values& a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_float(declared.types[i])) {
      if (a[i].i != b[i].i) return false;
      continue;
    }
    if (a[i].f == b[i].f) continue;
    const double size = 1 + std::fabs(a[i].f) + std::fabs(b[i].f);
    if (!(std::fabs(a[i].f - b[i].f) <= kMargin * size)) return false;
  }
  return true;
}

std::string shown(const MonoidDecl& declared, const Values& values) {
  std::string out = "(";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    out += is_float(declared.types[i])             ? format_double(values[i].f)
           : declared.types[i] == ScalarType::Bool ? (values[i].i ? "true" : "false")
                                                   : std::to_string(values[i].i);
  }
  return out + ")";
}

class Sampler {
 public:
  Values next(const MonoidDecl& declared) {
    Values out;
    for (ScalarType type : declared.types) {
      constexpr double kReals[] = {0, 1, -1, 0.5, 2, -2.5, 3, 4.25};
      constexpr std::int64_t kIntegers[] = {0, 1, -1, 2, 3, -5, 7, 100};
      const std::size_t at = random() % 8;
      Scalar value;
      value.i = 0;
      if (is_float(type))
        value.f = kReals[at];
      else
        value.i = type == ScalarType::Bool ? kIntegers[at] & 1 : wrap_to_type(type, kIntegers[at]);
      out.push_back(value);
    }
    return out;
  }

 private:
  std::uint64_t random() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  std::uint64_t state_ = 1;
};

}  // namespace

std::optional<Diagnostic> broken_law(const MonoidDecl& declared) {
  if (has_complex(declared)) {
    Context context;
    return broken_law(ComplexSplitter(context).monoid(declared));
  }
  Combiner combine(declared);
  Sampler sampler;
  Values identity;
  for (Expr value : declared.identity) identity.push_back(constant_value(value));
  const std::string name = in_backticks(declared.name.text());
  auto broken = [&](std::string law, std::string remedy, const Values& left, const Values& right,
                    std::initializer_list<std::pair<const char*, Values>> at) {
    Diagnostic d{
        Code::MonoidLaw, declared.span, name + " " + std::move(law), std::move(remedy), {}, {}};
    for (const auto& [which, value] : at) d.evidence.emplace_back(which, shown(declared, value));
    d.evidence.emplace_back("left", shown(declared, left));
    d.evidence.emplace_back("right", shown(declared, right));
    return d;
  };
  for (int sample = 0; sample < kSamples; ++sample) {
    const Values x = sampler.next(declared);
    const Values y = sampler.next(declared);
    const Values z = sampler.next(declared);
    for (const bool left : {true, false}) {
      const auto got = left ? combine(identity, x) : combine(x, identity);
      if (got && !same(declared, *got, x))
        return broken(left ? "changes a value that is combined after its identity"
                           : "changes a value that its identity is combined after",
                      "give the identity that changes nothing", *got, x, {{"x", x}});
    }
    const auto xy = combine(x, y);
    const auto yz = combine(y, z);
    const auto first = xy ? combine(*xy, z) : std::nullopt;
    const auto second = yz ? combine(x, *yz) : std::nullopt;
    if (first && second && !same(declared, *first, *second))
      return broken("is not associative: (x y) z differs from x (y z)",
                    "a reduction may be split anywhere; a recurrence is `scan(t, h = h0) ...`",
                    *first, *second, {{"x", x}, {"y", y}, {"z", z}});
    const auto yx = declared.commutative ? combine(y, x) : std::nullopt;
    if (xy && yx && !same(declared, *xy, *yx))
      return broken("is declared commutative, but x y differs from y x", "drop `commutative`", *xy,
                    *yx, {{"x", x}, {"y", y}});
  }
  return std::nullopt;
}

}  // namespace tilewright::ir

// SPDX-License-Identifier: Apache-2.0
#include "frontend/algebra/from_expr.h"

#include <bit>
#include <unordered_map>

#include "frontend/ir/reduction.h"

namespace tilewright::algebra {

using ir::Expr;
using ir::OpCode;
using ir::ScalarType;

namespace {

class Reader {
 public:
  Reader(TermStore& store, const Leaves& leaves) : store_(store), leaves_(leaves) {}

  Term read(Expr expr) {
    if (const auto known = scope_.find(expr); known != scope_.end()) return known->second;
    const Term out = ir::visit(expr, [&](const auto& node) { return make(node); });
    scope_.emplace(expr, out);
    return out;
  }

  Term fold(const ir::Fold& fold, int component) {
    if (fold.is_update() || !fold.state.empty()) return unknown(fold);
    // A scope of its own: the names of the fold's variables.
    const auto outer_scope = scope_;
    const auto outer_names = names_;
    scope_.clear();
    Domain domain;
    Conjunction bounds;
    for (std::size_t i = 0; i < fold.vars.size(); ++i) {
      const Term variable = store_.fresh_variable();
      if (fold.scan) {
        const Term last = this->variable(fold.vars[i]);
        bounds.push_back({variable, false});
        bounds.push_back({store_.subtract(last, variable), false});
      } else {
        const Term lower = read(fold.lower[i]);
        const Term upper = read(fold.upper[i]);
        scope_.clear();
        bounds.push_back({store_.subtract(variable, lower), false});
        bounds.push_back(
            {store_.subtract(store_.subtract(upper, variable), store_.integer(1)), false});
      }
      names_[fold.vars[i]] = variable;
      domain.variables.push_back(variable);
    }
    domain.parts.push_back(std::move(bounds));
    const Term out = over(fold, component, domain);
    scope_ = outer_scope;
    names_ = outer_names;
    if (fold.on_empty.empty()) return out;
    const Term empty_value = read(fold.on_empty[static_cast<std::size_t>(component)]);
    return store_.select(any_, out, empty_value);
  }

 private:
  Term over(const ir::Fold& fold, int component, const Domain& domain) {
    const Term always = store_.integer(1);
    const Term where = fold.where.empty() ? always : read(fold.where[0]);
    if (!fold.on_empty.empty()) {
      const Term one[] = {where};
      any_ = store_.fold("or", 0, domain, one, ScalarType::Bool);
    }
    const ScalarType type = fold.body[static_cast<std::size_t>(component)].type();
    const auto in_type = [&](Term value) {
      return ir::is_integer(type) ? store_.wrap(type, value) : value;
    };
    const bool number = ir::is_float(type) || type == ScalarType::Index;
    switch (fold.monoid_kind()) {
      case ir::Monoid::Sum:
        return in_type(store_.sum(domain, store_.guard(where, read(fold.body[0]))));
      case ir::Monoid::Max:
        if (number)
          return store_.maximum_over(
              domain, store_.select(where, read(fold.body[0]), store_.infinity(true)));
        break;
      case ir::Monoid::Min:
        if (number)
          return store_.minimum_over(
              domain, store_.select(where, read(fold.body[0]), store_.infinity(false)));
        break;
      case ir::Monoid::And: {
        const Term fails[] = {store_.guard(where, store_.negation(read(fold.body[0])))};
        return store_.negation(store_.fold("or", 0, domain, fails, ScalarType::Bool));
      }
      case ir::Monoid::Or: {
        const Term holds[] = {store_.guard(where, read(fold.body[0]))};
        return store_.fold("or", 0, domain, holds, ScalarType::Bool);
      }
      case ir::Monoid::Prod:
      case ir::Monoid::ArgMin:
      case ir::Monoid::ArgMax:
      case ir::Monoid::Last:
      case ir::Monoid::Declared: break;
    }
    std::vector<Term> bodies = {where};
    for (Expr body : fold.body) bodies.push_back(read(body));
    std::string name(fold.monoid.text());
    if (fold.scan) name += " scan";
    return store_.fold(name + " of " + std::string(ir::type_text(type)), component, domain, bodies,
                       type);
  }

  Term unknown(const ir::Fold&) {
    std::vector<Term> of;
    for (const auto& [name, term] : names_) of.push_back(term);
    return store_.unknown(of);
  }

  Term variable(Symbol name) {
    if (const auto known = names_.find(name); known != names_.end()) return known->second;
    const Term given = leaves_.variable ? leaves_.variable(name) : Term();
    return names_[name] = given ? given : store_.variable(name);
  }

  Term make(const ir::IntConst& node) {
    Term value = store_.integer(node.value);
    if (node.type == ScalarType::U64 && node.value < 0) {
      const Term half = store_.integer(std::int64_t{1} << 62);
      value = store_.add(value, store_.multiply(half, store_.integer(4)));
    }
    return value;
  }
  Term make(const ir::FloatConst& node) { return store_.real(node.value); }
  Term make(const ir::BoolConst& node) { return store_.integer(node.value ? 1 : 0); }
  Term make(const ir::Var& node) {
    if (node.type == ScalarType::Index) return variable(node.name);
    const Term given = leaves_.variable ? leaves_.variable(node.name) : Term();
    return given ? given : store_.read(node.name, {}, node.type);
  }
  Term make(const ir::Extent& node) {
    const Term given = leaves_.variable ? leaves_.variable(node.name) : Term();
    return given ? given : store_.extent(node.name);
  }
  Term make(const ir::Read& node) {
    std::vector<Term> indices;
    for (Expr index : node.indices) indices.push_back(read(index));
    const Term given = leaves_.read ? leaves_.read(node, indices) : Term();
    return given ? given : store_.read(node.tensor, indices, node.type);
  }
  Term make(const ir::Select& node) {
    const Term condition = read(node.condition);
    const Term otherwise = store_.negation(condition);
    const Term yes = store_.within(condition, arm(node.then_value, condition));
    return store_.select(condition, yes, store_.within(otherwise, arm(node.else_value, otherwise)));
  }

  // In a scope of its own: what is read again outside of it has its conditions there too.
  Term arm(Expr value, Term condition) {
    const auto outer_scope = scope_;
    const std::size_t before = store_.num_obligations();
    const Term out = read(value);
    store_.restrict_obligations(before, condition);
    scope_ = outer_scope;
    return out;
  }

  Term make(const ir::Saturate& node) { return function("saturate", node.type, read(node.value)); }
  Term make(const ir::RoundTo& node) {
    return function("round_to " + std::string(ir::type_text(node.grid)), node.type,
                    read(node.value));
  }
  Term make(const ir::Fold& node) { return fold(node, 0); }

  Term make(const ir::Cast& node) {
    const Term value = read(node.value);
    const ScalarType from = node.value.type();
    if (ir::is_float(node.type)) return value;
    if (node.type == ScalarType::Bool)
      return store_.negation(store_.equal_to(value, store_.integer(0)));
    if (ir::is_float(from)) return function("truncate", node.type, value);
    return node.type == ScalarType::Index ? value : store_.wrap(node.type, value);
  }

  Term function(const std::string& name, ScalarType type, Term arg) {
    const Term args[] = {arg};
    return store_.call(name + " to " + std::string(ir::type_text(type)), args, type);
  }

  Term make(const ir::Op& node) {
    std::vector<Term> args;
    for (Expr arg : node.args) args.push_back(read(arg));
    const ScalarType of = node.args[0].type();
    if (of == ScalarType::Bool && ir::is_comparison(node.op))
      return compare_truths(node.op, args[0], args[1]);
    if (leaves_.must_be_defined && ir::is_float(of)) require_defined(node.op, args);
    const Term out = operation(node.op, of, args);
    return ir::is_integer(node.type) ? store_.wrap(node.type, out) : out;
  }

  // Sufficient for the operation to have a value.
  void require_defined(OpCode op, const std::vector<Term>& a) {
    switch (op) {
      case OpCode::Add:
        store_.require(Condition::NotPosInf, a[0]);
        store_.require(Condition::NotPosInf, a[1]);
        return;
      case OpCode::Sub:
        store_.require(Condition::NotPosInf, a[0]);
        store_.require(Condition::Finite, a[1]);
        return;
      case OpCode::Mul:
      case OpCode::Fma:
      case OpCode::Div:
        store_.require(Condition::Finite, a[0]);
        store_.require(Condition::Finite, a[1]);
        if (op == OpCode::Fma) store_.require(Condition::NotPosInf, a[2]);
        if (op == OpCode::Div) store_.require(Condition::NonZero, a[1]);
        return;
      case OpCode::Exp:
      case OpCode::Exp2:
      case OpCode::Expm1: store_.require(Condition::NotPosInf, a[0]); return;
      case OpCode::Sqrt: store_.require(Condition::NonNegative, a[0]); return;
      case OpCode::Rsqrt:
      case OpCode::Log:
      case OpCode::Log2: store_.require(Condition::Positive, a[0]); return;
      case OpCode::Log1p:
        store_.require(Condition::Positive, store_.add(a[0], store_.integer(1)));
        return;
      default: return;
    }
  }

  Term compare_truths(OpCode op, Term a, Term b) {
    const Term less = store_.both(store_.negation(a), b);
    const Term greater = store_.both(a, store_.negation(b));
    switch (op) {
      case OpCode::Eq: return store_.negation(store_.either(less, greater));
      case OpCode::Ne: return store_.either(less, greater);
      case OpCode::Lt: return less;
      case OpCode::Le: return store_.negation(greater);
      case OpCode::Gt: return greater;
      default: return store_.negation(less);
    }
  }

  Term operation(OpCode op, ScalarType type, const std::vector<Term>& a) {
    // No number line: of complex numbers nothing is known but that equal operations are equal.
    if (ir::is_complex(type)) return opaque(op, type, a);
    switch (op) {
      case OpCode::Or: return store_.either(a[0], a[1]);
      case OpCode::And: return store_.both(a[0], a[1]);
      case OpCode::Not: return store_.negation(a[0]);
      case OpCode::Eq: return store_.equal_to(a[0], a[1]);
      case OpCode::Ne: return store_.negation(store_.equal_to(a[0], a[1]));
      case OpCode::Lt: return store_.less(a[0], a[1]);
      case OpCode::Le: return store_.negation(store_.less(a[1], a[0]));
      case OpCode::Gt: return store_.less(a[1], a[0]);
      case OpCode::Ge: return store_.negation(store_.less(a[0], a[1]));
      case OpCode::Add: return store_.add(a[0], a[1]);
      case OpCode::Sub: return store_.subtract(a[0], a[1]);
      case OpCode::Mul: return store_.multiply(a[0], a[1]);
      case OpCode::Div:
        return ir::is_float(type) ? store_.divide(a[0], a[1]) : store_.floor_divide(a[0], a[1]);
      case OpCode::Mod: return store_.modulo(a[0], a[1]);
      case OpCode::Neg: return store_.negate(a[0]);
      case OpCode::Min: return store_.minimum(a[0], a[1]);
      case OpCode::Max: return store_.maximum(a[0], a[1]);
      case OpCode::Abs: return store_.maximum(a[0], store_.negate(a[0]));
      case OpCode::Fma: return store_.add(store_.multiply(a[0], a[1]), a[2]);
      case OpCode::Floor: return store_.floor(a[0]);
      case OpCode::Ceil: return store_.negate(store_.floor(store_.negate(a[0])));
      case OpCode::Sqrt: return store_.power(a[0], 1, 2);
      case OpCode::Rsqrt: return store_.power(a[0], -1, 2);
      case OpCode::Exp: return store_.exp(a[0]);
      case OpCode::Exp2: return store_.exp(store_.multiply(a[0], ln2()));
      case OpCode::Expm1: return store_.subtract(store_.exp(a[0]), store_.integer(1));
      case OpCode::Log: return store_.log(a[0]);
      case OpCode::Log2: return store_.divide(store_.log(a[0]), ln2());
      case OpCode::Log1p: return store_.log(store_.add(store_.integer(1), a[0]));
      case OpCode::Rint:
      case OpCode::Tanh:
      case OpCode::Erf:
      case OpCode::Sin:
      case OpCode::Cos: return store_.call(ir::op_info(op).text, a, type);
      case OpCode::BitAnd:
      case OpCode::BitOr:
      case OpCode::BitXor:
      case OpCode::BitNot:
      case OpCode::ShiftLeft:
      case OpCode::ShiftRight:
      case OpCode::RandomBits:
      case OpCode::Complex:
      case OpCode::Re:
      case OpCode::Im:
      case OpCode::Conj: return opaque(op, type, a);
    }
    __builtin_unreachable();
  }

  Term opaque(OpCode op, ScalarType type, const std::vector<Term>& a) {
    return store_.call(
        std::string(ir::op_info(op).text) + " of " + std::string(ir::type_text(type)), a, type);
  }

  Term ln2() { return store_.log(store_.integer(2)); }

  TermStore& store_;
  const Leaves& leaves_;
  std::unordered_map<Expr, Term> scope_;
  std::unordered_map<Symbol, Term> names_;
  Term any_;
};

}  // namespace

Term from_expr(TermStore& store, Expr expr, const Leaves& leaves, int component) {
  Reader reader(store, leaves);
  Expr inside = expr;
  if (const auto* cast = expr.as<ir::Cast>();
      cast && cast->value.as<ir::Fold>() && ir::is_float(cast->type))
    inside = cast->value;
  if (const auto* fold = inside.as<ir::Fold>()) return reader.fold(*fold, component);
  return reader.read(expr);
}

Term input_cell(TermStore& store, const ir::Input& input, std::span<const Term> indices) {
  const Term cell = store.read(input.name, indices, input.type);
  if (!input.facts.clamp) return cell;
  const Leaves extents;
  const Term lower = from_expr(store, input.facts.lower, extents);
  const Term last = store.subtract(from_expr(store, input.facts.upper, extents), store.integer(1));
  return store.maximum(store.minimum(cell, last), lower);
}

namespace {

// The equations of an algorithm, each as a term for each list of indices that it was asked for.
struct Inliner : std::enable_shared_from_this<Inliner> {
  Inliner(TermStore& terms, const ir::Algorithm& equations) : store(terms), algorithm(equations) {}

  Leaves leaves() {
    Leaves out;
    out.read = [self = shared_from_this()](const ir::Read& read, std::span<const Term> indices) {
      return self->read(read, indices);
    };
    return out;
  }

  Term read(const ir::Read& read, std::span<const Term> indices) {
    if (const ir::Input* input = algorithm.find_input(read.tensor))
      return input_cell(store, *input, indices);
    const ir::Equation* equation = algorithm.definition(read.tensor);
    if (!equation) return {};
    std::string key(read.tensor.text());
    for (Term index : indices)
      key += ' ' + std::to_string(std::bit_cast<std::uintptr_t>(index.node()));
    if (const auto found = known.find(key); found != known.end()) return found->second;
    int component = 0;
    for (std::size_t i = 0; i < equation->parts.size(); ++i)
      if (equation->parts[i].name == read.tensor) component = static_cast<int>(i);
    // Not owned by itself: these leaves live no longer than this call.
    Leaves inside;
    inside.read = [this](const ir::Read& r, std::span<const Term> at) { return this->read(r, at); };
    const std::vector<Term> values(indices.begin(), indices.end());
    inside.variable = [&](Symbol name) {
      for (std::size_t i = 0; i < equation->indices.size(); ++i)
        if (equation->indices[i] == name) return values[i];
      return Term();
    };
    return known[key] = from_expr(store, equation->value, inside, component);
  }

  TermStore& store;
  const ir::Algorithm& algorithm;
  std::unordered_map<std::string, Term> known;
};

}  // namespace

Leaves inline_equations(TermStore& store, const ir::Algorithm& algorithm) {
  return std::make_shared<Inliner>(store, algorithm)->leaves();
}

}  // namespace tilewright::algebra

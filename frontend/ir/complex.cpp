// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/complex.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_set>

#include "frontend/ir/walk.h"

namespace tilewright::ir {

namespace {

bool is_product(Expr expr) {
  const auto* op = expr.as<Op>();
  return op && op->op == OpCode::Mul;
}

// A float sum adds a term that is a product by one fma (interpret.h). What was none as it was written must not become
// one by the split, since the pass that fuses sees Programs as they are written. Two changes of sign are exact.
Expr not_fused(Context& context, Expr term) {
  if (!is_product(term)) return term;
  return context.op(OpCode::Neg, {context.op(OpCode::Neg, {term})});
}

}  // namespace

Symbol ComplexSplitter::part_name(Symbol name, bool imaginary) {
  return to_.symbol(std::string(name.text()) + (imaginary ? "'im" : "'re"));
}

// What has no children is made anew, since its node may belong to another context.
Expr ComplexSplitter::leaf(Expr expr) {
  if (const auto* n = expr.as<IntConst>()) return to_.integer(n->type, n->value);
  if (const auto* n = expr.as<FloatConst>()) return to_.real(n->type, n->value);
  if (const auto* n = expr.as<BoolConst>()) return to_.boolean(n->value);
  if (const auto* n = expr.as<Var>()) return to_.var(n->name, n->type);
  if (const auto* n = expr.as<Extent>()) return to_.extent(n->name);
  return {};
}

Expr ComplexSplitter::real(Expr expr) {
  if (auto it = reals_.find(expr.index()); it != reals_.end()) return it->second;
  Expr out = leaf(expr);
  const auto* op = expr.as<Op>();
  if (!out && op && is_complex(op->args[0].type())) out = real_op(*op);
  if (!out && expr.as<Fold>()) out = real_fold(*expr.as<Fold>());
  if (!out) out = rebuild(to_, expr, [&](Expr child) { return real(child); });
  reals_.emplace(expr.index(), out);
  return out;
}

Expr ComplexSplitter::real_fold(const Fold& fold) {
  std::unordered_set<Expr> unfused;
  for (Expr term : fold.body)
    if (is_float(term.type()) && !is_product(term)) unfused.insert(term);
  return rebuild(to_, Expr(&fold), [&](Expr child) {
    return unfused.contains(child) ? not_fused(to_, real(child)) : real(child);
  });
}

Expr ComplexSplitter::real_op(const Op& op) {
  const Parts z = parts(op.args[0]);
  switch (op.op) {
    case OpCode::Re: return z.re;
    case OpCode::Im: return z.im;
    case OpCode::Abs: return magnitude(z);
    default: break;
  }
  const Parts w = parts(op.args[1]);
  const Expr re = to_.op(op.op, {z.re, w.re});
  const Expr im = to_.op(op.op, {z.im, w.im});
  return to_.op(op.op == OpCode::Eq ? OpCode::And : OpCode::Or, {re, im});
}

Parts ComplexSplitter::parts(Expr expr) {
  if (auto it = parts_.find(expr.index()); it != parts_.end()) return it->second;
  const Parts out = split(expr);
  parts_.emplace(expr.index(), out);
  return out;
}

Parts ComplexSplitter::split(Expr expr) {
  const ScalarType part = part_type(expr.type());
  if (const auto* read = expr.as<Read>()) {
    std::vector<Expr> indices;
    for (Expr index : read->indices) indices.push_back(real(index));
    return {to_.read(part_name(read->tensor, false), indices, part),
            to_.read(part_name(read->tensor, true), indices, part)};
  }
  if (const auto* var = expr.as<Var>())
    return {to_.var(part_name(var->name, false), part), to_.var(part_name(var->name, true), part)};
  if (const auto* choice = expr.as<Select>()) {
    const Expr condition = real(choice->condition);
    const Parts a = parts(choice->then_value);
    const Parts b = parts(choice->else_value);
    return {to_.select(condition, a.re, b.re), to_.select(condition, a.im, b.im)};
  }
  if (const auto* cast = expr.as<Cast>()) {
    if (!is_complex(cast->value.type()))
      return {to_.cast(part, real(cast->value)), to_.real(part, 0)};
    const Parts z = parts(cast->value);
    return {to_.cast(part, z.re), to_.cast(part, z.im)};
  }
  if (const auto* fold = expr.as<Fold>()) return split_sum(*fold);
  return split_op(*expr.as<Op>());
}

Parts ComplexSplitter::split_sum(const Fold& from) {
  std::vector<Expr> lower, upper, where, at;
  for (const auto& [list, out] : {std::pair{from.lower, &lower}, std::pair{from.upper, &upper},
                                  std::pair{from.where, &where}, std::pair{from.at, &at}})
    for (Expr e : list) out->push_back(real(e));
  auto part = [&](bool imaginary) {
    auto of = [&](NodeList<Expr> list) {
      std::vector<Expr> out;
      for (Expr e : list) out.push_back(imaginary ? parts(e).im : parts(e).re);
      return out;
    };
    std::vector<Expr> body = of(from.body);
    body[0] = not_fused(to_, body[0]);
    const std::vector<Expr> on_empty = of(from.on_empty), base = of(from.base);
    Fold out = from;
    out.lower = lower;
    out.upper = upper;
    out.where = where;
    out.at = at;
    out.body = body;
    out.on_empty = on_empty;
    out.base = base;
    return to_.fold(out);
  };
  return {part(false), part(true)};
}

Expr ComplexSplitter::fold(const Fold& from, Symbol monoid) {
  std::vector<Expr> lower, upper, where, at, body, on_empty, base;
  std::vector<Symbol> state;
  for (const auto& [list, out] :
       {std::pair{from.lower, &lower}, std::pair{from.upper, &upper}, std::pair{from.where, &where},
        std::pair{from.at, &at}, std::pair{from.body, &body}, std::pair{from.on_empty, &on_empty},
        std::pair{from.base, &base}})
    for (Expr e : list) append(e, *out);
  for (std::size_t i = 0; i < from.state.size(); ++i)
    append(from.state[i], from.body[i].type(), state);
  Fold out = from;
  out.monoid = monoid;
  out.lower = lower;
  out.upper = upper;
  out.where = where;
  out.at = at;
  out.body = body;
  out.on_empty = on_empty;
  out.base = base;
  out.state = state;
  return to_.fold(out);
}

void ComplexSplitter::append(Expr expr, std::vector<Expr>& out) {
  if (!is_complex(expr.type())) return out.push_back(real(expr));
  const Parts z = parts(expr);
  out.insert(out.end(), {z.re, z.im});
}

void ComplexSplitter::append(Symbol name, ScalarType type, std::vector<Symbol>& out) {
  if (!is_complex(type)) return out.push_back(name);
  for (bool imaginary : {false, true}) out.push_back(part_name(name, imaginary));
}

MonoidDecl ComplexSplitter::monoid(const MonoidDecl& declared) {
  MonoidDecl out = declared;
  out.fields.clear();
  out.types.clear();
  out.identity.clear();
  out.combine.clear();
  for (std::size_t i = 0; i < declared.fields.size(); ++i) {
    append(declared.fields[i], declared.types[i], out.fields);
    out.types.resize(out.fields.size(), part_type(declared.types[i]));
    append(declared.identity[i], out.identity);
    append(declared.combine[i], out.combine);
  }
  return out;
}

MonoidDecl ComplexSplitter::product(ScalarType type) {
  const ScalarType part = part_type(type);
  MonoidDecl out;
  out.name = to_.symbol("prod'" + std::string(type_text(type)));
  out.left = to_.symbol("a");
  out.right = to_.symbol("b");
  Expr sides[2][2];
  for (const std::string field : {"re", "im"}) {
    for (int side = 0; side < 2; ++side)
      sides[side][out.fields.size()] = to_.var(to_.symbol((side ? "b." : "a.") + field), part);
    out.fields.push_back(to_.symbol(field));
    out.types.push_back(part);
  }
  out.identity = {to_.real(part, 1), to_.real(part, 0)};
  const Parts combined = multiply({sides[0][0], sides[0][1]}, {sides[1][0], sides[1][1]});
  out.combine = {combined.re, combined.im};
  out.commutative = true;
  return out;
}

Parts ComplexSplitter::split_op(const Op& op) {
  if (op.op == OpCode::Complex) return {real(op.args[0]), real(op.args[1])};
  const Parts z = parts(op.args[0]);
  auto negative = [&](Expr x) { return to_.op(OpCode::Neg, {x}); };
  if (op.op == OpCode::Conj) return {z.re, negative(z.im)};
  if (op.op == OpCode::Neg) return {negative(z.re), negative(z.im)};
  const Parts w = parts(op.args[1]);
  if (op.op == OpCode::Mul) return multiply(z, w);
  if (op.op == OpCode::Div) return divide(z, w);
  return {to_.op(op.op, {z.re, w.re}), to_.op(op.op, {z.im, w.im})};
}

Parts ComplexSplitter::multiply(const Parts& z, const Parts& w) {
  return {to_.sub(to_.mul(z.re, w.re), to_.mul(z.im, w.im)),
          to_.add(to_.mul(z.re, w.im), to_.mul(z.im, w.re))};
}

Parts ComplexSplitter::divide(const Parts& z, const Parts& w) {
  auto size = [&](Expr x) { return to_.op(OpCode::Abs, {x}); };
  auto quotient = [&](Expr x, Expr y) { return to_.op(OpCode::Div, {x, y}); };
  const Expr first = to_.op(OpCode::Ge, {size(w.re), size(w.im)});
  const Expr r = quotient(to_.select(first, w.im, w.re), to_.select(first, w.re, w.im));
  const Expr e =
      to_.select(first, to_.add(w.re, to_.mul(w.im, r)), to_.add(to_.mul(w.re, r), w.im));
  const Expr re =
      to_.select(first, to_.add(z.re, to_.mul(z.im, r)), to_.add(to_.mul(z.re, r), z.im));
  const Expr im =
      to_.select(first, to_.sub(z.im, to_.mul(z.re, r)), to_.sub(to_.mul(z.im, r), z.re));
  return {quotient(re, e), quotient(im, e)};
}

Expr ComplexSplitter::magnitude(const Parts& z) {
  const ScalarType part = z.re.type();
  const Expr a = to_.op(OpCode::Abs, {z.re});
  const Expr b = to_.op(OpCode::Abs, {z.im});
  const Expr larger = to_.select(to_.op(OpCode::Ge, {a, b}), a, b);
  const Expr smaller = to_.select(to_.op(OpCode::Ge, {a, b}), b, a);
  const Expr ratio = to_.op(OpCode::Div, {smaller, larger});
  const Expr root = to_.op(OpCode::Sqrt, {to_.add(to_.real(part, 1), to_.mul(ratio, ratio))});
  const Expr infinite =
      to_.op(OpCode::Eq, {larger, to_.real(part, std::numeric_limits<double>::infinity())});
  const Expr zero = to_.op(OpCode::Eq, {smaller, to_.real(part, 0)});
  return to_.select(to_.op(OpCode::Or, {zero, infinite}), larger, to_.mul(larger, root));
}

namespace {

bool holds_complex(Expr root) {
  bool found = false;
  if (root) walk(root, [&](Expr e) { found |= is_complex(e.type()); });
  return found;
}

class AlgorithmSplitter {
 public:
  AlgorithmSplitter(Context& to, const Algorithm& from) : to_(to), from_(from), splitter_(to) {}

  Algorithm run() {
    out_ = from_;
    reals(out_.requirements);
    for (MonoidDecl& declared : out_.monoids)
      if (has_complex(declared)) declared = splitter_.monoid(declared);
    out_.inputs.clear();
    for (const Input& input : from_.inputs) add(input);
    out_.equations.clear();
    std::vector<std::size_t> places;  // of what each equation became
    for (const Equation& equation : from_.equations) {
      places.push_back(out_.equations.size());
      add(equation);
    }
    places.push_back(out_.equations.size());
    for (Loop& loop : out_.loops) split(loop, places);
    return std::move(out_);
  }

 private:
  void reals(std::vector<Expr>& exprs) {
    for (Expr& e : exprs) e = splitter_.real(e);
  }

  void add(Input input) {
    reals(input.shape);
    const ScalarType type = input.type;
    std::vector<Symbol> names;
    splitter_.append(input.name, type, names);
    input.type = part_type(type);
    if (input.facts.lower) input.facts.lower = splitter_.real(input.facts.lower);
    if (input.facts.upper) input.facts.upper = splitter_.real(input.facts.upper);
    for (Symbol name : names) {
      input.name = name;
      out_.inputs.push_back(input);
    }
  }

  void split(Loop& loop, const std::vector<std::size_t>& places) {
    loop.trips = splitter_.real(loop.trips);
    if (loop.condition) loop.condition = splitter_.real(loop.condition);
    loop.first = places[loop.first];
    loop.last = places[loop.last];
    const std::vector<Carry> given = std::move(loop.carries);
    loop.carries.clear();
    for (const Carry& carry : given) {
      const ScalarType type = *from_.type_of(carry.name);
      std::vector<Symbol> names, starts, nexts;
      splitter_.append(carry.name, type, names);
      splitter_.append(carry.start, type, starts);
      splitter_.append(carry.next, type, nexts);
      for (std::size_t i = 0; i < names.size(); ++i)
        loop.carries.push_back({names[i], starts[i], nexts[i]});
    }
  }

  void add(Equation equation) {
    reals(equation.shape);
    const Fold* fold = equation.fold();
    const bool complex_terms =
        fold && std::any_of(fold->body.begin(), fold->body.end(),
                            [](Expr term) { return is_complex(term.type()); });
    if (complex_terms && fold->monoid_kind() != Monoid::Sum) return add_fold(equation, *fold);
    if (!is_complex(equation.type)) {
      equation.value = splitter_.real(equation.value);
      out_.equations.push_back(std::move(equation));
      return;
    }
    add_parts(equation, splitter_.parts(equation.value));
  }

  void add_parts(Equation equation, const Parts& value) {
    const Symbol name = equation.name;
    const Symbol into = equation.into;
    equation.type = part_type(equation.type);
    for (bool imaginary : {false, true}) {
      equation.name = splitter_.part_name(name, imaginary);
      if (into.valid()) equation.into = splitter_.part_name(into, imaginary);
      equation.value = imaginary ? value.im : value.re;
      out_.equations.push_back(equation);
    }
  }

  // One equation that defines the parts of all fields; what converts it, or takes the storage of an argument, follows
  // as an equation of its own.
  void add_fold(const Equation& equation, const Fold& fold) {
    const bool follows = equation.value.as<Cast>() || equation.into.valid();
    Equation folded = equation;
    if (follows) {
      folded.name = to_.symbol(std::string(equation.name.text()) + "'fold");
      folded.type = fold.type;
      folded.is_output = false;
      folded.into = {};
    }
    folded.value = splitter_.fold(fold, monoid_for(fold));
    std::vector<TensorPart> parts;
    for (const TensorPart& part : folded.tensors()) {
      std::vector<Symbol> names;
      splitter_.append(part.name, part.type, names);
      for (Symbol name : names) parts.push_back({name, part_type(part.type)});
    }
    folded.parts = parts;
    folded.type = parts[0].type;
    out_.equations.push_back(folded);
    if (!follows) return;
    std::vector<Expr> indices;
    for (Symbol index : equation.indices) indices.push_back(to_.var(index));
    const ScalarType type = part_type(equation.type);
    Expr values[2];
    for (std::size_t i = 0; i < 2; ++i)
      values[i] = to_.cast(type, to_.read(parts[i].name, indices, parts[i].type));
    add_parts(equation, {values[0], values[1]});
  }

  Symbol monoid_for(const Fold& fold) {
    if (fold.monoid_kind() != Monoid::Prod) return fold.monoid;
    MonoidDecl product = splitter_.product(fold.body[0].type());
    const Symbol name = product.name;
    if (!out_.find_monoid(name)) out_.monoids.push_back(std::move(product));
    return name;
  }

  Context& to_;
  const Algorithm& from_;
  ComplexSplitter splitter_;
  Algorithm out_;
};

}  // namespace

bool has_complex(const MonoidDecl& declared) {
  bool found = false;
  for (const auto& exprs : {declared.identity, declared.combine})
    for (Expr e : exprs) found |= holds_complex(e);
  return found;
}

bool has_complex(const Algorithm& algorithm) {
  bool found = false;
  for (Expr e : algorithm.requirements) found |= holds_complex(e);
  for (const Loop& loop : algorithm.loops) found |= holds_complex(loop.condition);
  for (const MonoidDecl& declared : algorithm.monoids) found |= has_complex(declared);
  for (const Input& input : algorithm.inputs) found |= is_complex(input.type);
  for (const Equation& equation : algorithm.equations) found |= holds_complex(equation.value);
  return found;
}

Algorithm split_complex(Context& to, const Algorithm& algorithm) {
  return AlgorithmSplitter(to, algorithm).run();
}

Tensor part_of(const Tensor& tensor, bool imaginary) {
  Tensor out = make_tensor(part_type(tensor.type), tensor.shape);
  for (std::size_t i = 0; i < out.data.size(); ++i)
    out.data[i] = tensor.data[2 * i + (imaginary ? 1 : 0)];
  return out;
}

Tensor join_parts(ScalarType type, const Tensor& re, const Tensor& im) {
  Tensor out = make_tensor(type, re.shape);
  for (std::size_t i = 0; i < re.data.size(); ++i) {
    out.data[2 * i] = re.data[i];
    out.data[2 * i + 1] = im.data[i];
  }
  return out;
}

}  // namespace tilewright::ir

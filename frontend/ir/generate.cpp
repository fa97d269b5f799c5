// SPDX-License-Identifier: Apache-2.0
//
// Names of each sort are disjoint: M N K are extents, x inputs, y equations, i indices, r fold variables.
#include "frontend/ir/generate.h"

#include <algorithm>
#include <cmath>

#include "frontend/ir/generate_monoids.h"
#include "frontend/ir/index_math.h"
#include "frontend/ir/random.h"
#include "frontend/ir/reduction.h"

namespace tilewright::ir {

namespace {

// A variable in scope and a size that it stays below.
struct BoundVar {
  Expr var;
  Expr below;
};

class Generator {
 public:
  Generator(Context& context, std::uint64_t seed, const GenerateOptions& options)
      : context_(context), random_(seed), options_(options), types_(options.types) {
    if (types_.empty()) add_types();
  }

  Algorithm run() {
    algorithm_.name = context_.symbol("generated");
    make_extents();
    const int inputs = random_.between(1, options_.max_inputs);
    for (int i = 0; i < inputs; ++i) make_input(i);
    const int equations = random_.between(1, options_.max_equations);
    for (int i = 0; i < equations; ++i) {
      if (options_.loops && random_.chance(12)) {
        make_loop(i);
        if (random_.chance(30)) make_loop(i + 20);  // which begins where that one ends
      }
      make_equation(i, i + 1 == equations);
    }
    return std::move(algorithm_);
  }

 private:
  // Every type of a tensor; the common ones more often.
  void add_types() {
    types_ = {ScalarType::F32, ScalarType::F32, ScalarType::F32,  ScalarType::F32,
              ScalarType::F64, ScalarType::F16, ScalarType::BF16, ScalarType::I32,
              ScalarType::I64, ScalarType::I8,  ScalarType::Bool};
    for (int i = 0; i < kNumScalarTypes; ++i)
      if (const auto type = static_cast<ScalarType>(i); type != ScalarType::Index)
        types_.push_back(type);
  }

  void make_extents() {
    constexpr std::string_view kNames[] = {"M", "N", "K"};
    const int count = random_.between(1, 3);
    for (int i = 0; i < count; ++i) {
      ExtentDecl extent;
      extent.name = context_.symbol(kNames[i]);
      if (options_.declarations && random_.chance(20)) extent.min = random_.between(1, 3);
      if (options_.declarations && random_.chance(20)) extent.max = random_.between(16, 4096);
      if (options_.declarations && random_.chance(15)) extent.multiple_of = random_.between(2, 4);
      algorithm_.extents.push_back(extent);
      extents_.push_back(context_.extent(extent.name));
    }
    if (options_.declarations && random_.chance(40)) make_requirement();
  }

  // True for every size below a million, so that sizes are easy to find.
  void make_requirement() {
    const Expr a = random_.pick(extents_);
    const Expr b = random_.pick(extents_);
    const Expr large = context_.index(1000000);
    const Expr forms[] = {
        context_.lt(a, large),
        context_.le(a, context_.add(b, large)),
        context_.op(OpCode::Or, {context_.le(context_.index(1), a), context_.lt(b, large)}),
        context_.op(OpCode::Not, {context_.op(OpCode::Eq, {a, large})}),
    };
    const Expr form = forms[random_.between(0, 3)];
    if (!form.as<BoolConst>()) algorithm_.requirements.push_back(form);
  }

  Expr random_size() {
    const Expr extent = random_.pick(extents_);
    switch (random_.between(0, 9)) {
      case 0: return context_.index(random_.between(1, 5));
      case 1: return context_.add(extent, context_.index(random_.between(1, 3)));
      case 2: return context_.add(context_.mul(extent, context_.index(2)), context_.index(1));
      case 3: return context_.ceil_div(extent, 2);
      default: return extent;
    }
  }

  std::vector<Expr> random_shape() {
    std::vector<Expr> shape;
    const int rank = random_.between(random_.chance(10) ? 0 : 1, options_.max_rank);
    for (int i = 0; i < rank; ++i) shape.push_back(random_size());
    return shape;
  }

  void make_input(int number) {
    Input input;
    input.name = context_.symbol("x" + std::to_string(number));
    input.type = random_.pick(types_);
    input.shape = random_shape();
    input.is_const = random_.chance(25);
    if (random_.chance(35)) make_facts(input);
    tensors_.push_back({input.name, input.type, input.shape, false});
    algorithm_.inputs.push_back(std::move(input));
  }

  // A tensor of indices.
  void make_facts(Input& input) {
    input.type = random_.chance(70) ? ScalarType::I32 : ScalarType::I64;
    while (input.shape.size() > 1) input.shape.pop_back();
    Facts& facts = input.facts;
    facts.lower = context_.index(0);
    facts.upper = random_size();
    facts.clamp = random_.chance(30);
    if (!input.shape.empty()) {
      facts.monotone = random_.chance(20);
      facts.injective = !facts.clamp && !facts.monotone && random_.chance(15);
    }
    facts.assumed = !facts.clamp && random_.chance(15);
    fact_tensors_.push_back(input);
  }

  // A value below `size` that a tensor holds, or null. Cells of rank 0 or at a variable of that range.
  Expr data_below(Expr size) {
    for (const Input& input : fact_tensors_) {
      if (!(input.facts.upper == size)) continue;
      if (input.shape.empty())
        return context_.cast(ScalarType::Index, context_.read(input.name, {}, input.type));
      for (const BoundVar& v : vars_) {
        if (!(v.below == input.shape[0])) continue;
        const Expr at[] = {v.var};
        return context_.cast(ScalarType::Index, context_.read(input.name, at, input.type));
      }
    }
    return {};
  }

  // A cell of a tensor, or nothing where there is none.
  bool make_view(Equation& equation) {
    const TensorInfo& tensor = random_.pick(tensors_);
    std::vector<Expr> indices;
    Expr guard = context_.boolean(true);
    for (Expr size : tensor.shape) indices.push_back(index_below(size, guard));
    equation.type = tensor.type;
    equation.value =
        context_.select(guard, context_.read(tensor.name, indices, tensor.type), zero(tensor.type));
    equation.is_view = true;
    equation.is_output = false;
    return tensor.may_be_huge;
  }

  // A loop over a body of one or two equations, that starts from some tensor and goes on with one like it.
  void make_loop(int number) {
    const TensorInfo start = random_.pick(tensors_);
    const std::string suffix = std::to_string(number);
    Loop loop;
    loop.var = context_.symbol("l" + suffix);
    loop.trips = random_.chance(50) ? context_.index(random_.between(0, 3))
                                    : context_.min(random_.pick(extents_), context_.index(3));
    loop.first = algorithm_.equations.size();
    const std::size_t place = algorithm_.loops.size();
    const std::size_t outer = loop_vars_.size();
    const Symbol carried = context_.symbol("c" + suffix);
    const Symbol next = context_.symbol("n" + suffix);
    loop.carries.push_back({carried, start.name, next});
    if (random_.chance(30))
      loop.carries.push_back({context_.symbol("d" + suffix), start.name, carried});
    // What grows from iteration to iteration may become large.
    std::vector<TensorInfo> after = tensors_;
    for (const Carry& carry : loop.carries)
      after.push_back({carry.name, start.type, start.shape, true});
    algorithm_.loops.push_back(loop);
    tensors_ = after;
    vars_.clear();
    loop_vars_.push_back({context_.extent(loop.var), loop.trips});
    if (random_.chance(40)) {
      vars_ = loop_vars_;
      loop.condition = value(ScalarType::Bool, 2);
    }
    if (random_.chance(40)) define("t" + suffix, random_.pick(types_), random_shape(), Role::Local);
    if (outer == 0 && random_.chance(15)) make_loop(number + 10);
    define("n" + suffix, start.type, start.shape, Role::Exact);
    loop.last = algorithm_.equations.size();
    algorithm_.loops[place] = loop;
    loop_vars_.resize(outer);
    tensors_ = after;
  }

  void make_equation(int number, bool last) {
    std::string name = "y" + std::to_string(number);
    if (options_.declarations && random_.chance(10)) name += ".part";
    const ScalarType type = random_.pick(types_);
    const std::vector<Expr> shape = random_shape();
    const bool output = last || random_.chance(20);
    if (output && options_.in_place && random_.chance(15) && make_in_place(name)) return;
    define(name, type, shape, output ? (last ? Role::Last : Role::Output) : Role::Local);
  }

  // An output in the storage of an input of which nothing is declared.
  bool make_in_place(const std::string& name) {
    for (const Input& input : algorithm_.inputs) {
      if (input.is_const || input.facts.any() || algorithm_.new_value(input.name)) continue;
      define(name, input.type, input.shape, Role::Exact);
      algorithm_.equations.back().is_output = true;
      algorithm_.equations.back().into = input.name;
      return true;
    }
    return false;
  }

  // Exact: one tensor of the type and shape that are given.
  enum class Role : std::uint8_t { Local, Output, Last, Exact };
  void define(const std::string& name, ScalarType type, const std::vector<Expr>& shape, Role role) {
    Equation equation;
    equation.name = context_.symbol(name);
    equation.type = type;
    equation.shape = shape;
    equation.is_output = role == Role::Output || role == Role::Last;
    const bool last = role == Role::Last;
    vars_.clear();
    for (std::size_t i = 0; i < equation.shape.size(); ++i) {
      equation.indices.push_back(context_.symbol("i" + std::to_string(i)));
      vars_.push_back({context_.var(equation.indices.back()), equation.shape[i]});
    }
    vars_.insert(vars_.end(), loop_vars_.begin(), loop_vars_.end());
    const int choice = random_.between(0, 99);
    bool huge_view = false;
    if (role == Role::Exact)
      equation.value = choice < 70 || type == ScalarType::Bool ? value(type, options_.max_depth)
                                                               : make_fold(type);
    else if (!last && random_.chance(8))
      huge_view = make_view(equation);
    else if (choice < 40)
      equation.value = value(equation.type, options_.max_depth);
    else if (choice < 70 && equation.type != ScalarType::Bool)
      equation.value = make_fold(equation.type);
    else if (choice < 85)
      equation.value = make_reduction(equation.type);
    else if (choice < 93 && !equation.shape.empty())
      equation.value = make_scan(equation);
    else
      equation.value = make_update(equation);
    equation.type = equation.value.type();
    // An empty `min` or `max` is infinite and a long `prod` may become so.
    const Fold* fold = equation.fold();
    const bool huge = huge_view || (fold && fold->monoid_kind() != Monoid::Sum);
    const auto names = fold ? part_names(algorithm_, *fold) : std::vector<std::string>();
    for (std::size_t i = 0; i < names.size(); ++i)
      equation.parts.push_back({context_.symbol(name + "." + names[i]), fold->body[i].type()});
    for (const TensorPart& part : equation.tensors())
      tensors_.push_back({part.name, part.type, equation.shape, huge});
    algorithm_.equations.push_back(std::move(equation));
  }

  struct Ranges {
    std::vector<Symbol> vars;
    std::vector<Expr> lower;
    std::vector<Expr> upper;
  };

  // Variables of a fold, which are in scope from here on.
  Ranges make_ranges() {
    Ranges out;
    const int count = random_.between(1, options_.max_fold_vars);
    for (int i = 0; i < count; ++i) {
      Expr below = random_size();
      Expr high = below;
      // Ragged: as far as the data says.
      if (const Expr data = random_.chance(20) ? data_below(below) : Expr()) high = data;
      // Triangular: up to and with an outer index or an earlier variable.
      if (high == below && !vars_.empty() && random_.chance(25)) {
        const BoundVar var = random_.pick(vars_);
        high = context_.add(var.var, context_.index(1));
        below = var.below;
      }
      out.lower.push_back(context_.index(random_.chance(20) ? random_.between(1, 2) : 0));
      out.upper.push_back(high);
      out.vars.push_back(context_.symbol("r" + std::to_string(i)));
      vars_.push_back({context_.var(out.vars.back()), below});
    }
    return out;
  }

  // A plain fold of this type, or of a float type under a cast.
  Expr make_fold(ScalarType type) {
    const bool under_cast = is_storage_float(type) || (is_float(type) && random_.chance(30));
    const ScalarType body_type = under_cast ? ScalarType::F32 : type;
    const std::size_t outer = vars_.size();
    const Ranges ranges = make_ranges();
    Expr body = value(body_type, options_.max_depth - 1);
    // Sums of products are what most folds are.
    if (random_.chance(30)) body = context_.mul(body, value(body_type, options_.max_depth - 1));
    vars_.resize(outer);
    return context_.cast(type, context_.fold(random_.pick(numeric_monoids(body_type)), ranges.vars,
                                             ranges.lower, ranges.upper, body));
  }

  // A monoid of the language for values of this type, or a declared one; the types of its fields.
  Symbol pick_monoid(ScalarType type, std::vector<ScalarType>& types) {
    types = {type};
    if (type == ScalarType::Bool)
      return context_.symbol(monoid_text(random_.chance(50) ? Monoid::And : Monoid::Or));
    // Values that are stored and not computed with have no sum: some other monoid.
    if (is_storage_float(type) || random_.chance(30)) return declared_monoid(types);
    if (!is_complex(type) && random_.chance(40)) {
      types.push_back(ScalarType::I64);
      return context_.symbol(monoid_text(random_.chance(50) ? Monoid::ArgMin : Monoid::ArgMax));
    }
    return context_.symbol(monoid_text(random_.pick(numeric_monoids(type))));
  }

  Symbol declared_monoid(std::vector<ScalarType>& types) {
    constexpr std::string_view kNames[] = {"maps", "span", "mean"};
    MonoidDecl declared = sample_monoid(context_, kNames[random_.between(0, 2)]);
    types = declared.types;
    const Symbol name = declared.name;
    if (!algorithm_.find_monoid(name)) algorithm_.monoids.push_back(std::move(declared));
    return name;
  }

  std::vector<Expr> make_values(const std::vector<ScalarType>& types, int depth) {
    std::vector<Expr> out;
    for (ScalarType type : types) out.push_back(value(type, depth));
    return out;
  }

  Expr make_reduction(ScalarType type) {
    Fold fold;
    std::vector<ScalarType> types;
    fold.monoid = pick_monoid(type, types);
    const std::vector<Expr> on_empty =
        random_.chance(60) ? make_values(types, 1) : std::vector<Expr>();
    const std::size_t outer = vars_.size();
    const Ranges ranges = make_ranges();
    std::vector<Expr> where;
    if (random_.chance(60)) where.push_back(value(ScalarType::Bool, 2));
    std::vector<Expr> body = make_values(types, options_.max_depth - 1);
    const bool indexed = monoid_form(fold.monoid_kind()) == MonoidForm::Indexed;
    if (indexed && random_.chance(80))
      body[1] = context_.cast(ScalarType::I64, context_.var(ranges.vars[0]));
    vars_.resize(outer);
    fold.vars = ranges.vars;
    fold.lower = ranges.lower;
    fold.upper = ranges.upper;
    fold.where = where;
    fold.body = body;
    fold.on_empty = on_empty;
    return context_.fold(fold);
  }

  Expr make_scan(const Equation& equation) {
    Fold fold;
    fold.scan = true;
    const std::vector<Symbol> along = {random_.pick(equation.indices)};
    fold.vars = along;
    std::vector<ScalarType> types;
    std::vector<Symbol> state;
    std::vector<Expr> base, body;
    if (random_.chance(50)) {
      fold.monoid = pick_monoid(equation.type, types);
      body = make_values(types, options_.max_depth - 1);
    } else {
      fold.monoid = context_.symbol(monoid_text(Monoid::Last));
      types.assign(static_cast<std::size_t>(random_.between(1, 2)), equation.type);
      // What comes before the first does not know where that is.
      const std::vector<BoundVar> all = vars_;
      std::erase_if(vars_, [&](const BoundVar& v) { return v.var == context_.var(along[0]); });
      base = make_values(types, 1);
      vars_ = all;
      for (std::size_t i = 0; i < types.size(); ++i)
        state.push_back(context_.symbol("s" + std::to_string(i)));
      for (std::size_t i = 0; i < types.size(); ++i)
        body.push_back(next_state(context_.var(state[types.size() - 1 - i], types[i]),
                                  value(types[i], options_.max_depth - 1)));
    }
    fold.state = state;
    fold.base = base;
    fold.body = body;
    return context_.fold(fold);
  }

  Expr next_state(Expr before, Expr term) {
    const ScalarType type = before.type();
    if (type == ScalarType::Bool)
      return context_.op(OpCode::Or, {term, context_.op(OpCode::Not, {before})});
    if (!holds_floats(type)) return context_.add(before, term);
    if (is_storage_float(type))
      return context_.cast(type, within(next_state(number(before), number(term)), type));
    return context_.add(context_.mul(before, context_.constant(type, 0.5)), term);
  }

  Expr make_update(const Equation& equation) {
    Fold fold;
    std::vector<ScalarType> types = {equation.type};
    const bool last = random_.chance(30);
    if (last)
      fold.monoid = context_.symbol(monoid_text(Monoid::Last));
    else
      fold.monoid = pick_monoid(equation.type, types);
    const std::vector<Expr> base = make_values(types, 2);
    const std::vector<BoundVar> outer = vars_;
    vars_ = loop_vars_;
    const Ranges ranges = make_ranges();
    Expr guard = context_.boolean(true);
    std::vector<Expr> at;
    for (Expr size : equation.shape) at.push_back(index_below(size, guard));
    std::vector<Expr> where;
    if (const auto* known = guard.as<BoolConst>(); !known || !known->value) where.push_back(guard);
    const std::vector<Expr> body = make_values(types, options_.max_depth - 1);
    vars_ = outer;
    fold.vars = ranges.vars;
    fold.lower = ranges.lower;
    fold.upper = ranges.upper;
    fold.where = where;
    fold.body = body;
    fold.base = base;
    fold.at = at;
    return context_.fold(fold);
  }

  Expr value(ScalarType type, int depth) {
    const int choice = random_.between(0, 9);
    if (depth <= 0 || choice <= 1) return leaf(type);
    if (choice == 2)
      return context_.select(value(ScalarType::Bool, depth - 1), value(type, depth - 1),
                             value(type, depth - 1));
    if (choice == 3 && type != ScalarType::Bool) return conversion(type, depth - 1);
    if (choice == 4 && is_float(type) && is_number(type)) return rounding(type, depth - 1);
    if (!is_number(type) && type != ScalarType::Bool) return conversion(type, depth - 1);
    return operation(type, depth - 1);
  }

  Expr rounding(ScalarType type, int depth) {
    std::vector<ScalarType> grids;
    for (int i = 0; i < kNumScalarTypes; ++i)
      if (const auto grid = static_cast<ScalarType>(i); is_float(grid)) grids.push_back(grid);
    const ScalarType grid = random_.pick(grids);
    Expr inner = value(type, depth);
    if (options_.defined) inner = within(inner, grid);
    return context_.round_to(grid, inner);
  }

  // Any row of ops.def whose result has this type.
  Expr operation(ScalarType type, int depth) {
    std::vector<OpCode> fitting;
    for (int i = 0; i < kNumOps; ++i) {
      const auto op = static_cast<OpCode>(i);
      if (is_comparison(op) ? type == ScalarType::Bool : operand_of(op, type).has_value())
        fitting.push_back(op);
    }
    const OpCode op = random_.pick(fitting);
    const ScalarType operand = is_comparison(op) ? compared_type(op) : *operand_of(op, type);
    std::vector<Expr> args;
    for (int i = 0; i < op_info(op).arity; ++i)
      args.push_back(operand == ScalarType::Index ? index_value() : value(operand, depth));
    if (options_.defined) confine(op, operand, args);
    // Division by a constant zero is never well formed.
    const bool divides = op == OpCode::Div || op == OpCode::Mod;
    if (divides && args[1] == zero(operand) && !is_float(operand)) args[1] = one(operand);
    return context_.op(op, args);
  }

  // The type of operands that gives this result.
  std::optional<ScalarType> operand_of(OpCode op, ScalarType result) {
    std::vector<ScalarType> fitting;
    for (ScalarType operand : {result, part_type(result), complex_of(result)})
      if (op_accepts(op, operand) && op_result(op, operand) == result) fitting.push_back(operand);
    if (fitting.empty()) return std::nullopt;
    return random_.pick(fitting);
  }

  ScalarType compared_type(OpCode op) {
    if (random_.chance(50)) return ScalarType::Index;
    const ScalarType type = random_.pick(types_);
    return type == ScalarType::Bool || !op_accepts(op, type) ? ScalarType::F32 : type;
  }

  // A value that the float type `to` holds but for rounding.
  Expr within(Expr x, ScalarType to) {
    if (!is_float(to) || !is_number(x.type())) return x;
    const double most = std::min(100.0, largest_finite(to));
    const double least = type_info(to).specials == Specials::Scale ? 0.5 : -most;
    const ScalarType from = x.type();
    const bool narrow = most < 100 || least > 0;
    if (!narrow && (is_float(from) || from == ScalarType::Index)) return x;
    return narrow ? clamp(x, is_unsigned(from) ? std::max(least, 0.0) : least, most) : x;
  }

  Expr clamp(Expr x, double low, double high) {
    return context_.max(context_.min(x, context_.constant(x.type(), high)),
                        context_.constant(x.type(), low));
  }

  // Brings operands into the domain of the operation; one that has no domain to speak of needs no arm.
  void confine(OpCode op, ScalarType type, std::vector<Expr>& args) {
    auto magnitude_plus = [&](Expr x, double least) {
      return context_.add(context_.op(OpCode::Abs, {x}), context_.constant(type, least));
    };
    switch (op) {
      case OpCode::Div:
      case OpCode::Mod:
        args[1] = is_complex(type) ? away_from_zero(args[1])
                  : is_float(type) ? magnitude_plus(args[1], 1.0)
                                   : context_.constant(type, random_.between(1, 5));
        break;
      case OpCode::Log:
      case OpCode::Log2:
      case OpCode::Rsqrt: args[0] = magnitude_plus(args[0], 0.5); break;
      case OpCode::Sqrt:
      case OpCode::Log1p: args[0] = context_.op(OpCode::Abs, {args[0]}); break;
      case OpCode::Exp:
      case OpCode::Exp2:
      case OpCode::Expm1: args[0] = clamp(args[0], -8, 4); break;
      default: break;
    }
  }

  Expr away_from_zero(Expr z) {
    const Expr re = context_.op(OpCode::Abs, {context_.op(OpCode::Re, {z})});
    return context_.op(OpCode::Complex, {context_.add(re, context_.constant(re.type(), 1)),
                                         context_.op(OpCode::Im, {z})});
  }

  Expr conversion(ScalarType type, int depth) {
    ScalarType from = random_.pick(types_);
    if (!casts(from, type)) from = ScalarType::F32;
    if (random_.chance(30)) from = ScalarType::Index;
    Expr inner = from == ScalarType::Index ? index_value() : value(from, depth);
    if (saturates(from, type) && random_.chance(30))
      return options_.defined && type_info(type).specials == Specials::Scale
                 ? context_.saturate(type, positive(inner))
                 : context_.saturate(type, inner);
    return cast(type, inner);
  }

  // A conversion that is defined where that is asked for.
  Expr cast(ScalarType type, Expr inner) {
    const ScalarType from = inner.type();
    if (!options_.defined || from == type) return context_.cast(type, inner);
    if (from == ScalarType::U64 && type == ScalarType::Index)
      return context_.cast(type, context_.min(inner, context_.constant(from, 100)));
    if (is_float(from) && !holds_floats(type) && type != ScalarType::Bool)
      return context_.cast(type, whole_within(inner, type));
    return context_.cast(type, within(number(inner), type));
  }

  // As f32 where the type is only stored.
  Expr number(Expr x) { return is_storage_float(x.type()) ? context_.cast(ScalarType::F32, x) : x; }
  Expr positive(Expr x) {
    x = number(x);
    return context_.max(x, context_.constant(x.type(), 1));
  }

  Expr whole_within(Expr x, ScalarType to) {
    const double most = std::min(100.0, integer_value(to, greatest_integer(to)));
    return clamp(number(x), std::max(-100.0, integer_value(to, lowest_integer(to))), most);
  }

  Expr leaf(ScalarType type) {
    if (random_.chance(65)) return read(type);
    if (type == ScalarType::Bool) return context_.lt(index_value(), index_value());
    if (random_.chance(30)) return cast(type, index_value());
    if (is_complex(type))
      return context_.op(OpCode::Complex, {leaf(part_type(type)), leaf(part_type(type))});
    if (is_float(type)) {
      constexpr double kValues[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 0.1, -0.75, 3.25, 1e-3};
      const double value = kValues[random_.between(0, 9)];
      const bool scale = type_info(type).specials == Specials::Scale;
      return context_.real(type, scale ? std::fabs(value) : value);
    }
    return context_.integer(type, random_.between(-4, 9));
  }

  // Small integers made of indices and extents.
  Expr index_value() {
    Expr e = vars_.empty() || random_.chance(15) ? random_.pick(extents_) : random_.pick(vars_).var;
    switch (random_.between(0, 7)) {
      case 0: return context_.add(e, context_.index(random_.between(-3, 3)));
      case 1:
        return context_.add(context_.mul(e, context_.index(random_.between(-2, 3))),
                            random_.pick(extents_));
      case 2: return context_.floor_mod(e, context_.index(random_.between(2, 4)));
      case 3: return context_.floor_div(e, context_.index(random_.between(2, 4)));
      case 4: return context_.op(OpCode::Neg, {e});
      case 5: return context_.index(random_.between(0, 4));
      default: return e;
    }
  }

  struct TensorInfo {
    Symbol name;
    ScalarType type;
    std::vector<Expr> shape;
    bool may_be_huge;
  };

  // One element of any tensor, converted; guarded where its indices might lie outside.
  Expr read(ScalarType type) {
    std::vector<const TensorInfo*> fitting;
    for (const TensorInfo& tensor : tensors_)
      if (tensor.type == type || (casts(tensor.type, type) && random_.chance(30)))
        fitting.push_back(&tensor);
    if (fitting.empty())
      return type == ScalarType::Bool ? context_.boolean(random_.chance(50))
                                      : context_.constant(type, 1);
    const TensorInfo& tensor = *random_.pick(fitting);
    std::vector<Expr> indices;
    Expr guard = context_.boolean(true);
    for (Expr size : tensor.shape) indices.push_back(index_below(size, guard));
    Expr element = context_.read(tensor.name, indices, tensor.type);
    element = context_.select(guard, element, zero(tensor.type));
    if (options_.defined && tensor.may_be_huge) element = not_huge(element);
    return cast(type, element);
  }

  Expr not_huge(Expr x) {
    if (is_complex(x.type()))
      return context_.op(OpCode::Complex, {not_huge(context_.op(OpCode::Re, {x})),
                                           not_huge(context_.op(OpCode::Im, {x}))});
    return is_float(x.type()) && is_number(x.type()) ? clamp(x, -100, 100) : x;
  }

  Expr zero(ScalarType type) { return context_.constant(type, 0); }
  Expr one(ScalarType type) { return context_.constant(type, 1); }

  // An index below `size`; what must hold for that is added to the guard.
  Expr index_below(Expr size, Expr& guard) {
    if (const Expr data = random_.chance(30) ? data_below(size) : Expr()) return data;
    std::vector<Expr> exact;
    for (const BoundVar& v : vars_) {
      if (v.below == size) exact.push_back(v.var);
      for (const std::int64_t more : {1, 2, 3})
        if (context_.add(v.below, context_.index(more)) == size)
          exact.push_back(
              context_.add(v.var, context_.index(random_.between(0, static_cast<int>(more)))));
      const Expr doubled = context_.mul(v.below, context_.index(2));
      if (context_.add(doubled, context_.index(1)) == size)
        exact.push_back(context_.add(context_.mul(v.var, context_.index(2)),
                                     context_.index(random_.between(0, 2))));
      if (v.below == doubled_of(size))
        exact.push_back(context_.floor_div(v.var, context_.index(2)));
    }
    if (!exact.empty() && random_.chance(80)) {
      Expr index = random_.pick(exact);
      if (random_.chance(10)) {
        index = context_.sub(context_.add(size, context_.index(-1)), index);
      }
      return index;
    }
    Expr index = index_value();
    if (random_.chance(20)) {
      // Clamped to the edge; an empty tensor still has no element.
      guard = context_.both(guard, context_.lt(context_.index(0), size));
      return context_.max(context_.min(index, context_.add(size, context_.index(-1))),
                          context_.index(0));
    }
    guard = context_.both(
        guard, context_.both(context_.le(context_.index(0), index), context_.lt(index, size)));
    return index;
  }

  // E when size is (E + 1) / 2: an index below E, halved, is below it.
  Expr doubled_of(Expr size) {
    for (Expr extent : extents_)
      if (context_.ceil_div(extent, 2) == size) return extent;
    return {};
  }

  Context& context_;
  Random random_;
  const GenerateOptions& options_;
  std::vector<ScalarType> types_;
  std::vector<Expr> extents_;
  std::vector<TensorInfo> tensors_;
  std::vector<Input> fact_tensors_;
  std::vector<BoundVar> vars_;
  std::vector<BoundVar> loop_vars_;  // of the loops around
  Algorithm algorithm_;
};

}  // namespace

Algorithm random_algorithm(Context& context, std::uint64_t seed, const GenerateOptions& options) {
  return Generator(context, seed, options).run();
}

}  // namespace tilewright::ir

// SPDX-License-Identifier: Apache-2.0
#include "apps/check/affine.h"

#include <bit>

namespace tilewright::checker {

namespace {

constexpr int kMaxLeaves = 64;
constexpr std::size_t kMaxConstraints = 20000;  // of a union

const Linear& sound(const Linear& linear) {
  if (linear.broken()) throw Refused("a number leaves 64 bits");
  return linear;
}

// Adds a constraint; false where it never holds. One that always holds is left out.
bool add(Conjunction& out, Linear linear, bool equality) {
  sound(linear);
  if (linear.terms().empty()) return equality ? linear.constant() == 0 : linear.constant() >= 0;
  (equality ? out.equal : out.at_least).push_back(std::move(linear));
  return true;
}

std::size_t size(const Union& set) {
  std::size_t n = set.size();
  for (const Conjunction& c : set) n += c.equal.size() + c.at_least.size();
  return n;
}

Union bounded(Union set) {
  if (size(set) > kMaxConstraints) throw Refused("conditions with too many cases");
  return set;
}

Union constraint(const Linear& linear, bool equality) {
  Conjunction out;
  return add(out, linear, equality) ? Union{std::move(out)} : Union{};
}

}  // namespace

Union both(const Union& a, const Union& b) {
  Union out;
  std::size_t total = 0;
  for (const Conjunction& x : a)
    for (const Conjunction& y : b) {
      Conjunction joined = x;
      joined.equal.insert(joined.equal.end(), y.equal.begin(), y.equal.end());
      joined.at_least.insert(joined.at_least.end(), y.at_least.begin(), y.at_least.end());
      total += 1 + joined.equal.size() + joined.at_least.size();
      if (total > kMaxConstraints) throw Refused("conditions with too many cases");
      out.push_back(std::move(joined));
    }
  return out;
}

Union either(const Union& a, const Union& b) {
  Union out = a;
  out.insert(out.end(), b.begin(), b.end());
  return bounded(std::move(out));
}

Union complement(const Union& a) {
  Union out = everything();
  for (const Conjunction& c : a) {
    Union outside;
    for (const Linear& e : c.at_least)
      outside = either(outside, constraint(e * -1 - Linear(1), false));
    for (const Linear& e : c.equal)
      outside = either(
          outside, either(constraint(e - Linear(1), false), constraint(e * -1 - Linear(1), false)));
    out = both(out, outside);
  }
  return out;
}

Value combined(Value::Form form, Value a, Value b) {
  Value out;
  out.form = form;
  out.leaves = a.leaves + b.leaves;
  if (out.leaves > kMaxLeaves) throw Refused("an index with too many cases");
  out.parts = {std::move(a), std::move(b)};
  return out;
}

namespace {

// The same value with each linear leaf replaced. Where `turns`, the function falls as the leaf grows.
template <class F>
Value mapped(const Value& a, bool turns, const F& f) {
  if (a.form == Value::Form::Linear) return f(a.linear);
  Value::Form form = a.form;
  if (turns && form != Value::Form::Chosen)
    form = form == Value::Form::Least ? Value::Form::Greatest : Value::Form::Least;
  Value out = combined(form, mapped(a.parts[0], turns, f), mapped(a.parts[1], turns, f));
  out.first = a.first;
  out.second = a.second;
  return out;
}

}  // namespace

Value plus(const Value& a, const Value& b) {
  return mapped(a, false, [&](const Linear& x) {
    return mapped(b, false, [&](const Linear& y) { return Value(sound(x + y)); });
  });
}

Value times(const Value& a, Int factor) {
  return mapped(a, factor < 0, [&](const Linear& x) { return Value(sound(x * factor)); });
}

Value quotient(const Value& a, Int divisor) {
  return mapped(a, false, [&](const Linear& x) { return Value(sound(floor_div(x, divisor))); });
}

Union at_least_zero(const Value& a) {
  if (a.form == Value::Form::Linear) return constraint(a.linear, false);
  const Union x = at_least_zero(a.parts[0]);
  const Union y = at_least_zero(a.parts[1]);
  if (a.form == Value::Form::Least) return both(x, y);
  if (a.form == Value::Form::Greatest) return either(x, y);
  return either(both(a.first, x), both(a.second, y));
}

Union is_zero(const Value& a) {
  if (a.form == Value::Form::Linear) return constraint(a.linear, true);
  return both(at_least_zero(a), at_least_zero(times(a, -1)));
}

// How much there is to copy.
static std::size_t weight(const Value& a) {
  std::size_t out = 1 + size(a.first) + size(a.second);
  for (const Value& part : a.parts) out += weight(part);
  return out;
}

Linear Affine::symbol(const std::string& key) {
  // No name of a text looks like this: after a dot they have a letter.
  const auto [it, is_new] = symbols_.emplace(key, "data." + std::to_string(symbols_.size()));
  if (is_new) data_.emplace(it->second, key);
  return Linear::symbol(it->second);
}

void Affine::spend(std::size_t work) {
  work_ += 1 + work;
  if (work_ > limit_) throw Refused("too many conditions");
}

Value Affine::value(Ref e, const Environment& names) {
  spend(0);
  if (e->kind == Kind::Integer) return Linear(e->integer);
  if (e->kind == Kind::Variable) {
    const auto it = names.values.find(e->name);
    if (it != names.values.end()) {
      spend(weight(it->second));
      return it->second;
    }
    if (names.settled.contains(e->name)) return symbol(structure(e, names));
    return Linear::symbol(e->name);
  }
  if (e->kind == Kind::Select) {
    const Union first = condition(e->args[0], true, names);
    const Union second = condition(e->args[0], false, names);
    Value out = combined(Value::Form::Chosen, value(e->args[1], names), value(e->args[2], names));
    out.first = first;
    out.second = second;
    return out;
  }
  if (e->kind != Kind::Apply || e->op->arity > 2) return symbol(structure(e, names));
  const Name op = e->op->text;
  const Value a = value(e->args[0], names);
  if (op == "-" && e->op->arity == 1) return times(a, -1);
  if (op == "abs") return combined(Value::Form::Greatest, a, times(a, -1));
  const Value b = value(e->args[1], names);
  spend(weight(a) + static_cast<std::size_t>(a.leaves) * weight(b));
  if (op == "+") return plus(a, b);
  if (op == "-") return plus(a, times(b, -1));
  if (op == "min") return combined(Value::Form::Least, a, b);
  if (op == "max") return combined(Value::Form::Greatest, a, b);
  const bool by_constant = b.is_constant() && b.linear.constant() > 0;
  if (op == "*" && b.is_constant()) return times(a, b.linear.constant());
  if (op == "*" && a.is_constant()) return times(b, a.linear.constant());
  if (op == "/" && by_constant) return quotient(a, b.linear.constant());
  if (op == "%" && by_constant) {
    const Int divisor = b.linear.constant();
    return plus(a, times(quotient(a, divisor), -divisor));
  }
  return symbol(std::string(op) + "(" + text(a) + ", " + text(b) + ")");
}

Union Affine::condition(Ref e, bool holds, const Environment& names) {
  Union out = cases(e, holds, names);
  spend(size(out));
  return out;
}

Union Affine::cases(Ref e, bool holds, const Environment& names) {
  if (e->kind == Kind::Boolean) return (e->integer != 0) == holds ? everything() : Union{};
  if (e->kind == Kind::Select)
    return either(both(condition(e->args[0], true, names), condition(e->args[1], holds, names)),
                  both(condition(e->args[0], false, names), condition(e->args[2], holds, names)));
  if (e->kind == Kind::Apply) {
    const Name op = e->op->text;
    if (op == "!") return condition(e->args[0], !holds, names);
    if (op == "&&" || op == "||") {
      const Union a = condition(e->args[0], holds, names);
      const Union b = condition(e->args[1], holds, names);
      return (op == "&&") == holds ? both(a, b) : either(a, b);
    }
    if (e->args[0]->type == kIndex) {
      const Value a = value(e->args[0], names);
      const Value b = value(e->args[1], names);
      const Value up = plus(b, times(a, -1));  // b - a
      const Value down = times(up, -1);
      const Value one = Linear(-1);
      if ((op == "==") == holds && (op == "==" || op == "!=")) return is_zero(up);
      if (op == "==" || op == "!=")
        return either(at_least_zero(plus(up, one)), at_least_zero(plus(down, one)));
      const bool less = op == "<" || op == "<=";
      const bool strict = op == "<" || op == ">";
      // Of a < b the opposite is b <= a.
      const Value& side = less == holds ? up : down;
      return at_least_zero(strict == holds ? plus(side, one) : side);
    }
  }
  // A condition on data: a symbol that is at least 1 where it holds.
  const Value data = symbol(structure(e, names));
  return at_least_zero(holds ? plus(data, Linear(-1)) : times(data, -1));
}

std::string Affine::key(Ref e, const Environment& names) {
  return e->type == kIndex ? text(value(e, names)) : structure(e, names);
}

// A text that is equal only for what has equal values.
std::string Affine::structure(Ref e, const Environment& names) {
  spend(0);
  std::string out;
  switch (e->kind) {
    case Kind::Integer:
    case Kind::Boolean: return std::string(e->type->text) + "(" + std::to_string(e->integer) + ")";
    case Kind::Real:
      return std::string(e->type->text) + "(" +
             std::to_string(std::bit_cast<std::uint64_t>(e->real)) + ")";
    case Kind::Variable: {
      const auto settled = names.settled.find(e->name);
      if (settled != names.settled.end()) return settled->second;
      const auto value = names.values.find(e->name);
      return value != names.values.end() ? text(value->second) : std::string(e->name);
    }
    case Kind::Read: out = std::string(e->name) + "["; break;
    case Kind::Apply: out = std::string(e->op->text) + "("; break;
    case Kind::Select: out = "select("; break;
    case Kind::Convert: out = std::string(e->type->text) + "("; break;
    case Kind::Saturate: out = "saturate " + std::string(e->type->text) + "("; break;
    case Kind::Round: out = "round_to " + std::string(e->grid->text) + "("; break;
    default: throw Refused("a fold in a Program");
  }
  for (std::size_t i = 0; i < e->args.size(); ++i) out += (i ? ", " : "") + key(e->args[i], names);
  out += e->kind == Kind::Read ? "]" : ")";
  if (e->kind == Kind::Read && !constant_.contains(e->name)) out += "@" + names.time;
  return out;
}

}  // namespace tilewright::checker

// SPDX-License-Identifier: Apache-2.0
//
// Terms as they are made: exact numbers, one node for equal terms, substitution.
#include "apps/check/terms.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilewright::checker {

namespace {

using K = TermKind;

constexpr Wide kMost = static_cast<Wide>(1) << 126;

Wide checked(Wide value, bool over = false) {
  if (over || value > kMost || value < -kMost) throw Refused("a number leaves 127 bits");
  return value;
}
Wide product(Wide a, Wide b) {
  Wide out = 0;
  const bool over = __builtin_mul_overflow(a, b, &out);
  return checked(out, over);
}

const Linear& sound(const Linear& linear) {
  if (linear.broken()) throw Refused("a number leaves 64 bits, or a name cannot be one");
  return linear;
}

void tidy(std::vector<Linear>& list, bool equality) {
  std::erase_if(list, [&](const Linear& e) {
    return sound(e).terms().empty() && (equality ? e.constant() == 0 : e.constant() >= 0);
  });
  std::sort(list.begin(), list.end(), [](auto& a, auto& b) { return a.text() < b.text(); });
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

Rational::Rational(Wide numerator, Wide denominator) : over(numerator), under(denominator) {
  Wide a = over < 0 ? -over : over, b = under < 0 ? -under : under;
  while (b != 0) a = std::exchange(b, a % b);
  if (under == 0) throw Refused("a number divided by 0");
  if (under < 0) a = -a;
  over = checked(over / a);
  under = checked(under / a);
}
Rational operator+(const Rational& a, const Rational& b) {
  return {checked(product(a.over, b.under) + product(b.over, a.under)), product(a.under, b.under)};
}
Rational operator*(const Rational& a, const Rational& b) {
  const Rational x(a.over, b.under), y(b.over, a.under);
  return {product(x.over, y.over), product(x.under, y.under)};
}
bool operator<(const Rational& a, const Rational& b) {
  return product(a.over, b.under) < product(b.over, a.under);
}

bool is_fold(TermKind kind) { return kind >= K::SumOver; }

bool is_condition(Term t) {
  if (t->kind == K::Select) return is_condition(t->args[1]) && is_condition(t->args[2]);
  return (t->kind >= K::AtLeast && t->kind <= K::And) || t->type == kBool ||
         (t->kind == K::Number && (t->number == 0 || t->number == 1));
}

std::set<std::string> names_in(const Linear& linear) {
  std::set<std::string> out;
  for (const auto& [atom, coefficient] : linear.terms())
    atom.floor ? out.merge(names_in(atom.floor->numerator)) : void(out.insert(atom.name));
  return out;
}

bool mentions(const std::set<std::string>& free, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](auto& name) { return free.contains(name); });
}

std::optional<Linear> linear_of(Term term) {
  if (term->kind == K::Index) return term->linear;
  const Int whole = static_cast<Int>(term->number.over);
  const bool fits = term->number == Rational(whole);
  return term->kind == K::Number && fits ? std::optional<Linear>(whole) : std::nullopt;
}

std::optional<Linear> solved(const Linear& linear, const std::string& name,
                             const std::vector<std::string>& unknown) {
  const auto it = linear.terms().find({name, nullptr});
  if (it == linear.terms().end() || (it->second != 1 && it->second != -1)) return std::nullopt;
  const Linear out = (Linear::symbol(name) * it->second - linear) * it->second;
  const std::set<std::string> used = names_in(out);
  if (out.broken() || used.contains(name) || mentions(used, unknown)) return std::nullopt;
  return out;
}

Conjunction joined(Conjunction a, const Conjunction& b) {
  a.equal.insert(a.equal.end(), b.equal.begin(), b.equal.end());
  a.at_least.insert(a.at_least.end(), b.at_least.begin(), b.at_least.end());
  return a;
}

Conjunction substituted(const Conjunction& set, const Values& values) {
  Conjunction out = set;
  for (Linear& e : out.equal) e = e.substituted(values);
  for (Linear& e : out.at_least) e = e.substituted(values);
  return out;
}

std::vector<Conjunction> outside(const Conjunction& set) {
  std::vector<Conjunction> out;
  Conjunction before;
  for (const Linear& e : set.equal) {
    out.push_back(joined(before, {{}, {e * -1 - Linear(1)}}));
    out.push_back(joined(before, {{}, {e - Linear(1)}}));
    before.equal.push_back(e);
  }
  for (const Linear& e : set.at_least) {
    out.push_back(joined(before, {{}, {e * -1 - Linear(1)}}));
    before.at_least.push_back(e);
  }
  return out;
}

std::optional<std::vector<Conjunction>> cases(Term c, bool value) {
  if (c->kind == K::Not) return cases(c->args[0], !value);
  if (c->kind != K::Zero && c->kind != K::AtLeast) return std::nullopt;
  Conjunction out;
  (c->kind == K::Zero ? out.equal : out.at_least).push_back(c->linear);
  return value ? std::vector{out} : outside(out);
}

void Terms::spend(std::size_t more) {
  work_ += more;
  if (work_ > limit_) throw Refused("terms need too much work");
}

Term Terms::make(Node node) {
  spend();
  tidy(node.domain.equal, true);
  tidy(node.domain.at_least, false);
  std::string key;
  const auto part = [&](const std::string& text) {
    key += std::to_string(text.size()) + ":" + text;
  };
  const auto list = [&](const std::vector<Linear>& each) {
    key += std::to_string(each.size()) + "|";
    for (const Linear& e : each) part(e.text());
  };
  for (const Int n :
       {static_cast<Int>(node.kind), Int{node.id}, Int(node.bound.size()),
        static_cast<Int>(node.number.over >> 64), static_cast<Int>(node.number.over),
        static_cast<Int>(node.number.under >> 64), static_cast<Int>(node.number.under)})
    key += std::to_string(n) + " ";
  part(node.type ? std::string(node.type->text) : "");
  part(node.name);
  list({sound(node.linear)});
  list(node.domain.equal);
  list(node.domain.at_least);
  for (Term arg : node.args) key += std::to_string(arg->order) + " ";
  const auto [it, is_new] = by_text_.emplace(std::move(key), nullptr);
  if (!is_new) return it->second;
  node.free = names_in(node.linear);
  for (const Linear& e : joined({{}, node.domain.equal}, {{}, node.domain.at_least}).at_least)
    node.free.merge(names_in(e));
  node.height = is_fold(node.kind);
  node.depth = 0;
  for (Term arg : node.args) {
    node.height = std::max(node.height, arg->height + is_fold(node.kind));
    node.depth = std::max(node.depth, arg->depth + 1);
    node.free.insert(arg->free.begin(), arg->free.end());
  }
  for (const std::string& name : node.bound) node.free.erase(name);
  if (node.height > 64 || node.depth > 500) throw Refused("terms too deep");
  node.order = nodes_.size();
  return it->second = &nodes_.emplace_back(std::move(node));
}

Term Terms::rebuilt(Term term, std::vector<Term> args) {
  if (args == term->args) return term;
  Node node = *term;
  node.args = std::move(args);
  return make(std::move(node));
}

// Values have no bound names, and those of inner folds are others: nothing is captured.
Term Terms::substituted(Term term, const Values& values) {
  std::map<Term, Term> done;
  const std::function<Term(Term)> visit = [&](Term t) -> Term {
    if (std::none_of(values.begin(), values.end(),
                     [&](auto& v) { return t->free.contains(v.first); }))
      return t;
    if (const auto it = done.find(t); it != done.end()) return it->second;
    Node node = *t;
    node.linear = t->linear.substituted(values);
    node.domain = checker::substituted(t->domain, values);
    for (Term& arg : node.args) arg = visit(arg);
    return done[t] = t->kind == K::Index ? index(node.linear) : make(std::move(node));
  };
  return visit(term);
}

Opened Terms::open(Term fold, const std::string& prefix) {
  Opened out;
  Values values;
  for (std::size_t i = 0; i < fold->bound.size(); ++i) {
    out.names.push_back(prefix + "." + std::to_string(i));
    values.emplace(fold->bound[i], Linear::symbol(out.names.back()));
  }
  out.domain = checker::substituted(fold->domain, values);
  for (Term arg : fold->args) out.args.push_back(substituted(arg, values));
  return out;
}

Term Terms::closed(Term like, const Opened& parts) {
  Node node(like->kind, {}, 0, like->type, like->name);
  int height = 1;
  for (Term arg : parts.args) height = std::max(height, arg->height + 1);
  Values values;
  for (std::size_t i = 0; i < parts.names.size(); ++i) {
    node.bound.push_back("@" + std::to_string(height) + "." + std::to_string(i));
    values.emplace(parts.names[i], Linear::symbol(node.bound.back()));
  }
  if (values.size() < parts.names.size()) throw Refused("two bound variables of one name");
  node.domain = checker::substituted(parts.domain, values);
  for (Term arg : parts.args) node.args.push_back(substituted(arg, values));
  return make(std::move(node));
}

Term Terms::number(const Rational& value) { return make(Node(K::Number, {}, value)); }

Term Terms::real(double value) {
  if (std::isnan(value)) throw Refused("a constant that is no number");
  if (std::isinf(value)) return make(Node(K::Infinity, {}, value < 0 ? -1 : 1));
  int exponent = 0;
  Wide mantissa = static_cast<Wide>(std::ldexp(std::frexp(value, &exponent), 53));
  for (exponent -= 53; mantissa != 0 && mantissa % 2 == 0; ++exponent) mantissa /= 2;
  if (mantissa == 0) return number(0);
  if (std::abs(exponent) > 70)  // exact, though not as a fraction of 127 bits
    return apply(K::Product, {number(mantissa), power(number(2), exponent)});
  const Rational scale = static_cast<Wide>(1) << std::abs(exponent);
  return number(exponent < 0 ? Rational(mantissa, scale.over) : Rational(mantissa) * scale);
}

Term Terms::index(const Linear& value) {
  if (value.terms().empty()) return number(sound(value).constant());
  return make(Node(K::Index, {}, 0, nullptr, {}, value));
}

Term Terms::cell(Name tensor, std::vector<Term> indices) {
  return make(
      Node(K::Cell, std::move(indices), 0, meaning_.cell_type(tensor), std::string(tensor)));
}

Term Terms::value(int statement, const std::vector<Linear>& instance) {
  Node node(K::Value, {}, 0, meaning_.value_type(statement));
  node.id = statement;
  for (const Linear& each : instance) node.args.push_back(index(each));
  return make(std::move(node));
}

Term Terms::call(std::string name, std::vector<Term> args, Type type) {
  return make(Node(K::Call, std::move(args), 0, type, std::move(name)));
}

Term Terms::apply(TermKind kind, std::vector<Term> args) {
  const bool any = kind == K::Sum || kind == K::Product || kind == K::Max || kind == K::And;
  const std::size_t few = kind == K::Select ? 3 : kind == K::Less || kind == K::Same ? 2 : 1;
  if (args.empty() || (!any && args.size() != few)) throw Refused("too few or many operands");
  const bool logic = kind == K::Not || kind == K::And;
  if (!std::all_of(args.begin(), logic ? args.end() : args.begin() + (kind == K::Select),
                   is_condition))
    throw Refused("an operand that is no condition");
  std::optional<Linear> value;
  if (kind == K::Sum || kind == K::Product) value = linear_of(args[0]);
  for (std::size_t i = 1; value && i < args.size(); ++i) {
    const std::optional<Linear> next = linear_of(args[i]);
    if (next && kind == K::Sum)
      value = *value + *next;
    else if (next && next->terms().empty())
      value = *value * next->constant();
    else if (next && value->terms().empty())
      value = *next * value->constant();
    else
      value.reset();
  }
  if (value && !value->broken()) return index(*value);
  return make(Node(kind, std::move(args)));
}

Term Terms::power(Term base, const Rational& exponent) {
  return make(Node(K::Power, {base}, exponent));
}

Term Terms::wrap(Type type, Term arg) {
  if (!type || !type->is_integer()) throw Refused("no integers of this type");
  return make(Node(K::Wrap, {arg}, 0, type));
}

Term Terms::condition(const Linear& linear, bool equality) {
  if (sound(linear).terms().empty())
    return number(equality ? linear.constant() == 0 : linear.constant() >= 0);
  return make(Node(equality ? K::Zero : K::AtLeast, {}, 0, nullptr, {}, linear));
}

Term Terms::fold(TermKind kind, std::vector<std::string> bound, const Conjunction& domain,
                 std::vector<Term> args, std::string name, Type type) {
  if (!is_fold(kind) || args.empty() || (kind != K::Fold && args.size() != 1))
    throw Refused("a fold of nothing");
  const Node like(kind, {}, 0, type, std::move(name));
  return closed(&like, {std::move(bound), domain, std::move(args)});
}

Term Terms::replaced(Term term, const std::function<Term(Term)>& with) {
  std::map<Term, Term> done;
  const std::function<Term(Term)> visit = [&](Term t) -> Term {
    if (const auto it = done.find(t); it != done.end()) return it->second;
    if (t->kind == K::Cell || t->kind == K::Value)
      if (const Term other = with(t)) return done[t] = other;
    if (is_fold(t->kind)) {
      Opened parts = open(t, "%u" + std::to_string(num_opened_++));
      for (Term& arg : parts.args) arg = visit(arg);
      return done[t] = closed(t, parts);
    }
    std::vector<Term> args = t->args;
    for (Term& arg : args) arg = visit(arg);
    return done[t] = rebuilt(t, std::move(args));
  };
  return visit(term);
}

}  // namespace tilewright::checker

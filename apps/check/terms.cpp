// SPDX-License-Identifier: Apache-2.0
//
// Terms as they are made: exact numbers, one node for equal terms, substitution.
#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/check/terms_parts.h"

namespace tilewright::checker {

namespace {

constexpr Wide kMost = static_cast<Wide>(1) << 126;

Wide checked(bool over, Wide value) {
  if (over || value > kMost || value < -kMost) throw Refused("a number leaves 127 bits");
  return value;
}
Wide product(Wide a, Wide b) {
  Wide out = 0;
  const bool over = __builtin_mul_overflow(a, b, &out);
  return checked(over, out);
}
Wide sum(Wide a, Wide b) { return checked(false, a + b); }  // both are within kMost

void collect(const Linear& linear, std::set<std::string>& out) {
  for (const auto& [atom, coefficient] : linear.terms())
    atom.floor ? collect(atom.floor->numerator, out) : void(out.insert(atom.name));
}

Conjunction substituted(const Conjunction& set, const std::map<std::string, Linear>& values) {
  Conjunction out;
  for (const Linear& e : set.equal) out.equal.push_back(e.substituted(values));
  for (const Linear& e : set.at_least) out.at_least.push_back(e.substituted(values));
  return out;
}

const Linear& sound(const Linear& linear) {
  if (linear.broken()) throw Refused("a number leaves 64 bits, or a name cannot be one");
  return linear;
}

void tidy(std::vector<Linear>& list, bool equality) {
  std::erase_if(list, [&](const Linear& e) {
    return sound(e).terms().empty() && (equality ? e.constant() == 0 : e.constant() >= 0);
  });
  const auto less = [](const Linear& a, const Linear& b) { return a.text() < b.text(); };
  std::sort(list.begin(), list.end(), less);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

Rational::Rational(Wide numerator, Wide denominator) : over(numerator), under(denominator) {
  Wide a = over < 0 ? -over : over, b = under < 0 ? -under : under;
  while (b != 0) a = std::exchange(b, a % b);
  if (under == 0) throw Refused("a number divided by 0");
  if (under < 0) a = -a;
  over = checked(false, over / a);
  under = checked(false, under / a);
}
Rational operator+(const Rational& a, const Rational& b) {
  return {sum(product(a.over, b.under), product(b.over, a.under)), product(a.under, b.under)};
}
Rational operator*(const Rational& a, const Rational& b) {
  const Rational x(a.over, b.under), y(b.over, a.under);
  return {product(x.over, y.over), product(x.under, y.under)};
}
bool operator<(const Rational& a, const Rational& b) {
  return product(a.over, b.under) < product(b.over, a.under);
}

bool is_fold(TermKind kind) { return kind >= TermKind::SumOver; }

std::optional<Linear> linear_of(Term term) {
  if (term->kind == TermKind::Index) return term->linear;
  if (term->kind != TermKind::Number || !term->number.is_whole() ||
      term->number.over != static_cast<Int>(term->number.over))
    return std::nullopt;
  return Linear(static_cast<Int>(term->number.over));
}

bool mentions(Term term, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return term->free.contains(name); });
}
bool mentions(const Linear& linear, const std::vector<std::string>& names) {
  std::set<std::string> used;
  collect(linear, used);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return used.contains(name); });
}

std::vector<Conjunction> opposite(const Linear& linear, bool equality) {
  const Conjunction below{{}, {linear * -1 - Linear(1)}};
  if (!equality) return {below};
  return {below, Conjunction{{}, {linear - Linear(1)}}};
}

void Terms::Impl::spend(std::size_t more) {
  work += more;
  if (work > limit) throw Refused("terms need too much work");
}

Term Terms::Impl::make(Node node) {
  spend();
  tidy(node.domain.equal, true);
  tidy(node.domain.at_least, false);
  std::string key;
  const auto part = [&](const std::string& text) { key += std::to_string(text.size()) + ":" + text; };
  const auto wide = [&](Wide value) {
    for (int i = 0; i < 128; i += 32) key += std::to_string(static_cast<std::uint32_t>(value >> i)) + ",";
  };
  key += std::to_string(static_cast<int>(node.kind)) + " " + std::to_string(node.id) + " ";
  part(node.type ? std::string(node.type->text) : "");
  part(node.name);
  wide(node.number.over);
  wide(node.number.under);
  part(sound(node.linear).text());
  for (Term arg : node.args) key += std::to_string(arg->order) + " ";
  key += "|" + std::to_string(node.bound.size());
  for (const Linear& e : node.domain.equal) part(e.text());
  key += "|";
  for (const Linear& e : node.domain.at_least) part(e.text());
  const auto [it, is_new] = by_text.emplace(std::move(key), nullptr);
  if (!is_new) return it->second;
  collect(node.linear, node.free);
  for (const auto* list : {&node.domain.equal, &node.domain.at_least})
    for (const Linear& e : *list) collect(e, node.free);
  for (Term arg : node.args) {
    node.height = std::max(node.height, arg->height);
    node.free.insert(arg->free.begin(), arg->free.end());
  }
  for (const std::string& name : node.bound) node.free.erase(name);
  if (is_fold(node.kind)) ++node.height;
  if (node.height > 64) throw Refused("folds too deep");
  node.order = nodes.size();
  return it->second = &nodes.emplace_back(std::move(node));
}

Term Terms::Impl::rebuilt(Term term, const std::vector<Term>& args) {
  if (args == term->args) return term;
  Node node = *term;
  node.args = args;
  node.free.clear();
  node.height = 0;
  return make(std::move(node));
}

// Values have no bound names, and those of inner folds are others: nothing is captured.
Term Terms::Impl::substituted(Term term, const std::map<std::string, Linear>& values) {
  std::map<Term, Term> done;
  const std::function<Term(Term)> visit = [&](Term t) -> Term {
    if (std::none_of(values.begin(), values.end(),
                     [&](const auto& one) { return t->free.contains(one.first); }))
      return t;
    if (const auto it = done.find(t); it != done.end()) return it->second;
    Node node = *t;
    node.linear = t->linear.substituted(values);
    node.domain = checker::substituted(t->domain, values);
    for (Term& arg : node.args) arg = visit(arg);
    node.free.clear();
    node.height = 0;
    if (t->kind == TermKind::Index) return done[t] = terms.index(node.linear);
    return done[t] = make(std::move(node));
  };
  return visit(term);
}

Opened Terms::Impl::open(Term fold, const std::string& prefix) {
  Opened out;
  std::map<std::string, Linear> values;
  for (std::size_t i = 0; i < fold->bound.size(); ++i) {
    out.names.push_back(prefix + "." + std::to_string(i));
    values.emplace(fold->bound[i], Linear::symbol(out.names.back()));
  }
  out.domain = checker::substituted(fold->domain, values);
  for (Term arg : fold->args) out.args.push_back(substituted(arg, values));
  return out;
}

Term Terms::Impl::closed(Term like, const Opened& parts) {
  Node node;
  node.kind = like->kind;
  node.name = like->name;
  node.type = like->type;
  int height = 1;
  for (Term arg : parts.args) height = std::max(height, arg->height + 1);
  std::map<std::string, Linear> values;
  for (std::size_t i = 0; i < parts.names.size(); ++i) {
    node.bound.push_back("@" + std::to_string(height) + "." + std::to_string(i));
    values.emplace(parts.names[i], Linear::symbol(node.bound.back()));
  }
  if (values.size() < parts.names.size()) throw Refused("two bound variables of one name");
  node.domain = checker::substituted(parts.domain, values);
  for (Term arg : parts.args) node.args.push_back(substituted(arg, values));
  return make(std::move(node));
}

Term Terms::Impl::negated(Term c) {
  if (c->kind == TermKind::Not) return c->args[0];
  if (c->kind == TermKind::AtLeast) return terms.condition(c->linear * -1 - Linear(1), false);
  return terms.apply(TermKind::Not, {c});
}

std::optional<std::vector<Conjunction>> Terms::Impl::cases(Term c, bool value) {
  if (c->kind == TermKind::Not) return cases(c->args[0], !value);
  const bool equality = c->kind == TermKind::Zero;
  if (!equality && c->kind != TermKind::AtLeast) return std::nullopt;
  if (!value) return opposite(c->linear, equality);
  Conjunction out;
  (equality ? out.equal : out.at_least).push_back(c->linear);
  return std::vector{out};
}

Terms::Terms(Meaning& meaning, std::size_t limit)
    : impl_(std::make_shared<Impl>(*this, meaning, limit)) {}

Term Terms::number(const Rational& value) {
  Node node;
  node.number = value;
  return impl_->make(std::move(node));
}

Term Terms::real(double value) {
  if (std::isnan(value)) throw Refused("a constant that is no number");
  if (std::isinf(value)) {
    Node node;
    node.kind = TermKind::Infinity;
    node.number = value < 0 ? -1 : 1;
    return impl_->make(std::move(node));
  }
  int exponent = 0;
  Wide mantissa = static_cast<Wide>(std::ldexp(std::frexp(value, &exponent), 53));
  for (exponent -= 53; mantissa != 0 && mantissa % 2 == 0; ++exponent) mantissa /= 2;
  if (mantissa == 0) exponent = 0;
  const int size = exponent < 0 ? -exponent : exponent;
  if (size > 70)  // exact, though not as a fraction of 127 bits
    return apply(TermKind::Product, {number(mantissa), power(number(2), exponent)});
  const Wide scale = static_cast<Wide>(1) << size;
  return number(exponent < 0 ? Rational(mantissa, scale) : Rational(mantissa) * scale);
}

Term Terms::index(const Linear& value) {
  if (value.terms().empty()) return number(sound(value).constant());
  Node node;
  node.kind = TermKind::Index;
  node.linear = value;
  return impl_->make(std::move(node));
}

Term Terms::cell(Name tensor, std::vector<Term> indices) {
  Node node;
  node.kind = TermKind::Cell;
  node.name = tensor;
  node.type = impl_->meaning.cell_type(tensor);
  node.args = std::move(indices);
  return impl_->make(std::move(node));
}

Term Terms::value(int statement, const std::vector<Linear>& instance) {
  Node node;
  node.kind = TermKind::Value;
  node.id = statement;
  node.type = impl_->meaning.value_type(statement);
  for (const Linear& each : instance) node.args.push_back(index(each));
  return impl_->make(std::move(node));
}

Term Terms::call(std::string name, std::vector<Term> args, Type type) {
  Node node;
  node.kind = TermKind::Call;
  node.name = std::move(name);
  node.type = type;
  node.args = std::move(args);
  return impl_->make(std::move(node));
}

Term Terms::apply(TermKind kind, std::vector<Term> args) {
  const std::size_t few = kind == TermKind::Select                             ? 3
                          : kind == TermKind::Less || kind == TermKind::Same ? 2
                                                                             : 1;
  const bool any = kind == TermKind::Sum || kind == TermKind::Product || kind == TermKind::Max ||
                   kind == TermKind::And;
  if (args.empty() || (!any && args.size() != few)) throw Refused("too few or many operands");
  if (kind == TermKind::Sum || kind == TermKind::Product) {
    std::optional<Linear> value = linear_of(args[0]);
    for (std::size_t i = 1; value && i < args.size(); ++i) {
      const std::optional<Linear> next = linear_of(args[i]);
      if (!next)
        value.reset();
      else if (kind == TermKind::Sum)
        value = *value + *next;
      else if (next->terms().empty() || value->terms().empty())
        value = next->terms().empty() ? *value * next->constant() : *next * value->constant();
      else
        value.reset();
    }
    if (value && !value->broken()) return index(*value);
  }
  Node node;
  node.kind = kind;
  node.args = std::move(args);
  return impl_->make(std::move(node));
}

Term Terms::power(Term base, const Rational& exponent) {
  Node node;
  node.kind = TermKind::Power;
  node.number = exponent;
  node.args = {base};
  return impl_->make(std::move(node));
}

Term Terms::wrap(Type type, Term arg) {
  if (!type || !type->is_integer()) throw Refused("no integers of this type");
  Node node;
  node.kind = TermKind::Wrap;
  node.type = type;
  node.args = {arg};
  return impl_->make(std::move(node));
}

Term Terms::condition(const Linear& linear, bool equality) {
  if (sound(linear).terms().empty())
    return number(equality ? linear.constant() == 0 : linear.constant() >= 0);
  Node node;
  node.kind = equality ? TermKind::Zero : TermKind::AtLeast;
  node.linear = linear;
  return impl_->make(std::move(node));
}

Term Terms::fold(TermKind kind, std::vector<std::string> bound, const Conjunction& domain,
                 std::vector<Term> args, std::string name, Type type) {
  if (!is_fold(kind) || args.empty() || (kind != TermKind::Fold && args.size() != 1))
    throw Refused("a fold of nothing");
  Node like;
  like.kind = kind;
  like.name = std::move(name);
  like.type = type;
  return impl_->closed(&like, {std::move(bound), domain, std::move(args)});
}

Term Terms::substituted(Term term, const std::map<std::string, Linear>& values) {
  return impl_->substituted(term, values);
}

Term Terms::replaced(Term term, const std::function<Term(Term)>& with) {
  std::map<Term, Term> done;
  const std::function<Term(Term)> visit = [&](Term t) -> Term {
    if (const auto it = done.find(t); it != done.end()) return it->second;
    if (t->kind == TermKind::Cell || t->kind == TermKind::Value)
      if (const Term other = with(t)) return done[t] = other;
    if (is_fold(t->kind)) {
      Opened parts = impl_->open(t, "%u" + std::to_string(impl_->num_opened++));
      for (Term& arg : parts.args) arg = visit(arg);
      return done[t] = impl_->closed(t, parts);
    }
    std::vector<Term> args = t->args;
    for (Term& arg : args) arg = visit(arg);
    return done[t] = impl_->rebuilt(t, args);
  };
  return visit(term);
}

void Terms::leaves(Term term, const Conjunction& where,
                   const std::function<void(Term, const Conjunction&)>& seen) {
  impl_->spend();
  if (term->kind == TermKind::Cell || term->kind == TermKind::Value) seen(term, where);
  if (term->kind == TermKind::Select) {
    leaves(term->args[0], where, seen);
    for (const int arm : {1, 2}) {
      const auto cases = impl_->cases(term->args[0], arm == 1);
      for (const Conjunction& one : cases.value_or(std::vector{Conjunction()}))
        leaves(term->args[static_cast<std::size_t>(arm)], Impl::joined(where, one), seen);
    }
    return;
  }
  if (!is_fold(term->kind)) {
    for (Term arg : term->args) leaves(arg, where, seen);
    return;
  }
  const Opened parts = impl_->open(term, "%u" + std::to_string(impl_->num_opened++));
  for (Term arg : parts.args) leaves(arg, Impl::joined(where, parts.domain), seen);
}

}  // namespace tilewright::checker

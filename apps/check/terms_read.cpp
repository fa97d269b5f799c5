// SPDX-License-Identifier: Apache-2.0
//
// Terms from expressions and from the text of certificates.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "apps/check/terms.h"

namespace tilewright::checker {

namespace {

using K = TermKind;

std::string joined(std::string_view name, Type type, const char* between) {
  return std::string(name) + between + std::string(type->text);
}

class FromExpr {
 public:
  FromExpr(Terms& terms, const Terms::Leaves& leaves, std::size_t& num_opened)
      : terms_(terms), leaves_(leaves), num_opened_(num_opened) {}

  Term fold(Ref e, std::size_t component) {
    const FoldParts& f = *e->fold;
    if (f.monoid.empty() || f.update || f.scan || !f.on_empty.empty() || component >= f.body.size())
      throw Refused("a recurrence, an update, a scan, or `on_empty`, is no term yet");
    const auto outer = bound_;
    std::vector<std::string> names;
    Conjunction domain;
    for (std::size_t i = 0; i < f.vars.size(); ++i) {
      names.push_back("%f" + std::to_string(num_opened_++));
      const Linear variable = Linear::symbol(names.back());
      const Linear lower = f.lower.size() > i && f.lower[i] ? affine(f.lower[i]) : Linear(0);
      domain.at_least.push_back(variable - lower);
      domain.at_least.push_back(affine(f.upper.at(i)) - variable - Linear(1));
      bound_[f.vars[i]] = variable;
    }
    const Term out = over(f, component, names, domain);
    bound_ = outer;
    return out;
  }

  Term read(Ref e) {
    const auto known = done_.find(e);
    if (known != done_.end() && bound_.empty()) return known->second;
    const Term out = make(e);
    if (bound_.empty()) done_[e] = out;
    return out;
  }

 private:
  Linear affine(Ref e) {
    const std::optional<Linear> value = linear_of(read(e));
    if (!value) throw Refused("a bound of a fold that is not affine");
    return *value;
  }

  Term over(const FoldParts& f, std::size_t component, const std::vector<std::string>& names,
            const Conjunction& domain) {
    const Type type = f.body[component]->type;
    const Term one = terms_.number(1);
    const Term where = f.where ? read(f.where) : one;
    const bool simple = f.body.size() == 1;
    if (simple && f.monoid == "sum") {
      const Term body = read(f.body[0]);
      const Term summand =
          f.where ? terms_.apply(K::Select, {where, body, terms_.number(0)}) : body;
      const Term sum = terms_.fold(K::SumOver, names, domain, {summand});
      return type->is_integer() ? terms_.wrap(type, sum) : sum;
    }
    if (simple && type->kind == Class::Float && (f.monoid == "max" || f.monoid == "min")) {
      const bool least = f.monoid == "min";
      Term body = read(f.body[0]);
      if (least) body = times(body, -1);
      if (f.where) body = terms_.apply(K::Select, {where, body, terms_.real(-HUGE_VAL)});
      const Term most = terms_.fold(K::MaxOver, names, domain, {body});
      return least ? times(most, -1) : most;
    }
    std::vector<Term> args = {where};
    for (Ref body : f.body) args.push_back(read(body));
    const std::string field = component ? "." + std::to_string(component) : "";
    return terms_.fold(K::Fold, names, domain, args, joined(f.monoid, type, "_of_") + field, type);
  }

  Term times(Term a, Int by) { return terms_.apply(K::Product, {terms_.number(by), a}); }
  Term plus(Term a, Term b) { return terms_.apply(K::Sum, {a, b}); }
  Term negation(Term a) { return terms_.apply(K::Not, {a}); }
  Term either(Term a, Term b) { return negation(terms_.apply(K::And, {negation(a), negation(b)})); }

  Term make(Ref e) {
    switch (e->kind) {
      case Kind::Integer: {
        const bool big = e->type->kind == Class::Unsigned && e->integer < 0;
        return terms_.number(big ? static_cast<Wide>(static_cast<std::uint64_t>(e->integer))
                                 : static_cast<Wide>(e->integer));
      }
      case Kind::Real: return terms_.real(e->real);
      case Kind::Boolean: return terms_.number(e->integer);
      case Kind::Variable: {
        if (const auto it = bound_.find(e->name); it != bound_.end())
          return terms_.index(it->second);
        const Term given = leaves_.variable ? leaves_.variable(*e) : nullptr;
        if (!given && e->type != kIndex) throw Refused("a name of no known value");
        return given ? given : terms_.index(Linear::symbol(e->name));
      }
      case Kind::Read: {
        std::vector<Term> indices;
        for (Ref arg : e->args) indices.push_back(read(arg));
        const Term given = leaves_.read ? leaves_.read(*e, indices) : nullptr;
        return given ? given : terms_.cell(e->name, std::move(indices));
      }
      case Kind::Select:
        return terms_.apply(K::Select, {read(e->args[0]), read(e->args[1]), read(e->args[2])});
      case Kind::Convert: return converted(e);
      case Kind::Saturate: return function(joined("saturate", e->type, "_to_"), e);
      case Kind::Round:
        return function(joined(joined("round_to", e->grid, "_"), e->type, "_to_"), e);
      case Kind::Fold: return fold(e, 0);
      case Kind::Tuple: break;
      case Kind::Apply: {
        const Term out = applied(e);
        return e->type->is_integer() && e->op->rule != Rule::Bits ? terms_.wrap(e->type, out) : out;
      }
    }
    throw Refused("an expression that is no term");
  }

  Term converted(Ref e) {
    const Term value = read(e->args[0]);
    const Type from = e->args[0]->type;
    if (e->type->kind == Class::Float) return value;
    if (e->type->kind == Class::Bool)
      return negation(terms_.apply(K::Same, {value, terms_.number(0)}));
    if (from->kind == Class::Float) return function(joined("truncate", e->type, "_to_"), e);
    return e->type == kIndex ? value : terms_.wrap(e->type, value);
  }

  Term function(const std::string& name, Ref e) {
    std::vector<Term> args;
    for (Ref arg : e->args) args.push_back(read(arg));
    return terms_.call(name, std::move(args), e->type);
  }

  Term compared(Name op, Term a, Term b, bool index) {
    if (op == ">" || op == ">=") return compared(op == ">" ? "<" : "<=", b, a, index);
    if (op == "!=") return negation(compared("==", a, b, index));
    const std::optional<Linear> x = linear_of(a), y = linear_of(b);
    if (index && x && y) {
      const Linear up = *y - *x;
      return terms_.condition(op == "<" ? up - Linear(1) : up, op == "==");
    }
    if (op == "<=") return either(terms_.apply(K::Less, {a, b}), terms_.apply(K::Same, {a, b}));
    return terms_.apply(op == "<" ? K::Less : K::Same, {a, b});
  }

  Term applied(Ref e) {
    const Name op = e->op->text;
    const Type of = e->args[0]->type;
    const bool real = of->kind == Class::Float;
    std::vector<Term> a;
    for (Ref arg : e->args) a.push_back(read(arg));
    const auto ln2 = [&] { return terms_.apply(K::Log, {terms_.number(2)}); };
    if (e->op->rule == Rule::Compare) return compared(op, a[0], a[1], of == kIndex);
    if (op == "!") return negation(a[0]);
    if (op == "&&") return terms_.apply(K::And, a);
    if (op == "||") return either(a[0], a[1]);
    if (op == "+") return plus(a[0], a[1]);
    if (op == "-") return a.size() == 1 ? times(a[0], -1) : plus(a[0], times(a[1], -1));
    if (op == "*") return terms_.apply(K::Product, a);
    if (op == "fma") return plus(terms_.apply(K::Product, {a[0], a[1]}), a[2]);
    if (op == "max") return terms_.apply(K::Max, a);
    if (op == "min") return times(terms_.apply(K::Max, {times(a[0], -1), times(a[1], -1)}), -1);
    if (op == "abs") return terms_.apply(K::Max, {a[0], times(a[0], -1)});
    if ((op == "/" || op == "%") && of == kIndex) {
      const std::optional<Linear> x = linear_of(a[0]), y = linear_of(a[1]);
      if (x && y && y->terms().empty() && y->constant() > 0) {
        const Linear quotient = floor_div(*x, y->constant());
        return terms_.index(op == "/" ? quotient : *x - quotient * y->constant());
      }
    }
    if (op == "/" && real) return terms_.apply(K::Product, {a[0], terms_.power(a[1], -1)});
    if (op == "floor") return terms_.apply(K::Floor, a);
    if (op == "ceil") return times(terms_.apply(K::Floor, {times(a[0], -1)}), -1);
    if (op == "sqrt") return terms_.power(a[0], {1, 2});
    if (op == "rsqrt") return terms_.power(a[0], {-1, 2});
    if (op == "exp") return terms_.apply(K::Exp, a);
    if (op == "exp2") return terms_.apply(K::Exp, {terms_.apply(K::Product, {a[0], ln2()})});
    if (op == "expm1") return plus(terms_.apply(K::Exp, a), terms_.number(-1));
    if (op == "log") return terms_.apply(K::Log, a);
    if (op == "log2")
      return terms_.apply(K::Product, {terms_.apply(K::Log, a), terms_.power(ln2(), -1)});
    if (op == "log1p") return terms_.apply(K::Log, {plus(terms_.number(1), a[0])});
    const bool plain = op == "rint" || op == "tanh" || op == "erf" || op == "sin" || op == "cos";
    return terms_.call(plain ? std::string(op) : joined(op, of, "_of_"), a, e->type);
  }

  Terms& terms_;
  const Terms::Leaves& leaves_;
  std::size_t& num_opened_;
  std::map<Name, Linear> bound_;
  std::map<Ref, Term> done_;
};

constexpr std::size_t kMaxText = 1 << 16;

constexpr std::pair<Name, TermKind> kWords[] = {
    {"+", K::Sum},      {"*", K::Product},   {"^", K::Power},     {"exp", K::Exp},
    {"log", K::Log},    {"floor", K::Floor}, {"max", K::Max},     {"select", K::Select},
    {">=", K::AtLeast}, {"=", K::Zero},      {"<", K::Less},      {"==", K::Same},
    {"!", K::Not},      {"&", K::And},       {"sum", K::SumOver}, {"maximum", K::MaxOver},
    {"fold", K::Fold},  {"cell", K::Cell},   {"value", K::Value}, {"call", K::Call},
    {"wrap", K::Wrap}};

// Words are parentheses, index terms in braces, and what stands between blanks.
class TextReader {
 public:
  TextReader(Terms& terms, Name text, std::size_t& num_opened)
      : terms_(terms), rest_(text), num_opened_(num_opened) {}

  Term whole() {
    const Term out = term();
    return peek().empty() ? out : refuse();
  }

 private:
  [[noreturn]] Term refuse() const {
    throw Refused("a term that cannot be read, before `" + std::string(rest_.substr(0, 40)) + "`");
  }
  Name peek() {
    rest_.remove_prefix(std::min(rest_.size(), rest_.find_first_not_of(' ')));
    if (rest_.empty() || rest_[0] == '(' || rest_[0] == ')') return rest_.substr(0, 1);
    return rest_.substr(0, rest_[0] == '{' ? rest_.find('}') + 1 : rest_.find_first_of(" (){}"));
  }
  Name word() {
    const Name out = peek();
    if (out.empty()) refuse();
    rest_.remove_prefix(out.size());
    return out;
  }
  bool accept(Name text) {
    if (peek() != text) return false;
    word();
    return true;
  }
  void expect(Name text) { accept(text) ? nullptr : refuse(); }
  Wide number(Name& text) const {  // from the start of the text
    const bool negative = !text.empty() && text[0] == '-';
    const std::size_t end = std::min(text.size(), text.find_first_not_of("0123456789", negative));
    if (end == std::size_t{negative} || end > 37) refuse();
    Wide out = 0;
    for (std::size_t i = negative; i < end; ++i) out = out * 10 + (text[i] - '0');
    text.remove_prefix(end);
    return negative ? -out : out;
  }
  Int integer(Name& text) const {
    const Wide out = number(text);
    if (out != static_cast<Int>(out)) refuse();
    return static_cast<Int>(out);
  }
  Rational rational(Name text) const {
    const Wide over = number(text);
    if (text.empty()) return over;
    take(text, '/');
    const Rational out(over, number(text));
    if (!text.empty()) refuse();
    return out;
  }
  void take(Name& text, char c) const {
    if (text.empty() || text[0] != c) refuse();
    text.remove_prefix(1);
  }

  // `2*i 1*[1*k 3/4] -1`
  Linear linear(Name& text, int depth = 0) const {
    Linear out;
    while (depth < 32) {
      const Int factor = integer(text);
      if (text.empty() || text[0] != '*') return out + Linear(factor);
      take(text, '*');
      if (!text.empty() && text[0] == '[') {
        take(text, '[');
        const Linear over = linear(text, depth + 1);
        take(text, '/');
        out = out + floor_div(over, integer(text)) * factor;
        take(text, ']');
      } else {
        const Name name = text.substr(0, text.find(' '));
        if (name.empty() || name[0] == '@' || name[0] == '%') refuse();
        const auto bound = bound_.find(name);
        out = out + Linear::symbol(bound == bound_.end() ? name : Name(bound->second)) * factor;
        text.remove_prefix(name.size());
      }
      take(text, ' ');
    }
    refuse();
  }
  Linear braced() {
    Name text = word();
    take(text, '{');
    const Linear out = linear(text);
    if (text != "}" || out.broken()) refuse();
    return out;
  }
  Type type() {
    const Name text = word();
    const Type out = type_named(text);
    if (!out && text != "-") refuse();
    return out;
  }
  std::vector<Term> list() {  // to the end of the parenthesis
    std::vector<Term> out;
    while (!accept(")")) out.push_back(term());
    return out;
  }

  Term term() {
    if (++depth_ > 200) refuse();
    Term out = nullptr;
    if (peek().substr(0, 1) == "{")
      out = terms_.index(braced());
    else if (accept("("))
      out = group();
    else if (const Name text = word(); text == "inf" || text == "-inf")
      out = terms_.real(text == "inf" ? HUGE_VAL : -HUGE_VAL);
    else
      out = terms_.number(rational(text));
    --depth_;
    return out;
  }

  Term group() {
    const Name head = word();
    const auto* known = std::find_if(std::begin(kWords), std::end(kWords),
                                     [&](const auto& one) { return one.first == head; });
    if (known == std::end(kWords)) refuse();
    const TermKind kind = known->second;
    if (is_fold(kind)) return fold(kind);
    if (kind == K::Cell || kind == K::Call) {
      const std::string name(word());
      const Type result = kind == K::Call ? type() : nullptr;
      return kind == K::Call ? terms_.call(name, list(), result) : terms_.cell(name, list());
    }
    if (kind == K::Value) {
      Name number = word();
      const Int id = integer(number);
      std::vector<Linear> instance;
      while (!accept(")")) instance.push_back(braced());
      if (!number.empty() || id != static_cast<int>(id)) refuse();
      return terms_.value(static_cast<int>(id), instance);
    }
    if (kind != K::Wrap && kind != K::Power && kind != K::AtLeast && kind != K::Zero)
      return terms_.apply(kind, list());
    Term out = nullptr;
    if (kind == K::AtLeast || kind == K::Zero) out = terms_.condition(braced(), kind == K::Zero);
    const Type to = kind == K::Wrap ? type() : nullptr;
    if (!out) out = kind == K::Wrap ? terms_.wrap(to, term()) : term();
    if (kind == K::Power) out = terms_.power(out, rational(word()));
    expect(")");
    return out;
  }

  Term fold(TermKind kind) {
    const std::string name(kind == K::Fold ? word() : Name());
    const Type result = kind == K::Fold ? type() : nullptr;
    const auto outer = bound_;
    std::vector<std::string> names;
    expect("(");
    while (!accept(")")) {
      names.push_back("%t" + std::to_string(num_opened_++));
      bound_[std::string(word())] = names.back();
    }
    Conjunction domain;
    expect("(");
    while (!accept(")")) {
      expect("(");
      const bool equality = accept("=");
      if (!equality) expect(">=");
      (equality ? domain.equal : domain.at_least).push_back(braced());
      expect(")");
    }
    const std::vector<Term> args = list();
    bound_ = outer;
    return terms_.fold(kind, names, domain, args, name, result);
  }

  Terms& terms_;
  Name rest_;
  std::size_t& num_opened_;
  int depth_ = 0;
  std::map<std::string, std::string, std::less<>> bound_;
};

std::string text_of(Wide value) {
  if (value < 0) return "-" + text_of(-value);
  const std::string last(1, static_cast<char>('0' + static_cast<int>(value % 10)));
  return value < 10 ? last : text_of(value / 10) + last;
}

std::string text_of(const Rational& value) {
  return text_of(value.over) + (value.is_whole() ? "" : "/" + text_of(value.under));
}

}  // namespace

Term Terms::from(Ref expression, const Leaves& leaves, std::size_t component) {
  FromExpr reader(*this, leaves, num_opened_);
  return expression->kind == Kind::Fold ? reader.fold(expression, component)
                                        : reader.read(expression);
}

Term Terms::read(Name text) { return TextReader(*this, text, num_opened_).whole(); }

std::string Terms::text(Term term) {
  std::string out;
  print(term, out);
  return out;
}

void Terms::print(Term t, std::string& out) {
  if (out.size() > kMaxText) return;
  if (t->kind == K::Number) return void(out += text_of(t->number));
  if (t->kind == K::Infinity) return void(out += t->number < 0 ? "-inf" : "inf");
  if (t->kind == K::Index) return void(out += "{" + t->linear.text() + "}");
  out += "(";
  for (const auto& [word, kind] : kWords)
    if (kind == t->kind) out += word;
  if (!t->name.empty()) out += " " + t->name;
  if (t->kind == K::Value) out += " " + std::to_string(t->id);
  if (t->kind == K::Call || t->kind == K::Wrap || t->kind == K::Fold)
    out += " " + (t->type ? std::string(t->type->text) : "-");
  if (t->kind == K::AtLeast || t->kind == K::Zero) out += " {" + t->linear.text() + "}";
  Opened parts{{}, {}, t->args};
  if (is_fold(t->kind)) {
    // Known to the reader, unlike the names inside.
    parts = open(t, "k" + std::to_string(t->height));
    out += " (";
    for (const std::string& name : parts.names) out += (out.back() == '(' ? "" : " ") + name;
    out += ") (";
    for (const Linear& e : parts.domain.equal) out += "(= {" + e.text() + "})";
    for (const Linear& e : parts.domain.at_least) out += "(>= {" + e.text() + "})";
    out += ")";
  }
  for (Term arg : parts.args) print(arg, out += " ");
  if (t->kind == K::Power) out += " " + text_of(t->number);
  out += ")";
}

}  // namespace tilewright::checker

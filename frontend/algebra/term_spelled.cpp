// SPDX-License-Identifier: Apache-2.0
//
// Terms as certificates have them: nested words, of which `tilewright-check` reads what apps/check/terms.h lists. Conditions
// that stand in a term as factors, and those under which it is infinite, become the cases of a selection.
#include <algorithm>

#include "frontend/algebra/nodes_wall.h"

namespace tilewright::algebra {

namespace {

constexpr std::size_t kMostText = 1 << 16;  // of one term

class Speller {
 public:
  explicit Speller(TermStore& store) : store_(store) {}

  std::string spell(Term term) {
    spend();
    if (const Atom condition = condition_in(term)) {
      const Term yes = store_.impl().assume(term, condition, true);
      const Term no = store_.impl().assume(term, condition, false);
      return list("select", {spell(condition), spell(yes), spell(no)});
    }
    for (int i = 0; i < kNumSpecials; ++i)
      if (term->special[i] && !store_.impl().is_zero(term->special[i]))
        return i == kNan ? fail() : i == kNegInf ? "-inf" : "inf";
    if (const mpq_class* number = store_.impl().constant_of(term)) return number->get_str();
    if (const auto index = braced(term)) return *index;
    std::vector<std::string> parts;
    for (const Monomial& monomial : term->monomials) parts.push_back(spell(monomial));
    return parts.size() == 1 ? parts[0] : list("+", parts);
  }

  bool failed() const { return failed_; }

 private:
  std::string fail() {
    failed_ = true;
    return "";
  }
  void spend() {
    if (++steps_ > kMostText) failed_ = true;
  }

  static std::string list(const std::string& head, const std::vector<std::string>& parts) {
    std::string out = "(" + head;
    for (const std::string& part : parts) out += " " + part;
    return out + ")";
  }
  static std::string word(std::string text) {
    std::replace(text.begin(), text.end(), ' ', '_');
    return text;
  }
  // No name of a text begins with this, so nothing is captured.
  static std::string bound_name(std::int64_t height, std::int64_t number) {
    return "'" + std::to_string(height) + "." + std::to_string(number);
  }

  // A condition that stands as a factor in the term.
  static Atom condition_in(Term term) {
    for (const Monomial& monomial : term->monomials)
      for (const Factor& factor : monomial.factors)
        if (is_bool(factor.atom)) return factor.atom;
    for (Term special : term->special)
      if (special)
        if (const Atom found = condition_in(special)) return found;
    return nullptr;
  }

  // Where a sum has no points its factors need not be finite: they are written inside of it.
  std::string spell(const Monomial& monomial) {
    std::vector<std::string> parts;
    Atom sum = nullptr;
    if (monomial.coefficient != 1) parts.push_back(monomial.coefficient.get_str());
    for (const Factor& factor : monomial.factors) {
      if (!sum && factor.atom->kind == AtomKind::Sum && factor.power == 1) {
        sum = factor.atom;
        continue;
      }
      std::string part = spell(factor.atom);
      parts.push_back(factor.power == 1 ? part : list("^", {part, factor.power.get_str()}));
    }
    if (monomial.exponent) parts.push_back(list("exp", {spell(monomial.exponent)}));
    if (sum) return fold("sum", sum, std::move(parts));
    return parts.size() == 1 ? parts[0] : list("*", parts);
  }

  std::vector<std::string> spell(const std::vector<Term>& terms) {
    std::vector<std::string> out;
    for (Term term : terms) out.push_back(spell(term));
    return out;
  }

  std::string spell(Atom atom) {
    spend();
    if (failed_) return "";
    const std::string type(ir::type_text(atom->type));
    switch (atom->kind) {
      case AtomKind::Variable:
      case AtomKind::Extent: return "{1*" + name(atom) + " 0}";
      case AtomKind::Read: return cell("cell " + std::string(atom->name.text()), atom->args);
      case AtomKind::Value: return cell("value " + std::to_string(atom->a), atom->args);
      case AtomKind::Constant: return atom->a == 0 ? "(log 2)" : std::to_string(atom->a);
      case AtomKind::Call: return list("call " + word(atom->text) + " " + type, spell(atom->args));
      case AtomKind::AtLeast: return condition(">=", atom->args[0]);
      case AtomKind::Zero: return condition("=", atom->args[0]);
      case AtomKind::Less: return list("<", spell(atom->args));
      case AtomKind::Floor: return list("floor", spell(atom->args));
      case AtomKind::Wrap: return list("wrap " + type, spell(atom->args));
      case AtomKind::Max: return list("max", spell(atom->args));
      case AtomKind::Base: return spell(atom->args[0]);
      case AtomKind::Sum: return fold("sum", atom);
      case AtomKind::MaxOver: return fold("maximum", atom);
      case AtomKind::Fold: {
        const std::string field = atom->b == 0 ? "" : "." + std::to_string(atom->b);
        return fold("fold " + word(atom->text) + field + " " + type, atom);
      }
      case AtomKind::Unknown: return fail();
    }
    return fail();
  }

  std::string name(Atom atom) {
    if (atom->kind == AtomKind::Extent || atom->name.valid()) return std::string(atom->name.text());
    return atom->text == "bound" ? bound_name(atom->a, atom->b) : fail();
  }

  std::string cell(const std::string& head, const std::vector<Term>& indices) {
    std::vector<std::string> parts;
    for (Term index : indices) {
      const auto affine = braced(index);
      parts.push_back(affine ? *affine : spell(index));
    }
    return list(head, parts);
  }

  std::string condition(const char* sign, Term value) {
    const auto affine = braced(value);
    return affine ? list(sign, {*affine}) : fail();
  }

  std::string fold(const std::string& head, Atom atom, std::vector<std::string> factors = {}) {
    std::string variables, constraints;
    for (int i = 0; i < atom->num_bound; ++i)
      variables += (i == 0 ? "" : " ") + bound_name(atom->height, i);
    for (const Constraint& one : atom->constraints)
      constraints +=
          (constraints.empty() ? "" : " ") + condition(one.equality ? "=" : ">=", one.value);
    std::vector<std::string> parts = {"(" + variables + ")", "(" + constraints + ")"};
    for (Term arg : atom->args) parts.push_back(spell(arg));
    if (!factors.empty()) {
      factors.push_back(parts.back());
      parts.back() = list("*", factors);
    }
    return list(head, parts);
  }

  std::optional<std::string> braced(Term term) {
    const auto affine = linear(term);
    return affine ? std::optional("{" + *affine + "}") : std::nullopt;
  }

  // `2*i 1*[1*k 3/4] -1`
  std::optional<std::string> linear(Term term) {
    const auto parts = store_.index_parts(term);
    if (!parts) return {};
    std::string out;
    std::int64_t constant = 0;
    for (const IndexPart& part : *parts) {
      if (!part.of) {
        constant += part.coefficient;
        continue;
      }
      out += std::to_string(part.coefficient) + "*";
      if (part.denominator != 0) {
        const auto over = linear(part.of);
        if (!over) return {};
        out += "[" + *over + "/" + std::to_string(part.denominator) + "] ";
        continue;
      }
      const Atom atom = store_.impl().single_atom(part.of);
      if (atom == nullptr || (atom->kind != AtomKind::Variable && atom->kind != AtomKind::Extent))
        return {};
      out += name(atom) + " ";
    }
    return out + std::to_string(constant);
  }

  TermStore& store_;
  std::size_t steps_ = 0;
  bool failed_ = false;
};

}  // namespace

std::optional<std::string> TermStore::spelled(Term term) {
  Quiet quiet(impl());
  Speller speller(*this);
  std::string out = speller.spell(term);
  if (speller.failed()) return {};
  return out;
}

}  // namespace tilewright::algebra

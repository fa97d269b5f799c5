// SPDX-License-Identifier: Apache-2.0
//
// Canonical text. Monomials and factors stand in the order of their texts; the variables of a fold are named by its
// height, so that a term has one text in every store.
#include <algorithm>

#include "frontend/algebra/nodes_wall.h"

namespace tilewright::algebra {

namespace {

std::string text(Term term);

std::string list(const std::vector<Term>& terms) {
  std::string out;
  for (Term term : terms) out += (out.empty() ? "" : ", ") + text(term);
  return out;
}

std::string join(std::vector<std::string> parts, const char* between) {
  std::sort(parts.begin(), parts.end());
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : between) + part;
  return out;
}

std::string text(const Constraint& constraint) {
  return text(constraint.value) + (constraint.equality ? " == 0" : " >= 0");
}

std::string text(const Conjunction& conjunction) {
  std::vector<std::string> parts;
  for (const Constraint& constraint : conjunction) parts.push_back(text(constraint));
  return join(std::move(parts), ", ");
}

std::string bound_name(std::int64_t height, std::int64_t number) {
  return "k" + std::to_string(height) + "_" + std::to_string(number);
}

std::string fold_text(const std::string& monoid, Atom atom) {
  std::string out = monoid + "(";
  for (int i = 0; i < atom->num_bound; ++i)
    out += (i == 0 ? "" : ", ") + bound_name(atom->height, i);
  out += " where " + text(atom->constraints) + ": ";
  return out + list(atom->args) + ")";
}

std::string text(Atom atom) {
  const std::string name(atom->name.text());
  switch (atom->kind) {
    case AtomKind::Variable:
      if (atom->name.valid()) return name;
      return atom->text == "bound" ? bound_name(atom->a, atom->b) : "_" + std::to_string(atom->a);
    case AtomKind::Extent: return name;
    case AtomKind::Read: return name + "[" + list(atom->args) + "]";
    case AtomKind::Value: return "@" + std::to_string(atom->a) + "[" + list(atom->args) + "]";
    case AtomKind::Constant: return atom->a == 0 ? "ln2" : std::to_string(atom->a);
    case AtomKind::Call: return atom->text + "(" + list(atom->args) + ")";
    case AtomKind::AtLeast: return "[" + text(atom->args[0]) + " >= 0]";
    case AtomKind::Zero: return "[" + text(atom->args[0]) + " == 0]";
    case AtomKind::Less: return "[" + text(atom->args[0]) + " < " + text(atom->args[1]) + "]";
    case AtomKind::Floor: return "floor(" + text(atom->args[0]) + ")";
    case AtomKind::Wrap:
      return std::string(ir::type_text(atom->type)) + "(" + text(atom->args[0]) + ")";
    case AtomKind::Max: {
      std::vector<std::string> parts;
      for (Term arg : atom->args) parts.push_back(text(arg));
      return "max(" + join(std::move(parts), ", ") + ")";
    }
    case AtomKind::Base: return "(" + text(atom->args[0]) + ")";
    case AtomKind::Sum: return fold_text("sum", atom);
    case AtomKind::MaxOver: return fold_text("max", atom);
    case AtomKind::Fold:
      return fold_text(atom->b == 0 ? atom->text : atom->text + "." + std::to_string(atom->b),
                       atom);
    case AtomKind::Unknown:
      return "unknown" + std::to_string(atom->a) + "(" + list(atom->args) + ")";
  }
  return "";
}

std::string text(const Monomial& monomial) {
  std::vector<std::string> factors;
  for (const Factor& factor : monomial.factors) {
    std::string part = text(factor.atom);
    if (factor.power != 1) {
      const bool plain = factor.power.get_den() == 1 && factor.power > 0;
      part += plain ? "^" + factor.power.get_str() : "^(" + factor.power.get_str() + ")";
    }
    factors.push_back(std::move(part));
  }
  std::string out = join(std::move(factors), "*");
  if (monomial.exponent) out += (out.empty() ? "exp(" : "*exp(") + text(monomial.exponent) + ")";
  if (out.empty()) return monomial.coefficient.get_str();
  if (monomial.coefficient == 1) return out;
  if (monomial.coefficient == -1) return "-" + out;
  return monomial.coefficient.get_str() + "*" + out;
}

std::string text(Term term) {
  std::vector<std::string> parts;
  for (const Monomial& monomial : term->monomials) {
    // Sorted by what follows the sign and the coefficient.
    Monomial bare = monomial;
    bare.coefficient = 1;
    parts.push_back(text(bare) + '\0' + text(monomial));
  }
  std::sort(parts.begin(), parts.end());
  std::string out;
  for (const std::string& part : parts) {
    std::string shown = part.substr(part.find('\0') + 1);
    if (out.empty())
      out = shown;
    else if (shown[0] == '-')
      out += " - " + shown.substr(1);
    else
      out += " + " + shown;
  }
  const char* names[kNumSpecials] = {"-inf", "inf", "nan"};
  for (int i = 0; i < kNumSpecials; ++i) {
    if (!term->special[i]) continue;
    const std::string condition = text(term->special[i]);
    if (condition == "1") return names[i];
    out = (out.empty() ? "0" : out) + " or " + names[i] + " if " + condition;
  }
  return out.empty() ? "0" : out;
}

}  // namespace

std::string TermStore::print(Term term) { return term ? text(term) : "none"; }

std::string TermStore::print(const Conjunction& conjunction) { return text(conjunction); }

std::string TermStore::print(const Obligation& obligation) {
  static constexpr const char* kShapes[] = {" is finite", " != 0",  " >= 0",
                                            " > 0",       " < inf", " never holds"};
  std::string out = text(obligation.term) + kShapes[static_cast<int>(obligation.condition)];
  if (!obligation.variables.empty())
    out += " for all " + list(obligation.variables) + " where " + text(obligation.where);
  if (obligation.when) out += " when " + text(obligation.when);
  if (obligation.unless_empty) out += " unless " + text(obligation.unless_empty) + " is empty";
  return out;
}

}  // namespace tilewright::algebra

// SPDX-License-Identifier: Apache-2.0
//
// The number that a term stands for, by its definition and point by point: the witness that two terms differ. And what
// a term means in these tests: inputs `x`, `y`, ... of any rank, and the equations that a test adds.
#pragma once

#include <cmath>

#include "apps/check/terms.h"
#include "lowering/proof/emptiness.h"

namespace tilewright::checker {

inline poly::AffineExpr affine(const Linear& linear) {
  poly::AffineExpr out(linear.constant());
  for (const auto& [atom, coefficient] : linear.terms())
    out = out + (atom.floor ? floor_div(affine(atom.floor->numerator), atom.floor->denominator)
                            : poly::AffineExpr::variable(atom.name)) *
                    coefficient;
  return out;
}

class TestMeaning : public Meaning {
 public:
  // As the certificate's writer and the checker answer, together.
  bool empty(const Conjunction& set) override {
    ++asked;
    poly::BasicSet basic;
    for (const Linear& e : set.equal) basic.equalities.push_back(affine(e));
    for (const Linear& e : set.at_least) basic.inequalities.push_back(affine(e));
    const proof::Emptiness found = proof::prove_empty(basic);
    return found.verdict == proof::Emptiness::Verdict::Empty &&
           check::check_empty(set, found.evidence.text()).empty();
  }
  Type cell_type(Name tensor) override {
    const auto it = types.find(std::string(tensor));
    return type_named(it == types.end() ? "f32" : it->second);
  }
  Type value_type(int) override { return type_named("f32"); }
  bool is_input(Name tensor) override { return !equations.contains(std::string(tensor)); }
  Term definition(Name tensor, const std::vector<Term>& indices) override {
    const auto it = equations.find(std::string(tensor));
    return it == equations.end() ? nullptr : it->second(indices);
  }
  Term claim(int statement, const std::vector<Term>& instance) override {
    const auto it = claims.find(statement);
    return it == claims.end() ? nullptr : it->second(instance);
  }

  std::map<std::string, std::string> types;
  std::map<std::string, std::function<Term(const std::vector<Term>&)>> equations;
  std::map<int, std::function<Term(const std::vector<Term>&)>> claims;
  Terms* terms = nullptr;  // for what a cell's indices are
  int asked = 0;
};

// What names, cells and values are.
struct Point {
  std::map<std::string, Int> names;
  std::uint64_t seed = 0;
  bool positive = false;  // cells
  TestMeaning* meaning = nullptr;
  bool lost = false;  // floats could not tell

  double kept(double value) {
    const double size = std::abs(value);
    if (std::isfinite(size) && size != 0 && (size > 1e7 || size < 1e-7)) lost = true;
    return value;
  }

  double cell(const Node& leaf, const std::vector<double>& indices) const {
    std::uint64_t h = seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(leaf.id);
    const auto mix = [&](std::uint64_t v) { h = (h ^ v) * 0xbf58476d1ce4e5b9, h ^= h >> 29; };
    for (char c : leaf.name) mix(static_cast<std::uint64_t>(c));
    for (double i : indices) mix(static_cast<std::uint64_t>(static_cast<Int>(i * 16)));
    if (leaf.type && leaf.type->kind == Class::Bool) return static_cast<double>(h % 2);
    if (leaf.type && leaf.type->is_integer()) {
      const double half = std::ldexp(1, std::min(leaf.type->width, 20) - 1);
      return static_cast<double>(h % 4096) - std::min(half, 2048.0);
    }
    const double value = static_cast<double>(h % 33) / 8 - 2;
    return positive ? std::abs(value) + 0.125 : value;
  }
};

inline Int value_of(const Linear& linear, const std::map<std::string, Int>& names) {
  Int out = linear.constant();
  for (const auto& [atom, coefficient] : linear.terms()) {
    if (!atom.floor) {
      out += coefficient * names.at(atom.name);
      continue;
    }
    const Int over = value_of(atom.floor->numerator, names), under = atom.floor->denominator;
    out += coefficient * (over / under - (over % under < 0 ? 1 : 0));
  }
  return out;
}

inline bool contains(const Conjunction& set, const std::map<std::string, Int>& names) {
  const auto equal = [&](const Linear& e) { return value_of(e, names) == 0; };
  const auto at_least = [&](const Linear& e) { return value_of(e, names) >= 0; };
  return std::all_of(set.equal.begin(), set.equal.end(), equal) &&
         std::all_of(set.at_least.begin(), set.at_least.end(), at_least);
}

// Bound variables are tried from -24 to 40: domains have to lie there.
inline void for_each_point(const Node& fold, std::size_t next, std::map<std::string, Int>& names,
                           const std::function<void()>& visit) {
  if (next == fold.bound.size()) {
    if (contains(fold.domain, names)) visit();
    return;
  }
  for (Int i = -24; i <= 40; ++i) {
    names[fold.bound[next]] = i;
    for_each_point(fold, next + 1, names, visit);
  }
  names.erase(fold.bound[next]);
}

inline double value_of(Term t, Point& at) {
  const double inf = HUGE_VAL;
  std::vector<double> a;
  const auto& args = t->args;
  if (!is_fold(t->kind) && t->kind != TermKind::Select)
    for (Term arg : args) a.push_back(value_of(arg, at));
  switch (t->kind) {
    case TermKind::Number:
      return static_cast<double>(t->number.over) / static_cast<double>(t->number.under);
    case TermKind::Infinity: return t->number < 0 ? -inf : inf;
    case TermKind::Index: return static_cast<double>(value_of(t->linear, at.names));
    case TermKind::Cell:
    case TermKind::Value: {
      const bool defined = t->kind == TermKind::Cell ? !at.meaning->is_input(t->name)
                                                     : at.meaning->claims.contains(t->id);
      if (!defined) return at.cell(*t, a);
      std::vector<Term> indices;
      for (double i : a) indices.push_back(at.meaning->terms->number(static_cast<Int>(i)));
      const std::map<std::string, Int> outer = at.names;
      const double out =
          value_of(t->kind == TermKind::Cell ? at.meaning->definition(t->name, indices)
                                             : at.meaning->claim(t->id, indices),
                   at);
      at.names = outer;
      return out;
    }
    case TermKind::Call: {
      double out = 0.3;
      if (t->name == "tanh") return std::tanh(a[0]);
      for (double x : a) out = std::sin(3 * x + out);
      return t->type && t->type->kind != Class::Float ? std::floor(out * 8) : out;
    }
    case TermKind::Wrap: {
      const double size = std::ldexp(1, t->type->width);
      const double rest = a[0] - size * std::floor(a[0] / size);
      return t->type->kind == Class::Signed && rest >= size / 2 ? rest - size : rest;
    }
    case TermKind::Sum: {
      double out = 0;
      for (double x : a) out += x;
      return at.kept(out);
    }
    case TermKind::Product: {
      double out = 1;
      for (double x : a) out *= x;
      return at.kept(out);
    }
    case TermKind::Power: {
      if (a[0] == 0 && t->number < 0) return NAN;
      if (!t->number.is_whole() && a[0] < 0) return NAN;
      return at.kept(std::pow(at.kept(a[0]), static_cast<double>(t->number.over) /
                                                 static_cast<double>(t->number.under)));
    }
    case TermKind::Exp: {
      if (std::isfinite(a[0]) && std::abs(a[0]) > 15) at.lost = true;
      return std::exp(a[0]);
    }
    case TermKind::Log: return a[0] < 0 ? NAN : std::log(a[0]);
    case TermKind::Floor: return std::floor(a[0]);
    case TermKind::Max: {
      double out = -inf;
      for (double x : a) out = std::isnan(x) || std::isnan(out) ? NAN : std::max(out, x);
      return out;
    }
    case TermKind::Select: return value_of(args[value_of(args[0], at) != 0 ? 1 : 2], at);
    case TermKind::AtLeast: return value_of(t->linear, at.names) >= 0;
    case TermKind::Zero: return value_of(t->linear, at.names) == 0;
    case TermKind::Less:
    case TermKind::Same:
      if (a[0] != a[1]) at.kept(a[0] - a[1]);
      return t->kind == TermKind::Less ? a[0] < a[1] : a[0] == a[1];
    case TermKind::Not: return a[0] == 0;
    case TermKind::And: {
      bool out = true;
      for (double x : a) out = out && x != 0;
      return out;
    }
    case TermKind::SumOver:
    case TermKind::MaxOver: {
      double out = t->kind == TermKind::SumOver ? 0 : -inf;
      for_each_point(*t, 0, at.names, [&] {
        const double x = value_of(args[0], at);
        if (t->kind == TermKind::SumOver)
          out += x;
        else
          out = std::isnan(x) || std::isnan(out) ? NAN : std::max(out, x);
      });
      return out;
    }
    case TermKind::Fold: {
      double out = 0.7;
      for_each_point(*t, 0, at.names, [&] {
        for (Term arg : args) out = std::sin(2 * out + value_of(arg, at));
      });
      return out;
    }
  }
  return NAN;
}

inline bool alike(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= 1e-7 * std::max({1.0, std::abs(a), std::abs(b)});
}

}  // namespace tilewright::checker

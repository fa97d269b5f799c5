// SPDX-License-Identifier: Apache-2.0
//
// Folds.
#include <algorithm>

#include "apps/check/reader.h"

namespace tilewright::checker {

const Monoid* Reader::monoid_named(Name name) const {
  for (const Monoid& m : monoids_)
    if (m.name == name) return &m;
  return nullptr;
}

// `min` and `max` are functions too, whose arguments are no comparisons.
bool Reader::begins_fold(Name name) const {
  if (!is_reduction(name)) return monoid_named(name);
  return !function(name) || (peek().kind == TokenKind::Word && is(peek(1), "<"));
}

// After `name(`, and perhaps the first lower bound.
Ref Reader::fold(Name name, std::uint32_t at, Ref lower) {
  FoldParts out;
  out.monoid = name;
  if (name == "last") refuse_at(at, "`last` is no reduction");
  ranges(out, lower);
  return finish(std::move(out), at);
}

// `1 <= k < K, t < T where c)`, of which the first lower bound may have been read.
void Reader::ranges(FoldParts& fold, Ref lower) {
  const int bound = infix("<")->precedence + 1;
  do {
    const bool is_plain = peek().kind == TokenKind::Word && is(peek(1), "<");
    if (!lower && !is_plain) lower = expr_of(kIndex, bound);
    if (lower) expect("<=");
    const Name var = name();
    expect("<");
    fold.lower.push_back(lower);
    fold.upper.push_back(expr_of(kIndex, bound));
    declare(var, {What::Variable, kIndex});
    fold.vars.push_back(var);
    lower = nullptr;
  } while (accept(","));
  if (accept("where")) fold.where = expr_of(kBool);
  expect(")");
}

std::vector<Ref> Reader::terms() {
  const Ref e = expr();
  return e->kind == Kind::Tuple ? e->args : std::vector<Ref>{e};
}

// The types of what the fold makes; `values` are terms, or what stands in their place.
std::vector<Type> Reader::fields(const FoldParts& fold, const std::vector<Ref>& values,
                                 std::uint32_t at) const {
  std::vector<Type> types;
  for (Ref value : values) types.push_back(value->type);
  bool good = std::count(types.begin(), types.end(), nullptr) == 0;
  if (const Monoid* declared = monoid_named(fold.monoid)) {
    good = good && types == declared->types;
  } else if (fold.monoid.empty()) {
    good = good && types.size() == fold.state.size();
  } else if (fold.monoid == "argmin" || fold.monoid == "argmax") {
    good = good && types.size() == 2 && types[1]->is_integer();
  } else if (fold.monoid == "and" || fold.monoid == "or") {
    good = good && types == std::vector<Type>{kBool};
  } else {
    good = good && types.size() == 1 && (fold.monoid == "last" || types[0] != kBool);
  }
  if (!good) refuse_at(at, "terms that do not fit the reduction");
  return types;
}

Ref Reader::scan_fold(std::uint32_t at) {
  FoldParts out;
  out.scan = true;
  if (!this->at("(")) out.monoid = name();
  if (!out.monoid.empty() && !is_reduction(out.monoid) && !monoid_named(out.monoid))
    refuse_at(at, "no such reduction");
  expect("(");
  out.vars.push_back(name());
  if (std::find(indices_.begin(), indices_.end(), out.vars[0]) == indices_.end())
    refuse_at(at, "a scan runs along an index of its equation");
  while (out.monoid.empty() && accept(",")) {
    out.state.push_back(name());
    expect("=");
    out.base.push_back(expr());
  }
  expect(")");
  if (out.monoid.empty()) {
    const std::vector<Type> types = fields(out, out.base, at);
    if (types.empty()) refuse_at(at, "a recurrence without state");
    for (std::size_t i = 0; i < types.size(); ++i)
      declare(out.state[i], {What::Variable, types[i]});
  }
  return finish(std::move(out), at);
}

// The terms know their variables alone, the base the indices alone.
Ref Reader::update_fold(std::uint32_t at) {
  FoldParts out;
  out.update = true;
  out.base = terms();
  out.monoid = name();
  if (!is_reduction(out.monoid) && !monoid_named(out.monoid)) refuse_at(at, "no such reduction");
  const std::vector<Name> indices = indices_;
  forget(indices);
  expect("(");
  ranges(out, nullptr);
  expect("at");
  expect("[");
  out.at = list("]", kIndex);
  const Ref made = finish(std::move(out), at);
  for (Name index : indices) declare(index, {What::Variable, kIndex});
  return made;
}

// The terms, as far right as they go, and what follows.
Ref Reader::finish(FoldParts fold, std::uint32_t at) {
  if (!may_fold_) refuse_at(at, "no fold may stand here");
  if (++folds_ > 1) refuse_at(at, "a fold inside of a fold");
  fold.body = terms();
  const std::vector<Type> types = fields(fold, fold.body, at);
  if (!fold.base.empty() && fields(fold, fold.base, at) != types)
    refuse_at(at, "terms of other types than what they begin with");
  if (!fold.scan && accept("on_empty")) {
    fold.on_empty = terms();
    if (fields(fold, fold.on_empty, at) != types) refuse_at(at, "`on_empty` of another type");
  }
  forget(fold.scan ? fold.state : fold.vars);
  Expr e;
  e.kind = Kind::Fold;
  e.type = types[0];
  e.depth = 1;
  for (const auto* part :
       {&fold.lower, &fold.upper, &fold.body, &fold.on_empty, &fold.base, &fold.at})
    for (Ref r : *part)
      if (r) e.depth = std::max(e.depth, r->depth + 1);
  if (fold.where) e.depth = std::max(e.depth, fold.where->depth + 1);
  e.fold = &arena_.folds.emplace_back(std::move(fold));
  return make(std::move(e), at);
}

}  // namespace tilewright::checker

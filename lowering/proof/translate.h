// SPDX-License-Identifier: Apache-2.0
//
// Between the two forms of an index and of a set: quasi-affine values with sets, and terms with conjunctions. Names are the same in both: a loop variable `i` is the dimension `i` and the variable `i`.
#pragma once

#include <map>
#include <optional>

#include "frontend/algebra/term.h"
#include "lowering/proof/statements.h"

namespace tilewright::proof {

using algebra::Term;
using algebra::TermStore;

// Names in sets for integers that data give: cells and what has no other form. Equal terms have equal names.
struct DataNames {
  std::vector<std::pair<std::string, Term>> names;
};

class Translator {
 public:
  Translator(ir::Context& context, TermStore& terms, std::vector<std::string> extents)
      : context_(context), terms_(terms), extents_(std::move(extents)) {}

  Term variable(std::string_view name);
  Term term(const AffineExpr& expr);
  std::vector<Term> instance(const std::vector<AffineExpr>& exprs);
  algebra::Conjunction conjunction(const poly::BasicSet& set);
  // Nothing where the term is no linear form with floors. With `data`, integers that data give have names.
  std::optional<AffineExpr> affine(Term term, DataNames* data = nullptr);
  std::optional<poly::BasicSet> basic_set(const algebra::Conjunction& conjunction,
                                          DataNames* data = nullptr);

 private:
  ir::Context& context_;
  TermStore& terms_;
  std::vector<std::string> extents_;
  std::map<const void*, std::string> data_names_;  // by node
};

}  // namespace tilewright::proof

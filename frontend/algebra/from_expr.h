// SPDX-License-Identifier: Apache-2.0
//
// The term that an expression denotes over the extended reals: floats are reals and their conversions the identity,
// integers wrap at their width, rounding points and conversions to integers are unknown functions. Law: the term
// evaluates to what the interpreter's reading in the reals gives, where that is defined
// (tests/unit/frontend/algebra/from_expr_test.cpp).
#pragma once

#include "frontend/algebra/term.h"
#include "frontend/ir/algorithm.h"

namespace tilewright::algebra {

// What the leaves stand for; a null function or a null answer means the leaf itself.
struct Leaves {
  std::function<Term(Symbol name)> variable;
  std::function<Term(const ir::Read& read, std::span<const Term> indices)> read;
  // Logs also what makes every float operation of the expression have a value: a sum is not of opposite infinities,
  // a factor and a divisor are finite, a divisor is not 0. The laws alone do not ask this of what they leave as it
  // is; a program must have a value wherever the algorithm has one.
  bool must_be_defined = false;
};

// `component` selects the field of a fold of several. Recurrences and updates are unknown.
Term from_expr(TermStore& store, ir::Expr expr, const Leaves& leaves, int component = 0);

// What reading a cell of an input gives: of one that is declared `range .. clamp` the nearest value in the range.
Term input_cell(TermStore& store, const ir::Input& input, std::span<const Term> indices);

// Every equation that is read stands for its value, so that the leaves are inputs. The algorithm must live as long.
Leaves inline_equations(TermStore& store, const ir::Algorithm& algorithm);

}  // namespace tilewright::algebra

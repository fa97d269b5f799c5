// SPDX-License-Identifier: Apache-2.0
//
// Index and Bool expressions of a Program with everything that is not quasi-affine replaced by unknowns: a
// value read from a buffer, a product of extents, a division by one, a comparison of floats. Laws: the view
// has the value of the expression for some value of its unknowns within their ranges; equal expressions have
// the same unknown where nothing between them can change their value.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontend/ir/simplify.h"
#include "lowering/program/program.h"

namespace tilewright::check {

using ir::Expr;

struct Unknown {
  Symbol name;  // "?0": no name of a Program
  Expr stands_for;
  ir::Interval range;
  bool on_data = false;  // its value depends on data
};

// The view of one path through a Program, on which each variable has one value.
class AffineView {
 public:
  AffineView(ir::Context& context, const program::Program& program);

  // Data that the Program writes may differ from one statement to the next.
  void begin_statement();
  // Precondition: of type Index or Bool.
  Expr of(Expr expr);
  // A `let` of another type than Index; one of type Bool stands for its value from here on.
  void define(Symbol var, Expr value);

  const std::vector<Unknown>& unknowns() const { return unknowns_; }

 private:
  Expr compute(Expr expr);
  Expr operation(Expr expr, const ir::Op& op);
  Expr unknown(Expr expr);
  Expr representable(Expr expr, Expr view);
  bool depends_on_data(Expr expr) const;

  ir::Context& context_;
  std::unordered_set<Symbol> inputs_;
  ir::Ranges extents_;
  std::unordered_map<Symbol, Expr> definitions_;
  std::unordered_set<Symbol> data_;  // variables whose value depends on data
  std::unordered_map<Expr, Expr> lasting_;  // unknowns that no statement changes
  std::unordered_map<Expr, Expr> views_;  // of this statement
  std::vector<Unknown> unknowns_;
};

}  // namespace tilewright::check

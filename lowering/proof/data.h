// SPDX-License-Identifier: Apache-2.0
//
// Values that a Program reads and then uses as an index, a bound or a condition: names for them in sets, and what is
// known of them whatever the data are. Laws: equal expressions have equal names; the facts of a name hold in
// every run, since the algorithm declares them of its inputs and each call checks them (frontend/ir/facts.h).
// Tests: tests/laws/data_proof_test.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontend/ir/facts.h"
#include "lowering/program/program.h"
#include "schedules/polyhedra/index.h"

namespace tilewright::proof {

using ir::Expr;
using poly::AffineExpr;

// Names in the place of what is read, and what holds of them. Names are dimensions of sets.
struct Known {
  std::vector<std::pair<std::string, Expr>> values;
  poly::Region facts = poly::Region::everywhere();

  bool empty() const { return values.empty(); }
  std::vector<std::string> names() const;
};

class DataValues {
 public:
  DataValues(ir::Context& context, const program::Program& program);

  // A `let`, whose value may be looked into.
  void define(Symbol name, Expr value) { lets_[name] = value; }
  // Everything that the expression reads stays as it is: inputs, and `let`s.
  bool is_fixed(Expr expr) const;
  // An index as affine over loops, extents and names.
  AffineExpr index(Expr expr, Known& known);
  // At least all points where the condition is `truth`, over the same.
  poly::Region condition(Expr expr, bool truth, Known& known);
  // Least and greatest value over extents and loops; nothing where one is not known.
  std::optional<ir::ValueRange> range(Expr expr) const;

 private:
  Expr named(Expr expr, Known& known);
  Expr name_of(Expr expr, Known& known, bool describe);
  Expr with_lets(Expr expr) const;

  ir::Context& context_;
  ir::Algorithm inputs_;  // what is declared of the parameters
  std::map<Symbol, Expr> lets_;
  std::map<const void*, std::string> names_;  // by node
};

}  // namespace tilewright::proof

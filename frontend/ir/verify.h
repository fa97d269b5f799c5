// SPDX-License-Identifier: Apache-2.0
//
// What makes an algorithm well formed, however it was made. Law: text, JSON and generators give only
// algorithms without findings here, and every other room may rely on that.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "frontend/base/diagnostic.h"
#include "frontend/ir/algorithm.h"
#include "frontend/ir/elaborate.h"

namespace tilewright::ir {

// Places of expressions, where the algorithm came from a text.
struct AlgorithmSpans {
  ExprSpans requirements;
  std::unordered_map<Symbol, ExprSpans> declarations;  // by input or equation
};

// Empty when the algorithm is well formed. The invariants stand at the top of verify.cpp.
std::vector<Diagnostic> verify(const Algorithm& algorithm, const AlgorithmSpans* spans = nullptr);

// Sums of constants, variables and extents with constant factors, and floor division and modulus of such
// by positive constants.
bool is_quasi_affine(Expr expr);
// The same with `min` and `max` anywhere: what indices and fold bounds may be.
bool is_piecewise_quasi_affine(Expr expr);
// And with integers that are read, converted to `index`.
bool is_quasi_affine_with_data(Expr expr);

// The rules of one expression, shared with programs: operand types, constants, divisors. `report` gets what
// is wrong and the expression that it is wrong about. Names are the caller's to check.
using ExprReport = std::function<void(Expr, Diagnostic)>;
void verify_expr(Expr root, const ExprReport& report);
// E0107 findings about the spelling of a name; `what` says whose ("the input").
void verify_name(Symbol name, std::string_view what, Span span, std::vector<Diagnostic>& out);
// E0214 findings about one extent.
void verify_extent(const ExtentDecl& extent, std::vector<Diagnostic>& out);

}  // namespace tilewright::ir

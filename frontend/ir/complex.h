// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers as pairs of reals: the one definition of what operations on them mean. Interpreters and code
// generation see what this makes of expressions, algorithms and (lowering/program/split_complex.h) Programs, so
// they agree bit for bit. With z = (a, b) and w = (c, d), each operation below rounded by itself:
//   z * w    (a*c - b*d, a*d + b*c)
//   z / w    Smith's (1962): where |c| >= |d|, with r = d/c and e = c + d*r, ((a + b*r)/e, (b - a*r)/e);
//            else with r = c/d and e = c*r + d, ((a*r + b)/e, (b*r - a)/e)
//   abs(z)   with m >= n the sizes of a and b, m * sqrt(1 + (n/m)^2); m where n is 0 or m infinite
// A tensor x becomes the tensors x're and x'im, names that no text can write. A sum becomes two sums; a product and
// a declared monoid one over twice the fields; a carried tensor becomes two. Law: the parts of what is made are the parts of what was given.
#pragma once

#include <unordered_map>

#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"
#include "frontend/ir/value.h"

namespace tilewright::ir {

struct Parts {
  Expr re;
  Expr im;
};

// Makes expressions without complex types, in a context that may be another one.
class ComplexSplitter {
 public:
  explicit ComplexSplitter(Context& to) : to_(to) {}
  Expr real(Expr expr);  // of any type but complex
  Parts parts(Expr expr);  // of a complex type
  Symbol part_name(Symbol name, bool imaginary);
  // The value, or its two parts; the names of these.
  void append(Expr expr, std::vector<Expr>& out);
  void append(Symbol name, ScalarType type, std::vector<Symbol>& out);
  // Of a monoid with fields of complex types.
  MonoidDecl monoid(const MonoidDecl& declared);
  // Products of this complex type: combine (a, b), (c, d) as z * w.
  MonoidDecl product(ScalarType type);
  // A fold of several fields, at least one of them complex, by a monoid of that name.
  Expr fold(const Fold& from, Symbol monoid);

 private:
  Expr leaf(Expr expr);
  Parts split(Expr expr);
  Parts split_op(const Op& op);
  Parts split_sum(const Fold& from);
  Expr real_op(const Op& op);
  Expr real_fold(const Fold& fold);
  Parts multiply(const Parts& z, const Parts& w);
  Parts divide(const Parts& z, const Parts& w);
  Expr magnitude(const Parts& z);

  Context& to_;
  std::unordered_map<std::uint32_t, Expr> reals_;
  std::unordered_map<std::uint32_t, Parts> parts_;
};

bool has_complex(const Algorithm& algorithm);
bool has_complex(const MonoidDecl& declared);
// Without complex types: two inputs or equations for each complex one, at its place.
Algorithm split_complex(Context& to, const Algorithm& algorithm);
// A complex tensor as its two parts, and back.
Tensor part_of(const Tensor& tensor, bool imaginary);
Tensor join_parts(ScalarType type, const Tensor& re, const Tensor& im);

}  // namespace tilewright::ir

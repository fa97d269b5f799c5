// SPDX-License-Identifier: Apache-2.0
//
// The reader of algorithms: statements, and what equations leave out. An index without a range takes the
// extent of the positions where it stands alone as an index; these must agree. Private to the room: text.h has
// the function. Loops and cases are in parse_loops.cpp.
#pragma once

#include <string>
#include <vector>

#include "frontend/ir/elaborate.h"
#include "frontend/ir/expr_syntax.h"
#include "frontend/ir/inline_call.h"
#include "frontend/ir/sort_equations.h"
#include "frontend/ir/verify.h"

namespace tilewright::ir {

// Where a statement ends is found by the layout of lines after a mistake only.
class AlgorithmReader {
 public:
  AlgorithmReader(Context& context, const Source& source);

  // The last algorithm of the file; those before it are what it may call.
  Result<Algorithm> read();

 private:
  bool algorithm();
  void statements();

  // What a declaration says of storage and what an output says are one.
  void check_inouts();
  bool header();
  bool statement();

  // `loop l < L while go[] carry h = h0 then n { ... }`.
  bool loop(std::uint32_t begin);

  // The equations of a loop, with the brace taken. A loop that is faulty was reported, and would only be
  // reported again.
  bool body(Loop made, bool good);

  // `case s carry y = y0 { when 0 then a { ... } when 1 then b { ... } else then c { ... } }` is short for a loop
  // of at most one iteration for each arm, which carries on from the arm before; the last carries `y`.
  bool choice(std::uint32_t begin);

  // `carry h = h0 then n, c = c0 then d`; false when the syntax is wrong. Of a case without `then`.
  bool carries(Loop& loop, bool& good, bool with_next = true);

  // `= cell(x = ` or `= cell()`: no value of an equation looks like this.
  bool at_call() const;
  const Algorithm* find_algorithm(std::string_view name) const;

  // `h, c = cell(x = xs, w = w[0])`.
  bool call(const Token& first, bool is_output, std::uint32_t begin);
  void add_inlined(Equation equation, const std::vector<Token>& results, bool is_output);
  bool arguments(Call& call);
  bool input(std::uint32_t begin, bool is_const);

  struct Index {
    Token name;
    SyntaxPtr upper;  // null when left out
  };
  struct Head {
    std::vector<Index> indices;
    std::vector<ScalarType> types;  // empty when left out
    Symbol into;
    SyntaxPtr value;
  };
  std::optional<Head> equation_syntax();
  bool is_sort(const Syntax& value) const;
  bool sort(const Token& name, const Head& head, bool is_output, std::uint32_t begin);

  // Empty after reporting.
  SortedEquations sorted(const Token& name, const Head& head);
  bool equation(const Token& name, bool is_output, std::uint32_t begin);

  // The equation's own name stands for no tensor, but is taken.
  bool declare_parts(const Token& name, const Equation& equation);
  std::optional<Equation> elaborate(const Token& name, const Head& head);

  // The declared types are those of the parts; parts are not converted.
  bool check_parts(const Equation& equation, const Head& head);

  // A declared float type rounds a float value; other conversions are written out.
  bool convert_to_declared(Equation& equation, const Syntax& value);

  // A place where an index stands alone, and the extent there.
  struct Use {
    Span span;
    Expr extent;
  };

  // False when a read is faulty in itself: that is reported, and says nothing about ranges.
  bool collect_uses(const Syntax& syntax, std::string_view index, std::vector<Use>& out) const;
  Expr inferred_range(const Token& index, const Syntax& value);

  Context& context_;
  TextCursor cursor_;
  Scope extent_scope_;
  Scope scope_;
  Elaborator extents_;
  Elaborator names_;
  AlgorithmSpans spans_;
  bool is_view_ = false;  // the statement at hand
  std::vector<Token> inouts_;
  std::vector<MonoidDecl> monoids_;
  std::vector<Algorithm> library_;  // what stands before in the file
  Algorithm algorithm_;
};

}  // namespace tilewright::ir

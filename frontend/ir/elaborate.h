// SPDX-License-Identifier: Apache-2.0
//
// From expression syntax to typed expressions: resolves names, gives literals the type of their
// neighbours, checks every operand, and reports with the exact place. A literal takes the type of the other
// operand, arm or argument, else that of its place, else `index` when it is an integer.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"
#include "frontend/ir/expr_syntax.h"

namespace tilewright::ir {

// What a name stands for where an expression is read.
struct Meaning {
  enum class Kind : std::uint8_t { Variable, Extent, Tensor, Parts, Broken };
  Kind kind = Kind::Variable;
  ScalarType type = ScalarType::Index;
  std::size_t rank =
      0;  // of a Tensor; Parts: the name of an equation of several tensors, itself none
  Span declared;
};

// The names that an expression may use. `Broken` names had a faulty declaration: uses fail silently, since
// the fault was reported there.
class Scope {
 public:
  // False when the name has a meaning already, which stays.
  bool declare(Symbol name, const Meaning& meaning) {
    return meanings_.emplace(name, meaning).second;
  }
  void forget(Symbol name) { meanings_.erase(name); }
  const Meaning* find(Symbol name) const;
  // Of the declared names, the one most like `name`, for remedies; empty when none is close.
  std::string closest(std::string_view name) const;

 private:
  std::unordered_map<Symbol, Meaning> meanings_;
};

// Every place in the text where an expression stands, for later checks.
using ExprSpans = std::unordered_multimap<Expr, Span>;
// The first place of the expression that lies in `around` (anywhere when that is no place), else `around`.
Span find_span(const ExprSpans& spans, Expr expr, Span around);

class Elaborator {
 public:
  // All must outlive it; `spans` may be null and changed between calls.
  Elaborator(Context& context, Scope& scope, TextCursor& cursor)
      : context_(context), scope_(scope), cursor_(cursor) {}
  void record_spans(ExprSpans* spans) { spans_ = spans; }
  // Names that exist but may not be used here: their use is E0215 instead of E0201.
  void set_outside(const Scope* outside) { outside_ = outside; }
  // The reductions that a fold may name besides those of the language; must outlive the calls.
  void set_monoids(const std::vector<MonoidDecl>* monoids) { monoids_ = monoids; }
  // Folds are E0505 with advice for programs, instead of E0210.
  void read_program() { program_ = true; }

  // An expression without folds; null after reporting. `expected` types literals; the result may have
  // another type.
  Expr expression(const Syntax& syntax, std::optional<ScalarType> expected);
  // The same, and it must have that type: `what` ("an index") for the message.
  Expr expression_of(const Syntax& syntax, ScalarType type, std::string_view what);
  // The right side of an equation: a fold, or a cast of one, or an expression. `expected`: the declared types.
  Expr equation_value(const Syntax& syntax, std::span<const ScalarType> expected);
  // Declares a name, or reports E0107, E0202.
  bool declare(const Token& name, const Meaning& meaning);

 private:
  Expr number(const Syntax& syntax, ScalarType type);
  Expr name(const Syntax& syntax);
  Expr read(const Syntax& syntax);
  Expr report_parts(const Syntax& syntax, const Meaning& meaning);
  Expr operation(const Syntax& syntax, OpCode op, std::optional<ScalarType> expected);
  Expr call(const Syntax& syntax, std::optional<ScalarType> expected);
  Expr select(const Syntax& syntax, std::optional<ScalarType> expected);
  Expr round_to(const Syntax& syntax, std::optional<ScalarType> expected);
  Expr saturate(const Syntax& syntax);
  std::optional<ScalarType> named_type(const Syntax& syntax);
  static std::optional<ScalarType> operand_for(OpCode op, ScalarType result);
  Expr cast(const Syntax& syntax, ScalarType type);
  // An index of a read or a bound: an integer from data is converted.
  Expr index_expression(const Syntax& syntax, std::string_view what);
  // elaborate_fold.cpp
  Expr fold(const Syntax& syntax, std::span<const ScalarType> expected);
  bool fold_ranges(const FoldSyntax& fold, std::vector<Symbol>& vars, std::vector<Expr>& lower,
                   std::vector<Expr>& upper);
  bool fold_start(const Syntax& syntax, std::vector<ScalarType>& types, std::vector<Symbol>& state,
                  std::vector<Expr>& base);
  bool fold_terms(const Syntax& syntax, const MonoidDecl* declared,
                  std::span<const ScalarType> types, std::vector<Expr>& out);
  bool tuple(const Syntax& syntax, std::span<const ScalarType> types, std::vector<Expr>& out);
  Expr make_cast(const Syntax& syntax, ScalarType type, Expr value);
  bool check_arity(const Syntax& syntax, std::size_t arity);
  void report_mismatch(const Syntax& syntax, std::span<const SyntaxPtr> operands,
                       std::span<const Expr> values);
  void report_storage(const Syntax& syntax, ScalarType type);
  void report_operand(const Syntax& syntax, OpCode op, ScalarType type);
  const Meaning* meaning_of(const Syntax& syntax);
  std::optional<ScalarType> natural_type(const Syntax& syntax);
  std::optional<ScalarType> find_natural_type(const Syntax& syntax);
  std::optional<ScalarType> first_natural(std::span<const SyntaxPtr> args);
  Expr record(const Syntax& syntax, Expr value);

  Context& context_;
  Scope& scope_;
  TextCursor& cursor_;
  const Scope* outside_ = nullptr;
  const std::vector<MonoidDecl>* monoids_ = nullptr;
  bool program_ = false;
  ExprSpans* spans_ = nullptr;
};

}  // namespace tilewright::ir

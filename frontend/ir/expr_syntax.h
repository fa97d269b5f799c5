// SPDX-License-Identifier: Apache-2.0
//
// Expressions as they stand in a text: names unresolved, literals untyped, places kept. One reader for
// algorithms, programs and guards of schedules; elaborate.h gives them names and types. Operators, their
// precedence and the functions come from ops.def, reductions from monoids.def.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "frontend/base/text.h"
#include "frontend/ir/expr.h"

namespace tilewright::ir {

enum class SyntaxKind : std::uint8_t {
  Number,  // `7`, `-0.5`, `inf`, `nan`
  Boolean,  // `true`
  Name,  // `i`
  Index,  // `a[i, k]`; args are the indices
  Call,  // `exp(x)`, `f32(x)`, `select(c, a, b)`
  Operator,
  Fold,  // `sum(1 <= k < K, t < T) body` and its other forms
  Tuple,  // `(a, b)`, as a term of a fold
};

struct Syntax;

// What a Fold has besides its terms, `args[0]`.
struct FoldSyntax {
  enum class Form : std::uint8_t { Reduction, Scan, Update };
  Form form = Form::Reduction;
  std::vector<Token> vars;
  std::vector<std::unique_ptr<Syntax>>
      bounds;  // lower, upper of each variable; a lower one may be null: 0
  std::unique_ptr<Syntax> where;
  std::unique_ptr<Syntax> on_empty;
  std::vector<Token> state;  // of a recurrence
  std::vector<std::unique_ptr<Syntax>>
      base;  // of a recurrence, one for each state; of an update, one
  std::vector<std::unique_ptr<Syntax>> at;
};

struct Syntax {
  SyntaxKind kind = SyntaxKind::Name;
  Span span;
  std::string_view text;  // the name, number without sign, function or operator; in the source
  Span text_span;
  bool negative = false;  // of a Number
  bool is_float = false;  // a Number with fraction, exponent, or `inf`, `nan`
  bool grouped = false;  // in parentheses
  OpCode op = OpCode::Add;
  std::unique_ptr<FoldSyntax> fold;
  std::vector<std::unique_ptr<Syntax>> args;
  int depth = 1;

  // Filled once by elaboration: the type that follows without looking at the place.
  mutable std::optional<ScalarType> natural_type;
  mutable bool natural_type_known = false;
};
using SyntaxPtr = std::unique_ptr<Syntax>;

// Calls f on every part of the syntax, folds included.
template <class F>
void for_each_part(const Syntax& syntax, F&& f) {
  for (const SyntaxPtr& arg : syntax.args) f(*arg);
  if (!syntax.fold) return;
  for (const auto* list : {&syntax.fold->bounds, &syntax.fold->base, &syntax.fold->at})
    for (const SyntaxPtr& part : *list)
      if (part) f(*part);
  for (const auto* part : {&syntax.fold->where, &syntax.fold->on_empty})
    if (*part) f(**part);
}

// Null after reporting to the cursor.
SyntaxPtr parse_expr_syntax(TextCursor& cursor);
// `[a, b]` with the bracket already taken; nullopt after reporting.
std::optional<std::vector<SyntaxPtr>> parse_index_list(TextCursor& cursor);

// The operation that is called by this name: `exp`, `min`.
std::optional<OpCode> function_named(std::string_view text);
std::optional<Monoid> monoid_named(std::string_view text);
// Words that no declaration may use: types, functions, monoids, literals and statement keywords of the
// algorithm and program languages.
bool is_reserved_name(std::string_view text);

}  // namespace tilewright::ir

// SPDX-License-Identifier: Apache-2.0
//
// Loops of an algorithm, and cases, which are loops of at most one iteration.
#include "frontend/base/format.h"
#include "frontend/ir/algorithm_reader.h"

namespace tilewright::ir {

bool AlgorithmReader::loop(std::uint32_t begin) {
  cursor_.accept("loop");
  Loop made;
  const Token var = *cursor_.expect_name("the variable of the loop", "name it, as in `l`");
  cursor_.accept("<");
  const SyntaxPtr trips = parse_expr_syntax(cursor_);
  if (!trips) return false;
  const Meaning meaning{Meaning::Kind::Extent, ScalarType::Index, 0, var.span};
  const bool fresh = names_.declare(var, meaning);
  ExprSpans& spans = spans_.declarations[made.var = context_.symbol(var.text)];
  extents_.record_spans(&spans);
  names_.record_spans(&spans);
  made.trips = extents_.expression_of(*trips, ScalarType::Index, "the number of iterations");
  SyntaxPtr condition;
  if (cursor_.accept("while") && !(condition = parse_expr_syntax(cursor_))) return false;
  bool good = fresh && made.trips;
  if (!carries(made, good)) return false;
  if (condition) {
    made.condition = names_.expression_of(*condition, ScalarType::Bool, "the condition");
    good = good && made.condition;
  }
  if (!cursor_.expect("{", "after what the loop carries")) return false;
  if (fresh) extent_scope_.declare(made.var, meaning);
  made.span = cursor_.span_from(begin);
  return body(std::move(made), good);
}

bool AlgorithmReader::body(Loop made, bool good) {
  const Symbol var = made.var;
  made.first = algorithm_.equations.size();
  const std::size_t place = algorithm_.loops.size();
  algorithm_.loops.push_back(std::move(made));
  statements();
  const bool closed = cursor_.expect("}", "to end the equations of the loop");
  Loop& own = algorithm_.loops[place];
  own.last = algorithm_.equations.size();
  for (std::size_t i = own.first; i < own.last; ++i)
    for (const TensorPart& part : algorithm_.equations[i].tensors()) scope_.forget(part.name);
  for (std::size_t i = place + 1; i < algorithm_.loops.size(); ++i)
    for (const Carry& carry : algorithm_.loops[i].carries) scope_.forget(carry.name);
  scope_.forget(var);
  extent_scope_.forget(var);
  if (!good) algorithm_.loops.erase(algorithm_.loops.begin() + static_cast<std::ptrdiff_t>(place));
  return closed;
}

bool AlgorithmReader::choice(std::uint32_t begin) {
  cursor_.accept("case");
  const SyntaxPtr syntax = parse_expr_syntax(cursor_);
  if (!syntax) return false;
  const Expr value = names_.expression(*syntax, std::nullopt);
  bool good = static_cast<bool>(value);
  Loop head;
  if (!carries(head, good, false)) return false;
  for (const Carry& carry : head.carries) scope_.forget(carry.name);
  if (!cursor_.expect("{", "after what the arms give")) return false;
  head.trips = context_.index(1);
  Expr none;  // of the arms before was chosen
  std::size_t last = algorithm_.loops.size();
  for (int arm = 0; !cursor_.at_end() && !cursor_.at("}"); ++arm) {
    Loop made = head;
    if (cursor_.accept("else")) {
      made.condition = none;
    } else if (cursor_.expect("when", "in the case", "write `when 0 then a { ... }`")) {
      const SyntaxPtr label = parse_expr_syntax(cursor_);
      if (!label) return false;
      const Expr chosen = value ? names_.expression_of(*label, value.type(), "a label") : Expr();
      good = good && chosen;
      if (good) made.condition = context_.op(OpCode::Eq, {value, chosen});
    } else {
      return false;
    }
    good = good && made.condition;
    if (good) {
      const Expr other = context_.op(OpCode::Not, {made.condition});
      none = none ? context_.both(none, other) : other;
    }
    if (!cursor_.expect("then", "after the label")) return false;
    for (std::size_t i = 0; i < made.carries.size(); ++i) {
      if (i > 0 && !cursor_.expect(",", "after the tensor that the arm gives")) return false;
      const auto next = cursor_.expect_name("a tensor that the arm gives", "name it");
      if (!next) return false;
      Carry& carry = made.carries[i];
      carry.next = context_.symbol(next->text);
      carry.name = context_.symbol(std::string(carry.name.text()) + ".arm" + std::to_string(arm));
      head.carries[i].start = carry.name;
    }
    made.var = context_.symbol(std::string(made.carries[0].name.text()) + ".once");
    made.span = cursor_.span_from(begin);
    if (!cursor_.expect("{", "after what the arm gives")) return false;
    last = algorithm_.loops.size();
    if (!body(std::move(made), good)) return false;
  }
  if (!cursor_.expect("}", "to end the case")) return false;
  if (good && last < algorithm_.loops.size()) {
    // Nothing reads the last arm's result yet, so it may take the name.
    for (std::size_t i = 0; i < head.carries.size(); ++i)
      algorithm_.loops[last].carries[i].name = head.carries[i].name;
  } else if (good) {
    cursor_.report(Code::LoopForm, cursor_.span_from(begin), "a case without arms",
                   "write `when 0 then a { ... }`");
  }
  for (const Carry& carry : head.carries) {
    const auto type = algorithm_.type_of(carry.name);
    Token name;
    name.text = carry.name.text();
    name.span = cursor_.span_from(begin);
    Meaning meaning{Meaning::Kind::Broken, ScalarType::Index, 0, name.span};
    if (good && type)
      meaning = {Meaning::Kind::Tensor, *type, algorithm_.shape_of(carry.name)->size(), name.span};
    names_.declare(name, meaning);
  }
  return true;
}

bool AlgorithmReader::carries(Loop& loop, bool& good, bool with_next) {
  if (!cursor_.expect("carry", "in the loop", "write `loop l < L carry h = h0 then n { ... }`"))
    return false;
  do {
    const auto name = cursor_.expect_name("a carried tensor", "name it, as in `h = h0 then n`");
    if (!name || !cursor_.expect("=", "after the carried tensor")) return false;
    const auto start = cursor_.expect_name("what it is first", "name a tensor");
    if (!start) return false;
    Carry carry{context_.symbol(name->text), context_.symbol(start->text), {}};
    if (with_next) {
      if (!cursor_.expect("then", "after what it is first",
                          "write `h = h0 then n`, where the body gives `n`"))
        return false;
      const auto next = cursor_.expect_name("what it is next", "name a tensor of the body");
      if (!next) return false;
      carry.next = context_.symbol(next->text);
    }
    const auto type = algorithm_.type_of(carry.start);
    Meaning meaning{Meaning::Kind::Broken, ScalarType::Index, 0, name->span};
    const Meaning* known = scope_.find(carry.start);
    const bool found = type && known && known->kind == Meaning::Kind::Tensor;
    if (found)
      meaning = {Meaning::Kind::Tensor, *type, algorithm_.shape_of(carry.start)->size(),
                 name->span};
    else if (!known || known->kind != Meaning::Kind::Broken)
      cursor_.report(Code::UnknownName, start->span,
                     in_backticks(start->text) + " is no tensor that stands before the loop",
                     "give the carried tensor one to start from");
    good = names_.declare(*name, meaning) && found && good;
    loop.carries.push_back(carry);
  } while (cursor_.accept(","));
  return true;
}

}  // namespace tilewright::ir

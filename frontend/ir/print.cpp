// SPDX-License-Identifier: Apache-2.0
//
// The canonical text. Parentheses stand only where the reader would otherwise group differently; every
// constant but those of `index` and `bool` carries its type.
#include "frontend/base/format.h"
#include "frontend/base/hash.h"
#include "frontend/base/text.h"
#include "frontend/ir/declarations.h"
#include "frontend/ir/text.h"

namespace tilewright::ir {

namespace {

constexpr int kFunctionPrecedence = 0;

class ExprPrinter {
 public:
  // Brackets the expression when it binds less tightly than `min_precedence`.
  void print(Expr expr, int min_precedence) {
    visit(expr, Overloaded{
                    [&](const IntConst& n) { integer(n); },
                    [&](const FloatConst& n) { real(n); },
                    [&](const BoolConst& n) { out_ += n.value ? "true" : "false"; },
                    [&](const Var& n) { out_ += n.name.text(); },
                    [&](const Extent& n) { out_ += n.name.text(); },
                    [&](const Read& n) {
                      out_ += n.tensor.text();
                      out_ += '[';
                      list(n.indices);
                      out_ += ']';
                    },
                    [&](const Op& n) { operation(n, min_precedence); },
                    [&](const Select& n) {
                      const Expr args[] = {n.condition, n.then_value, n.else_value};
                      function("select", args);
                    },
                    [&](const Cast& n) { cast(n); },
                    [&](const Saturate& n) { typed_call("saturate(", n.type, n.value); },
                    [&](const RoundTo& n) { typed_call("round_to(", n.grid, n.value); },
                    [&](const Fold& n) { fold(n, min_precedence); },
                });
  }
  std::string take() { return std::move(out_); }

 private:
  void list(std::span<const Expr> exprs) {
    for (std::size_t i = 0; i < exprs.size(); ++i) {
      if (i > 0) out_ += ", ";
      print(exprs[i], kFunctionPrecedence);
    }
  }

  void function(std::string_view name, std::span<const Expr> args) {
    (out_ += name) += '(';
    list(args);
    out_ += ')';
  }

  void typed_call(std::string_view open, ScalarType type, Expr value) {
    (out_ += open) += type_text(type);
    out_ += ", ";
    print(value, kFunctionPrecedence);
    out_ += ')';
  }

  void integer(const IntConst& n) {
    const std::string digits = n.type == ScalarType::U64
                                   ? std::to_string(static_cast<std::uint64_t>(n.value))
                                   : std::to_string(n.value);
    if (n.type == ScalarType::Index) {
      out_ += digits;
    } else {
      ((out_ += type_text(n.type)) += '(') += digits;
      out_ += ')';
    }
  }

  void real(const FloatConst& n) {
    (out_ += type_text(n.type)) += '(';
    out_ += n.type == ScalarType::F64 ? format_double(n.value)
                                      : format_float(static_cast<float>(n.value));
    out_ += ')';
  }

  // A number in a conversion is a constant of that type, so an index constant says that it is one.
  void cast(const Cast& n) {
    (out_ += type_text(n.type)) += '(';
    const auto* constant = n.value.as<IntConst>();
    if (constant && constant->type == ScalarType::Index) {
      out_ += "index(";
      integer(*constant);
      out_ += ')';
    } else {
      print(n.value, kFunctionPrecedence);
    }
    out_ += ')';
  }

  void operation(const Op& n, int min_precedence) {
    const OpInfo& info = op_info(n.op);
    if (info.syntax == OpSyntax::Function) return function(info.text, n.args);
    const bool brackets = info.precedence < min_precedence;
    if (brackets) out_ += '(';
    if (info.syntax == OpSyntax::Prefix) {
      prefix(info, n.args[0]);
    } else {
      infix(info, n);
    }
    if (brackets) out_ += ')';
  }

  // A sign before a number would be read as part of it, and two signs in a row look like one.
  void prefix(const OpInfo& info, Expr operand) {
    out_ += info.text;
    const auto* constant = operand.as<IntConst>();
    const auto* op = operand.as<Op>();
    const bool brackets = (constant && constant->type == ScalarType::Index) ||
                          (op && op_info(op->op).syntax == OpSyntax::Prefix);
    if (brackets) out_ += '(';
    print(operand, brackets ? kFunctionPrecedence : info.precedence);
    if (brackets) out_ += ')';
  }

  void infix(const OpInfo& info, const Op& n) {
    print(n.args[0], info.precedence);
    // Builders keep `i - 1` as `i + -1`.
    const auto* constant = n.args[1].as<IntConst>();
    if (n.op == OpCode::Add && constant && constant->type == ScalarType::Index &&
        constant->value < 0 && constant->value != INT64_MIN) {
      (out_ += " - ") += std::to_string(-constant->value);
      return;
    }
    ((out_ += ' ') += info.text) += ' ';
    print(n.args[1], info.precedence + 1);
  }

  void fold(const Fold& n, int min_precedence) {
    const bool brackets = min_precedence > kFunctionPrecedence;
    if (brackets) out_ += '(';
    if (n.scan) {
      out_ += "scan";
      if (n.state.empty()) (out_ += ' ') += n.monoid.text();
      (out_ += '(') += n.vars[0].text();
      for (std::size_t i = 0; i < n.state.size(); ++i) {
        ((out_ += ", ") += n.state[i].text()) += " = ";
        print(n.base[i], kFunctionPrecedence);
      }
    } else {
      if (n.is_update()) {
        out_ += "update ";
        terms(n.base);
        out_ += ' ';
      }
      (out_ += n.monoid.text()) += '(';
      ranges(n);
    }
    out_ += ") ";
    if (n.is_update()) {
      out_ += "at [";
      list(n.at);
      out_ += "] ";
    }
    terms(n.body);
    if (!n.on_empty.empty()) {
      out_ += " on_empty ";
      terms(n.on_empty);
    }
    if (brackets) out_ += ')';
  }

  void ranges(const Fold& n) {
    const int bound = op_info(OpCode::Lt).precedence + 1;
    for (std::size_t i = 0; i < n.vars.size(); ++i) {
      if (i > 0) out_ += ", ";
      const auto* zero = n.lower[i].as<IntConst>();
      if (!zero || zero->value != 0) {
        print(n.lower[i], bound);
        out_ += " <= ";
      }
      (out_ += n.vars[i].text()) += " < ";
      print(n.upper[i], bound);
    }
    if (n.where.empty()) return;
    out_ += " where ";
    print(n.where[0], kFunctionPrecedence);
  }

  void terms(NodeList<Expr> values) {
    if (values.size() == 1) return print(values[0], kFunctionPrecedence);
    out_ += '(';
    list(values);
    out_ += ')';
  }

  std::string out_;
};

std::string print_equation(const Equation& equation) {
  std::string out = equation.is_output ? "output " : equation.is_view ? "view " : "";
  (out += equation.name.text()) += '[';
  for (std::size_t i = 0; i < equation.indices.size(); ++i) {
    if (i > 0) out += ", ";
    (out += equation.indices[i].text()) += " < ";
    ExprPrinter shape;
    shape.print(equation.shape[i], op_info(OpCode::Lt).precedence + 1);
    out += shape.take();
  }
  out += "] : ";
  if (equation.parts.empty()) {
    out += type_text(equation.type);
  } else {
    for (std::size_t i = 0; i < equation.parts.size(); ++i)
      (out += i ? ", " : "(") += type_text(equation.parts[i].type);
    out += ')';
  }
  if (equation.into.valid()) (out += " into ") += equation.into.text();
  return (out += " = ") += print(equation.value);
}

std::string print_loop(const Loop& loop) {
  std::string out = "loop " + std::string(loop.var.text()) + " < ";
  ExprPrinter trips;
  trips.print(loop.trips, op_info(OpCode::Lt).precedence + 1);
  out += trips.take();
  if (loop.condition) out += " while " + print(loop.condition);
  for (std::size_t i = 0; i < loop.carries.size(); ++i) {
    const Carry& carry = loop.carries[i];
    out += (i ? ", " : " carry ") + std::string(carry.name.text()) + " = " +
           std::string(carry.start.text()) + " then " + std::string(carry.next.text());
  }
  return out + " {";
}

// Equations with the loops around them opened and closed.
void print_equations(const Algorithm& algorithm, TextWriter& writer) {
  std::size_t next = 0;
  std::vector<const Loop*> open;
  for (std::size_t i = 0; i < algorithm.equations.size(); ++i) {
    for (; next < algorithm.loops.size() && algorithm.loops[next].first == i; ++next) {
      open.push_back(&algorithm.loops[next]);
      writer.open(print_loop(*open.back()));
    }
    writer.line(print_equation(algorithm.equations[i]));
    for (; !open.empty() && open.back()->last == i + 1; open.pop_back()) writer.close("}");
  }
}

void print_monoid(const MonoidDecl& monoid, TextWriter& writer) {
  std::string head = "monoid " + std::string(monoid.name.text());
  for (std::size_t i = 0; i < monoid.fields.size(); ++i)
    head += (i ? ", " : "(") + std::string(monoid.fields[i].text()) + " : " +
            std::string(type_text(monoid.types[i]));
  writer.open(head + (monoid.commutative ? ") commutative {" : ") {"));
  writer.line("identity " + print_list(monoid.identity));
  writer.line("combine(" + std::string(monoid.left.text()) + ", " +
              std::string(monoid.right.text()) + ") = " + print_list(monoid.combine));
  writer.close("}");
}

}  // namespace

std::string print(Expr expr) {
  ExprPrinter printer;
  printer.print(expr, kFunctionPrecedence);
  return printer.take();
}

std::string print(const Algorithm& algorithm) {
  std::string head = "algorithm " + std::string(algorithm.name.text()) + "(";
  for (std::size_t i = 0; i < algorithm.extents.size(); ++i) {
    if (i > 0) head += ", ";
    head += print_extent(algorithm.extents[i]);
  }
  TextWriter writer;
  for (const MonoidDecl& monoid : algorithm.monoids) print_monoid(monoid, writer);
  writer.open(head + ") {");
  for (Expr requirement : algorithm.requirements) writer.line("requires " + print(requirement));
  for (const Input& input : algorithm.inputs)
    writer.line((input.is_const                    ? "const input "
                 : algorithm.new_value(input.name) ? "inout "
                                                   : "input ") +
                std::string(input.name.text()) + " : " +
                print_tensor_type(input.type, input.shape) + print_facts(input.facts));
  print_equations(algorithm, writer);
  writer.close("}");
  return writer.take();
}

std::string algorithm_hash(const Algorithm& algorithm) { return content_hash(print(algorithm)); }

}  // namespace tilewright::ir

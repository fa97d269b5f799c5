// SPDX-License-Identifier: Apache-2.0
//
// Prints what the checker has read, so that a test can see that nothing of a text is lost. Independent of the
// printers of the compiler.
#pragma once

#include <charconv>
#include <cmath>

#include "apps/check/syntax.h"

namespace tilewright::checker {

class Printed {
 public:
  std::string of(const Algorithm& a) {
    for (const Monoid& m : a.monoids) monoid(m);
    algorithm(a, "");
    return out_;
  }

  std::string of(const Program& p) {
    open("program " + str(p.name) + " for " + str(p.algorithm));
    for (const Extent& e : p.extents) line("extent " + extent(e));
    for (Ref r : p.requirements) line("requires " + print(r));
    for (const Tensor& t : p.parameters)
      line((t.is_inout ? "inout " : t.is_output ? "output " : "input ") + tensor(t));
    for (const Algorithm& a : p.intrinsics) algorithm(a, a.is_library ? "library " : "intrinsic ");
    body(p.body);
    close();
    return out_;
  }

 private:
  static std::string str(Name name) { return std::string(name); }
  void line(const std::string& text) { out_ += std::string(2 * level_, ' ') + text + "\n"; }
  void open(const std::string& head) {
    line(head + " {");
    ++level_;
  }
  void close() {
    --level_;
    line("}");
  }

  template <class List, class F>
  static std::string list(const List& values, F f) {
    std::string out;
    for (const auto& value : values) out += (out.empty() ? "" : ", ") + f(value);
    return out;
  }
  static std::string list(const std::vector<Ref>& values) {
    return list(values, [](Ref e) { return print(e); });
  }
  static std::string place(Name name, const std::vector<Ref>& indices) {
    return str(name) + "[" + list(indices) + "]";
  }

  static std::string real(double value, Type type) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    char text[64];
    const auto end = type->width == 64 ? std::to_chars(text, text + 64, value)
                                       : std::to_chars(text, text + 64, static_cast<float>(value));
    return {text, end.ptr};
  }

  static std::string print(Ref e, int least = 0) {
    const auto wrapped = [](const std::string& text, bool brackets) {
      return brackets ? "(" + text + ")" : text;
    };
    const std::string type = e->type ? str(e->type->text) : "";
    switch (e->kind) {
      case Kind::Integer: {
        const bool is_large = e->type->kind == Class::Unsigned && e->type->width == 64;
        const std::string digits = is_large ? std::to_string(static_cast<std::uint64_t>(e->integer))
                                            : std::to_string(e->integer);
        return e->type == kIndex ? digits : type + "(" + digits + ")";
      }
      case Kind::Real: return type + "(" + real(e->real, e->type) + ")";
      case Kind::Boolean: return e->integer ? "true" : "false";
      case Kind::Variable: return str(e->name);
      case Kind::Read: return place(e->name, e->args);
      case Kind::Select: return "select(" + list(e->args) + ")";
      case Kind::Saturate: return "saturate(" + type + ", " + list(e->args) + ")";
      case Kind::Round: return "round_to(" + str(e->grid->text) + ", " + list(e->args) + ")";
      case Kind::Tuple: return "(" + list(e->args) + ")";
      case Kind::Fold: return wrapped(fold(*e->fold), least > 0);
      case Kind::Convert: {
        const Ref from = e->args[0];
        const bool is_number = from->kind == Kind::Integer && from->type == kIndex;
        return type + "(" + (is_number ? "index(" + print(from) + ")" : print(from)) + ")";
      }
      case Kind::Apply: break;
    }
    const Op& op = *e->op;
    if (op.precedence == 0) return str(op.text) + "(" + list(e->args) + ")";
    const Ref a = e->args[0];
    if (op.arity == 1) {
      const bool brackets = (a->kind == Kind::Integer && a->type == kIndex) ||
                            (a->kind == Kind::Apply && a->op->arity == 1 && a->op->precedence > 0);
      return wrapped(str(op.text) + wrapped(print(a, brackets ? 0 : op.precedence), brackets),
                     op.precedence < least);
    }
    return wrapped(
        print(a, op.precedence) + " " + str(op.text) + " " + print(e->args[1], op.precedence + 1),
        op.precedence < least);
  }

  static std::string terms(const std::vector<Ref>& values) {
    return values.size() == 1 ? print(values[0]) : "(" + list(values) + ")";
  }

  static std::string fold(const FoldParts& f) {
    std::string out;
    if (f.scan) {
      out = "scan" + (f.monoid.empty() ? "" : " " + str(f.monoid)) + "(" + str(f.vars[0]);
      for (std::size_t i = 0; i < f.state.size(); ++i)
        out += ", " + str(f.state[i]) + " = " + print(f.base[i]);
    } else {
      out = (f.update ? "update " + terms(f.base) + " " : "") + str(f.monoid) + "(";
      for (std::size_t i = 0; i < f.vars.size(); ++i)
        out += (i ? ", " : "") + (f.lower[i] ? print(f.lower[i], 5) + " <= " : "") +
               str(f.vars[i]) + " < " + print(f.upper[i], 5);
      if (f.where) out += " where " + print(f.where);
    }
    out += ") ";
    if (f.update) out += "at [" + list(f.at) + "] ";
    out += terms(f.body);
    return f.on_empty.empty() ? out : out + " on_empty " + terms(f.on_empty);
  }

  static std::string extent(const Extent& e) {
    return str(e.name) + (e.min ? " min " + std::to_string(e.min) : "") +
           (e.max != INT64_MAX ? " max " + std::to_string(e.max) : "") +
           (e.multiple_of != 1 ? " multiple_of " + std::to_string(e.multiple_of) : "");
  }

  static std::string tensor(const Tensor& t) {
    std::string out = str(t.name) + " : " + str(t.type->text) + "[" + list(t.shape) + "]";
    if (t.lower) out += " range " + print(t.lower) + " .. " + print(t.upper);
    return out + (t.clamp ? " clamp" : "") + (t.monotone ? " monotone" : "") +
           (t.injective ? " injective" : "") + (t.assumed ? " assumed" : "");
  }

  void monoid(const Monoid& m) {
    std::string head = "monoid " + str(m.name) + "(";
    for (std::size_t i = 0; i < m.fields.size(); ++i)
      head += (i ? ", " : "") + str(m.fields[i]) + " : " + str(m.types[i]->text);
    open(head + ")" + (m.commutative ? " commutative" : ""));
    line("identity " + list(m.identity));
    line("combine(" + str(m.left) + ", " + str(m.right) + ") = " + list(m.combine));
    close();
  }

  void algorithm(const Algorithm& a, const std::string& before) {
    open(before + "algorithm " + str(a.name) + "(" + list(a.extents, extent) + ")");
    for (Ref r : a.requirements) line("requires " + print(r));
    for (const Tensor& t : a.inputs)
      line((t.is_const ? "const input " : t.is_inout ? "inout " : "input ") + tensor(t));
    std::size_t next = 0;
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < a.equations.size(); ++i) {
      for (; next < a.loops.size() && a.loops[next].first == i; ++next) {
        loop(a.loops[next]);
        ends.push_back(a.loops[next].last);
      }
      equation(a.equations[i]);
      for (; !ends.empty() && ends.back() == i + 1; ends.pop_back()) close();
    }
    close();
  }

  void loop(const Loop& l) {
    open("loop " + str(l.var) + " < " + print(l.trips, 5) +
         (l.condition ? " while " + print(l.condition) : "") + " carry " +
         list(l.carries, [](const Carry& c) {
           return str(c.name) + " = " + str(c.start) + " then " + str(c.next);
         }));
  }

  void equation(const Equation& e) {
    std::string out = (e.is_output ? "output " : e.is_view ? "view " : "") + str(e.name) + "[";
    for (std::size_t i = 0; i < e.indices.size(); ++i)
      out += (i ? ", " : "") + str(e.indices[i]) + " < " + print(e.shape[i], 5);
    const std::string types = list(e.types, [](Type t) { return str(t->text); });
    out += "] : " + (e.types.size() == 1 ? types : "(" + types + ")");
    line(out + (e.into.empty() ? "" : " into " + str(e.into)) + " = " + print(e.value));
  }

  void body(const std::vector<Stmt>& stmts) {
    for (const Stmt& s : stmts) stmt(s);
  }
  void braces(const std::string& head, const Stmt& s) {
    open(head);
    body(s.body);
    close();
  }

  static std::string at(const Stmt& s) { return s.scope.empty() ? "" : " at " + str(s.scope); }
  static std::string origin(const Stmt& s) {
    if (s.role == "value" && s.origin.empty()) return "";
    return " @ " + str(s.role) +
           (s.origin.empty() ? "" : " " + str(s.origin) + "(" + list(s.point) + ")");
  }

  void branch(const Stmt& first) {
    open("if " + print(first.value));
    body(first.body);
    const Stmt* s = &first;
    while (s->has_other) {
      --level_;
      const bool chained = s->other.size() == 1 && s->other[0].kind == StmtKind::If;
      if (chained) s = &s->other[0];
      open(chained ? "} else if " + print(s->value) : "} else");
      body(chained ? s->body : s->other);
      if (!chained) break;
    }
    close();
  }

  void stmt(const Stmt& s) {
    const std::string word = str(s.word);
    switch (s.kind) {
      case StmtKind::For:
      case StmtKind::Bind:
        return braces(word + " " + str(s.name) + " in " + print(s.value) + " .. " + print(s.upper) +
                          (s.kind == StmtKind::Bind ? " bind " + str(s.scope) : ""),
                      s);
      case StmtKind::If: return branch(s);
      case StmtKind::Let: return braces("let " + str(s.name) + " = " + print(s.value), s);
      case StmtKind::Alloc:
        return braces("alloc " + str(s.name) + " : " + str(s.type->text) + "[" + list(s.indices) +
                          "] in " + word + (s.number < 0 ? "" : " at " + std::to_string(s.number)),
                      s);
      case StmtKind::Store:
        return line(place(s.name, s.indices) + " = " + print(s.value) + origin(s));
      case StmtKind::While: return braces("while " + print(s.value), s);
      case StmtKind::Ring:
        return braces("ring " + str(s.name) + ", " + str(s.second) + " = " + print(s.value) +
                          " of " + std::to_string(s.number),
                      s);
      case StmtKind::Call: {
        const auto tile = [](const Tile& t) {
          std::string out = str(t.operand) + " = " + str(t.buffer) + "[";
          for (std::size_t i = 0; i < t.indices.size(); ++i)
            out += (i ? ", " : "") + print(t.indices[i]) +
                   (t.lengths[i] ? " : " + print(t.lengths[i]) : "");
          return out + "]";
        };
        return line("call " + str(s.name) + "(" + list(s.tiles, tile) + ")" + origin(s));
      }
      case StmtKind::Atomic: {
        const std::string text = "atomic " + (s.second.empty() ? "" : str(s.second) + " = ") +
                                 word + " " + place(s.name, s.indices) + " by " + print(s.value) +
                                 at(s) + origin(s);
        return s.second.empty() ? line(text) : braces(text, s);
      }
      case StmtKind::Prefetch: return line("prefetch " + place(s.name, s.indices));
      case StmtKind::Kernel: return braces("kernel " + str(s.name), s);
      case StmtKind::Concurrent: return braces("concurrent", s);
      case StmtKind::Role:
        return braces("role " + str(s.name) + " : " + str(s.scope) +
                          (s.number > 0 ? " lanes " + std::to_string(s.number) : "") +
                          (s.registers > 0 ? " registers " + std::to_string(s.registers) : "") +
                          (s.after.empty() ? "" : " after " + list(s.after, str)),
                      s);
      case StmtKind::Object: {
        std::string text = word + " " + place(s.name, s.indices);
        if (word == "channel") text += " : " + str(s.type->text);
        if (s.value)
          text += (word == "barrier"     ? " arrivals "
                   : word == "semaphore" ? " starts "
                                         : " holds ") +
                  print(s.value);
        return braces(text, s);
      }
      case StmtKind::Start:
        return braces("start " + word + " " + str(s.completion) +
                          (s.name.empty() ? "" : " " + place(s.name, s.indices)),
                      s);
      case StmtKind::Signal:
        return line(s.value
                        ? word + " " + place(s.name, s.indices) + " by " + print(s.value) + at(s)
                        : word);
      case StmtKind::Wait:
        return line("wait " + (s.name.empty() ? "group" : place(s.name, s.indices)) +
                    (s.value ? " until " + print(s.value) : "") + at(s));
      case StmtKind::Receive:
        return braces("receive " + str(s.name) + " = " + place(s.second, s.indices) + at(s), s);
      case StmtKind::Fence: return line("fence " + word);
      case StmtKind::Sync: return line("sync " + str(s.scope));
      case StmtKind::Vote:
        return braces(
            "vote " + str(s.name) + " = " + word + " " + str(s.scope) + " " + print(s.value), s);
    }
  }

  std::string out_;
  std::size_t level_ = 0;
};

}  // namespace tilewright::checker

// SPDX-License-Identifier: Apache-2.0
//
// The canonical text of programs: one statement a line, bodies in braces.
#include "frontend/base/text.h"
#include "frontend/ir/declarations.h"
#include "frontend/ir/text.h"
#include "lowering/program/text.h"

namespace tilewright::program {

namespace {

class Printer {
 public:
  void print(Stmt stmt) {
    if (!stmt) return;
    visit(stmt, ir::Overloaded{
                    [&](const Block& n) {
                      for (Stmt s : n.body) print(s);
                    },
                    [&](const For& n) {
                      braces(std::string(loop_kind_text(n.loop)) + " " + name(n.var) + " in " +
                                 ir::print(n.lower) + " .. " + ir::print(n.upper),
                             n.body);
                    },
                    [&](const If& n) { branch(n); },
                    [&](const Let& n) {
                      braces("let " + name(n.var) + " = " + ir::print(n.value), n.body);
                    },
                    [&](const Alloc& n) {
                      braces("alloc " + name(n.buffer) + " : " +
                                 ir::print_tensor_type(n.type, n.extents) + " in " +
                                 std::string(space_text(n.space)),
                             n.body);
                    },
                    [&](const Store& n) { writer.line(store(n)); },
                });
  }

  TextWriter writer;

 private:
  static std::string name(Symbol symbol) { return std::string(symbol.text()); }

  void braces(const std::string& head, Stmt body) {
    writer.open(head + " {");
    print(body);
    writer.close("}");
  }

  // An else arm that is an if alone stands on the line of its brace.
  void branch(const If& first) {
    writer.open("if " + ir::print(first.condition) + " {");
    print(first.then_body);
    Stmt rest = first.else_body;
    for (; rest && rest.as<If>(); rest = rest.as<If>()->else_body) {
      writer.close_open("} else if " + ir::print(rest.as<If>()->condition) + " {");
      print(rest.as<If>()->then_body);
    }
    if (rest) {
      writer.close_open("} else {");
      print(rest);
    }
    writer.close("}");
  }

  static std::string store(const Store& n) {
    std::string out = name(n.buffer) + "[" + ir::print_list(n.indices) + "] = ";
    out += ir::print(n.value);
    if (n.role == OriginRole::Value && !n.origin.valid()) return out;
    (out += " @ ") += origin_role_text(n.role);
    if (n.origin.valid()) out += " " + name(n.origin) + "(" + ir::print_list(n.point) + ")";
    return out;
  }
};

}  // namespace

std::string print(Stmt stmt) {
  Printer printer;
  printer.print(stmt);
  return printer.writer.take();
}

std::string print(const Program& program) {
  Printer printer;
  TextWriter& writer = printer.writer;
  writer.open("program " + std::string(program.name.text()) + " for " +
              std::string(program.algorithm.text()) + " {");
  for (const ir::ExtentDecl& extent : program.extents)
    writer.line("extent " + ir::print_extent(extent));
  for (Expr requirement : program.requirements) writer.line("requires " + ir::print(requirement));
  for (const Parameter& p : program.parameters)
    writer.line((p.is_output ? "output " : "input ") + std::string(p.name.text()) + " : " +
                ir::print_tensor_type(p.type, p.shape) + ir::print_facts(p.facts));
  printer.print(program.body);
  writer.close("}");
  return writer.take();
}

}  // namespace tilewright::program

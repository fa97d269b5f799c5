// SPDX-License-Identifier: Apache-2.0
//
// The canonical text of programs: one statement a line, bodies in braces.
#include "frontend/base/text.h"
#include "frontend/ir/declarations.h"
#include "frontend/ir/text.h"
#include "lowering/program/text.h"

namespace tilewright::program {

namespace {

// A writer that knows how many lines it has.
class Lines {
 public:
  void line(std::string_view text) { ++count, writer_.line(text); }
  void open(std::string_view text) { ++count, writer_.open(text); }
  void close(std::string_view text) { ++count, writer_.close(text); }
  void close_open(std::string_view text) { ++count, writer_.close_open(text); }
  std::string take() { return writer_.take(); }
  int count = 0;

 private:
  TextWriter writer_;
};

class Printer {
 public:
  void print(Stmt stmt) {
    if (!stmt) return;
    starts.push_back(writer.count + 1);
    visit(stmt,
          ir::Overloaded{
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
                           std::string(space_text(n.space)) +
                           (n.place < 0 ? "" : " at " + std::to_string(n.place)),
                       n.body);
              },
              [&](const Store& n) {
                writer.line(place(n.buffer, n.indices) + " = " + ir::print(n.value) + origin(n));
              },
              [&](const While& n) { braces("while " + ir::print(n.condition), n.body); },
              [&](const Ring& n) {
                braces("ring " + name(n.slot) + ", " + name(n.phase) + " = " + ir::print(n.use) +
                           " of " + std::to_string(n.depth),
                       n.body);
              },
              [&](const Call& n) { writer.line(call(n)); },
              [&](const Atomic& n) { atomic(n); },
              [&](const Prefetch& n) { writer.line("prefetch " + place(n.buffer, n.indices)); },
              [&](const Kernel& n) { braces("kernel " + name(n.name), n.body); },
              [&](const Bind& n) {
                braces("for " + name(n.var) + " in " + ir::print(n.lower) + " .. " +
                           ir::print(n.upper) + " bind " + std::string(scope_text(n.scope)),
                       n.body);
              },
              [&](const Concurrent& n) {
                writer.open("concurrent {");
                for (Stmt role : n.roles) print(role);
                writer.close("}");
              },
              [&](const Role& n) { braces(role(n), n.body); },
              [&](const Object& n) { braces(object(n), n.body); },
              [&](const Async& n) {
                std::string head = "start ";
                (head += proxy_text(n.proxy)) += " ";
                head += completion_text(n.completion);
                if (n.completion != Completion::Group) head += " " + place(n.object, n.indices);
                braces(head, n.body);
              },
              [&](const Signal& n) { writer.line(signal(n)); },
              [&](const Wait& n) { writer.line(wait(n)); },
              [&](const Receive& n) {
                braces("receive " + name(n.var) + " = " + place(n.object, n.indices) + at(n.scope),
                       n.body);
              },
              [&](const Fence& n) { writer.line("fence " + std::string(proxy_text(n.proxy))); },
              [&](const Sync& n) { writer.line("sync " + std::string(scope_text(n.scope))); },
              [&](const Vote& n) {
                std::string head = "vote " + name(n.var) + " = ";
                (head += vote_kind_text(n.vote)) += " ";
                head += scope_text(n.scope);
                braces(head + " " + ir::print(n.condition), n.body);
              },
          });
  }

  void print(const Intrinsic& intrinsic) {
    std::string text = ir::print(intrinsic.meaning);
    std::string head = intrinsic.is_library ? "library " : "intrinsic ";
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      writer.line(head + text.substr(at, end - at));
      head.clear();
      at = end + 1;
    }
  }

  Lines writer;
  std::vector<int> starts;  // the line of each statement, in pre-order

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
      starts.push_back(writer.count + 1);
      writer.close_open("} else if " + ir::print(rest.as<If>()->condition) + " {");
      print(rest.as<If>()->then_body);
    }
    if (rest) {
      writer.close_open("} else {");
      print(rest);
    }
    writer.close("}");
  }

  static std::string place(Symbol buffer, std::span<const Expr> indices) {
    return name(buffer) + "[" + ir::print_list(indices) + "]";
  }

  static std::string at(Scope scope) {
    return scope == Scope::None ? std::string() : " at " + std::string(scope_text(scope));
  }

  template <class Node>
  static std::string origin(const Node& n) {
    if (n.role == OriginRole::Value && !n.origin.valid()) return {};
    std::string out = " @ " + std::string(origin_role_text(n.role));
    if (n.origin.valid()) out += " " + name(n.origin) + "(" + ir::print_list(n.point) + ")";
    return out;
  }

  static std::string call(const Call& n) {
    std::string out = "call " + name(n.callee) + "(";
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const TileNode& tile = *n.operands[i];
      out += (i > 0 ? ", " : "") + name(tile.operand) + " = " + name(tile.buffer) + "[";
      std::size_t next = 0;
      for (std::size_t d = 0; d < tile.indices.size(); ++d) {
        out += (d > 0 ? ", " : "") + ir::print(tile.indices[d]);
        if (next < tile.sliced.size() && tile.sliced[next] == static_cast<std::int64_t>(d))
          out += " : " + ir::print(tile.lengths[next++]);
      }
      out += "]";
    }
    return out + ")" + origin(n);
  }

  void atomic(const Atomic& n) {
    std::string out = "atomic ";
    if (n.old.valid()) out += name(n.old) + " = ";
    out += std::string(ir::monoid_text(n.op)) + " " + place(n.buffer, n.indices) + " by " +
           ir::print(n.value) + at(n.scope) + origin(n);
    if (n.old.valid()) return braces(out, n.body);
    writer.line(out);
  }

  static std::string role(const Role& n) {
    std::string out = "role " + name(n.name) + " : " + std::string(scope_text(n.scope));
    if (n.lanes != 0) out += " lanes " + std::to_string(n.lanes);
    if (n.registers != 0) out += " registers " + std::to_string(n.registers);
    for (std::size_t i = 0; i < n.after.size(); ++i)
      out += (i > 0 ? ", " : " after ") + name(n.after[i]);
    return out;
  }

  static std::string object(const Object& n) {
    std::string out = std::string(object_kind_text(n.object)) + " " + place(n.name, n.extents);
    switch (n.object) {
      case ObjectKind::Barrier: return out + " arrivals " + ir::print(n.count);
      case ObjectKind::Semaphore: return out + " starts " + ir::print(n.count);
      case ObjectKind::Token: return out;
      case ObjectKind::Channel:
        return out + " : " + std::string(ir::type_text(n.type)) + " holds " + ir::print(n.count);
    }
    return out;
  }

  static std::string signal(const Signal& n) {
    if (n.signal == SignalKind::Commit) return "commit";
    return std::string(signal_kind_text(n.signal)) + " " + place(n.object, n.indices) + " by " +
           ir::print(n.amount) + at(n.scope);
  }

  static std::string wait(const Wait& n) {
    std::string out = "wait " + (n.object.valid() ? place(n.object, n.indices) : "group");
    if (n.value) out += " until " + ir::print(n.value);
    return out + at(n.scope);
  }
};

}  // namespace

std::string print(Stmt stmt) {
  Printer printer;
  printer.print(stmt);
  return printer.writer.take();
}

std::string headline(Stmt stmt) {
  if (stmt.as<Block>()) return "a block";
  std::string text = print(stmt);
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

namespace {

void print_program(Printer& printer, const Program& program) {
  Lines& writer = printer.writer;
  writer.open("program " + std::string(program.name.text()) + " for " +
              std::string(program.algorithm.text()) + " {");
  for (const ir::ExtentDecl& extent : program.extents)
    writer.line("extent " + ir::print_extent(extent));
  for (Expr requirement : program.requirements) writer.line("requires " + ir::print(requirement));
  for (const Parameter& p : program.parameters)
    writer.line((p.is_inout    ? "inout "
                 : p.is_output ? "output "
                 : p.is_const  ? "const input "
                               : "input ") +
                std::string(p.name.text()) + " : " + ir::print_tensor_type(p.type, p.shape) +
                ir::print_facts(p.facts));
  for (const Intrinsic& intrinsic : program.intrinsics) printer.print(intrinsic);
  printer.print(program.body);
  writer.close("}");
}

}  // namespace

std::string print(const Program& program) {
  Printer printer;
  print_program(printer, program);
  return printer.writer.take();
}

std::vector<int> statement_lines(const Program& program) {
  Printer printer;
  print_program(printer, program);
  return std::move(printer.starts);
}

}  // namespace tilewright::program

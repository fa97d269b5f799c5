// SPDX-License-Identifier: Apache-2.0
#include "lowering/mutants/edit.h"

#include <algorithm>

#include "frontend/ir/walk.h"

namespace tilewright::mutants {

namespace {

class Collector {
 public:
  Collector(ir::Context& context, const program::Program& program) : context_(context) {
    for (const program::Parameter& parameter : program.parameters)
      buffers_.push_back({parameter.name, parameter.type, parameter.shape.size(),
                          parameter.is_output || parameter.is_inout});
    visit(program.body);
  }

  std::vector<Site> take() { return std::move(out_); }

 private:
  void visit(Stmt stmt) {
    Site site;
    site.context = &context_;
    site.number = static_cast<int>(out_.size());
    site.stmt = stmt;
    site.buffers = buffers_;
    site.loops = loops_;
    out_.push_back(std::move(site));
    const auto* alloc = stmt.as<program::Alloc>();
    const bool is_loop = stmt.as<program::For>() || stmt.as<program::Bind>();
    if (alloc) buffers_.push_back({alloc->buffer, alloc->type, alloc->extents.size(), true});
    if (is_loop) loops_.push_back(stmt);
    program::for_each_part(stmt, [&](std::string_view, auto part) {
      if constexpr (std::is_same_v<decltype(part), Stmt>) visit(part);
    });
    if (alloc) buffers_.pop_back();
    if (is_loop) loops_.pop_back();
  }

  ir::Context& context_;
  std::vector<VisibleBuffer> buffers_;
  std::vector<Stmt> loops_;
  std::vector<Site> out_;
};

// `seen`: statements before this one in pre-order.
Stmt replaced(ir::Context& context, Stmt root, int number, Stmt by, int& seen) {
  if (seen > number) return root;
  if (seen++ == number) {
    seen = number + 1;
    return by;
  }
  return program::map_parts(context, root, [&](std::string_view, auto part) {
    if constexpr (std::is_same_v<decltype(part), Stmt>)
      return replaced(context, part, number, by, seen);
    else
      return part;
  });
}

std::vector<Expr> children(Expr root) {
  std::vector<Expr> out;
  ir::for_each_child(root, [&](Expr child) { out.push_back(child); });
  return out;
}

// With these children, in the order of children(). Not ir::rebuild, which tells them apart by value alone.
Expr with_children(ir::Context& context, Expr root, const std::vector<Expr>& parts) {
  return ir::visit(
      root, ir::Overloaded{
                [&](const ir::Read& n) { return context.read(n.tensor, parts, n.type); },
                [&](const ir::Op& n) { return context.op(n.op, parts); },
                [&](const ir::Select&) { return context.select(parts[0], parts[1], parts[2]); },
                [&](const ir::Cast& n) { return context.cast(n.type, parts[0]); },
                [&](const ir::Saturate& n) { return context.saturate(n.type, parts[0]); },
                [&](const ir::RoundTo& n) { return context.round_to(n.grid, parts[0]); },
                [&](const auto&) { return root; },  // no children, or not of a Program
            });
}

}  // namespace

std::vector<Site> sites_of(ir::Context& context, const program::Program& program) {
  return Collector(context, program).take();
}

program::Program with_statement(ir::Context& context, const program::Program& program, int number,
                                Stmt by) {
  program::Program out = program;
  out.places = nullptr;
  int seen = 0;
  out.body = replaced(context, program.body, number, by, seen);
  return out;
}

std::vector<Expr> with_one_edit(ir::Context& context, Expr root, const ExprEdit& edit) {
  std::vector<Expr> out;
  edit(root, out);
  std::erase_if(out, [&](Expr e) { return e == root || e.type() != root.type(); });
  const std::vector<Expr> parts = children(root);
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (Expr changed : with_one_edit(context, parts[i], edit)) {
      std::vector<Expr> others = parts;
      others[i] = changed;
      const Expr whole = with_children(context, root, others);
      if (!(whole == root)) out.push_back(whole);
    }
  return out;
}

void edit_fields(const Site& site, std::initializer_list<std::string_view> fields,
                 const ExprEdit& edit, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  struct Part {
    std::string_view field;
    Expr value;
  };
  std::vector<Part> parts;
  program::for_each_part(site.stmt, [&](std::string_view name, auto part) {
    if constexpr (std::is_same_v<decltype(part), Expr>) parts.push_back({name, part});
  });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (std::find(fields.begin(), fields.end(), parts[i].field) == fields.end()) continue;
    for (Expr changed : with_one_edit(context, parts[i].value, edit)) {
      std::size_t at = 0;
      out.push_back(program::map_parts(context, site.stmt, [&](std::string_view, auto part) {
        if constexpr (std::is_same_v<decltype(part), Expr>)
          return at++ == i ? changed : part;
        else
          return part;
      }));
    }
  }
}

void edit_indices(const Site& site, const ExprEdit& edit, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  const ExprEdit in_reads = [&](Expr e, std::vector<Expr>& to) {
    const auto* read = e.as<ir::Read>();
    if (!read) return;
    for (std::size_t i = 0; i < read->indices.size(); ++i)
      for (Expr changed : with_one_edit(context, read->indices[i], edit)) {
        std::vector<Expr> indices(read->indices.begin(), read->indices.end());
        indices[i] = changed;
        to.push_back(context.read(read->tensor, indices, read->type));
      }
  };
  edit_fields(site, {"value", "condition"}, in_reads, out);
  if (site.stmt.as<program::Store>() || site.stmt.as<program::Call>() ||
      site.stmt.as<program::Atomic>())
    edit_fields(site, {"indices", "operands"}, edit, out);
}

Stmt renamed(ir::Context& context, Stmt stmt, Symbol from, Symbol to) {
  return program::map_parts(context, stmt, [&](std::string_view, auto part) {
    using T = decltype(part);
    if constexpr (std::is_same_v<T, Stmt>) {
      return renamed(context, part, from, to);
    } else if constexpr (std::is_same_v<T, Symbol>) {
      return part == from ? to : part;
    } else {
      return ir::rewrite(context, part, [&](Expr e) -> Expr {
        if (const auto* read = e.as<ir::Read>(); read && read->tensor == from)
          return context.read(to, read->indices, read->type);
        if (const auto* var = e.as<ir::Var>(); var && var->name == from)
          return context.var(to, var->type);
        return {};
      });
    }
  });
}

Stmt with_new_names(ir::Context& context, Stmt stmt) {
  std::vector<Symbol> names;
  program::walk(stmt, [&](Stmt inner) {
    for (Symbol name : program::bound_names(inner)) names.push_back(name);
  });
  for (Symbol name : names)
    stmt = renamed(context, stmt, name, context.symbol(std::string(name.text()) + "_twice"));
  return stmt;
}

}  // namespace tilewright::mutants

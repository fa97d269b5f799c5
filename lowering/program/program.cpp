// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/program.h"

#include <algorithm>

#include "lowering/program/places.h"

namespace tilewright::program {

namespace {
constexpr std::string_view kLoopKinds[] = {"for", "parallel", "vector", "unrolled"};
constexpr std::string_view kSpaces[] = {"workspace", "stack", "register"};
constexpr std::string_view kRoles[] = {"value", "init", "fold", "merge", "copy", "pad"};
}  // namespace

std::string_view loop_kind_text(LoopKind kind) { return kLoopKinds[static_cast<int>(kind)]; }
std::string_view space_text(Space space) { return kSpaces[static_cast<int>(space)]; }
std::string_view origin_role_text(OriginRole role) { return kRoles[static_cast<int>(role)]; }

const Parameter* Program::find_parameter(Symbol wanted) const {
  auto it = std::find_if(parameters.begin(), parameters.end(),
                         [&](const Parameter& p) { return p.name == wanted; });
  return it == parameters.end() ? nullptr : &*it;
}

Span place_of(const Program& program, Stmt stmt) {
  if (!program.places) return {};
  const auto it = program.places->stmts.find(stmt);
  return it == program.places->stmts.end() ? Span{} : it->second;
}

Span place_of(const Program& program, Symbol name) {
  if (!program.places) return {};
  const auto it = program.places->names.find(name);
  return it == program.places->names.end() ? Span{} : it->second;
}

bool operator==(const Program& a, const Program& b) {
  auto same_extent = [](const ir::ExtentDecl& x, const ir::ExtentDecl& y) {
    return x.name == y.name && x.min == y.min && x.max == y.max && x.multiple_of == y.multiple_of;
  };
  auto same_parameter = [](const Parameter& x, const Parameter& y) {
    return x.name == y.name && x.type == y.type && x.shape == y.shape && x.is_output == y.is_output;
  };
  return a.name == b.name && a.algorithm == b.algorithm && a.requirements == b.requirements &&
         a.body == b.body &&
         std::equal(a.extents.begin(), a.extents.end(), b.extents.begin(), b.extents.end(),
                    same_extent) &&
         std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(),
                    b.parameters.end(), same_parameter);
}

Stmt make_block(ir::Context& context, std::span<const Stmt> body) {
  std::vector<Stmt> flat;
  for (Stmt stmt : body) {
    if (!stmt) continue;
    if (const auto* block = stmt.as<Block>()) {
      flat.insert(flat.end(), block->body.begin(), block->body.end());
    } else {
      flat.push_back(stmt);
    }
  }
  if (flat.size() == 1) return flat[0];
  Block node;
  node.body = flat;
  return Stmt(context.store().intern(node));
}

Stmt make_for(ir::Context& context, LoopKind loop, Symbol var, Expr lower, Expr upper, Stmt body) {
  For node;
  node.loop = loop;
  node.var = var;
  node.lower = lower;
  node.upper = upper;
  node.body = body;
  return Stmt(context.store().intern(node));
}

Stmt make_if(ir::Context& context, Expr condition, Stmt then_body, Stmt else_body) {
  if (const auto* known = condition.as<ir::BoolConst>()) {
    if (known->value) return then_body;
    return else_body ? else_body : make_block(context, {});
  }
  If node;
  node.condition = condition;
  node.then_body = then_body;
  node.else_body = else_body;
  return Stmt(context.store().intern(node));
}

Stmt make_let(ir::Context& context, Symbol var, Expr value, Stmt body) {
  Let node;
  node.var = var;
  node.value = value;
  node.body = body;
  return Stmt(context.store().intern(node));
}

Stmt make_alloc(ir::Context& context, Symbol buffer, ScalarType type, std::span<const Expr> extents,
                Space space, Stmt body) {
  Alloc node;
  node.buffer = buffer;
  node.type = type;
  node.extents = extents;
  node.space = space;
  node.body = body;
  return Stmt(context.store().intern(node));
}

Stmt make_store(ir::Context& context, Symbol buffer, std::span<const Expr> indices, Expr value,
                OriginRole role, Symbol origin, std::span<const Expr> point) {
  Store node;
  node.buffer = buffer;
  node.indices = indices;
  node.value = value;
  node.role = role;
  node.origin = origin;
  node.point = point;
  return Stmt(context.store().intern(node));
}

namespace {

// The statement with rewritten children and expressions; the same handle when none changed.
Stmt rewrite_children(ir::Context& context, Stmt stmt, const StmtRewrite& on_stmt,
                      const ExprRewrite& on_expr) {
  auto expr = [&](Expr e) {
    if (!on_expr || !e) return e;
    Expr replaced = on_expr(e);
    return replaced ? replaced : e;
  };
  auto exprs = [&](NodeList<Expr> list) {
    std::vector<Expr> out;
    out.reserve(list.size());
    for (Expr e : list) out.push_back(expr(e));
    return out;
  };
  auto child = [&](Stmt s) { return s ? rewrite(context, s, on_stmt, on_expr) : s; };
  return visit(
      stmt,
      ir::Overloaded{
          [&](const Block& n) {
            std::vector<Stmt> body;
            for (Stmt s : n.body) body.push_back(child(s));
            return make_block(context, body);
          },
          [&](const For& n) {
            return make_for(context, n.loop, n.var, expr(n.lower), expr(n.upper), child(n.body));
          },
          [&](const If& n) {
            return make_if(context, expr(n.condition), child(n.then_body), child(n.else_body));
          },
          [&](const Let& n) { return make_let(context, n.var, expr(n.value), child(n.body)); },
          [&](const Alloc& n) {
            return make_alloc(context, n.buffer, n.type, exprs(n.extents), n.space, child(n.body));
          },
          [&](const Store& n) {
            return make_store(context, n.buffer, exprs(n.indices), expr(n.value), n.role, n.origin,
                              exprs(n.point));
          },
      });
}

}  // namespace

Stmt rewrite(ir::Context& context, Stmt root, const StmtRewrite& on_stmt,
             const ExprRewrite& on_expr) {
  Stmt out = rewrite_children(context, root, on_stmt, on_expr);
  if (on_stmt) {
    if (Stmt replaced = on_stmt(out)) return replaced;
  }
  return out;
}

void walk(Stmt root, const std::function<void(Stmt)>& f) {
  if (!root) return;
  f(root);
  visit(root, ir::Overloaded{
                  [&](const Block& n) {
                    for (Stmt s : n.body) walk(s, f);
                  },
                  [&](const For& n) { walk(n.body, f); },
                  [&](const If& n) {
                    walk(n.then_body, f);
                    walk(n.else_body, f);
                  },
                  [&](const Let& n) { walk(n.body, f); },
                  [&](const Alloc& n) { walk(n.body, f); },
                  [&](const Store&) {},
              });
}

}  // namespace tilewright::program

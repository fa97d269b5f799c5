// SPDX-License-Identifier: Apache-2.0
//
// unrolled r in 0 .. 2 { t[r] = f(r) }   becomes   t[0] = f(0)   t[1] = f(1)
// Names bound inside are made unique, so that a name is still bound once in the Program.
#include <unordered_set>

#include "frontend/ir/walk.h"
#include "lowering/passes/passes.h"

namespace tilewright::passes {

using ir::Expr;
using program::Stmt;

namespace {

class Unroller {
 public:
  Unroller(ir::Context& context, const Program& program) : context_(context) {
    program::walk(program.body, [&](Stmt stmt) {
      for (Symbol name : program::bound_names(stmt)) used_.insert(name);
    });
    for (const ir::ExtentDecl& extent : program.extents) used_.insert(extent.name);
    for (const program::Parameter& p : program.parameters) used_.insert(p.name);
  }

  Stmt run(Stmt stmt) {
    return program::visit(
        stmt, ir::Overloaded{
                  [&](const program::Block& n) {
                    std::vector<Stmt> body;
                    for (Stmt s : n.body) body.push_back(run(s));
                    return program::make_block(context_, body);
                  },
                  [&](const program::For& n) { return loop(n); },
                  [&](const program::If& n) {
                    return program::make_if(context_, expr(n.condition), run(n.then_body),
                                            n.else_body ? run(n.else_body) : Stmt());
                  },
                  [&](const program::Let& n) {
                    const Expr value = expr(n.value);
                    const Scope scope(*this, n.var, copy_depth_ > 0, value.type());
                    return program::make_let(context_, scope.name, value, run(n.body));
                  },
                  [&](const program::Alloc& n) {
                    const std::vector<Expr> extents = list(n.extents);
                    const Scope scope(*this, n.buffer, copy_depth_ > 0, std::nullopt);
                    return program::make_alloc(context_, scope.name, n.type, extents, n.space,
                                               run(n.body));
                  },
                  [&](const program::Store& n) {
                    return program::make_store(context_, buffer(n.buffer), list(n.indices),
                                               expr(n.value), n.role, n.origin, list(n.point));
                  },
                  [&](const auto&) { return other(stmt); },
              });
  }

 private:
  // While it lives, a bound name stands for a fresh one (when `rename`).
  struct Scope {
    Scope(Unroller& owner, Symbol bound, bool rename, std::optional<ir::ScalarType> type)
        : unroller(owner), old(bound), name(rename ? owner.fresh(bound) : bound) {
      if (name == old) return;
      if (type) {
        unroller.values_[old] = unroller.context_.var(name, *type);
      } else {
        unroller.buffers_[old] = name;
      }
    }
    ~Scope() {
      unroller.values_.erase(old);
      unroller.buffers_.erase(old);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    Unroller& unroller;
    Symbol old;
    Symbol name;
  };

  // Names that it binds become fresh wherever they stand in it.
  Stmt other(Stmt stmt) {
    const std::vector<Symbol> bound = program::bound_names(stmt);
    if (copy_depth_ > 0)
      for (Symbol name : bound) names_[name] = fresh(name);
    const Stmt out = program::map_parts(context_, stmt, [&](std::string_view, auto part) {
      using T = decltype(part);
      if constexpr (std::is_same_v<T, Stmt>)
        return run(part);
      else if constexpr (std::is_same_v<T, Expr>)
        return expr(part);
      else
        return name(part);
    });
    for (Symbol name : bound) names_.erase(name);
    return out;
  }

  Symbol name(Symbol old) const {
    const auto it = names_.find(old);
    return it == names_.end() ? buffer(old) : it->second;
  }

  Symbol fresh(Symbol wanted) {
    Symbol name = wanted;
    // Each name counts on from its last copy, so a long unrolling stays linear.
    int& next = next_copy_[wanted];
    do {
      name = context_.symbol(std::string(wanted.text()) + "_u" + std::to_string(++next));
    } while (!used_.insert(name).second);
    return name;
  }

  Symbol buffer(Symbol name) const {
    auto it = buffers_.find(name);
    return it == buffers_.end() ? name : it->second;
  }

  Expr expr(Expr e) {
    Expr moved = ir::substitute(context_, e, values_);
    if (!names_.empty())
      moved = ir::rewrite(context_, moved, [&](Expr inner) -> Expr {
        const auto* var = inner.as<ir::Var>();
        return var && names_.contains(var->name) ? context_.var(name(var->name), var->type)
                                                 : Expr();
      });
    if (buffers_.empty()) return moved;
    return ir::rewrite(context_, moved, [&](Expr inner) -> Expr {
      const auto* read = inner.as<ir::Read>();
      if (!read || !buffers_.contains(read->tensor)) return {};
      return context_.read(buffer(read->tensor), read->indices, read->type);
    });
  }
  std::vector<Expr> list(NodeList<Expr> values) {
    std::vector<Expr> out;
    for (Expr e : values) out.push_back(expr(e));
    return out;
  }

  Stmt loop(const program::For& n) {
    const Expr lower = expr(n.lower);
    const Expr upper = expr(n.upper);
    const auto* first = lower.as<ir::IntConst>();
    const auto* last = upper.as<ir::IntConst>();
    if (n.loop != program::LoopKind::Unrolled || !first || !last) {
      const Scope scope(*this, n.var, copy_depth_ > 0, ir::ScalarType::Index);
      return program::make_for(context_, n.loop, scope.name, lower, upper, run(n.body));
    }
    std::vector<Stmt> copies;
    ++copy_depth_;
    for (std::int64_t i = first->value; i < last->value; ++i) {
      values_[n.var] = context_.index(i);
      copies.push_back(run(n.body));
    }
    --copy_depth_;
    values_.erase(n.var);
    return program::make_block(context_, copies);
  }

  ir::Context& context_;
  std::unordered_set<Symbol> used_;
  std::unordered_map<Symbol, int> next_copy_;
  std::unordered_map<Symbol, Symbol> buffers_;
  std::unordered_map<Symbol, Symbol> names_;  // variables and objects
  ir::Substitution values_;
  int copy_depth_ = 0;
};

}  // namespace

Program unroll(ir::Context& context, const Program& program) {
  Program out = program;
  out.body = Unroller(context, program).run(program.body);
  return out;
}

}  // namespace tilewright::passes

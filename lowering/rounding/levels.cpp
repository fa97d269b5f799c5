// SPDX-License-Identifier: Apache-2.0
//
// Batches: what a cell is made of is a form: the operations of the stores to its buffer in their order, with the
// loops that each step of a fold runs along, and the forms of the buffers that are read. Peeled tiles and tails must
// have one form, and no loop or condition that chooses steps of a fold may name an extent by which cells of
// outputs are told apart.
#include "lowering/rounding/levels.h"

#include <algorithm>
#include <map>
#include <set>

#include "frontend/base/hash.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"

namespace tilewright::rounding {

namespace {

using ir::Expr;
using program::Stmt;

struct Scope {
  Symbol var;
  Expr lower;
  Expr upper;
};

class Folds {
 public:
  explicit Folds(const program::Program& program) : program_(program) {
    for (const program::Parameter& parameter : program.parameters)
      if (parameter.is_output)
        for (Expr extent : parameter.shape) add_extents(extent, batch_);
  }

  Level level() {
    walk(program_.body);
    for (const program::Parameter& parameter : program_.parameters)
      if (parameter.is_output) form_of(parameter.name);
    return {reason_.empty(), reason_};
  }

 private:
  static void add_extents(Expr expr, std::set<Symbol>& out) {
    ir::walk(expr, [&](Expr one) {
      if (const auto* extent = one.as<ir::Extent>()) out.insert(extent->name);
    });
  }
  void refuse(const std::string& why) {
    if (reason_.empty()) reason_ = why;
  }

  void walk(Stmt stmt) {
    if (!stmt) return;
    if (const auto* loop = stmt.as<program::For>()) {
      loops_.push_back({loop->var, loop->lower, loop->upper});
      walk(loop->body);
      loops_.pop_back();
      return;
    }
    if (const auto* branch = stmt.as<program::If>()) {
      conditions_.push_back(branch->condition);
      walk(branch->then_body);
      walk(branch->else_body);
      conditions_.pop_back();
      return;
    }
    if (const auto* let = stmt.as<program::Let>()) {
      lets_[let->var] = let->value;
      return walk(let->body);
    }
    if (const auto* alloc = stmt.as<program::Alloc>()) depths_[alloc->buffer] = loops_.size();
    if (const auto* store = stmt.as<program::Store>()) return step(stmt, *store);
    if (stmt.as<program::Call>())
      return refuse("`" + program::headline(stmt) + "` is a fold by itself");
    program::for_each_part(stmt, [&](std::string_view, auto part) {
      if constexpr (std::is_same_v<decltype(part), Stmt>) walk(part);
    });
  }

  // Names that an expression is made of, lets looked through.
  void add_names(Expr expr, std::set<Symbol>& vars, std::set<Symbol>& extents) const {
    add_extents(expr, extents);
    for (Symbol name : ir::free_vars(expr)) {
      const auto let = lets_.find(name);
      if (let == lets_.end())
        vars.insert(name);
      else
        add_names(let->second, vars, extents);
    }
  }

  void step(Stmt stmt, const program::Store& store) {
    std::set<Symbol> cell;
    std::set<Symbol> ignored;
    for (Expr index : store.indices) add_names(index, cell, ignored);
    bool adds = false;
    for (const ir::Read* read : ir::reads(store.value)) adds = adds || read->tensor == store.buffer;
    Write write{store.value, {}, adds, false};
    std::set<Symbol> fold;
    for (const Scope& loop : loops_) {
      std::set<Symbol> vars;
      std::set<Symbol> extents;
      add_names(loop.lower, vars, extents);
      add_names(loop.upper, vars, extents);
      const bool named = std::any_of(extents.begin(), extents.end(),
                                     [&](Symbol extent) { return batch_.contains(extent); });
      const bool inside = depth_of(store.buffer) <= static_cast<std::size_t>(&loop - loops_.data());
      write.by_batch = write.by_batch || (named && inside);
      if (cell.contains(loop.var) || !adds || !inside) continue;
      const bool outer =
          std::any_of(vars.begin(), vars.end(), [&](Symbol var) { return !fold.contains(var); });
      if (named || outer)
        return refuse("the fold of `" + program::headline(stmt) +
                      "` runs along a loop that depends on other sizes");
      fold.insert(loop.var);
      write.loops += ir::print(loop.lower) + ".." + ir::print(loop.upper) + ";";
    }
    for (Expr condition : conditions_) {
      std::set<Symbol> vars;
      std::set<Symbol> extents;
      add_names(condition, vars, extents);
      const bool by_fold =
          std::any_of(vars.begin(), vars.end(), [&](Symbol var) { return fold.contains(var); });
      const bool by_batch = std::any_of(extents.begin(), extents.end(),
                                        [&](Symbol extent) { return batch_.contains(extent); });
      if (by_fold && by_batch)
        return refuse("`" + ir::print(condition) + "` chooses steps of a fold by other sizes");
    }
    writes_[store.buffer].push_back(std::move(write));
  }

  std::size_t depth_of(Symbol buffer) const {
    const auto found = depths_.find(buffer);
    return found == depths_.end() ? 0 : found->second;
  }

  // Names of buffers are no part of it.
  std::string form_of(Symbol buffer) {
    if (const auto known = forms_.find(buffer); known != forms_.end()) return known->second;
    forms_[buffer] = "self";
    std::string own;
    std::string given;
    std::string whole;
    for (const Write& write : writes_[buffer]) {
      const std::string form = write.loops + operations(write.value);
      std::string& before = write.adds ? own : given;
      // Steps that all cells go through, one after the other, may differ; those of parts of the buffer may not.
      if (!before.empty() && before != form && (!write.adds || write.by_batch))
        refuse("cells of `" + std::string(buffer.text()) + "` are made in more than one way");
      if (before != form) whole += form + "|";
      before = form;
    }
    if (writes_[buffer].empty()) whole = std::string(buffer.text());
    return forms_[buffer] = content_hash(whole);
  }

  // Indices are no part of it.
  std::string operations(Expr expr) {
    if (const auto* read = expr.as<ir::Read>()) return form_of(read->tensor);
    if (const auto* var = expr.as<ir::Var>()) {
      const auto let = lets_.find(var->name);
      return let == lets_.end() ? "v" : operations(let->second);
    }
    if (expr.as<ir::FloatConst>() || expr.as<ir::Extent>()) return ir::print(expr);
    if (const auto* op = expr.as<ir::Op>()) {
      std::string out = std::string(ir::op_info(op->op).name) + "(";
      for (Expr arg : op->args) out += operations(arg) + ",";
      return out + ")";
    }
    std::string out = std::to_string(static_cast<int>(expr.kind())) +
                      std::string(ir::type_text(expr.type())) + "(";
    ir::for_each_child(expr, [&](Expr child) { out += operations(child) + ","; });
    return out + ")";
  }

  const program::Program& program_;
  std::set<Symbol> batch_;
  std::vector<Scope> loops_;
  std::vector<Expr> conditions_;
  std::map<Symbol, Expr> lets_;
  struct Write {
    Expr value;
    std::string loops;  // that its fold runs along
    bool adds = false;  // to its own buffer
    bool by_batch = false;  // loops over the buffer name extents of outputs
  };
  std::map<Symbol, std::vector<Write>> writes_;
  std::map<Symbol, std::size_t> depths_;
  std::map<Symbol, std::string> forms_;
  std::string reason_;
};

}  // namespace

Levels levels_of(const program::Program& program) {
  Levels out;
  std::string atomic;
  std::string call;
  program::walk(program.body, [&](Stmt stmt) {
    if (stmt.as<program::Atomic>() && atomic.empty()) atomic = program::headline(stmt);
    if (const auto* one = stmt.as<program::Call>(); one && call.empty())
      call = std::string(one->callee.text());
  });
  const bool agents = !program::is_sequential(program.body);
  out.every_run = {atomic.empty(), atomic.empty() ? "" : "the order of `" + atomic + "` is open"};
  out.every_target = {call.empty() && !agents, agents
                                                   ? "agents, which hosts do not have"
                                                   : "`" + call + "` rounds by a unit of its own"};
  if (out.every_target.holds) out.every_target.reason.clear();
  out.every_batch = atomic.empty() ? Folds(program).level() : Level{false, out.every_run.reason};
  return out;
}

}  // namespace tilewright::rounding

// SPDX-License-Identifier: Apache-2.0
#include "lowering/build/team.h"

#include <algorithm>

#include "frontend/ir/simplify.h"

namespace tilewright::build {

using poly::AffineExpr;
using poly::BasicSet;
using poly::BoundExpr;

namespace {

constexpr int kArm = 1 << 24;  // of a path: more than the statements of a body

// The bodies of a statement that has any.
std::vector<Stmt> bodies(Stmt stmt) {
  if (const auto* n = stmt.as<program::If>()) return {n->then_body, n->else_body};
  std::vector<Stmt> out;
  program::for_each_part(stmt, [&](std::string_view, auto part) {
    if constexpr (std::is_same_v<decltype(part), Stmt>) out.push_back(part);
  });
  return out;
}

bool is_prefix(const std::vector<std::pair<const Item*, int>>& chain, const Item* item) {
  return std::any_of(chain.begin(), chain.end(), [&](const auto& c) { return c.first == item; });
}

}  // namespace

Team::Team(ir::Context& context, const program::Program& program, Stmt body,
           const std::vector<Stmt>& outer)
    : context_(context), program_(program), outer_(outer) {
  for (const ir::ExtentDecl& extent : program.extents) params_.emplace_back(extent.name.text());
  for (Stmt around : outer) {
    const Symbol name = program::bound_names(around)[0];
    params_.emplace_back(name.text());
    known_.insert(name);
  }
  root_.arms.resize(1);
  grow(root_, body, 0);
  // Buffers on which there can be an edge: written here, and reached by operations or by several agents.
  std::unordered_set<Symbol> written;
  std::unordered_set<Symbol> reached;
  std::unordered_map<Symbol, Symbol> roles;  // one that reaches a buffer
  Statement all;
  for_leaves(root_, [&](const Item& leaf) { own_accesses(leaf, all); });
  for (const Access& access : all.accesses) {
    if (access.writes) written.insert(access.buffer);
    const Symbol role = access.where.role;
    if (!(roles.try_emplace(access.buffer, role).first->second == role))
      reached.insert(access.buffer);
    const Item* alloc = alloc_of(access.buffer);
    for (const auto& [around, arm] : access.where.chain) {
      if (around->is_async()) reached.insert(access.buffer);
      if (around->bind() && !(alloc && is_prefix(where(*alloc).chain, around)))
        reached.insert(access.buffer);
    }
  }
  for (Symbol buffer : written)
    if (reached.contains(buffer)) shared_.insert(buffer);
  collect(root_);
}

void Team::grow(Item& item, Stmt body, int arm) {
  if (!body) return;
  std::vector<Stmt> stmts = {body};
  if (const auto* block = body.as<program::Block>())
    stmts.assign(block->body.begin(), block->body.end());
  for (Stmt stmt : stmts) {
    auto child = std::make_unique<Item>();
    child->stmt = stmt;
    child->parent = &item;
    child->arm = arm;
    child->index = item.arms[static_cast<std::size_t>(arm)].size();
    const auto* role = stmt.as<program::Role>();
    child->role = role ? role->name : item.role;
    if (child->is_marker()) note_role(*child);
    note(*child);
    const std::vector<Stmt> inside = bodies(stmt);
    child->arms.resize(inside.size());
    Item& made = *child;
    item.arms[static_cast<std::size_t>(arm)].push_back(std::move(child));
    for (std::size_t i = 0; i < inside.size(); ++i) grow(made, inside[i], static_cast<int>(i));
  }
}

void Team::note_role(const Item& item) {
  if (item.stmt.as<program::Concurrent>() && !item.role.valid()) {
    is_split_once_ = is_split_once_ && !split_;
    split_ = &item;
  }
  const auto* role = item.stmt.as<program::Role>();
  if (!role || find_role(role->name)) return;
  roles_.push_back(role);
  has_agents_ = true;
}

const program::Role* Team::find_role(Symbol name) const {
  for (const program::Role* role : roles_)
    if (role->name == name) return role;
  return nullptr;
}

const Item* Team::find_loop(Symbol var) const {
  const Item* out = nullptr;
  for_leaves(root_, [&](const Item& item) {
    const auto* loop = item.stmt.as<program::For>();
    if (loop && loop->var == var) out = &item;
  });
  return out;
}

void Team::note(const Item& item) {
  program::visit(item.stmt, ir::Overloaded{
                                [&](const program::For& n) { known_.insert(n.var); },
                                [&](const program::Bind& n) {
                                  known_.insert(n.var);
                                  agents_.insert(n.var);
                                  has_agents_ = true;
                                },
                                [&](const program::Let& n) {
                                  if (n.value.type() != ir::ScalarType::Index) return;
                                  // What is read once for the team is one number for all that follows.
                                  if (!ir::reads(n.value).empty() && where(item).loops.empty()) {
                                    known_.insert(n.var);
                                    params_.emplace_back(n.var.text());
                                  } else {
                                    lets_[n.var] = written_out(n.value);
                                  }
                                },
                                [&](const program::Ring& n) {
                                  const Expr use = written_out(n.use);
                                  slots_[n.slot] = {use, n.depth};
                                  lets_[n.slot] = context_.floor_mod(use, context_.index(n.depth));
                                  lets_[n.phase] = context_.floor_div(use, context_.index(n.depth));
                                },
                                [&](const program::Alloc& n) { allocs_[n.buffer] = &item; },
                                [&](const program::Async&) { has_async_ = true; },
                                [](const auto&) {},
                            });
}

Expr Team::use_of_slot(Symbol slot, std::int64_t* depth) const {
  const auto found = slots_.find(slot);
  if (found == slots_.end()) return {};
  *depth = found->second.second;
  return found->second.first;
}

Expr Team::written_out(Expr expr) const {
  return lets_.empty() ? expr : ir::substitute(context_, expr, lets_);
}

// A role is one agent, whatever agents another role is split into where it stands.
Where Team::where(const Item& item, Symbol role) const {
  Where out;
  out.role = role;
  const auto is_others = [&](const Item& around) {
    return around.bind() && around.role.valid() && !(around.role == role);
  };
  for (const Item* at = &item; at->parent; at = at->parent) {
    out.path.push_back(at->arm * kArm + 2 * static_cast<int>(at->index) + 1);
    if (at->parent->stmt && !is_others(*at->parent)) out.chain.emplace_back(at->parent, at->arm);
  }
  std::reverse(out.path.begin(), out.path.end());
  std::reverse(out.chain.begin(), out.chain.end());
  for (const auto& [around, arm] : out.chain)
    if (around->is_loop() || around->bind()) out.loops.push_back(around);
  return out;
}

Where Team::where(const Gap& gap, int rank, Symbol role) const {
  Where out;
  out.role = role;
  if (gap.owner->stmt) {
    out = where(*gap.owner, role);
    const bool others = gap.owner->bind() && gap.owner->role.valid() && !(gap.owner->role == role);
    if (!others) out.chain.emplace_back(gap.owner, gap.arm);
    if (gap.owner->is_loop() || (gap.owner->bind() && !others)) out.loops.push_back(gap.owner);
  }
  out.path.push_back(gap.arm * kArm + 2 * static_cast<int>(gap.index));
  out.path.push_back(rank);
  return out;
}

const Item* Team::alloc_of(Symbol buffer) const {
  const auto it = allocs_.find(buffer);
  return it == allocs_.end() ? nullptr : it->second;
}

bool Team::is_private_space(Symbol buffer) const {
  const Item* alloc = alloc_of(buffer);
  if (!alloc) return false;
  const program::Space space = alloc->stmt.as<program::Alloc>()->space;
  return space == program::Space::Register || space == program::Space::Stack;
}

std::string Team::name(const Item& loop, std::string_view suffix) {
  const Symbol var = loop.bind() ? loop.bind()->var : loop.stmt.as<program::For>()->var;
  return std::string(var.text()) + std::string(suffix);
}

std::vector<std::string> Team::names(const std::vector<const Item*>& loops,
                                     std::string_view suffix) const {
  std::vector<std::string> out;
  for (const Item* loop : loops) out.push_back(name(*loop, suffix));
  return out;
}

std::optional<BoundExpr> Team::value(Expr expr, std::string_view suffix) const {
  const Expr plain = written_out(expr);
  for (Symbol var : ir::free_vars(plain))
    if (!known_.contains(var)) return std::nullopt;
  return to_bound(plain, [&](Expr e) {
    const auto* var = e.as<ir::Var>();
    if (!var) return std::string(e.as<ir::Extent>()->name.text());
    const std::string text(var->name.text());
    const bool outside = std::find(params_.begin(), params_.end(), text) != params_.end();
    return outside ? text : text + std::string(suffix);
  });
}

std::optional<Digits> Team::digits(Expr number, std::string_view suffix) const {
  const auto affine = [&](Expr e) -> std::optional<AffineExpr> {
    const auto bound = value(e, suffix);
    if (!bound || bound->kind() != BoundExpr::Kind::Affine) return std::nullopt;
    return bound->affine();
  };
  if (const auto whole = affine(number)) return Digits{{*whole}, {AffineExpr(0)}};
  const auto form = ir::linear_form(written_out(number));
  if (!form) return std::nullopt;
  const ir::Op* product = nullptr;
  AffineExpr last(form->constant);
  for (const auto& [atom, coefficient] : form->terms) {
    if (const auto term = affine(atom)) {
      last = last + *term * coefficient;
      continue;
    }
    const auto* op = atom.as<ir::Op>();
    if (product || coefficient != 1 || !op || op->op != ir::OpCode::Mul) return std::nullopt;
    product = op;
  }
  if (!product) return std::nullopt;
  for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
    const auto length = affine(product->args[side]);
    std::vector<std::string> names;
    if (length) length->collect_names(names);
    const bool fixed = length && std::all_of(names.begin(), names.end(), [&](const auto& name) {
                         return std::find(params_.begin(), params_.end(), name) != params_.end();
                       });
    auto out = fixed ? digits(product->args[1 - side], suffix) : std::nullopt;
    if (!out) continue;
    out->digit.push_back(last);
    out->length.push_back(*length);
    return out;
  }
  return std::nullopt;
}

namespace {

std::string without_suffix(const std::string& name) { return name.substr(0, name.find('\'')); }

Expr negated(ir::Context& context, const ir::Op& op) {
  switch (op.op) {
    case ir::OpCode::Lt: return context.le(op.args[1], op.args[0]);
    case ir::OpCode::Le: return context.lt(op.args[1], op.args[0]);
    case ir::OpCode::Gt: return context.le(op.args[0], op.args[1]);
    case ir::OpCode::Ge: return context.lt(op.args[0], op.args[1]);
    default: return {};
  }
}

}  // namespace

Expr Team::to_program(const AffineExpr& value) const { return *to_program(BoundExpr(value)); }

std::optional<Expr> Team::to_program(const BoundExpr& value) const {
  return to_ir(context_, value, [&](const std::string& name) {
    const Symbol symbol = context_.symbol(without_suffix(name));
    const bool extent = std::any_of(program_.extents.begin(), program_.extents.end(),
                                    [&](const ir::ExtentDecl& e) { return e.name == symbol; });
    return extent ? context_.extent(symbol) : context_.var(symbol);
  });
}

namespace {

// What add_less and add_at_least say without leaving anything out.
bool is_conjunction(const std::optional<BoundExpr>& bound, BoundExpr::Kind kind) {
  if (!bound || bound->kind() == BoundExpr::Kind::Affine) return bound.has_value();
  return bound->kind() == kind &&
         std::all_of(bound->operands().begin(), bound->operands().end(),
                     [](const BoundExpr& o) { return o.kind() == BoundExpr::Kind::Affine; });
}

}  // namespace

bool Team::constrain_comparison(Expr condition, std::string_view suffix, BasicSet& set) const {
  const auto* op = condition.as<ir::Op>();
  if (!op || op->args.size() != 2) return false;
  if (op->op == ir::OpCode::And) {
    const bool first = constrain_comparison(op->args[0], suffix, set);
    return constrain_comparison(op->args[1], suffix, set) && first;
  }
  if (op->args[0].type() != ir::ScalarType::Index) return false;
  const auto a = value(op->args[0], suffix);
  const auto b = value(op->args[1], suffix);
  if (!a || !b) return false;
  const auto is_affine = [](const BoundExpr& e) { return e.kind() == BoundExpr::Kind::Affine; };
  // x < y
  const auto less = [&](const BoundExpr& x, const BoundExpr& y) {
    if (is_affine(x) && is_conjunction(y, BoundExpr::Kind::Min)) {
      add_less(set, x.affine(), y);
      return true;
    }
    const BoundExpr above = x + BoundExpr(1);
    if (!is_affine(y) || !is_conjunction(above, BoundExpr::Kind::Max)) return false;
    add_at_least(set, y.affine(), above);
    return true;
  };
  switch (op->op) {
    case ir::OpCode::Lt: return less(*a, *b);
    case ir::OpCode::Le: return less(*a, *b + BoundExpr(1));
    case ir::OpCode::Gt: return less(*b, *a);
    case ir::OpCode::Ge: return less(*b, *a + BoundExpr(1));
    case ir::OpCode::Eq:
      if (!is_affine(*a) || !is_affine(*b)) return false;
      set.equal(a->affine(), b->affine());
      return true;
    default: return false;
  }
}

bool Team::constrain_by(const Item& item, int arm, std::string_view suffix, BasicSet& set) const {
  const auto between = [&](Symbol var, Expr lower, Expr upper) {
    const AffineExpr at = AffineExpr::variable(std::string(var.text()) + std::string(suffix));
    const auto lo = value(lower, suffix);
    const auto hi = value(upper, suffix);
    if (lo) add_at_least(set, at, *lo);
    if (hi) add_less(set, at, *hi);
    return is_conjunction(lo, BoundExpr::Kind::Max) && is_conjunction(hi, BoundExpr::Kind::Min);
  };
  if (const auto* loop = item.stmt.as<program::For>())
    return between(loop->var, loop->lower, loop->upper);
  if (const auto* bind = item.bind()) return between(bind->var, bind->lower, bind->upper);
  const auto* branch = item.stmt.as<program::If>();
  if (!branch) return item.stmt.kind() != program::StmtKind::While;
  if (arm == 0) return constrain_comparison(branch->condition, suffix, set);
  const auto* op = branch->condition.as<ir::Op>();
  const Expr otherwise = op && op->args.size() == 2 ? negated(context_, *op) : Expr();
  return otherwise && constrain_comparison(otherwise, suffix, set);
}

bool Team::constrain(const Where& where, std::string_view suffix, BasicSet& set) const {
  bool exact = true;
  for (const auto& [item, arm] : where.chain)
    exact = constrain_by(*item, arm, suffix, set) && exact;
  return exact;
}

poly::Set Team::facts() const {
  BasicSet set;
  for (const ir::ExtentDecl& extent : program_.extents) {
    const AffineExpr at = AffineExpr::variable(extent.name.text());
    set.at_least(at, AffineExpr(extent.min));
    if (extent.max) set.at_least(AffineExpr(*extent.max), at);
    if (extent.multiple_of > 1) set.equal(poly::modulo(at, extent.multiple_of), AffineExpr(0));
  }
  for (Expr requirement : program_.requirements)
    add_condition(set, requirement,
                  [](Expr e) { return std::string(e.as<ir::Extent>()->name.text()); });
  Item around;
  for (Stmt outer : outer_) {
    around.stmt = outer;
    (void)constrain_by(around, 0, "", set);
  }
  return poly::Set({params_, {}}, set);
}

std::vector<const Item*> common_loops(const Where& a, const Where& b) {
  std::vector<const Item*> out;
  for (const Item* loop : a.loops)
    if (std::find(b.loops.begin(), b.loops.end(), loop) != b.loops.end()) out.push_back(loop);
  return out;
}

std::vector<BasicSet> Team::precedes(const Where& a, std::string_view sa, const Where& b,
                                     std::string_view sb) const {
  std::vector<BasicSet> out;
  BasicSet equal;
  for (const Item* loop : common_loops(a, b)) {
    if (loop->bind()) continue;
    const AffineExpr x = AffineExpr::variable(name(*loop, sa));
    const AffineExpr y = AffineExpr::variable(name(*loop, sb));
    BasicSet earlier = equal;
    earlier.less(x, y);
    out.push_back(std::move(earlier));
    equal.equal(x, y);
  }
  if (a.path < b.path) out.push_back(std::move(equal));
  return out;
}

bool Team::is_uniform(Expr expr) const {
  const Expr plain = written_out(expr);
  if (!ir::reads(plain).empty()) return false;
  for (Symbol var : ir::free_vars(plain))
    if (agents_.contains(var) || !known_.contains(var)) return false;
  return true;
}

bool Team::is_uniform(const Gap& gap) const {
  for (const auto& [item, arm] : where(gap, 0, gap.owner->role).chain) {
    if (const auto* loop = item->stmt.as<program::For>())
      if (!is_uniform(loop->lower) || !is_uniform(loop->upper)) return false;
    if (const auto* branch = item->stmt.as<program::If>())
      if (!is_uniform(branch->condition)) return false;
  }
  return true;
}

bool Team::holds_async(const Item& item) const {
  if (item.is_async()) return true;
  for (const auto& arm : item.arms)
    for (const auto& child : arm)
      if (holds_async(*child)) return true;
  return false;
}

bool Team::holds_others(const Item& item, Symbol role) const {
  if (item.arms.empty() || item.is_async()) return !(item.role == role);
  for (const auto& arm : item.arms)
    for (const auto& child : arm)
      if (holds_others(*child, role)) return true;
  return false;
}

bool Team::depends_on_agent(Expr expr) const {
  for (Symbol var : ir::free_vars(written_out(expr)))
    if (agents_.contains(var)) return true;
  return false;
}

bool Team::depends_on_agent_alone(Expr expr) const {
  const Expr plain = written_out(expr);
  if (!ir::reads(plain).empty()) return false;
  const std::vector<Symbol> free = ir::free_vars(plain);
  return std::all_of(free.begin(), free.end(), [&](Symbol var) {
    return agents_.contains(var) ||
           std::find(params_.begin(), params_.end(), std::string(var.text())) != params_.end();
  });
}

void Team::for_leaves(const Item& item, const std::function<void(const Item&)>& f) const {
  if (item.stmt) f(item);
  for (const auto& arm : item.arms)
    for (const auto& child : arm) for_leaves(*child, f);
}

void Team::add_reads(Expr expr, const Where& where, Statement& out) const {
  for (const ir::Read* read : ir::reads(expr))
    out.accesses.push_back({read->tensor,
                            false,
                            {read->indices.begin(), read->indices.end()},
                            std::vector<Expr>(read->indices.size()),
                            where});
}

// What the item itself reads and writes, without what stands in it.
void Team::own_accesses(const Item& item, Statement& out) const {
  const Where at = where(item);
  const auto touch = [&](Symbol buffer, bool writes, NodeList<Expr> index,
                         std::vector<Expr> length) {
    out.accesses.push_back({buffer, writes, {index.begin(), index.end()}, std::move(length), at});
  };
  program::for_each_part(item.stmt, [&](std::string_view, auto part) {
    if constexpr (std::is_same_v<decltype(part), Expr>) add_reads(part, at, out);
  });
  if (const auto* store = item.stmt.as<program::Store>())
    touch(store->buffer, true, store->indices, std::vector<Expr>(store->indices.size()));
  if (const auto* atomic = item.stmt.as<program::Atomic>())
    touch(atomic->buffer, true, atomic->indices, std::vector<Expr>(atomic->indices.size()));
  if (const auto* call = item.stmt.as<program::Call>()) {
    const program::Intrinsic* callee = program_.find_intrinsic(call->callee);
    for (program::Tile tile : call->operands) {
      std::vector<Expr> length(tile->indices.size());
      for (std::size_t d = 0; d < tile->sliced.size(); ++d)
        length[static_cast<std::size_t>(tile->sliced[d])] = tile->lengths[d];
      touch(tile->buffer, callee && callee->meaning.find_equation(tile->operand), tile->indices,
            length);
    }
  }
}

// With all that stands in it, of the buffers that matter.
void Team::add_accesses(const Item& item, Statement& out) const {
  Statement all;
  for_leaves(item, [&](const Item& leaf) { own_accesses(leaf, all); });
  for (Access& access : all.accesses)
    if (out.is_async || shared_.contains(access.buffer)) out.accesses.push_back(std::move(access));
}

bool Team::is_atom(const Item& item) const {
  if (!item.stmt) return false;
  if (item.is_async()) return true;
  if (!item.is_loop() && !item.arms.empty()) return false;
  bool splits = false;
  std::size_t touching = 0;
  bool writes = false;
  for_leaves(item, [&](const Item& leaf) {
    splits = splits || leaf.is_async() || leaf.bind() || leaf.stmt.as<program::Alloc>() ||
             leaf.is_marker();
    Statement own;
    own_accesses(leaf, own);
    bool touches = false;
    for (const Access& access : own.accesses) {
      if (!shared_.contains(access.buffer)) continue;
      touches = true;
      writes = writes || access.writes;
    }
    touching += touches;
  });
  return !splits && (touching <= 1 || !writes);
}

void Team::collect(const Item& item) {
  const auto add = [&](const Item& at, bool whole) {
    Statement statement{&at, where(at), at.is_async(), {}, {}};
    if (whole) {
      add_accesses(at, statement);
    } else {
      Statement own;
      own_accesses(at, own);
      for (Access& access : own.accesses)
        if (shared_.contains(access.buffer)) statement.accesses.push_back(std::move(access));
    }
    if (!statement.accesses.empty()) statements_.push_back(std::move(statement));
  };
  if (is_atom(item)) return add(item, true);
  if (item.stmt) add(item, false);
  for (const auto& arm : item.arms)
    for (const auto& child : arm) collect(*child);
}

}  // namespace tilewright::build

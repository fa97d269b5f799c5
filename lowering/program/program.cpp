// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/program.h"

#include <algorithm>

#include "lowering/program/places.h"

namespace tilewright::program {

namespace {

constexpr std::string_view kKinds[] = {
#define TILEWRIGHT_STMT(name) #name,
#include "lowering/program/stmt_kinds.def"
#undef TILEWRIGHT_STMT
};
constexpr std::string_view kLoopKinds[kNumLoopKinds] = {"for", "parallel", "vector", "unrolled"};
constexpr std::string_view kSpaces[kNumSpaces] = {"workspace",   "stack",  "register",
                                                  "shared",      "tensor", "scratchpad",
                                                  "accumulator", "global", "plan"};
constexpr std::string_view kRoles[kNumOriginRoles] = {"value", "init", "fold",
                                                      "merge", "copy", "pad"};
constexpr std::string_view kScopes[kNumScopes] = {"none", "lane",    "warp", "warpgroup", "block",
                                                  "pair", "cluster", "core", "device",    "system"};
constexpr std::string_view kProxies[kNumProxies] = {"generic", "async", "tensor"};
constexpr std::string_view kCompletions[kNumCompletions] = {"group", "bytes", "arrive"};
constexpr std::string_view kObjects[kNumObjectKinds] = {"barrier", "semaphore", "token", "channel"};
constexpr std::string_view kSignals[kNumSignalKinds] = {"arrive", "expect", "commit", "send"};
constexpr std::string_view kVotes[kNumVoteKinds] = {"any", "all", "ballot"};

}  // namespace

std::string_view stmt_kind_text(StmtKind kind) { return kKinds[static_cast<int>(kind)]; }
std::string_view loop_kind_text(LoopKind kind) { return kLoopKinds[static_cast<int>(kind)]; }
std::string_view space_text(Space space) { return kSpaces[static_cast<int>(space)]; }
std::string_view origin_role_text(OriginRole role) { return kRoles[static_cast<int>(role)]; }
std::string_view scope_text(Scope scope) { return kScopes[static_cast<int>(scope)]; }
std::string_view proxy_text(Proxy proxy) { return kProxies[static_cast<int>(proxy)]; }
std::string_view completion_text(Completion c) { return kCompletions[static_cast<int>(c)]; }
std::string_view object_kind_text(ObjectKind kind) { return kObjects[static_cast<int>(kind)]; }
std::string_view signal_kind_text(SignalKind kind) { return kSignals[static_cast<int>(kind)]; }
std::string_view vote_kind_text(VoteKind kind) { return kVotes[static_cast<int>(kind)]; }

const Parameter* Program::find_parameter(Symbol wanted) const {
  auto it = std::find_if(parameters.begin(), parameters.end(),
                         [&](const Parameter& p) { return p.name == wanted; });
  return it == parameters.end() ? nullptr : &*it;
}

const Intrinsic* Program::find_intrinsic(Symbol wanted) const {
  auto it = std::find_if(intrinsics.begin(), intrinsics.end(),
                         [&](const Intrinsic& i) { return i.name() == wanted; });
  return it == intrinsics.end() ? nullptr : &*it;
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
    return x.name == y.name && x.type == y.type && x.shape == y.shape &&
           x.is_output == y.is_output && x.facts == y.facts && x.is_inout == y.is_inout &&
           x.is_const == y.is_const;
  };
  auto same_intrinsic = [](const Intrinsic& x, const Intrinsic& y) {
    return x.is_library == y.is_library && x.meaning == y.meaning;
  };
  return a.name == b.name && a.algorithm == b.algorithm && a.requirements == b.requirements &&
         a.body == b.body &&
         std::equal(a.extents.begin(), a.extents.end(), b.extents.begin(), b.extents.end(),
                    same_extent) &&
         std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(),
                    b.parameters.end(), same_parameter) &&
         std::equal(a.intrinsics.begin(), a.intrinsics.end(), b.intrinsics.begin(),
                    b.intrinsics.end(), same_intrinsic);
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
                Space space, Stmt body, std::int64_t place) {
  Alloc node;
  node.buffer = buffer;
  node.type = type;
  node.extents = extents;
  node.space = space;
  node.place = place;
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

Tile make_tile(ir::Context& context, Symbol operand, Symbol buffer, std::span<const Expr> indices,
               std::span<const std::int64_t> sliced, std::span<const Expr> lengths) {
  TileNode node;
  node.operand = operand;
  node.buffer = buffer;
  node.indices = indices;
  node.sliced = sliced;
  node.lengths = lengths;
  return Tile(context.store().intern(node));
}

Stmt make(ir::Context& context, const Block& node) { return make_block(context, node.body); }
Stmt make(ir::Context& context, const If& node) {
  return make_if(context, node.condition, node.then_body, node.else_body);
}

bool is_sequential(StmtKind kind) { return kind < StmtKind::Kernel; }

bool is_sequential(Stmt root) {
  bool all = true;
  walk(root, [&](Stmt s) { all = all && is_sequential(s.kind()); });
  return all;
}

std::vector<Symbol> bound_names(Stmt stmt) {
  auto some = [](std::initializer_list<Symbol> names) {
    std::vector<Symbol> out;
    for (Symbol name : names)
      if (name.valid()) out.push_back(name);
    return out;
  };
  return visit(stmt, ir::Overloaded{
                         [&](const For& n) { return some({n.var}); },
                         [&](const Let& n) { return some({n.var}); },
                         [&](const Alloc& n) { return some({n.buffer}); },
                         [&](const Ring& n) { return some({n.slot, n.phase}); },
                         [&](const Atomic& n) { return some({n.old}); },
                         [&](const Bind& n) { return some({n.var}); },
                         [&](const Object& n) { return some({n.name}); },
                         [&](const Receive& n) { return some({n.var}); },
                         [&](const Vote& n) { return some({n.var}); },
                         [](const auto&) { return std::vector<Symbol>(); },
                     });
}

Stmt rewrite(ir::Context& context, Stmt root, const StmtRewrite& on_stmt,
             const ExprRewrite& on_expr) {
  Stmt out = map_parts(context, root, [&](std::string_view, auto part) {
    using T = decltype(part);
    if constexpr (std::is_same_v<T, Stmt>) {
      return rewrite(context, part, on_stmt, on_expr);
    } else if constexpr (std::is_same_v<T, Expr>) {
      const Expr replaced = on_expr ? on_expr(part) : part;
      return replaced ? replaced : part;
    } else {
      return part;
    }
  });
  if (on_stmt) {
    if (Stmt replaced = on_stmt(out)) return replaced;
  }
  return out;
}

void walk(Stmt root, const std::function<void(Stmt)>& f) {
  if (!root) return;
  f(root);
  for_each_part(root, [&](std::string_view, auto part) {
    if constexpr (std::is_same_v<decltype(part), Stmt>) walk(part, f);
  });
}

}  // namespace tilewright::program

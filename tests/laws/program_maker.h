// SPDX-License-Identifier: Apache-2.0
//
// Random programs of every kind of statement. They are well formed, not meaningful.
#pragma once

#include <string>
#include <vector>

#include "frontend/ir/text.h"
#include "lowering/program/program.h"

namespace tilewright {

class ProgramMaker {
 public:
  ProgramMaker(ir::Context& context, unsigned seed) : context_(context), state_(seed * 7919U + 1) {}

  program::Program make() {
    program::Program out;
    out.name = context_.symbol("made");
    out.algorithm = context_.symbol("generated");
    out.extents.push_back({context_.symbol("M"), 1, 64, 2, {}});
    const ir::Expr m = context_.extent(context_.symbol("M"));
    out.requirements.push_back(context_.le(context_.index(1), m));
    out.parameters = {{context_.symbol("a"), ir::ScalarType::F32, {m}, false},
                      {context_.symbol("c"), ir::ScalarType::F32, {m}, true}};
    if (below(2)) out.intrinsics.push_back(intrinsic());
    has_intrinsic_ = !out.intrinsics.empty();
    buffers_ = {context_.symbol("c")};
    out.body = block(4);
    if (below(4) == 0) plan(out);
    return out;
  }

 private:
  // Around everything else, filled first from a constant.
  void plan(program::Program& program) {
    program.parameters[0].is_const = true;
    const Symbol buffer = fresh("held");
    const Symbol var = fresh("p");
    const ir::Expr m = context_.extent(context_.symbol("M"));
    const ir::Expr at[] = {context_.var(var)};
    const program::Stmt copy = program::make_store(
        context_, buffer, at, context_.read(context_.symbol("a"), at, ir::ScalarType::F32),
        program::OriginRole::Copy, context_.symbol("a"), at);
    const program::Stmt both[] = {
        program::make_for(context_, program::LoopKind::Serial, var, context_.index(0), m, copy),
        program.body};
    const ir::Expr size[] = {m};
    program.body = program::make_alloc(context_, buffer, ir::ScalarType::F32, size,
                                       program::Space::Plan, program::make_block(context_, both));
  }

  struct Object {
    Symbol name;
    program::ObjectKind kind;
  };

  unsigned below(unsigned n) {
    state_ = state_ * 1664525U + 1013904223U;
    return (state_ >> 16) % n;
  }
  Symbol fresh(const char* stem) {
    return context_.symbol(stem + std::to_string(number_++) + (below(4) == 0 ? ".tail" : ""));
  }
  program::Intrinsic intrinsic() {
    const Source source("intrinsic", R"(algorithm twice(L) {
  input x : f32[L]
  input y : f32[L]
  output z[l < L] : f32 = x[l] + y[l]
})");
    return {*ir::parse_algorithm(context_, source), below(2) == 1};
  }
  ir::Expr index() {
    ir::Expr e = vars_.empty() ? context_.index(below(5)) : vars_[below(unsigned(vars_.size()))];
    if (below(2)) e = context_.add(e, context_.index(int(below(7)) - 3));
    if (below(3) == 0) e = context_.floor_mod(e, context_.index(1 + below(8)));
    return e;
  }
  ir::Expr value() {
    const ir::Expr at[] = {index()};
    ir::Expr x = context_.read(context_.symbol("a"), at, ir::ScalarType::F32);
    if (below(2)) x = context_.op(ir::OpCode::Fma, {x, context_.real(ir::ScalarType::F32, 0.1), x});
    if (!floats_.empty() && below(2)) x = context_.add(x, floats_[0]);
    return x;
  }
  ir::Expr condition() { return context_.lt(value(), context_.real(ir::ScalarType::F32, 1)); }
  Symbol any_buffer() { return buffers_[below(unsigned(buffers_.size()))]; }

  program::Stmt block(int depth) {
    std::vector<program::Stmt> body;
    for (unsigned i = below(4); i > 0; --i) body.push_back(statement(depth));
    return program::make_block(context_, body);
  }
  program::Stmt with_index(Symbol var, int depth) {
    vars_.push_back(context_.var(var));
    program::Stmt body = block(depth);
    vars_.pop_back();
    return body;
  }
  program::Stmt with_value(Symbol var, int depth) {
    floats_.insert(floats_.begin(), context_.var(var, ir::ScalarType::F32));
    program::Stmt body = block(depth);
    floats_.erase(floats_.begin());
    return body;
  }
  // A body of other agents, which see the output alone.
  template <class F>
  program::Stmt agents(program::Scope scope, F&& body) {
    auto buffers = std::move(buffers_);
    buffers_ = {context_.symbol("c")};
    scopes_.push_back(scope);
    program::Stmt out = body();
    scopes_.pop_back();
    buffers_ = std::move(buffers);
    return out;
  }
  program::Scope narrower() {
    return static_cast<program::Scope>(1 + below(static_cast<unsigned>(scopes_.back())));
  }
  bool inside(program::Scope scope) const {
    for (program::Scope s : scopes_)
      if (s == scope) return true;
    return false;
  }

  program::Stmt statement(int depth) {
    using namespace program;
    if (depth > 0 && !in_vector_ && !in_async_ && below(2) == 0) return concurrent(depth);
    if (!in_vector_ && below(3) == 0) return leaf();
    switch (depth == 0 ? 0 : below(6)) {
      case 1:
      case 2: {
        auto kind = static_cast<LoopKind>(below(4));
        if (in_vector_ && kind != LoopKind::Unrolled) kind = LoopKind::Serial;
        if (in_async_ && kind == LoopKind::Parallel) kind = LoopKind::Serial;
        const bool fixed = kind >= LoopKind::Vector;
        const Symbol var = fresh("p");
        const ir::Expr upper = fixed ? context_.index(8) : context_.extent(context_.symbol("M"));
        const bool outer = in_vector_;
        in_vector_ = in_vector_ || kind == LoopKind::Vector;
        Stmt body = with_index(var, depth - 1);
        in_vector_ = outer;
        return make_for(context_, kind, var, context_.index(below(2)), upper, body);
      }
      case 3: {
        Stmt other = below(2) ? block(depth - 1) : Stmt();
        return make_if(context_, condition(), block(depth - 1), other);
      }
      case 4: {
        const Symbol var = fresh("v");
        const ir::Expr bound = value();
        return make_let(context_, var, bound, with_value(var, depth - 1));
      }
      case 5: return in_async_ ? store() : alloc(depth);
      default: return store();
    }
  }

  program::Stmt store() {
    const ir::Expr at[] = {index()};
    const auto role = static_cast<program::OriginRole>(below(6));
    const bool named = below(3) != 0;
    return program::make_store(context_, any_buffer(), at, value(), role,
                               named ? context_.symbol("c") : Symbol(),
                               std::span<const ir::Expr>(at, named ? 1 : 0));
  }

  program::Stmt alloc(int depth) {
    using namespace program;
    const Symbol buffer = fresh("t");
    const ir::Expr extent[] = {context_.index(8)};
    auto space = static_cast<Space>(below(kNumSpaces - 1));  // all but Plan
    const bool core = inside(Scope::Core);
    const bool there =
        space <= Space::Register || (space == Space::Shared && (core || inside(Scope::Block))) ||
        (space == Space::Tensor && inside(Scope::Block)) || (space == Space::Scratchpad && core) ||
        (space == Space::Accumulator && core) ||
        (space == Space::Global && scopes_.back() >= Scope::Device);
    if (!there || in_vector_) space = Space::Stack;
    std::int64_t place = -1;
    if (space >= Space::Shared && space <= Space::Accumulator && below(2))
      place = 4096 * std::int64_t{number_};
    buffers_.push_back(buffer);
    Stmt body = block(depth - 1);
    buffers_.pop_back();
    return make_alloc(context_, buffer, ir::ScalarType::F32, extent, space, body, place);
  }

  // Statements that hold others.
  program::Stmt concurrent(int depth) {
    using namespace program;
    switch (below(9)) {
      case 0: {
        While node;
        node.condition = condition();
        node.body = block(depth - 1);
        return program::make(context_, node);
      }
      case 1: {
        Ring node;
        node.slot = fresh("s");
        node.phase = fresh("h");
        node.use = index();
        node.depth = 1 + below(4);
        vars_.push_back(context_.var(node.slot));
        node.body = with_index(node.phase, depth - 1);
        vars_.pop_back();
        return program::make(context_, node);
      }
      case 2: {
        if (scopes_.back() < Scope::Device || in_kernel_) return leaf();
        Kernel node;
        node.name = fresh("k");
        in_kernel_ = true;
        node.body = agents(Scope::Device, [&] { return block(depth - 1); });
        in_kernel_ = false;
        return program::make(context_, node);
      }
      case 3:
      case 4: {
        Bind node;
        node.var = fresh("b");
        node.lower = index();
        node.upper = index();
        node.scope = narrower();
        node.body = agents(node.scope, [&] { return with_index(node.var, depth - 1); });
        return program::make(context_, node);
      }
      case 5: return roles(depth);
      case 6: return start(depth);
      default: return object(depth);
    }
  }

  program::Stmt roles(int depth) {
    using namespace program;
    std::vector<Stmt> out;
    std::vector<Symbol> before;
    for (unsigned i = 0; i <= below(3); ++i) {
      Role role;
      role.name = fresh("r");
      role.scope = narrower();
      if (below(2)) role.lanes = 64;
      if (below(2)) role.registers = 200;
      std::vector<Symbol> after;
      for (Symbol other : before)
        if (below(2)) after.push_back(other);
      role.after = after;
      before.push_back(role.name);
      role.body = agents(role.scope, [&] { return block(depth - 1); });
      out.push_back(program::make(context_, role));
    }
    Concurrent node;
    node.roles = out;
    return program::make(context_, node);
  }

  program::Stmt start(int depth) {
    using namespace program;
    Async node;
    node.proxy = static_cast<Proxy>(below(3));
    node.completion = Completion::Group;
    const ir::Expr at[] = {index()};
    for (const Object& object : objects_) {
      if (object.kind == ObjectKind::Channel || below(2)) continue;
      node.object = object.name;
      node.completion =
          object.kind == ObjectKind::Barrier && below(2) ? Completion::Bytes : Completion::Arrive;
      node.indices = at;
      break;
    }
    in_async_ = true;
    node.body = block(depth - 1);
    in_async_ = false;
    return program::make(context_, node);
  }

  program::Stmt object(int depth) {
    using namespace program;
    program::Object node;
    node.object = static_cast<ObjectKind>(below(4));
    node.name = fresh("o");
    const ir::Expr extent[] = {context_.index(1 + below(3))};
    node.extents = extent;
    if (node.object != ObjectKind::Token) node.count = context_.index(1 + below(3));
    if (node.object == ObjectKind::Channel && below(2)) node.type = ir::ScalarType::I32;
    objects_.push_back({node.name, node.object});
    types_.push_back(node.type);
    node.body = block(depth - 1);
    objects_.pop_back();
    types_.pop_back();
    return program::make(context_, node);
  }

  program::Stmt collective() {
    using namespace program;
    std::vector<Scope> wider;
    for (Scope scope : scopes_)
      if (scope > scopes_.back()) wider.push_back(scope);
    if (wider.empty()) return fence();
    const Scope scope = wider[below(unsigned(wider.size()))];
    if (below(2)) {
      Sync node;
      node.scope = scope;
      return program::make(context_, node);
    }
    Vote node;
    node.var = fresh("q");
    node.vote = static_cast<VoteKind>(below(3));
    node.scope = scope;
    node.condition = condition();
    node.body = node.vote == VoteKind::Ballot ? with_index(node.var, 0) : block(0);
    return program::make(context_, node);
  }

  program::Stmt fence() {
    program::Fence node;
    node.proxy = below(2) ? program::Proxy::Async : program::Proxy::Tensor;
    return program::make(context_, node);
  }

  program::Stmt atomic() {
    program::Atomic node;
    const ir::Expr at[] = {index()};
    node.op = static_cast<ir::Monoid>(below(2));
    node.buffer = any_buffer();
    node.indices = at;
    node.value = value();
    node.scope = static_cast<program::Scope>(below(program::kNumScopes));
    node.role = program::OriginRole::Merge;
    if (below(2)) {
      node.origin = context_.symbol("c");
      node.point = at;
    }
    if (!in_async_ && below(2)) {
      node.old = fresh("old");
      node.body = with_value(node.old, 0);
    }
    return program::make(context_, node);
  }

  program::Stmt call() {
    using namespace program;
    const std::int64_t sliced[] = {0};
    const ir::Expr length[] = {context_.index(4)};
    std::vector<Tile> tiles;
    for (const char* operand : {"x", "y", "z"}) {
      const ir::Expr at[] = {index()};
      const Symbol buffer = operand[0] == 'x' ? context_.symbol("a") : any_buffer();
      tiles.push_back(make_tile(context_, context_.symbol(operand), buffer, at, sliced, length));
    }
    Call node;
    node.callee = context_.symbol("twice");
    node.operands = tiles;
    node.role = OriginRole::Fold;
    return program::make(context_, node);
  }

  program::Stmt prefetch() {
    program::Prefetch node;
    const ir::Expr at[] = {index()};
    node.buffer = any_buffer();
    node.indices = at;
    return program::make(context_, node);
  }

  // Statements that hold no others, or only what they bind.
  program::Stmt leaf() {
    using namespace program;
    if (!in_async_ && below(5) == 0) return prefetch();
    if (below(3) == 0) return atomic();
    if (has_intrinsic_ && below(3) == 0) return call();
    if (in_async_) return store();
    if (objects_.empty() || below(3) == 0) {
      if (below(3) == 0) return collective();
      if (below(2)) return fence();
      if (below(2)) {
        Signal node;
        node.signal = SignalKind::Commit;
        return program::make(context_, node);
      }
      Wait node;
      node.value = context_.index(below(3));
      return program::make(context_, node);
    }
    const unsigned which = below(unsigned(objects_.size()));
    return use(objects_[which], types_[which]);
  }

  program::Stmt use(const Object& object, ir::ScalarType type) {
    using namespace program;
    const ir::Expr at[] = {index()};
    const auto scope = static_cast<Scope>(below(kNumScopes));
    if (object.kind == ObjectKind::Channel && below(2)) {
      Receive node;
      node.var = fresh("m");
      node.type = type;
      node.object = object.name;
      node.indices = at;
      node.scope = scope;
      node.body = type == ir::ScalarType::F32 ? with_value(node.var, 0) : block(0);
      return program::make(context_, node);
    }
    if (object.kind == ObjectKind::Token || (object.kind != ObjectKind::Channel && below(2))) {
      Wait node;
      node.object = object.name;
      node.indices = at;
      node.scope = scope;
      if (object.kind != ObjectKind::Token) node.value = index();
      return program::make(context_, node);
    }
    Signal node;
    node.object = object.name;
    node.indices = at;
    node.scope = scope;
    node.signal = object.kind == ObjectKind::Channel               ? SignalKind::Send
                  : object.kind == ObjectKind::Barrier && below(2) ? SignalKind::Expect
                                                                   : SignalKind::Arrive;
    node.amount = node.signal != SignalKind::Send ? index()
                  : type == ir::ScalarType::F32   ? value()
                                                  : context_.integer(type, below(9));
    return program::make(context_, node);
  }

  ir::Context& context_;
  unsigned state_;
  int number_ = 0;
  bool has_intrinsic_ = false;
  bool in_vector_ = false;
  bool in_async_ = false;
  bool in_kernel_ = false;
  std::vector<ir::Expr> vars_;
  std::vector<ir::Expr> floats_;
  std::vector<Symbol> buffers_;
  std::vector<Object> objects_;
  std::vector<ir::ScalarType> types_;
  std::vector<program::Scope> scopes_{program::Scope::System};
};

}  // namespace tilewright

// SPDX-License-Identifier: Apache-2.0
//
// Program to nodes. Every statement's expressions are one flat block of the tape. Decisions are
// numbered here, in pre-order.
#include "frontend/ir/text.h"
#include "lowering/program/execute.h"

namespace tilewright::program {

using ir::OpCode;

class Compiled::Scope final : public ir::TapeScope {
 public:
  explicit Scope(const ir::Bindings& bindings) : bindings_(bindings) {}
  std::optional<std::uint32_t> tensor(Symbol name) const override {
    auto it = names.find(name);
    return it == names.end() ? std::nullopt : std::optional(it->second);
  }
  bool certain(std::uint32_t) const override { return true; }
  std::optional<std::int64_t> extent(Symbol name) const override {
    auto it = bindings_.find(name);
    return it == bindings_.end() ? std::nullopt : std::optional(it->second);
  }
  std::unordered_map<Symbol, std::uint32_t> names;

 private:
  ir::Bindings bindings_;
};

Compiled::Compiled() = default;
Compiled::~Compiled() = default;

class Compiler {
 public:
  Compiler(ir::Context& context, const Program& program, Compiled& out)
      : context_(context), program_(program), out_(out) {}

  Result<Ok> compile() {
    for (const Parameter& parameter : program_.parameters) {
      Buffer buffer;
      buffer.name = parameter.name;
      buffer.type = parameter.type;
      buffer.writable = parameter.is_output;
      add_buffer(std::move(buffer));
    }
    if (!program_.body) return malformed("a program without a body");
    TILEWRIGHT_TRY(root, compile(program_.body));
    out_.root_ = root;
    out_.has_agents_ = beyond_;
    return Ok{};
  }

 private:
  static Failure malformed(std::string message) {
    return fail(Code::Malformed, {}, std::move(message), "run the verifier of programs");
  }

  std::uint32_t add_buffer(Buffer buffer) {
    const auto id = static_cast<std::uint32_t>(out_.buffers_.size());
    out_.scope_->names[buffer.name] = id;
    out_.buffers_.push_back(std::move(buffer));
    return id;
  }

  int decide(DecisionKind kind, std::string text) {
    out_.coverage_.decisions.push_back({kind, std::move(text), false, false});
    return static_cast<int>(out_.coverage_.decisions.size()) - 1;
  }

  // Compiles the expressions into one block; `columns` asks for one value per lane of each.
  Result<Ok> compile_exprs(Node& node, std::span<const Expr> exprs, bool columns) {
    ir::TapeBuilder& builder = *out_.builder_;
    node.block = builder.begin_flat();
    for (Expr expr : exprs) {
      TILEWRIGHT_TRY(slot, builder.compile(expr));
      node.slots.push_back(slot);
    }
    for (ir::Slot slot : node.slots) node.column |= builder.info(slot).column;
    for (ir::Slot& slot : node.slots)
      if (columns || node.column) slot = builder.as_column(slot);
    return Ok{};
  }

  Result<Ok> add_min_bound(Node& node, Expr bound) {
    const auto* op = bound.as<ir::Op>();
    if (!op || op->op != OpCode::Min) return Ok{};
    TILEWRIGHT_TRY(a, out_.builder_->compile(op->args[0]));
    TILEWRIGHT_TRY(b, out_.builder_->compile(op->args[1]));
    node.min_bounds.push_back({a, b, decide(DecisionKind::Minimum, ir::print(bound))});
    return Ok{};
  }

  Result<std::uint32_t> compile(Stmt stmt) {
    const auto id = static_cast<std::uint32_t>(out_.nodes_.size());
    out_.nodes_.emplace_back();
    Node node;
    node.stmt = stmt;
    node.in_vector = in_vector_;
    TILEWRIGHT_CHECK_OK(visit(stmt, [&](const auto& s) { return compile_into(node, s); }));
    // A parallel loop is run by agents where there are any.
    const auto* loop = stmt.as<For>();
    const bool own = is_sequential(stmt.kind()) && !stmt.as<Atomic>();
    beyond_ |= !own;
    node.sequential = (own || in_operation_) && !(loop && loop->loop == LoopKind::Parallel);
    for (std::uint32_t child : node.body)
      node.sequential = node.sequential && out_.nodes_[child].sequential;
    out_.nodes_[id] = std::move(node);
    return id;
  }

  Result<Ok> add_child(Node& node, Stmt child) {
    TILEWRIGHT_TRY(id, compile(child));
    node.body.push_back(id);
    return Ok{};
  }

  Result<Ok> compile_into(Node& node, const Block& block) {
    for (Stmt child : block.body) TILEWRIGHT_CHECK_OK(add_child(node, child));
    return Ok{};
  }

  Result<Ok> compile_into(Node& node, const For& loop) {
    const bool constant = loop.lower.as<ir::IntConst>() && loop.upper.as<ir::IntConst>();
    const bool vector = loop.loop == LoopKind::Vector;
    if (vector && (in_vector_ || !constant))
      return malformed("the vector loop `" + std::string(loop.var.text()) +
                       "` is nested in another or has bounds that are not constant");
    if (loop.loop == LoopKind::Parallel && in_vector_)
      return malformed("the parallel loop `" + std::string(loop.var.text()) +
                       "` stands inside a vector loop");
    const Expr bounds[] = {loop.lower, loop.upper};
    TILEWRIGHT_CHECK_OK(compile_exprs(node, bounds, false));
    if (!constant)
      node.decision =
          decide(DecisionKind::Loop, std::string(loop.var.text()) + " in " + ir::print(loop.lower) +
                                         " .. " + ir::print(loop.upper));
    TILEWRIGHT_CHECK_OK(add_min_bound(node, loop.lower));
    TILEWRIGHT_CHECK_OK(add_min_bound(node, loop.upper));
    out_.builder_->end_flat();
    if (vector) {
      const std::int64_t lanes =
          loop.upper.as<ir::IntConst>()->value - loop.lower.as<ir::IntConst>()->value;
      if (lanes > 4096)
        return malformed("the vector loop `" + std::string(loop.var.text()) +
                         "` has more than 4096 lanes");
      out_.width_ = std::max(out_.width_, static_cast<int>(lanes));
      const auto slots = out_.builder_->add_lane_var(loop.var, 0);
      node.var = slots.first;
      node.var_column = slots.all;
    } else {
      node.var = out_.builder_->add_var(loop.var, 0);
    }
    in_vector_ |= vector;
    TILEWRIGHT_CHECK_OK(add_child(node, loop.body));
    in_vector_ &= !vector;
    return Ok{};
  }

  Result<Ok> compile_into(Node& node, const If& branch) {
    TILEWRIGHT_CHECK_OK(compile_exprs(node, {&branch.condition, 1}, false));
    out_.builder_->end_flat();
    node.decision = decide(DecisionKind::Branch, ir::print(branch.condition));
    TILEWRIGHT_CHECK_OK(add_child(node, branch.then_body));
    if (branch.else_body) TILEWRIGHT_CHECK_OK(add_child(node, branch.else_body));
    return Ok{};
  }

  Result<Ok> compile_into(Node& node, const Let& let) {
    TILEWRIGHT_CHECK_OK(compile_exprs(node, {&let.value, 1}, false));
    out_.builder_->end_flat();
    const bool floating = ir::is_float(let.value.type());
    node.var = node.column ? out_.builder_->add_column_var(let.var, 0, floating)
                           : out_.builder_->add_var(let.var, 0, floating);
    return add_child(node, let.body);
  }

  Result<Ok> compile_into(Node& node, const Alloc& alloc) {
    TILEWRIGHT_CHECK_OK(compile_exprs(node, alloc.extents, false));
    if (node.column)
      return malformed("the extents of `" + std::string(alloc.buffer.text()) +
                       "` differ between lanes");
    for (Expr extent : alloc.extents) TILEWRIGHT_CHECK_OK(add_min_bound(node, extent));
    out_.builder_->end_flat();
    Buffer buffer;
    buffer.name = alloc.buffer;
    buffer.type = alloc.type;
    buffer.space = alloc.space;
    node.buffer = add_buffer(std::move(buffer));
    return add_child(node, alloc.body);
  }

  Result<Ok> compile_into(Node& node, const Store& store) {
    auto buffer = out_.scope_->tensor(store.buffer);
    if (!buffer || !out_.buffers_[*buffer].writable)
      return malformed("a store to `" + std::string(store.buffer.text()) +
                       "`, which is no output and no buffer in scope");
    node.buffer = *buffer;
    std::vector<Expr> exprs{store.value};
    exprs.insert(exprs.end(), store.indices.begin(), store.indices.end());
    TILEWRIGHT_CHECK_OK(compile_exprs(node, exprs, in_vector_));
    out_.builder_->end_flat();
    return Ok{};
  }

  Result<Ok> compile_into(Node& node, const While& loop) {
    TILEWRIGHT_CHECK_OK(compile_exprs(node, {&loop.condition, 1}, false));
    out_.builder_->end_flat();
    node.decision = decide(DecisionKind::Branch, ir::print(loop.condition));
    return add_child(node, loop.body);
  }

  Result<Ok> compile_into(Node& node, const Ring& ring) {
    TILEWRIGHT_CHECK_OK(compile_exprs(node, {&ring.use, 1}, false));
    out_.builder_->end_flat();
    node.var = out_.builder_->add_var(ring.slot, 0);
    node.second = out_.builder_->add_var(ring.phase, 0);
    return add_child(node, ring.body);
  }

  Result<Ok> compile_into(Node& node, const Call& call) {
    std::vector<Expr> exprs;
    for (Tile tile : call.operands) {
      auto buffer = out_.scope_->tensor(tile->buffer);
      if (!buffer) return malformed("a tile of `" + std::string(tile->buffer.text()) + "`");
      node.tiles.push_back(*buffer);
      exprs.insert(exprs.end(), tile->indices.begin(), tile->indices.end());
      exprs.insert(exprs.end(), tile->lengths.begin(), tile->lengths.end());
    }
    TILEWRIGHT_CHECK_OK(compile_exprs(node, exprs, false));
    out_.builder_->end_flat();
    return Ok{};
  }

  Result<Ok> compile_into(Node& node, const Atomic& atomic) {
    auto buffer = out_.scope_->tensor(atomic.buffer);
    if (!buffer || !out_.buffers_[*buffer].writable)
      return malformed("an atomic on `" + std::string(atomic.buffer.text()) +
                       "`, which is no output and no buffer in scope");
    node.buffer = *buffer;
    const Expr old = context_.read(atomic.buffer, atomic.indices, atomic.value.type());
    std::vector<Expr> exprs{context_.op(ir::monoid_op(atomic.op), {old, atomic.value}), old};
    exprs.insert(exprs.end(), atomic.indices.begin(), atomic.indices.end());
    TILEWRIGHT_CHECK_OK(compile_exprs(node, exprs, false));
    out_.builder_->end_flat();
    if (!atomic.old.valid()) return Ok{};
    node.var = out_.builder_->add_var(atomic.old, 0, ir::is_float(atomic.value.type()));
    return add_child(node, atomic.body);
  }

  Result<Ok> compile_into(Node& node, const Prefetch& prefetch) {
    auto buffer = out_.scope_->tensor(prefetch.buffer);
    if (!buffer) return malformed("a prefetch of `" + std::string(prefetch.buffer.text()) + "`");
    node.buffer = *buffer;
    TILEWRIGHT_CHECK_OK(compile_exprs(node, prefetch.indices, false));
    out_.builder_->end_flat();
    return Ok{};
  }

  Result<Ok> compile_into(Node& node, const Kernel& kernel) { return add_child(node, kernel.body); }

  Result<Ok> compile_into(Node& node, const Bind& loop) {
    const Expr bounds[] = {loop.lower, loop.upper};
    TILEWRIGHT_CHECK_OK(compile_exprs(node, bounds, false));
    if (!loop.lower.as<ir::IntConst>() || !loop.upper.as<ir::IntConst>())
      node.decision =
          decide(DecisionKind::Loop, std::string(loop.var.text()) + " in " + ir::print(loop.lower) +
                                         " .. " + ir::print(loop.upper));
    out_.builder_->end_flat();
    node.var = out_.builder_->add_var(loop.var, 0);
    return add_child(node, loop.body);
  }

  Result<Ok> compile_into(Node& node, const Concurrent& set) {
    for (Stmt role : set.roles) TILEWRIGHT_CHECK_OK(add_child(node, role));
    return Ok{};
  }

  Result<Ok> compile_into(Node& node, const Role& role) { return add_child(node, role.body); }

  // Expressions, those that are there.
  Result<Ok> compile_some(Node& node, NodeList<Expr> indices, Expr last) {
    std::vector<Expr> exprs(indices.begin(), indices.end());
    if (last) exprs.push_back(last);
    TILEWRIGHT_CHECK_OK(compile_exprs(node, exprs, false));
    out_.builder_->end_flat();
    return Ok{};
  }

  Result<Ok> find_object(Node& node, Symbol name) {
    const auto it = objects_.find(name);
    if (it == objects_.end())
      return malformed("`" + std::string(name.text()) + "` is no object in scope");
    node.object = it->second;
    return Ok{};
  }

  Result<Ok> compile_into(Node& node, const Object& object) {
    TILEWRIGHT_CHECK_OK(compile_some(node, object.extents, object.count));
    node.object = static_cast<std::uint32_t>(out_.objects_.size());
    out_.objects_.push_back(object.name);
    objects_[object.name] = node.object;
    return add_child(node, object.body);
  }

  Result<Ok> compile_into(Node& node, const Async& start) {
    TILEWRIGHT_CHECK_OK(compile_some(node, start.indices, {}));
    if (start.object.valid()) TILEWRIGHT_CHECK_OK(find_object(node, start.object));
    in_operation_ = true;
    TILEWRIGHT_CHECK_OK(add_child(node, start.body));
    in_operation_ = false;
    return Ok{};
  }

  Result<Ok> compile_into(Node& node, const Signal& signal) {
    if (signal.object.valid()) TILEWRIGHT_CHECK_OK(find_object(node, signal.object));
    return compile_some(node, signal.indices, signal.amount);
  }

  Result<Ok> compile_into(Node& node, const Wait& wait) {
    if (wait.object.valid()) TILEWRIGHT_CHECK_OK(find_object(node, wait.object));
    return compile_some(node, wait.indices, wait.value);
  }

  Result<Ok> compile_into(Node& node, const Receive& receive) {
    TILEWRIGHT_CHECK_OK(find_object(node, receive.object));
    TILEWRIGHT_CHECK_OK(compile_some(node, receive.indices, {}));
    node.var = out_.builder_->add_var(receive.var, 0, ir::is_float(receive.type));
    return add_child(node, receive.body);
  }

  Result<Ok> compile_into(Node&, const Fence&) { return Ok{}; }
  Result<Ok> compile_into(Node&, const Sync&) { return Ok{}; }

  Result<Ok> compile_into(Node& node, const Vote& vote) {
    TILEWRIGHT_CHECK_OK(compile_some(node, {}, vote.condition));
    node.var = out_.builder_->add_var(vote.var, 0);
    return add_child(node, vote.body);
  }

  ir::Context& context_;
  const Program& program_;
  Compiled& out_;
  bool in_vector_ = false;
  bool in_operation_ = false;
  bool beyond_ = false;  // something that needs agents was seen
  std::unordered_map<Symbol, std::uint32_t> objects_;
};

Result<std::unique_ptr<Compiled>> Compiled::compile(ir::Context& context, const Program& program,
                                                    const ir::Bindings& bindings) {
  std::unique_ptr<Compiled> out(new Compiled());
  out->scope_ = std::make_unique<Scope>(bindings);
  out->builder_ = std::make_unique<ir::TapeBuilder>(*out->scope_, 1, false, false);
  for (const Intrinsic& intrinsic : program.intrinsics)
    if (auto meaning = description_of(context, intrinsic))
      out->described_.emplace(intrinsic.name(), *std::move(meaning));
  TILEWRIGHT_CHECK_OK(Compiler(context, program, *out).compile());
  return out;
}

}  // namespace tilewright::program

// SPDX-License-Identifier: Apache-2.0
//
// The reader of programs: agents, asynchronous operations, synchronisation, intrinsics.
#include "frontend/base/format.h"
#include "frontend/ir/text.h"
#include "lowering/program/program_reader.h"

namespace tilewright::program {

using ir::Meaning;
using ir::SyntaxPtr;

// The text of the algorithm is read by its own reader; what that reports is moved to its place here.
bool ProgramReader::intrinsic(bool is_library) {
  cursor_.next();
  const std::uint32_t begin = cursor_.peek().span.begin;
  int depth = 0;
  while (!cursor_.at_end()) {
    const Token token = cursor_.next();
    if (token.text == "{") ++depth;
    if (token.text == "}" && --depth <= 0) break;
  }
  const Span span = cursor_.span_from(begin);
  const Source part(std::string(source_.name()),
                    std::string(source_.text().substr(span.begin, span.end - span.begin)));
  auto meaning = ir::parse_algorithm(context_, part);
  if (!meaning.ok()) {
    auto move = [&](Span& place) {
      if (place.none()) return;
      place.begin += begin;
      place.end += begin;
    };
    for (Diagnostic diagnostic : meaning.diagnostics()) {
      move(diagnostic.span);
      for (auto& label : diagnostic.labels) move(label.span);
      cursor_.report(std::move(diagnostic));
    }
    return true;
  }
  program_.intrinsics.push_back({std::move(*meaning), is_library});
  return true;
}

std::optional<Scope> ProgramReader::scope_word() {
  return word(scope_text, 1, kNumScopes, "a scope");
}

std::optional<Scope> ProgramReader::at_scope() {
  if (!cursor_.accept("at")) return Scope::None;
  return scope_word();
}

std::optional<std::vector<Expr>> ProgramReader::index_list() {
  if (!cursor_.expect("[", "before the indices", "write the indices, as in `[slot]`"))
    return std::nullopt;
  const auto syntax = ir::parse_index_list(cursor_);
  if (!syntax) return std::nullopt;
  return elaborate(*syntax, "the index");
}

std::optional<ProgramReader::Place> ProgramReader::place(std::string_view what) {
  const auto name = cursor_.expect_name(what, "name it, as in `full[slot]`");
  if (!name) return std::nullopt;
  auto indices = index_list();
  if (!indices) return std::nullopt;
  return Place{*name, std::move(*indices)};
}

Stmt ProgramReader::body_with_value(const Token& name, ScalarType type, std::string_view after) {
  return body_with(name, {Meaning::Kind::Variable, type, 0, name.span}, after);
}

Stmt ProgramReader::concurrent_statement(bool* found) {
  const std::string_view first = cursor_.peek().text;
  *found = true;
  if (first == "while") return while_loop();
  if (first == "ring") return ring();
  if (first == "call") return call();
  if (first == "atomic") return atomic();
  if (first == "prefetch") return prefetch();
  if (first == "kernel") return kernel();
  if (first == "concurrent") return concurrent();
  if (first == "start") return start();
  if (first == "wait") return wait();
  if (first == "receive") return receive();
  if (first == "fence") return fence();
  if (first == "sync") return sync();
  if (first == "vote") return vote();
  if (const auto kind = named(first, object_kind_text, kNumObjectKinds)) return object(*kind);
  if (const auto kind = named(first, signal_kind_text, kNumSignalKinds)) return signal(*kind);
  *found = false;
  return {};
}

Stmt ProgramReader::while_loop() {
  cursor_.next();
  While node;
  node.condition = expression(ScalarType::Bool, "the condition");
  if (!node.condition && !cursor_.at("{")) return {};
  node.body = braces("after the condition");
  return node.condition && node.body ? make(context_, node) : Stmt();
}

Stmt ProgramReader::ring() {
  cursor_.next();
  const auto slot = cursor_.expect_name("the slot", "write `ring slot, phase = k of 3 {`");
  if (!slot || !cursor_.expect(",", "after the slot")) return {};
  const auto phase = cursor_.expect_name("the phase", "write `ring slot, phase = k of 3 {`");
  if (!phase || !cursor_.expect("=", "after the phase")) return {};
  Ring node;
  node.use = expression(ScalarType::Index, "the number of the use");
  if (!cursor_.expect("of", "after the number of the use")) return {};
  const auto depth = cursor_.expect_integer("the number of slots");
  if (!depth) return {};
  node.depth = *depth;
  node.slot = context_.symbol(slot->text);
  node.phase = context_.symbol(phase->text);
  const Meaning index{Meaning::Kind::Variable, ScalarType::Index, 0, slot->span};
  const bool fresh = names_.declare(*slot, index);
  node.body = body_with(*phase, index, "after the number of slots");
  if (fresh) scope_.forget(node.slot);
  return fresh && node.use && node.body ? make(context_, node) : Stmt();
}

Stmt ProgramReader::prefetch() {
  cursor_.next();
  const auto at = place("the buffer");
  if (!at) return {};
  Prefetch node;
  node.buffer = context_.symbol(at->name.text);
  node.indices = at->indices;
  return make(context_, node);
}

// `a = s[slot, i : 8, 0 : 4]`
std::optional<Tile> ProgramReader::tile() {
  const auto operand = cursor_.expect_name("the operand", "write it as in `a = x[i : 8]`");
  if (!operand || !cursor_.expect("=", "after the operand")) return std::nullopt;
  const auto buffer = cursor_.expect_name("the buffer", "write it as in `a = x[i : 8]`");
  if (!buffer || !cursor_.expect("[", "after the buffer")) return std::nullopt;
  std::vector<Expr> indices;
  std::vector<std::int64_t> sliced;
  std::vector<Expr> lengths;
  bool good = true;
  while (!cursor_.accept("]")) {
    indices.push_back(expression(ScalarType::Index, "the index"));
    good = good && indices.back();
    if (cursor_.accept(":")) {
      sliced.push_back(static_cast<std::int64_t>(indices.size()) - 1);
      lengths.push_back(expression(ScalarType::Index, "the length"));
      good = good && lengths.back();
    }
    if (!good) return std::nullopt;
    if (!cursor_.at("]") && !cursor_.expect(",", "between the indices")) return std::nullopt;
  }
  if (const Meaning* meaning = scope_.find(context_.symbol(buffer->text));
      !meaning || meaning->kind != Meaning::Kind::Tensor) {
    target(*buffer, indices.size());
    return std::nullopt;
  }
  return make_tile(context_, context_.symbol(operand->text), context_.symbol(buffer->text), indices,
                   sliced, lengths);
}

Stmt ProgramReader::call() {
  cursor_.next();
  const auto callee = cursor_.expect_name("the intrinsic", "name it, as in `call mma(...)`");
  if (!callee || !cursor_.expect("(", "after the intrinsic")) return {};
  std::vector<Tile> operands;
  while (!cursor_.accept(")")) {
    const auto operand = tile();
    if (!operand) return {};
    operands.push_back(*operand);
    if (!cursor_.at(")") && !cursor_.expect(",", "between the operands")) return {};
  }
  const auto from = origin();
  if (!from) return {};
  Call node;
  node.callee = context_.symbol(callee->text);
  node.operands = operands;
  node.role = from->role;
  node.origin = from->name;
  node.point = from->point;
  return make(context_, node);
}

Stmt ProgramReader::atomic() {
  cursor_.next();
  Atomic node;
  std::optional<Token> old;
  if (cursor_.peek(1).text == "=") {
    old = cursor_.expect_name("the old value", "name it, as in `ticket`");
    if (!old) return {};
    cursor_.next();
  }
  const auto op = ir::monoid_named(cursor_.peek().text);
  if (!op) {
    cursor_.unexpected("how to combine", "write a reduction, as in `atomic sum c[i] by v`");
    return {};
  }
  cursor_.next();
  const auto at = place("the buffer");
  if (!at || !cursor_.expect("by", "after the cell")) return {};
  const Meaning* meaning = target(at->name, at->indices.size());
  const SyntaxPtr syntax = ir::parse_expr_syntax(cursor_);
  if (!syntax) return {};
  Expr value;
  if (meaning) value = names_.expression_of(*syntax, meaning->type, "the value");
  const auto scope = at_scope();
  if (!scope) return {};
  const auto from = origin();
  if (!from) return {};
  if (old) {
    node.body = body_with_value(*old, value ? value.type() : ScalarType::Index, "after the atomic");
    if (!node.body) return {};
    node.old = context_.symbol(old->text);
  }
  if (!value) return {};
  node.op = *op;
  node.buffer = context_.symbol(at->name.text);
  node.indices = at->indices;
  node.value = value;
  node.scope = *scope;
  node.role = from->role;
  node.origin = from->name;
  node.point = from->point;
  return make(context_, node);
}

Stmt ProgramReader::kernel() {
  cursor_.next();
  const auto name = cursor_.expect_name("the kernel", "name it, as in `kernel main {`");
  if (!name) return {};
  Kernel node;
  node.name = context_.symbol(name->text);
  node.body = braces("after the name");
  return node.body ? make(context_, node) : Stmt();
}

Stmt ProgramReader::concurrent() {
  cursor_.next();
  if (!cursor_.expect("{", "after `concurrent`")) return {};
  std::vector<Stmt> roles;
  bool good = true;
  while (!cursor_.at_end() && !cursor_.accept("}")) {
    const std::size_t begin = cursor_.position();
    const std::uint32_t place = cursor_.peek().span.begin;
    Stmt one = cursor_.at("role") ? role() : Stmt();
    if (one) {
      spans_.stmts.emplace(one, cursor_.span_from(place));
      roles.push_back(one);
      continue;
    }
    if (!cursor_.failed()) cursor_.unexpected("a role", "write `role name : warp {`");
    good = false;
    cursor_.skip_statement(begin);
  }
  Concurrent node;
  node.roles = roles;
  return good ? make(context_, node) : Stmt();
}

Stmt ProgramReader::role() {
  TextCursor::Nest nest(cursor_);
  if (!nest.ok()) return {};
  cursor_.next();
  const auto name = cursor_.expect_name("the role", "name it, as in `role load : warp {`");
  if (!name || !cursor_.expect(":", "after the role", "write its scope, as in `: warp`")) return {};
  const auto scope = scope_word();
  if (!scope) return {};
  Role node;
  node.name = context_.symbol(name->text);
  node.scope = *scope;
  for (const auto& [text, member] :
       {std::pair("lanes", &Role::lanes), {"registers", &Role::registers}})
    if (cursor_.accept(text)) {
      const auto number = cursor_.expect_integer("the number of " + std::string(text));
      if (!number) return {};
      node.*member = *number;
    }
  std::vector<Symbol> after;
  if (cursor_.accept("after")) do {
      const auto other = cursor_.expect_name("a role", "name a role that stands before");
      if (!other) return {};
      after.push_back(context_.symbol(other->text));
    } while (cursor_.accept(","));
  node.after = after;
  node.body = braces("after the head of the role");
  return node.body ? make(context_, node) : Stmt();
}

Stmt ProgramReader::object(ObjectKind kind) {
  cursor_.next();
  const auto at = place("the object");
  if (!at) return {};
  Object node;
  node.object = kind;
  node.name = context_.symbol(at->name.text);
  node.extents = at->indices;
  if (kind == ObjectKind::Channel) {
    if (!cursor_.expect(":", "after the channel", "write the type of its messages, as in `: f32`"))
      return {};
    const auto type = ir::parse_scalar_type(cursor_);
    if (!type) return {};
    node.type = *type;
  }
  if (kind != ObjectKind::Token) {
    const std::string_view counts = kind == ObjectKind::Barrier     ? "arrivals"
                                    : kind == ObjectKind::Semaphore ? "starts"
                                                                    : "holds";
    if (!cursor_.expect(counts, "after the object")) return {};
    node.count = expression(ScalarType::Index, "the count");
    if (!node.count) return {};
  }
  name_spans_.emplace(node.name, at->name.span);
  // Known to statements on it only; what shadows is found by the verifier.
  const bool fresh = kind == ObjectKind::Channel && channels_.emplace(node.name, node.type).second;
  node.body = braces("after the object");
  if (fresh) channels_.erase(node.name);
  return node.body ? make(context_, node) : Stmt();
}

Stmt ProgramReader::start() {
  cursor_.next();
  Async node;
  const auto proxy = word(proxy_text, 0, kNumProxies, "a proxy");
  if (!proxy) return {};
  const auto completion = word(completion_text, 0, kNumCompletions, "a completion");
  if (!completion) return {};
  node.proxy = *proxy;
  node.completion = *completion;
  std::optional<Place> at;
  if (*completion != Completion::Group) {
    at = place("the object that is told");
    if (!at) return {};
    node.object = context_.symbol(at->name.text);
    node.indices = at->indices;
  }
  node.body = braces("after the completion");
  return node.body ? make(context_, node) : Stmt();
}

Stmt ProgramReader::signal(SignalKind kind) {
  cursor_.next();
  Signal node;
  node.signal = kind;
  if (kind == SignalKind::Commit) return make(context_, node);
  const auto at = place(kind == SignalKind::Send ? "the channel" : "the object");
  if (!at || !cursor_.expect("by", "after the object", "write how much, as in `by 1`")) return {};
  node.object = context_.symbol(at->name.text);
  node.indices = at->indices;
  ScalarType type = ScalarType::Index;
  if (const auto channel = channels_.find(node.object);
      kind == SignalKind::Send && channel != channels_.end())
    type = channel->second;
  node.amount = expression(type, kind == SignalKind::Send ? "the message" : "the amount");
  const auto scope = at_scope();
  if (!node.amount || !scope) return {};
  node.scope = *scope;
  return make(context_, node);
}

Stmt ProgramReader::wait() {
  cursor_.next();
  Wait node;
  std::optional<Place> at;
  if (cursor_.at("group") && cursor_.peek(1).text == "until") {
    cursor_.next();
  } else {
    at = place("the object");
    if (!at) return {};
    node.object = context_.symbol(at->name.text);
    node.indices = at->indices;
  }
  if (cursor_.accept("until")) {
    node.value = expression(ScalarType::Index, "what is waited for");
    if (!node.value) return {};
  }
  const auto scope = at_scope();
  if (!scope) return {};
  node.scope = *scope;
  return make(context_, node);
}

Stmt ProgramReader::receive() {
  cursor_.next();
  const auto name = cursor_.expect_name("the message", "name it, as in `receive x = link[i] {`");
  if (!name || !cursor_.expect("=", "after the name")) return {};
  const auto at = place("the channel");
  if (!at) return {};
  const auto scope = at_scope();
  if (!scope) return {};
  Receive node;
  node.var = context_.symbol(name->text);
  node.object = context_.symbol(at->name.text);
  node.indices = at->indices;
  node.scope = *scope;
  if (const auto channel = channels_.find(node.object); channel != channels_.end())
    node.type = channel->second;
  node.body = body_with_value(*name, node.type, "after the channel");
  return node.body ? make(context_, node) : Stmt();
}

Stmt ProgramReader::fence() {
  cursor_.next();
  Fence node;
  const auto proxy = word(proxy_text, 0, kNumProxies, "a proxy");
  if (!proxy) return {};
  node.proxy = *proxy;
  return make(context_, node);
}

Stmt ProgramReader::sync() {
  cursor_.next();
  Sync node;
  const auto scope = scope_word();
  if (!scope) return {};
  node.scope = *scope;
  return make(context_, node);
}

Stmt ProgramReader::vote() {
  cursor_.next();
  const auto name = cursor_.expect_name("the outcome", "name it, as in `vote go = any block x {`");
  if (!name || !cursor_.expect("=", "after the name")) return {};
  const auto kind = word(vote_kind_text, 0, kNumVoteKinds, "how to count");
  if (!kind) return {};
  const auto scope = scope_word();
  if (!scope) return {};
  Vote node;
  node.var = context_.symbol(name->text);
  node.vote = *kind;
  node.scope = *scope;
  node.condition = expression(ScalarType::Bool, "the condition");
  if (!node.condition && !cursor_.at("{")) return {};
  node.body =
      body_with_value(*name, *kind == VoteKind::Ballot ? ScalarType::Index : ScalarType::Bool,
                      "after the condition");
  return node.condition && node.body ? make(context_, node) : Stmt();
}

}  // namespace tilewright::program

// SPDX-License-Identifier: Apache-2.0
//
// Programs: calls, agents, asynchronous operations, synchronisation.
#include "apps/check/reader.h"

namespace tilewright::checker {

// `call f(a = x[i : 8, k], b = y[0 : 8]) @ fold c(i)`
void Reader::call(Stmt& out) {
  out.name = name();
  expect("(");
  if (!accept(")")) {
    do {
      Tile tile;
      const std::uint32_t at = peek().at;
      tile.operand = name();
      expect("=");
      tile.buffer = name();
      expect("[");
      if (!accept("]")) {
        do {
          tile.indices.push_back(expr_of(kIndex));
          tile.lengths.push_back(accept(":") ? expr_of(kIndex) : nullptr);
        } while (accept(","));
        expect("]");
      }
      tensor(tile.buffer, tile.indices.size(), at);
      out.tiles.push_back(std::move(tile));
    } while (accept(","));
    expect(")");
  }
  origin(out);
}

// `atomic sum t[i] by e at device @ merge c(i)`, `atomic old = sum t[i] by e { }`
void Reader::atomic(Stmt& out) {
  Name old;
  if (is(peek(1), "=")) {
    old = name();
    next();
  }
  out.word = one_of("sum prod min max and or argmin argmax last");
  place(out, What::Tensor);
  const Meaning meaning = tensor(out.name, out.indices.size(), out.at);
  if (!meaning.writable) refuse_at(out.at, "`" + std::string(out.name) + "` is an input");
  expect("by");
  out.value = expr_of(meaning.type);
  at_scope(out);
  origin(out);
  if (old.empty()) return;
  out.second = old;
  out.body = body_with({{old, {What::Variable, meaning.type}}});
}

void Reader::concurrent(Stmt& out) {
  const Nest nest(*this, bodies_, kMaxBodies);
  expect("{");
  while (!accept("}")) {
    Stmt& made = out.body.emplace_back();
    made.kind = StmtKind::Role;
    made.at = peek().at;
    expect("role");
    role(made);
  }
}

void Reader::role(Stmt& out) {
  out.name = name();
  expect(":");
  out.scope = one_of(kScopes);
  out.number = accept("lanes") ? integer() : 0;
  out.registers = accept("registers") ? integer() : 0;
  if (accept("after")) do
      out.after.push_back(name());
    while (accept(","));
  out.body = body();
}

void Reader::object(Stmt& out) {
  out.name = name();
  expect("[");
  out.indices = list("]", kIndex);
  if (out.word == "channel") {
    expect(":");
    out.type = type();
  }
  if (out.word != "token") {
    expect(out.word == "barrier" ? "arrivals" : out.word == "semaphore" ? "starts" : "holds");
    out.value = expr_of(kIndex);
  }
  out.body = body_with({{out.name, {What::Object, out.type, out.indices.size()}}});
}

void Reader::start(Stmt& out) {
  out.word = one_of("generic async tensor");
  out.completion = one_of("bytes arrive group");
  if (out.completion != "group") place(out, What::Object);
  out.body = body();
}

void Reader::signal(Stmt& out) {
  place(out, What::Object);
  const bool is_channel = out.type;
  if (is_channel != (out.word == "send")) refuse_at(out.at, "the object takes no such signal");
  expect("by");
  out.value = expr_of(is_channel ? out.type : kIndex);
  at_scope(out);
}

void Reader::wait(Stmt& out) {
  if (at("group") && is(peek(1), "until")) {
    next();
  } else {
    place(out, What::Object);
  }
  if (accept("until")) out.value = expr_of(kIndex);
  at_scope(out);
}

void Reader::receive(Stmt& out) {
  out.name = name();
  expect("=");
  place(out, What::Object);
  if (!out.type) refuse_at(out.at, "messages come from channels");
  at_scope(out);
  out.body = body_with({{out.name, {What::Variable, out.type}}});
}

void Reader::vote(Stmt& out) {
  out.name = name();
  expect("=");
  out.word = one_of("any all ballot");
  out.scope = one_of(kScopes);
  out.value = expr_of(kBool);
  out.body = body_with({{out.name, {What::Variable, out.word == "ballot" ? kIndex : kBool}}});
}

}  // namespace tilewright::checker

// SPDX-License-Identifier: Apache-2.0
//
// Programs: declarations and what runs on one thread.
#include "apps/check/reader.h"

namespace tilewright::checker {

namespace {

constexpr Name kSpaces =
    "workspace stack register shared tensor scratchpad accumulator global plan";

}  // namespace

void Reader::declarations(Program& out) {
  while (true) {
    may_read_ = false;
    const bool is_inout = at("inout") && is(peek(2), ":");
    const bool is_const = at("const") && is(peek(1), "input");
    if (is_const) next();
    if (accept("extent")) {
      out.extents.push_back(extent());
      bind(out.extents.back().name, {What::Extent, kIndex});
    } else if (accept("requires")) {
      out.requirements.push_back(expr_of(kBool));
    } else if (at("input") || at("output") || is_inout) {
      const bool is_output = next().text != "input";
      const Name name = this->name();
      expect(":");
      Tensor made = tensor_type(name);
      made.is_output = is_output;
      made.is_inout = is_inout;
      made.is_const = is_const;
      if (!is_output) facts(made);
      bind(name, {What::Tensor, made.type, made.shape.size(), is_output});
      out.parameters.push_back(std::move(made));
    } else if ((at("intrinsic") || at("library")) && is(peek(1), "algorithm")) {
      const bool is_library = next().text == "library";
      auto outer = std::move(scope_);
      scope_.clear();
      out.intrinsics.push_back(algorithm());
      out.intrinsics.back().is_library = is_library;
      scope_ = std::move(outer);
    } else {
      may_read_ = true;
      return;
    }
  }
}

std::vector<Stmt> Reader::body() {
  const Nest nest(*this, bodies_, kMaxBodies);
  std::vector<Stmt> out;
  expect("{");
  while (!accept("}")) out.push_back(statement());
  return out;
}

std::vector<Stmt> Reader::body_with(std::vector<std::pair<Name, Meaning>> names) {
  for (const auto& [name, meaning] : names) bind(name, meaning);
  std::vector<Stmt> out = body();
  for (const auto& [name, meaning] : names) scope_.erase(name);
  return out;
}

Stmt Reader::statement() {
  struct Form {
    Name word;
    StmtKind kind;
    void (Reader::*read)(Stmt&);
  };
  static constexpr Form kForms[] = {
      {"for", StmtKind::For, &Reader::loop},
      {"parallel", StmtKind::For, &Reader::loop},
      {"vector", StmtKind::For, &Reader::loop},
      {"unrolled", StmtKind::For, &Reader::loop},
      {"if", StmtKind::If, &Reader::branch},
      {"let", StmtKind::Let, &Reader::let},
      {"alloc", StmtKind::Alloc, &Reader::alloc},
      {"ring", StmtKind::Ring, &Reader::ring},
      {"call", StmtKind::Call, &Reader::call},
      {"atomic", StmtKind::Atomic, &Reader::atomic},
      {"barrier", StmtKind::Object, &Reader::object},
      {"semaphore", StmtKind::Object, &Reader::object},
      {"token", StmtKind::Object, &Reader::object},
      {"channel", StmtKind::Object, &Reader::object},
      {"start", StmtKind::Start, &Reader::start},
      {"arrive", StmtKind::Signal, &Reader::signal},
      {"expect", StmtKind::Signal, &Reader::signal},
      {"send", StmtKind::Signal, &Reader::signal},
      {"wait", StmtKind::Wait, &Reader::wait},
      {"receive", StmtKind::Receive, &Reader::receive},
      {"vote", StmtKind::Vote, &Reader::vote},
      {"while", StmtKind::While, nullptr},
      {"kernel", StmtKind::Kernel, nullptr},
      {"concurrent", StmtKind::Concurrent, &Reader::concurrent},
      {"prefetch", StmtKind::Prefetch, nullptr},
      {"commit", StmtKind::Signal, nullptr},
      {"fence", StmtKind::Fence, nullptr},
      {"sync", StmtKind::Sync, nullptr},
  };
  Stmt out;
  out.at = peek().at;
  const bool stores = is(peek(1), "[") || is(peek(1), "=");
  for (const Form& form : kForms) {
    if (stores || !accept(form.word)) continue;
    out.kind = form.kind;
    out.word = form.word;
    if (form.read) {
      (this->*form.read)(out);
    } else if (out.kind == StmtKind::While) {
      out.value = expr_of(kBool);
      out.body = body();
    } else if (out.kind == StmtKind::Kernel) {
      out.name = name();
      out.body = body();
    } else if (out.kind == StmtKind::Prefetch) {
      place(out, What::Tensor);
    } else if (out.kind == StmtKind::Fence) {
      out.word = one_of("generic async tensor");
    } else if (out.kind == StmtKind::Sync) {
      out.scope = one_of(kScopes);
    }
    return out;
  }
  store(out);
  return out;
}

void Reader::loop(Stmt& out) {
  out.name = name();
  expect("in");
  out.value = expr_of(kIndex);
  expect("..");
  out.upper = expr_of(kIndex);
  const bool is_fixed = out.word == "vector" || out.word == "unrolled";
  if (is_fixed && (out.value->kind != Kind::Integer || out.upper->kind != Kind::Integer))
    refuse_at(out.at, "the bounds are not constant");
  if (out.word == "for" && accept("bind")) {
    out.kind = StmtKind::Bind;
    out.scope = one_of(kScopes);
  }
  out.body = body_with({{out.name, {What::Variable, kIndex}}});
}

void Reader::branch(Stmt& out) {
  out.value = expr_of(kBool);
  out.body = body();
  if (!accept("else")) return;
  out.has_other = true;
  if (!at("if")) {
    out.other = body();
    return;
  }
  const Nest nest(*this, bodies_, kMaxBodies);
  out.other.push_back(statement());
}

void Reader::let(Stmt& out) {
  out.name = name();
  expect("=");
  out.value = expr();
  if (!out.value->type) refuse_at(out.at, "no value");
  out.body = body_with({{out.name, {What::Variable, out.value->type}}});
}

void Reader::alloc(Stmt& out) {
  out.name = name();
  expect(":");
  out.type = type();
  expect("[");
  out.indices = list("]", kIndex);
  expect("in");
  out.word = one_of(kSpaces);
  if (accept("at")) out.number = integer();
  out.body = body_with({{out.name, {What::Tensor, out.type, out.indices.size(), true}}});
}

void Reader::store(Stmt& out) {
  if (peek().kind != TokenKind::Word) refuse("expected a statement");
  place(out, What::Tensor);
  const Meaning& meaning = tensor(out.name, out.indices.size(), out.at);
  if (!meaning.writable) refuse_at(out.at, "`" + std::string(out.name) + "` is an input");
  expect("=");
  out.value = expr_of(meaning.type);
  origin(out);
}

void Reader::origin(Stmt& out) {
  out.role = "value";
  if (!accept("@")) return;
  out.role = one_of("value init fold merge copy pad");
  if (peek().kind != TokenKind::Word || !is(peek(1), "(")) return;
  out.origin = name();
  next();
  out.point = list(")", kIndex);
}

void Reader::ring(Stmt& out) {
  out.name = name();
  expect(",");
  out.second = name();
  expect("=");
  out.value = expr_of(kIndex);
  expect("of");
  out.number = integer();
  if (out.number < 1) refuse_at(out.at, "a ring without slots");
  const Meaning index{What::Variable, kIndex};
  out.body = body_with({{out.name, index}, {out.second, index}});
}

// `name[indices]`, of a buffer or an object.
void Reader::place(Stmt& out, What what) {
  const std::uint32_t at = peek().at;
  const Name name = this->name();
  expect("[");
  out.indices = list("]", kIndex);
  const Meaning* meaning = find(name);
  if (!meaning || meaning->what != what || meaning->rank != out.indices.size())
    refuse_at(at, "`" + std::string(name) + "` is nothing of the kind and rank that is needed");
  (out.kind == StmtKind::Receive ? out.second : out.name) = name;
  if (what == What::Object) out.type = meaning->type;
}

void Reader::at_scope(Stmt& out) {
  if (accept("at")) out.scope = one_of(kScopes);
}

Program Reader::program_file() {
  Program out;
  expect("program");
  out.name = name();
  expect("for");
  out.algorithm = name();
  for (Name name : {out.name, out.algorithm})
    if (is_word(name)) refuse("a word of the language is no name");
  expect("{");
  declarations(out);
  while (!accept("}")) out.body.push_back(statement());
  if (peek().kind != TokenKind::End) refuse("expected the end of the text");
  return out;
}

std::vector<Ref> Reader::list_alone(const std::vector<Name>& names, Type type) {
  may_read_ = false;
  for (Name name : names) declare(name, {What::Variable, kIndex});
  std::vector<Ref> out;
  if (peek().kind == TokenKind::End) return out;
  do out.push_back(expr_of(type));
  while (accept(","));
  if (peek().kind != TokenKind::End) refuse("text after the end");
  return out;
}

Program read_program(Arena& arena, Name text) { return Reader(arena, text).program_file(); }
std::vector<Ref> read_list(Arena& arena, Name text, const std::vector<Name>& names, Type type) {
  return Reader(arena, text).list_alone(names, type);
}

}  // namespace tilewright::checker

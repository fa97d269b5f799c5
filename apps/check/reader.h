// SPDX-License-Identifier: Apache-2.0
//
// One reader for both texts. Names are resolved and types computed while reading: in canonical text the type of
// every expression follows from its parts. Law: any bytes are read or refused with their place; nesting, length and
// work are bounded. Private to the reader's files.
#pragma once

#include <map>
#include <set>

#include "apps/check/syntax.h"

namespace tilewright::checker {

inline constexpr int kMaxNesting = 1024;  // of brackets and operations in a text
inline constexpr int kMaxBodies = 256;  // of statements
inline constexpr Name kScopes = "lane warp warpgroup block pair cluster core device system";
inline constexpr std::size_t kMaxBytes = std::size_t{8} << 20;

enum class TokenKind : std::uint8_t { End, Word, Integer, Float, Mark };
struct Token {
  TokenKind kind = TokenKind::End;
  Name text;
  std::uint32_t at = 0;
};

class Reader {
 public:
  Reader(Arena& arena, Name text);
  Algorithm algorithm_file();
  Program program_file();
  std::vector<Ref> list_alone(const std::vector<Name>& names, Type type);

 private:
  enum class What : std::uint8_t { Extent, Variable, Tensor, Object };
  struct Meaning {
    What what = What::Variable;
    Type type = nullptr;
    std::size_t rank = 0;
    bool writable = false;
  };
  struct Nest {  // one level deeper while it lives
    Nest(Reader& reader, int& depth, int limit);
    ~Nest() { --depth_; }
    int& depth_;
  };

  // Tokens.
  void scan();
  [[noreturn]] void refuse(const std::string& what) const { refuse_at(peek().at, what); }
  [[noreturn]] void refuse_at(std::uint32_t at, const std::string& what) const;
  const Token& peek(std::size_t ahead = 0) const;
  Token next();
  bool at(Name text) const { return is(peek(), text); }
  static bool is(const Token& token, Name text) {
    return token.text == text && token.kind >= TokenKind::Word;
  }
  bool accept(Name text);
  void expect(Name text);
  Name name();
  Int integer();
  Name one_of(Name words);  // separated by spaces
  Type type();

  // Names.
  void declare(Name name, Meaning meaning);  // refuses words, and names that are known
  void bind(Name name, Meaning meaning);  // of a Program, where a name is bound once
  const Meaning* find(Name name) const;
  const Meaning& tensor(Name name, std::size_t rank, std::uint32_t at) const;

  // Expressions.
  Ref expr(int min_precedence = 1);
  Ref expr_of(Type type, int min_precedence = 1);
  std::vector<Ref> list(Name close, Type type);
  Ref make(Expr e, std::uint32_t at);
  Ref apply(const Op* op, std::vector<Ref> args, std::uint32_t at);
  Ref prefixed();
  Ref primary();
  Ref group();
  Ref call(Name name, std::uint32_t at);
  Ref typed(Type type, std::uint32_t at);
  Ref number(Type type, std::uint32_t at);
  double real(Name text, bool negative, Type type, std::uint32_t at) const;
  bool at_number() const;

  // Folds.
  const Monoid* monoid_named(Name name) const;
  bool begins_fold(Name name) const;
  Ref fold(Name name, std::uint32_t at, Ref lower);
  Ref scan_fold(std::uint32_t at);
  Ref update_fold(std::uint32_t at);
  void ranges(FoldParts& fold, Ref lower);
  Ref finish(FoldParts fold, std::uint32_t at);
  std::vector<Ref> terms();
  std::vector<Type> fields(const FoldParts& fold, const std::vector<Ref>& values,
                           std::uint32_t at) const;

  // Algorithms.
  Extent extent();
  Tensor tensor_type(Name name);
  void facts(Tensor& tensor);
  Monoid monoid();
  Algorithm algorithm();
  void statements(Algorithm& out);
  void loop(Algorithm& out);
  void equation(Algorithm& out);
  void forget(const std::vector<Name>& names);

  // Programs.
  void declarations(Program& out);
  std::vector<Stmt> body();
  std::vector<Stmt> body_with(std::vector<std::pair<Name, Meaning>> names);
  Stmt statement();
  void loop(Stmt& out);
  void branch(Stmt& out);
  void let(Stmt& out);
  void alloc(Stmt& out);
  void store(Stmt& out);
  void ring(Stmt& out);
  void call(Stmt& out);
  void concurrent(Stmt& out);
  void atomic(Stmt& out);
  void role(Stmt& out);
  void object(Stmt& out);
  void signal(Stmt& out);
  void wait(Stmt& out);
  void receive(Stmt& out);
  void vote(Stmt& out);
  void start(Stmt& out);
  void origin(Stmt& out);
  void place(Stmt& out, What what);
  void at_scope(Stmt& out);

  Arena& arena_;
  Name text_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  int depth_ = 0, bodies_ = 0;
  std::map<Name, Meaning> scope_;
  std::set<Name> bound_;  // ever, in a Program
  std::vector<Monoid> monoids_;
  std::vector<Name> indices_;  // of the equation that is read
  bool may_read_ = true, may_fold_ = false;
  int folds_ = 0;  // that were read
};

}  // namespace tilewright::checker

// SPDX-License-Identifier: Apache-2.0
//
// The reader of programs: parse_program.cpp reads declarations and the host part,
// parse_concurrent.cpp the rest. Words that begin a statement of the rest are words only there: where `[` or `=` follows,
// they are names as any other.
#pragma once

#include <optional>
#include <vector>

#include "frontend/ir/declarations.h"
#include "lowering/program/program.h"
#include "lowering/program/verify.h"

namespace tilewright::program {

// The enumerator whose text this is.
template <class Enum>
std::optional<Enum> named(std::string_view text, std::string_view (*text_of)(Enum), int count) {
  for (int i = 0; i < count; ++i)
    if (text_of(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  return std::nullopt;
}

class ProgramReader {
 public:
  ProgramReader(ir::Context& context, const Source& source);
  Result<Program> read();

 private:
  bool header();
  void declarations();
  struct ParameterRole {
    bool is_output = false, is_inout = false, is_const = false;
  };
  bool parameter(ParameterRole role);
  bool declare_tensor(const Token& name, const std::optional<ir::TensorType>& tensor);
  bool intrinsic(bool is_library);

  // Statements up to the closing brace, which stays. Never null; faulty ones are reported and left
  // out.
  Stmt statements();
  // A body in braces; null after reporting.
  Stmt braces(std::string_view after);
  Stmt statement();
  // Reads an expression of this type; null after reporting.
  Expr expression(ScalarType type, std::string_view what);
  std::optional<std::vector<Expr>> elaborate(const std::vector<ir::SyntaxPtr>& list,
                                             std::string_view what);
  // A body in which the name has this meaning.
  Stmt body_with(const Token& name, const ir::Meaning& meaning, std::string_view after);
  Stmt body_with_value(const Token& name, ScalarType type, std::string_view after);
  // `for`, also with `bind`.
  Stmt loop(LoopKind kind);
  // Iterates along `else if`, so that a long chain does not nest.
  Stmt branch();
  Stmt let();
  Stmt alloc();

  struct Origin {
    OriginRole role = OriginRole::Value;
    Symbol name;
    std::vector<Expr> point;
  };
  // What follows `@`, if it is there: `fold c(i, j, k)`, `pad`.
  std::optional<Origin> origin();
  // The buffer that a store or atomic writes, with this many indices: its meaning, or null after
  // reporting.
  const ir::Meaning* target(const Token& name, std::size_t num_indices);
  Stmt store();

  // A statement of the rest when one begins here; *found says so.
  Stmt concurrent_statement(bool* found);
  Stmt while_loop();
  Stmt ring();
  Stmt call();
  std::optional<Tile> tile();
  Stmt atomic();
  Stmt prefetch();
  Stmt kernel();
  Stmt concurrent();
  Stmt role();
  Stmt object(ObjectKind kind);
  Stmt start();
  Stmt signal(SignalKind kind);
  Stmt wait();
  Stmt receive();
  Stmt fence();
  Stmt sync();
  Stmt vote();

  // The next word, as an enumerator; reports what is expected otherwise.
  template <class Enum>
  std::optional<Enum> word(std::string_view (*text_of)(Enum), int first, int count,
                           std::string_view what) {
    const Token& token = cursor_.peek();
    const auto found =
        token.kind == TokenKind::Name ? named(token.text, text_of, count) : std::nullopt;
    if (found && static_cast<int>(*found) >= first) {
      cursor_.next();
      return found;
    }
    std::string choices;
    for (int i = first; i < count; ++i)
      choices += (i == first       ? "`"
                  : i + 1 == count ? " or `"
                                   : ", `") +
                 std::string(text_of(static_cast<Enum>(i))) + "`";
    cursor_.unexpected(what, "write " + choices);
    return std::nullopt;
  }
  std::optional<Scope> scope_word();
  // `at device`, if it is there: None otherwise; no value after reporting.
  std::optional<Scope> at_scope();
  // `name[i, j]`.
  struct Place {
    Token name;
    std::vector<Expr> indices;
  };
  std::optional<Place> place(std::string_view what);
  // `[i, j]`.
  std::optional<std::vector<Expr>> index_list();

  ir::Context& context_;
  const Source& source_;
  TextCursor cursor_;
  ir::Scope extent_scope_;
  ir::Scope scope_;
  ir::Elaborator extents_;
  ir::Elaborator names_;
  ProgramSpans spans_;
  std::unordered_map<Symbol, Span> name_spans_;  // of what statements bind, and of parameters
  Program program_;
  std::unordered_map<Symbol, ScalarType> channels_;  // in scope here
};

}  // namespace tilewright::program

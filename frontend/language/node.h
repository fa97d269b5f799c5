// SPDX-License-Identifier: Apache-2.0
//
// What a C++ program recorded: expressions as it wrote them, untyped, each with its place; declarations;
// definitions in order. Private to the room. Law: a node is at most kMaxLevels deep and kMaxSize large, so no
// walk of one can exhaust the stack or the memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/base/diagnostic.h"
#include "tilewright/language.h"

namespace tilewright::language::detail {

// Beyond these an expression becomes a Mistake. The reader's own limit of levels is lower.
inline constexpr int kMaxLevels = 400;
inline constexpr std::int64_t kMaxSize = 200'000;

enum class NodeKind : std::uint8_t {
  Literal,  // text: `7`, `-0.5`, `inf`, `true`
  Name,  // a Var; text
  TypeName,  // `bf16` in round_to; text
  Extent,  // declaration
  Read,  // declaration, args
  Prefix,  // text is the operator
  Infix,
  Call,  // text is the function or type
  Fold,  // text is the monoid; args are the comparisons that say the ranges, then the body
  Mistake,  // code, text is the message, remedy
};

struct Node {
  NodeKind kind = NodeKind::Mistake;
  std::string text;
  std::vector<NodePtr> args;
  DeclarationPtr declaration;
  Where where;
  Code code = Code::Malformed;
  std::string remedy;
  int levels = 1;
  std::int64_t size = 1;  // of the tree that the text writes out
};

NodePtr leaf(NodeKind kind, std::string text, Where where);
// A Mistake when it is too deep or too large, or when an argument is empty.
NodePtr make_node(NodeKind kind, std::string_view text, std::vector<NodePtr> args, Where where,
                  DeclarationPtr declaration = nullptr);
NodePtr mistake(Code code, std::string message, std::string remedy, Where where);
// The node of an operand; a Mistake for an empty Expr.
NodePtr node_of(const Operand& operand);

// `i < N`, `1 <= s && s < N` and `1 <= s < N` as the range of a variable.
struct Range {
  const Node* var = nullptr;  // a Name
  NodePtr lower;  // null: 0
  NodePtr upper;
};
std::optional<Range> range_of(const NodePtr& node);

// Which algorithm a declaration belongs to; equal by identity.
struct Owner {
  std::string name;
};
using OwnerPtr = std::shared_ptr<const Owner>;

struct Declaration {
  enum class Kind : std::uint8_t { Extent, Input, Equation };
  Kind kind = Kind::Equation;
  OwnerPtr owner;
  std::string name;
  Where where;
  std::string type;  // empty: that of the value
  ExtentRange range;  // of an Extent
  std::vector<Operand> shape;  // of an Input
  bool is_output = false;
  bool is_defined = false;  // Equations are from their definition on
  Where defined;
};

struct Definition {
  DeclarationPtr declaration;
  std::vector<Operand> indices;
  Operand value;
  Where where;
};

struct AlgorithmState {
  OwnerPtr owner;
  Where where;
  std::vector<DeclarationPtr> declarations;  // in order
  std::vector<Operand> requirements;
  std::vector<Definition> definitions;
  std::vector<Diagnostic> mistakes;  // in what is recorded, beside expressions
};

Place place_of(Where where);

}  // namespace tilewright::language::detail

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
  Fold,  // text is the monoid or `sort`; `fold` has the rest, args all that is in it
  Mistake,  // code, text is the message, remedy
};

// What a fold has besides its name.
struct FoldForm {
  enum class Kind : std::uint8_t { Reduction, Scan, Update };
  Kind kind = Kind::Reduction;
  std::vector<NodePtr> ranges;  // comparisons; of a scan the index
  std::vector<NodePtr> terms;
  std::vector<NodePtr> where;  // none or one
  std::vector<NodePtr> on_empty;
  std::vector<NodePtr> base;
  std::vector<NodePtr> at;
  std::vector<NodePtr> state;  // Names, one for each base of a recurrence
  bool has_at = false;
};

struct Node {
  NodeKind kind = NodeKind::Mistake;
  std::string text;
  std::vector<NodePtr> args;
  DeclarationPtr declaration;
  std::shared_ptr<const FoldForm> fold;
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
NodePtr make_fold(std::string_view text, FoldForm form, Where where,
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
  enum class Kind : std::uint8_t { Extent, Input, Equation, Monoid, Carry, Loop };
  Kind kind = Kind::Equation;
  OwnerPtr owner;
  std::string name;
  Where where;
  std::string type;  // empty: that of the value
  ExtentRange range;  // of an Extent
  std::vector<Operand> shape;  // of an Input
  std::string what;  // "const", "inout", "view"
  std::string facts;  // words after the range
  std::vector<Operand> values;  // the range of an Input's values, or nothing
  DeclarationPtr into;  // of an Output
  DeclarationPtr whole;  // of one tensor of several: the equation's
  bool is_output = false;
  bool is_defined = false;  // Equations are from their definition on
  Where defined;

  bool known() const { return kind != Kind::Equation || (whole ? whole->is_defined : is_defined); }
};

struct MonoidState {
  DeclarationPtr declaration;
  std::vector<Monoid::Field> fields;
  std::vector<Operand> identity;
  std::string left;
  std::string right;
  std::vector<Operand> combine;
  Where combined;
  bool commutative = false;
};

struct LoopState {
  DeclarationPtr declaration;
  std::optional<Operand> trips;
  std::optional<Operand> condition;
  struct Carry {
    DeclarationPtr tensor;
    DeclarationPtr start;
    DeclarationPtr next;  // null: not said
    Where where;
  };
  std::vector<Carry> carries;
  bool ended = false;
};

// A Tensor would own the algorithm that the call is recorded in: a circle.
struct CallState {
  struct Passed {
    std::string input;
    DeclarationPtr tensor;
    std::vector<Operand> indices;
    Where where;
  };
  std::vector<DeclarationPtr> results;
  std::shared_ptr<AlgorithmState> callee;
  std::vector<Passed> arguments;
};

// An equation, or the begin or end of a loop, or a call.
struct Definition {
  DeclarationPtr declaration;
  std::vector<Operand> indices;
  std::optional<Operand> value;
  Where where;
  std::shared_ptr<const LoopState> begins;
  std::shared_ptr<const LoopState> ends;
  std::shared_ptr<const CallState> call;
};

struct AlgorithmState {
  OwnerPtr owner;
  Where where;
  std::vector<DeclarationPtr> declarations;  // in order
  std::vector<Operand> requirements;
  std::vector<std::shared_ptr<const MonoidState>> monoids;
  std::vector<Definition> definitions;
  std::vector<Diagnostic> mistakes;  // in what is recorded, beside expressions
};

Place place_of(Where where);

}  // namespace tilewright::language::detail

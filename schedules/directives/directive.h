// SPDX-License-Identifier: Apache-2.0
//
// Directives: what people write in a schedule, in Halide's words where it has them. Each is a value that is
// read, printed and applied to a schedule tree; a directive that cannot apply refuses (E0303, E0304) with the
// loop, the reason and what would make it apply. Legality of order is not judged here: that is the business of
// the checks on the final Program. Laws: parse(print(d)) == d; a refusal leaves the tree unchanged. Directives
// may pass through trees that are not yet well formed (a loop vectorized before it is moved inside, a producer
// placed before its reader is), so tree::verify judges the schedule at its end.
// Tests: tests/unit/schedules/directives.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/base/text.h"
#include "schedules/tree/tree.h"
#include "schedules/tree/witness.h"

namespace tilewright::directives {

// A name in a directive, and where it stands, which is not content.
struct Word {
  Symbol symbol;
  Span span;
  Word() = default;
  Word(Symbol name, Span at = {}) : symbol(name), span(at) {}
  operator Symbol() const { return symbol; }
  std::string_view text() const { return symbol.text(); }
  friend bool operator==(const Word& a, const Word& b) { return a.symbol == b.symbol; }
};
std::vector<Symbol> symbols(const std::vector<Word>& words);
tree::Places places(const std::vector<Word>& words);

// `c.io`, or `io` alone where one nest has a loop of that name. Places in the text are not content.
struct LoopName {
  Symbol nest;
  Symbol loop;
  Span span;
  friend bool operator==(const LoopName& a, const LoopName& b) {
    return a.nest == b.nest && a.loop == b.loop;
  }
};

// What a directive acts on. The algorithm is the one whose equations the tree's nests compute (the functions
// `apply` below take the original one and see to that).
struct Target {
  ir::Context& context;
  const ir::Algorithm& algorithm;
  tree::Tree& tree;
  std::vector<ir::Expr> guards =
      {};  // of the schedule, for counterexamples at sizes that it is for
  tree::Case where() const { return {algorithm, guards}; }
};

// Reads the parts of directives. Failures are reported to the cursor.
struct Reader {
  ir::Context& context;
  TextCursor& cursor;
  const ir::Algorithm* algorithm = nullptr;  // whose extents conditions may name

  std::optional<LoopName> loop_name();
  std::optional<Word> name(std::string_view what);  // without a dot: a loop, a dimension
  std::optional<Word> path(std::string_view what);  // of an equation or tensor: `layer.peak`
  std::optional<std::vector<Word>> names(std::string_view what);  // `a, b, c`
  std::optional<std::int64_t> factor();  // an integer, at least 1
  std::optional<std::int64_t> count();  // an integer, at least 0
  std::optional<tree::Space> space();  // "register", "shared", ...
  std::optional<tree::Scope> scope();  // "lane", "block", ...
  // Conditions on extents, after commas.
  bool conditions(std::vector<ir::Expr>& out, std::vector<Span>& spans);
};

struct Split {
  LoopName loop;
  std::int64_t factor = 1;
  Word outer;
  Word inner;
  static std::optional<Split> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Split&, const Split&) = default;
};

struct Tile {
  LoopName first;
  LoopName second;
  std::int64_t first_factor = 1;
  std::int64_t second_factor = 1;
  std::vector<Word> names;  // first outer, second outer, first inner, second inner
  static std::optional<Tile> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Tile&, const Tile&) = default;
};

struct Reorder {
  Word nest;
  std::vector<Word> loops;
  static std::optional<Reorder> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Reorder&, const Reorder&) = default;
};

struct Fuse {
  LoopName outer;
  LoopName inner;
  Word fused;
  static std::optional<Fuse> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Fuse&, const Fuse&) = default;
};

struct ComputeAt {
  Word equation;
  LoopName at;
  static std::optional<ComputeAt> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const ComputeAt&, const ComputeAt&) = default;
};

struct Inline {
  std::vector<Word> equations;
  static std::optional<Inline> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Inline&, const Inline&) = default;
};

// With a factor the loop `i` is split first: `i_o` outside, `i_u` (or `i_v` for vectorize) inside.
struct Unroll {
  LoopName loop;
  std::optional<std::int64_t> factor;
  static std::optional<Unroll> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Unroll&, const Unroll&) = default;
};

struct Vectorize {
  LoopName loop;
  std::optional<std::int64_t> factor;
  static std::optional<Vectorize> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Vectorize&, const Vectorize&) = default;
};

struct Parallel {
  LoopName loop;
  static std::optional<Parallel> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Parallel&, const Parallel&) = default;
};

struct StageCopy {
  tree::Stage stage;
  LoopName at;  // none of a copy at plan
  Word buffer;
  static std::optional<StageCopy> parse(Reader& reader);
  // The same without `at nest.loop`, which the tree form has around it.
  static std::optional<StageCopy> parse_in_tree(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const StageCopy&, const StageCopy&) = default;

 private:
  static std::optional<StageCopy> parse_with(Reader& reader, bool with_place);
};

struct Keep {
  Word nest;
  std::vector<Word> loops;  // empty: the equation's whole region
  tree::Space space = tree::Space::Register;  // another one only for a whole region
  static std::optional<Keep> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Keep&, const Keep&) = default;
};

struct Peel {
  LoopName loop;
  static std::optional<Peel> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Peel&, const Peel&) = default;
};

struct Tensorize {
  std::vector<LoopName> loops;
  Symbol instruction;
  Span span;
  static std::optional<Tensorize> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Tensorize& a, const Tensorize& b) {
    return a.loops == b.loops && a.instruction == b.instruction;
  }
};

struct SplitReduction {
  LoopName loop;
  std::int64_t factor = 1;
  Word outer;
  Word inner;
  static std::optional<SplitReduction> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const SplitReduction&, const SplitReduction&) = default;
};

struct Defer {
  Word tensor;
  Word equation;
  static std::optional<Defer> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Defer&, const Defer&) = default;
};

struct Recompute {
  Word equation;
  LoopName at;
  static std::optional<Recompute> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Recompute&, const Recompute&) = default;
};

struct Specialize {
  LoopName loop;
  std::vector<ir::Expr> conditions;
  tree::Places places;
  static std::optional<Specialize> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Specialize&, const Specialize&) = default;
};

struct Bind {
  LoopName loop;
  tree::Scope scope = tree::Scope::Block;
  std::int64_t agents_by = 1;
  static std::optional<Bind> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Bind&, const Bind&) = default;
};

struct Ring {
  Word nest;
  std::int64_t depth = 2;
  static std::optional<Ring> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Ring&, const Ring&) = default;
};

struct Async {
  Word nest;
  static std::optional<Async> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Async&, const Async&) = default;
};

struct Kernel {
  std::vector<Word> nests;
  static std::optional<Kernel> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

struct Prefetch {
  Word tensor;
  LoopName at;
  std::int64_t distance = 1;
  static std::optional<Prefetch> parse(Reader& reader);
  // The same without `at nest.loop`, which the tree form has around it.
  static std::optional<Prefetch> parse_in_tree(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Prefetch&, const Prefetch&) = default;
};

struct Pipeline {
  LoopName loop;
  std::vector<tree::PipelineRow> rows;
  static std::optional<Pipeline> parse(Reader& reader);
  static bool parse_rows(Reader& reader, std::vector<tree::PipelineRow>& rows);
  static std::string print_rows(const std::vector<tree::PipelineRow>& rows);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Pipeline&, const Pipeline&) = default;
};

struct Roles {
  LoopName loop;
  std::vector<tree::Role> roles;
  static std::optional<Roles> parse(Reader& reader);
  static bool parse_roles(Reader& reader, std::vector<tree::Role>& roles);
  static std::string print_roles(const std::vector<tree::Role>& roles);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Roles&, const Roles&) = default;
};

struct Set {
  std::vector<Word> nests;
  static std::optional<Set> parse(Reader& reader);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Set&, const Set&) = default;
};

struct Order {
  std::optional<LoopName> loop;  // of roles; none: of members of a set
  tree::OrderEdge edge;
  static std::optional<Order> parse(Reader& reader);
  // `a before c by 1`.
  static std::optional<tree::OrderEdge> parse_edge(Reader& reader);
  static std::string print_edge(const tree::OrderEdge& edge);
  std::string print() const;
  Result<Ok> apply(Target& target) const;
  friend bool operator==(const Order&, const Order&) = default;
};

using Directive =
    std::variant<Split, Tile, Reorder, Fuse, ComputeAt, Inline, Unroll, Vectorize, Parallel,
                 StageCopy, Keep, Peel, Tensorize, SplitReduction, Defer, Recompute, Specialize,
                 Bind, Ring, Async, Kernel, Prefetch, Pipeline, Roles, Set, Order>;

struct DirectiveInfo {
  std::string_view keyword;
  std::string_view example;
  std::string_view summary;
};
// In the order of directives.def, which is that of the variant.
const std::vector<DirectiveInfo>& all_directives();

bool is_directive_keyword(std::string_view text);
// The keyword is next. No value after reporting.
std::optional<Directive> parse_directive(Reader& reader);
std::string print(const Directive& directive);
// On a refusal the tree is as before.
Result<Ok> apply(const Directive& directive, Target& target);

// --- For the files of the directives -------------------------------------------------------------------

std::string print(const LoopName& name);  // "c.io"
// What a refusal is about, for tools: `loop = c.i`, `placed = e`.
using poly::Evidence;
using poly::with;
std::string print_conditions(const std::vector<ir::Expr>& conditions);  // "M >= 8, N % 4 == 0"
std::string loop_path(const tree::Nest& nest, Symbol loop);  // "c.i", as evidence names a loop
// E0304: a directive that cannot apply as things stand.
Failure refuse(Span span, std::string message, std::string remedy, Evidence evidence);

struct FoundLoop {
  tree::Nest* nest = nullptr;
  std::size_t index = 0;
  tree::Loop& loop() const { return nest->loops[index]; }
};
// E0303 when there is no such loop, or more than one of that bare name.
Result<FoundLoop> find_loop(Target& target, const LoopName& name);
Result<tree::Nest*> find_nest(Target& target, Symbol name, Span span);
// Replaces a loop by `outer`, `inner` in its place.
Result<Ok> split_loop(Target& target, const FoundLoop& found, std::int64_t factor,
                      const Word& outer, const Word& inner, Span span);
// Marks a loop that runs a constant number of times; with a factor, the inner part of a split named by suffix.
Result<Ok> mark_constant_loop(Target& target, const LoopName& name,
                              std::optional<std::int64_t> factor, tree::LoopKind kind,
                              std::string_view suffix);
// Refuses when results over the loop are kept in registers.
Result<Ok> not_kept(const tree::Nest& nest, Symbol loop, Span span);
bool has_name(const Target& target, const tree::Nest& nest, Symbol name);
// "stage b[k, j]<place> as bp[k, j] pad".
std::string print_stage(const tree::Stage& stage, std::string_view buffer,
                        const std::string& place);
// Puts a nest directly before `owner`, unless it stands before it already.
void move_before(tree::Tree& tree, Symbol nest, Symbol owner);

}  // namespace tilewright::directives

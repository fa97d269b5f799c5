// SPDX-License-Identifier: Apache-2.0
//
// The statements that one team of agents executes (the agents of a block, or a core), as instances: where each
// stands, which loops it is in, which cells it reads and writes. Statements are hash-consed, so a statement is
// found again by its item, which is one place in the text. Everything is over-approximated: a bound, guard or
// index that is not quasi-affine is left out, which only adds instances and cells.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontend/ir/walk.h"
#include "lowering/build/affine_view.h"
#include "lowering/build/digits.h"
#include "lowering/program/program.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::build {

using ir::Expr;
using program::Stmt;

// One place of a statement. A block is no item: its statements are children of what it is the body of.
struct Item {
  Stmt stmt;
  const Item* parent = nullptr;
  int arm = 0;  // which body of the parent
  std::size_t index = 0;  // in that body
  Symbol role;  // that executes it; none: the agents of the team
  std::vector<std::vector<std::unique_ptr<Item>>> arms;

  bool is_loop() const { return stmt && stmt.as<program::For>(); }
  const program::Bind* bind() const { return stmt ? stmt.as<program::Bind>() : nullptr; }
  bool is_async() const { return stmt && stmt.as<program::Async>(); }
  // Says who executes what stands in it.
  bool is_marker() const {
    return stmt && (stmt.as<program::Concurrent>() || stmt.as<program::Role>());
  }
};

// Before the child of that number; after the last one for their number.
struct Gap {
  const Item* owner = nullptr;
  int arm = 0;
  std::size_t index = 0;
  friend bool operator==(const Gap&, const Gap&) = default;
  friend auto operator<=>(const Gap&, const Gap&) = default;
};

// A point of the text that is executed again and again.
struct Where {
  std::vector<int> path;  // compared lexicographically: order of the text
  std::vector<std::pair<const Item*, int>>
      chain;  // what it stands in, outermost first, with the body
  std::vector<const Item*> loops;  // of these the loops and the splits into agents
  Symbol role;  // who executes it; the splits of other roles around it are not in chain and loops
};

struct Access {
  Symbol buffer;
  bool writes = false;
  std::vector<Expr> index;
  std::vector<Expr> length;  // of each dimension; null: one
  Where where;  // with the loops inside of its statement
};

// What is ordered as a whole: an asynchronous operation; a store with the loops around it alone; loops that
// write nothing that others see.
struct Statement {
  const Item* item = nullptr;  // null: a gap
  Where where;
  bool is_async = false;
  std::vector<Access> accesses;
  Gap gap =
      {};  // without an item: the end of a memory or of the team, or where an iteration begins or ends
};

class Team {
 public:
  // `outer`: loops and splits into agents around the team, whose variables are parameters.
  Team(ir::Context& context, const program::Program& program, Stmt body,
       const std::vector<Stmt>& outer);

  const Item& root() const { return root_; }
  const std::vector<Statement>& statements() const { return statements_; }
  bool has_agents() const { return has_agents_; }
  bool has_async() const { return has_async_; }
  // The roles, in the order of their first statements; the first statement of each that names it.
  const std::vector<const program::Role*>& roles() const { return roles_; }
  const program::Role* find_role(Symbol name) const;
  // What holds all roles.
  const Item* split() const { return split_; }
  bool is_split_once() const { return is_split_once_; }
  // A loop by its variable; null: the team has none.
  const Item* find_loop(Symbol var) const;

  Where where(const Item& item) const { return where(item, item.role); }
  // `rank` orders what stands in one gap. `role`: who executes it.
  Where where(const Gap& gap, int rank, Symbol role) const;
  // The alloc inside of the team that holds a buffer; null: it comes from outside.
  const Item* alloc_of(Symbol buffer) const;
  bool is_private_space(Symbol buffer) const;  // registers and stack have no proxies

  // Names of the loops of a point with a suffix for the role it plays in a relation.
  static std::string name(const Item& loop, std::string_view suffix);
  std::vector<std::string> names(const std::vector<const Item*>& loops,
                                 std::string_view suffix) const;
  const std::vector<std::string>& params() const { return params_; }
  // What is declared of the parameters.
  poly::Set facts() const;
  // Adds the bounds and guards around a point; false where one of them is left out.
  bool constrain(const Where& where, std::string_view suffix, poly::BasicSet& set) const;
  // The same for one thing around it.
  bool constrain_by(const Item& item, int arm, std::string_view suffix, poly::BasicSet& set) const;
  // The value of an index expression at a point; none when it is not quasi-affine.
  std::optional<poly::BoundExpr> value(Expr expr, std::string_view suffix) const;
  // The use of a ring that a name is the slot of, written out; null: it is none.
  Expr use_of_slot(Symbol slot, std::int64_t* depth) const;
  // A number that counts on over loops, at a point; none where it is none.
  std::optional<Digits> digits(Expr number, std::string_view suffix) const;
  // An expression with what `let` and `ring` name written out.
  Expr written_out(Expr expr) const;
  // The same over names of one suffix, as an expression of the Program.
  Expr to_program(const poly::AffineExpr& value) const;
  std::optional<Expr> to_program(const poly::BoundExpr& value) const;

  // The pairs of instances of which the first comes before the second in the text's own order: a union, each
  // a conjunction over the two's loops. Agents do not count.
  std::vector<poly::BasicSet> precedes(const Where& a, std::string_view sa, const Where& b,
                                       std::string_view sb) const;
  // Executed by all agents of the team or none: no bound or guard around it depends on the agent or on data.
  bool is_uniform(const Gap& gap) const;
  bool holds_async(const Item& item) const;
  // Whether something in it is executed by another role.
  bool holds_others(const Item& item, Symbol role) const;
  bool depends_on_agent(Expr expr) const;
  // And on nothing else that changes in the team.
  bool depends_on_agent_alone(Expr expr) const;

 private:
  Where where(const Item& item, Symbol role) const;
  void grow(Item& item, Stmt body, int arm);
  void note_role(const Item& item);
  void note(const Item& item);
  bool is_atom(const Item& item) const;
  void collect(const Item& item);
  void add_accesses(const Item& item, Statement& out) const;
  void add_reads(Expr expr, const Where& where, Statement& out) const;
  void own_accesses(const Item& item, Statement& out) const;
  void for_leaves(const Item& item, const std::function<void(const Item&)>& f) const;
  bool is_uniform(Expr expr) const;
  bool constrain_comparison(Expr condition, std::string_view suffix, poly::BasicSet& set) const;

  ir::Context& context_;
  const program::Program& program_;
  std::vector<Stmt> outer_;
  Item root_;
  std::vector<std::string> params_;
  std::unordered_set<Symbol> known_;  // names that stand for integers: params and loops
  std::unordered_set<Symbol> agents_;  // variables of splits inside the team
  ir::Substitution lets_;
  std::unordered_map<Symbol, std::pair<Expr, std::int64_t>> slots_;  // the use and the depth
  std::unordered_map<Symbol, const Item*> allocs_;
  std::unordered_set<Symbol> shared_;  // buffers on which there may be an edge
  std::vector<const program::Role*> roles_;
  const Item* split_ = nullptr;
  bool is_split_once_ = true;
  bool has_agents_ = false;
  bool has_async_ = false;
  std::vector<Statement> statements_;
};

// Loops of which both points are in the same one, outermost first.
std::vector<const Item*> common_loops(const Where& a, const Where& b);

}  // namespace tilewright::build

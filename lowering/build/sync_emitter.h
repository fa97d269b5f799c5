// SPDX-License-Identifier: Apache-2.0
//
// Writes waits, signals, syncs, fences and their objects into the body of a team, and gives each role its part of the
// body. An operation has an object of its own, or one with the operations next to it that the same waits are for; so
// has a signal. Use number u of it is the u-th time that it is started, or given, while the object lives; it takes
// element u mod n, in which it is phase u div n.
#pragma once

#include <map>
#include <unordered_set>

#include "lowering/build/synchronise.h"
#include "lowering/build/value_flow.h"

namespace tilewright::build {

class FreshNames {
 public:
  explicit FreshNames(const program::Program& program);
  Symbol make(ir::Context& context, const std::string& wanted);

 private:
  std::unordered_set<std::string> used_;
};

// E0361 for an operation.
Failure refuse_sync(const Item& item, const std::string& why, const std::string& remedy);
bool is_within(const Item* item, const Item* owner);
// What an operation writes, where that is a product of lengths.
std::optional<Expr> bytes_of(ir::Context& context, const Item& operation);

class SyncEmitter {
 public:
  SyncEmitter(ir::Context& context, poly::Context& polyhedra, const Team& team,
              const SyncPlan& plan, Tells tells, FreshNames& names);

  Result<Stmt> run();

 private:
  // One of the loops that number the uses of an operation: its first value and how many there are.
  struct Count {
    const Item* loop = nullptr;
    Expr first;
    Expr length;
  };
  struct Object {
    Symbol name;
    program::ObjectKind kind = program::ObjectKind::Barrier;
    const Item* owner = nullptr;  // around whose body it stands
    std::int64_t elements = 1;
    Expr arrivals;
    std::vector<std::size_t> sources;  // operations in order, or one signal
    std::vector<Count> counts;
    std::vector<std::size_t> waits;  // of the first operation
    bool bytes = false;
  };
  struct Use {
    Expr element;
    Expr phase;
    Symbol slot, turn;  // of a `ring` to write around the statement; none where one stands there
    Expr number;
  };

  Result<Ok> find_objects();
  bool is_signal(std::size_t source) const { return source >= plan_.first_signal; }
  const Item& item_of(std::size_t source) const;
  Result<Object> object_of(std::size_t source);
  Result<const Item*> owner_of(std::size_t source) const;
  Result<std::vector<Count>> counts_of(std::size_t source, const Item& owner) const;
  Result<bool> is_same(const std::optional<poly::BoundExpr>& a, const poly::BoundExpr& b) const;
  std::optional<Digits> use_digits(const Object& object, std::string_view suffix,
                                   std::int64_t behind) const;
  std::vector<poly::BasicSet> later_uses(const Where& told, const Object& object,
                                         std::int64_t n) const;
  Result<bool> overtakes(const WaitPoint& wait, const Object& object, std::int64_t n) const;
  Result<bool> skips(const WaitPoint& wait, const Object& object, std::int64_t n) const;
  Result<std::int64_t> elements_of(std::size_t source, const Object& object) const;
  Result<Expr> agents_of(std::size_t source, const Item& owner) const;
  Result<bool> same_waits(std::size_t a, std::size_t b) const;
  Expr use_number(const Object& object, const std::vector<Expr>& loops) const;
  Use use_at(const Object& object, Expr number, const Where& where);
  Stmt in_ring(const Object& object, const Use& use, Stmt body) const;
  Result<Stmt> wait(const WaitPoint& point);
  Result<std::optional<Stmt>> wait_behind(const WaitPoint& point, const poly::Set& awaits,
                                          const poly::Set& assumed);
  Result<std::optional<Stmt>> waits_for(const WaitPoint& point, const poly::Set& awaits,
                                        const poly::Set& assumed);
  Stmt one_wait(const Object& object, Expr number, const Where& where);
  Stmt start(const Item& item);
  Stmt signal(std::size_t source);
  Expr condition(const poly::Set& set) const;
  // The part of a body that a role executes; no role: that of all.
  Stmt rebuilt(const Item& item, int arm, Symbol role);
  Stmt rebuilt_child(const Item& child, Symbol role);
  Stmt with_objects(const Item& owner, Stmt body) const;
  bool has_part(const Item& item, Symbol role) const;
  // Each role with its part, of which no name is bound in another.
  Stmt split();
  Result<Ok> roles_are_apart() const;

  ir::Context& context_;
  poly::Context& polyhedra_;
  const Team& team_;
  const SyncPlan& plan_;
  Tells tells_;
  FreshNames& names_;
  std::vector<Statement> statements_;
  Known known_;
  std::vector<Object> objects_;
  std::map<std::size_t, std::size_t> object_of_;  // of each source
  std::map<std::pair<Gap, Symbol>, std::vector<Stmt>> inserted_;
};

}  // namespace tilewright::build

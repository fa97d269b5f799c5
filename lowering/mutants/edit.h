// SPDX-License-Identifier: Apache-2.0
//
// One edit of a Program at one place. Statements and expressions are shared where they are equal, so a place
// is a position: the number of a statement in pre-order, and a node of an expression by its path. Laws: every
// result differs from what it was made of in one place alone; nothing depends on addresses.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "frontend/ir/context.h"
#include "lowering/program/program.h"

namespace tilewright::mutants {

using ir::Expr;
using program::Stmt;

struct VisibleBuffer {
  Symbol name;
  ir::ScalarType type = ir::ScalarType::F32;
  std::size_t rank = 0;
  bool is_written = true;  // not an input
};

// A statement and what it can see.
struct Site {
  ir::Context* context = nullptr;
  int number = 0;  // in pre-order
  Stmt stmt;
  std::vector<VisibleBuffer> buffers;
  std::vector<Stmt> loops;  // For and Bind around it, from outside
};

// Every statement of the Program, in pre-order.
std::vector<Site> sites_of(ir::Context& context, const program::Program& program);
// The Program with another statement at that number.
program::Program with_statement(ir::Context& context, const program::Program& program, int number,
                                Stmt by);

// Adds what may stand in place of an expression; what has another type is left out.
using ExprEdit = std::function<void(Expr, std::vector<Expr>&)>;
// The expression with one of its nodes replaced, for each replacement of each node.
std::vector<Expr> with_one_edit(ir::Context& context, Expr root, const ExprEdit& edit);
// The same for the expressions that stand in a statement itself, in the fields of these names.
void edit_fields(const Site& site, std::initializer_list<std::string_view> fields,
                 const ExprEdit& edit, std::vector<Stmt>& out);
// The fields whose values are memory addresses or parts of them, and those that bound what runs.
void edit_indices(const Site& site, const ExprEdit& edit, std::vector<Stmt>& out);

// Uses of a buffer or variable under another name, in a statement whose binding of it is gone.
Stmt renamed(ir::Context& context, Stmt stmt, Symbol from, Symbol to);
// With new names for everything that the statement binds, so that it can stand twice.
Stmt with_new_names(ir::Context& context, Stmt stmt);

}  // namespace tilewright::mutants

// SPDX-License-Identifier: Apache-2.0
//
// Loops, guards and masks that let through too much or too little.
#include "lowering/mutants/forms.h"

namespace tilewright::mutants {

namespace {

using ir::OpCode;

void bound_moved(const Site& site, std::vector<Stmt>& out, std::int64_t lower, std::int64_t upper) {
  ir::Context& context = *site.context;
  if (const auto* loop = site.stmt.as<program::For>())
    out.push_back(with_bounds(context, *loop, shifted(context, loop->lower, lower),
                              shifted(context, loop->upper, upper)));
  if (const auto* bind = site.stmt.as<program::Bind>()) {
    program::Bind other = *bind;
    other.lower = shifted(context, bind->lower, lower);
    other.upper = shifted(context, bind->upper, upper);
    out.push_back(program::make(context, other));
  }
}

void tail_short(const Site& site, std::vector<Stmt>& out) { bound_moved(site, out, 0, -1); }
void tail_long(const Site& site, std::vector<Stmt>& out) { bound_moved(site, out, 0, 1); }
void late_start(const Site& site, std::vector<Stmt>& out) { bound_moved(site, out, 1, 0); }
// The points of a tile that the one before had already: a lower bound that is no constant.
void overlap(const Site& site, std::vector<Stmt>& out) {
  const auto* loop = site.stmt.as<program::For>();
  if (loop && constant(loop->lower) != 0) bound_moved(site, out, -1, 0);
}

// A tile that does not end where the data does.
void minimum_dropped(const Site& site, std::vector<Stmt>& out) {
  edit_fields(
      site, {"lower", "upper", "extents"},
      [](Expr e, std::vector<Expr>& to) {
        const auto* op = e.as<ir::Op>();
        if (!op || (op->op != OpCode::Min && op->op != OpCode::Max)) return;
        to.insert(to.end(), op->args.begin(), op->args.end());
      },
      out);
}

void guard_dropped(const Site& site, std::vector<Stmt>& out) {
  const auto* branch = site.stmt.as<program::If>();
  if (!branch) return;
  out.push_back(branch->then_body);
  if (branch->else_body) out.push_back(branch->else_body);
}

// A comparison of indices that holds once more, or once less.
void compared(ir::Context& context, Expr e, std::vector<Expr>& to, bool more) {
  const auto* op = e.as<ir::Op>();
  if (!op || op->args.size() != 2 || op->args[0].type() != ir::ScalarType::Index) return;
  const Expr a = op->args[0];
  const Expr b = op->args[1];
  const std::int64_t by = more ? 1 : -1;
  switch (op->op) {
    case OpCode::Lt:
    case OpCode::Le: to.push_back(context.op(op->op, {a, shifted(context, b, by)})); break;
    case OpCode::Gt:
    case OpCode::Ge: to.push_back(context.op(op->op, {a, shifted(context, b, -by)})); break;
    default: break;
  }
}

void guard_weak(const Site& site, std::vector<Stmt>& out) {
  edit_fields(
      site, {"condition"},
      [&](Expr e, std::vector<Expr>& to) { compared(*site.context, e, to, true); }, out);
}
void guard_strong(const Site& site, std::vector<Stmt>& out) {
  edit_fields(
      site, {"condition"},
      [&](Expr e, std::vector<Expr>& to) { compared(*site.context, e, to, false); }, out);
}

// The comparison the other way round.
void guard_side(const Site& site, std::vector<Stmt>& out) {
  edit_fields(
      site, {"condition"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto* op = e.as<ir::Op>();
        if (!op || op->args.size() != 2) return;
        const Expr a = op->args[0];
        const Expr b = op->args[1];
        if (op->op == OpCode::Lt || op->op == OpCode::Le || op->op == OpCode::Gt ||
            op->op == OpCode::Ge)
          to.push_back(site.context->op(op->op, {b, a}));
        if (op->op == OpCode::Eq) to.push_back(site.context->op(OpCode::Ne, {a, b}));
        if (op->op == OpCode::Ne) to.push_back(site.context->op(OpCode::Eq, {a, b}));
      },
      out);
}

void guard_part(const Site& site, std::vector<Stmt>& out) {
  edit_fields(
      site, {"condition", "value"},
      [](Expr e, std::vector<Expr>& to) {
        const auto* op = e.as<ir::Op>();
        if (op && (op->op == OpCode::And || op->op == OpCode::Or))
          to.insert(to.end(), op->args.begin(), op->args.end());
      },
      out);
}

void mask_off(const Site& site, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  edit_fields(
      site, {"value"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto* select = e.as<ir::Select>();
        if (!select) return;
        for (const bool more : {false, true})
          for (Expr condition : with_one_edit(
                   context, select->condition,
                   [&](Expr c, std::vector<Expr>& made) { compared(context, c, made, more); }))
            to.push_back(context.select(condition, select->then_value, select->else_value));
      },
      out);
}

void mask_dropped(const Site& site, std::vector<Stmt>& out) {
  edit_fields(
      site, {"value"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto* select = e.as<ir::Select>();
        if (!select) return;
        to.push_back(select->then_value);
        to.push_back(
            site.context->select(select->condition, select->else_value, select->then_value));
      },
      out);
}

// One constant of a bound or guard, where others stay as they are: a tile that is not everywhere as large.
void tile_constant(const Site& site, std::vector<Stmt>& out) {
  edit_fields(
      site, {"lower", "upper", "condition", "use"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto value = constant(e);
        if (!value || e.type() != ir::ScalarType::Index || *value < 2) return;
        to.push_back(site.context->index(*value * 2));
        to.push_back(site.context->index(*value - 1));
        to.push_back(site.context->index(*value + 1));
      },
      out);
}

void wrong_extent(const Site& site, std::vector<Stmt>& out) {
  std::vector<Expr> extents;
  const auto note = [&](Expr e) {
    ir::walk(e, [&](Expr part) {
      if (part.as<ir::Extent>() && std::find(extents.begin(), extents.end(), part) == extents.end())
        extents.push_back(part);
    });
  };
  for (Stmt outer : site.loops) {
    if (const auto* loop = outer.as<program::For>()) note(loop->upper);
    if (const auto* bind = outer.as<program::Bind>()) note(bind->upper);
  }
  program::walk(site.stmt, [&](Stmt inner) {
    if (const auto* loop = inner.as<program::For>()) note(loop->upper);
    if (const auto* branch = inner.as<program::If>()) note(branch->condition);
  });
  edit_fields(
      site, {"lower", "upper", "condition"},
      [&](Expr e, std::vector<Expr>& to) {
        if (!e.as<ir::Extent>()) return;
        for (Expr other : extents)
          if (!(other == e)) to.push_back(other);
      },
      out);
}

}  // namespace

std::vector<Kind> kinds_of_bounds() {
  return {
      {"tail_short", "a loop ends one iteration early", tail_short},
      {"tail_long", "a loop ends one iteration late", tail_long},
      {"late_start", "a loop begins one iteration late", late_start},
      {"overlap", "a loop begins with what another has done", overlap},
      {"minimum_dropped", "a bound that is a minimum loses one operand", minimum_dropped},
      {"guard_dropped", "what was guarded is done always", guard_dropped},
      {"guard_weak", "a guard lets one more through", guard_weak},
      {"guard_strong", "a guard keeps one more out", guard_strong},
      {"guard_side", "a guard compares the wrong way round", guard_side},
      {"guard_part", "one of two conditions is missing", guard_part},
      {"mask_off", "a mask is off by one", mask_off},
      {"mask_dropped", "a mask is missing, or its two sides are swapped", mask_dropped},
      {"tile_constant", "a tile has another size in one of its places", tile_constant},
      {"wrong_extent", "a bound names another extent", wrong_extent},
  };
}

}  // namespace tilewright::mutants

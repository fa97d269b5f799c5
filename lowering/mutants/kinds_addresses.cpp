// SPDX-License-Identifier: Apache-2.0
//
// The wrong cell.
#include "lowering/mutants/forms.h"

namespace tilewright::mutants {

namespace {

// Replaces the list of indices of one read, or of the store itself.
using ListEdit = std::function<std::vector<std::vector<Expr>>(const std::vector<Expr>&)>;

void edit_reads(const Site& site, const ListEdit& edit, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  edit_fields(
      site, {"value", "condition"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto* read = e.as<ir::Read>();
        if (!read) return;
        for (const auto& indices : edit({read->indices.begin(), read->indices.end()}))
          to.push_back(context.read(read->tensor, indices, read->type));
      },
      out);
}

void edit_store(const Site& site, const ListEdit& edit, std::vector<Stmt>& out) {
  const auto* store = site.stmt.as<program::Store>();
  if (!store) return;
  for (const auto& indices : edit({store->indices.begin(), store->indices.end()}))
    out.push_back(program::make_store(*site.context, store->buffer, indices, store->value,
                                      store->role, store->origin, store->point));
}

ListEdit moved(ir::Context& context) {
  return [&](const std::vector<Expr>& indices) {
    std::vector<std::vector<Expr>> out;
    for (std::size_t i = 0; i < indices.size(); ++i)
      for (std::int64_t by : {1, -1}) {
        out.push_back(indices);
        out.back()[i] = shifted(context, indices[i], by);
      }
    return out;
  };
}

std::vector<std::vector<Expr>> swapped(const std::vector<Expr>& indices) {
  std::vector<std::vector<Expr>> out;
  for (std::size_t i = 0; i + 1 < indices.size(); ++i) {
    if (indices[i] == indices[i + 1]) continue;
    out.push_back(indices);
    std::swap(out.back()[i], out.back()[i + 1]);
  }
  return out;
}

void read_moved(const Site& site, std::vector<Stmt>& out) {
  edit_reads(site, moved(*site.context), out);
}
void store_moved(const Site& site, std::vector<Stmt>& out) {
  edit_store(site, moved(*site.context), out);
}
void read_swapped(const Site& site, std::vector<Stmt>& out) { edit_reads(site, swapped, out); }
void store_swapped(const Site& site, std::vector<Stmt>& out) { edit_store(site, swapped, out); }

// A store that combines two cells of the buffer it goes to: the offset between them.
void merge_offset(const Site& site, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  const auto* store = site.stmt.as<program::Store>();
  if (!store) return;
  const ListEdit other = [&](const std::vector<Expr>& indices) {
    std::vector<std::vector<Expr>> made;
    for (std::size_t i = 0; i < indices.size(); ++i)
      for (Expr changed : with_one_edit(context, indices[i], [&](Expr e, std::vector<Expr>& to) {
             const auto value = constant(e);
             if (!value || *value < 1) return;
             for (std::int64_t by : {*value / 2, *value * 2, *value - 1, *value + 1})
               if (by != *value) to.push_back(context.index(by));
           })) {
        made.push_back(indices);
        made.back()[i] = changed;
      }
    return made;
  };
  edit_fields(
      site, {"value"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto* read = e.as<ir::Read>();
        if (!read || !(read->tensor == store->buffer) || reads_cell(e, *store)) return;
        for (const auto& indices : other({read->indices.begin(), read->indices.end()}))
          to.push_back(context.read(read->tensor, indices, read->type));
      },
      out);
}

// A lane takes what belongs to another.
void lane_map(const Site& site, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  for (Stmt outer : site.loops) {
    const auto* loop = outer.as<program::For>();
    if (!loop || loop->loop != program::LoopKind::Vector) continue;
    const auto lower = constant(loop->lower);
    const auto upper = constant(loop->upper);
    if (!lower || !upper || *lower != 0 || *upper < 2) continue;
    edit_indices(
        site,
        [&](Expr e, std::vector<Expr>& to) {
          const auto* var = e.as<ir::Var>();
          if (!var || !(var->name == loop->var)) return;
          to.push_back(context.sub(context.index(*upper - 1), e));
          to.push_back(context.floor_mod(shifted(context, e, 1), context.index(*upper)));
          to.push_back(context.floor_div(e, context.index(2)));
        },
        out);
  }
}

void wrong_variable(const Site& site, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  std::vector<Expr> variables;
  for (Stmt outer : site.loops)
    for (Symbol name : program::bound_names(outer)) variables.push_back(context.var(name));
  edit_indices(
      site,
      [&](Expr e, std::vector<Expr>& to) {
        if (!e.as<ir::Var>()) return;
        for (Expr other : variables)
          if (!(other == e)) to.push_back(other);
      },
      out);
}

// The factor of a flattened or tiled index, in one place of several.
void stride(const Site& site, std::vector<Stmt>& out) {
  ir::Context& context = *site.context;
  const ExprEdit edit = [&](Expr e, std::vector<Expr>& to) {
    const auto* op = e.as<ir::Op>();
    if (!op || e.type() != ir::ScalarType::Index || op->args.size() != 2) return;
    const auto value = constant(op->args[1]);
    if (!value || *value < 2) return;
    if (op->op != ir::OpCode::Mul && op->op != ir::OpCode::Div && op->op != ir::OpCode::Mod) return;
    for (std::int64_t by : {*value - 1, *value + 1, *value * 2})
      to.push_back(context.op(op->op, {op->args[0], context.index(by)}));
  };
  edit_indices(site, edit, out);
  edit_fields(site, {"lower", "upper"}, edit, out);
  if (site.stmt.as<program::Let>()) edit_fields(site, {"value"}, edit, out);
}

// A part of an index left out: the base of a tile, or the place in it.
void index_part(const Site& site, std::vector<Stmt>& out) {
  edit_indices(
      site,
      [](Expr e, std::vector<Expr>& to) {
        const auto* op = e.as<ir::Op>();
        if (!op || e.type() != ir::ScalarType::Index) return;
        if (op->op == ir::OpCode::Add || op->op == ir::OpCode::Sub || op->op == ir::OpCode::Min ||
            op->op == ir::OpCode::Max || op->op == ir::OpCode::Mod)
          to.insert(to.end(), op->args.begin(), op->args.end());
      },
      out);
}

void other_store(const Site& site, std::vector<Stmt>& out) {
  const auto* store = site.stmt.as<program::Store>();
  if (!store) return;
  for (const VisibleBuffer& buffer : site.buffers)
    if (buffer.is_written && !(buffer.name == store->buffer) &&
        buffer.type == store->value.type() && buffer.rank == store->indices.size())
      out.push_back(program::make_store(*site.context, buffer.name, store->indices, store->value,
                                        store->role, store->origin, store->point));
}

void other_read(const Site& site, std::vector<Stmt>& out) {
  edit_fields(
      site, {"value", "condition"},
      [&](Expr e, std::vector<Expr>& to) {
        const auto* read = e.as<ir::Read>();
        if (!read) return;
        for (const VisibleBuffer& buffer : site.buffers)
          if (!(buffer.name == read->tensor) && buffer.type == read->type &&
              buffer.rank == read->indices.size())
            to.push_back(site.context->read(buffer.name, read->indices, read->type));
      },
      out);
}

}  // namespace

std::vector<Kind> kinds_of_addresses() {
  return {
      {"read_moved", "a read is one cell off", read_moved},
      {"store_moved", "a store is one cell off", store_moved},
      {"read_swapped", "a read has two indices swapped", read_swapped},
      {"store_swapped", "a store has two indices swapped", store_swapped},
      {"merge_offset", "partial results are merged at a wrong distance", merge_offset},
      {"lane_map", "a lane takes what belongs to another", lane_map},
      {"wrong_variable", "an index uses the variable of another loop", wrong_variable},
      {"stride", "a factor of a tiled or flattened index is wrong in one place", stride},
      {"index_part", "an index loses one of its parts", index_part},
      {"other_store", "a store goes to another buffer", other_store},
      {"other_read", "a read takes another buffer", other_read},
  };
}

}  // namespace tilewright::mutants

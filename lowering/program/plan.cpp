// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/plan.h"

#include <algorithm>
#include <unordered_set>

#include "frontend/base/format.h"
#include "frontend/base/hash.h"
#include "frontend/ir/walk.h"
#include "lowering/program/text.h"

namespace tilewright::program {

namespace {

const Alloc* plan_alloc(Stmt stmt) {
  const auto* alloc = stmt.as<Alloc>();
  return alloc && alloc->space == Space::Plan ? alloc : nullptr;
}

std::vector<Stmt> statements(Stmt body) {
  if (const auto* block = body.as<Block>()) return {block->body.begin(), block->body.end()};
  return {body};
}

// What a statement stores to, the operands of calls included.
void for_each_written(const Program& program, Stmt stmt, const std::function<void(Symbol)>& f) {
  walk(stmt, [&](Stmt s) {
    if (const auto* store = s.as<Store>()) f(store->buffer);
    if (const auto* atomic = s.as<Atomic>()) f(atomic->buffer);
    const auto* call = s.as<Call>();
    const Intrinsic* intrinsic = call ? program.find_intrinsic(call->callee) : nullptr;
    if (!intrinsic) return;
    for (Tile tile : call->operands)
      if (intrinsic->meaning.definition(tile->operand)) f(tile->buffer);
  });
}

bool writes(const Program& program, Stmt stmt, Symbol buffer) {
  bool found = false;
  for_each_written(program, stmt, [&](Symbol written) { found |= written == buffer; });
  return found;
}

// One buffer of the chain: what fills it, and what comes after.
struct Link {
  const Alloc* alloc = nullptr;
  std::vector<Stmt> fill;
  std::vector<Stmt> rest;
};

std::vector<Link> chain_of(const Program& program) {
  std::vector<Link> out;
  for (const Alloc* alloc = plan_alloc(program.body); alloc;) {
    Link link{alloc, {}, statements(alloc->body)};
    while (!link.rest.empty() && !plan_alloc(link.rest.front()) &&
           writes(program, link.rest.front(), alloc->buffer)) {
      link.fill.push_back(link.rest.front());
      link.rest.erase(link.rest.begin());
    }
    alloc = link.rest.size() == 1 ? plan_alloc(link.rest.front()) : nullptr;
    out.push_back(std::move(link));
  }
  return out;
}

bool has_no_cells(const Alloc& alloc) {
  return std::any_of(alloc.extents.begin(), alloc.extents.end(), [](Expr extent) {
    const auto* size = extent.as<ir::IntConst>();
    return size && size->value == 0;
  });
}

// Judges what fills a buffer: loops and conditions around stores to it, over constants and buffers before it.
class FillJudge {
 public:
  FillJudge(const Program& program, const std::unordered_set<Symbol>& earlier, Symbol buffer)
      : program_(program), earlier_(earlier), buffer_(buffer) {}

  std::optional<PlanFault> judge(Stmt root) {
    walk(root, [&](Stmt stmt) {
      if (fault_) return;
      const StmtKind kind = stmt.kind();
      if (kind != StmtKind::Block && kind != StmtKind::For && kind != StmtKind::If &&
          kind != StmtKind::Let && kind != StmtKind::Store)
        return refuse(stmt, "what fills " + name() + " does more than loop and store");
      if (const auto* store = stmt.as<Store>(); store && !(store->buffer == buffer_))
        return refuse(stmt,
                      "what fills " + name() + " stores to " + in_backticks(store->buffer.text()));
      for_each_part(stmt, [&](std::string_view, auto part) {
        if constexpr (std::is_same_v<decltype(part), Expr>) judge(stmt, part);
      });
    });
    return std::move(fault_);
  }

 private:
  std::string name() const { return in_backticks(buffer_.text()); }
  void refuse(Stmt stmt, std::string message) {
    if (!fault_)
      fault_ = PlanFault{stmt, std::move(message),
                         "fill it from `const` inputs and from buffers of the plan before it"};
  }
  void judge(Stmt stmt, Expr expr) {
    for (const ir::Read* read : ir::reads(expr)) {
      const Parameter* parameter = program_.find_parameter(read->tensor);
      const std::string tensor = in_backticks(read->tensor.text());
      if (!(parameter ? parameter->is_const : earlier_.contains(read->tensor)))
        refuse(stmt, "what fills " + name() + " reads " + tensor + ", which is not constant");
      // A plan is checked where it is made, and there is no workspace there to mark values in.
      if (parameter && parameter->facts.injective && !parameter->facts.assumed)
        refuse(stmt, "what fills " + name() + " reads " + tensor +
                         ", which every call checks to be injective");
    }
  }

  const Program& program_;
  const std::unordered_set<Symbol>& earlier_;
  Symbol buffer_;
  std::optional<PlanFault> fault_;
};

Expr aligned(ir::Context& context, Expr bytes) {
  return context.mul(context.ceil_div(bytes, kWorkspaceAlignment),
                     context.index(kWorkspaceAlignment));
}

void mark_extents(const Program& program, Expr root, std::vector<bool>& marks) {
  ir::walk(root, [&](Expr e) {
    const auto* extent = e.as<ir::Extent>();
    for (std::size_t i = 0; extent && i < program.extents.size(); ++i)
      if (program.extents[i].name == extent->name) marks[i] = true;
  });
}

std::unordered_set<Symbol> read_set(Stmt root) {
  std::unordered_set<Symbol> out;
  walk(root, [&](Stmt stmt) {
    for_each_part(stmt, [&](std::string_view, auto part) {
      if constexpr (std::is_same_v<decltype(part), Expr>)
        for (const ir::Read* read : ir::reads(part)) out.insert(read->tensor);
    });
    if (const auto* call = stmt.as<Call>())
      for (Tile tile : call->operands) out.insert(tile->buffer);
  });
  return out;
}

}  // namespace

bool reads_tensor(const Program& program, Symbol tensor) {
  return read_set(program.body).contains(tensor);
}

std::int64_t plan_head_bytes(const Program& program) {
  const auto words = kPlanExtents + static_cast<std::int64_t>(program.extents.size());
  return (8 * words + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

bool has_plan(const Program& program) { return plan_alloc(program.body) != nullptr; }

std::optional<PlanFault> find_plan_fault(const Program& program) {
  const std::vector<Link> chain = chain_of(program);
  std::unordered_set<Symbol> buffers;
  for (const Link& link : chain) {
    const std::string name = in_backticks(link.alloc->buffer.text());
    const Stmt here(link.alloc);
    if (link.fill.empty() && !has_no_cells(*link.alloc))
      return PlanFault{here, "nothing fills " + name + " at the start of its body",
                       "store all of it before it is read"};
    for (Stmt fill : link.fill)
      if (auto fault = FillJudge(program, buffers, link.alloc->buffer).judge(fill)) return fault;
    for (Expr extent : link.alloc->extents)
      if (!ir::reads(extent).empty() || !ir::free_vars(extent).empty())
        return PlanFault{here, "the size of " + name + " depends on more than extents",
                         "give it a size over the extents alone"};
    buffers.insert(link.alloc->buffer);
  }
  std::size_t count = 0;
  std::optional<PlanFault> fault;
  walk(program.body, [&](Stmt stmt) {
    const Alloc* alloc = plan_alloc(stmt);
    if (!alloc || ++count <= chain.size() || fault) return;
    fault = PlanFault{stmt,
                      in_backticks(alloc->buffer.text()) +
                          " is a buffer of the plan and does not stand at the root of the program",
                      "allocate it around everything else, or in `workspace`"};
  });
  if (fault || chain.empty()) return fault;
  for (Stmt rest : chain.back().rest)
    for_each_written(program, rest, [&](Symbol written) {
      if (!fault && buffers.contains(written))
        fault = PlanFault{rest,
                          "a buffer of the plan, " + in_backticks(written.text()) +
                              ", is written after it was filled",
                          "write to a buffer in `workspace`"};
    });
  return fault;
}

Result<Planned> split_plan(ir::Context& context, const Program& program) {
  const std::vector<Link> chain = chain_of(program);
  Planned out;
  out.plan = program;
  out.plan.places = nullptr;
  out.plan.intrinsics.clear();
  std::erase_if(out.plan.parameters, [](const Parameter& p) { return p.is_output; });
  out.run = program;
  out.run.places = nullptr;
  out.bytes = context.index(0);
  out.depends_on.assign(program.extents.size(), false);
  std::vector<Stmt> fills;
  auto first_output = std::find_if(out.run.parameters.begin(), out.run.parameters.end(),
                                   [](const Parameter& p) { return p.is_output; }) -
                      out.run.parameters.begin();
  for (const Link& link : chain) {
    PlanBuffer buffer{link.alloc->buffer,
                      link.alloc->type,
                      {link.alloc->extents.begin(), link.alloc->extents.end()},
                      out.bytes};
    Expr bytes = context.index(ir::size_bytes(buffer.type));
    for (Expr extent : buffer.extents) {
      bytes = context.mul(bytes, extent);
      mark_extents(program, extent, out.depends_on);
    }
    out.bytes = context.add(out.bytes, aligned(context, bytes));
    out.plan.parameters.push_back({buffer.name, buffer.type, buffer.extents, true});
    out.run.parameters.insert(out.run.parameters.begin() + first_output++,
                              {buffer.name, buffer.type, buffer.extents, false});
    fills.insert(fills.end(), link.fill.begin(), link.fill.end());
    out.buffers.push_back(std::move(buffer));
  }
  out.plan.body = make_block(context, fills);
  out.run.body = make_block(context, chain.back().rest);
  walk(out.plan.body, [&](Stmt stmt) {
    for_each_part(stmt, [&](std::string_view, auto part) {
      if constexpr (std::is_same_v<decltype(part), Expr>)
        mark_extents(program, part, out.depends_on);
    });
  });
  // The shape of a tensor that is read is its strides; the range of its values was checked where they were copied,
  // so a run at other bounds would read beyond them.
  for (Symbol tensor : read_set(out.plan.body))
    if (const Parameter* parameter = out.plan.find_parameter(tensor)) {
      for (Expr extent : parameter->shape) mark_extents(program, extent, out.depends_on);
      for (Expr bound : {parameter->facts.lower, parameter->facts.upper})
        if (bound) mark_extents(program, bound, out.depends_on);
    }
  TILEWRIGHT_TRY(fill, derive_workspace(context, out.plan));
  out.plan_contract.workspace = std::move(fill);
  TILEWRIGHT_TRY(rest, derive_workspace(context, out.run));
  out.run_contract.workspace = std::move(rest);
  // For which sizes a variant runs does not matter to what it reads.
  Program bare = out.plan;
  bare.requirements.clear();
  const std::string text = print(bare);
  out.hash[0] = hash_bytes(text, 1);
  out.hash[1] = hash_bytes(text, 2);
  return out;
}

}  // namespace tilewright::program

// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/contract.h"

#include <algorithm>

#include "frontend/ir/walk.h"
#include "lowering/program/places.h"
#include "lowering/program/split_complex.h"
#include "runtime/include/tilewright/runtime.h"

namespace tilewright::program {

namespace {

bool bound_extents_cover(Expr expr, const std::vector<ExtentBinding>& bindings) {
  bool covered = true;
  ir::walk(expr, [&](Expr e) {
    if (const auto* extent = e.as<ir::Extent>())
      covered &= std::any_of(bindings.begin(), bindings.end(),
                             [&](const ExtentBinding& b) { return b.extent == extent->name; });
  });
  return covered;
}

Result<std::vector<ExtentBinding>> bind_extents(const Program& program) {
  std::vector<ExtentBinding> bindings;
  auto bind_from = [&](bool outputs) {
    for (int p = 0; p < static_cast<int>(program.parameters.size()); ++p) {
      const Parameter& parameter = program.parameters[p];
      if ((parameter.is_output && !parameter.is_inout) != outputs) continue;
      for (int d = 0; d < static_cast<int>(parameter.shape.size()); ++d) {
        const auto* extent = parameter.shape[d].as<ir::Extent>();
        if (extent && !bound_extents_cover(parameter.shape[d], bindings))
          bindings.push_back({extent->name, p, d});
      }
    }
  };
  bind_from(false);
  bind_from(true);
  for (const ir::ExtentDecl& decl : program.extents) {
    const bool bound = std::any_of(bindings.begin(), bindings.end(),
                                   [&](const ExtentBinding& b) { return b.extent == decl.name; });
    if (!bound)
      return fail(
          Code::UnboundExtent, decl.span,
          "no dimension of an input or output is exactly `" + std::string(decl.name.text()) + "`",
          "give an input a dimension that is this extent alone");
  }
  return bindings;
}

class CheckList {
 public:
  CheckList(const Program& program, const std::vector<ExtentBinding>& bindings)
      : program_(program), bindings_(bindings) {}

  std::vector<Check> make() {
    add({CheckKind::Call, -1, -1, -1, 0, {}, true});
    add({CheckKind::Cpu, -1, -1, -1, 0, {}, false});
    for (int p = 0; p < size(); ++p) add({CheckKind::NotNull, p, -1, -1, 0, {}, true});
    for (int p = 0; p < size(); ++p) add_parameter(p);
    for (Expr condition : program_.requirements)
      add({CheckKind::Requires, -1, -1, -1, 0, condition, true});
    for (int p = 0; p < size(); ++p)
      for (int o = 0; o < p; ++o)
        if (program_.parameters[p].is_output || program_.parameters[o].is_output)
          add({CheckKind::Overlap, p, -1, o, 0, {}, false});
    add({CheckKind::WorkspaceSize, -1, -1, -1, 0, {}, false});
    add({CheckKind::WorkspaceAlignment, -1, -1, -1, kWorkspaceAlignment, {}, false});
    for (int p = 0; p < size(); ++p) add({CheckKind::WorkspaceOverlap, p, -1, -1, 0, {}, false});
    for (int p = 0; p < size(); ++p) add_facts(p);
    return std::move(checks_);
  }

 private:
  int size() const { return static_cast<int>(program_.parameters.size()); }
  void add(Check check) { checks_.push_back(check); }

  void add_facts(int p) {
    const ir::Facts& facts = program_.parameters[p].facts;
    auto fact = [&](CheckKind kind) { add({kind, p, -1, -1, 0, facts.lower, false, facts.upper}); };
    if (facts.clamp) fact(CheckKind::RangeNotEmpty);
    if (facts.assumed) return;
    if (facts.lower && !facts.clamp) fact(CheckKind::ValueRange);
    if (facts.monotone) fact(CheckKind::Monotone);
    if (facts.injective) fact(CheckKind::Injective);
  }

  // A dimension can be compared once the extents in it are bound; until then it waits.
  void add_parameter(int p) {
    const Parameter& parameter = program_.parameters[p];
    const int rank = static_cast<int>(parameter.shape.size());
    add({CheckKind::Rank, p, -1, -1, rank, {}, true});
    add({CheckKind::ElementType, p, -1, -1, 0, {}, true});
    add({CheckKind::Device, p, -1, -1, 0, {}, true});
    if (rank > 0) add({CheckKind::ShapeNotNull, p, -1, -1, 0, {}, true});
    for (int d = 0; d < rank; ++d) {
      const auto* binding = find_binding(p, d);
      if (binding == nullptr) {
        waiting_.push_back({CheckKind::Shape, p, d, -1, 0, parameter.shape[d], true});
        continue;
      }
      seen_.push_back(*binding);
      add_range(p, d, parameter.shape[d], binding->extent);
    }
    std::erase_if(waiting_, [&](const Check& check) {
      const bool ready = bound_extents_cover(check.expr, seen_);
      if (ready) add(check);
      return ready;
    });
    add({CheckKind::Strides, p, -1, -1, 0, {}, false});
    add({CheckKind::Bytes, p, -1, -1, ir::size_bytes(parameter.type), {}, true});
    add({CheckKind::Alignment,
         p,
         -1,
         -1,
         ir::size_bytes(ir::part_type(parameter.type)),
         {},
         false});
    if (parameter.is_output) add({CheckKind::Writable, p, -1, -1, 0, {}, false});
  }

  void add_range(int p, int d, Expr extent, Symbol name) {
    const auto decl = std::find_if(program_.extents.begin(), program_.extents.end(),
                                   [&](const ir::ExtentDecl& e) { return e.name == name; });
    const bool declared = decl != program_.extents.end();
    add({CheckKind::ExtentMin, p, d, -1, declared ? std::max<std::int64_t>(decl->min, 0) : 0,
         extent, true});
    if (declared && decl->max) add({CheckKind::ExtentMax, p, d, -1, *decl->max, extent, true});
    if (declared && decl->multiple_of > 1)
      add({CheckKind::ExtentMultiple, p, d, -1, decl->multiple_of, extent, true});
  }

  const ExtentBinding* find_binding(int p, int d) const {
    auto it = std::find_if(bindings_.begin(), bindings_.end(), [&](const ExtentBinding& b) {
      return b.parameter == p && b.dimension == d;
    });
    return it == bindings_.end() ? nullptr : &*it;
  }

  const Program& program_;
  const std::vector<ExtentBinding>& bindings_;
  std::vector<ExtentBinding> seen_;
  std::vector<Check> waiting_;
  std::vector<Check> checks_;
};

// A stack discipline: a buffer lies after the buffers around it; siblings share their bytes.
class WorkspacePlanner {
 public:
  WorkspacePlanner(ir::Context& context, const Program& program, WorkspacePlan& plan)
      : context_(context), program_(program), plan_(plan) {}

  // Bytes needed up to the end of everything in `stmt`, when it begins at `offset`.
  Result<Expr> place(Stmt stmt, Expr offset) {
    if (const auto* block = stmt.as<Block>()) return place_block(*block, offset);
    if (const auto* loop = stmt.as<For>()) return place_loop(*loop, offset);
    if (const auto* branch = stmt.as<If>()) {
      TILEWRIGHT_TRY(then_end, place(branch->then_body, offset));
      if (!branch->else_body) return then_end;
      TILEWRIGHT_TRY(else_end, place(branch->else_body, offset));
      return context_.max(then_end, else_end);
    }
    if (const auto* let = stmt.as<Let>()) {
      if (let->value.type() == ScalarType::Index)
        lets_[let->var] = ir::substitute(context_, let->value, lets_);
      return place(let->body, offset);
    }
    if (const auto* alloc = stmt.as<Alloc>()) return place_alloc(*alloc, offset);
    return offset;
  }

 private:
  Result<Expr> place_block(const Block& block, Expr offset) {
    Expr end = offset;
    for (Stmt child : block.body) {
      TILEWRIGHT_TRY(child_end, place(child, offset));
      end = end == offset ? child_end : (child_end == offset ? end : context_.max(end, child_end));
    }
    return end;
  }

  Result<Expr> place_loop(const For& loop, Expr offset) {
    if (loop.loop == LoopKind::Vector) return place_vector(loop, offset);
    if (loop.loop != LoopKind::Parallel || in_parallel_) return place(loop.body, offset);
    in_parallel_ = true;
    auto slice = place(loop.body, context_.index(0));
    in_parallel_ = false;
    TILEWRIGHT_CHECK_OK(slice);
    if (*slice == context_.index(0)) return offset;
    plan_.slice_begin[loop.var] = offset;
    plan_.slice_size[loop.var] = *slice;
    return context_.add(offset, context_.mul(context_.var(plan_.workers), *slice));
  }

  // Inside a vector loop each lane has its own copy of a buffer.
  Result<Expr> place_vector(const For& loop, Expr offset) {
    const auto* lower = loop.lower.as<ir::IntConst>();
    const auto* upper = loop.upper.as<ir::IntConst>();
    const std::int64_t outer = lanes_;
    if (lower && upper) lanes_ *= std::max<std::int64_t>(upper->value - lower->value, 1);
    auto end = place(loop.body, offset);
    lanes_ = outer;
    return end;
  }

  Result<Expr> place_alloc(const Alloc& alloc, Expr offset) {
    if (alloc.space != Space::Workspace && alloc.space != Space::Plan)
      return place(alloc.body, offset);
    Expr bytes = context_.index(ir::size_bytes(alloc.type) * lanes_);
    for (Expr extent : alloc.extents) {
      const Expr size = ir::substitute(context_, extent, lets_);
      if (!ir::free_vars(size).empty() || !ir::reads(size).empty())
        return fail(Code::WorkspaceExtent, place_of(program_, alloc.buffer),
                    "the size of workspace buffer `" + std::string(alloc.buffer.text()) +
                        "` depends on a loop variable, so no query can give it",
                    "allocate for the largest tile: an extent over the sizes alone");
      bytes = context_.mul(bytes, size);
    }
    plan_.offset[alloc.buffer] = offset;
    return place(alloc.body, context_.add(offset, aligned(bytes)));
  }

  Expr aligned(Expr bytes) {
    const Expr alignment = context_.index(kWorkspaceAlignment);
    return context_.mul(context_.ceil_div(bytes, kWorkspaceAlignment), alignment);
  }

  ir::Context& context_;
  const Program& program_;
  WorkspacePlan& plan_;
  ir::Substitution lets_;
  std::int64_t lanes_ = 1;
  bool in_parallel_ = false;
};

}  // namespace

std::string_view check_text(CheckKind kind) {
  switch (kind) {
    case CheckKind::Cpu: return "this processor lacks instructions that the library was built for";
    case CheckKind::Call: return "the call context, its executor or its error detail is malformed";
    case CheckKind::NotNull: return "the descriptor is null";
    case CheckKind::Rank: return "wrong rank";
    case CheckKind::ElementType: return "wrong element type";
    case CheckKind::Device: return "the tensor is not in host memory";
    case CheckKind::ShapeNotNull: return "the shape is null";
    case CheckKind::ExtentMin: return "the extent is below its declared minimum";
    case CheckKind::ExtentMax: return "the extent is above its declared maximum";
    case CheckKind::ExtentMultiple: return "the extent is not the declared multiple";
    case CheckKind::Shape: return "wrong extent";
    case CheckKind::Strides: return "the strides are not compact row-major";
    case CheckKind::Bytes:
      return "the elements do not fit the bytes of the tensor, or data is null";
    case CheckKind::Alignment: return "the data is not aligned to one element";
    case CheckKind::Writable: return "an output is marked read-only";
    case CheckKind::Requires: return "a requirement of the algorithm does not hold";
    case CheckKind::Overlap: return "an output shares bytes with another argument";
    case CheckKind::WorkspaceSize: return "the workspace is null or too small";
    case CheckKind::WorkspaceAlignment: return "the workspace is not aligned";
    case CheckKind::WorkspaceOverlap: return "the workspace shares bytes with an argument";
    case CheckKind::ValueRange: return "a value is outside of its declared range";
    case CheckKind::RangeNotEmpty: return "the range that values are clamped to is empty";
    case CheckKind::Monotone: return "the values fall, which are declared monotone";
    case CheckKind::Injective: return "a value stands twice in a row that is declared injective";
    case CheckKind::PlanSize: return "the plan is null or too small";
    case CheckKind::PlanAlignment: return "the plan is not aligned";
    case CheckKind::PlanOverlap: return "the plan shares bytes with an argument or the workspace";
    case CheckKind::PlanMagic: return "this is no plan, or one that was never finished";
    case CheckKind::PlanVariant: return "the plan was made for another variant or function";
    case CheckKind::PlanExtent: return "the plan was made for other sizes";
  }
  __builtin_unreachable();
}

std::int32_t status_of(CheckKind kind) {
  switch (kind) {
    case CheckKind::Cpu: return TILEWRIGHT_UNSUPPORTED_CPU;
    case CheckKind::Call: return TILEWRIGHT_BAD_CALL;
    case CheckKind::NotNull:
    case CheckKind::ShapeNotNull: return TILEWRIGHT_NULL_ARGUMENT;
    case CheckKind::Rank: return TILEWRIGHT_WRONG_RANK;
    case CheckKind::ElementType: return TILEWRIGHT_WRONG_TYPE;
    case CheckKind::Device: return TILEWRIGHT_WRONG_DEVICE;
    case CheckKind::ExtentMin:
    case CheckKind::ExtentMax:
    case CheckKind::ExtentMultiple:
    case CheckKind::Shape: return TILEWRIGHT_WRONG_SHAPE;
    case CheckKind::Strides: return TILEWRIGHT_UNSUPPORTED_STRIDES;
    case CheckKind::Bytes: return TILEWRIGHT_OUT_OF_BOUNDS;
    case CheckKind::Alignment: return TILEWRIGHT_MISALIGNED;
    case CheckKind::Writable: return TILEWRIGHT_READ_ONLY;
    case CheckKind::Requires: return TILEWRIGHT_REQUIRES_VIOLATED;
    case CheckKind::Overlap:
    case CheckKind::WorkspaceOverlap: return TILEWRIGHT_OVERLAP;
    case CheckKind::WorkspaceSize: return TILEWRIGHT_WORKSPACE_TOO_SMALL;
    case CheckKind::WorkspaceAlignment: return TILEWRIGHT_WORKSPACE_MISALIGNED;
    case CheckKind::ValueRange:
    case CheckKind::RangeNotEmpty:
    case CheckKind::Monotone:
    case CheckKind::Injective: return TILEWRIGHT_BAD_VALUES;
    case CheckKind::PlanSize: return TILEWRIGHT_PLAN_TOO_SMALL;
    case CheckKind::PlanAlignment: return TILEWRIGHT_MISALIGNED;
    case CheckKind::PlanOverlap: return TILEWRIGHT_OVERLAP;
    case CheckKind::PlanMagic:
    case CheckKind::PlanVariant:
    case CheckKind::PlanExtent: return TILEWRIGHT_BAD_PLAN;
  }
  __builtin_unreachable();
}

std::string_view status_name(std::int32_t status) {
  switch (status) {
    case TILEWRIGHT_OK: return "TILEWRIGHT_OK";
    case TILEWRIGHT_NULL_ARGUMENT: return "TILEWRIGHT_NULL_ARGUMENT";
    case TILEWRIGHT_WRONG_RANK: return "TILEWRIGHT_WRONG_RANK";
    case TILEWRIGHT_WRONG_TYPE: return "TILEWRIGHT_WRONG_TYPE";
    case TILEWRIGHT_WRONG_DEVICE: return "TILEWRIGHT_WRONG_DEVICE";
    case TILEWRIGHT_WRONG_SHAPE: return "TILEWRIGHT_WRONG_SHAPE";
    case TILEWRIGHT_UNSUPPORTED_STRIDES: return "TILEWRIGHT_UNSUPPORTED_STRIDES";
    case TILEWRIGHT_OUT_OF_BOUNDS: return "TILEWRIGHT_OUT_OF_BOUNDS";
    case TILEWRIGHT_MISALIGNED: return "TILEWRIGHT_MISALIGNED";
    case TILEWRIGHT_READ_ONLY: return "TILEWRIGHT_READ_ONLY";
    case TILEWRIGHT_REQUIRES_VIOLATED: return "TILEWRIGHT_REQUIRES_VIOLATED";
    case TILEWRIGHT_OVERLAP: return "TILEWRIGHT_OVERLAP";
    case TILEWRIGHT_WORKSPACE_TOO_SMALL: return "TILEWRIGHT_WORKSPACE_TOO_SMALL";
    case TILEWRIGHT_WORKSPACE_MISALIGNED: return "TILEWRIGHT_WORKSPACE_MISALIGNED";
    case TILEWRIGHT_BAD_CALL: return "TILEWRIGHT_BAD_CALL";
    case TILEWRIGHT_UNSUPPORTED_CPU: return "TILEWRIGHT_UNSUPPORTED_CPU";
    case TILEWRIGHT_BAD_VALUES: return "TILEWRIGHT_BAD_VALUES";
    case TILEWRIGHT_PLAN_TOO_SMALL: return "TILEWRIGHT_PLAN_TOO_SMALL";
    case TILEWRIGHT_BAD_PLAN: return "TILEWRIGHT_BAD_PLAN";
    default: return "TILEWRIGHT_INVALID_ARGUMENT";
  }
}

Result<WorkspacePlan> derive_workspace(ir::Context& context, const Program& program) {
  WorkspacePlan out;
  out.workers = context.symbol("workers");
  TILEWRIGHT_TRY(total, WorkspacePlanner(context, program, out)
                            .place(split_complex(context, program).body, context.index(0)));
  out.total = total;
  return out;
}

Expr with_checks_of_values(ir::Context& context, const Contract& contract, Expr total) {
  for (const Check& check : contract.checks)
    if (check.kind == CheckKind::Injective)
      total = context.max(total, context.sub(check.other_expr, check.expr));
  return total;
}

Result<Contract> derive_contract(ir::Context& context, const Program& program) {
  Contract contract;
  TILEWRIGHT_TRY(bindings, bind_extents(program));
  contract.bindings = std::move(bindings);
  contract.checks = CheckList(program, contract.bindings).make();
  TILEWRIGHT_TRY(workspace, derive_workspace(context, program));
  contract.workspace = std::move(workspace);
  contract.workspace.total = with_checks_of_values(context, contract, contract.workspace.total);
  return contract;
}

}  // namespace tilewright::program

// SPDX-License-Identifier: Apache-2.0
//
// A nest's plan and its statements: elementwise values and staged copies; the allocation around a placed nest.
#include <algorithm>

#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "lowering/build/nest_emitter.h"

namespace tilewright::build {

using program::OriginRole;

namespace {

// Largest buffer that goes to the stack of the function instead of the workspace.
constexpr std::int64_t kMaxStackBytes = 16 * 1024;

std::vector<Dimension> stage_dimensions(ir::Context& context, const tree::Stage& stage,
                                        const Region& region) {
  std::vector<Dimension> out;
  const Expr zero = context.index(0);
  for (const tree::LayoutComponent& part : stage.layout) {
    const auto at = static_cast<std::size_t>(
        std::find(stage.dims.begin(), stage.dims.end(), part.dim) - stage.dims.begin());
    // A padded buffer is filled to its end.
    const Expr size = stage.pad ? region.max_size[at] : region.size[at];
    switch (part.part) {
      case tree::LayoutComponent::Part::Whole:
        out.push_back({part.name, size, region.max_size[at], zero, false});
        break;
      case tree::LayoutComponent::Part::Quotient:
        out.push_back({part.name, context.ceil_div(size, part.factor),
                       context.ceil_div(region.max_size[at], part.factor), zero, false});
        break;
      case tree::LayoutComponent::Part::Remainder:
        out.push_back(
            {part.name, context.index(part.factor), context.index(part.factor), zero, false});
        break;
    }
  }
  return out;
}

Result<std::vector<Dimension>> nest_dimensions(Builder& builder, const tree::Nest& nest,
                                               const Region& region) {
  if (nest.stage) return stage_dimensions(builder.context, *nest.stage, region);
  const ir::Equation& equation = *builder.equation(nest.name);
  std::vector<Dimension> out;
  for (std::size_t i = 0; i < equation.indices.size(); ++i)
    out.push_back(
        {equation.indices[i], region.size[i], region.max_size[i], region.lower[i], false});
  if (const ir::Fold* fold = equation.fold(); fold && !fold->scan) {
    // The algorithm's variables are not the Program's loops: only extents have a known range here.
    const ir::Ranges ranges = extent_ranges(builder.algorithm);
    for (std::size_t i = 0; i < fold->vars.size(); ++i) {
      const Expr size = ir::simplify(builder.context,
                                     builder.context.sub(fold->upper[i], fold->lower[i]), ranges);
      TILEWRIGHT_TRY(most, builder.largest(equation, i, size));
      out.push_back({fold->vars[i], size, most, fold->lower[i], true});
    }
  }
  return out;
}

// The word of `keep` that names the loop.
Span kept_place(const tree::Nest& nest, Symbol loop) {
  for (std::size_t i = 0; i < nest.keep.size(); ++i)
    if (nest.keep[i] == loop) return nest.kept.of(i);
  return {};
}

// `12 -> 6 -> 3`: how far lanes can be merged in pairs.
std::string halving_text(std::int64_t lanes) {
  std::string out = std::to_string(lanes);
  while (lanes > 0 && lanes % 2 == 0) out += " -> " + std::to_string(lanes /= 2);
  return out;
}

}  // namespace

NestEmitter::NestEmitter(Builder& builder, const tree::Nest& nest, const Region& region,
                         std::vector<Dimension> dimensions)
    : builder_(builder),
      context_(builder.context),
      nest_(nest),
      region_(region),
      equation_(nest.stage ? nullptr : builder.equation(nest.name)),
      space_(builder.context, builder.facts, nest, std::move(dimensions)) {
  const ir::Fold* fold = equation_ ? equation_->fold() : nullptr;
  if (!fold) return;
  (fold->scan ? scan_ : fold->is_update() ? update_ : fold_) = fold;
  reduction_ = ir::reduction_of(builder.algorithm, *fold);
  if (!fold_) return;
  const std::vector<Expr> start = ir::identity(context_, reduction_);
  for (std::size_t i = 0; i < start.size(); ++i)
    accumulators_.push_back({reduction_.types[i], start[i], {}, {}});
  if (!fold_->on_empty.empty())
    accumulators_.push_back({ir::ScalarType::Bool, context_.boolean(false), {}, {}});
}

Result<Stmt> NestEmitter::emit(const Env& env) {
  TILEWRIGHT_CHECK_OK(plan());
  Point point;
  point.env = env;
  // Bounds read what stands outside of the nest.
  space_.read_data([&](Expr bound) {
    const Expr there = builder_.localise(env, bound, {});
    if (data_bounds_.empty()) return there;
    return builder_.simplify(ir::rewrite(context_, there, [&](Expr e) -> Expr {
      for (const auto& [read, name] : data_bounds_)
        if (read == e) return context_.var(name);
      return {};
    }));
  });
  return update_ ? update(point) : level(0, point);
}

Result<Ok> NestEmitter::plan() {
  const std::size_t n = nest_.loops.size();
  first_fold_ = tile_begin_ = tensor_begin_ = n;
  if (!fold_) return Ok{};
  if (nest_.tensorized) TILEWRIGHT_CHECK_OK(plan_tensor());
  auto kept = [&](std::size_t i) {
    const Symbol name = nest_.loops[i].name;
    return is_tensorized(i) ||
           std::find(nest_.keep.begin(), nest_.keep.end(), name) != nest_.keep.end();
  };
  for (std::size_t i = n; i-- > 0;) {
    const tree::Loop& l = nest_.loops[i];
    if (space_.is_fold(l.name)) first_fold_ = std::min(i, tensor_begin_);
    if (tile_begin_ == i + 1 && (space_.is_fold(l.name) || kept(i))) tile_begin_ = i;
  }
  // The tile starts at a fold loop: kept loops outside every fold loop are ordinary loops.
  tile_begin_ = std::max(tile_begin_, first_fold_);
  for (std::size_t i = 0; i < tile_begin_; ++i)
    if (kept(i) && space_.constant_extent(nest_.loops[i].name) != 1) return not_in_tile(i);
  std::size_t vector_loop = n;
  for (std::size_t i = tile_begin_; i < tensor_begin_; ++i) {
    const tree::Loop& l = nest_.loops[i];
    const bool fold_loop = space_.is_fold(l.name);
    if (fold_loop && l.kind != tree::LoopKind::Vector) continue;
    const auto length = space_.constant_extent(l.name);
    if (!length)
      return refuse(
          fold_loop ? l.marked.span : kept_place(nest_, l.name),
          "loop `" + std::string(nest_.name.text()) + "." + std::string(l.name.text()) +
              "` has no constant length, so " +
              (fold_loop ? "it cannot be vectorized" : "its results cannot stay in registers"),
          fold_loop ? "split it by a constant and vectorize the inner loop"
                    : "split it by a constant and keep the inner loop",
          builder_.varying("length", {space_.max_extent(l.name)}));
    if (*length > 1 && l.kind != tree::LoopKind::Vector && l.kind != tree::LoopKind::Unrolled)
      return refuse(
          kept_place(nest_, l.name),
          "loop `" + std::string(nest_.name.text()) + "." + std::string(l.name.text()) +
              "` is neither unrolled nor vectorized, so its results cannot stay in registers",
          "unroll it: `unroll " + std::string(nest_.name.text()) + "." +
              std::string(l.name.text()) + "`",
          {{"loop", std::string(nest_.name.text()) + "." + std::string(l.name.text())},
           {"length", std::to_string(*length)}});
    if (!fold_loop) kept_.push_back(i);
    if (fold_loop) lanes_ = *length;
    if (l.kind == tree::LoopKind::Vector) {
      vector_loop = i;
    } else {
      tile_loops_.push_back(i);
      tile_extents_.push_back(*length);
    }
  }
  if (vector_loop < n) {
    tile_loops_.push_back(vector_loop);
    tile_extents_.push_back(*space_.constant_extent(nest_.loops[vector_loop].name));
  }
  for (std::size_t t = 0; t < num_tensor_results_; ++t) {
    const std::size_t i = tensor_loops_[t];
    kept_.push_back(i);
    tile_loops_.push_back(i);
    tile_extents_.push_back(*space_.constant_extent(nest_.loops[i].name));
  }
  if (tile_loops_.empty()) tile_extents_.push_back(1);
  if ((lanes_ & (lanes_ - 1)) != 0)
    return refuse(nest_.loops[vector_loop].marked.span,
                  "a vectorized reduction of `" + std::string(nest_.name.text()) + "` has " +
                      std::to_string(lanes_) + " lanes, which cannot be merged in pairs",
                  "use a power of two",
                  {{"lanes", std::to_string(lanes_)}, {"merged", halving_text(lanes_)}});
  return Ok{};
}

// A kept loop that is no part of the tile: the loop that keeps it out is named.
Failure NestEmitter::not_in_tile(std::size_t at) const {
  const Symbol name = nest_.loops[at].name;
  const auto path = [&](Symbol loop) {
    return std::string(nest_.name.text()) + "." + std::string(loop.text());
  };
  Evidence evidence = {{"loop", path(name)}};
  if (at < first_fold_) {
    evidence.emplace_back("reduction begins at", path(nest_.loops[first_fold_].name));
    return refuse(kept_place(nest_, name),
                  "loop `" + path(name) +
                      "` stands outside the loops of the reduction, so that "
                      "there is one result at a time to keep, with or without it",
                  "reorder it inside `" + path(nest_.loops[first_fold_].name) +
                      "` and unroll or vectorize it, or leave it out of `keep`",
                  std::move(evidence));
  }
  std::size_t between = at;
  for (std::size_t i = at + 1; i < nest_.loops.size(); ++i)
    if (!space_.is_fold(nest_.loops[i].name) &&
        std::find(nest_.keep.begin(), nest_.keep.end(), nest_.loops[i].name) == nest_.keep.end())
      between = i;
  evidence.emplace_back("not kept", path(nest_.loops[between].name));
  return refuse(kept_place(nest_, name),
                "loop `" + path(name) + "` is kept, but `" + path(nest_.loops[between].name) +
                    "` inside it runs over other results",
                "keep that loop too, or reorder it outside", std::move(evidence));
}

ir::Substitution NestEmitter::index_values(const Point& point) const {
  ir::Substitution out;
  for (const Dimension& dimension : space_.dimensions()) {
    // Outside the loops of a fold its variables have no value, nor have the indices in an update's terms.
    if ((dimension.is_fold || update_) && !space_.has_value(dimension.name, point.values)) continue;
    const Expr local = space_.value(dimension.name, point.values);
    out[dimension.name] = builder_.simplify(space_.absolute(dimension.name, local, point.values));
  }
  return out;
}

std::vector<Expr> NestEmitter::cell(const Point& point) const {
  const ir::Substitution values = index_values(point);
  std::vector<Expr> out;
  for (Symbol index : equation_->indices) out.push_back(values.at(index));
  return out;
}

Result<Stmt> NestEmitter::elementwise(Point& point) {
  const std::vector<Expr> guards = take_guards(point);
  const Expr value = builder_.localise(point.env, equation_->value, index_values(point));
  return guarded(guards, assign(result_places(point), {value}, OriginRole::Value, cell(point)));
}

std::vector<Place> NestEmitter::result_places(const Point& point) const {
  std::vector<Place> out;
  const std::vector<Expr> at = cell(point);
  for (const ir::TensorPart& part : equation_->tensors()) {
    Place place;
    place.origin = part.name;
    place.index = builder_.buffer_index(point.env, part.name, at, &place.buffer);
    out.push_back(std::move(place));
  }
  return out;
}

// buffer[layout] = tensor[lower + local], or the filler outside the region.
Result<Stmt> NestEmitter::copy(Point& point) {
  const std::vector<Expr> guards = take_guards(point);
  const tree::Stage& stage = *nest_.stage;
  std::vector<Expr> local(stage.dims.size(), context_.index(0));
  std::vector<Expr> inside;
  std::vector<Expr> index;
  for (const tree::LayoutComponent& part : stage.layout) {
    const auto at = static_cast<std::size_t>(
        std::find(stage.dims.begin(), stage.dims.end(), part.dim) - stage.dims.begin());
    const Expr value = builder_.simplify(space_.value(part.name, point.values));
    index.push_back(value);
    const bool quotient = part.part == tree::LayoutComponent::Part::Quotient;
    local[at] = context_.add(local[at],
                             quotient ? context_.mul(value, context_.index(part.factor)) : value);
  }
  std::vector<Expr> cell;
  for (std::size_t i = 0; i < local.size(); ++i) {
    cell.push_back(builder_.simplify(context_.add(region_.lower[i], local[i])));
    const bool whole = std::any_of(stage.layout.begin(), stage.layout.end(), [&](const auto& part) {
      return part.dim == stage.dims[i] && part.part == tree::LayoutComponent::Part::Whole;
    });
    // A whole dimension that is not padded beyond its region runs exactly over it.
    if (whole && (!stage.pad || region_.size[i] == region_.max_size[i])) continue;
    const Expr condition = builder_.simplify(context_.lt(local[i], region_.size[i]));
    const auto* known = condition.as<ir::BoolConst>();
    if (!(known && known->value)) inside.push_back(condition);
  }
  const ir::ScalarType type = *builder_.algorithm.type_of(stage.tensor);
  // The copy reads the tensor where it was before this stage.
  const Expr value = builder_.read(point.env, stage.tensor, cell);
  const Symbol buffer = point.env.bindings.at(nest_.name).buffer;
  index = builder_.swizzled(stage, std::move(index));
  if (const Expr slot = point.env.bindings.at(nest_.name).slot) index.insert(index.begin(), slot);
  const Stmt take =
      program::make_store(context_, buffer, index, value, OriginRole::Copy, stage.tensor, cell);
  Stmt fill;
  if (stage.pad)
    fill = program::make_store(context_, buffer, index, context_.constant(type, 0), OriginRole::Pad,
                               stage.tensor, cell);
  return guarded(guards, guarded(inside, take, fill));
}

Result<Stmt> Builder::emit_nest(const tree::Nest& nest, const Region& region, const Env& env) {
  TILEWRIGHT_TRY(dimensions, nest_dimensions(*this, nest, region));
  return NestEmitter(*this, nest, region, std::move(dimensions)).emit(env);
}

namespace {

program::Space space_of(const tree::Nest& nest, ir::ScalarType type,
                        const std::vector<Expr>& extents, bool* constant) {
  std::int64_t bytes = ir::size_bytes(type);
  const bool planned = nest.stage && nest.stage->at_plan;
  *constant = true;
  for (Expr extent : extents) {
    const auto* known = extent.as<ir::IntConst>();
    if (!known || __builtin_mul_overflow(bytes, known->value, &bytes)) {
      *constant = false;
      return planned ? program::Space::Plan : program::Space::Workspace;
    }
  }
  if (nest.in_register) return program::Space::Register;
  if (planned) return program::Space::Plan;
  switch (nest.space) {
    case tree::Space::None:
    case tree::Space::Register: break;
    case tree::Space::Shared: return program::Space::Shared;
    case tree::Space::Tensor: return program::Space::Tensor;
    case tree::Space::Scratchpad: return program::Space::Scratchpad;
    case tree::Space::Accumulator: return program::Space::Accumulator;
  }
  return bytes <= kMaxStackBytes ? program::Space::Stack : program::Space::Workspace;
}

}  // namespace

// Where the cells of a tensor of the nest are, once it is in a buffer of its own.
Binding Builder::own_binding(const tree::Nest& nest, Symbol tensor, const Region& region,
                             Expr slot) {
  Binding binding;
  binding.slot = slot;
  binding.lower = region.lower;
  if (nest.stage) {
    binding.stage = &*nest.stage;
    for (const Dimension& d : stage_dimensions(context, *nest.stage, region)) {
      // A swizzle moves cells within blocks of a power of two.
      std::int64_t block = 1;
      for (const tree::Swizzle& s : nest.stage->swizzles)
        if (s.target == d.name) block = std::max(block, std::int64_t{1} << (s.target_bit + s.bits));
      binding.extents.push_back(
          simplify(context.mul(context.ceil_div(d.max_size, block), context.index(block))));
      // The parts of a dimension that is cut are full only where the filler is.
      const bool cut =
          std::any_of(nest.stage->layout.begin(), nest.stage->layout.end(), [&](const auto& part) {
            return part.name == d.name && part.part != tree::LayoutComponent::Part::Whole;
          });
      const bool all = (nest.stage->pad || !cut) && block == 1;
      binding.filled.push_back(all ? d.size : Expr());
    }
  } else {
    binding.extents = region.max_size;
    binding.filled = region.size;
  }
  if (region.needed) binding.filled.assign(binding.extents.size(), Expr());
  for (Expr& extent : binding.extents) {
    extent = simplify(context.max(context.index(0), extent));
    // A buffer outside the workspace and the plan has at least one cell.
    const bool planned = nest.stage && nest.stage->at_plan;
    if (extent == context.index(0) && !planned) extent = context.index(1);
  }
  if (slot) {
    binding.extents.insert(binding.extents.begin(), context.index(nest.ring));
    binding.filled.insert(binding.filled.begin(), context.index(nest.ring));
  }
  if (memories_ && has_team_memory(nest))
    for (const Memory& known : *memories_)
      if (known.tensor == tensor && known.nest == nest.name && known.extents == binding.extents)
        binding.buffer = known.buffer;
  if (!binding.buffer.valid())
    binding.buffer = fresh(nest.stage ? nest.name.text() : tensor.text());
  return binding;
}

Result<Stmt> Builder::emit_placed(const tree::Nest& nest, const Region& region, Env& env,
                                  const std::function<Result<Stmt>(Env&)>& rest,
                                  const Placing& placing) {
  std::vector<ir::TensorPart> tensors;
  if (nest.stage)
    tensors.push_back({nest.stage->tensor, *algorithm.type_of(nest.stage->tensor)});
  else
    tensors = equation(nest.name)->tensors();
  std::vector<Binding> bindings;
  std::vector<program::Space> spaces;
  for (const ir::TensorPart& tensor : tensors) {
    bindings.push_back(own_binding(nest, tensor.name, region, placing.slot));
    bool constant = false;
    spaces.push_back(space_of(nest, tensor.type, bindings.back().extents, &constant));
    if ((nest.in_register || nest.space != tree::Space::None) && !constant)
      return refuse(nest.registered.span,
                    "the region of `" + std::string(nest.name.text()) +
                        "` has no constant size, so it cannot stay in " +
                        (nest.in_register ? "registers" : "that memory"),
                    "place it at a loop inside which its region is constant",
                    varying("size", bindings.back().extents));
  }
  const bool lives_on = has_team_memory(nest);
  if (lives_on) {
    if (!memories_)
      return refuse(nest.registered.span,
                    "`" + std::string(nest.name.text()) + "` is in no loop of a team of agents",
                    "bind a loop around it to blocks, or to cores of an accelerator",
                    {{"nest", std::string(nest.name.text())}});
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (std::none_of(memories_->begin(), memories_->end(),
                       [&](const Memory& m) { return m.buffer == bindings[i].buffer; }))
        memories_->push_back({tensors[i].name, nest.name, bindings[i].buffer, tensors[i].type,
                              bindings[i].extents, spaces[i]});
  }
  // The nest itself still reads a staged tensor from where it was.
  Env inner = env;
  Env after = env;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    inner.bindings[nest.stage ? nest.name : tensors[i].name] = bindings[i];
    after.bindings[tensors[i].name] = bindings[i];
  }
  // Another role is none of the agents into which that of the nest around is split.
  if (placing.role)
    std::erase_if(inner.agents, [](const Agent& a) { return a.scope < tree::Scope::Block; });
  Stmt fill = program::make_block(context, {});
  if (placing.fills) {
    TILEWRIGHT_TRY(made, emit_nest(nest, region, inner));
    fill = region.needed ? program::make_if(context, region.needed, made) : made;
    if (placing.when) fill = program::make_if(context, placing.when, fill);
    if (lives_on) fill = by_one_agent(nest, inner, fill);
    if (placing.role) fill = by_role(*placing.role, fill);
  }
  TILEWRIGHT_TRY(use, rest(after));
  const Stmt both[] = {fill, use};
  Stmt out = program::make_block(context, both);
  for (std::size_t i = lives_on ? 0 : tensors.size(); i-- > 0;)
    out = program::make_alloc(context, bindings[i].buffer, tensors[i].type, bindings[i].extents,
                              spaces[i], out);
  return out;
}

}  // namespace tilewright::build

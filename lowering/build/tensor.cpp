// SPDX-License-Identifier: Apache-2.0
//
// Tensorized tiles. The term of the reduction, as it stands over the buffers of the Program, is unified with the
// meaning of each form of the instruction; each operand must then be one tile of a buffer whose cells lie side
// by side as the instruction's lanes do. Nothing here knows an instruction: what is matched, where operands
// lie and how many lanes there are is in its description. A tile that may be partial is computed by loops, which
// a schedule asks for by `peel`; anywhere else it is refused, since it would never be fast.
#include <algorithm>
#include <functional>

#include "frontend/base/format.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "lowering/build/nest_emitter.h"
#include "schedules/machine/unify.h"

namespace tilewright::build {

namespace {

constexpr std::int64_t kMaxTried =
    64;  // iterations of one loop, in the search for a counterexample

Failure refuse_tile(const tree::Nest& nest, Code code, std::string message, std::string remedy,
                    Evidence evidence) {
  return fail(Diagnostic{code,
                         nest.tensorized->place.span,
                         std::move(message),
                         std::move(remedy),
                         {},
                         std::move(evidence)});
}

bool mentions(Expr e, const std::vector<Symbol>& names) {
  for (Symbol name : ir::free_vars(e))
    if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  return false;
}

// Finds the tile of one operand: where each of its dimensions runs in the buffer.
struct OperandFinder {
  Builder& builder;
  const Env& env;
  const machine::Meaning& meaning;
  const std::vector<Symbol>& vars;  // of the tensorized loops, by dimension of the meaning

  // The tile, or why there is none.
  std::optional<program::Tile> find(const machine::Meaning::Operand& operand, const ir::Read& read,
                                    std::string& why) const {
    ir::Context& context = builder.context;
    std::vector<Expr> base(read.indices.begin(), read.indices.end());
    std::vector<std::int64_t> sliced;
    std::vector<Expr> lengths;
    const std::string shown = in_backticks(ir::print(Expr(&read)));
    for (std::size_t d : operand.dims) {
      std::optional<std::size_t> place;
      for (std::size_t x = 0; x < base.size(); ++x) {
        const auto form = ir::linear_form(base[x]);
        if (!form || form->coefficient(context.var(vars[d])) != 1) continue;
        if (place) return none(why, shown + " moves in two dimensions at once");
        place = x;
      }
      if (!place)
        return none(why, "dimension " + in_backticks(meaning.dims[d].text()) +
                             " does not step through one dimension of " + shown);
      base[*place] =
          builder.simplify(ir::substitute(context, base[*place], {{vars[d], context.index(0)}}));
      sliced.push_back(static_cast<std::int64_t>(*place));
      lengths.push_back(context.index(meaning.lengths[d]));
    }
    for (Expr e : base)
      if (mentions(e, vars)) return none(why, shown + " moves otherwise than the operand");
    if (!side_by_side(operand, read, sliced, why)) return std::nullopt;
    return program::make_tile(context, operand.name, read.tensor, base, sliced, lengths);
  }

  // Row-major in the buffer without gaps: the last dimensions in order, all but the first of them whole.
  bool side_by_side(const machine::Meaning::Operand& operand, const ir::Read& read,
                    const std::vector<std::int64_t>& sliced, std::string& why) const {
    const auto rank = static_cast<std::int64_t>(read.indices.size());
    const auto count = static_cast<std::int64_t>(sliced.size());
    const std::vector<Expr>* extents = builder.extents_of(env, read.tensor);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t place = sliced[static_cast<std::size_t>(i)];
      const Expr length = builder.context.index(operand.shape[static_cast<std::size_t>(i)]);
      const bool whole =
          i == 0 || (extents && (*extents)[static_cast<std::size_t>(place)] == length);
      if (place == rank - count + i && whole) continue;
      why = "the cells of " + in_backticks(ir::print(Expr(&read))) +
            " do not lie side by side in the order of the operand's dimensions";
      return false;
    }
    return true;
  }

  static std::nullopt_t none(std::string& why, std::string text) {
    why = std::move(text);
    return std::nullopt;
  }
};

// `[j, p]` of an operand's dimensions.
std::string dims_text(const machine::Meaning& meaning, const machine::Meaning::Operand& operand) {
  std::string text = std::string(operand.name.text()) + "[";
  for (std::size_t i = 0; i < operand.dims.size(); ++i)
    text += (i ? ", " : "") + std::string(meaning.dims[operand.dims[i]].text()) + " < " +
            std::to_string(operand.shape[i]);
  return text + "]";
}

}  // namespace

Result<Ok> NestEmitter::plan_tensor() {
  tensor_begin_ = nest_.loops.size() - nest_.tensorized->loops.size();
  for (Symbol name : nest_.tensorized->loops) {
    const auto at = std::find_if(nest_.loops.begin(), nest_.loops.end(),
                                 [&](const tree::Loop& l) { return l.name == name; });
    tensor_loops_.push_back(static_cast<std::size_t>(at - nest_.loops.begin()));
    if (!space_.is_fold(name)) ++num_tensor_results_;
    if (!space_.constant_extent(name))
      return refuse_tile(nest_, Code::TensorizeLoops,
                         "tensorized loop `" + std::string(nest_.name.text()) + "." +
                             std::string(name.text()) + "` has no constant length",
                         "split it by the length that the instruction has",
                         {{"length", ir::print(space_.max_extent(name))}});
  }
  return Ok{};
}

Evidence NestEmitter::partial_instance(const Point& point, const std::vector<Symbol>& tile,
                                       Expr guard) const {
  std::vector<std::pair<Symbol, Expr>>
      loops;  // variables of the guard, with the lengths of their loops
  for (const tree::Loop& l : nest_.loops) {
    const auto at = point.values.value_of.find(l.name);
    const auto* var = at == point.values.value_of.end() ? nullptr : at->second.as<ir::Var>();
    if (var && mentions(guard, {var->name}))
      loops.emplace_back(var->name, space_.max_extent(l.name));
  }
  if (loops.size() != ir::free_vars(guard).size()) return {};
  poly::AllowedSizes allowed(builder_.algorithm, builder_.schedule.guards);
  for (const tree::Step& step : nest_.steps)
    if (const auto* split = std::get_if<tree::SplitStep>(&step)) allowed.try_around(split->factor);
  // The tile begins inside, and this cell of it lies outside.
  const auto is_partial = [&](const poly::Values& values) {
    poly::Values first = values;
    for (Symbol var : tile) first[var] = 0;
    return poly::evaluate_index(guard, values) == 0 && poly::evaluate_index(guard, first) == 1;
  };
  std::string place;
  const auto sizes = allowed.find([&](const poly::Values& at) {
    poly::Values values = at;
    const std::function<bool(std::size_t)> visit = [&](std::size_t i) {
      if (i == loops.size()) return is_partial(values);
      const auto length = poly::evaluate_index(loops[i].second, at);
      bool found = false;
      for (std::int64_t v = 0; v < std::min(length.value_or(0), kMaxTried) && !found; ++v) {
        values[loops[i].first] = v;
        found = visit(i + 1);
      }
      return found;
    };
    // Where another loop is empty, nothing is computed at all.
    for (const tree::Loop& l : nest_.loops)
      if (poly::evaluate_index(space_.max_extent(l.name), at).value_or(0) < 1) return false;
    if (!visit(0)) return false;
    for (const auto& [name, length] : loops)
      place += (place.empty() ? "" : ", ") + std::string(name.text()) + " = " +
               std::to_string(values.at(name));
    return true;
  });
  if (!sizes) return {};
  return {{"sizes", allowed.text(*sizes)}, {"outside at", place}};
}

Result<Stmt> NestEmitter::tensor_step(Point& point) {
  const Symbol tile = accumulators_.front().tile;
  Point whole = point;
  std::vector<Symbol> vars;
  for (std::size_t i : tensor_loops_) {
    const tree::Loop& l = nest_.loops[i];
    vars.push_back(
        enter(l, whole, context_.index(0), context_.index(*space_.constant_extent(l.name)), true));
  }
  const Expr term = builder_.localise(whole.env, fold_->body[0], index_values(whole));
  Point guarded_point = whole;
  std::vector<Expr> guards = guards_of_terms(guarded_point, {term});
  const auto partial =
      std::find_if(guards.begin(), guards.end(), [&](Expr guard) { return mentions(guard, vars); });
  if (partial == guards.end()) {
    TILEWRIGHT_TRY(made, call(whole, term, tile));
    return guarded(guards, made);
  }
  if (!point.in_tail)
    return refuse_tile(nest_, Code::TensorizePartial,
                       "a tile of " + in_backticks(nest_.name.text()) + " may be partial, and " +
                           in_backticks(nest_.tensorized->instruction.text()) +
                           " computes whole ones",
                       "stage what it reads with `pad`, or `peel` the loop outside the tile, or "
                       "state a guard that makes tiles whole",
                       poly::with({{"guard", ir::print(*partial)}, {"term", ir::print(term)}},
                                  partial_instance(whole, vars, *partial)));
  // Loops over the reduction first, so that the lanes are innermost.
  std::vector<std::size_t> order(
      tensor_loops_.begin() + static_cast<std::ptrdiff_t>(num_tensor_results_),
      tensor_loops_.end());
  order.insert(order.end(), tensor_loops_.begin(),
               tensor_loops_.begin() + static_cast<std::ptrdiff_t>(num_tensor_results_));
  return over_loops(order, 0, point, [&](Point& p) { return tile_step(p); });
}

Result<Stmt> NestEmitter::call(const Point& point, Expr term, Symbol tile) {
  TensorTile where{tile, {}, {}, {}};
  for (std::size_t i : tensor_loops_) {
    where.vars.push_back(point.values.value_of.at(nest_.loops[i].name).as<ir::Var>()->name);
    where.first[where.vars.back()] = context_.index(0);
  }
  where.index = at_first(where, loop_values(tile_loops_, point));
  TILEWRIGHT_TRY(forms, machine::find_forms(nest_.tensorized->instruction.text()));
  Evidence tried = {{"term", ir::print(term)}};
  bool matched = false;
  for (const machine::Instruction& form : forms) {
    TILEWRIGHT_TRY(meaning, machine::meaning(context_, form));
    machine::Mismatch difference;
    std::vector<machine::Unified> ways;
    if (meaning.dims.size() == where.vars.size() && meaning.num_results == num_tensor_results_ &&
        meaning.monoid == fold_->monoid_kind() && meaning.result.type == fold_->type)
      ways = machine::unify(meaning, term, &difference);
    matched = matched || !ways.empty();
    if (ways.empty())
      tried.emplace_back(form.name, "has " + difference.wanted + ", found " + difference.found);
    for (const machine::Unified& way : ways) {
      std::string why;
      if (const auto tiles = operand_tiles(point, meaning, way, where, why))
        return make_call(point, meaning, where, *tiles);
      tried.emplace_back(form.name, why);
    }
  }
  const std::string name = in_backticks(nest_.tensorized->instruction.text());
  if (!matched)
    return refuse_tile(nest_, Code::TensorizeMismatch,
                       in_backticks(nest_.name.text()) + " does not add what " + name + " adds",
                       "write the term with the instruction's operations and types",
                       std::move(tried));
  return refuse_tile(
      nest_, Code::TensorizeLayout,
      "operands of " + name + " do not lie in memory as it takes them",
      "stage the tensor with a layout whose last dimensions are the operand's, as in "
      "`stage b[k, j] at c.jt as bp[k / 2, j, k % 2] pad`",
      std::move(tried));
}

std::vector<Expr> NestEmitter::at_first(const TensorTile& where, std::vector<Expr> exprs) const {
  for (Expr& e : exprs) e = builder_.simplify(ir::substitute(context_, e, where.first));
  return exprs;
}

// The tile of partial results: its last dimensions are those of the instruction's result.
program::Tile NestEmitter::result_tile(const machine::Meaning& meaning, const TensorTile& where,
                                       Symbol operand) const {
  std::vector<std::int64_t> sliced;
  std::vector<Expr> lengths;
  for (std::size_t d = 0; d < meaning.num_results; ++d) {
    sliced.push_back(static_cast<std::int64_t>(where.index.size() - meaning.num_results + d));
    lengths.push_back(context_.index(meaning.lengths[d]));
  }
  return program::make_tile(context_, operand, where.tile, where.index, sliced, lengths);
}

std::optional<std::vector<program::Tile>> NestEmitter::operand_tiles(
    const Point& point, const machine::Meaning& meaning, const machine::Unified& way,
    const TensorTile& where, std::string& why) const {
  const OperandFinder finder{builder_, point.env, meaning, where.vars};
  std::vector<program::Tile> tiles;
  for (std::size_t o = 0; o < meaning.operands.size(); ++o) {
    const machine::Meaning::Operand& operand = meaning.operands[o];
    if (o == meaning.accumulator) {
      tiles.push_back(result_tile(meaning, where, operand.name));
      continue;
    }
    auto found = finder.find(operand, *way.reads[o], why);
    if (!found) {
      why = "operand " + dims_text(meaning, operand) + ": " + why;
      return std::nullopt;
    }
    tiles.push_back(*found);
  }
  tiles.push_back(result_tile(meaning, where, meaning.result.name));
  return tiles;
}

Stmt NestEmitter::make_call(const Point& point, const machine::Meaning& meaning,
                            const TensorTile& where, const std::vector<program::Tile>& tiles) {
  std::vector<Expr> at = cell(point);
  const std::vector<Expr> folded = fold_values(point);
  at.insert(at.end(), folded.begin(), folded.end());
  at = at_first(where, at);
  builder_.use(meaning);
  program::Call node;
  node.callee = meaning.algorithm.name;
  node.operands = tiles;
  node.role = program::OriginRole::Fold;
  node.origin = equation_->name;
  node.point = at;
  return program::make(context_, node);
}

}  // namespace tilewright::build

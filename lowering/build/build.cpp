// SPDX-License-Identifier: Apache-2.0
//
// The entry of `build`: inlining, names, bindings and the nests at the root.
#include "lowering/build/build.h"

#include <algorithm>

#include "frontend/ir/expr_syntax.h"
#include "frontend/ir/facts.h"
#include "frontend/ir/walk.h"
#include "lowering/build/builder.h"
#include "lowering/build/shared_bytes.h"
#include "lowering/build/synchronise.h"
#include "schedules/tree/derive.h"

namespace tilewright::build {

namespace {

// Statements that code generation sees at most, once unrolled loops are written out.
constexpr std::int64_t kMaxUnrolled = 65'536;

// Stops counting above the limit: lengths multiply.
std::int64_t count_unrolled(Stmt stmt) {
  if (!stmt) return 0;
  std::int64_t count = 0;
  program::visit(
      stmt,
      ir::Overloaded{
          [&](const program::For& n) {
            const auto* lower = n.lower.as<ir::IntConst>();
            const auto* upper = n.upper.as<ir::IntConst>();
            const bool unrolled = n.loop == program::LoopKind::Unrolled && lower && upper;
            const std::int64_t body = count_unrolled(n.body);
            if (!unrolled)
              count = 1 + body;
            else if (__builtin_mul_overflow(
                         body, std::max<std::int64_t>(upper->value - lower->value, 0), &count))
              count = kMaxUnrolled + 1;
          },
          [&](const program::If& n) {
            count = 1 + count_unrolled(n.then_body) + count_unrolled(n.else_body);
          },
          [&](const program::Let& n) { count = 1 + count_unrolled(n.body); },
          [&](const program::Alloc& n) { count = 1 + count_unrolled(n.body); },
          [&](const program::Block& n) {
            for (Stmt part : n.body) count += count_unrolled(part);
          },
          [&](const program::Store&) { count = 1; },
          [&](const auto&) {
            count = 1;
            program::for_each_part(stmt, [&](std::string_view, auto part) {
              if constexpr (std::is_same_v<decltype(part), Stmt>) count += count_unrolled(part);
            });
          },
      });
  return std::min(count, kMaxUnrolled + 1);
}

}  // namespace

Builder::Builder(ir::Context& context_in, poly::Context& polyhedra_in,
                 const ir::Algorithm& algorithm_in, const tree::Schedule& schedule_in)
    : context(context_in),
      polyhedra(polyhedra_in),
      algorithm(algorithm_in),
      schedule(schedule_in),
      ranges(extent_ranges(algorithm_in)),
      facts(algorithm_in),
      equations_(algorithm_in.equations) {
  for (const ir::ExtentDecl& extent : algorithm.extents) used_names_.insert(extent.name);
  for (const ir::Input& input : algorithm.inputs) used_names_.insert(input.name);
  for (const ir::Loop& loop : algorithm.loops) used_names_.insert(loop.var);
  for (const ir::Equation& e : algorithm.equations)
    for (const ir::TensorPart& part : e.is_output ? e.tensors() : std::vector<ir::TensorPart>())
      used_names_.insert(part.name);
}

Symbol Builder::fresh(std::string_view wanted) {
  Symbol name = context.symbol(wanted);
  // A loop of a schedule may have a name that is a word of the language.
  for (int i = 2; ir::is_reserved_name(name.text()) || !used_names_.insert(name).second; ++i)
    name = context.symbol(std::string(wanted) + "_" + std::to_string(i));
  return name;
}

void Builder::declare_loop(Symbol var, Expr lower, Expr upper) {
  const ir::Interval lo = ir::interval(lower, ranges);
  const ir::Interval hi = ir::interval(upper, ranges);
  ir::Interval range{lo.lo, std::nullopt};
  if (hi.hi) range.hi = *hi.hi - 1;
  ranges[var] = range;
}

Result<Stmt> Builder::under(Expr condition, const std::function<Result<Stmt>()>& emit) {
  const ir::Ranges ranges_before = ranges;
  const Facts facts_before = facts;
  facts.add(condition);
  for (const auto& [name, range] : facts.ranges) ranges[name] = range;
  conditions.push_back(condition);
  Result<Stmt> out = emit();
  conditions.pop_back();
  facts = facts_before;
  ranges = ranges_before;
  return out;
}

const ir::Equation* Builder::equation(Symbol nest) const {
  auto it = std::find_if(equations_.begin(), equations_.end(),
                         [&](const ir::Equation& e) { return e.name == nest; });
  return it == equations_.end() ? nullptr : &*it;
}

// Law of tree::verify: what is inlined is an elementwise equation that is not an output.
void Builder::inline_equations() {
  // Producers come first, so a producer's own value is already free of inlined reads.
  for (ir::Equation& reader : equations_) reader.value = through_inlining(reader.value);
}

bool Builder::is_inlined(Symbol name) const {
  const auto& names = schedule.tree.inlined;
  if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  const ir::Equation* e = algorithm.find_equation(name);
  return e && e->is_view;
}

Expr Builder::through_inlining(Expr expr) const {
  return ir::rewrite(context, expr, [&](Expr part) -> Expr {
    const auto* read = part.as<ir::Read>();
    if (!read || !is_inlined(read->tensor)) return {};
    const ir::Equation* producer = equation(read->tensor);
    ir::Substitution indices;
    for (std::size_t i = 0; i < producer->indices.size(); ++i)
      indices[producer->indices[i]] = read->indices[i];
    return ir::substitute(context, producer->value, indices);
  });
}

std::vector<const tree::Nest*> Builder::placed_at(Symbol nest, Symbol loop) const {
  std::vector<const tree::Nest*> out;
  for (const tree::Nest& n : schedule.tree.nests)
    if (n.at && n.at->nest == nest && n.at->loop == loop) out.push_back(&n);
  return tree::in_order(schedule.tree, std::move(out));
}

bool Builder::reads_regions(const tree::Nest& nest) const {
  auto is_region = [&](Symbol tensor) {
    return std::any_of(schedule.tree.nests.begin(), schedule.tree.nests.end(),
                       [&](const tree::Nest& n) {
                         if (!n.at || n.name == nest.name) return false;
                         return n.stage ? n.stage->tensor == tensor : n.name == tensor;
                       });
  };
  if (nest.stage) return is_region(nest.stage->tensor);
  for (const ir::Read* read : ir::reads(equation(nest.name)->value))
    if (is_region(read->tensor)) return true;
  return false;
}

bool Builder::stands_inside(const tree::Nest& nest, const tree::Nest& owner, Symbol loop) const {
  if (&nest == &owner) return true;
  const tree::Nest* n = &nest;
  for (std::size_t hops = 0; n && n->at && hops <= schedule.tree.nests.size(); ++hops) {
    if (n->at->nest == owner.name) {
      // At that loop or one further in.
      bool reached = false;
      for (const tree::Loop& l : owner.loops) {
        reached |= l.name == loop;
        if (l.name == n->at->loop) return reached;
      }
      return false;
    }
    n = schedule.tree.find(n->at->nest);
  }
  return false;
}

Region Builder::whole(const std::vector<Expr>& shape) const {
  Region region;
  region.lower.assign(shape.size(), context.index(0));
  region.size = shape;
  region.max_size = shape;
  return region;
}

std::vector<Expr> Builder::buffer_index(const Env& env, Symbol tensor,
                                        const std::vector<Expr>& cell, Symbol* buffer) const {
  auto it = env.bindings.find(tensor);
  if (it == env.bindings.end()) {
    *buffer = tensor;
    std::vector<Expr> index;
    for (Expr e : cell) index.push_back(simplify(e));
    return index;
  }
  const Binding& binding = it->second;
  *buffer = binding.buffer;
  std::vector<Expr> local = binding.leading;
  for (std::size_t i = 0; i < cell.size(); ++i)
    local.push_back(
        simplify(binding.lower.empty() ? cell[i] : context.sub(cell[i], binding.lower[i])));
  std::vector<Expr> index;
  if (binding.slot) index.push_back(binding.slot);
  if (!binding.stage) {
    index.insert(index.end(), local.begin(), local.end());
    return index;
  }
  index.clear();
  for (const tree::LayoutComponent& part : binding.stage->layout) {
    const auto& dims = binding.stage->dims;
    const auto at = std::find(dims.begin(), dims.end(), part.dim) - dims.begin();
    const Expr value = local[static_cast<std::size_t>(at)];
    const Expr factor = context.index(part.factor);
    switch (part.part) {
      case tree::LayoutComponent::Part::Whole: index.push_back(value); break;
      case tree::LayoutComponent::Part::Quotient:
        index.push_back(simplify(context.floor_div(value, factor)));
        break;
      case tree::LayoutComponent::Part::Remainder:
        index.push_back(simplify(context.floor_mod(value, factor)));
        break;
    }
  }
  index = swizzled(*binding.stage, std::move(index));
  if (binding.slot) index.insert(index.begin(), binding.slot);
  return index;
}

// Without an operation on bits of an index: bit b of x is (x / 2^b) mod 2, and two bits differ when their sum is
// odd. So the index stays quasi-affine, for the analyses and the proof.
std::vector<Expr> Builder::swizzled(const tree::Stage& stage, std::vector<Expr> components) const {
  const auto at = [&](Symbol name) -> Expr& {
    const auto part = std::find_if(stage.layout.begin(), stage.layout.end(),
                                   [&](const auto& p) { return p.name == name; });
    return components[static_cast<std::size_t>(part - stage.layout.begin())];
  };
  const Expr two = context.index(2);
  const auto bit = [&](Expr value, int number) {
    return context.floor_mod(context.floor_div(value, context.index(std::int64_t{1} << number)),
                             two);
  };
  for (const tree::Swizzle& s : stage.swizzles) {
    const Expr before = at(s.target);
    const Expr source = at(s.source);
    Expr after = before;
    for (int i = 0; i < s.bits; ++i) {
      const Expr own = bit(before, s.target_bit + i);
      const Expr flipped = context.floor_mod(context.add(own, bit(source, s.source_bit + i)), two);
      const Expr weight = context.index(std::int64_t{1} << (s.target_bit + i));
      after = context.add(after, context.mul(context.sub(flipped, own), weight));
    }
    at(s.target) = simplify(after);
  }
  return components;
}

Expr Builder::read(const Env& env, Symbol tensor, const std::vector<Expr>& cell) const {
  Symbol buffer;
  const std::vector<Expr> index = buffer_index(env, tensor, cell, &buffer);
  const Expr value = context.read(buffer, index, *algorithm.type_of(tensor));
  const ir::Input* input = algorithm.find_input(tensor);
  return input && input->facts.clamp ? ir::clamped_read(context, input->facts, value) : value;
}

const std::vector<Expr>* Builder::filled_cells(const Env& env, Symbol buffer) const {
  for (const auto& [tensor, binding] : env.bindings)
    if (binding.buffer == buffer) return &binding.filled;
  return algorithm.shape_of(buffer);
}

const std::vector<Expr>* Builder::extents_of(const Env& env, Symbol buffer) const {
  for (const auto& [tensor, binding] : env.bindings)
    if (binding.buffer == buffer) return &binding.extents;
  return algorithm.shape_of(buffer);
}

void Builder::use(const machine::Meaning& instruction) {
  for (const program::Intrinsic& known : intrinsics_)
    if (known.name() == instruction.algorithm.name) return;
  intrinsics_.push_back({instruction.algorithm, false});
}

Expr Builder::localise(const Env& env, Expr expr, const ir::Substitution& indices) const {
  const Expr moved = ir::substitute(context, expr, indices);
  const Expr redirected = ir::rewrite(context, moved, [&](Expr e) -> Expr {
    const auto* r = e.as<ir::Read>();
    return r ? read(env, r->tensor, {r->indices.begin(), r->indices.end()}) : Expr();
  });
  return simplify(redirected);
}

Result<Ok> Builder::find_roots() {
  if (!algorithm.loops.empty()) {
    // Law of tree::verify: they stand in the order of the equations.
    for (const ir::Equation& e : algorithm.equations) {
      const tree::Nest* nest = schedule.tree.find(e.name);
      roots_.push_back(nest && !nest->at ? nest : nullptr);
    }
    return order_sets();
  }
  for (const tree::Nest& nest : schedule.tree.nests)
    if (!nest.at && !nest.stage) roots_.push_back(&nest);
  roots_ = tree::in_order(schedule.tree, std::move(roots_));
  return Ok{};
}

// Members change places with each other alone, so each equation stays in the loops of the algorithm around it.
Result<Ok> Builder::order_sets() {
  for (const tree::Set& set : schedule.tree.sets) {
    std::vector<std::size_t> places;
    std::vector<const tree::Nest*> members;
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      if (!roots_[i] || schedule.tree.set_of(roots_[i]->name) != &set) continue;
      places.push_back(i);
      members.push_back(roots_[i]);
    }
    const std::vector<const tree::Nest*> ordered = tree::in_order(schedule.tree, members);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (ordered[i] == members[i]) continue;
      if (algorithm.loops_around(*equation(ordered[i]->name)) !=
          algorithm.loops_around(*equation(members[i]->name)))
        return refuse(set.order.empty() ? set.place.span : set.order[0].place.span,
                      "`" + std::string(ordered[i]->name.text()) + "` is to run before `" +
                          std::string(members[i]->name.text()) +
                          "`, which is in another loop of the algorithm",
                      "drop the order, or take one of them out of the set");
      roots_[places[i]] = ordered[i];
    }
  }
  return Ok{};
}

Result<Stmt> Builder::emit_plan(std::size_t first, Env& env, const Rest& rest) {
  const auto& nests = schedule.tree.nests;
  // Law of tree::verify: a staged copy at the root is one of the plan, and these come first.
  if (first == nests.size() || nests[first].at || !nests[first].stage) return rest(env);
  return emit_placed(nests[first], whole(*algorithm.shape_of(nests[first].stage->tensor)), env,
                     [&](Env& inner) { return emit_plan(first + 1, inner, rest); });
}

Result<Stmt> Builder::emit_roots(std::size_t first, std::size_t last, std::size_t loop, Env& env,
                                 const Rest& rest) {
  // Before any loop that begins where this run of equations ends: it is not inside.
  if (first == last) return rest(env);
  const auto& loops = algorithm.loops;
  while (loop < loops.size() && loops[loop].first < first) ++loop;
  if (loop < loops.size() && loops[loop].first == first)
    return emit_loop(loop, env, [&](Env& after) {
      return emit_roots(loops[loop].last, last, loop + 1, after, rest);
    });
  const tree::Nest* nest = roots_[first];
  const auto go_on = [&](Env& after) { return emit_roots(first + 1, last, loop, after, rest); };
  if (!nest) return go_on(env);
  const ir::Equation* e = equation(nest->name);
  const Region region = whole(e->shape);
  // An output has its place, and what a loop goes on with may have.
  if (!e->is_output && !env.bindings.contains(e->name))
    return emit_placed(*nest, region, env, go_on);
  TILEWRIGHT_TRY(head, emit_nest(*nest, region, env));
  TILEWRIGHT_TRY(tail, go_on(env));
  const Stmt both[] = {head, tail};
  return program::make_block(context, both);
}

Result<program::Program> Builder::run() {
  TILEWRIGHT_CHECK_OK(tree::verify(algorithm, schedule.tree, schedule.guards));
  if (schedule.machine_file)
    machine_ = *schedule.machine_file;
  else if (!machine::is_machine_path(schedule.machine))
    if (auto found = machine::find_machine(schedule.machine); found.ok()) machine_ = *found;
  TILEWRIGHT_CHECK_OK(fits_machine());
  inline_equations();
  program::Program out;
  out.name = algorithm.name;
  out.algorithm = algorithm.name;
  out.extents = algorithm.extents;
  out.requirements = algorithm.requirements;
  out.requirements.insert(out.requirements.end(), schedule.guards.begin(), schedule.guards.end());
  for (const ir::Input& input : algorithm.inputs) {
    const bool is_inout = algorithm.new_value(input.name) != nullptr;
    out.parameters.push_back(
        {input.name, input.type, input.shape, is_inout, input.facts, is_inout, input.is_const});
  }
  for (const ir::Equation* e : algorithm.outputs())
    for (const ir::TensorPart& part : e->tensors())
      if (!e->into.valid()) out.parameters.push_back({part.name, part.type, e->shape, true});
  TILEWRIGHT_CHECK_OK(find_roots());
  Env env;
  const bool launched = std::any_of(schedule.tree.nests.begin(), schedule.tree.nests.end(),
                                    [](const tree::Nest& n) { return n.kernel.valid(); });
  const Rest roots = [&](Env& inner) {
    if (launched) return emit_kernels(inner);
    return emit_roots(0, roots_.size(), 0, inner,
                      [&](Env&) { return Result<Stmt>(program::make_block(context, {})); });
  };
  TILEWRIGHT_TRY(body,
                 emit_plan(0, env, [&](Env& planned) { return with_old_values(planned, roots); }));
  // What is fixed within an iteration of the algorithm is a loop's variable in the Program.
  if (!algorithm.loops.empty())
    body = program::rewrite(
        context, body, [](Stmt) { return Stmt(); },
        [&](Expr root) {
          return ir::rewrite(context, root, [&](Expr e) -> Expr {
            const auto* name = e.as<ir::Extent>();
            return name && algorithm.find_loop(name->name) ? context.var(name->name) : Expr();
          });
        });
  out.body = body;
  out.intrinsics = intrinsics_;
  if (count_unrolled(body) > kMaxUnrolled)
    return refuse(unrolled.place,
                  "unrolled loops give more than " + std::to_string(kMaxUnrolled) + " statements",
                  "unroll fewer loops, or split them by smaller factors",
                  {{"limit", std::to_string(kMaxUnrolled)},
                   {"longest", unrolled.loop},
                   {"length", std::to_string(unrolled.length)}});
  TILEWRIGHT_CHECK_OK(check_shared_bytes(context, out, extent_ranges(algorithm)));
  if (!machine_ || machine_->teams.empty()) return out;
  TILEWRIGHT_CHECK_OK(fits_spaces(out));
  const std::string& completion = machine_->teams.front().completion;
  const Tells tells = completion == "tokens"     ? Tells::Tokens
                      : completion == "arrivals" ? Tells::Arrivals
                                                 : Tells::Bytes;
  TILEWRIGHT_TRY(synchronised, synchronise(context, polyhedra, out, tells, orders_));
  TILEWRIGHT_CHECK_OK(fits_registers(synchronised));
  return synchronised;
}

Result<program::Program> build(ir::Context& context, poly::Context& polyhedra,
                               const ir::Algorithm& algorithm, const tree::Schedule& schedule) {
  // Derived again, since a caller may have fixed extents.
  TILEWRIGHT_TRY(derived, tree::derive(context, algorithm, schedule.tree.algebra));
  auto built = Builder(context, polyhedra, derived, schedule).run();
  if (built.ok()) return built;
  // What no word of the schedule is to blame for is shown at its name.
  Failure failure = std::move(built).failure();
  for (Diagnostic& d : failure.diagnostics)
    if (d.span.none()) d.span = schedule.span;
  return failure;
}

}  // namespace tilewright::build

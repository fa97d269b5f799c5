// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/lifted.h"

#include <algorithm>

#include "frontend/ir/walk.h"

namespace tilewright::proof {

using ir::Expr;

namespace {

// `y = fold on_empty e` as `any = or(...) true`, `raw = fold`, `y = select(any, raw, e)`: names that no text has.
ir::Algorithm without_on_empty(ir::Context& context, ir::Algorithm algorithm) {
  for (std::size_t at = 0; at < algorithm.equations.size(); ++at) {
    const ir::Equation whole = algorithm.equations[at];
    const ir::Fold* fold = whole.fold();
    if (fold == nullptr || fold->on_empty.empty()) continue;
    const auto named = [&](Symbol name, std::string_view suffix) {
      return context.symbol(std::string(name.text()) + std::string(suffix));
    };
    std::vector<Expr> cell;
    for (Symbol index : whole.indices) cell.push_back(context.var(index));
    ir::Equation any = whole;
    any.name = named(whole.name, "?any");
    any.parts.clear();
    any.type = ir::ScalarType::Bool;
    any.is_output = false;
    any.into = Symbol();
    const Expr always[] = {context.boolean(true)};
    ir::Fold some = *fold;
    some.monoid = context.symbol("or");
    some.body = always;
    some.on_empty = {};
    any.value = context.fold(some);
    ir::Equation raw = whole;
    raw.name = named(whole.name, "?raw");
    raw.is_output = false;
    raw.into = Symbol();
    for (ir::TensorPart& part : raw.parts) part.name = named(part.name, "?raw");
    ir::Fold plain = *fold;
    plain.on_empty = {};
    raw.value = context.fold(plain);
    raw.type = raw.value.type();
    std::vector<ir::Equation> added = {any, raw};
    const auto tensors = whole.tensors();
    std::vector<ir::Equation> cells;
    for (std::size_t field = 0; field < tensors.size(); ++field) {
      ir::Equation one = whole;
      one.name = tensors[field].name;
      one.parts.clear();
      one.type = tensors[field].type;
      const Expr read =
          context.read(named(tensors[field].name, "?raw"), cell, fold->body[field].type());
      one.value =
          context.cast(one.type, context.select(context.read(any.name, cell, ir::ScalarType::Bool),
                                                read, fold->on_empty[field]));
      cells.push_back(std::move(one));
    }
    added.insert(added.end(), cells.begin(), cells.end() - 1);
    algorithm.insert_equations(at, added);
    at += added.size();
    algorithm.equations[at] = cells.back();
  }
  return algorithm;
}

class Lift {
 public:
  Lift(ir::Context& context, const ir::Algorithm& algorithm)
      : context_(context), given_(algorithm) {}

  Lifted run() {
    Lifted out;
    out.algorithm = given_;
    out.algorithm.loops.clear();
    for (std::size_t at = 0; at < given_.equations.size(); ++at) {
      ir::Equation& equation = out.algorithm.equations[at];
      const std::vector<const ir::Loop*> around = loops_at(at);
      equation.value = moved(equation.value, around);
      for (Expr& size : equation.shape) size = moved(size, around);
      for (std::size_t i = 0; i < around.size(); ++i) {
        const auto place = static_cast<std::ptrdiff_t>(i);
        equation.indices.insert(equation.indices.begin() + place, around[i]->var);
        equation.shape.insert(equation.shape.begin() + place, trips(*around[i], around));
      }
    }
    for (const ir::Loop& loop : given_.loops)
      for (const ir::Carry& carry : loop.carries) out.carried.push_back(carried(loop, carry));
    return out;
  }

 private:
  std::vector<const ir::Loop*> loops_at(std::size_t equation) const {
    std::vector<const ir::Loop*> out;
    for (const ir::Loop& loop : given_.loops)
      if (loop.holds(equation)) out.push_back(&loop);
    return out;
  }
  // Around a loop, itself left out.
  std::vector<const ir::Loop*> loops_around(const ir::Loop& loop) const {
    std::vector<const ir::Loop*> out;
    for (const ir::Loop& other : given_.loops)
      if (&other != &loop && other.first <= loop.first && loop.last <= other.last && &other < &loop)
        out.push_back(&other);
    return out;
  }

  Expr trips(const ir::Loop& loop, const std::vector<const ir::Loop*>& around) {
    const Expr count = moved(loop.trips, around);
    const auto* constant = count.as<ir::IntConst>();
    if (count.as<ir::Extent>() || (constant != nullptr && constant->value >= 0)) return count;
    return context_.max(context_.index(0), count);
  }

  // The expression as it stands within these loops: their variables are indices, and what loops define has one more
  // index for each of them.
  Expr moved(Expr expr, const std::vector<const ir::Loop*>& around) {
    return ir::rewrite(context_, expr, [&](Expr each) -> Expr {
      if (const auto* extent = each.as<ir::Extent>()) {
        for (const ir::Loop* loop : around)
          if (loop->var == extent->name) return context_.var(extent->name);
        return each;
      }
      const auto* read = each.as<ir::Read>();
      if (read == nullptr) return each;
      std::vector<Expr> indices = leading(read->tensor, around);
      indices.insert(indices.end(), read->indices.begin(), read->indices.end());
      return context_.read(read->tensor, indices, each.type());
    });
  }

  std::vector<Expr> leading(Symbol tensor, const std::vector<const ir::Loop*>& around) {
    std::vector<Expr> out;
    for (const ir::Loop& loop : given_.loops)
      for (const ir::Carry& carry : loop.carries)
        if (carry.name == tensor) {
          for (const ir::Loop* outer : loops_around(loop)) out.push_back(context_.var(outer->var));
          const bool inside = std::find(around.begin(), around.end(), &loop) != around.end();
          out.push_back(inside ? context_.var(loop.var) : trips(loop, around));
          return out;
        }
    for (std::size_t at = 0; at < given_.equations.size(); ++at)
      if (given_.equations[at].defines(tensor))
        for (const ir::Loop* loop : loops_at(at)) out.push_back(context_.var(loop->var));
    return out;
  }

  Carried carried(const ir::Loop& loop, const ir::Carry& carry) {
    Carried out;
    out.name = carry.name;
    out.start = carry.start;
    out.next = carry.next;
    const std::vector<const ir::Loop*> outer = loops_around(loop);
    std::vector<const ir::Loop*> inside = outer;
    inside.push_back(&loop);
    out.loop = outer.size();
    for (const ir::Loop* each : inside) out.indices.push_back(each->var);
    const std::vector<Expr>* shape = given_.shape_of(carry.name);
    std::vector<Expr> own;
    for (std::size_t d = 0; shape && d < shape->size(); ++d) {
      out.indices.push_back(context_.symbol("?carried" + std::to_string(d)));
      own.push_back(context_.var(out.indices.back()));
    }
    out.type = given_.type_of(carry.name).value_or(ir::ScalarType::F64);
    out.starts = moved(context_.read(carry.start, own, out.type), outer);
    const Expr next = moved(context_.read(carry.next, own, out.type), inside);
    out.continues = ir::substitute(
        context_, next, {{loop.var, context_.sub(context_.var(loop.var), context_.index(1))}});
    return out;
  }

  ir::Context& context_;
  const ir::Algorithm& given_;
};

}  // namespace

Lifted lifted(ir::Context& context, const ir::Algorithm& algorithm) {
  const bool on_data = std::any_of(algorithm.loops.begin(), algorithm.loops.end(),
                                   [](const ir::Loop& loop) { return bool(loop.condition); });
  Lifted out;
  out.algorithm = algorithm;
  if (!on_data) out = Lift(context, algorithm).run();
  out.algorithm = without_on_empty(context, std::move(out.algorithm));
  return out;
}

}  // namespace tilewright::proof

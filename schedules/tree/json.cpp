// SPDX-License-Identifier: Apache-2.0
#include "schedules/tree/json.h"

#include "frontend/ir/json.h"
#include "schedules/tree/json_names.h"

namespace tilewright::tree {

namespace {

struct ScheduleWriter {
  static Json value(Symbol symbol) { return Json(symbol.text()); }
  static Json value(Expr expr) { return ir::to_json(expr); }

  template <class T>
  static Json list(const std::vector<T>& values) {
    Json out = Json::array();
    for (const T& one : values) out.push(value(one));
    return out;
  }
  template <class T>
  static void set_list(Json& object, std::string_view name, const std::vector<T>& values) {
    if (!values.empty()) object.set(name, list(values));
  }
  static void set_number(Json& object, std::string_view name, std::int64_t number,
                         std::int64_t plain) {
    if (number != plain) object.set(name, number);
  }

  static Json value(const SplitStep& step) {
    Json out = Json::object();
    out.set("kind", "split");
    out.set("loop", value(step.parent));
    out.set("factor", step.factor);
    out.set("outer", value(step.outer));
    out.set("inner", value(step.inner));
    return out;
  }

  static Json value(const FuseStep& step) {
    Json out = Json::object();
    out.set("kind", "fuse");
    out.set("outer", value(step.outer));
    out.set("inner", value(step.inner));
    out.set("fused", value(step.fused));
    return out;
  }

  static Json value(const SplitReductionStep& step) {
    Json out = Json::object();
    out.set("kind", "split_reduction");
    out.set("equation", value(step.equation));
    out.set("variable", value(step.var));
    out.set("factor", step.factor);
    out.set("outer", value(step.outer));
    out.set("inner", value(step.inner));
    return out;
  }

  static Json value(const DeferStep& step) {
    Json out = Json::object();
    out.set("kind", "defer");
    out.set("tensor", value(step.tensor));
    out.set("equation", value(step.equation));
    return out;
  }

  static Json value(const RecomputeStep& step) {
    Json out = Json::object();
    out.set("kind", "recompute");
    out.set("equation", value(step.equation));
    out.set("reader", value(step.reader));
    return out;
  }

  static Json value(const Step& step) {
    return std::visit([](const auto& one) { return value(one); }, step);
  }
  static Json value(const AlgebraStep& step) {
    return std::visit([](const auto& one) { return value(one); }, step);
  }

  static Json value(const Prefetch& prefetch) {
    Json out = Json::object();
    out.set("tensor", value(prefetch.tensor));
    out.set("distance", prefetch.distance);
    return out;
  }

  static Json value(const PipelineRow& row) {
    Json out = Json::object();
    out.set("statement", value(row.statement));
    out.set("stage", row.stage);
    if (row.unit.valid()) out.set("unit", value(row.unit));
    return out;
  }

  static Json value(const Role& role) {
    Json out = Json::object();
    out.set("name", value(role.name));
    out.set("statements", list(role.statements));
    out.set("scope", scope_text(role.scope));
    set_number(out, "lanes", role.lanes, 0);
    set_number(out, "registers", role.registers, 0);
    return out;
  }

  static Json value(const OrderEdge& edge) {
    Json out = Json::object();
    out.set("before", value(edge.before));
    out.set("after", value(edge.after));
    set_number(out, "distance", edge.distance, 0);
    return out;
  }

  static Json value(const Loop& loop) {
    Json out = Json::object();
    out.set("name", value(loop.name));
    out.set("kind", loop_kind_name(loop.kind));
    if (loop.peel) out.set("peel", true);
    if (loop.scope != Scope::None) out.set("bind", scope_text(loop.scope));
    set_number(out, "agents_by", loop.agents_by, 1);
    set_list(out, "when", loop.versions);
    set_list(out, "prefetch", loop.prefetches);
    set_list(out, "pipeline", loop.pipeline);
    set_list(out, "roles", loop.roles);
    set_list(out, "order", loop.order);
    return out;
  }

  static Json value(const LoopRef& at) {
    Json out = Json::object();
    out.set("nest", value(at.nest));
    out.set("loop", value(at.loop));
    return out;
  }

  static Json value(const LayoutComponent& part) {
    Json out = Json::object();
    out.set("name", value(part.name));
    out.set("dim", value(part.dim));
    out.set("part", layout_part_name(part.part));
    set_number(out, "factor", part.factor, 1);
    return out;
  }

  static Json value(const Swizzle& swizzle) {
    Json out = Json::object();
    out.set("target", value(swizzle.target));
    out.set("target_bit", swizzle.target_bit);
    out.set("source", value(swizzle.source));
    out.set("source_bit", swizzle.source_bit);
    out.set("bits", swizzle.bits);
    return out;
  }

  static Json value(const Stage& stage) {
    Json out = Json::object();
    out.set("tensor", value(stage.tensor));
    out.set("dims", list(stage.dims));
    out.set("layout", list(stage.layout));
    if (stage.pad) out.set("pad", true);
    if (stage.at_plan) out.set("at_plan", true);
    set_list(out, "swizzle", stage.swizzles);
    return out;
  }

  static Json value(const Tensorized& tile) {
    Json out = Json::object();
    out.set("instruction", value(tile.instruction));
    out.set("loops", list(tile.loops));
    return out;
  }

  static Json value(const Nest& nest) {
    Json out = Json::object();
    out.set("name", value(nest.name));
    if (nest.at) out.set("at", value(*nest.at));
    if (nest.stage) out.set("stage", value(*nest.stage));
    out.set("steps", list(nest.steps));
    if (nest.kernel.valid()) out.set("kernel", value(nest.kernel));
    if (nest.in_register) out.set("in_register", true);
    if (nest.space != Space::None) out.set("space", space_text(nest.space));
    set_number(out, "ring", nest.ring, 1);
    if (nest.is_async) out.set("async", true);
    set_list(out, "keep", nest.keep);
    if (nest.tensorized) out.set("tensorize", value(*nest.tensorized));
    out.set("loops", list(nest.loops));
    return out;
  }

  static Json value(const Set& set) {
    Json out = Json::object();
    out.set("members", list(set.members));
    set_list(out, "order", set.order);
    return out;
  }

  static Json value(const Tree& tree) {
    Json out = Json::object();
    set_list(out, "algebra", tree.algebra);
    set_list(out, "inline", tree.inlined);
    out.set("nests", list(tree.nests));
    set_list(out, "sets", tree.sets);
    return out;
  }
};

}  // namespace

Json to_json(const Schedule& schedule) {
  using Writer = ScheduleWriter;
  Json out = Json::object();
  out.set("format", "tilewright.schedule");
  out.set("version", 1);
  out.set("name", Writer::value(schedule.name));
  out.set("algorithm", Writer::value(schedule.algorithm));
  out.set("machine", schedule.machine);
  if (!schedule.algorithm_hash.empty()) out.set("algorithm_hash", schedule.algorithm_hash);
  Writer::set_list(out, "guards", schedule.guards);
  out.set("tree", Writer::value(schedule.tree));
  return out;
}

}  // namespace tilewright::tree

// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/text.h"
#include "schedules/directives/text.h"

namespace tilewright::directives {

namespace {

std::string text_of(Symbol symbol) { return std::string(symbol.text()); }

std::string_view kind_keyword(tree::LoopKind kind) {
  switch (kind) {
    case tree::LoopKind::Serial: return "for";
    case tree::LoopKind::Parallel: return "parallel";
    case tree::LoopKind::Vector: return "vector";
    case tree::LoopKind::Unrolled: return "unrolled";
  }
  __builtin_unreachable();
}

std::string text_of(const tree::AlgebraStep& step) {
  if (const auto* s = std::get_if<tree::SplitReductionStep>(&step))
    return SplitReduction{{s->equation, s->var, {}}, s->factor, s->outer, s->inner}.print();
  if (const auto* s = std::get_if<tree::DeferStep>(&step))
    return Defer{s->tensor, s->equation}.print();
  const auto& s = std::get<tree::RecomputeStep>(step);
  return "recompute " + text_of(s.equation) + " for " + text_of(s.reader);
}

class TreePrinter {
 public:
  explicit TreePrinter(const tree::Tree& tree) : tree_(tree) {}

  std::string run(TextWriter& writer) {
    for (const tree::AlgebraStep& step : tree_.algebra) writer.line(text_of(step));
    for (Symbol name : tree_.inlined) writer.line("inline " + text_of(name));
    print_place(writer, std::nullopt);
    return {};
  }

 private:
  // The nests of one place, those of a set in its braces.
  void print_place(TextWriter& writer, const std::optional<tree::LoopRef>& at) {
    const tree::Set* open = nullptr;
    for (const tree::Nest& nest : tree_.nests) {
      if (nest.at != at) continue;
      const tree::Set* set = tree_.set_of(nest.name);
      if (open && set != open) writer.close("}");
      if (set && set != open) {
        writer.open("set {");
        for (const tree::OrderEdge& edge : set->order)
          writer.line("order " + Order::print_edge(edge));
      }
      open = set;
      print_nest(writer, nest);
    }
    if (open) writer.close("}");
  }

  void print_nest(TextWriter& writer, const tree::Nest& nest) {
    if (nest.stage) {
      writer.open(print_stage(*nest.stage, nest.name.text(), "") + " {");
    } else {
      writer.open("nest " + text_of(nest.name) + " {");
    }
    for (const tree::Step& step : nest.steps) {
      if (const auto* s = std::get_if<tree::SplitStep>(&step)) {
        writer.line("split " + text_of(s->parent) + " by " + std::to_string(s->factor) + " as " +
                    text_of(s->outer) + ", " + text_of(s->inner));
      } else {
        const auto& f = std::get<tree::FuseStep>(step);
        writer.line("fuse " + text_of(f.outer) + ", " + text_of(f.inner) + " as " +
                    text_of(f.fused));
      }
    }
    if (nest.kernel.valid()) writer.line("kernel " + text_of(nest.kernel));
    if (nest.in_register) writer.line("in register");
    if (nest.space != tree::Space::None)
      writer.line("in " + std::string(tree::space_text(nest.space)));
    if (nest.ring != 1) writer.line("ring " + std::to_string(nest.ring));
    if (nest.is_async) writer.line("async");
    if (!nest.keep.empty()) {
      std::string line = "keep ";
      for (std::size_t i = 0; i < nest.keep.size(); ++i)
        line += (i ? ", " : "") + text_of(nest.keep[i]);
      writer.line(line);
    }
    if (nest.tensorized) {
      std::string line = "tensorize ";
      for (std::size_t i = 0; i < nest.tensorized->loops.size(); ++i)
        line += (i ? ", " : "") + text_of(nest.tensorized->loops[i]);
      writer.line(line + " with " + text_of(nest.tensorized->instruction));
    }
    print_loops(writer, nest, 0);
    writer.close("}");
  }

  void print_loops(TextWriter& writer, const tree::Nest& nest, std::size_t depth) {
    if (depth == nest.loops.size()) {
      writer.line("compute");
      return;
    }
    const tree::Loop& loop = nest.loops[depth];
    writer.open(std::string(kind_keyword(loop.kind)) + " " + text_of(loop.name) +
                (loop.peel ? " peel" : "") +
                (loop.scope == tree::Scope::None
                     ? ""
                     : " bind " + std::string(tree::scope_text(loop.scope)) +
                           (loop.agents_by == 1 ? "" : " by " + std::to_string(loop.agents_by))) +
                (loop.versions.empty() ? "" : " when " + print_conditions(loop.versions)) + " {");
    for (const tree::Prefetch& prefetch : loop.prefetches)
      writer.line("prefetch " + text_of(prefetch.tensor) + " by " +
                  std::to_string(prefetch.distance));
    if (!loop.pipeline.empty()) writer.line("pipeline " + Pipeline::print_rows(loop.pipeline));
    if (!loop.roles.empty()) writer.line("roles " + Roles::print_roles(loop.roles));
    for (const tree::OrderEdge& edge : loop.order) writer.line("order " + Order::print_edge(edge));
    print_place(writer, tree::LoopRef{nest.name, loop.name});
    print_loops(writer, nest, depth + 1);
    writer.close("}");
  }

  const tree::Tree& tree_;
};

}  // namespace

std::string print(const tree::Schedule& schedule) {
  TextWriter writer;
  writer.open("schedule " + text_of(schedule.name) + " for " + text_of(schedule.algorithm) +
              " on " + schedule.machine + " {");
  if (!schedule.algorithm_hash.empty()) writer.line("algorithm_hash h" + schedule.algorithm_hash);
  if (!schedule.guards.empty()) {
    std::string line = "guard ";
    for (std::size_t i = 0; i < schedule.guards.size(); ++i)
      line += (i ? ", " : "") + ir::print(schedule.guards[i]);
    writer.line(line);
  }
  writer.open("tree {");
  TreePrinter(schedule.tree).run(writer);
  writer.close("}");
  writer.close("}");
  return writer.take();
}

tree::Schedule default_schedule(ir::Context& context, const ir::Algorithm& algorithm,
                                std::string_view machine) {
  tree::Schedule out;
  out.name = context.symbol("plain");
  out.algorithm = algorithm.name;
  out.machine = std::string(machine);
  out.tree = tree::default_tree(algorithm);
  return out;
}

}  // namespace tilewright::directives

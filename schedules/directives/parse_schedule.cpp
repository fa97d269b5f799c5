// SPDX-License-Identifier: Apache-2.0
//
// Reads a schedule. Directives are applied as they are read, so a refusal points at its own line and the
// ones before it hold; the tree form is read nest by nest. Both end in the same value, verified once: its
// parts know the words that they come from.
#include <algorithm>

#include "frontend/ir/declarations.h"
#include "frontend/ir/text.h"
#include "schedules/directives/text.h"
#include "schedules/tree/derive.h"
#include "schedules/tree/guards.h"

namespace tilewright::directives {

namespace {

class ScheduleParser {
 public:
  ScheduleParser(ir::Context& context, const ir::Algorithm& algorithm, const Source& source)
      : context_(context),
        algorithm_(algorithm),
        cursor_(source),
        reader_{context, cursor_, &algorithm} {}

  Result<tree::Schedule> run() {
    if (header()) body();
    if (!cursor_.failed() && !cursor_.at_end())
      cursor_.unexpected("the end of the schedule", "write one schedule per file");
    if (cursor_.failed()) return Failure{cursor_.take_diagnostics()};
    auto verified = tree::verify(algorithm_, out_.tree, out_.guards);
    if (!verified.ok()) return with_place(std::move(verified).failure());
    TILEWRIGHT_CHECK_OK(tree::verify_guards(algorithm_, out_));
    return out_;
  }

 private:
  // A fault that no word has to itself is shown at the directive after which the tree stayed malformed, or at
  // the schedule's name. To find it the directives are applied again, with a verification after each.
  Failure with_place(Failure failure) const {
    Span place = name_span_;
    bool sound = true;
    tree::Tree tree = tree::default_tree(algorithm_);
    const bool needed = std::any_of(failure.diagnostics.begin(), failure.diagnostics.end(),
                                    [](const Diagnostic& d) { return d.span.none(); });
    for (std::size_t i = 0; needed && i < applied_.size(); ++i) {
      Target target{context_, algorithm_, tree, out_.guards};
      if (!directives::apply(applied_[i].first, target).ok()) break;
      const bool still = tree::verify(algorithm_, tree).ok();
      if (sound && !still) place = applied_[i].second;
      sound = still;
    }
    for (Diagnostic& d : failure.diagnostics)
      if (d.span.none()) d.span = place;
    return failure;
  }

  bool header() {
    if (!cursor_.expect("schedule", "at the start",
                        "start with `schedule NAME for ALGORITHM on MACHINE {`"))
      return false;
    name_span_ = cursor_.peek().span;
    auto name = reader_.name("a name for the schedule");
    if (!name || !cursor_.expect("for", "after the name", "write `for` and the algorithm"))
      return false;
    out_.name = *name;
    out_.span = name_span_;
    const Span span = cursor_.peek().span;
    auto algorithm = reader_.path("the algorithm");
    if (!algorithm) return false;
    out_.algorithm = *algorithm;
    if (!(algorithm->symbol == algorithm_.name)) {
      cursor_.report(
          Code::ScheduleHeader, span,
          "a schedule for `" + std::string(algorithm->text()) + "`, used with algorithm `" +
              std::string(algorithm_.name.text()) + "`",
          "write `for " + std::string(algorithm_.name.text()) + "`, or give its own algorithm");
      return false;
    }
    if (!cursor_.expect("on", "after the algorithm",
                        "write `on` and a machine, for example `on x86-64-v4`"))
      return false;
    return machine() && cursor_.expect("{", "after the machine");
  }

  // Names like `x86-64-v4` or `machines/big.toml`: everything up to the brace, without spaces.
  bool machine() {
    out_.machine_span = cursor_.peek().span;
    while (!cursor_.at_end() && !cursor_.at("{")) {
      const auto token = cursor_.next();
      out_.machine += token.text;
      out_.machine_span.end = token.span.end;
    }
    if (out_.machine.empty()) {
      cursor_.unexpected("a machine", "write for example `on x86-64-v4`");
      return false;
    }
    return true;
  }

  void body() {
    out_.tree = tree::default_tree(algorithm_);
    while (!cursor_.at_end() && !cursor_.at("}")) {
      const std::size_t begin = cursor_.position();
      if (!statement()) cursor_.skip_statement(begin);
      if (cursor_.position() == begin) cursor_.next();
    }
    // Only now: while placements are still to come the order is that of the algorithm.
    tree::order_nests(out_.tree);
    cursor_.expect("}", "after the schedule");
  }

  bool statement() {
    if (cursor_.accept("guard")) return guards();
    if (cursor_.accept("algorithm_hash")) return hash();
    if (cursor_.at("tree")) return tree_form();
    if (cursor_.peek().kind == TokenKind::Name && is_directive_keyword(cursor_.peek().text))
      return directive();
    std::string known = "`guard`, `algorithm_hash`, `tree`";
    for (const DirectiveInfo& row : all_directives())
      known += ", `" + std::string(row.keyword) + "`";
    cursor_.unexpected("a directive", "the directives are " + known);
    return false;
  }

  bool guards() { return reader_.conditions(out_.guards, out_.guard_spans); }

  bool hash() {
    const Span span = cursor_.peek().span;
    auto token = cursor_.expect_name(
        "a hash", "write `h` and 32 hex digits, as `tilewright opt --json` shows");
    if (!token) return false;
    out_.algorithm_hash = std::string(token->text.substr(1));
    if (token->text[0] != 'h' || out_.algorithm_hash != ir::algorithm_hash(algorithm_)) {
      cursor_.report(Code::ScheduleHeader, span,
                     "the schedule pins another content of the algorithm",
                     "the algorithm given has `h" + ir::algorithm_hash(algorithm_) + "`");
      return false;
    }
    return true;
  }

  bool directive() {
    const Span span = cursor_.peek().span;
    auto parsed = parse_directive(reader_);
    if (!parsed) return false;
    Target target{context_, algorithm_, out_.tree, out_.guards};
    auto done = directives::apply(*parsed, target);
    if (done.ok()) {
      applied_.emplace_back(*std::move(parsed), span);
      return true;
    }
    for (Diagnostic d : done.diagnostics()) {
      if (d.span.none()) d.span = span;
      cursor_.report(std::move(d));
    }
    return true;
  }

  bool tree_form() {
    const Span span = cursor_.next().span;
    if (!applied_.empty() || has_tree_) {
      cursor_.report(Code::ScheduleHeader, span, "a tree beside directives, or a second tree",
                     "write directives, or one tree");
      return false;
    }
    has_tree_ = true;
    out_.tree = {};
    if (!cursor_.expect("{", "after `tree`")) return false;
    if (!algebra()) return false;
    while (!cursor_.at_end() && !cursor_.at("}")) {
      if (cursor_.accept("inline")) {
        auto name = reader_.path("an equation");
        if (!name) return false;
        auto& inlined = out_.tree.inlined;
        const Symbol symbol = *name;
        inlined.insert(std::upper_bound(inlined.begin(), inlined.end(), symbol), symbol);
      } else if (!nest_or_set(std::nullopt)) {
        return false;
      }
    }
    return cursor_.expect("}", "after the tree");
  }

  // The algebraic steps, which come first: the nests are those of what they derive.
  bool algebra() {
    while (true) {
      std::optional<tree::AlgebraStep> step;
      if (cursor_.accept("split_reduction")) {
        auto s = SplitReduction::parse(reader_);
        if (!s) return false;
        if (!s->loop.nest.valid()) {
          cursor_.report(Code::UnexpectedToken, s->loop.span, "a reduction without its equation",
                         "write `equation.variable`");
          return false;
        }
        step = tree::SplitReductionStep{s->loop.nest, s->loop.loop, s->factor,
                                        s->outer,     s->inner,     {s->loop.span}};
      } else if (cursor_.accept("defer")) {
        auto s = Defer::parse(reader_);
        if (!s) return false;
        step = tree::DeferStep{s->tensor, s->equation, {s->tensor.span}};
      } else if (cursor_.accept("recompute")) {
        auto equation = reader_.path("an equation");
        if (!equation || !cursor_.expect("for", "after the equation", "write `for` and its reader"))
          return false;
        auto reader = reader_.path("an equation that reads it");
        if (!reader) return false;
        step = tree::RecomputeStep{*equation, *reader, {equation->span}};
      } else {
        return true;
      }
      auto made = tree::derive(context_, out_.tree.algorithm(algorithm_), *step);
      if (!made.ok()) {
        for (const Diagnostic& d : made.diagnostics()) cursor_.report(d);
        return false;
      }
      out_.tree.algebra.push_back(*std::move(step));
      out_.tree.derived.algorithm =
          std::make_shared<const ir::Algorithm>(std::move(made->algorithm));
    }
  }

  // `set { order a before c   nest a { ... } ... }`, or one nest.
  bool nest_or_set(const std::optional<tree::LoopRef>& at) {
    if (!cursor_.at("set")) return nest(at);
    tree::Set set;
    set.place = {cursor_.next().span};
    if (!cursor_.expect("{", "after `set`")) return false;
    while (cursor_.accept("order")) {
      auto edge = Order::parse_edge(reader_);
      if (!edge) return false;
      set.order.push_back(*edge);
    }
    while (!cursor_.at_end() && !cursor_.at("}")) {
      if (!nest(at)) return false;
      set.members.push_back(out_.tree.nests.back().name);
    }
    out_.tree.sets.push_back(std::move(set));
    return cursor_.expect("}", "after the set");
  }

  // What stands in a loop before its nests: prefetches, a pipeline, roles and their order.
  bool tables(tree::Loop& loop) {
    while (true) {
      if (cursor_.accept("prefetch")) {
        auto prefetch = Prefetch::parse_in_tree(reader_);
        if (!prefetch) return false;
        loop.prefetches.push_back({prefetch->tensor, prefetch->distance, {prefetch->tensor.span}});
      } else if (loop.pipeline.empty() && cursor_.accept("pipeline")) {
        if (!Pipeline::parse_rows(reader_, loop.pipeline)) return false;
      } else if (loop.roles.empty() && cursor_.accept("roles")) {
        if (!Roles::parse_roles(reader_, loop.roles)) return false;
      } else if (cursor_.accept("order")) {
        auto edge = Order::parse_edge(reader_);
        if (!edge) return false;
        loop.order.push_back(*edge);
      } else {
        return true;
      }
    }
  }

  // A nest stands after the nests placed in its loops, since they produce what it reads.
  bool nest(std::optional<tree::LoopRef> at) {
    const TextCursor::Nest depth(cursor_);
    if (!depth.ok()) return false;
    tree::Nest out;
    out.at = at;
    if (cursor_.accept("stage")) {
      // The tree form has the place around it: read it as if it were written.
      auto parsed = StageCopy::parse_in_tree(reader_);
      if (!parsed) return false;
      out.name = parsed->buffer;
      out.place = {parsed->buffer.span};
      out.placed = {parsed->buffer.span};
      out.stage = std::move(parsed->stage);
    } else {
      if (!cursor_.expect("nest", "in a tree",
                          "write `nest EQUATION { ... }` or `stage ... { ... }`"))
        return false;
      auto name = reader_.path("an equation");
      if (!name) return false;
      out.name = *name;
      out.place = {name->span};
      out.placed = {name->span};
    }
    if (!cursor_.expect("{", "after the nest") || !nest_steps(out) || !loops(out)) return false;
    if (!cursor_.expect("}", "after the nest")) return false;
    out_.tree.nests.push_back(std::move(out));
    return true;
  }

  bool nest_steps(tree::Nest& out) {
    while (true) {
      if (cursor_.accept("split")) {
        auto s = Split::parse(reader_);
        if (!s || !own_loop(s->loop)) return false;
        out.steps.push_back(
            tree::SplitStep{s->loop.loop, s->factor, s->outer, s->inner, {s->loop.span}});
      } else if (cursor_.accept("fuse")) {
        auto f = Fuse::parse(reader_);
        if (!f || !own_loop(f->outer) || !own_loop(f->inner)) return false;
        out.steps.push_back(
            tree::FuseStep{f->outer.loop, f->inner.loop, f->fused, {f->outer.span}});
      } else if (cursor_.accept("keep")) {
        auto names = reader_.names("a loop");
        if (!names) return false;
        out.keep = symbols(*names);
        out.kept = places(*names);
      } else if (cursor_.accept("tensorize")) {
        auto t = Tensorize::parse(reader_);
        if (!t) return false;
        tree::Tensorized tile{t->instruction, {}, {t->span}};
        for (const LoopName& loop : t->loops) {
          if (!own_loop(loop)) return false;
          tile.loops.push_back(loop.loop);
        }
        out.tensorized = std::move(tile);
      } else if (cursor_.accept("in")) {
        out.registered = {cursor_.peek().span};
        auto space = reader_.space();
        if (!space) return false;
        if (*space == tree::Space::Register)
          out.in_register = true;
        else
          out.space = *space;
      } else if (cursor_.accept("ring")) {
        out.ringed = {cursor_.peek().span};
        auto depth = reader_.factor();
        if (!depth) return false;
        out.ring = *depth;
      } else if (cursor_.at("async")) {
        out.made_async = {cursor_.next().span};
        out.is_async = true;
      } else if (cursor_.accept("kernel")) {
        auto name = reader_.path("a name for the kernel");
        if (!name) return false;
        out.kernel = *name;
        out.launched = {name->span};
      } else {
        return true;
      }
    }
  }

  // In the tree form a step stands in its nest.
  bool own_loop(const LoopName& name) {
    if (!name.nest.valid()) return true;
    cursor_.report(Code::UnexpectedToken, name.span,
                   "`" + directives::print(name) + "` names a nest where one is given",
                   "write the loop alone");
    return false;
  }

  std::optional<tree::LoopKind> loop_kind() {
    if (cursor_.accept("for")) return tree::LoopKind::Serial;
    if (cursor_.accept("parallel")) return tree::LoopKind::Parallel;
    if (cursor_.accept("vector")) return tree::LoopKind::Vector;
    if (cursor_.accept("unrolled")) return tree::LoopKind::Unrolled;
    return std::nullopt;
  }

  bool loops(tree::Nest& out) {
    const TextCursor::Nest depth(cursor_);
    if (!depth.ok()) return false;
    if (cursor_.accept("compute")) return true;
    auto kind = loop_kind();
    if (!kind) {
      cursor_.unexpected("a loop or `compute`",
                         "write `for`, `parallel`, `vector`, `unrolled` and a loop, or `compute`");
      return false;
    }
    auto name = reader_.name("a loop");
    if (!name) return false;
    const Span peel = cursor_.peek().span;
    out.loops.push_back({*name, *kind, cursor_.accept("peel"), {name->span}, {peel}});
    tree::Loop& loop = out.loops.back();
    if (cursor_.accept("bind")) {
      loop.bound = {cursor_.peek().span};
      auto scope = reader_.scope();
      if (!scope) return false;
      loop.scope = *scope;
      if (cursor_.accept("by")) {
        auto agents_by = reader_.factor();
        if (!agents_by) return false;
        loop.agents_by = *agents_by;
      }
    }
    if (cursor_.accept("when") && !reader_.conditions(loop.versions, loop.version_places.spans))
      return false;
    if (!cursor_.expect("{", "after the loop")) return false;
    if (!tables(loop)) return false;
    while (cursor_.at("nest") || cursor_.at("stage") || cursor_.at("set"))
      if (!nest_or_set(tree::LoopRef{out.name, name->symbol})) return false;
    return loops(out) && cursor_.expect("}", "after the loop");
  }

  ir::Context& context_;
  const ir::Algorithm& algorithm_;
  TextCursor cursor_;
  Reader reader_;
  tree::Schedule out_;
  Span name_span_;
  std::vector<std::pair<Directive, Span>> applied_;
  bool has_tree_ = false;
};

}  // namespace

Result<tree::Schedule> parse_schedule(ir::Context& context, const ir::Algorithm& algorithm,
                                      const Source& source) {
  return ScheduleParser(context, algorithm, source).run();
}

}  // namespace tilewright::directives

// SPDX-License-Identifier: Apache-2.0
//
// What runs at the same time: sets of nests, pipelines and roles of a loop, prefetches. The order that they state
// must contain the order that values need:
//   - a set has an order, direct or through others, from who computes a tensor to who reads it;
//   - a pipeline computes a value in an interval before it is read, and has a ring deep enough that it is read before
//     it is overwritten;
//   - no roles or members wait for each other in a circle.
#include <algorithm>
#include <map>

#include "schedules/tree/verify_parts.h"

namespace tilewright::tree {

namespace {

std::string name_of(Symbol symbol) { return std::string(symbol.text()); }

std::string place_text(const Nest& nest) {
  return nest.at ? path(nest.at->nest, nest.at->loop) : std::string("the root");
}

class Tables {
 public:
  Tables(const Case& where, const Tree& tree, const ReadsOf& reads)
      : where_(where), algorithm_(where.algorithm), tree_(tree), reads_(reads) {}

  Result<Ok> run() {
    for (const Nest& nest : tree_.nests)
      for (const Loop& loop : nest.loops) {
        TILEWRIGHT_CHECK_OK(prefetches(nest, loop));
        if (loop.pipeline.empty() && loop.roles.empty() && loop.order.empty()) continue;
        TILEWRIGHT_CHECK_OK(may_have_table(nest, loop));
        const std::vector<const Nest*> statements = statements_of(tree_, nest, loop);
        if (!loop.pipeline.empty()) TILEWRIGHT_CHECK_OK(pipeline(nest, loop, statements));
        TILEWRIGHT_CHECK_OK(roles(nest, loop, statements));
        TILEWRIGHT_CHECK_OK(verify_waits(nest, loop, statements, flows(statements, &loop)));
      }
    std::set<Symbol> taken;
    for (const Set& set : tree_.sets) TILEWRIGHT_CHECK_OK(members(set, taken));
    return Ok{};
  }

 private:
  static Evidence at(const Nest& nest, const Loop& loop) {
    return {{"loop", path(nest.name, loop.name)}};
  }

  std::vector<Flow> flows(const std::vector<const Nest*>& statements, const Loop* own) const {
    return flows_between(tree_, reads_, statements, own);
  }

  static Result<Ok> may_have_table(const Nest& nest, const Loop& loop) {
    const Span place = !loop.pipeline.empty() ? loop.pipeline[0].place.span
                       : !loop.roles.empty()  ? loop.roles[0].place.span
                                              : loop.order[0].place.span;
    if (loop.kind != LoopKind::Serial || loop.scope != Scope::None || loop.peel)
      return malformed(place,
                       "loop " + quoted(nest.name, loop.name) +
                           " has a pipeline or roles and is marked otherwise too",
                       "leave it serial", at(nest, loop));
    return Ok{};
  }

  // Each statement of the loop stands in the table once.
  Result<Ok> covers(const Nest& nest, const Loop& loop, const std::vector<const Nest*>& statements,
                    const std::vector<std::pair<Symbol, Span>>& named, Span table,
                    const std::string& what) const {
    std::set<Symbol> seen;
    for (const auto& [name, place] : named) {
      const bool known = std::any_of(statements.begin(), statements.end(),
                                     [&](const Nest* n) { return n->name == name; });
      if (!known)
        return malformed(place,
                         quoted(name) + " is no statement of loop " + quoted(nest.name, loop.name),
                         "name what is placed in the loop, or " + quoted(nest.name),
                         with(at(nest, loop), {{"statement", name_of(name)}}));
      if (!seen.insert(name).second)
        return malformed(
            place,
            quoted(name) + " stands twice in " + what + " of " + quoted(nest.name, loop.name),
            "name each statement once", with(at(nest, loop), {{"statement", name_of(name)}}));
    }
    for (const Nest* statement : statements)
      if (!seen.contains(statement->name))
        return malformed(
            table,
            quoted(statement->name) + " is not in " + what + " of " + quoted(nest.name, loop.name),
            "name every statement of the loop",
            with(at(nest, loop), {{"statement", name_of(statement->name)}}));
    for (const Nest* statement : statements)
      if (statement != &nest && tree_.set_of(statement->name))
        return malformed(table,
                         quoted(statement->name) + " is in a set, and " + what +
                             " of the loop around orders it too",
                         "drop one of the two",
                         with(at(nest, loop), {{"statement", name_of(statement->name)}}));
    return Ok{};
  }

  Result<Ok> pipeline(const Nest& nest, const Loop& loop,
                      const std::vector<const Nest*>& statements) const {
    std::vector<std::pair<Symbol, Span>> named;
    for (const PipelineRow& row : loop.pipeline) named.emplace_back(row.statement, row.place.span);
    TILEWRIGHT_CHECK_OK(
        covers(nest, loop, statements, named, loop.pipeline[0].place.span, "the pipeline"));
    const auto first =
        std::min_element(loop.pipeline.begin(), loop.pipeline.end(),
                         [](const auto& a, const auto& b) { return a.stage < b.stage; });
    if (first->stage != 0)
      return malformed(first->place.span,
                       "the first stage of the pipeline of " + quoted(nest.name, loop.name) +
                           " is " + std::to_string(first->stage),
                       "count stages from 0", at(nest, loop));
    std::map<Symbol, std::size_t> row_of;
    for (std::size_t i = 0; i < loop.pipeline.size(); ++i) row_of[loop.pipeline[i].statement] = i;
    for (const Flow& flow : flows(statements, &loop)) {
      const Nest& producer = *statements[flow.from];
      const Nest& reader = *statements[flow.to];
      if (!of_one_agent(loop, producer.name, reader.name)) continue;
      const std::size_t p = row_of[producer.name];
      const std::size_t r = row_of[reader.name];
      TILEWRIGHT_CHECK_OK(in_time(loop.pipeline[p], loop.pipeline[r], p < r, producer,
                                  with(at(nest, loop), {{"producer", name_of(producer.name)},
                                                        {"reader", name_of(reader.name)},
                                                        {"tensor", name_of(flow.tensor)}})));
    }
    return Ok{};
  }

  // Roles wait for each other; what one runs itself, it runs in the order of the table.
  static bool of_one_agent(const Loop& loop, Symbol a, Symbol b) {
    for (const Role& role : loop.roles) {
      const auto has = [&](Symbol s) {
        return std::find(role.statements.begin(), role.statements.end(), s) !=
               role.statements.end();
      };
      if (has(a) != has(b)) return false;
    }
    return true;
  }

  static Result<Ok> in_time(const PipelineRow& producer, const PipelineRow& reader, bool first,
                            const Nest& nest, Evidence evidence) {
    const auto interval = [](const PipelineRow& row) {
      return "interval " + std::to_string(row.stage);
    };
    const std::int64_t behind = reader.stage - producer.stage;
    if (behind < 0 || (behind == 0 && !first)) {
      evidence.emplace_back("iteration 0 of `" + name_of(producer.statement) + "`",
                            interval(producer));
      evidence.emplace_back("iteration 0 of `" + name_of(reader.statement) + "`",
                            interval(reader) + (behind == 0 ? ", before it" : ""));
      return fail(Diagnostic{Code::PipelineOrder,
                             reader.place.span,
                             quoted(reader.statement) + " would read " +
                                 quoted(producer.statement) + " before it is there",
                             behind == 0 ? "name it later in the table, or give it a later stage"
                                         : "give it a stage that is not earlier",
                             {},
                             std::move(evidence)});
    }
    // Of iteration i, the buffer is written in interval i + stage and read last `behind` intervals later.
    const std::int64_t needed = behind + (first ? 1 : 0);
    if (nest.ring >= needed) return Ok{};
    evidence.emplace_back("buffers", std::to_string(nest.ring));
    evidence.emplace_back("needed", std::to_string(needed));
    // Iteration 0 and the one that takes its buffer again.
    const auto of = [](std::int64_t iteration, Symbol statement) {
      return "iteration " + std::to_string(iteration) + " of `" + name_of(statement) + "`";
    };
    evidence.emplace_back(of(nest.ring, producer.statement),
                          "interval " + std::to_string(nest.ring + producer.stage) +
                              ", into the buffer of iteration 0");
    evidence.emplace_back(of(0, reader.statement),
                          interval(reader) + (nest.ring == behind ? ", after it" : ""));
    return fail(
        Diagnostic{Code::PipelineOrder,
                   reader.place.span,
                   quoted(producer.statement) + " would be overwritten before " +
                       quoted(reader.statement) + " has read it",
                   "`ring " + name_of(producer.statement) + " by " + std::to_string(needed) + "`",
                   {},
                   std::move(evidence)});
  }

  Result<Ok> roles(const Nest& nest, const Loop& loop,
                   const std::vector<const Nest*>& statements) const {
    std::vector<Symbol> names;
    std::vector<std::pair<Symbol, Span>> named;
    for (const Role& role : loop.roles) {
      if (std::find(names.begin(), names.end(), role.name) != names.end())
        return malformed(role.place.span,
                         "two roles of " + quoted(nest.name, loop.name) + " have one name",
                         "rename one", with(at(nest, loop), {{"role", name_of(role.name)}}));
      if (role.statements.empty() || role.scope == Scope::None)
        return malformed(role.place.span,
                         "role " + quoted(role.name) + " has no statement, or no scope",
                         "write `" + name_of(role.name) + "(statement, ...) on warp`",
                         with(at(nest, loop), {{"role", name_of(role.name)}}));
      for (Symbol statement : role.statements) named.emplace_back(statement, role.place.span);
      names.push_back(role.name);
    }
    if (!names.empty())
      TILEWRIGHT_CHECK_OK(
          covers(nest, loop, statements, named, loop.roles[0].place.span, "the roles"));
    Graph ends(names);
    for (const OrderEdge& edge : loop.order)
      TILEWRIGHT_CHECK_OK(add_edge(ends, edge, "role", at(nest, loop)));
    return Ok{};
  }

  // Who is waited for.
  struct Graph {
    explicit Graph(std::vector<Symbol> names_in)
        : names(std::move(names_in)), after(names.size()) {}
    void add(std::size_t from, std::size_t to) { after[from].insert(to); }
    bool reaches(std::size_t from, std::size_t to) const {
      std::set<std::size_t> seen;
      std::vector<std::size_t> open = {from};
      while (!open.empty()) {
        const std::size_t i = open.back();
        open.pop_back();
        for (std::size_t next : after[i]) {
          if (next == to) return true;
          if (seen.insert(next).second) open.push_back(next);
        }
      }
      return false;
    }
    std::vector<Symbol> names;
    std::vector<std::set<std::size_t>> after;
  };

  static Result<Ok> add_edge(Graph& graph, const OrderEdge& edge, const std::string& what,
                             const Evidence& evidence) {
    std::size_t ends[2] = {};
    const Symbol symbols[2] = {edge.before, edge.after};
    for (int i = 0; i < 2; ++i) {
      const auto it = std::find(graph.names.begin(), graph.names.end(), symbols[i]);
      if (it == graph.names.end())
        return malformed(edge.place.span,
                         "an order names " + quoted(symbols[i]) + ", which is no " + what + " here",
                         "name two of the " + what + "s", evidence);
      ends[i] = static_cast<std::size_t>(it - graph.names.begin());
    }
    if (edge.distance < 0)
      return malformed(edge.place.span, "an order with a negative distance",
                       "count iterations from 0", evidence);
    if (edge.distance == 0) graph.add(ends[0], ends[1]);
    return Ok{};
  }

  static Result<Ok> no_circle(const Graph& graph, Span place, Evidence evidence) {
    for (std::size_t i = 0; i < graph.names.size(); ++i) {
      if (!graph.reaches(i, i)) continue;
      std::string circle;
      for (std::size_t j = 0; j < graph.names.size(); ++j)
        if (j == i || (graph.reaches(i, j) && graph.reaches(j, i)))
          circle += (circle.empty() ? "" : ", ") + name_of(graph.names[j]);
      evidence.emplace_back("circle", circle);
      return fail(Diagnostic{Code::RolesDeadlock,
                             place,
                             quoted(graph.names[i]) + " waits for itself, so it never begins",
                             "drop an order, or let it be with an earlier iteration: `by 1`",
                             {},
                             std::move(evidence)});
    }
    return Ok{};
  }

  Result<Ok> members(const Set& set, std::set<Symbol>& taken) const {
    if (set.members.size() < 2)
      return malformed(set.place.span, "a set of fewer than two nests",
                       "name all that run together");
    std::vector<const Nest*> nests;
    for (Symbol name : set.members) {
      const Nest* nest = tree_.find(name);
      if (!nest || !taken.insert(name).second)
        return malformed(set.place.span,
                         quoted(name) + (nest ? " is in two sets" : " is in a set and has no nest"),
                         "name each nest in one set", {{"nest", name_of(name)}});
      if (!nests.empty() && nest->at != nests[0]->at)
        return malformed(set.place.span,
                         quoted(name) + " and " + quoted(nests[0]->name) +
                             " are in one set and stand in different places",
                         "place them in one loop, or none",
                         {{"nest", name_of(name)},
                          {"place", place_text(*nest)},
                          {"other place", place_text(*nests[0])}});
      if (!nests.empty() && !(nest->kernel == nests[0]->kernel))
        return malformed(set.place.span,
                         quoted(name) + " and " + quoted(nests[0]->name) +
                             " are in one set and in different kernels",
                         "put them into one kernel",
                         {{"nest", name_of(name)},
                          {"kernel", name_of(nest->kernel)},
                          {"other kernel", name_of(nests[0]->kernel)}});
      nests.push_back(nest);
    }
    TILEWRIGHT_CHECK_OK(neighbours(set, nests[0]->at));
    Graph waits(set.members);
    for (const OrderEdge& edge : set.order) {
      TILEWRIGHT_CHECK_OK(add_edge(waits, edge, "member", {}));
      if (edge.distance != 0)
        return malformed(edge.place.span, "an order of nests with a distance",
                         "drop `by`: a set runs once",
                         {{"distance", std::to_string(edge.distance)}});
    }
    TILEWRIGHT_CHECK_OK(
        no_circle(waits, set.order.empty() ? set.place.span : set.order[0].place.span, {}));
    for (const Flow& flow : flows(nests, nullptr)) {
      if (waits.reaches(flow.from, flow.to)) continue;
      const Nest& maker = *nests[flow.from];
      const Nest& reader = *nests[flow.to];
      // What a copy holds, the nest around it reads.
      const Symbol by = reader.stage && reader.at ? reader.at->nest : reader.name;
      const ir::Equation* equation = algorithm_.find_equation(by);
      return fail(Diagnostic{
          Code::SetOrder,
          set.place.span,
          quoted(reader.name) + " reads " + quoted(flow.tensor) + ", which " +
              (maker.stage ? quoted(maker.name) + " copies" : "is computed") + " at the same time",
          "`order " + name_of(maker.name) + " before " + name_of(reader.name) + "`",
          {},
          with({{"reader", name_of(reader.name)}, {"tensor", name_of(flow.tensor)}},
               equation ? reading_instance(where_, tree_, *equation, flow.tensor) : Evidence{})});
    }
    return Ok{};
  }

  // Nothing else of the same place stands between the members.
  Result<Ok> neighbours(const Set& set, const std::optional<LoopRef>& place) const {
    std::vector<Symbol> all;
    for (const Nest& nest : tree_.nests)
      if (nest.at == place) all.push_back(nest.name);
    const auto first = std::find(all.begin(), all.end(), set.members[0]);
    const auto left = static_cast<std::size_t>(all.end() - first);
    for (std::size_t i = 0; i < set.members.size(); ++i) {
      if (i < left && *(first + static_cast<std::ptrdiff_t>(i)) == set.members[i]) continue;
      return malformed(
          set.place.span,
          "the members of a set do not follow one another: " + quoted(set.members[i]) +
              " does not stand after " + quoted(set.members[i == 0 ? 0 : i - 1]),
          "name nests that are neighbours",
          with({{"nest", name_of(set.members[i])}},
               i < left ? Evidence{{"between", name_of(*(first + static_cast<std::ptrdiff_t>(i)))}}
                        : Evidence{}));
    }
    return Ok{};
  }

  Result<Ok> prefetches(const Nest& nest, const Loop& loop) const {
    std::set<Symbol> seen;
    for (const Prefetch& prefetch : loop.prefetches) {
      const Evidence evidence = with(at(nest, loop), {{"tensor", name_of(prefetch.tensor)}});
      if (prefetch.distance < 1 || !seen.insert(prefetch.tensor).second)
        return malformed(prefetch.place.span,
                         quoted(prefetch.tensor) + " is prefetched twice in " +
                             quoted(nest.name, loop.name) + ", or by less than an iteration",
                         "prefetch a tensor once, by 1 or more", evidence);
      if (loop.kind != LoopKind::Serial || loop.scope != Scope::None)
        return malformed(prefetch.place.span,
                         "loop " + quoted(nest.name, loop.name) +
                             " has a prefetch, and its iterations do not follow one another",
                         "prefetch in a serial loop", evidence);
      if (nest.stage)
        return malformed(prefetch.place.span, quoted(nest.name, loop.name) + " is a loop of a copy",
                         "prefetch in a loop around the copy", evidence);
      std::set<Symbol> read;
      for (const Nest* statement : statements_of(tree_, nest, loop))
        collect_reads(tree_, reads_, *statement, statement == &nest ? &loop : nullptr, read);
      if (!read.contains(prefetch.tensor))
        return malformed(
            prefetch.place.span,
            "nothing inside " + quoted(nest.name, loop.name) + " reads " + quoted(prefetch.tensor),
            "prefetch what the loop reads", evidence);
      TILEWRIGHT_CHECK_OK(computed_outside(nest, loop, prefetch, evidence));
    }
    return Ok{};
  }

  // The cells of later iterations are there: an input, or what no nest inside the loop makes.
  Result<Ok> computed_outside(const Nest& nest, const Loop& loop, const Prefetch& prefetch,
                              const Evidence& evidence) const {
    const ir::Equation* equation = algorithm_.definition(prefetch.tensor);
    const Nest* producer = equation ? tree_.find(equation->name) : nullptr;
    const LoopRef here{nest.name, loop.name};
    for (const Nest* n = producer; n && n->at; n = tree_.find(n->at->nest)) {
      if (!(n->at->nest == here.nest)) continue;
      bool inside = false;
      for (const Loop& l : nest.loops) {
        inside = inside || l.name == here.loop;
        if (l.name == n->at->loop && inside)
          return malformed(prefetch.place.span,
                           quoted(prefetch.tensor) + " is computed inside " +
                               quoted(nest.name, loop.name) + ", iteration by iteration",
                           "prefetch what is there before the loop", evidence);
      }
      break;
    }
    return Ok{};
  }

  const Case& where_;
  const ir::Algorithm& algorithm_;
  const Tree& tree_;
  const ReadsOf& reads_;
};

}  // namespace

std::vector<const Nest*> statements_of(const Tree& tree, const Nest& nest, const Loop& loop) {
  std::vector<const Nest*> out = tree.placed_in({nest.name, loop.name});
  out.push_back(&nest);
  return out;
}

void collect_reads(const Tree& tree, const ReadsOf& reads, const Nest& nest, const Loop* from,
                   std::set<Symbol>& out) {
  if (nest.stage)
    out.insert(nest.stage->tensor);
  else if (const auto it = reads.find(nest.name); it != reads.end())
    out.insert(it->second.begin(), it->second.end());
  bool inside = from == nullptr;
  for (const Loop& loop : nest.loops) {
    if (inside)
      for (const Nest* placed : tree.placed_in({nest.name, loop.name}))
        collect_reads(tree, reads, *placed, nullptr, out);
    inside = inside || &loop == from;
  }
}

std::vector<Flow> flows_between(const Tree& tree, const ReadsOf& reads,
                                const std::vector<const Nest*>& statements, const Loop* own) {
  std::vector<Flow> out;
  for (std::size_t to = 0; to < statements.size(); ++to) {
    std::set<Symbol> read;
    collect_reads(tree, reads, *statements[to], to + 1 == statements.size() ? own : nullptr, read);
    for (Symbol tensor : read)
      for (std::size_t from = to; from-- > 0;) {
        const Nest& producer = *statements[from];
        if (!((producer.stage ? producer.stage->tensor : producer.name) == tensor)) continue;
        out.push_back({from, to, tensor});
        break;
      }
  }
  return out;
}

Result<Ok> verify_tables(const Case& where, const Tree& tree, const ReadsOf& reads) {
  return Tables(where, tree, reads).run();
}

}  // namespace tilewright::tree

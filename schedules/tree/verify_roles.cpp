// SPDX-License-Identifier: Apache-2.0
//
// Whether the roles of a loop come to an end. The instances of its statements wait for each other:
//   a role runs its statements one after the other, in the order of the tree or of an interval of the pipeline;
//   who reads a value waits for who makes it, in the same iteration;
//   who makes it waits until the reader of the iteration is done that used the same buffer of its ring before;
//   an `order` says the rest.
// Each is an edge whose weight is the number of iterations that the one waited for lies before. A circle whose weights
// add to 0 or less is an instance that waits for itself or for a later one. So all is well when every circle has a
// positive sum, which Bellman and Ford's search decides.
#include <algorithm>
#include <limits>

#include "schedules/tree/verify_parts.h"

namespace tilewright::tree {

namespace {

struct Wait {
  std::size_t first = 0;  // positions among the statements
  std::size_t then = 0;
  std::int64_t before = 0;
  const char* why = "";
};

class Waits {
 public:
  Waits(const Loop& loop, const std::vector<const Nest*>& statements,
        const std::vector<Flow>& flows)
      : loop_(loop), statements_(statements) {
    for (const Role& role : loop.roles) sequence(role);
    for (const Flow& flow : flows) {
      waits_.push_back({flow.from, flow.to, 0, "its value"});
      waits_.push_back({flow.to, flow.from, statements[flow.from]->ring, "its buffer"});
    }
    for (const OrderEdge& edge : loop.order)
      for (std::size_t a : of(edge.before))
        for (std::size_t b : of(edge.after)) waits_.push_back({a, b, edge.distance, "the order"});
  }

  // The edges of a circle that never begins; none: there is no such circle.
  std::vector<Wait> circle() const {
    // A sum of at most n weights is at most 0 just when it is below 0 once each is made a little less.
    const std::size_t n = statements_.size();
    const auto scaled = [&](const Wait& w) {
      return w.before * (static_cast<std::int64_t>(n) + 1) - 1;
    };
    std::vector<std::int64_t> distance(n, 0);
    std::vector<const Wait*> by(n, nullptr);
    std::size_t last = n;
    for (std::size_t round = 0; round <= n; ++round) {
      last = n;
      for (const Wait& w : waits_) {
        if (distance[w.first] + scaled(w) >= distance[w.then]) continue;
        distance[w.then] = distance[w.first] + scaled(w);
        by[w.then] = &w;
        last = w.then;
      }
      if (last == n) return {};
    }
    for (std::size_t i = 0; i < n; ++i) last = by[last]->first;  // now on the circle
    std::vector<Wait> out;
    std::size_t at = last;
    do {
      out.push_back(*by[at]);
      at = by[at]->first;
    } while (at != last);
    return out;
  }

 private:
  std::size_t position(Symbol statement) const {
    std::size_t i = 0;
    while (!(statements_[i]->name == statement)) ++i;
    return i;
  }

  std::int64_t stage(std::size_t statement) const {
    for (const PipelineRow& row : loop_.pipeline)
      if (row.statement == statements_[statement]->name) return row.stage;
    return 0;
  }

  std::vector<std::size_t> of(Symbol name) const {
    std::vector<std::size_t> out;
    for (const Role& role : loop_.roles)
      if (role.name == name)
        for (Symbol statement : role.statements) out.push_back(position(statement));
    return out;
  }

  // In each interval the statements of the role follow one another, and then comes the next interval.
  void sequence(const Role& role) {
    std::vector<std::size_t> mine = of(role.name);
    const auto row = [&](std::size_t statement) {
      for (std::size_t i = 0; i < loop_.pipeline.size(); ++i)
        if (loop_.pipeline[i].statement == statements_[statement]->name) return i;
      return statement;
    };
    std::sort(mine.begin(), mine.end(),
              [&](std::size_t a, std::size_t b) { return row(a) < row(b); });
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const bool wraps = i + 1 == mine.size();
      const std::size_t next = wraps ? mine[0] : mine[i + 1];
      waits_.push_back(
          {mine[i], next, stage(mine[i]) - stage(next) + (wraps ? 1 : 0), "its turn in the role"});
    }
  }

  const Loop& loop_;
  const std::vector<const Nest*>& statements_;
  std::vector<Wait> waits_;
};

}  // namespace

Result<Ok> verify_waits(const Nest& nest, const Loop& loop,
                        const std::vector<const Nest*>& statements,
                        const std::vector<Flow>& flows) {
  if (loop.roles.empty()) return Ok{};
  const std::vector<Wait> circle = Waits(loop, statements, flows).circle();
  if (circle.empty()) return Ok{};
  Evidence evidence = {{"loop", path(nest.name, loop.name)}};
  const auto name = [&](std::size_t i) { return std::string(statements[i]->name.text()); };
  for (auto w = circle.rbegin(); w != circle.rend(); ++w) {
    const std::string when = w->before == 0
                                 ? ""
                                 : ", " + std::to_string(std::abs(w->before)) + " iteration" +
                                       (std::abs(w->before) == 1 ? "" : "s") +
                                       (w->before > 0 ? " before" : " later");
    evidence.emplace_back("`" + name(w->then) + "` waits for",
                          "`" + name(w->first) + "`" + when + " (" + w->why + ")");
  }
  return fail(Diagnostic{
      Code::RolesDeadlock,
      loop.order.empty() ? loop.roles[0].place.span : loop.order[0].place.span,
      quoted(statements[circle.front().then]->name) + " waits for itself, so it never begins",
      "let an order be with an earlier iteration (`by 1`), or give rings more buffers",
      {},
      std::move(evidence)});
}

}  // namespace tilewright::tree

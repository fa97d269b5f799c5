// SPDX-License-Identifier: Apache-2.0
//
// order a before c                      in a set: c begins when a has ended
// order c.ko: math before load by 3     of roles: iteration k of load begins when iteration k - 3 of math has ended
#include <algorithm>

#include "schedules/directives/directive.h"

namespace tilewright::directives {

namespace {

std::optional<tree::OrderEdge> edge_from(Reader& reader, const Word& before) {
  if (!reader.cursor.expect("before", "after the first name", "write `before` and what waits"))
    return std::nullopt;
  auto after = reader.path("what waits");
  if (!after) return std::nullopt;
  tree::OrderEdge edge{before, *after, 0, {before.span}};
  if (reader.cursor.accept("by")) {
    auto distance = reader.factor();
    if (!distance) return std::nullopt;
    edge.distance = *distance;
  }
  return edge;
}

}  // namespace

std::optional<tree::OrderEdge> Order::parse_edge(Reader& reader) {
  auto before = reader.path("what is waited for");
  return before ? edge_from(reader, *before) : std::nullopt;
}

std::optional<Order> Order::parse(Reader& reader) {
  Order out;
  auto first = reader.path("a loop, or what is waited for");
  if (!first) return std::nullopt;
  if (reader.cursor.accept(":")) {
    const std::string_view text = first->text();
    const std::size_t dot = text.rfind('.');
    const bool bare = dot == std::string_view::npos;
    out.loop = LoopName{bare ? Symbol() : reader.context.symbol(text.substr(0, dot)),
                        reader.context.symbol(bare ? text : text.substr(dot + 1)), first->span};
    first = reader.path("what is waited for");
    if (!first) return std::nullopt;
  }
  auto edge = edge_from(reader, *first);
  if (!edge) return std::nullopt;
  out.edge = *edge;
  return out;
}

std::string Order::print_edge(const tree::OrderEdge& edge) {
  return std::string(edge.before.text()) + " before " + std::string(edge.after.text()) +
         (edge.distance ? " by " + std::to_string(edge.distance) : "");
}

std::string Order::print() const {
  return "order " + (loop ? directives::print(*loop) + ": " : "") + print_edge(edge);
}

Result<Ok> Order::apply(Target& target) const {
  const auto add = [&](std::vector<tree::OrderEdge>& order) -> Result<Ok> {
    if (std::find(order.begin(), order.end(), edge) != order.end())
      return refuse(edge.place.span, "this order stands there already", "write it once",
                    {{"order", print_edge(edge)}});
    order.push_back(edge);
    return Ok{};
  };
  if (loop) {
    TILEWRIGHT_TRY(found, find_loop(target, *loop));
    return add(found.loop().order);
  }
  TILEWRIGHT_CHECK_OK(find_nest(target, edge.before, edge.place.span));
  for (tree::Set& set : target.tree.sets)
    if (std::find(set.members.begin(), set.members.end(), edge.before) != set.members.end())
      return add(set.order);
  return refuse(edge.place.span,
                "`" + std::string(edge.before.text()) +
                    "` is in no set, and nests outside of sets run one after the other",
                "name the set first: `set " + std::string(edge.before.text()) + ", " +
                    std::string(edge.after.text()) + "`",
                {{"nest", std::string(edge.before.text())}});
}

}  // namespace tilewright::directives

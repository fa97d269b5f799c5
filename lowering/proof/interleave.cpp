// SPDX-License-Identifier: Apache-2.0
//
// Times are made of the orders of programs. Loops of agents in step move to the end. Of each role the first loop
// around a synchronisation with others is its main loop: iteration n of those of all roles goes together.
#include "lowering/proof/interleave.h"

#include <algorithm>
#include <map>

#include "lowering/proof/order.h"

namespace tilewright::proof {

namespace {

using Order = std::vector<TimeStep>;

// What is the same in every instance of a step: the text up to it. Of a role, with its number.
using Place = std::vector<std::pair<int, int>>;
Place place_of(const Order& order, std::size_t length) {
  Place out;
  for (std::size_t i = 0; i < length; ++i) out.emplace_back(order[i].position, order[i].loop);
  return out;
}

bool is_role(const TimeStep& step) { return step.splits && step.loop < 0; }

class Interleaving {
 public:
  Interleaving(Statements& statements, int turn)
      : statements_(statements), turn_(turn), in_step_(in_step(statements)) {}

  void run() {
    for (const Event& event : statements_.events) note_main_loop(event);
    for (Statement& one : statements_.list) one.time = time_of(one);
    for (Event& event : statements_.events) event.time = time_of(event);
  }

 private:
  bool goes_in_step(const Point& point, const TimeStep& step) const {
    return step.splits && step.loop >= 0 &&
           std::find(in_step_.begin(), in_step_.end(),
                     point.loops[static_cast<std::size_t>(step.loop)].name) != in_step_.end();
  }

  // Without the loops in step.
  Order in_program(const Point& point) const {
    Order out;
    for (const TimeStep& step : point.order)
      if (!goes_in_step(point, step)) out.push_back(step);
    return out;
  }

  // The outermost loop of a role around a use of an object that others may use too.
  void note_main_loop(const Event& event) {
    if (event.object == kNone) return;
    const Order order = in_program(event);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (!is_role(order[i])) continue;
      for (std::size_t at = i + 1; at < order.size() && !is_role(order[at]); ++at) {
        if (order[at].loop < 0 || order[at].splits) continue;
        main_loops_.emplace(place_of(order, i + 1), place_of(order, at + 1));
        break;
      }
    }
  }

  Order time_of(const Point& point) const {
    const Order order = in_program(point);
    Order out;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (!is_role(order[i])) {
        out.push_back(order[i]);
        continue;
      }
      // Before, in or after the main loop; in it the iteration; then whose turn it is. All of a role without one is
      // before: so times of different roles differ.
      const auto main = main_loops_.find(place_of(order, i + 1));
      std::size_t same = i + 1;
      int part = 0;
      if (main != main_loops_.end()) {
        const Place& loop = main->second;
        while (same < std::min(loop.size(), order.size()) &&
               loop[same] == std::pair(order[same].position, order[same].loop))
          ++same;
        part = same == loop.size() ? 1 : order[same].position < loop[same].first ? 0 : 2;
      }
      out.push_back({part, -1});
      if (part == 1) out.push_back(order[same - 1]);
      out.push_back({turn_ == 0 ? order[i].position : -order[i].position, -1});
      if (part == 1) i = same - 1;
    }
    for (const TimeStep& step : point.order)
      if (goes_in_step(point, step)) out.push_back({0, step.loop});
    return out;
  }

  Statements& statements_;
  int turn_;
  std::vector<std::string> in_step_;
  std::map<Place, Place> main_loops_;  // of a role
};

}  // namespace

std::vector<std::string> in_step(const Statements& statements) {
  std::vector<std::string> out;
  for (const Event& event : statements.events) {
    // The agents with which it may synchronise split inside of this one.
    std::size_t whole = event.agents.size();
    if (event.object != kNone) whole = statements.objects[event.object].agents;
    if (event.kind == Event::Kind::Sync) whole = instance_of(event.agents, event.scope);
    for (; whole < event.agents.size(); ++whole) {
      if (event.agents[whole].loop < 0) continue;
      const std::string& name =
          event.loops[static_cast<std::size_t>(event.agents[whole].loop)].name;
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    }
  }
  return out;
}

void interleave(Statements& statements, int turn) { Interleaving(statements, turn).run(); }

}  // namespace tilewright::proof

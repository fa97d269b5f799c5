// SPDX-License-Identifier: Apache-2.0
//
// What Machine says of a fault: the statement and its line in the canonical text, its agent, and the other
// party.
#include "frontend/base/format.h"
#include "frontend/ir/given.h"
#include "lowering/program/machine.h"
#include "lowering/program/places.h"
#include "lowering/program/text.h"

namespace tilewright::program {

// The statement, with its line in the canonical text where the program was read from none.
std::string Machine::where(std::uint32_t id) const {
  const std::string shown = in_backticks(headline(node(id).stmt));
  if (program_.places) return shown;
  const std::vector<int> lines = statement_lines(program_);
  return id < lines.size() ? "line " + std::to_string(lines[id]) + ": " + shown : shown;
}

std::string Machine::name_of(AgentId agent) const {
  if (const auto it = by_id_.find(agent); it != by_id_.end()) return it->second->name;
  const auto it = operation_by_id_.find(agent);
  if (it == operation_by_id_.end()) return "?";
  const Operation& operation = *operations_[it->second];
  std::string out = "an operation started by " + operation.issuer->name;
  for (const ActiveLoop& loop : operation.names.loops)
    if (!loop.parallel)
      out += ", " + std::string(loop.var.text()) + " = " + std::to_string(loop.value);
  return out + " at " + where(operation.node);
}

void Machine::add_parties(const Trap& trap, Diagnostic* out) const {
  const AgentId now = carrying_ ? carrying_->knows.agent
                      : active_ ? active_->knows.agent
                                : kNoAgent;
  if (!program_.places) out->evidence.emplace_back("place", where(trap.node));
  out->evidence.emplace_back("agent", name_of(now));
  if (trap.earlier.agent == kNoAgent) return;
  const Span other = place_of(program_, node(trap.earlier.node).stmt);
  if (!other.none()) out->labels.push_back({other, "the other access"});
  out->evidence.emplace_back("other statement", where(trap.earlier.node));
  out->evidence.emplace_back("other agent", name_of(trap.earlier.agent));
  if (trap.kind == Trap::Kind::MissingFence)
    out->evidence.emplace_back("proxies", std::string(proxy_text(trap.earlier.proxy)) + ", then " +
                                              std::string(proxy_text(trap.path)));
}

bool Machine::refuse_at(const Agent& agent, std::uint32_t id, Code code, std::string message,
                        std::string remedy,
                        std::vector<std::pair<std::string, std::string>> evidence) {
  Diagnostic out{code,
                 place_of(program_, node(id).stmt),
                 std::move(message),
                 std::move(remedy),
                 {},
                 std::move(evidence)};
  out.evidence.emplace_back("statement", where(id));
  out.evidence.emplace_back("agent", agent.name);
  loops_ = agent.names.loops;
  return refuse(std::move(out), 0);
}

bool Machine::deadlock() {
  Diagnostic out{Code::Deadlock,
                 {},
                 "agents wait for ever",
                 "let somebody give the signal that each of them waits for",
                 {},
                 {}};
  std::size_t shown = 0;
  for (const Agent* agent : live_) {
    if (agent->state != State::Blocked || shown++ == 8) continue;
    const std::string at = agent->stack.empty() ? "" : ", at " + where(agent->stack.back().node);
    out.evidence.emplace_back(agent->name, "waits for " + agent->waits_for + at);
    if (agent->stack.empty()) continue;
    const Span place = place_of(program_, node(agent->stack.back().node).stmt);
    if (out.span.none())
      out.span = place;
    else if (!place.none() && !(place == out.span))
      out.labels.push_back({place, "waits here too"});
  }
  loops_.clear();
  return refuse(std::move(out), 0);
}

// Keeps the first read of a cell that nobody had written; run_body says what becomes of it.
void Machine::note_unwritten() {
  if (unwritten_ || !access_.unwritten()) return;
  const std::optional<Failure> other = failure_;
  const Trap& trap = *access_.unwritten();
  (void)refuse(describe(node(trap.node), trap), trap.lane);
  unwritten_ = std::exchange(failure_, other);
}

}  // namespace tilewright::program

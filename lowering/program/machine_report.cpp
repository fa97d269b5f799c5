// SPDX-License-Identifier: Apache-2.0
//
// What Machine says of a fault: the statement and its line in the canonical text, its agent, and the other
// party.
#include "frontend/ir/given.h"
#include "lowering/program/machine.h"
#include "lowering/program/places.h"
#include "lowering/program/text.h"

namespace tilewright::program {

// "line 12: `wait full[slot] until phase`"
std::string Machine::where(std::uint32_t id) const {
  const std::vector<int> lines = statement_lines(program_);
  const std::string line = id < lines.size() ? std::to_string(lines[id]) : "?";
  return "line " + line + ": `" + headline(node(id).stmt) + "`";
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
  out->evidence.emplace_back("place", where(trap.node));
  out->evidence.emplace_back("agent", name_of(now));
  if (trap.earlier.agent == kNoAgent) return;
  out->evidence.emplace_back("other place", where(trap.earlier.node));
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
  out.evidence.emplace_back("statement", headline(node(id).stmt));
  out.evidence.emplace_back("place", where(id));
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
    const std::string where = agent->stack.empty() ? "" : " at " + where(agent->stack.back().node);
    out.evidence.emplace_back(agent->name, "waits for " + agent->waits_for + where);
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

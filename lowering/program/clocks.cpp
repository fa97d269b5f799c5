// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/clocks.h"

#include <algorithm>

namespace tilewright::program {

void Clock::raise(AgentId agent, std::uint32_t time) {
  if (at_.size() <= agent) at_.resize(agent + 1, 0);
  at_[agent] = std::max(at_[agent], time);
}

void Clock::join(const Clock& other) {
  if (at_.size() < other.at_.size()) at_.resize(other.at_.size(), 0);
  for (std::size_t i = 0; i < other.at_.size(); ++i) at_[i] = std::max(at_[i], other.at_[i]);
}

AgentId AgentTree::add(AgentId parent, Scope scope, bool is_operation) {
  agents_.push_back({parent, scope, is_operation});
  return static_cast<AgentId>(agents_.size() - 1);
}

AgentId AgentTree::instance(AgentId agent, Scope scope) const {
  // An operation works where its agent does.
  while (agents_[agent].is_operation) agent = agents_[agent].parent;
  AgentId inner = agent;
  for (AgentId at = agent; at != kNoAgent; at = agents_[at].parent) {
    if (agents_[at].scope == scope) return at;
    if (agents_[at].scope > scope) return inner;
    inner = at;
  }
  return inner;
}

void Clocks::join(const Clocks& other) {
  order.join(other.order);
  for (int p = 0; p < kNumProxies; ++p) visible[p].join(other.visible[p]);
}

Proxy Knowledge::path(Space space) const {
  if (!is_operation) return Proxy::Generic;
  return proxy == Proxy::Tensor && space != Space::Tensor ? Proxy::Async : proxy;
}

Clocks Knowledge::release() {
  Clocks told = known;
  told.order.raise(agent, time);
  auto see = [&](Proxy p) { told.visible[static_cast<int>(p)].raise(agent, time); };
  see(proxy);
  if (is_operation && proxy == Proxy::Async) see(Proxy::Generic);
  ++time;
  return told;
}

void CellHistory::used(std::size_t cell, const Access& access, const Clocks& known) {
  std::vector<Access>& users = users_[cell];
  if (access.found_nothing)
    for (const Access& other : users)
      if (other.found_nothing && other.agent == access.agent) return;
  std::erase_if(users, [&](const Access& a) {
    if (a.found_nothing) return false;
    if (a.agent == access.agent) return a.is_atomic == access.is_atomic;
    return !a.is_atomic && known.order[a.agent] >= a.time;
  });
  users.push_back(access);
}

}  // namespace tilewright::program

// SPDX-License-Identifier: Apache-2.0
//
// What happens before what, for programs with agents. Each agent has vector clocks: `order` says up to
// which of its releases every other agent's actions are known to have happened, `visible` the same for
// what a proxy may see of them. Each cell remembers who wrote it last and who read it since. Law: whether
// two accesses are ordered does not depend on the interleaving that was run, so neither do the findings.
#pragma once

#include <cstdint>
#include <vector>

#include "lowering/program/stmt.h"

namespace tilewright::program {

using AgentId = std::uint32_t;
inline constexpr AgentId kNoAgent = 0;

// Which agent split into which.
class AgentTree {
 public:
  AgentTree() : agents_(1) {}
  AgentId add(AgentId parent, Scope scope, bool is_operation);
  AgentId parent(AgentId agent) const { return agents_[agent].parent; }
  Scope scope(AgentId agent) const { return agents_[agent].scope; }
  bool is_operation(AgentId agent) const { return agents_[agent].is_operation; }
  // The group of this scope that the agent belongs to: the innermost agent around it that has the
  // scope, else the outermost one that is narrower.
  AgentId instance(AgentId agent, Scope scope) const;
  bool together(AgentId a, AgentId b, Scope scope) const {
    return instance(a, scope) == instance(b, scope);
  }

 private:
  struct Entry {
    AgentId parent = kNoAgent;
    Scope scope = Scope::System;
    bool is_operation = false;
  };
  std::vector<Entry> agents_;  // the first is no agent
};

class Clock {
 public:
  std::uint32_t operator[](AgentId agent) const { return agent < at_.size() ? at_[agent] : 0; }
  void raise(AgentId agent, std::uint32_t time);
  void join(const Clock& other);

 private:
  std::vector<std::uint32_t> at_;
};

struct Clocks {
  Clock order;
  Clock visible[kNumProxies];
  void join(const Clocks& other);
};

// One access of a cell.
struct Access {
  AgentId agent = kNoAgent;
  std::uint32_t time = 0;
  std::uint32_t node = 0;  // the statement
  Proxy proxy = Proxy::Generic;
  Scope scope = Scope::None;  // of an atomic
  bool is_atomic = false;
  bool found_nothing = false;  // a read of a cell that nobody had written
};

// What an agent has done and knows.
struct Knowledge {
  AgentId agent = kNoAgent;
  bool is_operation = false;  // an asynchronous one
  Proxy proxy = Proxy::Generic;
  std::uint32_t time = 1;  // of what it does now
  Clocks known;

  // The proxy by which it reaches this memory.
  Proxy path(Space space) const;
  // What a release by it tells; what it does later is not told.
  Clocks release();
};

// Who may have accessed a cell: the last writer, and since then readers and atomics that do not follow
// one another.
class CellHistory {
 public:
  void resize(std::size_t cells) {
    writers_.assign(cells, {});
    users_.assign(cells, {});
  }
  const Access& writer(std::size_t cell) const { return writers_[cell]; }
  const std::vector<Access>& users(std::size_t cell) const { return users_[cell]; }
  // Reads that found nothing stay: a later write may be what they should have waited for.
  void wrote(std::size_t cell, const Access& access) {
    writers_[cell] = access;
    std::erase_if(users_[cell], [](const Access& a) { return !a.found_nothing; });
  }
  // A read or atomic; forgets the reads that happened before it.
  void used(std::size_t cell, const Access& access, const Clocks& known);

 private:
  std::vector<Access> writers_;
  std::vector<std::vector<Access>> users_;
};

}  // namespace tilewright::program

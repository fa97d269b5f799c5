// SPDX-License-Identifier: Apache-2.0
//
// Runs a Program with agents. An agent keeps a stack of the statements it is in, so it can stop at any
// wait; what neither waits nor splits runs at once (execution.h). Asynchronous operations are checked when they start,
// with the knowledge they start with, and carried out later. machine.cpp: statements and the choice of who runs;
// machine_sync.cpp: objects; machine_report.cpp: findings. Private to the interpreter.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "lowering/program/execution.h"

namespace tilewright::program {

class Machine final : public Execution {
 public:
  using Execution::Execution;

 private:
  // What a signal told.
  struct Release {
    AgentId agent = kNoAgent;
    Scope scope = Scope::None;
    Clocks clocks;
  };
  // One element of an array of synchronisation objects.
  struct SyncCell {
    std::int64_t count = 0;  // arrivals of a phase, or messages that fit
    std::int64_t left = 0;  // arrivals that the phase still needs
    std::int64_t bytes =
        0;  // bytes that it still needs; below 0: that came before they were expected
    std::int64_t value = 0;  // of a semaphore
    std::vector<std::vector<Release>> phases;  // complete ones of a barrier
    std::vector<Release> releases;  // of the current phase; of a semaphore or token, all
    std::vector<std::int64_t> reached;  // of a semaphore: its value after each release
    std::int64_t operation = -1;  // the last of a token
    std::deque<std::pair<ir::Scalar, Release>> messages;
    std::vector<Release> taken;  // of each message so far
    std::size_t sent = 0;
  };
  struct ObjectArray {
    Symbol name;
    std::size_t number = 0;  // of this instance
    ObjectKind kind = ObjectKind::Barrier;
    Scope scope = Scope::System;  // of the agent that declared it
    std::vector<std::int64_t> shape;
    std::vector<SyncCell> cells;
  };
  // A statement that an agent is in.
  struct Step {
    std::uint32_t node = 0;
    int state = 0;
    std::int64_t next = 0;
    std::int64_t end = 0;
    SyncCell* cell = nullptr;
    ir::Scalar value = {0.0};
    std::unique_ptr<Buffer> buffer;
    std::unique_ptr<ObjectArray> object;
  };
  // The names that an agent sees.
  struct Names {
    std::vector<std::pair<ir::Slot, ir::Scalar>> scalars;
    std::vector<std::pair<std::uint32_t, Buffer*>> buffers;
    std::vector<std::pair<std::uint32_t, ObjectArray*>> objects;
    std::vector<ActiveLoop> loops;
  };
  enum class State : std::uint8_t { Ready, Blocked, Forked, Done };
  struct Agent {
    Knowledge knows;
    std::string name;
    Names names;
    std::vector<Step> stack;
    State state = State::Ready;
    std::uint64_t blocked_at = 0;  // the event after which nothing had changed for it
    Agent* parent = nullptr;
    std::vector<Agent*> children;  // of the split it is in
    std::vector<Agent*> after;  // siblings that must have ended before it begins
    std::size_t running = 0;  // children that have not ended
    Clocks told;  // at its end
    std::vector<std::size_t> group;  // operations not committed yet
    std::vector<std::vector<std::size_t>> groups;
    std::int64_t last_tensor = -1;  // operation
    std::unordered_map<const SyncCell*, std::int64_t> awaited;  // phase
    std::string waits_for;  // why it is blocked, for reports
  };
  struct Operation {
    Knowledge knows;
    Agent* issuer = nullptr;
    std::uint32_t node = 0;
    Names names;
    Clocks told;  // at its completion
    std::int64_t before = -1;  // the operation that must be complete first
    SyncCell* cell = nullptr;
    ObjectArray* object = nullptr;
    std::size_t object_number = 0;
    std::int64_t bytes = 0;
    bool done = false;
  };
  // Where agents of one instance meet.
  struct Meeting {
    std::vector<Agent*> arrived;
    std::vector<Release> releases;
    std::vector<bool> votes;
  };

  // machine.cpp
  bool has_agents() const override { return true; }
  bool run_body() override;
  const Node& node(std::uint32_t id) const { return compiled_.nodes_[id]; }
  Agent& new_agent(Agent* parent, Scope scope, std::string name, std::uint32_t body);
  void activate(Agent& agent);
  void see(const Names& names);
  bool runnable(const Agent& agent) const;
  Agent* choose();
  bool run_agent(Agent& agent);
  bool step(Agent& agent);
  bool step_into(Agent& agent, Step& step, const Node& node);
  void enter(Agent& agent, std::uint32_t child);
  void enter_only(Agent& agent, const Node& node);  // in place of the statement itself
  bool run_atomic_alone(Agent& agent, const Node& node);  // its body is run by steps
  void finish(Agent& agent);
  void bind(Agent& agent, ir::Slot slot, ir::Scalar value);
  void unbind(Agent& agent);
  bool block(Agent& agent, std::string why);
  bool step_for(Agent& agent, Step& step, const Node& node);
  bool step_branch(Agent& agent, Step& step, const Node& node);
  bool step_scalar(Agent& agent, Step& step, const Node& node);
  bool step_alloc(Agent& agent, Step& step, const Node& node);
  bool step_split(Agent& agent, Step& step, const Node& node);
  void split(Agent& agent, std::vector<Agent*> children, bool launches);
  // Operations of agents inside `agent` that nobody is known to have waited for; refuses them.
  bool all_known_complete(const Agent& agent, const Clocks& known);

  // machine_sync.cpp
  bool step_object(Agent& agent, Step& step, const Node& node);
  bool find_cell(Agent& agent, const Node& node, SyncCell** cell);
  bool start(Agent& agent, const Node& node);
  bool carry_out(std::size_t operation);
  bool advance_operation();
  void complete_phase(SyncCell& cell);
  void acquire(Knowledge& knows, const Release& release, Scope scope, const ObjectArray& object);
  bool signal(Agent& agent, Step& step, const Node& node);
  bool wait(Agent& agent, Step& step, const Node& node);
  bool wait_barrier(Agent& agent, Step& step, const Node& node, const Wait& wait);
  bool wait_groups(Agent& agent, const Node& node, std::int64_t left);
  bool receive(Agent& agent, Step& step, const Node& node);
  void fence(Agent& agent, Proxy proxy);
  bool meet(Agent& agent, Step& step, const Node& node, Scope scope, bool is_vote);
  std::int64_t leaves(const Agent& agent) const;
  void leaf_order(Agent& agent, std::vector<Agent*>& out) const;

  // machine_report.cpp
  void add_parties(const Trap& trap, Diagnostic* out) const override;
  std::string where(std::uint32_t node) const;
  std::string name_of(AgentId agent) const;
  bool refuse_at(const Agent& agent, std::uint32_t node, Code code, std::string message,
                 std::string remedy,
                 std::vector<std::pair<std::string, std::string>> evidence = {});
  bool deadlock();
  void note_unwritten();

  AgentTree tree_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<std::size_t> pending_;  // operations that have not taken place
  std::unordered_map<AgentId, Agent*> by_id_;
  std::unordered_map<AgentId, std::size_t> operation_by_id_;
  std::vector<Agent*> live_;
  std::vector<Agent*> launched_;  // bodies of kernels
  std::vector<ObjectArray*> objects_;  // what each name stands for now
  std::map<std::pair<AgentId, std::uint32_t>, Meeting> meetings_;
  Agent* active_ = nullptr;
  const Operation* carrying_ = nullptr;  // or being checked
  std::size_t turn_ = 0;
  std::uint64_t events_ = 1;
  std::size_t num_objects_ = 0;
  std::optional<Failure> unwritten_;
};

}  // namespace tilewright::program

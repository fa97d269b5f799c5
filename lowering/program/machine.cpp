// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/machine.h"

#include <algorithm>

#include "frontend/ir/index_math.h"

namespace tilewright::program {

namespace {
// Agents and operations of one run at most: each has a place in every clock.
constexpr std::size_t kMaxAgents = 20'000;
}  // namespace

bool Machine::run_body() {
  objects_.resize(compiled_.objects_.size());
  Agent& root = new_agent(nullptr, Scope::System, "the program", compiled_.root_);
  auto run = [&] {
    while (root.state != State::Done) {
      if (options_.async_order == AsyncOrder::Random && !pending_.empty() && random_() % 3 == 0 &&
          !advance_operation())
        return false;
      if (Agent* next = choose()) {
        activate(*next);
        if (!run_agent(*next)) return false;
      } else if (!pending_.empty()) {
        if (!advance_operation()) return false;
      } else {
        return deadlock();
      }
    }
    activate(root);
    return all_known_complete(root, root.knows.known);
  };
  const bool done = run();
  // A read of a cell that nobody had written may be the reason of whatever came later, but not of missing order:
  // that may be the reason of the read.
  if (unwritten_ && (done || access_.trap().kind < Trap::Kind::AgentRace)) failure_ = unwritten_;
  return done && !unwritten_;
}

Machine::Agent& Machine::new_agent(Agent* parent, Scope scope, std::string name,
                                   std::uint32_t body) {
  agents_.push_back(std::make_unique<Agent>());
  Agent& agent = *agents_.back();
  agent.parent = parent;
  agent.name = std::move(name);
  agent.knows.agent = tree_.add(parent ? parent->knows.agent : kNoAgent, scope, false);
  if (parent) agent.names = parent->names;
  Step first;
  first.node = body;
  agent.stack.push_back(std::move(first));
  by_id_[agent.knows.agent] = &agent;
  live_.push_back(&agent);
  return agent;
}

void Machine::see(const Names& names) {
  for (const auto& [slot, value] : names.scalars) *frame_.value[slot] = value;
  for (const auto& [id, buffer] : names.buffers) buffers_[id] = buffer;
  for (const auto& [id, object] : names.objects) objects_[id] = object;
  loops_ = names.loops;
}

void Machine::activate(Agent& agent) {
  if (active_ == &agent) return;
  active_ = &agent;
  see(agent.names);
  access_.follow(tree_, agent.knows, BufferAccess::Effect::Full);
}

bool Machine::runnable(const Agent& agent) const {
  return agent.state == State::Ready ||
         (agent.state == State::Blocked && agent.blocked_at != events_);
}

Machine::Agent* Machine::choose() {
  std::erase_if(live_, [](const Agent* a) { return a->state == State::Done; });
  if (options_.async_order == AsyncOrder::Random) {
    std::vector<Agent*> able;
    for (Agent* agent : live_)
      if (runnable(*agent)) able.push_back(agent);
    return able.empty() ? nullptr : able[random_() % able.size()];
  }
  for (std::size_t i = 0; i < live_.size(); ++i) {
    Agent* agent = live_[(turn_ + i) % live_.size()];
    if (!runnable(*agent)) continue;
    turn_ = (turn_ + i) % live_.size();
    return agent;
  }
  return nullptr;
}

// Until it waits, splits or ends; some steps only, in a random order.
bool Machine::run_agent(Agent& agent) {
  agent.state = State::Ready;
  std::int64_t steps = options_.async_order == AsyncOrder::Random
                           ? static_cast<std::int64_t>(random_() % 8) + 1
                           : std::int64_t{1} << 62;
  while (agent.state == State::Ready && steps-- > 0) {
    for (const Agent* other : agent.after)
      if (other->state != State::Done) return block(agent, "the end of " + other->name);
    for (const Agent* other : agent.after) agent.knows.known.join(other->told);
    agent.after.clear();
    if (agent.stack.empty()) {
      finish(agent);
      return true;
    }
    const bool good = step(agent);
    note_unwritten();
    if (!good) return false;
    if (agents_.size() + operations_.size() > kMaxAgents)
      return refuse_at(agent, 0, Code::ProgramLimit, "the program has too many agents",
                       "run it at smaller sizes");
  }
  return true;
}

bool Machine::block(Agent& agent, std::string why) {
  agent.state = State::Blocked;
  agent.blocked_at = events_;
  agent.waits_for = std::move(why);
  return true;
}

void Machine::finish(Agent& agent) {
  agent.state = State::Done;
  agent.told = agent.knows.release();
  ++events_;
  Agent* parent = agent.parent;
  if (!parent || --parent->running > 0) return;
  for (Agent* child : parent->children) parent->knows.known.join(child->told);
  parent->children.clear();
  parent->state = State::Ready;
}

bool Machine::step(Agent& agent) {
  Step& top = agent.stack.back();
  const Node& at = node(top.node);
  if (at.sequential) {
    const std::uint32_t id = top.node;
    agent.stack.pop_back();
    return run_node(id);
  }
  return step_into(agent, top, at);
}

bool Machine::step_into(Agent& agent, Step& top, const Node& at) {
  switch (at.stmt.kind()) {
    case StmtKind::Block:
      if (top.next == static_cast<std::int64_t>(at.body.size())) {
        agent.stack.pop_back();
      } else {
        enter(agent, at.body[static_cast<std::size_t>(top.next++)]);
      }
      return true;
    case StmtKind::For:
      return at.stmt.as<For>()->loop == LoopKind::Parallel ? step_split(agent, top, at)
                                                           : step_for(agent, top, at);
    case StmtKind::If:
    case StmtKind::While: return step_branch(agent, top, at);
    case StmtKind::Let:
    case StmtKind::Ring: return step_scalar(agent, top, at);
    case StmtKind::Alloc: return step_alloc(agent, top, at);
    case StmtKind::Atomic:
      if (top.state++ == 0) return run_atomic_alone(agent, at);
      if (at.stmt.as<Atomic>()->old.valid()) unbind(agent);
      agent.stack.pop_back();
      return true;
    case StmtKind::Kernel:
    case StmtKind::Bind:
    case StmtKind::Concurrent: return step_split(agent, top, at);
    case StmtKind::Role: enter_only(agent, at); return true;
    case StmtKind::Object: return step_object(agent, top, at);
    case StmtKind::Async: {
      const bool done = start(agent, at);
      agent.stack.pop_back();
      return done;
    }
    case StmtKind::Signal: return signal(agent, top, at);
    case StmtKind::Wait: return wait(agent, top, at);
    case StmtKind::Receive: return receive(agent, top, at);
    case StmtKind::Fence:
      fence(agent, at.stmt.as<Fence>()->proxy);
      agent.stack.pop_back();
      return true;
    case StmtKind::Sync: return meet(agent, top, at, at.stmt.as<Sync>()->scope, false);
    case StmtKind::Vote: return meet(agent, top, at, at.stmt.as<Vote>()->scope, true);
    case StmtKind::Store:
    case StmtKind::Prefetch:
    case StmtKind::Call: break;
  }
  return false;
}

// Invalidates references to steps.
void Machine::enter(Agent& agent, std::uint32_t child) {
  Step step;
  step.node = child;
  agent.stack.push_back(std::move(step));
}

void Machine::enter_only(Agent& agent, const Node& at) {
  const std::uint32_t body = at.body[0];
  agent.stack.pop_back();
  enter(agent, body);
}

void Machine::bind(Agent& agent, ir::Slot slot, ir::Scalar value) {
  agent.names.scalars.emplace_back(slot, value);
  *frame_.value[slot] = value;
}

void Machine::unbind(Agent& agent) { agent.names.scalars.pop_back(); }

bool Machine::run_atomic_alone(Agent& agent, const Node& at) {
  ir::Scalar old{};
  if (!update_atomically(at, &old)) return false;
  if (!at.stmt.as<Atomic>()->old.valid()) return true;
  bind(agent, at.var, old);
  enter(agent, at.body[0]);
  return true;
}

bool Machine::step_for(Agent& agent, Step& top, const Node& at) {
  const auto& loop = *at.stmt.as<For>();
  if (top.state++ == 0) {
    if (!evaluate(at)) return false;
    note_min_bounds(at);
    top.next = frame_.value[at.slots[0]]->i;
    top.end = frame_.value[at.slots[1]]->i;
    decide(at.decision, top.next >= top.end, top.next < top.end);
    bind(agent, at.var, {.i = top.next});
    agent.names.loops.push_back({loop.var, top.next, false});
  }
  if (top.next >= top.end) {
    unbind(agent);
    agent.names.loops.pop_back();
    loops_ = agent.names.loops;
    agent.stack.pop_back();
    return true;
  }
  agent.names.scalars.back().second.i = top.next;
  frame_.value[at.var]->i = top.next;
  agent.names.loops.back().value = top.next++;
  loops_ = agent.names.loops;
  enter(agent, at.body[0]);
  return true;
}

bool Machine::step_branch(Agent& agent, Step& top, const Node& at) {
  const bool repeats = at.stmt.as<While>() != nullptr;
  if (!repeats && top.state++ > 0) {
    agent.stack.pop_back();
    return true;
  }
  if (!evaluate(at)) return false;
  const bool taken = frame_.value[at.slots[0]]->i != 0;
  decide(at.decision, taken, !taken);
  if (taken) {
    enter(agent, at.body[0]);
  } else if (!repeats && at.body.size() > 1) {
    enter(agent, at.body[1]);
  } else {
    agent.stack.pop_back();
  }
  return true;
}

bool Machine::step_scalar(Agent& agent, Step& top, const Node& at) {
  const auto* ring = at.stmt.as<Ring>();
  if (top.state++ > 0) {
    unbind(agent);
    if (ring) unbind(agent);
    agent.stack.pop_back();
    return true;
  }
  if (!evaluate(at)) return false;
  const ir::Scalar value = *frame_.value[at.slots[0]];
  if (ring) {
    bind(agent, at.var, {.i = ir::floor_mod(value.i, ring->depth)});
    bind(agent, at.second, {.i = ir::floor_div(value.i, ring->depth)});
  } else {
    bind(agent, at.var, value);
  }
  enter(agent, at.body[0]);
  return true;
}

bool Machine::step_alloc(Agent& agent, Step& top, const Node& at) {
  if (top.state++ == 0) {
    auto own = std::make_unique<Buffer>();
    own->name = compiled_.buffers_[at.buffer].name;
    own->type = compiled_.buffers_[at.buffer].type;
    own->space = compiled_.buffers_[at.buffer].space;
    buffers_[at.buffer] = own.get();
    if (!allocate(at)) return false;
    agent.names.buffers.emplace_back(at.buffer, own.get());
    top.buffer = std::move(own);
    enter(agent, at.body[0]);
    return true;
  }
  for (AgentId id : top.buffer->operations) {
    const Operation& operation = *operations_[operation_by_id_.at(id)];
    if (agent.knows.known.order[id] > 0) continue;
    return refuse_at(
        agent, top.node, Code::EndsInFlight,
        "`" + std::string(top.buffer->name.text()) +
            "` ends while an asynchronous operation may still use it",
        "wait for the operation before the end of the buffer",
        {{"operation", where(operation.node)}, {"started by", operation.issuer->name}});
  }
  agent.names.buffers.pop_back();
  agent.stack.pop_back();
  return true;
}

bool Machine::step_split(Agent& agent, Step& top, const Node& at) {
  const bool launches = at.stmt.as<Kernel>() != nullptr;
  if (top.state++ > 0) {
    if (launches) {
      Clocks& known = agent.knows.known;
      for (Clock& visible : known.visible) visible.join(known.order);
      for (const Agent* child : launched_)
        if (child->parent == &agent && !all_known_complete(*child, known)) return false;
    }
    agent.stack.pop_back();
    return true;
  }
  std::vector<Agent*> children;
  auto child = [&](Scope scope, const std::string& name, std::uint32_t body) -> Agent& {
    const std::string full = agent.parent ? agent.name + ", " + name : name;
    Agent& out = new_agent(&agent, scope, full, body);
    children.push_back(&out);
    return out;
  };
  const Scope own = tree_.scope(agent.knows.agent);
  if (const auto* kernel = at.stmt.as<Kernel>()) {
    launched_.push_back(&child(Scope::Device, std::string(kernel->name.text()), at.body[0]));
  } else if (at.stmt.as<Concurrent>()) {
    std::unordered_map<Symbol, Agent*> roles;
    for (std::uint32_t id : at.body) {
      const auto& role = *node(id).stmt.as<Role>();
      Agent& one = child(role.scope, std::string(role.name.text()), id);
      for (Symbol other : role.after) one.after.push_back(roles.at(other));
      roles[role.name] = &one;
    }
  } else {
    if (!evaluate(at)) return false;
    const std::int64_t lower = frame_.value[at.slots[0]]->i;
    const std::int64_t upper = frame_.value[at.slots[1]]->i;
    decide(at.decision, lower >= upper, lower < upper);
    if (upper - lower > static_cast<std::int64_t>(kMaxAgents))
      return refuse_at(agent, top.node, Code::ProgramLimit, "the program has too many agents",
                       "run it at smaller sizes");
    const auto* loop = at.stmt.as<Bind>();
    const Symbol var = loop ? loop->var : at.stmt.as<For>()->var;
    for (std::int64_t i = lower; i < upper; ++i) {
      Agent& one = child(loop ? loop->scope : own,
                         std::string(var.text()) + " = " + std::to_string(i), at.body[0]);
      one.names.scalars.emplace_back(at.var, ir::Scalar{.i = i});
      one.names.loops.push_back({var, i, false, true});
    }
  }
  split(agent, std::move(children), launches);
  return true;
}

void Machine::split(Agent& agent, std::vector<Agent*> children, bool launches) {
  if (children.empty()) return;
  Clocks told = agent.knows.release();
  if (launches)
    for (Clock& visible : told.visible) visible.join(told.order);
  for (Agent* child : children) child->knows.known = told;
  agent.running = children.size();
  agent.children = std::move(children);
  agent.state = State::Forked;
}

bool Machine::all_known_complete(const Agent& agent, const Clocks& known) {
  for (const auto& operation : operations_) {
    bool inside = false;
    for (const Agent* a = operation->issuer; a && !inside; a = a->parent) inside = a == &agent;
    if (!inside || known.order[operation->knows.agent] > 0) continue;
    return refuse_at(*operation->issuer, operation->node, Code::EndsInFlight,
                     "an asynchronous operation that nobody waits for",
                     "wait for its completion before the end of " + agent.name,
                     {{"ends", agent.name}});
  }
  return true;
}

}  // namespace tilewright::program

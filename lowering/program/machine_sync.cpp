// SPDX-License-Identifier: Apache-2.0
//
// Synchronisation: who learns what from whom. Whatever is told is kept with its scope, so that a wait
// takes exactly what belongs to the phase or value that it is for, however much more has happened.
#include <algorithm>

#include "frontend/ir/cells.h"
#include "frontend/ir/given.h"
#include "lowering/program/machine.h"

namespace tilewright::program {

bool Machine::step_object(Agent& agent, Step& top, const Node& at) {
  if (top.state++ > 0) {
    for (const auto& operation : operations_)
      if (operation->object_number == top.object->number &&
          agent.knows.known.order[operation->knows.agent] == 0)
        return refuse_at(*operation->issuer, operation->node, Code::EndsInFlight,
                         "`" + std::string(top.object->name.text()) +
                             "` ends while an asynchronous operation may still tell it",
                         "wait for the operation before the end of the object",
                         {{"ends", where(top.node)}});
    for (const auto& other : agents_)
      for (const SyncCell& cell : top.object->cells) other->awaited.erase(&cell);
    agent.names.objects.pop_back();
    agent.stack.pop_back();
    return true;
  }
  if (!evaluate(at)) return false;
  const auto& object = *at.stmt.as<Object>();
  auto own = std::make_unique<ObjectArray>();
  own->name = object.name;
  own->number = ++num_objects_;
  own->kind = object.object;
  own->scope = tree_.scope(agent.knows.agent);
  std::int64_t cells = 1;
  for (std::size_t d = 0; d < object.extents.size(); ++d) {
    own->shape.push_back(frame_.value[at.slots[d]]->i);
    if (own->shape.back() < 0 || __builtin_mul_overflow(cells, own->shape.back(), &cells) ||
        cells > 100'000)
      return refuse_at(agent, top.node, Code::ProgramLimit,
                       "`" + std::string(object.name.text()) + "` cannot have these extents",
                       "give it fewer elements", {{"extents", ir::shape_text(own->shape)}});
  }
  own->cells.resize(static_cast<std::size_t>(cells));
  const std::int64_t count = object.count ? frame_.value[at.slots.back()]->i : 0;
  const std::int64_t least =
      object.object == ObjectKind::Barrier || object.object == ObjectKind::Channel ? 1 : 0;
  if (count < least)
    return refuse_at(
        agent, top.node, Code::ObjectAmount,
        "`" + std::string(object.name.text()) + "` has a count below " + std::to_string(least),
        "count from there", {{"count", std::to_string(count)}});
  for (SyncCell& cell : own->cells) cell.count = cell.left = cell.value = count;
  objects_[at.object] = own.get();
  agent.names.objects.emplace_back(at.object, own.get());
  top.object = std::move(own);
  enter(agent, at.body[0]);
  return true;
}

// The element that the first slots of the statement name.
bool Machine::find_cell(Agent& agent, const Node& at, SyncCell** cell) {
  ObjectArray& object = *objects_[at.object];
  std::int64_t offset = 0;
  std::vector<std::int64_t> index;
  bool inside = true;
  for (std::size_t d = 0; d < object.shape.size(); ++d) {
    index.push_back(frame_.value[at.slots[d]]->i);
    inside = inside && index[d] >= 0 && index[d] < object.shape[d];
    offset = offset * object.shape[d] + index[d];
  }
  if (inside) {
    *cell = &object.cells[static_cast<std::size_t>(offset)];
    return true;
  }
  return refuse_at(
      agent, number_of(at), Code::ObjectAmount,
      "a statement uses an element that `" + std::string(object.name.text()) + "` does not have",
      "index within its extents",
      {{"element", std::string(object.name.text()) + ir::shape_text(index)},
       {"shape", ir::shape_text(object.shape)}});
}

void Machine::acquire(Knowledge& knows, const Release& release, Scope scope,
                      const ObjectArray& object) {
  auto given = [&](Scope s) { return s == Scope::None ? object.scope : s; };
  const Scope common = std::min(given(release.scope), given(scope));
  if (tree_.together(knows.agent, release.agent, common))
    knows.known.join(release.clocks);
  else
    knows.known.order.join(release.clocks.order);
}

// Checks the operation as it starts: what it will read and write is known, and so is what it knows.
bool Machine::start(Agent& agent, const Node& at) {
  const auto& async = *at.stmt.as<Async>();
  if (!evaluate(at)) return false;
  auto own = std::make_unique<Operation>();
  Operation& operation = *own;
  const std::size_t number = operations_.size();
  operation.issuer = &agent;
  operation.node = number_of(at);
  operation.names = agent.names;
  if (async.object.valid()) {
    if (!find_cell(agent, at, &operation.cell)) return false;
    operation.object = objects_[at.object];
    operation.object_number = operation.object->number;
  }
  const bool token = operation.object && operation.object->kind == ObjectKind::Token;
  if (token && operation.cell->operation >= 0) {
    const Operation& last = *operations_[static_cast<std::size_t>(operation.cell->operation)];
    if (agent.knows.known.order[last.knows.agent] == 0)
      return refuse_at(agent, number_of(at), Code::TokenBusy,
                       "a token is given to an operation while another may still hold it",
                       "wait for the token first, or use another",
                       {{"other operation", where(last.node)}});
  }
  operation.knows.agent = tree_.add(agent.knows.agent, tree_.scope(agent.knows.agent), true);
  operation.knows.is_operation = true;
  operation.knows.proxy = async.proxy;
  operation.knows.known = agent.knows.release();
  if (async.proxy == Proxy::Tensor) {
    operation.before = agent.last_tensor;
    agent.last_tensor = static_cast<std::int64_t>(number);
    if (operation.before >= 0)
      operation.knows.known.join(operations_[static_cast<std::size_t>(operation.before)]->told);
  }
  operation_by_id_[operation.knows.agent] = number;
  operations_.push_back(std::move(own));
  pending_.push_back(number);
  if (!async.object.valid()) agent.group.push_back(number);
  if (token) operation.cell->operation = static_cast<std::int64_t>(number);

  carrying_ = &operation;
  access_.follow(tree_, operation.knows, BufferAccess::Effect::Check);
  (void)access_.take_bytes();
  const bool good = run_node(at.body[0]);
  operation.bytes = access_.take_bytes();
  note_unwritten();
  if (!good) return false;
  carrying_ = nullptr;
  // Its completion is seen by everybody, but tells of nothing that its agent wrote.
  for (Clock& visible : operation.knows.known.visible) visible = {};
  operation.told = operation.knows.release();
  if (operation.before >= 0) {
    const Clocks& before = operations_[static_cast<std::size_t>(operation.before)]->told;
    for (int p = 0; p < kNumProxies; ++p) operation.told.visible[p].join(before.visible[p]);
  }
  access_.follow(tree_, agent.knows, BufferAccess::Effect::Full);
  see(agent.names);
  return options_.async_order == AsyncOrder::Eager ? carry_out(number) : true;
}

bool Machine::carry_out(std::size_t number) {
  Operation& operation = *operations_[number];
  std::erase(pending_, number);
  Agent* interrupted = active_;
  see(operation.names);
  access_.follow(tree_, operation.knows, BufferAccess::Effect::Carry);
  carrying_ = &operation;
  if (!run_node(node(operation.node).body[0])) return false;
  carrying_ = nullptr;
  operation.done = true;
  ++events_;
  active_ = nullptr;
  if (interrupted) activate(*interrupted);
  if (!operation.cell) return true;
  SyncCell& cell = *operation.cell;
  const Release release{operation.knows.agent, Scope::None, operation.told};
  cell.releases.push_back(release);
  switch (operation.object->kind) {
    case ObjectKind::Barrier:
      if (node(operation.node).stmt.as<Async>()->completion == Completion::Bytes) {
        cell.bytes -= operation.bytes;
      } else if (--cell.left < 0) {
        return refuse_at(*operation.issuer, operation.node, Code::ObjectAmount,
                         "an operation arrives at a barrier that waits for nobody more",
                         "count it among the arrivals of the barrier");
      }
      complete_phase(cell);
      break;
    case ObjectKind::Semaphore: cell.reached.push_back(++cell.value); break;
    case ObjectKind::Token:
    case ObjectKind::Channel: break;
  }
  return true;
}

void Machine::complete_phase(SyncCell& cell) {
  if (cell.left > 0 || cell.bytes != 0) return;
  cell.phases.push_back(std::exchange(cell.releases, {}));
  cell.left = cell.count;
}

// Lazy: the operation that somebody waits for and that started last. Random: any whose predecessor is done.
bool Machine::advance_operation() {
  std::vector<std::size_t> able;
  for (std::size_t number : pending_) {
    const std::int64_t before = operations_[number]->before;
    if (before < 0 || operations_[static_cast<std::size_t>(before)]->done) able.push_back(number);
  }
  if (options_.async_order == AsyncOrder::Random) return carry_out(able[random_() % able.size()]);
  for (auto number = able.rbegin(); number != able.rend(); ++number)
    for (const Agent* agent : live_)
      if (agent->state == State::Blocked && !agent->stack.empty() &&
          agent->stack.back().cell == operations_[*number]->cell)
        return carry_out(*number);
  return carry_out(able.back());
}

bool Machine::signal(Agent& agent, Step& top, const Node& at) {
  const auto& signal = *at.stmt.as<Signal>();
  if (signal.signal == SignalKind::Commit) {
    agent.groups.push_back(std::exchange(agent.group, {}));
    agent.stack.pop_back();
    return true;
  }
  if (top.state++ == 0) {
    if (!evaluate(at) || !find_cell(agent, at, &top.cell)) return false;
    top.value = *frame_.value[at.slots.back()];
  }
  SyncCell& cell = *top.cell;
  ObjectArray& object = *objects_[at.object];
  auto impossible = [&](std::string message, std::string remedy) {
    return refuse_at(agent, number_of(at), Code::ObjectAmount, std::move(message),
                     std::move(remedy), {{"amount", std::to_string(top.value.i)}});
  };
  switch (signal.signal) {
    case SignalKind::Commit: break;
    case SignalKind::Expect:
      if (top.value.i < 0)
        return impossible("a barrier is to expect fewer than no bytes", "expect what is copied");
      cell.bytes += top.value.i;
      break;
    case SignalKind::Send:
      if (static_cast<std::int64_t>(cell.messages.size()) >= cell.count)
        return block(agent, "room in `" + std::string(object.name.text()) + "`");
      if (cell.sent >= static_cast<std::size_t>(cell.count))
        acquire(agent.knows, cell.taken[cell.sent - static_cast<std::size_t>(cell.count)],
                signal.scope, object);
      ++cell.sent;
      cell.messages.emplace_back(top.value,
                                 Release{agent.knows.agent, signal.scope, agent.knows.release()});
      break;
    case SignalKind::Arrive: {
      if (top.value.i < 1) return impossible("an arrival of less than one", "arrive by 1 or more");
      if (object.kind == ObjectKind::Barrier && top.value.i > cell.left)
        return impossible("more arrive at a barrier than its phase waits for, " +
                              std::to_string(cell.left) + " of " + std::to_string(cell.count),
                          "arrive as often as it was declared with");
      cell.releases.push_back({agent.knows.agent, signal.scope, agent.knows.release()});
      if (object.kind == ObjectKind::Barrier) {
        cell.left -= top.value.i;
      } else {
        cell.value += top.value.i;
        cell.reached.push_back(cell.value);
      }
      break;
    }
  }
  if (object.kind == ObjectKind::Barrier) complete_phase(cell);
  ++events_;
  agent.stack.pop_back();
  return true;
}

bool Machine::wait_groups(Agent& agent, const Node& at, std::int64_t left) {
  if (left < 0)
    return refuse_at(agent, number_of(at), Code::ObjectAmount,
                     "a wait until fewer than no groups are left", "wait until 0 or more");
  const auto all = static_cast<std::int64_t>(agent.groups.size());
  for (std::int64_t g = 0; g < all - left; ++g)
    for (std::size_t number : agent.groups[static_cast<std::size_t>(g)])
      if (!operations_[number]->done) return block(agent, "its groups");
  for (std::int64_t g = 0; g < all - left; ++g)
    for (std::size_t number : agent.groups[static_cast<std::size_t>(g)])
      agent.knows.known.join(operations_[number]->told);
  if (all > left) agent.groups.erase(agent.groups.begin(), agent.groups.begin() + (all - left));
  agent.stack.pop_back();
  return true;
}

bool Machine::wait(Agent& agent, Step& top, const Node& at) {
  const auto& wait = *at.stmt.as<Wait>();
  if (top.state++ == 0) {
    if (!evaluate(at)) return false;
    if (wait.object.valid() && !find_cell(agent, at, &top.cell)) return false;
    if (wait.value) top.value = *frame_.value[at.slots.back()];
  }
  if (!wait.object.valid()) return wait_groups(agent, at, top.value.i);
  ObjectArray& object = *objects_[at.object];
  SyncCell& cell = *top.cell;
  switch (object.kind) {
    case ObjectKind::Barrier: return wait_barrier(agent, top, at, wait);
    case ObjectKind::Semaphore:
      if (cell.value < top.value.i)
        return block(agent, "`" + std::string(object.name.text()) + "`, which holds " +
                                std::to_string(cell.value) + " of " + std::to_string(top.value.i));
      // What came after the value was reached is not part of what is waited for.
      for (std::size_t i = 0; i < cell.releases.size(); ++i) {
        if (i > 0 && cell.reached[i - 1] >= top.value.i) break;
        acquire(agent.knows, cell.releases[i], wait.scope, object);
      }
      break;
    case ObjectKind::Token: {
      if (cell.operation < 0)
        return block(agent,
                     "the token `" + std::string(object.name.text()) + "`, which nobody holds");
      const Operation& last = *operations_[static_cast<std::size_t>(cell.operation)];
      if (!last.done) return block(agent, "the token `" + std::string(object.name.text()) + "`");
      acquire(agent.knows, cell.releases.back(), wait.scope, object);
      break;
    }
    case ObjectKind::Channel: break;
  }
  agent.stack.pop_back();
  return true;
}

// Hardware keeps one bit of the number of the phase, so a wait is right only where the agent knows that the phase
// before is complete and the one after cannot be, and has not waited for this one before.
bool Machine::wait_barrier(Agent& agent, Step& top, const Node& at, const Wait& wait) {
  const std::int64_t phase = top.value.i;
  SyncCell& cell = *top.cell;
  ObjectArray& object = *objects_[at.object];
  const auto complete = static_cast<std::int64_t>(cell.phases.size());
  if (phase < 0) {
    agent.stack.pop_back();
    return true;
  }
  auto wrong = [&](std::string why) {
    return refuse_at(
        agent, number_of(at), Code::WrongPhase,
        "a wait for phase " + std::to_string(phase) + " of `" + std::string(object.name.text()) +
            "`, " + why,
        "wait for each phase of a barrier in turn: use / depth for the filler's, one less "
        "for the user's",
        {{"complete phases", std::to_string(complete)}});
  };
  const auto before = agent.awaited.find(&cell);
  if (before != agent.awaited.end() && phase <= before->second)
    return wrong("which this agent has waited for before");
  bool knows = phase <= complete;
  if (phase > 0 && knows)
    for (const Release& release : cell.phases[static_cast<std::size_t>(phase) - 1])
      knows =
          knows && (release.agent == agent.knows.agent ||
                    agent.knows.known.order[release.agent] >= release.clocks.order[release.agent]);
  if (!knows && top.state == 1) return wrong("when the phase before is not known to be complete");
  if (complete > phase + 1) return wrong("when the phase after is complete too");
  if (complete <= phase)
    return block(agent, "phase " + std::to_string(phase) + " of `" +
                            std::string(object.name.text()) + "`, which lacks " +
                            std::to_string(cell.left) + " arrivals and " +
                            std::to_string(cell.bytes) + " bytes");
  for (const Release& release : cell.phases[static_cast<std::size_t>(phase)])
    acquire(agent.knows, release, wait.scope, object);
  agent.awaited[&cell] = phase;
  agent.stack.pop_back();
  return true;
}

bool Machine::receive(Agent& agent, Step& top, const Node& at) {
  if (top.state == 2) {
    unbind(agent);
    agent.stack.pop_back();
    return true;
  }
  if (top.state == 0) {
    if (!evaluate(at) || !find_cell(agent, at, &top.cell)) return false;
    top.state = 1;
  }
  SyncCell& cell = *top.cell;
  ObjectArray& object = *objects_[at.object];
  if (cell.messages.empty())
    return block(agent, "a message in `" + std::string(object.name.text()) + "`");
  const auto [value, release] = std::move(cell.messages.front());
  cell.messages.pop_front();
  const Scope scope = at.stmt.as<Receive>()->scope;
  acquire(agent.knows, release, scope, object);
  cell.taken.push_back({agent.knows.agent, scope, agent.knows.release()});
  ++events_;
  top.state = 2;
  bind(agent, at.var, value);
  enter(agent, at.body[0]);
  return true;
}

void Machine::fence(Agent& agent, Proxy proxy) {
  Clocks& known = agent.knows.known;
  // Everything it has done so far is among what its own release tells.
  known.join(agent.knows.release());
  Clock& generic = known.visible[static_cast<int>(Proxy::Generic)];
  Clock& other = known.visible[static_cast<int>(proxy)];
  generic.join(other);
  other.join(generic);
}

std::int64_t Machine::leaves(const Agent& agent) const {
  if (agent.children.empty()) return 1;
  std::int64_t count = 0;
  for (const Agent* child : agent.children) count += leaves(*child);
  return count;
}

void Machine::leaf_order(Agent& agent, std::vector<Agent*>& out) const {
  if (agent.children.empty()) out.push_back(&agent);
  for (Agent* child : agent.children) leaf_order(*child, out);
}

// A sync or vote: whoever comes last lets everybody go.
bool Machine::meet(Agent& agent, Step& top, const Node& at, Scope scope, bool is_vote) {
  if (top.state == 3) {
    unbind(agent);
    agent.stack.pop_back();
    return true;
  }
  if (top.state == 2) {
    if (!is_vote) {
      agent.stack.pop_back();
      return true;
    }
    top.state = 3;
    bind(agent, at.var, top.value);
    enter(agent, at.body[0]);
    return true;
  }
  const AgentId instance = tree_.instance(agent.knows.agent, scope);
  Agent& whole = *by_id_.at(instance);
  const auto key = std::pair(instance, is_vote ? number_of(at) : 0U);
  Meeting& meeting = meetings_[key];
  if (top.state == 0) {
    bool holds = false;
    if (is_vote) {
      if (!evaluate(at)) return false;
      holds = frame_.value[at.slots[0]]->i != 0;
    }
    meeting.arrived.push_back(&agent);
    meeting.releases.push_back({agent.knows.agent, scope, agent.knows.release()});
    meeting.votes.push_back(holds);
    top.state = 1;
  }
  const auto there = static_cast<std::int64_t>(meeting.arrived.size());
  const std::int64_t all = leaves(whole);
  if (there < all)
    return block(agent, std::to_string(all - there) + " of " + std::to_string(all) +
                            " agents of the " + std::string(scope_text(scope)));
  std::vector<Agent*> order;
  leaf_order(whole, order);
  ir::Scalar outcome{.i = 0};
  if (is_vote) {
    const VoteKind kind = at.stmt.as<Vote>()->vote;
    bool any = false;
    bool every = true;
    for (std::size_t i = 0; i < meeting.arrived.size(); ++i) {
      any = any || meeting.votes[i];
      every = every && meeting.votes[i];
      const auto bit = std::find(order.begin(), order.end(), meeting.arrived[i]) - order.begin();
      if (kind == VoteKind::Ballot && meeting.votes[i] && bit < 63)
        outcome.i |= std::int64_t{1} << bit;
    }
    if (kind == VoteKind::Any) outcome.i = any;
    if (kind == VoteKind::All) outcome.i = every;
  }
  Clocks together;
  for (const Release& release : meeting.releases) together.join(release.clocks);
  for (Agent* one : meeting.arrived) {
    one->knows.known.join(together);
    one->stack.back().state = 2;
    one->stack.back().value = outcome;
  }
  meetings_.erase(key);
  ++events_;
  return true;
}

}  // namespace tilewright::program

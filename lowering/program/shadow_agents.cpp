// SPDX-License-Identifier: Apache-2.0
//
// Accesses of agents, checked against what the agent knows to have happened.
#include <algorithm>

#include "lowering/program/shadow.h"

namespace tilewright::program {

bool BufferAccess::conflict(Trap::Kind kind, const Access& earlier, bool writes,
                            const Buffer& buffer, const std::int64_t* cell, int lane) {
  stop(kind, writes, buffer, cell, lane);
  trap_.earlier = earlier;
  trap_.path = who_->path(buffer.space);
  return false;
}

Access BufferAccess::mine(Buffer& buffer) const {
  if (who_->is_operation && (buffer.operations.empty() || buffer.operations.back() != who_->agent))
    buffer.operations.push_back(who_->agent);
  Access access;
  access.agent = who_->agent;
  access.time = who_->time;
  access.node = node_;
  access.proxy = who_->path(buffer.space);
  access.is_atomic = atomic_ == &buffer;
  access.scope = access.is_atomic ? atomic_scope_ : Scope::None;
  return access;
}

bool BufferAccess::sees(const Access& write, bool writes, const Buffer& buffer,
                        const std::int64_t* cell, int lane) {
  // Registers have no proxies: only their agent and its operations reach them.
  if (buffer.space == Space::Register || buffer.space == Space::Stack) return true;
  auto visible = [&](Proxy proxy) {
    return who_->known.visible[static_cast<int>(proxy)][write.agent] >= write.time;
  };
  if (visible(who_->path(buffer.space))) return true;
  return conflict(visible(write.proxy) ? Trap::Kind::MissingFence : Trap::Kind::NarrowScope, write,
                  writes, buffer, cell, lane);
}

bool BufferAccess::check_read(Buffer& buffer, std::size_t at, const std::int64_t* cell, int lane) {
  if (effect_ == Effect::Carry) return true;
  Access access = mine(buffer);
  const Access& writer = buffer.history.writer(at);
  if (writer.agent == kNoAgent && buffer.initialised) {
    // What the caller gave.
  } else if (writer.agent == kNoAgent) {
    access.found_nothing = true;
    if (!unwritten_) {
      const Trap outer = trap_;
      stop(Trap::Kind::Uninitialised, false, buffer, cell, lane);
      unwritten_ = std::exchange(trap_, outer);
    }
  } else if (writer.agent != access.agent) {
    if (who_->known.order[writer.agent] < writer.time)
      return conflict(
          tree_->is_operation(writer.agent) ? Trap::Kind::ReadInFlight : Trap::Kind::AgentRace,
          writer, false, buffer, cell, lane);
    if (!sees(writer, false, buffer, cell, lane)) return false;
  }
  if (!access.is_atomic)
    for (const Access& other : buffer.history.users(at))
      if (other.is_atomic && other.agent != access.agent) {
        if (who_->known.order[other.agent] < other.time)
          return conflict(
              tree_->is_operation(other.agent) ? Trap::Kind::ReadInFlight : Trap::Kind::AgentRace,
              other, false, buffer, cell, lane);
        if (!sees(other, false, buffer, cell, lane)) return false;
      }
  buffer.history.used(at, access, who_->known);
  return true;
}

bool BufferAccess::check_write(Buffer& buffer, std::size_t at, const std::int64_t* cell, int lane) {
  if (effect_ == Effect::Carry) return true;
  bytes_ += ir::size_bytes(buffer.type);
  const Access access = mine(buffer);
  const bool operation = who_->is_operation;
  auto unordered = [&](const Access& other) {
    return other.agent != access.agent && who_->known.order[other.agent] < other.time;
  };
  for (const Access& other : buffer.history.users(at)) {
    if (!unordered(other)) continue;
    if (access.is_atomic && other.is_atomic) {
      const Scope scope = std::min(access.scope, other.scope);
      if (tree_->together(access.agent, other.agent, scope)) continue;
      return conflict(Trap::Kind::NarrowScope, other, true, buffer, cell, lane);
    }
    const bool either = operation || tree_->is_operation(other.agent);
    if (other.found_nothing)
      return conflict(either ? Trap::Kind::ReadInFlight : Trap::Kind::AgentRace, other, true,
                      buffer, cell, lane);
    return conflict(either ? Trap::Kind::Overwritten : Trap::Kind::AgentRace, other, true, buffer,
                    cell, lane);
  }
  const Access& writer = buffer.history.writer(at);
  if (writer.agent != kNoAgent && writer.agent != access.agent) {
    if (unordered(writer))
      return conflict(operation || tree_->is_operation(writer.agent) ? Trap::Kind::Overwritten
                                                                     : Trap::Kind::AgentRace,
                      writer, true, buffer, cell, lane);
    // Of two writes through one proxy the later one stays, seen or not.
    if (writer.proxy != access.proxy && !sees(writer, true, buffer, cell, lane)) return false;
  }
  if (access.is_atomic) {
    buffer.history.used(at, access, who_->known);
    return true;
  }
  buffer.history.wrote(at, access);
  return true;
}

}  // namespace tilewright::program

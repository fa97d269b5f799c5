// SPDX-License-Identifier: Apache-2.0
//
// Agents that do not wait for each other, or for the wrong thing.
#include "lowering/mutants/forms.h"

namespace tilewright::mutants {

namespace {

template <class Node>
void dropped(const Site& site, std::vector<Stmt>& out) {
  if (site.stmt.as<Node>()) out.push_back(nothing(*site.context));
}

void ring_short(const Site& site, std::vector<Stmt>& out) {
  const auto* ring = site.stmt.as<program::Ring>();
  if (!ring || ring->depth < 2) return;
  program::Ring other = *ring;
  other.depth = ring->depth - 1;
  out.push_back(program::make(*site.context, other));
}

void ring_use(const Site& site, std::vector<Stmt>& out) {
  const auto* ring = site.stmt.as<program::Ring>();
  if (!ring) return;
  for (std::int64_t by : {1, -1}) {
    program::Ring other = *ring;
    other.use = shifted(*site.context, ring->use, by);
    out.push_back(program::make(*site.context, other));
  }
}

void wrong_phase(const Site& site, std::vector<Stmt>& out) {
  const auto* wait = site.stmt.as<program::Wait>();
  if (!wait || !wait->value) return;
  for (std::int64_t by : {1, -1}) {
    program::Wait other = *wait;
    other.value = shifted(*site.context, wait->value, by);
    out.push_back(program::make(*site.context, other));
  }
}

// Waits for what another wait of the Program is for.
void wrong_object(const Site& site, std::vector<Stmt>& out) {
  const auto* block = site.stmt.as<program::Block>();
  if (!block) return;
  std::vector<const program::Wait*> waits;
  program::walk(site.stmt, [&](Stmt inner) {
    if (const auto* wait = inner.as<program::Wait>(); wait && wait->object.valid())
      waits.push_back(wait);
  });
  for (std::size_t i = 0; i < block->body.size(); ++i) {
    const auto* wait = block->body[i].as<program::Wait>();
    if (!wait || !wait->object.valid()) continue;
    for (const program::Wait* by : waits) {
      if (by->object == wait->object || by->indices.size() != wait->indices.size()) continue;
      program::Wait other = *wait;
      other.object = by->object;
      std::vector<Stmt> body(block->body.begin(), block->body.end());
      body[i] = program::make(*site.context, other);
      out.push_back(program::make_block(*site.context, body));
    }
  }
}

// What should come after a wait comes before it; what should come before a signal, after.
void moved_past(const Site& site, std::vector<Stmt>& out, bool waits) {
  const auto* block = site.stmt.as<program::Block>();
  if (!block) return;
  for (std::size_t i = 0; i < block->body.size(); ++i) {
    const Stmt here = block->body[i];
    if (waits ? !here.as<program::Wait>() : !here.as<program::Signal>()) continue;
    const std::size_t other = waits ? i + 1 : i - 1;
    if (other >= block->body.size()) continue;
    std::vector<Stmt> body(block->body.begin(), block->body.end());
    std::swap(body[i], body[other]);
    out.push_back(program::make_block(*site.context, body));
  }
}
void late_wait(const Site& site, std::vector<Stmt>& out) { moved_past(site, out, true); }
void early_signal(const Site& site, std::vector<Stmt>& out) { moved_past(site, out, false); }

void arrival_count(const Site& site, std::vector<Stmt>& out) {
  const auto* object = site.stmt.as<program::Object>();
  if (!object || !object->count) return;
  for (std::int64_t by : {1, -1}) {
    program::Object other = *object;
    other.count = shifted(*site.context, object->count, by);
    out.push_back(program::make(*site.context, other));
  }
}

void wrong_amount(const Site& site, std::vector<Stmt>& out) {
  const auto* signal = site.stmt.as<program::Signal>();
  if (!signal || !signal->amount || signal->amount.type() != ir::ScalarType::Index) return;
  for (std::int64_t by : {4, 1, -1, -4}) {
    program::Signal other = *signal;
    other.amount = shifted(*site.context, signal->amount, by);
    out.push_back(program::make(*site.context, other));
  }
}

// An order edge between roles is missing.
void role_order(const Site& site, std::vector<Stmt>& out) {
  const auto* role = site.stmt.as<program::Role>();
  if (!role || role->after.empty()) return;
  program::Role other = *role;
  other.after = role->after.subspan(1);
  out.push_back(program::make(*site.context, other));
}

}  // namespace

std::vector<Kind> kinds_of_agents() {
  return {
      {"ring_short", "a ring is one slot short", ring_short},
      {"ring_use", "a slot of a ring belongs to another use", ring_use},
      {"missing_wait", "a wait is missing", dropped<program::Wait>},
      {"wrong_object", "a wait is for another object", wrong_object},
      {"late_wait", "a wait comes after what needs it", late_wait},
      {"early_signal", "a signal comes before what it tells of", early_signal},
      {"wrong_phase", "a wait is for another phase, value or group", wrong_phase},
      {"missing_fence", "a fence is missing", dropped<program::Fence>},
      {"missing_signal", "an arrival, expectation or commit is missing", dropped<program::Signal>},
      {"missing_sync", "a sync is missing", dropped<program::Sync>},
      {"arrival_count", "an object counts one more or less", arrival_count},
      {"wrong_amount", "a signal counts another amount", wrong_amount},
      {"role_order", "a role does not wait for another to end", role_order},
  };
}

}  // namespace tilewright::mutants

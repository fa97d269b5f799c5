// SPDX-License-Identifier: Apache-2.0
//
// Invariants of agents, synchronisation and intrinsics:
//   places      none of these statements stands inside a vector loop; the body of an asynchronous
//               operation holds loops, `if`, `let`, `ring`, stores, atomics and calls.
//   scopes      loops and roles bound inside are not wider than those outside; a `sync` or `vote` is over a
//               scope that some loop, role or kernel around it has, wider than its own agent; kernels stand
//               outside of bound loops narrower than a device and of other kernels.
//   spaces      shared memory is allocated inside a block, pair, cluster or core, tensor memory inside a block or
//               pair, scratchpads and accumulators inside a core, global memory outside of blocks and cores; places
//               do not overlap; register and stack buffers are used by the agent that allocates them.
//   objects     each statement names an object of a kind that it takes; counts are at least 1, first values
//               at least 0.
//   roles       names are unique in their set; order edges point back; register buffers fit the budget.
//   intrinsics  every operand is given once, with type, rank and constant lengths of the meaning.
//   complex     no atomic, channel, operand of a call or placed buffer holds complex numbers, which are two reals.
#include <algorithm>

#include "frontend/base/format.h"
#include "frontend/ir/text.h"
#include "frontend/ir/verify.h"
#include "lowering/program/text.h"
#include "lowering/program/verifier.h"

namespace tilewright::program {

namespace {

using ir::type_text;

std::optional<std::int64_t> constant(Expr e) {
  const auto* node = e.as<ir::IntConst>();
  return node ? std::optional(node->value) : std::nullopt;
}

// The product of constant extents from dimension `first` on; none when it is too large to matter.
std::optional<std::int64_t> cells(NodeList<Expr> extents, std::size_t first) {
  std::int64_t product = 1;
  for (std::size_t d = first; d < extents.size(); ++d)
    if (__builtin_mul_overflow(product, constant(extents[d]).value_or(0), &product))
      return std::nullopt;
  return product > (std::int64_t{1} << 40) ? std::nullopt : std::optional(product);
}

bool may_stand_in_vector(StmtKind kind) { return kind <= StmtKind::Store; }

bool may_be_asynchronous(StmtKind kind) {
  switch (kind) {
    case StmtKind::Block:
    case StmtKind::For:
    case StmtKind::If:
    case StmtKind::Let:
    case StmtKind::Ring:
    case StmtKind::Store:
    case StmtKind::Atomic:
    case StmtKind::Call: return true;
    default: return false;
  }
}

}  // namespace

void Verifier::report(Code code, std::string message, std::string remedy) {
  report({code, {}, std::move(message), std::move(remedy), {}, {}});
}

void Verifier::no_complex(ScalarType type, const std::string& what) {
  if (!ir::is_complex(type)) return;
  report(Code::OperandType,
         what + " holds " + in_backticks(type_text(type)) + ", which is two numbers",
         "write two of them, for the real and the imaginary parts");
}

void Verifier::place_of_statement(Stmt stmt) {
  if (in_vector_ && !may_stand_in_vector(stmt.kind()))
    report(Code::InVectorLoop, in_backticks(headline(stmt)) + " inside a `vector` loop",
           "make the loop serial, or put the statement outside of it");
  const auto* loop = stmt.as<For>();
  if (in_async_ &&
      (!may_be_asynchronous(stmt.kind()) || (loop && loop->loop == LoopKind::Parallel)))
    report(Code::AsyncBody, in_backticks(headline(stmt)) + " inside an asynchronous operation",
           "leave loops, `if`, `let`, `ring`, stores, atomics and calls in it");
}

void Verifier::intrinsics() {
  std::unordered_set<Symbol> seen;
  for (const Intrinsic& intrinsic : program_.intrinsics) {
    for (Diagnostic& d : ir::verify(intrinsic.meaning)) out_.push_back(std::move(d));
    if (!seen.insert(intrinsic.name()).second)
      report(Code::DuplicateName, in_backticks(intrinsic.name().text()) + " is described twice",
             "give one of the two another name");
  }
}

void Verifier::scope_narrows(Scope scope, std::string_view what) {
  if (scope == Scope::None) return report(Code::Malformed, "a scope is missing", "give it one");
  if (scope > agents_.back())
    report(Code::ScopeNesting,
           std::string(what) + " of scope `" + std::string(scope_text(scope)) +
               "` inside an agent of scope `" + std::string(scope_text(agents_.back())) + "`",
           "put wider scopes outside");
}

void Verifier::agents(Scope scope, Stmt stmt) {
  agents_.push_back(scope);
  body(stmt);
  agents_.pop_back();
}

void Verifier::encloses(Scope scope, std::string_view what) {
  const std::string shown = in_backticks(scope_text(scope));
  if (scope <= agents_.back())
    return report(Code::CollectiveScope,
                  std::string(what) + " over " + shown + " by an agent of scope `" +
                      std::string(scope_text(agents_.back())) + "`, which is alone in it",
                  "name a wider scope, or bind a loop around the statement");
  for (Scope outer : agents_)
    if (outer == scope) return;
  report(Code::CollectiveScope,
         std::string(what) + " over " + shown + ", which nothing around it is",
         "name the scope of a loop, role or kernel around it");
}

void Verifier::space_exists(const Alloc& n) {
  auto inside = [&](std::initializer_list<Scope> scopes) {
    for (Scope outer : agents_)
      for (Scope scope : scopes)
        if (outer == scope) return true;
    return false;
  };
  auto refuse = [&](std::string_view where) {
    report(Code::SpaceScope,
           in_backticks(n.buffer.text()) + " is allocated in `" + std::string(space_text(n.space)) +
               "` memory, which is not there",
           "allocate it " + std::string(where));
  };
  switch (n.space) {
    case Space::Workspace:
    case Space::Plan:
    case Space::Stack:
    case Space::Register: return;
    case Space::Shared:
      if (!inside({Scope::Block, Scope::Pair, Scope::Cluster, Scope::Core}))
        refuse("inside a loop bound to blocks, pairs, clusters or cores");
      return;
    case Space::Tensor:
      if (!inside({Scope::Block, Scope::Pair})) refuse("inside a loop bound to blocks or pairs");
      return;
    case Space::Scratchpad:
    case Space::Accumulator:
      if (!inside({Scope::Core})) refuse("inside a loop or role bound to a core");
      return;
    case Space::Global:
      if (agents_.back() < Scope::Device) refuse("outside of loops bound to blocks or cores");
      return;
  }
}

std::optional<Verifier::Placed> Verifier::placed(const Alloc& n) {
  const auto all = cells(n.extents, 0);
  const std::int64_t bits = std::int64_t{ir::size_bytes(n.type)} * 8;
  if (n.space == Space::Register && all) {
    registers_ += copies_ * ((*all * bits + 31) / 32);
    if (register_budget_ > 0 && registers_ > register_budget_)
      report(Code::RegisterBudget,
             "register buffers of " + std::to_string(registers_) +
                 " registers in a role that has " + std::to_string(register_budget_),
             "give the role more lanes or registers, or smaller tiles");
  }
  if (n.place < 0) return std::nullopt;
  no_complex(n.type, in_backticks(n.buffer.text()) + " at a place of its own");
  std::int64_t size = 0;
  switch (n.space) {
    case Space::Tensor: size = (cells(n.extents, 1).value_or(0) * bits + 31) / 32; break;
    case Space::Accumulator:
      size = n.extents.empty() ? 1 : constant(n.extents[0]).value_or(0);
      break;
    case Space::Shared:
    case Space::Scratchpad: size = (all.value_or(0) * bits + 7) / 8; break;
    default:
      report(
          Code::Placement,
          in_backticks(n.buffer.text()) + " has a place in `" + std::string(space_text(n.space)) +
              "` memory",
          "leave the place out: only shared, tensor, scratchpad and accumulator memory have them");
      return std::nullopt;
  }
  Placed out{n.buffer, n.space, n.place, 0};
  if (__builtin_add_overflow(n.place, size, &out.end)) {
    report(Code::Placement, in_backticks(n.buffer.text()) + " ends beyond all memory",
           "give it a smaller place");
    return std::nullopt;
  }
  for (const Placed& other : placed_)
    if (other.space == out.space && other.begin < out.end && out.begin < other.end)
      report(Code::Placement,
             in_backticks(n.buffer.text()) + " lies from " + std::to_string(out.begin) + " to " +
                 std::to_string(out.end) + " where " + in_backticks(other.buffer.text()) +
                 " lies from " + std::to_string(other.begin) + " to " + std::to_string(other.end),
             "move one of the two, or end the first before the second begins");
  return out;
}

void Verifier::check(const While& n) {
  expr(n.condition, ScalarType::Bool, "the condition");
  body(n.body);
}

void Verifier::check(const Ring& n) {
  expr(n.use, ScalarType::Index, "the number of the use");
  if (n.depth < 1)
    report(Code::RingDepth, "a ring of " + std::to_string(n.depth) + " slots",
           "give it at least one");
  bind(n.slot, "the slot", span_);
  vars_[n.slot] = ScalarType::Index;
  body_with(n.phase, ScalarType::Index, "the phase", n.body);
  vars_.erase(n.slot);
}

void Verifier::operand(const Intrinsic& intrinsic, const TileNode& tile,
                       std::unordered_set<Symbol>& seen) {
  const std::string shown =
      in_backticks(tile.operand.text()) + " of " + in_backticks(intrinsic.name().text());
  const std::vector<Expr>* shape = intrinsic.meaning.shape_of(tile.operand);
  const ir::Equation* equation = intrinsic.meaning.find_equation(tile.operand);
  if (!shape || (equation && !equation->is_output))
    return report(Code::CallOperands, shown + " is no input and no output of its meaning",
                  "give the operands that its description declares");
  if (!seen.insert(tile.operand).second)
    return report(Code::CallOperands, shown + " is given twice", "give each operand once");
  exprs(tile.indices, "the index");
  exprs(tile.lengths, "the length");
  const Buffer* buffer = find_buffer(tile.buffer, tile.indices.size());
  if (!buffer) return;
  if (equation) writable(buffer, tile.buffer);
  const ScalarType type = *intrinsic.meaning.type_of(tile.operand);
  if (buffer->type != type)
    report(Code::DeclaredType,
           shown + " holds " + in_backticks(type_text(type)) + ", " +
               in_backticks(tile.buffer.text()) + " " + in_backticks(type_text(buffer->type)),
           "use a buffer of the operand's type");
  no_complex(type, shown);
  std::int64_t before = -1;
  bool ascending = tile.sliced.size() == tile.lengths.size();
  for (std::int64_t dim : tile.sliced) {
    ascending = ascending && dim > before && dim < static_cast<std::int64_t>(tile.indices.size());
    before = dim;
  }
  if (!ascending)
    return report(Code::Malformed, shown + " has no order of dimensions", "sort them");
  bool fits = tile.lengths.size() == shape->size();
  for (std::size_t d = 0; fits && d < shape->size(); ++d) {
    const auto wanted = constant((*shape)[d]);
    const auto given = tile.lengths[d] ? constant(tile.lengths[d]) : std::nullopt;
    fits = !wanted || !given || *wanted == *given;
  }
  if (!fits)
    report(Code::CallOperands, shown + " has another shape than the tile that is given",
           "write a length, as in `x[i : 8]`, for each of its dimensions");
}

void Verifier::check(const Call& n) {
  origin(n.origin, n.point);
  const Intrinsic* intrinsic = program_.find_intrinsic(n.callee);
  if (!intrinsic)
    return report(Code::UnknownName, in_backticks(n.callee.text()) + " is no intrinsic here",
                  "describe it with `intrinsic algorithm` before the statements");
  std::unordered_set<Symbol> seen;
  for (Tile tile : n.operands)
    if (tile) operand(*intrinsic, *tile, seen);
  auto need = [&](Symbol name) {
    if (!seen.contains(name))
      report(Code::CallOperands,
             in_backticks(name.text()) + " of " + in_backticks(n.callee.text()) + " is not given",
             "give every input and output of its description");
  };
  for (const ir::Input& input : intrinsic->meaning.inputs) need(input.name);
  for (const ir::Equation* output : intrinsic->meaning.outputs()) need(output->name);
}

void Verifier::check(const Prefetch& n) {
  exprs(n.indices, "the index");
  find_buffer(n.buffer, n.indices.size());
  for (Expr index : n.indices)
    if (index && index.type() != ScalarType::Index)
      report(Code::DeclaredType, "an index of " + in_backticks(n.buffer.text()) + " is no `index`",
             "use loop variables, extents and integers");
}

void Verifier::check(const Atomic& n) {
  if (!n.value) return report(Code::Malformed, "an atomic without value", "give it one");
  exprs(n.indices, "the index");
  names(n.value);
  writable(access(n.value, n.buffer, n.indices, n.value.type()), n.buffer);
  if (n.value.type() == ScalarType::Bool)
    report(Code::DeclaredType, "an atomic on `bool`", "use an integer");
  no_complex(n.value.type(), "an atomic");
  origin(n.origin, n.point);
  if (n.old.valid() != static_cast<bool>(n.body))
    return report(Code::Malformed, "an atomic with a body but no name, or a name but no body",
                  "give both or none");
  if (!n.old.valid()) return;
  if (in_async_)
    report(Code::AsyncBody, "an asynchronous operation asks what a cell held",
           "leave the name out");
  body_with(n.old, n.value.type(), "the old value", n.body);
}

void Verifier::check(const Kernel& n) {
  ir::verify_name(n.name, "the kernel", span_, out_);
  if (!kernels_.insert(n.name).second)
    report(Code::DuplicateName, "two kernels are called " + in_backticks(n.name.text()),
           "give one of the two another name");
  const bool outside = agents_.back() >= Scope::Device;
  bool inside = false;
  for (std::size_t i = 1; i < agents_.size(); ++i) inside = inside || agents_[i] == Scope::None;
  if (!outside || inside)
    report(Code::KernelPlace,
           "a kernel inside another kernel or a loop bound to less than a device",
           "launch kernels from the outside");
  // None marks the launch, whose body runs at the scope of its device.
  agents_.push_back(Scope::None);
  agents(Scope::Device, n.body);
  agents_.pop_back();
}

void Verifier::check(const Bind& n) {
  expr(n.lower, ScalarType::Index, "the lower bound");
  expr(n.upper, ScalarType::Index, "the upper bound");
  scope_narrows(n.scope, "a loop");
  const std::int64_t outer = copies_;
  if (const auto first = constant(n.lower), last = constant(n.upper); first && last)
    copies_ *= std::clamp<std::int64_t>(*last - *first, 1, 4096);
  bind(n.var, "the loop variable", span_);
  vars_[n.var] = ScalarType::Index;
  agents(n.scope, n.body);
  vars_.erase(n.var);
  copies_ = outer;
}

void Verifier::check(const Concurrent& n) {
  std::unordered_set<Symbol> seen;
  for (Stmt stmt : n.roles) {
    const auto* role = stmt.as<Role>();
    if (!role) {
      report(Code::Malformed, "something else than a role in `concurrent`", "put it into a role");
      continue;
    }
    for (Symbol other : role->after)
      if (!seen.contains(other))
        report(Code::RoleOrder,
               in_backticks(role->name.text()) + " stands after " + in_backticks(other.text()) +
                   ", which is no role before it",
               "name roles of the same `concurrent` that stand before");
    if (!seen.insert(role->name).second)
      report(Code::DuplicateName, "two roles are called " + in_backticks(role->name.text()),
             "give one of the two another name");
    this->role(stmt, *role);
  }
}

void Verifier::check(const Role&) {
  report(Code::Malformed, "a role outside of `concurrent`", "put it into one");
}

void Verifier::role(Stmt stmt, const Role& n) {
  const Span outer_span = span_;
  if (spans_) {
    const auto it = spans_->stmts.find(stmt);
    if (it != spans_->stmts.end()) span_ = it->second;
  }
  ir::verify_name(n.name, "the role", span_, out_);
  scope_narrows(n.scope, "a role");
  if (n.lanes < 0 || n.registers < 0 || n.lanes > 65536 || n.registers > 65536)
    report(Code::RegisterBudget, "a role with an impossible number of lanes or registers",
           "write numbers from 0 to 65536");
  const std::int64_t budget = register_budget_;
  const std::int64_t used = registers_;
  const std::int64_t copies = copies_;
  register_budget_ = n.lanes * n.registers;
  registers_ = 0;
  copies_ = 1;
  agents(n.scope, n.body);
  register_budget_ = budget;
  registers_ = used;
  copies_ = copies;
  span_ = outer_span;
}

void Verifier::check(const Object& n) {
  exprs(n.extents, "the extent");
  for (Expr extent : n.extents)
    if (constant(extent).value_or(1) < 1)
      report(Code::ObjectCount, in_backticks(n.name.text()) + " has no elements",
             "give it positive extents");
  if (n.object != ObjectKind::Token) {
    expr(n.count, ScalarType::Index, "the count");
    const std::int64_t least = n.object == ObjectKind::Semaphore ? 0 : 1;
    if (constant(n.count).value_or(least) < least)
      report(Code::ObjectCount,
             in_backticks(n.name.text()) + " has a count below " + std::to_string(least),
             "count arrivals and messages from 1, semaphores from 0");
  } else if (n.count) {
    report(Code::Malformed, "a token with a count", "leave it out");
  }
  bind(n.name, "the object", span_);
  if (n.object == ObjectKind::Channel) no_complex(n.type, "a channel");
  objects_[n.name] = {n.object, n.extents.size(), n.type};
  body(n.body);
  objects_.erase(n.name);
}

const Verifier::SyncObject* Verifier::object(Symbol name, NodeList<Expr> indices,
                                             std::string_view verb,
                                             std::initializer_list<ObjectKind> kinds) {
  exprs(indices, "the index");
  if (!name.valid()) {
    report(Code::Malformed, "an object is missing", "name one");
    return nullptr;
  }
  const std::string shown = in_backticks(name.text());
  const auto it = objects_.find(name);
  if (it == objects_.end()) {
    report(Code::UnknownName, shown + " is no barrier, semaphore, token or channel here",
           "declare it around the statement, as in `barrier full[3] arrivals 1 {`");
    return nullptr;
  }
  const SyncObject& found = it->second;
  std::string choices;
  for (ObjectKind kind : kinds) {
    if (kind == found.kind) choices = "none";
    if (choices != "none") (choices += choices.empty() ? "" : " or ") += object_kind_text(kind);
  }
  if (choices != "none") {
    report(Code::ObjectUse,
           shown + " is a " + std::string(object_kind_text(found.kind)) + ", and `" +
               std::string(verb) + "` takes a " + choices,
           "use an object of that kind");
    return nullptr;
  }
  if (found.rank != indices.size())
    report(Code::WrongRank,
           shown + " has " + std::to_string(found.rank) + " indices, found " +
               std::to_string(indices.size()),
           "write one index for each dimension");
  return &found;
}

void Verifier::check(const Async& n) {
  switch (n.completion) {
    case Completion::Group:
      if (n.object.valid() || !n.indices.empty())
        report(Code::Malformed, "a group with an object", "leave the object out");
      break;
    case Completion::Bytes: object(n.object, n.indices, "bytes", {ObjectKind::Barrier}); break;
    case Completion::Arrive:
      object(n.object, n.indices, "arrive",
             {ObjectKind::Barrier, ObjectKind::Semaphore, ObjectKind::Token});
      break;
  }
  in_async_ = true;
  body(n.body);
  in_async_ = false;
}

void Verifier::check(const Signal& n) {
  const std::string_view verb = signal_kind_text(n.signal);
  ScalarType type = ScalarType::Index;
  switch (n.signal) {
    case SignalKind::Commit:
      if (n.object.valid() || n.amount || !n.indices.empty() || n.scope != Scope::None)
        report(Code::Malformed, "a commit of an object", "leave the object out");
      return;
    case SignalKind::Arrive:
      object(n.object, n.indices, verb, {ObjectKind::Barrier, ObjectKind::Semaphore});
      break;
    case SignalKind::Expect: object(n.object, n.indices, verb, {ObjectKind::Barrier}); break;
    case SignalKind::Send:
      if (const auto* found = object(n.object, n.indices, verb, {ObjectKind::Channel}))
        type = found->type;
      break;
  }
  expr(n.amount, type, n.signal == SignalKind::Send ? "the message" : "the amount");
}

void Verifier::check(const Wait& n) {
  if (!n.object.valid()) {
    if (!n.indices.empty() || n.scope != Scope::None)
      report(Code::Malformed, "a wait for groups with indices or a scope", "leave them out");
    return expr(n.value, ScalarType::Index, "how many groups may be left");
  }
  const auto* found = object(n.object, n.indices, "wait",
                             {ObjectKind::Barrier, ObjectKind::Semaphore, ObjectKind::Token});
  if (!found) return;
  if (found->kind != ObjectKind::Token)
    return expr(n.value, ScalarType::Index,
                found->kind == ObjectKind::Barrier ? "the phase" : "the value");
  if (n.value) report(Code::ObjectUse, "a wait for a token with a value", "leave `until` out");
}

void Verifier::check(const Receive& n) {
  if (const auto* found = object(n.object, n.indices, "receive", {ObjectKind::Channel});
      found && found->type != n.type)
    report(Code::DeclaredType, "a message of another type than its channel has",
           "give it the type of the channel");
  body_with(n.var, n.type, "the message", n.body);
}

void Verifier::check(const Fence& n) {
  if (n.proxy == Proxy::Generic)
    report(Code::FenceProxy, "a fence between the generic proxy and itself",
           "name the other proxy: `async` or `tensor`");
}

void Verifier::check(const Sync& n) { encloses(n.scope, "a sync"); }

void Verifier::check(const Vote& n) {
  expr(n.condition, ScalarType::Bool, "the condition");
  encloses(n.scope, "a vote");
  body_with(n.var, n.vote == VoteKind::Ballot ? ScalarType::Index : ScalarType::Bool, "the outcome",
            n.body);
}

}  // namespace tilewright::program

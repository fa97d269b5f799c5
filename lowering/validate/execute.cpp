// SPDX-License-Identifier: Apache-2.0
//
// Control flow, calls, memory.
#include "lowering/validate/execute.h"

namespace tilewright::validate {

namespace {
constexpr int kMostDepth = 64;
constexpr std::int64_t kFeatureBytes = 64;
}  // namespace

Machine::Machine(ir::Context& context, const Listing& listing, Arithmetic& arithmetic)
    : context_(context), listing_(listing), do_(arithmetic), memory_(arithmetic) {
  for (const Function& function : listing.functions) {
    function_objects_.push_back(memory_.add("function " + function.name, 0, 16));
    reached.emplace_back(function.blocks.size());
  }
  for (const Global& global : listing.globals) {
    const auto object =
        memory_.add("global " + global.name, static_cast<std::int64_t>(global.bytes.size()), 1);
    global_objects_.push_back(object);
    for (std::size_t i = 0; i < global.bytes.size(); ++i) {
      Object::Byte& byte = memory_[object].bytes[i];
      byte.kind = Object::Byte::Kind::Bits;
      byte.bits = static_cast<std::uint8_t>(global.bytes[i]);
    }
    memory_[object].is_writable = false;
  }
  parallel_for_ = memory_.add("parallel_for", 0, 16);
  // What the C library says of a processor that has everything.
  features_ = memory_.add("features", kFeatureBytes, 4);
  for (Object::Byte& byte : memory_[features_].bytes) {
    byte.kind = Object::Byte::Kind::Bits;
    byte.bits = 0xff;
  }
}

bool Machine::fail(std::string reason) {
  if (stop.reason.empty()) {
    stop.reason = std::move(reason);
    if (current_ && stop.instruction.empty()) stop.instruction = current_->text;
  }
  return false;
}

// The value must be known.
bool Machine::needs(const Datum& datum, const char* what) {
  if (datum.is_bits()) return true;
  if (datum.is_term()) {
    stop.data = datum.id;
    return fail(std::string(what) + " depends on the values of inputs");
  }
  return fail(std::string(what) + (datum.is_pointer() ? " is a pointer" : " is poison"));
}

const std::vector<std::uint32_t>& Machine::bases(const Function& function) {
  auto [it, fresh] = bases_.try_emplace(&function);
  if (!fresh) return it->second;
  std::uint32_t at = 0;
  for (const std::uint32_t lanes : function.lanes_of) {
    it->second.push_back(at);
    at += lanes;
  }
  it->second.push_back(at);
  std::vector<Sort>& sorts = sorts_[&function];
  sorts.resize(function.lanes_of.size());
  const auto set = [&](ValueId id, const Type& type) {
    if (!type.lanes.empty()) sorts[id] = type.lanes[0];
  };
  for (std::size_t p = 0; p < function.parameters.size(); ++p)
    set(function.parameters[p], function.parameter_types[p]);
  for (const Constant& constant : function.constants) set(constant.value, constant.type);
  for (const auto& block : function.blocks)
    for (const Instruction& i : block)
      if (i.opcode != Opcode::Store) set(i.result, i.type);
  return it->second;
}

// Of the first lane.
Sort Machine::sort_of(const Frame& frame, ValueId id) const {
  return sorts_.at(frame.function)[id];
}

void Machine::set_constants(Frame& frame) {
  for (const Constant& constant : frame.function->constants) {
    Datum* to = frame.values.data() + (*frame.base)[constant.value];
    for (std::size_t l = 0; l < constant.lanes.size(); ++l) {
      const ConstantLane& lane = constant.lanes[l];
      switch (lane.kind) {
        case ConstantLane::Kind::Poison: to[l] = {}; break;
        case ConstantLane::Kind::Bits:
          to[l] =
              constant.type.lanes[l] == kPointer ? Datum::pointer(0, 0) : Datum::number(lane.bits);
          break;
        case ConstantLane::Kind::Global:
          to[l] = Datum::pointer(global_objects_[lane.index], static_cast<std::int64_t>(lane.bits));
          break;
        case ConstantLane::Kind::Function:
          to[l] = Datum::pointer(function_objects_[lane.index], 0);
          break;
      }
    }
  }
}

bool Machine::call(const Function& function, const std::vector<Datum>& arguments,
                   std::vector<Datum>* result) {
  if (function.is_declaration || function.blocks.empty())
    return fail("a call of `" + function.name + "`, whose code is not here");
  if (++depth_ > kMostDepth) return fail("calls that nest too deep");
  Frame frame;
  frame.function = &function;
  frame.base = &bases(function);
  frame.values.resize(frame.base->back());
  set_constants(frame);
  if (arguments.size() != function.parameters.size()) return fail("a call with other arguments");
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    if (function.lanes_of[function.parameters[p]] != 1)
      return fail("a call with vectors as arguments");
    frame.values[(*frame.base)[function.parameters[p]]] = arguments[p];
  }
  const Instruction* const caller = current_;
  const bool ok = run(frame, result);
  for (const std::uint32_t object : frame.allocas) {
    memory_[object].is_dead = true;
    memory_[object].bytes.clear();
    memory_[object].bytes.shrink_to_fit();
  }
  current_ = caller;
  --depth_;
  return ok;
}

// The values of the phis, all at once.
bool Machine::enter(Frame& frame, std::uint32_t from, std::uint32_t to) {
  std::vector<std::pair<std::uint32_t, std::vector<Datum>>> fresh;
  for (const Instruction& i : frame.function->blocks[to]) {
    if (i.opcode != Opcode::Phi) break;
    std::size_t incoming = 0;
    while (incoming < i.blocks.size() && i.blocks[incoming] != from) ++incoming;
    if (incoming == i.blocks.size()) return fail("a phi without a value for this edge");
    const Lanes value = lanes(frame, i.operands[incoming]);
    fresh.emplace_back((*frame.base)[i.result], std::vector<Datum>(value.begin(), value.end()));
  }
  for (const auto& [at, value] : fresh)
    std::copy(value.begin(), value.end(), frame.values.begin() + at);
  return true;
}

bool Machine::run(Frame& frame, std::vector<Datum>* returned) {
  std::uint32_t block = 0;
  std::vector<bool>& ran =
      reached[static_cast<std::size_t>(frame.function - listing_.functions.data())];
  while (true) {
    ran[block] = true;
    std::uint32_t next = 0;
    bool jumped = false;
    for (const Instruction& i : frame.function->blocks[block]) {
      current_ = &i;
      if (++steps > step_limit) return fail("more than " + std::to_string(step_limit) + " steps");
      switch (i.opcode) {
        case Opcode::Phi: continue;
        case Opcode::Ret: {
          if (!i.operands.empty()) {
            const Lanes value = lanes(frame, i.operands[0]);
            returned->assign(value.begin(), value.end());
          }
          return true;
        }
        case Opcode::Unreachable: return fail("`unreachable` was reached");
        case Opcode::Br: {
          next = i.blocks[0];
          if (!i.operands.empty()) {
            const Datum condition = lanes(frame, i.operands[0])[0];
            if (!needs(condition, "a branch")) return false;
            if (condition.bits == 0) next = i.blocks[1];
          }
          jumped = true;
          break;
        }
        case Opcode::Switch: {
          const Datum value = lanes(frame, i.operands[0])[0];
          if (!needs(value, "a switch")) return false;
          next = i.blocks[0];
          for (std::size_t c = 0; c < i.cases.size(); ++c)
            if (i.cases[c] == value.bits) next = i.blocks[c + 1];
          jumped = true;
          break;
        }
        default:
          if (!step(frame, i)) return false;
      }
      if (jumped) break;
    }
    if (!jumped) return fail("a block without an end");
    if (!enter(frame, block, next)) return false;
    block = next;
  }
}

bool Machine::step(Frame& frame, const Instruction& i) {
  switch (i.opcode) {
    case Opcode::Unsupported: return fail("an instruction that this validation has no meaning for");
    case Opcode::Load: {
      Datum pointer = lanes(frame, i.operands[0])[0];
      Datum* to = result(frame, i);
      for (std::size_t l = 0; l < i.type.lanes.size(); ++l) {
        const Sort sort = i.type.lanes[l];
        // Lanes of a vector lie side by side; smaller than a byte they share bytes.
        if (i.type.is_vector && sort.bits % 8 != 0) return fail("a vector whose lanes share bytes");
        if (!memory_.load(pointer, sort, l == 0 ? i.align : 1, &to[l])) return fail(memory_.error);
        pointer.bits += static_cast<std::uint64_t>(bytes_of(sort));
      }
      return true;
    }
    case Opcode::Store: {
      const Lanes value = lanes(frame, i.operands[0]);
      Datum pointer = lanes(frame, i.operands[1])[0];
      for (std::size_t l = 0; l < value.size(); ++l) {
        const Sort sort = i.type.lanes[l];
        if (i.type.is_vector && sort.bits % 8 != 0) return fail("a vector whose lanes share bytes");
        if (!memory_.store(pointer, sort, l == 0 ? i.align : 1, value[l]))
          return fail(memory_.error);
        pointer.bits += static_cast<std::uint64_t>(bytes_of(sort));
      }
      return true;
    }
    case Opcode::Alloca: {
      const std::uint32_t object = memory_.add("a frame's variable", i.bytes, i.align);
      memory_[object].is_private = memory_.in_iteration();
      frame.allocas.push_back(object);
      *result(frame, i) = Datum::pointer(object, 0);
      return true;
    }
    case Opcode::Call: return call_named(frame, i);
    case Opcode::CallPointer: return call_pointer(frame, i);
    case Opcode::Intrinsic: return intrinsic(frame, i);
    default: return lane_wise(frame, i);
  }
}

bool Machine::call_named(Frame& frame, const Instruction& i) {
  std::vector<Datum> arguments;
  for (const ValueId id : i.operands) {
    const Lanes value = lanes(frame, id);
    if (value.size() != 1) return fail("a call with vectors as arguments");
    arguments.push_back(value[0]);
  }
  if (i.callee == "__x86_get_cpuid_feature_leaf") {
    *result(frame, i) = Datum::pointer(features_, 0);
    return true;
  }
  if (i.callee == "getauxval") {
    *result(frame, i) = Datum::number(~std::uint64_t{0});
    return true;
  }
  const Function* callee = listing_.find(i.callee);
  if (callee == nullptr) return fail("a call of an unknown function");
  std::vector<Datum> out;
  if (!call(*callee, arguments, &out)) return false;
  std::copy(out.begin(), out.end(), result(frame, i));
  return true;
}

bool Machine::call_pointer(Frame& frame, const Instruction& i) {
  std::vector<Datum> arguments;
  for (std::size_t a = 0; a + 1 < i.operands.size(); ++a)
    arguments.push_back(lanes(frame, i.operands[a])[0]);
  const Datum callee = lanes(frame, i.operands.back())[0];
  if (callee != parallel_for()) return fail("a call of an unknown function");
  std::vector<Datum> out;
  if (!run_parallel(arguments, &out)) return false;
  std::copy(out.begin(), out.end(), result(frame, i));
  return true;
}

// (executor, call, begin, end, grain, task, closure). By the runtime's contract any order will do.
bool Machine::run_parallel(const std::vector<Datum>& arguments, std::vector<Datum>* result) {
  if (arguments.size() != 7) return fail("a call of parallel_for with other arguments");
  if (!needs(arguments[2], "a bound") || !needs(arguments[3], "a bound") ||
      !needs(arguments[4], "a bound"))
    return false;
  const auto begin = static_cast<std::int64_t>(arguments[2].bits);
  const auto end = static_cast<std::int64_t>(arguments[3].bits);
  if (static_cast<std::int64_t>(arguments[4].bits) != 1) return fail("a grain that is not 1");
  const Function* task = nullptr;
  for (std::size_t f = 0; f < function_objects_.size(); ++f)
    if (arguments[5] == Datum::pointer(function_objects_[f], 0)) task = &listing_.functions[f];
  if (task == nullptr) return fail("parallel_for of an unknown task");
  result->assign(1, Datum::number(0));
  if (memory_.in_iteration()) return fail("a parallel loop inside another one");
  if (workspace != 0) memory_[workspace].is_by_worker = true;
  bool ok = true;
  for (std::int64_t at = end - 1; ok && at >= begin; --at) {
    memory_.begin_iteration(static_cast<std::int32_t>(at - begin));
    std::vector<Datum> status;
    const std::vector<Datum> piece{arguments[6],
                                   Datum::number(static_cast<std::uint64_t>(
                                       Memory::worker_of(static_cast<std::int32_t>(at - begin)))),
                                   Datum::number(static_cast<std::uint64_t>(at)),
                                   Datum::number(static_cast<std::uint64_t>(at + 1))};
    ok = call(*task, piece, &status);
    if (ok && (status.empty() || status[0] != Datum::number(0)))
      ok = fail("an iteration of a parallel loop gave another status than 0");
  }
  memory_.end_parallel();
  return ok;
}

}  // namespace tilewright::validate

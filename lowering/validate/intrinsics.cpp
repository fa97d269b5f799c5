// SPDX-License-Identifier: Apache-2.0
//
// Calls of LLVM's intrinsics.
#include "lowering/validate/execute.h"

namespace tilewright::validate {

namespace {

std::optional<TermOp> float_intrinsic(std::string_view name) {
  if (name == "llvm.fma") return TermOp::Fma;
  if (name == "llvm.fabs") return TermOp::FAbs;
  if (name == "llvm.sqrt") return TermOp::Sqrt;
  if (name == "llvm.floor") return TermOp::Floor;
  if (name == "llvm.ceil") return TermOp::Ceil;
  if (name == "llvm.trunc") return TermOp::FTrunc;
  // Rounding is to nearest even wherever a kernel runs.
  if (name == "llvm.roundeven" || name == "llvm.rint" || name == "llvm.nearbyint")
    return TermOp::RoundEven;
  if (name == "llvm.fptosi.sat") return TermOp::FToSISat;
  if (name == "llvm.fptoui.sat") return TermOp::FToUISat;
  return std::nullopt;
}

std::optional<TermOp> minimum(std::string_view name) {
  if (name.ends_with("smin")) return TermOp::SMin;
  if (name.ends_with("smax")) return TermOp::SMax;
  if (name.ends_with("umin")) return TermOp::UMin;
  if (name.ends_with("umax")) return TermOp::UMax;
  return std::nullopt;
}

// As the rewrites write them, so that a select and an intrinsic are one term.
TermOp comparison_of(TermOp op) {
  return op == TermOp::SMin || op == TermOp::SMax ? TermOp::Slt : TermOp::Ult;
}

}  // namespace

bool Machine::intrinsic(Frame& frame, const Instruction& i) {
  const std::string_view name = i.callee;
  if (name == "llvm.prefetch" || name.starts_with("llvm.lifetime.") || name == "llvm.assume" ||
      name == "llvm.experimental.noalias.scope.decl")
    return true;
  bool done = false;
  using Part = bool (Machine::*)(Frame&, const Instruction&, bool*);
  for (const Part part : {&Machine::masked, &Machine::reduce, &Machine::overflow,
                          &Machine::scalar_intrinsic, &Machine::described}) {
    if (!(this->*part)(frame, i, &done)) return false;
    if (done) return stop.reason.empty();
  }
  return fail("a call of `" + i.callee + "`, which this validation has no meaning for");
}

// Loads and stores under a mask; gathers and scatters are the same lane by lane.
bool Machine::masked(Frame& frame, const Instruction& i, bool* done) {
  const std::string_view name = i.callee;
  const bool loads = name == "llvm.masked.load" || name == "llvm.masked.gather";
  const bool stores = name == "llvm.masked.store" || name == "llvm.masked.scatter";
  if (!loads && !stores) return true;
  *done = true;
  const Lanes pointers = lanes(frame, i.operands[loads ? 0 : 1]);
  const Lanes mask = lanes(frame, i.operands[loads ? 1 : 2]);
  const ValueId value_id = i.operands[loads ? 2 : 0];
  const Lanes values = lanes(frame, value_id);
  const Sort sort = sort_of(frame, value_id);
  const bool side_by_side =
      pointers.size() == 1 && (name == "llvm.masked.load" || name == "llvm.masked.store");
  if (sort.bits % 8 != 0) return fail("lanes that share bytes");
  for (std::size_t l = 0; l < mask.size(); ++l) {
    Datum pointer = pointers[side_by_side ? 0 : l];
    if (side_by_side) pointer.bits += l * static_cast<std::uint64_t>(bytes_of(sort));
    // The promise of alignment is about the vector's start, or about each lane that is on.
    const std::int64_t align = side_by_side && l > 0 ? 1 : i.align;
    const Datum on = mask[l];
    if (on.is_poison()) return fail("a mask that is poison");
    if (loads) {
      Datum* to = result(frame, i) + l;
      *to = values[l];
      if (on == Datum::number(0)) continue;
      Datum loaded;
      if (!memory_.load(pointer, sort, align, &loaded))
        return on.is_term() ? needs(on, "a mask") : fail(memory_.error);
      *to = choose(sort, on, loaded, values[l]);
      continue;
    }
    if (on == Datum::number(0)) continue;
    Datum value = values[l];
    if (on.is_term()) {
      Datum old;
      if (!memory_.load(pointer, sort, align, &old)) return needs(on, "a mask");
      value = choose(sort, on, value, old);
    }
    if (!memory_.store(pointer, sort, align, value)) return fail(memory_.error);
  }
  return true;
}

bool Machine::reduce(Frame& frame, const Instruction& i, bool* done) {
  const std::string_view name = i.callee;
  constexpr std::string_view kPrefix = "llvm.vector.reduce.";
  if (!name.starts_with(kPrefix)) return true;
  const std::string_view what = name.substr(kPrefix.size());
  std::optional<TermOp> op = minimum(what);
  if (what == "or") op = TermOp::Or;
  if (what == "and") op = TermOp::And;
  if (what == "xor") op = TermOp::Xor;
  if (what == "add") op = TermOp::Add;
  if (what == "mul") op = TermOp::Mul;
  if (!op) return true;
  *done = true;
  const Lanes values = lanes(frame, i.operands[0]);
  Datum sum = values[0];
  const Sort sort = i.type.lanes[0];
  for (std::size_t l = 1; l < values.size(); ++l) {
    if (sum.is_pointer() || values[l].is_pointer()) return fail("a reduction of pointers");
    sum = do_(*op, sort, sort, sum, values[l]);
  }
  *result(frame, i) = sum;
  return true;
}

bool Machine::overflow(Frame& frame, const Instruction& i, bool* done) {
  std::string_view name = i.callee;
  constexpr std::string_view kPrefix = "llvm.";
  constexpr std::string_view kSuffix = ".with.overflow";
  if (!name.ends_with(kSuffix)) return true;
  name = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  const bool is_signed = name[0] == 's';
  const TermOp op = name.ends_with("add")   ? TermOp::Add
                    : name.ends_with("sub") ? TermOp::Sub
                                            : TermOp::Mul;
  *done = true;
  const Datum a = lanes(frame, i.operands[0])[0];
  const Datum b = lanes(frame, i.operands[1])[0];
  const Sort sort = i.type.lanes[0];
  if (!needs(a, "an operand") || !needs(b, "an operand")) return false;
  __extension__ using Wide = __int128;
  const auto wide = [&](std::uint64_t x) {
    return is_signed ? Wide(sign_extend(x, sort.bits)) : Wide(x);
  };
  const Wide exact = op == TermOp::Add   ? wide(a.bits) + wide(b.bits)
                     : op == TermOp::Sub ? wide(a.bits) - wide(b.bits)
                                         : wide(a.bits) * wide(b.bits);
  Datum* to = result(frame, i);
  to[0] = do_(op, sort, sort, a, b);
  to[1] = Datum::number(wide(to[0].bits) != exact);
  return true;
}

bool Machine::scalar_intrinsic(Frame& frame, const Instruction& i, bool* done) {
  const std::string_view name = i.callee;
  const auto float_op = float_intrinsic(name);
  const auto least = name.size() == 9 ? minimum(name) : std::nullopt;
  const bool sign = name == "llvm.copysign";
  const bool absolute = name == "llvm.abs";
  const bool funnel = name == "llvm.fshl" || name == "llvm.fshr";
  const bool below = name == "llvm.usub.sat";
  if (!float_op && !least && !sign && !absolute && !funnel && !below) return true;
  *done = true;
  const Sort from = sort_of(frame, i.operands[0]);
  Datum* to = result(frame, i);
  for (std::size_t l = 0; l < i.type.lanes.size(); ++l) {
    const Sort sort = i.type.lanes[l];
    const auto argument = [&](std::size_t k) {
      const Lanes lane = lanes(frame, i.operands[k]);
      return lane[lane.size() == 1 ? 0 : l];
    };
    const Datum a = argument(0);
    if (a.is_pointer()) return fail("arithmetic on a pointer");
    if (float_op) {
      const Datum zero = Datum::number(0);
      to[l] = do_(*float_op, sort, from, a, arity_of(*float_op) > 1 ? argument(1) : zero,
                  arity_of(*float_op) > 2 ? argument(2) : zero);
      continue;
    }
    if (sign) {
      const Sort bits = int_sort(sort.bits);
      const Datum magnitude = do_.extract(bits, do_.recast(sort, bits, a), 0, sort.bits - 1);
      const Datum top = do_.extract(bits, do_.recast(sort, bits, argument(1)), sort.bits - 1, 1);
      to[l] = do_.recast(bits, sort, do_.concat(1, top, sort.bits - 1, magnitude));
      continue;
    }
    if (absolute) {
      const Datum negative = do_(TermOp::Slt, kBit, sort, a, Datum::number(0));
      const Datum flipped = do_(TermOp::Sub, sort, sort, Datum::number(0), a);
      const Datum lowest = Datum::number(std::uint64_t{1} << (sort.bits - 1));
      if (argument(1) == Datum::number(1)) {
        if (a == lowest) {
          to[l] = {};
          continue;
        }
        const Datum good = do_(TermOp::Not, kBit, kBit, do_(TermOp::Eq, kBit, sort, a, lowest));
        if (good.is_term()) claim(Claim::Kind::True, TermOp::Eq, good, good, kBit);
      }
      to[l] = choose(sort, negative, flipped, a);
      continue;
    }
    const Datum b = argument(1);
    if (funnel) {
      const Datum count = argument(2);
      if (!count.is_bits()) return fail("a funnel shift by what is not known");
      const int by = static_cast<int>(count.bits % sort.bits);
      const int left = name == "llvm.fshl" ? by : sort.bits - by;
      if (left == 0 || left == sort.bits) {
        to[l] = left == 0 ? a : b;
        continue;
      }
      to[l] = do_.concat(sort.bits - left, do_.extract(sort, a, 0, sort.bits - left), left,
                         do_.extract(sort, b, sort.bits - left, left));
      continue;
    }
    if (below) {
      const Datum under = do_(TermOp::Ult, kBit, sort, a, b);
      to[l] = choose(sort, under, Datum::number(0), do_(TermOp::Sub, sort, sort, a, b));
      continue;
    }
    const bool is_least = *least == TermOp::SMin || *least == TermOp::UMin;
    const Datum less = do_(comparison_of(*least), kBit, sort, a, b);
    to[l] = a.is_poison() || b.is_poison() ? Datum{}
                                           : choose(sort, less, is_least ? a : b, is_least ? b : a);
  }
  return stop.reason.empty();
}

// Lanes of registers are cut into the elements of the description.
bool Machine::described(Frame& frame, const Instruction& i, bool* done) {
  auto [it, fresh] = emissions_.try_emplace(i.callee);
  if (fresh) it->second = find_emission(context_, i.callee);
  if (!it->second) return true;
  *done = true;
  const machine::Meaning& meaning = *it->second;
  std::vector<std::vector<Datum>> elements;
  for (std::size_t o = 0; o < meaning.operands.size(); ++o) {
    std::int64_t count = 1;
    for (const std::int64_t length : meaning.operands[o].shape) count *= length;
    const Lanes value = lanes(frame, i.operands[o]);
    const Sort from = sort_of(frame, i.operands[o]);
    const Sort to = meaning.operands[o].type == ir::ScalarType::F32
                        ? kF32
                        : int_sort(ir::type_info(meaning.operands[o].type).width);
    if (static_cast<std::size_t>(count) * to.bits != value.size() * from.bits)
      return fail("an operand of another size than its description");
    elements.push_back(recast_lanes(std::vector<Sort>(value.size(), from), value,
                                    std::vector<Sort>(static_cast<std::size_t>(count), to)));
  }
  const std::vector<Datum> out =
      execute_described(do_, meaning, [&](std::size_t operand, std::int64_t cell) {
        return elements[operand][static_cast<std::size_t>(cell)];
      });
  if (out.size() != i.type.lanes.size())
    return fail("a result of another size than its description");
  std::copy(out.begin(), out.end(), result(frame, i));
  return true;
}

}  // namespace tilewright::validate

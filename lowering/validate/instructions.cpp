// SPDX-License-Identifier: Apache-2.0
//
// Instructions that compute or move lanes.
#include "lowering/validate/execute.h"

namespace tilewright::validate {

namespace {

std::optional<TermOp> binary_op(Opcode opcode) {
  switch (opcode) {
#define TILEWRIGHT_SAME(name) \
  case Opcode::name: return TermOp::name
    TILEWRIGHT_SAME(Add);
    TILEWRIGHT_SAME(Sub);
    TILEWRIGHT_SAME(Mul);
    TILEWRIGHT_SAME(UDiv);
    TILEWRIGHT_SAME(SDiv);
    TILEWRIGHT_SAME(URem);
    TILEWRIGHT_SAME(SRem);
    TILEWRIGHT_SAME(Shl);
    TILEWRIGHT_SAME(LShr);
    TILEWRIGHT_SAME(AShr);
    TILEWRIGHT_SAME(And);
    TILEWRIGHT_SAME(Or);
    TILEWRIGHT_SAME(Xor);
    TILEWRIGHT_SAME(FAdd);
    TILEWRIGHT_SAME(FSub);
    TILEWRIGHT_SAME(FMul);
    TILEWRIGHT_SAME(FDiv);
#undef TILEWRIGHT_SAME
    default: return std::nullopt;
  }
}

bool traps(TermOp op) {
  return op == TermOp::UDiv || op == TermOp::SDiv || op == TermOp::URem || op == TermOp::SRem;
}

}  // namespace

void Machine::claim(Claim::Kind kind, TermOp op, const Datum& a, const Datum& b, Sort sort) {
  claims.push_back(
      {kind, op, do_.term(sort, a), do_.term(sort, b), current_ ? current_->text : ""});
}

// Poison where a promise is broken; a claim where it depends on data.
void Machine::check_flags(const Instruction& i, TermOp op, Sort sort, const Datum& a,
                          const Datum& b, Datum* out) {
  if (out->is_poison()) return;
  const bool known = a.is_bits() && b.is_bits();
  const int bits = sort.bits;
  const auto promise = [&](Claim::Kind kind, bool is_signed) {
    if (!known) return claim(kind, op, a, b, sort);
    __extension__ using Wide = __int128;
    const Wide x = is_signed ? Wide(sign_extend(a.bits, bits)) : Wide(a.bits);
    const Wide y = is_signed ? Wide(sign_extend(b.bits, bits)) : Wide(b.bits);
    const Wide got = is_signed ? Wide(sign_extend(out->bits, bits)) : Wide(out->bits);
    Wide exact = 0;
    switch (op) {
      case TermOp::Add: exact = x + y; break;
      case TermOp::Sub: exact = x - y; break;
      case TermOp::Mul: exact = x * y; break;
      default: exact = x * (Wide(1) << static_cast<int>(b.bits)); break;
    }
    if (exact != got) *out = {};
  };
  if (i.nsw) promise(Claim::Kind::NoSignedWrap, true);
  if (out->is_poison()) return;
  if (i.nuw) promise(Claim::Kind::NoUnsignedWrap, false);
  if (out->is_poison()) return;
  if (i.exact) {
    const TermOp back = op == TermOp::UDiv || op == TermOp::SDiv ? TermOp::Mul : TermOp::Shl;
    const Datum same = do_(TermOp::Eq, kBit, sort, do_(back, sort, sort, *out, b), a);
    if (same == Datum::number(0)) *out = {};
    if (same.is_term()) claim(Claim::Kind::True, op, same, same, kBit);
  }
  if (i.disjoint && op == TermOp::Or) {
    const Datum none =
        do_(TermOp::Eq, kBit, sort, do_(TermOp::And, sort, sort, a, b), Datum::number(0));
    if (none == Datum::number(0)) *out = {};
    if (none.is_term()) claim(Claim::Kind::True, op, none, none, kBit);
  }
}

Datum Machine::binary(const Instruction& i, Sort sort, const Datum& a, const Datum& b) {
  const TermOp op = *binary_op(i.opcode);
  if (a.is_pointer() || b.is_pointer()) {
    fail("arithmetic on a pointer");
    return {};
  }
  if (traps(op)) {
    if (!a.is_bits() || !b.is_bits()) {
      // Division by what is not known to be good may trap.
      if (b.is_poison() || b == Datum::number(0)) fail("a division by zero or by poison");
      if (b.is_term()) {
        const Datum zero = do_(TermOp::Eq, kBit, sort, b, Datum::number(0));
        const Datum good = do_(TermOp::Not, kBit, kBit, zero);
        if (good.is_term()) claim(Claim::Kind::True, op, good, good, kBit);
      }
      if (op == TermOp::SDiv || op == TermOp::SRem) {
        const Datum minus = do_(TermOp::Eq, kBit, sort, b, Datum::number(mask_of(sort.bits)));
        const Datum good = do_(TermOp::Not, kBit, kBit, minus);
        if (good.is_term()) claim(Claim::Kind::True, op, good, good, kBit);
        if (good == Datum::number(0)) fail("a signed division by -1 that may overflow");
      }
    } else if (!fold(op, sort, sort, a.bits, b.bits, 0, 0)) {
      fail("a division by zero, or one that overflows");
    }
  }
  // By the width or more: poison.
  if ((op == TermOp::Shl || op == TermOp::LShr || op == TermOp::AShr) && b.is_term()) {
    const Datum good =
        do_(TermOp::Ult, kBit, sort, b,
            Datum::number(static_cast<std::uint64_t>(sort.bits) & mask_of(sort.bits)));
    if (good.is_term()) claim(Claim::Kind::True, op, good, good, kBit);
  }
  Datum out = do_(op, sort, sort, a, b);
  if (i.nsw || i.nuw || i.exact || i.disjoint) check_flags(i, op, sort, a, b, &out);
  return out;
}

Datum Machine::compare(const Instruction& i, Sort sort, const Datum& a, const Datum& b) {
  if (i.opcode == Opcode::FCmp)
    return do_(TermOp::FCmp, kBit, sort, a, b, Datum::number(0), i.predicate);
  if (a.is_poison() || b.is_poison()) return {};
  if (a.is_pointer() || b.is_pointer()) {
    if (!a.is_pointer() || !b.is_pointer()) {
      fail("a comparison of a pointer with something else");
      return {};
    }
    const std::uint64_t x = memory_.address(a);
    const std::uint64_t y = memory_.address(b);
    const unsigned outcome = x == y ? kEqual : x < y ? kLess : kGreater;
    return Datum::number((i.predicate & outcome) != 0);
  }
  if (i.disjoint) {  // samesign
    const Datum x = do_.extract(sort, a, sort.bits - 1, 1);
    const Datum y = do_.extract(sort, b, sort.bits - 1, 1);
    const Datum same = do_(TermOp::Eq, kBit, kBit, x, y);
    if (same == Datum::number(0)) return {};
    if (same.is_term()) claim(Claim::Kind::True, TermOp::Eq, same, same, kBit);
  }
  const TermOp less = i.is_signed ? TermOp::Slt : TermOp::Ult;
  const auto inverted = [&](const Datum& d) { return do_(TermOp::Not, kBit, kBit, d); };
  switch (i.predicate) {
    case kEqual: return do_(TermOp::Eq, kBit, sort, a, b);
    case kLess | kGreater: return inverted(do_(TermOp::Eq, kBit, sort, a, b));
    case kLess: return do_(less, kBit, sort, a, b);
    case kGreater: return do_(less, kBit, sort, b, a);
    case kLess | kEqual: return inverted(do_(less, kBit, sort, b, a));
    default: return inverted(do_(less, kBit, sort, a, b));
  }
}

Datum Machine::convert(const Instruction& i, Sort from, Sort to, const Datum& a) {
  if (a.is_poison()) return {};
  if (i.opcode == Opcode::PtrToInt) {
    if (!a.is_pointer()) return {};
    return Datum::number(memory_.address(a) & mask_of(to.bits));
  }
  if (a.is_pointer()) {
    fail("a conversion of a pointer");
    return {};
  }
  switch (i.opcode) {
    case Opcode::Trunc: {
      const Datum out = do_.extract(from, a, 0, to.bits);
      if (i.nsw || i.nuw) {
        const Datum back = i.nsw ? do_(TermOp::SExt, from, to, out) : do_.zext(out, from.bits);
        const Datum same = do_(TermOp::Eq, kBit, from, back, a);
        if (same == Datum::number(0)) return {};
        if (same.is_term()) claim(Claim::Kind::True, TermOp::Extract, same, same, kBit);
      }
      return out;
    }
    case Opcode::ZExt:
    case Opcode::UIToFP: {
      if (i.nneg) {
        const Datum good = do_(TermOp::Not, kBit, kBit, do_.extract(from, a, from.bits - 1, 1));
        if (good == Datum::number(0)) return {};
        if (good.is_term()) claim(Claim::Kind::True, TermOp::Concat, good, good, kBit);
      }
      return i.opcode == Opcode::ZExt ? do_.zext(a, to.bits) : do_(TermOp::UIToF, to, from, a);
    }
    case Opcode::SExt: return do_(TermOp::SExt, to, from, a);
    case Opcode::FPTrunc: return do_(TermOp::FRound, to, from, a);
    case Opcode::FPExt: return do_(TermOp::FExt, to, from, a);
    case Opcode::FPToUI: return do_(TermOp::FToUI, to, from, a);
    case Opcode::FPToSI: return do_(TermOp::FToSI, to, from, a);
    case Opcode::SIToFP: return do_(TermOp::SIToF, to, from, a);
    default: return {};
  }
}

Datum Machine::choose(Sort sort, const Datum& c, const Datum& a, const Datum& b) {
  if (c.is_term() && a != b && (a.is_pointer() || b.is_pointer())) {
    needs(c, "a choice between pointers");
    return {};
  }
  return do_.ite(sort, c, a, b);
}

bool Machine::select(Frame& frame, const Instruction& i) {
  const Lanes c = lanes(frame, i.operands[0]);
  const Lanes a = lanes(frame, i.operands[1]);
  const Lanes b = lanes(frame, i.operands[2]);
  Datum* to = result(frame, i);
  for (std::size_t l = 0; l < i.type.lanes.size(); ++l)
    to[l] = choose(i.type.lanes[l], c[c.size() == 1 ? 0 : l], a[l], b[l]);
  return stop.reason.empty();
}

std::vector<Datum> Machine::recast_lanes(std::span<const Sort> from, Lanes values,
                                         std::span<const Sort> to) {
  std::vector<Datum> out;
  const int in_bits = from[0].bits;
  const int out_bits = to[0].bits;
  for (std::size_t l = 0; l < to.size(); ++l) {
    if (in_bits == out_bits) {
      out.push_back(do_.recast(from[l], to[l], values[l]));
      continue;
    }
    const std::size_t bit = l * static_cast<std::size_t>(out_bits);
    if (out_bits < in_bits) {
      const std::size_t source = bit / static_cast<std::size_t>(in_bits);
      const Datum whole = do_.recast(from[source], int_sort(in_bits), values[source]);
      const Datum piece =
          do_.extract(int_sort(in_bits), whole,
                      static_cast<int>(bit % static_cast<std::size_t>(in_bits)), out_bits);
      out.push_back(do_.recast(int_sort(out_bits), to[l], piece));
      continue;
    }
    const std::size_t first = bit / static_cast<std::size_t>(in_bits);
    const std::size_t count = static_cast<std::size_t>(out_bits / in_bits);
    Datum joined = do_.recast(from[first], int_sort(in_bits), values[first]);
    int width = in_bits;
    for (std::size_t k = 1; k < count; ++k) {
      const Datum next = do_.recast(from[first + k], int_sort(in_bits), values[first + k]);
      joined = do_.concat(in_bits, next, width, joined);
      width += in_bits;
    }
    out.push_back(do_.recast(int_sort(out_bits), to[l], joined));
  }
  return out;
}

bool Machine::bit_cast(Frame& frame, const Instruction& i) {
  const Lanes value = lanes(frame, i.operands[0]);
  const Sort from = sort_of(frame, i.operands[0]);
  if (value.empty() || from.bits == 0) return fail("a bit cast of an unknown type");
  const int wide = std::max(from.bits, i.type.lanes[0].bits);
  const int narrow = std::min(from.bits, i.type.lanes[0].bits);
  if (wide % narrow != 0) return fail("a bit cast between lanes that do not divide each other");
  for (const Datum& one : value)
    if (one.is_pointer()) {
      std::copy(value.begin(), value.end(), result(frame, i));
      return i.type.lanes[0] == kPointer || fail("a bit cast of a pointer");
    }
  const std::vector<Sort> sorts(value.size(), from);
  const std::vector<Datum> out = recast_lanes(sorts, value, i.type.lanes);
  std::copy(out.begin(), out.end(), result(frame, i));
  return true;
}

bool Machine::address(Frame& frame, const Instruction& i) {
  const Lanes base = lanes(frame, i.operands[0]);
  Datum* to = result(frame, i);
  for (std::size_t l = 0; l < i.type.lanes.size(); ++l) {
    const Datum start = base[base.size() == 1 ? 0 : l];
    if (!start.is_pointer()) {
      to[l] = {};
      continue;
    }
    auto offset = static_cast<std::uint64_t>(i.offset);
    bool poison = false;
    for (std::size_t o = 1; o < i.operands.size(); ++o) {
      const Lanes index = lanes(frame, i.operands[o]);
      const Datum one = index[index.size() == 1 ? 0 : l];
      if (one.is_term() && !needs(one, "an address")) return false;
      if (!one.is_bits()) poison = true;
      offset += one.bits * static_cast<std::uint64_t>(i.scales[o - 1]);
    }
    Datum out = start;
    out.bits += offset;
    if (i.inbounds &&
        (out.offset() < 0 ||
         (out.id != 0 && out.offset() > static_cast<std::int64_t>(memory_[out.id].bytes.size()))))
      poison = true;
    to[l] = poison ? Datum{} : out;
  }
  return true;
}

bool Machine::move_lanes(Frame& frame, const Instruction& i) {
  Datum* to = result(frame, i);
  const Lanes first = lanes(frame, i.operands[0]);
  switch (i.opcode) {
    case Opcode::ShuffleVector: {
      const Lanes second = lanes(frame, i.operands[1]);
      for (std::size_t l = 0; l < i.mask.size(); ++l) {
        const auto from = static_cast<std::size_t>(i.mask[l]);
        to[l] = i.mask[l] < 0         ? Datum{}
                : from < first.size() ? first[from]
                                      : second[from - first.size()];
      }
      return true;
    }
    case Opcode::ExtractElement: {
      const Datum at = lanes(frame, i.operands[1])[0];
      if (at.is_term()) return needs(at, "a lane's number");
      *to = at.is_bits() && at.bits < first.size() ? first[at.bits] : Datum{};
      return true;
    }
    case Opcode::InsertElement: {
      const Datum at = lanes(frame, i.operands[2])[0];
      if (at.is_term()) return needs(at, "a lane's number");
      const Datum value = lanes(frame, i.operands[1])[0];
      const bool inside = at.is_bits() && at.bits < first.size();
      for (std::size_t l = 0; l < first.size(); ++l) to[l] = inside ? first[l] : Datum{};
      if (inside) to[at.bits] = value;
      return true;
    }
    case Opcode::ExtractValue:
      for (std::size_t l = 0; l < i.type.lanes.size(); ++l)
        to[l] = first[static_cast<std::size_t>(i.mask[0]) + l];
      return true;
    default: {
      const Lanes value = lanes(frame, i.operands[1]);
      for (std::size_t l = 0; l < first.size(); ++l) to[l] = first[l];
      for (std::size_t l = 0; l < value.size(); ++l)
        to[static_cast<std::size_t>(i.mask[0]) + l] = value[l];
      return true;
    }
  }
}

bool Machine::lane_wise(Frame& frame, const Instruction& i) {
  switch (i.opcode) {
    case Opcode::Select: return select(frame, i);
    case Opcode::BitCast: return bit_cast(frame, i);
    case Opcode::Gep: return address(frame, i);
    case Opcode::ShuffleVector:
    case Opcode::ExtractElement:
    case Opcode::InsertElement:
    case Opcode::ExtractValue:
    case Opcode::InsertValue: return move_lanes(frame, i);
    default: break;
  }
  const Lanes a = lanes(frame, i.operands[0]);
  const Sort from = sort_of(frame, i.operands[0]);
  Datum* to = result(frame, i);
  for (std::size_t l = 0; l < i.type.lanes.size(); ++l) {
    const Sort sort = i.type.lanes[l];
    if (i.opcode == Opcode::FNeg) {
      to[l] = do_(TermOp::FNeg, sort, sort, a[l]);
    } else if (i.opcode == Opcode::Freeze) {
      // Some value or other, of which nothing is known.
      to[l] = a[l].is_poison() && sort != kPointer
                  ? do_.of(do_.terms().var(sort, (std::uint64_t{1} << 40) + do_.terms().size()))
                  : a[l];
    } else if (i.opcode == Opcode::ICmp || i.opcode == Opcode::FCmp) {
      to[l] = compare(i, from, a[l], lanes(frame, i.operands[1])[l]);
    } else if (binary_op(i.opcode)) {
      to[l] = binary(i, sort, a[l], lanes(frame, i.operands[1])[l]);
    } else {
      to[l] = convert(i, from, sort, a[l]);
    }
    if (!stop.reason.empty()) return false;
  }
  return true;
}

}  // namespace tilewright::validate

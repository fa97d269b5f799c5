// SPDX-License-Identifier: Apache-2.0
#include "lowering/validate/memory.h"

namespace tilewright::validate {

std::uint32_t Memory::add(std::string name, std::int64_t bytes, std::int64_t align) {
  Object object;
  object.name = std::move(name);
  object.bytes.resize(static_cast<std::size_t>(bytes));
  const auto unit = static_cast<std::uint64_t>(align);
  // An odd multiple of the alignment, with a gap behind the last object.
  std::uint64_t address = (next_address_ + 255) / unit * unit;
  if (address / unit % 2 == 0) address += unit;
  object.address = address;
  next_address_ = address + static_cast<std::uint64_t>(bytes) + 256;
  objects_.push_back(std::move(object));
  return static_cast<std::uint32_t>(objects_.size() - 1);
}

bool Memory::find(const Datum& pointer, int bytes, std::int64_t align, const char* what,
                  Object** object) {
  if (!pointer.is_pointer() || pointer.id == 0) {
    error =
        std::string(what) + (pointer.is_pointer() ? " through a null pointer" : " through poison");
    return false;
  }
  Object& found = objects_[pointer.id];
  const std::int64_t offset = pointer.offset();
  if (found.is_dead || offset < 0 ||
      offset + bytes > static_cast<std::int64_t>(found.bytes.size())) {
    error = std::string(what) + " of " + std::to_string(bytes) + " bytes at offset " +
            std::to_string(offset) + " of " + found.name + ", which has " +
            std::to_string(found.bytes.size());
    return false;
  }
  if (align > 1 && address(pointer) % static_cast<std::uint64_t>(align) != 0) {
    error = std::string(what) + " at offset " + std::to_string(offset) + " of " + found.name +
            " relies on an alignment of " + std::to_string(align) + " bytes that it need not have";
    return false;
  }
  *object = &found;
  return true;
}

// Of the workspace a worker has a slice, which it writes again for each iteration; but no iteration may rely on what
// another one left there.
bool Memory::note(Object& object, std::size_t at, int bytes, bool writes) {
  if (iteration_ < 0 || object.is_private) return true;
  const auto apart = [&](std::int32_t other) {
    if (other == -1 || other == iteration_) return false;
    if (!object.is_by_worker || other == Object::kSeveral) return true;
    return worker_of(other) != worker_of(iteration_) || !writes;
  };
  for (std::size_t i = at; i < at + static_cast<std::size_t>(bytes); ++i) {
    Object::Byte& byte = object.bytes[i];
    const bool written = apart(byte.writer);
    if (written || (writes && apart(byte.reader))) {
      const std::int32_t other = written ? byte.writer : byte.reader;
      error = "iterations " + std::to_string(iteration_) + " and " +
              (other < 0 ? "others" : std::to_string(other)) +
              " of a parallel loop both touch byte " + std::to_string(i) + " of " + object.name +
              ", and one writes it";
      return false;
    }
    if (writes) {
      byte.writer = iteration_;
      continue;
    }
    const bool alone = byte.reader == -1 || byte.reader == iteration_ ||
                       (object.is_by_worker && byte.reader >= 0 &&
                        worker_of(byte.reader) == worker_of(iteration_));
    byte.reader = alone ? iteration_ : Object::kSeveral;
  }
  return true;
}

void Memory::end_parallel() {
  iteration_ = -1;
  for (Object& object : objects_)
    for (Object::Byte& byte : object.bytes) byte.writer = byte.reader = -1;
}

// One byte of a term.
Datum Memory::part(const Object::Byte& byte) {
  if (byte.kind == Object::Byte::Kind::Bits) return Datum::number(byte.bits);
  if (byte.kind != Object::Byte::Kind::Part) return {};
  Terms& terms = arithmetic_.terms();
  const TermId whole = is_float(terms.sort(byte.id)) ? terms.bits(byte.id) : byte.id;
  const int width = terms.sort(whole).bits;
  const TermId wide = width % 8 == 0 ? whole : terms.zext(whole, (width + 7) / 8 * 8);
  return arithmetic_.of(terms.extract(wide, 8 * byte.index, 8));
}

bool Memory::load(const Datum& pointer, Sort sort, std::int64_t align, Datum* out) {
  Object* object = nullptr;
  const int count = bytes_of(sort);
  if (!find(pointer, count, align, "a load", &object)) return false;
  const auto at = static_cast<std::size_t>(pointer.offset());
  if (!note(*object, at, count, false)) return false;
  using Kind = Object::Byte::Kind;
  const Object::Byte* bytes = &object->bytes[at];
  bool all_bits = true, one_value = true;
  for (int i = 0; i < count; ++i) {
    if (bytes[i].kind == Kind::Unset) {
      *out = {};
      return true;
    }
    all_bits &= bytes[i].kind == Kind::Bits;
    one_value &=
        bytes[i].kind == bytes[0].kind && bytes[i].id == bytes[0].id && bytes[i].index == i;
  }
  if (all_bits) {
    std::uint64_t bits = 0;
    for (int i = 0; i < count; ++i) bits |= static_cast<std::uint64_t>(bytes[i].bits) << (8 * i);
    bits &= mask_of(sort.bits);
    // A null pointer is known bits.
    *out = sort == kPointer ? (bits == 0 ? Datum::pointer(0, 0) : Datum{}) : Datum::number(bits);
    return true;
  }
  if (bytes[0].kind == Kind::Pointer) {
    if (!one_value || sort.bits != 64) {
      error = "a load of a part of a pointer in " + object->name;
      return false;
    }
    const Datum& stored = pointers_[bytes[0].id];
    *out = sort == kPointer ? stored : Datum::number(address(stored));
    return true;
  }
  if (sort == kPointer) {
    error = "a load of a pointer that was not stored as one, from " + object->name;
    return false;
  }
  Terms& terms = arithmetic_.terms();
  if (one_value && bytes[0].kind == Kind::Part && bytes_of(terms.sort(bytes[0].id)) == count) {
    const Sort stored = terms.sort(bytes[0].id);
    if (stored.bits == sort.bits) {
      *out = arithmetic_.recast(stored, sort, {Datum::Kind::Term, bytes[0].id, 0});
      return true;
    }
  }
  Datum value = part(bytes[count - 1]);
  for (int i = count - 2; i >= 0; --i)
    value = arithmetic_.concat(8 * (count - 1 - i), value, 8, part(bytes[i]));
  if (sort.bits < 8 * count) value = arithmetic_.extract(int_sort(8 * count), value, 0, sort.bits);
  *out = arithmetic_.recast(int_sort(sort.bits), sort, value);
  return true;
}

bool Memory::store(const Datum& pointer, Sort sort, std::int64_t align, const Datum& value) {
  Object* object = nullptr;
  const int count = bytes_of(sort);
  if (!find(pointer, count, align, "a store", &object)) return false;
  if (!object->is_writable) {
    error = "a store to " + object->name + ", which is an input";
    return false;
  }
  const auto at = static_cast<std::size_t>(pointer.offset());
  if (!note(*object, at, count, true)) return false;
  using Kind = Object::Byte::Kind;
  std::uint32_t id = value.id;
  if (value.is_pointer() && value.id != 0) {
    id = static_cast<std::uint32_t>(pointers_.size());
    pointers_.push_back(value);
  }
  for (int i = 0; i < count; ++i) {
    Object::Byte& byte = object->bytes[at + static_cast<std::size_t>(i)];
    byte.index = static_cast<std::uint8_t>(i);
    byte.id = id;
    switch (value.kind) {
      case Datum::Kind::Poison: byte.kind = Kind::Unset; break;
      case Datum::Kind::Bits:
        byte.kind = Kind::Bits;
        byte.bits = static_cast<std::uint8_t>(value.bits >> (8 * i));
        break;
      case Datum::Kind::Term: byte.kind = Kind::Part; break;
      case Datum::Kind::Pointer:
        byte.kind = value.id == 0 ? Kind::Bits : Kind::Pointer;
        byte.bits = 0;
        break;
    }
    if (byte.kind == Kind::Bits) byte.id = 0;
  }
  return true;
}

}  // namespace tilewright::validate

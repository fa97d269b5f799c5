// SPDX-License-Identifier: Apache-2.0
//
// Memory of a run: objects of bytes, each a part of a value. Laws: an access outside of its object fails; a byte that
// nothing wrote reads as poison; a value reads back as what was stored, by parts or together with others too. Each
// object lies at an address of its own, aligned to no more than was asked for, so that code which relies on more
// fails. Within a parallel loop, bytes that one iteration writes and another touches are a race (of the workspace:
// where another worker touches them, or where another iteration reads them).
#pragma once

#include <string>
#include <vector>

#include "lowering/validate/datum.h"

namespace tilewright::validate {

struct Object {
  static constexpr std::int32_t kSeveral = -2;
  std::string name;
  std::uint64_t address = 0;
  bool is_writable = true;
  bool is_private = false;  // to an iteration: a variable of its frame
  bool is_by_worker = false;  // each worker has a part of its own
  bool is_dead = false;
  struct Byte {
    enum class Kind : std::uint8_t { Unset, Bits, Part, Pointer };
    Kind kind = Kind::Unset;
    std::uint8_t index = 0;  // of the byte in its value
    std::uint8_t bits = 0;
    std::uint32_t id = 0;  // of the term, or of the pointer
    // Iterations of the parallel loop that runs.
    std::int32_t writer = -1;
    std::int32_t reader = -1;  // kSeveral: more than one
  };
  std::vector<Byte> bytes;
};

class Memory {
 public:
  explicit Memory(Arithmetic& arithmetic) : arithmetic_(arithmetic), objects_(1) {}

  // Object 0 is null.
  std::uint32_t add(std::string name, std::int64_t bytes, std::int64_t align);
  Object& operator[](std::uint32_t object) { return objects_[object]; }
  std::size_t size() const { return objects_.size(); }
  std::uint64_t address(const Datum& pointer) const {
    return objects_[pointer.id].address + pointer.bits;
  }

  // False after `error` says why.
  bool load(const Datum& pointer, Sort sort, std::int64_t align, Datum* out);
  bool store(const Datum& pointer, Sort sort, std::int64_t align, const Datum& value);
  std::string error;

  // Accesses are those of this iteration, until end_parallel.
  void begin_iteration(std::int32_t iteration) { iteration_ = iteration; }
  void end_parallel();
  bool in_iteration() const { return iteration_ >= 0; }
  static std::int32_t worker_of(std::int32_t iteration) { return iteration & 1; }

 private:
  bool find(const Datum& pointer, int bytes, std::int64_t align, const char* what, Object** object);
  bool note(Object& object, std::size_t at, int bytes, bool writes);
  Datum part(const Object::Byte& byte);

  Arithmetic& arithmetic_;
  std::vector<Object> objects_;
  std::vector<Datum> pointers_;
  std::uint64_t next_address_ = 0x10000;
  std::int32_t iteration_ = -1;
};

}  // namespace tilewright::validate

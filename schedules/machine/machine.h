// SPDX-License-Identifier: Apache-2.0
//
// What a schedule, a cost model and a proof may know of one machine: capacities, units, numeric behaviour, and
// what was measured on it. A plain value; its text form is a `.toml` file (text.h). What only a measurement can
// tell is optional: a machine that was never measured still names its capacities. Law: a Machine that a
// reader returns passes verify(). Tests: tests/unit/schedules/machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/base/result.h"

namespace tilewright::machine {

struct Vector {
  std::int64_t bits = 256;
  std::int64_t registers = 16;
  // Fused multiply-adds of this width that a core starts per cycle.
  std::int64_t fma_units = 2;
  // Cycles until the result of a multiply-add can be used.
  std::optional<double> fma_latency_cycles;
  friend bool operator==(const Vector&, const Vector&) = default;
};

// How the target computes, as far as results depend on it.
struct Numeric {
  bool fma_rounds_once = true;
  // Subnormal operands and results are kept, not flushed to zero.
  bool subnormals = true;
  // min and max give their second operand unless the first compares less (greater).
  bool min_max_second = true;
  friend bool operator==(const Numeric&, const Numeric&) = default;
};

// One level of data cache, level 1 nearest to the core. Rates are those of loads.
struct Cache {
  std::int64_t level = 1;
  std::int64_t bytes = 0;
  std::int64_t line_bytes = 64;
  // How many cores share one cache of this level.
  std::int64_t shared_by = 1;
  std::optional<double> core_gb_per_s;  // one core alone
  std::optional<double> all_gb_per_s;  // all cores together
  std::optional<double> latency_ns;  // from address to value
  friend bool operator==(const Cache&, const Cache&) = default;
};

struct Memory {
  std::optional<double> core_gb_per_s;
  std::optional<double> all_gb_per_s;
  // Copies: bytes loaded and bytes stored, stores that pass the caches.
  std::optional<double> core_copy_gb_per_s;
  std::optional<double> all_copy_gb_per_s;
  std::optional<double> latency_ns;
  friend bool operator==(const Memory&, const Memory&) = default;
};

// A measured peak of multiply-adds in one type, each counting as two operations.
struct Peak {
  std::string type;  // of the operands: "f32", "bf16"
  std::string unit;  // what was run: "avx512_f32"
  double core_gflops = 0;
  double all_gflops = 0;
  friend bool operator==(const Peak&, const Peak&) = default;
};

// A memory that agents of a team share and a schedule manages: "shared", "scratchpad", "tensor", "accumulator".
struct Space {
  std::string name;
  std::int64_t bytes = 0;  // of one team
  friend bool operator==(const Space&, const Space&) = default;
};

// Agents that share such memories: those of a "block", or a "core" of an accelerator. How an asynchronous
// operation tells that it is done: barriers that count "bytes" or "arrivals", or "tokens", one for each operation.
struct Team {
  std::string scope;
  std::string completion;
  friend bool operator==(const Team&, const Team&) = default;
};

struct Machine {
  std::string name;
  std::string isa;  // "x86-64-v3"; lowering/targets takes its processor and features from it
  std::optional<std::string> processor;  // as the system calls it
  std::optional<std::string> measured;  // the date of the measurement, "2026-01-31"
  std::int64_t cores = 1;
  std::optional<double> core_ghz;
  // Instruction sets beyond those of the ISA, in LLVM's spelling, sorted.
  std::vector<std::string> features;
  Vector vector;
  Numeric numeric;
  std::vector<Cache> caches;  // by level, nearest first
  Memory memory;
  std::vector<Peak> peaks;
  std::vector<Space> spaces;  // none on a host
  std::vector<Team> teams;  // none on a host

  const Space* find_space(std::string_view wanted) const;
  const Peak* find_peak(std::string_view type) const;  // the fastest of a type
  const Cache* find_cache(std::int64_t level) const;
  friend bool operator==(const Machine&, const Machine&) = default;
};

// What an instruction set architecture gives: upper bounds for a machine that names it.
struct Isa {
  std::string_view name;
  std::int64_t vector_bits;
  std::int64_t vector_registers;
};
const std::vector<Isa>& all_isas();
const Isa* find_isa(std::string_view name);

// What the fields of a machine must fulfil together (E0409). Readers call it; so must who makes one by hand
// and means to write it.
Result<Ok> verify(const Machine& machine);

// The machines that are built in, by name.
std::vector<std::string_view> builtin_names();
// A machine that is built in, or E0408 with the names that there are.
Result<Machine> find_machine(std::string_view name);
// Whether a schedule's `on NAME` means a machine file and not a built-in machine.
bool is_machine_path(std::string_view name);

}  // namespace tilewright::machine

// SPDX-License-Identifier: Apache-2.0
//
// Dot-product units: what a processor computes when one instruction adds several products to an
// accumulator. In exact arithmetic all of them are c + sum of a[t] * b[t]; a unit says which bits come
// out. A plain value, part of an instruction's description. Law: on the patterns that a unit can take,
// dot() gives the bits of the hardware; the tests run both wherever the processor has the instruction.
// Nothing here uses the host's floating point, so the answer depends on no rounding mode.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/ir/type.h"

namespace tilewright::units {

// FusedChain: one fused multiply-add after the other, each rounded to nearest even.
// Wrapping: exact integers, the sum wrapped to the accumulator's width once.
enum class DotKind : std::uint8_t { FusedChain, Wrapping };
std::string_view dot_kind_text(DotKind kind);  // "fused_chain", "wrapping"
std::optional<DotKind> parse_dot_kind(std::string_view text);

struct DotUnit {
  DotKind kind = DotKind::FusedChain;
  // Of a chain: the terms in the order in which they are added; each of 0 .. n-1 once.
  std::vector<std::int64_t> order;
  // Of a chain: operands that are subnormal count as zero of their sign, and so does every result that
  // is smaller than the smallest normal number once it is rounded as if exponents had no end.
  bool subnormals = true;
  friend bool operator==(const DotUnit&, const DotUnit&) = default;
};

// The types that a unit's operands and accumulator may have here.
bool takes(DotKind kind, ir::ScalarType a, ir::ScalarType b, ir::ScalarType accumulator);

// c + sum of a[t] * b[t] for one result, as bit patterns: bf16 in the low half of a word, f32 in all of it;
// integers as their value. Preconditions: takes() holds, a and b have one length, which is that of the
// order of a chain.
// Of several NaNs that of the term added last wins, a before b; the accumulator's comes last. It comes out
// quiet. An invalid operation gives 0xFFC00000.
std::int64_t dot(const DotUnit& unit, std::span<const std::int64_t> a,
                 std::span<const std::int64_t> b, std::int64_t c);

// One step of a chain: the bits of c + a * b for bf16 a, b and f32 c.
std::uint32_t fused_step(std::uint16_t a, std::uint16_t b, std::uint32_t c, bool subnormals);

}  // namespace tilewright::units

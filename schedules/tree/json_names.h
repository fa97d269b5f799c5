// SPDX-License-Identifier: Apache-2.0
//
// Words that the JSON of schedules has and their text has not, for its writer and its reader.
#pragma once

#include "schedules/tree/tree.h"

namespace tilewright::tree {

inline constexpr int kNumLoopKinds = 4;
inline std::string_view loop_kind_name(LoopKind kind) {
  switch (kind) {
    case LoopKind::Serial: return "serial";
    case LoopKind::Parallel: return "parallel";
    case LoopKind::Vector: return "vector";
    case LoopKind::Unrolled: return "unrolled";
  }
  __builtin_unreachable();
}

inline constexpr int kNumLayoutParts = 3;
inline std::string_view layout_part_name(LayoutComponent::Part part) {
  switch (part) {
    case LayoutComponent::Part::Whole: return "whole";
    case LayoutComponent::Part::Quotient: return "quotient";
    case LayoutComponent::Part::Remainder: return "remainder";
  }
  __builtin_unreachable();
}

}  // namespace tilewright::tree

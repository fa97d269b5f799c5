// SPDX-License-Identifier: Apache-2.0
//
// The machine files, and the instruction files NAME.instruction.toml, that the build puts into the library
// (cmake/embed.cmake). Private to this room.
#pragma once

#include <span>
#include <string_view>

namespace tilewright::machine {

// What the name of an instruction file ends in.
inline constexpr std::string_view kInstructionSuffix = ".instruction";

struct EmbeddedFile {
  std::string_view name;  // without the suffix
  std::string_view text;
};
// Sorted by the name of their files.
std::span<const EmbeddedFile> embedded_files();

}  // namespace tilewright::machine

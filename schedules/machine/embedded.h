// SPDX-License-Identifier: Apache-2.0
//
// The machine files that the build puts into the library (cmake/embed.cmake). Private to this room.
#pragma once

#include <span>
#include <string_view>

namespace tilewright::machine {

struct EmbeddedFile {
  std::string_view name;  // without the suffix
  std::string_view text;
};
// Sorted by name.
std::span<const EmbeddedFile> embedded_files();

}  // namespace tilewright::machine

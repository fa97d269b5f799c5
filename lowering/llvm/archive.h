// SPDX-License-Identifier: Apache-2.0
//
// Static libraries. Law: the same members give the same bytes: no time, owner or mode of a file is kept.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/base/result.h"

namespace tilewright::llvm_wall {

struct ArchiveMember {
  std::string name;  // "gemm.o"
  std::string_view bytes;
};

// An ar archive with a symbol table, as ld and lld read it.
Result<std::string> write_archive(const std::vector<ArchiveMember>& members);

}  // namespace tilewright::llvm_wall

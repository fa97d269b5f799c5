// SPDX-License-Identifier: Apache-2.0
#include "lowering/llvm/archive.h"

#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Support/MemoryBuffer.h>

namespace tilewright::llvm_wall {

Result<std::string> write_archive(const std::vector<ArchiveMember>& members) {
  std::vector<llvm::NewArchiveMember> fresh;
  for (const ArchiveMember& member : members) {
    llvm::NewArchiveMember& added = fresh.emplace_back(
        llvm::MemoryBufferRef(llvm::StringRef(member.bytes), llvm::StringRef(member.name)));
    added.MemberName = member.name;
  }
  auto buffer = llvm::writeArchiveToBuffer(fresh, llvm::SymtabWritingMode::NormalSymtab,
                                           llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                           /*Thin=*/false);
  if (!buffer)
    return fail(Code::CodeGeneration, {}, "no archive: " + llvm::toString(buffer.takeError()),
                "this is a defect of Tilewright: please report it with the program");
  return std::string((*buffer)->getBuffer());
}

}  // namespace tilewright::llvm_wall

// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a .npy file: refused with a diagnostic, or an array whose written form reads back equal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "apps/npy/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  const Result<npy::Array> first = npy::parse(std::as_bytes(std::span(data, size)), "fuzz.npy");
  if (!first.ok()) {
    if (first.diagnostics().empty() || first.diagnostics()[0].message.empty()) std::abort();
    return 0;
  }
  if (first->data.size() > size) std::abort();
  std::string bytes = npy::header_bytes(first->type, first->shape);
  bytes.append(reinterpret_cast<const char*>(first->data.data()), first->data.size());
  const Result<npy::Array> second = npy::parse(std::as_bytes(std::span(bytes)), "again.npy");
  if (!second.ok() || second->type != first->type || second->shape != first->shape ||
      second->data != first->data) {
    std::abort();
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a machine file: refused with diagnostics whose places lie in the text, or a machine that its
// canonical text and its JSON give back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontend/base/render.h"
#include "schedules/machine/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  const Source source("fuzz.toml", std::string(reinterpret_cast<const char*>(data), size));
  const auto first = machine::parse_machine(source);
  if (!first.ok()) {
    if (first.diagnostics().empty()) std::abort();
    for (const Diagnostic& diagnostic : first.diagnostics())
      if (diagnostic.message.empty() || diagnostic.remedy.empty() ||
          diagnostic.span.begin > diagnostic.span.end || diagnostic.span.end > size)
        std::abort();
    if (render(first.diagnostics(), &source).empty()) std::abort();
    return 0;
  }
  const std::string text = machine::print(*first);
  const auto second = machine::parse_machine(Source("again.toml", text));
  if (!second.ok() || !(*second == *first) || machine::print(*second) != text) std::abort();
  const auto third = machine::from_json(machine::to_json(*first));
  if (!third.ok() || !(*third == *first)) std::abort();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a machine: TOML, or JSON when they begin with `{`.
#include <cstdint>

#include "schedules/machine/text.h"
#include "tests/fuzz/check.h"

using namespace tilewright;

namespace {

Result<machine::Machine> read(const Source& source) {
  if (source.text().substr(0, 1) != "{") return machine::parse_machine(source);
  auto json = parse_json(source);
  if (!json.ok()) return std::move(json).failure();
  return machine::from_json(*json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Source source("fuzz.toml", std::string(reinterpret_cast<const char*>(data), size));
  const auto first = read(source);
  if (!first.ok()) {
    fuzz::check_diagnostics(first.diagnostics(), source);
    return 0;
  }
  fuzz::require(machine::verify(*first).ok(), "what is read is well formed");
  const Source printed("printed.toml", machine::print(*first));
  const auto second = machine::parse_machine(printed);
  fuzz::require(second.ok(), "printed text is read");
  fuzz::require(*second == *first, "parse(print(x)) == x");
  fuzz::require(machine::print(*second) == printed.text(), "print(parse(t)) == t");
  const auto from_json = machine::from_json(machine::to_json(*first));
  fuzz::require(from_json.ok() && *from_json == *first, "from_json(to_json(x)) == x");
  return 0;
}

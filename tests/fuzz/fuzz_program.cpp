// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a program: text, or JSON when they begin with `{`.
#include <cstdint>

#include "lowering/program/json.h"
#include "lowering/program/text.h"
#include "lowering/program/verify.h"
#include "tests/fuzz/check.h"

using namespace tilewright;

namespace {

Result<program::Program> read(ir::Context& context, const Source& source) {
  if (source.text().substr(0, 1) != "{") return program::parse_program(context, source);
  auto json = parse_json(source);
  if (!json.ok()) return std::move(json).failure();
  return program::program_from_json(context, *json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Source source("fuzz.twp", std::string(reinterpret_cast<const char*>(data), size));
  ir::Context context;
  auto first = read(context, source);
  if (!first.ok()) {
    fuzz::check_diagnostics(first.diagnostics(), source);
    return 0;
  }
  fuzz::require(program::verify(*first).empty(), "what is read is well formed");
  const Source printed("printed.twp", program::print(*first));
  auto second = program::parse_program(context, printed);
  fuzz::require(second.ok(), "printed text is read");
  fuzz::require(*second == *first, "parse(print(x)) == x");
  fuzz::require(program::print(*second) == printed.text(), "print(parse(t)) == t");
  auto from_json = program::program_from_json(context, program::to_json(*first));
  fuzz::require(from_json.ok() && *from_json == *first, "from_json(to_json(x)) == x");
  return 0;
}

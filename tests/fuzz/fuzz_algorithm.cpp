// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an algorithm: text, or JSON when they begin with `{`.
#include <cstdint>

#include "frontend/ir/json.h"
#include "frontend/ir/text.h"
#include "frontend/ir/verify.h"
#include "tests/fuzz/check.h"

using namespace tilewright;

namespace {

Result<ir::Algorithm> read(ir::Context& context, const Source& source) {
  if (source.text().substr(0, 1) != "{") return ir::parse_algorithm(context, source);
  auto json = parse_json(source);
  if (!json.ok()) return std::move(json).failure();
  return ir::algorithm_from_json(context, *json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Source source("fuzz.tw", std::string(reinterpret_cast<const char*>(data), size));
  ir::Context context;
  auto first = read(context, source);
  if (!first.ok()) {
    fuzz::check_diagnostics(first.diagnostics(), source);
    return 0;
  }
  fuzz::require(ir::verify(*first).empty(), "what is read is well formed");
  const Source printed("printed.tw", ir::print(*first));
  auto second = ir::parse_algorithm(context, printed);
  fuzz::require(second.ok(), "printed text is read");
  fuzz::require(*second == *first, "parse(print(x)) == x");
  fuzz::require(ir::print(*second) == printed.text(), "print(parse(t)) == t");
  auto from_json = ir::algorithm_from_json(context, ir::to_json(*first));
  fuzz::require(from_json.ok() && *from_json == *first, "from_json(to_json(x)) == x");
  return 0;
}

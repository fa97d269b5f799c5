// SPDX-License-Identifier: Apache-2.0
//
// An algorithm, a line `----`, and any bytes as its schedule: text, or JSON when they begin with `{`. A mistake in the algorithm is the business of
// fuzz_algorithm.
#include <cstdint>

#include "frontend/ir/text.h"
#include "schedules/directives/text.h"
#include "schedules/tree/json.h"
#include "tests/fuzz/check.h"

using namespace tilewright;

namespace {

Result<tree::Schedule> read(ir::Context& context, const ir::Algorithm& algorithm,
                            const Source& source) {
  if (source.text().substr(0, 1) != "{")
    return directives::parse_schedule(context, algorithm, source);
  auto json = parse_json(source);
  if (!json.ok()) return std::move(json).failure();
  return tree::schedule_from_json(context, algorithm, *json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kMarker = "\n----\n";
  const std::size_t at = text.find(kMarker);
  if (at == std::string_view::npos) return -1;
  ir::Context context;
  const Source algorithm_source("fuzz.tw", std::string(text.substr(0, at + 1)));
  const auto algorithm = ir::parse_algorithm(context, algorithm_source);
  if (!algorithm.ok()) return -1;
  const Source source("fuzz.tws", std::string(text.substr(at + kMarker.size())));
  const auto first = read(context, *algorithm, source);
  if (!first.ok()) {
    fuzz::check_diagnostics(first.diagnostics(), source);
    return 0;
  }
  fuzz::require(tree::verify(*algorithm, first->tree).ok(), "what is read is well formed");
  const Source printed("printed.tws", directives::print(*first));
  const auto second = directives::parse_schedule(context, *algorithm, printed);
  if (!second.ok()) std::fputs(render(second.diagnostics(), &printed).c_str(), stderr);
  fuzz::require(second.ok(), "printed text is read");
  fuzz::require(*second == *first, "parse(print(x)) == x");
  fuzz::require(directives::print(*second) == printed.text(), "print(parse(t)) == t");
  const Json json = tree::to_json(*first);
  const auto from_json = tree::schedule_from_json(context, *algorithm, json);
  fuzz::require(from_json.ok() && *from_json == *first, "from_json(to_json(x)) == x");
  fuzz::require(tree::to_json(*from_json) == json, "to_json(from_json(j)) == j");
  return 0;
}

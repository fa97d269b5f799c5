// SPDX-License-Identifier: Apache-2.0
#include "frontend/language/build.h"

#include "frontend/ir/json.h"
#include "frontend/ir/text.h"
#include "frontend/language/transcript.h"

namespace tilewright::language {

Result<ir::Algorithm> build(const Algorithm& algorithm, ir::Context& context) {
  const detail::Transcript transcript(*algorithm.state());
  const Source source("the C++ program", transcript.text());
  auto read = ir::parse_algorithm(context, source);
  if (read.ok() && !transcript.has_mistakes()) return std::move(read).value();
  return Failed{transcript.merge(read.diagnostics())};
}

Result<std::string> Algorithm::text() const {
  ir::Context context;
  auto built = build(*this, context);
  if (!built.ok()) return Failed{built.diagnostics()};
  return ir::print(*built);
}

Result<std::string> Algorithm::json() const {
  ir::Context context;
  auto built = build(*this, context);
  if (!built.ok()) return Failed{built.diagnostics()};
  return ir::to_json(*built).dump();
}

namespace {

void write(std::string& out, const Place& place, const std::string& text) {
  if (place.line != 0) {
    out += place.file + ":" + std::to_string(place.line) + ":";
    if (place.column != 0) out += std::to_string(place.column) + ":";
    out += " ";
  }
  out += text + "\n";
}

}  // namespace

std::string render(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    write(out, d.place, "error: " + d.message + " [" + d.code + "]");
    for (const Note& note : d.notes) {
      if (note.place.line == 0) out += "  ";
      write(out, note.place, "note: " + note.text);
    }
    if (!d.remedy.empty()) out += "  help: " + d.remedy + "\n";
  }
  return out;
}

}  // namespace tilewright::language

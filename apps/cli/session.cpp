// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/session.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "frontend/base/render.h"

namespace tilewright::cli {

Session::Session() = default;

void Session::declare(Arguments& arguments) {
  arguments.choice("--diagnostics", diagnostics_, {"text", "json"}, "how diagnostics are written");
  arguments.choice("--color", color_, {"auto", "always", "never"}, "colour in diagnostics");
}

bool Session::colour() const {
  if (color_ != "auto") return color_ == "always";
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  if (term != nullptr && std::strcmp(term, "dumb") == 0) return false;
  return isatty(STDERR_FILENO) != 0;
}

void Session::report(const std::vector<Diagnostic>& diagnostics, const Source* source) {
  // The order of the two streams is kept where both go to one place.
  std::fflush(stdout);
  std::string text;
  const Json json = render_json(diagnostics, source);
  for (const Json& one : *json.as_array()) reported_.push(one);
  if (diagnostics_ == "json") {
    text = json.dump(-1) + "\n";
  } else {
    RenderOptions options;
    options.colour = colour();
    text = render(diagnostics, source, options);
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int Session::usage(const std::string& message) {
  usage_ = message;
  std::fprintf(stderr, "tilewright: %s\n", message.c_str());
  return kExitUsage;
}

void Session::print(std::string_view text) {
  printed_ = true;
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Session::print_aside(std::string_view text) {
  if (wants_json_)
    std::fwrite(text.data(), 1, text.size(), stderr);
  else
    print(text);
}

void Session::progress(std::string_view text) const {
  if (isatty(STDERR_FILENO) != 0) note(text);
}

void Session::note(std::string_view text) const {
  std::fflush(stdout);
  std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
}

int Session::finish(int status) {
  if (wants_json_ && !printed_ && status != kExitOk) {
    Json out = Json::object();
    out.set("version", 1);
    out.set("status", status);
    if (!usage_.empty()) out.set("usage", usage_);
    out.set("diagnostics", reported_);
    print_json(out);
  }
  errno = 0;
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed) return status;
  report({Code::FileWrite,
          {},
          std::string("standard output cannot be written: ") + std::strerror(errno),
          "check what the output is connected to",
          {}});
  return status == kExitOk ? kExitDiagnostics : status;
}

}  // namespace tilewright::cli

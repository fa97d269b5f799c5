// SPDX-License-Identifier: Apache-2.0
//
// `tilewright help [TOPIC]`: verbs, and what the tables of the code say about directives, passes and
// diagnostics.
#include <algorithm>

#include "apps/cli/verb.h"
#include "frontend/base/diagnostic.h"
#include "frontend/base/format.h"
#include "lowering/passes/passes.h"
#include "schedules/directives/directive.h"

namespace tilewright::cli {

namespace {

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  if (out.size() < width) out.resize(width, ' ');
  return out + " ";
}

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::Error: return "error";
    case Severity::Warning: return "warning";
    case Severity::Note: return "note";
  }
  __builtin_unreachable();
}

std::string diagnostics_text() {
  std::vector<Code> codes = all_codes();
  std::sort(codes.begin(), codes.end(), [](Code a, Code b) { return code_text(a) < code_text(b); });
  std::string text;
  for (Code code : codes)
    text += padded(code_text(code), 5) + std::string(code_meaning(code)) + "\n";
  return text;
}

// What a range of codes is about, for the page of one.
std::string_view area(std::string_view code) {
  switch (code[2]) {
    case '1': return "reading text";
    case '2': return "an algorithm (.tw)";
    case '3': return "a schedule (.tws)";
    case '4': return "a machine file (.toml)";
    case '5': return "a program (.twp)";
    case '6': return "lowering and code generation";
    case '7': return "the polyhedral analysis of a schedule";
    case '8': return "running, and checking against the algorithm";
    default: return "files and the command line";
  }
}

std::string code_page(Code code) {
  return std::string(code_text(code)) + ": " + std::string(code_meaning(code)) + "\n" +
         std::string(severity_name(code_severity(code))) + " from " +
         std::string(area(code_text(code))) +
         "\nThe message names what was seen, the caret the place, the line `help:` what would fix "
         "it.\n";
}

std::string directives_text() {
  std::string text;
  for (const directives::DirectiveInfo& info : directives::all_directives())
    text += padded(info.keyword, 10) + std::string(info.summary) + "\n" + padded("", 10) + "  " +
            std::string(info.example) + "\n";
  return text;
}

std::string passes_text() {
  std::string text =
      padded("00", 2) + padded("build", 10) + "algorithm and schedule to a program\n";
  for (const passes::Pass& pass : passes::all_passes())
    text += padded((pass.number < 10 ? "0" : "") + std::to_string(pass.number), 2) +
            padded(pass.name, 10) + std::string(pass.summary) + "\n";
  return text;
}

constexpr std::string_view kTopics =
    "VERB         the options of a verb\n"
    "directives   what a schedule may say\n"
    "passes       what runs between a schedule and code, in order\n"
    "diagnostics  every code with its meaning\n"
    "E0101        one code\n";

class Help final : public Verb {
 public:
  void declare(Arguments& arguments) override {
    arguments.optional_positional("TOPIC", topic_, "a verb, `topics`, or one of the topics");
  }

  int run(Session& session) override {
    if (topic_.empty()) return say(session, usage(nullptr));
    if (topic_ == "topics") return say(session, std::string(kTopics));
    if (topic_ == "diagnostics") return say(session, diagnostics_text());
    if (topic_ == "directives") return say(session, directives_text());
    if (topic_ == "passes") return say(session, passes_text());
    if (const VerbInfo* verb = find_verb(topic_)) return say(session, usage(verb));
    for (Code code : all_codes())
      if (code_text(code) == topic_) return say(session, code_page(code));
    return session.usage("help: nothing is known about " + in_backticks(topic_) +
                         "; see `tilewright help topics`");
  }

 private:
  static int say(Session& session, const std::string& text) {
    session.print(text);
    return kExitOk;
  }
  std::string topic_;
};

}  // namespace

std::unique_ptr<Verb> make_help() { return std::make_unique<Help>(); }

}  // namespace tilewright::cli

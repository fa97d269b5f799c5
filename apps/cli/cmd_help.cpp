// SPDX-License-Identifier: Apache-2.0
//
// `tilewright help [TOPIC]`: verbs, and what the tables of the code say about directives, passes and
// diagnostics.
#include <algorithm>
#include <functional>

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

Json entry(std::string_view name, std::string_view summary) {
  Json out = Json::object();
  out.set("name", name);
  out.set("summary", summary);
  return out;
}

Json verbs_json() {
  Json all = Json::array();
  for (const VerbInfo& info : all_verbs()) all.push(entry(info.name, info.summary));
  return all;
}

Json directives_json() {
  Json all = Json::array();
  for (const directives::DirectiveInfo& info : directives::all_directives()) {
    Json one = entry(info.keyword, info.summary);
    one.set("example", info.example);
    all.push(std::move(one));
  }
  return all;
}

Json passes_json() {
  Json all = Json::array();
  for (const passes::Pass& pass : passes::all_passes()) {
    Json one = entry(pass.name, pass.summary);
    one.set("number", pass.number);
    all.push(std::move(one));
  }
  return all;
}

Json code_json(Code code) {
  Json out = Json::object();
  out.set("code", code_text(code));
  out.set("severity", severity_name(code_severity(code)));
  out.set("meaning", code_meaning(code));
  out.set("area", area(code_text(code)));
  return out;
}

Json diagnostics_json() {
  std::vector<Code> codes = all_codes();
  std::sort(codes.begin(), codes.end(), [](Code a, Code b) { return code_text(a) < code_text(b); });
  Json all = Json::array();
  for (Code code : codes) all.push(code_json(code));
  return all;
}

Json options_json(const VerbInfo& verb) {
  Session session;
  Arguments arguments("tilewright " + std::string(verb.name), std::string(verb.summary));
  const std::unique_ptr<Verb> made = verb.make();
  made->declare(arguments);
  session.declare(arguments);
  Json all = Json::array();
  for (const Arguments::Described& option : arguments.described()) {
    Json one = Json::object();
    one.set("names", option.names);
    if (!option.meta.empty()) one.set("value", option.meta);
    one.set("help", option.help);
    if (option.required) one.set("required", true);
    all.push(std::move(one));
  }
  return all;
}

// The topics that are lists: their text and their JSON.
struct Topic {
  std::string_view name;
  std::string_view summary;
  std::string (*text)();
  Json (*json)();
};
constexpr Topic kTopics[] = {
    {"directives", "what a schedule may say", directives_text, directives_json},
    {"passes", "what runs between a schedule and code, in order", passes_text, passes_json},
    {"diagnostics", "every code with its meaning", diagnostics_text, diagnostics_json},
};

std::string topics_text() {
  std::string text = padded("VERB", 12) + "the options of a verb\n";
  for (const Topic& topic : kTopics)
    text += padded(topic.name, 12) + std::string(topic.summary) + "\n";
  return text + padded("E0101", 12) + "one code\n";
}

Json topics_json() {
  Json all = Json::array();
  all.push(entry("VERB", "the options of a verb"));
  for (const Topic& topic : kTopics) all.push(entry(topic.name, topic.summary));
  all.push(entry("E0101", "one code"));
  return all;
}

class Help final : public Verb {
 public:
  void declare(Arguments& arguments) override {
    arguments.optional_positional("TOPIC", topic_, "a verb, `topics`, or one of the topics");
    arguments.flag("--json", json_, "print JSON instead of text");
  }

  int run(Session& session) override {
    if (topic_.empty()) return say(session, usage(nullptr), "verbs", verbs_json);
    if (topic_ == "topics") return say(session, topics_text(), "topics", topics_json);
    for (const Topic& topic : kTopics)
      if (topic_ == topic.name) return say(session, topic.text(), topic_, topic.json);
    if (const VerbInfo* verb = find_verb(topic_)) {
      const auto described = [&] {
        Json out = entry(verb->name, verb->summary);
        out.set("options", options_json(*verb));
        return out;
      };
      return say(session, usage(verb), "verb", described);
    }
    for (Code code : all_codes())
      if (code_text(code) == topic_)
        return say(session, code_page(code), "diagnostic", [&] { return code_json(code); });
    return session.usage("help: nothing is known about " + in_backticks(topic_) +
                         "; see `tilewright help topics`");
  }

 private:
  int say(Session& session, const std::string& text, std::string_view name,
          const std::function<Json()>& json) const {
    if (json_) {
      Json out = Json::object();
      out.set("version", 1);
      out.set(name, json());
      session.print_json(out);
    } else {
      session.print(text);
    }
    return kExitOk;
  }

  std::string topic_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_help() { return std::make_unique<Help>(); }

}  // namespace tilewright::cli

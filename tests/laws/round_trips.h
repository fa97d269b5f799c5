// SPDX-License-Identifier: Apache-2.0
//
// Every representation of a case, written and read back: text and JSON of the algorithm and of a Program, the
// schedule as directives, as the tree that they resolve to and as its JSON. Each function gives a message, or nothing.
#pragma once

#include "frontend/base/json.h"
#include "frontend/ir/json.h"
#include "lowering/program/json.h"
#include "schedules/tree/json.h"
#include "tests/laws/random_case.h"

namespace tilewright::laws {

// parse(print(x)) == x and print(parse(t)) == t.
template <class T, class Parse, class Print>
std::string text_round_trip(const char* what, const T& value, const std::string& text,
                            const Parse& parse, const Print& print) {
  const Source source(what, text);
  const Result<T> parsed = parse(source);
  if (!parsed.ok()) return std::string(what) + ": " + render(parsed.diagnostics(), &source) + text;
  if (!(*parsed == value)) return std::string(what) + " reads back as another\n" + text;
  if (print(*parsed) != text) return std::string(what) + " is written in two ways\n" + text;
  return {};
}

// from_json(to_json(x)) == x through the text of the JSON.
template <class T, class FromJson>
std::string json_round_trip(const char* what, const T& value, const Json& json,
                            const FromJson& from_json) {
  const Source source(what, json.dump(-1));
  const Result<Json> read = parse_json(source);
  if (!read.ok()) return std::string(what) + ": " + render(read.diagnostics(), &source);
  const Result<T> parsed = from_json(*read);
  if (!parsed.ok()) return std::string(what) + ": " + messages(parsed.diagnostics());
  return *parsed == value ? "" : std::string(what) + " reads back as another\n" + json.dump();
}

inline std::string program_round_trips(ir::Context& context, const program::Program& program) {
  std::string wrong = text_round_trip(
      "text of a program", program, program::print(program),
      [&](const Source& source) { return program::parse_program(context, source); },
      [](const program::Program& read) { return program::print(read); });
  if (!wrong.empty()) return wrong;
  return json_round_trip(
      "JSON of a program", program, program::to_json(program),
      [&](const Json& json) { return program::program_from_json(context, json); });
}

// And to_json of what is read gives the same bytes.
inline std::string schedule_json_round_trip(ir::Context& context, const ir::Algorithm& algorithm,
                                            const tree::Schedule& schedule) {
  const Json json = tree::to_json(schedule);
  std::string again;
  const std::string wrong =
      json_round_trip("JSON of a schedule", schedule, json, [&](const Json& read) {
        auto parsed = tree::schedule_from_json(context, algorithm, read);
        if (parsed.ok()) again = tree::to_json(*parsed).dump();
        return parsed;
      });
  if (!wrong.empty() || again == json.dump()) return wrong;
  return "JSON of a schedule is written in two ways\n" + json.dump() + again;
}

inline std::string case_round_trips(Case& subject) {
  ir::Context& context = subject.context;
  const ir::Algorithm& algorithm = subject.algorithm;
  const tree::Schedule& schedule = subject.random.schedule;
  std::string wrong = text_round_trip(
      "text of an algorithm", algorithm, ir::print(algorithm),
      [&](const Source& source) { return ir::parse_algorithm(context, source); },
      [](const ir::Algorithm& read) { return ir::print(read); });
  if (!wrong.empty()) return wrong;
  wrong = json_round_trip("JSON of an algorithm", algorithm, ir::to_json(algorithm),
                          [&](const Json& json) { return ir::algorithm_from_json(context, json); });
  if (!wrong.empty()) return wrong;
  const auto parse = [&](const Source& source) {
    return directives::parse_schedule(context, algorithm, source);
  };
  wrong = text_round_trip("text of a tree", schedule, directives::print(schedule), parse,
                          [](const tree::Schedule& read) { return directives::print(read); });
  if (!wrong.empty()) return wrong;
  wrong = schedule_json_round_trip(context, algorithm, schedule);
  if (!wrong.empty()) return wrong;
  // The directives resolve to the tree, and each reads back as itself.
  const std::string text = directives::print_directives(subject.random);
  wrong = text_round_trip("directives", schedule, text, parse,
                          [&](const tree::Schedule&) { return text; });
  for (const directives::Directive& directive : subject.random.applied) {
    const Source line("directive", directives::print(directive));
    TextCursor cursor(line);
    directives::Reader reader{context, cursor, &algorithm};
    const auto read = directives::parse_directive(reader);
    if (wrong.empty() && !(read && cursor.at_end() && *read == directive))
      wrong = "a directive reads back as another: " + directives::print(directive);
  }
  return wrong;
}

}  // namespace tilewright::laws

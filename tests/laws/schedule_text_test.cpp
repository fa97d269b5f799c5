// SPDX-License-Identifier: Apache-2.0
//
// Text of schedules: parse(print(s)) == s and print(parse(t)) == t for the tree form; the directives and the
// tree that they resolve to are one value; each directive reads back as itself. Of their JSON:
// from_json(to_json(s)) == s, and to_json of that has the same bytes.
#include "tests/laws/round_trips.h"

namespace tilewright {
namespace {

using directives::Directive;

TEST(ScheduleText, RoundTrips) {
  const std::uint64_t first = laws::first_seed();
  const auto cases = static_cast<std::uint64_t>(laws::num_cases(1500, 50000));
  std::set<std::size_t> kinds;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    laws::Case subject(seed);
    tree::Schedule schedule = subject.random.schedule;
    if (seed % 3 == 0) {
      const ir::Expr extent = subject.context.extent(subject.algorithm.extents[0].name);
      schedule.guards.push_back(subject.context.le(subject.context.index(3), extent));
      schedule.algorithm_hash = ir::algorithm_hash(subject.algorithm);
    }
    const std::string text = directives::print(schedule);
    const Source source("tree.tws", text);
    auto parsed = directives::parse_schedule(subject.context, subject.algorithm, source);
    ASSERT_TRUE(parsed.ok()) << subject.text() << render(parsed.diagnostics(), &source);
    ASSERT_TRUE(*parsed == schedule) << subject.text() << directives::print(*parsed);
    ASSERT_EQ(directives::print(*parsed), text) << "seed " << seed;

    // In a context of its own, so that nothing depends on the order of interning.
    ir::Context other;
    auto algorithm = ir::parse_algorithm(other, Source("a.tw", ir::print(subject.algorithm)));
    ASSERT_TRUE(algorithm.ok());
    auto again = directives::parse_schedule(other, *algorithm, source);
    ASSERT_TRUE(again.ok()) << subject.text() << render(again.diagnostics(), &source);
    ASSERT_EQ(directives::print(*again), text) << "seed " << seed;
  }
}

// The names of members, and of words that stand for a kind.
void collect(const Json& json, std::set<std::string>& out) {
  if (const Json::Array* list = json.as_array())
    for (const Json& one : *list) collect(one, out);
  if (const Json::Object* object = json.as_object())
    for (const auto& [name, value] : *object) {
      out.insert(name);
      if ((name == "kind" || name == "part") && value.as_string()) out.insert(*value.as_string());
      collect(value, out);
    }
}

TEST(ScheduleText, JsonRoundTrips) {
  const std::uint64_t first = laws::first_seed();
  const auto cases = static_cast<std::uint64_t>(laws::num_cases(1500, 50000));
  std::set<std::string> met;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    laws::Case subject(seed);
    tree::Schedule schedule = subject.random.schedule;
    if (seed % 3 == 0) {
      const ir::Expr extent = subject.context.extent(subject.algorithm.extents[0].name);
      schedule.guards.push_back(subject.context.le(subject.context.index(3), extent));
      schedule.algorithm_hash = ir::algorithm_hash(subject.algorithm);
    }
    const std::string wrong =
        laws::schedule_json_round_trip(subject.context, subject.algorithm, schedule);
    ASSERT_EQ(wrong, "") << subject.text();
    collect(tree::to_json(schedule), met);

    // In a context of its own, so that nothing depends on the order of interning.
    ir::Context other;
    auto algorithm = ir::parse_algorithm(other, Source("a.tw", ir::print(subject.algorithm)));
    ASSERT_TRUE(algorithm.ok());
    const auto again = tree::schedule_from_json(other, *algorithm, tree::to_json(schedule));
    ASSERT_TRUE(again.ok()) << subject.text() << laws::messages(again.diagnostics());
    ASSERT_EQ(directives::print(*again), directives::print(schedule)) << subject.text();
  }
  // Described instructions do not fit random reductions; tests/text/directives/json.tws has one.
  for (const char* name : {"algorithm_hash", "guards",      "algebra",   "split_reduction",
                           "defer",          "recompute",   "inline",    "split",
                           "fuse",           "at",          "stage",     "pad",
                           "swizzle",        "whole",       "quotient",  "remainder",
                           "kernel",         "in_register", "space",     "ring",
                           "async",          "keep",        "serial",    "parallel",
                           "vector",         "unrolled",    "peel",      "bind",
                           "when",           "prefetch",    "pipeline",  "unit",
                           "roles",          "lanes",       "registers", "order",
                           "distance",       "sets"})
    EXPECT_TRUE(met.contains(name)) << name << " never met";
}

TEST(ScheduleText, DirectivesAndTreeAreOneValue) {
  const std::uint64_t first = laws::first_seed();
  const auto cases = static_cast<std::uint64_t>(laws::num_cases(1500, 50000));
  std::vector<int> counts(directives::all_directives().size());
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    laws::Case subject(seed);
    const std::string text = directives::print_directives(subject.random);
    const Source source("directives.tws", text);
    auto parsed = directives::parse_schedule(subject.context, subject.algorithm, source);
    ASSERT_TRUE(parsed.ok()) << subject.text() << render(parsed.diagnostics(), &source);
    ASSERT_TRUE(*parsed == subject.random.schedule) << subject.text() << directives::print(*parsed);
    for (const Directive& directive : subject.random.applied) {
      ++counts[directive.index()];
      const Source line("line.tws", directives::print(directive));
      TextCursor cursor(line);
      directives::Reader reader{subject.context, cursor, &subject.algorithm};
      auto read = directives::parse_directive(reader);
      ASSERT_TRUE(read && cursor.at_end() && *read == directive) << line.text();
      ASSERT_EQ(directives::print(*read), line.text());
    }
  }
  // Random reductions are not those of instructions: tests/differential/instructions_test.cpp has schedules.
  for (std::size_t i = 0; i < counts.size(); ++i)
    EXPECT_TRUE(counts[i] > 0 || directives::all_directives()[i].keyword == "tensorize")
        << directives::all_directives()[i].keyword << " never applied";
}

TEST(ScheduleText, SameSeedSameSchedule) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    laws::Case a(seed);
    laws::Case b(seed);
    EXPECT_EQ(directives::print(a.random.schedule), directives::print(b.random.schedule));
  }
}

}  // namespace
}  // namespace tilewright

// SPDX-License-Identifier: Apache-2.0
//
// The JSON of a schedule, written by hand, means what the text written by hand means; every mistake in it is refused
// with its path, and none ends the process.
#include "schedules/tree/json.h"

#include <gtest/gtest.h>

#include <functional>
#include <tuple>

#include "frontend/base/render.h"
#include "frontend/ir/text.h"
#include "schedules/directives/text.h"

namespace tilewright::tree {
namespace {

constexpr const char* kAlgorithm = R"(algorithm gemm(M, N, K) {
  requires 1 <= N
  input a : f32[M, K]
  input b : f32[K, N]
  two[i, k] = a[i, k] * 2
  output c[i, j] = sum(k < K) two[i, k] * b[k, j]
})";

constexpr const char* kText = R"(schedule s for gemm on x86-64-v4 {
  guard 4 <= N
  tree {
    inline two
    nest c {
      split j by 16 as jo, ji
      for jo {
        stage b[k, j] as bp[k, row = j / 4, j % 4] pad layout swizzle(row[0:1] by k[2:3]) {
          ring 2
          for k {
            for row {
              for j_i {
                compute
              }
            }
          }
        }
        for i {
          prefetch a by 3
          for k {
            vector ji {
              compute
            }
          }
        }
      }
    }
  }
}
)";

constexpr const char* kJson = R"({
  "format": "tilewright.schedule", "version": 1,
  "name": "s", "algorithm": "gemm", "machine": "x86-64-v4",
  "guards": [{"kind": "Op", "type": "bool", "op": "Le", "args": [
    {"kind": "IntConst", "type": "index", "value": 4},
    {"kind": "Extent", "type": "index", "name": "N"}]}],
  "tree": {
    "inline": ["two"],
    "nests": [
      {"name": "bp", "at": {"nest": "c", "loop": "jo"},
       "stage": {"tensor": "b", "dims": ["k", "j"], "layout": [
         {"name": "k", "dim": "k", "part": "whole"},
         {"name": "row", "dim": "j", "part": "quotient", "factor": 4},
         {"name": "j_i", "dim": "j", "part": "remainder", "factor": 4}],
         "pad": true,
         "swizzle": [{"target": "row", "target_bit": 0, "source": "k", "source_bit": 2, "bits": 1}]},
       "steps": [], "ring": 2,
       "loops": [{"name": "k", "kind": "serial"}, {"name": "row", "kind": "serial"},
                 {"name": "j_i", "kind": "serial"}]},
      {"name": "c",
       "steps": [{"kind": "split", "loop": "j", "factor": 16, "outer": "jo", "inner": "ji"}],
       "loops": [{"name": "jo", "kind": "serial"},
                 {"name": "i", "kind": "serial", "prefetch": [{"tensor": "a", "distance": 3}]},
                 {"name": "k", "kind": "serial"}, {"name": "ji", "kind": "vector"}]}]}
})";

struct Subject {
  ir::Context context;
  ir::Algorithm algorithm = ir::parse_algorithm(context, Source("gemm.tw", kAlgorithm)).value();
  Result<Schedule> read(const std::string& text) {
    const auto json = parse_json(Source("s.json", text));
    if (!json.ok()) return json.failure();
    return schedule_from_json(context, algorithm, *json);
  }
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(ScheduleJson, MeansWhatTheTextMeans) {
  Subject s;
  const Source source("s.tws", kText);
  const auto text = directives::parse_schedule(s.context, s.algorithm, source);
  ASSERT_TRUE(text.ok()) << render(text.diagnostics(), &source);
  const auto json = s.read(kJson);
  ASSERT_TRUE(json.ok()) << render(json.diagnostics(), nullptr);
  EXPECT_TRUE(*json == *text) << directives::print(*json);
  EXPECT_EQ(directives::print(*json), kText);
  EXPECT_EQ(to_json(*text), *parse_json(Source("s.json", kJson)));
}

// The order of the list need not be that of the text.
TEST(ScheduleJson, NestsAreBroughtIntoOrder) {
  Subject s;
  const std::string first = R"({"name": "c",
       "steps": [{"kind": "split", "loop": "j", "factor": 16, "outer": "jo", "inner": "ji"}],
       "loops": [{"name": "jo", "kind": "serial"},
                 {"name": "i", "kind": "serial", "prefetch": [{"tensor": "a", "distance": 3}]},
                 {"name": "k", "kind": "serial"}, {"name": "ji", "kind": "vector"}]})";
  std::string text = replaced(kJson, ",\n      " + first, "");
  text = replaced(text, "\"nests\": [", "\"nests\": [" + first + ", ");
  const auto read = s.read(text);
  ASSERT_TRUE(read.ok()) << render(read.diagnostics(), nullptr);
  EXPECT_EQ(directives::print(*read), kText);
}

struct Mistake {
  std::string from, to, message, path;
};

TEST(ScheduleJson, RefusesMistakesWithTheirPath) {
  const std::string name = "a name is needed here";
  const std::string no_dot = "a name without a dot is needed here";
  const std::string object = "an object is needed here";
  const std::vector<Mistake> mistakes = {
      {"tilewright.schedule", "tilewright.program", "this is not `tilewright.schedule`", ""},
      {"\"version\": 1", "\"version\": 2", "version 2 is not known", ""},
      {"\"name\": \"s\"", "\"name\": \"s t\"", name, "name"},
      {"\"name\": \"s\"", "\"name\": \"s.t\"", no_dot, "name"},
      {"\"name\": \"s\"", "\"name\": 3", name, "name"},
      {"\"name\": \"s\", ", "", "the member `name` is missing", ""},
      {"\"name\": \"s\"", "\"name\": \"s\", \"nmae\": \"s\"", "`nmae` is no member here", ""},
      {"x86-64-v4", "x86 64", "a machine such as `x86-64-v4`", "machine"},
      {"x86-64-v4", "x86{", "a machine such as `x86-64-v4`", "machine"},
      {"x86-64-v4", "x86#1", "a machine such as `x86-64-v4`", "machine"},
      {"x86-64-v4", "", "a machine such as `x86-64-v4`", "machine"},
      {"x86-64-v4", "\\u0001", "a machine such as `x86-64-v4`", "machine"},
      {"\"name\": \"N\"", "\"name\": \"Z\"", "`Z` is no extent of the algorithm", "guards.0"},
      {"\"Extent\", \"type\": \"index\", \"name\": \"N\"",
       "\"Var\", \"type\": \"index\", \"name\": \"N\"", "a condition is over the sizes alone",
       "guards.0"},
      {"\"value\": 4", "\"value\": 4, \"note\": 4", "`note` is no member here", "guards.0"},
      {"\"op\": \"Le\"", "\"op\": \"Add\"", "the type is not that of the value", "guards.0"},
      {"\"tree\": {", "\"tree\": [], \"rest\": {", "`rest` is no member here", ""},
      {"\"inline\": [\"two\"]", "\"inline\": \"two\"", "a list is needed here", "tree.inline"},
      {"\"inline\": [\"two\"]", "\"inline\": [\"\"]", name, "tree.inline.0"},
      {"\"inline\"", "\"sets\": [{\"members\": []}], \"inline\"",
       "a list of at least one is needed here", "tree.sets.0.members"},
      {"\"at\": {", "\"at\": [], \"x\": {", "`x` is no member here", "tree.nests.0"},
      {"\"at\": {\"nest\": \"c\", \"loop\": \"jo\"}", "\"at\": null", object, "tree.nests.0.at"},
      {"\"nest\": \"c\"", "\"nest\": \"bp\"", "`bp` stands in a nest that stands in itself",
       "tree.nests.0"},
      {"\"name\": \"bp\"", "\"name\": \"bp.x\"", no_dot, "tree.nests.0.name"},
      {"\"name\": \"bp\"", "\"name\": \"c\"", "`c` has two nests", "tree.nests.1"},
      {"\"dims\": [\"k\", \"j\"]", "\"dims\": [\"k\", \"j.x\"]", no_dot, "tree.nests.0.stage.dims"},
      {"\"whole\"", "\"half\"", "one of `whole`, `quotient`, `remainder` is needed here",
       "tree.nests.0.stage.layout.0.part"},
      {"\"whole\"", "\"whole\", \"factor\": 2", "a whole dimension has no factor",
       "tree.nests.0.stage.layout.0"},
      {"\"factor\": 4", "\"factor\": 0", "a number from 1 to 2147483648 is needed here",
       "tree.nests.0.stage.layout.1.factor"},
      {"\"pad\": true", "\"pad\": 1", "`true` or `false` is needed here", "tree.nests.0.stage.pad"},
      {"\"source_bit\": 2", "\"source_bit\": 4294967298", "a number from 0 to 16 is needed here",
       "tree.nests.0.stage.swizzle.0.source_bit"},
      {"\"bits\": 1", "\"bits\": 0", "a number from 1 to 16 is needed here",
       "tree.nests.0.stage.swizzle.0.bits"},
      {"\"ring\": 2", "\"ring\": 9223372036854775807",
       "a number from 1 to 2147483648 is needed here", "tree.nests.0.ring"},
      {"\"ring\": 2", "\"ring\": 2.5", "an integer is needed here", "tree.nests.0.ring"},
      {"\"ring\": 2", "\"space\": \"register\"",
       "one of `shared`, `tensor`, `scratchpad`, `accumulator` is needed here",
       "tree.nests.0.space"},
      {"\"ring\": 2", "\"tensorize\": {\"instruction\": \"x\", \"loops\": \"k\"}",
       "a list is needed here", "tree.nests.0.tensorize.loops"},
      {"\"kind\": \"split\"", "\"kind\": \"cut\"",
       "a step of kind `split` or `fuse` is needed here", "tree.nests.1.steps.0"},
      {"\"kind\": \"split\", ", "", "the member `kind` is missing", "tree.nests.1.steps.0"},
      {"\"factor\": 16", "\"factor\": -1", "a number from 1 to 2147483648 is needed here",
       "tree.nests.1.steps.0.factor"},
      {"\"distance\": 3", "\"distance\": 0", "a number from 1 to 2147483648 is needed here",
       "tree.nests.1.loops.1.prefetch.0.distance"},
      {"\"prefetch\": [{",
       "\"roles\": [{\"name\": \"r\", \"statements\": [], \"scope\": \"warp\"}], "
       "\"prefetch\": [{",
       "a list of at least one is needed here", "tree.nests.1.loops.1.roles.0.statements"},
      {"\"prefetch\": [{", "\"bind\": \"none\", \"prefetch\": [{",
       "one of `lane`, `warp`, `warpgroup`, `block`, `pair`, `cluster`, `core`, `device` is needed "
       "here",
       "tree.nests.1.loops.1.bind"},
      {"\"kind\": \"vector\"", "\"kind\": \"simd\"",
       "one of `serial`, `parallel`, `vector`, `unrolled` is needed here",
       "tree.nests.1.loops.3.kind"},
      {"\"inline\"", "\"algebra\": [{\"kind\": \"undo\"}], \"inline\"",
       "a step of kind `split_reduction`, `defer` or `recompute` is needed here", "tree.algebra.0"},
  };
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.from + " -> " + mistake.to);
    Subject s;
    const auto read = s.read(replaced(kJson, mistake.from, mistake.to));
    ASSERT_FALSE(read.ok());
    const Diagnostic& d = read.diagnostics()[0];
    EXPECT_EQ(d.message.substr(0, mistake.message.size()), mistake.message);
    EXPECT_EQ(d.code, Code::BadJson);
    if (mistake.path.empty()) continue;
    ASSERT_EQ(d.evidence.size(), 1U);
    EXPECT_EQ(d.evidence[0].second, mistake.path);
  }
}

// What has the form of a schedule is judged as the text is.
TEST(ScheduleJson, RefusesWhatTheTextReaderRefuses) {
  const std::vector<std::tuple<std::string, std::string, Code, std::string>> cases = {
      {"\"algorithm\": \"gemm\"", "\"algorithm\": \"other\"", Code::ScheduleHeader,
       "a schedule for `other`, used with `gemm`"},
      {"\"guards\"", "\"algorithm_hash\": \"00\", \"guards\"", Code::ScheduleHeader,
       "a schedule for another content of `gemm`, used with this one"},
      {"\"op\": \"Le\", \"args\": [",
       "\"op\": \"Lt\", \"args\": [\n{\"kind\": \"Extent\", \"type\": "
       "\"index\", \"name\": \"N\"}, {\"kind\": \"IntConst\", \"type\": \"index\", \"value\": 1}]},"
       "{\"kind\": \"Op\", \"type\": \"bool\", \"op\": \"Le\", \"args\": [",
       Code::GuardContradiction, "no sizes that the algorithm allows satisfy the guard `N < 1`"},
      {"\"loop\": \"jo\"", "\"loop\": \"z\"", Code::TreeMalformed, "`c.z` is not a loop"},
      {"\"nest\": \"c\"", "\"nest\": \"z\"", Code::TreeMalformed, "`z.jo` is not a loop"},
      {"{\"name\": \"ji\", \"kind\": \"vector\"}", "{\"name\": \"jo\", \"kind\": \"serial\"}",
       Code::TreeMalformed, "`c.jo` is not a loop of the nest, or stands twice"},
      {"\"inline\": [\"two\"]", "\"inline\": [\"two\", \"two\"]", Code::TreeMalformed,
       "an equation is inlined twice, or the list is not sorted"},
      {"\"inline\"",
       "\"algebra\": [{\"kind\": \"recompute\", \"equation\": \"z\", \"reader\": "
       "\"c\"}], \"inline\"",
       Code::AlgebraRefused, ""},
  };
  for (const auto& [from, to, code, message] : cases) {
    SCOPED_TRACE(from + " -> " + to);
    Subject s;
    const auto read = s.read(replaced(kJson, from, to));
    ASSERT_FALSE(read.ok());
    const Diagnostic& d = read.diagnostics()[0];
    EXPECT_EQ(d.code, code) << d.message;
    EXPECT_EQ(d.message.substr(0, message.size()), message);
    EXPECT_TRUE(d.span.none());
  }
}

// Any part of the JSON may be of any sort.
TEST(ScheduleJson, AnyValueInAnyPlaceIsReadOrRefused) {
  const Json whole = *parse_json(Source("s.json", kJson));
  const Json strange[] = {Json(),    Json(true),    Json(-1),       Json(1e300),
                          Json("x"), Json::array(), Json::object(), Json(Json::Array{Json()})};
  int tried = 0;
  std::function<void(const Json&, const std::function<Json(Json)>&)> visit =
      [&](const Json& at, const std::function<Json(Json)>& rebuild) {
        for (const Json& one : strange) {
          Subject s;
          ++tried;
          const auto read = schedule_from_json(s.context, s.algorithm, rebuild(one));
          if (!read.ok()) {
            EXPECT_FALSE(read.diagnostics()[0].message.empty());
            continue;
          }
          const auto again = schedule_from_json(s.context, s.algorithm, to_json(*read));
          ASSERT_TRUE(again.ok());
          EXPECT_TRUE(*again == *read);
          const Source text("s.tws", directives::print(*read));
          const auto from_text = directives::parse_schedule(s.context, s.algorithm, text);
          ASSERT_TRUE(from_text.ok()) << text.text();
          EXPECT_TRUE(*from_text == *read);
        }
        if (const Json::Array* list = at.as_array())
          for (std::size_t i = 0; i < list->size(); ++i)
            visit((*list)[i], [&, i](Json value) {
              Json::Array copy = *list;
              copy[i] = std::move(value);
              return rebuild(Json(std::move(copy)));
            });
        if (const Json::Object* object = at.as_object())
          for (std::size_t i = 0; i < object->size(); ++i)
            visit((*object)[i].second, [&, i](Json value) {
              Json::Object copy = *object;
              copy[i].second = std::move(value);
              return rebuild(Json(std::move(copy)));
            });
      };
  visit(whole, [](Json value) { return value; });
  EXPECT_GT(tried, 500);
}

// Chains of nests are refused before anything recurses along them.
TEST(ScheduleJson, RefusesDeepChainsAndTwins) {
  for (const bool twins : {false, true}) {
    Subject s;
    Json json = *parse_json(Source("s.json", kJson));
    Json::Array nests;
    for (int i = 0; i < 20000; ++i) {
      Json nest = Json::object();
      nest.set("name", twins ? "n" : "n" + std::to_string(i));
      Json at = Json::object();
      at.set("nest", twins ? "n" : i ? "n" + std::to_string(i - 1) : "c");
      at.set("loop", "k");
      nest.set("at", std::move(at));
      nest.set("steps", Json::array());
      Json loop = Json::object();
      loop.set("name", "k");
      loop.set("kind", "serial");
      nest.set("loops", Json(Json::Array{loop}));
      nests.push_back(std::move(nest));
    }
    Json tree = Json::object();
    tree.set("nests", Json(std::move(nests)));
    Json::Object members = *json.as_object();
    members.back().second = std::move(tree);
    const auto read = schedule_from_json(s.context, s.algorithm, Json(std::move(members)));
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.diagnostics()[0].message,
              twins ? "`n` has two nests" : "nests and loops of more than 1024 levels");
  }
}

}  // namespace
}  // namespace tilewright::tree

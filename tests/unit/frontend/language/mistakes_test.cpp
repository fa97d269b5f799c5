// SPDX-License-Identifier: Apache-2.0
//
// Every mistake is reported at the line of this file that makes it. Lines are remembered beside it.
#include <gtest/gtest.h>

#include "frontend/language/build.h"

namespace tilewright::language {
namespace {

struct Seen {
  std::string code;
  unsigned line = 0;
  friend bool operator==(const Seen&, const Seen&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Seen& seen) {
    return out << seen.code << " at line " << seen.line;
  }
};

std::vector<Seen> seen(const Algorithm& algorithm) {
  std::vector<Seen> out;
  auto text = algorithm.text();
  EXPECT_FALSE(text.ok());
  for (const Diagnostic& d : text.diagnostics()) {
    EXPECT_TRUE(d.place.file.ends_with("mistakes_test.cpp")) << render({d});
    EXPECT_GT(d.place.column, 0U);
    EXPECT_FALSE(d.remedy.empty());
    out.push_back({d.code, d.place.line});
  }
  return out;
}

using Lines = std::vector<Seen>;

struct Mistakes : testing::Test {
  Algorithm a{"mistakes"};
  Extent N{a, "N"}, M{a, "M"};
  Input x{a, "x", f32, {N}};
  Input m{a, "m", f32, {M, N}};
  Input n{a, "n", i32, {N}};
  Output y{a, "y"};
  Var i{"i"}, j{"j"}, k{"k"};
};

TEST_F(Mistakes, MixedTypesPointAtTheOperator) {
  y(i) = x(i) +  // the operator of the next line is the wrong one
         x(i) * n(i);
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ(seen(a), (Lines{{"E0203", line}}));
}

TEST_F(Mistakes, AnAlgorithmThatCallsItself) {
  call({y}, a, {{"x", x}});
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ(seen(a)[0], (Seen{"E0243", line}));
}

TEST_F(Mistakes, TwoAlgorithmsThatCallEachOther) {
  Algorithm other("other");
  Extent L(other, "L");
  Input in(other, "in", f32, {L});
  Output out(other, "out");
  call({y}, other, {{"in", x}});
  call({out}, a, {{"x", in}});
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ(seen(other)[0], (Seen{"E0243", line}));
}

TEST_F(Mistakes, WrongRank) {
  y(i) = x(i) + m(i);
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ(seen(a), (Lines{{"E0205", line}}));
}

TEST_F(Mistakes, TensorUsedAsOneValue) {
  y(i) = x(i) + m;
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ(seen(a), (Lines{{"E0218", line}}));
}

TEST_F(Mistakes, UnknownIndex) {
  y(i) = x(k);
  const unsigned line = __LINE__ - 1;
  const Lines found = seen(a);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.back(), (Seen{"E0201", line}));
}

TEST_F(Mistakes, RangeThatDoesNotFollow) {
  y(i) = x(i + 1);
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ(seen(a), (Lines{{"E0209", line}}));
}

TEST_F(Mistakes, ReadBeforeDefinitionAndNeverDefined) {
  Tensor t(a, "t");
  const unsigned declared = __LINE__ - 1;
  y(i) = x(i) + t(i);
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ(seen(a), (Lines{{"E0121", line}, {"E0122", declared}}));
}

TEST_F(Mistakes, ReadsItself) {
  y(i) = x(i) + y(i);
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ(seen(a), (Lines{{"E0121", line}}));
}

TEST_F(Mistakes, DefinedTwice) {
  y(i) = x(i);
  const unsigned first = __LINE__ - 1;
  y(i) = x(i) * 2;
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ(seen(a), (Lines{{"E0202", line}}));
  EXPECT_EQ(a.text().diagnostics()[0].notes.at(0).place.line, first);
}

TEST_F(Mistakes, TwoTensorsOfOneName) {
  Tensor t(a, "x");
  const unsigned line = __LINE__ - 1;
  t(i) = x(i);
  y(i) = x(i);
  EXPECT_EQ(seen(a), (Lines{{"E0202", line}}));
}

TEST_F(Mistakes, InputsAreNotDefined) {
  x(i) = 1.0;
  const unsigned line = __LINE__ - 1;
  y(i) = x(i);
  EXPECT_EQ(seen(a), (Lines{{"E0125", line}}));
}

TEST_F(Mistakes, OtherAlgorithm) {
  Algorithm other("other");
  Extent L(other, "L");
  Input z(other, "z", f32, {L});
  y(i) = x(i) + z(i);
  const unsigned first = __LINE__ - 1;
  Output w(a, "w");
  w(i < L) = x(i);
  const unsigned second = __LINE__ - 1;
  EXPECT_EQ(seen(a), (Lines{{"E0120", first}, {"E0120", second}}));
}

TEST_F(Mistakes, EmptyNames) {
  Algorithm nameless("");
  const unsigned algorithm = __LINE__ - 1;
  Extent e(nameless, "");
  const unsigned extent = __LINE__ - 1;
  Input in(nameless, "", f32, {3});
  const unsigned input = __LINE__ - 1;
  Var v("");
  Output out(nameless, "");
  const unsigned output = __LINE__ - 1;
  out(v) = in(v);
  const unsigned index = __LINE__ - 1;
  EXPECT_EQ(seen(nameless), (Lines{{"E0107", algorithm},
                                   {"E0107", extent},
                                   {"E0107", input},
                                   {"E0107", output},
                                   {"E0107", index}}));
}

TEST_F(Mistakes, NamesThatAreNone) {
  for (const char* name :
       {"two words", "1st", "i < N] = 0 #", "sum", "output", "f32", "a..b", "\n"}) {
    Algorithm b("b");
    Input in(b, "in", f32, {3});
    Output out(b, name);
    const unsigned line = __LINE__ - 1;
    out(i) = in(i);
    EXPECT_EQ(seen(b), (Lines{{"E0107", line}})) << name;
  }
}

TEST_F(Mistakes, EmptyExpression) {
  Expr nothing;
  y(i) = x(i) + nothing;
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ(seen(a), (Lines{{"E0123", line}}));
  Algorithm b("b");
  Output z(b, "z");
  z() = nothing;
  const unsigned whole = __LINE__ - 1;
  EXPECT_EQ(seen(b), (Lines{{"E0123", whole}}));
}

TEST_F(Mistakes, LeftSides) {
  y(i + 1) = x(i);
  const unsigned sum = __LINE__ - 1;
  Output z(a, "z"), w(a, "w"), v(a, "v");
  z(0) = x(0);
  const unsigned number = __LINE__ - 1;
  w(1 <= i && i < N) = x(i);
  const unsigned lower = __LINE__ - 1;
  v(i < N, i < N) = x(i);
  const unsigned twice = __LINE__ - 1;
  EXPECT_EQ(seen(a),
            (Lines{{"E0124", sum}, {"E0124", number}, {"E0124", lower}, {"E0202", twice}}));
}

TEST_F(Mistakes, FoldsInsideExpressionsAndOverNoVariable) {
  y(i) = x(i) / sum(k < N, x(k));
  const unsigned inside = __LINE__ - 1;
  Output z(a, "z"), w(a, "w"), u(a, "u");
  z() = sum(N < M, x(0));
  const unsigned no_range = __LINE__ - 1;
  RDom bad(x(0) < 3.0);
  w() = sum(bad, x(bad));
  const unsigned no_variable = __LINE__ - 1;
  u() = sum({}, x(0));
  const unsigned nothing = __LINE__ - 1;
  const Lines found = seen(a);
  ASSERT_EQ(found.size(), 5U) << render(a.text().diagnostics());
  EXPECT_EQ(found[0], (Seen{"E0210", inside}));
  EXPECT_EQ(found[1], (Seen{"E0127", no_range}));
  EXPECT_EQ(found[2].code, "E0127");
  EXPECT_EQ(found[3], (Seen{"E0127", no_variable}));
  EXPECT_EQ(found[4].line, nothing);
}

TEST_F(Mistakes, UnknownTypes) {
  Input z(a, "z", Type("f33"), {N});
  const unsigned input = __LINE__ - 1;
  y(i) = Type("float")(x(i));
  const unsigned call = __LINE__ - 1;
  EXPECT_EQ(seen(a), (Lines{{"E0126", input}, {"E0126", call}}));
}

TEST_F(Mistakes, LiteralsThatDoNotFit) {
  y(i) = n(i) + 0.5;
  const unsigned half = __LINE__ - 1;
  Output z(a, "z"), w(a, "w");
  z(i) = n(i) + 3000000000;
  const unsigned large = __LINE__ - 1;
  w() = 0.5;
  const unsigned untyped = __LINE__ - 1;
  EXPECT_EQ(seen(a), (Lines{{"E0208", half}, {"E0208", large}, {"E0207", untyped}}));
}

TEST_F(Mistakes, RequirementsShapesAndExtents) {
  a.require(n(0) == N);
  const unsigned read = __LINE__ - 1;
  a.require(N + 1);
  const unsigned number = __LINE__ - 1;
  y(i < N) = x(i);
  const Lines found = seen(a);
  ASSERT_EQ(found.size(), 2U) << render(a.text().diagnostics());
  EXPECT_EQ(found[0], (Seen{"E0215", read}));
  EXPECT_EQ(found[1], (Seen{"E0216", number}));
  Algorithm b("b");
  Extent L(b, "L", {.min = 3, .max = 2});
  const unsigned range = __LINE__ - 1;
  Extent K(b, "K");
  Input w(b, "w", f32, {L * K});
  const unsigned product = __LINE__ - 1;
  Output out(b, "out");
  out() = w(0);
  EXPECT_EQ(seen(b), (Lines{{"E0214", range}, {"E0211", product}}));
}

TEST_F(Mistakes, NoOutputPointsAtTheAlgorithm) {
  Algorithm b("b");
  const unsigned line = __LINE__ - 1;
  Input in(b, "in", f32, {3});
  EXPECT_EQ(seen(b), (Lines{{"E0213", line}}));
}

TEST_F(Mistakes, AllAreCollected) {
  Tensor t(a, "t");
  t(i) = x(i) + n(i);
  const unsigned first = __LINE__ - 1;
  y(i) = m(i);
  const unsigned second = __LINE__ - 1;
  Output z(a, "z");
  z(i) = t(i) * 2;  // of a faulty tensor: said once, above
  EXPECT_EQ(seen(a), (Lines{{"E0203", first}, {"E0205", second}}));
}

Expr mixed(const Input& x, const Input& n, const Var& i) { return x(i) + n(i); }
constexpr unsigned kMixedLine = __LINE__ - 1;

TEST_F(Mistakes, InAFunctionOfTheUserNameBothPlaces) {
  y(i) = mixed(x, n, i);
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ(seen(a), (Lines{{"E0203", kMixedLine}}));
  const Diagnostic d = a.text().diagnostics()[0];
  ASSERT_FALSE(d.notes.empty());
  EXPECT_EQ(d.notes.back().place.line, line);
  EXPECT_EQ(d.notes.back().text, "in the definition of `y`");
}

TEST_F(Mistakes, DeepAndLargeExpressionsEndInADiagnostic) {
  Expr deep = x(i);
  for (int level = 0; level < 1'000'000; ++level) deep = deep + 1;
  const unsigned line = __LINE__ - 1;
  y(i) = deep;
  EXPECT_EQ(seen(a), (Lines{{"E0104", line}}));
  Algorithm b("b");
  Input z(b, "z", f32, {3});
  Output w(b, "w");
  Expr large = z(i);
  for (int level = 0; level < 60; ++level) large = large * large;
  const unsigned doubled = __LINE__ - 1;
  w(i) = large;
  EXPECT_EQ(seen(b), (Lines{{"E0128", doubled}}));
}

TEST_F(Mistakes, DepthIsThatOfText) {
  Expr deep = x(i);
  for (int level = 0; level < 254; ++level) deep = deep + 1;
  y(i) = deep;
  EXPECT_TRUE(a.text().ok()) << render(a.text().diagnostics());
  Output z(a, "z");
  z(i) = deep + 1;
  ASSERT_FALSE(a.text().ok());
  EXPECT_EQ(a.text().diagnostics()[0].code, "E0104");
}

TEST_F(Mistakes, RenderedForPeople) {
  y(i) = x(i) + n(i);
  const unsigned line = __LINE__ - 1;
  Diagnostic d = a.text().diagnostics().at(0);
  d.place.file = "user.cpp";
  d.place.column = 7;
  for (Note& note : d.notes) note.place = {"user.cpp", line, 0};
  const std::string at = "user.cpp:" + std::to_string(line) + ":";
  EXPECT_EQ(render({d}), at + "7: error: `+` of `f32` and `i32` [E0203]\n" +  //
                             at + " note: this is `f32`\n" + at + " note: this is `i32`\n" +
                             "  help: convert one side, as in `f32(...)`\n");
}

TEST(Evaluate, GivesWhatTheEquationsSay) {
  Algorithm a("matvec");
  Extent M(a, "M"), N(a, "N");
  Input m(a, "m", f32, {M, N + 1}), v(a, "v", f32, {N + 1});
  Var i("i"), k("k");
  Output y(a, "y"), size(a, "size");
  y(i) = sum(k < N + 1, m(i, k) * v(k));
  size() = i64(N);
  auto run = a.evaluate({{"m", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"v", {{3}, {1, 10, 100}}}});
  ASSERT_TRUE(run.ok()) << render(run.diagnostics());
  EXPECT_EQ(run->at("y").shape, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(run->at("y").values, (std::vector<double>{321, 654}));
  EXPECT_EQ(run->at("size").values, (std::vector<double>{2}));
}

TEST(Evaluate, SizesThatNoShapeGives) {
  Algorithm a("powers");
  Extent N(a, "N");
  Var i("i");
  Output y(a, "y", i32);
  y(i < N) = i32(i * i);
  auto run = a.evaluate({}, {{"N", 4}});
  ASSERT_TRUE(run.ok()) << render(run.diagnostics());
  EXPECT_EQ(run->at("y").values, (std::vector<double>{0, 1, 4, 9}));
  auto without = a.evaluate({});
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.diagnostics()[0].code, "E0801");
}

TEST(Evaluate, RefusesWrongInputs) {
  Algorithm a("bytes");
  Extent N(a, "N");
  Input x(a, "x", i8, {N});
  Output y(a, "y");
  Var i("i");
  y(i) = x(i);
  EXPECT_EQ(a.evaluate({}, {{"N", 1}}).diagnostics().at(0).code, "E0802");
  EXPECT_EQ(a.evaluate({{"x", {{2}, {1}}}}).diagnostics().at(0).code, "E0802");
  EXPECT_EQ(a.evaluate({{"x", {{-1}, {}}}}).diagnostics().at(0).code, "E0802");
  EXPECT_EQ(a.evaluate({{"x", {{1}, {128}}}}).diagnostics().at(0).code, "E0802");
  EXPECT_EQ(a.evaluate({{"x", {{1}, {0.5}}}}).diagnostics().at(0).code, "E0802");
  EXPECT_EQ(a.evaluate({{"x", {{1, 1}, {1}}}}, {{"N", 1}}).diagnostics().at(0).code, "E0802");
  EXPECT_TRUE(a.evaluate({{"x", {{1}, {-128}}}}).ok());
}

TEST(Evaluate, AReadOutOfBoundsNamesTheLineOfTheEquation) {
  Algorithm a("beyond");
  Extent N(a, "N");
  Input x(a, "x", f32, {N});
  Output y(a, "y");
  Var i("i");
  y(i < N) = x(i + 1);
  const unsigned line = __LINE__ - 1;
  auto run = a.evaluate({{"x", {{2}, {1, 2}}}});
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.diagnostics()[0].code, "E0803");
  EXPECT_EQ(run.diagnostics()[0].place.line, line);
}

}  // namespace
}  // namespace tilewright::language

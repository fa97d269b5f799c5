// SPDX-License-Identifier: Apache-2.0
//
// One mistake per row: the code, the place, a part of the message; and every one says what would help.
#include <gtest/gtest.h>

#include <set>

#include "frontend/base/render.h"
#include "frontend/ir/text.h"

namespace tilewright::ir {
namespace {

struct Mistake {
  const char* text;
  const char* code;
  unsigned line;
  unsigned column;
  const char* message;
};

// `$` stands for a body around the interesting statement, which is then on line 4.
const Mistake kMistakes[] = {
    {"", "E0101", 1, 1, "expected `algorithm` at the beginning, found the end of the text"},
    {"algorithm", "E0101", 1, 10, "expected the name of the algorithm"},
    {"algorithm t(M) {", "E0101", 1, 17, "expected `}` to end the algorithm"},
    {"algorithm t(M, ) { output y[i < M] = i }", "E0101", 1, 16, "the name of an extent"},
    {"algorithm t(M) { output y[i < M] = i } z", "E0101", 1, 40, "expected the end of the text"},
    {"$output y[i] = x[i] +", "E0101", 5, 1, "expected an expression, found `}`"},
    {"$output y[i] = sum x[i]", "E0101", 4, 19, "expected `(` after `sum`, found `x`"},
    {"$output y[i] = sum(x[i])", "E0101", 4, 15, "`sum` without ranges"},
    {"$input z f32[N]", "E0101", 4, 9, "expected `:` after the name"},
    {"$input z : f31[N]", "E0101", 4, 11, "expected a type"},
    {"$output y[i] = x[i] \x01", "E0102", 4, 20, "`\\x01` belongs to no token"},
    {"algorithm t(M max 9223372036854775808) { output y[i < M] = i }", "E0103", 1, 19, "64 bits"},
    {"$output y[i] = 12ab + x[i]", "E0103", 4, 15, "`12ab` is not a number"},
    {"$output y[i < N] = i + 99999999999999999999", "E0103", 4, 23, "does not fit `index`"},
    {"algorithm sum(M) { output y[i < M] = i }", "E0107", 1, 11, "`sum` is a word"},
    {"$output exp[i < N] = i", "E0107", 4, 8, "`exp` is a word of the language"},
    {"$output y[i] = output", "E0101", 4, 15, "expected an expression, found `output`"},
    {"$output y[i] = z[i]", "E0201", 4, 15, "`z` is not declared here"},
    {"$output y[i < N] = x[j]", "E0201", 4, 21, "`j` is not declared here"},
    {"$output y[i] = expo(x[i])", "E0201", 4, 15, "`expo` is no function"},
    {"$output x[i] = x[i]", "E0202", 4, 8, "`x` is declared twice"},
    {"$output y[N < N] = N", "E0202", 4, 10, "`N` is declared twice"},
    {"$output y[i] = sum(i < N) x[i]", "E0202", 4, 19, "`i` is declared twice"},
    {"$output y[i] = x[i] + i", "E0203", 4, 15, "`+` of `f32` and `index`"},
    {"$output y[i < N] = 0 <= i < N", "E0203", 4, 19, "`<` of `bool` and `index`"},
    {"$output y[i] = select(m[i], x[i], n[i])", "E0203", 4, 15, "`select` of `f32` and `i32`"},
    {"$output y[i] = exp(n[i])", "E0204", 4, 15, "`exp` takes floats, found `i32`"},
    {"$output y[i] = x[i] % x[i]", "E0204", 4, 15, "takes `index` and integers"},
    {"$output y[i] = m[i] + m[i]", "E0204", 4, 15, "takes numbers, found `bool`"},
    {"$output y[i] = x[i] && x[i]", "E0204", 4, 15, "takes `bool`, found `f32`"},
    {"$output y[i] = round_to(i32, x[i])", "E0204", 4, 24, "grid of a float type"},
    {"$output y[i < N] = sum(k < N) m[k]", "E0204", 4, 30, "folds numbers, found `bool`"},
    {"$output y[i < N] = x[i, i]", "E0205", 4, 19, "`x` has 1 indices, found 2"},
    {"$output y[i] = max(x[i])", "E0206", 4, 15, "`max` takes 2 arguments, found 1"},
    {"$output y[i] = select(m[i], x[i])", "E0206", 4, 15, "`select` takes 3"},
    {"$output y[i < N] = 0.5", "E0207", 4, 19, "what type `0.5` has"},
    {"$output y[i] = n[i] + 0.5", "E0208", 4, 22, "`0.5` is no integer"},
    {"$output y[i < N] : i8 = 128", "E0208", 4, 24, "`128` does not fit `i8`"},
    {"$output y[i < N] : f16 = 65520", "E0208", 4, 25, "`65520` does not fit `f16`"},
    {"$output y[i] = x[i + 1]", "E0209", 4, 10, "the range of `i` does not follow"},
    {"$output y[i] = x[i] + w[i]", "E0209", 4, 10, "the uses of `i` have different ranges"},
    {"$output y[i] = x[i] + sum(k < N) x[k]", "E0210", 4, 22, "`sum` stands inside an expression"},
    {"$output y[i < N] = x[i * i]", "E0211", 4, 21, "the index is not affine"},
    {"$output y[i < N] = x[index(n[i])]", "E0239", 4, 21, "the index depends on data"},
    {"$output y[i < N * N] = i", "E0211", 4, 14, "the extent is not affine"},
    {"$output y[i < N] = sum(k < i * i) x[k]", "E0211", 4, 27, "the bound is not affine"},
    {"$output y[i < N] = i / 0", "E0212", 4, 19, "`/` by the constant zero"},
    {"$output y[i] = n[i] % 0", "E0212", 4, 15, "`%` by the constant zero"},
    {"$y[i] = x[i]", "E0213", 0, 0, "the algorithm has no output"},
    {"algorithm t(M min 3 max 2) { output y[i < M] = i }", "E0214", 1, 13, "no value of `M`"},
    {"algorithm t(M min -1) { output y[i < M] = i }", "E0214", 1, 13, "may be negative"},
    {"algorithm t(M multiple_of 0) { output y[i < M] = i }", "E0214", 1, 13, "not positive"},
    {"algorithm t(M min 5 max 7 multiple_of 4) { output y[i < M] = i }", "E0214", 1, 13,
     "no value"},
    {"$requires x[0] < 1", "E0215", 4, 10, "`x` is no extent"},
    {"$output y[i < n[0]] = i", "E0215", 4, 14, "`n` is no extent"},
    {"$output y[i] : i32 = x[i]", "E0216", 4, 21, "has type `f32`, but `y` is declared `i32`"},
    {"$output y[i < N] = x[x[i]]", "E0216", 4, 21, "the index has type `f32`"},
    {"$output y[i] = select(x[i], x[i], x[i])", "E0216", 4, 22, "the condition has type `f32`"},
    {"$requires N + 1", "E0216", 4, 10, "the requirement has type `index`"},
    {"$output y[i] = bool(x[i])", "E0217", 4, 15, "no conversion from `f32` to `bool`"},
    {"$output y[i < N] = x", "E0218", 4, 19, "`x` is a tensor with 1 indices"},
    {"$output y[i < N] = N[i]", "E0218", 4, 19, "`N` is an extent, which takes no indices"},
    {"$output y[i < N] = i[0]", "E0218", 4, 19, "`i` is a scalar, which takes no indices"},
};

TEST(AlgorithmDiagnostics, SayWhatWhereAndWhatHelps) {
  for (const Mistake& mistake : kMistakes) {
    std::string text = mistake.text;
    if (!text.empty() && text[0] == '$')
      text =
          "algorithm t(N) {\ninput x : f32[N] input w : f32[N + 1]\n"
          "input n : i32[N] input m : bool[N]\n" +
          text.substr(1) + "\n}\n";
    Context context;
    const Source source("t.tw", text);
    auto algorithm = parse_algorithm(context, source);
    ASSERT_FALSE(algorithm.ok()) << text;
    const Diagnostic& d = algorithm.diagnostics()[0];
    const std::string shown = render(algorithm.diagnostics(), &source);
    EXPECT_EQ(code_text(d.code), mistake.code) << shown;
    EXPECT_NE(d.message.find(mistake.message), std::string::npos) << shown;
    for (const Diagnostic& each : algorithm.diagnostics())
      EXPECT_FALSE(each.remedy.empty()) << shown;
    if (mistake.line == 0) continue;
    EXPECT_EQ(source.line_column(d.span.begin).line, mistake.line) << shown;
    EXPECT_EQ(source.line_column(d.span.begin).column, mistake.column) << shown;
  }
}

TEST(AlgorithmDiagnostics, DeepTextIsRefused) {
  Context context;
  std::string brackets(20000, '(');
  brackets += "1";
  brackets.append(20000, ')');
  std::string chain = "1";
  for (int i = 0; i < 20000; ++i) chain += " + i";
  const std::string minus(20000, '-');
  for (const std::string& value : {brackets, chain, minus + "i", std::string(20000, '[')}) {
    auto algorithm =
        parse_algorithm(context, Source("t", "algorithm t(N) { output y[i < N] = " + value + "}"));
    ASSERT_FALSE(algorithm.ok());
    const Code expected = value[0] == '[' ? Code::UnexpectedToken : Code::NestingTooDeep;
    EXPECT_EQ(algorithm.diagnostics()[0].code, expected);
  }
}

// One mistake does not hide the next, and what follows from it is not reported.
TEST(AlgorithmDiagnostics, AreCollectedWithoutConsequences) {
  Context context;
  const Source source("t.tw",
                      "algorithm t(N) {\n"
                      "  input x : f32[Q]\n"
                      "  a[i] = x[i]\n"
                      "  b[i < N] = a[i] + c[i]\n"
                      "  output d[i < N] = b[i] + exp(1, 2)\n"
                      "  output e[i < N] = )\n"
                      "  output f[i < N] = i / 0 % \n"
                      "}\n");
  auto algorithm = parse_algorithm(context, source);
  ASSERT_FALSE(algorithm.ok());
  std::vector<std::string> found;
  for (const Diagnostic& d : algorithm.diagnostics())
    found.push_back(std::string(code_text(d.code)) + ":" +
                    std::to_string(source.line_column(d.span.begin).line));
  EXPECT_EQ(found,
            (std::vector<std::string>{"E0201:2", "E0201:4", "E0206:5", "E0101:6", "E0101:8"}));
}

TEST(AlgorithmDiagnostics, SuggestTheNameThatWasMeant) {
  Context context;
  const Source source("t.tw",
                      "algorithm t(N) { input scores : f32[N] output y[i < N] = score[i] }");
  auto algorithm = parse_algorithm(context, source);
  ASSERT_FALSE(algorithm.ok());
  EXPECT_EQ(algorithm.diagnostics()[0].remedy, "did you mean `scores`?");
}

}  // namespace
}  // namespace tilewright::ir

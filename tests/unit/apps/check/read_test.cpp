// SPDX-License-Identifier: Apache-2.0
//
// The readers of tilewright-check: they take all that the compiler prints and lose nothing of it, and refuse
// everything else with its place.
#include "tests/laws/program_maker.h"
#include "tests/unit/apps/check/printed.h"
#include "tests/unit/apps/check/texts.h"

namespace tilewright::checker {
namespace {

std::string place(const Refused& refused) {
  return std::to_string(refused.line) + ":" + std::to_string(refused.column) + ": " +
         refused.what();
}

std::string again(const std::string& text, bool is_program) {
  Arena arena;
  try {
    return is_program ? Printed().of(read_program(arena, text))
                      : Printed().of(read_algorithm(arena, text));
  } catch (const Refused& refused) {
    return place(refused);
  }
}

TEST(CheckerReads, EveryAlgorithmOfTheRepository) {
  const std::vector<std::string> texts = algorithm_texts();
  EXPECT_GT(texts.size(), 60U);
  for (const std::string& text : texts) ASSERT_EQ(again(text, false), text);
}

TEST(CheckerReads, EveryProgramOfTheRepository) {
  const std::vector<std::string> texts = program_texts();
  EXPECT_GT(texts.size(), 40U);
  for (const std::string& text : texts) ASSERT_EQ(again(text, true), text);
}

TEST(CheckerReads, RandomAlgorithms) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    ir::Context context;
    ir::GenerateOptions options;
    options.max_depth = seed % 5 == 0 ? 7 : 4;
    options.defined = seed % 3 != 0;
    const std::string text = ir::print(ir::random_algorithm(context, seed, options));
    ASSERT_EQ(again(text, false), text) << seed;
  }
}

TEST(CheckerReads, RandomProgramsOfEveryStatement) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    ir::Context context;
    const std::string text = program::print(ProgramMaker(context, seed).make());
    ASSERT_EQ(again(text, true), text) << seed;
  }
}

TEST(CheckerReads, ProgramsThatAreBuilt) {
  int read = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Built one = built(seed);
    if (!one) continue;
    ASSERT_EQ(again(one.algorithm, false), one.algorithm) << seed;
    ASSERT_EQ(again(one.program, true), one.program) << seed;
    ++read;
  }
  EXPECT_GT(read, 75);
}

// Cut anywhere, or with a byte changed, a text is read or refused; it never crashes (the sanitizers look on), and a
// refusal names a place in it.
TEST(CheckerReads, DamagedTexts) {
  std::vector<std::string> algorithms = algorithm_texts();
  std::vector<std::string> programs = program_texts();
  std::uint64_t state = 1;
  const auto below = [&](std::size_t n) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state >> 33) % n;
  };
  int refused = 0, read = 0;
  for (int round = 0; round < 6000; ++round) {
    const bool is_program = round % 2;
    std::string text =
        is_program ? programs[below(programs.size())] : algorithms[below(algorithms.size())];
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0: text.resize(at); break;
      case 1: text[at] = static_cast<char>(below(256)); break;
      case 2: text.erase(at, 1 + below(8)); break;
      default: text.insert(at, text.substr(below(text.size()), 1 + below(12)));
    }
    Arena arena;
    try {
      if (is_program) {
        read_program(arena, text);
      } else {
        read_algorithm(arena, text);
      }
      ++read;
    } catch (const Refused& e) {
      ASSERT_GT(e.line, 0) << e.what();
      ASSERT_GT(e.column, 0) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 3000);
  EXPECT_GT(read, 0);
}

TEST(CheckerReads, DeepAndLongTextsAreRefusedInTime) {
  const std::string head = "program p for a {\n  output y : f32[4]\n  ";
  const auto times = [](const std::string& part, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += part;
    return out;
  };
  EXPECT_EQ(again(head + "y[" + times("(", 100000), true), "3:1029: nested too deeply");
  EXPECT_EQ(again(head + "y[" + times("-", 100000), true), "3:1029: nested too deeply");
  EXPECT_EQ(again(head + "y[0" + times(" + 1", 100000) + "] = f32(0)\n}\n", true),
            "3:5: nested too deeply");
  EXPECT_EQ(again(head + times("if true {", 100000), true), "3:2315: nested too deeply");
  EXPECT_EQ(again(head + "if true { }" + times(" else if true { }", 100000), true),
            "3:4363: nested too deeply");
  EXPECT_EQ(again(std::string(9 << 20, ' '), true), "0:0: the text is longer than 8 MiB");
  EXPECT_EQ(again(head + times("y[0] = f32(1)\n", 300000) + "}\n", true).size(), 4800000U + 40U);
}

TEST(CheckerReads, WhatIsWrongAndWhere) {
  const std::string head =
      "program p for a {\n  extent N\n  input x : f32[N]\n  output y : f32[N]\n";
  const std::pair<const char*, const char*> programs[] = {
      {"y[i] = f32(0)", "5:3: `i` is no value here"},
      {"y[0] = f32(0.1) + 1", "5:8: operands of different types"},
      {"y[0] = 1", "5:8: expected a value of type f32"},
      {"y[0, 0] = f32(1)", "5:1: `y` is nothing of the kind and rank that is needed"},
      {"y[0] = x[0, 0]", "5:8: `x` has another number of indices"},
      {"x[0] = f32(1)", "5:1: `x` is an input"},
      {"z[0] = f32(1)", "5:1: `z` is nothing of the kind and rank that is needed"},
      {"y[0] = f32(i8(300))", "5:12: the constant does not fit its type"},
      {"y[0] = f32(bf16(0.1))", "5:12: no value of type bf16"},
      {"y[0] = f32(f8e4m3(480))", "5:12: no value of type f8e4m3"},
      {"y[0] = f32(f4e2m1(inf))", "5:12: no value of type f4e2m1"},
      {"y[0] = f32(1e99)", "5:8: no float of this type"},
      {"y[0] = sum(k < N) x[k]", "5:8: no fold may stand here"},
      {"for N in 0 .. 4 {\n}", "5:17: `N` is bound twice"},
      {"for i in 0 .. 4 {\n}\nfor i in 0 .. 4 {\n}", "7:17: `i` is bound twice"},
      {"for exp in 0 .. 4 {\n}", "5:19: `exp` is a word of the language"},
      {"vector i in 0 .. N {\n}", "5:1: the bounds are not constant"},
      {"if 1 {\n}", "5:4: expected a value of type bool"},
      {"y[0] = x[0] $", "5:13: a character that belongs to no token"},
      {"y[0] = x[9223372036854775808]", "5:10: the constant does not fit its type"},
      {"y[0] = bool(x[0])", "5:8: there is no conversion to bool"},
      {"y[0] = exp(x[0], x[0])", "5:8: wrong number of operands"},
      {"y[0] = (x[0], x[0])", "5:8: expected a value of type f32"},
      {"ring s, p = 0 of 0 {\n}", "5:1: a ring without slots"},
      {"concurrent {\ny[0] = x[0]\n}", "6:1: expected `role`"},
      {"y[0] = x[0]\ninput z : f32[N]", "6:7: expected `[`"},
  };
  for (const auto& [text, message] : programs)
    EXPECT_EQ(again(head + text + "\n}\n", true), message) << text;

  const std::string start = "algorithm a(N) {\n  input x : f32[N]\n";
  const std::pair<const char*, const char*> algorithms[] = {
      {"y[i < N] : f64 = x[i]", "3:1: the value is of another type"},
      {"y[i < N] : f32 = x[i] + (sum(k < N) x[k])", "3:1: a fold inside of a value"},
      {"y[i < N] : f32 = sum(k < N) (max(l < N) x[l])", "3:30: a fold inside of a fold"},
      {"y[i < N] : f32 = sum(i < N) x[i]", "3:27: `i` is declared twice"},
      {"y[i < x[0]] : f32 = x[i]", "3:7: nothing is read here"},
      {"y[] : f32 = scan sum(t) x[t]", "3:13: a scan runs along an index of its equation"},
      {"y[] : f32 = last(t < N) x[t]", "3:13: `last` is no reduction"},
      {"y[i < N] : f32 = update x[i] sum(k < N) at [i] x[k]", "3:45: `i` is no value here"},
      {"y[] : bool = and(t < N) x[t]", "3:14: terms that do not fit the reduction"},
      {"x[i < N] : f32 = f32(0)", "4:1: `x` is declared twice"},
  };
  for (const auto& [text, message] : algorithms)
    EXPECT_EQ(again(start + text + "\n}\n", false), message) << text;
}

TEST(CheckerReads, ConstantsAsTheyAre) {
  const std::string text =
      "program p for a {\n  output y : f32[1]\n  output z : u64[1]\n  y[0] = f32(0.1)\n"
      "  z[0] = u64(18446744073709551615)\n  y[0] = f32(f8e5m2(57344)) + f32(f8e8m0(0.5))\n"
      "  y[0] = f32(f4e2m1(-6)) + f32(f64(0.1)) + f32(i4(-8)) + -f32(1)\n}\n";
  Arena arena;
  const Program p = read_program(arena, text);
  EXPECT_EQ(p.body[0].value->real, static_cast<double>(0.1F));
  EXPECT_EQ(p.body[1].value->integer, -1);
  EXPECT_EQ(p.body[2].value->args[0]->args[0]->real, 57344.0);
  EXPECT_EQ(again(text, true), text);
}

}  // namespace
}  // namespace tilewright::checker

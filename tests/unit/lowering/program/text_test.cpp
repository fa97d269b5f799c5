// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/text.h"

#include <gtest/gtest.h>

#include "frontend/base/render.h"
#include "lowering/program/verify.h"

namespace tilewright::program {
namespace {

std::string canonical(const std::string& text) {
  ir::Context context;
  const Source source("t.twp", text);
  auto program = parse_program(context, source);
  return program.ok() ? print(*program) : render(program.diagnostics(), &source);
}

constexpr char kGemm[] = R"(program gemm for gemm {
  extent M
  extent N min 1 max 4096 multiple_of 8
  extent K
  requires 1 <= M
  input a : f32[M, K]
  input b : f32[K, N]
  output c : f32[M, N]
  parallel io in 0 .. (M + 5) / 6 {
    let base = io * 6 {
      alloc t : f32[6, 64] in register {
        for k in 0 .. K {
          unrolled r in 0 .. 6 {
            vector l in 0 .. 64 {
              t[r, l] = fma(a[base + r, k], b[k, l], t[r, l]) @ fold c(base + r, l, k)
            }
          }
        }
        if base + 6 <= M {
          c[base, 0] = t[0, 0] @ copy c(base, 0)
        } else if base < M {
          c[base, 0] = f32(0) @ pad
        } else {
        }
      }
    }
  }
}
)";

TEST(ProgramText, CanonicalTextIsKept) { EXPECT_EQ(canonical(kGemm), kGemm); }

TEST(ProgramText, LayoutLiteralsAndTypesAreFilledIn) {
  EXPECT_EQ(canonical("program p for q { output c : f32[4] output s : f64[]\n"
                      "for i in 0..4 { c[i] = 1 } let v : f32 = 2 { c[0] = v * 0.5 } s = 3 }"),
            R"(program p for q {
  output c : f32[4]
  output s : f64[]
  for i in 0 .. 4 {
    c[i] = f32(1)
  }
  let v = f32(2) {
    c[0] = v * f32(0.5)
  }
  s[] = f64(3)
}
)");
}

TEST(ProgramText, EmptyBodiesAreKept) {
  const std::string text = "program p for q {\n  output c : f32[4]\n}\n";
  EXPECT_EQ(canonical(text), text);
}

struct Mistake {
  const char* body;
  const char* code;
  unsigned line;
  unsigned column;
  const char* message;
};

// Each body stands on line 3 of a program with extent M, input a : f32[M], output c : f32[M].
const Mistake kMistakes[] = {
    {"for i in 0 .. { }", "E0101", 3, 15, "expected an expression"},
    {"for i 0 .. M { }", "E0101", 3, 7, "expected `in` after the loop variable"},
    {"alloc t : f32[4] in heap { }", "E0101", 3, 21, "expected a memory space"},
    {"c[0] = 1 @ fold2 c(0)", "E0101", 3, 12, "expected a role"},
    {"input z : f32[M]", "E0101", 3, 1, ""},
    {"c[0] = 1 extent Q", "E0101", 3, 10, "expected a statement, found `extent`"},
    {"for exp in 0 .. M { }", "E0107", 3, 5, "`exp` is a word of the language"},
    {"c[i] = 1", "E0201", 3, 3, "`i` is not declared here"},
    {"d[0] = 1", "E0201", 3, 1, "`d` is no buffer here"},
    {"for i in 0 .. 4 { } c[i] = 1", "E0201", 3, 23, "`i` is not declared here"},
    {"for i in 0 .. 4 { } for i in 0 .. 5 { }", "E0202", 3, 21, "`i` is bound twice"},
    {"for M in 0 .. 4 { }", "E0202", 3, 5, "`M` is declared twice"},
    {"c[0, 0] = 1", "E0205", 3, 1, "`c` has 1 indices, found 2"},
    {"c[0] = a[0, 0]", "E0205", 3, 8, "`a` has 1 indices, found 2"},
    {"c[0] = sum(k < 3) a[k]", "E0505", 3, 8, "`sum` stands in a program"},
    {"c[0] = M", "E0216", 3, 8, "the stored value has type `index`"},
    {"if a[0] { }", "E0216", 3, 4, "the condition has type `f32`"},
    {"for i in 0 .. a[0] { }", "E0216", 3, 15, "the upper bound has type `f32`"},
    {"vector i in 0 .. M { }", "E0501", 3, 18, "the bound of a `vector` loop"},
    {"unrolled i in 0 .. M { }", "E0501", 3, 20, "the bound of a `unrolled` loop"},
    {"vector i in 0 .. 4 { parallel j in 0 .. 4 { } }", "E0502", 3, 22, "inside a `vector` loop"},
    {"alloc t : f32[M] in stack { }", "E0503", 3, 15, "not constant and positive"},
    {"alloc t : f32[0] in register { }", "E0503", 3, 15, "not constant and positive"},
    {"a[0] = 1", "E0504", 3, 1, "`a` is an input"},
    {"M[0] = 1", "E0504", 3, 1, "`M` is no buffer"},
    {"vector i in 0 .. 4 { vector j in 0 .. 4 { } }", "E0506", 3, 22, "inside a `vector` loop"},
};

TEST(ProgramDiagnostics, SayWhatWhereAndWhatHelps) {
  for (const Mistake& mistake : kMistakes) {
    ir::Context context;
    const Source source("t.twp", std::string("program p for q {\n"
                                             "extent M input a : f32[M] output c : f32[M]\n") +
                                     mistake.body + "\n}\n");
    auto program = parse_program(context, source);
    if (std::string(mistake.message).empty()) {
      EXPECT_TRUE(program.ok());
      continue;
    }
    ASSERT_FALSE(program.ok()) << mistake.body;
    const Diagnostic& d = program.diagnostics()[0];
    const std::string shown = render(program.diagnostics(), &source);
    EXPECT_EQ(code_text(d.code), mistake.code) << shown;
    EXPECT_NE(d.message.find(mistake.message), std::string::npos) << shown;
    for (const Diagnostic& each : program.diagnostics()) EXPECT_FALSE(each.remedy.empty()) << shown;
    EXPECT_EQ(source.line_column(d.span.begin).line, mistake.line) << shown;
    EXPECT_EQ(source.line_column(d.span.begin).column, mistake.column) << shown;
  }
}

TEST(ProgramDiagnostics, DeepTextIsRefused) {
  for (const int levels : {300, 20000}) {
    std::string text = "program p for q { output c : f32[4] ";
    for (int i = 0; i < levels; ++i) text += "for p" + std::to_string(i) + " in 0 .. 2 {";
    text += "c[0] = 1" + std::string(static_cast<std::size_t>(levels) + 1, '}');
    ir::Context context;
    auto program = parse_program(context, Source("t", text));
    ASSERT_FALSE(program.ok());
    EXPECT_EQ(program.diagnostics()[0].code, Code::NestingTooDeep);
  }
}

TEST(ProgramVerify, RefusesWhatTextCannotSay) {
  ir::Context context;
  Program program;
  program.name = program.algorithm = context.symbol("p");
  const Symbol c = context.symbol("c");
  const Expr m = context.index(4);
  program.parameters = {{c, ScalarType::F32, {m}, true}};
  auto code = [&] {
    const auto findings = verify(program);
    return findings.empty() ? std::string() : std::string(code_text(findings[0].code));
  };
  EXPECT_EQ(code(), "E0219");  // no body
  const Expr zero[] = {context.index(0)};
  const Expr one = context.real(ScalarType::F32, 1);
  program.body = make_store(context, c, zero, one, OriginRole::Value, {}, {});
  EXPECT_EQ(code(), "");
  program.body = make_store(context, c, zero, one, OriginRole::Value, {}, zero);
  EXPECT_EQ(code(), "E0219");
  program.body = make_store(context, c, zero, context.index(1), OriginRole::Value, {}, {});
  EXPECT_EQ(code(), "E0216");
  const Symbol vars[] = {context.symbol("k")};
  const Expr upper[] = {m};
  Expr fold = context.fold(ir::Monoid::Sum, vars, zero, upper, one);
  program.body = make_store(context, c, zero, fold, OriginRole::Value, {}, {});
  EXPECT_EQ(code(), "E0505");
  const Expr wrong = context.var(context.symbol("v"), ScalarType::F32);
  Stmt store = make_store(context, c, zero, wrong, OriginRole::Value, {}, {});
  program.body = make_let(context, context.symbol("v"), context.real(ScalarType::F64, 1), store);
  EXPECT_EQ(code(), "E0203");
}

}  // namespace
}  // namespace tilewright::program

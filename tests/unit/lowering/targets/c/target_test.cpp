// SPDX-License-Identifier: Apache-2.0
//
// The form of the C that the target writes: names, sharing, lanes, refusals. What it computes is tested in
// tests/differential.
#include "lowering/targets/c/target.h"

#include <gtest/gtest.h>

#include "lowering/program/program.h"
#include "lowering/program/text.h"

namespace tilewright::c_target {
namespace {

std::string count_of(const std::string& text, const std::string& word) {
  int n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return std::to_string(n);
}

class CTarget : public ::testing::Test {
 protected:
  Result<std::string> emit(const std::string& text) {
    auto program = program::parse_program(context, Source("test.twp", text));
    EXPECT_TRUE(program.ok()) << text;
    if (!program.ok()) return program.failure();
    return emit(*program);
  }
  Result<std::string> emit(const program::Program& program) {
    auto dispatch = program::single_dispatch(context, program, "alone");
    EXPECT_TRUE(dispatch.ok());
    if (!dispatch.ok()) return dispatch.failure();
    const Function functions[] = {{&context, &*dispatch}};
    return emit_file(functions);
  }
  ir::Context context;
};

// Words of C, of its headers and of the file itself go around; a person's names stay.
TEST_F(CTarget, NamesGoAroundThoseOfC) {
  const auto c = emit(R"(program names for names {
  extent int
  extent N
  input call : f32[int, N]
  output tw_fail : f32[int, N]
  for linux in 0 .. int {
    for INT64_MAX in 0 .. N {
      tw_fail[linux, INT64_MAX] = call[linux, INT64_MAX]
    }
  }
})");
  ASSERT_TRUE(c.ok());
  EXPECT_NE(c->find("for (int64_t linux_ = 0; linux_ < int_; ++linux_) {"), std::string::npos)
      << *c;
  EXPECT_NE(c->find("for (int64_t v_INT64_MAX_ = 0; v_INT64_MAX_ < N; ++v_INT64_MAX_) {"),
            std::string::npos);
  EXPECT_NE(c->find("v_tw_fail_[linux_ * N + v_INT64_MAX_] = v_call[linux_ * N + v_INT64_MAX_];"),
            std::string::npos)
      << *c;
}

// 64 doublings as a tree would be 2^64 reads.
TEST_F(CTarget, WhatOccursAgainIsWrittenOnce) {
  const Symbol x = context.symbol("x");
  const ir::Expr n = context.extent(context.symbol("N"));
  const ir::Expr i = context.var(context.symbol("i"));
  const ir::Expr at[] = {i};
  ir::Expr value = context.read(x, at, ir::ScalarType::F32);
  for (int k = 0; k < 64; ++k) value = context.op(ir::OpCode::Add, {value, value});
  program::Program program;
  program.name = program.algorithm = context.symbol("doubled");
  program.extents.emplace_back().name = context.symbol("N");
  program.parameters = {{x, ir::ScalarType::F32, {n}, false},
                        {context.symbol("y"), ir::ScalarType::F32, {n}, true}};
  program.body = program::make_for(
      context, program::LoopKind::Serial, context.symbol("i"), context.index(0), n,
      program::make_store(context, context.symbol("y"), at, value, program::OriginRole::Value,
                          context.symbol("y"), at));
  const auto c = emit(program);
  ASSERT_TRUE(c.ok());
  EXPECT_LT(c->size(), 40000U);
  EXPECT_LE(std::stoi(count_of(*c, "x[i]")), 4) << *c;
}

// Lanes that read what another lane wrote run statement by statement; the others as one loop.
TEST_F(CTarget, LanesThatMeetAreTakenApart) {
  const char* text = R"(program lanes for lanes {
  extent N
  input x : f32[N, 8]
  output o : f32[N, 8]
  output p : f32[N, 8]
  for n in 0 .. N {
    vector i in 0 .. 8 {
      o[n, i] = x[n, i]
      p[n, i] = o[n, INDEX]
    }
  }
})";
  const auto with = [&](const char* index) {
    std::string program = text;
    program.replace(program.find("INDEX"), 5, index);
    return emit(program);
  };
  const auto own = with("i");
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(count_of(*own, "for (int64_t i = 0; i < 8; ++i)"), "1") << *own;
  const auto other = with("7 - i");
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(count_of(*other, "for (int64_t i = 0; i < 8; ++i)"), "2") << *other;
}

// What memory has a part in is kept for each lane before a later statement can change it.
TEST_F(CTarget, ALaneKeepsWhatItRead) {
  const auto c = emit(R"(program kept for kept {
  extent N
  input x : f32[N, 8]
  output o : f32[N, 8]
  for n in 0 .. N {
    vector i in 0 .. 8 {
      o[n, i] = x[n, i]
      let was = o[n, 7 - i] {
        o[n, i] = was + f32(1)
      }
    }
  }
})");
  ASSERT_TRUE(c.ok());
  EXPECT_NE(c->find("float was_of[8];"), std::string::npos) << *c;
  EXPECT_NE(c->find("const float was = was_of[i];"), std::string::npos) << *c;
}

// A guard that reads what lanes write is looked at by all of them first.
TEST_F(CTarget, AGuardIsAStatementOfItsOwn) {
  const auto c = emit(R"(program guarded for guarded {
  extent N
  input x : f32[N, 8]
  output o : f32[N, 8]
  for n in 0 .. N {
    vector i in 0 .. 8 {
      o[n, i] = x[n, i]
    }
    vector j in 0 .. 8 {
      if o[n, 7 - j] < f32(0) {
        o[n, j] = f32(1)
      }
    }
  }
})");
  ASSERT_TRUE(c.ok());
  EXPECT_NE(c->find("bool on[8];"), std::string::npos) << *c;
  EXPECT_NE(c->find("if (!(on[j])) continue;"), std::string::npos) << *c;
}

// One function of the formats' widths, and a line for each format in use; elements that share bytes by halves.
TEST_F(CTarget, NarrowTypesByTheirWidths) {
  const auto c = emit(R"(program narrow for narrow {
  extent M
  extent N
  input x : f8e4m3[N]
  input s : f8e8m0[N]
  input q : i4[M, N]
  output y : f4e2m1[M, N]
  output r : i4[M, N]
  for i in 0 .. M {
    for j in 0 .. N {
      y[i, j] = saturate(f4e2m1, f32(x[j]) * f32(s[j]))
      r[i, j] = q[i, j] + i4(3)
    }
  }
})");
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(count_of(*c, "TW_INLINE float tw_load_narrow("), "1") << *c;
  EXPECT_EQ(count_of(*c, "{ return tw_load_narrow(bits, 4, 3, TW_FN); }"), "1");
  EXPECT_EQ(count_of(*c, "return tw_round_narrow(x, 2, 1, TW_FINITE, true);"), "1");
  EXPECT_EQ(count_of(*c, "static int32_t narrow_kernel(const uint8_t *restrict x"), "1");
  EXPECT_EQ(count_of(*c, "tw_set_nibble(y, i * (tw_div_i64(N + 1, 2) * 2) + j,"), "1") << *c;
  EXPECT_EQ(count_of(*c,
                     "tw_store_f4e2m1(tw_saturate_f4e2m1(tw_load_f8e4m3(x[j]) * "
                     "tw_load_f8e8m0(s[j])))"),
            "1")
      << *c;
  EXPECT_EQ(count_of(*c, "tw_add_i4(tw_wrap_i4(tw_nibble(q,"), "1") << *c;
  // An element alone has a byte; in a row two share one. The run, the query and the explanation look.
  EXPECT_EQ(count_of(*c, "tw_check_bytes(call, \"narrow\", 2, q, 1, 2,"), "3") << *c;
}

TEST_F(CTarget, TooManyBlocksAreRefused) {
  std::string text = "program deep for deep {\n extent N\n input x : f32[N]\n output y : f32[N]\n";
  constexpr int kLoops = 104;
  for (int d = 0; d < kLoops; ++d) text += "for loop" + std::to_string(d) + " in 0 .. N {\n";
  text += "y[loop0] = x[loop0]\n";
  for (int d = 0; d < kLoops; ++d) text += "}\n";
  const auto c = emit(text + "}\n");
  ASSERT_FALSE(c.ok());
  EXPECT_EQ(c.diagnostics()[0].code, Code::UnsupportedByTarget);
  EXPECT_NE(c.diagnostics()[0].message.find("100 blocks deep"), std::string::npos);
}

TEST_F(CTarget, SameBytesForTheSameProgram) {
  const char* text = R"(program same for same {
  extent N
  input x : f16[N]
  output y : f64[N]
  parallel n in 0 .. N {
    y[n] = exp(f64(x[n])) + f64(sin(f32(x[n])))
  }
})";
  const auto a = emit(text);
  const auto b = emit(text);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(*a, *b);
  EXPECT_EQ(count_of(*a, "static double tw_exp_f64(double x) {"), "1");
}

}  // namespace
}  // namespace tilewright::c_target

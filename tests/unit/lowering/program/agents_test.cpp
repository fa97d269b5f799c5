// SPDX-License-Identifier: Apache-2.0
//
// What each statement of agents means, on programs small enough to see. x counts 1, 2, 3, ...; whole programs and broken
// twins: tests/laws/agents_test.cpp.
#include <gtest/gtest.h>

#include "frontend/base/render.h"
#include "lowering/program/interpret.h"
#include "lowering/program/text.h"

namespace tilewright::program {
namespace {

constexpr std::int64_t kSize = 8;

struct Outcome {
  std::vector<double> y;
  std::string code;  // of a diagnostic
  std::string text;
};

Outcome run(const std::string& body, InterpretOptions options) {
  ir::Context context;
  const Source source("p.twp", R"(program p for p {
  extent N
  input x : f32[N]
  output y : f32[N]
)" + body + "}\n");
  auto program = parse_program(context, source);
  EXPECT_TRUE(program.ok()) << render(program.diagnostics(), &source);
  if (!program.ok()) return {};
  ir::Tensor x = ir::make_tensor(ScalarType::F32, {kSize});
  for (std::size_t i = 0; i < x.data.size(); ++i) x.data[i].f = double(i) + 1;
  ir::TensorMap inputs;
  inputs.emplace(context.symbol("x"), std::move(x));
  auto result = interpret(context, *program, {{context.symbol("N"), kSize}}, inputs, options);
  Outcome out;
  if (!result.ok()) {
    out.code = code_text(result.diagnostics()[0].code);
    out.text = render(result.diagnostics(), &source);
    return out;
  }
  for (ir::Scalar value : result->outputs.at(context.symbol("y")).data) out.y.push_back(value.f);
  return out;
}

std::vector<InterpretOptions> all_orders() {
  std::vector<InterpretOptions> out(6);
  out[1].async_order = AsyncOrder::Lazy;
  for (std::size_t i = 2; i < out.size(); ++i) {
    out[i].async_order = AsyncOrder::Random;
    out[i].schedule_seed = i;
  }
  return out;
}

void gives(const std::string& body, const std::vector<double>& y) {
  for (const InterpretOptions& options : all_orders()) {
    const Outcome got = run(body, options);
    EXPECT_EQ(got.y, y) << body << got.text;
  }
}

void refused(const std::string& body, const std::string& code, const std::string& mentions = "") {
  for (const InterpretOptions& options : all_orders()) {
    const Outcome got = run(body, options);
    EXPECT_EQ(got.code, code) << body << got.text;
    EXPECT_NE(got.text.find(mentions), std::string::npos) << got.text;
  }
}

std::string block(const std::string& body) {
  return "for b in 0 .. 1 bind block {\n" + body + "}\n";
}

TEST(AgentsMean, VotesCountEveryAgentOfTheScope) {
  const std::string head = "for w in 0 .. 8 bind warp {\nvote v = ";
  gives(block(head + "any block x[w] > 7.5 {\nif v { y[w] = 1.0 } else { y[w] = 0.0 } } }"),
        {1, 1, 1, 1, 1, 1, 1, 1});
  gives(block(head + "all block x[w] > 1.5 {\nif v { y[w] = 1.0 } else { y[w] = 0.0 } } }"),
        {0, 0, 0, 0, 0, 0, 0, 0});
  gives(block(head + "ballot block x[w] > 6.5 {\ny[w] = f32(i32(0)) + f32(i32(1))\n"
                     "if v == 192 { y[w] = 5.0 } } }"),
        {5, 5, 5, 5, 5, 5, 5, 5});
}

TEST(AgentsMean, ASyncOrdersAndLacksNobody) {
  const std::string text = R"(alloc s : f32[8] in shared {
  for w in 0 .. 8 bind warp {
    s[w] = x[w]
    SYNC
    y[w] = s[7 - w]
  }
})";
  auto with = [&](const std::string& sync) {
    std::string out = text;
    return out.replace(out.find("SYNC"), 4, sync);
  };
  gives(block(with("sync block")), {8, 7, 6, 5, 4, 3, 2, 1});
  refused(block(with("fence async")), "E0563", "other agent");
  refused(block("for w in 0 .. 8 bind warp {\nif w < 7 { sync block }\ny[w] = x[w]\n}\n"), "E0562",
          "1 of 8 agents of the block");
}

TEST(AgentsMean, AnOrderEdgeLetsARoleBeginAfterAnother) {
  const std::string text = R"(alloc s : f32[8] in shared {
  concurrent {
    role fill : warp {
      for i in 0 .. 8 { s[i] = x[i] }
    }
    role drain : warp AFTER{
      for j in 0 .. 8 { y[j] = s[j] }
    }
  }
})";
  auto with = [&](const std::string& after) {
    std::string out = text;
    return out.replace(out.find("AFTER"), 5, after);
  };
  gives(block(with("after fill ")), {1, 2, 3, 4, 5, 6, 7, 8});
  refused(block(with("")), "E0563", "drain");
}

TEST(AgentsMean, AtomicsGiveEveryoneAnotherTicket) {
  gives(R"(kernel main {
  alloc next : i32[1] in global {
    next[0] = 0
    for b in 0 .. 8 bind block {
      atomic ticket = sum next[0] by 1 at device {
        y[index(ticket)] = 3.0
      }
    }
  }
})",
        {3, 3, 3, 3, 3, 3, 3, 3});
  // Read without order.
  refused(R"(kernel main {
  alloc total : f32[1] in global {
    total[0] = 0.0
    for b in 0 .. 8 bind block {
      atomic sum total[0] by x[b]
      y[b] = total[0]
    }
  }
})",
          "E0563");
}

TEST(AgentsMean, KernelsFollowOneAnother) {
  gives(R"(alloc t : f32[8] in global {
  kernel first {
    for b in 0 .. 8 bind block { t[b] = x[b] * 2.0 }
  }
  kernel second {
    for c in 0 .. 8 bind block { y[c] = t[7 - c] }
  }
})",
        {16, 14, 12, 10, 8, 6, 4, 2});
}

TEST(AgentsMean, OperationsThroughTheTensorProxyKeepTheirOrder) {
  const std::string text = R"(alloc o : f32[8, 1] in tensor {
  for i in 0 .. 8 { o[i, 0] = 0.0 }
  fence tensor
  for t in 0 .. 3 {
    start PROXY group {
      for j in 0 .. 8 { o[j, 0] = o[j, 0] * 2.0 + x[j] }
    }
  }
  commit
  wait group until 0
  fence tensor
  for k in 0 .. 8 { y[k] = o[k, 0] }
})";
  auto with = [&](const std::string& proxy) {
    std::string out = text;
    return out.replace(out.find("PROXY"), 5, proxy);
  };
  gives(block(with("tensor")), {7, 14, 21, 28, 35, 42, 49, 56});
  refused(block(with("generic")), "E0557");
}

TEST(AgentsMean, ASemaphoreTellsWhatItsValueNeeded) {
  const std::string text = R"(alloc s : f32[8] in shared {
  semaphore done[1] starts 0 {
    concurrent {
      role left : warp {
        for i in 0 .. 4 { s[i] = x[i] }
        arrive done[0] by 1
      }
      role right : warp {
        for j in 4 .. 8 { s[j] = x[j] }
        arrive done[0] by 1
      }
      role reader : warp {
        wait done[0] until COUNT
        for k in 0 .. 8 { y[k] = s[k] }
      }
    }
  }
})";
  auto with = [&](const std::string& count) {
    std::string out = text;
    return out.replace(out.find("COUNT"), 5, count);
  };
  gives(block(with("2")), {1, 2, 3, 4, 5, 6, 7, 8});
  refused(block(with("1")), "E0563");
  refused(block(with("3")), "E0562", "which holds 2 of 3");
}

TEST(AgentsMean, AChannelHoldsSoManyMessages) {
  const std::string text = R"(channel link[1] : f32 holds HOLDS {
  for c in 0 .. 1 bind core {
    for i in 0 .. 8 { send link[0] by x[i] }
    for j in 0 .. 8 {
      receive m = link[0] { y[j] = m }
    }
  }
})";
  auto with = [&](const std::string& holds) {
    std::string out = text;
    return out.replace(out.find("HOLDS"), 5, holds);
  };
  gives(with("8"), {1, 2, 3, 4, 5, 6, 7, 8});
  refused(with("7"), "E0562", "waits for room in `link`");
}

TEST(AgentsMean, ATokenIsForOneOperationAtATime) {
  gives(R"(for c in 0 .. 1 bind core {
  alloc s : f32[8] in scratchpad {
    token t[1] {
      for i in 0 .. 8 {
        start async arrive t[0] { s[i] = x[i] + 1.0 }
        wait t[0]
      }
      for j in 0 .. 8 { y[j] = s[j] }
    }
  }
})",
        {2, 3, 4, 5, 6, 7, 8, 9});
}

TEST(AgentsMean, WhileAndRingNeedNoAgents) {
  gives(R"(alloc n : i32[1] in stack {
  n[0] = 0
  while n[0] < 8 {
    ring slot, phase = index(n[0]) of 3 {
      y[index(n[0])] = x[slot] * 10.0 + x[phase]
    }
    n[0] = n[0] + 1
  }
})",
        {11, 21, 31, 12, 22, 32, 13, 23});
}

TEST(AgentsMean, AnUnwrittenCellIsFoundWhenNobodyExplainsIt) {
  refused(block(R"(alloc s : f32[8] in shared {
  for w in 0 .. 8 bind warp {
    y[w] = s[w]
  }
})"),
          "E0551");
}

// The wait may come too late, too: who is two phases behind sees the wrong bit.
TEST(AgentsMean, APhaseThatIsLongGoneIsRefused) {
  refused(block(R"(barrier full[1] arrivals 1 {
  for i in 0 .. 8 { y[i] = x[i] }
  arrive full[0] by 1
  arrive full[0] by 1
  wait full[0] until 0
})"),
          "E0561", "the phase after is complete too");
}

}  // namespace
}  // namespace tilewright::program

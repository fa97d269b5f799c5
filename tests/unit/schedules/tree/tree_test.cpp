// SPDX-License-Identifier: Apache-2.0
//
// The default tree, the order of nests, and refusals of trees that no text can make.
#include "schedules/tree/tree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "frontend/ir/text.h"

namespace tilewright::tree {
namespace {

struct Chain {
  ir::Context context;
  ir::Algorithm algorithm = ir::parse_algorithm(context, Source("chain.tw", R"(algorithm chain(N) {
  input x : f32[N]
  p[i < N] : f32 = x[i] + 1
  q[i < N] : f32 = p[i] * 2
  output y[i < N] : f32 = sum(k < i + 1) q[k]
})"))
                                .value();
  Tree tree = default_tree(algorithm);
  Symbol name(const char* text) { return context.symbol(text); }
  std::string refusal() {
    auto verified = verify(algorithm, tree);
    return verified.ok() ? "" : verified.diagnostics()[0].message;
  }
};

TEST(Tree, DefaultHasEveryEquationAtTheRoot) {
  Chain chain;
  ASSERT_EQ(chain.tree.nests.size(), 3u);
  EXPECT_EQ(chain.tree.nests[2].loops[1].name, chain.name("k"));
  EXPECT_EQ(chain.refusal(), "");
}

TEST(Tree, OrderPutsPlacedNestsBeforeTheirOwner) {
  Chain chain;
  const Symbol y = chain.name("y");
  chain.tree.find(chain.name("p"))->at = LoopRef{y, chain.name("k")};
  chain.tree.find(chain.name("q"))->at = LoopRef{y, chain.name("i")};
  order_nests(chain.tree);
  ASSERT_EQ(chain.tree.nests.size(), 3u);
  EXPECT_EQ(chain.tree.nests[0].name, chain.name("q"));
  EXPECT_EQ(chain.tree.nests[1].name, chain.name("p"));
  EXPECT_EQ(chain.tree.nests[2].name, y);
  // q at y.i reads p, which stands further in.
  EXPECT_EQ(chain.refusal(), "`p` is placed in `y.k` but `q` reads it outside that loop");
}

// Each reads the one before twice: following every read anew would take 2^60 steps.
TEST(Tree, ChainOfInlinedEquationsIsVerifiedInTime) {
  std::string text = "algorithm long(N) {\n  input x : f32[N]\n  e_0[i < N] : f32 = x[i] + 1\n";
  constexpr int kLength = 60;
  for (int i = 1; i < kLength; ++i) {
    const std::string before = "e_" + std::to_string(i - 1);
    text += "  e_" + std::to_string(i) + "[i < N] : f32 = " + before + "[i] * " + before +
            "[N - 1 - i]\n";
  }
  text += "  output y[i < N] : f32 = e_" + std::to_string(kLength - 1) + "[i]\n}\n";
  ir::Context context;
  auto algorithm = ir::parse_algorithm(context, Source("long.tw", text));
  ASSERT_TRUE(algorithm.ok());
  Tree tree = default_tree(*algorithm);
  Tree inlined = tree;
  inlined.nests = {tree.nests.back()};
  for (int i = 0; i < kLength; ++i)
    inlined.inlined.push_back(context.symbol("e_" + std::to_string(i)));
  std::sort(inlined.inlined.begin(), inlined.inlined.end());
  EXPECT_TRUE(verify(*algorithm, inlined).ok());
  // One at the front is left out: its nest has to come before its reader, through all the others.
  const Symbol first = context.symbol("e_0");
  std::erase(inlined.inlined, first);
  EXPECT_FALSE(verify(*algorithm, inlined).ok());
  inlined.nests = {tree.nests.back(), tree.nests.front()};
  const auto late = verify(*algorithm, inlined);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.diagnostics()[0].message, "`y` reads `e_0` before it is computed");
  inlined.nests = {tree.nests.front(), tree.nests.back()};
  EXPECT_TRUE(verify(*algorithm, inlined).ok());
}

TEST(Tree, RefusesWhatDirectivesNeverMake) {
  const std::vector<std::pair<std::string, std::function<void(Chain&)>>> cases = {
      {"`p` has two nests", [](Chain& c) { c.tree.nests.push_back(c.tree.nests[0]); }},
      {"split of `p.i` by 0",
       [](Chain& c) {
         c.tree.nests[0].steps = {SplitStep{c.name("i"), 0, c.name("o"), c.name("t")}};
       }},
      {"`p.i` is not a loop to split",
       [](Chain& c) {
         const SplitStep step{c.name("i"), 2, c.name("o"), c.name("t")};
         c.tree.nests[0].steps = {step, step};
       }},
      {"a fuse in `p` takes a loop that is not there",
       [](Chain& c) { c.tree.nests[0].steps = {FuseStep{c.name("i"), c.name("z"), c.name("f")}}; }},
      {"a fuse joins `y.i` and `y.k`, of which one runs over results and one over the reduction",
       [](Chain& c) {
         c.tree.nests[2].steps = {FuseStep{c.name("i"), c.name("k"), c.name("f")}};
         c.tree.nests[2].loops = {{c.name("f"), LoopKind::Serial, false}};
       }},
      {"`p.i` is not a loop of the nest, or stands twice",
       [](Chain& c) { c.tree.nests[0].loops.push_back(c.tree.nests[0].loops[0]); }},
      {"`q.z` is not a loop",
       [](Chain& c) { c.tree.nests[0].at = LoopRef{c.name("q"), c.name("z")}; }},
      {"`p` is placed inside itself",
       [](Chain& c) {
         c.tree.nests[0].at = LoopRef{c.name("q"), c.name("i")};
         c.tree.nests[1].at = LoopRef{c.name("p"), c.name("i")};
       }},
      {"output `y` is placed inside a loop of `q`",
       [](Chain& c) { c.tree.nests[2].at = LoopRef{c.name("q"), c.name("i")}; }},
      {"`p` is placed in `y.i` but `q` reads it outside that loop",
       [](Chain& c) {
         c.tree.nests[0].at = LoopRef{c.name("y"), c.name("i")};
         c.tree.nests[1].at = std::nullopt;
       }},
      {"staged copy `s` has no loop to stand in",
       [](Chain& c) {
         Nest copy;
         copy.name = c.name("s");
         copy.stage = Stage{c.name("x"), {c.name("d")}, {{c.name("d"), c.name("d")}}, false};
         copy.loops = {{c.name("d"), LoopKind::Serial, false}};
         c.tree.nests.insert(c.tree.nests.begin(), copy);
       }},
      {"`x` names both a tensor and a staged copy",
       [](Chain& c) {
         Nest copy;
         copy.name = c.name("x");
         copy.stage = Stage{c.name("x"), {c.name("d")}, {{c.name("d"), c.name("d")}}, false};
         c.tree.nests.insert(c.tree.nests.begin(), copy);
       }},
      {"the layout of `s` divides by 0",
       [](Chain& c) {
         Nest copy;
         copy.name = c.name("s");
         copy.stage = Stage{c.name("x"),
                            {c.name("d")},
                            {{c.name("a"), c.name("d"), LayoutComponent::Part::Quotient, 0},
                             {c.name("b"), c.name("d"), LayoutComponent::Part::Remainder, 0}},
                            false};
         copy.loops = {{c.name("a"), LoopKind::Serial, false},
                       {c.name("b"), LoopKind::Serial, false}};
         copy.at = LoopRef{c.name("p"), c.name("i")};
         c.tree.nests.insert(c.tree.nests.begin(), copy);
       }},
      {"`p` is inlined and has a nest", [](Chain& c) { c.tree.inlined = {c.name("p")}; }},
  };
  for (const auto& [message, edit] : cases) {
    Chain chain;
    edit(chain);
    EXPECT_EQ(chain.refusal(), message);
  }
}

}  // namespace
}  // namespace tilewright::tree

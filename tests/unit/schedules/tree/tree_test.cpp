// SPDX-License-Identifier: Apache-2.0
//
// The default tree, the order of nests, and refusals of trees that no text can make.
#include "schedules/tree/tree.h"

#include <gtest/gtest.h>
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

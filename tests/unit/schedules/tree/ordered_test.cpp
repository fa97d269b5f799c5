// SPDX-License-Identifier: Apache-2.0
//
// What a tree may not do to scans, updates and reductions of several values.
#include <gtest/gtest.h>

#include "frontend/ir/text.h"
#include "schedules/tree/tree.h"

namespace tilewright::tree {
namespace {

struct Ordered : ::testing::Test {
  ir::Context context;
  ir::Algorithm algorithm = ir::parse_algorithm(context, Source("ordered.tw", R"(
monoid maps(a : i32, b : i32) {
  identity 1, 0
  combine(f, g) = f.a * g.a, g.a * f.b + g.b
}
algorithm ordered(M, N) {
  input x : i32[M, N]
  input e : i32[M]
  empty[i] = e[i] * 2
  down[i, j] = scan sum(i) x[i, j]
  put[k < M + N] = update i32(0) sum(i < M, j < N) at [i + j] x[i, j]
  map[i] = maps(j < N) (x[i, j], down[i, j])
  best = argmax(i < M, j < N) (x[i, j], i64(i))
  view flat[i] = e[i]
  output y[i] = sum(j < N where x[i, j] > 0) x[i, j] + put[j] on_empty empty[i] + flat[i]
})"))
                                .value();
  Tree tree = default_tree(algorithm);
  Symbol name(const char* text) { return context.symbol(text); }
  Nest& nest(const char* text) { return *tree.find(name(text)); }
  std::string refusal() {
    auto verified = verify(algorithm, tree);
    return verified.ok() ? "" : verified.diagnostics()[0].message;
  }
};

TEST_F(Ordered, DefaultTreeIsRightAndHasNoView) {
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(tree.find(name("flat")), nullptr);
  Nest flat;
  flat.name = name("flat");
  flat.loops = {{name("i"), LoopKind::Serial}};
  tree.nests.push_back(flat);
  EXPECT_EQ(refusal(), "`flat` is a view and has a nest");
}

TEST_F(Ordered, ScansKeepTheirIndexInOrder) {
  // The other index may run anywhere.
  std::swap(nest("down").loops[0], nest("down").loops[1]);
  nest("down").loops[0].kind = LoopKind::Parallel;
  EXPECT_EQ(refusal(), "");
  nest("down").loops[1].kind = LoopKind::Vector;
  EXPECT_EQ(refusal(),
            "loop `down.i` runs in order: `down` is a scan, so each value needs the one before");
}

TEST_F(Ordered, SplitsMayNotTurnTheOrderAround) {
  Nest& down = nest("down");
  down.steps.push_back(SplitStep{name("i"), 4, name("io"), name("ii")});
  down.loops = {{name("io"), LoopKind::Serial},
                {name("ii"), LoopKind::Serial},
                {name("j"), LoopKind::Serial}};
  EXPECT_EQ(refusal(), "");
  std::swap(down.loops[0], down.loops[1]);
  EXPECT_EQ(refusal(),
            "the loops of `down` are not in the order of its terms: it is a scan, so each value "
            "needs the one before");
}

TEST_F(Ordered, UpdatesAndDeclaredReductionsKeepTheOrderOfTheirTerms) {
  std::swap(nest("put").loops[1], nest("put").loops[2]);
  EXPECT_EQ(refusal(),
            "the loops of `put` are not in the order of its terms: it is an update, so its order "
            "is kept");
  std::swap(nest("put").loops[1], nest("put").loops[2]);
  nest("map").loops[1].kind = LoopKind::Vector;
  EXPECT_EQ(refusal(),
            "loop `map.j` runs in order: `map` is a reduction of several values, so its order is "
            "kept");
  nest("map").loops[1].kind = LoopKind::Serial;
  // argmax says itself which of two elements wins.
  std::swap(nest("best").loops[0], nest("best").loops[1]);
  EXPECT_EQ(refusal(), "");
}

TEST_F(Ordered, PlacementsThatNeedTheWhole) {
  nest("down").at = LoopRef{name("map"), name("i")};
  EXPECT_EQ(refusal(),
            "`down` is a scan: a part of it needs all before, which is computed as a whole");
  nest("down").at.reset();
  nest("empty").at = LoopRef{name("y"), name("j")};
  order_nests(tree);
  EXPECT_EQ(
      refusal(),
      "`empty` is placed inside the reduction of `y`, which reads it outside of its terms too");
  tree.find(name("empty"))->at = LoopRef{name("y"), name("i")};
  EXPECT_EQ(refusal(), "");
}

}  // namespace
}  // namespace tilewright::tree

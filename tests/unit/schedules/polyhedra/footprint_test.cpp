// SPDX-License-Identifier: Apache-2.0
//
// Footprints of tiles as `build` asks for them, and coverage.
#include "schedules/polyhedra/footprint.h"

#include <gtest/gtest.h>

#include "tests/unit/schedules/polyhedra/enumeration.h"
#include "tests/unit/schedules/polyhedra/index_evaluator.h"

namespace tilewright::poly {
namespace {

AffineExpr v(const char* name) { return AffineExpr::variable(name); }

// Points of one tile: low <= dim < low + size for a loop variable.
BasicSet tile(const char* dim, const char* loop, std::int64_t size) {
  return BasicSet()
      .at_least(v(dim), v(loop) * size)
      .less(v(dim), v(loop) * size + AffineExpr(size));
}

std::vector<std::string> box_texts(Context& context, const TensorFootprint& one,
                                   const Set& assumed) {
  std::vector<std::string> texts;
  for (const DimBounds& bounds : must(box_hull(context, one.cells, assumed))) {
    texts.push_back("[" + bounds.lower.text() + ", " + bounds.upper.text() + ") " +
                    bounds.extent.text());
  }
  return texts;
}

TEST(Footprint, OperandsOfATiledProduct) {
  ir::Context ir_context;
  ir::Algorithm gemm = parsed(ir_context,
                              "algorithm gemm(M min 1, N min 1, K min 1) {\n"
                              "  input a : f32[M, K]\n  input b : f32[K, N]\n"
                              "  output c[i < M, j < N] : f32 = sum(k < K) a[i, k] * b[k, j]\n}\n");
  Context context;
  IterationDomain domain = iteration_domain(gemm, gemm.equations[0]);
  Set points = constrained(constrained(domain.points, tile("i", "io", 96)), tile("k", "ko", 64));
  Set loops = constrained(assumptions(gemm).sizes, BasicSet()
                                                       .at_least(v("io"), AffineExpr())
                                                       .less(v("io") * 96, v("M"))
                                                       .at_least(v("ko"), AffineExpr())
                                                       .less(v("ko") * 64, v("K")));
  std::vector<TensorFootprint> found =
      must(footprints(context, gemm, accesses(gemm, gemm.equations[0]), points));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(box_texts(context, found[0], loops),
            (std::vector<std::string>{"[96*io, min(M, 96*io + 96)) min(96, M - 96*io)",
                                      "[64*ko, min(K, 64*ko + 64)) min(64, K - 64*ko)"}));
  EXPECT_EQ(
      box_texts(context, found[1], loops),
      (std::vector<std::string>{"[64*ko, min(K, 64*ko + 64)) min(64, K - 64*ko)", "[0, N) N"}));
}

TEST(Footprint, AStencilUnitesItsReadsAndStopsAtTheBorder) {
  ir::Context ir_context;
  ir::Algorithm blur = parsed(ir_context,
                              "algorithm blur(N min 3) {\n"
                              "  input x : f32[N]\n"
                              "  output y[i < N - 2] : f32 = x[i] + x[i + 1] + x[i + 2]\n}\n");
  Context context;
  IterationDomain domain = iteration_domain(blur, blur.equations[0]);
  Set points = constrained(domain.points, tile("i", "io", 16));
  Set loops = constrained(
      assumptions(blur).sizes,
      BasicSet().at_least(v("io"), AffineExpr()).less(v("io") * 16, v("N") - AffineExpr(2)));
  std::vector<TensorFootprint> found =
      must(footprints(context, blur, accesses(blur, blur.equations[0]), points));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(box_texts(context, found[0], loops),
            (std::vector<std::string>{"[16*io, min(N, 16*io + 18)) min(18, N - 16*io)"}));
}

TEST(Footprint, ACausalMaskShortensTheKeys) {
  ir::Context ir_context;
  ir::Algorithm mask =
      parsed(ir_context,
             "algorithm mask(S min 1, T min 1) {\n"
             "  requires S <= T\n"
             "  input k : f32[T]\n"
             "  output w[s < S] : f32 = sum(t < T) select(t <= s + T - S, k[t], f32(0))\n}\n");
  Context context;
  IterationDomain domain = iteration_domain(mask, mask.equations[0]);
  Set points = constrained(domain.points, tile("s", "so", 48));
  Set loops = constrained(assumptions(mask).sizes,
                          BasicSet().at_least(v("so"), AffineExpr()).less(v("so") * 48, v("S")));
  std::vector<TensorFootprint> found =
      must(footprints(context, mask, accesses(mask, mask.equations[0]), points));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(
      box_texts(context, found[0], loops),
      (std::vector<std::string>{"[0, min(-S + T + 48*so + 48, T)) min(-S + T + 48*so + 48, T)"}));
}

TEST(Coverage, TheFirstUncoveredPointIsTheSmallest) {
  Context context;
  Set needed = must(parse_set(context, "[N] -> { [i] : 0 <= i < N }"));
  Set tiles = must(parse_set(
      context, "[N] -> { [i] : exists o : 4o <= i < 4o + 4 and 0 <= o and 4o + 4 <= N }"));
  Set any = must(parse_set(context, "[N] -> { [] : N >= 0 }"));
  Set divisible = must(parse_set(context, "[N] -> { [] : N >= 0 and N mod 4 = 0 }"));
  std::optional<Point> missing = must(first_uncovered(context, needed, tiles, any));
  ASSERT_TRUE(missing.has_value());
  EXPECT_EQ(missing->text(), "N = 1, i = 0");
  EXPECT_FALSE(must(first_uncovered(context, needed, tiles, divisible)).has_value());
}

}  // namespace
}  // namespace tilewright::poly

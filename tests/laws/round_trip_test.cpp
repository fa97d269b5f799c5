// SPDX-License-Identifier: Apache-2.0
//
// The two laws of every text form, and the one of JSON, over random values:
// parse(print(x)) == x, print(parse(t)) == t for canonical t, from_json(to_json(x)) == x.
#include <gtest/gtest.h>

#include <set>

#include "frontend/base/render.h"
#include "frontend/ir/generate.h"
#include "frontend/ir/json.h"
#include "frontend/ir/text.h"
#include "frontend/ir/verify.h"
#include "frontend/ir/walk.h"
#include "lowering/program/json.h"
#include "lowering/program/text.h"
#include "lowering/program/verify.h"
#include "tests/laws/program_maker.h"

namespace tilewright {
namespace {

constexpr int kAlgorithms = 3000;

// Every third algorithm may be undefined somewhere, every fifth nests deeply.
ir::GenerateOptions options_of(int seed) {
  ir::GenerateOptions options;
  options.defined = seed % 3 != 0;
  options.max_depth = seed % 5 == 0 ? 7 : 4;
  return options;
}

TEST(RoundTrip, TextOfAlgorithms) {
  for (int seed = 0; seed < kAlgorithms; ++seed) {
    ir::Context context;
    const ir::Algorithm algorithm = ir::random_algorithm(context, seed, options_of(seed));
    const std::string text = ir::print(algorithm);
    ASSERT_EQ(render(ir::verify(algorithm), nullptr), "") << "seed " << seed << "\n" << text;
    const Source source("generated", text);
    auto parsed = ir::parse_algorithm(context, source);
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << "\n"
                             << text << render(parsed.diagnostics(), &source);
    ASSERT_TRUE(*parsed == algorithm) << "seed " << seed << "\n" << text << ir::print(*parsed);
    ir::Context other;
    auto elsewhere = ir::parse_algorithm(other, source);
    ASSERT_TRUE(elsewhere.ok());
    ASSERT_EQ(ir::print(*elsewhere), text) << "seed " << seed;
  }
}

TEST(RoundTrip, JsonOfAlgorithms) {
  for (int seed = 0; seed < kAlgorithms; ++seed) {
    ir::Context context;
    const ir::Algorithm algorithm = ir::random_algorithm(context, seed, options_of(seed));
    const std::string text = ir::to_json(algorithm).dump(-1);
    const Source source("generated", text);
    auto json = parse_json(source);
    ASSERT_TRUE(json.ok()) << "seed " << seed << render(json.diagnostics(), &source);
    ASSERT_EQ(json->dump(-1), text) << "seed " << seed;
    auto parsed = ir::algorithm_from_json(context, *json);
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << render(parsed.diagnostics(), nullptr);
    ASSERT_TRUE(*parsed == algorithm) << "seed " << seed << "\n" << ir::print(algorithm);
  }
}

TEST(RoundTrip, GeneratorReachesEveryKindOperationMonoidAndType) {
  std::set<ir::ExprKind> kinds;
  std::set<ir::OpCode> ops;
  std::set<ir::Monoid> monoids;
  std::set<std::string> forms;
  std::set<ir::ScalarType> types;
  for (int seed = 0; seed < 600; ++seed) {
    ir::Context context;
    for (const ir::Equation& equation : ir::random_algorithm(context, seed).equations)
      ir::walk(equation.value, [&](ir::Expr e) {
        kinds.insert(e.kind());
        types.insert(e.type());
        if (const auto* op = e.as<ir::Op>()) ops.insert(op->op);
        const auto* fold = e.as<ir::Fold>();
        if (!fold) return;
        monoids.insert(fold->monoid_kind());
        forms.insert(fold->scan          ? (fold->state.empty() ? "scan" : "recurrence")
                     : fold->is_update() ? "update"
                                         : "reduction");
        if (!fold->where.empty()) forms.insert("where");
        if (!fold->on_empty.empty()) forms.insert("on_empty");
        if (fold->body.size() > 1) forms.insert("tuple");
      });
  }
  int num_kinds = 0;
#define TILEWRIGHT_EXPR(name) ++num_kinds;
#include "frontend/ir/expr_kinds.def"
#undef TILEWRIGHT_EXPR
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(num_kinds));
  EXPECT_EQ(ops.size(), static_cast<std::size_t>(ir::kNumOps));
  // With those that an algorithm declares.
  EXPECT_EQ(monoids.size(), static_cast<std::size_t>(ir::kNumMonoids) + 1);
  EXPECT_EQ(forms.size(), 7U);
  EXPECT_EQ(types.size(), static_cast<std::size_t>(ir::kNumScalarTypes));
}

TEST(RoundTrip, SameSeedSameAlgorithm) {
  for (int seed = 0; seed < 50; ++seed) {
    ir::Context a;
    ir::Context b;
    EXPECT_EQ(ir::print(ir::random_algorithm(a, seed)), ir::print(ir::random_algorithm(b, seed)));
  }
}

TEST(RoundTrip, RandomBindingsKeepRangesAndRequirements) {
  int found = 0;
  for (int seed = 0; seed < 500; ++seed) {
    ir::Context context;
    const ir::Algorithm algorithm = ir::random_algorithm(context, seed);
    const auto bindings = ir::random_bindings(algorithm, seed, 40);
    if (!bindings) continue;
    ++found;
    for (const ir::ExtentDecl& extent : algorithm.extents) {
      const std::int64_t size = bindings->at(extent.name);
      EXPECT_GE(size, extent.min);
      EXPECT_LE(size, extent.max.value_or(INT64_MAX));
      EXPECT_EQ(size % extent.multiple_of, 0);
    }
    for (ir::Expr requirement : algorithm.requirements)
      EXPECT_TRUE(ir::evaluate_extents(requirement, *bindings));
  }
  EXPECT_GT(found, 480);
}

TEST(RoundTrip, TextOfPrograms) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    ir::Context context;
    const program::Program made = ProgramMaker(context, seed).make();
    const std::string text = program::print(made);
    ASSERT_EQ(render(program::verify(made), nullptr), "") << "seed " << seed << "\n" << text;
    const Source source("made", text);
    auto parsed = program::parse_program(context, source);
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << "\n"
                             << text << render(parsed.diagnostics(), &source);
    ASSERT_TRUE(*parsed == made) << "seed " << seed << "\n" << text << program::print(*parsed);
    ASSERT_EQ(program::print(*parsed), text) << "seed " << seed;
  }
}

TEST(RoundTrip, MadeProgramsReachEveryKindScopeSpaceAndObject) {
  std::set<program::StmtKind> kinds;
  std::set<program::Scope> scopes;
  std::set<program::Space> spaces;
  std::set<program::ObjectKind> objects;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    ir::Context context;
    program::walk(ProgramMaker(context, seed).make().body, [&](program::Stmt s) {
      kinds.insert(s.kind());
      if (const auto* n = s.as<program::Bind>()) scopes.insert(n->scope);
      if (const auto* n = s.as<program::Alloc>()) spaces.insert(n->space);
      if (const auto* n = s.as<program::Object>()) objects.insert(n->object);
    });
  }
  int num_kinds = 0;
#define TILEWRIGHT_STMT(name) ++num_kinds;
#include "lowering/program/stmt_kinds.def"
#undef TILEWRIGHT_STMT
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(num_kinds));
  EXPECT_EQ(scopes.size(), static_cast<std::size_t>(program::kNumScopes - 1));
  EXPECT_EQ(spaces.size(), static_cast<std::size_t>(program::kNumSpaces));
  EXPECT_EQ(objects.size(), static_cast<std::size_t>(program::kNumObjectKinds));
}

TEST(RoundTrip, JsonOfPrograms) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    ir::Context context;
    const program::Program made = ProgramMaker(context, seed).make();
    const Source source("made", program::to_json(made).dump());
    auto json = parse_json(source);
    ASSERT_TRUE(json.ok()) << "seed " << seed << render(json.diagnostics(), &source);
    auto parsed = program::program_from_json(context, *json);
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << render(parsed.diagnostics(), nullptr);
    ASSERT_TRUE(*parsed == made) << "seed " << seed << "\n" << program::print(made);
  }
}

// What a rewrite that changes nothing gives is the same node.
TEST(RoundTrip, MapPartsOfPrograms) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    ir::Context context;
    const program::Program made = ProgramMaker(context, seed).make();
    ASSERT_TRUE(program::rewrite(context, made.body, {}, {}) == made.body) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tilewright

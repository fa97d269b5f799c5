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

// Programs around the equations of a random algorithm: nests of every kind of statement with its
// expressions. They are well formed, not meaningful.
class ProgramMaker {
 public:
  ProgramMaker(ir::Context& context, unsigned seed) : context_(context), state_(seed * 7919U + 1) {}

  program::Program make() {
    program::Program out;
    out.name = context_.symbol("made");
    out.algorithm = context_.symbol("generated");
    out.extents.push_back({context_.symbol("M"), 1, 64, 2, {}});
    const ir::Expr m = context_.extent(context_.symbol("M"));
    out.requirements.push_back(context_.le(context_.index(1), m));
    out.parameters = {{context_.symbol("a"), ir::ScalarType::F32, {m}, false},
                      {context_.symbol("c"), ir::ScalarType::F32, {m}, true}};
    buffers_ = {context_.symbol("c")};
    out.body = block(4, false);
    return out;
  }

 private:
  unsigned below(unsigned n) {
    state_ = state_ * 1664525U + 1013904223U;
    return (state_ >> 16) % n;
  }
  Symbol fresh(const char* stem) {
    return context_.symbol(stem + std::to_string(number_++) + (below(4) == 0 ? ".tail" : ""));
  }
  ir::Expr index() {
    ir::Expr e = vars_.empty() ? context_.index(below(5)) : vars_[below(unsigned(vars_.size()))];
    if (below(2)) e = context_.add(e, context_.index(int(below(7)) - 3));
    if (below(3) == 0) e = context_.floor_mod(e, context_.index(1 + below(8)));
    return e;
  }
  ir::Expr value() {
    const ir::Expr at[] = {index()};
    ir::Expr x = context_.read(context_.symbol("a"), at, ir::ScalarType::F32);
    if (below(2)) x = context_.op(ir::OpCode::Fma, {x, context_.real(ir::ScalarType::F32, 0.1), x});
    if (!floats_.empty() && below(2)) x = context_.add(x, floats_[0]);
    return x;
  }
  program::Stmt block(int depth, bool in_vector) {
    std::vector<program::Stmt> body;
    for (unsigned i = below(4); i > 0; --i) body.push_back(statement(depth, in_vector));
    return program::make_block(context_, body);
  }
  program::Stmt statement(int depth, bool in_vector) {
    switch (depth == 0 ? 0 : below(6)) {
      case 1:
      case 2: {
        auto kind = static_cast<program::LoopKind>(below(4));
        if (in_vector && kind != program::LoopKind::Unrolled) kind = program::LoopKind::Serial;
        const bool fixed = kind >= program::LoopKind::Vector;
        const Symbol var = fresh("p");
        const ir::Expr upper = fixed ? context_.index(8) : context_.extent(context_.symbol("M"));
        vars_.push_back(context_.var(var));
        program::Stmt body = block(depth - 1, in_vector || kind == program::LoopKind::Vector);
        vars_.pop_back();
        return program::make_for(context_, kind, var, context_.index(below(2)), upper, body);
      }
      case 3: {
        program::Stmt other = below(2) ? block(depth - 1, in_vector) : program::Stmt();
        return program::make_if(context_,
                                context_.lt(value(), context_.real(ir::ScalarType::F32, 1)),
                                block(depth - 1, in_vector), other);
      }
      case 4: {
        const Symbol var = fresh("v");
        const ir::Expr bound = value();
        floats_.insert(floats_.begin(), context_.var(var, ir::ScalarType::F32));
        program::Stmt body = block(depth - 1, in_vector);
        floats_.erase(floats_.begin());
        return program::make_let(context_, var, bound, body);
      }
      case 5: {
        const Symbol buffer = fresh("t");
        const ir::Expr extent[] = {context_.index(8)};
        buffers_.push_back(buffer);
        program::Stmt body = block(depth - 1, in_vector);
        buffers_.pop_back();
        return program::make_alloc(context_, buffer, ir::ScalarType::F32, extent,
                                   static_cast<program::Space>(below(3)), body);
      }
      default: {
        const ir::Expr at[] = {index()};
        const auto role = static_cast<program::OriginRole>(below(6));
        const bool named = below(3) != 0;
        return program::make_store(context_, buffers_[below(unsigned(buffers_.size()))], at,
                                   value(), role, named ? context_.symbol("c") : Symbol(),
                                   std::span<const ir::Expr>(at, named ? 1 : 0));
      }
    }
  }

  ir::Context& context_;
  unsigned state_;
  int number_ = 0;
  std::vector<ir::Expr> vars_;
  std::vector<ir::Expr> floats_;
  std::vector<Symbol> buffers_;
};

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

}  // namespace
}  // namespace tilewright

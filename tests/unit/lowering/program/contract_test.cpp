// SPDX-License-Identifier: Apache-2.0
//
// What a library demands of its caller: where extents come from, that each check stands after those that make
// it safe, and where buffers lie in the workspace. Sizes are computed by hand here.
#include "lowering/program/contract.h"

#include <gtest/gtest.h>

#include <set>
#include <unordered_set>

#include "frontend/ir/walk.h"
#include "lowering/program/split_complex.h"
#include "lowering/program/text.h"
#include "tests/laws/random_case.h"

namespace tilewright::program {
namespace {

struct Subject {
  ir::Context context;
  Program program;
  Result<Contract> contract = Contract{};

  explicit Subject(const std::string& text) {
    auto parsed = parse_program(context, Source("test.twp", text));
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.diagnostics()[0].message) << text;
    if (!parsed.ok()) return;
    program = std::move(*parsed);
    contract = derive_contract(context, program);
  }
  std::int64_t value(Expr expr, std::int64_t n, std::int64_t workers) {
    ir::Substitution of{{contract->workspace.workers, context.index(workers)}};
    return ir::evaluate_extents(ir::substitute(context, expr, of), {{context.symbol("N"), n}});
  }
  std::int64_t offset(const char* buffer, std::int64_t n) {
    return value(contract->workspace.offset.at(context.symbol(buffer)), n, 1);
  }
};

std::string head(const std::string& parameters) {
  return "program f for f {\n  extent N min 2 max 99 multiple_of 3\n" + parameters;
}

TEST(Contract, AnExtentComesFromTheFirstInputThatIsExactlyIt) {
  const Subject s(
      "program f for f {\n  extent N\n  extent M\n  input a : f32[N + 1]\n"
      "  input b : f32[2, N]\n  input c : f32[N]\n  output o : f32[M, N]\n"
      "  for i in 0 .. 0 {\n    o[0, 0] = f32(0)\n  }\n}\n");
  ASSERT_TRUE(s.contract.ok());
  ASSERT_EQ(s.contract->bindings.size(), 2U);
  EXPECT_EQ(s.contract->bindings[0].extent.text(), "N");
  EXPECT_EQ(s.contract->bindings[0].parameter, 1);
  EXPECT_EQ(s.contract->bindings[0].dimension, 1);
  EXPECT_EQ(s.contract->bindings[1].extent.text(), "M");
  EXPECT_EQ(s.contract->bindings[1].parameter, 3);
  EXPECT_EQ(s.contract->bindings[1].dimension, 0);
}

TEST(Contract, RangesOfExtentsAreChecks) {
  const Subject s(
      head("  requires N != 9\n  input a : f32[N]\n  output o : f32[N]\n"
           "  for i in 0 .. N {\n    o[i] = a[i]\n  }\n}\n"));
  ASSERT_TRUE(s.contract.ok());
  std::map<CheckKind, std::int64_t> values;
  for (const Check& check : s.contract->checks)
    if (check.argument <= 0) values[check.kind] = check.value;
  EXPECT_EQ(values.at(CheckKind::ExtentMin), 2);
  EXPECT_EQ(values.at(CheckKind::ExtentMax), 99);
  EXPECT_EQ(values.at(CheckKind::ExtentMultiple), 3);
  EXPECT_EQ(values.at(CheckKind::Rank), 1);
  EXPECT_EQ(values.count(CheckKind::Requires), 1U);
  EXPECT_EQ(values.count(CheckKind::Writable), 0U) << "an input may be read-only";
}

TEST(Contract, OnlyOutputsMustNotOverlap) {
  const Subject s(
      head("  input a : f32[N]\n  input b : f32[N]\n  output o : f32[N]\n  output p : f32[N]\n"
           "  for i in 0 .. N {\n    o[i] = a[i]\n    p[i] = b[i]\n  }\n}\n"));
  ASSERT_TRUE(s.contract.ok());
  std::set<std::pair<int, int>> pairs;
  for (const Check& check : s.contract->checks)
    if (check.kind == CheckKind::Overlap) pairs.insert({check.other, check.argument});
  EXPECT_EQ(pairs, (std::set<std::pair<int, int>>{{0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}}));
}

// One that is read and written gives extents like an input, and overlaps nothing like an output.
TEST(Contract, AnInOutParameterIsBoth) {
  const Subject s(
      head("  output o : f32[2 * N]\n  inout a : f32[N]\n  input b : f32[N]\n"
           "  for i in 0 .. N {\n    a[i] = a[i] + b[i]\n  }\n"
           "  for j in 0 .. 2 * N {\n    o[j] = 0\n  }\n}\n"));
  ASSERT_TRUE(s.contract.ok());
  ASSERT_EQ(s.contract->bindings.size(), 1U);
  EXPECT_EQ(s.contract->bindings[0].parameter, 1);
  std::set<std::pair<int, int>> pairs;
  std::set<int> writable;
  for (const Check& check : s.contract->checks) {
    if (check.kind == CheckKind::Overlap) pairs.insert({check.other, check.argument});
    if (check.kind == CheckKind::Writable) writable.insert(check.argument);
  }
  EXPECT_EQ(pairs, (std::set<std::pair<int, int>>{{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(writable, (std::set<int>{0, 1}));
}

TEST(Contract, AnExtentOfNoDimensionIsRefused) {
  const Subject s(
      "program f for f {\n  extent N\n  input a : f32[N + 1]\n  output o : f32[2 * N]\n"
      "  for i in 0 .. N {\n    o[i] = a[i]\n  }\n}\n");
  ASSERT_FALSE(s.contract.ok());
  EXPECT_EQ(s.contract.diagnostics()[0].code, Code::UnboundExtent);
  EXPECT_NE(s.contract.diagnostics()[0].message.find("`N`"), std::string::npos);
}

TEST(Contract, AWorkspaceBufferOverALoopVariableIsRefused) {
  const Subject s(
      head("  input a : f32[N]\n  output o : f32[N]\n  for i in 0 .. N {\n"
           "    alloc t : f32[i + 1] in workspace {\n      t[i] = a[i]\n      o[i] = t[i]\n"
           "    }\n  }\n}\n"));
  ASSERT_FALSE(s.contract.ok());
  EXPECT_EQ(s.contract.diagnostics()[0].code, Code::WorkspaceExtent);
  EXPECT_NE(s.contract.diagnostics()[0].message.find("`t`"), std::string::npos);
}

TEST(Contract, NestedBuffersFollowAndSiblingsShare) {
  Subject s(
      head("  input a : f32[N]\n  output o : f32[N]\n"
           "  let half = N / 2 {\n  alloc t : f32[N] in workspace {\n    t[0] = a[0]\n"
           "    alloc u : f64[half, 3] in workspace {\n      u[0, 0] = f64(0)\n    }\n"
           "    alloc v : i8[5] in workspace {\n      v[0] = i8(1)\n    }\n"
           "    alloc w : f32[64] in stack {\n      w[0] = f32(1)\n    }\n  }\n  }\n}\n"));
  ASSERT_TRUE(s.contract.ok());
  EXPECT_EQ(s.offset("t", 30), 0);
  EXPECT_EQ(s.offset("u", 30), 128);  // 120 bytes to the next multiple of 64
  EXPECT_EQ(s.offset("v", 30), 128);
  EXPECT_EQ(s.value(s.contract->workspace.total, 30, 1), 128 + 384);  // 15 * 3 * 8 = 360
  EXPECT_EQ(s.value(s.contract->workspace.total, 3, 1), 64 + 64);
  EXPECT_EQ(s.contract->workspace.offset.count(s.context.symbol("w")), 0U);
}

TEST(Contract, EachWorkerHasASliceAndEachLaneACopy) {
  Subject s(
      head("  input a : f32[N]\n  output o : f32[N]\n"
           "  alloc t : f32[N] in workspace {\n    t[0] = a[0]\n    parallel i in 0 .. N {\n"
           "      alloc u : f32[20] in workspace {\n        u[0] = f32(0)\n"
           "        vector j in 0 .. 4 {\n          alloc v : f32[10] in workspace {\n"
           "            v[0] = f32(0)\n          }\n        }\n        o[i] = u[0]\n      }\n    "
           "}\n  }\n}\n"));
  ASSERT_TRUE(s.contract.ok());
  const WorkspacePlan& plan = s.contract->workspace;
  const Symbol i = s.context.symbol("i");
  EXPECT_EQ(s.value(plan.slice_begin.at(i), 30, 4), 128);
  EXPECT_EQ(s.value(plan.slice_size.at(i), 30, 4), 128 + 192);  // 80 bytes; 4 lanes of 40
  EXPECT_EQ(s.offset("u", 30), 0);
  EXPECT_EQ(s.offset("v", 30), 128);
  EXPECT_EQ(s.value(plan.total, 30, 4), 128 + 4 * 320);
  EXPECT_EQ(s.value(plan.total, 30, 1), 128 + 320);
}

// What earlier checks have made safe to read.
class Safety {
 public:
  // The first rule that the check breaks, or nothing.
  std::string meet(const Check& check, const Program& program) {
    const auto with = [&](CheckKind kind) { return done_.count({kind, check.argument}) > 0; };
    std::string wrong;
    const auto need = [&](bool ok, const char* what) {
      if (!ok && wrong.empty()) wrong = what;
    };
    if (check.kind != CheckKind::Call) need(done_.count({CheckKind::Call, -1}) > 0, "the call");
    if (check.argument >= 0 && check.kind != CheckKind::NotNull)
      need(with(CheckKind::NotNull), "the descriptor");
    const bool reads_shape =
        check.dimension >= 0 || check.kind == CheckKind::Bytes || check.kind == CheckKind::Strides;
    if (reads_shape) {
      need(with(CheckKind::Rank), "the rank");
      if (!program.parameters[check.argument].shape.empty())
        need(with(CheckKind::ShapeNotNull), "the shape");
    }
    if (check.kind == CheckKind::Alignment) need(with(CheckKind::Bytes), "the data");
    if (check.kind == CheckKind::ExtentMin) {
      extents_.insert(check.expr);
    } else if (check.expr) {
      ir::walk(check.expr, [&](Expr e) {
        if (e.as<ir::Extent>()) need(extents_.count(e) > 0, "an extent");
      });
    }
    for (const auto& [kind, whole] : {std::pair{CheckKind::Overlap, CheckKind::Bytes},
                                      std::pair{CheckKind::WorkspaceOverlap, CheckKind::Bytes}})
      if (check.kind == kind) need(with(whole), "the bytes");
    if (check.kind == CheckKind::Overlap)
      need(done_.count({CheckKind::Bytes, check.other}) > 0, "the other's bytes");
    if (check.kind == CheckKind::WorkspaceOverlap)
      need(done_.count({CheckKind::WorkspaceSize, -1}) > 0, "the workspace");
    done_.insert({check.kind, check.argument});
    return wrong;
  }

 private:
  std::set<std::pair<CheckKind, int>> done_;
  std::unordered_set<Expr> extents_;
};

// Every dimension is compared or bound, once.
void expect_dimensions_covered(const Program& program, const Contract& contract) {
  std::map<std::pair<int, int>, int> seen;
  for (const Check& check : contract.checks)
    if (check.kind == CheckKind::Shape || check.kind == CheckKind::ExtentMin)
      ++seen[{check.argument, check.dimension}];
  std::size_t dimensions = 0;
  for (const Parameter& parameter : program.parameters) dimensions += parameter.shape.size();
  EXPECT_EQ(seen.size(), dimensions);
  for (const auto& [place, count] : seen) EXPECT_EQ(count, 1);
}

// Buffers that live at the same time lie apart, within their slice or the whole.
class Layout {
 public:
  Layout(ir::Context& context, const Contract& contract, const ir::Bindings& bindings)
      : context_(context), plan_(contract.workspace), bindings_(bindings) {}

  void visit(Stmt stmt) {
    if (!stmt) return;
    if (const auto* block = stmt.as<Block>())
      for (Stmt child : block->body) visit(child);
    if (const auto* let = stmt.as<Let>()) visit(let->body);
    if (const auto* branch = stmt.as<If>()) {
      visit(branch->then_body);
      visit(branch->else_body);
    }
    if (const auto* loop = stmt.as<For>()) visit_loop(*loop);
    if (const auto* alloc = stmt.as<Alloc>()) visit_alloc(*alloc);
  }
  int buffers() const { return buffers_; }

 private:
  static constexpr std::int64_t kWorkers = 3;

  std::int64_t value(Expr expr) {
    ir::Substitution of{{plan_.workers, context_.index(kWorkers)}};
    return ir::evaluate_extents(ir::substitute(context_, expr, of), bindings_);
  }
  void visit_loop(const For& loop) {
    const auto slice = plan_.slice_begin.find(loop.var);
    if (loop.loop != LoopKind::Parallel || slice == plan_.slice_begin.end())
      return visit(loop.body);
    const std::int64_t size = value(plan_.slice_size.at(loop.var));
    const std::int64_t begin = value(slice->second);
    expect_place(begin, begin + kWorkers * size);
    const auto outer = live_;
    const auto outer_limit = limit_;
    live_.clear();
    limit_ = size;
    visit(loop.body);
    live_ = outer;
    limit_ = outer_limit;
  }
  void visit_alloc(const Alloc& alloc) {
    if (alloc.space != Space::Workspace) return visit(alloc.body);
    ++buffers_;
    std::int64_t bytes = ir::size_bytes(alloc.type);
    bool sized = true;
    for (Expr extent : alloc.extents) {
      sized &= ir::free_vars(extent).empty();
      if (sized) bytes *= value(extent);
    }
    const std::int64_t begin = value(plan_.offset.at(alloc.buffer));
    EXPECT_EQ(begin % kWorkspaceAlignment, 0);
    if (sized) {
      expect_place(begin, begin + bytes);
      live_.push_back({begin, begin + bytes});
    }
    visit(alloc.body);
    if (sized) live_.pop_back();
  }
  void expect_place(std::int64_t begin, std::int64_t end) {
    EXPECT_GE(begin, 0);
    EXPECT_LE(end, limit_ < 0 ? value(plan_.total) : limit_);
    for (const auto& [from, to] : live_) EXPECT_TRUE(end <= from || to <= begin);
  }

  ir::Context& context_;
  const WorkspacePlan& plan_;
  const ir::Bindings& bindings_;
  std::vector<std::pair<std::int64_t, std::int64_t>> live_;
  std::int64_t limit_ = -1;  // of the slice; below zero: the whole
  int buffers_ = 0;
};

TEST(Contract, LawsHoldForRandomPrograms) {
  int derived = 0;
  int buffers = 0;
  for (std::uint64_t seed = 0; seed < 150 && !::testing::Test::HasFailure(); ++seed) {
    laws::Case subject(seed);
    auto built = build::build(subject.context, subject.polyhedra, subject.algorithm,
                              subject.random.schedule);
    if (!built.ok()) continue;
    SCOPED_TRACE(print(*built));
    auto contract = derive_contract(subject.context, *built);
    if (!contract.ok()) {  // an algorithm may have an extent that no dimension gives
      EXPECT_EQ(contract.diagnostics()[0].code, Code::UnboundExtent);
      continue;
    }
    ++derived;
    Safety safety;
    for (const Check& check : contract->checks) EXPECT_EQ(safety.meet(check, *built), "");
    expect_dimensions_covered(*built, *contract);
    const auto bindings = subject.bindings(1);
    if (!bindings) continue;
    Layout layout(subject.context, *contract, *bindings);
    layout.visit(split_complex(subject.context, *built).body);
    buffers += layout.buffers();
  }
  EXPECT_GT(derived, 50);
  EXPECT_GT(buffers, 20);
}

TEST(Contract, EveryCheckHasWordsOfItsOwn) {
  std::set<std::string_view> texts;
  int kinds = 0;
  for (int k = 0; k <= static_cast<int>(CheckKind::WorkspaceOverlap); ++k, ++kinds) {
    const std::string_view text = check_text(static_cast<CheckKind>(k));
    EXPECT_FALSE(text.empty());
    texts.insert(text);
  }
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(kinds));
}

}  // namespace
}  // namespace tilewright::program

// SPDX-License-Identifier: Apache-2.0
//
// Two readings of what a Program does, written apart: the statements of tilewright-check are those of the prover, with
// the same instances, time, cells and reads. Sets are compared by isl.
#include "apps/check/statements.h"
#include "lowering/proof/statements.h"
#include "tests/unit/apps/check/texts.h"

namespace tilewright::checker {
namespace {

poly::AffineExpr affine(const Linear& linear) {
  poly::AffineExpr out(linear.constant());
  for (const auto& [atom, coefficient] : linear.terms())
    out =
        out + (atom.floor ? poly::floor_div(affine(atom.floor->numerator), atom.floor->denominator)
                          : poly::AffineExpr::variable(atom.name)) *
                  coefficient;
  return out;
}

poly::Set set(const poly::Space& space, const Union& parts) {
  std::vector<poly::BasicSet> out;
  for (const Conjunction& c : parts) {
    poly::BasicSet& piece = out.emplace_back();
    for (const Linear& e : c.equal) piece.equalities.push_back(affine(e));
    for (const Linear& e : c.at_least) piece.inequalities.push_back(affine(e));
  }
  return {space, std::move(out)};
}

class Agreement {
 public:
  explicit Agreement(const std::string& text) : text_(text) {}

  // False where the prover or the checker does not follow the Program.
  bool compare() {
    const Source source("program", text_);
    const auto parsed = program::parse_program(context_, source);
    EXPECT_TRUE(parsed.ok());
    const auto expected = proof::statements_of(context_, *parsed);
    // The checker does not follow agents yet; what data decide the prover moves into values.
    if (!expected.ok() || expected->has_agents) return false;
    for (const proof::Statement& one : expected->list) {
      if (!one.under.empty() || !one.data.empty()) return false;
      for (const proof::Access& access : one.reads)
        if (!access.data.empty()) return false;
    }
    if (text_.find(" call ") != std::string::npos) return false;
    Arena arena;
    const Program program = read_program(arena, text_);
    Statements found(arena, text_, program);
    EXPECT_TRUE(same(expected->sizes, set(expected->sizes.space(), found.sizes())));
    EXPECT_EQ(found.all().size(), expected->list.size());
    for (std::size_t i = 0; i < std::min(found.all().size(), expected->list.size()); ++i)
      statement(found, found.all()[i], expected->list[i]);
    return true;
  }
  std::size_t statements = 0, reads = 0;

 private:
  bool same(const poly::Set& a, const poly::Set& b) {
    const auto equal = poly::is_equal(polyhedra_, a, b);
    return equal.ok() && *equal;
  }

  void cell(Statements& all, const std::vector<Ref>& indices, const Environment& names,
            const std::vector<poly::AffineExpr>& expected, const poly::Set& where) {
    ASSERT_EQ(indices.size(), expected.size());
    for (std::size_t d = 0; d < indices.size(); ++d) {
      // The instances where the two are equal are all.
      const Value value = all.affine().value(indices[d], names);
      ASSERT_EQ(value.form, Value::Form::Linear);
      const poly::BasicSet agree = poly::BasicSet().equal(affine(value.linear), expected[d]);
      EXPECT_TRUE(same(where, poly::constrained(where, agree)));
    }
  }

  void statement(Statements& all, const Statement& s, const proof::Statement& expected) {
    ++statements;
    EXPECT_EQ(s.target, expected.buffer.text());
    const auto loops = Statements::loops(s.around);
    ASSERT_EQ(loops.size(), expected.loops.size());
    std::vector<Linear> values;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      EXPECT_EQ(loops[i]->stmt->name, expected.loops[i].name);
      EXPECT_EQ(loops[i]->is_lane(), expected.loops[i].kind == program::LoopKind::Vector);
      values.push_back(Linear::symbol(loops[i]->stmt->name));
    }
    std::vector<std::string> time;
    for (const proof::TimeStep& step : expected.time)
      time.push_back(step.loop < 0 ? std::to_string(step.position)
                                   : text(values[static_cast<std::size_t>(step.loop)]));
    // The checker's ends with the lanes, which order nothing.
    for (const proof::Loop& loop : expected.loops)
      if (loop.kind == program::LoopKind::Vector) time.push_back(loop.name);
    std::vector<std::string> found_time;
    for (const Linear& part : Statements::time(s, values)) found_time.push_back(text(part));
    EXPECT_EQ(found_time, time);
    const Instance instance = all.instance(s);
    const poly::Space& space = expected.domain.space();
    EXPECT_TRUE(same(expected.domain, set(space, instance.domain)));
    if (s.stores) cell(all, s.indices, instance.names, expected.cell, expected.domain);
    ASSERT_EQ(s.reads.size(), expected.reads.size());
    for (std::size_t i = 0; i < s.reads.size(); ++i) {
      ++reads;
      const proof::Access& access = expected.reads[i];
      EXPECT_EQ(s.reads[i].buffer, access.buffer.text());
      // The checker keeps apart what data decides; the prover has both arms everywhere.
      Union where = instance.domain;
      for (const Guard* g = s.reads[i].guard; g; g = g->outer) {
        const Union guard = all.affine().condition(g->condition, g->holds, instance.names);
        if (text(guard).find("data") == std::string::npos) where = both(where, guard);
      }
      EXPECT_TRUE(same(access.points, set(space, where)));
      cell(all, s.reads[i].indices, instance.names, access.cell, access.points);
    }
  }

  const std::string& text_;
  ir::Context context_;
  poly::Context polyhedra_;
};

TEST(CheckerAgrees, WithTheProverOnBuiltPrograms) {
  std::size_t programs = 0, statements = 0, reads = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Built one = built(seed);
    if (!one) continue;
    Agreement agreement(one.program);
    programs += agreement.compare();
    ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << one.program;
    statements += agreement.statements;
    reads += agreement.reads;
  }
  EXPECT_GT(programs, 20U);
  EXPECT_GT(statements, 150U);
  EXPECT_GT(reads, 250U);
}

TEST(CheckerAgrees, WithTheProverOnProgramsOfTheRepository) {
  std::size_t programs = 0;
  for (const std::string& text : program_texts()) {
    programs += Agreement(text).compare();
    ASSERT_FALSE(HasFailure()) << text;
  }
  EXPECT_GT(programs, 4U);
}

}  // namespace
}  // namespace tilewright::checker

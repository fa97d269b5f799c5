// SPDX-License-Identifier: Apache-2.0
//
// Roles that tree::verify_waits takes come to an end, and those that it refuses do not: random loops with random
// tables, rings, values and orders against agents that run statement by statement as far as they can. Pipelines of one
// agent that tree::verify takes read what they should, and those that it refuses do not: random schedules against buffers
// that hold the number of an iteration.
#include <numeric>

#include <gtest/gtest.h>
#include "frontend/ir/context.h"
#include "schedules/tree/verify_parts.h"
#include "tests/laws/random_case.h"

namespace tilewright {
namespace {

// Enough that every circle of a few statements has room.
constexpr int kIterations = 40;

struct Subject {
  tree::Nest owner;
  std::vector<tree::Nest> placed;
  std::vector<const tree::Nest*> statements;
  std::vector<tree::Flow> flows;
  tree::Loop loop;
};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}

  int below(int n) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(n));
  }

  void make(ir::Context& context, Subject& out) {
    const int n = 2 + below(4);
    out.owner.name = context.symbol("c");
    out.placed.resize(static_cast<std::size_t>(n - 1));
    for (int i = 0; i + 1 < n; ++i) {
      tree::Nest& nest = out.placed[static_cast<std::size_t>(i)];
      nest.name = context.symbol("p" + std::to_string(i));
      nest.ring = 1 + below(3);
    }
    for (const tree::Nest& nest : out.placed) out.statements.push_back(&nest);
    out.statements.push_back(&out.owner);
    for (std::size_t to = 1; to < out.statements.size(); ++to)
      for (std::size_t from = 0; from < to; ++from)
        if (below(2)) out.flows.push_back({from, to, out.statements[from]->name});
    out.loop.name = context.symbol("k");
    if (below(3)) {
      std::vector<std::size_t> rows(out.statements.size());
      std::iota(rows.begin(), rows.end(), std::size_t{0});
      for (std::size_t i = rows.size(); i > 1; --i)
        std::swap(rows[i - 1], rows[static_cast<std::size_t>(below(static_cast<int>(i)))]);
      for (std::size_t row : rows)
        out.loop.pipeline.push_back({out.statements[row]->name, below(3), {}, {}});
    }
    for (int i = 0; i < 1 + below(3); ++i)
      out.loop.roles.push_back(
          {context.symbol("r" + std::to_string(i)), {}, tree::Scope::Warp, 0, 0, {}});
    for (const tree::Nest* statement : out.statements)
      out.loop.roles[static_cast<std::size_t>(below(static_cast<int>(out.loop.roles.size())))]
          .statements.push_back(statement->name);
    std::erase_if(out.loop.roles, [](const tree::Role& role) { return role.statements.empty(); });
    for (int i = 0; i < below(3); ++i)
      out.loop.order.push_back({any_role(out), any_role(out), below(3), {}});
  }

 private:
  Symbol any_role(const Subject& s) {
    return s.loop.roles[static_cast<std::size_t>(below(static_cast<int>(s.loop.roles.size())))]
        .name;
  }
  std::uint64_t state_;
};

// What the text of docs/schedules.md says, step by step.
class Agents {
 public:
  explicit Agents(const Subject& subject) : s_(subject) {}

  bool ends() {
    std::vector<std::vector<std::pair<std::size_t, int>>> lists;
    for (const tree::Role& role : s_.loop.roles) lists.push_back(instances(role));
    std::vector<std::size_t> at(lists.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < lists.size(); ++r)
        while (at[r] < lists[r].size() && may_begin(lists[r][at[r]])) {
          done_.insert(lists[r][at[r]++]);
          moved = true;
        }
    }
    for (std::size_t r = 0; r < lists.size(); ++r)
      if (at[r] < lists[r].size()) return false;
    return true;
  }

 private:
  std::vector<std::pair<std::size_t, int>> instances(const tree::Role& role) const {
    std::vector<std::pair<std::size_t, int>> rows;  // statement, stage
    const auto add = [&](Symbol name, std::int64_t stage) {
      if (std::find(role.statements.begin(), role.statements.end(), name) == role.statements.end())
        return;
      for (std::size_t i = 0; i < s_.statements.size(); ++i)
        if (s_.statements[i]->name == name) rows.emplace_back(i, static_cast<int>(stage));
    };
    if (s_.loop.pipeline.empty())
      for (const tree::Nest* statement : s_.statements) add(statement->name, 0);
    for (const tree::PipelineRow& row : s_.loop.pipeline) add(row.statement, row.stage);
    std::vector<std::pair<std::size_t, int>> out;
    for (int interval = 0; interval < kIterations + 3; ++interval)
      for (const auto& [statement, stage] : rows)
        if (interval >= stage && interval - stage < kIterations)
          out.emplace_back(statement, interval - stage);
    return out;
  }

  bool is_done(std::size_t statement, int iteration) const {
    return iteration < 0 || done_.contains({statement, iteration});
  }

  bool may_begin(const std::pair<std::size_t, int>& instance) const {
    const auto [statement, iteration] = instance;
    for (const tree::Flow& flow : s_.flows) {
      if (flow.to == statement && !is_done(flow.from, iteration)) return false;
      const int ring = static_cast<int>(s_.statements[flow.from]->ring);
      if (flow.from == statement && !is_done(flow.to, iteration - ring)) return false;
    }
    for (const tree::OrderEdge& edge : s_.loop.order) {
      if (!in(edge.after, statement)) continue;
      for (std::size_t other = 0; other < s_.statements.size(); ++other)
        if (in(edge.before, other) && !is_done(other, iteration - static_cast<int>(edge.distance)))
          return false;
    }
    return true;
  }

  bool in(Symbol name, std::size_t statement) const {
    for (const tree::Role& role : s_.loop.roles)
      if (role.name == name)
        return std::find(role.statements.begin(), role.statements.end(),
                         s_.statements[statement]->name) != role.statements.end();
    return false;
  }

  const Subject& s_;
  std::set<std::pair<std::size_t, int>> done_;
};

TEST(Waits, RefusesJustWhatNeverEnds) {
  const std::uint64_t first = laws::first_seed();
  const auto cases = static_cast<std::uint64_t>(laws::num_cases(4000, 200000));
  int ends = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    ir::Context context;
    Subject subject;
    Maker(seed).make(context, subject);
    const auto verdict =
        tree::verify_waits(subject.owner, subject.loop, subject.statements, subject.flows);
    const bool expected = Agents(subject).ends();
    ends += expected;
    ASSERT_EQ(verdict.ok(), expected)
        << "seed " << seed << "\n"
        << (verdict.ok() ? "" : laws::messages(verdict.diagnostics()));
    if (!verdict.ok()) {
      ASSERT_EQ(verdict.diagnostics()[0].code, Code::RolesDeadlock);
      ASSERT_GT(verdict.diagnostics()[0].evidence.size(), 1U) << "seed " << seed;
    }
  }
  if (cases < 4000) return;
  EXPECT_GT(ends, static_cast<int>(cases / 10));
  EXPECT_LT(ends, static_cast<int>(cases - cases / 10));
}

struct Table {
  std::vector<std::vector<std::size_t>>
      reads;  // of each statement: the statements before that it reads
  std::vector<int> rings;
  std::vector<int> stages;
  std::vector<std::size_t> rows;

  std::string algorithm() const {
    std::string text = "algorithm a(R) {\n  input x : f32[R]\n";
    for (std::size_t i = 0; i < reads.size(); ++i) {
      text +=
          i + 1 == reads.size() ? "  output y[r < R] = x[r]" : "  " + name(i) + "[r < R] = x[r]";
      for (std::size_t from : reads[i]) text += " + " + name(from) + "[r]";
      text += "\n";
    }
    return text + "}\n";
  }

  std::string schedule() const {
    std::string text = "schedule s for a on x86-64-v4 {\n";
    for (std::size_t i = 0; i + 1 < reads.size(); ++i)
      text += "  compute_at " + name(i) + " in y.r\n  ring " + name(i) + " by " +
              std::to_string(rings[i]) + "\n";
    text += "  pipeline y.r:";
    for (std::size_t i = 0; i < rows.size(); ++i)
      text += (i ? ", " : " ") + name(rows[i]) + " stage " + std::to_string(stages[rows[i]]);
    return text + "\n}\n";
  }

  // Whether each read finds its own iteration in the buffer.
  bool reads_right() const {
    std::map<std::pair<std::size_t, int>, int> buffers;
    for (int interval = 0; interval < kIterations + 3; ++interval)
      for (std::size_t statement : rows) {
        const int iteration = interval - stages[statement];
        if (iteration < 0 || iteration >= kIterations) continue;
        for (std::size_t from : reads[statement]) {
          const auto held = buffers.find({from, iteration % rings[from]});
          if (held == buffers.end() || held->second != iteration) return false;
        }
        if (statement < rings.size())
          buffers[{statement, iteration % rings[statement]}] = iteration;
      }
    return true;
  }

 private:
  std::string name(std::size_t i) const {
    return i + 1 == reads.size() ? "y" : "p" + std::to_string(i);
  }
};

Table random_table(std::uint64_t seed) {
  Maker maker(seed);
  Table out;
  const auto n = static_cast<std::size_t>(2 + maker.below(3));
  out.reads.resize(n);
  for (std::size_t i = 0; i < n; ++i) out.stages.push_back(maker.below(3));
  const int least = *std::min_element(out.stages.begin(), out.stages.end());
  for (int& stage : out.stages) stage -= least;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    out.rings.push_back(1 + maker.below(3));
    // Something reads it, else it has no place in the loop.
    out.reads[i + 1 + static_cast<std::size_t>(maker.below(static_cast<int>(n - i - 1)))].push_back(
        i);
  }
  out.rows.resize(n);
  std::iota(out.rows.begin(), out.rows.end(), std::size_t{0});
  if (maker.below(2))
    std::swap(out.rows[0], out.rows[static_cast<std::size_t>(maker.below(static_cast<int>(n)))]);
  return out;
}

TEST(Waits, PipelinesReadWhatTheyShould) {
  const std::uint64_t first = laws::first_seed();
  const auto cases = static_cast<std::uint64_t>(laws::num_cases(2000, 100000));
  int good = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const Table table = random_table(seed);
    ir::Context context;
    const Source text("a.tw", table.algorithm());
    auto algorithm = ir::parse_algorithm(context, text);
    ASSERT_TRUE(algorithm.ok()) << render(algorithm.diagnostics(), &text);
    const Source source("s.tws", table.schedule());
    auto schedule = directives::parse_schedule(context, *algorithm, source);
    const bool expected = table.reads_right();
    good += expected;
    ASSERT_EQ(schedule.ok(), expected)
        << "seed " << seed << "\n"
        << text.text() << source.text()
        << (schedule.ok() ? "" : render(schedule.diagnostics(), &source));
    if (!schedule.ok()) {
      ASSERT_EQ(schedule.diagnostics()[0].code, Code::PipelineOrder);
    }
  }
  if (cases < 2000) return;
  EXPECT_GT(good, static_cast<int>(cases / 10));
  EXPECT_LT(good, static_cast<int>(cases - cases / 10));
}

}  // namespace
}  // namespace tilewright

// SPDX-License-Identifier: Apache-2.0
//
// Law: the value flow of a Program is what a run does. A tracer that knows nothing of sets executes the Program
// at small sizes and keeps who wrote each cell last; every instance that it executes is in the domain of its
// statement, and each of its reads has exactly the source that the trace has. Random algorithms with random
// schedules, and the applications.
#include <filesystem>
#include <fstream>
#include <map>

#include "frontend/ir/walk.h"
#include "lowering/proof/flow.h"
#include "schedules/polyhedra/instances.h"
#include "tests/laws/random_case.h"

namespace tilewright {
namespace {

using program::Stmt;
using Instance = std::vector<std::int64_t>;

struct Written {
  std::size_t writer;
  Instance instance;
};

class Tracer {
 public:
  Tracer(ir::Context& context, const program::Program& program, const proof::Statements& statements,
         const std::vector<std::vector<proof::Flow>>& flows, const ir::Bindings& sizes)
      : context_(context), statements_(statements), flows_(flows) {
    for (const auto& [name, value] : sizes) sizes_[name] = value;
    lanes_.push_back(sizes_);
    (void)program;
  }

  std::string run(Stmt body) {
    execute(body);
    return wrong_;
  }
  std::int64_t num_reads() const { return num_reads_; }
  std::int64_t num_instances() const { return num_instances_; }

 private:
  std::optional<std::int64_t> value(ir::Expr expr, const poly::Values& at) const {
    return poly::evaluate_index(ir::substitute(context_, expr, scalars_), at);
  }

  void execute(Stmt stmt) {
    if (!stmt || !wrong_.empty()) return;
    if (const auto* block = stmt.as<program::Block>()) {
      for (Stmt child : block->body) execute(child);
    } else if (const auto* loop = stmt.as<program::For>()) {
      execute(*loop);
    } else if (const auto* branch = stmt.as<program::If>()) {
      const std::vector<poly::Values> all = lanes_;
      const std::size_t first = next_;
      for (const bool truth : {true, false}) {
        lanes_.clear();
        for (const poly::Values& at : all)
          if ((value(branch->condition, at) != 0) == truth) lanes_.push_back(at);
        execute(truth ? branch->then_body : branch->else_body);
      }
      (void)first;
      lanes_ = all;
    } else if (const auto* let = stmt.as<program::Let>()) {
      const bool is_store = statements_.find(let->var) != nullptr;
      if (is_store) {
        store(let->value);
        scalars_[let->var] = context_.read(let->var, {}, let->value.type());
      } else {
        scalars_[let->var] = ir::substitute(context_, let->value, scalars_);
      }
      execute(let->body);
      scalars_.erase(let->var);
    } else if (const auto* alloc = stmt.as<program::Alloc>()) {
      written_[alloc->buffer].clear();
      execute(alloc->body);
    } else if (stmt.as<program::Store>()) {
      store(stmt.as<program::Store>()->value);
    }
  }

  // Statements are numbered by the text; each body is walked once for every iteration.
  void execute(const program::For& loop) {
    const std::vector<poly::Values> all = lanes_;
    const std::size_t first = next_;
    if (loop.loop == program::LoopKind::Vector) {
      lanes_.clear();
      for (const poly::Values& at : all)
        for (std::int64_t i = *value(loop.lower, at); i < *value(loop.upper, at); ++i) {
          lanes_.push_back(at);
          lanes_.back()[loop.var] = i;
        }
      execute(loop.body);
      lanes_ = all;
      return;
    }
    std::int64_t low = 0;
    std::int64_t high = 0;
    for (const poly::Values& at : all) {
      low = std::min(low, *value(loop.lower, at));
      high = std::max(high, *value(loop.upper, at));
    }
    std::size_t after = first;
    lanes_.clear();
    execute(loop.body);  // by nobody, for the numbers
    after = next_;
    for (std::int64_t i = low; i < high; ++i) {
      lanes_.clear();
      for (const poly::Values& at : all)
        if (i >= *value(loop.lower, at) && i < *value(loop.upper, at)) {
          lanes_.push_back(at);
          lanes_.back()[loop.var] = i;
        }
      next_ = first;
      execute(loop.body);
    }
    next_ = after;
    lanes_ = all;
  }

  void store(ir::Expr) {
    const proof::Statement& one = statements_.list[next_++];
    const std::vector<poly::Values> all = lanes_;
    for (const poly::Values& at : all) {
      const poly::Binding binding = bound(at);
      ++num_instances_;
      if (one.domain.contains(binding) != true)
        return fault(one, at, "an executed instance is not in the domain");
      for (std::size_t r = 0; r < one.reads.size(); ++r) read(one, r, at, binding);
    }
    for (const poly::Values& at : all) {
      const poly::Binding binding = bound(at);
      Instance instance;
      for (const proof::Loop& loop : one.loops) instance.push_back(binding.find(loop.name)->second);
      written_[one.buffer][cell(one.buffer, one.cell, binding)] = {one.number, instance};
    }
  }

  void read(const proof::Statement& one, std::size_t number, const poly::Values& at,
            const poly::Binding& binding) {
    const proof::Access& access = one.reads[number];
    if (access.points.contains(binding) != true) return;
    ++num_reads_;
    const auto& cells = written_[access.buffer];
    const auto found = cells.find(cell(access.buffer, access.cell, binding));
    const proof::Flow& flow = flows_[one.number][number];
    int sources = 0;
    for (const proof::Source& source : flow.sources) {
      if (source.condition.contains(binding) != true) continue;
      ++sources;
      if (source.writer == proof::kGiven) {
        if (found != cells.end()) fault(one, at, "was written, not given");
        continue;
      }
      if (found == cells.end()) return fault(one, at, "nothing wrote it");
      Instance instance;
      for (const proof::AffineExpr& expr : source.instance)
        instance.push_back(expr.evaluate(binding).value_or(-1));
      if (source.writer != found->second.writer || instance != found->second.instance)
        fault(one, at,
              "another writer of " + std::string(access.buffer.text()) + ": statement " +
                  std::to_string(found->second.writer) + ", not " + std::to_string(source.writer));
    }
    const bool unwritten = flow.unwritten.contains(binding) == true;
    if (sources + unwritten != 1) fault(one, at, std::to_string(sources) + " sources");
    if (unwritten && found != cells.end()) fault(one, at, "was written");
  }

  poly::Binding bound(const poly::Values& at) const {
    poly::Binding out;
    for (const auto& [name, number] : at) out[std::string(name.text())] = number;
    return out;
  }
  // Of one instance of the buffer: each lane has its own.
  Instance cell(Symbol buffer, const std::vector<proof::AffineExpr>& exprs,
                const poly::Binding& binding) const {
    Instance out;
    for (const proof::Loop& loop : statements_.find(buffer)->loops)
      out.push_back(binding.find(loop.name)->second);
    for (const proof::AffineExpr& expr : exprs) out.push_back(expr.evaluate(binding).value_or(-1));
    return out;
  }
  void fault(const proof::Statement& one, const poly::Values& at, const std::string& what) {
    if (!wrong_.empty()) return;
    wrong_ = what + " at `" + program::headline(one.origin) + "`";
    for (const auto& [name, number] : at)
      wrong_ += " " + std::string(name.text()) + "=" + std::to_string(number);
  }

  ir::Context& context_;
  const proof::Statements& statements_;
  const std::vector<std::vector<proof::Flow>>& flows_;
  poly::Values sizes_;
  std::vector<poly::Values> lanes_;
  ir::Substitution scalars_;
  std::map<Symbol, std::map<Instance, Written>> written_;
  std::size_t next_ = 0;
  std::int64_t num_reads_ = 0;
  std::int64_t num_instances_ = 0;
  std::string wrong_;
};

struct Tally {
  int programs = 0;
  int not_followed = 0;
  int faults = 0;
  std::int64_t reads = 0;
};

std::string check(ir::Context& context, const program::Program& program,
                  const std::vector<ir::Bindings>& sizes, Tally& tally) {
  poly::Context polyhedra;
  auto statements = proof::statements_of(context, program);
  if (!statements.ok()) {
    ++tally.not_followed;
    const bool known = statements.diagnostics()[0].code == Code::ProofUnknown;
    if (std::getenv("TILEWRIGHT_SHOW_REFUSALS"))
      std::fprintf(stderr, "%s", laws::messages(statements.diagnostics()).c_str());
    return known ? "" : laws::messages(statements.diagnostics());
  }
  // What data decide is in the values, which this trace does not look at (data_proof_test.cpp).
  for (const proof::Statement& one : statements->list) {
    bool on_data = !one.under.empty() || !one.data.empty();
    for (const proof::Access& access : one.reads) on_data = on_data || !access.data.empty();
    if (!on_data) continue;
    ++tally.not_followed;
    return "";
  }
  const proof::ValueFlow value_flow(*statements, polyhedra);
  std::vector<std::vector<proof::Flow>> flows;
  for (const proof::Statement& one : statements->list) {
    flows.emplace_back();
    for (const proof::Access& access : one.reads) {
      auto flow = value_flow.flow(proof::reader_of(one, access));
      if (!flow.ok()) return laws::messages(flow.diagnostics());
      flows.back().push_back(std::move(*flow));
    }
  }
  ++tally.programs;
  for (const auto& faults :
       {out_of_bounds(*statements, polyhedra), conflicts(*statements, polyhedra)}) {
    if (!faults.ok()) return laws::messages(faults.diagnostics());
    for (const proof::Fault& fault : *faults)
      return "a fault at `" + program::headline(statements->list[fault.first].origin) +
             "`: " + fault.where.text();
  }
  for (const ir::Bindings& bindings : sizes) {
    Tracer tracer(context, program, *statements, flows, bindings);
    const std::string wrong = tracer.run(program.body);
    tally.reads += tracer.num_reads();
    if (!wrong.empty()) return wrong + "\n" + laws::print_sizes(bindings);
  }
  return {};
}

TEST(ValueFlow, IsWhatARunDoes) {
  Tally tally;
  const int cases = laws::num_cases(150, 5000);
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    laws::Case subject(laws::first_seed() + static_cast<std::uint64_t>(i));
    auto built = build::build(subject.context, subject.polyhedra, subject.algorithm,
                              subject.random.schedule);
    if (!built.ok()) continue;
    auto passed = passes::run_passes(subject.context, *built);
    ASSERT_TRUE(passed.ok());
    std::vector<ir::Bindings> sizes;
    for (int which = 0; which < 2; ++which)
      if (auto found = subject.bindings(which)) sizes.push_back(*found);
    const std::string wrong = check(subject.context, *passed, sizes, tally);
    EXPECT_EQ(wrong, "") << subject.text() << program::print(*passed);
  }
  std::printf("%d Programs, %d not followed, %lld reads traced\n", tally.programs,
              tally.not_followed, static_cast<long long>(tally.reads));
  if (cases < 100 || ::testing::Test::HasFailure()) return;
  EXPECT_GT(tally.programs, cases / 4);
  EXPECT_GT(tally.reads, 1000);
}

struct Application {
  const char* name;
  std::vector<std::map<std::string, std::int64_t>> sizes;
};

class ValueFlowApplications : public ::testing::TestWithParam<Application> {};

TEST_P(ValueFlowApplications, IsWhatARunDoes) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  const std::string name = GetParam().name;
  const std::filesystem::path folder = std::filesystem::path(root ? root : ".") / "apps" / name;
  const auto text = [](const std::filesystem::path& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  for (const auto& entry : std::filesystem::directory_iterator(folder / "schedules")) {
    ir::Context context;
    poly::Context polyhedra;
    auto algorithm =
        ir::parse_algorithm(context, Source(name + ".tw", text(folder / (name + ".tw"))));
    ASSERT_TRUE(algorithm.ok());
    auto schedule = directives::parse_schedule(
        context, *algorithm, Source(entry.path().filename().string(), text(entry.path())));
    ASSERT_TRUE(schedule.ok());
    auto built = build::build(context, polyhedra, *algorithm, *schedule);
    ASSERT_TRUE(built.ok());
    auto passed = passes::run_passes(context, *built);
    ASSERT_TRUE(passed.ok());
    std::vector<ir::Bindings> sizes;
    for (const auto& one : GetParam().sizes) {
      ir::Bindings bindings;
      for (const auto& [extent, value] : one) bindings[context.symbol(extent)] = value;
      const bool guarded =
          std::all_of(passed->requirements.begin(), passed->requirements.end(),
                      [&](ir::Expr e) { return ir::evaluate_extents(e, bindings) != 0; });
      if (guarded) sizes.push_back(bindings);  // others are not for this schedule
    }
    Tally tally;
    EXPECT_EQ(check(context, *passed, sizes, tally), "") << entry.path();
    EXPECT_EQ(tally.not_followed, 0) << entry.path();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Apps, ValueFlowApplications,
    ::testing::Values(Application{"gemm",
                                  {{{"M", 7}, {"N", 67}, {"K", 3}},
                                   {{"M", 1}, {"N", 67}, {"K", 3}},
                                   {{"M", 16}, {"N", 64}, {"K", 3}}}},
                      Application{"softmax", {{{"R", 3}, {"C", 67}}}},
                      Application{"layernorm", {{{"R", 3}, {"C", 67}}}},
                      Application{"blur", {{{"H", 33}, {"W", 41}}}},
                      Application{"attention",
                                  {{{"B", 1}, {"H", 1}, {"S", 7}, {"T", 67}, {"D", 5}}}}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tilewright

// SPDX-License-Identifier: Apache-2.0
//
// Random algorithms x random schedules x small sizes (0, 1 and primes among them). `build` gives a Program
// or a refusal. A Program is well formed after build and after each pass, traps nothing, and computes the
// algorithm: bit for bit where the tree keeps the order of folds, within the computed bound otherwise.
#include "schedules/tree/derive.h"
#include "tests/laws/random_case.h"

namespace tilewright {
namespace {

using laws::Case;

struct Tally {
  int cases = 0;
  int refused = 0;
  int runs = 0;
  int exact = 0;
  int skipped = 0;
};

// A Program of the case against the algorithm at these sizes; a message when it is wrong.
class Judge {
 public:
  Judge(Case& subject, const ir::Bindings& bindings, Tally& tally)
      : case_(subject), bindings_(bindings), tally_(tally) {}

  // False: the algorithm itself cannot be read at these sizes, or takes too long.
  bool prepare() {
    inputs_ = ir::random_inputs(case_.algorithm, bindings_, case_.seed, case_.seed % 7 == 0);
    ir::InterpretOptions options;
    options.reading = ir::Reading::Exact;
    options.step_limit = 300000;
    options.order.fused = false;
    auto plain = ir::interpret(case_.algorithm, bindings_, inputs_, options);
    options.order.fused = true;
    auto fused = ir::interpret(case_.algorithm, bindings_, inputs_, options);
    if (!plain.ok() || !fused.ok()) return false;
    plain_ = std::move(*plain);
    fused_ = std::move(*fused);
    exact_ = laws::keeps_fold_order(case_.algorithm, case_.random.schedule.tree);
    return true;
  }

  std::string judge(const program::Program& program, bool contracted) {
    for (const std::uint64_t order : {std::uint64_t{0}, case_.seed + 1}) {
      program::InterpretOptions options;
      options.step_limit = 5000000;
      options.schedule_seed = order;
      auto run = program::interpret(case_.context, program, bindings_, inputs_, options);
      if (!run.ok() && run.diagnostics()[0].code == Code::ProgramLimit) {
        ++tally_.skipped;
        return {};
      }
      if (!run.ok()) return laws::messages(run.diagnostics());
      ++tally_.runs;
      if (auto wrong = compare(run->outputs, contracted); !wrong.empty()) return wrong;
      if (case_.seed % 2) break;
    }
    return {};
  }

 private:
  std::string compare(const ir::TensorMap& outputs, bool contracted) {
    const bool bit_for_bit = exact_ && (!contracted || case_.random.schedule.tree.inlined.empty());
    if (bit_for_bit) ++tally_.exact;
    if (!bit_for_bit && bounds_.empty()) {
      // A factor that moved rounds elsewhere; that the values are the same is the law of derive_test.cpp.
      const tree::Tree& tree = case_.random.schedule.tree;
      const bool moved = tree::rounds_otherwise(case_.algorithm, tree.algebra);
      auto bounds = ir::interpret_with_bound(
          moved ? tree.algorithm(case_.algorithm) : case_.algorithm, bindings_, inputs_);
      if (!bounds.ok()) return "no bound: " + laws::messages(bounds.diagnostics());
      bounds_ = std::move(*bounds);
    }
    for (const ir::TensorPart& output : case_.algorithm.output_tensors()) {
      const std::string name(output.name.text());
      const auto got = outputs.find(case_.algorithm.argument_of(output.name));
      if (got == outputs.end()) return "no output " + name;
      if (bit_for_bit) {
        const auto& expected = (contracted ? fused_ : plain_).at(output.name);
        const std::string difference = laws::first_difference(expected, got->second);
        if (!difference.empty()) return name + " " + difference;
      } else if (auto wrong = ir::find_violation(bounds_.at(output.name), got->second)) {
        std::ostringstream out;
        out.precision(17);
        out << name << ": expected " << wrong->expected << " within " << wrong->bound << ", got "
            << wrong->got;
        return out.str();
      }
    }
    return {};
  }

  Case& case_;
  const ir::Bindings& bindings_;
  Tally& tally_;
  ir::TensorMap inputs_;
  ir::TensorMap plain_;
  ir::TensorMap fused_;
  std::map<Symbol, ir::BoundedTensor> bounds_;
  bool exact_ = false;
};

// A message when a law is broken.
std::string check_case(std::uint64_t seed, Tally& tally) {
  Case subject(seed);
  ++tally.cases;
  auto built =
      build::build(subject.context, subject.polyhedra, subject.algorithm, subject.random.schedule);
  if (!built.ok()) {
    ++tally.refused;
    if (std::getenv("TILEWRIGHT_SHOW_REFUSALS"))
      std::fprintf(
          stderr, "%s",
          ("seed " + std::to_string(seed) + " " + laws::messages(built.diagnostics())).c_str());
    const Diagnostic& first = built.diagnostics()[0];
    const bool known = first.code == Code::ScheduleRefused || first.code == Code::SharedByte;
    if (!known || first.message.empty() || first.remedy.empty())
      return "a refusal without structure: " + laws::messages(built.diagnostics());
    return {};
  }
  std::vector<ir::Bindings> sizes;
  for (int which = 0; which < 3; ++which)
    if (auto found = subject.bindings(which)) sizes.push_back(*found);
  std::vector<Judge> judges;
  for (const ir::Bindings& bindings : sizes) {
    Judge judge(subject, bindings, tally);
    if (judge.prepare()) {
      judges.push_back(std::move(judge));
    } else {
      ++tally.skipped;
    }
  }
  bool contracted = false;
  std::string wrong;
  auto done = passes::run_passes(
      subject.context, *built,
      [&](int, std::string_view name,
          const program::Program& program) -> Result<std::optional<program::Program>> {
        if (!wrong.empty()) return std::optional<program::Program>();
        contracted |= name == "contract";
        const auto findings = program::verify(program);
        if (!findings.empty())
          wrong = "after " + std::string(name) + ": " + laws::messages(findings);
        for (Judge& judge : judges) {
          if (!wrong.empty()) break;
          wrong = judge.judge(program, contracted);
          if (!wrong.empty())
            wrong = "after " + std::string(name) + ": " + wrong + "\n" +
                    laws::print_sizes(sizes[static_cast<std::size_t>(&judge - judges.data())]);
        }
        if (!wrong.empty()) wrong += "\n" + program::print(program);
        return std::optional<program::Program>();
      });
  return wrong.empty() ? wrong : wrong + subject.text();
}

TEST(Build, ComputesTheAlgorithm) {
  Tally tally;
  const std::uint64_t first = laws::first_seed();
  const int cases = laws::num_cases(400, 20000);
  int failed = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(cases); ++seed) {
    if (std::getenv("TILEWRIGHT_SHOW_SEEDS")) std::fprintf(stderr, "@%d\n", static_cast<int>(seed));
    const std::string wrong = check_case(seed, tally);
    if (wrong.empty()) continue;
    ADD_FAILURE() << wrong;
    if (++failed == 5) break;
  }
  std::printf("%d cases, %d refused, %d runs, %d of them bit for bit, %d sizes skipped\n",
              tally.cases, tally.refused, tally.runs, tally.exact, tally.skipped);
  // The test asserts little when nothing runs.
  if (cases >= 400 && !failed) {
    EXPECT_LT(tally.refused, tally.cases / 5);
    EXPECT_GT(tally.exact, tally.runs / 4);
  }
}

// Cases that were once wrong: an empty fused loop, guards lost after an empty tile, a region that depends on
// the tile beyond the edge, bounds with too many cases, a fold bounded by a dropped index, a copy of a copy in
// an iteration beyond the data, a loose hull below zero, a vector loop that never runs.
TEST(Build, PastFailures) {
  Tally tally;
  for (const std::uint64_t seed : {72, 467, 597, 1517, 1975, 15339, 18013, 25460})
    EXPECT_EQ(check_case(seed, tally), "");
  EXPECT_GT(tally.runs, 40);
}

}  // namespace
}  // namespace tilewright

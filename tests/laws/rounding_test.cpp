// SPDX-License-Identifier: Apache-2.0
//
// Rounding bounds are never exceeded: of random algorithms under random schedules, and of the applications under their
// own ones, in the Program's own operations and order, against exact arithmetic. And they are not absurd: on the
// applications the bound on given data is within 200 times the worst error that was seen.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "lowering/rounding/running.h"
#include "lowering/rounding/static_bounds.h"
#include "tests/laws/random_case.h"

namespace tilewright {
namespace {

using rounding::Tracked;

// Facts, magnitudes and sizes of one run, under the names that formulas have.
rounding::Names names_of(const rounding::StaticBounds& bounds, const rounding::TrackedRun& run,
                         const ir::Bindings& sizes, const ir::TensorMap& inputs) {
  rounding::Names names;
  for (const auto& [name, value] : sizes)
    names[std::string(name.text())] = static_cast<double>(value);
  for (const auto& [name, tensor] : inputs) {
    if (!ir::is_float(tensor.type)) continue;
    double most = 0;
    for (ir::Scalar one : tensor.data) most = std::max(most, std::fabs(one.f));
    names["|" + std::string(name.text()) + "|"] = most;
    names["|" + std::string(name.text()) + "| given"] = most;
  }
  for (const rounding::Fact& fact : bounds.facts) {
    const auto found = run.extremes.find(fact.operation.node());
    // What never ran is as good as one likes.
    const bool most = fact.kind == rounding::Fact::Kind::Most;
    names[fact.name] = found != run.extremes.end() ? found->second : most ? 0 : 1;
  }
  return names;
}

struct Seen {
  int runs = 0;
  std::int64_t cells = 0;
  std::int64_t bounded = 0;  // by a formula
  double worst_ratio = 0;
};

// What is wrong, or nothing.
std::string judge(ir::Context& context, const program::Program& program, const ir::Bindings& sizes,
                  const ir::TensorMap& inputs, Seen& seen, rounding::Measured* measured = nullptr) {
  program::InterpretOptions plain;
  plain.step_limit = measured ? 100'000'000 : 2'000'000;
  const auto expected = program::interpret(context, program, sizes, inputs, plain);
  if (!expected.ok()) return measured ? laws::messages(expected.diagnostics()) : "";
  const auto run = rounding::run_tracked(context, program, sizes, inputs);
  if (!run.ok()) return measured ? laws::messages(run.diagnostics()) : "";
  const auto bounds = rounding::static_bounds(context, program, {});
  if (!bounds.ok()) return "no formula: " + laws::messages(bounds.diagnostics());
  const rounding::Names values = bounds->evaluate(names_of(*bounds, *run, sizes, inputs));
  ++seen.runs;
  for (const rounding::OutputBound& output : bounds->outputs) {
    const rounding::TrackedTensor& tensor = run->outputs.at(output.output);
    ir::Tensor got = ir::make_tensor(tensor.type, tensor.shape);
    for (std::size_t i = 0; i < tensor.cells.size(); ++i) got.data[i] = tensor.cells[i].machine;
    const std::string name(output.output.text());
    const std::string difference = laws::first_difference(expected->outputs.at(output.output), got);
    if (!difference.empty()) return name + ": not the interpreter's: " + difference;
    if (output.exact) continue;
    const double most = values.at(output.error);
    for (std::size_t i = 0; i < tensor.cells.size(); ++i) {
      const Tracked& cell = tensor.cells[i];
      ++seen.cells;
      if (!std::isfinite(cell.error)) continue;
      const double error = cell.machine.f == cell.exact
                               ? 0
                               : static_cast<double>(std::fabs(cell.machine.f - cell.exact));
      seen.bounded += std::isfinite(most);
      std::ostringstream out;
      out.precision(17);
      out << name << " " << i << ": " << cell.machine.f << " is off by " << error;
      if (error > cell.error) return out.str() + " and not by " + std::to_string(cell.error);
      if (error > most) {
        out << ", more than the formula's " << most;
        return out.str();
      }
    }
  }
  if (measured) *measured = rounding::measure(*run);
  return {};
}

TEST(RoundingLaw, NoCellLeavesItsBoundOnRandomPrograms) {
  Seen seen;
  const std::uint64_t first = laws::first_seed();
  const int cases = laws::num_cases(150, 10000);
  int failed = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(cases); ++seed) {
    laws::Case subject(seed);
    auto built = build::build(subject.context, subject.polyhedra, subject.algorithm,
                              subject.random.schedule);
    if (!built.ok()) continue;
    const auto program = passes::run_passes(subject.context, *built);
    if (!program.ok()) continue;
    for (int which = 0; which < 2; ++which) {
      const auto sizes = subject.bindings(which);
      if (!sizes) continue;
      const ir::TensorMap inputs =
          ir::random_inputs(subject.algorithm, *sizes, seed, seed % 7 == 0);
      const std::string wrong = judge(subject.context, *program, *sizes, inputs, seen);
      if (wrong.empty()) continue;
      ADD_FAILURE() << wrong << "\n"
                    << subject.text() << laws::print_sizes(*sizes) << program::print(*program);
      if (++failed == 3) return;
      break;
    }
  }
  std::printf("%d runs, %lld cells, %lld of them with a finite formula\n", seen.runs,
              static_cast<long long>(seen.cells), static_cast<long long>(seen.bounded));
  if (cases >= 150) {
    EXPECT_GT(seen.runs, cases / 2);
    EXPECT_GT(seen.bounded, seen.cells / 4);
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct App {
  const char* name;
  std::map<std::string, std::int64_t> sizes;
};

class RoundedApplications : public ::testing::TestWithParam<App> {};

TEST_P(RoundedApplications, BoundsHoldAndAreNear) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  const std::string name = GetParam().name;
  const std::filesystem::path folder = std::filesystem::path(root ? root : ".") / "apps" / name;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "schedules")) {
    ir::Context context;
    poly::Context polyhedra;
    auto algorithm =
        ir::parse_algorithm(context, Source(name + ".tw", read_file(folder / (name + ".tw"))));
    ASSERT_TRUE(algorithm.ok());
    auto schedule = directives::parse_schedule(
        context, *algorithm, Source(entry.path().filename().string(), read_file(entry.path())));
    ASSERT_TRUE(schedule.ok());
    auto built = build::build(context, polyhedra, *algorithm, *schedule);
    ASSERT_TRUE(built.ok());
    auto program = passes::run_passes(context, *built);
    ASSERT_TRUE(program.ok());
    ir::Bindings sizes;
    for (const auto& [extent, value] : GetParam().sizes) sizes[context.symbol(extent)] = value;
    // Schedules for few rows have guards.
    for (ir::Expr guard : program->requirements)
      if (ir::print(guard) == "M <= 4") sizes[context.symbol("M")] = 4;
    const ir::TensorMap inputs = ir::random_inputs(*algorithm, sizes, 7);
    Seen seen;
    rounding::Measured measured;
    const std::string wrong = judge(context, *program, sizes, inputs, seen, &measured);
    EXPECT_EQ(wrong, "") << entry.path();
    ASSERT_EQ(seen.runs, 1) << entry.path();
    EXPECT_EQ(measured.without_bound, 0) << entry.path();
    if (measured.cells == 0) continue;  // integers
    ASSERT_GT(measured.largest_error, 0) << entry.path();
    const double ratio = measured.largest_bound / measured.largest_error;
    std::printf("%s %s: error %.3g, bound %.3g, %.1f times; formula finite: %s\n", name.c_str(),
                entry.path().filename().c_str(), measured.largest_error, measured.largest_bound,
                ratio, seen.bounded > 0 ? "yes" : "no");
    EXPECT_LE(ratio, 200) << entry.path();
    EXPECT_EQ(seen.bounded, seen.cells) << entry.path();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Apps, RoundedApplications,
    ::testing::Values(App{"gemm", {{"M", 13}, {"N", 37}, {"K", 200}}},
                      App{"gemm_bf16", {{"M", 13}, {"N", 37}, {"K", 200}}},
                      App{"gemm_i8", {{"M", 13}, {"N", 37}, {"K", 200}}},
                      App{"softmax", {{"R", 5}, {"C", 300}}},
                      App{"layernorm", {{"R", 5}, {"C", 300}}}, App{"blur", {{"H", 40}, {"W", 50}}},
                      App{"attention", {{"B", 1}, {"H", 1}, {"S", 40}, {"T", 70}, {"D", 32}}}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tilewright

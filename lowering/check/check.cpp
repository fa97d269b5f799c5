// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/check.h"

#include <algorithm>
#include <cmath>

#include "frontend/base/format.h"
#include "frontend/ir/given.h"
#include "frontend/ir/interpret.h"
#include "lowering/check/plan.h"
#include "lowering/program/interpret.h"

namespace tilewright::check {

namespace {

// Of all tensors of one run. Each takes up to 40 bytes: its value, the ends of its interval and its bound, and
// the program's own copy.
constexpr std::int64_t kMaxCells = std::int64_t{1} << 26;

std::string cell_text(Symbol tensor, const std::vector<std::int64_t>& cell) {
  std::string text(tensor.text());
  for (std::size_t i = 0; i < cell.size(); ++i)
    text += (i == 0 ? "[" : ", ") + std::to_string(cell[i]);
  return text + (cell.empty() ? "[]" : "]");
}

// An outcome that no run took, in words. Decisions are loops, `min` bounds and guards.
std::string outcome_text(const std::string& decision, bool first) {
  const std::string quoted = in_backticks(decision);
  if (decision.find(" .. ") != std::string::npos)
    return quoted + (first ? " was never empty" : " never ran");
  if (decision.starts_with("min(") && decision.ends_with(")"))
    return quoted + (first ? " was never its first operand" : " was never its second operand");
  return quoted + (first ? " never held" : " never failed");
}

class Checker {
 public:
  Checker(ir::Context& context, const ir::Algorithm& algorithm, const program::Program& program,
          const Options& options)
      : context_(context), algorithm_(algorithm), program_(program), options_(options) {}

  Result<Report> run() {
    TILEWRIGHT_CHECK_OK(check_interface(algorithm_, program_));
    TILEWRIGHT_TRY(plan, plan_runs());
    for (const Run& run : plan) {
      if (options_.sizes.empty() && report_.steps >= options_.step_budget) break;
      TILEWRIGHT_TRY(went_on, execute(run));
      if (!went_on) break;
    }
    conclude();
    return std::move(report_);
  }

 private:
  Result<std::vector<Run>> plan_runs() {
    std::vector<Run> runs;
    for (const ir::Bindings& sizes : options_.sizes)
      runs.push_back({sizes, options_.seed, options_.wide});
    if (!runs.empty()) return runs;
    const std::vector<Candidate> chosen =
        choose_sizes(program_, options_.step_budget, options_.min_runs);
    if (chosen.empty())
      return fail(Code::NoSizes, {},
                  "no sizes that were tried satisfy the declared ranges and `requires`",
                  "widen the ranges, or name sizes that are allowed: check --sizes M=...");
    if (chosen.front().cost > options_.step_budget) {
      report_.reason = "one run at " + sizes_text(program_.extents, chosen.front().sizes) +
                       " takes about " + std::to_string(chosen.front().cost) +
                       " steps, the budget is " + std::to_string(options_.step_budget);
      return runs;
    }
    for (const Candidate& candidate : chosen)
      runs.push_back({candidate.sizes, options_.seed, false});
    // Fixed extents leave fewer sizes than runs: other inputs then.
    for (int i = 1; static_cast<int>(runs.size()) < options_.min_runs; ++i)
      runs.push_back({chosen[i % chosen.size()].sizes, options_.seed + i, false});
    runs.push_back({chosen.front().sizes, options_.seed, true});
    return runs;
  }

  // False when the Program is refuted.
  Result<bool> execute(const Run& run) {
    TILEWRIGHT_CHECK_OK(ir::check_bindings(algorithm_.extents, algorithm_.requirements, run.sizes,
                                           algorithm_.requirement_spans));
    TILEWRIGHT_CHECK_OK(ir::count_cells(algorithm_, run.sizes, true, kMaxCells));
    const ir::TensorMap inputs = ir::random_inputs(algorithm_, run.sizes, run.seed, run.wide);
    TILEWRIGHT_TRY(reference, ir::interpret_with_bound(algorithm_, run.sizes, inputs));
    auto result = program::interpret(context_, program_, run.sizes, inputs);
    report_.runs.push_back(run);
    if (!result.ok()) {
      for (Diagnostic diagnostic : result.diagnostics()) refute(std::move(diagnostic), run);
      return false;
    }
    report_.steps += result->steps;
    if (coverage_)
      coverage_->merge(result->coverage);
    else
      coverage_ = std::move(result->coverage);
    for (const ir::Equation* output : algorithm_.outputs())
      if (!compare(run, *output, reference.at(output->name), result->outputs)) return false;
    return true;
  }

  bool compare(const Run& run, const ir::Equation& output, const ir::BoundedTensor& reference,
               const ir::TensorMap& outputs) {
    const auto got = outputs.find(output.name);
    if (got == outputs.end()) {
      refute({Code::CheckRefuted,
              output.span,
              "the program gives no " + in_backticks(output.name.text()),
              "store every cell of every output",
              {}},
             run);
      return false;
    }
    if (const auto violation = ir::find_violation(reference, got->second)) {
      Diagnostic diagnostic{Code::CheckRefuted,
                            output.span,
                            "the program computes something else than the algorithm: " +
                                in_backticks(cell_text(output.name, violation->cell)) + " is " +
                                format_double(violation->got) + " instead of " +
                                format_double(violation->expected),
                            "run `tilewright check --replay` with these sizes and this seed to see "
                            "every cell that differs",
                            {}};
      diagnostic.evidence = {{"cell", cell_text(output.name, violation->cell)},
                             {"expected", format_double(violation->expected)},
                             {"got", format_double(violation->got)},
                             {"bound", format_double(violation->bound)}};
      refute(std::move(diagnostic), run);
      return false;
    }
    measure(reference, got->second);
    return true;
  }

  void measure(const ir::BoundedTensor& reference, const ir::Tensor& got) {
    const bool floating = ir::holds_floats(got.type);
    for (std::size_t i = 0; i < got.data.size(); ++i) {
      const double bound = reference.bound[i];
      if (std::isinf(bound)) {
        ++report_.cells_without_bound;
        continue;
      }
      ++report_.cells;
      if (!floating || !(bound > 0)) continue;
      const double error = std::fabs(got.data[i].f - reference.value.data[i].f);
      if (error / bound > report_.worst_ratio) report_.worst_ratio = error / bound;
    }
  }

  void refute(Diagnostic diagnostic, const Run& run) {
    report_.verdict = Verdict::Refuted;
    diagnostic.evidence.emplace_back("sizes", sizes_text(program_.extents, run.sizes));
    diagnostic.evidence.emplace_back("seed", std::to_string(run.seed));
    if (run.wide) diagnostic.evidence.emplace_back("wide", "true");
    report_.findings.push_back(std::move(diagnostic));
  }

  void conclude() {
    if (report_.verdict == Verdict::Refuted) return;
    if (coverage_)
      for (const program::Coverage::Decision& decision : coverage_->decisions) {
        if (!decision.first) report_.unreached.push_back(outcome_text(decision.text, true));
        if (!decision.second) report_.unreached.push_back(outcome_text(decision.text, false));
      }
    if (report_.runs.empty()) return;
    const auto made = static_cast<int>(report_.runs.size());
    if (options_.sizes.empty() && made < options_.min_runs) {
      report_.reason = "the budget of " + std::to_string(options_.step_budget) +
                       " steps was spent after " + std::to_string(made) + " of at least " +
                       std::to_string(options_.min_runs) + " runs";
      return;
    }
    report_.verdict = Verdict::Checked;
    if (report_.cells == 0 && report_.cells_without_bound > 0) {
      report_.verdict = Verdict::NotChecked;
      report_.reason = "the algorithm claims no bound for any cell at the inputs tried";
    }
  }

  ir::Context& context_;
  const ir::Algorithm& algorithm_;
  const program::Program& program_;
  const Options& options_;
  Report report_;
  std::optional<program::Coverage> coverage_;
};

}  // namespace

Result<Ok> check_interface(const ir::Algorithm& algorithm, const program::Program& program) {
  for (const auto& [what, name] :
       {std::pair{"a program", program.name}, std::pair{"a program for", program.algorithm}})
    if (!(name == algorithm.name))
      return fail(Code::ProgramInterface, {},
                  std::string(what) + " " + in_backticks(name.text()) +
                      ", used with the algorithm " + in_backticks(algorithm.name.text()),
                  "give the program the algorithm's name, or give its own algorithm");
  std::string wrong;
  std::size_t matched = 0;
  auto match = [&](Symbol name, ir::ScalarType type, const std::vector<ir::Expr>& shape,
                   bool is_output) {
    const program::Parameter* parameter = program.find_parameter(name);
    const bool fits = parameter != nullptr && parameter->type == type &&
                      parameter->shape == shape && parameter->is_output == is_output;
    if (fits)
      ++matched;
    else if (wrong.empty())
      wrong = name.text();
  };
  for (const ir::Input& input : algorithm.inputs) match(input.name, input.type, input.shape, false);
  for (const ir::Equation* output : algorithm.outputs())
    match(output->name, output->type, output->shape, true);
  if (wrong.empty() && matched != program.parameters.size()) {
    for (const program::Parameter& parameter : program.parameters)
      if (!algorithm.find_input(parameter.name) && !algorithm.find_equation(parameter.name))
        wrong = parameter.name.text();
  }
  for (const ir::ExtentDecl& extent : program.extents)
    if (wrong.empty() && algorithm.find_extent(extent.name) == nullptr) wrong = extent.name.text();
  if (wrong.empty() && algorithm.extents.size() != program.extents.size())
    wrong = algorithm.extents[std::min(algorithm.extents.size() - 1, program.extents.size())]
                .name.text();
  if (wrong.empty()) return Ok{};
  return fail(Code::ProgramInterface, {},
              in_backticks(wrong) + " is not the same in the program and in the algorithm " +
                  in_backticks(algorithm.name.text()),
              "give both the same extents, inputs and outputs, with equal types and shapes");
}

Result<Report> check_program(ir::Context& context, const ir::Algorithm& algorithm,
                             const program::Program& program, const Options& options) {
  return Checker(context, algorithm, program, options).run();
}

}  // namespace tilewright::check

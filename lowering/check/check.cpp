// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/check.h"

#include <algorithm>
#include <cmath>

#include "frontend/base/format.h"
#include "frontend/ir/facts.h"
#include "frontend/ir/given.h"
#include "frontend/ir/interpret.h"
#include "frontend/ir/text.h"
#include "lowering/check/plan.h"
#include "lowering/check/reach.h"
#include "lowering/program/interpret.h"
#include "lowering/program/plan.h"
#include "schedules/polyhedra/instances.h"

namespace tilewright::check {

namespace {

// Of all tensors of one run. Each takes up to 40 bytes: its value, the ends of its interval and its bound, and
// the program's own copy.
constexpr std::int64_t kMaxCells = std::int64_t{1} << 26;
// For one outcome that depends on data; the last ones have a wide magnitude.
constexpr int kInputsTried = 4;
// One of `more_sizes` may take this part of the budget.
constexpr std::int64_t kMoreSizes = 8;

std::string cell_text(Symbol tensor, const std::vector<std::int64_t>& cell) {
  std::string text(tensor.text());
  for (std::size_t i = 0; i < cell.size(); ++i)
    text += (i == 0 ? "[" : ", ") + std::to_string(cell[i]);
  return text + (cell.empty() ? "[]" : "]");
}

// An outcome that no run took, in words.
std::string outcome_text(const program::Coverage::Decision& decision, bool first) {
  const std::string quoted = in_backticks(decision.text);
  switch (decision.kind) {
    case program::DecisionKind::Loop: return quoted + (first ? " was never empty" : " never ran");
    case program::DecisionKind::Minimum:
      return quoted + (first ? " was never its first operand" : " was never its second operand");
    case program::DecisionKind::Branch: return quoted + (first ? " never held" : " never failed");
  }
  __builtin_unreachable();
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
    if (options_.seek_unreached) TILEWRIGHT_CHECK_OK(seek());
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
    if (chosen.empty()) return no_sizes();
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
    for (const ir::Bindings& sizes : options_.more_sizes)
      if (satisfies(program_, sizes) &&
          cost_of_run(program_, sizes) <= options_.step_budget / kMoreSizes)
        runs.push_back({sizes, options_.seed, false});
    return runs;
  }

  // At the requirement that leaves no sizes, where one is to blame.
  Failure no_sizes() const {
    ir::Algorithm ranges;
    ranges.extents = algorithm_.extents;
    const auto first = poly::first_contradiction(ranges, algorithm_.requirements);
    if (!first)
      return fail(Code::NoSizes, {},
                  "no sizes that were tried satisfy the declared ranges and `requires`",
                  "widen the ranges, or name sizes that are allowed: check --sizes M=...");
    const auto& spans = algorithm_.requirement_spans;
    Diagnostic d{Code::NoSizes,
                 *first < spans.size() ? spans[*first] : Span{},
                 "no sizes satisfy the declared ranges and `requires` up to " +
                     in_backticks(ir::print(algorithm_.requirements[*first])),
                 "drop a requirement, or widen it",
                 {},
                 {}};
    for (std::size_t i = 0; i < *first; ++i)
      d.evidence.emplace_back("requires", ir::print(algorithm_.requirements[i]));
    return fail(std::move(d));
  }

  // Bounds that also hold for the derived algorithm, whose values must be those of the algorithm, as far as both
  // readings can tell.
  Result<Ok> widen(const Run& run, const ir::TensorMap& inputs,
                   std::map<Symbol, ir::BoundedTensor>& reference) {
    TILEWRIGHT_TRY(rounded, ir::interpret_with_bound(*options_.derived, run.sizes, inputs));
    for (const ir::TensorPart& output : algorithm_.output_tensors()) {
      ir::BoundedTensor& one = reference.at(output.name);
      const ir::BoundedTensor& other = rounded.at(output.name);
      if (!ir::holds_floats(output.type)) continue;
      for (std::size_t i = 0; i < one.bound.size(); ++i) {
        const double difference = std::abs(one.value.data[i].f - other.value.data[i].f);
        if (difference > one.bound[i] + other.bound[i]) {
          refute({Code::CheckRefuted,
                  algorithm_.definition(output.name)->span,
                  "the algebraic steps of the schedule make " + in_backticks(output.name.text()) +
                      " something else than the algorithm does",
                  "report this: a step must refuse where its conditions do not hold",
                  {},
                  {{"expected", format_double(one.value.data[i].f)},
                   {"derived", format_double(other.value.data[i].f)}}},
                 run);
          return Ok{};
        }
        if (difference == difference)
          one.bound[i] = std::max(one.bound[i], other.bound[i] + difference);
      }
    }
    return Ok{};
  }

  // False when the Program is refuted.
  Result<bool> execute(const Run& run) {
    TILEWRIGHT_CHECK_OK(ir::check_bindings(algorithm_.extents, algorithm_.requirements, run.sizes,
                                           algorithm_.requirement_spans));
    TILEWRIGHT_CHECK_OK(ir::count_cells(algorithm_, run.sizes, true, kMaxCells));
    const ir::TensorMap inputs = ir::random_inputs(algorithm_, run.sizes, run.seed, run.wide);
    // Sizes may leave no values that have what is declared of them: then nobody calls with these.
    for (const ir::Input& input : algorithm_.inputs)
      if (!ir::check_facts(input.name, input.facts, run.sizes, inputs.at(input.name), {}).ok())
        return true;
    TILEWRIGHT_TRY(reference, ir::interpret_with_bound(algorithm_, run.sizes, inputs));
    if (options_.derived) TILEWRIGHT_CHECK_OK(widen(run, inputs, reference));
    report_.runs.push_back(run);
    if (report_.verdict == Verdict::Refuted) return false;
    // With asynchronous operations: at once, as late as possible, and at random.
    const bool agents = !program::is_sequential(program_.body);
    for (int order = 0; order < (agents ? 3 : 1); ++order) {
      program::InterpretOptions options;
      options.async_order = static_cast<program::AsyncOrder>(order);
      options.schedule_seed = order == 2 ? run.seed + 1 : 0;
      if (options_.step_limit > 0) options.step_limit = options_.step_limit;
      auto result = program::interpret(context_, program_, run.sizes, inputs, options);
      if (!result.ok()) {
        if (options_.step_limit > 0 && result.diagnostics().front().code == Code::ProgramLimit)
          return true;
        for (Diagnostic diagnostic : result.diagnostics()) refute(std::move(diagnostic), run);
        return false;
      }
      report_.steps += result->steps;
      if (coverage_)
        coverage_->merge(result->coverage);
      else
        coverage_ = std::move(result->coverage);
      for (const ir::Equation* output : algorithm_.outputs())
        for (const ir::TensorPart& part : output->tensors())
          if (!compare(run, *output, part.name, reference.at(part.name), result->outputs))
            return false;
      if (order == 0 && program::has_plan(program_)) {
        TILEWRIGHT_TRY(same, execute_planned(run, inputs, result->outputs));
        if (!same) return false;
      }
    }
    return true;
  }

  // The Program taken apart: its plan, then a run with it, gives the same bits.
  Result<bool> execute_planned(const Run& run, const ir::TensorMap& inputs,
                               const ir::TensorMap& wanted) {
    if (!planned_) {
      TILEWRIGHT_TRY(planned, program::split_plan(context_, program_));
      planned_ = std::move(planned);
    }
    ir::TensorMap all = inputs;
    for (const program::Program* part : {&planned_->plan, &planned_->run}) {
      auto result = program::interpret(context_, *part, run.sizes, all);
      if (!result.ok()) {
        for (Diagnostic diagnostic : result.diagnostics()) refute(std::move(diagnostic), run);
        return false;
      }
      report_.steps += result->steps;
      for (auto& [name, tensor] : result->outputs) all.insert_or_assign(name, std::move(tensor));
    }
    for (const auto& [name, tensor] : wanted) {
      if (ir::tensor_bytes(all.at(name)) == ir::tensor_bytes(tensor)) continue;
      refute({Code::CheckRefuted,
              {},
              "a run with a plan gives other values of " + in_backticks(name.text()) +
                  " than one without",
              "this is a defect of Tilewright: please report it with the program",
              {}},
             run);
      return false;
    }
    return true;
  }

  bool compare(const Run& run, const ir::Equation& output, Symbol tensor,
               const ir::BoundedTensor& reference, const ir::TensorMap& outputs) {
    const auto got = outputs.find(algorithm_.argument_of(tensor));
    if (got == outputs.end()) {
      refute({Code::CheckRefuted,
              output.span,
              "the program gives no " + in_backticks(tensor.text()),
              "store every cell of every output",
              {}},
             run);
      return false;
    }
    if (const auto violation = ir::find_violation(reference, got->second)) {
      Diagnostic diagnostic{Code::CheckRefuted,
                            output.span,
                            "the program computes something else than the algorithm: " +
                                in_backticks(cell_text(tensor, violation->cell)) + " is " +
                                format_double(violation->got) + " instead of " +
                                format_double(violation->expected),
                            "run `tilewright check --replay` with these sizes and this seed to see "
                            "every cell that differs",
                            {}};
      diagnostic.evidence = {{"cell", cell_text(tensor, violation->cell)},
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

  // Goes after each outcome that the plan left open.
  Result<Ok> seek() {
    if (!coverage_ || coverage_->missing() == 0) return Ok{};
    Reachability reach(context_, program_);
    for (std::size_t i = 0; i < coverage_->decisions.size(); ++i)
      for (const bool first : {true, false}) {
        if (refuted()) return Ok{};
        if (taken(i, first)) continue;
        const Reach found = reach.find(i, first);
        if (found.kind == Reach::Kind::Impossible) {
          report_.impossible.push_back(outcome_text(coverage_->decisions[i], first));
          continue;
        }
        TILEWRIGHT_TRY(reason, found.kind == Reach::Kind::Possible
                                   ? go_to(found, i, first)
                                   : Result<std::string>("it could not be decided: " + found.open));
        open_.push_back({i, first, std::move(reason)});
      }
    return Ok{};
  }

  // Runs the Program where an outcome happens. Why it was not taken all the same, where that is so.
  Result<std::string> go_to(const Reach& found, std::size_t decision, bool first) {
    const std::string at = sizes_text(program_.extents, found.sizes);
    const std::string open = found.open.empty() ? "" : ", and " + found.open;
    if (!options_.sizes.empty())
      return "it happens at other sizes than these, such as " + at + open;
    if (!satisfies(program_, found.sizes)) return found.open;
    const std::int64_t cost = cost_of_run(program_, found.sizes);
    const std::int64_t left = options_.step_budget - report_.steps;
    if (cost > left || !ir::count_cells(algorithm_, found.sizes, true, kMaxCells).ok())
      return "it happens at " + at + ", where a run takes about " + std::to_string(cost) +
             " steps and " + std::to_string(std::max<std::int64_t>(left, 0)) + " are left" + open;
    // On data it may take other inputs than those of the runs so far.
    Run run{found.sizes, options_.seed, false};
    for (int tries = found.on_data ? kInputsTried : 1; tries > 0; --tries) {
      while (found.on_data && made(run)) ++run.seed;
      run.wide = found.on_data && tries == 1;
      if (made(run) || report_.steps + cost > options_.step_budget) break;
      TILEWRIGHT_TRY(went_on, execute(run));
      if (!went_on || taken(decision, first)) break;
    }
    if (found.open.empty()) return "the run at " + at + " went another way than was found";
    return found.open + "; a run at " + at + " did not take it";
  }

  bool refuted() const { return report_.verdict == Verdict::Refuted; }
  bool taken(std::size_t decision, bool first) const {
    const program::Coverage::Decision& one = coverage_->decisions[decision];
    return first ? one.first : one.second;
  }
  bool made(const Run& run) const {
    return std::any_of(report_.runs.begin(), report_.runs.end(), [&](const Run& other) {
      return other.sizes == run.sizes && other.seed == run.seed && other.wide == run.wide;
    });
  }

  void conclude() {
    if (refuted()) return;
    for (const Open& open : open_)
      if (!taken(open.decision, open.first))
        report_.unreached.push_back(
            {outcome_text(coverage_->decisions[open.decision], open.first), open.reason});
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
  std::optional<program::Planned> planned_;
  // Outcomes that may happen and that no run had taken, with the reason; a later run may still have.
  struct Open {
    std::size_t decision;
    bool first;
    std::string reason;
  };
  std::vector<Open> open_;
};

}  // namespace

Result<Report> check_program(ir::Context& context, const ir::Algorithm& algorithm,
                             const program::Program& program, const Options& options) {
  return Checker(context, algorithm, program, options).run();
}

}  // namespace tilewright::check

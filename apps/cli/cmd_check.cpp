// SPDX-License-Identifier: Apache-2.0
//
// `tilewright check FILE.tw`: a schedule, or a program that someone wrote or edited, against the algorithm.
#include <algorithm>

#include "apps/cli/bounds_report.h"
#include "apps/cli/verb.h"
#include "apps/cli/work.h"
#include "frontend/base/format.h"
#include "frontend/ir/interpret.h"
#include "lowering/program/interpret.h"
#include "lowering/program/text.h"

namespace tilewright::cli {

namespace {

constexpr int kMaxCells = 20;  // of one output in a replay

class Check final : public Verb {
 public:
  void declare(Arguments& arguments) override {
    stages_.declare_inputs(arguments);
    arguments.option("-p,--program", program_, "FILE",
                     "a .twp file to check instead of a schedule");
    arguments.list("--sizes", sizes_, "EXTENT=N", "check at these sizes alone");
    arguments.number("--seed", seed_, 0, "N", "of the inputs");
    arguments.flag("--wide", options_.wide, "with --sizes: inputs of wide magnitude");
    arguments.flag("--replay", replay_, "with --sizes: list the cells that differ");
    arguments.number("--budget", options_.step_budget, 1, "STEPS",
                     "steps that all runs may take together");
    arguments.flag("--json", json_, "print the report as JSON");
  }

  int run(Session& session) override {
    if (!program_.empty() && !stages_.schedule.empty())
      return session.usage("check: --program and --schedule exclude each other");
    if (replay_ && sizes_.empty()) return session.usage("check: --replay needs --sizes");
    if (options_.wide && sizes_.empty())
      return session.usage(
          "check: --wide needs --sizes; a check that chooses its own sizes has a run of wide "
          "magnitude already");
    const auto sizes = read_definitions(session, sizes_, "--sizes");
    if (!sizes) return kExitUsage;
    Work work(session, stages_);
    if (const int status = work.check_usage(); status != kExitOk) return status;
    if (program_.empty() ? !work.load_and_lower("") : !work.load_algorithm() || !work.fix_extents())
      return kExitDiagnostics;
    if (!program_.empty() && !work.read_program(program_, &program_source_, &loaded_))
      return kExitDiagnostics;
    const program::Program& program = program_.empty() ? work.program() : loaded_;
    options_.seed = static_cast<std::uint64_t>(seed_);
    if (!sizes_.empty()) {
      ir::Bindings bindings;
      if (!bind_sizes(session, work.context(), work.algorithm(), *sizes, &bindings) ||
          !check_all_bound(session, work.algorithm(), work.algorithm_source(), bindings))
        return kExitDiagnostics;
      if (!work.check_guards(bindings)) return kExitDiagnostics;
      options_.sizes.push_back(bindings);
    }
    options_.derived = work.derived();
    const auto report =
        session.take(check::check_program(work.context(), work.algorithm(), program, options_),
                     work.algorithm_source());
    if (!report) return kExitDiagnostics;
    return conclude(session, work, program, *report);
  }

 private:
  int conclude(Session& session, Work& work, const program::Program& program,
               const check::Report& report) {
    if (json_) {
      Json out = check::to_json(program, report, true);
      out.set("version", 1);
      session.print_json(out);
    } else {
      print(session, program, report);
      if (report.verdict == check::Verdict::Checked)
        session.print(measured_line(work, program, report));
    }
    if (!report.findings.empty())
      report_findings(session, work, report, program_source_ ? &*program_source_ : nullptr);
    if (replay_) replay(session, work, program);
    if (report.verdict == check::Verdict::NotChecked)
      session.report({Code::NotChecked,
                      {},
                      "the program was not checked: " + report.reason,
                      "raise --budget, or name small sizes with --sizes",
                      {}});
    return report.verdict == check::Verdict::Checked ? kExitOk : kExitDiagnostics;
  }

  static void print(Session& session, const program::Program& program,
                    const check::Report& report) {
    std::string text = check::verdict_line(program, report) + "\n";
    if (report.verdict == check::Verdict::Checked) {
      text += std::to_string(report.cells) + " cells compared, largest error " +
              percent(report.worst_ratio) + " of its bound\n";
      if (report.cells_without_bound > 0)
        text += std::to_string(report.cells_without_bound) + " cells without a claim\n";
      if (const std::size_t count = report.impossible.size(); count > 0)
        text += std::to_string(count) + (count == 1 ? " outcome is" : " outcomes are") +
                " impossible at all sizes\n";
      for (const check::Unreached& one : report.unreached)
        text += "not reached: " + one.outcome + ": " + one.reason + "\n";
    }
    session.print(text);
  }

  static std::string percent(double ratio) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.1f %%", ratio * 100);
    return text;
  }

  // Every cell beyond its bound, as `c[0, 3]: expected 1, got 2, bound 0.5`.
  void replay(Session& session, Work& work, const program::Program& program) {
    const ir::Bindings& sizes = options_.sizes.front();
    const ir::TensorMap inputs =
        ir::random_inputs(work.algorithm(), sizes, options_.seed, options_.wide);
    const auto reference = ir::interpret_with_bound(work.algorithm(), sizes, inputs);
    auto got = program::interpret(work.context(), program, sizes, inputs);
    if (!reference.ok() || !got.ok()) return;
    for (auto& [name, tensor] : got->outputs) {
      const ir::Equation* value = work.algorithm().new_value(name);
      ir::BoundedTensor wanted = reference->at(value ? value->name : name);
      int shown = 0;
      while (shown < kMaxCells) {
        const auto violation = ir::find_violation(wanted, tensor);
        if (!violation || violation->cell.size() != tensor.shape.size()) break;
        std::string cell;
        for (std::int64_t index : violation->cell)
          cell += (cell.empty() ? "" : ", ") + std::to_string(index);
        session.print(std::string(name.text()) + "[" + cell + "]: expected " +
                      format_double(violation->expected) + ", got " +
                      format_double(violation->got) + ", bound " + format_double(violation->bound) +
                      "\n");
        ++shown;
        const auto at = static_cast<std::size_t>(tensor.offset(violation->cell));
        tensor.data[at] = wanted.value.data[at];
      }
      if (shown == kMaxCells) session.print("further cells are left out\n");
    }
  }

  StageOptions stages_;
  std::string program_;
  std::vector<std::string> sizes_;
  std::int64_t seed_ = 1;
  bool replay_ = false;
  bool json_ = false;
  check::Options options_;
  std::optional<Source> program_source_;
  program::Program loaded_;
};

}  // namespace

std::unique_ptr<Verb> make_check() { return std::make_unique<Check>(); }

}  // namespace tilewright::cli

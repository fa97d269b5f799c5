// SPDX-License-Identifier: Apache-2.0
//
// `tilewright check FILE.tw`: a schedule, or a program that someone wrote or edited, against the algorithm.
#include <algorithm>
#include <cmath>
#include <map>

#include "apps/cli/bounds_report.h"
#include "apps/cli/machines.h"
#include "apps/cli/verb.h"
#include "apps/cli/work.h"
#include "frontend/base/format.h"
#include "frontend/ir/given.h"
#include "frontend/ir/interpret.h"
#include "lowering/program/interpret.h"
#include "lowering/program/text.h"
#include "lowering/validate/validate.h"

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
    arguments.flag("--code", code_,
                   "validate the LLVM IR that the program becomes, instead of the program");
    arguments.option("--ir", ir_, "FILE", "with --code: this LLVM IR instead of what is emitted");
    arguments.option("-t,--target", target_, "NAME",
                     "with --code: emit for this target; else the schedule's, else native");
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
    if (!code_ && (!ir_.empty() || !target_.empty()))
      return session.usage("check: --ir and --target need --code");
    if (!ir_.empty() && !target_.empty())
      return session.usage("check: --ir and --target exclude each other");
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
    if (code_) return check_code(session, work, program);
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
      if (replay_) out.set("differing", to_json(replay(work, program)));
      session.print_json(out);
    } else {
      print(session, program, report);
      if (report.verdict == check::Verdict::Checked)
        session.print(measured_line(work, program, report));
    }
    if (!report.findings.empty())
      report_findings(session, work, report, program_source_ ? &*program_source_ : nullptr);
    if (replay_ && !json_) session.print(to_text(replay(work, program)));
    if (report.verdict == check::Verdict::NotChecked)
      session.report({Code::NotChecked,
                      {},
                      "the program was not checked: " + report.reason,
                      "raise --budget, or name small sizes with --sizes",
                      {}});
    return report.verdict == check::Verdict::Checked ? kExitOk : kExitDiagnostics;
  }

  // The code against the program: what this verb checks without --code is the program against the algorithm.
  int check_code(Session& session, Work& work, const program::Program& program) {
    const auto dispatch = session.take(program::single_dispatch(
        work.context(), program,
        program_.empty() ? std::string(work.schedule().name.text()) : "program"));
    if (!dispatch) return kExitDiagnostics;
    std::string text;
    if (ir_.empty()) {
      std::string name = target_.empty() ? work.schedule().machine : target_;
      if (name.empty()) name = "native";
      const auto target = target_of_machine(session, name, target_.empty() ? stages_.schedule : "");
      if (!target) return kExitDiagnostics;
      llvm_wall::CompileOptions options;
      options.want_ir = true;
      const auto object = session.take(
          llvm_wall::compile_function(work.context(), *dispatch, target->options, options),
          program_source_ ? &*program_source_ : work.algorithm_source());
      if (!object) return kExitDiagnostics;
      text = object->ir;
    } else {
      const auto source = session.take(read_source(ir_));
      if (!source) return kExitDiagnostics;
      text = std::string(source->text());
    }
    const auto listing = session.take(validate::read_ir(text));
    if (!listing) return kExitDiagnostics;
    validate::Options options;
    options.sizes = options_.sizes;
    if (options_.step_budget != check::Options().step_budget)
      options.step_budget = options_.step_budget;
    options.seed = options_.seed;
    const auto report = session.take(
        validate::validate(work.context(), work.algorithm(), *dispatch, *listing, options));
    if (!report) return kExitDiagnostics;
    if (json_) {
      Json out = validate::to_json(*dispatch, *report);
      out.set("version", 1);
      session.print_json(out);
    } else {
      std::string line = validate::verdict_line(*dispatch, *report) + "\n";
      if (report->is_validated)
        line +=
            std::to_string(report->cells) + " cells compared, " + std::to_string(report->solved) +
            " of them by the solver; " +
            std::to_string(report->blocks - static_cast<std::int64_t>(report->unreached.size())) +
            " of " + std::to_string(report->blocks) + " blocks reached\n";
      for (const std::string& block : report->unreached) line += "not reached: " + block + "\n";
      session.print(line);
    }
    if (report->is_validated) return kExitOk;
    session.report(validate::refusal(*report));
    return kExitDiagnostics;
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

  struct Differing {
    Symbol output;
    ir::BoundViolation cell;
  };

  // Every cell beyond its bound, but no more than kMaxCells and one of each output.
  std::vector<Differing> replay(Work& work, const program::Program& program) {
    const ir::Bindings& sizes = options_.sizes.front();
    const ir::TensorMap inputs =
        ir::random_inputs(work.algorithm(), sizes, options_.seed, options_.wide);
    const auto reference = ir::interpret_with_bound(work.algorithm(), sizes, inputs);
    auto got = program::interpret(work.context(), program, sizes, inputs);
    if (!reference.ok() || !got.ok()) return {};
    std::vector<Differing> out;
    for (auto& [name, tensor] : got->outputs) {
      const ir::Equation* value = work.algorithm().new_value(name);
      const ir::BoundedTensor wanted = reference->at(value ? value->name : name);
      for (int shown = 0; shown <= kMaxCells; ++shown) {
        const auto violation = ir::find_violation(wanted, tensor);
        if (!violation || violation->cell.size() != tensor.shape.size()) break;
        out.push_back({name, *violation});
        const auto at = static_cast<std::size_t>(tensor.offset(violation->cell));
        tensor.data[at] = wanted.value.data[at];
      }
    }
    return out;
  }

  // `c[0, 3]: expected 1, got 2, bound 0.5`
  static std::string to_text(const std::vector<Differing>& all) {
    std::string text;
    std::map<Symbol, int> shown;
    for (const auto& [output, cell] : all) {
      const int count = ++shown[output];
      if (count > kMaxCells) {
        text += "further cells are left out\n";
        continue;
      }
      text += std::string(output.text()) + ir::shape_text(cell.cell) + ": expected " +
              format_double(cell.expected) + ", got " + format_double(cell.got) + ", bound " +
              format_double(cell.bound) + "\n";
    }
    return text;
  }

  // JSON has no word for what is not finite.
  static Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(format_double(value));
  }

  static Json to_json(const std::vector<Differing>& all) {
    Json out = Json::array();
    for (const auto& [output, cell] : all) {
      Json index = Json::array();
      for (std::int64_t i : cell.cell) index.push(i);
      Json one = Json::object();
      one.set("output", output.text());
      one.set("cell", std::move(index));
      one.set("expected", number(cell.expected));
      one.set("got", number(cell.got));
      one.set("bound", number(cell.bound));
      out.push(std::move(one));
    }
    return out;
  }

  StageOptions stages_;
  std::string program_;
  std::vector<std::string> sizes_;
  std::int64_t seed_ = 1;
  bool code_ = false;
  std::string ir_;
  std::string target_;
  bool replay_ = false;
  bool json_ = false;
  check::Options options_;
  std::optional<Source> program_source_;
  program::Program loaded_;
};

}  // namespace

std::unique_ptr<Verb> make_check() { return std::make_unique<Check>(); }

}  // namespace tilewright::cli

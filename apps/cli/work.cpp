// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/work.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "apps/cli/machines.h"
#include "frontend/base/format.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "lowering/build/build.h"
#include "lowering/passes/passes.h"
#include "lowering/program/text.h"
#include "lowering/program/verify.h"
#include "schedules/directives/text.h"
#include "schedules/polyhedra/check_reads.h"
#include "schedules/tree/derive.h"

namespace tilewright::cli {

namespace {

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

std::string dump_name(int number, std::string_view name) {
  return (number < 10 ? "0" : "") + std::to_string(number) + "_" + std::string(name) + ".twp";
}

bool is_pass(std::string_view name) {
  if (name == "build") return true;
  for (const passes::Pass& pass : passes::all_passes())
    if (pass.name == name) return true;
  return false;
}

std::string pass_names() {
  std::string text = "`build`";
  for (const passes::Pass& pass : passes::all_passes()) text += ", " + in_backticks(pass.name);
  return text;
}

// The sizes that are known, as evidence.
std::vector<std::pair<std::string, std::string>> size_evidence(const ir::Algorithm& algorithm,
                                                               const ir::Bindings& sizes) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const ir::ExtentDecl& extent : algorithm.extents)
    if (const auto it = sizes.find(extent.name); it != sizes.end())
      out.emplace_back(extent.name.text(), std::to_string(it->second));
  return out;
}

}  // namespace

void StageOptions::declare_inputs(Arguments& arguments) {
  arguments.positional("FILE", algorithm, "the algorithm, a .tw file or `-`");
  arguments.option("-s,--schedule", schedule, "FILE",
                   "the schedule, a .tws file; without one loops stay serial");
  arguments.list("-D", definitions, "EXTENT=N", "fix an extent, as in -D M=1024");
}

void StageOptions::declare_passes(Arguments& arguments) {
  arguments.list("--print-after", print_after, "PASS",
                 "print the program after a pass, or after `all`");
  arguments.option("--dump-dir", dump_dir, "DIR",
                   "write NN_pass.twp into a folder after each pass");
  arguments.list("--override", overrides, "NN_pass.twp", "go on with this program after that pass");
  arguments.flag("--verify-each", verify_each, "verify the program after each pass");
  arguments.flag("--time-passes", time_passes, "print the time of each pass on standard error");
}

int Work::check_usage() {
  const auto definitions = read_definitions(session_, options_.definitions, "-D");
  if (!definitions) return kExitUsage;
  definitions_ = *definitions;
  for (const std::string& name : options_.print_after)
    if (name != "all" && !is_pass(name))
      return session_.usage("--print-after: no pass " + in_backticks(name) + "; there are " +
                            pass_names());
  for (const std::string& path : options_.overrides) {
    const std::string name = std::filesystem::path(path).filename().string();
    Override found;
    if (name == dump_name(0, "build")) found = {path, 0, "build"};
    for (const passes::Pass& pass : passes::all_passes())
      if (name == dump_name(pass.number, pass.name))
        found = {path, pass.number, std::string(pass.name)};
    if (found.path.empty())
      return session_.usage("--override: " + in_backticks(name) +
                            " is not named like the file that --dump-dir writes after a pass");
    overrides_.push_back(std::move(found));
  }
  return kExitOk;
}

bool Work::load_algorithm() {
  auto source = session_.take(read_source(options_.algorithm));
  if (!source) return false;
  algorithm_source_.emplace(*std::move(source));
  auto algorithm =
      session_.take(ir::parse_algorithm(context_, *algorithm_source_), algorithm_source());
  if (!algorithm) return false;
  algorithm_ = *std::move(algorithm);
  algorithm_hash_ = ir::algorithm_hash(algorithm_);
  return true;
}

bool Work::load_schedule(const std::string& machine) {
  if (options_.schedule.empty()) {
    schedule_ = directives::default_schedule(context_, algorithm_, machine);
    return true;
  }
  auto schedule = read_schedule(options_.schedule, &schedule_source_);
  if (!schedule) return false;
  schedule_ = *std::move(schedule);
  return true;
}

std::optional<tree::Schedule> Work::read_schedule(const std::string& path,
                                                  std::optional<Source>* text) {
  auto source = session_.take(read_source(path));
  if (!source) return std::nullopt;
  text->emplace(*std::move(source));
  auto schedule = session_.take(directives::parse_schedule(context_, algorithm_, **text), &**text);
  if (!schedule || !check_machine(*schedule, path, &**text)) return std::nullopt;
  return schedule;
}

bool Work::read_program(const std::string& path, std::optional<Source>* text,
                        program::Program* out) {
  auto source = session_.take(read_source(path));
  if (!source) return false;
  text->emplace(*std::move(source));
  auto parsed = session_.take(program::parse_program(context_, **text), &**text);
  if (!parsed) return false;
  *out = *std::move(parsed);
  return true;
}

bool Work::check_machine(tree::Schedule& schedule, const std::string& path, const Source* source) {
  if (schedule.machine == "native") return true;
  if (machine::is_machine_path(schedule.machine)) {
    const auto folder = std::filesystem::path(path).parent_path();
    auto file = load_machine(session_, schedule.machine, folder.string());
    if (!file) return false;
    schedule.machine_file = std::make_shared<const machine::Machine>(*std::move(file));
    return true;
  }
  auto found = machine::find_machine(schedule.machine);
  if (found.ok()) return true;
  std::vector<Diagnostic> diagnostics = found.diagnostics();
  for (Diagnostic& diagnostic : diagnostics) diagnostic.span = schedule.machine_span;
  session_.report(diagnostics, source);
  return false;
}

std::vector<std::string> Work::files_read() const {
  std::vector<std::string> files = {options_.algorithm};
  if (!options_.schedule.empty()) files.push_back(options_.schedule);
  for (const Override& override : overrides_) files.push_back(override.path);
  return files;
}

bool Work::fix_extents() {
  for (const auto& [name, value] : definitions_) {
    ir::ExtentDecl* extent = nullptr;
    for (ir::ExtentDecl& candidate : algorithm_.extents)
      if (candidate.name.text() == name) extent = &candidate;
    if (extent == nullptr) {
      ir::Bindings unused;
      return bind_sizes(session_, context_, algorithm_, definitions_, &unused);
    }
    const bool fits = value >= extent->min && (!extent->max || value <= *extent->max) &&
                      value % std::max<std::int64_t>(extent->multiple_of, 1) == 0;
    if (!fits) {
      session_.report({{Code::BindingMismatch,
                        extent->span,
                        in_backticks(name) + " cannot be " + std::to_string(value) +
                            ": its declaration allows other values",
                        "choose a size in the declared range, or widen the range",
                        {}}},
                      algorithm_source());
      return false;
    }
    extent->min = value;
    extent->max = value;
    extent->multiple_of = 1;
  }
  return check_requirements();
}

std::optional<std::size_t> Work::broken_condition(const std::vector<ir::Expr>& conditions,
                                                  const ir::Bindings& sizes) {
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    bool known = true;
    ir::walk(conditions[i], [&](ir::Expr e) {
      if (const auto* extent = e.as<ir::Extent>()) known = known && sizes.contains(extent->name);
    });
    if (known && ir::evaluate_extents(conditions[i], sizes) == 0) return i;
  }
  return std::nullopt;
}

// A requirement over fixed extents alone is decided now.
bool Work::check_requirements() {
  ir::Bindings fixed;
  for (const auto& [name, value] : definitions_) fixed[context_.symbol(name)] = value;
  const auto broken = broken_condition(algorithm_.requirements, fixed);
  if (!broken) return check_guards(fixed);
  const bool placed = *broken < algorithm_.requirement_spans.size();
  session_.report(
      {{Code::BindingMismatch,
        placed ? algorithm_.requirement_spans[*broken] : Span{},
        "the sizes do not satisfy " + in_backticks(ir::print(algorithm_.requirements[*broken])),
        "choose sizes that satisfy every `requires`",
        {},
        size_evidence(algorithm_, fixed)}},
      algorithm_source());
  return false;
}

bool Work::check_guards(const ir::Bindings& sizes) {
  const auto broken = broken_condition(schedule_.guards, sizes);
  if (!broken) return true;
  const bool placed = *broken < schedule_.guard_spans.size();
  session_.report({{Code::BindingMismatch,
                    placed ? schedule_.guard_spans[*broken] : Span{},
                    "the schedule is not for these sizes: its guard " +
                        in_backticks(ir::print(schedule_.guards[*broken])) + " does not hold",
                    "choose sizes that the guard allows, or give a schedule without it",
                    {},
                    size_evidence(algorithm_, sizes)}},
                  schedule_source());
  return false;
}

bool Work::lower(std::string_view without) {
  auto program = lower_schedule(schedule_, schedule_source(), without, &derived_);
  if (!program) return false;
  program_ = *std::move(program);
  return true;
}

std::optional<program::Program> Work::lower_schedule(const tree::Schedule& schedule,
                                                     const Source* source, std::string_view without,
                                                     std::optional<ir::Algorithm>* derived) {
  if (!session_.take(poly::check_reads(polyhedra_, algorithm_), algorithm_source()))
    return std::nullopt;
  if (tree::rounds_otherwise(algorithm_, schedule.tree.algebra)) {
    *derived = session_.take(tree::derive(context_, algorithm_, schedule.tree.algebra), source);
    if (!*derived) return std::nullopt;
  }
  times_.clear();
  const double begin = now();
  auto built = session_.take(build::build(context_, polyhedra_, algorithm_, schedule),
                             source ? source : algorithm_source());
  if (!built) return std::nullopt;
  Result<program::Program> lowered = passes::run_passes(
      context_, *std::move(built),
      [&](int number, std::string_view name, const program::Program& program) {
        times_.emplace_back(name, now());
        return after_pass(number, name, program);
      },
      without);
  if (!lowered.ok()) {
    session_.report(lowered.diagnostics(), program_source());
    return std::nullopt;
  }
  if (options_.time_passes) {
    double before = begin;
    for (const auto& [name, end] : times_) {
      char line[80];
      std::snprintf(line, sizeof(line), "%9.3f ms  %s", (end - before) * 1e3, name.c_str());
      session_.note(line);
      before = end;
    }
  }
  return std::move(lowered).value();
}

bool Work::load_and_lower(const std::string& machine) {
  return load_algorithm() && load_schedule(machine) && fix_extents() && lower();
}

bool Work::wants_print(int number, std::string_view name) const {
  for (const std::string& wanted : options_.print_after)
    if (wanted == "all" || wanted == name || wanted == std::to_string(number)) return true;
  return false;
}

Result<std::optional<program::Program>> Work::after_pass(int number, std::string_view name,
                                                         const program::Program& program) {
  std::optional<program::Program> replacement;
  for (const Override& override : overrides_) {
    if (override.number != number) continue;
    TILEWRIGHT_TRY(source, read_source(override.path));
    override_source_.emplace(std::move(source));
    TILEWRIGHT_TRY(parsed, program::parse_program(context_, *override_source_));
    TILEWRIGHT_CHECK_OK(check::check_interface(algorithm_, parsed));
    replacement = std::move(parsed);
  }
  const program::Program& now_current = replacement ? *replacement : program;
  if (options_.verify_each) {
    std::vector<Diagnostic> findings = program::verify(now_current);
    if (!findings.empty()) {
      for (Diagnostic& finding : findings)
        finding.evidence.emplace_back("after pass", std::string(name));
      return Failure{std::move(findings)};
    }
  }
  if (wants_print(number, name))
    session_.print_aside("# after " + dump_name(number, name) + "\n" + program::print(now_current));
  if (!options_.dump_dir.empty()) {
    const std::string file = dump_name(number, name);
    const std::string text = program::print(now_current);
    TILEWRIGHT_CHECK_OK(
        check_not_read((std::filesystem::path(options_.dump_dir) / file).string(), files_read()));
    TILEWRIGHT_CHECK_OK(write_files(options_.dump_dir, {{file, text}}));
  }
  return replacement;
}

void report_findings(Session& session, const Work& work, const check::Report& report,
                     const Source* program_source) {
  for (const Diagnostic& finding : report.findings) {
    // What the program's interpreter traps stands in the program.
    const bool of_program = code_text(finding.code).starts_with("E05");
    const Source* source = of_program ? program_source : work.algorithm_source();
    session.report({finding}, finding.span.none() && !of_program ? nullptr : source);
  }
}

std::optional<std::map<std::string, std::int64_t>> read_definitions(
    Session& session, const std::vector<std::string>& texts, const std::string& option) {
  std::map<std::string, std::int64_t> out;
  for (const std::string& text : texts) {
    const auto definition = split_definition(text);
    std::int64_t value = -1;
    if (definition) {
      const std::string& digits = definition->second;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc() || end != digits.data() + digits.size()) value = -1;
    }
    if (value < 0) {
      session.usage(option + ": " + in_backticks(text) +
                    " is not EXTENT=N with a size N of at least 0");
      return std::nullopt;
    }
    if (!out.emplace(definition->first, value).second) {
      session.usage(option + ": " + in_backticks(definition->first) + " is given twice");
      return std::nullopt;
    }
  }
  return out;
}

bool bind_sizes(Session& session, ir::Context& context, const ir::Algorithm& algorithm,
                const std::map<std::string, std::int64_t>& sizes, ir::Bindings* out) {
  for (const auto& [name, value] : sizes) {
    const Symbol symbol = context.symbol(name);
    if (algorithm.find_extent(symbol) == nullptr) {
      std::string known;
      for (const ir::ExtentDecl& extent : algorithm.extents)
        known += (known.empty() ? "" : ", ") + in_backticks(extent.name.text());
      session.report({Code::UnknownExtent,
                      {},
                      "the algorithm " + in_backticks(algorithm.name.text()) + " has no extent " +
                          in_backticks(name),
                      known.empty() ? "leave the size out: the algorithm has no extents"
                                    : "its extents are " + known,
                      {}});
      return false;
    }
    (*out)[symbol] = value;
  }
  return true;
}

bool check_all_bound(Session& session, const ir::Algorithm& algorithm, const Source* source,
                     const ir::Bindings& sizes) {
  std::vector<Diagnostic> missing;
  for (const ir::ExtentDecl& extent : algorithm.extents)
    if (!sizes.contains(extent.name))
      missing.push_back({Code::MissingExtent,
                         extent.span,
                         "nothing gives the size of " + in_backticks(extent.name.text()),
                         "add -D " + std::string(extent.name.text()) + "=SIZE",
                         {}});
  if (missing.empty()) return true;
  session.report(missing, source);
  return false;
}

}  // namespace tilewright::cli

// SPDX-License-Identifier: Apache-2.0
//
// What the verbs build, stage by stage: algorithm, schedule, program, object code. Each stage reports what
// goes wrong through the session and returns false.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/session.h"
#include "frontend/ir/algorithm.h"
#include "frontend/ir/context.h"
#include "lowering/check/check.h"
#include "lowering/program/program.h"
#include "schedules/polyhedra/context.h"
#include "schedules/tree/tree.h"

namespace tilewright::cli {

// The options of the stages, shared by the verbs.
struct StageOptions {
  std::string algorithm;
  std::string schedule;
  std::vector<std::string> definitions;  // -D M=1024
  std::vector<std::string> print_after;
  std::string dump_dir;
  std::vector<std::string> overrides;  // NN_pass.twp
  bool verify_each = false;
  bool time_passes = false;

  void declare_inputs(Arguments& arguments);
  void declare_passes(Arguments& arguments);
};

class Work {
 public:
  Work(Session& session, const StageOptions& options) : session_(session), options_(options) {}

  // A malformed option: kExitUsage after saying so, else kExitOk. First, before any file is read.
  int check_usage();
  bool load_algorithm();
  // Without a file: the schedule that leaves every loop serial.
  bool load_schedule(const std::string& machine);
  // Sets min and max of the extents in -D. After load_schedule: a schedule pins the algorithm as written.
  bool fix_extents();
  // Without the pass of this name, if one is given.
  bool lower(std::string_view without = "");
  // A program that someone wrote or edited, and the text it is read from.
  bool read_program(const std::string& path, std::optional<Source>* text, program::Program* out);
  // A schedule of the algorithm, and the text it is read from; for several of them beside the one of the options.
  std::optional<tree::Schedule> read_schedule(const std::string& path, std::optional<Source>* text);
  // `source`: the schedule's text, or null. `derived` as derived() says.
  std::optional<program::Program> lower_schedule(const tree::Schedule& schedule,
                                                 const Source* source, std::string_view without,
                                                 std::optional<ir::Algorithm>* derived);
  // load_algorithm to lower.
  bool load_and_lower(const std::string& machine);

  ir::Context& context() { return context_; }
  poly::Context& polyhedra() { return polyhedra_; }
  const ir::Algorithm& algorithm() const { return algorithm_; }
  // What the schedule's algebraic steps make of it, where they round otherwise; else null.
  const ir::Algorithm* derived() const { return derived_ ? &*derived_ : nullptr; }
  const tree::Schedule& schedule() const { return schedule_; }
  const program::Program& program() const { return program_; }
  const Source* algorithm_source() const {
    return algorithm_source_ ? &*algorithm_source_ : nullptr;
  }
  // The text that places of the program stand in: that of the last override; null when `build` made it.
  const Source* program_source() const { return override_source_ ? &*override_source_ : nullptr; }
  // Reports what is wrong with sizes that the schedule's guard excludes; the algorithm's own rules are the
  // business of its interpreter. Extents without a value are left out.
  bool check_guards(const ir::Bindings& sizes);
  const Source* schedule_source() const { return schedule_source_ ? &*schedule_source_ : nullptr; }
  const std::map<std::string, std::int64_t>& definitions() const { return definitions_; }
  const std::string& algorithm_hash() const { return algorithm_hash_; }
  // The files that the options name to read: nothing may be written over them.
  std::vector<std::string> files_read() const;

 private:
  struct Override {
    std::string path;
    int number = 0;
    std::string pass;
  };
  Result<std::optional<program::Program>> after_pass(int number, std::string_view name,
                                                     const program::Program& program);
  // The schedule's machine must be one (E0408), whether or not this verb needs it. A file is kept with the schedule.
  bool check_machine(tree::Schedule& schedule, const std::string& path, const Source* source);
  bool check_requirements();
  // The first condition over extents that have a size, which does not hold.
  static std::optional<std::size_t> broken_condition(const std::vector<ir::Expr>& conditions,
                                                     const ir::Bindings& sizes);
  bool wants_print(int number, std::string_view name) const;

  Session& session_;
  const StageOptions& options_;
  std::map<std::string, std::int64_t> definitions_;
  std::vector<Override> overrides_;
  std::optional<Source> algorithm_source_;
  std::optional<Source> schedule_source_;
  ir::Context context_;
  poly::Context polyhedra_;
  ir::Algorithm algorithm_;
  std::optional<ir::Algorithm> derived_;
  std::string algorithm_hash_;
  tree::Schedule schedule_;
  program::Program program_;
  std::optional<Source> override_source_;  // the last text that the program was read from
  std::vector<std::pair<std::string, double>> times_;  // pass, seconds up to its end
};

// What refutes a program: at its place in the program's text (null: it has none) where the program itself is
// at fault, else at its place in the algorithm.
void report_findings(Session& session, const Work& work, const check::Report& report,
                     const Source* program_source);
// M=7,N=3 or M=7 N=3 as definitions; none after saying what is wrong.
std::optional<std::map<std::string, std::int64_t>> read_definitions(
    Session& session, const std::vector<std::string>& texts, const std::string& option);
// The sizes as bindings of these extents; false after reporting a name that is none of them (E0903).
bool bind_sizes(Session& session, ir::Context& context, const ir::Algorithm& algorithm,
                const std::map<std::string, std::int64_t>& sizes, ir::Bindings* out);
// E0904 unless every extent has a value.
bool check_all_bound(Session& session, const ir::Algorithm& algorithm, const Source* source,
                     const ir::Bindings& sizes);

}  // namespace tilewright::cli

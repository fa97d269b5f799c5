// SPDX-License-Identifier: Apache-2.0
//
// Several schedules of one algorithm on their way to one function: `compile FILE.tw a.tws b.tws`. They stand in
// the order in which their guards are asked; the last one takes every size, and is `generic` where none given does.
// Each step reports what goes wrong through the session and returns false.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/proving.h"
#include "apps/cli/work.h"
#include "lowering/artifact/artifact.h"
#include "lowering/build/decision_table.h"
#include "lowering/program/dispatch.h"

namespace tilewright::cli {

class Variants {
 public:
  Variants(Session& session, Work& work, const std::vector<std::string>& paths)
      : session_(session), work_(work), paths_(paths) {}

  // After Work::load_algorithm. `machine`: for all of them; where it is empty, theirs must be one (E0644).
  bool load(const std::string& machine);
  // After Work::fix_extents: the table, then a Program for each, without the pass of this name if one is given.
  bool lower(std::string_view without);
  // Against the algorithm, each at sizes of its guard and at the edges of the table.
  bool check(const check::Options& options);
  void leave_unchecked(const std::string& reason);
  // Each by itself, for the sizes of its guard.
  void prove();
  // What they become together.
  Result<program::Dispatch> dispatch();
  void describe(artifact::Origin& origin) const;
  Json to_json() const;

  const std::string& machine() const { return machine_; }
  // Where a path of a machine is relative to.
  const std::string& machine_path() const { return paths_.front(); }
  struct One {
    std::optional<Source> source;  // none of `generic`
    tree::Schedule schedule;
    program::Program program;
    std::optional<ir::Algorithm> derived;  // by its algebraic steps, where they round otherwise
    check::Report report;
    Proving proving = not_asked();
    std::string name() const { return std::string(schedule.name.text()); }
  };
  const std::vector<One>& all() const { return all_; }
  // "row, few_rows, generic".
  std::string names() const;

 private:
  Session& session_;
  Work& work_;
  const std::vector<std::string>& paths_;
  std::string machine_;
  std::vector<One> all_;
  build::DecisionTable table_;
};

}  // namespace tilewright::cli

// SPDX-License-Identifier: Apache-2.0
//
// Programs with the LLVM IR that they become: applications with their schedules, random algorithms with random ones.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "lowering/targets/host/target.h"
#include "lowering/validate/validate.h"
#include "tests/differential/subjects.h"

namespace tilewright::validate {

struct Subject {
  std::unique_ptr<ir::Context> own;
  ir::Context* context = nullptr;
  ir::Algorithm algorithm;
  std::unique_ptr<program::Dispatch> dispatch;
  Listing listing;
  std::string name;
};

inline std::string text_of(const std::vector<Diagnostic>& diagnostics) {
  return laws::messages(diagnostics);
}

// Fills dispatch and listing; what is wrong, or empty. `*refused`: the target has no code for it.
inline std::string emit(Subject& subject, const program::Program& program,
                        const std::string& target, const std::vector<std::string>& features,
                        bool* refused = nullptr) {
  auto dispatch = program::single_dispatch(*subject.context, program, "schedule");
  if (!dispatch.ok()) return text_of(dispatch.diagnostics());
  subject.dispatch = std::make_unique<program::Dispatch>(*std::move(dispatch));
  auto found = host::find_target(target);
  if (!found.ok()) return text_of(found.diagnostics());
  llvm_wall::CompileOptions options;
  options.want_ir = true;
  const auto object = llvm_wall::compile_function(
      *subject.context, *subject.dispatch, host::with_features(*found, features).options, options);
  if (!object.ok()) {
    if (refused) *refused = test::is_refusal(object.diagnostics()[0]);
    return text_of(object.diagnostics());
  }
  auto listing = read_ir(object->ir);
  if (!listing.ok()) return text_of(listing.diagnostics());
  subject.listing = *std::move(listing);
  return {};
}

inline std::string application(Subject& subject, const std::string& name,
                               const std::string& schedule_name) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  const std::filesystem::path folder = std::filesystem::path(root ? root : ".") / "apps" / name;
  subject.own = std::make_unique<ir::Context>();
  subject.context = subject.own.get();
  subject.name = name + " " + schedule_name;
  poly::Context polyhedra;
  auto algorithm = ir::parse_algorithm(
      *subject.context, Source(name + ".tw", test::read_file(folder / (name + ".tw"))));
  if (!algorithm.ok()) return text_of(algorithm.diagnostics());
  subject.algorithm = *std::move(algorithm);
  auto schedule = directives::parse_schedule(
      *subject.context, subject.algorithm,
      Source(schedule_name, test::read_file(folder / "schedules" / (schedule_name + ".tws"))));
  if (!schedule.ok()) return text_of(schedule.diagnostics());
  auto built = build::build(*subject.context, polyhedra, subject.algorithm, *schedule);
  if (!built.ok()) return text_of(built.diagnostics());
  auto passed = passes::run_passes(*subject.context, *built);
  if (!passed.ok()) return text_of(passed.diagnostics());
  std::string target = schedule->machine;
  std::vector<std::string> features;
  if (target == "x86-64-v4-dot") {
    target = "x86-64-v4";
    features = {"avx512bf16", "avx512vnni"};
  }
  return emit(subject, *passed, target, features);
}

}  // namespace tilewright::validate

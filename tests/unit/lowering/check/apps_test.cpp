// SPDX-License-Identifier: Apache-2.0
//
// The applications with each of their schedules: the check leaves no outcome open, and what it declares
// impossible no run of the Program takes at further sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontend/ir/text.h"
#include "lowering/build/build.h"
#include "lowering/check/check.h"
#include "lowering/passes/passes.h"
#include "schedules/directives/text.h"

namespace tilewright::check {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct Application {
  ir::Context context;
  poly::Context isl;
  ir::Algorithm algorithm;
  program::Program program;

  Application(const fs::path& algorithm_file, const fs::path& schedule_file) {
    auto parsed = ir::parse_algorithm(context, Source("a.tw", read(algorithm_file)));
    EXPECT_TRUE(parsed.ok());
    if (!parsed.ok()) return;
    algorithm = *std::move(parsed);
    auto schedule =
        directives::parse_schedule(context, algorithm, Source("s.tws", read(schedule_file)));
    EXPECT_TRUE(schedule.ok());
    if (!schedule.ok()) return;
    auto built = build::build(context, isl, algorithm, *schedule);
    EXPECT_TRUE(built.ok());
    if (!built.ok()) return;
    auto lowered = passes::run_passes(context, *std::move(built), {});
    EXPECT_TRUE(lowered.ok());
    if (lowered.ok()) program = *std::move(lowered);
  }
};

void expect_all_reached(const fs::path& algorithm, const fs::path& schedule) {
  SCOPED_TRACE(schedule.string());
  Application app(algorithm, schedule);
  ASSERT_TRUE(app.program.body);
  const auto report = check_program(app.context, app.algorithm, app.program);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->verdict, Verdict::Checked);
  for (const Unreached& one : report->unreached) ADD_FAILURE() << one.outcome << ": " << one.reason;

  // At sizes that the plan did not choose.
  Options more;
  const std::size_t rank = app.program.extents.size();
  for (const std::int64_t size : {4, 13}) {
    ir::Bindings sizes;
    // The innermost three matter; ascending, as attention requires.
    for (std::size_t i = 0; i < rank; ++i)
      sizes[app.program.extents[i].name] = i + 3 < rank ? 1 : size + static_cast<std::int64_t>(i);
    const auto& guards = app.program.requirements;
    const bool allowed = std::all_of(guards.begin(), guards.end(), [&](ir::Expr guard) {
      return ir::evaluate_extents(guard, sizes) != 0;
    });
    if (allowed) more.sizes.push_back(std::move(sizes));
  }
  ASSERT_FALSE(more.sizes.empty());
  const auto again = check_program(app.context, app.algorithm, app.program, more);
  ASSERT_TRUE(again.ok()) << again.diagnostics()[0].message;
  EXPECT_EQ(again->verdict, Verdict::Checked);
  EXPECT_EQ(again->impossible, report->impossible);
}

TEST(CheckApps, EveryOutcomeIsReachedOrImpossible) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  ASSERT_NE(root, nullptr);
  int schedules = 0;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(fs::path(root) / "apps"))
    if (fs::is_directory(entry.path() / "schedules")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders)
    for (const auto& file : fs::directory_iterator(folder / "schedules")) {
      if (file.path().extension() != ".tws") continue;
      ++schedules;
      expect_all_reached(folder / (folder.filename().string() + ".tw"), file.path());
    }
  EXPECT_GE(schedules, 12);
}

}  // namespace
}  // namespace tilewright::check

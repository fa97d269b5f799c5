// SPDX-License-Identifier: Apache-2.0
//
// Certificates: of what is proved there is one, which the checker accepts, the same bytes on every run. Of a wrong Program
// none is accepted, whatever the certificate was made from and whatever is true about sets; altered and hostile texts are
// rejected.
#include <chrono>
#include <filesystem>
#include <random>

#include "lowering/mutants/trial.h"
#include "tests/laws/certificates.h"

namespace tilewright {
namespace {

using laws::bound_to;
using laws::Certified;
using laws::certified;
using laws::refusal;

bool is_slow() { return std::getenv("TILEWRIGHT_SLOW_TESTS") != nullptr; }

class CertifiedApplications : public ::testing::TestWithParam<const char*> {};

TEST_P(CertifiedApplications, AreAccepted) {
  const std::string name = GetParam();
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  const std::filesystem::path folder = std::filesystem::path(root ? root : ".") / "apps" / name;
  int accepted = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "schedules")) {
    const std::string file = entry.path().filename().string();
    ir::Context context;
    poly::Context polyhedra;
    auto algorithm = ir::parse_algorithm(
        context, Source(name, laws::source_text("apps/" + name + "/" + name + ".tw")));
    ASSERT_TRUE(algorithm.ok());
    auto schedule = directives::parse_schedule(
        context, *algorithm,
        Source(file, laws::source_text("apps/" + name + "/schedules/" + file)));
    ASSERT_TRUE(schedule.ok());
    auto built = build::build(context, polyhedra, *algorithm, *schedule);
    ASSERT_TRUE(built.ok());
    auto passed = passes::run_passes(context, *built);
    ASSERT_TRUE(passed.ok());
    if (!passed->intrinsics.empty()) continue;  // calls are not followed by the checker yet
    const Certified one = certified(context, *algorithm, *passed);
    EXPECT_EQ(one.why, "") << file;
    if (!one.why.empty()) continue;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(refusal(one.algorithm, one.program, one.certificate), "") << file;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    RecordProperty(file, std::to_string(took.count()) + " s, " +
                             std::to_string(one.certificate.size()) + " bytes");
    if (std::getenv("TILEWRIGHT_SHOW_SEEDS"))
      std::cerr << name << "/" << file << ": " << took.count() << " s, " << one.certificate.size()
                << " bytes\n";
    ++accepted;
  }
  EXPECT_GT(accepted, 0);
}

INSTANTIATE_TEST_SUITE_P(Apps, CertifiedApplications,
                         ::testing::Values("softmax", "layernorm", "blur"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace tilewright

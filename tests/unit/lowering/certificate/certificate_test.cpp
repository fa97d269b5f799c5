// SPDX-License-Identifier: Apache-2.0
//
// Certificates: of what is proved there is one, which the checker accepts, the same bytes on every run. Of a wrong Program
// none is accepted, whatever the certificate was made from and whatever is true about sets; altered and hostile texts are
// rejected.
#include <chrono>
#include <filesystem>

#include "lowering/mutants/trial.h"
#include "tests/unit/lowering/certificate/certificates.h"

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
  if (name == "gemm" && !is_slow()) GTEST_SKIP() << "hundreds of stores: in the slow run";
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

INSTANTIATE_TEST_SUITE_P(Apps, CertifiedApplications, ::testing::Values("softmax", "blur", "gemm"),
                         [](const auto& each) { return std::string(each.param); });

struct Pair {
  const char* name;
  const char* algorithm;
  const char* program;
};
constexpr Pair kPrograms[] = {
    {"flash", "agents/attention", "proofs/flash"},  {"gap", "mutants/gap", "mutants/gap"},
    {"staged", "mutants/staged", "mutants/staged"}, {"wide", "mutants/wide", "mutants/wide"},
    {"half", "mutants/half", "mutants/half"},
};

Certified certified(const Pair& pair) {
  return laws::certified("tests/laws/" + std::string(pair.algorithm) + ".tw",
                         "tests/laws/" + std::string(pair.program) + ".twp");
}

class CertifiedPrograms : public ::testing::TestWithParam<Pair> {};

TEST_P(CertifiedPrograms, AreAcceptedByTheSameBytesOnEveryRun) {
  const Certified one = certified(GetParam());
  ASSERT_EQ(one.why, "");
  EXPECT_EQ(refusal(one.algorithm, one.program, one.certificate), "");
  EXPECT_EQ(certified(GetParam()).certificate, one.certificate);
}

// Of each mutant that a run shows to be wrong: the original's certificate, said to be about the mutant; and the same with
// all that is true of the sets that its check asks about.
TEST_P(CertifiedPrograms, HaveNoneForAMutant) {
  if (GetParam().name == std::string("flash") && !is_slow()) GTEST_SKIP() << "in the slow run";
  const Certified right = certified(GetParam());
  ASSERT_EQ(right.why, "");
  ir::Context context;
  auto algorithm = ir::parse_algorithm(context, Source("a", right.algorithm));
  auto program = program::parse_program(context, Source("p", right.program));
  ASSERT_TRUE(algorithm.ok() && program.ok());
  mutants::TrialOptions options;
  options.mutate.per_kind = is_slow() ? 8 : 1;
  const auto trial = mutants::try_mutants(context, *algorithm, *program, options);
  ASSERT_TRUE(trial.ok()) << laws::messages(trial.diagnostics());
  const std::string hints = right.certificate.substr(0, right.certificate.find("lemma "));
  int counted = 0;
  for (const mutants::Tried& one : trial->list) {
    if (one.outcome == mutants::Outcome::Equivalent) continue;
    ++counted;
    const std::string text = program::print(one.mutant.program);
    EXPECT_NE(refusal(right.algorithm, text, bound_to(right.certificate, text)), "") << text;
    EXPECT_FALSE(certificate::with_lemmas(right.algorithm, text, bound_to(hints, text)).ok())
        << one.mutant.kind->name << "\n"
        << text;
  }
  EXPECT_GT(counted, 5);
}

// One field changed at a time. What is accepted with true lemmas says something true in other words; that a run does not
// show it to be wrong is what the mutants above are for. So here: which changes may be.
TEST_P(CertifiedPrograms, RejectAlteredFields) {
  const Certified right = certified(GetParam());
  ASSERT_EQ(right.why, "");
  std::vector<std::string> lines;
  std::istringstream in(right.certificate);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  int rejected = 0, accepted = 0, tried = 0;
  const std::size_t step = is_slow() ? 1 : std::max<std::size_t>(1, lines.size() / 40);
  for (std::size_t i = 0; i < lines.size(); i += step) {
    const auto with = [&](const std::vector<std::string>& instead, bool harmless) {
      std::string text;
      for (std::size_t j = 0; j < lines.size(); ++j)
        for (const std::string& line : j == i ? instead : std::vector<std::string>{lines[j]})
          text += line + "\n";
      const bool is_rejected = !refusal(right.algorithm, right.program, text).empty();
      EXPECT_TRUE(is_rejected || harmless) << lines[i] << "\n"
                                           << (instead.empty() ? "left out" : instead.front());
      ++tried;
      ++(is_rejected ? rejected : accepted);
    };
    // Pieces may overlap; where a lemma is not known, another way may lead to the same statement.
    with({}, lines[i].rfind("if ", 0) == 0 || lines[i].rfind("lemma ", 0) == 0);
    with({lines[i], lines[i]}, lines[i].rfind("if ", 0) == 0);
    // Every number, one more.
    for (std::size_t at = lines[i].find_first_of("0123456789"); at != std::string::npos;) {
      std::size_t end = lines[i].find_first_not_of("0123456789", at);
      end = std::min(end, lines[i].size());
      const bool is_hex = lines[i].rfind("if ", 0) != 0;
      if (end - at < 9) {
        std::string other = lines[i];
        other.replace(at, end - at, std::to_string(std::stol(other.substr(at, end - at)) + 1));
        with({other}, !is_hex || lines[i].rfind("lemma ", 0) == 0);
      }
      at = lines[i].find_first_of("0123456789", end);
    }
  }
  EXPECT_GT(rejected, accepted * 4) << tried;
}

INSTANTIATE_TEST_SUITE_P(Laws, CertifiedPrograms, ::testing::ValuesIn(kPrograms),
                         [](const auto& each) { return std::string(each.param.name); });

// Any bytes are rejected, or say something true; none of them stops the checker.
TEST(Certificates, OfAnyBytes) {
  const Certified right = certified(kPrograms[1]);
  ASSERT_EQ(right.why, "");
  std::uint64_t state = 88172645463325252ULL;
  const auto random = [&](std::size_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<std::size_t>(state % below);
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  int rejected = 0;
  for (int i = 0; is_slow() ? std::chrono::steady_clock::now() < end : i < 300; ++i) {
    std::string text = right.certificate;
    for (std::size_t flips = 1 + random(3); flips > 0; --flips)
      text[random(text.size())] = "0123456789 +-*/(){}[]<>=!&|,:abcdxyz\n\0\xff"[random(39)];
    if (i % 4 == 0) text.resize(random(text.size()));
    if (i % 5 == 0) text.insert(random(text.size() + 1), text, random(text.size() + 1), 200);
    rejected += !refusal(right.algorithm, right.program, text).empty();
  }
  EXPECT_GT(rejected, 200);
}

// A Program of one store, and certificates that are wrong on purpose.
constexpr const char* kAlgorithm = R"(algorithm sums(N) {
  input x : f32[N]
  output y[i < N] : f32 = x[i] + x[i]
}
)";
constexpr const char* kTwice = R"(program sums for sums {
  extent N
  input x : f32[N]
  output y : f32[N]
  for i in 0 .. N {
    y[i] = x[i]
  }
  for j in 0 .. N {
    y[j] = y[j] + y[j]
  }
}
)";

std::string forged(const std::string& program, const std::string& body) {
  const std::string text = "certificate 1\nalgorithm " + checker::digest(kAlgorithm) +
                           "\nprogram " + checker::digest(program) + "\n" + body;
  const auto out = certificate::with_lemmas(kAlgorithm, program, text);
  return out.ok() ? "" : out.diagnostics()[0].message;
}

TEST(Certificates, WrittenByHand) {
  const std::string first = "claim 0\nif true : is (cell x {1*i 0})\n";
  const std::string reads = "read 1 0\nif true : from 0 : j\nread 1 1\nif true : from 0 : j\n";
  const std::string last = "claim 1\nif true : is (* 2 (cell x {1*j 0}))\n";
  const std::string output = "output y\nif true : from 1 : d0\n";
  EXPECT_EQ(forged(kTwice, first + reads + last + output), "");
  // In other words.
  EXPECT_EQ(forged(kTwice, first + reads + "claim 1\nif true : is (cell y {1*j 0})\n" + output),
            "");
  const std::pair<const char*, std::string> wrong[] = {
      {"a writer that comes later", first +
                                        "read 1 0\nif true : from 1 : j\nread 1 1\nif true : "
                                        "from 0 : j\n" +
                                        last + output},
      {"a claim that leans on itself", "claim 0\nif true : is (value 0 {1*i 0})\n" + reads +
                                           "claim 1\nif true : is (value 1 {1*j 0})\n" + output},
      {"claims in a circle",
       "claim 0\nif true : is (* 1/2 (value 1 {1*i 0}))\n" + reads + last + output},
      {"another cell", first +
                           "read 1 0\nif true : from 0 : j - 1\nread 1 1\nif true : from 0 : "
                           "j\n" +
                           last + output},
      {"a piece left out",
       first + reads + "claim 1\nif j >= 1 : is (* 2 (cell x {1*j 0}))\n" + output},
      {"nothing is said", first + reads + "claim 1\nif true : itself\n" + output},
      {"another loop's name",
       first + reads + "claim 1\nif true : is (* 2 (cell x {1*i 0}))\n" + output},
      {"a condition on another loop", first +
                                          "read 1 0\nif i >= 0 : from 0 : j\nread 1 1\nif true : "
                                          "from 0 : j\n" +
                                          last + output},
      {"the earlier store", first + reads + last + "output y\nif true : from 0 : d0\n"},
      {"a store that is none", first + reads + last + "output y\nif true : from 2 : d0\n"},
      {"no source", first + reads + last + "output y\n"},
      {"another value", first + reads + "claim 1\nif true : is (* 3 (cell x {1*j 0}))\n" + output},
      {"half an instance", first +
                               "read 1 0\nif true : from 0 : (2 * j + 1) / 2 + 1\nread 1 1\nif "
                               "true : from 0 : j\n" +
                               last + output},
      {"text after the end", first + reads + last + output + "output y\n"},
  };
  for (const auto& [what, body] : wrong) EXPECT_NE(forged(kTwice, body), "") << what;
}

// What the Program asks of sizes is told, and what it is not called with is refused.
TEST(Certificates, SayForWhichSizes) {
  const auto sizes = [](const std::string& extent) {
    const std::string program = "program sums for sums {\n  extent " + extent +
                                "\n  input x : f32[N]\n  output y : f32[N]\n"
                                "  for i in 0 .. N {\n    y[i] = x[i] + x[i]\n  }\n}\n";
    const std::string text = "certificate 1\nalgorithm " + checker::digest(kAlgorithm) +
                             "\nprogram " + checker::digest(program) +
                             "\nclaim 0\nif true : is (* 2 (cell x {1*i 0}))\n"
                             "output y\nif true : from 0 : d0\n";
    const auto all = certificate::with_lemmas(kAlgorithm, program, text);
    if (!all.ok()) return all.diagnostics()[0].message;
    checker::Arena arena;
    return checker::accept(arena, kAlgorithm, program, *all);
  };
  EXPECT_EQ(sizes("N"), "all sizes");
  EXPECT_EQ(sizes("N max 8"), "sizes with N >= 0 and -N + 8 >= 0");
  EXPECT_NE(sizes("N\n  extent K").find("`K` is not the algorithm's"), std::string::npos);
  EXPECT_NE(sizes("N\n  requires N >= 3 && N <= 2").find("sizes with"), std::string::npos);
}

}  // namespace
}  // namespace tilewright

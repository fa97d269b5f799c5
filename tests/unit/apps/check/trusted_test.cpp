// SPDX-License-Identifier: Apache-2.0
//
// What has to be trusted of tilewright-check: few lines, the standard library, and the manners of its command line.
#include <sys/wait.h>

#include "tests/unit/apps/check/texts.h"

namespace tilewright::checker {
namespace {

std::string bin() {
  const char* const folder = std::getenv("TILEWRIGHT_BIN");
  return folder ? folder : "build/dev/bin";
}

// What a command prints on both streams, and its exit status.
std::pair<std::string, int> run(const std::string& command) {
  std::string out;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  const int status = pclose(pipe);
  return {out, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

std::vector<std::filesystem::path> checker_files() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() + "/apps/check"))
    if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
      out.push_back(entry.path());
  return out;
}

// 5,000 is the bar (docs/plan.md), which the algebra has taken it beyond; it may not grow further.
TEST(CheckerIsSmall, CountedInAll) {
  std::ptrdiff_t lines = 0;
  for (const auto& path : checker_files()) {
    const std::string text = contents(path);
    lines += std::count(text.begin(), text.end(), '\n');
  }
  EXPECT_GT(lines, 1000);
  EXPECT_LE(lines, 6600);
}

// So the lines above are all that it is made of.
TEST(CheckerIsSmall, IncludesTheStandardLibraryAndItself) {
  for (const auto& path : checker_files()) {
    std::istringstream text(contents(path));
    for (std::string line; std::getline(text, line);) {
      if (line.rfind("#include", 0) != 0) continue;
      const bool is_own = line.rfind("#include \"apps/check/", 0) == 0;
      const bool is_standard =
          line.rfind("#include <", 0) == 0 && line.find_first_of("/.") == std::string::npos;
      EXPECT_TRUE(is_own || is_standard) << path << ": " << line;
    }
  }
}

TEST(CheckerIsSmall, LinksTheStandardLibrary) {
  const auto [text, status] = run("readelf -d '" + bin() + "/tilewright-check'");
  ASSERT_EQ(status, 0) << text;
  std::istringstream lines(text);
  int libraries = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    ++libraries;
    const std::size_t at = line.find('[') + 1;
    const std::string name = line.substr(at, line.find(".so", at) - at);
    // Sanitizers bring their runtime.
    const bool known = name == "libstdc++" || name == "libm" || name == "libgcc_s" ||
                       name == "libc" || name == "ld-linux-x86-64" || name == "ld-linux-aarch64" ||
                       name == "libresolv" || name == "libpthread" || name == "libdl" ||
                       name == "librt";
    EXPECT_TRUE(known) << name;
  }
  EXPECT_GT(libraries, 1);
}

class CheckerCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("tilewright_check_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    write("a.tw", "algorithm a(N) {\n  input x : f32[N]\n  output y[i < N] : f32 = x[i]\n}\n");
    write("p.twp",
          "program p for a {\n  extent N\n  input x : f32[N]\n  output y : f32[N]\n"
          "  for i in 0 .. N {\n    y[i] = x[i]\n  }\n}\n");
    write("bad.twp", "program p for a {\n  extent N\n  y[0] = 0\n}\n");
    write("none.cert", "");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  std::pair<std::string, int> check(const std::string& arguments) {
    return run("cd '" + folder_.string() + "' && '" + std::filesystem::absolute(bin()).string() +
               "/tilewright-check' " + arguments);
  }
  std::filesystem::path folder_;
};

TEST_F(CheckerCommand, AcceptsNothingWithoutProof) {
  const auto [text, status] = check("a.tw p.twp none.cert");
  EXPECT_EQ(status, 1);
  EXPECT_EQ(text.rfind("rejected: none.cert", 0), 0U) << text;
}

TEST_F(CheckerCommand, SaysWhereATextIsWrong) {
  const auto [text, status] = check("a.tw bad.twp none.cert");
  EXPECT_EQ(status, 1);
  EXPECT_EQ(text,
            "rejected: bad.twp:3:3: `y` is nothing of the kind and rank that is needed\n"
            "help: canonical text is read alone, as `tilewright opt bad.twp` prints it\n");
}

TEST_F(CheckerCommand, ListsStatements) {
  const auto [text, status] = check("--statements p.twp");
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text,
            "sizes [N] -> { : N >= 0 }\nstore 0 y line 6\n  loops for i\n  time 0 i 0\n"
            "  domain [N] -> { [i] : i >= 0 and N - i - 1 >= 0 }\n  cell [N] -> { [i] -> [i] }\n"
            "  read x [N] -> { [i] -> [i] }\n");
}

TEST_F(CheckerCommand, ExitsWithTwoForFilesAndCommandLinesItCannotRead) {
  EXPECT_EQ(check("a.tw missing.twp none.cert"),
            std::pair(std::string("missing.twp: cannot be read as a text of at most 64 MiB\n"), 2));
  // A folder, and a file without an end.
  for (const char* path : {"/", "/dev/zero"})
    EXPECT_EQ(check("a.tw p.twp " + std::string(path)),
              std::pair(std::string(path) + ": cannot be read as a text of at most 64 MiB\n", 2));
  for (const char* arguments : {"", "a.tw", "a.tw p.twp", "--statements", "--list a.tw p.twp",
                                "--statements p.twp p.twp", "a.tw p.twp none.cert more"}) {
    const auto [text, status] = check(arguments);
    EXPECT_EQ(status, 2) << arguments;
    EXPECT_EQ(text.rfind("usage: tilewright-check", 0), 0U) << arguments;
  }
  const auto [text, status] = check("--help");
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text.rfind("usage: tilewright-check", 0), 0U);
}

}  // namespace
}  // namespace tilewright::checker

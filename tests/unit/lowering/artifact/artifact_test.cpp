// SPDX-License-Identifier: Apache-2.0
//
// What a build hands over: the header as compilers see it, the manifest as a reader of JSON sees it, the
// library as binutils see it. The library's behaviour: tests/differential.
#include "lowering/artifact/artifact.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "frontend/base/hash.h"
#include "lowering/program/text.h"

namespace tilewright::artifact {
namespace {

constexpr const char* kProgram = R"(program scale for scaling {
  extent N min 1 max 4096
  extent M min 0 multiple_of 4
  requires N <= M * 2 + 8
  input x : bf16[N, M]
  input default : f64[N + 1]
  input call : i64[]
  output workspace : f32[N, M]
  alloc t : f32[N] in workspace {
    parallel i in 0 .. N {
      t[i] = f32(default[i])
    }
    parallel j in 0 .. N {
      for k in 0 .. M {
        workspace[j, k] = exp(f32(x[j, k])) * t[j] + f32(call[])
      }
    }
  }
})";

Origin origin() {
  return {"1.2.3",
          "0123456789abcdef0123456789abcdef",
          "by_hand",
          "fedcba9876543210fedcba9876543210",
          "checked for sizes N=1 */ int oops; /*",
          {}};
}

std::string output_of(const std::string& command, int* status = nullptr) {
  std::string text;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "no pipe";
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  const int ended = pclose(pipe);
  if (status) *status = ended;
  return text;
}

class ArtifactTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "tilewright.XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    program_ = parse(kProgram);
    target_ = *host::find_target("x86-64-v3");
    made_ = make(program_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  program::Program parse(const std::string& text) {
    auto parsed = program::parse_program(context_, Source("test.twp", text));
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.diagnostics()[0].message);
    return parsed.ok() ? *parsed : program::Program{};
  }
  Artifact make(const program::Program& program) {
    auto made = make_artifact(context_, program, target_, origin());
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.diagnostics()[0].message);
    return made.ok() ? std::move(*made) : Artifact{};
  }
  std::string write(const std::string& name, const std::string& bytes) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  static std::string runtime_headers() {
    const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
    return " -I" + std::string(root ? root : ".") + "/runtime/include ";
  }
  // Compiles a file that includes the header twice and calls both functions.
  void expect_compiles(const std::string& compiler, const std::string& extension) {
    write(made_.header_name, made_.header);
    const std::string source = write("use." + extension, "#include \"" + made_.header_name +
                                                             "\"\n#include \"" + made_.header_name +
                                                             R"("
int32_t use(const tilewright_call *c, tilewright_tensor *t, void *w);
int32_t use(const tilewright_call *c, tilewright_tensor *t, void *w) {
  size_t size = 0;
  int32_t status = scale_query(c, t, t, t, t, &size);
  return status != TILEWRIGHT_OK ? status : scale(c, t, t, t, t, w, size);
}
)");
    int status = -1;
    const std::string said =
        output_of(compiler + runtime_headers() + "-c -o " + folder_ + "/use.o " + source, &status);
    EXPECT_EQ(status, 0) << compiler << "\n" << said << made_.header;
    EXPECT_EQ(said, "");
  }

  ir::Context context_;
  std::string folder_;
  program::Program program_;
  host::Target target_;
  Artifact made_;
};

TEST_F(ArtifactTest, FilesAreNamedAfterTheFunction) {
  EXPECT_EQ(made_.library_name, "libscale.a");
  EXPECT_EQ(made_.header_name, "scale.h");
  EXPECT_EQ(made_.manifest_name, "scale.json");
}

TEST_F(ArtifactTest, TheSameInputGivesTheSameBytes) {
  const Artifact again = make(program_);
  EXPECT_EQ(made_.library, again.library);
  EXPECT_EQ(made_.header, again.header);
  EXPECT_EQ(made_.manifest, again.manifest);
  // In a context with another history too.
  ir::Context other;
  for (int i = 0; i < 1000; ++i) other.symbol("name" + std::to_string(i));
  auto parsed = program::parse_program(other, Source("test.twp", kProgram));
  ASSERT_TRUE(parsed.ok());
  auto made = make_artifact(other, *parsed, target_, origin());
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made_.library, made->library);
  EXPECT_EQ(made_.manifest, made->manifest);
}

TEST_F(ArtifactTest, TheHeaderIsPlainC99) {
  expect_compiles("gcc -std=c99 -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Werror",
                  "c");
}
TEST_F(ArtifactTest, TheHeaderIsC23) {
  expect_compiles("gcc -std=c2x -Wall -Wextra -Wpedantic -Werror", "c");
}
// Tensors may be called what the functions call their own parameters.
TEST_F(ArtifactTest, TheHeaderCompilesWhateverTensorsAreCalled) {
  made_ = make(parse(R"(program scale for scale {
  extent N
  input text : f32[N]
  input text_size : f32[N]
  input workspace_size : f32[N]
  output text_length : f32[N]
  for i in 0 .. N {
    text_length[i] = text[i] + text_size[i] + workspace_size[i]
  }
})"));
  expect_compiles("gcc -std=c99 -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Werror",
                  "c");
}

TEST_F(ArtifactTest, TheHeaderIsCpp11And20) {
  expect_compiles("g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror", "cpp");
  expect_compiles("g++ -std=c++20 -Wall -Wextra -Wpedantic -Werror", "cpp");
}

// Tensors may be called what the entries call their own parameters.
TEST_F(ArtifactTest, TheHeaderOfAPlanCompilesWhateverTensorsAreCalled) {
  made_ = make(parse(R"(program packed for packed {
  extent N
  input text : f32[N]
  const input plan : f32[N]
  input text_size : f32[N]
  input text_length : f32[N]
  output plan_size : f32[N]
  alloc p : f32[N] in plan {
    for n in 0 .. N {
      p[n] = plan[n]
    }
    for i in 0 .. N {
      plan_size[i] = p[i] + text[i] + text_size[i] + text_length[i]
    }
  }
})"));
  for (const char* words : {"packed_plan_query(", "packed_plan(", "packed_run(", "packed_explain("})
    EXPECT_NE(made_.header.find(words), std::string::npos) << words << "\n" << made_.header;
  EXPECT_NE(made_.header.find("the data may be null: plan_."), std::string::npos) << made_.header;
  const std::string header = write(made_.header_name, made_.header);
  for (const char* compiler :
       {"gcc -std=c99 -x c -Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror",
        "g++ -std=c++11 -x c++ -Wall -Wextra -Wpedantic -Werror"}) {
    int status = -1;
    const std::string said =
        output_of(compiler + runtime_headers() + "-fsyntax-only " + header, &status);
    EXPECT_EQ(status, 0) << compiler << "\n" << said << made_.header;
  }
}

TEST_F(ArtifactTest, TheManifestSaysWhatAPlanHolds) {
  made_ = make(parse(R"(program packed for packed {
  extent M
  extent N
  input x : f32[M]
  const input v : f32[N]
  const input w : f64[N, 3]
  output y : f32[M]
  alloc p : f32[N] in plan {
    for n in 0 .. N {
      p[n] = v[n]
    }
    alloc q : f64[3, N] in plan {
      for k in 0 .. 3 {
        for n2 in 0 .. N {
          q[k, n2] = w[n2, k]
        }
      }
      for m in 0 .. M {
        y[m] = x[m]
      }
    }
  }
})"));
  auto parsed = parse_json(Source(made_.manifest_name, made_.manifest));
  ASSERT_TRUE(parsed.ok()) << made_.manifest;
  const Json* plan = parsed->find("variants")->as_array()->at(0).find("plan");
  ASSERT_NE(plan, nullptr) << made_.manifest;
  EXPECT_EQ(*plan->find("head_bytes")->as_integer(), 64);
  ASSERT_EQ(plan->find("depends_on")->as_array()->size(), 1U);
  EXPECT_EQ(*plan->find("depends_on")->as_array()->at(0).as_string(), "N");
  const auto& buffers = *plan->find("buffers")->as_array();
  ASSERT_EQ(buffers.size(), 2U);
  EXPECT_EQ(*buffers[1].find("name")->as_string(), "q");
  EXPECT_EQ(*buffers[1].find("type")->as_string(), "f64");
  EXPECT_EQ(*buffers[1].find("offset")->as_string(), "(N * 4 + 63) / 64 * 64");
}

TEST_F(ArtifactTest, TheHeaderStatesTheContract) {
  for (const char* words : {"scale_query(", "input bf16[N, M]", "default_: input f64[N + 1]",
                            "workspace_: output f32[N, M]", "N = x[0]: at least 1, at most 4096",
                            "M = x[1]: at least 0, a multiple of 4", "Requires N <= M * 2 + 8",
                            "AVX2", "0123456789abcdef0123456789abcdef", "by_hand", "1.2.3"})
    EXPECT_NE(made_.header.find(words), std::string::npos) << words << "\n" << made_.header;
  // Nothing that the caller named ends the comment.
  const std::size_t end = made_.header.find("*/");
  EXPECT_GT(end, made_.header.find("Returns TILEWRIGHT_OK"));
}

TEST_F(ArtifactTest, TheManifestStatesTheContract) {
  auto parsed = parse_json(Source(made_.manifest_name, made_.manifest));
  ASSERT_TRUE(parsed.ok()) << parsed.diagnostics()[0].message << made_.manifest;
  const Json& manifest = *parsed;
  EXPECT_EQ(*manifest.find("schema")->as_integer(), 1);
  EXPECT_EQ(*manifest.find("abi")->as_integer(), 1);
  EXPECT_EQ(*manifest.find("name")->as_string(), "scale");
  EXPECT_EQ(*manifest.find("algorithm")->find("name")->as_string(), "scaling");
  EXPECT_EQ(*manifest.find("target")->find("name")->as_string(), "x86-64-v3");
  EXPECT_EQ(*manifest.find("verdict")->as_string(), origin().verdict);

  const auto& parameters = *manifest.find("parameters")->as_array();
  ASSERT_EQ(parameters.size(), 4U);
  EXPECT_EQ(*parameters[0].find("type")->as_string(), "bf16");
  EXPECT_EQ(*parameters[1].find("shape")->as_array(), (Json::Array{"N + 1"}));
  EXPECT_EQ(*parameters[2].find("shape")->as_array(), Json::Array{});
  EXPECT_EQ(*parameters[3].find("kind")->as_string(), "output");
  const auto& extents = *manifest.find("extents")->as_array();
  ASSERT_EQ(extents.size(), 2U);
  EXPECT_EQ(*extents[0].find("max")->as_integer(), 4096);
  EXPECT_TRUE(extents[1].find("max")->is_null());
  EXPECT_EQ(*extents[1].find("multiple_of")->as_integer(), 4);
  EXPECT_EQ(*extents[1].find("from")->find("dimension")->as_integer(), 1);

  // The checks that the code makes, one line each, in their order.
  const auto contract = program::derive_contract(context_, program_);
  ASSERT_TRUE(contract.ok());
  const auto& checks = *manifest.find("checks")->as_array();
  ASSERT_EQ(checks.size(), contract->checks.size());
  std::vector<std::string> lines;
  for (const Json& check : checks) lines.push_back(*check.as_string());
  for (const char* line :
       {"x[0] >= 1", "x[0] <= 4096", "x[1] is a multiple of 4", "default has type f64",
        "default[0] = N + 1", "call has rank 0", "workspace[0] = N", "workspace is not read-only",
        "N <= M * 2 + 8", "workspace shares no byte with x", "the workspace shares no byte with x"})
    EXPECT_EQ(std::count(lines.begin(), lines.end(), line), 1) << line << "\n" << made_.manifest;
  const auto place = [&](const char* line) {
    return std::find(lines.begin(), lines.end(), line) - lines.begin();
  };
  EXPECT_LT(place("x[0] >= 1"), place("default[0] = N + 1"));
}

TEST_F(ArtifactTest, TheManifestNamesTheFilesByContent) {
  auto parsed = parse_json(Source(made_.manifest_name, made_.manifest));
  ASSERT_TRUE(parsed.ok());
  const Json* files = parsed->find("files");
  ASSERT_NE(files, nullptr);
  const std::pair<const char*, const std::string*> expected[] = {{"library", &made_.library},
                                                                 {"header", &made_.header}};
  for (const auto& [kind, bytes] : expected) {
    EXPECT_EQ(*files->find(kind)->find("bytes")->as_integer(),
              static_cast<std::int64_t>(bytes->size()));
    EXPECT_EQ(*files->find(kind)->find("hash")->as_string(), content_hash(*bytes));
  }
}

TEST_F(ArtifactTest, TheLibraryHoldsItsFunctionsAndAsksForNothing) {
  const std::string path = write(made_.library_name, made_.library);
  EXPECT_EQ(output_of("nm -g --defined-only --format=just-symbols " + path +
                      " | grep -v '^$' | grep -v ':$'"),
            "scale\nscale_explain\nscale_query\n");
  // One weak reference to the C library, null where it is missing: docs/decisions/cpu_features.md.
  EXPECT_EQ(output_of("nm -u --format=just-symbols " + path + " | grep -v '^$' | grep -v ':$'"),
            "__x86_get_cpuid_feature_leaf\n");
  EXPECT_EQ(output_of("ar t " + path), "scale.o\n");
  EXPECT_EQ(output_of("ar tv " + path).find("rw-r--r-- 0/0"), 0U) << "no owner is kept";
}

TEST_F(ArtifactTest, NamesThatCCannotCallAreRefused) {
  for (const char* name :
       {"int", "class", "main", "_f", "tilewright_f", "a.b", "2d", "", "co_await"}) {
    const auto checked = check_function_name(name);
    ASSERT_FALSE(checked.ok()) << name;
    EXPECT_EQ(checked.diagnostics()[0].code, Code::FunctionName);
  }
  for (const char* name : {"f", "Int", "gemm_64", "tilewright"})
    EXPECT_TRUE(check_function_name(name).ok()) << name;
  program_.name = context_.symbol("while");
  const auto made = make_artifact(context_, program_, target_, origin());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.diagnostics()[0].code, Code::FunctionName);
}

}  // namespace
}  // namespace tilewright::artifact

// SPDX-License-Identifier: Apache-2.0
//
// What a library, and compiled C, does with bad arguments, and what its object holds: every check of the contract has a call
// that fails it alone, with its status and place, and nothing is written; no symbol is left open, no data can
// be written, the same input gives the same bytes.
#include <cstdio>
#include <fstream>

#include "tests/differential/compiled_program.h"

namespace tilewright::test {
namespace {

constexpr const char* kProgram = R"(program scale for scale {
  extent M min 1 max 64
  extent N min 0 multiple_of 4
  requires M <= 2 * N + 8
  input x : f32[M, N]
  input w : f64[N + 1]
  output o : f32[M, N]
  alloc t : f32[M] in workspace {
    parallel i in 0 .. M {
      t[i] = f32(w[0])
    }
    parallel j in 0 .. M {
      for k in 0 .. N {
        o[j, k] = x[j, k] * t[j]
      }
    }
  }
})";

class LlvmEntry : public ::testing::TestWithParam<const char*> {
 protected:
  LlvmEntry()
      : target_(GetParam() == c_target::kName ? c_stand_in() : *host::find_target(GetParam())),
        program_(parse(context_, kProgram)),
        library_(context_, program_, target_) {
    error_.struct_size = sizeof(error_);
    call_ = tilewright_call_make(nullptr, &error_);
    bind(4, 8);
  }

  void bind(std::int64_t m, std::int64_t n) {
    const ir::Bindings bindings{{context_.symbol("M"), m}, {context_.symbol("N"), n}};
    arguments_.clear();
    arguments_.reserve(3);
    for (const program::Parameter& parameter : program_.parameters) {
      arguments_.emplace_back(parameter, bindings);
      std::mt19937_64 random(3);
      arguments_.back().fill(random_tensor(parameter, bindings, random, true));
    }
  }

  tilewright_tensor& tensor(int i) { return arguments_[i].descriptor; }
  std::vector<tilewright_tensor*> tensors() { return {&tensor(0), &tensor(1), &tensor(2)}; }
  std::int32_t run() { return library_.run(&call_, tensors(), workspace_, sizeof(workspace_)); }

  // The call fails with this status at this place, and changes no output.
  void expect_refused(std::int32_t status, int argument, int dimension = -1) {
    const ir::Tensor before = arguments_[2].read();
    error_.status = 0;
    EXPECT_EQ(run(), status);
    EXPECT_EQ(error_.status, status) << error_.message;
    EXPECT_EQ(error_.argument, argument);
    EXPECT_EQ(error_.dimension, dimension);
    EXPECT_STREQ(error_.function, "scale");
    EXPECT_NE(error_.message[0], '\0');
    const ir::Tensor after = arguments_[2].read();
    for (std::size_t i = 0; i < before.data.size(); ++i) EXPECT_TRUE(same_bits(before, after, i));
    expect_explained(status);
  }

  // NAME_explain says the same of the same arguments; of a workspace it is not told.
  void expect_explained(std::int32_t status) {
    if (std::string_view(error_.message).find("workspace") != std::string_view::npos) return;
    const tilewright_error ran = error_;
    error_.status = 0;
    const auto [told, text] = library_.explain(&call_, tensors());
    EXPECT_EQ(told, status) << text;
    if (call_.error == nullptr) return;
    EXPECT_EQ(std::memcmp(&ran, &error_, sizeof ran), 0);
    std::string line = "refused: " + std::string(program::status_name(status)) + ": ";
    if (ran.argument >= 0) line += program_.parameters[ran.argument].name.text();
    if (ran.dimension >= 0) line += "[" + std::to_string(ran.dimension) + "]";
    if (ran.argument >= 0) line += ": ";
    line += ran.message;
    if ((ran.expected != 0 || ran.got != 0) && status != TILEWRIGHT_BAD_CALL)
      line += ": expected " + std::to_string(ran.expected) + ", got " + std::to_string(ran.got);
    EXPECT_EQ(text.substr(text.rfind('\n', text.size() - 2) + 1), line + "\n") << text;
  }

  ir::Context context_;
  host::Target target_;
  program::Program program_;
  CompiledProgram library_;
  tilewright_error error_{};
  tilewright_call call_{};
  std::vector<Argument> arguments_;
  alignas(64) unsigned char workspace_[1024] = {};
};

TEST_P(LlvmEntry, AcceptsWhatIsRight) {
  EXPECT_EQ(run(), TILEWRIGHT_OK) << error_.message;
  EXPECT_EQ(error_.status, 0) << "a success leaves the detail alone";
  bind(1, 0);
  EXPECT_EQ(run(), TILEWRIGHT_OK) << error_.message;
}

TEST_P(LlvmEntry, Call) {
  EXPECT_EQ(library_.run(nullptr, tensors(), workspace_, sizeof(workspace_)),
            TILEWRIGHT_NULL_ARGUMENT);
  call_.struct_size = 8;
  EXPECT_EQ(run(), TILEWRIGHT_BAD_CALL);
  // The size of version 1 is the least; a newer caller may have more.
  call_.struct_size = 63;
  EXPECT_EQ(run(), TILEWRIGHT_BAD_CALL);
  call_.struct_size = 4096;
  EXPECT_EQ(run(), TILEWRIGHT_OK);
  call_ = tilewright_call_make(nullptr, &error_);
  call_.flags = 1;
  expect_refused(TILEWRIGHT_BAD_CALL, -1);
  call_ = tilewright_call_make(nullptr, &error_);
  call_.reserved[3] = 1;
  expect_refused(TILEWRIGHT_BAD_CALL, -1);
  call_ = tilewright_call_make(nullptr, &error_);
  error_.status = 0;
  error_.struct_size = 100;
  EXPECT_EQ(run(), TILEWRIGHT_BAD_CALL);
  EXPECT_EQ(error_.status, 0) << "a malformed detail is not written";
  call_ = tilewright_call_make(nullptr, nullptr);
  tensor(0).dl.ndim = 1;
  EXPECT_EQ(run(), TILEWRIGHT_WRONG_RANK) << "without a detail the status alone";
}

// What the processor lacks is told through the error detail, so the call is judged first; tensors come after.
TEST_P(LlvmEntry, TheCallBeforeTheProcessorBeforeTensors) {
  host::Target missing = target_;
  if (GetParam() == c_target::kName) GTEST_SKIP() << "C asks nothing of the processor";
  // No processor has all of these: some bits were withdrawn.
  missing.options.cpuid = {{llvm_wall::CpuidWord::Leaf7Ebx, 0xffffffffU}};
  CompiledProgram library(context_, program_, missing);
  auto run_there = [&](const tilewright_call* call, std::vector<tilewright_tensor*> given) {
    return library.run(call, given, workspace_, sizeof(workspace_));
  };
  const std::vector<tilewright_tensor*> none(3, nullptr);
  EXPECT_EQ(run_there(&call_, none), TILEWRIGHT_UNSUPPORTED_CPU);
  EXPECT_EQ(error_.status, TILEWRIGHT_UNSUPPORTED_CPU);
  EXPECT_EQ(run_there(nullptr, tensors()), TILEWRIGHT_NULL_ARGUMENT);
  error_.status = 0;
  error_.struct_size = 100;
  EXPECT_EQ(run_there(&call_, tensors()), TILEWRIGHT_BAD_CALL);
  EXPECT_EQ(error_.status, 0) << "a malformed detail is not written";
  std::size_t size = 0;
  error_.struct_size = sizeof(error_);
  EXPECT_EQ(library.query(&call_, tensors(), &size), TILEWRIGHT_OK) << "a query runs anywhere";
}

TEST_P(LlvmEntry, Executor) {
  tilewright_executor executor{};
  executor.struct_size = sizeof(executor);
  executor.num_workers = 2;
  executor.parallel_for = [](const tilewright_executor*, const tilewright_call*, std::int64_t,
                             std::int64_t, std::int64_t, tilewright_task,
                             void*) -> tilewright_status { return -16; };
  call_ = tilewright_call_make(&executor, &error_);
  EXPECT_EQ(run(), TILEWRIGHT_EXECUTOR_FAILED);
  EXPECT_EQ(error_.status, TILEWRIGHT_EXECUTOR_FAILED);
  executor.num_workers = 0;
  expect_refused(TILEWRIGHT_BAD_CALL, -1);
  executor.num_workers = 2;
  executor.reserved[1] = 5;
  expect_refused(TILEWRIGHT_BAD_CALL, -1);
  executor.reserved[1] = 0;
  executor.parallel_for = nullptr;
  expect_refused(TILEWRIGHT_BAD_CALL, -1);
}

TEST_P(LlvmEntry, CancelledBetweenIterations) {
  const std::uint32_t raised = 1;
  call_.cancel = &raised;
  EXPECT_EQ(run(), TILEWRIGHT_CANCELLED);
  EXPECT_EQ(error_.status, TILEWRIGHT_CANCELLED);
}

TEST_P(LlvmEntry, NullArguments) {
  for (int p = 0; p < 3; ++p) {
    auto all = tensors();
    all[p] = nullptr;
    EXPECT_EQ(library_.run(&call_, all, workspace_, sizeof(workspace_)), TILEWRIGHT_NULL_ARGUMENT);
    EXPECT_EQ(error_.argument, p);
    void* data = tensor(p).dl.data;
    tensor(p).dl.data = nullptr;
    if (p < 2) expect_refused(TILEWRIGHT_NULL_ARGUMENT, p);
    tensor(p).dl.data = data;
    std::int64_t* shape = tensor(p).dl.shape;
    tensor(p).dl.shape = nullptr;
    expect_refused(TILEWRIGHT_NULL_ARGUMENT, p);
    tensor(p).dl.shape = shape;
  }
}

TEST_P(LlvmEntry, RankTypeDevice) {
  for (int p = 0; p < 3; ++p) {
    const DLTensor good = tensor(p).dl;
    tensor(p).dl.ndim += 1;
    expect_refused(TILEWRIGHT_WRONG_RANK, p);
    tensor(p).dl = good;
    tensor(p).dl.dtype.bits = 16;
    expect_refused(TILEWRIGHT_WRONG_TYPE, p);
    tensor(p).dl = good;
    tensor(p).dl.dtype.code = kDLInt;
    expect_refused(TILEWRIGHT_WRONG_TYPE, p);
    tensor(p).dl = good;
    tensor(p).dl.dtype.lanes = 2;
    expect_refused(TILEWRIGHT_WRONG_TYPE, p);
    tensor(p).dl = good;
    tensor(p).dl.device.device_type = kDLCUDA;
    expect_refused(TILEWRIGHT_WRONG_DEVICE, p);
    tensor(p).dl = good;
  }
}

TEST_P(LlvmEntry, Shapes) {
  auto with = [&](int p, int d, std::int64_t value, int argument, int dimension,
                  std::int64_t expected) {
    const std::int64_t good = tensor(p).dl.shape[d];
    tensor(p).dl.shape[d] = value;
    expect_refused(TILEWRIGHT_WRONG_SHAPE, argument, dimension);
    EXPECT_EQ(error_.expected, expected);
    tensor(p).dl.shape[d] = good;
  };
  with(0, 0, 0, 0, 0, 1);
  with(0, 0, -1, 0, 0, 1);
  with(0, 0, 65, 0, 0, 64);
  with(0, 1, 6, 0, 1, 4);
  with(0, 1, -4, 0, 1, 0);
  with(1, 0, 8, 1, 0, 9);
  with(2, 0, 3, 2, 0, 4);
  with(2, 1, 12, 2, 1, 8);
}

TEST_P(LlvmEntry, SizesThatOverflow) {
  tensor(0).dl.shape[1] = std::int64_t{1} << 62;
  expect_refused(TILEWRIGHT_OUT_OF_BOUNDS, 0);
  // A zero elsewhere hides nothing.
  bind(1, 0);
  tensor(0).dl.shape[1] = INT64_MAX - 3;
  expect_refused(TILEWRIGHT_OUT_OF_BOUNDS, 0);
}

TEST_P(LlvmEntry, Requires) {
  bind(20, 4);
  expect_refused(TILEWRIGHT_REQUIRES_VIOLATED, -1);
  bind(16, 4);
  EXPECT_EQ(run(), TILEWRIGHT_OK);
}

TEST_P(LlvmEntry, Strides) {
  std::int64_t compact[] = {8, 1};
  tensor(0).dl.strides = compact;
  EXPECT_EQ(run(), TILEWRIGHT_OK) << error_.message;
  std::int64_t transposed[] = {1, 4};
  tensor(0).dl.strides = transposed;
  expect_refused(TILEWRIGHT_UNSUPPORTED_STRIDES, 0, 1);
  // One row: its stride says nothing. No elements: no stride does.
  bind(1, 8);
  std::int64_t odd[] = {99, 1};
  tensor(0).dl.strides = odd;
  EXPECT_EQ(run(), TILEWRIGHT_OK) << error_.message;
  bind(3, 0);
  std::int64_t none[] = {7, 7};
  tensor(0).dl.strides = none;
  EXPECT_EQ(run(), TILEWRIGHT_OK) << error_.message;
}

TEST_P(LlvmEntry, BytesAlignmentReadOnly) {
  tensor(1).size_bytes -= 1;
  expect_refused(TILEWRIGHT_OUT_OF_BOUNDS, 1);
  tensor(1).size_bytes = 0;
  EXPECT_EQ(run(), TILEWRIGHT_OK) << "0 is unknown: not checked";
  tensor(1).size_bytes = 9 * 8;
  tensor(1).dl.byte_offset = UINT64_MAX - 7;
  expect_refused(TILEWRIGHT_OUT_OF_BOUNDS, 1);
  bind(4, 8);
  tensor(1).dl.data = static_cast<char*>(tensor(1).dl.data) + 4;
  expect_refused(TILEWRIGHT_MISALIGNED, 1);
  bind(4, 8);
  tensor(2).flags = TILEWRIGHT_TENSOR_READ_ONLY;
  expect_refused(TILEWRIGHT_READ_ONLY, 2);
}

TEST_P(LlvmEntry, ByteOffset) {
  bind(4, 8);
  const ir::Tensor values = arguments_[0].read();
  char* data = static_cast<char*>(tensor(0).dl.data);
  tensor(0).dl.data = data - 64;
  tensor(0).dl.byte_offset = 64;
  tensor(0).size_bytes += 64;
  ASSERT_EQ(run(), TILEWRIGHT_OK) << error_.message;
  const ir::Tensor w = arguments_[1].read();
  const ir::Tensor o = arguments_[2].read();
  const float factor = static_cast<float>(w.data[0].f);
  for (std::size_t i = 0; i < o.data.size(); ++i)
    EXPECT_EQ(static_cast<float>(o.data[i].f), static_cast<float>(values.data[i].f) * factor);
}

TEST_P(LlvmEntry, Overlap) {
  void* good = tensor(2).dl.data;
  tensor(2).dl.data = static_cast<char*>(tensor(0).dl.data) + 4 * 31;
  EXPECT_EQ(run(), TILEWRIGHT_OVERLAP);
  EXPECT_EQ(error_.argument, 2);
  tensor(2).dl.data = good;
  EXPECT_EQ(run(), TILEWRIGHT_OK);
}

TEST_P(LlvmEntry, Workspace) {
  std::size_t size = 0;
  ASSERT_EQ(library_.query(&call_, tensors(), &size), TILEWRIGHT_OK);
  EXPECT_EQ(size, 64U);
  EXPECT_EQ(library_.run(&call_, tensors(), workspace_, 63), TILEWRIGHT_WORKSPACE_TOO_SMALL);
  EXPECT_EQ(error_.expected, 64);
  EXPECT_EQ(error_.got, 63);
  EXPECT_EQ(library_.run(&call_, tensors(), nullptr, 64), TILEWRIGHT_WORKSPACE_TOO_SMALL);
  EXPECT_EQ(library_.run(&call_, tensors(), workspace_ + 8, 128), TILEWRIGHT_WORKSPACE_MISALIGNED);
  auto* inside = reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(tensor(2).dl.data) &
                                         ~std::uintptr_t{63});
  EXPECT_EQ(library_.run(&call_, tensors(), inside, 128), TILEWRIGHT_OVERLAP);
}

TEST_P(LlvmEntry, QueryChecksShapesAndReadsNoData) {
  for (int p = 0; p < 3; ++p) tensor(p).dl.data = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(library_.query(&call_, tensors(), &size), TILEWRIGHT_OK) << error_.message;
  EXPECT_EQ(library_.query(&call_, tensors(), nullptr), TILEWRIGHT_NULL_ARGUMENT);
  tensor(1).dl.shape[0] = 3;
  EXPECT_EQ(library_.query(&call_, tensors(), &size), TILEWRIGHT_WRONG_SHAPE);
}

INSTANTIATE_TEST_SUITE_P(Targets, LlvmEntry, ::testing::Values("x86-64-v3", "c"));

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) text.append(buffer, n);
  pclose(pipe);
  return text;
}

class LlvmObject : public EachTarget {};

TEST_P(LlvmObject, NoOpenSymbolNoWritableDataSameBytes) {
  const program::Program program = parse_text(R"(program maths for maths {
  extent N
  input x : f32[N]
  input d : f64[N]
  input h : f16[N]
  output o : f32[N]
  output e : f64[N]
  output g : f16[N]
  for t in 0 .. N / 16 {
    vector i in 0 .. 16 {
      o[t * 16 + i] = sin(exp(x[t * 16 + i])) + erf(log(x[t * 16 + i])) + tanh(x[t * 16 + i])
      e[t * 16 + i] = cos(d[t * 16 + i]) + floor(d[t * 16 + i])
      g[t * 16 + i] = f16(d[t * 16 + i]) + h[t * 16 + i]
    }
  }
  for s in 0 .. N {
    e[s] = e[s] + rint(log1p(d[s])) + f64(h[s])
  }
})");
  CompiledProgram first(context, program, target);
  CompiledProgram second(context, program, target);
  EXPECT_EQ(first.artifact().library, second.artifact().library);
  EXPECT_EQ(first.artifact().manifest, second.artifact().manifest);
  char path[] = "/tmp/tilewright.XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  close(file);
  std::ofstream(path, std::ios::binary) << first.artifact().object.bytes;
  EXPECT_EQ(output_of(std::string("nm -u ") + path),
            "                 w __x86_get_cpuid_feature_leaf\n");
  EXPECT_EQ(output_of(std::string("nm -g --defined-only --format=just-symbols ") + path),
            "maths\nmaths_explain\nmaths_query\n");
  // Sections that are both allocated and writable, other than those that relocation needs, must be empty.
  EXPECT_EQ(output_of(std::string("readelf -SW ") + path +
                      " | grep -E ' WA[^L]* ' | grep -vE ' 000000 00 '"),
            "");
  EXPECT_EQ(output_of(std::string("readelf -SW ") + path + " | grep -cE 'init_array|ctors'"),
            "0\n");
  unlink(path);
}

// The loop on which matrix products rest: its registers hold the tile, and nothing else goes to memory.
TEST(LlvmMicroKernel, KeepsItsTileInRegisters) {
  ir::Context context;
  const program::Program program = parse(context, R"(program tile for tile {
  extent K
  input a : f32[K, 6]
  input b : f32[K, 64]
  output c : f32[6, 64]
  alloc acc : f32[6, 64] in register {
    unrolled r0 in 0 .. 6 {
      vector j0 in 0 .. 64 {
        acc[r0, j0] = f32(0)
      }
    }
    for k in 0 .. K {
      unrolled r in 0 .. 6 {
        unrolled p in 0 .. 4 {
          vector j in 0 .. 16 {
            acc[r, p * 16 + j] = fma(a[k, r], b[k, p * 16 + j], acc[r, p * 16 + j])
          }
        }
      }
    }
    unrolled r1 in 0 .. 6 {
      vector j1 in 0 .. 64 {
        c[r1, j1] = acc[r1, j1]
      }
    }
  }
})");
  const auto target = host::find_target("x86-64-v4");
  llvm_wall::CompileOptions options;
  options.want_assembly = true;
  const auto made = artifact::make_artifact(context, program, *target,
                                            {"test", "0", "none", "0", "not checked", {}}, options);
  ASSERT_TRUE(made.ok()) << messages(made.diagnostics());
  // The one innermost loop: from the label that a backward jump names to that jump.
  const std::string& text = made->object.assembly;
  const std::size_t first = text.find("vfmadd");
  ASSERT_NE(first, std::string::npos);
  const std::size_t begin = text.rfind("\n.LBB", first) + 1;
  const std::string label = text.substr(begin, text.find(':', begin) - begin);
  std::size_t end = first;
  do end = text.find("\tj", end + 1);
  while (end != std::string::npos &&
         text.compare(text.find(".LBB", end), label.size(), label) != 0);
  ASSERT_NE(end, std::string::npos);
  const std::string loop = text.substr(begin, end - begin);
  auto count = [&](const std::string& word) {
    int n = 0;
    for (std::size_t at = loop.find(word); at != std::string::npos; at = loop.find(word, at + 1))
      ++n;
    return n;
  };
  EXPECT_EQ(count("vfmadd231ps\t%zmm"), 24) << loop;
  EXPECT_EQ(count("vbroadcastss"), 6) << loop;
  EXPECT_EQ(count("vmovups"), 4) << loop;
  EXPECT_EQ(count("vmov"), 4) << loop;
  EXPECT_EQ(count("%rsp"), 0) << loop;
  EXPECT_EQ(count("call"), 0) << loop;
}

INSTANTIATE_TEST_SUITE_P(Host, LlvmObject, ::testing::Values("x86-64-v3", "x86-64-v4"));

}  // namespace
}  // namespace tilewright::test

// SPDX-License-Identifier: Apache-2.0
//
// Plans, as object code and as C: what NAME_plan makes and NAME_run reads gives the bits of NAME and of the interpreter;
// one plan serves all sizes it does not depend on; one of other sizes, of another variant, unfinished, too small or not
// aligned is refused before anything is written; the constants are not looked at again.
#include <cstring>
#include <thread>

#include "lowering/program/dispatch.h"
#include "lowering/program/interpret.h"
#include "tests/differential/compiled_program.h"

namespace tilewright::test {
namespace {

// c = a w. `width` columns of w side by side in the plan; 0: no plan.
std::string product(int width, const std::string& guard) {
  std::string text =
      "program product for product {\n  extent M min 0\n  extent N min 0\n  extent K min 0\n" +
      (guard.empty() ? std::string() : "  requires " + guard + "\n") +
      "  input a : f32[M, K]\n  const input w : f32[K, N]\n  output c : f32[M, N]\n";
  const std::string w = std::to_string(width);
  const std::string panels = "(N + " + std::to_string(width - 1) + ") / " + w;
  const auto body = [](const std::string& read) {
    return "    parallel i in 0 .. M {\n      for j in 0 .. N {\n        c[i, j] = 0.0\n"
           "        for k2 in 0 .. K {\n          c[i, j] = fma(a[i, k2], " +
           read + ", c[i, j])\n        }\n      }\n    }\n";
  };
  if (width == 0) return text + body("w[k2, j]") + "}\n";
  return text + "  alloc wp : f32[" + panels + ", K, " + w + "] in plan {\n" +
         "    parallel jo in 0 .. " + panels + " {\n      for k in 0 .. K {\n" +
         "        for ji in 0 .. " + w + " {\n          if jo * " + w + " + ji < N {\n" +
         "            wp[jo, k, ji] = w[k, jo * " + w + " + ji] @ copy w(k, jo * " + w +
         " + ji)\n          } else {\n            wp[jo, k, ji] = 0.0 @ pad w(k, jo * " + w +
         " + ji)\n          }\n        }\n      }\n    }\n" +
         body("wp[j / " + w + ", k2, j % " + w + "]") + "  }\n}\n";
}

class Planned : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr std::size_t kPlanBytes = 8192;

  Planned() {
    error_.struct_size = sizeof error_;
    call_ = tilewright_call_make(nullptr, &error_);
  }
  void SetUp() override {
    // Two variants with plans of different layouts, and one without.
    for (const auto& [name, width, guard] :
         {std::tuple<const char*, int, const char*>{"narrow", 4, "M <= 2"},
          {"wide", 8, "M <= 20"},
          {"plain", 0, ""}})
      variants_.emplace_back(name, product(width, guard));
    compile();
  }
  // The variants in `variants_`, as one function.
  void compile() {
    std::vector<program::Variant> variants;
    for (const auto& [name, text] : variants_) {
      program::Variant variant;
      variant.name = name;
      variant.program = parse(context_, text);
      variant.guard = variant.program.requirements;
      function_ = std::string(variant.program.name.text());
      variants.push_back(std::move(variant));
    }
    auto dispatch = program::derive_dispatch(context_, std::move(variants));
    ASSERT_TRUE(dispatch.ok()) << messages(dispatch.diagnostics());
    dispatch_ = *std::move(dispatch);
    const host::Target target = std::string_view(GetParam()) == c_target::kName
                                    ? c_stand_in()
                                    : *host::find_target(GetParam());
    library_.emplace(context_, dispatch_, target);
    ASSERT_TRUE(library_->ready());
  }

  void bind(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed = 11) {
    bind({{context_.symbol("M"), m}, {context_.symbol("N"), n}, {context_.symbol("K"), k}}, seed);
  }
  void bind(ir::Bindings sizes, std::uint64_t seed) {
    sizes_ = std::move(sizes);
    arguments_.clear();
    arguments_.reserve(dispatch_.interface.parameters.size());
    inputs_.clear();
    for (const program::Parameter& parameter : dispatch_.interface.parameters) {
      arguments_.emplace_back(parameter, sizes_);
      // The same weights for every seed, and at every M.
      std::mt19937_64 random(parameter.is_const ? 7 : seed);
      if (parameter.is_output) continue;
      inputs_[parameter.name] = random_tensor(parameter, sizes_, random, true);
      arguments_.back().fill(inputs_[parameter.name]);
    }
  }
  std::vector<tilewright_tensor*> tensors() {
    std::vector<tilewright_tensor*> out;
    for (Argument& argument : arguments_) out.push_back(&argument.descriptor);
    return out;
  }
  std::int32_t enter(const char* suffix, const std::vector<void*>& more) {
    error_.status = 0;
    return library_->objects().enter(function_ + suffix, &call_, tensors(), more);
  }
  static void* word(std::size_t value) { return reinterpret_cast<void*>(value); }
  std::pair<std::size_t, std::size_t> query() {
    std::size_t plan = 1;
    std::size_t workspace = 1;
    EXPECT_EQ(enter("_plan_query", {&plan, &workspace}), TILEWRIGHT_OK) << error_.message;
    return {plan, workspace};
  }
  std::int32_t make(void* plan, std::size_t size) { return enter("_plan", {plan, word(size)}); }
  std::int32_t run(const void* plan, std::size_t size) {
    return enter("_run",
                 {const_cast<void*>(plan), word(size), workspace_, word(sizeof workspace_)});
  }
  void expect_right() {
    auto wanted = program::interpret(context_, dispatch_.interface, sizes_, inputs_);
    ASSERT_TRUE(wanted.ok()) << messages(wanted.diagnostics());
    const ir::Tensor got = arguments_.back().read();
    const ir::Tensor& value = wanted->outputs.at(dispatch_.interface.parameters.back().name);
    for (std::size_t i = 0; i < got.data.size(); ++i) EXPECT_TRUE(same_bits(value, got, i)) << i;
    EXPECT_TRUE(arguments_.back().guards_hold());
  }
  // Refused with this status, and no output is touched.
  void expect_refused(std::int32_t got, std::int32_t status, const char* message) {
    EXPECT_EQ(got, status);
    EXPECT_STREQ(error_.message, message);
    EXPECT_EQ(error_.status, status);
    for (std::byte byte : ir::tensor_bytes(arguments_.back().read()))
      EXPECT_EQ(byte, std::byte{0xa5});
  }

  ir::Context context_;
  std::vector<std::pair<std::string, std::string>> variants_;  // names and Programs
  std::string function_;
  program::Dispatch dispatch_;
  std::optional<CompiledProgram> library_;
  tilewright_error error_{};
  tilewright_call call_{};
  ir::Bindings sizes_;
  ir::TensorMap inputs_;
  std::vector<Argument> arguments_;
  alignas(64) unsigned char workspace_[4096] = {};
  alignas(64) unsigned char plan_[kPlanBytes] = {};
  alignas(64) unsigned char other_[kPlanBytes] = {};
};

TEST_P(Planned, OnePlanServesEverySizeItDoesNotDependOn) {
  for (const std::int64_t n : {0, 1, 7, 8, 9, 17})
    for (const std::int64_t k : {0, 1, 5}) {
      bind(2, n, k);
      // A head of 7 words up to 64 bytes, then panels of 4 columns.
      const std::size_t panels = static_cast<std::size_t>((n + 3) / 4 * k * 4 * 4 + 63) / 64 * 64;
      EXPECT_EQ(query(), (std::pair<std::size_t, std::size_t>{64 + panels, 0}));
      // Other tensors have no data yet.
      tilewright_tensor& a = arguments_[0].descriptor;
      void* const data = a.dl.data;
      a.dl.data = nullptr;
      ASSERT_EQ(make(plan_, kPlanBytes), TILEWRIGHT_OK) << error_.message;
      a.dl.data = data;
      for (const std::int64_t m : {0, 1, 2}) {
        bind(m, n, k);
        // The weights themselves are not looked at.
        std::memset(arguments_[1].descriptor.dl.data, 0xff, arguments_[1].descriptor.size_bytes);
        ASSERT_EQ(run(plan_, kPlanBytes), TILEWRIGHT_OK) << error_.message;
        expect_right();
      }
      // Without a plan the same: buffers in the workspace.
      std::size_t size = 0;
      bind(1, n, k);
      ASSERT_EQ(library_->query(&call_, tensors(), &size), TILEWRIGHT_OK);
      EXPECT_EQ(size, panels);
      ASSERT_EQ(library_->run(&call_, tensors(), workspace_, size), TILEWRIGHT_OK);
      expect_right();
    }
}

// One plan, many calls with other inputs: each sees its own, and the plan stays as it was made. On a pool too.
TEST_P(Planned, ManyRunsReadOnePlan) {
  tilewright_pool* pool = nullptr;
  ASSERT_EQ(tilewright_pool_create(3, &pool), TILEWRIGHT_OK);
  for (const tilewright_executor* executor :
       {static_cast<const tilewright_executor*>(nullptr), tilewright_pool_executor(pool)}) {
    call_.executor = executor;
    for (const std::int64_t m : {2, 13}) {
      bind(m, 29, 7);
      std::memset(plan_, 0xff, kPlanBytes);
      ASSERT_EQ(make(plan_, kPlanBytes), TILEWRIGHT_OK) << error_.message;
      std::memcpy(other_, plan_, kPlanBytes);
      ir::Tensor before;
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        bind(m, 29, 7, seed);
        std::memset(arguments_[1].descriptor.dl.data, 0xff, arguments_[1].descriptor.size_bytes);
        ASSERT_EQ(run(plan_, kPlanBytes), TILEWRIGHT_OK) << error_.message;
        expect_right();
        ASSERT_EQ(std::memcmp(other_, plan_, kPlanBytes), 0);
        const ir::Tensor now = arguments_.back().read();
        EXPECT_NE(ir::tensor_bytes(before), ir::tensor_bytes(now));
        before = now;
      }
    }
  }
  call_.executor = nullptr;
  tilewright_pool_destroy(pool);
}

// Threads that share a plan.
TEST_P(Planned, SeveralThreadsReadOnePlan) {
  bind(13, 29, 7);
  ASSERT_EQ(make(plan_, kPlanBytes), TILEWRIGHT_OK) << error_.message;
  const std::vector<tilewright_tensor*> shared = tensors();
  constexpr int kThreads = 4;
  std::vector<Argument> outputs;
  for (int t = 0; t < kThreads; ++t)
    outputs.emplace_back(dispatch_.interface.parameters.back(), sizes_);
  std::vector<std::int32_t> status(kThreads, 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      tilewright_error error{};
      error.struct_size = sizeof error;
      const tilewright_call call = tilewright_call_make(nullptr, &error);
      const std::vector<tilewright_tensor*> own{shared[0], shared[1],
                                                &outputs[static_cast<std::size_t>(t)].descriptor};
      alignas(64) unsigned char workspace[64];
      for (int i = 0; i < 50; ++i)
        status[static_cast<std::size_t>(t)] =
            library_->objects().enter("product_run", &call, own,
                                      {plan_, word(kPlanBytes), workspace, word(sizeof workspace)});
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(run(plan_, kPlanBytes), TILEWRIGHT_OK) << error_.message;
  expect_right();
  const ir::Tensor right = arguments_.back().read();
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_EQ(status[static_cast<std::size_t>(t)], TILEWRIGHT_OK);
    EXPECT_EQ(ir::tensor_bytes(outputs[static_cast<std::size_t>(t)].read()),
              ir::tensor_bytes(right));
  }
}

TEST_P(Planned, AVariantWithoutPlanTakesNone) {
  bind(21, 9, 3);
  EXPECT_EQ(query().first, 0U);
  EXPECT_EQ(make(nullptr, 0), TILEWRIGHT_OK);
  EXPECT_EQ(run(nullptr, 0), TILEWRIGHT_OK) << error_.message;
  expect_right();
  // It reads the weights: they must be there.
  bind(21, 9, 3);
  arguments_[1].descriptor.dl.data = nullptr;
  expect_refused(run(nullptr, 0), TILEWRIGHT_NULL_ARGUMENT,
                 "the elements do not fit the bytes of the tensor, or data is null");
}

TEST_P(Planned, APlanThatDoesNotFitIsRefusedBeforeAnythingIsWritten) {
  bind(2, 9, 3);
  const std::size_t size = query().first;
  expect_refused(run(plan_, size), TILEWRIGHT_BAD_PLAN,
                 "this is no plan, or one that was never finished");
  ASSERT_EQ(make(plan_, size), TILEWRIGHT_OK);
  expect_refused(run(nullptr, size), TILEWRIGHT_PLAN_TOO_SMALL, "the plan is null or too small");
  expect_refused(run(plan_, size - 1), TILEWRIGHT_PLAN_TOO_SMALL, "the plan is null or too small");
  EXPECT_EQ(error_.expected, static_cast<std::int64_t>(size));
  EXPECT_EQ(error_.got, static_cast<std::int64_t>(size) - 1);
  expect_refused(run(plan_ + 4, kPlanBytes - 4), TILEWRIGHT_MISALIGNED, "the plan is not aligned");
  // Another variant, with the same sizes of the weights.
  bind(3, 9, 3);
  expect_refused(run(plan_, kPlanBytes), TILEWRIGHT_BAD_PLAN,
                 "the plan was made for another variant or function");
  // Other sizes.
  bind(2, 10, 3);
  expect_refused(run(plan_, kPlanBytes), TILEWRIGHT_BAD_PLAN, "the plan was made for other sizes");
  EXPECT_EQ(error_.expected, 10);
  EXPECT_EQ(error_.got, 9);
  bind(2, 9, 2);
  expect_refused(run(plan_, kPlanBytes), TILEWRIGHT_BAD_PLAN, "the plan was made for other sizes");
  EXPECT_EQ(error_.got, 3);
  // In the workspace.
  bind(2, 9, 3);
  std::memcpy(other_, plan_, kPlanBytes);
  EXPECT_EQ(run(other_, kPlanBytes), TILEWRIGHT_OK) << "a plan holds no pointers";
}

TEST_P(Planned, MakingOneChecksWhatItReadsAndWrites) {
  bind(2, 9, 3);
  const std::size_t size = query().first;
  expect_refused(make(plan_, size - 1), TILEWRIGHT_PLAN_TOO_SMALL, "the plan is null or too small");
  expect_refused(make(plan_ + 8, kPlanBytes - 8), TILEWRIGHT_MISALIGNED, "the plan is not aligned");
  tilewright_tensor& w = arguments_[1].descriptor;
  void* const data = w.dl.data;
  w.dl.data = nullptr;
  expect_refused(make(plan_, size), TILEWRIGHT_NULL_ARGUMENT,
                 "the elements do not fit the bytes of the tensor, or data is null");
  w.dl.data = plan_ + 128;
  expect_refused(make(plan_, size), TILEWRIGHT_OVERLAP,
                 "the plan shares bytes with an argument or the workspace");
  for (unsigned char byte : plan_) ASSERT_EQ(byte, 0);
  w.dl.data = data;
  // Cancelled: not a plan, whatever it was before.
  ASSERT_EQ(make(plan_, size), TILEWRIGHT_OK);
  const std::uint32_t cancel = 1;
  call_.cancel = &cancel;
  EXPECT_EQ(make(plan_, size), TILEWRIGHT_CANCELLED);
  call_.cancel = nullptr;
  expect_refused(run(plan_, size), TILEWRIGHT_BAD_PLAN,
                 "this is no plan, or one that was never finished");
  // Nothing beyond the size that was asked for is written.
  std::memset(other_, 0x5a, kPlanBytes);
  ASSERT_EQ(make(other_, size), TILEWRIGHT_OK);
  for (std::size_t i = size; i < kPlanBytes; ++i) ASSERT_EQ(other_[i], 0x5a) << i;
}

TEST_P(Planned, ExplainTellsThePlan) {
  bind(3, 9, 3);
  const std::string text = library_->explain(&call_, tensors()).second;
  EXPECT_NE(text.find("\nwide: runs: "), std::string::npos) << text;
  EXPECT_NE(text.find("\nplan: " + std::to_string(query().first) + " bytes\n"), std::string::npos)
      << text;
}

// Two variants that read the same plan: no word of it tells them apart, and each says when its bytes cannot be counted.
class SharedPlan : public Planned {
 protected:
  void SetUp() override {
    variants_ = {{"few", product(4, "M <= 2")}, {"many", product(4, "")}};
    compile();
  }
};

TEST_P(SharedPlan, ServesBothVariants) {
  bind(1, 9, 5);
  ASSERT_EQ(make(plan_, kPlanBytes), TILEWRIGHT_OK) << error_.message;
  for (const std::int64_t m : {0, 1, 2, 3, 11}) {
    bind(m, 9, 5);
    arguments_[1].descriptor.dl.data = nullptr;
    ASSERT_EQ(run(plan_, kPlanBytes), TILEWRIGHT_OK) << error_.message;
    expect_right();
  }
}

TEST_P(SharedPlan, OfMoreBytesThanCanBeCounted) {
  bind(0, 1, 1);
  const std::int64_t k = (std::int64_t{1} << 59) - 1;  // the most that a parameter may have
  tilewright_tensor& w = arguments_[1].descriptor;
  arguments_[0].descriptor.dl.shape[1] = w.dl.shape[0] = k;
  w.size_bytes = static_cast<std::uint64_t>(k) * 4;
  std::size_t size = 7;
  EXPECT_EQ(library_->query(&call_, tensors(), &size), TILEWRIGHT_OUT_OF_BOUNDS);
  EXPECT_EQ(size, 7U);
  expect_refused(enter("", {workspace_, word(sizeof workspace_)}), TILEWRIGHT_OUT_OF_BOUNDS,
                 "the workspace is null or too small");
  EXPECT_EQ(make(plan_, kPlanBytes), TILEWRIGHT_OUT_OF_BOUNDS);
}

// A tensor whose bytes 64 bits count, while those of its whole panels they do not.
TEST_P(Planned, APlanOfMoreBytesThanCanBeCounted) {
  bind(0, 1, 1);
  const std::int64_t k = (std::int64_t{1} << 59) - 1;  // the most that a parameter may have
  tilewright_tensor& x = arguments_[0].descriptor;
  tilewright_tensor& w = arguments_[1].descriptor;
  x.dl.shape[1] = w.dl.shape[0] = k;
  w.size_bytes = static_cast<std::uint64_t>(k) * 4;
  std::size_t sizes[2] = {7, 7};
  EXPECT_EQ(enter("_plan_query", {&sizes[0], &sizes[1]}), TILEWRIGHT_OUT_OF_BOUNDS);
  EXPECT_EQ(sizes[0], 7U);
  EXPECT_EQ(sizes[1], 7U);
  EXPECT_EQ(make(plan_, kPlanBytes), TILEWRIGHT_OUT_OF_BOUNDS);
  EXPECT_EQ(run(plan_, kPlanBytes), TILEWRIGHT_OUT_OF_BOUNDS);
  for (unsigned char byte : plan_) ASSERT_EQ(byte, 0);
  const std::string text = library_->explain(&call_, tensors()).second;
  EXPECT_NE(text.find("\nplan: more bytes than 64 bits count\n"), std::string::npos) << text;
}

// Values that are indices are checked where the plan is made; at other bounds it is another plan.
class PlannedFacts : public Planned {
 protected:
  void SetUp() override {
    variants_ = {{"gather", R"(program gather for gather {
  extent N min 0
  extent T min 0
  extent C min 0
  const input row : i32[N] range 0 .. T
  input once : i32[N] range 0 .. C injective
  input x : f32[T]
  output y : f32[C]
  alloc held : i32[N] in plan {
    for i in 0 .. N {
      held[i] = row[i] @ copy row(i)
    }
    for c in 0 .. C {
      y[c] = 0.0
    }
    for n in 0 .. N {
      y[index(once[n])] = x[index(held[n])]
    }
  }
})"}};
    compile();
  }
  void bind_rows(std::int64_t n, std::int64_t t, std::int64_t c) {
    bind({{context_.symbol("N"), n}, {context_.symbol("T"), t}, {context_.symbol("C"), c}}, 3);
    for (std::int64_t i = 0; i < n; ++i) {
      put(0, i, i * 3 % t);
      put(1, i, c - 1 - i);
    }
  }
  void put(std::size_t argument, std::int64_t at, std::int64_t value) {
    ir::Tensor& tensor = inputs_.at(dispatch_.interface.parameters[argument].name);
    tensor.data[static_cast<std::size_t>(at)].i = value;
    arguments_[argument].fill(tensor);
  }
};

TEST_P(PlannedFacts, AreCheckedWhereThePlanIsMade) {
  bind_rows(5, 7, 6);
  put(0, 2, 7);
  expect_refused(make(plan_, kPlanBytes), TILEWRIGHT_BAD_VALUES,
                 "a value is outside of its declared range");
  EXPECT_EQ(error_.argument, 0);
  EXPECT_EQ(error_.got, 2);
  put(0, 2, 6);
  ASSERT_EQ(make(plan_, kPlanBytes), TILEWRIGHT_OK) << error_.message;
  // No variant reads them beside the plan: they may be gone.
  arguments_[0].descriptor.dl.data = nullptr;
  ASSERT_EQ(run(plan_, kPlanBytes), TILEWRIGHT_OK) << error_.message;
  expect_right();
  // At a smaller bound a row of the plan would be read beyond `x`.
  bind_rows(5, 6, 6);
  expect_refused(run(plan_, kPlanBytes), TILEWRIGHT_BAD_PLAN, "the plan was made for other sizes");
  EXPECT_EQ(error_.expected, 6);
  EXPECT_EQ(error_.got, 7);
  // What no constant is held to may change.
  bind_rows(5, 7, 11);
  put(0, 2, 6);
  EXPECT_EQ(run(plan_, kPlanBytes), TILEWRIGHT_OK) << error_.message;
  expect_right();
}

// A check of a run has its bytes in the workspace of the run.
TEST_P(PlannedFacts, ARunChecksWhatMayChange) {
  bind_rows(5, 7, 300);
  EXPECT_EQ(query().second, 300U);
  ASSERT_EQ(make(plan_, kPlanBytes), TILEWRIGHT_OK) << error_.message;
  put(1, 4, 299);
  expect_refused(run(plan_, kPlanBytes), TILEWRIGHT_BAD_VALUES,
                 "a value stands twice in a row that is declared injective");
  put(1, 4, 0);
  EXPECT_EQ(enter("_run", {plan_, word(kPlanBytes), workspace_, word(299)}),
            TILEWRIGHT_WORKSPACE_TOO_SMALL);
  ASSERT_EQ(run(plan_, kPlanBytes), TILEWRIGHT_OK) << error_.message;
  expect_right();
}

std::string name_of(const ::testing::TestParamInfo<const char*>& param) {
  return std::string(param.param) == "c" ? "C" : "X86";
}
INSTANTIATE_TEST_SUITE_P(Targets, Planned, ::testing::Values("x86-64-v3", "c"), name_of);
INSTANTIATE_TEST_SUITE_P(Targets, SharedPlan, ::testing::Values("x86-64-v3", "c"), name_of);
INSTANTIATE_TEST_SUITE_P(Targets, PlannedFacts, ::testing::Values("x86-64-v3", "c"), name_of);

}  // namespace
}  // namespace tilewright::test

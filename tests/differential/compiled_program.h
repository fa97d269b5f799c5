// SPDX-License-Identifier: Apache-2.0
//
// Generated code, called: a Program from text is compiled to an object, linked into a shared library by the
// system's linker, loaded, and run on given tensors.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

#include "frontend/base/source.h"
#include "lowering/artifact/artifact.h"
#include "lowering/program/plan.h"
#include "lowering/program/text.h"
#include "lowering/targets/c/target.h"
#include "runtime/include/tilewright/runtime.h"
#include "tests/differential/c_compiler.h"
#include "tests/differential/guarded_memory.h"
#include "tests/differential/loaded_objects.h"
#include "tests/differential/plain_run.h"

namespace tilewright::test {

inline std::string messages(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics) text += d.message + "\n";
  return text;
}

inline program::Program parse(ir::Context& context, const std::string& text) {
  auto program = program::parse_program(context, Source("test.twp", text));
  EXPECT_TRUE(program.ok()) << messages(program.diagnostics()) << text;
  return program.ok() ? *program : program::Program{};
}

// An argument: bytes at an address that is aligned to one element only, and its descriptor.
class Argument {
 public:
  using Wall = GuardedMemory::Wall;
  Argument(const program::Parameter& parameter, const ir::Bindings& bindings,
           Wall wall = Wall::Behind)
      : type_(parameter.type),
        shape_(shape_of(parameter, bindings)),
        bytes_(bytes_of(type_, shape_), wall, kPoison) {
    std::memset(&descriptor, 0, sizeof(descriptor));
    descriptor.dl.data = bytes_.data();
    descriptor.dl.device.device_type = kDLCPU;
    descriptor.dl.ndim = static_cast<std::int32_t>(shape_.size());
    descriptor.dl.dtype = dtype(type_);
    descriptor.dl.shape = shape_.data();
    descriptor.size_bytes = bytes_.size();
  }

  void fill(const ir::Tensor& tensor) {
    const auto bytes = ir::tensor_bytes(tensor);
    std::copy(bytes.begin(), bytes.end(), bytes_.data());
  }
  ir::Tensor read() const {
    return ir::tensor_from_bytes(type_, shape_, {bytes_.data(), bytes_.size()});
  }
  bool guards_hold() const { return bytes_.guards_hold(); }

  tilewright_tensor descriptor;

  static DLDataType dtype(ir::ScalarType type) {
    const ir::TypeInfo& info = ir::type_info(type);
    return {static_cast<std::uint8_t>(info.dlpack_code),
            static_cast<std::uint8_t>(info.dlpack_bits), 1};
  }

 private:
  // No NaN in any float type, so that a cell that was not written differs from one that is NaN.
  static constexpr unsigned char kPoison = 0xa5;

  static std::vector<std::int64_t> shape_of(const program::Parameter& parameter,
                                            const ir::Bindings& bindings) {
    std::vector<std::int64_t> shape;
    for (ir::Expr extent : parameter.shape) shape.push_back(ir::evaluate_extents(extent, bindings));
    return shape;
  }
  static std::size_t bytes_of(ir::ScalarType type, const std::vector<std::int64_t>& shape) {
    return ir::num_tensor_bytes(type, shape);
  }

  ir::ScalarType type_;
  std::vector<std::int64_t> shape_;
  GuardedMemory bytes_;
};

// The stand-in for the C target where a host target is asked for: its name alone counts.
inline host::Target c_stand_in() {
  host::Target target;
  target.name = std::string(c_target::kName);
  return target;
}

// By the code generator, or as C by the first compiler.
class CompiledProgram {
 public:
  CompiledProgram(ir::Context& context, const program::Program& program, const host::Target& target)
      : program_(program) {
    const auto dispatch = program::single_dispatch(context, program, "none");
    EXPECT_TRUE(dispatch.ok()) << messages(dispatch.diagnostics());
    if (dispatch.ok()) compile(context, *dispatch, target);
  }
  CompiledProgram(ir::Context& context, const program::Dispatch& dispatch,
                  const host::Target& target)
      : program_(dispatch.interface) {
    compile(context, dispatch, target);
  }

  void compile(ir::Context& context, const program::Dispatch& dispatch,
               const host::Target& target) {
    if (target.name == c_target::kName) {
      compile_as_c(context, dispatch);
      return;
    }
    const artifact::Origin origin{"test", "0", "none", "0", "not checked", {}};
    llvm_wall::CompileOptions options;
    options.want_assembly = options.want_ir = true;
    auto made = artifact::make_artifact(context, dispatch, target, origin, options);
    EXPECT_TRUE(made.ok()) << messages(made.diagnostics());
    if (!made.ok()) return;
    artifact_ = std::move(*made);
    objects_.add(artifact_.object.bytes);
    objects_.load();
  }

  void compile_as_c(ir::Context& context, const program::Dispatch& dispatch) {
    const c_target::Function functions[] = {{&context, &dispatch}};
    const auto source = c_target::emit_file(functions);
    ASSERT_TRUE(source.ok()) << messages(source.diagnostics());
    std::string object;
    ASSERT_EQ(compile_c(all_compilers(Optimise::Fast)[0], *source, object), "") << *source;
    objects_.add(std::move(object));
    objects_.load();
  }

  bool ready() const { return objects_.ready(); }
  const artifact::Artifact& artifact() const { return artifact_; }
  LoadedObjects& objects() { return objects_; }

  std::int32_t query(const tilewright_call* call, const std::vector<tilewright_tensor*>& tensors,
                     std::size_t* size) {
    return objects_.query(std::string(program_.name.text()), call, tensors, size);
  }
  // Status and text.
  std::pair<std::int32_t, std::string> explain(const tilewright_call* call,
                                               const std::vector<tilewright_tensor*>& tensors) {
    return objects_.explain(std::string(program_.name.text()), call, tensors);
  }
  std::int32_t run(const tilewright_call* call, const std::vector<tilewright_tensor*>& tensors,
                   void* workspace, std::size_t workspace_size) {
    return objects_.run(std::string(program_.name.text()), call, tensors, workspace,
                        workspace_size);
  }

 private:
  const program::Program& program_;
  artifact::Artifact artifact_;
  LoadedObjects objects_;
};

// Values that reach roundings, ties, signs and infinities; `plain` keeps to small ones.
inline ir::Tensor random_tensor(const program::Parameter& parameter, const ir::Bindings& bindings,
                                std::mt19937_64& random, bool plain) {
  std::vector<std::int64_t> shape;
  for (ir::Expr extent : parameter.shape) shape.push_back(ir::evaluate_extents(extent, bindings));
  ir::Tensor tensor = ir::make_tensor(parameter.type, shape);
  constexpr double kSpecial[] = {0.0,     -0.0,      1.0,      -1.0,      0.5,   2.5,      3.5,
                                 65519.9, -65520.0,  1e-7,     0x1p-24,   1e-40, 1e38,     3e38,
                                 -1e30,   0x1.00fp0, INFINITY, -INFINITY, NAN,   0x1.018p3};
  std::uniform_real_distribution<double> unit(-1, 1);
  for (ir::Scalar& cell : tensor.data) {
    if (ir::holds_floats(parameter.type)) {
      const bool special = !plain && random() % 4 == 0;
      cell.f =
          special ? kSpecial[random() % std::size(kSpecial)] : unit(random) * (plain ? 1.0 : 20.0);
      cell.f = ir::round_to_type(ir::part_type(parameter.type), cell.f);
    } else {
      const auto wide = static_cast<std::int64_t>(random());
      cell.i = ir::wrap_to_type(parameter.type, plain || random() % 2 ? wide % 8 : wide);
      if (parameter.type == ir::ScalarType::Bool) cell.i = wide & 1;
      if (parameter.type == ir::ScalarType::Index) cell.i = ((wide % 8) + 8) % 8;
    }
  }
  return tensor;
}

inline bool same_bits(const ir::Tensor& a, const ir::Tensor& b, std::size_t i) {
  if (!ir::holds_floats(a.type)) return a.data[i].i == b.data[i].i;
  if (std::isnan(a.data[i].f)) return std::isnan(b.data[i].f);
  return std::memcmp(&a.data[i].f, &b.data[i].f, sizeof(double)) == 0;
}

struct RunOptions {
  bool plain = false;
  const tilewright_executor* executor = nullptr;
  std::uint64_t seed = 1;
};

// A call with poisoned outputs, and what it is compared with.
class CallUnderTest {
 public:
  using Wall = GuardedMemory::Wall;
  CallUnderTest(LoadedObjects& objects, const program::Program& program,
                const ir::Bindings& bindings, const ir::TensorMap& inputs,
                const tilewright_executor* executor, Wall wall)
      : objects_(objects), program_(program), function_(program.name.text()), wall_(wall) {
    arguments_.reserve(program.parameters.size());
    for (const program::Parameter& parameter : program.parameters) {
      arguments_.emplace_back(parameter, bindings, wall);
      if (auto it = inputs.find(parameter.name); it != inputs.end())
        arguments_.back().fill(it->second);
      tensors_.push_back(&arguments_.back().descriptor);
    }
    error_.struct_size = sizeof(error_);
    call_ = tilewright_call_make(executor, &error_);
  }

  std::string run() {
    std::size_t size = 1;
    if (objects_.query(function_, &call_, tensors_, &size) != TILEWRIGHT_OK)
      return "query: " + std::string(error_.message);
    return in_workspace(size, "", {});
  }

  // NAME_plan, then NAME_run, which may read the plan alone.
  std::string run_with_plan() {
    std::size_t size = 1;
    std::size_t workspace_size = 1;
    if (objects_.enter(function_ + "_plan_query", &call_, tensors_, {&size, &workspace_size}))
      return "plan_query: " + std::string(error_.message);
    if (size % kAlignment != 0) return "the size of a plan is no multiple of its alignment";
    GuardedMemory plan(size, wall_, 0xff);
    const std::vector<void*> words{plan.data(), reinterpret_cast<void*>(size)};
    if (objects_.enter(function_ + "_plan", &call_, tensors_, words))
      return "plan: " + std::string(error_.message);
    if (!plan.guards_hold()) return "wrote around the plan";
    const std::vector<std::byte> made(plan.data(), plan.data() + size);
    std::string wrong = in_workspace(workspace_size, "_run", words);
    if (!std::equal(made.begin(), made.end(), plan.data())) wrong += " changed the plan";
    return wrong;
  }

  // Inputs must come back as they were.
  std::string compare(const ir::TensorMap& expected) const {
    for (std::size_t p = 0; p < arguments_.size(); ++p) {
      const std::string name(program_.parameters[p].name.text());
      if (!arguments_[p].guards_hold()) return "wrote around " + name;
      const ir::Tensor got = arguments_[p].read();
      const ir::Tensor& want = expected.at(program_.parameters[p].name);
      if (got.shape != want.shape) return name + " has another shape";
      for (std::size_t i = 0; i < want.data.size(); ++i)
        if (!same_bits(want, got, i)) return difference(name, i, want, got);
    }
    return {};
  }

 private:
  static constexpr std::size_t kAlignment = program::kWorkspaceAlignment;

  std::string in_workspace(std::size_t size, const std::string& suffix, std::vector<void*> words) {
    // All ones: NaN in every float type, and no index.
    GuardedMemory workspace((size + kAlignment - 1) / kAlignment * kAlignment, wall_, 0xff);
    words.insert(words.end(), {workspace.data(), reinterpret_cast<void*>(size)});
    const std::int32_t status = objects_.enter(function_ + suffix, &call_, tensors_, words);
    if (status != TILEWRIGHT_OK)
      return "status " + std::to_string(status) + ", argument " + std::to_string(error_.argument) +
             ", dimension " + std::to_string(error_.dimension) + ": " + error_.message;
    if (!workspace.guards_hold()) return "wrote around the workspace";
    for (std::size_t i = size; i < workspace.size(); ++i)
      if (workspace.data()[i] != std::byte{0xff}) return "wrote beyond the workspace";
    return {};
  }

  static std::string difference(const std::string& name, std::size_t i, const ir::Tensor& want,
                                const ir::Tensor& got) {
    std::ostringstream out;
    out.precision(17);
    out << name << " cell " << i << ": expected ";
    if (ir::holds_floats(want.type)) {
      out << want.data[i].f << ", got " << got.data[i].f;
    } else {
      out << want.data[i].i << ", got " << got.data[i].i;
    }
    return out.str();
  }

  LoadedObjects& objects_;
  const program::Program& program_;
  std::string function_;
  Wall wall_;
  std::vector<Argument> arguments_;
  std::vector<tilewright_tensor*> tensors_;
  tilewright_error error_{};
  tilewright_call call_{};
};

// Runs a loaded function on these inputs and compares every parameter with `expected` bit for bit, with a plan too
// where the Program has one; what it finds wrong, or nothing.
inline std::string run_and_compare(LoadedObjects& objects, const program::Program& program,
                                   const ir::Bindings& bindings, const ir::TensorMap& inputs,
                                   const ir::TensorMap& expected,
                                   const tilewright_executor* executor,
                                   GuardedMemory::Wall wall = GuardedMemory::Wall::Behind) {
  CallUnderTest whole(objects, program, bindings, inputs, executor, wall);
  std::string wrong = whole.run();
  if (wrong.empty()) wrong = whole.compare(expected);
  if (!wrong.empty() || !program::has_plan(program)) return wrong;
  CallUnderTest planned(objects, program, bindings, inputs, executor, wall);
  wrong = planned.run_with_plan();
  if (wrong.empty()) wrong = planned.compare(expected);
  return wrong.empty() ? wrong : "with a plan: " + wrong;
}

// Law: the library's outputs are those of the plain run, bit for bit, and it wrote nothing else.
inline void expect_same(CompiledProgram& library, const program::Program& program,
                        const ir::Bindings& bindings, const RunOptions& options = {}) {
  if (!library.ready()) return;
  std::mt19937_64 random(options.seed);
  ir::TensorMap inputs;
  for (const program::Parameter& parameter : program.parameters)
    inputs[parameter.name] = random_tensor(parameter, bindings, random, options.plain);
  ir::TensorMap expected = inputs;
  const PlainRun plain(program, bindings, expected);
  EXPECT_FALSE(plain.undefined()) << "the test program is undefined on these inputs";
  for (const auto wall : {GuardedMemory::Wall::Behind, GuardedMemory::Wall::Before}) {
    const std::string what = program::print(program);
    const FaultReport report(what);
    EXPECT_EQ(run_and_compare(library.objects(), program, bindings, inputs, expected,
                              options.executor, wall),
              "");
  }
}

// Host targets and C; a host target that this machine does not run is skipped with the reason.
class EachTarget : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == c_target::kName) {
      target = c_stand_in();
      return;
    }
    auto found = host::find_target(GetParam());
    ASSERT_TRUE(found.ok());
    target = std::move(*found);
    if (!host::runs_here(target))
      GTEST_SKIP() << "this processor does not run " << target.description;
  }
  program::Program parse_text(const std::string& text) { return parse(context, text); }
  ir::Bindings sizes(std::initializer_list<std::pair<const char*, std::int64_t>> values) {
    ir::Bindings bindings;
    for (const auto& [name, value] : values) bindings[context.symbol(name)] = value;
    return bindings;
  }
  ir::Context context;
  host::Target target;
};

}  // namespace tilewright::test

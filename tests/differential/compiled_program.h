// SPDX-License-Identifier: Apache-2.0
//
// Generated code, called: a Program from text is compiled to an object, linked into a shared library by the
// system's linker, loaded, and run on given tensors.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>

#include "differential/plain_run.h"
#include "frontend/base/source.h"
#include "lowering/artifact/artifact.h"
#include "lowering/program/text.h"
#include "runtime/include/tilewright/runtime.h"

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
  Argument(const program::Parameter& parameter, const ir::Bindings& bindings)
      : type_(parameter.type) {
    for (ir::Expr extent : parameter.shape)
      shape_.push_back(ir::evaluate_extents(extent, bindings));
    std::size_t count = 1;
    for (std::int64_t extent : shape_) count *= static_cast<std::size_t>(extent);
    const auto element = static_cast<std::size_t>(ir::size_bytes(type_));
    size_ = count * element;
    bytes_.assign(size_ + 2 * kGuard + element, std::byte{0xa5});
    begin_ =
        kGuard + element - (reinterpret_cast<std::uintptr_t>(bytes_.data()) + kGuard) % element;
    std::memset(&descriptor, 0, sizeof(descriptor));
    descriptor.dl.data = bytes_.data() + begin_;
    descriptor.dl.device.device_type = kDLCPU;
    descriptor.dl.ndim = static_cast<std::int32_t>(shape_.size());
    descriptor.dl.dtype = dtype(type_);
    descriptor.dl.shape = shape_.data();
    descriptor.size_bytes = size_;
  }

  void fill(const ir::Tensor& tensor) {
    const auto bytes = ir::tensor_bytes(tensor);
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
  }
  ir::Tensor read() const {
    return ir::tensor_from_bytes(type_, shape_, {bytes_.data() + begin_, size_});
  }
  // Nothing outside the tensor was written.
  bool guards_hold() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if ((i < begin_ || i >= begin_ + size_) && bytes_[i] != std::byte{0xa5}) return false;
    return true;
  }

  tilewright_tensor descriptor;

  static DLDataType dtype(ir::ScalarType type) {
    switch (type) {
      case ir::ScalarType::Bool: return tilewright_type(kDLBool, 8);
      case ir::ScalarType::BF16: return tilewright_type(kDLBfloat, 16);
      case ir::ScalarType::F16:
      case ir::ScalarType::F32:
      case ir::ScalarType::F64:
        return tilewright_type(kDLFloat, static_cast<std::uint8_t>(8 * ir::size_bytes(type)));
      default: return tilewright_type(kDLInt, static_cast<std::uint8_t>(8 * ir::size_bytes(type)));
    }
  }

 private:
  static constexpr std::size_t kGuard = 256;
  ir::ScalarType type_;
  std::vector<std::int64_t> shape_;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
};

class CompiledProgram {
 public:
  CompiledProgram(ir::Context& context, const program::Program& program, const host::Target& target)
      : program_(program) {
    const artifact::Origin origin{"test", "0", "none", "0", "not checked"};
    llvm_wall::CompileOptions options;
    options.want_assembly = options.want_ir = true;
    auto made = artifact::make_artifact(context, program, target, origin, options);
    EXPECT_TRUE(made.ok()) << messages(made.diagnostics());
    if (!made.ok()) return;
    artifact_ = std::move(*made);
    char folder[] = "/tmp/tilewright.XXXXXX";
    if (mkdtemp(folder) == nullptr) return;
    const std::string base = std::string(folder) + "/program";
    std::ofstream(base + ".o", std::ios::binary) << artifact_.object.bytes;
    // No C library: an unresolved reference fails here.
    const std::string link = "cc -shared -nostdlib -o " + base + ".so " + base + ".o";
    EXPECT_EQ(std::system(link.c_str()), 0);
    handle_ = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << dlerror();
    unlink((base + ".o").c_str());
    unlink((base + ".so").c_str());
    rmdir(folder);
  }
  ~CompiledProgram() {
    if (handle_) dlclose(handle_);
  }
  CompiledProgram(const CompiledProgram&) = delete;
  CompiledProgram& operator=(const CompiledProgram&) = delete;

  bool ready() const { return handle_ != nullptr; }
  const artifact::Artifact& artifact() const { return artifact_; }

  std::int32_t query(const tilewright_call* call, std::vector<tilewright_tensor*> tensors,
                     std::size_t* size) {
    std::vector<void*> words{const_cast<tilewright_call*>(call)};
    words.insert(words.end(), tensors.begin(), tensors.end());
    words.push_back(size);
    return invoke(std::string(program_.name.text()) + "_query", words);
  }
  std::int32_t run(const tilewright_call* call, std::vector<tilewright_tensor*> tensors,
                   void* workspace, std::size_t workspace_size) {
    std::vector<void*> words{const_cast<tilewright_call*>(call)};
    words.insert(words.end(), tensors.begin(), tensors.end());
    words.push_back(workspace);
    words.push_back(reinterpret_cast<void*>(workspace_size));
    return invoke(std::string(program_.name.text()), words);
  }

 private:
  // Every argument is one integer register or stack word, so the count alone picks the signature.
  std::int32_t invoke(const std::string& name, std::vector<void*> w) {
    void* symbol = dlsym(handle_, name.c_str());
    EXPECT_NE(symbol, nullptr) << name;
    if (symbol == nullptr) return 1;
    w.resize(10);
    using Function =
        std::int32_t (*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*);
    return reinterpret_cast<Function>(symbol)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8],
                                              w[9]);
  }

  const program::Program& program_;
  artifact::Artifact artifact_;
  void* handle_ = nullptr;
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
    if (ir::is_float(parameter.type)) {
      const bool special = !plain && random() % 4 == 0;
      cell.f =
          special ? kSpecial[random() % std::size(kSpecial)] : unit(random) * (plain ? 1.0 : 20.0);
      cell.f = ir::round_to_type(parameter.type, cell.f);
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
  if (!ir::is_float(a.type)) return a.data[i].i == b.data[i].i;
  if (std::isnan(a.data[i].f)) return std::isnan(b.data[i].f);
  return std::memcmp(&a.data[i].f, &b.data[i].f, sizeof(double)) == 0;
}

struct RunOptions {
  bool plain = false;
  const tilewright_executor* executor = nullptr;
  std::uint64_t seed = 1;
};

// Law: the library's outputs are those of the plain run, bit for bit, and it wrote nothing else.
inline void expect_same(CompiledProgram& library, const program::Program& program,
                        const ir::Bindings& bindings, const RunOptions& options = {}) {
  if (!library.ready()) return;
  std::mt19937_64 random(options.seed);
  std::vector<Argument> arguments;
  arguments.reserve(program.parameters.size());
  std::vector<tilewright_tensor*> tensors;
  ir::TensorMap expected;
  for (const program::Parameter& parameter : program.parameters) {
    arguments.emplace_back(parameter, bindings);
    ir::Tensor tensor = random_tensor(parameter, bindings, random, options.plain);
    arguments.back().fill(tensor);
    expected[parameter.name] = std::move(tensor);
    tensors.push_back(&arguments.back().descriptor);
  }
  tilewright_error error{};
  error.struct_size = sizeof(error);
  const tilewright_call call = tilewright_call_make(options.executor, &error);
  std::size_t size = 1;
  ASSERT_EQ(library.query(&call, tensors, &size), TILEWRIGHT_OK) << error.message;
  void* workspace = size ? std::aligned_alloc(64, (size + 127) / 64 * 64) : nullptr;
  if (workspace) std::memset(workspace, 0x5a, size + 64);
  ASSERT_EQ(library.run(&call, tensors, workspace, size), TILEWRIGHT_OK)
      << error.message << " argument " << error.argument << " dimension " << error.dimension;
  for (std::size_t i = size; workspace && i < size + 64; ++i)
    ASSERT_EQ(static_cast<unsigned char*>(workspace)[i], 0x5a) << "beyond the workspace";
  std::free(workspace);

  const PlainRun plain(program, bindings, expected);
  EXPECT_FALSE(plain.undefined()) << "the test program is undefined on these inputs";
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    EXPECT_TRUE(arguments[p].guards_hold()) << "wrote around argument " << p;
    const ir::Tensor got = arguments[p].read();
    const ir::Tensor& want = expected.at(program.parameters[p].name);
    for (std::size_t i = 0; i < want.data.size(); ++i)
      ASSERT_TRUE(same_bits(want, got, i))
          << program.parameters[p].name.text() << " cell " << i << ": expected " << want.data[i].f
          << " (" << want.data[i].i << "), got " << got.data[i].f << " (" << got.data[i].i << ")";
  }
}

// Both targets; one that this machine does not run is skipped with the reason.
class EachTarget : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
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

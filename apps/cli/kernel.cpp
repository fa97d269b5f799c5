// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/kernel.h"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "frontend/base/format.h"
#include "lowering/artifact/artifact.h"
#include "lowering/targets/host/target.h"
#include "tilewright/runtime.h"

extern char** environ;

namespace tilewright::cli {

namespace {

constexpr std::size_t kMaxParameters = 32;

DLDataType dl_type(ir::ScalarType type) {
  const ir::TypeInfo& info = ir::type_info(type);
  return {static_cast<std::uint8_t>(info.dlpack_code), static_cast<std::uint8_t>(info.dlpack_bits),
          1};
}

// Calls int32_t NAME(call, tensor * count, workspace, size): the number of tensors is known at run time.
template <std::size_t... I>
std::int32_t call_with(void* function, const tilewright_call* call, tilewright_tensor* tensors,
                       void* workspace, std::size_t size, std::index_sequence<I...>) {
  using Function =
      std::int32_t (*)(const tilewright_call*, decltype(&tensors[I])..., void*, std::size_t);
  return reinterpret_cast<Function>(function)(call, &tensors[I]..., workspace, size);
}
template <std::size_t... I>
std::int32_t query_with(void* function, const tilewright_call* call, tilewright_tensor* tensors,
                        std::size_t* size, std::index_sequence<I...>) {
  using Function = std::int32_t (*)(const tilewright_call*, decltype(&tensors[I])..., std::size_t*);
  return reinterpret_cast<Function>(function)(call, &tensors[I]..., size);
}
// Picks the sequence of that length.
template <std::size_t N = 0, class F>
std::int32_t with_count(std::size_t count, F&& f) {
  if constexpr (N <= kMaxParameters) {
    if (count == N) return f(std::make_index_sequence<N>());
    return with_count<N + 1>(count, f);
  } else {
    return TILEWRIGHT_INVALID_ARGUMENT;
  }
}

// A folder that is removed with what it holds.
struct TemporaryFolder {
  std::string path;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
};

Result<std::string> make_temporary_folder() {
  const char* base = std::getenv("TMPDIR");
  std::string path =
      std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/tilewright.XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    return fail(Code::FileWrite, {},
                in_backticks(path) + " cannot be made: " + std::strerror(errno),
                "set TMPDIR to a folder that you may write to");
  return path;
}

Failure link_failed(const std::string& why) {
  return fail(Code::LinkFailed, {}, "the C compiler could not link the kernel: " + why,
              "install a C compiler, name one in CC, or use --interpret");
}

Result<Ok> link_shared(const std::string& object, const std::string& shared) {
  const char* compiler = std::getenv("CC");
  std::string name = compiler != nullptr && *compiler != '\0' ? compiler : "cc";
  std::vector<std::string> words = {name, "-shared", "-nostartfiles", "-o", shared, object};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (const int error =
          ::posix_spawnp(&child, name.c_str(), nullptr, nullptr, argv.data(), environ);
      error != 0)
    return link_failed(in_backticks(name) + ": " + std::strerror(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return link_failed(std::strerror(errno));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return link_failed(in_backticks(name) + " failed");
  return Ok{};
}

}  // namespace

struct Kernel::Impl {
  std::string name;
  void* library = nullptr;
  void* function = nullptr;
  void* query = nullptr;
  tilewright_pool* pool = nullptr;
  int pool_threads = 0;
  std::vector<tilewright_tensor> tensors;
  std::vector<std::vector<std::int64_t>> shapes;
  npy::Bytes workspace;
  tilewright_error error{};
  tilewright_call call{};

  Result<Ok> status(std::int32_t code) const {
    if (code == TILEWRIGHT_OK) return Ok{};
    char text[600];
    text[0] = '\0';
    if (error.status != TILEWRIGHT_OK) tilewright_error_text(&error, text, sizeof(text));
    return fail(Code::KernelFailed, {},
                text[0] != '\0' ? std::string(text) : name + ": " + tilewright_status_text(code),
                "give inputs that the algorithm and its requirements allow");
  }
};

Kernel::Kernel() : impl_(std::make_unique<Impl>()) {}

Kernel::~Kernel() {
  tilewright_pool_destroy(impl_->pool);
  if (impl_->library != nullptr) ::dlclose(impl_->library);
}

Result<std::unique_ptr<Kernel>> Kernel::make(Work& work, const host::Target& target) {
  if (host::is_foreign(target))
    return fail(Code::ForeignTarget, {}, "this machine cannot run code for `" + target.name + "`",
                "use --interpret, or `compile` and run the library where its processor is");
  if (work.program().parameters.size() > kMaxParameters)
    return fail(Code::KernelFailed, {}, "the algorithm has more than 32 inputs and outputs",
                "use --interpret, or link the library that `compile` writes");
  artifact::Origin origin;
  origin.tool_version = TILEWRIGHT_VERSION;
  TILEWRIGHT_TRY(built, artifact::make_artifact(work.context(), work.program(), target, origin));
  TILEWRIGHT_TRY(folder_path, make_temporary_folder());
  const TemporaryFolder folder{folder_path};
  TILEWRIGHT_CHECK_OK(write_files(folder.path, {{"kernel.o", built.object.bytes}}));
  TILEWRIGHT_CHECK_OK(link_shared(folder.path + "/kernel.o", folder.path + "/kernel.so"));
  std::unique_ptr<Kernel> kernel(new Kernel());
  Impl& impl = *kernel->impl_;
  impl.name = std::string(work.program().name.text());
  impl.library = ::dlopen((folder.path + "/kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (impl.library == nullptr) return link_failed(::dlerror());
  impl.function = ::dlsym(impl.library, impl.name.c_str());
  impl.query = ::dlsym(impl.library, (impl.name + "_query").c_str());
  if (impl.function == nullptr || impl.query == nullptr)
    return link_failed("its functions are missing");
  return kernel;
}

Result<Ok> Kernel::bind(Arrays& arrays, int threads) {
  Impl& impl = *impl_;
  if (impl.pool == nullptr || impl.pool_threads != threads) {
    tilewright_pool_destroy(impl.pool);
    impl.pool = nullptr;
    TILEWRIGHT_CHECK_OK(impl.status(tilewright_pool_create(threads, &impl.pool)));
    impl.pool_threads = threads;
  }
  impl.error = tilewright_error{};
  impl.error.struct_size = sizeof(impl.error);
  impl.call = tilewright_call_make(tilewright_pool_executor(impl.pool), &impl.error);
  impl.tensors.assign(arrays.size(), tilewright_tensor{});
  impl.shapes.clear();
  for (const npy::Array& array : arrays) impl.shapes.push_back(array.shape);
  for (std::size_t i = 0; i < arrays.size(); ++i)
    TILEWRIGHT_CHECK_OK(impl.status(tilewright_tensor_row_major(
        &impl.tensors[i], arrays[i].data.data(), dl_type(arrays[i].type),
        static_cast<std::int32_t>(arrays[i].shape.size()), impl.shapes[i].data())));
  std::size_t size = 0;
  TILEWRIGHT_CHECK_OK(impl.status(with_count(arrays.size(), [&](auto sequence) {
    return query_with(impl.query, &impl.call, impl.tensors.data(), &size, sequence);
  })));
  impl.workspace = npy::Bytes(size);
  return Ok{};
}

Result<Ok> Kernel::call() {
  Impl& impl = *impl_;
  return impl.status(with_count(impl.tensors.size(), [&](auto sequence) {
    return call_with(impl.function, &impl.call, impl.tensors.data(), impl.workspace.data(),
                     impl.workspace.size(), sequence);
  }));
}

Arrays make_arrays(const program::Program& program, const ir::Bindings& sizes,
                   const ir::TensorMap& inputs) {
  Arrays out;
  for (const program::Parameter& parameter : program.parameters) {
    npy::Array array;
    array.type = parameter.type;
    for (ir::Expr extent : parameter.shape)
      array.shape.push_back(ir::evaluate_extents(extent, sizes));
    const std::size_t bytes = ir::num_tensor_bytes(parameter.type, array.shape);
    array.data = npy::Bytes(bytes);
    if (parameter.is_output && !parameter.is_inout) {
      std::memset(array.data.data(), 0xa5, bytes);
    } else {
      const std::vector<std::byte> given = ir::tensor_bytes(inputs.at(parameter.name));
      if (!given.empty()) std::memcpy(array.data.data(), given.data(), given.size());
    }
    out.push_back(std::move(array));
  }
  return out;
}

ir::Tensor tensor_of(const npy::Array& array) {
  return ir::tensor_from_bytes(array.type, array.shape, array.data);
}

}  // namespace tilewright::cli

// SPDX-License-Identifier: Apache-2.0
//
// Files and bytes in memory, through one loader. POSIX calls, because the C++ streams can neither create
// a file exclusively nor say why they failed.
#include "apps/npy/npy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <system_error>

#include "apps/npy/header.h"

namespace tilewright::npy {
namespace {

constexpr std::size_t kBlockSize = std::size_t{64} * 1024;  // a multiple of every element size

std::string system_text(int error) { return std::generic_category().message(error); }

Failure cannot(Code code, const char* verb, std::string_view path, const std::string& why,
               const std::string& remedy) {
  return fail(code, Span{}, std::string("cannot ") + verb + " `" + std::string(path) + "`: " + why,
              remedy);
}

Failure cannot_read(std::string_view path, const std::string& why) {
  return cannot(Code::NpyFile, "read", path, why, "name a readable .npy file");
}

Failure cannot_write(std::string_view path, const std::string& why) {
  return cannot(Code::NpyWrite, "write", path, why,
                "name a file in a writable folder with enough space");
}

// Owns a file descriptor.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor() const { return descriptor_; }
  // 0, or the reason why the last bytes may be lost.
  int close() {
    const int result = ::close(descriptor_) == 0 ? 0 : errno;
    descriptor_ = -1;
    return result;
  }
  // Fills `to` whole. 0, or why not; ENODATA at the end of the file.
  int read(std::span<std::byte> to) const {
    while (!to.empty()) {
      const ssize_t got = ::read(descriptor_, to.data(), to.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return got < 0 ? errno : ENODATA;
      to = to.subspan(static_cast<std::size_t>(got));
    }
    return 0;
  }
  int write(std::span<const std::byte> from) const {
    while (!from.empty()) {
      const ssize_t put = ::write(descriptor_, from.data(), from.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return errno;
      from = from.subspan(static_cast<std::size_t>(put));
    }
    return 0;
  }

 private:
  int descriptor_;
};

// Bytes in memory, read in the manner of a File.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes) : rest_(bytes) {}
  int read(std::span<std::byte> to) {
    if (to.size() > rest_.size()) return ENODATA;
    std::copy_n(rest_.begin(), to.size(), to.begin());
    rest_ = rest_.subspan(to.size());
    return 0;
  }

 private:
  std::span<const std::byte> rest_;
};

// Puts elements that come in Fortran order (first index fastest) to their places in C order.
class FortranPlacer {
 public:
  FortranPlacer(std::span<const std::int64_t> shape, std::size_t element_size, Bytes& to)
      : shape_(shape),
        strides_(shape.size()),
        index_(shape.size()),
        element_size_(element_size),
        to_(to) {
    std::size_t stride = element_size;
    for (std::size_t i = shape.size(); i > 0; --i) {
      strides_[i - 1] = stride;
      stride *= static_cast<std::size_t>(shape[i - 1]);
    }
  }

  void place(std::span<const std::byte> elements) {
    for (std::size_t at = 0; at < elements.size(); at += element_size_) {
      std::memcpy(to_.data() + offset_, elements.data() + at, element_size_);
      advance();
    }
  }

 private:
  void advance() {
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      offset_ += strides_[i];
      if (++index_[i] < shape_[i]) return;
      offset_ -= strides_[i] * static_cast<std::size_t>(shape_[i]);
      index_[i] = 0;
    }
  }

  std::span<const std::int64_t> shape_;
  std::vector<std::size_t> strides_;  // in bytes
  std::vector<std::int64_t> index_;
  std::size_t offset_ = 0;
  std::size_t element_size_;
  Bytes& to_;
};

template <class Input>
int read_data(Input& input, const Header& header, Bytes& data) {
  if (!header.fortran_order || header.shape.size() < 2) return input.read(data);
  std::vector<std::byte> block(std::min(kBlockSize, data.size()));
  FortranPlacer placer(header.shape, static_cast<std::size_t>(ir::size_bytes(header.type)), data);
  for (std::size_t done = 0; done < data.size();) {
    const std::span<std::byte> part(block.data(), std::min(block.size(), data.size() - done));
    if (const int error = input.read(part); error != 0) return error;
    placer.place(part);
    done += part.size();
  }
  return 0;
}

// `input` stands at the start of the file.
template <class Input>
Result<Array> load(Input& input, std::uint64_t file_size, std::string_view name) {
  std::vector<std::byte> head(std::min<std::uint64_t>(kPreambleSize, file_size));
  if (const int error = input.read(head); error != 0) return cannot_read(name, system_text(error));
  TILEWRIGHT_TRY(data_offset, find_data(head, file_size, name));
  // Version 1.0 has a shorter preamble, so a header of 0 or 1 bytes ends inside what was read.
  if (data_offset < head.size()) {
    return fail(Code::NpyHeader, Span{},
                "`" + std::string(name) + "`: header of fewer than two bytes",
                "write the array again with `numpy.save(path, array)`");
  }
  const std::size_t seen = head.size();
  head.resize(data_offset);
  if (const int error = input.read(std::span(head).subspan(seen)); error != 0) {
    return cannot_read(name, system_text(error));
  }
  TILEWRIGHT_TRY(header, parse_header(head, file_size, name));

  Array array{header.type, header.shape, {}};
  try {
    array.data.resize(header.data_size);
  } catch (const std::bad_alloc&) {
    return cannot_read(name, "no memory for " + std::to_string(header.data_size) + " bytes");
  }
  if (const int error = read_data(input, header, array.data); error != 0) {
    return cannot_read(name, system_text(error));
  }
  if (array.type == ir::ScalarType::Bool) {
    const auto bad = std::find_if(array.data.begin(), array.data.end(),
                                  [](std::byte value) { return value > std::byte{1}; });
    if (bad != array.data.end()) {
      return fail(Code::NpyValue, Span{},
                  "`" + std::string(name) + "`: element " +
                      std::to_string(bad - array.data.begin()) +
                      (header.fortran_order ? " (in row-major order)" : "") + " of type bool is " +
                      std::to_string(std::to_integer<int>(*bad)),
                  "bool elements are 0 or 1; write `array.astype(bool)`");
    }
  }
  return array;
}

struct FreeText {
  void operator()(char* text) const { std::free(text); }
};

// The file that a write to `path` replaces, symbolic links followed, and the mode it should have.
struct Target {
  std::string path;
  mode_t mode = 0;
  bool exists = false;
};

Result<Target> find_target(const std::string& path) {
  Target target{path};
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) return cannot_write(path, system_text(errno));
    return target;
  }
  if (!S_ISREG(status.st_mode)) return cannot_write(path, "not a regular file");
  if (::access(path.c_str(), W_OK) != 0) return cannot_write(path, system_text(errno));
  const std::unique_ptr<char, FreeText> real(::realpath(path.c_str(), nullptr));
  if (real == nullptr) return cannot_write(path, system_text(errno));
  return Target{real.get(), status.st_mode & mode_t{07777}, true};
}

// Creates a file that did not exist beside `path`; its name is stored in `name`.
int create_beside(const std::string& path, std::string& name) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    name = path + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(i);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

int write_file(int descriptor, const Target& target, const std::string& header,
               std::span<const std::byte> data) {
  File file(descriptor);
  if (target.exists && ::fchmod(descriptor, target.mode) != 0) return errno;
  if (const int error = file.write(std::as_bytes(std::span(header))); error != 0) return error;
  if (const int error = file.write(data); error != 0) return error;
  return file.close();
}

}  // namespace

Result<Array> read(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.descriptor() < 0) return cannot_read(path, system_text(errno));
  struct stat status = {};
  if (::fstat(file.descriptor(), &status) != 0) return cannot_read(path, system_text(errno));
  if (!S_ISREG(status.st_mode)) return cannot_read(path, "not a regular file");
  return load(file, static_cast<std::uint64_t>(status.st_size), path);
}

Result<Array> parse(std::span<const std::byte> file, std::string_view name) {
  MemoryFile input(file);
  return load(input, file.size(), name);
}

Result<ir::Tensor> tensor_as(const Array& array, ir::ScalarType declared, std::string_view name) {
  using enum ir::ScalarType;
  const bool bits = declared == BF16 ? array.type == U16
                                     : ir::is_storage_float(declared) &&
                                           (array.type == U8 || array.type == F8E4M3);
  const bool adopts = bits || (declared == I4 && array.type == I8) ||
                      (declared == U4 && array.type == U8) ||
                      (declared == TF32 && array.type == F32);
  if (!adopts || array.type == declared)
    return ir::tensor_from_elements(array.type, array.shape, array.data);
  ir::Tensor tensor = ir::tensor_from_elements(declared, array.shape, array.data);
  if (ir::type_info(declared).width >= 8) return tensor;
  for (std::size_t i = 0; i < array.data.size(); ++i) {
    const auto byte = std::to_integer<int>(array.data[i]);
    const int width = ir::type_info(declared).width;
    const bool fits = declared == I4 ? byte < 8 || byte >= 256 - 8 : byte < 1 << width;
    if (fits) continue;
    return fail(Code::NpyValue, Span{},
                "`" + std::string(name) + "`: element " + std::to_string(i) + " is no " +
                    std::string(ir::type_text(declared)),
                declared == I4 ? "elements of i4 are -8 to 7"
                               : "elements are the codes 0 to " + std::to_string((1 << width) - 1));
  }
  return tensor;
}

namespace {

Result<Ok> check_array(std::string_view name, ir::ScalarType type,
                       std::span<const std::int64_t> shape, std::span<const std::byte> data) {
  if (type == ir::ScalarType::Index) return cannot_write(name, "`index` has no representation");
  if (shape.size() > kMaxRank) return cannot_write(name, "too many dimensions");
  const std::optional<std::uint64_t> size = size_of(type, shape);
  if (size != data.size()) return cannot_write(name, "the data does not fit the shape");
  return Ok{};
}

}  // namespace

Result<std::string> encode(std::string_view name, ir::ScalarType type,
                           std::span<const std::int64_t> shape, std::span<const std::byte> data) {
  TILEWRIGHT_CHECK_OK(check_array(name, type, shape, data));
  std::string out = header_bytes(type, shape);
  out.append(reinterpret_cast<const char*>(data.data()), data.size());
  return out;
}

Result<Ok> write(const std::string& path, ir::ScalarType type, std::span<const std::int64_t> shape,
                 std::span<const std::byte> data) {
  TILEWRIGHT_CHECK_OK(check_array(path, type, shape, data));
  TILEWRIGHT_TRY(target, find_target(path));
  std::string temporary;
  const int descriptor = create_beside(target.path, temporary);
  if (descriptor < 0) return cannot_write(path, system_text(errno));
  int error = write_file(descriptor, target, header_bytes(type, shape), data);
  if (error == 0 && ::rename(temporary.c_str(), target.path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    return cannot_write(path, system_text(error));
  }
  return Ok{};
}

}  // namespace tilewright::npy

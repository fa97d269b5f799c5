// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes headers. All arithmetic on sizes is checked; nothing is allocated by a number that
// the file merely states.
#include "apps/npy/header.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "apps/npy/npy.h"

namespace tilewright::npy {
namespace {

using ir::ScalarType;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kDataAlignment = 64;
constexpr const char* kWriteItAgain = "write the array again with `numpy.save(path, array)`";

struct TypeName {
  std::string_view descr;
  ScalarType type;
};

// The first spelling of a type is the one that is written.
constexpr TypeName kTypeNames[] = {
    {"|b1", ScalarType::Bool},   {"<b1", ScalarType::Bool}, {"|i1", ScalarType::I8},
    {"<i1", ScalarType::I8},     {"<i2", ScalarType::I16},  {"<i4", ScalarType::I32},
    {"<i8", ScalarType::I64},    {"|u1", ScalarType::U8},   {"<u1", ScalarType::U8},
    {"<u2", ScalarType::U16},    {"<u4", ScalarType::U32},  {"<u8", ScalarType::U64},
    {"<f2", ScalarType::F16},    {"<f4", ScalarType::F32},  {"<f8", ScalarType::F64},
    {"<V2", ScalarType::BF16},   {"|V2", ScalarType::BF16}, {"|V1", ScalarType::F8E4M3},
    {"<V1", ScalarType::F8E4M3}, {"<c8", ScalarType::C64},  {"<c16", ScalarType::C128},
};

// The type of the file that holds a type, which NumPy may not have: one element in bytes of its own.
ScalarType type_in_files(ScalarType type) {
  if (type == ScalarType::I4) return ScalarType::I8;
  if (type == ScalarType::U4) return ScalarType::U8;
  if (type == ScalarType::TF32) return ScalarType::F32;
  return ir::is_storage_float(type) ? ScalarType::F8E4M3 : type;
}

std::optional<ScalarType> type_of(std::string_view descr) {
  for (const TypeName& name : kTypeNames) {
    if (name.descr == descr) return name.type;
  }
  return std::nullopt;
}

std::string in_file(std::string_view name) { return "`" + std::string(name) + "`: "; }

// Text of a file as part of a message: bounded, and without bytes that a terminal would act on.
std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 24;
  std::string result = "`";
  for (const char c : text.substr(0, kMost)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > kMost ? "...`" : "`");
}

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i - 1]);
  }
  return value;
}

// The three values, as the dictionary states them.
struct Entries {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
};

class DictReader {
 public:
  // `text` begins at byte `offset` of the file.
  DictReader(std::string_view text, std::size_t offset, std::string_view file)
      : text_(text), offset_(offset), file_(file) {}

  Result<Entries> read() {
    Entries entries;
    TILEWRIGHT_CHECK_OK(expect('{'));
    while (!take('}')) {
      TILEWRIGHT_CHECK_OK(read_entry(entries));
      if (take(',')) continue;
      TILEWRIGHT_CHECK_OK(expect('}'));
      break;
    }
    skip_space();
    if (at_ < text_.size()) return unexpected("the end of the header");
    return entries;
  }

 private:
  Result<Ok> read_entry(Entries& entries) {
    TILEWRIGHT_TRY(key, read_string());
    TILEWRIGHT_CHECK_OK(expect(':'));
    if (key == "descr") {
      if (entries.descr) return twice(key);
      TILEWRIGHT_TRY(descr, read_string());
      entries.descr = std::move(descr);
    } else if (key == "fortran_order") {
      if (entries.fortran_order) return twice(key);
      TILEWRIGHT_TRY(value, read_bool());
      entries.fortran_order = value;
    } else if (key == "shape") {
      if (entries.shape) return twice(key);
      TILEWRIGHT_TRY(shape, read_tuple());
      entries.shape = std::move(shape);
    } else {
      return error("unknown key " + shown(key));
    }
    return Ok{};
  }

  Result<std::string> read_string() {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      return unexpected("a string");
    const char quote = text_[at_++];
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) return error("a string does not end");
    std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    if (value.find('\\') != std::string::npos) return error("escape in string " + shown(value));
    return value;
  }

  Result<bool> read_bool() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    return unexpected("`True` or `False`");
  }

  Result<std::vector<std::int64_t>> read_tuple() {
    std::vector<std::int64_t> values;
    bool comma = true;  // a tuple of one element needs its comma: `(3)` is a number
    TILEWRIGHT_CHECK_OK(expect('('));
    while (!take(')')) {
      if (!comma) return unexpected("`,`");
      TILEWRIGHT_TRY(value, read_number());
      values.push_back(value);
      if (values.size() > kMaxRank) {
        return shape_error("more than " + std::to_string(kMaxRank) + " dimensions");
      }
      comma = take(',');
    }
    if (values.size() == 1 && !comma) return error("`shape` is a number, not a tuple");
    return values;
  }

  Result<std::int64_t> read_number() {
    skip_space();
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '-') return shape_error("negative extent");
    std::int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const int digit = text_[at_] - '0';
      if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10) {
        return shape_error("extent beyond 63 bits");
      }
      value = value * 10 + digit;
    }
    if (at_ == begin) return unexpected("an extent");
    if (text_[begin] == '0' && at_ - begin > 1) return error("extent with a leading zero");
    return value;
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Result<Ok> expect(char c) {
    if (take(c)) return Ok{};
    return unexpected("`" + std::string(1, c) + "`");
  }

  std::string place() const { return " at byte " + std::to_string(offset_ + at_); }
  Failure error(const std::string& what) const {
    return fail(Code::NpyHeader, Span{}, in_file(file_) + what + place(), kWriteItAgain);
  }
  Failure shape_error(const std::string& what) const {
    return fail(Code::NpyShape, Span{}, in_file(file_) + what + place(), kWriteItAgain);
  }
  Failure twice(std::string_view key) const { return error("key " + shown(key) + " given twice"); }
  Failure unexpected(const std::string& wanted) const {
    const std::string seen =
        at_ < text_.size() ? shown(text_.substr(at_, 1)) : std::string("the end of the header");
    return error("expected " + wanted + " but found " + seen);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t offset_;
  std::string_view file_;
};

}  // namespace

std::optional<std::uint64_t> size_of(ScalarType type, std::span<const std::int64_t> shape) {
  std::uint64_t size = static_cast<std::uint64_t>(ir::size_bytes(type));
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    const auto factor = static_cast<std::uint64_t>(extent);
    if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / factor) {
      return std::nullopt;
    }
    size *= factor;
  }
  return empty ? 0 : size;
}

Result<std::uint64_t> find_data(std::span<const std::byte> preamble, std::uint64_t file_size,
                                std::string_view name) {
  if (preamble.size() < kMagic.size() + 2 ||
      std::memcmp(preamble.data(), kMagic.data(), kMagic.size()) != 0) {
    return fail(Code::NpyMagic, Span{}, in_file(name) + "not a .npy file",
                "only files of `numpy.save` are read; take the arrays out of a .npz archive first");
  }
  const int major = std::to_integer<int>(preamble[6]);
  const int minor = std::to_integer<int>(preamble[7]);
  if (major < 1 || major > 3 || minor != 0) {
    return fail(
        Code::NpyVersion, Span{},
        in_file(name) + "format version " + std::to_string(major) + "." + std::to_string(minor),
        "versions 1.0, 2.0 and 3.0 are read");
  }
  const std::size_t length_size = major == 1 ? 2 : 4;
  const std::size_t text_begin = kMagic.size() + 2 + length_size;
  const auto truncated = [&](const std::string& what) {
    return fail(Code::NpyTruncated, Span{}, in_file(name) + what, kWriteItAgain);
  };
  if (preamble.size() < text_begin)
    return truncated("the file ends before the length of its header");
  const std::uint64_t length = little_endian(preamble.subspan(kMagic.size() + 2, length_size));
  if (length > kMaxHeaderSize) {
    return fail(Code::NpyHeader, Span{},
                in_file(name) + "header of " + std::to_string(length) + " bytes, at most " +
                    std::to_string(kMaxHeaderSize) + " are read",
                kWriteItAgain);
  }
  if (text_begin + length > file_size) {
    return truncated("the header should end at byte " + std::to_string(text_begin + length) +
                     ", the file ends at byte " + std::to_string(file_size));
  }
  return text_begin + length;
}

Result<Header> parse_header(std::span<const std::byte> head, std::uint64_t file_size,
                            std::string_view name) {
  const std::size_t text_begin = std::to_integer<int>(head[6]) == 1 ? 10 : 12;
  const std::string_view text(reinterpret_cast<const char*>(head.data()) + text_begin,
                              head.size() - text_begin);
  TILEWRIGHT_TRY(entries, DictReader(text, text_begin, name).read());
  for (const auto& [present, key] : {std::pair{entries.descr.has_value(), "descr"},
                                     std::pair{entries.fortran_order.has_value(), "fortran_order"},
                                     std::pair{entries.shape.has_value(), "shape"}}) {
    if (present) continue;
    return fail(Code::NpyHeader, Span{}, in_file(name) + "the header has no `" + key + "`",
                kWriteItAgain);
  }
  const std::optional<ScalarType> type = type_of(*entries.descr);
  if (!type) {
    return fail(
        Code::NpyType, Span{}, in_file(name) + "element type " + shown(*entries.descr),
        "convert with `array.astype(..)` to little-endian bool, an integer, float16, float32, "
        "float64 or complex; view bfloat16 as uint16 and narrower floats as uint8");
  }
  const std::optional<std::uint64_t> size = size_of(*type, *entries.shape);
  if (!size) {
    return fail(Code::NpyShape, Span{}, in_file(name) + "the size of the array is beyond 63 bits",
                kWriteItAgain);
  }
  if (*size != file_size - head.size()) {
    return fail(
        Code::NpySize, Span{},
        in_file(name) + "the shape needs " + std::to_string(*size) +
            " bytes of data, the file has " + std::to_string(file_size - head.size()),
        "the file was cut, or holds more than one array: write it again with one `numpy.save`");
  }
  return Header{*type, *entries.fortran_order, std::move(*entries.shape), head.size(), *size};
}

std::string header_bytes(ir::ScalarType type, std::span<const std::int64_t> shape) {
  const auto* const name = std::find_if(
      std::begin(kTypeNames), std::end(kTypeNames),
      [&](const TypeName& candidate) { return candidate.type == type_in_files(type); });
  std::string text =
      "{'descr': '" + std::string(name->descr) + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : " ") + std::to_string(shape[i]);
    if (i + 1 < shape.size() || shape.size() == 1) text += ",";
  }
  text += "), }";
  const std::size_t preamble = kMagic.size() + 4;
  text.append((kDataAlignment - (preamble + text.size() + 1) % kDataAlignment) % kDataAlignment,
              ' ');
  text += '\n';
  std::string bytes(kMagic);
  bytes +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return bytes + text;
}

}  // namespace tilewright::npy

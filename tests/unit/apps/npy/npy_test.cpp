// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing .npy: bytes written by hand here, and files that NumPy wrote (tests/corpus/npy),
// whose values are stated in this file.
#include "apps/npy/npy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TILEWRIGHT_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define TILEWRIGHT_TEST_SANITIZED 1
#endif
#endif

namespace tilewright::npy {
namespace {

using ir::ScalarType;
using Shape = std::vector<std::int64_t>;

std::string corpus(const std::string& file) {
  const char* const root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  return std::string(root == nullptr ? "." : root) + "/tests/corpus/npy/" + file;
}

// Format 1.0 around a dictionary and data.
std::string file_with(const std::string& dict, const std::string& data) {
  const std::size_t size = dict.size();
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(size & 0xff) +
         static_cast<char>(size >> 8) + dict + data;
}

std::string dict_of(const std::string& descr, const std::string& shape,
                    const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

Result<Array> parse_text(const std::string& bytes) {
  return parse(std::as_bytes(std::span(bytes)), "t.npy");
}

template <class T>
std::vector<T> values(const Array& array) {
  std::vector<T> result(array.data.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), array.data.data(), array.data.size());
  return result;
}

// The single diagnostic of a failure, which must have a message and a remedy.
template <class T>
Code code_of(const Result<T>& result, const std::string& what) {
  EXPECT_FALSE(result.ok()) << what;
  EXPECT_EQ(result.diagnostics().size(), 1u) << what;
  if (result.diagnostics().empty()) return Code::UnexpectedToken;
  EXPECT_FALSE(result.diagnostics()[0].remedy.empty()) << what;
  return result.diagnostics()[0].code;
}

void expect_refused(const std::string& bytes, Code code, const std::string& message_part) {
  const Result<Array> result = parse_text(bytes);
  ASSERT_EQ(code_of(result, message_part), code) << message_part;
  EXPECT_NE(result.diagnostics()[0].message.find(message_part), std::string::npos)
      << "wanted: " << message_part << "\ngot: " << result.diagnostics()[0].message;
  EXPECT_EQ(result.diagnostics()[0].message.find("`t.npy`: "), 0u)
      << result.diagnostics()[0].message;
}

Array read_corpus(const std::string& file) {
  Result<Array> result = read(corpus(file));
  EXPECT_TRUE(result.ok()) << file << ": "
                           << (result.ok() ? std::string() : result.diagnostics()[0].message);
  return result.ok() ? std::move(*result) : Array{};
}

template <class T>
void expect_corpus(const std::string& file, ScalarType type, const Shape& shape,
                   const std::vector<T>& expected) {
  const Array array = read_corpus(file);
  EXPECT_EQ(array.type, type) << file;
  EXPECT_EQ(array.shape, shape) << file;
  EXPECT_EQ(values<T>(array), expected) << file;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data.data()) % 64, 0u) << file;
}

TEST(Npy, FilesOfNumpy) {
  expect_corpus<float>("f32_2x3.npy", ScalarType::F32, {2, 3}, {-1, -0.5f, 0, 0.5f, 1, 1.5f});
  expect_corpus<double>("f64_scalar.npy", ScalarType::F64, {}, {-2.25});
  expect_corpus<std::uint16_t>("f16_4.npy", ScalarType::F16, {4}, {0x3c00, 0xc000, 0x3800, 0x7bff});
  expect_corpus<std::int8_t>("i8_3.npy", ScalarType::I8, {3}, {-128, 0, 127});
  expect_corpus<std::int32_t>("i32_2x2.npy", ScalarType::I32, {2, 2}, {1, -2, 3, INT32_MIN});
  expect_corpus<std::int64_t>("i64_1.npy", ScalarType::I64, {1}, {INT64_MIN});
  expect_corpus<std::uint8_t>("bool_2x2.npy", ScalarType::Bool, {2, 2}, {1, 0, 0, 1});
  expect_corpus<std::int32_t>("i32_v2.npy", ScalarType::I32, {5}, {0, 1, 2, 3, 4});
  expect_corpus<std::int32_t>("i32_v3.npy", ScalarType::I32, {5}, {0, 1, 2, 3, 4});
  expect_corpus<float>("c64_3.npy", ScalarType::C64, {3}, {0, 0, 1, 0, 2, 0});
  expect_corpus<float>("f32_empty_0x5.npy", ScalarType::F32, {0, 5}, {});
}

TEST(Npy, Bfloat16IsTwoOpaqueBytes) {
  const std::vector<std::uint16_t> expected{0x3f80, 0xc000, 0x4049};
  expect_corpus("bf16_3.npy", ScalarType::BF16, {3}, expected);
  // As u16 it is what the declared type says.
  expect_corpus("bf16_as_u2.npy", ScalarType::U16, {3}, expected);
  const Result<Array> array = read(corpus("bf16_as_u2.npy"));
  ASSERT_TRUE(array.ok());
  const auto tensor = tensor_as(*array, ScalarType::BF16, "t.npy");
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->type, ScalarType::BF16);
  EXPECT_EQ(tensor->data[1].f, -2.0);
  EXPECT_EQ(tensor_as(*array, ScalarType::I16, "t.npy")->type, ScalarType::U16);
}

TEST(Npy, TypesThatNumpyLacksComeInOneOfTheirSize) {
  auto adopted = [](const std::string& descr, const std::string& data, ScalarType declared) {
    const Result<Array> array = parse_text(file_with(dict_of(descr, "(2,)"), data));
    EXPECT_TRUE(array.ok());
    return tensor_as(*array, declared, "t.npy");
  };
  using Data = std::vector<double>;
  auto floats = [](const Result<ir::Tensor>& t) { return Data{t->data[0].f, t->data[1].f}; };
  EXPECT_EQ(floats(adopted("|u1", "\x38\xc0", ScalarType::F8E4M3)), (Data{1, -2}));
  EXPECT_EQ(floats(adopted("|V1", "\x3c\xc0", ScalarType::F8E5M2)), (Data{1, -2}));
  EXPECT_EQ(floats(adopted("|u1", "\x02\x0f", ScalarType::F4E2M1)), (Data{1, -6}));
  EXPECT_EQ(adopted("|i1", "\xf8\x07", ScalarType::I4)->data[0].i, -8);
  EXPECT_EQ(adopted("|u1", "\x0f\x07", ScalarType::U4)->data[0].i, 15);
  EXPECT_EQ(code_of(adopted("|u1", "\x02\x10", ScalarType::F4E2M1), "f4"), Code::NpyValue);
  EXPECT_EQ(code_of(adopted("|i1", "\x02\x08", ScalarType::I4), "i4"), Code::NpyValue);
  EXPECT_EQ(code_of(adopted("|u1", "\x02\x40", ScalarType::F6E2M3), "f6"), Code::NpyValue);
}

TEST(Npy, ComplexNumbersAreTwoFloats) {
  // 1 - 2i, 0.5 + 3i as f64, the real part first.
  const double numbers[] = {1, -2, 0.5, 3};
  std::string data(sizeof numbers, '\0');
  std::memcpy(data.data(), numbers, sizeof numbers);
  const Result<Array> array = parse_text(file_with(dict_of("<c16", "(2,)"), data));
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(array->type, ScalarType::C128);
  const auto tensor = tensor_as(*array, ScalarType::C128, "t.npy");
  ASSERT_TRUE(tensor.ok());
  ASSERT_EQ(tensor->data.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(tensor->data[i].f, numbers[i]);
}

TEST(Npy, FortranOrderIsConverted) {
  std::vector<float> expected(24);
  for (int i = 0; i < 24; ++i) expected[static_cast<std::size_t>(i)] = static_cast<float>(i);
  expect_corpus("f32_fortran_2x3x4.npy", ScalarType::F32, {2, 3, 4}, expected);
  const Result<Array> by_hand = parse_text(file_with(dict_of("|i1", "(2, 3)", "True"), "abcdef"));
  ASSERT_TRUE(by_hand.ok());
  EXPECT_EQ(values<char>(*by_hand), (std::vector<char>{'a', 'c', 'e', 'b', 'd', 'f'}));
}

// More than one block of the conversion, sides that do not divide it.
TEST(Npy, FortranOrderAcrossBlocks) {
  constexpr std::int64_t kRows = 211;
  constexpr std::int64_t kColumns = 307;
  std::vector<std::int32_t> columns;
  for (std::int32_t column = 0; column < kColumns; ++column) {
    for (std::int32_t row = 0; row < kRows; ++row) columns.push_back(row * 1000 + column);
  }
  const std::string data(reinterpret_cast<const char*>(columns.data()), columns.size() * 4);
  const Result<Array> result = parse_text(file_with(dict_of("<i4", "(211, 307)", "True"), data));
  ASSERT_TRUE(result.ok());
  const std::vector<std::int32_t> rows = values<std::int32_t>(*result);
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(kRows * kColumns));
  for (std::int32_t row = 0; row < kRows; ++row) {
    for (std::int32_t column = 0; column < kColumns; ++column) {
      ASSERT_EQ(rows[static_cast<std::size_t>(row * kColumns + column)], row * 1000 + column);
    }
  }
}

TEST(Npy, SpellingsOfTheHeader) {
  for (const char* dict : {
           "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }",
           "{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"<i4\"}",
           "{ 'fortran_order' : False , 'descr' : '<i4' , 'shape' : ( 1 , ) }   \n\n",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 1, 1)}",
           "{'descr': '<i4', 'fortran_order': True, 'shape': ()}",
       }) {
    const Result<Array> result = parse_text(file_with(dict, std::string("\x2a\0\0\0", 4)));
    ASSERT_TRUE(result.ok()) << dict;
    EXPECT_EQ(values<std::int32_t>(*result), std::vector<std::int32_t>{42}) << dict;
  }
}

TEST(Npy, UnsignedIntegersOfNumpy) {
  expect_corpus("u8.npy", ScalarType::U8, {3}, std::vector<std::uint8_t>{0, 1, 2});
}

TEST(Npy, RefusedFilesOfNumpy) {
  for (const auto& [file, code] : {std::pair{"refused_big_endian.npy", Code::NpyType},
                                   std::pair{"refused_structured.npy", Code::NpyHeader},
                                   std::pair{"refused_archive.npy", Code::NpyMagic},
                                   std::pair{"refused_two_arrays.npy", Code::NpySize}}) {
    EXPECT_EQ(code_of(read(corpus(file)), file), code) << file;
  }
}

TEST(Npy, PreambleRefused) {
  const std::string good = file_with(dict_of("<i4", "(1,)"), "abcd");
  ASSERT_TRUE(parse_text(good).ok());
  expect_refused("", Code::NpyMagic, "not a .npy file");
  expect_refused("\x93NUMPX" + good.substr(6), Code::NpyMagic, "not a .npy file");
  expect_refused(good.substr(0, 6), Code::NpyMagic, "not a .npy file");
  expect_refused("\x93NUMPY" + std::string("\x04\x00", 2) + good.substr(8), Code::NpyVersion,
                 "version 4.0");
  expect_refused("\x93NUMPY" + std::string("\x01\x01", 2) + good.substr(8), Code::NpyVersion,
                 "version 1.1");
  expect_refused("\x93NUMPY" + std::string("\x00\x00", 2) + good.substr(8), Code::NpyVersion,
                 "version 0.0");
  expect_refused(good.substr(0, 9), Code::NpyTruncated, "before the length");
  expect_refused(good.substr(0, 40), Code::NpyTruncated, "the file ends at byte 40");
  expect_refused(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14), Code::NpyHeader,
                 "header of 4294967295 bytes");
  expect_refused(file_with("", "abcdefgh"), Code::NpyHeader, "fewer than two bytes");
  expect_refused(file_with("{", "abcdefgh"), Code::NpyHeader, "fewer than two bytes");
}

// Every prefix of a valid file is refused, none reads beyond its end (the sanitizers see to that).
TEST(Npy, EveryPrefixIsRefused) {
  const std::string good = file_with(dict_of("<f8", "(2, 1)"), "0123456789abcdef");
  ASSERT_TRUE(parse_text(good).ok());
  for (std::size_t size = 0; size < good.size(); ++size) {
    const std::vector<char> exact(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(parse(std::as_bytes(std::span(exact)), "t.npy").ok()) << size;
  }
  EXPECT_FALSE(parse_text(good + "x").ok());
}

TEST(Npy, DictionaryRefused) {
  const auto refused = [](const std::string& dict, const std::string& part,
                          Code code = Code::NpyHeader) {
    expect_refused(file_with(dict, "abcd"), code, part);
  };
  const std::string rest = "'fortran_order': False, 'shape': (1,)}";
  refused("[]", "expected `{` but found `[`");
  refused("   ", "expected `{` but found the end of the header");
  refused("{}", "no `descr`");
  refused("{'descr': '<i4', 'shape': (1,)}", "no `fortran_order`");
  refused("{'descr': '<i4', 'fortran_order': False}", "no `shape`");
  refused("{'descr': '<i4', 'descr': '<i4', " + rest, "key `descr` given twice");
  refused("{'other': 1, 'descr': '<i4', " + rest, "unknown key `other`");
  refused("{'descr' '<i4', " + rest, "expected `:`");
  refused("{'descr': '<i4' " + rest, "expected `}`");
  refused("{,}", "expected a string");
  refused("{'descr': '<i4", "a string does not end");
  refused("{'descr': '<i\\x34', " + rest, "escape in string");
  refused("{'descr': <i4, " + rest, "expected a string but found `<`");
  refused("{'descr': [('a', '<i4')], " + rest, "expected a string but found `[`");
  refused("{'descr': '<i4', 'fortran_order': 0, 'shape': (1,)}", "expected `True` or `False`");
  refused("{'descr': '<i4', 'fortran_order': Falsy, 'shape': (1,)}", "expected `True` or `False`");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': 1}", "expected `(`");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1)}", "not a tuple");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1 1)}", "expected `,`");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (,)}", "expected an extent");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1,,)}", "expected an extent");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1L,)}", "expected `,`");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (01,)}", "leading zero");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1.0,)}", "expected `,`");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1,", "the end of the header");
  refused("{'descr': '<i4', 'fortran_order': False, 'shape': (1,)} x",
          "expected the end of the header");
  refused("{'descr': '\x1b[31m', " + rest, "`?[31m`", Code::NpyType);
  refused("{'descr': '" + std::string(1000, 'z') + "', " + rest, "zzz...`", Code::NpyType);
  refused("{'descr': '=i4', " + rest, "`=i4`", Code::NpyType);
  refused("{'descr': '', " + rest, "``", Code::NpyType);
}

TEST(Npy, ShapesRefused) {
  const auto refused = [](const std::string& shape, Code code, const std::string& part) {
    expect_refused(file_with(dict_of("<i4", shape), "abcd"), code, part);
  };
  refused("(-1,)", Code::NpyShape, "negative extent");
  refused("(9223372036854775808,)", Code::NpyShape, "beyond 63 bits");
  refused("(99999999999999999999999999,)", Code::NpyShape, "beyond 63 bits");
  refused("(9223372036854775807,)", Code::NpyShape, "beyond 63 bits");
  refused("(4294967296, 4294967296)", Code::NpyShape, "beyond 63 bits");
  refused("(0, 4294967296, 4294967296)", Code::NpyShape, "beyond 63 bits");
  refused("(2305843009213693951,)", Code::NpySize, "needs 9223372036854775804 bytes");
  refused("(2,)", Code::NpySize, "needs 8 bytes of data, the file has 4");
  refused("(0,)", Code::NpySize, "needs 0 bytes of data, the file has 4");
  std::string dims = "(";
  for (int i = 0; i < 65; ++i) dims += "1, ";
  refused(dims + ")", Code::NpyShape, "more than 64 dimensions");
}

TEST(Npy, BoolElementsAreZeroOrOne) {
  expect_refused(file_with(dict_of("|b1", "(3,)"), std::string("\0\1\2", 3)), Code::NpyValue,
                 "element 2 of type bool is 2");
}

// ---- Files. ----

class NpyFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "tilewright-npy-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::size_t num_files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++count;
    return count;
  }
  static std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string folder_;
};

// The header of each is NumPy's but for the padding; the data is the same.
TEST_F(NpyFiles, WritesWhatNumpyWrites) {
  for (const char* file :
       {"f32_2x3.npy", "f64_scalar.npy", "f16_4.npy", "i8_3.npy", "i32_2x2.npy", "i64_1.npy",
        "bool_2x2.npy", "bf16_3.npy", "c64_3.npy", "f32_empty_0x5.npy"}) {
    const Array array = read_corpus(file);
    ASSERT_TRUE(write(path(file), array.type, array.shape, array.data).ok()) << file;
    const std::string ours = bytes_of(path(file));
    const std::string numpys = bytes_of(corpus(file));
    const std::size_t dict_end = numpys.find('}');
    ASSERT_NE(dict_end, std::string::npos);
    EXPECT_EQ(ours.substr(10, dict_end - 9), numpys.substr(10, dict_end - 9)) << file;
    EXPECT_EQ((ours.size() - array.data.size()) % 64, 0u) << file;
    EXPECT_EQ(ours.substr(ours.size() - array.data.size()),
              numpys.substr(numpys.size() - array.data.size()));
  }
}

TEST_F(NpyFiles, LongestHeader) {
  Shape shape(64, 1);
  shape.front() = INT64_MAX;
  shape.back() = 0;
  ASSERT_TRUE(write(path("a"), ScalarType::I8, shape, {}).ok());
  const Result<Array> back = read(path("a"));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->shape, shape);
}

TEST_F(NpyFiles, ReadingRefused) {
  EXPECT_EQ(code_of(read(path("absent.npy")), "absent"), Code::NpyFile);
  EXPECT_EQ(code_of(read(folder_), "folder"), Code::NpyFile);
  EXPECT_EQ(code_of(read("/dev/zero"), "device"), Code::NpyFile);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(code_of(read(path("pipe")), "pipe"), Code::NpyFile);
}

// A sparse file of 1 TiB with a shape to match, under a limit on memory: a diagnostic, not an exception.
TEST_F(NpyFiles, HugeSparseFile) {
  const std::string head = file_with(dict_of("|i1", "(1099511627776,)"), "");
  std::ofstream(path("huge"), std::ios::binary) << head;
  if (::truncate(path("huge").c_str(), static_cast<off_t>(head.size()) + 1099511627776) != 0) {
    GTEST_SKIP() << "the file system has no sparse files of 1 TiB";
  }
#if defined(TILEWRIGHT_TEST_SANITIZED)
  GTEST_SKIP() << "a limit on address space does not fit sanitizers";
#else
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = rlim_t{1} << 33;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  const Result<Array> result = read(path("huge"));
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  ASSERT_EQ(code_of(result, "huge"), Code::NpyFile);
  EXPECT_NE(result.diagnostics()[0].message.find("no memory for 1099511627776 bytes"),
            std::string::npos);
#endif
}

TEST_F(NpyFiles, WritingRefusedLeavesNothing) {
  const std::vector<std::byte> data(4);
  EXPECT_EQ(code_of(write(path("no/such/folder.npy"), ScalarType::I8, Shape{4}, data), "folder"),
            Code::NpyWrite);
  EXPECT_EQ(code_of(write(folder_, ScalarType::I8, Shape{4}, data), "is a folder"), Code::NpyWrite);
  EXPECT_EQ(code_of(write("/dev/null", ScalarType::I8, Shape{4}, data), "device"), Code::NpyWrite);
  EXPECT_EQ(code_of(write(path("a"), ScalarType::I8, Shape{5}, data), "size"), Code::NpyWrite);
  EXPECT_EQ(code_of(write(path("a"), ScalarType::I8, Shape{-4}, data), "negative"), Code::NpyWrite);
  EXPECT_EQ(code_of(write(path("a"), ScalarType::Index, Shape{4}, data), "index"), Code::NpyWrite);
  EXPECT_EQ(
      code_of(write(path("a"), ScalarType::I8, Shape(65, 1), std::span(data).first(1)), "rank"),
      Code::NpyWrite);
  EXPECT_EQ(num_files(), 0u);
  struct stat status = {};
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

// The disk is "full" in the middle of the data: the old file stays, the temporary one goes.
TEST_F(NpyFiles, FailedWriteKeepsTheOldFile) {
  std::ofstream(path("a")) << "old";
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 100000;
  void (*const handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::vector<std::byte> data(1000000);
  const Result<Ok> result = write(path("a"), ScalarType::I8, Shape{1000000}, data);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(code_of(result, "full"), Code::NpyWrite);
  EXPECT_EQ(bytes_of(path("a")), "old");
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(NpyFiles, ReplacesThroughLinksAndKeepsPermissions) {
  std::ofstream(path("target")) << "old";
  ASSERT_EQ(::chmod(path("target").c_str(), 0640), 0);
  ASSERT_EQ(::symlink("target", path("link").c_str()), 0);
  const std::vector<std::byte> data{std::byte{7}};
  ASSERT_TRUE(write(path("link"), ScalarType::I8, Shape{1}, data).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  struct stat status = {};
  ASSERT_EQ(::stat(path("target").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0640u);
  const Result<Array> back = read(path("target"));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(values<std::int8_t>(*back), std::vector<std::int8_t>{7});
  EXPECT_EQ(num_files(), 2u);
}

}  // namespace
}  // namespace tilewright::npy

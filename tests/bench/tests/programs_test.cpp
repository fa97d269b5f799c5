// SPDX-License-Identifier: Apache-2.0
//
// The judge, its files, the protocol on the C++ side, and the probe. Expected values are worked by hand.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "apps/probe/probe.h"
#include "tests/bench/programs/cases.h"
#include "tests/bench/programs/line.h"
#include "tests/bench/programs/npy.h"

namespace tilewright::bench {
namespace {

class Scratch {
 public:
  Scratch() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("bench_programs_" + std::to_string(::getpid()) + "_" + info->name());
    std::filesystem::create_directories(folder_);
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

Array filled(std::vector<std::int64_t> shape, std::vector<float> values) {
  Array array = make_array(std::move(shape), Element::F32);
  std::copy(values.begin(), values.end(), array.f32());
  return array;
}

void judge(const char* name, const Sizes& sizes, const std::vector<Array>& inputs, Array& reference,
           Array& bound) {
  find_case(name)->reference(sizes, inputs, reference, bound);
  ASSERT_EQ(reference.shape, bound.shape);
}

TEST(Npy, KeepsShapeAndElements) {
  const Scratch scratch;
  const Array wrote = filled({2, 3}, {1, -2, 3.5F, 0, 1e-30F, 6});
  ASSERT_EQ(write_npy(scratch.path("a.npy"), wrote), "");
  Array read;
  ASSERT_EQ(read_npy(scratch.path("a.npy"), read), "");
  EXPECT_EQ(read.shape, wrote.shape);
  EXPECT_EQ(read.bytes, wrote.bytes);
  EXPECT_EQ(std::filesystem::file_size(scratch.path("a.npy")) % 4, 0U);
}

TEST(Npy, RefusesWhatItCannotRead) {
  const Scratch scratch;
  const auto refusal = [&](const std::string& header, std::size_t bytes, char version = 1) {
    std::ofstream file(scratch.path("b.npy"), std::ios::binary);
    file.write("\x93NUMPY", 6);
    const char rest[] = {version, 0, static_cast<char>(header.size()), 0};
    file.write(rest, 4);
    file << header << std::string(bytes, '\0');
    file.close();
    Array array;
    return read_npy(scratch.path("b.npy"), array);
  };
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(refusal(good, 8), "");
  EXPECT_NE(refusal(good, 7).find("holds 7 bytes"), std::string::npos);
  EXPECT_NE(refusal(good, 9).find("holds 9 bytes"), std::string::npos);
  EXPECT_NE(refusal(good, 8, 3).find("version 1"), std::string::npos);
  EXPECT_NE(refusal("{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }", 8)
                .find("that no case has"),
            std::string::npos);
  EXPECT_NE(refusal("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", 8).find("C order"),
            std::string::npos);
  EXPECT_NE(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8).find("-2"),
            std::string::npos);
  EXPECT_NE(refusal("{'descr': '<f4', 'fortran_order': False, }", 8).find("shape"),
            std::string::npos);
}

TEST(Gemm, ReferenceAndBound) {
  Array reference;
  Array bound;
  judge("gemm", {{"M", 2}, {"N", 1}, {"K", 2}},
        {filled({2, 2}, {1, 2, -3, 4}), filled({2, 1}, {10, 100})}, reference, bound);
  EXPECT_EQ(reference.f64()[0], 210);
  EXPECT_EQ(reference.f64()[1], 370);
  // gamma(2) times the sum of magnitudes.
  EXPECT_NEAR(bound.f64()[0], 2 * 0x1p-24 * 210, 1e-9);
  EXPECT_NEAR(bound.f64()[1], 2 * 0x1p-24 * 430, 1e-9);
}

TEST(Gemm, BoundShowsOneLostTermOfTheLongestFold) {
  const Sizes sizes = {{"M", 3}, {"N", 5}, {"K", 2048}};
  const Case* item = find_case("gemm");
  const std::vector<Array> inputs = item->inputs(sizes, 7);
  Array reference;
  Array bound;
  judge("gemm", sizes, inputs, reference, bound);
  for (std::size_t i = 0; i < reference.size(); ++i) EXPECT_LT(bound.f64()[i], 0.25);
  for (std::size_t i = 0; i < inputs[0].size(); ++i) {
    EXPECT_GE(std::fabs(inputs[0].f32()[i]), 0.5F);
    EXPECT_LE(std::fabs(inputs[0].f32()[i]), 1.0F);
  }
}

TEST(Softmax, ReferenceByHand) {
  Array reference;
  Array bound;
  judge("softmax", {{"R", 1}, {"C", 3}}, {filled({1, 3}, {0, std::log(2.0F), std::log(5.0F)})},
        reference, bound);
  EXPECT_NEAR(reference.f64()[0], 1.0 / 8, 1e-7);
  EXPECT_NEAR(reference.f64()[1], 2.0 / 8, 1e-7);
  EXPECT_NEAR(reference.f64()[2], 5.0 / 8, 1e-7);
  EXPECT_GT(bound.f64()[0], 0);
  EXPECT_LT(bound.f64()[2], 2e-6);
}

TEST(Layernorm, ReferenceByHand) {
  Array reference;
  Array bound;
  judge("layernorm", {{"R", 1}, {"C", 4}},
        {filled({1, 4}, {1, 3, 1, 3}), filled({4}, {1, 1, 2, 2}), filled({4}, {0, 0, 0, 7})},
        reference, bound);
  const double root = 1 / std::sqrt(1 + 1e-5);
  EXPECT_DOUBLE_EQ(reference.f64()[0], -root);
  EXPECT_DOUBLE_EQ(reference.f64()[1], root);
  EXPECT_DOUBLE_EQ(reference.f64()[2], -2 * root);
  EXPECT_DOUBLE_EQ(reference.f64()[3], 2 * root + 7);
  for (int i = 0; i < 4; ++i) EXPECT_LT(bound.f64()[i], 2e-5);
}

TEST(Blur, ReferenceByHand) {
  std::vector<float> image(4 * 5);
  std::iota(image.begin(), image.end(), 0.0F);
  Array reference;
  Array bound;
  judge("blur", {{"H", 2}, {"W", 3}}, {filled({4, 5}, image)}, reference, bound);
  ASSERT_EQ(reference.shape, (std::vector<std::int64_t>{2, 3}));
  // The mean of a linear image is its value in the middle of the window.
  EXPECT_DOUBLE_EQ(reference.f64()[0], 6);
  EXPECT_DOUBLE_EQ(reference.f64()[5], 13);
}

TEST(Cases, InputsDependOnTheSeedOnly) {
  for (const Case& item : all_cases()) {
    Sizes sizes;
    for (const auto extent : item.extents) sizes[std::string(extent)] = 6;
    const auto first = item.inputs(sizes, 1);
    const auto again = item.inputs(sizes, 1);
    const auto other = item.inputs(sizes, 2);
    ASSERT_EQ(first.size(), again.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].bytes, again[i].bytes) << item.name;
      EXPECT_NE(first[i].bytes, other[i].bytes) << item.name;
    }
  }
}

TEST(Protocol, RoundTrip) {
  for (const char* text : {"ready", "times 12 13 14", "ok formulations=mm,addmm",
                           "case gemm K=3 dir=/tmp/a%20b%3Dc out=2x3", "fail message=50%25%0A"}) {
    Line line;
    ASSERT_EQ(parse_line(text, line), "") << text;
    EXPECT_EQ(format_line(line), text);
  }
  Line line;
  parse_line("case gemm dir=a%20b%3Dc", line);
  EXPECT_EQ(line.fields.at("dir"), "a b=c");
}

TEST(Protocol, RefusesMalformedLines) {
  for (const char* text : {"", " ok", "ok ", "ok  a", "1ok", "ok a=1 b", "ok a=1 a=2", "ok =1",
                           "ok %", "ok %4", "ok %zz", "ok %0a", "ok \"", "o-k"}) {
    Line line;
    EXPECT_NE(parse_line(text, line), "") << text;
  }
}

// The processor's word is for where there is no /sys; where there is, both are the same.
TEST(Probe, CachesOfTheProcessorAreThoseOfTheSystem) {
  const auto system = probe::cache_levels();
  const auto processor = probe::cache_levels_of_processor();
#if defined(__x86_64__)
  EXPECT_FALSE(processor.empty());
#endif
  if (!std::filesystem::exists("/sys/devices/system/cpu/cpu0/cache/index0") || processor.empty())
    return;
  ASSERT_EQ(system.size(), processor.size());
  for (std::size_t i = 0; i < system.size(); ++i) {
    EXPECT_EQ(system[i].level, processor[i].level);
    EXPECT_EQ(system[i].bytes, processor[i].bytes) << "level " << system[i].level;
    EXPECT_EQ(system[i].line_bytes, processor[i].line_bytes);
  }
}

TEST(Probe, RatesArePlausibleAndAbsentUnitsSayWhy) {
  using namespace tilewright::probe;
  for (const VectorUnit unit :
       {VectorUnit::Avx2Fma, VectorUnit::Avx512Fma, VectorUnit::Avx512Bf16}) {
    const Rate rate = multiply_add_rate(unit, {1, 0.004});
    EXPECT_EQ(rate.skipped, why_unit_absent(unit));
    if (rate.skipped.empty()) {
      EXPECT_GT(rate.best, 1e8) << unit_name(unit);
      EXPECT_LT(rate.best, 1e13) << unit_name(unit);
      EXPECT_LE(rate.median, rate.best);
      EXPECT_GE(rate.rounds, 3U);
    }
  }
  for (const Traffic traffic : {Traffic::Read, Traffic::Copy, Traffic::StreamCopy}) {
    const Rate rate = transfer_rate(traffic, 1 << 20, {2, 0.004});
    if (rate.skipped.empty()) {
      EXPECT_GT(rate.best, 1e7) << traffic_name(traffic);
      EXPECT_LT(rate.best, 1e13) << traffic_name(traffic);
    }
  }
}

}  // namespace
}  // namespace tilewright::bench

// SPDX-License-Identifier: Apache-2.0
#include "apps/runner/kernel_call.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <new>

#include "apps/npy/header.h"

namespace tilewright::runner {

namespace {

constexpr int kFewestRuns = 5;
constexpr int kMostRuns = 2000;
constexpr double kSecondsOfTiming = 0.3;

std::size_t width(ir::ScalarType type) { return static_cast<std::size_t>(ir::size_bytes(type)); }

// Nearest, ties to even; the inputs are finite.
std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

npy::Array make_array(ir::ScalarType type, Shape shape) {
  const auto bytes = npy::size_of(type, shape);
  if (!bytes) throw std::bad_alloc();
  npy::Array out;
  out.type = type;
  out.shape = std::move(shape);
  out.data.resize(*bytes);
  return out;
}

// A number of a type in memory. Types of applications: bf16, f32, and whole numbers of up to 32 bits.
double load(ir::ScalarType type, const std::byte* at) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, at, width(type));
  if (type == ir::ScalarType::BF16) return std::bit_cast<float>(bits << 16);
  if (type == ir::ScalarType::F32) return std::bit_cast<float>(bits);
  return static_cast<double>(ir::wrap_to_type(type, bits));
}

void store(ir::ScalarType type, std::byte* at, double value) {
  std::uint32_t bits = 0;
  if (type == ir::ScalarType::BF16)
    bits = to_bf16(static_cast<float>(value));
  else if (type == ir::ScalarType::F32)
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  else
    bits = static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
  std::memcpy(at, &bits, width(type));
}

std::vector<double> values_of(const npy::Array& array) {
  std::vector<double> out(array.data.size() / width(array.type));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = load(array.type, array.data.data() + width(array.type) * i);
  return out;
}

// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014: SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

std::vector<npy::Array> seeded_inputs(const App& app, const Sizes& sizes, std::uint64_t seed) {
  Random random(seed);
  std::vector<npy::Array> out;
  for (const TensorSpec& spec : app.inputs) {
    npy::Array array = make_array(spec.type, spec.shape(sizes));
    for (std::size_t at = 0; at < array.data.size(); at += width(spec.type))
      store(spec.type, array.data.data() + at,
            spec.low + (spec.high - spec.low) * random.uniform());
    out.push_back(std::move(array));
  }
  return out;
}

KernelCall::KernelCall(const App& app, std::vector<npy::Array> inputs, const Sizes& sizes)
    : app_(app), arrays_(std::move(inputs)) {
  arrays_.push_back(make_array(app.output.type, app.output.shape(sizes)));
}

KernelCall::~KernelCall() { tilewright_pool_destroy(pool_); }

std::int32_t KernelCall::prepare(std::int32_t threads) {
  error_.struct_size = sizeof(error_);
  if (const tilewright_status status = tilewright_pool_create(threads, &pool_);
      status != TILEWRIGHT_OK)
    return status;
  call_ = tilewright_call_make(tilewright_pool_executor(pool_), &error_);
  tensors_.resize(arrays_.size());
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    npy::Array& array = arrays_[i];
    const ir::TypeInfo& info = ir::type_info(array.type);
    const DLDataType type = {static_cast<std::uint8_t>(info.dlpack_code),
                             static_cast<std::uint8_t>(info.dlpack_bits), 1};
    const tilewright_status status = tilewright_tensor_row_major(
        &tensors_[i], array.data.data(), type, static_cast<std::int32_t>(array.shape.size()),
        array.shape.data());
    if (status != TILEWRIGHT_OK) return status;
  }
  std::size_t size = 0;
  if (const std::int32_t status = app_.query(&call_, tensors_.data(), &size);
      status != TILEWRIGHT_OK)
    return status;
  workspace_.resize(size);
  return TILEWRIGHT_OK;
}

std::int32_t KernelCall::run() {
  return app_.run(&call_, tensors_.data(), workspace_.data(), workspace_.size());
}

double KernelCall::time() {
  std::vector<double> seconds;
  double total = 0;
  while (static_cast<int>(seconds.size()) < kFewestRuns ||
         (total < kSecondsOfTiming && static_cast<int>(seconds.size()) < kMostRuns)) {
    const auto begin = std::chrono::steady_clock::now();
    if (run() != TILEWRIGHT_OK) return 0;
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    total += seconds.back();
  }
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

// Every byte 0xff is a NaN of a float type and -1 of a whole number.
void KernelCall::poison() {
  std::fill(arrays_.back().data.begin(), arrays_.back().data.end(), std::byte{0xff});
}

std::string KernelCall::failure(std::int32_t status) const {
  if (error_.status != status) return app_.name + ": " + tilewright_status_text(status);
  char text[512];
  tilewright_error_text(&error_, text, sizeof(text));
  return text;
}

std::vector<std::vector<double>> KernelCall::input_values() const {
  std::vector<std::vector<double>> out;
  for (std::size_t i = 0; i + 1 < arrays_.size(); ++i) out.push_back(values_of(arrays_[i]));
  return out;
}

std::vector<double> KernelCall::output_values() const { return values_of(arrays_.back()); }

}  // namespace tilewright::runner

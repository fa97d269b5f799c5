// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/format.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace tilewright {

namespace {

template <class T>
std::string shortest(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return error == std::errc() ? std::string(buffer, end) : std::string("nan");
}

// The decimal exponent of a number that from_chars found out of range decides which end it fell off.
bool is_huge(std::string_view text) {
  const std::size_t exponent = text.find_first_of("eE");
  const std::string_view digits = text.substr(0, exponent);
  long long scale = 0;
  if (exponent != std::string_view::npos) {
    std::string_view tail = text.substr(exponent + 1);
    const bool negative = !tail.empty() && tail[0] == '-';
    if (!tail.empty() && (tail[0] == '-' || tail[0] == '+')) tail.remove_prefix(1);
    const auto result = std::from_chars(tail.data(), tail.data() + tail.size(), scale);
    if (result.ec != std::errc()) return !negative;
    if (negative) scale = -scale;
  }
  const std::size_t point = digits.find('.');
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  const auto integer_digits =
      static_cast<long long>(point == std::string_view::npos ? digits.size() : point);
  return integer_digits - static_cast<long long>(first) + scale > 0;
}

template <class T>
std::optional<T> read(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec == std::errc::invalid_argument || result.ptr != end) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range) {
    const bool negative = text[0] == '-';
    value = is_huge(text) ? std::numeric_limits<T>::infinity() : T{0};
    return negative ? -value : value;
  }
  return value;
}

}  // namespace

std::string format_double(double value) { return shortest(value); }
std::string format_float(float value) { return shortest(value); }

std::string format_hex(double value) {
  if (std::isnan(value) || std::isinf(value)) return shortest(value);
  char buffer[64];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), std::chars_format::hex);
  std::string text = std::signbit(value) ? "-0x" : "0x";
  return error == std::errc() ? text.append(buffer, end) : text;
}

std::optional<double> read_double(std::string_view text) { return read<double>(text); }
std::optional<float> read_float(std::string_view text) { return read<float>(text); }

std::string printable(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out;
}

std::string in_backticks(std::string_view bytes) {
  return std::string("`").append(printable(bytes)).append("`");
}

}  // namespace tilewright

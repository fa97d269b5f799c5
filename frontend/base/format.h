// SPDX-License-Identifier: Apache-2.0
//
// Numbers as text. Law: reading the text back gives the same number bit for bit (NaN as NaN), and no
// shorter decimal does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright {

// "0.1", "1e+22", "-0", "inf", "-inf", "nan".
std::string format_double(double value);
// The shortest text that reads back as this float.
std::string format_float(float value);
// "0x1.8p+1"; exact and easy to compare by eye.
std::string format_hex(double value);

// The whole text as a decimal number, correctly rounded; overflow gives infinity, underflow zero or a
// subnormal. Empty when the text is anything else.
std::optional<double> read_double(std::string_view text);
std::optional<float> read_float(std::string_view text);

// Bytes as printable ASCII: anything else becomes `\xNN`.
std::string printable(std::string_view bytes);
// "`text`", with printable() applied.
std::string in_backticks(std::string_view bytes);

}  // namespace tilewright

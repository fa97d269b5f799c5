// SPDX-License-Identifier: Apache-2.0
//
// The part of a .npy file before its data. Magic, version and length first, then a Python dictionary,
// of which a strict subset is read: three keys, each once, plain strings, True or False, a tuple of
// decimal numbers. Law: a Header describes exactly the bytes that the file has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/base/result.h"
#include "frontend/ir/type.h"

namespace tilewright::npy {

// Bytes that must be seen to know where the header ends.
inline constexpr std::size_t kPreambleSize = 12;
// No header of a supported type comes near.
inline constexpr std::size_t kMaxHeaderSize = std::size_t{64} * 1024;
inline constexpr std::size_t kMaxRank = 64;

struct Header {
  ir::ScalarType type = ir::ScalarType::F32;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::uint64_t data_offset = 0;
  std::uint64_t data_size = 0;
};

// Bytes of an array; nothing for a negative extent, or if the extents, zeros left out, give more than 63
// bits. Zeros are left out because strides are products of extents too.
std::optional<std::uint64_t> size_of(ir::ScalarType type, std::span<const std::int64_t> shape);

// Where the data begins, from the first kPreambleSize bytes of the file (all, if it is shorter). At most
// kPreambleSize + kMaxHeaderSize, and not beyond the file.
Result<std::uint64_t> find_data(std::span<const std::byte> preamble, std::uint64_t file_size,
                                std::string_view name);

// `head` is the file up to what find_data returned.
Result<Header> parse_header(std::span<const std::byte> head, std::uint64_t file_size,
                            std::string_view name);

}  // namespace tilewright::npy

// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/programs/npy.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>

namespace tilewright::bench {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kPrefix = 10;  // Magic, version and a two-byte header length.

// The text after `'key':`, or empty.
std::string after_key(const std::string& header, const std::string& key) {
  const auto at = header.find("'" + key + "':");
  return at == std::string::npos ? "" : header.substr(at + key.size() + 3);
}

std::string parse_shape(const std::string& text, std::vector<std::int64_t>& shape) {
  const auto open = text.find('(');
  const auto close = text.find(')');
  if (open == std::string::npos || close == std::string::npos || close < open) {
    return "its header has no shape";
  }
  std::istringstream items(text.substr(open + 1, close - open - 1));
  std::string item;
  while (std::getline(items, item, ',')) {
    if (item.find_first_not_of(' ') == std::string::npos) continue;
    std::size_t used = 0;
    long long extent = -1;
    try {
      extent = std::stoll(item, &used);
    } catch (const std::exception&) {
      return "its shape holds `" + item + "`";
    }
    if (extent < 0 || extent > (1LL << 40)) return "its shape holds `" + item + "`";
    shape.push_back(extent);
  }
  return "";
}

std::string parse_header(const std::string& header, Array& array) {
  const std::string type = after_key(header, "descr");
  if (type.find("'<f4'") == 0 || type.find("'<f4'") == 1) {
    array.element_size = 4;
  } else if (type.find("'<f8'") == 0 || type.find("'<f8'") == 1) {
    array.element_size = 8;
  } else {
    return "its elements are neither <f4 nor <f8";
  }
  if (after_key(header, "fortran_order").find("False") > 1) return "it is not in C order";
  return parse_shape(after_key(header, "shape"), array.shape);
}

}  // namespace

std::size_t Array::size() const {
  return static_cast<std::size_t>(
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
}

Array make_array(std::vector<std::int64_t> shape, std::size_t element_size) {
  Array array;
  array.shape = std::move(shape);
  array.element_size = element_size;
  array.bytes.resize(array.size() * element_size);
  return array;
}

std::string read_npy(const std::string& path, Array& array) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return path + ": cannot be opened";
  char prefix[kPrefix];
  if (!file.read(prefix, kPrefix) || std::memcmp(prefix, kMagic, 6) != 0 || prefix[6] != 1) {
    return path + ": not a version 1 .npy file";
  }
  const auto length = static_cast<unsigned char>(prefix[8]) |
                      static_cast<unsigned>(static_cast<unsigned char>(prefix[9])) << 8;
  std::string header(length, ' ');
  if (!file.read(header.data(), length)) return path + ": ends inside its header";
  array = Array{};
  if (const std::string reason = parse_header(header, array); !reason.empty()) {
    return path + ": " + reason;
  }
  const auto begin = file.tellg();
  file.seekg(0, std::ios::end);
  const auto held = static_cast<std::size_t>(file.tellg() - begin);
  const std::size_t wanted = array.size() * array.element_size;
  if (held != wanted) {
    return path + ": holds " + std::to_string(held) + " bytes of elements, its shape needs " +
           std::to_string(wanted);
  }
  file.seekg(begin);
  array.bytes.resize(wanted);
  file.read(reinterpret_cast<char*>(array.bytes.data()), static_cast<std::streamsize>(wanted));
  return file ? "" : path + ": cannot be read";
}

std::string write_npy(const std::string& path, const Array& array) {
  std::string header = "{'descr': '<f" + std::to_string(array.element_size) +
                       "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : array.shape) header += std::to_string(extent) + ",";
  header += "), }";
  // Elements begin at a multiple of 64 bytes, and the header ends with a line break.
  while ((kPrefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  const std::string temporary = path + ".part";
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(kMagic, 6);
    const char rest[] = {1, 0, static_cast<char>(header.size() & 0xFF),
                         static_cast<char>(header.size() >> 8)};
    file.write(rest, sizeof rest);
    file << header;
    file.write(reinterpret_cast<const char*>(array.bytes.data()),
               static_cast<std::streamsize>(array.bytes.size()));
    if (!file.flush()) return temporary + ": cannot be written";
  }
  return std::rename(temporary.c_str(), path.c_str()) == 0 ? "" : path + ": cannot be renamed to";
}

}  // namespace tilewright::bench

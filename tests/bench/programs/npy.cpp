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

constexpr ElementInfo kElements[] = {
    {Element::F32, "f32", "<f4", 4},   {Element::F64, "f64", "<f8", 8},
    {Element::BF16, "bf16", "<u2", 2}, {Element::U8, "u8", "|u1", 1},
    {Element::I8, "i8", "|i1", 1},     {Element::I32, "i32", "<i4", 4}};

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
  const ElementInfo* found = nullptr;
  for (const ElementInfo& row : kElements)
    if (type.find("'" + std::string(row.descr) + "'") <= 1) found = &row;
  if (found == nullptr) return "its elements have a type that no case has";
  array.element = found->element;
  if (after_key(header, "fortran_order").find("False") > 1) return "it is not in C order";
  return parse_shape(after_key(header, "shape"), array.shape);
}

}  // namespace

const ElementInfo& element_info(Element element) {
  return kElements[static_cast<std::size_t>(element)];
}

const ElementInfo* find_element(std::string_view name) {
  for (const ElementInfo& row : kElements)
    if (row.name == name) return &row;
  return nullptr;
}

double Array::number(std::size_t i) const {
  switch (element) {
    case Element::F32: return static_cast<double>(f32()[i]);
    case Element::F64: return f64()[i];
    case Element::BF16: {
      const std::uint32_t bits = static_cast<std::uint32_t>(bf16()[i]) << 16;
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return static_cast<double>(value);
    }
    case Element::U8: return u8()[i];
    case Element::I8: return i8()[i];
    case Element::I32: return i32()[i];
  }
  return 0;
}

std::size_t Array::size() const {
  return static_cast<std::size_t>(
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
}

Array make_array(std::vector<std::int64_t> shape, Element element) {
  Array array;
  array.shape = std::move(shape);
  array.element = element;
  array.bytes.resize(array.size() * array.element_size());
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
  const std::size_t wanted = array.size() * array.element_size();
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
  std::string header = "{'descr': '" + std::string(element_info(array.element).descr) +
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

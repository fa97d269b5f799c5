// SPDX-License-Identifier: Apache-2.0
//
// A builder of math definitions with one dynamically typed value, as an expression builder has: it
// checks the type rules of every primitive, writes the definition down one line per operation,
// counts the operations, and evaluates them on one input. Law: it shares no code with ScalarBuilder,
// so that equal results mean that both read the vocabulary alike.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace tilewright::ir::math {

enum class TracedType { F32, F64, I32, I64, Bool };

struct TracedValue {
  TracedType type;
  std::uint64_t bits;  // of the value; the upper half is clear for a type of 32 bits
  std::string name;  // the constant's text, or %n
};

class TracingBuilder {
 public:
  using F32 = TracedValue;
  using F64 = TracedValue;
  using I32 = TracedValue;
  using I64 = TracedValue;
  using Bool = TracedValue;
  using V = TracedValue;

  V f32(float c) { return {TracedType::F32, std::bit_cast<std::uint32_t>(c), text(double{c})}; }
  V f64(double c) { return {TracedType::F64, std::bit_cast<std::uint64_t>(c), text(c)}; }
  V i32(std::int32_t c) {
    return {TracedType::I32, static_cast<std::uint32_t>(c), hex(static_cast<std::uint32_t>(c))};
  }
  V i64(std::int64_t c) {
    return {TracedType::I64, static_cast<std::uint64_t>(c), hex(static_cast<std::uint64_t>(c))};
  }
  // The parameter of the traced function.
  V input(float x) { return {TracedType::F32, std::bit_cast<std::uint32_t>(x), "x"}; }
  V input(double x) { return {TracedType::F64, std::bit_cast<std::uint64_t>(x), "x"}; }

  V add(V a, V b) {
    if (is_integer(a)) return whole("add", a, b, a.bits + b.bits);
    return real("add", {a, b}, [](auto x, auto y) { return x + y; });
  }
  V sub(V a, V b) {
    if (is_integer(a)) return whole("sub", a, b, a.bits - b.bits);
    return real("sub", {a, b}, [](auto x, auto y) { return x - y; });
  }
  V mul(V a, V b) {
    return real("mul", {a, b}, [](auto x, auto y) { return x * y; });
  }
  V div(V a, V b) {
    return real("div", {a, b}, [](auto x, auto y) { return x / y; });
  }
  V min(V a, V b) {
    return real("min", {a, b}, [](auto x, auto y) { return x < y ? x : y; });
  }
  V max(V a, V b) {
    return real("max", {a, b}, [](auto x, auto y) { return x > y ? x : y; });
  }
  V fma(V a, V b, V c) {
    const bool typed = is_real(a) && a.type == b.type && a.type == c.type;
    V result{a.type, 0, ""};
    if (a.type == TracedType::F32) {
      result.bits = std::bit_cast<std::uint32_t>(std::fma(single(a), single(b), single(c)));
    } else {
      result.bits = std::bit_cast<std::uint64_t>(std::fma(twice(a), twice(b), twice(c)));
    }
    return record("fma", {a, b, c}, result, typed);
  }
  V sqrt(V a) {
    return real("sqrt", {a, a}, [](auto x, auto) { return std::sqrt(x); }, 1);
  }
  V rint(V a) {
    return real("rint", {a, a}, [](auto x, auto) { return std::nearbyint(x); }, 1);
  }
  V neg(V a) { return record("neg", {a}, {a.type, a.bits ^ sign(a), ""}, is_real(a)); }
  V abs(V a) { return record("abs", {a}, {a.type, a.bits & ~sign(a), ""}, is_real(a)); }

  V and_(V a, V b) { return whole("and", a, b, a.bits & b.bits); }
  V or_(V a, V b) { return whole("or", a, b, a.bits | b.bits); }
  V xor_(V a, V b) { return whole("xor", a, b, a.bits ^ b.bits); }
  V shl(V a, V count) { return whole("shl", a, count, a.bits << count.bits); }
  V lshr(V a, V count) { return whole("lshr", a, count, a.bits >> count.bits); }

  V eq(V a, V b) {
    return compare("eq", a, b, [](auto x, auto y) { return x == y; });
  }
  V ne(V a, V b) {
    return compare("ne", a, b, [](auto x, auto y) { return x != y; });
  }
  V lt(V a, V b) {
    return compare("lt", a, b, [](auto x, auto y) { return x < y; });
  }
  V le(V a, V b) {
    return compare("le", a, b, [](auto x, auto y) { return x <= y; });
  }
  V select(V c, V a, V b) {
    const bool typed = c.type == TracedType::Bool && a.type == b.type;
    return record("select", {c, a, b}, {a.type, c.bits != 0 ? a.bits : b.bits, ""}, typed);
  }

  V to_f64(V a) {
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(single(a)));
    return record("to_f64", {a}, {TracedType::F64, bits, ""}, a.type == TracedType::F32);
  }
  V to_f32(V a) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(twice(a)));
    return record("to_f32", {a}, {TracedType::F32, bits, ""}, a.type == TracedType::F64);
  }
  V trunc(V a) {
    const std::uint64_t bits = a.bits & 0xffffffffu;
    return record("trunc", {a}, {TracedType::I32, bits, ""}, a.type == TracedType::I64);
  }
  V bitcast(V a) {
    constexpr TracedType kOther[] = {TracedType::I32, TracedType::I64, TracedType::F32,
                                     TracedType::F64, TracedType::Bool};
    const TracedType other = kOther[static_cast<int>(a.type)];
    return record("bitcast", {a}, {other, a.bits, ""}, a.type != TracedType::Bool);
  }

  // One line per operation, in order.
  const std::string& listing() const { return listing_; }
  // The first operation whose operands do not have the types that the vocabulary asks for, or "".
  const std::string& type_error() const { return type_error_; }
  // Operations that cost an instruction: all but bitcast, and neg, which folds into an fma.
  int operations() const { return operations_; }
  // Those among them that work in f64 or i64.
  int wide_operations() const { return wide_; }
  int count(const std::string& operation) const {
    const auto found = counts_.find(operation);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  static bool is_real(const V& v) { return v.type == TracedType::F32 || v.type == TracedType::F64; }
  static bool is_integer(const V& v) {
    return v.type == TracedType::I32 || v.type == TracedType::I64;
  }
  static bool is_wide(const V& v) { return v.type == TracedType::F64 || v.type == TracedType::I64; }
  static std::uint64_t sign(const V& v) { return std::uint64_t{1} << (is_wide(v) ? 63 : 31); }
  static float single(const V& v) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(v.bits));
  }
  static double twice(const V& v) { return std::bit_cast<double>(v.bits); }
  static std::string text(double c) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%a", c);
    return buffer;
  }
  static std::string hex(std::uint64_t c) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "0x%llx", static_cast<unsigned long long>(c));
    return buffer;
  }

  template <class F>
  V real(const char* name, std::vector<V> args, F f, std::size_t arity = 2) {
    V result{args[0].type, 0, ""};
    if (args[0].type == TracedType::F32) {
      result.bits = std::bit_cast<std::uint32_t>(f(single(args[0]), single(args[1])));
    } else {
      result.bits = std::bit_cast<std::uint64_t>(f(twice(args[0]), twice(args[1])));
    }
    const bool typed = is_real(args[0]) && args[0].type == args[1].type;
    args.resize(arity, args[0]);
    return record(name, args, result, typed);
  }

  V whole(const char* name, const V& a, const V& b, std::uint64_t bits) {
    if (!is_wide(a)) bits &= 0xffffffffu;
    return record(name, {a, b}, {a.type, bits, ""}, is_integer(a) && a.type == b.type);
  }

  template <class F>
  V compare(const char* name, const V& a, const V& b, F f) {
    bool holds = false;
    switch (a.type) {
      case TracedType::F32: holds = f(single(a), single(b)); break;
      case TracedType::F64: holds = f(twice(a), twice(b)); break;
      case TracedType::I32:
        holds = f(static_cast<std::int32_t>(a.bits), static_cast<std::int32_t>(b.bits));
        break;
      default: holds = f(static_cast<std::int64_t>(a.bits), static_cast<std::int64_t>(b.bits));
    }
    const bool typed = a.type == b.type && a.type != TracedType::Bool;
    return record(name, {a, b}, {TracedType::Bool, holds ? 1u : 0u, ""}, typed);
  }

  V record(const std::string& name, const std::vector<V>& args, V result, bool typed) {
    constexpr const char* kTypes[] = {"f32", "f64", "i32", "i64", "bool"};
    result.name = "%" + std::to_string(next_++);
    std::string line = result.name + " = " + name + "." + kTypes[static_cast<int>(args[0].type)];
    if (name == "select") line = result.name + " = select." + kTypes[static_cast<int>(result.type)];
    for (const V& arg : args) line += " " + arg.name;
    if (!typed && type_error_.empty()) type_error_ = line;
    listing_ += line + "\n";
    ++counts_[name];
    if (name != "bitcast" && name != "neg") {
      ++operations_;
      if (is_wide(result) || is_wide(args[0])) ++wide_;
    }
    return result;
  }

  std::string listing_, type_error_;
  std::map<std::string, int> counts_;
  int next_ = 0, operations_ = 0, wide_ = 0;
};

}  // namespace tilewright::ir::math

// SPDX-License-Identifier: Apache-2.0
//
// Math functions: the definitions that the interpreter and the code generator run too, written out as C, one
// line for each primitive. Integers are unsigned here, so that they wrap.
#include <cmath>
#include <cstdio>
#include <map>

#include "frontend/ir/math_definitions.h"
#include "lowering/targets/c/emit.h"

namespace tilewright::c_target {

namespace {

// The primitives of frontend/ir/math_primitives.h as lines of C; equal ones are one line.
class CMath {
 public:
  struct F32 {
    std::string text;
  };
  struct F64 {
    std::string text;
  };
  struct I32 {
    std::string text;
  };
  struct I64 {
    std::string text;
  };
  struct Bool {
    std::string text;
  };

  explicit CMath(Prelude& prelude) : prelude_(prelude) { lines_.set_depth(1); }
  std::string lines() const { return lines_.text(); }

  F32 f32(float c) { return {real(static_cast<double>(c), "f")}; }
  F64 f64(double c) { return {real(c, "")}; }
  I32 i32(std::int32_t c) { return {word(static_cast<std::uint32_t>(c), "0x%llxu")}; }
  I64 i64(std::int64_t c) { return {word(static_cast<std::uint64_t>(c), "UINT64_C(0x%llx)")}; }

  template <class F>
  F fma(F x, F y, F z) {
    return line<F>(helper<F>("tw_fma_") + "(" + x.text + ", " + y.text + ", " + z.text + ")");
  }
  template <class T>
  T add(T x, T y) {
    return line<T>(x.text + " + " + y.text);
  }
  template <class T>
  T sub(T x, T y) {
    return line<T>(x.text + " - " + y.text);
  }
  template <class F>
  F mul(F x, F y) {
    return line<F>(x.text + " * " + y.text);
  }
  template <class F>
  F div(F x, F y) {
    return line<F>(x.text + " / " + y.text);
  }
  template <class F>
  F neg(F x) {
    return line<F>("-" + x.text);
  }
  template <class F>
  F sqrt(F x) {
    return line<F>(helper<F>("tw_sqrt_") + "(" + x.text + ")");
  }
  template <class F>
  F rint(F x) {
    return line<F>(helper<F>("tw_rint_") + "(" + x.text + ")");
  }
  template <class F>
  F abs(F x) {
    return line<F>(helper<F>("tw_abs_") + "(" + x.text + ")");
  }
  template <class F>
  F min(F x, F y) {
    return line<F>(helper<F>("tw_min_") + "(" + x.text + ", " + y.text + ")");
  }
  template <class F>
  F max(F x, F y) {
    return line<F>(helper<F>("tw_max_") + "(" + x.text + ", " + y.text + ")");
  }
  template <class I>
  I and_(I x, I y) {
    return line<I>(x.text + " & " + y.text);
  }
  template <class I>
  I or_(I x, I y) {
    return line<I>(x.text + " | " + y.text);
  }
  template <class I>
  I xor_(I x, I y) {
    return line<I>(x.text + " ^ " + y.text);
  }
  template <class I>
  I shl(I x, I count) {
    return line<I>(x.text + " << " + count.text);
  }
  template <class I>
  I lshr(I x, I count) {
    return line<I>(x.text + " >> " + count.text);
  }
  template <class T>
  Bool eq(T x, T y) {
    return line<Bool>(x.text + " == " + y.text);
  }
  template <class T>
  Bool ne(T x, T y) {
    return line<Bool>(x.text + " != " + y.text);
  }
  template <class T>
  Bool lt(T x, T y) {
    return line<Bool>(as_signed<T>(x.text) + " < " + as_signed<T>(y.text));
  }
  template <class T>
  Bool le(T x, T y) {
    return line<Bool>(as_signed<T>(x.text) + " <= " + as_signed<T>(y.text));
  }
  template <class T>
  T select(Bool c, T x, T y) {
    return line<T>(c.text + " ? " + x.text + " : " + y.text);
  }

  F64 to_f64(F32 x) { return line<F64>("(double)" + x.text); }
  F32 to_f32(F64 x) { return line<F32>("(float)" + x.text); }
  I32 trunc(I64 x) { return line<I32>("(uint32_t)" + x.text); }
  I32 bitcast(F32 x) { return line<I32>(prelude_.use("tw_bits_f32") + "(" + x.text + ")"); }
  F32 bitcast(I32 x) { return line<F32>(prelude_.use("tw_from_bits_f32") + "(" + x.text + ")"); }
  I64 bitcast(F64 x) { return line<I64>(prelude_.use("tw_bits_f64") + "(" + x.text + ")"); }
  F64 bitcast(I64 x) { return line<F64>(prelude_.use("tw_from_bits_f64") + "(" + x.text + ")"); }

 private:
  template <class T>
  static std::string type() {
    if constexpr (std::is_same_v<T, F32>) return "float";
    if constexpr (std::is_same_v<T, F64>) return "double";
    if constexpr (std::is_same_v<T, I32>) return "uint32_t";
    if constexpr (std::is_same_v<T, I64>) return "uint64_t";
    return "bool";
  }
  template <class F>
  std::string helper(const std::string& stem) {
    return prelude_.use(stem + (std::is_same_v<F, F32> ? "f32" : "f64"));
  }
  template <class T>
  static std::string as_signed(const std::string& text) {
    if constexpr (std::is_same_v<T, I32>) return "(int32_t)" + text;
    if constexpr (std::is_same_v<T, I64>) return "(int64_t)" + text;
    return text;
  }
  template <class T>
  T line(const std::string& text) {
    std::string& name = known_[text];
    if (name.empty()) {
      name = "v" + std::to_string(++count_);
      lines_.add("const " + type<T>() + " " + name + " = " + text + ";");
    }
    return {name};
  }
  std::string real(double c, const char* end) {
    const std::string from =
        end[0] ? "tw_from_bits_f32(0x7f800000u)" : "tw_from_bits_f64(UINT64_C(0x7ff0000000000000))";
    const std::string nan =
        end[0] ? "tw_from_bits_f32(0x7fc00000u)" : "tw_from_bits_f64(UINT64_C(0x7ff8000000000000))";
    if (std::isnan(c)) return nan;
    if (std::isinf(c)) return c > 0 ? from : "(-" + from + ")";
    char buffer[48];
    std::snprintf(buffer, sizeof(buffer), "%g", c);
    const bool is_short = std::string_view(buffer).size() <= 6 && std::strtod(buffer, nullptr) == c;
    if (!is_short) std::snprintf(buffer, sizeof(buffer), "%a", c);
    std::string text = buffer;
    if (is_short && text.find_first_of(".e") == std::string::npos) text += ".0";
    text += end;
    return std::signbit(c) ? "(" + text + ")" : text;
  }
  static std::string word(std::uint64_t c, const char* form) {
    if (c < 64) form = "%lluu";
    char buffer[48];
    std::snprintf(buffer, sizeof(buffer), form, static_cast<unsigned long long>(c));
    return buffer;
  }

  Prelude& prelude_;
  Lines lines_;
  std::map<std::string, std::string> known_;
  int count_ = 0;
};

template <class F>
std::string definition(Prelude& prelude, const std::string& name, const char* type, F&& body) {
  CMath math(prelude);
  const std::string result = body(math);
  return "static " + std::string(type) + " " + name + "(" + type + " x) {\n" + math.lines() +
         "  return " + result + ";\n}\n";
}

}  // namespace

std::string math_function(FileState& state, OpCode op, bool is_double) {
  switch (op) {
#define TILEWRIGHT_EMIT(Name, function)                                                          \
  case OpCode::Name: {                                                                           \
    const std::string name = std::string("tw_" #function) + (is_double ? "_f64" : "_f32");       \
    if (state.prelude.has(name)) return name;                                                    \
    state.prelude.define(                                                                        \
        name, is_double ? definition(state.prelude, name, "double",                              \
                                     [](CMath& b) {                                              \
                                       return ir::math::function##_f64(b, CMath::F64{"x"}).text; \
                                     })                                                          \
                        : definition(state.prelude, name, "float", [](CMath& b) {                \
                            return ir::math::function##_f32(b, CMath::F32{"x"}).text;            \
                          }));                                                                   \
    return name;                                                                                 \
  }
    TILEWRIGHT_EMIT(Rsqrt, rsqrt)
    TILEWRIGHT_EMIT(Exp, exp)
    TILEWRIGHT_EMIT(Exp2, exp2)
    TILEWRIGHT_EMIT(Expm1, expm1)
    TILEWRIGHT_EMIT(Log, log)
    TILEWRIGHT_EMIT(Log2, log2)
    TILEWRIGHT_EMIT(Log1p, log1p)
    TILEWRIGHT_EMIT(Tanh, tanh)
    TILEWRIGHT_EMIT(Erf, erf)
    TILEWRIGHT_EMIT(Sin, sin)
    TILEWRIGHT_EMIT(Cos, cos)
#undef TILEWRIGHT_EMIT
    default: return {};
  }
}

}  // namespace tilewright::c_target

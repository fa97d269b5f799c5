// SPDX-License-Identifier: Apache-2.0
//
// Conversions between types, and between a value and its bits in memory. Laws: they are those of
// frontend/ir/evaluate.h, one rounding to nearest even each; the narrow floats are held as `float` on their
// grid, so that what memory holds of them is exact.
#include "lowering/targets/c/emit.h"

namespace tilewright::c_target {

namespace {

std::string text_of_type(ScalarType type) { return std::string(ir::type_text(type)); }

}  // namespace

// An f32 that any shorter format rounds like the value itself.
std::string Body::single(const std::string& value, ScalarType from) {
  return from == ScalarType::F64 ? helper("tw_odd_f32") + "(" + value + ")" : value;
}

std::string Body::round_to_grid(const std::string& value, ScalarType from, ScalarType grid) {
  const bool is_double = from == ScalarType::F64;
  if (grid == ScalarType::F64) return is_double ? value : "(double)" + value;
  if (grid == ScalarType::F32) return is_double ? "(float)" + value : value;
  if (ir::holds_all(grid, from)) return value;
  return helper("tw_round_" + text_of_type(grid)) + "(" + single(value, from) + ")";
}

// `value` binds as tightly as a unary operator.
Text Body::cast(const std::string& value, ScalarType from, ScalarType to) {
  if (from == to) return {value, kUnary};
  const bool from_float = ir::is_float(from);
  const bool to_float = ir::is_float(to);
  const auto form = type_form(to);
  if (!form || !type_form(from)) {
    suffix(form ? from : to);  // refuses
    return {value, kUnary};
  }
  if (from_float && to_float) return {round_to_grid(value, from, to), kUnary};
  if (to_float) {
    // To f32 or f64 in one rounding; the narrower formats are that f32 rounded once more.
    const ScalarType wide = to == ScalarType::F64 ? to : ScalarType::F32;
    const std::string first =
        std::string("(") + (wide == ScalarType::F64 ? "double" : "float") + ")" + value;
    return {round_to_grid(first, wide, to), kUnary};
  }
  if (to == ScalarType::Bool) return {value + " != 0", kEqual};
  if (from_float)
    return {helper("tw_to_" + suffix(to) + "_" + suffix(from)) + "(" + value + ")", kPrimary};
  // Conversion to an unsigned type of C is modulo its range; so is one of the same width in every compiler.
  const int width = ir::type_info(to).width;
  const bool whole = width == 8 * ir::size_bytes(to);
  const bool fits = from == ScalarType::Bool || (whole && ir::is_unsigned(to)) ||
                    to == ScalarType::Index || to == ScalarType::I64 ||
                    ir::type_info(from).width < width;
  if (fits) return {"(" + std::string(form->value) + ")" + value, kUnary};
  return {helper("tw_wrap_" + suffix(to)) + "(" + (from == ScalarType::U64 ? "(int64_t)" : "") +
              value + ")",
          kPrimary};
}

// Floats become integers by saturation in every conversion.
Text Body::saturate(const ir::Saturate& s) {
  const ScalarType from = s.value.type();
  const auto form = type_form(s.type);
  if (!form || !type_form(from)) {
    suffix(form ? from : s.type);  // refuses
    return {"0", kPrimary};
  }
  if (ir::is_float(s.type)) {
    // In f32 or f64, which is the type of the helper's argument.
    const bool is_wide = s.type == ScalarType::F64;
    const bool is_same = ir::is_float(from) && (from == ScalarType::F64) == is_wide;
    const bool shortens = from == ScalarType::F64 && !is_wide && s.type != ScalarType::F32;
    const std::string text = shortens ? single(value(s.value), from)
                             : is_same
                                 ? value(s.value)
                                 : (is_wide ? "(double)" : "(float)") + value(s.value, kUnary);
    return {helper("tw_saturate_" + text_of_type(s.type)) + "(" + text + ")", kPrimary};
  }
  const std::string inner = value(s.value, kUnary);
  if (ir::is_float(from) || s.type == from ||
      (s.type == ScalarType::I64 && from != ScalarType::U64))
    return cast(inner, from, s.type);
  if (s.type == ScalarType::U64 && ir::is_unsigned(from)) return cast(inner, from, s.type);
  const char* clamp = from == ScalarType::U64 ? "tw_uclamp_" : "tw_clamp_";
  return {helper(clamp + suffix(s.type)) + "(" + inner + ")", kPrimary};
}

// The value stays in its type; a grid that holds all of it changes nothing.
Text Body::round_to(const ir::RoundTo& r) {
  const std::string inner = value(r.value, kUnary);
  if (!type_form(r.grid)) {
    suffix(r.grid);  // refuses
    return {inner, kUnary};
  }
  if (ir::holds_all(r.grid, r.type)) return {inner, kUnary};
  std::string text = round_to_grid(inner, r.type, r.grid);
  if (r.type == ScalarType::F64) text = "(double)" + text;
  // Some grids go beyond the range of f16.
  if (ir::largest_finite(r.grid) > ir::largest_finite(r.type))
    text = round_to_grid(text, r.grid, r.type);
  return {text, kUnary};
}

// ---- memory ----

Text Body::from_memory(const std::string& stored, const Buffer& buffer) {
  const ScalarType type = buffer.type;
  if (type == ScalarType::Bool) return {stored + " != 0", kEqual};
  if (type == ScalarType::I4 && buffer.packed)
    return {helper("tw_wrap_i4") + "(" + stored + ")", kPrimary};
  // What the caller gives as tf32 need not lie on the grid.
  if (ir::is_float(type) && type != ScalarType::F32 && type != ScalarType::F64)
    return {helper("tw_load_" + text_of_type(type)) + "(" + stored + ")", kPrimary};
  suffix(type);
  return {stored, kPrimary};
}

std::string Body::to_memory(const std::string& value, ScalarType type) {
  suffix(type);
  const bool is_coded = ir::is_float(type) && type != ScalarType::TF32 && type != ScalarType::F32 &&
                        type != ScalarType::F64;
  return is_coded ? helper("tw_store_" + text_of_type(type)) + "(" + value + ")" : value;
}

}  // namespace tilewright::c_target

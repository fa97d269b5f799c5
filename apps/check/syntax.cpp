// SPDX-License-Identifier: Apache-2.0
//
// The words of the language.
#include "apps/check/syntax.h"

namespace tilewright::checker {

namespace {

constexpr TypeInfo kTypes[] = {
    {"bool", Class::Bool, 1, 0, 0, false, false},
    {"index", Class::Index, 64, 0, 0, false, false},
    {"i4", Class::Signed, 4, 0, 0, false, false},
    {"i8", Class::Signed, 8, 0, 0, false, false},
    {"i16", Class::Signed, 16, 0, 0, false, false},
    {"i32", Class::Signed, 32, 0, 0, false, false},
    {"i64", Class::Signed, 64, 0, 0, false, false},
    {"u4", Class::Unsigned, 4, 0, 0, false, false},
    {"u8", Class::Unsigned, 8, 0, 0, false, false},
    {"u16", Class::Unsigned, 16, 0, 0, false, false},
    {"u32", Class::Unsigned, 32, 0, 0, false, false},
    {"u64", Class::Unsigned, 64, 0, 0, false, false},
    {"f4e2m1", Class::Float, 4, 2, 1, false, false},
    {"f6e2m3", Class::Float, 6, 2, 3, false, false},
    {"f6e3m2", Class::Float, 6, 3, 2, false, false},
    {"f8e4m3", Class::Float, 8, 4, 3, false, true},
    {"f8e5m2", Class::Float, 8, 5, 2, true, true},
    {"f8e8m0", Class::Float, 8, 8, 0, false, true},
    {"bf16", Class::Float, 16, 8, 7, true, true},
    {"f16", Class::Float, 16, 5, 10, true, true},
    {"tf32", Class::Float, 19, 8, 10, true, true},
    {"f32", Class::Float, 32, 8, 23, true, true},
    {"f64", Class::Float, 64, 11, 52, true, true},
};

constexpr Op kInfix[] = {
    {"||", 1, 2, Rule::Logic},     {"&&", 2, 2, Rule::Logic},     {"==", 3, 2, Rule::Compare},
    {"!=", 3, 2, Rule::Compare},   {"<", 4, 2, Rule::Compare},    {"<=", 4, 2, Rule::Compare},
    {">", 4, 2, Rule::Compare},    {">=", 4, 2, Rule::Compare},   {"+", 5, 2, Rule::Arithmetic},
    {"-", 5, 2, Rule::Arithmetic}, {"*", 6, 2, Rule::Arithmetic}, {"/", 6, 2, Rule::Arithmetic},
    {"%", 6, 2, Rule::Integer},
};
constexpr Op kPrefix[] = {{"-", 7, 1, Rule::Arithmetic}, {"!", 7, 1, Rule::Logic}};
constexpr Op kFunctions[] = {
    {"min", 0, 2, Rule::Arithmetic},     {"max", 0, 2, Rule::Arithmetic},
    {"abs", 0, 1, Rule::Arithmetic},     {"fma", 0, 3, Rule::Arithmetic},
    {"bit_and", 0, 2, Rule::Bits},       {"bit_or", 0, 2, Rule::Bits},
    {"bit_xor", 0, 2, Rule::Bits},       {"bit_not", 0, 1, Rule::Bits},
    {"shift_left", 0, 2, Rule::Bits},    {"shift_right", 0, 2, Rule::Bits},
    {"random_bits", 0, 2, Rule::Random}, {"floor", 0, 1, Rule::Float},
    {"ceil", 0, 1, Rule::Float},         {"rint", 0, 1, Rule::Float},
    {"sqrt", 0, 1, Rule::Float},         {"rsqrt", 0, 1, Rule::Float},
    {"exp", 0, 1, Rule::Float},          {"exp2", 0, 1, Rule::Float},
    {"expm1", 0, 1, Rule::Float},        {"log", 0, 1, Rule::Float},
    {"log2", 0, 1, Rule::Float},         {"log1p", 0, 1, Rule::Float},
    {"tanh", 0, 1, Rule::Float},         {"erf", 0, 1, Rule::Float},
    {"sin", 0, 1, Rule::Float},          {"cos", 0, 1, Rule::Float},
};
constexpr Name kReductions[] = {"sum", "prod",   "min",    "max", "and",
                                "or",  "argmin", "argmax", "last"};
constexpr Name kWords[] = {"algorithm", "program",  "requires", "input",       "output",   "extent",
                           "for",       "parallel", "vector",   "unrolled",    "if",       "else",
                           "let",       "alloc",    "select",   "round_to",    "saturate", "true",
                           "false",     "inf",      "nan",      "multiple_of", "monoid",   "scan",
                           "update",    "on_empty", "view",     "inout",       "const"};

template <class Table>
auto* row(const Table& table, Name text) {
  for (const auto& entry : table)
    if (entry.text == text) return &entry;
  return static_cast<decltype(&table[0])>(nullptr);
}

template <class Table>
bool holds(const Table& table, Name text) {
  for (Name entry : table)
    if (entry == text) return true;
  return false;
}

}  // namespace

const Type kBool = &kTypes[0];
const Type kIndex = &kTypes[1];
const Type kI64 = &kTypes[6];

Type type_named(Name text) { return row(kTypes, text); }
const Op* infix(Name text) { return row(kInfix, text); }
const Op* prefix(Name text) { return row(kPrefix, text); }
const Op* function(Name text) { return row(kFunctions, text); }
bool is_reduction(Name text) { return holds(kReductions, text); }
bool is_word(Name text) {
  return holds(kWords, text) || type_named(text) || function(text) || is_reduction(text);
}

}  // namespace tilewright::checker

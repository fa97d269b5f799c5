// SPDX-License-Identifier: Apache-2.0
//
// Every operation, cast and rounding of every type, as one scalar and in vector lanes with a masked tail:
// generated code against ir::evaluate_op, bit for bit.
#include <cmath>

#include "tests/differential/batch.h"

namespace tilewright::test {
namespace {

using ir::ScalarType;

struct Case {
  std::string value;  // over x[i], y[i], z[i]
  std::string result;  // its type
};

std::string name(ScalarType type) { return std::string(ir::type_text(type)); }

std::vector<ScalarType> all_types() {
  std::vector<ScalarType> types;
  for (int i = 0; i < ir::kNumScalarTypes; ++i)
    if (const auto type = static_cast<ScalarType>(i); type != ScalarType::Index)
      types.push_back(type);
  return types;
}

// Those that C has a form for.
std::vector<ScalarType> c_types() {
  using enum ScalarType;
  return {Bool, I8, I16, I32, I64, U8, U16, U32, U64, BF16, F16, F32, F64};
}

// Operands stand as X, Y, Z; grids are among `types`.
std::vector<Case> operation_cases(ScalarType type, const std::vector<ScalarType>& types) {
  std::vector<Case> cases;
  for (int o = 0; o < ir::kNumOps; ++o) {
    const auto& info = ir::op_info(static_cast<ir::OpCode>(o));
    if (!ir::op_accepts(static_cast<ir::OpCode>(o), type)) continue;
    const bool is_float = ir::is_float(type);
    const std::string text(info.text);

    std::string y = "Y";
    if (!is_float && (text == "/" || text == "%"))
      y = "select(Y == " + name(type) + "(0), " + name(type) + "(3), Y)";
    std::string value;
    if (info.syntax == ir::OpSyntax::Infix) value = "X " + text + " " + y;
    if (info.syntax == ir::OpSyntax::Prefix) value = text + "X";
    if (info.syntax == ir::OpSyntax::Function)
      value = text + (info.arity == 1 ? "(X)" : info.arity == 2 ? "(X, Y)" : "(X, Y, Z)");
    cases.push_back({value, name(ir::op_result(static_cast<ir::OpCode>(o), type))});
  }
  if (ir::is_integer(type))
    for (int divisor : {1, 4, 64, 3, -5, -1}) {
      if (divisor < 0 && ir::is_unsigned(type)) continue;
      if (ir::wrap_to_type(type, divisor) != divisor) continue;
      for (const char* op : {"/", "%"})
        cases.push_back(
            {std::string("X ") + op + " " + name(type) + "(" + std::to_string(divisor) + ")",
             name(type)});
    }
  if (ir::is_integer(type))
    for (const char* shift : {"shift_left", "shift_right"})
      for (int count = 0; count < 3; ++count)
        cases.push_back({std::string(shift) + "(X, bit_and(Y, " + name(type) + "(" +
                             std::to_string(7 >> count) + ")))",
                         name(type)});
  if (ir::op_accepts(ir::OpCode::Rint, type))
    for (ScalarType grid : types)
      if (ir::is_float(grid)) {
        cases.push_back({"round_to(" + name(grid) + ", X)", name(type)});
        cases.push_back({"round_to(" + name(grid) + ", X) < Y", "bool"});
      }
  return cases;
}

std::vector<Case> cast_cases(ScalarType type, const std::vector<ScalarType>& types) {
  std::vector<Case> cases;
  for (ScalarType to : types) {
    if (ir::saturates(type, to)) cases.push_back({"saturate(" + name(to) + ", X)", name(to)});
    if (to == type || !ir::casts(type, to)) continue;
    std::string operand = "X";
    if (ir::is_float(type) && !ir::is_float(to)) {
      // What the integer type holds.
      operand = ir::is_storage_float(type) ? "f32(X)" : "X";
      const std::string t = ir::is_storage_float(type) ? "f32" : name(type);
      const int most = ir::type_info(to).width == 4 ? 7 : 100;
      operand = "max(min(select(" + operand + " == " + operand + ", " + operand + ", " + t +
                "(1)), " + t + "(" + std::to_string(most) + ")), " + t + "(" +
                std::to_string(ir::is_unsigned(to) ? 0 : -most) + "))";
    }
    cases.push_back({name(to) + "(" + operand + ")", name(to)});
  }
  return cases;
}

std::string at(std::string value, const std::string& index) {
  std::string out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool alone =
        (i == 0 || !std::isalnum(static_cast<unsigned char>(value[i - 1]))) &&
        (i + 1 == value.size() || !std::isalnum(static_cast<unsigned char>(value[i + 1])));
    if (alone && value[i] >= 'X' && value[i] <= 'Z') {
      out += static_cast<char>(value[i] - 'X' + 'x');
      out += "[" + index + "]";
    } else {
      out += value[i];
    }
  }
  return out;
}

// A Program with an output for each result type, and in it a row for each case.
std::string operation_program(ScalarType type, const std::vector<Case>& cases, bool vector) {
  std::map<std::string, std::vector<std::string>> by_result;
  for (const Case& c : cases) by_result[c.result].push_back(c.value);
  const std::string t = name(type);
  std::string text = "program ops for ops {\n  extent N\n  input x : " + t +
                     "[N]\n  input y : " + t + "[N]\n  input z : " + t + "[N]\n";
  for (const auto& [result, values] : by_result)
    text +=
        "  output o_" + result + " : " + result + "[" + std::to_string(values.size()) + ", N]\n";
  const std::string index = vector ? "t * 16 + i" : "i";
  text += vector ? "  for t in 0 .. (N + 15) / 16 {\n vector i in 0 .. 16 {\n if t * 16 + i < N {\n"
                 : "  for i in 0 .. N {\n";
  for (const auto& [result, values] : by_result)
    for (std::size_t v = 0; v < values.size(); ++v)
      text += "o_" + result + "[" + std::to_string(v) + ", " + index +
              "] = " + at(values[v], index) + "\n";
  return text + (vector ? "}\n}\n}\n}\n" : "}\n}\n");
}

class LlvmOperations : public EachTarget {
 protected:
  void check(ScalarType type, const std::vector<Case>& cases, bool vector) {
    const std::string text = operation_program(type, cases, vector);
    SCOPED_TRACE(text);
    const program::Program program = parse_text(text);
    CompiledProgram library(context, program, target);
    expect_same(library, program, sizes({{"N", 213}}), {.seed = 7});
    expect_same(library, program, sizes({{"N", 0}}));
  }
};

TEST_P(LlvmOperations, InVectorLanes) {
  for (ScalarType type : all_types()) check(type, operation_cases(type, all_types()), true);
}
TEST_P(LlvmOperations, OnScalars) {
  for (ScalarType type : all_types()) check(type, operation_cases(type, all_types()), false);
}
TEST_P(LlvmOperations, CastsInVectorLanes) {
  for (ScalarType type : all_types()) check(type, cast_cases(type, all_types()), true);
}
TEST_P(LlvmOperations, CastsOnScalars) {
  for (ScalarType type : all_types()) check(type, cast_cases(type, all_types()), false);
}

// The same in C, in one file for each compiler. A vector loop is the scalar code in a loop.
void check_in_c(const std::vector<CCompiler>& compilers, const std::vector<bool>& forms) {
  ir::Context context;
  Tally tally;
  Batch batch({}, compilers, tally);
  for (ScalarType type : c_types())
    for (auto cases : {operation_cases(type, c_types()), cast_cases(type, c_types())}) {
      // C refuses them.
      std::erase_if(cases, [](const Case& c) {
        return c.value.starts_with("saturate(") && ir::is_float(*ir::parse_type(c.result));
      });
      for (const bool vector : forms) {
        const std::string text = operation_program(type, cases, vector);
        Subject subject{text, parse(context, text), {}};
        for (const std::int64_t n : {0, 213}) {
          Expected expected{{{context.symbol("N"), n}}, {}, {}};
          std::mt19937_64 random(static_cast<std::uint64_t>(n) + 11);
          for (const program::Parameter& parameter : subject.program.parameters) {
            const ir::Tensor tensor = random_tensor(parameter, expected.bindings, random, false);
            if (!parameter.is_output) expected.inputs[parameter.name] = tensor;
            expected.values[parameter.name] = tensor;
          }
          const PlainRun plain(subject.program, expected.bindings, expected.values);
          ASSERT_FALSE(plain.undefined()) << text;
          subject.expected.push_back(std::move(expected));
        }
        ASSERT_EQ(batch.add(context, std::move(subject)), "");
      }
    }
  EXPECT_EQ(batch.run(), "");
  EXPECT_GE(tally.c_runs, 4 * static_cast<int>(c_types().size()));
  EXPECT_EQ(tally.not_in_c, 0);
}

TEST(COperations, EqualTheEvaluator) { check_in_c({all_compilers()[0]}, {false}); }
TEST(COperationsSlow, EqualTheEvaluator) {
  if (!std::getenv("TILEWRIGHT_SLOW_TESTS")) GTEST_SKIP() << "slow: set TILEWRIGHT_SLOW_TESTS=1";
  check_in_c(all_compilers(), {false, true});
}

INSTANTIATE_TEST_SUITE_P(Host, LlvmOperations, ::testing::Values("x86-64-v3", "x86-64-v4"));

}  // namespace
}  // namespace tilewright::test

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

constexpr ScalarType kTypes[] = {ScalarType::Bool, ScalarType::I8,   ScalarType::I32,
                                 ScalarType::I64,  ScalarType::BF16, ScalarType::F16,
                                 ScalarType::F32,  ScalarType::F64};

// Operands stand as X, Y, Z.
std::vector<Case> operation_cases(ScalarType type) {
  std::vector<Case> cases;
  for (int o = 0; o < ir::kNumOps; ++o) {
    const auto& info = ir::op_info(static_cast<ir::OpCode>(o));
    const bool is_float = ir::is_float(type);
    const bool is_bool = type == ScalarType::Bool;
    if (info.rule == ir::TypeRule::Float && !is_float) continue;
    if (info.rule == ir::TypeRule::Integer && (is_float || is_bool)) continue;
    if (info.rule == ir::TypeRule::Arithmetic && is_bool) continue;
    if (info.rule == ir::TypeRule::Logic && !is_bool) continue;
    const std::string text(info.text);
    const bool compares = info.rule == ir::TypeRule::Compare;
    std::string y = "Y";
    if (!is_float && (text == "/" || text == "%"))
      y = "select(Y == " + name(type) + "(0), " + name(type) + "(3), Y)";
    std::string value;
    if (info.syntax == ir::OpSyntax::Infix) value = "X " + text + " " + y;
    if (info.syntax == ir::OpSyntax::Prefix) value = text + "X";
    if (info.syntax == ir::OpSyntax::Function)
      value = text + (info.arity == 1 ? "(X)" : info.arity == 2 ? "(X, Y)" : "(X, Y, Z)");
    cases.push_back({value, compares ? "bool" : name(type)});
  }
  if (!ir::is_float(type) && type != ScalarType::Bool)
    for (const char* divisor : {"1", "4", "64", "3", "-5", "-1"})
      for (const char* op : {"/", "%"})
        cases.push_back(
            {std::string("X ") + op + " " + name(type) + "(" + divisor + ")", name(type)});
  if (ir::is_float(type))
    for (ScalarType grid : kTypes)
      if (ir::is_float(grid)) {
        cases.push_back({"round_to(" + name(grid) + ", X)", name(type)});
        cases.push_back({"round_to(" + name(grid) + ", X) < Y", "bool"});
      }
  return cases;
}

std::vector<Case> cast_cases(ScalarType type) {
  std::vector<Case> cases;
  for (ScalarType to : kTypes) {
    if (to == type || to == ScalarType::Bool) continue;
    std::string operand = "X";
    if (ir::is_float(type) && !ir::is_float(to))
      operand = "max(min(select(X == X, X, " + name(type) + "(1)), " + name(type) + "(100)), " +
                name(type) + "(-100))";
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

// A Program for each result type, with a row of its output for each case.
std::vector<std::string> operation_programs(ScalarType type, const std::vector<Case>& cases,
                                            bool vector) {
  std::vector<std::string> texts;
  std::map<std::string, std::vector<std::string>> by_result;
  for (const Case& c : cases) by_result[c.result].push_back(c.value);
  for (const auto& [result, values] : by_result) {
    const std::string t = name(type);
    std::string text = "program ops for ops {\n  extent N\n  input x : " + t +
                       "[N]\n  input y : " + t + "[N]\n  input z : " + t +
                       "[N]\n  output o : " + result + "[" + std::to_string(values.size()) +
                       ", N]\n";
    const std::string index = vector ? "t * 16 + i" : "i";
    text += vector
                ? "  for t in 0 .. (N + 15) / 16 {\n vector i in 0 .. 16 {\n if t * 16 + i < N {\n"
                : "  for i in 0 .. N {\n";
    for (std::size_t v = 0; v < values.size(); ++v)
      text += "o[" + std::to_string(v) + ", " + index + "] = " + at(values[v], index) + "\n";
    text += vector ? "}\n}\n}\n}\n" : "}\n}\n";
    texts.push_back(std::move(text));
  }
  return texts;
}

class LlvmOperations : public EachTarget {
 protected:
  void check(ScalarType type, const std::vector<Case>& cases, bool vector) {
    for (const std::string& text : operation_programs(type, cases, vector)) {
      SCOPED_TRACE(text);
      const program::Program program = parse_text(text);
      CompiledProgram library(context, program, target);
      expect_same(library, program, sizes({{"N", 213}}), {.seed = 7});
      expect_same(library, program, sizes({{"N", 0}}));
    }
  }
};

TEST_P(LlvmOperations, InVectorLanes) {
  for (ScalarType type : kTypes) check(type, operation_cases(type), true);
}
TEST_P(LlvmOperations, OnScalars) {
  for (ScalarType type : kTypes) check(type, operation_cases(type), false);
}
TEST_P(LlvmOperations, CastsInVectorLanes) {
  for (ScalarType type : kTypes) check(type, cast_cases(type), true);
}
TEST_P(LlvmOperations, CastsOnScalars) {
  for (ScalarType type : kTypes) check(type, cast_cases(type), false);
}

// The same in C, in one file for each compiler. A vector loop is the scalar code in a loop.
void check_in_c(const std::vector<CCompiler>& compilers, const std::vector<bool>& forms) {
  ir::Context context;
  Tally tally;
  Batch batch({}, compilers, tally);
  for (ScalarType type : kTypes)
    for (const auto& cases : {operation_cases(type), cast_cases(type)})
      for (const bool vector : forms)
        for (const std::string& text : operation_programs(type, cases, vector)) {
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
  EXPECT_EQ(batch.run(), "");
  EXPECT_GT(tally.c_runs, 200);
}

TEST(COperations, EqualTheEvaluator) { check_in_c({all_compilers()[0]}, {false}); }
TEST(COperationsSlow, EqualTheEvaluator) {
  if (!std::getenv("TILEWRIGHT_SLOW_TESTS")) GTEST_SKIP() << "slow: set TILEWRIGHT_SLOW_TESTS=1";
  check_in_c(all_compilers(), {false, true});
}

INSTANTIATE_TEST_SUITE_P(Host, LlvmOperations, ::testing::Values("x86-64-v3", "x86-64-v4"));

}  // namespace
}  // namespace tilewright::test

// SPDX-License-Identifier: Apache-2.0
//
// Every operation, cast and rounding of every type, as one scalar and in vector lanes with a masked tail:
// generated code against ir::evaluate_op, bit for bit.
#include <cmath>
#include <functional>

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

// Operands stand as X, Y, Z.
std::vector<Case> operation_cases(ScalarType type) {
  std::vector<Case> cases;
  for (int o = 0; o < ir::kNumOps; ++o) {
    const auto& info = ir::op_info(static_cast<ir::OpCode>(o));
    if (!ir::op_accepts(static_cast<ir::OpCode>(o), type)) continue;
    const bool is_float = ir::holds_floats(type);
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
    for (ScalarType grid : all_types())
      if (ir::is_float(grid)) {
        cases.push_back({"round_to(" + name(grid) + ", X)", name(type)});
        cases.push_back({"round_to(" + name(grid) + ", X) < Y", "bool"});
      }
  return cases;
}

std::vector<Case> cast_cases(ScalarType type) {
  std::vector<Case> cases;
  for (ScalarType to : all_types()) {
    if (ir::saturates(type, to)) cases.push_back({"saturate(" + name(to) + ", X)", name(to)});
    if (to == type || !ir::casts(type, to)) continue;
    std::string operand = "X";
    if (ir::is_float(type) && !ir::holds_floats(to)) {
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
  std::string text = "program ops for ops {\n  extent N\n";
  for (const char* input : {"x", "y", "z"}) {
    const auto reads = [&](const Case& c) {
      return at(c.value, "i").find(std::string(input) + "[i]") != std::string::npos;
    };
    if (std::any_of(cases.begin(), cases.end(), reads))
      text += std::string("  input ") + input + " : " + name(type) + "[N]\n";
  }
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

// With what evaluate_op says of it at two sizes.
Subject operation_subject(ir::Context& context, ScalarType type, const std::vector<Case>& cases,
                          bool vector) {
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
    EXPECT_FALSE(plain.undefined()) << text;
    subject.expected.push_back(std::move(expected));
  }
  return subject;
}

// Adds the cases of a type in functions of at most so many each.
void add_in_parts(Batch& batch, ir::Context& context, ScalarType type,
                  const std::vector<Case>& cases, bool vector, std::size_t per_function) {
  for (std::size_t begin = 0; begin < cases.size(); begin += per_function) {
    const std::size_t end = std::min(begin + per_function, cases.size());
    const std::vector<Case> part(cases.begin() + static_cast<std::ptrdiff_t>(begin),
                                 cases.begin() + static_cast<std::ptrdiff_t>(end));
    ASSERT_EQ(batch.add(context, operation_subject(context, type, part, vector)), "");
  }
}

class LlvmOperations : public EachTarget {
 protected:
  // All types under one link. LLVM takes more than linear time in the length of a function.
  void check(const std::function<std::vector<Case>(ScalarType)>& cases, bool vector) {
    Tally tally;
    Batch batch({target}, {}, tally);
    for (ScalarType type : all_types()) add_in_parts(batch, context, type, cases(type), vector, 12);
    EXPECT_EQ(batch.run(), "");
    EXPECT_EQ(tally.unlowered, 0);
    EXPECT_EQ(tally.runs, 4 * tally.programs) << "two sizes, serial and on a pool";
  }
};

// One case in `parts`, others on the other host target; all of them in the slow run.
std::vector<Case> part(std::vector<Case> cases, ScalarType type, std::string_view target,
                       std::size_t parts) {
  if (std::getenv("TILEWRIGHT_SLOW_TESTS")) return cases;
  const std::size_t own = target == "x86-64-v3" ? 0 : 1;
  std::size_t n = 0;
  std::erase_if(cases, [&](const Case&) {
    return (n++ / 2 + static_cast<std::size_t>(type)) % parts != own;
  });
  return cases;
}

TEST_P(LlvmOperations, InVectorLanes) { check(operation_cases, true); }
// One by one the targets differ little, and C has them all (below).
TEST_P(LlvmOperations, OnScalars) {
  check([&](ScalarType type) { return part(operation_cases(type), type, GetParam(), 2); }, false);
}
// LlvmConversions converts every value between float types in lanes.
TEST_P(LlvmOperations, CastsInVectorLanes) {
  check(
      [&](ScalarType type) {
        std::vector<Case> cases = cast_cases(type);
        std::erase_if(cases, [&](const Case& c) {
          return ir::is_float(type) && ir::is_float(*ir::parse_type(c.result));
        });
        return part(std::move(cases), type, GetParam(), 2);
      },
      true);
}
TEST_P(LlvmOperations, CastsOnScalars) {
  check([&](ScalarType type) { return part(cast_cases(type), type, GetParam(), 4); }, false);
}

// The same in C, in one file for each compiler. A vector loop is the scalar code in a loop.
void check_in_c(const std::vector<CCompiler>& compilers, const std::vector<bool>& forms) {
  ir::Context context;
  Tally tally;
  Batch batch({}, compilers, tally);
  for (ScalarType type : all_types())
    for (const auto& cases : {operation_cases(type), cast_cases(type)})
      for (const bool vector : forms)
        add_in_parts(batch, context, type, cases, vector, cases.size());
  EXPECT_EQ(batch.run(), "");
  EXPECT_EQ(tally.as_c, tally.programs);
  EXPECT_EQ(tally.c_runs, 4 * tally.programs * static_cast<int>(compilers.size()));
}

// With undefined behaviour as a trap; the optimisers of the others are for the slow run.
TEST(COperations, EqualTheEvaluator) { check_in_c({all_compilers(Optimise::Fast)[2]}, {false}); }
TEST(COperationsSlow, EqualTheEvaluator) {
  if (!std::getenv("TILEWRIGHT_SLOW_TESTS")) GTEST_SKIP() << "slow: set TILEWRIGHT_SLOW_TESTS=1";
  check_in_c(all_compilers(Optimise::Users), {false, true});
}

INSTANTIATE_TEST_SUITE_P(Host, LlvmOperations, ::testing::Values("x86-64-v3", "x86-64-v4"));

}  // namespace
}  // namespace tilewright::test

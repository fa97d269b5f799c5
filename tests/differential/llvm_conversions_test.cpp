// SPDX-License-Identifier: Apache-2.0
//
// Conversions in generated code and in C over every value: of each float format of at most 16 bits to every
// other and to f32, from every bf16 and f16 to each format, packed ones included; against ir::evaluate_cast and
// evaluate_saturate, which conversions_test.cpp holds to the definitions. Packed elements besides: odd rows,
// masks, strides and neighbours that must stay.
#include "tests/differential/compiled_program.h"

namespace tilewright::test {
namespace {

using ir::ScalarType;

std::string name(ScalarType type) { return std::string(ir::type_text(type)); }

std::vector<ScalarType> float_types() {
  std::vector<ScalarType> out;
  for (int i = 0; i < ir::kNumScalarTypes; ++i)
    if (const auto type = static_cast<ScalarType>(i); ir::is_float(type)) out.push_back(type);
  return out;
}

// Every value of a type of at most 16 bits, by code; of wider ones, those of bf16 and some beside them.
ir::Tensor every_value(ScalarType type) {
  const int width = ir::type_info(type).width;
  const ScalarType source = width <= 16 ? type : ScalarType::BF16;
  const std::int64_t count = std::int64_t{1} << ir::type_info(source).width;
  ir::Tensor tensor = ir::make_tensor(type, {count});
  for (std::int64_t i = 0; i < count; ++i) {
    double value = ir::float_value(source, static_cast<std::uint16_t>(i));
    // Between the values of narrower formats, and just beside.
    if (width > 16) value *= i % 3 == 0 ? 1.0 : i % 3 == 1 ? 1.03125 : 1.0 + 0x1p-20;
    tensor.data[static_cast<std::size_t>(i)].f = ir::round_to_type(type, value);
  }
  return tensor;
}

class LlvmConversions : public EachTarget {
 protected:
  struct Call {
    ir::Bindings bindings;
    ir::TensorMap inputs;
  };
  void run(const std::string& text, const std::vector<Call>& calls) {
    SCOPED_TRACE(text);
    const program::Program program = parse_text(text);
    CompiledProgram library(context, program, target);
    ASSERT_TRUE(library.ready());
    for (const Call& call : calls) run(library, program, call.bindings, call.inputs);
  }
  void run(CompiledProgram& library, const program::Program& program, const ir::Bindings& bindings,
           const ir::TensorMap& inputs) {
    ir::TensorMap expected = inputs;
    for (const program::Parameter& parameter : program.parameters) {
      if (!parameter.is_output) continue;
      std::vector<std::int64_t> shape;
      for (ir::Expr extent : parameter.shape)
        shape.push_back(ir::evaluate_extents(extent, bindings));
      expected[parameter.name] = ir::make_tensor(parameter.type, shape);
    }
    const PlainRun plain(program, bindings, expected);
    EXPECT_FALSE(plain.undefined());
    EXPECT_EQ(run_and_compare(library.objects(), program, bindings, inputs, expected, nullptr), "");
  }
};

// Of every second format, the others on the other host target; of all in the slow run and in C.
TEST_P(LlvmConversions, EveryValueOfTheNarrowFormats) {
  std::vector<ScalarType> formats = float_types();
  const std::string_view name_of_target = GetParam();
  if (name_of_target != "c" && !std::getenv("TILEWRIGHT_SLOW_TESTS")) {
    std::size_t n = name_of_target == "x86-64-v3" ? 0 : 1;
    std::erase_if(formats, [&](ScalarType) { return n++ % 2 != 0; });
  }
  for (ScalarType from : formats) {
    const ir::Tensor values = every_value(from);
    std::string text = "program all for all {\n  extent N\n  input x : " + name(from) + "[N]\n";
    std::string body;
    for (ScalarType to : float_types()) {
      text += "  output y_" + name(to) + " : " + name(to) + "[2, N]\n";
      const std::string cast = from == to ? "x[i]" : name(to) + "(x[i])";
      body += "  y_" + name(to) + "[0, i] = " + cast + "\n  y_" + name(to) + "[1, i] = saturate(" +
              name(to) + ", x[i])\n";
    }
    run(text +
            "  for t in 0 .. (N + 15) / 16 {\n  vector l in 0 .. 16 {\n  let i = t * 16 + l {\n"
            "  if i < N {\n" +
            body + "}\n}\n}\n}\n}\n",
        {{sizes({{"N", values.size()}}), {{context.symbol("x"), values}}}});
  }
}

TEST_P(LlvmConversions, PackedRowsMasksAndNeighbours) {
  for (const char* type : {"i4", "u4", "f4e2m1"}) {
    const std::string t(type);
    const std::string head =
        "program packed for packed {\n  extent M\n  extent N\n  input x : " + t +
        "[M, N]\n  output y : " + t + "[M, N]\n  output z : " + t + "[N, M]\n";
    const std::string scalar =
        head +
        "  parallel i in 0 .. M {\n for j in 0 .. N {\n y[i, j] = x[i, N - 1 - j]\n }\n }\n"
        "  for u in 0 .. M {\n for v in 0 .. N {\n z[v, u] = x[u, v]\n }\n }\n}\n";
    const std::string lanes =
        head +
        "  for i in 0 .. M {\n for jo in 0 .. (N + 7) / 8 {\n vector ji in 0 .. 8 {\n"
        " if jo * 8 + ji < N {\n y[i, jo * 8 + ji] = x[i, jo * 8 + ji]\n"
        " z[jo * 8 + ji, i] = x[i, N - 1 - (jo * 8 + ji)]\n }\n }\n }\n }\n}\n";
    std::vector<Call> calls;
    for (std::int64_t n : {1, 2, 5, 16, 33}) {
      const auto parameter_type = *ir::parse_type(t);
      ir::Tensor x = ir::make_tensor(parameter_type, {3, n});
      for (std::size_t k = 0; k < x.data.size(); ++k) {
        const auto code = static_cast<std::uint16_t>((k * 7 + 3) % 16);
        if (ir::is_float(parameter_type))
          x.data[k].f = ir::float_value(parameter_type, code);
        else
          x.data[k].i = ir::wrap_to_type(parameter_type, code);
      }
      calls.push_back({sizes({{"M", 3}, {"N", n}}), {{context.symbol("x"), std::move(x)}}});
    }
    for (const std::string& text : {scalar, lanes}) run(text, calls);
  }
}

// Two halves of a byte are written at different times: the first stays.
TEST_P(LlvmConversions, StoringOneElementKeepsTheOther) {
  ir::Tensor x = ir::make_tensor(ScalarType::U4, {9});
  for (std::size_t k = 0; k < 9; ++k) x.data[k].i = static_cast<std::int64_t>(k + 3);
  run(R"(program halves for halves {
  extent N
  input x : u4[N]
  output y : u4[N]
  for i in 0 .. (N + 1) / 2 {
    y[2 * i] = x[2 * i]
  }
  vector l in 0 .. 4 {
    y[2 * l + 1] = x[2 * l + 1] + u4(1)
  }
  for k in 0 .. (N + 1) / 2 {
    y[2 * k] = y[2 * k] + u4(2)
  }
}
)",
      {{sizes({{"N", 9}}), {{context.symbol("x"), x}}}});
}

// What is asked of arguments whose elements share bytes: two rows of five elements have six bytes, and a stride
// of six elements between rows.
TEST_P(LlvmConversions, PackedArgumentsAreJudged) {
  const program::Program program = parse_text(R"(program copy for copy {
  extent M
  extent N
  input x : i4[M, N]
  output y : f4e2m1[M, N]
  for i in 0 .. M {
    for j in 0 .. N {
      y[i, j] = f4e2m1(x[i, j])
    }
  }
}
)");
  CompiledProgram library(context, program, target);
  ASSERT_TRUE(library.ready());
  const ir::Bindings bindings = sizes({{"M", 2}, {"N", 5}});
  std::vector<Argument> arguments;
  arguments.reserve(2);
  for (const program::Parameter& parameter : program.parameters)
    arguments.emplace_back(parameter, bindings);
  tilewright_tensor& x = arguments[0].descriptor;
  ASSERT_EQ(x.size_bytes, 6U);
  tilewright_error error{};
  error.struct_size = sizeof(error);
  const tilewright_call call = tilewright_call_make(nullptr, &error);
  const auto status = [&] {
    return library.run(&call, {&x, &arguments[1].descriptor}, nullptr, 0);
  };
  EXPECT_EQ(status(), TILEWRIGHT_OK) << error.message;
  x.size_bytes = 5;
  EXPECT_EQ(status(), TILEWRIGHT_OUT_OF_BOUNDS);
  EXPECT_EQ(error.expected, 6);
  x.size_bytes = 6;
  std::int64_t rows_of_bytes[] = {6, 1};
  x.dl.strides = rows_of_bytes;
  EXPECT_EQ(status(), TILEWRIGHT_OK) << error.message;
  std::int64_t without_padding[] = {5, 1};
  x.dl.strides = without_padding;
  EXPECT_EQ(status(), TILEWRIGHT_UNSUPPORTED_STRIDES);
  EXPECT_EQ(error.expected, 6);
  x.dl.strides = nullptr;
  x.dl.dtype.code = 1;  // unsigned
  EXPECT_EQ(status(), TILEWRIGHT_WRONG_TYPE);
  x.dl.dtype = Argument::dtype(ScalarType::I8);
  EXPECT_EQ(status(), TILEWRIGHT_WRONG_TYPE);
}

INSTANTIATE_TEST_SUITE_P(Host, LlvmConversions, ::testing::Values("x86-64-v3", "x86-64-v4", "c"));

}  // namespace
}  // namespace tilewright::test

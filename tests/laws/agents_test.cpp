// SPDX-License-Identifier: Apache-2.0
//
// Programs with agents, written by hand (tests/laws/agents): each gives the right numbers however its
// asynchronous operations are timed, and each twin one token away is refused by exactly the diagnostic that
// twins.txt names.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "frontend/base/render.h"
#include "frontend/base/text.h"
#include "frontend/ir/interpret.h"
#include "frontend/ir/text.h"
#include "lowering/program/interpret.h"
#include "lowering/program/json.h"
#include "lowering/program/text.h"
#include "tests/laws/program_maker.h"

namespace tilewright {
namespace {

using program::AsyncOrder;
using program::InterpretOptions;

std::string read_file(const std::string& name) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  std::ifstream in(std::string(root ? root : ".") + "/tests/laws/agents/" + name);
  EXPECT_TRUE(in.good()) << name << " is missing; run from the root of the source tree";
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// The orders that are tried: eager, lazy, and random ones by seed.
std::vector<InterpretOptions> all_orders() {
  std::vector<InterpretOptions> out(8);
  out[1].async_order = AsyncOrder::Lazy;
  for (std::size_t i = 2; i < out.size(); ++i) {
    out[i].async_order = AsyncOrder::Random;
    out[i].schedule_seed = i;
  }
  return out;
}

std::string order_name(const InterpretOptions& options) {
  switch (options.async_order) {
    case AsyncOrder::Eager: return "eager";
    case AsyncOrder::Lazy: return "lazy";
    case AsyncOrder::Random: return "random " + std::to_string(options.schedule_seed);
  }
  return "";
}

using Sizes = std::vector<std::pair<const char*, std::int64_t>>;

struct Case {
  const char* name;
  const char* algorithm;
  std::vector<Sizes> sizes;  // the first is that of the twins
  double tolerance = 0;  // relative to 1; 0: bit for bit
  // Makes inputs sound after they were filled at random.
  std::function<void(ir::Context&, ir::TensorMap&)> arrange = {};
  // In place of the algorithm.
  std::function<ir::TensorMap(ir::Context&, const ir::TensorMap&)> reference = {};
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

const std::vector<Case>& cases();

ir::Bindings bind(ir::Context& context, const Sizes& sizes) {
  ir::Bindings out;
  for (const auto& [name, value] : sizes) out[context.symbol(name)] = value;
  return out;
}

// Small whole numbers, so that sums are exact in any order.
ir::TensorMap make_inputs(ir::Context& context, const Case& one, const program::Program& program,
                          const ir::Bindings& sizes) {
  ir::TensorMap out;
  std::uint32_t state = 12345;
  for (const program::Parameter& parameter : program.parameters) {
    if (parameter.is_output) continue;
    std::vector<std::int64_t> shape;
    for (ir::Expr e : parameter.shape) shape.push_back(ir::evaluate_extents(e, sizes));
    ir::Tensor tensor = ir::make_tensor(parameter.type, shape);
    for (ir::Scalar& value : tensor.data) {
      state = state * 1664525U + 1013904223U;
      const int small = static_cast<int>(state >> 24) % 9 - 4;
      if (ir::is_float(parameter.type))
        value.f = small;
      else
        value.i = small;
    }
    out.emplace(parameter.name, std::move(tensor));
  }
  if (one.arrange) one.arrange(context, out);
  return out;
}

struct Loaded {
  ir::Context context;
  std::string text;
  program::Program program;
};

std::unique_ptr<Loaded> load(const std::string& name, const std::string& text) {
  auto out = std::make_unique<Loaded>();
  out->text = text;
  const Source source(name + ".twp", out->text);
  auto parsed = program::parse_program(out->context, source);
  EXPECT_TRUE(parsed.ok()) << render(parsed.ok() ? std::vector<Diagnostic>() : parsed.diagnostics(),
                                     &source);
  if (!parsed.ok()) return nullptr;
  out->program = std::move(*parsed);
  return out;
}

void expect_right(const Case& one, const ir::TensorMap& got, const ir::TensorMap& wanted,
                  const std::string& what) {
  for (const auto& [name, tensor] : got) {
    const ir::Tensor& reference = wanted.at(name);
    ASSERT_EQ(tensor.shape, reference.shape);
    for (std::size_t i = 0; i < tensor.data.size(); ++i) {
      const double a = tensor.data[i].f;
      const double b = reference.data[i].f;
      ASSERT_LE(std::abs(a - b), one.tolerance * std::max(1.0, std::abs(b)))
          << what << ": " << name.text() << " at " << i << " is " << a << ", not " << b;
    }
  }
}

ir::TensorMap run_algorithm(ir::Context& context, const Case& one, const ir::Bindings& sizes,
                            const ir::TensorMap& inputs) {
  const Source source("algorithm", read_file(std::string(one.algorithm) + ".tw"));
  auto algorithm = ir::parse_algorithm(context, source);
  EXPECT_TRUE(algorithm.ok());
  if (!algorithm.ok()) return {};
  ir::InterpretOptions exact;
  exact.reading = ir::Reading::Exact;
  auto wanted = ir::interpret(*algorithm, sizes, inputs, exact);
  EXPECT_TRUE(wanted.ok()) << render(wanted.ok() ? std::vector<Diagnostic>() : wanted.diagnostics(),
                                     &source);
  return wanted.ok() ? *wanted : ir::TensorMap();
}

class Agents : public testing::TestWithParam<Case> {};

TEST_P(Agents, GivesTheRightNumbersInEveryOrder) {
  const Case& one = GetParam();
  auto loaded = load(one.name, read_file(std::string(one.name) + ".twp"));
  ASSERT_TRUE(loaded);
  for (const Sizes& sizes : one.sizes) {
    const ir::Bindings bindings = bind(loaded->context, sizes);
    const ir::TensorMap inputs = make_inputs(loaded->context, one, loaded->program, bindings);
    const ir::TensorMap wanted = one.reference
                                     ? one.reference(loaded->context, inputs)
                                     : run_algorithm(loaded->context, one, bindings, inputs);
    ASSERT_FALSE(wanted.empty());
    for (const InterpretOptions& options : all_orders()) {
      auto got = program::interpret(loaded->context, loaded->program, bindings, inputs, options);
      ASSERT_TRUE(got.ok()) << order_name(options) << "\n" << render(got.diagnostics(), nullptr);
      expect_right(one, got->outputs, wanted, order_name(options));
    }
  }
}

TEST_P(Agents, TextAndJsonRoundTrip) {
  auto loaded = load(GetParam().name, read_file(std::string(GetParam().name) + ".twp"));
  ASSERT_TRUE(loaded);
  const std::string printed = program::print(loaded->program);
  const Source source("printed", printed);
  auto again = program::parse_program(loaded->context, source);
  ASSERT_TRUE(again.ok()) << render(again.diagnostics(), &source);
  EXPECT_TRUE(*again == loaded->program);
  EXPECT_EQ(program::print(*again), printed);
  auto json = program::program_from_json(loaded->context, program::to_json(loaded->program));
  ASSERT_TRUE(json.ok()) << render(json.diagnostics(), nullptr);
  EXPECT_TRUE(*json == loaded->program);
}

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// Without comments, blanks and line ends as one blank.
std::string one_line(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] == '#') continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) out += word + " ";
  }
  return out;
}

struct Twin {
  std::string program, before, after, code;
};

std::vector<Twin> twins() {
  std::vector<Twin> out;
  std::istringstream in(read_file("twins.txt"));
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> parts;
    std::istringstream row(line);
    for (std::string part; std::getline(row, part, ';');) parts.push_back(trimmed(part));
    EXPECT_EQ(parts.size(), 4U) << line;
    if (parts.size() == 4) out.push_back({parts[0], parts[1], parts[2], parts[3]});
  }
  return out;
}

// How many tokens differ between two texts of as many.
int different_tokens(const std::string& a, const std::string& b) {
  const Source left("a", a);
  const Source right("b", b);
  TextCursor x(left);
  TextCursor y(right);
  int count = 0;
  while (!x.at_end() && !y.at_end())
    if (x.next().text != y.next().text) ++count;
  return x.at_end() && y.at_end() ? count : -1;
}

TEST(AgentTwins, AreRefusedByExactlyTheirDiagnostic) {
  std::set<std::string> codes;
  for (const Twin& twin : twins()) {
    SCOPED_TRACE(twin.program + ": " + twin.before + " -> " + twin.after);
    const Case* one = nullptr;
    for (const Case& c : cases())
      if (twin.program == c.name) one = &c;
    ASSERT_TRUE(one);
    std::string text = one_line(read_file(twin.program + ".twp"));
    const std::size_t at = text.find(twin.before);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(text.find(twin.before, at + 1), std::string::npos) << "stands there twice";
    const std::string original = text;
    text.replace(at, twin.before.size(), twin.after);
    EXPECT_EQ(different_tokens(original, text), 1);
    auto loaded = load(twin.program, text);
    if (!loaded) continue;
    codes.insert(twin.code);
    const ir::Bindings bindings = bind(loaded->context, one->sizes[0]);
    const ir::TensorMap inputs = make_inputs(loaded->context, *one, loaded->program, bindings);
    for (const InterpretOptions& options : all_orders()) {
      auto got = program::interpret(loaded->context, loaded->program, bindings, inputs, options);
      if (got.ok()) {
        ADD_FAILURE() << order_name(options) << ": not refused";
        continue;
      }
      ASSERT_EQ(got.diagnostics().size(), 1U);
      EXPECT_EQ(code_text(got.diagnostics()[0].code), twin.code)
          << order_name(options) << "\n"
          << render(got.diagnostics(), nullptr);
    }
  }
  // Everything that the interpreter detects of agents.
  for (const char* code : {"E0550", "E0551", "E0557", "E0558", "E0559", "E0560", "E0561", "E0562",
                           "E0563", "E0564", "E0565", "E0566", "E0567"})
    EXPECT_TRUE(codes.contains(code)) << code << " has no twin";
}

// Programs that mean nothing, in every order: a result or one diagnostic. Results are those of the first order,
// since nothing that is unordered passes; but for atomics, which may be done in any order.
TEST(AgentsAtRandom, GiveAResultOrOneDiagnostic) {
  std::set<Code> codes;
  for (unsigned seed = 0; seed < 300; ++seed) {
    ir::Context context;
    const program::Program made = ProgramMaker(context, seed).make();
    bool atomics = false;
    program::walk(made.body,
                  [&](program::Stmt s) { atomics = atomics || s.as<program::Atomic>(); });
    const ir::Bindings sizes = bind(context, {{"M", 8}});
    ir::TensorMap inputs;
    ir::Tensor a = ir::make_tensor(ir::ScalarType::F32, {8});
    for (std::size_t i = 0; i < a.data.size(); ++i) a.data[i].f = double(i) - 3;
    inputs.emplace(context.symbol("a"), std::move(a));
    std::optional<ir::TensorMap> first;
    for (InterpretOptions options : all_orders()) {
      if (options.schedule_seed > 3) continue;
      options.step_limit = 20'000;
      auto got = program::interpret(context, made, sizes, inputs, options);
      if (!got.ok()) {
        ASSERT_EQ(got.diagnostics().size(), 1U) << "seed " << seed;
        codes.insert(got.diagnostics()[0].code);
        continue;
      }
      if (!first) first = got->outputs;
      if (atomics) continue;
      for (const auto& [name, tensor] : got->outputs)
        for (std::size_t i = 0; i < tensor.data.size(); ++i)
          ASSERT_TRUE(tensor.data[i].i == first->at(name).data[i].i)
              << "seed " << seed << ", " << order_name(options) << "\n"
              << program::print(made);
    }
  }
  EXPECT_GE(codes.size(), 8U);
}

// Scores between -8 and 8.
void scale_queries(ir::Context& context, ir::TensorMap& inputs) {
  for (ir::Scalar& value : inputs.at(context.symbol("q")).data) value.f /= 16;
}

// Groups of 0 to 6 rows, the last up to the end.
void arrange_groups(ir::Context& context, ir::TensorMap& inputs) {
  ir::Tensor& start = inputs.at(context.symbol("start"));
  const std::int64_t rows = inputs.at(context.symbol("x")).shape[0];
  std::int64_t at = 0;
  for (std::size_t g = 0; g + 1 < start.data.size(); ++g) {
    start.data[g].i = std::min(at, rows);
    at += static_cast<std::int64_t>((g * 5 + 3) % 7);
  }
  start.data.back().i = rows;
}

ir::TensorMap grouped_reference(ir::Context& context, const ir::TensorMap& inputs) {
  const ir::Tensor& x = inputs.at(context.symbol("x"));
  const ir::Tensor& w = inputs.at(context.symbol("w"));
  const ir::Tensor& start = inputs.at(context.symbol("start"));
  ir::Tensor y = ir::make_tensor(ir::ScalarType::F32, {x.shape[0], 4});
  for (std::int64_t g = 0; g < w.shape[0]; ++g)
    for (std::int64_t r = start.data[std::size_t(g)].i; r < start.data[std::size_t(g) + 1].i; ++r)
      for (std::int64_t n = 0; n < 4; ++n) {
        float sum = 0;
        for (std::int64_t k = 0; k < 8; ++k)
          sum += static_cast<float>(x.data[std::size_t(r * 8 + k)].f *
                                    w.data[std::size_t((g * 8 + k) * 4 + n)].f);
        y.data[std::size_t(r * 4 + n)].f = sum;
      }
  ir::TensorMap out;
  out.emplace(context.symbol("y"), std::move(y));
  return out;
}

const std::vector<Case>& cases() {
  const auto gemm = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return Sizes{{"M", m}, {"N", n}, {"K", k}};
  };
  const auto attention = [](std::int64_t s, std::int64_t t) { return Sizes{{"S", s}, {"T", t}}; };
  const auto groups = [](std::int64_t r, std::int64_t g) { return Sizes{{"R", r}, {"G", g}}; };
  static const std::vector<Case> all = {
      {"gemm_ring", "gemm", {gemm(16, 16, 24), gemm(8, 24, 4), gemm(0, 8, 8), gemm(8, 8, 0)}},
      {"systolic_dma", "linear_relu", {{{"M", 40}}, {{"M", 8}}, {{"M", 16}}}},
      {"attention_roles",
       "attention",
       {attention(16, 20), attention(8, 4), attention(0, 8)},
       1e-5,
       scale_queries},
      {"attention_pair",
       "attention",
       {attention(16, 32), attention(8, 8), attention(0, 16)},
       1e-5,
       scale_queries},
      {"ping_pong", "gemm", {gemm(32, 8, 20), gemm(24, 16, 4), gemm(8, 8, 8), gemm(0, 8, 8)}},
      {"stream_k", "gemm", {gemm(16, 16, 20), gemm(8, 8, 4), gemm(8, 8, 40), gemm(0, 8, 8)}},
      {"grouped",
       "",
       {groups(23, 6), groups(1, 1), groups(9, 4), groups(0, 2)},
       0,
       arrange_groups,
       grouped_reference},
  };
  return all;
}

INSTANTIATE_TEST_SUITE_P(Programs, Agents, testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tilewright

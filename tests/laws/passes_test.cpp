// SPDX-License-Identifier: Apache-2.0
//
// Each pass keeps the meaning of the Program before it: outputs bit for bit, and `contract` within the
// bound that the algorithm's rounding allows. A pass run twice changes nothing more.
#include "tests/laws/random_case.h"

namespace tilewright {
namespace {

struct Outcome {
  std::map<Symbol, ir::Tensor> outputs;
  std::string failure;
};

Outcome run(ir::Context& context, const program::Program& program, const ir::Bindings& bindings,
            const ir::TensorMap& inputs) {
  program::InterpretOptions options;
  options.step_limit = 2000000;
  auto result = program::interpret(context, program, bindings, inputs, options);
  Outcome out;
  if (result.ok()) {
    out.outputs = std::move(result->outputs);
  } else {
    out.failure = laws::messages(result.diagnostics());
  }
  return out;
}

TEST(Passes, KeepMeaning) {
  const std::uint64_t first = laws::first_seed();
  const auto cases = static_cast<std::uint64_t>(laws::num_cases(300, 20000));
  std::map<std::string, int> compared;
  int contracted = 0;
  for (std::uint64_t seed = first + 500000; seed < first + 500000 + cases; ++seed) {
    laws::Case subject(seed);
    auto built = build::build(subject.context, subject.polyhedra, subject.algorithm,
                              subject.random.schedule);
    const auto bindings = subject.bindings(0);
    if (!built.ok() || !bindings) continue;
    const ir::TensorMap inputs = ir::random_inputs(subject.algorithm, *bindings, seed);
    program::Program before = *built;
    Outcome expected = run(subject.context, before, *bindings, inputs);
    if (!expected.failure.empty()) continue;  // past the limit of steps: build_test looks for traps
    for (const passes::Pass& pass : passes::all_passes()) {
      const program::Program after = pass.run(subject.context, before);
      const std::string what = "after " + std::string(pass.name) + "\n" + program::print(before) +
                               program::print(after) + subject.text();
      Outcome got = run(subject.context, after, *bindings, inputs);
      ASSERT_EQ(got.failure, "") << what;
      ++compared[std::string(pass.name)];
      const bool contracts = pass.name == std::string_view("contract");
      if (contracts && !(after == before)) {
        ++contracted;
        auto bounds = ir::interpret_with_bound(subject.algorithm, *bindings, inputs);
        ASSERT_TRUE(bounds.ok());
        for (const ir::TensorPart& output : subject.algorithm.output_tensors())
          ASSERT_FALSE(ir::find_violation(
              bounds->at(output.name), got.outputs.at(subject.algorithm.argument_of(output.name))))
              << what;
      } else {
        for (const auto& [name, tensor] : got.outputs)
          ASSERT_EQ(laws::first_difference(expected.outputs.at(name), tensor), "") << what;
      }
      ASSERT_TRUE(pass.run(subject.context, after) == after)
          << "twice is not once: " << what << program::print(pass.run(subject.context, after));
      before = after;
      expected = std::move(got);
    }
  }
  for (const passes::Pass& pass : passes::all_passes())
    EXPECT_GT(compared[std::string(pass.name)], static_cast<int>(cases / 2)) << pass.name;
  EXPECT_GT(contracted, 0);
}

}  // namespace
}  // namespace tilewright

// SPDX-License-Identifier: Apache-2.0
//
// The law of validation: code with one fault is refused wherever a run of it on random inputs differs from the
// Program. The runs are those of the mutated listing on known values; what they should give the Program's interpreter
// says. A mutant whose runs do not differ may be validated: the fault may change nothing.
#include "lowering/validate/mutate.h"

#include "frontend/ir/random.h"
#include "tests/unit/lowering/validate/subjects.h"

namespace tilewright::validate {
namespace {

using Sizes = std::vector<std::vector<std::pair<const char*, std::int64_t>>>;

struct Tally {
  int mutants = 0;
  int differ = 0;
  int validated = 0;
};

// A loop that a mutation makes endless is refused after so many instructions.
constexpr std::int64_t kSteps = 300'000;

class Hunt {
 public:
  Hunt(Subject& subject, const Sizes& sizes) : subject_(subject) {
    options_.code_steps = kSteps;
    for (const auto& one : sizes) {
      ir::Bindings bindings;
      for (const auto& [extent, value] : one) bindings[subject.context->symbol(extent)] = value;
      options_.sizes.push_back(bindings);
      for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        Known known{bindings, ir::random_inputs(subject.algorithm, bindings, seed, seed == 2), {}};
        auto run = program::interpret(*subject.context, subject.dispatch->variants[0].program,
                                      bindings, known.inputs);
        EXPECT_TRUE(run.ok());
        if (run.ok()) known.outputs = std::move(run->outputs);
        known_.push_back(std::move(known));
      }
    }
  }

  void run(const Mutation& mutation, Tally* tally) {
    const Listing listing = mutated(subject_.listing, mutation);
    ++tally->mutants;
    const bool differs = differs_on_values(listing);
    tally->differ += differs;
    const auto report =
        validate(*subject_.context, subject_.algorithm, *subject_.dispatch, listing, options_);
    const bool validated = report.ok() && report->is_validated;
    tally->validated += validated;
    EXPECT_FALSE(validated && differs)
        << subject_.name << ": " << mutation_text(subject_.listing, mutation);
  }

 private:
  struct Known {
    ir::Bindings sizes;
    ir::TensorMap inputs;
    ir::TensorMap outputs;
  };

  // A run that stops is a difference too: what LLVM leaves undefined may do anything.
  bool differs_on_values(const Listing& listing) {
    for (const Known& known : known_) {
      const auto got = run_code(*subject_.context, *subject_.dispatch, listing, known.sizes,
                                known.inputs, kSteps);
      if (!got.ok()) return true;
      for (const auto& [name, tensor] : known.outputs)
        if (!laws::first_difference(tensor, got->at(name)).empty()) return true;
    }
    return false;
  }

  Subject& subject_;
  Options options_;
  std::vector<Known> known_;
};

void hunt(const std::string& name, const std::string& schedule, const Sizes& sizes, int usual,
          Tally* tally) {
  Subject subject;
  ASSERT_EQ(application(subject, name, schedule), "");
  Hunt hunt(subject, sizes);
  std::vector<Mutation> all;
  for (const char* part : {".kernel", ".parallel"}) {
    const auto some = mutations(subject.listing, name + part);
    all.insert(all.end(), some.begin(), some.end());
  }
  ASSERT_GT(all.size(), 50U);
  const int wanted = std::getenv("TILEWRIGHT_SLOW_TESTS") ? usual * 20 : usual;
  ir::Random random(17);
  for (int i = 0; i < wanted; ++i) hunt.run(random.pick(all), tally);
}

TEST(CodeMutants, NoneThatDiffersIsValidated) {
  Tally tally;
  hunt("gemm", "blocked_avx2", {{{"M", 7}, {"N", 5}, {"K", 2}}}, 140, &tally);
  hunt("gemm_bf16", "blocked_avx2", {{{"M", 1}, {"N", 17}, {"K", 2}}}, 70, &tally);
  hunt("softmax", "rows", {{{"R", 1}, {"C", 67}}}, 140, &tally);
  hunt("blur", "tiled_avx2", {{{"H", 2}, {"W", 33}}}, 70, &tally);
  EXPECT_GE(tally.differ, 200) << tally.mutants << " mutants, " << tally.validated << " validated";
  RecordProperty("mutants", tally.mutants);
  RecordProperty("differ", tally.differ);
  RecordProperty("validated", tally.validated);
  std::printf("%d mutants, %d differ, %d validated\n", tally.mutants, tally.differ,
              tally.validated);
}

}  // namespace
}  // namespace tilewright::validate

// SPDX-License-Identifier: Apache-2.0
//
// Programs to compile and run, with what the Program interpreter says they compute: random algorithms x random
// schedules, and the applications with their own ones.
#pragma once

#include <map>
#include <optional>

#include "tests/differential/c_compiler.h"
#include "tests/laws/random_case.h"
#include "tests/laws/round_trips.h"

namespace tilewright::test {

struct Tally {
  int cases = 0;
  int programs = 0;
  int refused = 0;  // by build
  int unlowered =
      0;  // by code generation: a register buffer under a loop that stays one, and the like
  int skipped = 0;  // sizes that take the interpreter too long
  int runs = 0;
  int as_c = 0;
  int c_runs = 0;
  int not_in_c = 0;  // statements that C has no form for
  int exact = 0;  // sizes where the algorithm's interpreter says every bit
  int parallel = 0;  // programs with a parallel loop
  int vector = 0;
  int planned = 0;  // programs with a plan: run whole, and in two parts
};

inline bool has_loop(program::Stmt body, program::LoopKind kind) {
  bool found = false;
  program::walk(body, [&](program::Stmt stmt) {
    const auto* loop = stmt.as<program::For>();
    found |= loop != nullptr && loop->loop == kind;
  });
  return found;
}

// One Program with what the interpreter says it computes, at some sizes.
struct Expected {
  ir::Bindings bindings;
  ir::TensorMap inputs;
  ir::TensorMap values;  // of every parameter
};
struct Subject {
  std::string text;
  program::Program program;
  std::vector<Expected> expected;
};

// What the interpreter says of the Program at these sizes; nothing when it takes too long.
inline Result<std::optional<Expected>> interpret(ir::Context& context,
                                                 const program::Program& program,
                                                 const ir::Bindings& bindings, ir::TensorMap inputs,
                                                 std::int64_t step_limit) {
  program::InterpretOptions options;
  options.step_limit = step_limit;
  auto run = program::interpret(context, program, bindings, inputs, options);
  if (!run.ok()) {
    if (const Code code = run.diagnostics()[0].code;
        code == Code::ProgramLimit || code == Code::FactBroken)
      return std::optional<Expected>();
    return Failure{run.diagnostics()};
  }
  Expected expected{bindings, inputs, std::move(inputs)};
  for (auto& [name, tensor] : run->outputs) expected.values[name] = std::move(tensor);
  return std::optional(std::move(expected));
}

// Random algorithms may have extents that no dimension gives, which no library function can learn: inputs of
// those sizes give them.
inline std::vector<Symbol> add_extent_inputs(ir::Context& context, program::Program& program) {
  std::vector<Symbol> added;
  for (const ir::ExtentDecl& extent : program.extents) {
    const ir::Expr size = context.extent(extent.name);
    const bool given = std::any_of(
        program.parameters.begin(), program.parameters.end(), [&](const program::Parameter& p) {
          return std::find(p.shape.begin(), p.shape.end(), size) != p.shape.end();
        });
    if (given) continue;
    added.push_back(context.symbol("size_of_" + std::string(extent.name.text())));
    program.parameters.insert(program.parameters.begin(),
                              {added.back(), ir::ScalarType::I8, {size}, false});
  }
  return added;
}

// A random algorithm and schedule, lowered; nothing: refused. `program` is what `build` gives for some, and
// that after all passes for the others.
struct Lowered {
  program::Program built;
  program::Program program;
  bool contracted = false;  // products of sums are not rounded
};
inline std::optional<Lowered> lower(laws::Case& random) {
  auto built =
      build::build(random.context, random.polyhedra, random.algorithm, random.random.schedule);
  if (!built.ok()) return std::nullopt;
  if (random.seed % 8 == 7) return Lowered{*built, *built, false};
  auto passed = passes::run_passes(random.context, *built);
  if (!passed.ok()) return std::nullopt;
  return Lowered{std::move(*built), std::move(*passed), true};
}

// Where the tree keeps the order of folds the algorithm's own interpreter says every bit of the outputs. For
// other trees tests/laws/build_test.cpp holds the same Programs to the computed bound.
inline std::string compare_with_algorithm(const laws::Case& random, const Lowered& lowered,
                                          const ir::TensorMap& inputs, const Expected& expected,
                                          Tally& tally) {
  const tree::Tree& tree = random.random.schedule.tree;
  if (!laws::keeps_fold_order(random.algorithm, tree)) return {};
  if (lowered.contracted && !tree.inlined.empty()) return {};
  ir::InterpretOptions options;
  options.reading = ir::Reading::Exact;
  options.order.fused = lowered.contracted;
  options.step_limit = 300000;
  const auto values = ir::interpret(random.algorithm, expected.bindings, inputs, options);
  if (!values.ok()) return {};
  ++tally.exact;
  for (const ir::TensorPart& output : random.algorithm.output_tensors()) {
    const std::string difference = laws::first_difference(
        values->at(output.name), expected.values.at(random.algorithm.argument_of(output.name)));
    if (!difference.empty())
      return "not the algorithm: " + std::string(output.name.text()) + " " + difference + "\n";
  }
  return {};
}

// The random case as a subject, with what is expected of it at some sizes. `wrong`: a representation does not
// read back as itself, the interpreter traps, or the Program does not compute the algorithm.
inline std::optional<Subject> random_subject(laws::Case& random, Tally& tally, std::string* wrong) {
  ++tally.cases;
  *wrong = laws::case_round_trips(random);
  if (!wrong->empty()) return std::nullopt;
  const auto lowered = lower(random);
  if (!lowered) {
    ++tally.refused;
    return std::nullopt;
  }
  Subject subject{random.text(), lowered->program, {}};
  for (const program::Program* program : {&lowered->built, &lowered->program})
    if (wrong->empty()) *wrong = laws::program_round_trips(random.context, *program);
  const std::vector<Symbol> added = add_extent_inputs(random.context, subject.program);
  for (int which = 0; which < 4 && wrong->empty(); ++which) {
    const auto bindings = random.bindings(which);
    if (!bindings) continue;
    const ir::TensorMap inputs =
        ir::random_inputs(random.algorithm, *bindings, random.seed + which, random.seed % 3 == 0);
    ir::TensorMap all = inputs;
    for (Symbol name : added)
      all[name] = ir::make_tensor(
          ir::ScalarType::I8,
          {ir::evaluate_extents(subject.program.find_parameter(name)->shape[0], *bindings)});
    auto expected = interpret(random.context, subject.program, *bindings, std::move(all), 300000);
    if (!expected.ok()) {
      *wrong = laws::messages(expected.diagnostics());
    } else if (*expected) {
      *wrong = compare_with_algorithm(random, *lowered, inputs, **expected, tally);
      subject.expected.push_back(std::move(**expected));
    } else {
      ++tally.skipped;
    }
    if (!wrong->empty()) *wrong += laws::print_sizes(*bindings) + program::print(subject.program);
  }
  if (!wrong->empty()) *wrong += subject.text;
  if (!wrong->empty() || subject.expected.empty()) return std::nullopt;
  return subject;
}

// By code generation, of what the target has not.
inline bool is_refusal(const Diagnostic& d) {
  return !d.remedy.empty() &&
         (d.code == Code::RegisterIndex || d.code == Code::UnsupportedByTarget ||
          d.code == Code::InstructionUnavailable);
}

// Every schedule of every application, at small sizes that reach tiles, tails and empty loops.
struct Application {
  const char* name;
  std::vector<std::vector<std::pair<const char*, std::int64_t>>> sizes;
};

inline std::vector<Application> all_applications() {
  return {Application{"gemm",
                      {{{"M", 0}, {"N", 3}, {"K", 2}},
                       {{"M", 1}, {"N", 1}, {"K", 0}},
                       {{"M", 3}, {"N", 600}, {"K", 19}},
                       {{"M", 13}, {"N", 131}, {"K", 7}},
                       {{"M", 6}, {"N", 64}, {"K", 17}}}},
          Application{"gemm_bf16",
                      {{{"M", 1}, {"N", 0}, {"K", 2}},
                       {{"M", 1}, {"N", 1}, {"K", 1}},
                       {{"M", 6}, {"N", 64}, {"K", 16}},
                       {{"M", 13}, {"N", 131}, {"K", 7}}}},
          Application{"gemm_i8",
                      {{{"M", 1}, {"N", 0}, {"K", 2}},
                       {{"M", 1}, {"N", 1}, {"K", 1}},
                       {{"M", 6}, {"N", 64}, {"K", 16}},
                       {{"M", 13}, {"N", 131}, {"K", 27}}}},
          Application{"linear",
                      {{{"M", 0}, {"N", 3}, {"K", 2}},
                       {{"M", 1}, {"N", 1}, {"K", 0}},
                       {{"M", 3}, {"N", 131}, {"K", 7}},
                       {{"M", 13}, {"N", 67}, {"K", 19}}}},
          Application{"softmax",
                      {{{"R", 0}, {"C", 5}},
                       {{"R", 1}, {"C", 1}},
                       {{"R", 5}, {"C", 64}},
                       {{"R", 3}, {"C", 211}}}},
          Application{"layernorm",
                      {{{"R", 0}, {"C", 5}},
                       {{"R", 1}, {"C", 1}},
                       {{"R", 5}, {"C", 64}},
                       {{"R", 3}, {"C", 211}}}},
          Application{"blur",
                      {{{"H", 0}, {"W", 7}},
                       {{"H", 1}, {"W", 1}},
                       {{"H", 37}, {"W", 67}},
                       {{"H", 3}, {"W", 300}}}},
          Application{"attention",
                      {{{"B", 1}, {"H", 1}, {"S", 1}, {"T", 1}, {"D", 1}},
                       {{"B", 1}, {"H", 2}, {"S", 7}, {"T", 67}, {"D", 5}},
                       {{"B", 2}, {"H", 1}, {"S", 5}, {"T", 17}, {"D", 67}}}}};
}

// An application's default schedule and its own ones, lowered, with what is expected of each.
inline std::vector<Subject> make_application_subjects(ir::Context& context,
                                                      const Application& application,
                                                      std::string* wrong) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  const std::string name = application.name;
  const std::filesystem::path folder = std::filesystem::path(root ? root : ".") / "apps" / name;
  poly::Context polyhedra;
  std::vector<Subject> subjects;
  auto algorithm =
      ir::parse_algorithm(context, Source(name + ".tw", read_file(folder / (name + ".tw"))));
  if (!algorithm.ok()) *wrong = laws::messages(algorithm.diagnostics());
  if (!algorithm.ok()) return subjects;
  std::vector<tree::Schedule> schedules = {
      directives::default_schedule(context, *algorithm, "x86-64-v3")};
  for (const auto& entry : std::filesystem::directory_iterator(folder / "schedules")) {
    auto schedule = directives::parse_schedule(
        context, *algorithm, Source(entry.path().filename().string(), read_file(entry.path())));
    if (!schedule.ok()) *wrong = entry.path().string() + laws::messages(schedule.diagnostics());
    if (!schedule.ok()) return subjects;
    schedules.push_back(std::move(*schedule));
  }
  for (const tree::Schedule& schedule : schedules) {
    auto built = build::build(context, polyhedra, *algorithm, schedule);
    if (!built.ok()) *wrong = laws::messages(built.diagnostics());
    if (!built.ok()) return subjects;
    auto passed = passes::run_passes(context, *built);
    if (!passed.ok()) *wrong = laws::messages(passed.diagnostics());
    if (!passed.ok()) return subjects;
    Subject subject{directives::print(schedule), std::move(*passed), {}};
    for (const auto& sizes : application.sizes) {
      ir::Bindings bindings;
      for (const auto& [extent, value] : sizes) bindings[context.symbol(extent)] = value;
      const bool guarded =
          std::all_of(subject.program.requirements.begin(), subject.program.requirements.end(),
                      [&](ir::Expr e) { return ir::evaluate_extents(e, bindings) != 0; });
      if (!guarded) continue;  // the schedule is for other sizes
      auto expected = interpret(context, subject.program, bindings,
                                ir::random_inputs(*algorithm, bindings, 7), std::int64_t{1} << 32);
      if (!expected.ok()) *wrong = laws::messages(expected.diagnostics());
      if (!expected.ok()) return subjects;
      subject.expected.push_back(std::move(**expected));
    }
    if (subject.expected.empty()) *wrong = "no size is for the schedule\n" + subject.text;
    if (subject.expected.empty()) return subjects;
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

// The same, made once for all tests of a process: the interpreter takes longest.
struct ApplicationSubjects {
  ir::Context context;
  std::vector<Subject> subjects;
  std::string wrong;
};
inline ApplicationSubjects& application_subjects(const Application& application) {
  static std::map<std::string, ApplicationSubjects> made;
  const auto [it, is_new] = made.try_emplace(application.name);
  ApplicationSubjects& all = it->second;
  if (is_new) all.subjects = make_application_subjects(all.context, application, &all.wrong);
  return all;
}

}  // namespace tilewright::test

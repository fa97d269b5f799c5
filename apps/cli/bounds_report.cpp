// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/bounds_report.h"

#include <algorithm>
#include <cmath>

#include "frontend/base/format.h"
#include "frontend/ir/interpret.h"
#include "frontend/ir/text.h"
#include "lowering/rounding/levels.h"
#include "lowering/rounding/running.h"
#include "lowering/rounding/static_bounds.h"

namespace tilewright::cli {

namespace {

constexpr std::int64_t kSampleSize = 64;
constexpr std::int64_t kMostSteps = 4'000'000;  // of all runs that are measured

std::string short_number(double value) {
  if (!std::isfinite(value)) return "infinite";
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

std::string fact_text(const rounding::Fact& fact) {
  const bool most = fact.kind == rounding::Fact::Kind::Most;
  const auto* op = fact.operation.as<ir::Op>();
  const std::string of = op && op->op == ir::OpCode::Div ? "divisor" : "argument";
  return fact.name + (most ? ": the largest " : ": the least ") + of + " of `" +
         ir::print(fact.operation) + "` in `" + fact.statement + "`";
}

// Sizes of 64 or what is allowed near it, inputs up to `magnitude`, exponentials of at most 0, divisors of at least 1.
rounding::Names sample(const program::Program& program, const rounding::StaticBounds& bounds,
                       double magnitude) {
  rounding::Names names;
  for (const ir::ExtentDecl& extent : program.extents) {
    std::int64_t size = std::max<std::int64_t>(kSampleSize, extent.min);
    if (extent.max) size = std::min(size, *extent.max);
    names[std::string(extent.name.text())] = static_cast<double>(size);
  }
  for (const program::Parameter& parameter : program.parameters)
    if (ir::is_float(parameter.type)) {
      names["|" + std::string(parameter.name.text()) + "|"] = magnitude;
      names["|" + std::string(parameter.name.text()) + "| given"] = magnitude;
    }
  for (const rounding::Fact& fact : bounds.facts)
    names[fact.name] = fact.kind == rounding::Fact::Kind::Most ? 0 : 1;
  return names;
}

std::string sample_text(const program::Program& program) {
  std::string out;
  for (const ir::ExtentDecl& extent : program.extents) {
    std::int64_t size = std::max<std::int64_t>(kSampleSize, extent.min);
    if (extent.max) size = std::min(size, *extent.max);
    out += std::string(extent.name.text()) + "=" + std::to_string(size) + " ";
  }
  return out;
}

double largest_error(const rounding::StaticBounds& bounds, const rounding::Names& values) {
  double out = 0;
  for (const rounding::OutputBound& output : bounds.outputs)
    if (!output.exact) out = std::max(out, values.at(output.error));
  return out;
}

}  // namespace

Result<BoundsReport> bounds_report(Work& work, const program::Program& program,
                                   const std::string& machine) {
  rounding::Units units;
  if (const auto found = machine::find_machine(machine); found.ok())
    units = rounding::units_of(*found);
  TILEWRIGHT_TRY(bounds, rounding::static_bounds(work.context(), program, units));
  const rounding::Levels levels = rounding::levels_of(program);
  BoundsReport out;
  out.json = Json::object();
  out.text = "rounding\n";
  Json definitions = Json::array();
  for (const rounding::Definition& one : bounds.definitions) {
    out.text += "  " + one.name + " <= " + one.value.text() + "\n";
    Json row = Json::object();
    row.set("name", one.name);
    row.set("at_most", one.value.text());
    definitions.push(std::move(row));
  }
  out.json.set("definitions", std::move(definitions));
  Json facts = Json::array();
  for (const rounding::Fact& fact : bounds.facts) {
    out.text += "  " + fact_text(fact) + "\n";
    facts.push(fact_text(fact));
  }
  out.json.set("facts", std::move(facts));
  Json outputs = Json::array();
  for (const rounding::OutputBound& output : bounds.outputs) {
    Json row = Json::object();
    row.set("output", output.output.text());
    row.set("error", output.exact ? std::string("0") : output.error);
    outputs.push(std::move(row));
    if (output.exact)
      out.text += "  " + std::string(output.output.text()) + ": no rounding, bits are equal\n";
  }
  out.json.set("outputs", std::move(outputs));
  const double at_one = largest_error(bounds, bounds.evaluate(sample(program, bounds, 1)));
  int bits = -1;
  for (int b = 0; b < 128; ++b)
    if (std::isfinite(
            largest_error(bounds, bounds.evaluate(sample(program, bounds, std::ldexp(1, b))))))
      bits = b;
  const bool given = !bounds.facts.empty();
  out.text +=
      "  at " + sample_text(program) + "and inputs up to 1" +
      (given ? ", most 0 and least 1" : "") + ": " + short_number(at_one) + "; " +
      (bits < 0 ? std::string("not finite") : "finite up to inputs of 2^" + std::to_string(bits)) +
      "\n";
  Json example = Json::object();
  example.set("sizes", sample_text(program));
  example.set("error", at_one);
  example.set("finite_up_to_2_to_the", bits);
  out.json.set("example", std::move(example));
  Json equal = Json::object();
  const auto level = [&](const char* name, const rounding::Level& one) {
    out.text +=
        std::string("  ") + name + ": " + (one.holds ? "yes" : "not shown: " + one.reason) + "\n";
    Json row = Json::object();
    row.set("holds", one.holds);
    if (!one.holds) row.set("reason", one.reason);
    equal.set(name, std::move(row));
  };
  level("same bits in every run", levels.every_run);
  level("same bits in every batch", levels.every_batch);
  level("same bits on every target", levels.every_target);
  out.json.set("bits", std::move(equal));
  return out;
}

std::string measured_line(Work& work, const program::Program& program,
                          const check::Report& report) {
  rounding::Measured all;
  std::int64_t near_ties = 0;
  rounding::RunOptions options;
  options.step_limit =
      kMostSteps / std::max<std::int64_t>(1, static_cast<std::int64_t>(report.runs.size()));
  std::int64_t measured = 0;
  for (const check::Run& run : report.runs) {
    if (run.wide) continue;
    const ir::TensorMap inputs = ir::random_inputs(work.algorithm(), run.sizes, run.seed, run.wide);
    const auto tracked = rounding::run_tracked(work.context(), program, run.sizes, inputs, options);
    if (!tracked.ok()) continue;
    const rounding::Measured one = rounding::measure(*tracked);
    ++measured;
    near_ties += tracked->near_ties;
    all.cells += one.cells;
    all.without_bound += one.without_bound;
    all.largest_error = std::max(all.largest_error, one.largest_error);
    all.largest_bound = std::max(all.largest_bound, one.largest_bound);
    all.worst_ratio = std::max(all.worst_ratio, one.worst_ratio);
  }
  if (measured == 0 || all.cells == 0) return {};
  std::string out = "rounding: error " + short_number(all.largest_error) + ", at most " +
                    short_number(all.largest_bound) + " by the program's own operations";
  if (near_ties > 0) out += "; " + std::to_string(near_ties) + " decisions near a tie";
  if (all.without_bound > 0) out += "; " + std::to_string(all.without_bound) + " cells without one";
  return out + "\n";
}

}  // namespace tilewright::cli

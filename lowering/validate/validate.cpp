// SPDX-License-Identifier: Apache-2.0
#include "lowering/validate/validate.h"

#include <algorithm>
#include <set>

#include "frontend/ir/interpret.h"
#include "lowering/check/check.h"
#include "lowering/check/plan.h"
#include "lowering/program/split_complex.h"
#include "lowering/validate/call.h"
#include "lowering/validate/comparison.h"
#include "lowering/validate/specification.h"

namespace tilewright::validate {

namespace {

constexpr std::int64_t kStepsOfProgram = 20'000'000;

std::vector<std::int64_t> shape_of(const program::Parameter& parameter, const ir::Bindings& sizes) {
  std::vector<std::int64_t> out;
  for (const ir::Expr extent : parameter.shape) out.push_back(ir::evaluate_extents(extent, sizes));
  return out;
}

// "c[3, 1]" of a unit's number; bytes of packed elements are named by number.
std::string unit_text(const program::Parameter& parameter, const ir::Bindings& sizes,
                      std::size_t unit) {
  std::string text(parameter.name.text());
  if (ir::is_packed(parameter.type)) return text + " byte " + std::to_string(unit);
  const auto parts = static_cast<std::size_t>(ir::scalars_of(parameter.type));
  auto element = static_cast<std::int64_t>(unit / parts);
  const std::vector<std::int64_t> shape = shape_of(parameter, sizes);
  std::string indices;
  for (std::size_t d = shape.size(); d-- > 0;) {
    indices = std::to_string(element % shape[d]) + (indices.empty() ? "" : ", ") + indices;
    element /= shape[d];
  }
  text += "[" + indices + "]";
  if (parts == 2) text += unit % 2 == 0 ? ".re" : ".im";
  return text;
}

// All terms of one choice of sizes.
class Trial {
 public:
  Trial(ir::Context& context, const ir::Algorithm& algorithm, const program::Dispatch& dispatch,
        const Listing& listing, const Options& options, Run run, Report* report,
        std::vector<std::vector<bool>>* reached)
      : context_(context),
        algorithm_(algorithm),
        dispatch_(dispatch),
        listing_(listing),
        options_(options),
        run_(std::move(run)),
        report_(*report),
        reached_(*reached),
        arithmetic_(terms_),
        comparison_(terms_) {}

  // False after the report says why; `*given`: the run needs the values of these inputs.
  bool go(std::set<std::size_t>* given) {
    make_inputs(*given);
    std::vector<Units> expected;
    if (!specify(&expected)) return needs(stop_, given);
    for (const bool with_executor : {false, true}) {
      FunctionCall call(context_, dispatch_, listing_, run_.sizes, arithmetic_, with_executor);
      call.machine().step_limit = options_.code_steps;
      const bool ran = call.run(inputs_);
      report_.steps += call.machine().steps;
      merge(call.machine().reached);
      if (!ran) return needs(call.stop(), given);
      if (!check_claims(call.machine().claims)) return false;
      for (std::size_t p = 0; p < inputs_.size(); ++p)
        if (!compare(call, p, expected[p])) return false;
    }
    report_.terms += terms_.size();
    report_.queries += comparison_.solver().queries;
    report_.runs.push_back(run_);
    return true;
  }

 private:
  void merge(const std::vector<std::vector<bool>>& ran) {
    reached_.resize(ran.size());
    for (std::size_t f = 0; f < ran.size(); ++f) {
      reached_[f].resize(ran[f].size());
      for (std::size_t b = 0; b < ran[f].size(); ++b)
        if (ran[f][b]) reached_[f][b] = true;
    }
  }

  const std::vector<program::Parameter>& parameters() const {
    return dispatch_.interface.parameters;
  }

  void make_inputs(const std::set<std::size_t>& given) {
    ir::TensorMap values;
    if (!given.empty()) values = ir::random_inputs(algorithm_, run_.sizes, options_.seed);
    for (std::size_t p = 0; p < parameters().size(); ++p) {
      const program::Parameter& parameter = parameters()[p];
      Units units{unit_sort(parameter.type), {}};
      const std::size_t size = static_cast<std::size_t>(bytes_of(units.sort));
      const std::size_t count =
          ir::num_tensor_bytes(parameter.type, shape_of(parameter, run_.sizes)) / size;
      units.values.resize(count);
      if (parameter.is_output && !parameter.is_inout) {
        inputs_.push_back(std::move(units));
        continue;
      }
      if (given.contains(p)) {
        run_.given.push_back(parameter.name);
        const auto named = values.find(parameter.name);
        const auto bytes = ir::tensor_bytes(
            named != values.end()
                ? named->second
                : ir::make_tensor(parameter.type, shape_of(parameter, run_.sizes)));
        for (std::size_t i = 0; i < count; ++i) {
          std::uint64_t bits = 0;
          for (std::size_t k = 0; k < size; ++k)
            bits |= static_cast<std::uint64_t>(bytes[i * size + k]) << (8 * k);
          units.values[i] = Datum::number(bits);
        }
      } else {
        for (std::size_t i = 0; i < count; ++i) {
          units.values[i] = arithmetic_.of(terms_.var(units.sort, owners_.size()));
          owners_.push_back(p);
          terms_.var_names.push_back(unit_text(parameter, run_.sizes, i));
        }
      }
      inputs_.push_back(std::move(units));
    }
  }

  // The Program's cells: of packed elements one for each, else the units themselves.
  std::shared_ptr<Cells> cells_of(std::size_t p) {
    const program::Parameter& parameter = parameters()[p];
    if (!ir::is_packed(parameter.type)) return std::make_shared<Cells>(inputs_[p].values);
    auto cells = std::make_shared<Cells>();
    for (const auto& [byte, high] : packed_places(p)) {
      const Datum whole = inputs_[p].values[byte];
      cells->push_back(
          arithmetic_.zext(arithmetic_.extract(int_sort(8), whole, high ? 4 : 0, 4), 8));
    }
    return cells;
  }

  // Byte and half of each element; rows begin at a byte.
  std::vector<std::pair<std::size_t, bool>> packed_places(std::size_t p) const {
    const std::vector<std::int64_t> shape = shape_of(parameters()[p], run_.sizes);
    const std::int64_t row = shape.empty() ? 1 : shape.back();
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
    std::vector<std::pair<std::size_t, bool>> out;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t i = 0; i < row; ++i)
        out.emplace_back(static_cast<std::size_t>(r * ((row + 1) / 2) + i / 2), i % 2 != 0);
    return out;
  }

  bool specify(std::vector<Units>* expected) {
    const program::Program parts =
        program::split_complex(context_, dispatch_.variants[run_.variant].program);
    Specification specification(context_, parts, run_.sizes, arithmetic_);
    specification.step_limit = kStepsOfProgram;
    std::vector<std::shared_ptr<Cells>> cells;
    auto part = parts.parameters.begin();
    for (std::size_t p = 0; p < parameters().size(); ++p) {
      cells.push_back(cells_of(p));
      const int count = ir::scalars_of(parameters()[p].type);
      for (int k = 0; k < count; ++k, ++part)
        specification.bind(part->name, cells.back(), k, count);
    }
    if (!specification.run()) {
      stop_ = specification.stop;
      return false;
    }
    for (std::size_t p = 0; p < parameters().size(); ++p) {
      Units units{inputs_[p].sort, *cells[p]};
      if (ir::is_packed(parameters()[p].type)) units.values = *cells[p];
      expected->push_back(std::move(units));
    }
    return true;
  }

  bool compare(FunctionCall& call, std::size_t p, const Units& expected) {
    const program::Parameter& parameter = parameters()[p];
    if (!parameter.is_output) return true;
    Units got{unit_sort(parameter.type), {}};
    if (!call.read(p, &got)) return refuse(call.stop().reason, "");
    if (!ir::is_packed(parameter.type)) {
      for (std::size_t i = 0; i < got.values.size(); ++i)
        if (!compare_cell(unit_text(parameter, run_.sizes, i), got.sort, expected.values[i],
                          got.values[i]))
          return false;
      return true;
    }
    const auto places = packed_places(p);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto half = [&](const Datum& byte, bool high) {
        return arithmetic_.extract(int_sort(8), byte, high ? 4 : 0, 4);
      };
      if (!compare_cell(unit_text(parameter, run_.sizes, places[i].first), int_sort(4),
                        half(expected.values[i], false),
                        half(got.values[places[i].first], places[i].second)))
        return false;
    }
    return true;
  }

  bool compare_cell(const std::string& cell, Sort sort, const Datum& expected, const Datum& got) {
    ++report_.cells;
    if (expected.is_poison())
      return refuse("the program leaves a cell of an output unwritten", cell);
    if (got.is_poison())
      return refuse("the code leaves a cell of an output unwritten or undefined", cell);
    if (got.is_pointer()) return refuse("the code stores a pointer in an output", cell);
    const TermId a = arithmetic_.term(sort, expected);
    const TermId b = arithmetic_.term(sort, got);
    if (a == b) return true;
    ++report_.solved;
    if (comparison_.same(a, b)) return true;
    report_.expected = terms_.text(a);
    report_.got = terms_.text(b);
    return refuse("the code computes another term than the program", cell);
  }

  bool check_claims(const std::vector<Claim>& claims) {
    for (const Claim& claim : claims) {
      ++report_.claims;
      if (comparison_.holds(claim)) continue;
      report_.instruction = claim.instruction;
      return refuse("what an instruction promises of its operands was not shown", "");
    }
    return true;
  }

  bool refuse(std::string reason, std::string cell) {
    report_.reason = std::move(reason);
    report_.cell = std::move(cell);
    report_.runs.push_back(run_);
    return false;
  }

  // The inputs that a value depends on are given values in the next attempt.
  bool needs(const Stop& stop, std::set<std::size_t>* given) {
    const std::size_t before = given->size();
    if (stop.data != 0) {
      std::vector<TermId> stack{stop.data};
      std::set<TermId> seen;
      while (!stack.empty()) {
        const TermId id = stack.back();
        stack.pop_back();
        if (id == 0 || !seen.insert(id).second) continue;
        const Term& term = terms_[id];
        if (term.op == TermOp::Var && term.extra < owners_.size())
          given->insert(owners_[term.extra]);
        if (term.op == TermOp::Var || term.op == TermOp::Const) continue;
        for (const TermId child : {term.a, term.b, term.c}) stack.push_back(child);
      }
    }
    if (given->size() > before) return false;
    report_.instruction = stop.instruction;
    return refuse(stop.reason, "");
  }

  ir::Context& context_;
  const ir::Algorithm& algorithm_;
  const program::Dispatch& dispatch_;
  const Listing& listing_;
  const Options& options_;
  Run run_;
  Report& report_;
  std::vector<std::vector<bool>>& reached_;
  Terms terms_;
  Arithmetic arithmetic_;
  Comparison comparison_;
  std::vector<Units> inputs_;
  std::vector<std::size_t> owners_;  // of variables: the parameter
  Stop stop_;
};

std::string run_text(const program::Dispatch& dispatch, const Run& run) {
  std::string text = check::sizes_text(dispatch.interface.extents, run.sizes);
  if (text.empty()) text = "all";
  if (run.given.empty()) return text;
  text += " with values of";
  for (const Symbol name : run.given) text += " " + std::string(name.text());
  return text;
}

// What only a call that goes wrong comes through.
bool is_for_failures(const std::string& label) {
  for (const std::string_view prefix : {"failed", "poll", "cancelled"})
    if (label.starts_with(prefix)) return true;
  return false;
}

void count_blocks(const Listing& listing, const std::vector<std::vector<bool>>& reached,
                  Report* report) {
  for (std::size_t f = 0; f < listing.functions.size(); ++f) {
    const Function& function = listing.functions[f];
    const bool computes = function.name.find(".kernel") != std::string::npos ||
                          function.name.find(".parallel") != std::string::npos;
    if (!computes) continue;
    for (std::size_t b = 0; b < function.blocks.size(); ++b) {
      if (is_for_failures(function.labels[b])) continue;
      ++report->blocks;
      if (f < reached.size() && b < reached[f].size() && reached[f][b]) continue;
      report->unreached.push_back(
          function.name + ": " +
          (function.labels[b].empty() ? std::to_string(b) : function.labels[b]));
    }
  }
}

std::vector<Run> choose_runs(const program::Dispatch& dispatch, const Options& options) {
  std::vector<Run> out;
  for (const ir::Bindings& sizes : options.sizes)
    out.push_back({sizes, program::choose(dispatch, sizes), {}});
  if (!out.empty()) return out;
  for (std::size_t v = 0; v < dispatch.variants.size(); ++v)
    for (const check::Candidate& one :
         check::choose_sizes(dispatch.variants[v].program, options.step_budget, options.min_runs))
      if (program::choose(dispatch, one.sizes) == v) out.push_back({one.sizes, v, {}});
  return out;
}

}  // namespace

Result<Report> validate(ir::Context& context, const ir::Algorithm& algorithm,
                        const program::Dispatch& dispatch, const Listing& listing,
                        const Options& options) {
  Report report;
  const std::vector<Run> runs = choose_runs(dispatch, options);
  if (runs.empty())
    return fail(Code::NoSizes, {}, "no sizes satisfy what the function demands",
                "name sizes with --sizes");
  std::vector<std::vector<bool>> reached;
  for (const Run& run : runs) {
    std::set<std::size_t> given;
    while (true) {
      const std::size_t before = given.size();
      if (Trial(context, algorithm, dispatch, listing, options, run, &report, &reached).go(&given))
        break;
      if (!report.reason.empty() || given.size() == before) return report;
    }
  }
  report.is_validated = true;
  count_blocks(listing, reached, &report);
  return report;
}

std::string verdict_line(const program::Dispatch& dispatch, const Report& report) {
  std::string sizes;
  for (const Run& run : report.runs) sizes += (sizes.empty() ? "" : ", ") + run_text(dispatch, run);
  if (report.is_validated) return "validated for sizes " + sizes;
  std::string text = "not validated: " + report.reason;
  if (!report.cell.empty()) text += ", at " + report.cell;
  if (!report.runs.empty()) text += " (sizes " + run_text(dispatch, report.runs.back()) + ")";
  return text;
}

Diagnostic refusal(const Report& report) {
  Diagnostic out{
      Code::CodeNotValidated,
      {},
      report.reason,
      "compare the term of the code with that of the program: the code, or a rewrite that "
      "the validation does not know, changes it",
      {}};
  const std::pair<const char*, const std::string*> evidence[] = {
      {"cell", &report.cell},
      {"program", &report.expected},
      {"code", &report.got},
      {"instruction", &report.instruction}};
  for (const auto& [name, value] : evidence)
    if (!value->empty()) out.evidence.emplace_back(name, *value);
  return out;
}

Json to_json(const program::Dispatch& dispatch, const Report& report) {
  Json out = Json::object();
  out.set("verdict", report.is_validated ? "validated" : "not validated");
  Json runs = Json::array();
  for (const Run& run : report.runs) {
    Json one = Json::object();
    Json sizes = Json::object();
    for (const ir::ExtentDecl& extent : dispatch.interface.extents)
      sizes.set(extent.name.text(), run.sizes.at(extent.name));
    one.set("sizes", std::move(sizes));
    if (!dispatch.is_single()) one.set("variant", dispatch.variants[run.variant].name);
    Json given = Json::array();
    for (const Symbol name : run.given) given.push(std::string(name.text()));
    one.set("given_values", std::move(given));
    runs.push(std::move(one));
  }
  out.set("runs", std::move(runs));
  out.set("cells", report.cells);
  out.set("cells_by_solver", report.solved);
  out.set("promises", report.claims);
  out.set("solver_queries", static_cast<std::int64_t>(report.queries));
  out.set("instructions_run", report.steps);
  if (report.is_validated) {
    Json unreached = Json::array();
    for (const std::string& block : report.unreached) unreached.push(block);
    out.set("blocks", report.blocks);
    out.set("blocks_not_reached", std::move(unreached));
    return out;
  }
  out.set("reason", report.reason);
  if (!report.cell.empty()) out.set("cell", report.cell);
  if (!report.expected.empty()) out.set("expected", report.expected);
  if (!report.got.empty()) out.set("got", report.got);
  if (!report.instruction.empty()) out.set("instruction", report.instruction);
  return out;
}

Result<ir::TensorMap> run_code(ir::Context& context, const program::Dispatch& dispatch,
                               const Listing& listing, const ir::Bindings& sizes,
                               const ir::TensorMap& inputs, std::int64_t step_limit) {
  Terms terms;
  Arithmetic arithmetic(terms);
  FunctionCall call(context, dispatch, listing, sizes, arithmetic, false);
  call.machine().step_limit = step_limit;
  std::vector<Units> contents;
  for (const program::Parameter& parameter : dispatch.interface.parameters) {
    Units units{unit_sort(parameter.type), {}};
    const std::size_t size = static_cast<std::size_t>(bytes_of(units.sort));
    const auto shape = shape_of(parameter, sizes);
    units.values.resize(ir::num_tensor_bytes(parameter.type, shape) / size);
    if (!parameter.is_output || parameter.is_inout) {
      const auto bytes = ir::tensor_bytes(inputs.at(parameter.name));
      for (std::size_t i = 0; i < units.values.size(); ++i) {
        std::uint64_t bits = 0;
        for (std::size_t k = 0; k < size; ++k)
          bits |= static_cast<std::uint64_t>(bytes[i * size + k]) << (8 * k);
        units.values[i] = Datum::number(bits);
      }
    }
    contents.push_back(std::move(units));
  }
  const auto stopped = [&](const std::string& why) {
    return fail(Code::CodeNotValidated, {}, "a run of the code stopped: " + why,
                "this is for tests; see the reason");
  };
  if (!call.run(contents)) return stopped(call.stop().reason);
  ir::TensorMap out;
  for (std::size_t p = 0; p < contents.size(); ++p) {
    const program::Parameter& parameter = dispatch.interface.parameters[p];
    if (!parameter.is_output) continue;
    Units got{contents[p].sort, {}};
    if (!call.read(p, &got)) return stopped(call.stop().reason);
    const std::size_t size = static_cast<std::size_t>(bytes_of(got.sort));
    std::vector<std::byte> bytes;
    for (const Datum& unit : got.values) {
      if (!unit.is_bits()) return stopped("a cell of an output has no value");
      for (std::size_t k = 0; k < size; ++k)
        bytes.push_back(static_cast<std::byte>(unit.bits >> (8 * k)));
    }
    out.emplace(parameter.name,
                ir::tensor_from_bytes(parameter.type, shape_of(parameter, sizes), bytes));
  }
  return out;
}

}  // namespace tilewright::validate

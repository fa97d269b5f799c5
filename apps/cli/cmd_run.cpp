// SPDX-License-Identifier: Apache-2.0
//
// `tilewright run FILE.tw`: runs an algorithm, under a schedule if one is given, on .npy files.
#include <set>

#include "apps/cli/machines.h"
#include "apps/cli/tensors.h"
#include "apps/cli/verb.h"
#include "frontend/base/format.h"
#include "frontend/ir/given.h"
#include "lowering/program/interpret.h"
#include "tilewright/runtime.h"

namespace tilewright::cli {

namespace {

class RunVerb final : public Verb {
 public:
  void declare(Arguments& arguments) override {
    stages_.declare_inputs(arguments);
    arguments.files("-i,--input", inputs_, "NAME=FILE",
                    "an input from a .npy file; the others come from --seed");
    arguments.files("-o,--output", outputs_, "NAME=FILE", "write an output to a .npy file");
    arguments.number("--seed", seed_, 0, "N", "of the inputs that no file gives");
    arguments.flag("--interpret", interpret_,
                   "interpret the algorithm, or with --schedule the program");
    arguments.flag("--reals", reals_, "interpret over the reals instead of in the declared types");
    arguments.flag("--compare", compare_, "report the error against the algorithm and its bound");
    arguments.option("-t,--target", target_, "NAME", "x86-64-v4, x86-64-v3 or native");
    arguments.number("--threads", threads_, 0, "N", "threads of parallel loops, 0 for all");
    arguments.flag("--json", json_, "print a report as JSON");
  }

  int run(Session& session) override {
    for (const std::vector<std::string>* list : {&inputs_, &outputs_})
      for (const std::string& text : *list)
        if (!split_definition(text))
          return session.usage("run: " + in_backticks(text) + " is not NAME=FILE.npy");
    if (const int status = check_repeated(session); status != kExitOk) return status;
    if (reals_ && (!interpret_ || !stages_.schedule.empty()))
      return session.usage("run: --reals needs --interpret and no --schedule");
    if (threads_ > TILEWRIGHT_MAX_THREADS) return session.usage("run: --threads: at most 1024");
    Work work(session, stages_);
    if (const int status = work.check_usage(); status != kExitOk) return status;
    if (!work.load_algorithm() || !work.load_schedule("") || !check_outputs(session, work))
      return kExitDiagnostics;
    auto given = gather_tensors(session, work, inputs_, static_cast<std::uint64_t>(seed_));
    if (!given) return kExitDiagnostics;
    ir::TensorMap results;
    if (!(interpret_ ? interpret(session, work, *given, &results)
                     : execute(session, work, *given, &results)))
      return kExitDiagnostics;
    if (!write(session, work, results)) return kExitDiagnostics;
    return conclude(session, work, *given, results);
  }

 private:
  static bool check_outputs_known(const ir::Algorithm& algorithm, Symbol name) {
    const ir::Equation* equation = algorithm.definition(name);
    return equation != nullptr && equation->is_output;
  }

  // An input has one file, and a file one output.
  int check_repeated(Session& session) const {
    std::set<std::string> seen;
    for (const std::string& text : inputs_)
      if (const auto name = split_definition(text)->first; !seen.insert(name).second)
        return session.usage("run: --input: " + in_backticks(name) + " is given twice");
    seen.clear();
    for (const std::string& text : outputs_)
      if (const auto file = split_definition(text)->second; !seen.insert(file).second)
        return session.usage("run: --output: " + in_backticks(file) + " is given twice");
    return kExitOk;
  }

  bool check_outputs(Session& session, Work& work) {
    for (const std::string& text : outputs_) {
      const std::string name = split_definition(text)->first;
      if (check_outputs_known(work.algorithm(), work.context().symbol(name))) {
        if (!check_writable(session, work, text)) return false;
        continue;
      }
      std::string known;
      for (const ir::TensorPart& output : work.algorithm().output_tensors())
        known += (known.empty() ? "" : ", ") + in_backticks(output.name.text());
      session.report({Code::UnknownTensor,
                      {},
                      "the algorithm " + in_backticks(work.algorithm().name.text()) +
                          " has no output " + in_backticks(name),
                      "its outputs are " + known,
                      {}});
      return false;
    }
    return true;
  }

  // Before the run, which may take long.
  bool check_writable(Session& session, Work& work, const std::string& text) const {
    const auto [name, file] = *split_definition(text);
    const Symbol tensor = work.context().symbol(name);
    const ir::Equation* output = work.algorithm().definition(tensor);
    if (work.algorithm().type_of(tensor) == ir::ScalarType::Index) {
      session.report({{Code::NpyType,
                       output->span,
                       in_backticks(name) + " is `index`, which .npy files do not have",
                       "convert it with i64(...)",
                       {}}},
                     work.algorithm_source());
      return false;
    }
    std::vector<std::string> read = work.files_read();
    for (const std::string& input : inputs_) read.push_back(split_definition(input)->second);
    return session.take(check_not_read(file, read)).has_value();
  }

  bool interpret(Session& session, Work& work, const GivenTensors& given, ir::TensorMap* results) {
    if (stages_.schedule.empty()) {
      ir::InterpretOptions options;
      options.reading = reals_ ? ir::Reading::Reals : ir::Reading::Exact;
      auto all = session.take(ir::interpret(work.algorithm(), given.sizes, given.inputs, options),
                              work.algorithm_source());
      if (!all) return false;
      for (const ir::TensorPart& output : work.algorithm().output_tensors())
        results->emplace(output.name, std::move(all->at(output.name)));
      return true;
    }
    if (!work.lower()) return false;
    auto result = session.take(
        program::interpret(work.context(), work.program(), given.sizes, given.inputs), nullptr);
    if (!result) return false;
    for (auto& [name, tensor] : result->outputs)
      results->emplace(output_in(work.algorithm(), name), std::move(tensor));
    return true;
  }

  // The output that an argument holds after the call.
  static Symbol output_in(const ir::Algorithm& algorithm, Symbol argument) {
    const ir::Equation* value = algorithm.new_value(argument);
    return value ? value->name : argument;
  }

  bool execute(Session& session, Work& work, const GivenTensors& given, ir::TensorMap* results) {
    if (!work.lower()) return false;
    const auto target = target_to_run(session, target_, work.schedule().machine, stages_.schedule);
    if (!target) return false;
    auto kernel = session.take_placed(Kernel::make(work, *target), work.algorithm_source());
    if (!kernel) return false;
    Arrays arrays = make_arrays(work.program(), given.sizes, given.inputs);
    if (!session.take((*kernel)->bind(arrays, static_cast<int>(threads_))) ||
        !session.take((*kernel)->call()))
      return false;
    for (std::size_t i = 0; i < arrays.size(); ++i)
      if (work.program().parameters[i].is_output)
        results->emplace(output_in(work.algorithm(), work.program().parameters[i].name),
                         tensor_of(arrays[i]));
    return true;
  }

  bool write(Session& session, Work& work, const ir::TensorMap& results) {
    std::vector<std::string> contents;
    std::vector<OutputFile> files;
    contents.reserve(outputs_.size());
    for (const std::string& text : outputs_) {
      const auto definition = split_definition(text);
      const ir::Tensor& tensor = results.at(work.context().symbol(definition->first));
      auto made = session.take(
          npy::encode(definition->second, tensor.type, tensor.shape, ir::element_bytes(tensor)));
      if (!made) return false;
      contents.push_back(*std::move(made));
      files.push_back({definition->second, contents.back()});
    }
    return session.take(write_paths(files, Code::NpyWrite)).has_value();
  }

  int conclude(Session& session, Work& work, const GivenTensors& given,
               const ir::TensorMap& results) {
    std::optional<std::map<Symbol, ir::BoundedTensor>> reference;
    if (compare_) {
      session.progress("interpreting the algorithm");
      reference =
          session.take(ir::interpret_with_bound(work.algorithm(), given.sizes, given.inputs),
                       work.algorithm_source());
      if (!reference) return kExitDiagnostics;
    }
    int status = kExitOk;
    Json outputs = Json::array();
    std::string text;
    for (const ir::TensorPart& output : work.algorithm().output_tensors()) {
      const ir::Tensor& tensor = results.at(output.name);
      Json shape = Json::array();
      for (std::int64_t size : tensor.shape) shape.push(size);
      Json entry = Json::object();
      entry.set("name", output.name.text());
      entry.set("type", ir::type_text(tensor.type));
      entry.set("shape", std::move(shape));
      text += std::string(output.name.text()) + ": " + std::string(ir::type_text(tensor.type)) +
              ir::shape_text(tensor.shape);
      if (reference) {
        const Accuracy accuracy = measure_accuracy(reference->at(output.name), tensor);
        entry.set("max_error", accuracy.error);
        entry.set("max_error_over_bound", accuracy.ratio);
        entry.set("cells_without_bound", accuracy.without_bound);
        entry.set("within_bound", !accuracy.violation.has_value());
        text += ", largest error " + format_double(accuracy.error) + ", " +
                format_double(accuracy.ratio) + " of its bound";
        if (accuracy.violation)
          status = kExitDiagnostics, report_violation(session, output.name, *accuracy.violation);
      }
      text += "\n";
      outputs.push(std::move(entry));
    }
    Json out = Json::object();
    out.set("version", 1);
    out.set("outputs", std::move(outputs));
    if (json_)
      session.print_json(out);
    else
      session.print(text);
    return status;
  }

  static void report_violation(Session& session, Symbol output,
                               const ir::BoundViolation& violation) {
    Diagnostic diagnostic{
        Code::CheckRefuted,
        {},
        in_backticks(output.text()) + " differs from the algorithm by more than the bound",
        "run `tilewright check` with the same schedule to find small sizes that show it",
        {}};
    diagnostic.evidence = {{"cell", ir::shape_text(violation.cell)},
                           {"expected", format_double(violation.expected)},
                           {"got", format_double(violation.got)},
                           {"bound", format_double(violation.bound)}};
    session.report(diagnostic);
  }

  StageOptions stages_;
  std::vector<std::string> inputs_, outputs_;
  std::string target_;
  std::int64_t seed_ = 1;
  std::int64_t threads_ = 0;
  bool interpret_ = false;
  bool reals_ = false;
  bool compare_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_run() { return std::make_unique<RunVerb>(); }

}  // namespace tilewright::cli

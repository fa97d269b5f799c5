// SPDX-License-Identifier: Apache-2.0
//
// `tilewright machine list | show NAME | probe | instructions | instruction NAME`: the machines that are built in, one
// machine in canonical form, a machine file of the machine that this runs on; the described instructions, and one of
// them in canonical form.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>

#include "apps/cli/machines.h"
#include "apps/cli/verb.h"
#include "frontend/base/format.h"
#include "schedules/machine/instruction.h"
#include "schedules/machine/text.h"

namespace tilewright::cli {

namespace {

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  return std::string(text, std::strftime(text, sizeof(text), "%Y-%m-%d", &parts));
}

class MachineVerb final : public Verb {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("ACTION", action_, "list, show, probe, instructions or instruction");
    arguments.optional_positional("NAME", machine_,
                                  "for show and instruction: a built-in name, or a .toml file");
    arguments.option("-o,--output", output_, "FILE",
                     "for probe: the machine file to write, else it is printed");
    arguments.option("--name", name_, "NAME",
                     "for probe: what the machine is called; here without it");
    arguments.number("--milliseconds", milliseconds_, 1, "N",
                     "for probe: time on each rate; 100 without it");
    arguments.flag("--json", json_, "print JSON instead of text");
  }

  int run(Session& session) override {
    const bool probe = action_ == "probe";
    const bool instruction = action_ == "instruction";
    if (action_ != "list" && action_ != "show" && action_ != "instructions" && !instruction &&
        !probe)
      return session.usage("machine: " + in_backticks(action_) +
                           " is none of list, show, probe, instructions, instruction");
    if ((action_ == "show" || instruction) == machine_.empty())
      return session.usage(machine_.empty() ? "machine: " + action_ + " needs a name or a file"
                                            : "machine: " + action_ + " takes no machine");
    if (!probe && (!output_.empty() || !name_.empty()))
      return session.usage("machine: -o and --name belong to probe");
    if (action_ == "list") return list(session);
    if (action_ == "show") return show(session);
    if (action_ == "instructions") return list_instructions(session);
    if (instruction) return show_instruction(session);
    return run_probe(session);
  }

 private:
  void print(Session& session, const machine::Machine& machine) const {
    if (json_)
      session.print_json(machine::to_json(machine));
    else
      session.print(machine::print(machine));
  }

  int list(Session& session) const {
    Json all = Json::array();
    std::string text;
    std::size_t widest = 0;
    for (const std::string_view name : machine::builtin_names())
      widest = std::max(widest, name.size());
    for (const std::string_view name : machine::builtin_names()) {
      const auto machine = session.take(machine::find_machine(name));
      if (!machine) return kExitDiagnostics;
      Json entry = Json::object();
      entry.set("name", name);
      entry.set("isa", machine->isa);
      entry.set("vector_bits", machine->vector.bits);
      entry.set("vector_registers", machine->vector.registers);
      all.push(std::move(entry));
      const std::string gap(widest - name.size() + 2, ' ');
      text += std::string(name) + gap + std::to_string(machine->vector.registers) + " vectors of " +
              std::to_string(machine->vector.bits) + " bits\n";
    }
    if (json_)
      session.print_json(all);
    else
      session.print(text);
    return kExitOk;
  }

  int show(Session& session) const {
    const auto machine = load_machine(session, machine_);
    if (!machine) return kExitDiagnostics;
    print(session, *machine);
    return kExitOk;
  }

  int list_instructions(Session& session) const {
    Json all = Json::array();
    std::string text;
    for (const std::string_view name : machine::instruction_names()) {
      const auto instruction = session.take(machine::find_instruction(name));
      if (!instruction) return kExitDiagnostics;
      Json entry = Json::object();
      entry.set("name", name);
      entry.set("summary", instruction->summary);
      entry.set("feature", instruction->feature);
      all.push(std::move(entry));
      text += std::string(name) + "  " + instruction->summary + " (" + instruction->feature + ")\n";
    }
    if (json_)
      session.print_json(all);
    else
      session.print(text);
    return kExitOk;
  }

  int show_instruction(Session& session) const {
    std::optional<Source> source;
    if (machine::is_machine_path(machine_)) {
      source = session.take(read_source(machine_));
      if (!source) return kExitDiagnostics;
    }
    const auto instruction = session.take(
        source ? machine::parse_instruction(*source) : machine::find_instruction(machine_),
        source ? &*source : nullptr);
    if (!instruction) return kExitDiagnostics;
    if (json_)
      session.print_json(machine::to_json(*instruction));
    else
      session.print(machine::print(*instruction));
    return kExitOk;
  }

  int run_probe(Session& session) const {
    ProbeOptions options;
    if (!name_.empty()) options.name = name_;
    options.date = today();
    options.seconds = static_cast<double>(milliseconds_) / 1000;
    const auto measured = session.take(probe_machine(session, options));
    if (!measured) return kExitDiagnostics;
    const std::string text = machine::print(*measured);
    // What is written must be what a reader takes: a bad --name is refused here, before any file is there.
    const Source source("machine.toml", text);
    if (!session.take(machine::parse_machine(source), &source)) return kExitDiagnostics;
    if (!output_.empty()) {
      const std::filesystem::path path(output_);
      const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
      if (!session.take(write_files(folder, {{path.filename().string(), text}})))
        return kExitDiagnostics;
    }
    if (output_.empty() || json_) print(session, *measured);
    return kExitOk;
  }

  std::string action_;
  std::string machine_;
  std::string output_;
  std::string name_;
  std::int64_t milliseconds_ = 100;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_machine() { return std::make_unique<MachineVerb>(); }

}  // namespace tilewright::cli

// SPDX-License-Identifier: Apache-2.0
#include "schedules/machine/machine.h"

#include <algorithm>
#include <set>

#include "frontend/base/format.h"
#include "schedules/machine/embedded.h"
#include "schedules/machine/text.h"

namespace tilewright::machine {

namespace {

// The first piece of evidence names the key, which a reader turns into a place.
Failure contradiction(const std::string& key, const std::string& value, std::string message,
                      std::string remedy) {
  return fail(
      {Code::MachineInconsistent, {}, std::move(message), std::move(remedy), {}, {{key, value}}});
}

Result<Ok> verify_isa(const Machine& machine) {
  const Isa* isa = find_isa(machine.isa);
  if (isa == nullptr) {
    std::string names;
    for (const Isa& known : all_isas())
      names += (names.empty() ? "`" : ", `") + std::string(known.name) + "`";
    return contradiction("isa", machine.isa,
                         in_backticks(machine.isa) + " is no instruction set known here",
                         "use one of " + names);
  }
  const std::int64_t bits = machine.vector.bits;
  if (bits > isa->vector_bits || (bits & (bits - 1)) != 0)
    return contradiction("vector.bits", std::to_string(bits),
                         "vectors of " + std::to_string(bits) + " bits on `" + machine.isa + "`",
                         "give a power of two up to " + std::to_string(isa->vector_bits));
  if (machine.vector.registers > isa->vector_registers)
    return contradiction(
        "vector.registers", std::to_string(machine.vector.registers),
        std::to_string(machine.vector.registers) + " vector registers on `" + machine.isa + "`",
        "give at most " + std::to_string(isa->vector_registers));
  return Ok{};
}

Result<Ok> verify_caches(const Machine& machine) {
  const Cache* before = nullptr;
  for (const Cache& cache : machine.caches) {
    const std::string level = std::to_string(cache.level);
    if (cache.level != (before == nullptr ? 1 : before->level + 1))
      return contradiction("cache", level, "cache levels that do not count 1, 2, 3",
                           "list each level once, the nearest first");
    if ((cache.line_bytes & (cache.line_bytes - 1)) != 0 || cache.bytes % cache.line_bytes != 0)
      return contradiction(
          "cache", level,
          "lines of the level-" + level + " cache that are no power of two or do not fill it",
          "give the size of a line and a size that is a multiple of it");
    if (cache.shared_by > machine.cores)
      return contradiction("cache", level,
                           "a level-" + level + " cache shared by " +
                               std::to_string(cache.shared_by) + " of " +
                               std::to_string(machine.cores) + " cores",
                           "give at most the number of cores");
    if (before != nullptr && cache.shared_by < before->shared_by)
      return contradiction(
          "cache", level, "a level-" + level + " cache shared by fewer cores than the level before",
          "a farther level is shared by at least as many cores");
    before = &cache;
  }
  if (machine.caches.empty())
    return contradiction("cache", "0", "no cache at all", "list at least the nearest level");
  return Ok{};
}

Result<Ok> verify_peaks(const Machine& machine) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const Peak& peak : machine.peaks)
    if (!seen.insert({peak.type, peak.unit}).second)
      return contradiction("peak", peak.unit,
                           "two peaks of `" + peak.type + "` on `" + peak.unit + "`",
                           "keep one of them");
  return Ok{};
}

Result<Ok> verify_teams(const Machine& machine) {
  const auto is_one_of = [](const std::string& word,
                            std::initializer_list<std::string_view> known) {
    return std::find(known.begin(), known.end(), word) != known.end();
  };
  std::set<std::string> seen;
  for (const Space& space : machine.spaces) {
    if (!is_one_of(space.name, {"shared", "tensor", "scratchpad", "accumulator"}))
      return contradiction("space", space.name,
                           in_backticks(space.name) + " is no memory that a schedule names",
                           "name `shared`, `tensor`, `scratchpad` or `accumulator`");
    if (!seen.insert(space.name).second)
      return contradiction("space", space.name, "two memories called " + in_backticks(space.name),
                           "keep one of them");
  }
  if (machine.teams.size() > 1 || machine.teams.empty() != machine.spaces.empty())
    return contradiction("team", std::to_string(machine.teams.size()),
                         "memories of teams need one kind of team, and a team needs a memory",
                         "give one `[[team]]` and its `[[space]]`s, or none of either");
  for (const Team& team : machine.teams) {
    if (!is_one_of(team.scope, {"block", "core"}))
      return contradiction("team", team.scope, in_backticks(team.scope) + " is no team of agents",
                           "name `block` or `core`");
    if (!is_one_of(team.completion, {"bytes", "arrivals", "tokens"}))
      return contradiction("team", team.completion,
                           in_backticks(team.completion) + " is no way to tell that a copy is done",
                           "name `bytes`, `arrivals` or `tokens`");
  }
  return Ok{};
}

}  // namespace

const Space* Machine::find_space(std::string_view wanted) const {
  for (const Space& space : spaces)
    if (space.name == wanted) return &space;
  return nullptr;
}

const Peak* Machine::find_peak(std::string_view type) const {
  const Peak* best = nullptr;
  for (const Peak& peak : peaks)
    if (peak.type == type && (best == nullptr || peak.core_gflops > best->core_gflops))
      best = &peak;
  return best;
}

const Cache* Machine::find_cache(std::int64_t level) const {
  for (const Cache& cache : caches)
    if (cache.level == level) return &cache;
  return nullptr;
}

const std::vector<Isa>& all_isas() {
  static const std::vector<Isa> isas = {{"x86-64-v3", 256, 16},
                                        {"x86-64-v4", 512, 32},
                                        {"aarch64-neon", 128, 32},
                                        {"simt", 128, 255},
                                        {"dma-core", 1024, 64}};
  return isas;
}

const Isa* find_isa(std::string_view name) {
  for (const Isa& isa : all_isas())
    if (isa.name == name) return &isa;
  return nullptr;
}

Result<Ok> verify(const Machine& machine) {
  TILEWRIGHT_CHECK_OK(verify_isa(machine));
  TILEWRIGHT_CHECK_OK(verify_caches(machine));
  TILEWRIGHT_CHECK_OK(verify_peaks(machine));
  TILEWRIGHT_CHECK_OK(verify_teams(machine));
  return Ok{};
}

std::vector<std::string_view> builtin_names() {
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : embedded_files())
    if (!file.name.ends_with(kInstructionSuffix)) names.push_back(file.name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<Machine> find_machine(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.name == name && !name.ends_with(kInstructionSuffix))
      return parse_machine(Source(std::string(name) + ".toml", std::string(file.text)));
  std::string names;
  for (std::string_view known : builtin_names())
    names += (names.empty() ? "`" : ", `") + std::string(known) + "`";
  return fail(Code::UnknownMachine, {}, "no machine is named " + in_backticks(name),
              "use one of " + names + ", or the path of a machine file ending in `.toml`");
}

bool is_machine_path(std::string_view name) {
  return name.ends_with(".toml") || name.find('/') != std::string_view::npos;
}

}  // namespace tilewright::machine

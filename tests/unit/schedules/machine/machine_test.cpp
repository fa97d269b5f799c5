// SPDX-License-Identifier: Apache-2.0
#include "schedules/machine/machine.h"

#include <gtest/gtest.h>

#include "frontend/base/json.h"
#include "schedules/machine/text.h"

namespace tilewright::machine {
namespace {

// Every key there is, in canonical form.
constexpr const char* kFull = R"(format = 1
name = "desk"
isa = "x86-64-v4"
processor = "Some CPU @ 3.00GHz"
measured = "2026-02-28"
cores = 8
core_ghz = 3.5
features = ["avx512bf16", "avx512vnni"]

[vector]
bits = 512
registers = 32
fma_units = 1
fma_latency_cycles = 4.0

[numeric]
fma_rounds_once = true
subnormals = false
min_max_second = true

[[cache]]
level = 1
bytes = 49152
line_bytes = 64
shared_by = 1
core_gb_per_s = 300.25
all_gb_per_s = 2400.0
latency_ns = 1.25

[[cache]]
level = 2
bytes = 1048576
line_bytes = 64
shared_by = 2

[memory]
core_gb_per_s = 20.0
all_gb_per_s = 1e+22
core_copy_gb_per_s = 0.1
all_copy_gb_per_s = 50.0
latency_ns = 90.0

[[peak]]
type = "f32"
unit = "avx2_f32"
core_gflops = 50.0
all_gflops = 390.0

[[peak]]
type = "f32"
unit = "avx512_f32"
core_gflops = 110.0
all_gflops = 800.0
)";

std::string without(std::string text, const std::string& line) {
  const std::size_t at = text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  return text.erase(at, line.size());
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// "E0404 12:8" of each diagnostic of a refused text.
std::vector<std::string> faults(const std::string& text) {
  const Source source("test.toml", text);
  const auto machine = parse_machine(source);
  std::vector<std::string> out;
  for (const Diagnostic& diagnostic : machine.diagnostics()) {
    const LineColumn place = source.line_column(diagnostic.span.begin);
    out.push_back(std::string(code_text(diagnostic.code)) + " " + std::to_string(place.line) + ":" +
                  std::to_string(place.column));
    EXPECT_FALSE(diagnostic.message.empty());
    EXPECT_FALSE(diagnostic.remedy.empty());
    EXPECT_LE(diagnostic.span.begin, diagnostic.span.end);
    EXPECT_LE(diagnostic.span.end, text.size());
  }
  return out;
}
using Faults = std::vector<std::string>;

// In range for every rate but the largest.
std::string full() { return with(kFull, "1e+22", "1e+11"); }

TEST(Machine, ReadsEveryKey) {
  const auto machine = parse_machine(Source("test.toml", full()));
  ASSERT_TRUE(machine.ok()) << machine.diagnostics()[0].message;
  EXPECT_EQ(machine->name, "desk");
  EXPECT_EQ(machine->isa, "x86-64-v4");
  EXPECT_EQ(machine->processor, "Some CPU @ 3.00GHz");
  EXPECT_EQ(machine->measured, "2026-02-28");
  EXPECT_EQ(machine->cores, 8);
  EXPECT_EQ(machine->core_ghz, 3.5);
  EXPECT_EQ(machine->features, (std::vector<std::string>{"avx512bf16", "avx512vnni"}));
  EXPECT_EQ(machine->vector.bits, 512);
  EXPECT_EQ(machine->vector.registers, 32);
  EXPECT_EQ(machine->vector.fma_units, 1);
  EXPECT_EQ(machine->vector.fma_latency_cycles, 4.0);
  EXPECT_TRUE(machine->numeric.fma_rounds_once);
  EXPECT_FALSE(machine->numeric.subnormals);
  ASSERT_EQ(machine->caches.size(), 2U);
  EXPECT_EQ(machine->find_cache(2)->bytes, 1048576);
  EXPECT_EQ(machine->find_cache(2)->shared_by, 2);
  EXPECT_EQ(machine->find_cache(2)->latency_ns, std::nullopt);
  EXPECT_EQ(machine->find_cache(1)->core_gb_per_s, 300.25);
  EXPECT_EQ(machine->find_cache(3), nullptr);
  EXPECT_EQ(machine->memory.core_copy_gb_per_s, 0.1);
  ASSERT_NE(machine->find_peak("f32"), nullptr);
  EXPECT_EQ(machine->find_peak("f32")->unit, "avx512_f32");
  EXPECT_EQ(machine->find_peak("bf16"), nullptr);
}

TEST(Machine, RoundTrips) {
  const auto machine = parse_machine(Source("test.toml", full()));
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(print(*machine), full());
  const auto json = from_json(to_json(*machine));
  ASSERT_TRUE(json.ok()) << json.diagnostics()[0].message;
  EXPECT_EQ(*json, *machine);
  // Through the text of JSON as well: 4.0 and 4 are the same number there.
  const auto text = parse_json(Source("test.json", to_json(*machine).dump()));
  ASSERT_TRUE(text.ok());
  const auto again = from_json(*text);
  ASSERT_TRUE(again.ok()) << again.diagnostics()[0].message;
  EXPECT_EQ(*again, *machine);
}

TEST(Machine, TakesAnyOrderAndIntegersForNumbers) {
  const std::string text = with(with(full(), "core_ghz = 3.5\n", ""), "cores = 8\n",
                                "core_ghz = 3.5 # sustained\ncores = 8\n");
  const auto machine = parse_machine(Source("test.toml", with(text, "390.0", "390")));
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(print(*machine), full());
}

TEST(Machine, BuiltIns) {
  EXPECT_EQ(builtin_names(),
            (std::vector<std::string_view>{"aarch64-neon", "dma-core", "simt-block", "x86-64-v3",
                                           "x86-64-v4", "x86-64-v4-dot"}));
  for (const std::string_view name : builtin_names()) {
    const auto machine = find_machine(name);
    ASSERT_TRUE(machine.ok()) << machine.diagnostics()[0].message;
    EXPECT_EQ(machine->name, name);
    EXPECT_TRUE(name.starts_with(machine->isa));
    EXPECT_TRUE(machine->peaks.empty());
    const auto again = parse_machine(Source("again.toml", print(*machine)));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*again, *machine);
  }
  EXPECT_EQ(find_machine("x86-64-v3")->vector.bits, 256);
  EXPECT_EQ(find_machine("x86-64-v3")->vector.registers, 16);
  EXPECT_EQ(find_machine("x86-64-v4")->vector.bits, 512);
  EXPECT_EQ(find_machine("x86-64-v4")->vector.registers, 32);
}

TEST(Machine, UnknownName) {
  const auto machine = find_machine("vax");
  ASSERT_FALSE(machine.ok());
  EXPECT_EQ(machine.diagnostics()[0].code, Code::UnknownMachine);
  EXPECT_EQ(machine.diagnostics()[0].message, "no machine is named `vax`");
  EXPECT_TRUE(is_machine_path("big.toml"));
  EXPECT_TRUE(is_machine_path("machines/big"));
  EXPECT_FALSE(is_machine_path("x86-64-v4"));
}

TEST(MachineRefusals, Syntax) {
  EXPECT_EQ(faults("format = "), Faults{"E0401 1:10"});
  EXPECT_EQ(faults("format = 1\nname = \"a\nb\"\n").front().substr(0, 7), "E0401 2");
  EXPECT_EQ(faults("\xff\xfe"), Faults{"E0401 1:1"});
  EXPECT_EQ(faults("a = 1\n# 20 \xc2\xb5s\n"), Faults{"E0401 2:6"});
  EXPECT_EQ(faults(std::string(100000, '[')).front().substr(0, 5), "E0401");
  EXPECT_EQ(faults("a = " + std::string(100000, '[')).front().substr(0, 5), "E0401");
}

TEST(MachineRefusals, EveryKeyIsNeeded) {
  EXPECT_EQ(faults(without(full(), "name = \"desk\"\n")), Faults{"E0402 1:1"});
  EXPECT_EQ(faults(without(full(), "registers = 32\n")), Faults{"E0402 10:1"});
  // Nothing at all: format, name, isa, cores, features, three tables, the caches.
  EXPECT_EQ(faults("").size(), 9U);
  // What only a measurement tells may be absent.
  for (const char* line : {"core_ghz = 3.5\n", "measured = \"2026-02-28\"\n", "latency_ns = 1.25\n",
                           "fma_latency_cycles = 4.0\n"})
    EXPECT_EQ(faults(without(full(), line)), Faults{}) << line;
}

TEST(MachineRefusals, UnknownKeys) {
  EXPECT_EQ(faults(with(full(), "cores = 8", "cores = 8\ncorse = 8")), Faults{"E0403 7:1"});
  EXPECT_EQ(faults(full() + "\n[turbo]\nx = 1\n"), Faults{"E0403 55:2"});
  EXPECT_EQ(faults(with(full(), "bits = 512", "bits = 512\nlanes = 16")), Faults{"E0403 12:1"});
}

TEST(MachineRefusals, Types) {
  EXPECT_EQ(faults(with(full(), "cores = 8", "cores = \"8\"")), Faults{"E0404 6:9"});
  EXPECT_EQ(faults(with(full(), "cores = 8", "cores = 8.0")), Faults{"E0404 6:9"});
  EXPECT_EQ(faults(with(full(), "\"desk\"", "3")), Faults{"E0404 2:8"});
  EXPECT_EQ(faults(with(full(), "core_ghz = 3.5", "core_ghz = true")), Faults{"E0404 7:12"});
  EXPECT_EQ(faults(with(full(), "\"2026-02-28\"", "2026-02-28")), Faults{"E0404 5:12"});
  EXPECT_EQ(faults(with(full(), "[\"avx512bf16\", ", "[1, ")), Faults{"E0404 8:13"});
  EXPECT_EQ(faults(with(full(), "subnormals = false", "subnormals = 0")), Faults{"E0404 18:14"});
}

TEST(MachineRefusals, Duplicates) {
  EXPECT_EQ(faults(with(full(), "cores = 8", "cores = 8\ncores = 8")).front().substr(0, 7),
            "E0405 7");
  EXPECT_EQ(faults(full() + "\n[memory]\n").front().substr(0, 8), "E0405 55");
  EXPECT_EQ(faults(with(full(), "\"avx512vnni\"", "\"avx512bf16\"")), Faults{"E0405 8:27"});
}

TEST(MachineRefusals, Ranges) {
  EXPECT_EQ(faults(kFull), Faults{"E0406 38:16"});
  EXPECT_EQ(faults(with(full(), "cores = 8", "cores = 0")), Faults{"E0406 6:9"});
  EXPECT_EQ(faults(with(full(), "cores = 8", "cores = -9223372036854775808")), Faults{"E0406 6:9"});
  EXPECT_EQ(faults(with(full(), "core_ghz = 3.5", "core_ghz = nan")), Faults{"E0406 7:12"});
  EXPECT_EQ(faults(with(full(), "core_ghz = 3.5", "core_ghz = inf")), Faults{"E0406 7:12"});
  EXPECT_EQ(faults(with(full(), "\"desk\"", "\"\"")), Faults{"E0406 2:8"});
  EXPECT_EQ(faults(with(full(), "\"desk\"", "\"../x\"")), Faults{"E0406 2:8"});
  EXPECT_EQ(faults(with(full(), "Some CPU", "Some \\u00e9")), Faults{"E0406 4:13"});
  EXPECT_EQ(faults(with(full(), "2026-02-28", "2026-02-29")), Faults{"E0406 5:12"});
  EXPECT_EQ(faults(with(full(), "2026-02-28", "2026-2-028")), Faults{"E0406 5:12"});
}

TEST(MachineRefusals, Format) {
  EXPECT_EQ(faults(with(full(), "format = 1", "format = 2")), Faults{"E0407 1:10"});
}

TEST(MachineRefusals, Contradictions) {
  EXPECT_EQ(faults(with(full(), "x86-64-v4", "x86-64-v9")), Faults{"E0409 3:7"});
  EXPECT_EQ(faults(with(full(), "x86-64-v4", "x86-64-v3")), Faults{"E0409 11:8"});
  EXPECT_EQ(faults(with(full(), "bits = 512", "bits = 384")), Faults{"E0409 11:8"});
  EXPECT_EQ(faults(with(full(), "registers = 32", "registers = 33")), Faults{"E0409 12:13"});
  EXPECT_EQ(faults(with(full(), "level = 2", "level = 1")).front().substr(0, 5), "E0409");
  EXPECT_EQ(faults(with(full(), "level = 2", "level = 3")).front().substr(0, 5), "E0409");
  EXPECT_EQ(faults(with(full(), "bytes = 49152", "bytes = 49153")).front().substr(0, 5), "E0409");
  EXPECT_EQ(faults(with(full(), "shared_by = 2", "shared_by = 9")).front().substr(0, 5), "E0409");
  EXPECT_EQ(faults(with(full(), "shared_by = 1", "shared_by = 3")).front().substr(0, 5), "E0409");
  EXPECT_EQ(faults(with(full(), "avx2_f32", "avx512_f32")).front().substr(0, 5), "E0409");
}

TEST(MachineRefusals, ReportsAllAtOnce) {
  EXPECT_EQ(
      faults(with(with(full(), "cores = 8", "cores = 0"), "bits = 512", "bits = true")).size(), 2U);
}

}  // namespace
}  // namespace tilewright::machine

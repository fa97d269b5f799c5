// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/machines.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/probe/probe.h"
#include "frontend/base/format.h"
#include "lowering/targets/host/target.h"
#include "schedules/machine/text.h"

namespace tilewright::cli {

namespace {

namespace units = tilewright::probe;

// Four significant digits: more are noise, and fewer would hide what a rerun shows.
double rounded(double value) {
  if (!(value > 0)) return 0;
  const double scale = std::pow(10.0, std::floor(std::log10(value)) - 3);
  const double digits = std::round(value / scale);
  return scale >= 1 ? digits * scale : digits / std::round(1 / scale);
}

std::optional<double> per_second(const units::Rate& rate, double unit) {
  if (!rate.skipped.empty() || !(rate.best > 0)) return std::nullopt;
  return rounded(rate.best / unit);
}

std::optional<double> step_ns(const units::Rate& rate) {
  if (!rate.skipped.empty() || !(rate.best > 0)) return std::nullopt;
  return rounded(1e9 / rate.best);
}

// A processor's name as a machine file can hold it.
std::string printable_line(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\' && out.size() < 128) out += c;
  return out;
}

struct Probe {
  const Session& session;
  machine::Machine& out;
  units::Options one;
  units::Options all;

  void vectors() {
    out.core_ghz = per_second(units::core_frequency(one), 1e9);
    const struct {
      units::VectorUnit unit;
      const char* type;
      std::int64_t bits;
      double flops;
    } rows[] = {{units::VectorUnit::Avx2Fma, "f32", 256, 16},
                {units::VectorUnit::Avx512Fma, "f32", 512, 32},
                {units::VectorUnit::Avx512Bf16, "bf16", 512, 64}};
    for (const auto& row : rows) {
      if (row.bits > out.vector.bits || !units::why_unit_absent(row.unit).empty()) continue;
      session.progress("peak of " + std::string(units::unit_name(row.unit)));
      const units::Rate core = units::multiply_add_rate(row.unit, one);
      const units::Rate together = units::multiply_add_rate(row.unit, all);
      out.peaks.push_back({row.type, std::string(units::unit_name(row.unit)),
                           rounded(core.best / 1e9), rounded(together.best / 1e9)});
      if (row.bits != out.vector.bits || row.unit == units::VectorUnit::Avx512Bf16 || !out.core_ghz)
        continue;
      const double per_cycle = core.best / (*out.core_ghz * 1e9 * row.flops);
      out.vector.fma_units = std::clamp<std::int64_t>(std::llround(per_cycle), 1, 64);
      const units::Rate chain = units::multiply_add_chain_rate(row.unit, one);
      if (chain.best > 0) out.vector.fma_latency_cycles = rounded(*out.core_ghz * 1e9 / chain.best);
    }
  }

  void caches() {
    for (const units::CacheLevel& level : units::cache_levels()) {
      machine::Cache cache;
      cache.level = level.level;
      cache.bytes = static_cast<std::int64_t>(level.bytes);
      cache.line_bytes = static_cast<std::int64_t>(level.line_bytes);
      cache.shared_by = std::min<std::int64_t>(level.shared_by, out.cores);
      session.progress("cache of level " + std::to_string(level.level));
      // Half of a cache, so that it holds the buffers of its cores beside what else runs.
      const std::size_t half = level.bytes / 2;
      const std::size_t share = half / static_cast<std::size_t>(cache.shared_by);
      cache.core_gb_per_s = per_second(units::transfer_rate(units::Traffic::Read, half, one), 1e9);
      cache.all_gb_per_s = per_second(units::transfer_rate(units::Traffic::Read, share, all), 1e9);
      cache.latency_ns = step_ns(units::load_chain_rate(half, one));
      out.caches.push_back(cache);
    }
  }

  void memory() {
    std::size_t bytes = std::size_t{64} << 20;
    if (!out.caches.empty())
      bytes = std::max(bytes, static_cast<std::size_t>(out.caches.back().bytes) * 4);
    bytes = std::min(bytes, std::size_t{512} << 20);
    session.progress("memory");
    using units::Traffic;
    const auto rate = [&](Traffic traffic, const units::Options& threads) {
      return per_second(units::transfer_rate(traffic, bytes / threads.threads, threads), 1e9);
    };
    out.memory.core_gb_per_s = rate(Traffic::Read, one);
    out.memory.all_gb_per_s = rate(Traffic::Read, all);
    out.memory.core_copy_gb_per_s = rate(Traffic::StreamCopy, one);
    out.memory.all_copy_gb_per_s = rate(Traffic::StreamCopy, all);
    out.memory.latency_ns = step_ns(units::load_chain_rate(bytes, one));
  }
};

}  // namespace

std::optional<machine::Machine> load_machine(Session& session, const std::string& name,
                                             const std::string& folder) {
  if (!machine::is_machine_path(name) && name != "-")
    return session.take(machine::find_machine(name));
  const std::string path = name == "-" ? name : (std::filesystem::path(folder) / name).string();
  const auto source = session.take(read_source(path));
  if (!source) return std::nullopt;
  return session.take(machine::parse_machine(*source), &*source);
}

std::optional<host::Target> target_of_machine(Session& session, const std::string& name,
                                              const std::string& schedule_path) {
  const auto names = machine::builtin_names();
  const bool builtin = std::find(names.begin(), names.end(), name) != names.end();
  if (!builtin && !machine::is_machine_path(name)) return session.take(host::find_target(name));
  const auto found =
      load_machine(session, name, std::filesystem::path(schedule_path).parent_path().string());
  if (!found) return std::nullopt;
  if (!found->teams.empty()) {
    session.report(Diagnostic{Code::UnknownTarget,
                              {},
                              "no code generator takes programs for " + in_backticks(name) + " yet",
                              "`tilewright check` runs them, `tilewright compile --emit twp` "
                              "writes them",
                              {}});
    return std::nullopt;
  }
  auto target = session.take(host::find_target(found->isa));
  if (!target) return std::nullopt;
  return host::with_features(*std::move(target), found->features);
}

std::optional<host::Target> target_to_run(Session& session, const std::string& asked,
                                          const std::string& machine,
                                          const std::string& schedule_path) {
  if (!asked.empty()) return target_of_machine(session, asked, "");
  auto native = session.take(host::find_target("native"));
  if (!native || machine.empty() || machine == "native") return native;
  const auto wanted = target_of_machine(session, machine, schedule_path);
  if (!wanted) return std::nullopt;
  return host::with_features(*std::move(native), wanted->options.features);
}

Result<machine::Machine> probe_machine(const Session& session, const ProbeOptions& options) {
  TILEWRIGHT_TRY(target, host::find_target("native"));
  TILEWRIGHT_TRY(typical, machine::find_machine(target.name));
  machine::Machine out;
  out.name = options.name;
  out.isa = target.name;
  if (const std::string name = printable_line(units::processor_name()); !name.empty())
    out.processor = name;
  if (!options.date.empty()) out.measured = options.date;
  out.cores = units::processor_count();
  // What the ISA already has is no feature beyond it; below v4 none of them is listed.
  if (out.isa == "x86-64-v4") out.features = units::processor_features();
  out.vector = typical.vector;
  out.numeric = typical.numeric;
  Probe probe{
      session, out, {1, options.seconds}, {static_cast<unsigned>(out.cores), options.seconds}};
  probe.vectors();
  probe.caches();
  if (out.caches.empty()) out.caches = typical.caches;
  probe.memory();
  TILEWRIGHT_CHECK_OK(machine::verify(out));
  return out;
}

}  // namespace tilewright::cli

// SPDX-License-Identifier: Apache-2.0
//
// The fields of a machine file and of an instruction file, declared once: reader, writer and JSON are visitors of these lists. Plain keys
// stand before tables, as TOML wants it. Private to this room.
#pragma once

#include "schedules/machine/instruction.h"
#include "schedules/machine/machine.h"

namespace tilewright::machine {

enum class TextRule : std::uint8_t { Name, Line, Date };

inline constexpr std::int64_t kMaxCores = 65536;
inline constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;
inline constexpr double kMaxRate = 1e12;
inline constexpr std::size_t kMaxEntries = 64;

template <class Visitor, class T>
void visit_fields(Visitor& v, T& value, const Vector*) {
  v.integer("bits", value.bits, 64, 65536);
  v.integer("registers", value.registers, 1, 65536);
  v.integer("fma_units", value.fma_units, 1, 64);
  v.optional_number("fma_latency_cycles", value.fma_latency_cycles, 0.01, 1000);
}

template <class Visitor, class T>
void visit_fields(Visitor& v, T& value, const Numeric*) {
  v.boolean("fma_rounds_once", value.fma_rounds_once);
  v.boolean("subnormals", value.subnormals);
  v.boolean("min_max_second", value.min_max_second);
}

template <class Visitor, class T>
void visit_fields(Visitor& v, T& value, const Cache*) {
  v.integer("level", value.level, 1, 8);
  v.integer("bytes", value.bytes, 1, kMaxBytes);
  v.integer("line_bytes", value.line_bytes, 1, 65536);
  v.integer("shared_by", value.shared_by, 1, kMaxCores);
  v.optional_number("core_gb_per_s", value.core_gb_per_s, 1e-6, kMaxRate);
  v.optional_number("all_gb_per_s", value.all_gb_per_s, 1e-6, kMaxRate);
  v.optional_number("latency_ns", value.latency_ns, 1e-6, 1e9);
}

template <class Visitor, class T>
void visit_fields(Visitor& v, T& value, const Memory*) {
  v.optional_number("core_gb_per_s", value.core_gb_per_s, 1e-6, kMaxRate);
  v.optional_number("all_gb_per_s", value.all_gb_per_s, 1e-6, kMaxRate);
  v.optional_number("core_copy_gb_per_s", value.core_copy_gb_per_s, 1e-6, kMaxRate);
  v.optional_number("all_copy_gb_per_s", value.all_copy_gb_per_s, 1e-6, kMaxRate);
  v.optional_number("latency_ns", value.latency_ns, 1e-6, 1e9);
}

template <class Visitor, class T>
void visit_fields(Visitor& v, T& value, const Peak*) {
  v.text("type", value.type, TextRule::Name);
  v.text("unit", value.unit, TextRule::Name);
  v.number("core_gflops", value.core_gflops, 1e-6, kMaxRate);
  v.number("all_gflops", value.all_gflops, 1e-6, kMaxRate);
}

template <class Visitor, class T>
void visit_fields(Visitor& v, T& value, const Space*) {
  v.text("name", value.name, TextRule::Name);
  v.integer("bytes", value.bytes, 1, kMaxBytes);
}

template <class Visitor, class T>
void visit_fields(Visitor& v, T& value, const Team*) {
  v.text("scope", value.scope, TextRule::Name);
  v.text("completion", value.completion, TextRule::Name);
}

template <class Visitor, class T>
void visit_fields(Visitor& v, T& value, const Machine*) {
  v.format();
  v.text("name", value.name, TextRule::Name);
  v.text("isa", value.isa, TextRule::Name);
  v.optional_text("processor", value.processor, TextRule::Line);
  v.optional_text("measured", value.measured, TextRule::Date);
  v.integer("cores", value.cores, 1, kMaxCores);
  v.optional_number("core_ghz", value.core_ghz, 0.001, 1000);
  v.names("features", value.features);
  v.table("vector", value.vector);
  v.table("numeric", value.numeric);
  v.list("cache", value.caches, 1);
  v.table("memory", value.memory);
  v.list("peak", value.peaks, 0);
  v.list("space", value.spaces, 0);
  v.list("team", value.teams, 0);
}

template <class Visitor, class T>
void visit_fields(Visitor& v, T& value, const InstructionOperand*) {
  v.text("name", value.name, TextRule::Name);
  v.integer("broadcast", value.broadcast, 1, 1024);
}

template <class Visitor, class T>
void visit_fields(Visitor& v, T& value, const InstructionUnit*) {
  v.text("kind", value.kind, TextRule::Name);
  v.integers("order", value.order, 0, 1023);
  v.boolean("subnormals", value.subnormals);
}

template <class Visitor, class T>
void visit_fields(Visitor& v, T& value, const Instruction*) {
  v.format();
  v.text("name", value.name, TextRule::Name);
  v.text("summary", value.summary, TextRule::Line);
  v.text("feature", value.feature, TextRule::Name);
  v.text("emission", value.emission, TextRule::Name);
  v.lines("algorithm", value.algorithm);
  v.list("operand", value.operands, 1);
  v.table("unit", value.unit);
}

// Visits a value, const or not.
template <class Visitor, class T>
void visit(Visitor& visitor, T& value) {
  visit_fields(visitor, value, static_cast<const std::remove_const_t<T>*>(nullptr));
}

}  // namespace tilewright::machine

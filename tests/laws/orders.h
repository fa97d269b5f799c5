// SPDX-License-Identifier: Apache-2.0
//
// Programs with agents under every timing of their asynchronous operations, and without each of their waits.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "frontend/base/render.h"
#include "frontend/ir/interpret.h"
#include "lowering/program/interpret.h"
#include "lowering/program/text.h"

namespace tilewright {

// Eager, lazy, and random by seed.
inline std::vector<program::InterpretOptions> orders(std::size_t random = 4) {
  std::vector<program::InterpretOptions> out(2 + random);
  out[1].async_order = program::AsyncOrder::Lazy;
  for (std::size_t i = 2; i < out.size(); ++i) {
    out[i].async_order = program::AsyncOrder::Random;
    out[i].schedule_seed = i;
  }
  return out;
}

// Small whole numbers, so that sums are exact in any order.
inline ir::TensorMap whole_numbers(const program::Program& program, const ir::Bindings& sizes) {
  ir::TensorMap out;
  std::uint32_t state = 12345;
  for (const program::Parameter& parameter : program.parameters) {
    if (parameter.is_output) continue;
    std::vector<std::int64_t> shape;
    for (ir::Expr e : parameter.shape) shape.push_back(ir::evaluate_extents(e, sizes));
    ir::Tensor tensor = ir::make_tensor(parameter.type, shape);
    const std::int64_t below =
        parameter.facts.upper ? ir::evaluate_extents(parameter.facts.upper, sizes) : 9;
    for (ir::Scalar& value : tensor.data) {
      state = state * 1664525U + 1013904223U;
      if (ir::holds_floats(parameter.type))
        value.f = static_cast<int>(state >> 24) % 9 - 4;
      else
        value.i = static_cast<std::int64_t>(state >> 8) % std::max<std::int64_t>(below, 1);
    }
    out.emplace(parameter.name, std::move(tensor));
  }
  return out;
}

inline void expect_right_in_every_order(ir::Context& context, const ir::Algorithm& algorithm,
                                        const program::Program& program, const ir::Bindings& sizes,
                                        const std::function<void(ir::TensorMap&)>& arrange = {}) {
  ir::TensorMap inputs = whole_numbers(program, sizes);
  if (arrange) arrange(inputs);
  ir::InterpretOptions exact;
  exact.reading = ir::Reading::Exact;
  auto wanted = ir::interpret(algorithm, sizes, inputs, exact);
  ASSERT_TRUE(wanted.ok()) << render(wanted.diagnostics(), nullptr);
  for (const program::InterpretOptions& options : orders()) {
    auto got = program::interpret(context, program, sizes, inputs, options);
    ASSERT_TRUE(got.ok()) << render(got.diagnostics(), nullptr) << program::print(program);
    for (const auto& [name, tensor] : got->outputs) {
      const ir::Tensor& right = wanted->at(name);
      for (std::size_t i = 0; i < tensor.data.size(); ++i)
        ASSERT_EQ(tensor.data[i].f, right.data[i].f) << name.text() << " at " << i << "\n"
                                                     << program::print(program);
    }
  }
}

// At some sizes, in some order.
inline bool is_refused(ir::Context& context, const program::Program& program,
                       const std::vector<ir::Bindings>& all_sizes,
                       const std::function<void(ir::TensorMap&)>& arrange) {
  for (const ir::Bindings& sizes : all_sizes) {
    ir::TensorMap inputs = whole_numbers(program, sizes);
    if (arrange) arrange(inputs);
    for (const program::InterpretOptions& options : orders())
      if (!program::interpret(context, program, sizes, inputs, options).ok()) return true;
  }
  return false;
}

inline bool is_synchronisation(program::Stmt stmt) {
  return stmt.as<program::Wait>() || stmt.as<program::Sync>() || stmt.as<program::Fence>() ||
         stmt.as<program::Signal>();
}

// Without the synchronising statement of this number, in the order of the text.
inline program::Stmt without(ir::Context& context, program::Stmt stmt, int& number) {
  if (is_synchronisation(stmt) && number-- == 0) return program::make_block(context, {});
  return program::map_parts(context, stmt, [&](std::string_view, auto part) {
    if constexpr (std::is_same_v<decltype(part), program::Stmt>)
      return without(context, part, number);
    else
      return part;
  });
}

// How many there are.
inline int expect_each_is_needed(ir::Context& context, const program::Program& program,
                                 const std::vector<ir::Bindings>& all_sizes,
                                 const std::function<void(ir::TensorMap&)>& arrange = {},
                                 bool some = true) {
  int count = 0;
  program::Program less = program;
  for (;; ++count) {
    int number = count;
    less.body = without(context, program.body, number);
    if (number >= 0) break;
    const bool refused = is_refused(context, less, all_sizes, arrange);
    EXPECT_TRUE(refused) << "number " << count << " is not needed\n" << program::print(program);
  }
  if (some) {
    EXPECT_GT(count, 0) << program::print(program);
  }
  return count;
}

// The Program with one token of its synchronisation changed: the `number`-th of a phase that is one too early, a ring
// of one slot fewer, an arrival or expected bytes too many, a fence of another proxy. None: there are not so many.
inline program::Stmt mutant(ir::Context& context, program::Stmt stmt, int& number,
                            std::string& what) {
  const auto one_more = [&](ir::Expr e) { return context.add(e, context.index(1)); };
  const auto chosen = [&] {
    if (number-- != 0) return false;
    what = program::headline(stmt);
    return true;
  };
  if (const auto* wait = stmt.as<program::Wait>(); wait && wait->value && chosen()) {
    program::Wait node = *wait;
    node.value = context.sub(wait->value, context.index(1));
    return program::make(context, node);
  }
  if (const auto* ring = stmt.as<program::Ring>(); ring && ring->depth > 1 && chosen()) {
    program::Ring node = *ring;
    --node.depth;
    return program::make(context, node);
  }
  if (const auto* object = stmt.as<program::Object>(); object && object->count && chosen()) {
    program::Object node = *object;
    node.count = one_more(object->count);
    return program::make(context, node);
  }
  if (const auto* signal = stmt.as<program::Signal>(); signal && signal->amount && chosen()) {
    program::Signal node = *signal;
    node.amount = one_more(signal->amount);
    return program::make(context, node);
  }
  if (stmt.as<program::Fence>() && chosen()) {
    program::Fence node;
    node.proxy = program::Proxy::Tensor;
    return program::make(context, node);
  }
  return program::map_parts(context, stmt, [&](std::string_view, auto part) {
    if constexpr (std::is_same_v<decltype(part), program::Stmt>)
      return mutant(context, part, number, what);
    else
      return part;
  });
}

inline void expect_mutants_are_refused(ir::Context& context, const program::Program& program,
                                       const std::vector<ir::Bindings>& all_sizes,
                                       const std::function<void(ir::TensorMap&)>& arrange = {}) {
  program::Program other = program;
  for (int count = 0;; ++count) {
    int number = count;
    std::string what;
    other.body = mutant(context, program.body, number, what);
    if (number >= 0) break;
    const bool refused = is_refused(context, other, all_sizes, arrange);
    EXPECT_TRUE(refused) << "the mutant of `" << what << "` passes\n" << program::print(other);
  }
}

}  // namespace tilewright

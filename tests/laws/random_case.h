// SPDX-License-Identifier: Apache-2.0
//
// What the laws of schedules and lowering share: a random algorithm with a random schedule, small sizes and
// inputs, and how outputs are compared. Expected values come from the interpreter of algorithms alone.
#pragma once

#include <cstdlib>
#include <cstring>
#include <sstream>

#include <gtest/gtest.h>
#include "frontend/base/render.h"
#include "frontend/ir/generate.h"
#include "frontend/ir/interpret.h"
#include "frontend/ir/text.h"
#include "lowering/build/build.h"
#include "lowering/passes/passes.h"
#include "lowering/program/interpret.h"
#include "lowering/program/text.h"
#include "lowering/program/verify.h"
#include "schedules/directives/generate.h"
#include "schedules/directives/text.h"

namespace tilewright::laws {

// TILEWRIGHT_SHOW_SEEDS and TILEWRIGHT_SHOW_REFUSALS make build_test say what it does.
// TILEWRIGHT_SLOW_TESTS=1 runs `slow` cases instead; TILEWRIGHT_FIRST_SEED and TILEWRIGHT_CASES override both.
inline int num_cases(int usual, int slow) {
  if (const char* cases = std::getenv("TILEWRIGHT_CASES")) return std::atoi(cases);
  return std::getenv("TILEWRIGHT_SLOW_TESTS") ? slow : usual;
}
inline std::uint64_t first_seed() {
  const char* first = std::getenv("TILEWRIGHT_FIRST_SEED");
  return first ? std::strtoull(first, nullptr, 10) : 0;
}

inline std::string messages(const std::vector<Diagnostic>& diagnostics) {
  return render(diagnostics, nullptr);
}

// The tree folds each cell's elements in the order of the algorithm, one by one.
inline bool keeps_fold_order(const ir::Algorithm& original, const tree::Tree& tree) {
  for (const tree::AlgebraStep& step : tree.algebra)
    if (!std::holds_alternative<tree::RecomputeStep>(step)) return false;
  const ir::Algorithm& algorithm = tree.algorithm(original);
  for (const tree::Nest& nest : tree.nests) {
    const ir::Equation* equation = algorithm.find_equation(nest.name);
    const std::vector<Symbol> vars =
        equation ? tree::fold_variables(*equation) : std::vector<Symbol>();
    if (vars.empty()) continue;
    // Undo the steps on the order of the loops; what is left must be the order of the variables.
    std::vector<Symbol> order;
    std::vector<Symbol> fold_names = vars;
    const auto is_fold = [&](Symbol name) {
      return std::find(fold_names.begin(), fold_names.end(), name) != fold_names.end();
    };
    for (const tree::Step& step : nest.steps) {
      if (const auto* s = std::get_if<tree::SplitStep>(&step)) {
        if (is_fold(s->parent)) fold_names.insert(fold_names.end(), {s->outer, s->inner});
      } else {
        const auto& f = std::get<tree::FuseStep>(step);
        if (is_fold(f.outer) && is_fold(f.inner)) fold_names.push_back(f.fused);
      }
    }
    for (const tree::Loop& loop : nest.loops) {
      if (!is_fold(loop.name)) continue;
      if (loop.kind == tree::LoopKind::Vector) return false;
      order.push_back(loop.name);
    }
    for (auto step = nest.steps.rbegin(); step != nest.steps.rend(); ++step) {
      if (const auto* s = std::get_if<tree::SplitStep>(&*step)) {
        if (!is_fold(s->parent)) continue;
        auto outer = std::find(order.begin(), order.end(), s->outer);
        if (outer == order.end() || outer + 1 == order.end() || !(*(outer + 1) == s->inner))
          return false;
        *outer = s->parent;
        order.erase(outer + 1);
      } else {
        const auto& f = std::get<tree::FuseStep>(*step);
        if (!is_fold(f.fused)) continue;
        auto fused = std::find(order.begin(), order.end(), f.fused);
        *fused = f.outer;
        order.insert(fused + 1, f.inner);
      }
    }
    if (order != vars) return false;
  }
  return true;
}

// The first difference of two tensors bit for bit (all NaNs are one), or nothing.
inline std::string first_difference(const ir::Tensor& expected, const ir::Tensor& got) {
  if (expected.type != got.type || expected.shape != got.shape) return "another type or shape";
  for (std::size_t i = 0; i < got.data.size(); ++i) {
    const ir::Scalar a = expected.data[i];
    const ir::Scalar b = got.data[i];
    const bool real = ir::holds_floats(got.type);
    if (real ? (a.f != a.f && b.f != b.f) || std::memcmp(&a.f, &b.f, sizeof a.f) == 0 : a.i == b.i)
      continue;
    std::ostringstream out;
    out.precision(17);
    out << "element " << i << ": expected ";
    if (real) {
      out << a.f << ", got " << b.f;
    } else {
      out << a.i << ", got " << b.i;
    }
    return out.str();
  }
  return {};
}

struct Case {
  ir::Context context;
  poly::Context polyhedra;
  ir::Algorithm algorithm;
  directives::RandomSchedule random;
  std::uint64_t seed = 0;

  explicit Case(std::uint64_t seed_in) : seed(seed_in) {
    ir::GenerateOptions options;
    options.max_equations = 3 + static_cast<int>(seed % 3);
    options.max_rank = 2 + (seed % 4 == 0);
    options.max_depth = 2 + static_cast<int>(seed / 3 % 3);
    options.declarations = seed % 2 == 0;
    if (seed % 5 < 2) options.types = {ir::ScalarType::F32};
    algorithm = ir::random_algorithm(context, seed, options);
    directives::GenerateOptions how;
    how.max_directives = 2 + static_cast<int>(seed % 13);
    random = directives::random_schedule(context, algorithm, seed * 31 + 7, how);
  }

  std::string text() const {
    return "seed " + std::to_string(seed) + "\n" + ir::print(algorithm) +
           directives::print_directives(random) + directives::print(random.schedule);
  }
  std::optional<ir::Bindings> bindings(int which) const {
    return ir::random_bindings(algorithm, seed * 17 + static_cast<std::uint64_t>(which), 9);
  }
};

inline std::string print_sizes(const ir::Bindings& bindings) {
  std::map<std::string, std::int64_t> sorted;
  for (const auto& [name, value] : bindings) sorted[std::string(name.text())] = value;
  std::string text = "sizes";
  for (const auto& [name, value] : sorted) text += " " + name + "=" + std::to_string(value);
  return text + "\n";
}

}  // namespace tilewright::laws

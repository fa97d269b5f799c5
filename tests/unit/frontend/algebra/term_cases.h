// SPDX-License-Identifier: Apache-2.0
//
// Terms of algorithms written as text, and a point at which to evaluate them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "frontend/algebra/evaluate_term.h"
#include "frontend/algebra/from_expr.h"
#include "frontend/base/hash.h"
#include "frontend/ir/text.h"

namespace tilewright::algebra {

// One store and one context for all terms of a test.
class Terms {
 public:
  // What a cell of the output `o` of the algorithm with this body is, all equations inlined.
  Term output(const std::string& header, const std::string& body) {
    sources_.push_back(
        std::make_unique<Source>("a.tw", "algorithm a(" + header + ") {\n" + body + "\n}\n"));
    auto algorithm = ir::parse_algorithm(context, *sources_.back());
    if (!algorithm.ok()) {
      ADD_FAILURE() << algorithm.diagnostics()[0].message << "\n" << body;
      return store.integer(0);
    }
    algorithms_.push_back(std::make_unique<ir::Algorithm>(*algorithm));
    const ir::Algorithm& a = *algorithms_.back();
    const ir::Equation& out = *a.outputs().back();
    return from_expr(store, out.value, inline_equations(store, a));
  }

  // Of x[N, N], y[N, N], w[N], at i, j: `s = sum(k < N) x[i, k]; s[i, j] / w[i]`, where all but the last are
  // equations.
  Term value(const std::string& text) {
    std::string body = "  input x : f64[N, N]\n  input y : f64[N, N]\n  input w : f64[N]\n";
    std::size_t begin = 0;
    for (std::size_t end = text.find(';'); end != std::string::npos; end = text.find(';', begin)) {
      const std::size_t equals = text.find('=', begin);
      body += "  " + text.substr(begin, equals - begin) + "[i < N, j < N] : f64 " +
              text.substr(equals, end - equals) + "\n";
      begin = end + 1;
    }
    return output("N", body + "  output o[i < N, j < N] : f64 = " + text.substr(begin));
  }

  Symbol symbol(std::string_view text) { return context.symbol(text); }

  // Every extent is `size`, variables and cells are random by `seed`.
  TermPoint point(std::uint64_t seed, std::int64_t size) const {
    TermPoint out;
    out.index = [=](Symbol name) {
      const char first = name.text()[0];
      if (first >= 'A' && first <= 'Z') return size;
      return static_cast<std::int64_t>(hash_combine(seed, name.hash()) %
                                       static_cast<std::uint64_t>(size));
    };
    out.read = [=](Symbol tensor, std::span<const std::int64_t> indices) {
      std::uint64_t hash = hash_combine(seed, tensor.hash());
      for (std::int64_t index : indices)
        hash = hash_combine(hash, static_cast<std::uint64_t>(index));
      return 0.25 + static_cast<double>(hash % 1024) / 512.0;
    };
    out.value = [=](std::int64_t id, std::span<const std::int64_t> indices) {
      std::uint64_t hash = hash_combine(seed + 77, static_cast<std::uint64_t>(id));
      for (std::int64_t index : indices)
        hash = hash_combine(hash, static_cast<std::uint64_t>(index));
      return 0.25 + static_cast<double>(hash % 1024) / 512.0;
    };
    out.call = [](const std::string& function, std::span<const double> arguments) {
      double out_value = 0;
      for (double argument : arguments) out_value = 0.7 * out_value + std::sin(argument);
      return out_value + static_cast<double>(function.size());
    };
    return out;
  }

  // Whether the terms are the same number at some points; NaN counts as a difference.
  bool agree(Term a, Term b, int points = 6) {
    for (int i = 0; i < points; ++i) {
      const TermPoint at = point(static_cast<std::uint64_t>(i), 2 + i % 4);
      const std::optional<double> x = evaluate(store, a, at);
      const std::optional<double> y = evaluate(store, b, at);
      if (!x || !y) return false;
      if (std::isinf(*x) || std::isinf(*y)) {
        if (*x != *y) return false;
        continue;
      }
      if (!(std::abs(*x - *y) <= 1e-9 * (1 + std::abs(*x)))) return false;
    }
    return true;
  }

  std::string print(Term term) { return store.print(term); }

  ir::Context context;
  TermStore store;

 private:
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<std::unique_ptr<ir::Algorithm>> algorithms_;
};

}  // namespace tilewright::algebra

// SPDX-License-Identifier: Apache-2.0
//
// Random teams of lanes that are not as many as there are columns, as text: a matrix product of any sizes whose columns
// are run by lanes in whole teams, with tiles copied by all lanes, by one or by copies that run ahead.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace tilewright::laws {

class PaddedMaker {
 public:
  explicit PaddedMaker(std::uint64_t seed) : random_(seed) {
    const int columns = between(1, 7);
    const int team = between(2, 5);
    is_split_ = chance(65);
    roles_ = chance(30);
    const int depth = between(1, 3);
    const int rows = between(1, 3);
    line("split c.i by " + std::to_string(rows) + " as it, ii");
    line("split c.k by " + std::to_string(between(1, 4)) + " as ko, ki");
    if (is_split_) line("split c.j by " + std::to_string(columns) + " as jt, jl");
    const bool serial_tiles = is_split_ && chance(40);
    line(std::string("reorder c: it, ") + (is_split_ ? "jt, jl" : "j") + ", ko, ii, ki");
    line("kernel c");
    line("bind c.it to block");
    if (is_split_ && !serial_tiles) line("bind c.jt to block");
    line(std::string("bind c.") + (is_split_ ? "jl" : "j") + " to lane by " + std::to_string(team));
    line("stage a[i, k] at c.ko as at[i, k]");
    copies_.push_back("at");
    if (is_split_) {
      line("stage b[k, j] at c.ko as bt[k, j]");
      copies_.push_back("bt");
    }
    // Lanes that are there whatever the sizes.
    const int lanes = is_split_ ? (columns + team - 1) / team * team : 1;
    for (const std::string& copy : copies_) {
      line("keep " + copy + " in shared");
      if (depth > 1) line("ring " + copy + " by " + std::to_string(depth));
      if (chance(50)) {
        line("async " + copy);
      } else if (!roles_ && lanes > 1 && chance(70)) {
        const std::string last = copy == "at" ? "k" : "j";
        line("split " + copy + "." + last + " by " + std::to_string(between(1, lanes)) + " as " +
             copy + "_o, " + copy + "_l");
        line("bind " + copy + "." + copy + "_l to lane");
      }
    }
    if (depth > 1 && chance(60)) {
      const int behind = between(0, depth - 1);
      std::string table = "pipeline c.ko: ";
      for (const std::string& copy : copies_) table += copy + " stage 0, ";
      line(table + "c stage " + std::to_string(behind));
    }
    if (roles_) {
      std::string all;
      for (const std::string& copy : copies_) all += (all.empty() ? "" : ", ") + copy;
      line("roles c.ko: load(" + all + ") on warp, math(c) on warpgroup");
    }
    schedule += "}\n";
  }

  static constexpr const char* kAlgorithm =
      "algorithm padded(M, N, K) {\n"
      "  input a : f32[M, K]\n"
      "  input b : f32[K, N]\n"
      "  output c[i < M, j < N] : f32 = sum(k < K) a[i, k] * b[k, j]\n"
      "}\n";
  std::string schedule = "schedule random for padded on simt-block {\n";

 private:
  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return between(1, 100) <= percent; }
  void line(const std::string& text) { schedule += "  " + text + "\n"; }

  std::mt19937_64 random_;
  bool is_split_ = false;
  bool roles_ = false;
  std::vector<std::string> copies_;
};

}  // namespace tilewright::laws

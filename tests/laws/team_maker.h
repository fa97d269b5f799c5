// SPDX-License-Identifier: Apache-2.0
//
// Random algorithms with random schedules for teams of agents, as text: a chain of stencils, products, reversals and
// sums whose parts are computed tile by tile in memories of a team, with copies that run ahead, rings of any depth
// that is enough, pipelines of any stages, work split among warps, whole teams of them or not, and statements given to
// roles; some walk over tiles of columns, so that rings count on over a loop that runs as often as the sizes say.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace tilewright::laws {

class TeamMaker {
 public:
  explicit TeamMaker(std::uint64_t seed) : random_(seed) {
    columns_ = pick({4, 6, 8});
    const int parts = between(0, 3);
    for (int k = 0; k < parts; ++k) names_.push_back("t" + std::to_string(k));
    for (int k = 0; k <= parts; ++k) add_equation(k, parts);
    make_schedule(parts);
  }

  std::string algorithm;
  std::string schedule;
  // Several agents and asynchronous copies in a team that walks over tiles.
  bool mixes_walking() const {
    return schedule.find(" as js") != std::string::npos &&
           schedule.find(" to warp") != std::string::npos &&
           schedule.find("async") != std::string::npos;
  }

 private:
  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return between(1, 100) <= percent; }
  int pick(std::vector<int> from) {
    return from[static_cast<std::size_t>(between(0, static_cast<int>(from.size()) - 1))];
  }
  std::string c() const { return std::to_string(columns_); }

  // Equation k; the last is the output. Each has one row more than the one after it.
  void add_equation(int k, int parts) {
    if (k == 0)
      algorithm = "algorithm random(N) {\n  input x : f32[N + " + std::to_string(parts + 1) + ", " +
                  c() + "]\n  input w : f32[" + c() + ", " + c() + "]\n";
    const int rows = parts - k;
    const int from = k - 1;
    const std::string p = from < 0 ? "x" : names_[static_cast<std::size_t>(from)];
    const std::string last = std::to_string(columns_ - 1);
    std::string value;
    switch (between(0, 5)) {
      case 0: value = p + "[i, j] + " + p + "[i + 1, j]"; break;
      case 1: value = "sum(k < " + c() + ") " + p + "[i, k] * w[k, j]"; break;
      case 2: value = "max(" + p + "[i, j], f32(0)) + x[i + 1, j]"; break;
      case 3: value = p + "[i, " + last + " - j]"; break;
      default: value = p + "[i, j]"; break;
    }
    copies_.push_back(value.find('(') == std::string::npos && value.find('+') == std::string::npos);
    reads_.push_back({p});
    if (value.find("w[") != std::string::npos) reads_.back().push_back("w");
    if (value.find(" x[") != std::string::npos) reads_.back().push_back("x");
    const std::string name = k == parts ? "y" : names_[static_cast<std::size_t>(k)];
    algorithm += std::string(k == parts ? "  output " : "  ") + name + "[i < N" +
                 (rows ? " + " + std::to_string(rows) : "") + ", j < " + c() +
                 "] : f32 = " + value + "\n";
    if (k == parts) algorithm += "}\n";
  }

  void line(const std::string& text) { schedule += "  " + text + "\n"; }

  void make_schedule(int parts) {
    const bool tokens = chance(30);
    const bool warps = !tokens && chance(50);
    schedule =
        "schedule random for random on " + std::string(tokens ? "dma-core" : "simt-block") + " {\n";
    const int rows = between(1, 3);
    const int tiles = between(1, 4);
    const bool walks = chance(35);
    if (walks) {
      line("split y.j by " + std::to_string(columns_ / 2) + " as jb, jr");
      line("split y.jr by " + std::to_string(between(1, 2)) + " as js, jj");
      line("split y.i by " + std::to_string(rows) + " as it, ii");
      if (warps) line("split y.ii by 1 as iw, iu");
      line(std::string("reorder y: jb, ") + (warps ? "iw, js, it, iu, jj" : "js, it, ii, jj"));
      line(std::string("bind y.jb to ") + (tokens ? "core" : "block"));
      if (warps) line("bind y.iw to warp" + whole_teams());
    } else {
      line("split y.i by " + std::to_string(rows * tiles) + " as ib, ir");
      line("split y.ir by " + std::to_string(rows) + " as it, ii");
      if (warps) {
        line("split y.j by " + std::to_string(columns_ / 2) + " as jw, jj");
        line("reorder y: ib, jw, it, ii, jj");
      }
      line(std::string("bind y.ib to ") + (tokens ? "core" : "block"));
      if (warps) line("bind y.jw to warp" + whole_teams());
    }
    const std::string memory = tokens ? "scratchpad" : "shared";
    std::vector<std::string> statements;
    std::vector<std::pair<std::string, std::string>> copied;  // tensor, buffer
    for (const char* tensor : {"x", "w"}) {
      bool read = false;
      for (const auto& all : reads_)
        for (const std::string& one : all) read = read || one == tensor;
      if (!read || chance(25)) continue;
      const std::string buffer = tensor + std::string("s");
      line("stage " + std::string(tensor) + "[i, j] at y.it as " + buffer + "[i, j]");
      line("keep " + buffer + " in " + memory);
      copied.emplace_back(tensor, buffer);
      statements.push_back(buffer);
      if (chance(70)) {
        line("async " + buffer);
      } else if (warps && chance(50)) {
        split_among_warps(buffer);
      }
    }
    for (int k = 0; k < parts; ++k) {
      const std::string& name = names_[static_cast<std::size_t>(k)];
      line("compute_at " + name + " in y.it");
      line("keep " + name + " in " + memory);
      statements.push_back(name);
      if (copies_[static_cast<std::size_t>(k)] && chance(50))
        line("async " + name);
      else if (warps && chance(60))
        split_among_warps(name);
    }
    line("kernel y");
    if (!warps && copies_.back() && chance(60)) line("async y");
    statements.push_back("y");
    make_pipeline(statements, copied);
    if (chance(40)) make_roles(statements);
    schedule += "}\n";
  }

  std::string whole_teams() {
    return chance(40) ? " by " + std::to_string(between(2, 4)) : std::string();
  }

  void split_among_warps(const std::string& name) {
    line("split " + name + ".j by " + std::to_string(columns_ / 2) + " as " + name + "_w, " + name +
         "_j");
    line("reorder " + name + ": " + name + "_w, i, " + name + "_j");
    line("bind " + name + "." + name + "_w to warp");
  }

  // Statements given to two or three agents, in any way.
  void make_roles(const std::vector<std::string>& statements) {
    std::vector<std::string> roles(static_cast<std::size_t>(between(2, 3)));
    for (const std::string& one : statements) {
      std::string& role =
          roles[static_cast<std::size_t>(between(0, static_cast<int>(roles.size()) - 1))];
      role += (role.empty() ? "" : ", ") + one;
    }
    std::string table;
    for (std::size_t i = 0; i < roles.size(); ++i)
      if (!roles[i].empty())
        table += (table.empty() ? "roles y.it: " : ", ") + ("role" + std::to_string(i)) + "(" +
                 roles[i] + ") on warpgroup";
    line(table);
  }

  void make_pipeline(const std::vector<std::string>& statements,
                     const std::vector<std::pair<std::string, std::string>>& copied) {
    std::vector<int> stage;
    for (std::size_t i = 0; i < statements.size(); ++i)
      stage.push_back(i == 0 ? 0 : stage.back() + (chance(40) ? between(1, 2) : 0));
    const bool piped = chance(70);
    const auto position = [&](const std::string& name) {
      return std::find(statements.begin(), statements.end(), name) - statements.begin();
    };
    for (std::size_t p = 0; p + 1 < statements.size(); ++p) {
      int depth = 1;
      for (std::size_t k = 0; k < reads_.size(); ++k) {
        const std::string reader = k + 1 == reads_.size() ? "y" : names_[k];
        const auto at = static_cast<std::size_t>(position(reader));
        if (at >= statements.size()) continue;
        for (const std::string& read : reads_[k]) {
          std::string from = read;
          for (const auto& [tensor, buffer] : copied)
            if (tensor == read) from = buffer;
          if (from == statements[p]) depth = std::max(depth, stage[at] - stage[p] + 1);
        }
      }
      if (!piped) depth = 1;
      depth += chance(25) ? between(1, 2) : 0;
      if (depth > 1) line("ring " + statements[p] + " by " + std::to_string(depth));
    }
    if (!piped) return;
    std::string table = "pipeline y.it: ";
    for (std::size_t i = 0; i < statements.size(); ++i)
      table += (i ? ", " : "") + statements[i] + " stage " + std::to_string(stage[i]);
    line(table);
  }

  std::mt19937_64 random_;
  int columns_ = 4;
  std::vector<std::string> names_;
  std::vector<bool> copies_;
  std::vector<std::vector<std::string>> reads_;
};

}  // namespace tilewright::laws

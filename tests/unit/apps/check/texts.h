// SPDX-License-Identifier: Apache-2.0
//
// Canonical texts for the checker's tests: of every algorithm and Program of the repository, and of what the
// compiler makes of random schedules.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/laws/random_case.h"

namespace tilewright::checker {

inline std::string source_folder() {
  const char* const root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  return root ? root : ".";
}

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

// All files with the ending in the folders of sources.
inline std::vector<std::filesystem::path> files(const std::string& ending) {
  std::vector<std::filesystem::path> out;
  for (const char* folder : {"apps", "tests", "schedules", "docs"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(source_folder() + "/" + folder))
      if (entry.path().extension() == ending) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

// The canonical text of those that the compiler reads.
inline std::vector<std::string> algorithm_texts() {
  std::vector<std::string> out;
  for (const auto& path : files(".tw")) {
    ir::Context context;
    const Source source(path.string(), contents(path));
    const auto read = ir::parse_algorithm(context, source);
    if (read.ok()) out.push_back(ir::print(*read));
  }
  return out;
}

inline std::vector<std::string> program_texts() {
  std::vector<std::string> out;
  for (const auto& path : files(".twp")) {
    ir::Context context;
    const Source source(path.string(), contents(path));
    const auto read = program::parse_program(context, source);
    if (read.ok()) out.push_back(program::print(*read));
  }
  return out;
}

// What is built of a random algorithm with a random schedule, before and after the passes; with the sizes of a run.
struct Built {
  std::string algorithm, program;
  std::map<std::string, std::int64_t> sizes;
  explicit operator bool() const { return !program.empty(); }
};
inline Built built(std::uint64_t seed) {
  laws::Case subject(seed);
  auto made =
      build::build(subject.context, subject.polyhedra, subject.algorithm, subject.random.schedule);
  const auto sizes = subject.bindings(0);
  if (!made.ok() || !sizes) return {};
  program::Program out = *made;
  if (seed % 2)
    for (const passes::Pass& pass : passes::all_passes()) out = pass.run(subject.context, out);
  Built all{ir::print(subject.algorithm), program::print(out), {}};
  for (const auto& [name, value] : *sizes) all.sizes.emplace(name.text(), value);
  return all;
}

}  // namespace tilewright::checker

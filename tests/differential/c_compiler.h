// SPDX-License-Identifier: Apache-2.0
//
// The C compilers of the system, for what the C target writes.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tilewright::test {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct CCompiler {
  std::string name;
  std::string command;  // up to the file names
};
// `Fast`: as written, in a quarter of the compiler's time; `Users`: at the levels that users take.
enum class Optimise { Fast, Users };

// Without a fused multiply-add and by the portable functions; with all that this processor has; and with undefined
// behaviour as a trap, which ends the test with the program's text.
inline std::vector<CCompiler> all_compilers(Optimise optimise) {
  // A Program may compute what nothing needs, and gcc cannot see which guards hold together; that a comparison is
  // decided by what its operands can be is for the Program to say.
  const std::string quiet =
      " -Wall -Wextra -Werror -Wno-unused-but-set-variable -Wno-uninitialized "
      "-Wno-type-limits";
  const bool users = optimise == Optimise::Users;
  const std::string level = users ? " -O2" : " -O0";
  const std::string gcc = "gcc -std=";
  const std::string clang = "/usr/lib/llvm-22/bin/clang -std=";
  return {{"C by gcc", gcc + "c11 -DTW_PORTABLE" + level + quiet},
          {"C by clang", clang + "c11 -march=native" + level + quiet},
          {"C by clang, trapping",
           clang +
               "c11 -DTW_PORTABLE -fsanitize=undefined,float-cast-overflow,bounds "
               "-fno-sanitize=function -fsanitize-trap=all" +
               (users ? " -O1" : level) + quiet},
          {"C by gcc, native", gcc + "gnu17 -march=native" + level + quiet}};
}

// A source to an object; what the compiler says when it refuses. Warnings are refusals.
inline std::string compile_c(const CCompiler& compiler, const std::string& source,
                             std::string& object) {
  std::string folder = (std::filesystem::temp_directory_path() / "tilewright.XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return "no temporary folder";
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  std::ofstream(folder + "/all.c", std::ios::binary) << source;
  const std::string command = compiler.command + " -fPIC -I" + (root ? root : ".") +
                              "/runtime/include -c -o " + folder + "/all.o " + folder +
                              "/all.c 2>" + folder + "/log";
  std::string wrong;
  if (std::system(command.c_str()) == 0)
    object = read_file(folder + "/all.o");
  else
    wrong = compiler.name + ": " + read_file(folder + "/log").substr(0, 4000);
  std::filesystem::remove_all(folder);
  return wrong;
}

}  // namespace tilewright::test

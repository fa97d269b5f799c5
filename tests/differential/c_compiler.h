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
// Without a fused multiply-add and by the portable functions; with all that this processor has. TILEWRIGHT_SLOW_TESTS:
// at the level that users take where the other one compiles in half of the time.
inline std::vector<CCompiler> all_compilers() {
  // A Program may compute what nothing needs, and gcc cannot see which guards hold together.
  const std::string quiet =
      " -Wall -Wextra -Werror -Wno-unused-but-set-variable -Wno-uninitialized";
  const std::string level = std::getenv("TILEWRIGHT_SLOW_TESTS") ? "-O2" : "-O1";
  return {
      {"C by gcc", "gcc -std=c11 " + level + " -DTW_PORTABLE" + quiet},
      {"C by clang", "/usr/lib/llvm-22/bin/clang -std=c11 -O2 -march=native" + quiet},
      // Undefined behaviour is a trap, which ends the test with the program's text.
      {"C by clang, trapping",
       "/usr/lib/llvm-22/bin/clang -std=c11 -O1 -fsanitize=undefined,float-cast-overflow,bounds "
       "-fno-sanitize=function -fsanitize-trap=all -DTW_PORTABLE" +
           quiet},
      {"C by gcc, native", "gcc -std=gnu17 -O2 -march=native" + quiet}};
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

// SPDX-License-Identifier: Apache-2.0
//
// The main() of a program that states algorithms in C++, as tilewright_add_library(... FROM program) runs it:
//
//   int main(int argc, char** argv) { return tilewright::generator_main(argc, argv, {gemm(), blur()}); }
//
//   program                      prints all algorithms as .tw text
//   program -g gemm -o gemm.tw   writes one to a file
//
// Exit status: 0 written, 1 mistakes in an algorithm (on standard error, with their C++ lines) or a file that
// cannot be written, 2 the command line is wrong. Law: no file is written unless it is whole.
#pragma once

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/language.h"

namespace tilewright {

inline int generator_main(int argc, char** argv,
                          const std::vector<language::Algorithm>& algorithms) {
  std::string name, file;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    if (i + 1 == argc || (option != "-g" && option != "-o")) {
      std::fprintf(stderr, "usage: %s [-g ALGORITHM] [-o FILE.tw]\n", argv[0]);
      return 2;
    }
    (option == "-g" ? name : file) = argv[i + 1];
  }
  std::string text;
  bool found = false;
  bool sound = true;
  for (const language::Algorithm& algorithm : algorithms) {
    if (!name.empty() && algorithm.name() != name) continue;
    found = true;
    const auto one = algorithm.text();
    if (one.ok()) text += *one;
    if (!one.ok()) std::fputs(language::render(one.diagnostics()).c_str(), stderr);
    sound = sound && one.ok();
  }
  if (!found) {
    std::fprintf(stderr, "%s: there is no algorithm `%s`; there are:\n", argv[0], name.c_str());
    for (const language::Algorithm& algorithm : algorithms)
      std::fprintf(stderr, "  %s\n", algorithm.name().c_str());
    return 2;
  }
  if (!sound) return 1;
  if (file.empty()) return std::fputs(text.c_str(), stdout) < 0 ? 1 : 0;
  std::ofstream out(file, std::ios::binary);
  out << text << std::flush;
  if (out) return 0;
  std::fprintf(stderr, "%s: cannot write %s\n", argv[0], file.c_str());
  return 1;
}

}  // namespace tilewright

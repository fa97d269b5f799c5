// SPDX-License-Identifier: Apache-2.0
//
// `tilewright-check ALGORITHM.tw PROGRAM.twp CERTIFICATE`: accepts only if the certificate proves that the Program
// computes the algorithm. Exit status: 0 accepted, 1 rejected, 2 the files or the command line cannot be read.
#include <fstream>
#include <iostream>

#include "apps/check/accept.h"
#include "apps/check/statements.h"

namespace {

using namespace tilewright::checker;

constexpr char kHelp[] =
    "usage: tilewright-check ALGORITHM.tw PROGRAM.twp CERTIFICATE\n"
    "       tilewright-check --statements PROGRAM.twp\n"
    "\n"
    "Checks a certificate by which PROGRAM computes ALGORITHM. Both are canonical text, as "
    "`tilewright opt`\n"
    "prints it. With --statements: what the Program does, statement by statement.\n"
    "\n"
    "Exit status: 0 accepted, 1 rejected, 2 a file or the command line cannot be read.\n";

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of one file

// Null where the file cannot be read, is a folder, or does not end within kMostBytes.
const std::string* contents(Arena& arena, const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::string& text = arena.texts.emplace_back();
  char part[1 << 16];
  while (file.read(part, sizeof part) || file.gcount() > 0) {
    text.append(part, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMostBytes) return nullptr;
  }
  return file.eof() && !file.bad() ? &text : nullptr;
}

int run(const std::vector<const char*>& paths, bool lists) {
  Arena arena;
  std::vector<const std::string*> texts;
  for (const char* path : paths) {
    texts.push_back(contents(arena, path));
    if (texts.back()) continue;
    std::cerr << path << ": cannot be read as a text of at most 64 MiB\n";
    return 2;
  }
  try {
    if (lists) {
      const Program program = read_program(arena, *texts[0]);
      Statements statements(arena, *texts[0], program);
      std::cout << listing(statements, program);
      return 0;
    }
    const std::string sizes = accept(arena, *texts[0], *texts[1], *texts[2]);
    std::cout << "accepted: " << paths[1] << " computes " << paths[0] << " for " << sizes << "\n";
    return 0;
  } catch (const Refused& refused) {
    const std::size_t file = std::min<std::size_t>(refused.file, paths.size() - 1);
    std::cout << "rejected: " << paths[file];
    if (refused.line > 0) std::cout << ":" << refused.line << ":" << refused.column;
    std::cout << ": " << refused.what() << "\n";
    if (refused.line > 0 && file < 2)
      std::cerr << "help: canonical text is read alone, as `tilewright opt " << paths[file]
                << "` prints it\n";
    return 1;
  } catch (const std::exception& error) {  // memory
    std::cout << "rejected: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<const char*> paths(arguments + 1, arguments + count);
  if (paths.size() == 1 && Name(paths[0]) == "--help") {
    std::cout << kHelp;
    return 0;
  }
  const bool lists = !paths.empty() && Name(paths[0]) == "--statements";
  if (lists) paths.erase(paths.begin());
  bool good = paths.size() == (lists ? 1U : 3U);
  for (const char* path : paths) good = good && path[0] != '-';
  if (!good) {
    std::cerr << kHelp;
    return 2;
  }
  return run(paths, lists);
}

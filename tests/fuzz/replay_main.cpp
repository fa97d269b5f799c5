// SPDX-License-Identifier: Apache-2.0
//
// The main of a fuzz target when libFuzzer is absent: feeds every file of the folders (or files) named on
// the command line to the target, and the empty input first. Law: the corpus of a target never crashes it,
// in any preset. A missing or empty corpus is an error: a target that replays nothing tests nothing.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void replay(const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes = read_bytes(path);
  std::fprintf(stderr, "replay %s (%zu bytes)\n", path.filename().c_str(), bytes.size());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  const std::uint8_t nothing = 0;
  LLVMFuzzerTestOneInput(&nothing, 0);
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path path = argv[i];
    if (std::filesystem::is_directory(path)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        if (!entry.is_regular_file()) continue;
        replay(entry.path());
        ++count;
      }
    } else if (std::filesystem::is_regular_file(path)) {
      replay(path);
      ++count;
    } else {
      std::fprintf(stderr, "no such corpus: %s\n", argv[i]);
      return 1;
    }
  }
  std::fprintf(stderr, "%zu inputs replayed\n", count);
  return count == 0 ? 1 : 0;
}

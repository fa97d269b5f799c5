// SPDX-License-Identifier: Apache-2.0
//
// bench-candidate: the side of a benchmark that runs what the compiler made.
//   bench-candidate --library KERNEL.so --function NAME --threads N
// Speaks the line protocol of harness/protocol.py on standard input and output.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/bench/programs/kernel.h"
#include "tests/bench/programs/line.h"

namespace {

using namespace tilewright::bench;
using Clock = std::chrono::steady_clock;

// Untimed work at the start of a slice: threads are awake, and caches hold what they would.
constexpr auto kWarmUp = std::chrono::milliseconds(5);

Line failed(const std::string& message) {
  return {"fail", {}, {{"code", "error"}, {"message", message}}};
}

std::string parse_shape(const std::string& text, std::vector<std::int64_t>& shape) {
  std::istringstream items(text);
  std::string item;
  while (std::getline(items, item, 'x')) {
    long long extent = 0;
    if (!parse_number(item, 0, 1LL << 32, extent)) return "out=`" + text + "` is no shape";
    shape.push_back(extent);
  }
  return shape.empty() ? "no out=SHAPE" : "";
}

Line load_case(Kernel& kernel, const Line& line) {
  const auto field = [&](const char* name) {
    const auto found = line.fields.find(name);
    return found == line.fields.end() ? std::string() : found->second;
  };
  long long count = 0;
  if (!parse_number(field("inputs"), 0, Kernel::kMaxTensors - 1, count)) {
    return failed("no inputs=COUNT");
  }
  std::vector<std::int64_t> shape;
  if (const auto reason = parse_shape(field("out"), shape); !reason.empty()) return failed(reason);
  std::vector<Array> inputs(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto reason = read_npy(field("dir") + "/in" + std::to_string(i) + ".npy", inputs[i]);
    if (!reason.empty()) return failed(reason);
  }
  const std::string type = field("type").empty() ? "f32" : field("type");
  const ElementInfo* output = find_element(type);
  if (output == nullptr) return failed("type=`" + type + "` is no type");
  if (const auto reason = kernel.bind(inputs, shape, output->element); !reason.empty())
    return failed(reason);
  return {"ok", {}, {{"formulations", "library"}}};
}

Line write_output(Kernel& kernel, const std::string& path) {
  kernel.poison();
  if (const auto reason = kernel.run(); !reason.empty()) return failed(reason);
  const auto reason = write_npy(path, kernel.output());
  return reason.empty() ? Line{"ok", {}, {}} : failed(reason);
}

Line time_runs(Kernel& kernel, const std::string& word) {
  long long count = 0;
  if (!parse_number(word, 1, 1000000, count)) return failed("`" + word + "` is no count");
  const auto warm = Clock::now() + kWarmUp;
  do {
    if (const auto reason = kernel.run(); !reason.empty()) return failed(reason);
  } while (Clock::now() < warm);
  Line times{"times", {}, {}};
  for (long long i = 0; i < count; ++i) {
    const auto begin = Clock::now();
    const std::string reason = kernel.run();
    const auto spent = Clock::now() - begin;
    if (!reason.empty()) return failed(reason);
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count();
    times.words.push_back(std::to_string(ns > 0 ? ns : 1));
  }
  return times;
}

Line answer(Kernel& kernel, const Line& line, long long threads) {
  const std::string word = line.words.empty() ? "" : line.words[0];
  if (line.verb == "quit") return {"bye", {}, {}};
  if (line.verb == "hello") {
    if (word != "1") return failed("speaks version 1 only");
    return {"ready", {}, {{"name", "tilewright"}, {"threads", std::to_string(threads)}}};
  }
  if (line.verb == "case") return load_case(kernel, line);
  if (line.verb == "use")
    return word == "library" ? Line{"ok", {}, {}} : failed("no `" + word + "`");
  if (!kernel.bound()) return failed("`" + line.verb + "` before a case");
  if (line.verb == "output") return write_output(kernel, word);
  if (line.verb == "time") return time_runs(kernel, word);
  return failed("no verb `" + line.verb + "`");
}

int usage() {
  std::fprintf(stderr, "usage: bench-candidate --library KERNEL.so --function NAME --threads N\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::string library;
  std::string function;
  long long threads = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--library") library = argv[i + 1];
    if (flag == "--function") function = argv[i + 1];
    if (flag == "--threads" && !parse_number(argv[i + 1], 1, 1024, threads)) return usage();
  }
  if (library.empty() || function.empty() || threads == 0 || argc != 7) return usage();
  Kernel kernel;
  if (const auto reason = kernel.open(library, function, static_cast<int>(threads));
      !reason.empty()) {
    std::fprintf(stderr, "bench-candidate: %s\n", reason.c_str());
    return 1;
  }
  std::string text;
  while (std::getline(std::cin, text)) {
    Line line;
    const std::string reason = parse_line(text, line);
    const Line reply = reason.empty() ? answer(kernel, line, threads) : failed(reason);
    std::cout << format_line(reply) << std::endl;
    if (reply.verb == "bye") break;
  }
  return 0;
}

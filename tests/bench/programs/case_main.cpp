// SPDX-License-Identifier: Apache-2.0
//
// bench-case: the judge of every timed result. It links no code of the compiler.
//   bench-case make NAME M=.. N=.. seed=.. DIR      inputs in0.npy.., reference.npy, bound.npy in DIR
//   bench-case verify DIR OUT.npy                   exit 0 within the bound, 1 outside
// Prints one JSON object per call.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/bench/programs/cases.h"

namespace {

using namespace tilewright::bench;

int fail(const std::string& reason) {
  std::fprintf(stderr, "bench-case: %s\n", reason.c_str());
  return 2;
}

std::string parse_sizes(const Case& item, const std::vector<std::string>& words, Sizes& sizes,
                        std::uint64_t& seed) {
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) return "`" + word + "` is not NAME=NUMBER";
    char* end = nullptr;
    const long long value = std::strtoll(word.c_str() + equals + 1, &end, 10);
    if (*end != '\0' || value < 0 || value > (1 << 20)) return "`" + word + "` is out of range";
    if (word.compare(0, equals, "seed") == 0) {
      seed = static_cast<std::uint64_t>(value);
    } else {
      sizes[word.substr(0, equals)] = value;
    }
  }
  for (const auto extent : item.extents) {
    if (sizes.count(std::string(extent)) == 0) return "no size for " + std::string(extent);
  }
  return sizes.size() == item.extents.size() ? "" : "a size that the case does not have";
}

int make(const std::vector<std::string>& args) {
  if (args.size() < 2) return fail("usage: bench-case make NAME SIZE=N... DIR");
  const Case* item = find_case(args[0]);
  if (item == nullptr) return fail("no case `" + args[0] + "`");
  Sizes sizes;
  std::uint64_t seed = 1;
  const std::vector<std::string> words(args.begin() + 1, args.end() - 1);
  if (const auto reason = parse_sizes(*item, words, sizes, seed); !reason.empty()) {
    return fail(reason);
  }
  const std::string folder = args.back() + "/";
  const std::vector<Array> inputs = item->inputs(sizes, seed);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto reason = write_npy(folder + "in" + std::to_string(i) + ".npy", inputs[i]);
    if (!reason.empty()) return fail(reason);
  }
  Array reference;
  Array bound;
  item->reference(sizes, inputs, reference, bound);
  for (const auto& [name, array] :
       {std::pair{"reference.npy", &reference}, {"bound.npy", &bound}}) {
    if (const auto reason = write_npy(folder + name, *array); !reason.empty()) return fail(reason);
  }
  const Work work = item->work(sizes);
  std::string shape;
  for (const std::int64_t extent : reference.shape) {
    shape += (shape.empty() ? "" : "x") + std::to_string(extent);
  }
  std::printf(
      "{\"inputs\": %zu, \"out\": \"%s\", \"type\": \"%s\", \"flops\": %.0f, \"bytes\": %.0f, "
      "\"rate\": %.0f}\n",
      inputs.size(), shape.c_str(), std::string(element_info(item->output).name).c_str(),
      work.flops, work.bytes, work.rate);
  return 0;
}

int verify(const std::vector<std::string>& args) {
  if (args.size() != 2) return fail("usage: bench-case verify DIR OUT.npy");
  Array reference;
  Array bound;
  Array result;
  for (const auto& [path, array] : {std::pair{args[0] + "/reference.npy", &reference},
                                    {args[0] + "/bound.npy", &bound},
                                    {args[1], &result}}) {
    if (const auto reason = read_npy(path, *array); !reason.empty()) return fail(reason);
  }
  if (result.shape != reference.shape || result.element == Element::F64) {
    return fail(args[1] + ": shape or element type differs from the reference's");
  }
  double max_abs = 0;
  double worst_share = 0;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double error = std::fabs(result.number(i) - reference.f64()[i]);
    // A NaN compares false with everything: make it the worst there is.
    const double share = std::isfinite(error) ? error / bound.f64()[i] : HUGE_VAL;
    if (std::isfinite(error)) max_abs = std::max(max_abs, error);
    if (share > worst_share) {
      worst_share = share;
      worst = i;
    }
  }
  const bool holds = worst_share <= 1;
  const double got = result.size() ? result.number(worst) : 0;
  const bool finite = std::isfinite(got) && std::isfinite(worst_share);
  std::printf(
      "{\"holds\": %s, \"max_abs\": %.6g, \"share_of_bound\": %s, \"worst\": %zu, "
      "\"want\": %.9g, \"got\": %s}\n",
      holds ? "true" : "false", max_abs, finite ? std::to_string(worst_share).c_str() : "null",
      worst, result.size() ? reference.f64()[worst] : 0,
      std::isfinite(got) ? std::to_string(got).c_str() : "null");
  return holds ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const std::vector<std::string> rest(args.begin() + (args.empty() ? 0 : 1), args.end());
  if (!args.empty() && args[0] == "make") return make(rest);
  if (!args.empty() && args[0] == "verify") return verify(rest);
  return fail("usage: bench-case make|verify ...");
}

// SPDX-License-Identifier: Apache-2.0
//
// The command line of an application and what it prints.
#include "apps/runner/runner.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>

#include "apps/npy/npy.h"
#include "apps/runner/kernel_call.h"
#include "frontend/base/render.h"

namespace tilewright::runner {

namespace {

constexpr int kExitWrong = 1;
constexpr int kExitUsage = 2;
constexpr int kExitSkipped = 77;
constexpr int kExitRefused = 78;  // within --small only

struct Options {
  Sizes sizes;
  std::map<std::string, std::string> inputs;  // name, file
  std::string output;
  std::int64_t threads = 0;
  std::int64_t seed = 1;
  bool small = false;
  bool json = false;
};

int usage(const App& app, const std::string& wrong) {
  std::string words;
  for (const auto& [extent, size] : app.sizes)
    words += " [" + extent + "=" + std::to_string(size) + "]";
  for (const TensorSpec& input : app.inputs) words += " [" + input.name + "=FILE.npy]";
  words += " [" + app.output.name + "=FILE.npy]";
  if (!wrong.empty()) std::fprintf(stderr, "%s: %s\n", app.name.c_str(), wrong.c_str());
  std::fprintf(
      wrong.empty() ? stdout : stderr,
      "usage: %s%s [threads=N] [seed=N] [--json] [--small]\n"
      "Inputs come from files (all of them; the sizes follow) or from a seed. The output is "
      "compared\n"
      "with a reference in double precision, then written if it has a file. --small runs the\n"
      "sizes of the tests. Exit: 0 right, 1 wrong, 2 usage, 77 this processor cannot run it.\n",
      app.name.c_str(), words.c_str());
  return wrong.empty() ? 0 : kExitUsage;
}

std::optional<std::int64_t> parse_size(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < 0 || value > (std::int64_t{1} << 31))
    return std::nullopt;
  return value;
}

// The empty string, or what is wrong with the word.
std::string take_word(const App& app, const std::string& word, Options& out) {
  if (word == "--small") return out.small = true, "";
  if (word == "--json") return out.json = true, "";
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return "`" + word + "` is not NAME=VALUE";
  const std::string name = word.substr(0, equals);
  const std::string value = word.substr(equals + 1);
  const auto is_named = [&](const TensorSpec& spec) { return spec.name == name; };
  if (std::any_of(app.inputs.begin(), app.inputs.end(), is_named))
    return out.inputs[name] = value, "";
  if (is_named(app.output)) return out.output = value, "";
  const auto number = parse_size(value);
  const bool is_extent = app.sizes.contains(name);
  if (!is_extent && name != "threads" && name != "seed") return "nothing is named `" + name + "`";
  if (!number) return "`" + value + "` is not a number from 0 to 2147483648";
  if (is_extent) out.sizes[name] = *number;
  if (name == "threads") out.threads = *number;
  if (name == "seed") out.seed = *number;
  return "";
}

std::string parse(const App& app, int argc, char** argv, Options& out) {
  for (int i = 1; i < argc; ++i)
    if (std::string wrong = take_word(app, argv[i], out); !wrong.empty()) return wrong;
  if (out.threads > TILEWRIGHT_MAX_THREADS) return "threads: at most 1024";
  if (!out.inputs.empty() && out.inputs.size() != app.inputs.size())
    return "give a file for every input, or for none";
  if (!out.inputs.empty() && !out.sizes.empty()) return "the sizes follow from the files";
  if (out.small && (!out.inputs.empty() || !out.sizes.empty() || !out.output.empty()))
    return "--small has sizes of its own";
  return "";
}

// Reports and returns false when a file cannot serve.
bool read_inputs(const App& app, const Options& options, std::vector<npy::Array>& out) {
  for (const TensorSpec& spec : app.inputs) {
    auto array = npy::read(options.inputs.at(spec.name));
    if (!array.ok()) {
      std::fputs(render(array.diagnostics(), nullptr).c_str(), stderr);
      return false;
    }
    const std::size_t rank = spec.shape(app.sizes).size();
    if (array->type != spec.type || array->shape.size() != rank) {
      std::fprintf(stderr, "%s: `%s` must be %s with %zu dimensions; %s holds %s with %zu\n",
                   app.name.c_str(), spec.name.c_str(),
                   std::string(ir::type_text(spec.type)).c_str(), rank,
                   options.inputs.at(spec.name).c_str(),
                   std::string(ir::type_text(array->type)).c_str(), array->shape.size());
      return false;
    }
    out.push_back(*std::move(array));
  }
  return true;
}

struct Comparison {
  double error = 0;  // largest
  double ratio = 0;  // largest error over its bound
  std::size_t wrong = 0;
  std::size_t first = 0;  // of the wrong ones
};

// `got` NaN or infinite where the reference is not counts as wrong.
Comparison compare(const Expected& expected, const std::vector<double>& got) {
  Comparison out;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = std::fabs(got[i] - expected.value[i]);
    if (error <= expected.bound[i]) {
      out.error = std::max(out.error, error);
      out.ratio = std::max(out.ratio, error / expected.bound[i]);
    } else if (out.wrong++ == 0) {
      out.first = i;
    }
  }
  return out;
}

std::string sizes_text(const Sizes& sizes) {
  std::string text;
  for (const auto& [extent, size] : sizes)
    text += (text.empty() ? "" : " ") + extent + "=" + std::to_string(size);
  return text;
}

int fail_call(const Options& options, const KernelCall& call, std::int32_t status) {
  if (options.small && status == TILEWRIGHT_REQUIRES_VIOLATED) return kExitRefused;
  std::fprintf(stderr, "%s\n", call.failure(status).c_str());
  return status == TILEWRIGHT_UNSUPPORTED_CPU ? kExitSkipped : kExitWrong;
}

// `seconds` 0: it was not timed.
void print_result(const App& app, const Options& options, const Sizes& sizes,
                  const Comparison& found, double seconds) {
  const double rate = seconds > 0 ? app.work(sizes) / seconds * 1e-9 : 0;
  if (options.json) {
    std::printf(
        "{\"name\": \"%s\", \"sizes\": \"%s\", \"max_error\": %.9g, \"error_over_bound\": %.6g, "
        "\"milliseconds\": %.6g, \"rate\": %.6g, \"rate_unit\": \"%s\"}\n",
        app.name.c_str(), sizes_text(sizes).c_str(), found.error, found.ratio, seconds * 1e3, rate,
        app.rate.c_str());
    return;
  }
  std::printf("%s %s: largest error %.3g, %.2g of its bound", app.name.c_str(),
              sizes_text(sizes).c_str(), found.error, found.ratio);
  if (seconds > 0) std::printf("; %.3f ms, %.1f %s", seconds * 1e3, rate, app.rate.c_str());
  std::printf("\n");
}

// One size: run, compare, time, write.
int run_once(const App& app, const Options& options, const Sizes& sizes,
             std::vector<npy::Array> inputs) {
  KernelCall call(app, std::move(inputs), sizes);
  if (const std::int32_t status = call.prepare(static_cast<std::int32_t>(options.threads));
      status != TILEWRIGHT_OK)
    return fail_call(options, call, status);
  call.poison();
  if (const std::int32_t status = call.run(); status != TILEWRIGHT_OK)
    return fail_call(options, call, status);
  const Expected expected = app.reference(sizes, call.input_values());
  const Comparison found = compare(expected, call.output_values());
  if (found.wrong > 0) {
    std::fprintf(
        stderr,
        "%s %s: %zu numbers are wrong, first number %zu: expected %.9g, got %.9g, bound %.3g\n",
        app.name.c_str(), sizes_text(sizes).c_str(), found.wrong, found.first,
        expected.value[found.first], call.output_values()[found.first],
        expected.bound[found.first]);
    return kExitWrong;
  }
  print_result(app, options, sizes, found, options.small ? 0 : call.time());
  if (options.output.empty()) return 0;
  const npy::Array& output = call.output();
  const auto written = npy::write(options.output, output.type, output.shape, output.data);
  if (!written.ok()) std::fputs(render(written.diagnostics(), nullptr).c_str(), stderr);
  return written.ok() ? 0 : kExitWrong;
}

// A schedule may be for some sizes alone: those that its guard refuses are left out, not all of them.
int run_small(const App& app, const Options& options) {
  int run = 0;
  for (const Sizes& sizes : app.small) {
    const int status = run_once(app, options, sizes, seeded_inputs(app, sizes, 1));
    if (status == kExitRefused) continue;
    if (status != 0) return status;
    ++run;
  }
  if (run > 0) return 0;
  std::fprintf(stderr, "%s: the guard refuses every size of --small\n", app.name.c_str());
  return kExitWrong;
}

int run_options(const App& app, const Options& options) {
  if (options.small) return run_small(app, options);
  std::vector<npy::Array> inputs;
  Sizes sizes = app.sizes;
  for (const auto& [extent, size] : options.sizes) sizes[extent] = size;
  if (!options.inputs.empty()) {
    if (!read_inputs(app, options, inputs)) return kExitWrong;
    std::vector<Shape> shapes;
    for (const npy::Array& input : inputs) shapes.push_back(input.shape);
    sizes = app.sizes_of(shapes);
  } else {
    inputs = seeded_inputs(app, sizes, static_cast<std::uint64_t>(options.seed));
  }
  return run_once(app, options, sizes, std::move(inputs));
}

}  // namespace

double gamma(double n) { return n * kUnitF32 / (1 - n * kUnitF32); }

int run_app(const App& app, int argc, char** argv) {
  if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0))
    return usage(app, "");
  Options options;
  if (const std::string wrong = parse(app, argc, argv, options); !wrong.empty())
    return usage(app, wrong);
  try {
    return run_options(app, options);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: there is not enough memory for these sizes\n", app.name.c_str());
    return kExitWrong;
  } catch (const std::length_error&) {
    std::fprintf(stderr, "%s: no memory is as large as these sizes\n", app.name.c_str());
    return kExitWrong;
  }
}

}  // namespace tilewright::runner

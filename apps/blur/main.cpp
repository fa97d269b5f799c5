// SPDX-License-Identifier: Apache-2.0
//
// Calls the library that `tilewright compile` made of blur.tw. Usage: `blur-tiled --help`.
#include <algorithm>

#include "apps/blur/reference.h"
#include "blur.h"

namespace runner = tilewright::runner;
using tilewright::ir::ScalarType;

int main(int argc, char** argv) {
  runner::App app;
  app.name = "blur";
  app.sizes = {{"H", 2048}, {"W", 2048}};
  app.small = {{{"H", 0}, {"W", 5}},   {{"H", 5}, {"W", 0}},   {{"H", 1}, {"W", 1}},
               {{"H", 3}, {"W", 61}},  {{"H", 31}, {"W", 64}}, {{"H", 37}, {"W", 257}},
               {{"H", 67}, {"W", 521}}};
  app.inputs = {{"x", ScalarType::F32,
                 [](const runner::Sizes& s) { return runner::Shape{s.at("H") + 2, s.at("W") + 2}; },
                 0, 1}};
  app.output = {"y", ScalarType::F32,
                [](const runner::Sizes& s) { return runner::Shape{s.at("H"), s.at("W")}; }};
  app.sizes_of = [](const std::vector<runner::Shape>& shapes) {
    return runner::Sizes{{"H", std::max<std::int64_t>(0, shapes[0][0] - 2)},
                         {"W", std::max<std::int64_t>(0, shapes[0][1] - 2)}};
  };
  app.query = [](const tilewright_call* call, tilewright_tensor* t, std::size_t* workspace_size) {
    return blur_query(call, &t[0], &t[1], workspace_size);
  };
  app.run = [](const tilewright_call* call, tilewright_tensor* t, void* workspace,
               std::size_t size) { return blur(call, &t[0], &t[1], workspace, size); };
  app.reference = blur_reference;
  app.work = [](const runner::Sizes& s) {
    const double height = static_cast<double>(s.at("H"));
    const double width = static_cast<double>(s.at("W"));
    return 4 * (height * width + (height + 2) * (width + 2));
  };
  app.rate = "GB/s";
  return runner::run_app(app, argc, argv);
}

// SPDX-License-Identifier: Apache-2.0
//
// Calls the library that `tilewright compile` made of gemm_i8.tw. Usage: `gemm_i8-dot --help`.
#include "apps/gemm_i8/reference.h"
#include "gemm_i8.h"

namespace runner = tilewright::runner;
using tilewright::ir::ScalarType;

int main(int argc, char** argv) {
  runner::App app;
  app.name = "gemm_i8";
  app.sizes = {{"M", 1024}, {"N", 1024}, {"K", 1024}};
  app.small = {{{"M", 0}, {"N", 5}, {"K", 3}},    {{"M", 5}, {"N", 0}, {"K", 3}},
               {{"M", 3}, {"N", 2}, {"K", 0}},    {{"M", 1}, {"N", 1}, {"K", 1}},
               {{"M", 7}, {"N", 61}, {"K", 13}},  {{"M", 6}, {"N", 64}, {"K", 17}},
               {{"M", 13}, {"N", 67}, {"K", 64}}, {{"M", 131}, {"N", 197}, {"K", 101}}};
  app.inputs = {
      {"a", ScalarType::U8,
       [](const runner::Sizes& s) { return runner::Shape{s.at("M"), s.at("K")}; }, 0, 255},
      {"b", ScalarType::I8,
       [](const runner::Sizes& s) { return runner::Shape{s.at("K"), s.at("N")}; }, -128, 127}};
  app.output = {"c", ScalarType::I32,
                [](const runner::Sizes& s) { return runner::Shape{s.at("M"), s.at("N")}; }};
  app.sizes_of = [](const std::vector<runner::Shape>& shapes) {
    return runner::Sizes{{"M", shapes[0][0]}, {"K", shapes[0][1]}, {"N", shapes[1][1]}};
  };
  app.query = [](const tilewright_call* call, tilewright_tensor* t, std::size_t* workspace_size) {
    return gemm_i8_query(call, &t[0], &t[1], &t[2], workspace_size);
  };
  app.run = [](const tilewright_call* call, tilewright_tensor* t, void* workspace,
               std::size_t size) { return gemm_i8(call, &t[0], &t[1], &t[2], workspace, size); };
  app.reference = gemm_i8_reference;
  app.work = [](const runner::Sizes& s) {
    return 2.0 * static_cast<double>(s.at("M")) * static_cast<double>(s.at("N")) *
           static_cast<double>(s.at("K"));
  };
  return runner::run_app(app, argc, argv);
}

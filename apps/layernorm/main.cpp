// SPDX-License-Identifier: Apache-2.0
//
// Calls the library that `tilewright compile` made of layernorm.tw. Usage: `layernorm-rows --help`.
#include "apps/layernorm/reference.h"
#include "layernorm.h"

namespace runner = tilewright::runner;
using tilewright::ir::ScalarType;

namespace {

runner::Shape matrix(const runner::Sizes& s) { return {s.at("R"), s.at("C")}; }
runner::Shape row(const runner::Sizes& s) { return {s.at("C")}; }

}  // namespace

int main(int argc, char** argv) {
  runner::App app;
  app.name = "layernorm";
  app.sizes = {{"R", 2048}, {"C", 1024}};
  app.small = {{{"R", 0}, {"C", 5}},   {{"R", 5}, {"C", 0}},  {{"R", 1}, {"C", 1}},
               {{"R", 3}, {"C", 61}},  {{"R", 2}, {"C", 64}}, {{"R", 5}, {"C", 131}},
               {{"R", 67}, {"C", 257}}};
  app.inputs = {{"x", ScalarType::F32, matrix, -1, 3},
                {"scale", ScalarType::F32, row, 0.5, 1.5},
                {"shift", ScalarType::F32, row, -0.5, 0.5}};
  app.output = {"y", ScalarType::F32, matrix};
  app.sizes_of = [](const std::vector<runner::Shape>& shapes) {
    return runner::Sizes{{"R", shapes[0][0]}, {"C", shapes[0][1]}};
  };
  app.query = [](const tilewright_call* call, tilewright_tensor* t, std::size_t* workspace_size) {
    return layernorm_query(call, &t[0], &t[1], &t[2], &t[3], workspace_size);
  };
  app.run = [](const tilewright_call* call, tilewright_tensor* t, void* workspace,
               std::size_t size) {
    return layernorm(call, &t[0], &t[1], &t[2], &t[3], workspace, size);
  };
  app.reference = layernorm_reference;
  app.work = [](const runner::Sizes& s) {
    const double columns = static_cast<double>(s.at("C"));
    return 8.0 * (static_cast<double>(s.at("R")) * columns + columns);
  };
  app.rate = "GB/s";
  return runner::run_app(app, argc, argv);
}

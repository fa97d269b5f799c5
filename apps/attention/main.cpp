// SPDX-License-Identifier: Apache-2.0
//
// Calls the library that `tilewright compile` made of attention.tw. Usage: `attention-row_tiles --help`.
#include "apps/attention/reference.h"
#include "attention.h"

namespace runner = tilewright::runner;
using tilewright::ir::ScalarType;

namespace {

runner::Shape queries(const runner::Sizes& s) {
  return {s.at("B"), s.at("H"), s.at("S"), s.at("D")};
}
runner::Shape keys(const runner::Sizes& s) { return {s.at("B"), s.at("H"), s.at("T"), s.at("D")}; }

runner::Sizes sizes(std::int64_t b, std::int64_t h, std::int64_t s, std::int64_t t,
                    std::int64_t d) {
  return {{"B", b}, {"H", h}, {"S", s}, {"T", t}, {"D", d}};
}

// Two products over the keys that a query may see.
double operations(const runner::Sizes& s) {
  const double rows = static_cast<double>(s.at("S"));
  const double seen = rows * (static_cast<double>(s.at("T")) - (rows - 1) / 2);
  return 4 * static_cast<double>(s.at("B") * s.at("H")) * seen * static_cast<double>(s.at("D"));
}

}  // namespace

int main(int argc, char** argv) {
  runner::App app;
  app.name = "attention";
  app.sizes = sizes(1, 8, 512, 512, 64);
  app.small = {sizes(0, 2, 3, 3, 4),    sizes(2, 0, 3, 3, 4),   sizes(1, 1, 1, 1, 1),
               sizes(1, 2, 1, 7, 5),    sizes(2, 1, 5, 67, 13), sizes(1, 3, 13, 13, 64),
               sizes(2, 2, 7, 131, 67), sizes(1, 1, 6, 64, 128)};
  app.inputs = {{"q", ScalarType::BF16, queries, -1, 1},
                {"k", ScalarType::BF16, keys, -1, 1},
                {"v", ScalarType::BF16, keys, -1, 1}};
  app.output = {"o", ScalarType::BF16, queries};
  app.sizes_of = [](const std::vector<runner::Shape>& shapes) {
    return sizes(shapes[0][0], shapes[0][1], shapes[0][2], shapes[1][2], shapes[0][3]);
  };
  app.query = [](const tilewright_call* call, tilewright_tensor* t, std::size_t* workspace_size) {
    return attention_query(call, &t[0], &t[1], &t[2], &t[3], workspace_size);
  };
  app.run = [](const tilewright_call* call, tilewright_tensor* t, void* workspace,
               std::size_t size) {
    return attention(call, &t[0], &t[1], &t[2], &t[3], workspace, size);
  };
  app.reference = attention_reference;
  app.work = operations;
  return runner::run_app(app, argc, argv);
}

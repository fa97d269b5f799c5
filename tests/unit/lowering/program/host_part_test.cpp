// SPDX-License-Identifier: Apache-2.0
//
// What is not for a host is found and named.
#include "lowering/program/host_part.h"

#include <gtest/gtest.h>

#include "frontend/base/render.h"
#include "lowering/program/text.h"

namespace tilewright::program {
namespace {

std::string refused(const std::string& body) {
  ir::Context context;
  const Source source("p.twp", R"(program p for p {
  extent N
  input x : f32[N]
  output y : f32[N]
  intrinsic algorithm twice() {
    input a : f32[4]
    output b[i < 4] : f32 = a[i] + a[i]
  }
)" + body + "}\n");
  auto program = parse_program(context, source);
  EXPECT_TRUE(program.ok()) << render(program.diagnostics(), &source);
  if (!program.ok()) return "not read";
  const auto found = find_beyond_host(*program);
  if (!found) return "";
  EXPECT_EQ(found->code, Code::UnsupportedByTarget);
  EXPECT_EQ(source.text().substr(found->span.begin, 5), found->evidence[0].second.substr(0, 5));
  return found->evidence[0].second;
}

TEST(HostPart, TakesLoopsBuffersAndStores) {
  EXPECT_EQ(refused(R"(
  alloc t : f32[N] in workspace {
    parallel i in 0 .. N {
      alloc r : f32[4] in register {
        vector l in 0 .. 4 {
          r[l] = x[i]
        }
        let v = r[0] {
          if i < N - 1 {
            t[i] = v
            y[i] = v
          }
        }
      }
    }
  })"),
            "");
}

TEST(HostPart, NamesTheFirstStatementBeyondIt) {
  EXPECT_EQ(refused("kernel main {\n y[0] = x[0]\n }\n"), "kernel main {");
  EXPECT_EQ(refused("for b in 0 .. N bind block {\n y[b] = x[b]\n }\n"),
            "for b in 0 .. N bind block {");
  EXPECT_EQ(refused("while x[0] > 0.0 {\n y[0] = x[0]\n }\n"), "while x[0] > f32(0) {");
  EXPECT_EQ(refused("y[0] = x[0]\n atomic sum y[0] by x[0]\n"), "atomic sum y[0] by x[0]");
  EXPECT_EQ(refused("call twice(a = x[0 : 4], b = y[0 : 4])\n"),
            "call twice(a = x[0 : 4], b = y[0 : 4])");
  EXPECT_EQ(refused("alloc g : f32[4] in global {\n y[0] = x[0]\n }\n"),
            "alloc g : f32[4] in global {");
  EXPECT_EQ(refused("for i in 0 .. N {\n start generic group {\n y[i] = x[i]\n }\n }\n"),
            "start generic group {");
}

}  // namespace
}  // namespace tilewright::program

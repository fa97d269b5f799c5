// SPDX-License-Identifier: Apache-2.0
//
// Lesson 4: a library, called from C
//
// This program states an algorithm and writes it as text when the build asks for it:
//
//     lesson_04_library -g mean -o mean.tw
//
// In a project of yours, CMake does that. It compiles the text with the schedule and links what comes out:
//
//     find_package(tilewright 0.1 REQUIRED)
//     add_executable(lesson_04_library lesson_04_library.cpp)
//     target_link_libraries(lesson_04_library PRIVATE tilewright::language)
//     tilewright_add_library(mean FROM lesson_04_library SCHEDULE lesson_04_library.tws)
//     add_executable(lesson_04_call lesson_04_call.c)
//     target_link_libraries(lesson_04_call PRIVATE mean tilewright::runtime)
#include "tilewright/generator.h"
#include "tilewright/language.h"

using namespace tilewright::language;

static Algorithm mean() {
  Algorithm mean("mean");
  Extent M(mean, "M"), N(mean, "N");
  // The mean of nothing is not defined, so the caller must bring something. That is checked at every call.
  mean.require(1 <= N);
  Input x(mean, "x", f32, {M, N});
  Tensor total(mean, "total");
  Output y(mean, "y");
  Var m("m"), n("n");
  total(m) = sum(n < N, x(m, n));
  y(m) = total(m) / f32(N);
  return mean;
}

// `generator_main` understands `-g` and `-o`; mistakes go to standard error with their lines, and the build stops.
int main(int argc, char** argv) { return tilewright::generator_main(argc, argv, {mean()}); }

// The schedule says how: rows in parallel, the sum of a row just before the row is written, 8 lanes at a time.
// file: lesson_04_library.tws

// The library is plain C. It allocates nothing, prints nothing and keeps no state:
// file: lesson_04_call.c

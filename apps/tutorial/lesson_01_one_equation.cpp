// SPDX-License-Identifier: Apache-2.0
//
// Lesson 1: one equation
//
// An algorithm says what is computed: equations over index domains, no loops, no memory, no machine. This lesson
// states the smallest one in C++, looks at it as text, and evaluates it.
#include "apps/tutorial/lesson.h"
#include "tilewright/language.h"

using namespace tilewright::language;

int main() {
  // Everything belongs to an `Algorithm`, which has a name. An `Extent` is a size that is not known yet: the
  // caller of the library brings it.
  Algorithm line("line");
  Extent N(line, "N");

  // Inputs have an element type and a shape. `{}` is the shape of a single number.
  Input x(line, "x", f32, {N});
  Input slope(line, "slope", f32, {});

  // An output is defined by assigning to one element of it. The index is a `Var`: a name, no counter. Its range
  // follows from the places where it is used alone: `i` runs below `N`, since `x` has `N` elements.
  Output y(line, "y");
  Var i("i");
  y(i) = slope() * x(i) + 0.5;

  // The text is what a `.tw` file would say. It is canonical: ranges, types and the types of numbers are written
  // out. Where there is a mistake, `text()` has diagnostics instead; lesson 7 is about them.
  Result<std::string> text = line.text();
  lesson::expect(text.ok(), "the algorithm is sound");
  lesson::expect(*text ==
                     "algorithm line(N) {\n"
                     "  input x : f32[N]\n"
                     "  input slope : f32[]\n"
                     "  output y[i < N] : f32 = slope[] * x[i] + f32(0.5)\n"
                     "}\n",
                 "the text is the expected one");

  // `evaluate` runs the equations as they stand, in their types. It is slow and says what the algorithm means;
  // a library for real work comes in lesson 4. `N` is 3 here, because `x` has 3 elements.
  Result<Arrays> result = line.evaluate({{"x", {{3}, {1, 2, 3}}}, {"slope", {{}, {2}}}});
  lesson::expect(result.ok(), "it can be evaluated");
  lesson::expect(result->at("y").values == std::vector<double>{2.5, 4.5, 6.5}, "y is 2 x + 0.5");

  std::printf("%s", text->c_str());
  return 0;
}

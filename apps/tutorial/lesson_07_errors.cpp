// SPDX-License-Identifier: Apache-2.0
//
// Lesson 7: mistakes, and what they are called
//
// Nothing is thrown and nothing ends the program. An algorithm collects its mistakes, and `text()` returns all of
// them: each with a code, the line of this file, what was seen and what would help.
#include "apps/tutorial/lesson.h"
#include "tilewright/language.h"

using namespace tilewright::language;

int main() {
  Algorithm wrong("wrong");
  Extent M(wrong, "M"), N(wrong, "N");
  Input x(wrong, "x", f32, {M, N});
  Input count(wrong, "count", i32, {M});
  Tensor later(wrong, "later");
  Output mean(wrong, "mean"), first(wrong, "first"), shifted(wrong, "shifted"), norm(wrong, "norm");
  Var m("m"), n("n");

  // E0203: operands of different types. Nothing is converted silently; write `f32(count(m))`.
  mean(m) = x(m, 0) / count(m);
  // E0205: a tensor has as many indices as it was declared with.
  first(m) = x(m);
  // E0209: the range of `n` does not follow, since `n` stands nowhere alone. Write `shifted(m, n < N - 1)`.
  shifted(m, n) = x(m, n + 1);
  // E0121: a tensor is read before it is defined. Equations stand in the order in which they are made.
  norm(m, n) = x(m, n) * later(m);
  // E0210: a fold inside an expression. It gets an equation of its own, as in lesson 3.
  later(m) = x(m, 0) / sum(n < N, x(m, n));

  const Result<std::string> text = wrong.text();
  lesson::expect(!text.ok(), "there are mistakes");
  std::string codes;
  for (const Diagnostic& mistake : text.diagnostics()) codes += mistake.code + " ";
  std::printf("%s", render(text.diagnostics()).c_str());
  lesson::expect(codes == "E0203 E0205 E0209 E0121 E0210 ", "these mistakes, in this order");

  // The line is that of the operator or function at fault, also inside of a function of yours; a note then says
  // which definition used it.
  const Place at = text.diagnostics()[0].place;
  lesson::expect(at.file.ends_with("lesson_07_errors.cpp"), "the file");
  lesson::expect(at.line + 2 == text.diagnostics()[1].place.line, "the second is two lines below");
  return 0;
}

// `tilewright help diagnostics` lists all codes. Texts and schedules refuse in the same way: with a code, a place and
// what would help. Here is an algorithm and a schedule that names a loop that is not there:
// file: lesson_07_errors.tw
// refused E0303: lesson_07_errors.tws
// <!-- run: 1 -->
// ```sh
// tilewright compile lesson_07_errors.tw --schedule lesson_07_errors.tws
// ```
// <!-- prints -->
// ```text
// lesson_07_errors.tws:3:13: error: no loop `total.nj` [E0303]
//     3 |   vectorize total.nj
//       |             ^~~~~~~~
//   help: the loops are `total.m`, `total.no`, `total.ni`
// ```

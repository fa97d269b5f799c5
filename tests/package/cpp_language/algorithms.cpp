// SPDX-License-Identifier: Apache-2.0
//
// Two algorithms, and one with a mistake, which is reported at its line.
#include <tilewright/generator.h>
#include <tilewright/language.h>

using namespace tilewright::language;

static Algorithm saxpy() {
  Algorithm saxpy("saxpy");
  Extent N(saxpy, "N");
  Input a(saxpy, "a", f32, {}), x(saxpy, "x", f32, {N}), y(saxpy, "y", f32, {N});
  Output z(saxpy, "z");
  Var i("i");
  z(i) = a() * x(i) + y(i);
  return saxpy;
}

static Algorithm row_sums() {
  Algorithm sums("row_sums");
  Extent M(sums, "M"), N(sums, "N");
  Input x(sums, "x", f32, {M, N});
  Output total(sums, "total");
  Var i("i");
  RDom j("j", N);
  total(i) = sum(j, x(i, j));
  return sums;
}

static Algorithm faulty() {
  Algorithm faulty("faulty");
  Extent N(faulty, "N");
  Input x(faulty, "x", f32, {N}), n(faulty, "n", i32, {N});
  Output y(faulty, "y");
  Var i("i");
  // Two types without a conversion.
  //
  //
  // Line 40:
  y(i) = x(i) + n(i);
  return faulty;
}

int main(int argc, char** argv) {
  return tilewright::generator_main(argc, argv, {saxpy(), row_sums(), faulty()});
}

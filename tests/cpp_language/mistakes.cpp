// SPDX-License-Identifier: Apache-2.0
//
// C++ algorithms with mistakes: cpp_mistakes NAME prints the diagnostics of one. Places are lines from the line of
// the function's name, so that the text tests stay when this file grows; columns differ between compilers and
// are left out.
#include <cstdio>
#include <cstring>

#include "tilewright/language.h"

using namespace tilewright::language;

namespace {

constexpr unsigned kOtherAlgorithm = __LINE__ + 1;
Algorithm other_algorithm() {
  Algorithm one("one"), other("other");
  Extent N(one, "N"), L(other, "L");
  Input x(one, "x", f32, {N}), z(other, "z", f32, {L});
  Output y(one, "y");
  Var i("i");
  y(i) = x(i) + z(i);
  return one;
}

constexpr unsigned kOrder = __LINE__ + 1;
Algorithm order() {
  Algorithm a("order");
  Extent N(a, "N");
  Input x(a, "x", f32, {N});
  Tensor later(a, "later"), never(a, "never");
  Output y(a, "y");
  Var i("i");
  y(i) = x(i) + later(i);
  later(i) = x(i) * 2;
  return a;
}

constexpr unsigned kEmpty = __LINE__ + 1;
Algorithm empty() {
  Algorithm a("empty");
  Extent N(a, "N");
  Input x(a, "x", f32, {N}), nameless(a, "", f32, {N});
  Output y(a, "y");
  Var i("i");
  Expr sum;
  y(i) = x(i) + sum;
  return a;
}

constexpr unsigned kLeftSides = __LINE__ + 1;
Algorithm left_sides() {
  Algorithm a("left_sides");
  Extent N(a, "N");
  Input x(a, "x", f32, {N});
  Output y(a, "y"), z(a, "z");
  Var i("i");
  y(i + 1) = x(i);
  x(i) = 0.5;
  z(i) = x(i);
  z(i) = x(i) * 2;
  return a;
}

constexpr unsigned kTypesAndRanges = __LINE__ + 1;
Algorithm types_and_ranges() {
  Algorithm a("types_and_ranges");
  Extent N(a, "N"), M(a, "M");
  Input x(a, "x", Type("float"), {N}), n(a, "n", i32, {N});
  Output y(a, "y"), z(a, "z");
  Var i("i");
  y() = sum(N < M, n(0));
  z(i) = n(i) * 0.5;
  return a;
}

constexpr unsigned kTooLarge = __LINE__ + 1;
Algorithm too_large() {
  Algorithm a("too_large");
  Extent N(a, "N");
  Input x(a, "x", f32, {N});
  Output y(a, "y");
  Var i("i");
  Expr power = x(i);
  for (int n = 0; n < 40; ++n) power = power * power;
  y(i) = power;
  return a;
}

Expr scaled(const Input& x, const Input& n, const Var& i) { return x(i) * n(i); }

constexpr unsigned kInAFunction = __LINE__ + 1;
Algorithm in_a_function() {
  Algorithm a("in_a_function");
  Extent N(a, "N");
  Input x(a, "x", f32, {N}), n(a, "n", i32, {N});
  Output y(a, "y");
  Var i("i");
  y(i) = scaled(x, n, i) + 1;
  return a;
}

constexpr unsigned kReductions = __LINE__ + 1;
Algorithm reductions() {
  Algorithm a("reductions"), other("other");
  Extent N(a, "N");
  Input x(a, "x", f32, {N}), row(a, "row", i32, {N}, range(0, N).clamp());
  Monoid unsaid(a, "unsaid", {{"m", f32}}, 0), foreign(other, "foreign", {{"m", f32}}, 0);
  Tensor best(a, "best");
  Output y(a, "y"), z(a, "z"), w(a, "w"), v(a, "v");
  Var i("i");
  RDom k("k", N);
  y(i) = max(x(i), 1).where(x(i) > 0);
  best() = argmax(k, x(k));
  z(i) = best["value"](i);
  w() = foreign(k, x(k));
  v(i) = x(row(i)) + sum(k, x(k)).on_empty({1, 2});
  return a;
}

constexpr unsigned kLoops = __LINE__ + 1;
Algorithm loops() {
  Algorithm a("loops"), callee("callee");
  Extent N(a, "N"), L(a, "L"), D(callee, "D");
  Input x(a, "x", f32, {N}), in(callee, "in", i32, {D});
  Tensor n(a, "n");
  Output y(a, "y"), out(callee, "out");
  Var i("i");
  out(i) = in(i) * 2;
  Loop l(a, "l", L);
  Tensor h = l.carry("h", x);
  Tensor still = l.carry("still", x);
  n(i) = h(i) * still(i);
  l.next(n, h);
  l.end();
  Loop never(a, "never", L);
  call({y}, callee, {{"in", h}});
  return a;
}

struct Case {
  const char* name;
  unsigned line;
  Algorithm (*make)();
};
constexpr Case kCases[] = {
    {"other_algorithm", kOtherAlgorithm, other_algorithm},
    {"order", kOrder, order},
    {"empty", kEmpty, empty},
    {"left_sides", kLeftSides, left_sides},
    {"types_and_ranges", kTypesAndRanges, types_and_ranges},
    {"too_large", kTooLarge, too_large},
    {"in_a_function", kInAFunction, in_a_function},
    {"reductions", kReductions, reductions},
    {"loops", kLoops, loops},
};

void move(Place& place, const Case& shown) {
  if (place.line == 0) return;
  const bool before = place.line < shown.line;
  place.file = before ? "before the function" : std::string(shown.name) + "()";
  place.line = before ? shown.line - place.line : place.line - shown.line;
  place.column = 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (const Case& shown : kCases) {
    if (argc != 2 || std::strcmp(argv[1], shown.name) != 0) continue;
    auto text = shown.make().text();
    if (text.ok()) return 0;
    std::vector<Diagnostic> diagnostics = text.diagnostics();
    for (Diagnostic& d : diagnostics) {
      move(d.place, shown);
      for (Note& note : d.notes) move(note.place, shown);
    }
    std::fputs(render(diagnostics).c_str(), stderr);
    return 1;
  }
  return 2;
}

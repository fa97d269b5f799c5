// SPDX-License-Identifier: Apache-2.0
//
// Evidence that a conjunction of constraints has no solution in integers: the steps that `tilewright-check`
// follows, and their text. Facts are numbered from 0, first those of the conjunction in the order of
// facts.h, then each step's in the order of steps. Words are separated by one space:
//   evidence := { step } end
//   step     := '+' terms        combine: the sum of facts, each times its factor, is the next fact; it is
//                                divided by the common divisor of its coefficients and rounded down
//             | '=' fact fact    squeeze: of f >= 0 and -f >= 0, f = 0 is the next fact
//   end      := '!' terms        the sum holds for no integers: 0 >= 1, or 2*x = 1
//             | '?' bound terms evidence evidence
//                                cases of a form L, here factors of variables: the next fact is L <= bound
//                                in the first evidence and L >= bound + 1 in the second
//   terms    := term { term }    with increasing indices (but for squeeze); term := [factor '*'] index, factor 1 not written
// Only an equality may have a negative factor. Laws: parse(print(x)) == x and print(parse(t)) == t.
// Tests: tests/unit/lowering/proof/emptiness_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::proof {

struct Term {
  std::int64_t factor = 1;
  // Of a fact; of a variable in cases.
  std::uint32_t index = 0;
  friend bool operator==(const Term&, const Term&) = default;
};

struct Step {
  enum class Kind { Combine, Squeeze, End, Cases };
  Kind kind = Kind::End;
  // Of Cases.
  std::int64_t bound = 0;
  std::vector<Term> terms;
  friend bool operator==(const Step&, const Step&) = default;
};

// A tree in the order in which it is written: the steps of a first case, to its end, come before the second's.
struct Evidence {
  std::vector<Step> steps;
  // `+ 3 2*5 ! 0 7`
  std::string text() const;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

// Nothing when the text is not of the form above. Says nothing about what it proves.
std::optional<Evidence> parse_evidence(std::string_view text);

}  // namespace tilewright::proof

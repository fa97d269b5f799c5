// SPDX-License-Identifier: Apache-2.0
//
// The words of NAME_explain, which all back ends share: the differential tests compare its text.
//
//   gemm: M = 7, N = 64, K = 64
//   row: no: `M <= 4` fails (7 <= 4)
//   few_rows: runs: `M <= 32` holds (7 <= 32)
//   generic: comes later: every size
//   workspace: 0 bytes
//   refused: TILEWRIGHT_MISALIGNED: b: the data is not aligned to one element: expected 4, got 2
#pragma once

#include <string>

#include "lowering/program/dispatch.h"

namespace tilewright::program {

struct RowWords {
  std::string runs, later, fails;  // how a row of the table begins
};
RowWords row_words(const Variant& variant);

// "refused: TILEWRIGHT_WRONG_SHAPE: b[0]: wrong extent". The numbers of the error detail follow where they are
// not both 0, as ": expected 64, got 63"; none of CheckKind::Call, whose detail may be what is malformed.
std::string refusal_text(const Program& program, const Check& check, std::int32_t status);

}  // namespace tilewright::program

// SPDX-License-Identifier: Apache-2.0
//
// How far a Program that is compiled is proved, in the words of its manifest. Law: `verdict` is Proved only where the
// prover said so of this very Program.
#pragma once

#include "apps/cli/work.h"
#include "lowering/proof/prove.h"

namespace tilewright::cli {

struct Proving {
  bool asked = false;
  proof::Verdict verdict = proof::Verdict::Unknown;
  std::string text;  // "proved for all sizes", "NOT PROVED: unknown: value: y"; empty unless asked
  Json json;
};
Proving not_asked();
Proving try_to_prove(Work& work, const program::Program& program);
// "proved for all sizes; checked for sizes M=1, ..."
std::string with_proof(const Proving& proving, const std::string& check);

}  // namespace tilewright::cli

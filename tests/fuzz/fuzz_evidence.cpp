// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as evidence of emptiness, for a conjunction that two of them choose. The prover's verdict holds:
// its own evidence is accepted, and where it shows a point, no evidence is.
#include <cstdint>

#include "lowering/proof/emptiness.h"
#include "tests/fuzz/check.h"
#include "tests/unit/lowering/proof/conjunctions.h"

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  proof::ConjunctionMaker maker(data[0]);
  const poly::BasicSet set = data[1] % 2 == 0 ? maker.structured() : maker.anything(3, true);
  const std::string text(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (const auto evidence = proof::parse_evidence(text)) {
    fuzz::require(evidence->text() == text, "print(parse(t)) == t");
  }
  const check::Conjunction conjunction = proof::conjunction_of(set);
  const proof::Emptiness result = proof::prove_empty(set);
  fuzz::require(result.verdict != proof::Emptiness::Verdict::Unknown, "these are decided");
  const std::string reason = check::check_empty(conjunction, text);
  if (result.verdict == proof::Emptiness::Verdict::Empty) {
    fuzz::require(check::check_empty(conjunction, result.evidence.text()).empty(),
                  "evidence is accepted");
  } else {
    fuzz::require(set.contains(result.point) == true, "a point lies in its set");
    fuzz::require(!reason.empty(), "nothing proves empty what has points");
  }
  return 0;
}

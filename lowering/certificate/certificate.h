// SPDX-License-Identifier: Apache-2.0
//
// Writes certificates. What a proof rests on becomes text; then tilewright-check's own parts check that text, and each
// set of which they ask whether it is empty goes to the prover, whose evidence is written down. So a certificate holds
// what the checker asks for and nothing else. Law: what is returned is accepted by tilewright-check; the same
// texts give the same bytes. Tests: tests/unit/lowering/certificate.
#pragma once

#include <string>

#include "frontend/base/result.h"
#include "lowering/proof/reasons.h"

namespace tilewright::certificate {

// Both texts are canonical. Fails with E0820 where the checker does not follow the proof: with what it does not accept.
Result<std::string> write_certificate(const std::string& algorithm, const std::string& program,
                                      const proof::Reasons& reasons);
// The same of a certificate without lemmas, whoever wrote it: with those that its check asks for.
Result<std::string> with_lemmas(const std::string& algorithm, const std::string& program,
                                const std::string& certificate);

}  // namespace tilewright::certificate

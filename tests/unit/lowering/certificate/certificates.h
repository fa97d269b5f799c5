// SPDX-License-Identifier: Apache-2.0
//
// Three texts: an algorithm, a Program and the certificate by which it computes the algorithm.
#pragma once

#include <fstream>

#include "apps/check/accept.h"
#include "apps/check/certificate.h"
#include "lowering/certificate/certificate.h"
#include "lowering/proof/prove.h"
#include "tests/laws/random_case.h"

namespace tilewright::laws {

inline std::string source_text(const std::string& path) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  std::ifstream in(std::string(root ? root : ".") + "/" + path);
  EXPECT_TRUE(in.good()) << path << " is missing; run from the root of the source tree";
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

struct Certified {
  std::string algorithm, program, certificate;
  std::string why;  // there is none
};

inline Certified certified(ir::Context& context, const ir::Algorithm& algorithm,
                           const program::Program& program) {
  Certified out{ir::print(algorithm), program::print(program), "", ""};
  proof::ProveOptions options;
  options.wants_reasons = true;
  const auto proof = proof::prove(context, algorithm, program, options);
  if (!proof.ok())
    out.why = messages(proof.diagnostics());
  else if (!proof->reasons)
    out.why = "not proved";
  if (!out.why.empty()) return out;
  auto text = certificate::write_certificate(out.algorithm, out.program, *proof->reasons);
  if (text.ok())
    out.certificate = *std::move(text);
  else
    out.why = messages(text.diagnostics());
  return out;
}

// Of files under the root of the sources.
inline Certified certified(const std::string& algorithm_file, const std::string& program_file) {
  ir::Context context;
  auto algorithm =
      ir::parse_algorithm(context, Source(algorithm_file, source_text(algorithm_file)));
  auto program = program::parse_program(context, Source(program_file, source_text(program_file)));
  EXPECT_TRUE(algorithm.ok() && program.ok()) << program_file;
  if (!algorithm.ok() || !program.ok()) return {};
  program->name = algorithm->name;
  return certified(context, *algorithm, *program);
}

// Empty where it is accepted, else why not.
inline std::string refusal(const std::string& algorithm, const std::string& program,
                           const std::string& certificate) {
  checker::Arena arena;
  try {
    checker::accept(arena, algorithm, program, certificate);
    return "";
  } catch (const checker::Refused& refused) {
    return std::string("rejected: ") + refused.what();
  }
}

// The certificate says that it is about this Program.
inline std::string bound_to(std::string certificate, const std::string& program) {
  const std::size_t at = certificate.find("\nprogram ") + 9;
  return certificate.replace(at, 16, checker::digest(program));
}

}  // namespace tilewright::laws

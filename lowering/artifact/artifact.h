// SPDX-License-Identifier: Apache-2.0
//
// What a build hands over: a static library or a C file, its C header and a manifest, as bytes. Writing files is for the
// caller. Laws: the same inputs give the same bytes; header and manifest print the contract that the code
// checks, from the same list.
// Tests: tests/unit/lowering/artifact/artifact_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "frontend/base/json.h"
#include "frontend/base/result.h"
#include "lowering/llvm/compile.h"
#include "lowering/program/dispatch.h"
#include "lowering/targets/host/target.h"

namespace tilewright::artifact {

// What is known of one variant.
struct VariantOrigin {
  std::string schedule_hash;
  std::string sizes;  // at which it is the one that runs: "5 <= M <= 32"; empty: not worked out
  std::string verdict;
  Json check;
  Json proof = {};
};

// Where a function comes from and what is known of it; the caller's to say.
struct Origin {
  std::string tool_version;  // of Tilewright
  std::string algorithm_hash;  // 32 hex digits
  std::string schedule_name;
  std::string schedule_hash;
  std::string verdict;  // "checked for sizes M=1 N=7, ..."
  Json check;  // how the verdict came about; null: nothing to say
  Json proof = {};  // what was proved of it, and what was not; null: nothing to say
  std::vector<VariantOrigin> variants =
      {};  // of a function with several, in the order of its table
  Json code = {};  // how the emitted code was validated against the Programs; null: it was not
};

// What the files are for, in the words of header and manifest.
struct TargetFacts {
  std::string name;  // "x86-64-v4"
  std::string needs;  // of the processor
  std::vector<std::pair<std::string, Json>>
      details;  // triple, cpu, ..: members of the manifest's target
  std::vector<std::string> trusted;  // what stands between the checked Program and the running code
};
TargetFacts facts_of(const host::Target& target);
TargetFacts c_facts();

struct Artifact {
  std::string library_name;  // "libgemm.a"; empty without code for a processor
  std::string library;  // an ar archive
  std::string source_name;  // "gemm.c"; empty unless C was asked for
  std::string source;
  std::string header_name;  // "gemm.h"
  std::string header;
  std::string manifest_name;  // "gemm.json"
  std::string manifest;
  llvm_wall::Object object;  // with the texts that were asked for
};

Result<Artifact> make_artifact(ir::Context& context, const program::Dispatch& dispatch,
                               const host::Target& target, const Origin& origin,
                               const llvm_wall::CompileOptions& options = {});
// Of one program, for every size that it takes.
Result<Artifact> make_artifact(ir::Context& context, const program::Program& program,
                               const host::Target& target, const Origin& origin,
                               const llvm_wall::CompileOptions& options = {});
// For the C target: a source file instead of a library.
Result<Artifact> make_c_artifact(ir::Context& context, const program::Dispatch& dispatch,
                                 const Origin& origin);
// NAME.c alone, which includes NAME.h.
Result<std::string> make_c_source(ir::Context& context, const program::Dispatch& dispatch,
                                  const Origin& origin);

// The parts, for tools that want one alone.
std::string make_header(const program::Dispatch& dispatch, const TargetFacts& target,
                        const Origin& origin);
std::string make_manifest(const program::Dispatch& dispatch, const TargetFacts& target,
                          const Origin& origin, const Artifact& files);

// "M from a[0]: at least 1, at most 4096, a multiple of 8".
std::string describe_extent(const program::Program& program, const program::Contract& contract,
                            const ir::ExtentDecl& extent);
// A check as a line for people: "b[0] equals K".
std::string describe_check(const program::Program& program, const program::Check& check);

// Refuses what C cannot call (E0608).
Result<Ok> check_function_name(std::string_view name);

}  // namespace tilewright::artifact

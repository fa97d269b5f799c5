// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/proving.h"

namespace tilewright::cli {

namespace {

Json words(std::string_view verdict) {
  Json out = Json::object();
  out.set("verdict", verdict);
  return out;
}

std::string obligation_line(const proof::Obligation& one) {
  return std::string(proof::verdict_text(one.verdict)) + ": " +
         std::string(proof::obligation_text(one.kind)) + ": " + one.subject;
}

}  // namespace

Proving not_asked() { return {false, proof::Verdict::Unknown, "", words("not asked for")}; }

Proving try_to_prove(Work& work, const program::Program& program) {
  Proving out;
  out.asked = true;
  const auto proof = proof::prove(work.context(), work.algorithm(), program);
  if (!proof.ok()) {
    const Diagnostic& first = proof.diagnostics()[0];
    out.text = "NOT PROVED: unknown: " + first.message;
    out.json = words("unknown");
    out.json.set("reason", first.message);
    return out;
  }
  out.verdict = proof->verdict;
  out.json = words(proof::verdict_text(proof->verdict));
  Json held = Json::array();
  Json open = Json::array();
  for (const proof::Obligation& one : proof->obligations) {
    const std::string line = obligation_line(one);
    if (one.verdict == proof::Verdict::Proved) {
      held.push(std::string(proof::obligation_text(one.kind)) + ": " + one.subject);
      continue;
    }
    if (out.text.empty()) out.text = "NOT PROVED: " + line;
    open.push(one.detail.empty() ? line : line + ": " + one.detail);
  }
  out.json.set("holds", std::move(held));
  out.json.set("open", std::move(open));
  if (out.verdict == proof::Verdict::Proved) out.text = "proved for all sizes";
  return out;
}

std::string with_proof(const Proving& proving, const std::string& check) {
  return proving.asked ? proving.text + "; " + check : check;
}

}  // namespace tilewright::cli

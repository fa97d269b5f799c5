// SPDX-License-Identifier: Apache-2.0
//
// `tilewright prove FILE.tw`: what a schedule makes of it, or a program that someone wrote or edited, proved to
// compute the algorithm at all sizes; or the obligations that do not hold or are not shown.
#include <filesystem>

#include "apps/cli/bounds_report.h"
#include "apps/cli/verb.h"
#include "apps/cli/work.h"
#include "frontend/ir/text.h"
#include "lowering/certificate/certificate.h"
#include "lowering/check/refute.h"
#include "lowering/program/text.h"
#include "lowering/proof/prove.h"

namespace tilewright::cli {

namespace {

class Prove final : public Verb {
 public:
  void declare(Arguments& arguments) override {
    stages_.declare_inputs(arguments);
    arguments.option("-p,--program", program_, "FILE",
                     "a .twp file to prove instead of a schedule");
    arguments.option("--certificate", certificate_, "FILE",
                     "of what is proved: write what tilewright-check accepts");
    arguments.flag("--explain", explain_, "print what every store is claimed to write");
    arguments.flag("--bounds", bounds_,
                   "print how far rounding can take each output, as a formula");
    arguments.flag("--progress", progress_, "say on standard error what is being followed");
    arguments.flag("--json", json_, "print the report as JSON");
  }

  int run(Session& session) override {
    if (!program_.empty() && !stages_.schedule.empty())
      return session.usage("prove: --program and --schedule exclude each other");
    std::vector<std::string> read = {stages_.algorithm, stages_.schedule, program_};
    if (!certificate_.empty() && !session.take(check_not_read(certificate_, read)))
      return kExitDiagnostics;
    Work work(session, stages_);
    if (const int status = work.check_usage(); status != kExitOk) return status;
    if (program_.empty() ? !work.load_and_lower("") : !work.load_algorithm() || !work.fix_extents())
      return kExitDiagnostics;
    if (!program_.empty() && !work.read_program(program_, &program_source_, &loaded_))
      return kExitDiagnostics;
    const program::Program& program = program_.empty() ? work.program() : loaded_;
    proof::ProveOptions options;
    options.wants_reasons = !certificate_.empty();
    if (progress_)
      options.progress = [&](std::string_view store, std::size_t pieces) {
        session.note(std::string(store) + ": " + std::to_string(pieces) + " pieces\n");
      };
    const auto proof =
        session.take(proof::prove(work.context(), work.algorithm(), program, options),
                     program_source_ ? &*program_source_ : nullptr);
    if (!proof) return kExitDiagnostics;
    search(work, program, *proof);
    if (bounds_) {
      auto report = session.take(
          bounds_report(work, program, program_.empty() ? work.schedule().machine : std::string()));
      if (!report) return kExitDiagnostics;
      report_ = *std::move(report);
    }
    const proof::Verdict verdict = shown_ ? proof::Verdict::Refuted : proof->verdict;
    if (json_)
      print_json(session, program, *proof, verdict);
    else
      print(session, program, *proof, verdict);
    if (verdict == proof::Verdict::Proved)
      return write_certificate(session, work, program, *proof) ? kExitOk : kExitDiagnostics;
    return verdict == proof::Verdict::Refuted ? kExitDiagnostics : kExitUnknown;
  }

 private:
  // What is not shown may be wrong: a run then says so better than an obligation does.
  void search(Work& work, const program::Program& program, const proof::Proof& proof) {
    if (proof.verdict != proof::Verdict::Unknown) return;
    check::RefuteOptions options;
    options.derived = work.derived();
    auto found = check::refute(work.context(), work.algorithm(), program, options);
    // Where there is nothing to run, unknown it stays.
    if (found.ok()) shown_ = *std::move(found);
  }

  bool write_certificate(Session& session, Work& work, const program::Program& program,
                         const proof::Proof& proof) const {
    if (certificate_.empty()) return true;
    const auto text = session.take(certificate::write_certificate(
        ir::print(work.algorithm()), program::print(program), *proof.reasons));
    const std::filesystem::path path = certificate_;
    const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
    return text && session.take(write_files(folder, {{path.filename().string(), *text}}));
  }

  void print(Session& session, const program::Program& program, const proof::Proof& proof,
             proof::Verdict verdict) const {
    std::string text;
    if (explain_)
      for (const proof::Claimed& claim : proof.claims)
        text += claim.store + "\n    writes " + claim.value + "\n";
    text += std::string(proof::verdict_text(verdict)) + "\n";
    if (shown_) text += "  a run: " + check::counterexample_text(program, *shown_) + "\n";
    for (const proof::Obligation& one : proof.obligations) {
      text += "  " + std::string(proof::verdict_text(one.verdict)) + ": " +
              std::string(proof::obligation_text(one.kind)) + ": " + one.subject + "\n";
      if (!one.detail.empty()) text += "    " + one.detail + "\n";
    }
    session.print(text + report_.text);
  }

  void print_json(Session& session, const program::Program& program, const proof::Proof& proof,
                  proof::Verdict verdict) const {
    Json out = Json::object();
    out.set("version", 1);
    out.set("verdict", proof::verdict_text(verdict));
    if (shown_) out.set("counterexample", check::to_json(program, *shown_));
    Json obligations = Json::array();
    for (const proof::Obligation& one : proof.obligations) {
      Json row = Json::object();
      row.set("kind", proof::obligation_text(one.kind));
      row.set("verdict", proof::verdict_text(one.verdict));
      row.set("subject", one.subject);
      if (!one.detail.empty()) row.set("detail", one.detail);
      obligations.push(std::move(row));
    }
    out.set("obligations", std::move(obligations));
    Json claims = Json::array();
    for (const proof::Claimed& one : proof.claims) {
      Json row = Json::object();
      row.set("store", one.store);
      row.set("writes", one.value);
      claims.push(std::move(row));
    }
    out.set("claims", std::move(claims));
    if (bounds_) out.set("rounding", report_.json);
    session.print_json(out);
  }

  StageOptions stages_;
  std::string program_;
  std::string certificate_;
  bool explain_ = false;
  bool bounds_ = false;
  bool progress_ = false;
  BoundsReport report_;
  bool json_ = false;
  std::optional<Source> program_source_;
  program::Program loaded_;
  std::optional<check::Counterexample> shown_;
};

}  // namespace

std::unique_ptr<Verb> make_prove() { return std::make_unique<Prove>(); }

}  // namespace tilewright::cli

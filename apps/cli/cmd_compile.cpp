// SPDX-License-Identifier: Apache-2.0
//
// `tilewright compile FILE.tw`: algorithm and schedule to libNAME.a, NAME.h and NAME.json, or for the target
// `c` to NAME.c instead of the library. The program is checked against the algorithm first; what is refuted is
// not written. `tilewright compile FILE.tw a.tws b.tws` makes one library of several schedules.
#include <algorithm>
#include <array>
#include <filesystem>

#include "apps/cli/machines.h"
#include "apps/cli/proving.h"
#include "apps/cli/variants.h"
#include "apps/cli/verb.h"
#include "apps/cli/work.h"
#include "frontend/base/format.h"
#include "frontend/base/hash.h"
#include "frontend/ir/text.h"
#include "lowering/artifact/artifact.h"
#include "lowering/program/text.h"
#include "lowering/targets/c/target.h"
#include "lowering/targets/host/target.h"
#include "lowering/validate/validate.h"
#include "schedules/directives/text.h"

namespace tilewright::cli {

namespace {

constexpr int kExitNotProved = 3;
constexpr std::array<std::string_view, 4> kMachineCode = {"lib", "obj", "asm", "llvm"};
constexpr std::array<std::string_view, 9> kEmissions = {"lib",  "header", "manifest", "obj", "asm",
                                                        "llvm", "c",      "twp",      "tree"};

class Compile final : public Verb {
 public:
  void declare(Arguments& arguments) override {
    stages_.declare_inputs(arguments);
    arguments.positionals("SCHEDULES", schedules_,
                          "schedules to choose from at run time: the first whose guard holds, else "
                          "one that takes every size");
    arguments.option("-o,--output", folder_, "DIR",
                     "where the files go; the current folder without it");
    arguments.option(
        "-t,--target", target_, "NAME",
        "one that `tilewright version` lists, or native; else the schedule's, else native");
    arguments.list("--emit", emit_, "KIND",
                   "what to write, of lib, header, manifest, obj, asm, llvm, c, twp, tree");
    arguments.flag("--no-check", no_check_,
                   "do not compare with the algorithm; the manifest says so");
    arguments.flag("--validate", validate_,
                   "validate the LLVM IR against the program; the manifest says at which sizes");
    arguments.number("--check-budget", check_.step_budget, 1, "STEPS",
                     "steps that the comparison may take");
    arguments.flag("--prove", prove_,
                   "prove the program for all sizes, as far as the prover can; the manifest says");
    arguments.flag(
        "--require-proof", require_proof_,
        "prove it, and exit with 3 where that fails; the files are written all the same");
    stages_.declare_passes(arguments);
    arguments.flag("--json", json_, "print a report as JSON");
  }

  int run(Session& session) override {
    const bool for_c = target_ == c_target::kName;
    if (emit_.empty()) emit_ = {for_c ? "c" : "lib", "header", "manifest"};
    for (const std::string& kind : emit_)
      if (std::find(kEmissions.begin(), kEmissions.end(), kind) == kEmissions.end())
        return session.usage("compile: --emit: " + in_backticks(kind) +
                             " is none of lib, header, manifest, obj, "
                             "asm, llvm, c, twp, tree");
    for (std::string_view kind : kMachineCode)
      if (for_c && wants(kind))
        return session.usage("compile: --emit: the target `c` has no " + in_backticks(kind) +
                             "; leave --emit out, or name another target");
    if (const int status = check_schedules(session); status != kExitOk) return status;
    if (validate_ && !wants_machine_code())
      return session.usage("compile: --validate needs a kind of --emit that holds machine code");
    Work work(session, stages_);
    if (const int status = work.check_usage(); status != kExitOk) return status;
    if (!schedules_.empty()) variants_.emplace(session, work, schedules_);
    const std::string machine = for_c ? "" : target_;
    if (!work.load_algorithm() ||
        !(variants_ ? variants_->load(target_) : work.load_schedule(machine)))
      return kExitDiagnostics;
    // A Program for agents has no code generator, and a text.
    const bool for_host = !for_c && (wants_code() || !target_.empty());
    std::optional<host::Target> target;
    if (for_host) {
      target = variants_
                   ? target_of_machine(session, variants_->machine(), variants_->machine_path())
                   : find_target(session, work);
      if (!target) return kExitDiagnostics;
    }
    if (!work.fix_extents()) return kExitDiagnostics;
    if (const auto name = artifact::check_function_name(work.algorithm().name.text()); !name.ok()) {
      session.report(name.diagnostics(), work.algorithm_source());
      return kExitDiagnostics;
    }
    session.progress("lowering");
    // A person reads the C: its loops stay loops.
    const std::string_view without = for_c ? "unroll" : "";
    if (!(variants_ ? variants_->lower(without) : work.lower(without))) return kExitDiagnostics;
    if (!check(session, work)) return kExitDiagnostics;
    if (!prove(session, work)) return kExitDiagnostics;
    const int status = emit(session, work, target ? &*target : nullptr);
    return status == kExitOk && require_proof_ && !proved_ ? kExitNotProved : status;
  }

 private:
  // What takes one program.
  int check_schedules(Session& session) const {
    if (schedules_.empty()) return kExitOk;
    std::string option;
    if (!stages_.schedule.empty()) option = "--schedule";
    if (!stages_.overrides.empty()) option = "--override";
    if (!stages_.dump_dir.empty()) option = "--dump-dir";
    if (option.empty()) return kExitOk;
    return session.usage("compile: " + option + " is for one schedule, given by --schedule alone");
  }

  bool wants(std::string_view kind) const {
    return std::find(emit_.begin(), emit_.end(), kind) != emit_.end();
  }

  bool wants_machine_code() const {
    return std::any_of(kMachineCode.begin(), kMachineCode.end(),
                       [&](std::string_view kind) { return wants(kind); });
  }

  bool wants_code() const {
    return std::any_of(emit_.begin(), emit_.end(),
                       [](const std::string& kind) { return kind != "twp" && kind != "tree"; });
  }

  // Without a host target: C, or the machine of what is written as text.
  std::string target_name(const Work& work) const {
    if (!target_.empty()) return target_;
    const std::string& machine = variants_ ? variants_->machine() : work.schedule().machine;
    return machine.empty() ? "native" : machine;
  }

  std::optional<host::Target> find_target(Session& session, const Work& work) const {
    std::string name = target_.empty() ? work.schedule().machine : target_;
    if (name.empty()) name = "native";
    return target_of_machine(session, name, target_.empty() ? stages_.schedule : "");
  }

  bool check(Session& session, Work& work) {
    if (no_check_) {
      report_.reason = "--no-check was given";
      if (variants_) variants_->leave_unchecked(report_.reason);
      return true;
    }
    if (variants_) return variants_->check(check_);
    session.progress("checking against the algorithm");
    check_.derived = work.derived();
    auto report =
        session.take(check::check_program(work.context(), work.algorithm(), work.program(), check_),
                     work.algorithm_source());
    if (!report) return false;
    report_ = *std::move(report);
    if (report_.verdict == check::Verdict::Refuted) {
      report_findings(session, work, report_, work.program_source());
      return false;
    }
    const bool checked = report_.verdict == check::Verdict::Checked;
    if (checked && report_.unreached.empty()) return true;
    // `build` makes programs by rules that the laws test; a program from elsewhere has the check alone.
    const bool by_hand = !stages_.overrides.empty();
    Diagnostic diagnostic{by_hand   ? Code::OverrideNotChecked
                          : checked ? Code::PartNotReached
                                    : Code::NotChecked,
                          {},
                          checked ? "the check reached only a part of the program"
                                  : "the program was not checked: " + report_.reason,
                          "raise --check-budget, leave extents open, or give --no-check",
                          {}};
    for (const check::Unreached& one : report_.unreached)
      diagnostic.evidence.emplace_back("not reached", one.outcome + ": " + one.reason);
    session.report(diagnostic);
    return !by_hand;
  }

  // Of the very Program that is compiled. False: it is proved to be wrong.
  bool prove(Session& session, Work& work) {
    if (!prove_ && !require_proof_) return true;
    session.progress("proving");
    std::vector<const Proving*> all;
    if (variants_) {
      variants_->prove();
      for (const Variants::One& one : variants_->all()) all.push_back(&one.proving);
    } else {
      proving_ = try_to_prove(work, work.program());
      all.push_back(&proving_);
    }
    proved_ = true;
    for (const Proving* one : all) {
      if (one->verdict == proof::Verdict::Proved) continue;
      proved_ = false;
      const bool refuted = one->verdict == proof::Verdict::Refuted;
      session.report({refuted ? Code::CheckRefuted : Code::NotProved,
                      {},
                      one->text,
                      refuted ? "`tilewright prove` says where it goes wrong"
                              : "`tilewright prove` says what is open; the library is as good as "
                                "its check",
                      {}});
      if (refuted) return false;
    }
    return true;
  }

  // What all kinds but the texts of our own come from. No target: C.
  Result<artifact::Artifact> build(Work& work, const host::Target* target) {
    const artifact::Origin from = origin(work);
    TILEWRIGHT_TRY(dispatch, variants_ ? variants_->dispatch()
                                       : program::single_dispatch(work.context(), work.program(),
                                                                  from.schedule_name));
    if (target == nullptr) return artifact::make_c_artifact(work.context(), dispatch, from);
    llvm_wall::CompileOptions options;
    options.want_assembly = wants("asm");
    options.want_ir = wants("llvm") || validate_;
    TILEWRIGHT_TRY(built,
                   artifact::make_artifact(work.context(), dispatch, *target, from, options));
    if (validate_) {
      artifact::Origin with_code = from;
      TILEWRIGHT_TRY(code, validated(work, dispatch, built.object.ir));
      with_code.code = std::move(code);
      built.manifest =
          artifact::make_manifest(dispatch, artifact::facts_of(*target), with_code, built);
    }
    if (wants("c")) {
      TILEWRIGHT_TRY(c, artifact::make_c_artifact(work.context(), dispatch, from));
      built.source_name = std::move(c.source_name);
      built.source = std::move(c.source);
    }
    return built;
  }

  // E0830 where the code is not shown to do what its Programs do.
  static Result<Json> validated(Work& work, const program::Dispatch& dispatch,
                                const std::string& ir) {
    TILEWRIGHT_TRY(listing, validate::read_ir(ir));
    TILEWRIGHT_TRY(report, validate::validate(work.context(), work.algorithm(), dispatch, listing));
    if (!report.is_validated) return fail(validate::refusal(report));
    return validate::to_json(dispatch, report);
  }

  int emit(Session& session, Work& work, const host::Target* target) {
    std::vector<std::pair<std::string, std::string>> texts;
    const std::string name(work.algorithm().name.text());
    const auto add_texts = [&](const std::string& stem, const tree::Schedule& schedule,
                               const program::Program& program) {
      if (wants("tree")) texts.emplace_back(stem + ".tws", directives::print(schedule));
      if (wants("twp")) texts.emplace_back(stem + ".twp", program::print(program));
    };
    if (!variants_) add_texts(name, work.schedule(), work.program());
    if (variants_)
      for (const Variants::One& one : variants_->all())
        add_texts(name + "." + one.name(), one.schedule, one.program);
    artifact::Artifact built;
    if (wants_code()) {
      session.progress("generating code");
      auto made =
          session.take(build(work, target),
                       work.program_source() ? work.program_source() : work.algorithm_source());
      if (!made) return kExitDiagnostics;
      built = *std::move(made);
    }
    std::vector<OutputFile> files;
    for (const auto& [file, text] : texts) files.push_back({file, text});
    if (wants("lib")) files.push_back({built.library_name, built.library});
    if (wants("c")) files.push_back({built.source_name, built.source});
    if (wants("header")) files.push_back({built.header_name, built.header});
    if (wants("manifest")) files.push_back({built.manifest_name, built.manifest});
    if (wants("obj")) files.push_back({name + ".o", built.object.bytes});
    if (wants("asm")) files.push_back({name + ".s", built.object.assembly});
    if (wants("llvm")) files.push_back({name + ".ll", built.object.ir});
    std::vector<std::string> read = work.files_read();
    read.insert(read.end(), schedules_.begin(), schedules_.end());
    for (const OutputFile& file : files)
      if (!session.take(
              check_not_read((std::filesystem::path(folder_) / file.name).string(), read)))
        return kExitDiagnostics;
    if (!session.take(write_files(folder_, files))) return kExitDiagnostics;
    print_report(session, work, target ? target->name : target_name(work), files);
    return kExitOk;
  }

  artifact::Origin origin(const Work& work) const {
    artifact::Origin out;
    out.tool_version = TILEWRIGHT_VERSION;
    out.algorithm_hash = work.algorithm_hash();
    if (variants_) {
      variants_->describe(out);
      return out;
    }
    out.schedule_name = std::string(work.schedule().name.text());
    out.schedule_hash = content_hash(directives::print(work.schedule()));
    out.verdict = with_proof(proving_, check::verdict_line(work.program(), report_));
    out.check = check::to_json(work.program(), report_);
    out.proof = proving_.json;
    return out;
  }

  void print_report(Session& session, const Work& work, const std::string& target,
                    const std::vector<OutputFile>& files) const {
    if (!json_) {
      std::string names;
      for (const OutputFile& file : files) names += (names.empty() ? "" : " ") + file.name;
      session.progress(names + ": " + target + ", " +
                       (variants_
                            ? variants_->names()
                            : with_proof(proving_, check::verdict_line(work.program(), report_))));
      return;
    }
    Json list = Json::array();
    for (const OutputFile& file : files) list.push(file.name);
    Json out = Json::object();
    out.set("version", 1);
    out.set("name", work.algorithm().name.text());
    out.set("target", target);
    out.set("folder", folder_);
    out.set("files", std::move(list));
    if (variants_)
      out.set("variants", variants_->to_json());
    else
      out.set("check", check::to_json(work.program(), report_, true));
    if (!variants_) out.set("proof", proving_.json);
    session.print_json(out);
  }

  StageOptions stages_;
  std::string folder_ = ".";
  std::string target_;
  std::vector<std::string> emit_;
  bool no_check_ = false;
  bool validate_ = false;
  bool prove_ = false;
  bool require_proof_ = false;
  bool proved_ = false;
  bool json_ = false;
  Proving proving_ = not_asked();
  check::Options check_;
  check::Report report_;
  std::vector<std::string> schedules_;
  std::optional<Variants> variants_;
};

}  // namespace

std::unique_ptr<Verb> make_compile() { return std::make_unique<Compile>(); }

}  // namespace tilewright::cli

// SPDX-License-Identifier: Apache-2.0
//
// `tilewright opt FILE`: the canonical text of a .tw, .tws or .twp file. Passes run on programs.
#include "apps/cli/verb.h"
#include "apps/cli/work.h"
#include "frontend/base/format.h"
#include "frontend/ir/json.h"
#include "frontend/ir/text.h"
#include "lowering/passes/passes.h"
#include "lowering/program/json.h"
#include "lowering/program/text.h"
#include "schedules/directives/text.h"
#include "schedules/tree/json.h"

namespace tilewright::cli {

namespace {

class Opt final : public Verb {
 public:
  void declare(Arguments& arguments) override {
    arguments.positional("FILE", file_, "a .tw, .tws or .twp file");
    arguments.option("-a,--algorithm", stages_.algorithm, "FILE",
                     "the algorithm that a .tws file is for");
    arguments.list("--pass", passes_, "PASS", "run these passes on a .twp file, in this order");
    arguments.flag("--json", json_, "print JSON instead of text");
  }

  int run(Session& session) override {
    const std::string kind = file_.substr(std::min(file_.rfind('.'), file_.size()));
    if (!passes_.empty() && kind != ".twp") return session.usage("opt: --pass needs a .twp file");
    if (kind == ".tws" && stages_.algorithm.empty())
      return session.usage("opt: a .tws file needs --algorithm FILE.tw");
    if (kind == ".tw") return algorithm(session);
    if (kind == ".tws") return schedule(session);
    if (kind == ".twp") return program(session);
    session.report({Code::FileKind,
                    {},
                    in_backticks(file_) + " is neither .tw, .tws nor .twp",
                    "give the file the suffix of what it holds",
                    {}});
    return kExitDiagnostics;
  }

 private:
  int algorithm(Session& session) {
    stages_.algorithm = file_;
    Work work(session, stages_);
    if (!work.load_algorithm()) return kExitDiagnostics;
    if (json_)
      session.print_json(ir::to_json(work.algorithm()));
    else
      session.print(ir::print(work.algorithm()));
    return kExitOk;
  }

  int schedule(Session& session) {
    stages_.schedule = file_;
    Work work(session, stages_);
    if (!work.load_algorithm() || !work.load_schedule("")) return kExitDiagnostics;
    if (json_)
      session.print_json(tree::to_json(work.schedule()));
    else
      session.print(directives::print(work.schedule()));
    return kExitOk;
  }

  int program(Session& session) {
    ir::Context context;
    const auto source = session.take(read_source(file_));
    if (!source) return kExitDiagnostics;
    auto program = session.take(program::parse_program(context, *source), &*source);
    if (!program) return kExitDiagnostics;
    for (const std::string& name : passes_) {
      const passes::Pass* found = nullptr;
      for (const passes::Pass& pass : passes::all_passes())
        if (pass.name == name) found = &pass;
      if (found == nullptr) {
        session.report({Code::UnknownPass,
                        {},
                        "no pass is named " + in_backticks(name),
                        "see `tilewright help passes`",
                        {}});
        return kExitDiagnostics;
      }
      *program = found->run(context, *program);
    }
    if (json_)
      session.print_json(program::to_json(*program));
    else
      session.print(program::print(*program));
    return kExitOk;
  }

  std::string file_;
  StageOptions stages_;
  std::vector<std::string> passes_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_opt() { return std::make_unique<Opt>(); }

}  // namespace tilewright::cli

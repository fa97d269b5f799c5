// SPDX-License-Identifier: Apache-2.0
//
// `tilewright version`: of the tool and of what it stands on, and which targets are built in.
#include <dlfcn.h>

#include <array>

#include "apps/cli/verb.h"
#include "lowering/llvm/compile.h"
#include "lowering/targets/c/target.h"
#include "lowering/targets/host/target.h"
#include "schedules/polyhedra/context.h"

namespace tilewright::cli {

namespace {

// What the design names and this build does not have.
constexpr std::array kAbsentTargets = {"nvidia",   "nvidia-direct", "amd",         "tpu",
                                       "trainium", "tenstorrent",   "accelerators"};

// libLLVM loads Debian's Z3; nothing here links it yet, so it is asked by name.
std::string z3_version() {
  using GetVersion = const char* (*)();
  void* symbol = dlsym(RTLD_DEFAULT, "Z3_get_full_version");
  if (symbol == nullptr) return "not loaded";
  std::string text = reinterpret_cast<GetVersion>(symbol)();
  if (text.starts_with("Z3 ")) text = text.substr(3);
  return text;
}

class Version final : public Verb {
 public:
  void declare(Arguments& arguments) override {
    arguments.flag("--json", json_, "print JSON instead of text");
  }

  int run(Session& session) override {
    Json targets = Json::array();
    for (std::string_view name : host::target_names()) {
      const auto target = host::find_target(name);
      Json entry = Json::object();
      entry.set("name", name);
      entry.set("built", true);
      entry.set("needs", target.ok() ? target->description : "");
      entry.set("runs_here", target.ok() && host::runs_here(*target));
      targets.push(std::move(entry));
    }
    Json c = Json::object();
    c.set("name", c_target::kName);
    c.set("built", true);
    c.set("needs", c_target::kDescription);
    c.set("runs_here", true);
    targets.push(std::move(c));
    for (const char* name : kAbsentTargets) {
      Json entry = Json::object();
      entry.set("name", name);
      entry.set("built", false);
      targets.push(std::move(entry));
    }
    Json out = Json::object();
    out.set("tilewright", TILEWRIGHT_VERSION);
    out.set("llvm", llvm_wall::llvm_version());
    out.set("isl", poly::library_version());
    out.set("z3", z3_version());
    out.set("targets", std::move(targets));
    if (json_)
      session.print_json(out);
    else
      print(session, out);
    return kExitOk;
  }

 private:
  static void print(Session& session, const Json& out) {
    std::string text;
    for (const char* name : {"tilewright", "llvm", "isl", "z3"})
      text += std::string(name) + " " + *out.find(name)->as_string() + "\n";
    text += "targets:\n";
    for (const Json& entry : *out.find("targets")->as_array()) {
      const bool built = *entry.find("built")->as_bool();
      text += "  " + *entry.find("name")->as_string();
      if (!built)
        text += ": absent";
      else
        text += ": built, " + *entry.find("needs")->as_string() +
                (*entry.find("runs_here")->as_bool() ? ", runs here" : ", does not run here");
      text += "\n";
    }
    session.print(text);
  }

  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_version() { return std::make_unique<Version>(); }

}  // namespace tilewright::cli

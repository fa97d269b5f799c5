// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/verb.h"

namespace tilewright::cli {

const std::vector<VerbInfo>& all_verbs() {
  static const std::vector<VerbInfo> verbs = {
#define TILEWRIGHT_VERB(name, summary) {#name, summary, &make_##name},
#include "apps/cli/verbs.def"
#undef TILEWRIGHT_VERB
  };
  return verbs;
}

const VerbInfo* find_verb(std::string_view name) {
  for (const VerbInfo& verb : all_verbs())
    if (verb.name == name) return &verb;
  return nullptr;
}

std::string usage(const VerbInfo* verb) {
  if (verb != nullptr) {
    Session session;
    Arguments arguments("tilewright " + std::string(verb->name), std::string(verb->summary));
    const std::unique_ptr<Verb> made = verb->make();
    made->declare(arguments);
    session.declare(arguments);
    return arguments.help();
  }
  std::string text =
      "tilewright: builds fast libraries from a pure algorithm and a schedule\n"
      "usage: tilewright VERB [OPTION...] FILE...\n\n";
  for (const VerbInfo& info : all_verbs()) {
    std::string name(info.name);
    name.resize(10, ' ');
    text += "  " + name + std::string(info.summary) + "\n";
  }
  return text +
         "\n`tilewright help VERB` lists the options of a verb, `tilewright help topics` what else "
         "is explained.\n"
         "Exit status: 0 done, 1 diagnostics were reported, 2 usage, 3 not decided (`prove`), 70 a "
         "defect of tilewright.\n";
}

}  // namespace tilewright::cli

// SPDX-License-Identifier: Apache-2.0
//
// A verb of the command line: what it takes and what it does. Law: a verb that could not do what it was asked
// reports diagnostics through the session and returns kExitDiagnostics; its output is complete or absent.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "apps/cli/arguments.h"
#include "apps/cli/session.h"

namespace tilewright::cli {

class Verb {
 public:
  virtual ~Verb() = default;
  virtual void declare(Arguments& arguments) = 0;
  // The exit status.
  virtual int run(Session& session) = 0;
};

struct VerbInfo {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Verb> (*make)();
};
// In the order of verbs.def.
const std::vector<VerbInfo>& all_verbs();
const VerbInfo* find_verb(std::string_view name);

#define TILEWRIGHT_VERB(name, summary) std::unique_ptr<Verb> make_##name();
#include "apps/cli/verbs.def"
#undef TILEWRIGHT_VERB

// "usage: ..." and the options of a verb, or of the whole tool when null.
std::string usage(const VerbInfo* verb);

}  // namespace tilewright::cli

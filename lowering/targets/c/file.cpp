// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "lowering/program/c_names.h"
#include "lowering/targets/c/emit.h"
#include "lowering/targets/c/target.h"

namespace tilewright::c_target {

void FileState::refuse(const program::Program& program, std::string message, std::string remedy) {
  if (error) return;
  error = Diagnostic{Code::UnsupportedByTarget, {}, std::move(message), std::move(remedy), {}};
  error->evidence.emplace_back("program", std::string(program.name.text()));
}

Names::Names(const program::Program& program, std::string function)
    : function_(std::move(function)) {
  const std::string name(program.name.text());
  // What the functions of this file call their own.
  for (const char* own :
       {"call",        "workspace",   "workspace_size", "closure", "worker",   "begin",
        "end",         "shared",      "first",          "status",  "executor", "none",
        "needed",      "overflow",    "holds",          "failed",  "text",     "text_size",
        "text_length", "out",         "asked",          "detail",  "names",    "plan",
        "plan_size",   "plan_needed", "plan_overflow",  "words",   "buffers",  "rest"})
    taken_.insert(own);

  taken_.insert(name);
  taken_.insert(name + "_query");
  taken_.insert(name + "_table");
  taken_.insert(name + "_explain");
  taken_.insert(name + "_plan");
  taken_.insert(name + "_plan_query");
  taken_.insert(name + "_run");
  taken_.insert(function_ + "_kernel");
  // Parameters and extents keep their names before any loop variable takes them.
  for (const program::Parameter& parameter : program.parameters) of(parameter.name);
  for (const ir::ExtentDecl& extent : program.extents) of(extent.name);
}

std::string Names::of(Symbol name) {
  if (auto it = given_.find(name); it != given_.end()) return it->second;
  std::string text(name.text());
  std::replace(text.begin(), text.end(), '.', '_');
  std::replace(text.begin(), text.end(), '\'', '_');  // of the parts of complex numbers
  if (Prelude::is_reserved(text)) text = (text[0] == '_' ? "v" + text : text) + "_";
  while (Prelude::is_reserved(text) || taken_.contains(text)) text = "v_" + text;
  taken_.insert(text);
  given_[name] = text;
  return text;
}

std::string Names::fresh(const std::string& wish) {
  // `t`, `t2`, `t3`: what a reader meets first has no number.
  std::string text = wish;
  for (int n = 2; Prelude::is_reserved(text) || !taken_.insert(text).second; ++n)
    text = wish + (wish.back() >= '0' && wish.back() <= '9' ? "_" : "") + std::to_string(n);
  return text;
}

Result<std::string> emit_file(std::span<const Function> functions, const Options& options) {
  FileState state;
  std::string bodies;
  for (const Function& function : functions) {
    state.context = function.context;
    bodies += emit_function(state, *function.dispatch);
    if (state.error) return fail(*state.error);
  }
  std::string text;
  std::string comment = options.comment;
  for (const auto& [mark, apart] : {std::pair{"*/", "* /"}, std::pair{"/*", "/ *"}})
    for (auto at = comment.find(mark); at != std::string::npos; at = comment.find(mark))
      comment.replace(at, 2, apart);
  for (std::size_t begin = 0; begin < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', begin), comment.size());
    const std::string line = comment.substr(begin, end - begin);
    text += (text.empty() ? "/*" : " *") + (line.empty() ? "" : " " + line) + "\n";
    begin = end + 1;
  }
  text += text.empty() ? "/*" : " *\n *";
  text +=
      " C11, for any compiler with IEEE floats; nothing but its own headers is used, and no "
      "library.\n */\n";
  text += "#include " + options.include + "\n";
  text += std::string(file_head()) + state.prelude.text() + bodies;
  return text;
}

}  // namespace tilewright::c_target

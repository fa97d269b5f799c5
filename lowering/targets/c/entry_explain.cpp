// SPDX-License-Identifier: Apache-2.0
//
// What NAME_explain writes: sizes, variants and why each runs or not, workspace, plan.
#include "frontend/ir/text.h"
#include "lowering/program/explain.h"
#include "lowering/targets/c/entry.h"

namespace tilewright::c_target {

void Entry::begin_explain() {
  state_.prelude.use("tw_text");
  lines_.add("struct tw_text out = {text, text == NULL ? 0 : text_size, 0};");
  // What is not read stays as it is: to clear it all a compiler may call memset.
  lines_.add("tilewright_error detail;");
  lines_.add("detail.struct_size = sizeof detail;");
  lines_.add(
      "tilewright_call asked = {.struct_size = sizeof asked, .executor = NULL, .error = "
      "&detail};");
  std::string names, arguments;
  for (const program::Parameter& parameter : program_.parameters) {
    names += (names.empty() ? "\"" : ", \"") + std::string(parameter.name.text()) + "\"";
    arguments += names_.of(parameter.name) + ", ";
  }
  lines_.add("static const char *const names[] = {" + (names.empty() ? "\"\"" : names) + "};");
  lines_.add("(void)" + std::string(program_.name.text()) + "_table(call, " + arguments + "&out);");
}

void Entry::put_condition(Expr condition) {
  lines_.open("{");
  lines_.add("bool failed = false;");
  const std::string value = body_.checked_value(condition, "failed");
  lines_.add("const bool holds = " + value + ";");
  const std::string shown = "`" + ir::print(condition) + "`";
  lines_.add(helper("tw_put_text") + "(out, !failed && holds ? \"" + shown + " holds\" : \"" +
             shown + " fails\");");
  if (const ir::Op* comparison = program::as_comparison(condition)) {
    put(" (");
    put_number(body_.checked_value(comparison->args[0], "failed"));
    put(" " + std::string(ir::op_info(comparison->op).text) + " ");
    put_number(body_.checked_value(comparison->args[1], "failed"));
    put(")");
  }
  lines_.close();
}

void Entry::put_table() {
  choose();
  std::string before = std::string(program_.name.text()) + ": ";
  for (const ir::ExtentDecl& extent : program_.extents) {
    put(before + std::string(extent.name.text()) + " = ");
    put_number(names_.of(extent.name));
    before = ", ";
  }
  put(program_.extents.empty() ? before + "no extents\\n" : "\\n");
  std::string taken;
  for (std::size_t i = 0; i < dispatch_.variants.size(); ++i) {
    const program::Variant& variant = dispatch_.variants[i];
    const program::RowWords words = program::row_words(variant);
    const bool last = i + 1 == dispatch_.variants.size();
    const std::string otherwise =
        last ? "\"" + words.runs + "\""
             : hold(i) + " ? \"" + words.runs + "\" : \"" + words.fails + "\"";
    lines_.add(helper("tw_put_text") + "(out, " +
               (taken.empty() ? "" : taken + " ? \"" + words.later + "\" : ") + otherwise + ");");
    for (std::size_t g = 0; g < variant.guard.size(); ++g) {
      if (g > 0) put(", ");
      put_condition(variant.guard[g]);
    }
    put(variant.guard.empty() ? "every size\\n" : "\\n");
    if (!last) taken += (taken.empty() ? "" : " || ") + hold(i);
  }
  put_bytes("workspace: ", "needed", "overflow");
  if (dispatch_.has_plan()) put_bytes("plan: ", "plan_needed", "plan_overflow");
}

void Entry::put_bytes(const std::string& what, const std::string& bytes,
                      const std::string& overflow) {
  put(what);
  lines_.open("if (" + overflow + ") {");
  put("more bytes than 64 bits count\\n");
  lines_.turn();
  put_number(bytes);
  put(" bytes\\n");
  lines_.close();
}

}  // namespace tilewright::c_target

// SPDX-License-Identifier: Apache-2.0
//
// NAME, NAME_query and NAME_explain: the checks of the contract in its order, then what the entry is for. Laws: no
// check touches what an earlier one has not made safe; nothing is written before the last check has passed;
// status, place, numbers and texts are those of a host library.
#include <algorithm>

#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "lowering/program/explain.h"
#include "lowering/targets/c/emit.h"
#include "runtime/include/tilewright/runtime.h"

namespace tilewright::c_target {

namespace {

using program::Check;
using program::CheckKind;
using program::Parameter;

// DLPack's code, bits and lanes as one number; 0 for a type that has none here.
std::uint32_t type_word(ScalarType type) {
  const auto word = [](unsigned code, unsigned bits) { return code | bits << 8U | 1U << 16U; };
  if (!type_form(ir::part_type(type))) return 0;
  const ir::TypeInfo& info = ir::type_info(type);
  return word(static_cast<unsigned>(info.dlpack_code), static_cast<unsigned>(info.dlpack_bits));
}

class Entry {
 public:
  Entry(FileState& state, const program::Dispatch& dispatch, EntryKind kind,
        std::vector<std::string> kernel_calls)
      : state_(state),
        dispatch_(dispatch),
        program_(dispatch.interface),
        contract_(dispatch.contract),
        kind_(kind),
        kernel_calls_(std::move(kernel_calls)),
        names_(program_),
        body_(state, program_, contract_, names_) {
    body_.write_to(lines_);
    lines_.set_depth(1);
  }

  std::string emit() {
    const std::string head = signature();
    lines_.add("int32_t status;");
    if (kind_ == EntryKind::Explain) begin_explain();
    const std::size_t n = program_.parameters.size();
    bytes_.resize(n);
    data_.resize(n);
    for (const Check& check : contract_.checks)
      if (makes(check)) emit_check(check);
    finish();
    return "\n" + wrapped(head, 0) + "\n" + lines_.text() + "}\n";
  }

 private:
  bool asks_only() const { return kind_ == EntryKind::Query || kind_ == EntryKind::Table; }
  bool makes(const Check& c) const {
    if (asks_only()) return c.in_query;
    if (kind_ == EntryKind::Run) return true;
    return c.kind != CheckKind::WorkspaceAlignment && c.kind != CheckKind::WorkspaceOverlap &&
           c.kind != CheckKind::Injective;
  }

  std::string signature() const {
    const std::string function(program_.name.text());
    const auto head = [&](const std::string& name, const std::string& rest) {
      std::string text = "int32_t " + name + "(const tilewright_call *call";
      for (const Parameter& parameter : program_.parameters) {
        const bool is_const = !parameter.is_output || kind_ != EntryKind::Run;
        text += std::string(", ") + (is_const ? "const " : "") + "tilewright_tensor *" +
                names_.of(parameter.name);
      }
      return text + ", " + rest + ") {";
    };
    switch (kind_) {
      case EntryKind::Run: return head(function, "void *workspace, size_t workspace_size");
      case EntryKind::Query: return head(function + "_query", "size_t *workspace_size");
      case EntryKind::Table: return "static " + head(function + "_table", "struct tw_text *out");
      case EntryKind::Explain:
        return head(function + "_explain", "char *text, size_t text_size, size_t *text_length");
    }
    __builtin_unreachable();
  }

  std::string tensor(int argument) { return names_.of(program_.parameters[argument].name); }
  std::string dimension(const Check& c) {
    return tensor(c.argument) + "->dl.shape[" + std::to_string(c.dimension) + "]";
  }
  std::string per_byte(const Check& c) const {
    return std::to_string(ir::elements_per_byte(program_.parameters[c.argument].type));
  }
  std::string quoted_function() const { return "\"" + std::string(program_.name.text()) + "\""; }
  std::string quoted_text(const Check& c) const {
    return "\"" + std::string(program::check_text(c.kind)) + "\"";
  }
  std::string helper(std::string_view name) { return state_.prelude.use(name); }

  // What to return on a failure, from the status that tw_fail gave.
  std::string refused(const std::string& status, const std::string& name) {
    if (kind_ != EntryKind::Explain) return status;
    return helper("tw_refused") + "(call, &out, text_length, &detail, " + name + ", names)";
  }

  // Leaves where `wrong` holds.
  void refuse_if(const std::string& wrong, const Check& c, const std::string& expected = "0",
                 const std::string& got = "0", const char* status = nullptr) {
    const std::string code =
        status ? status : std::string(program::status_name(program::status_of(c.kind)));
    const std::string failed = helper("tw_fail") + "(" + call_ + ", " + quoted_function() + ", " +
                               code + ", " + std::to_string(c.argument) + ", " +
                               std::to_string(c.dimension) + ", " + expected + ", " + got + ", " +
                               quoted_text(c) + ")";
    if (kind_ == EntryKind::Explain) {
      lines_.open("if (" + wrong + ") {");
      lines_.add("(void)" + failed + ";");
      lines_.add("return " + refused("", "\"" + code + "\"") + ";");
      lines_.close();
      return;
    }
    lines_.add("if (" + wrong + ")");
    lines_.add("  return " + failed + ";");
  }
  void leave_unless_ok(const std::string& call, const Check& c) {
    lines_.add("status = " + call + ";");
    lines_.add(
        "if (status != TILEWRIGHT_OK) return " +
        refused("status",
                "\"" + std::string(program::status_name(program::status_of(c.kind))) + "\"") +
        ";");
  }

  void emit_check(const Check& c) {
    const std::string value = std::to_string(c.value);
    switch (c.kind) {
      case CheckKind::Cpu: return;
      case CheckKind::Call: return check_call(c);
      case CheckKind::NotNull: return refuse_if(tensor(c.argument) + " == NULL", c);
      case CheckKind::Rank: {
        const std::string got = tensor(c.argument) + "->dl.ndim";
        return refuse_if(got + " != " + value, c, value, got);
      }
      case CheckKind::ElementType: {
        const ScalarType type = program_.parameters[c.argument].type;
        const std::string word = std::to_string(type_word(type));
        if (type_word(type) == 0)
          state_.refuse(program_,
                        "the C target has no form for `" + std::string(ir::type_text(type)) + "`",
                        "build for another target, or cast to a type that C has");
        const std::string got = helper("tw_type_word") + "(" + tensor(c.argument) + "->dl.dtype)";
        return refuse_if(got + " != " + word + " /* " + std::string(ir::type_text(type)) + " */", c,
                         word, got);
      }
      case CheckKind::Device: {
        const std::string got = tensor(c.argument) + "->dl.device.device_type";
        return refuse_if(got + " != kDLCPU", c, "kDLCPU", got);
      }
      case CheckKind::ShapeNotNull: return refuse_if(tensor(c.argument) + "->dl.shape == NULL", c);
      case CheckKind::ExtentMin: {
        const Symbol name = c.expr.as<ir::Extent>()->name;
        lines_.add("const int64_t " + names_.of(name) + " = " + dimension(c) + ";");
        return refuse_if(names_.of(name) + " < " + value, c, value, names_.of(name));
      }
      case CheckKind::ExtentMax:
        return refuse_if(dimension(c) + " > INT64_C(" + value + ")", c, "INT64_C(" + value + ")",
                         dimension(c));
      case CheckKind::ExtentMultiple:
        return refuse_if(dimension(c) + " % INT64_C(" + value + ") != 0", c,
                         "INT64_C(" + value + ")", dimension(c));
      case CheckKind::Shape: return check_shape(c);
      case CheckKind::Strides:
        if (program_.parameters[c.argument].shape.empty()) return;
        return leave_unless_ok(helper("tw_check_strides") + "(" + call_ + ", " + quoted_function() +
                                   ", " + std::to_string(c.argument) + ", " + tensor(c.argument) +
                                   ", " + per_byte(c) + ", " + quoted_text(c) + ")",
                               c);
      case CheckKind::Bytes: return check_bytes(c);
      case CheckKind::Alignment:
        if (c.value == 1) return;
        return refuse_if("(uintptr_t)" + data_[c.argument] + " % " + value + " != 0", c, value,
                         "(int64_t)((uintptr_t)" + data_[c.argument] + " % " + value + ")");
      case CheckKind::Writable:
        return refuse_if("(" + tensor(c.argument) + "->flags & TILEWRIGHT_TENSOR_READ_ONLY) != 0",
                         c);
      case CheckKind::Requires: {
        lines_.open("{");
        lines_.add("bool overflow = false;");
        const std::string holds = body_.checked_value(c.expr, "overflow");
        lines_.add("const bool holds = " + holds + ";");
        refuse_if("overflow || !holds", c);
        lines_.close();
        return;
      }
      case CheckKind::Overlap:
        return refuse_if(
            "!" + disjoint(data_[c.argument], bytes_[c.argument], data_[c.other], bytes_[c.other]),
            c);
      case CheckKind::WorkspaceSize:
      case CheckKind::WorkspaceAlignment:
      case CheckKind::WorkspaceOverlap: return check_workspace(c);
      case CheckKind::ValueRange:
      case CheckKind::RangeNotEmpty:
      case CheckKind::Monotone:
      case CheckKind::Injective: return check_values(c);
    }
  }

  // One pass over the values of an input; the first that breaks the fact is reported.
  void check_values(const Check& c) {
    const Parameter& parameter = program_.parameters[c.argument];
    const auto form = type_form(parameter.type);
    if (!form || ir::is_packed(parameter.type))
      return state_.refuse(program_, "the C target has no form for the values of an input",
                           "build for another target, or use a type that C has");
    lines_.open("{");
    lines_.add("const uint64_t bytes = " + bytes_[c.argument] + ";");
    if (c.expr) {
      lines_.add("bool overflow = false;");
      lines_.add("const int64_t least = " + body_.checked_value(c.expr, "overflow") + ";");
      lines_.add("const int64_t end = " + body_.checked_value(c.other_expr, "overflow") + ";");
      refuse_if("overflow", c, "0", "0", "TILEWRIGHT_OUT_OF_BOUNDS");
      if (c.kind == CheckKind::Monotone) lines_.add("(void)least;");
    }
    if (c.kind == CheckKind::RangeNotEmpty) {
      refuse_if("bytes != 0 && least >= end", c, "least", "end");
      lines_.close();
      return;
    }
    const std::string storage(form->storage);
    lines_.add("const " + storage + " *values = (const " + storage + " *)" + data_[c.argument] +
               ";");
    lines_.add("const int64_t count = (int64_t)(bytes / sizeof *values);");
    const std::string row =
        parameter.shape.empty()
            ? "1"
            : tensor(c.argument) + "->dl.shape[" + std::to_string(parameter.shape.size() - 1) + "]";
    if (c.kind != CheckKind::ValueRange) lines_.add("const int64_t row = " + row + ";");
    lines_.open("for (int64_t at = 0; at < count; ++at) {");
    lines_.add("const int64_t value = (int64_t)values[at];");
    const std::string expected = c.expr ? "end" : "0";
    if (c.kind == CheckKind::ValueRange) {
      refuse_if("value < least || value >= end", c, expected, "at");
    } else if (c.kind == CheckKind::Monotone) {
      refuse_if("at % row != 0 && value < (int64_t)values[at - 1]", c, expected, "at");
    } else {
      // What a row has seen is forgotten where the next begins, by its values, since the range may be long;
      // ValueRange gave each value a byte.
      lines_.add("unsigned char *seen = (unsigned char *)workspace;");
      lines_.add("if (at == 0) for (int64_t v = 0; v < end - least; ++v) seen[v] = 0;");
      lines_.add(
          "else if (at % row == 0) for (int64_t i = at - row; i < at; ++i) seen[(int64_t)values[i] "
          "- "
          "least] = 0;");
      refuse_if("seen[value - least] != 0", c, expected, "at");
      lines_.add("seen[value - least] = 1;");
    }
    lines_.close();
    lines_.close();
  }

  void check_shape(const Check& c) {
    if (const auto* extent = c.expr.as<ir::Extent>()) {
      const std::string wanted = names_.of(extent->name);
      return refuse_if(dimension(c) + " != " + wanted, c, wanted, dimension(c));
    }
    lines_.open("{");
    lines_.add("bool overflow = false;");
    const std::string wanted = body_.checked_value(c.expr, "overflow");
    lines_.add("const int64_t needed = " + wanted + ";");
    refuse_if("overflow || " + dimension(c) + " != needed || needed < 0", c, "needed",
              dimension(c));
    lines_.close();
  }

  void check_bytes(const Check& c) {
    const std::string name = tensor(c.argument);
    bytes_[c.argument] = names_.fresh(name + "_bytes");
    lines_.add("uint64_t " + bytes_[c.argument] + ";");
    leave_unless_ok(helper("tw_check_bytes") + "(" + call_ + ", " + quoted_function() + ", " +
                        std::to_string(c.argument) + ", " + name + ", " + std::to_string(c.value) +
                        ", " + per_byte(c) + ", " + quoted_text(c) + ", &" + bytes_[c.argument] +
                        ")",
                    c);
    if (asks_only()) return;
    refuse_if(name + "->dl.data == NULL && " + bytes_[c.argument] + " != 0", c, "0", "0",
              "TILEWRIGHT_NULL_ARGUMENT");
    data_[c.argument] = names_.fresh(name + "_data");
    lines_.add("unsigned char *const " + data_[c.argument] + " = " + helper("tw_data") + "(" +
               name + ");");
    if (kind_ == EntryKind::Explain) lines_.add("(void)" + data_[c.argument] + ";");
  }

  std::string disjoint(const std::string& a, const std::string& a_bytes, const std::string& b,
                       const std::string& b_bytes) {
    return helper("tw_disjoint") + "(" + a + ", " + a_bytes + ", " + b + ", " + b_bytes + ")";
  }

  void declare_workers() {
    bool used = false;
    ir::walk(contract_.workspace.total, [&](Expr e) {
      const auto* var = e.as<ir::Var>();
      used |= var != nullptr && var->name == contract_.workspace.workers;
    });
    if (used)
      lines_.add("const int64_t " + names_.of(contract_.workspace.workers) +
                 " = call->executor == NULL ? 1 : call->executor->num_workers;");
  }

  bool has_workspace() const { return !(contract_.workspace.total == state_.context->index(0)); }

  std::string hold(std::size_t variant) const { return holds_[variant]; }

  // Which guards hold, and the bytes that the first variant whose guard does needs.
  void choose() {
    if (chosen_) return;
    chosen_ = true;
    declare_workers();
    for (std::size_t i = 0; i + 1 < dispatch_.variants.size(); ++i) {
      holds_.push_back(names_.fresh("holds_" + dispatch_.variants[i].name));
      lines_.add("bool " + hold(i) + " = true;");
      for (Expr condition : dispatch_.variants[i].guard) {
        lines_.open("{");
        lines_.add("bool overflow = false;");
        lines_.add("const bool holds = " + body_.checked_value(condition, "overflow") + ";");
        lines_.add("if (overflow || !holds) " + hold(i) + " = false;");
        lines_.close();
      }
    }
    if (kind_ == EntryKind::Run && !has_workspace()) return;
    lines_.add("bool overflow = false;");
    lines_.add("int64_t needed;");
    for (std::size_t i = 0; i < dispatch_.variants.size(); ++i) {
      const bool last = i + 1 == dispatch_.variants.size();
      if (!last) lines_.open("if (" + hold(i) + ") {");
      lines_.add("needed = " +
                 body_.checked_value(dispatch_.variants[i].contract.workspace.total, "overflow") +
                 ";");
      if (!last) lines_.turn();
    }
    for (std::size_t i = 1; i < dispatch_.variants.size(); ++i) lines_.close();
  }

  // A formula that overflows.
  void refuse_needed(const Check& c) {
    choose();
    refuse_if("overflow", c, "0", "0", "TILEWRIGHT_OUT_OF_BOUNDS");
  }

  void check_workspace(const Check& c) {
    if (!has_workspace()) return;
    switch (c.kind) {
      case CheckKind::WorkspaceSize:
        refuse_needed(c);
        if (kind_ == EntryKind::Explain) return;
        return refuse_if("needed != 0 && (workspace == NULL || workspace_size < (uint64_t)needed)",
                         c, "needed", "(int64_t)workspace_size");
      case CheckKind::WorkspaceAlignment: {
        const std::string rest = "(uintptr_t)workspace % " + std::to_string(c.value);
        return refuse_if("needed != 0 && " + rest + " != 0", c, std::to_string(c.value),
                         "(int64_t)(" + rest + ")");
      }
      default:
        return refuse_if(
            "!" + disjoint("workspace", "(uint64_t)needed", data_[c.argument], bytes_[c.argument]),
            c);
    }
  }

  void finish() {
    switch (kind_) {
      case EntryKind::Run: return run_chosen();
      case EntryKind::Query: {
        refuse_if("workspace_size == NULL", {CheckKind::NotNull, -1, -1, -1, 0, {}, true});
        refuse_needed({CheckKind::WorkspaceSize, -1, -1, -1, 0, {}, true});
        lines_.add("*workspace_size = (size_t)needed;");
        break;
      }
      case EntryKind::Table: put_table(); break;
      case EntryKind::Explain: lines_.add(helper("tw_end_text") + "(&out, text_length);"); break;
    }
    lines_.add("return TILEWRIGHT_OK;");
  }

  void run_chosen() {
    if (!has_workspace()) {
      lines_.add("(void)workspace;");
      lines_.add("(void)workspace_size;");
    }
    if (dispatch_.variants.size() > 1) choose();
    const auto uses_workspace = [](const std::string& call) {
      return call.find("$workspace") != std::string::npos;
    };
    if (std::any_of(kernel_calls_.begin(), kernel_calls_.end(), uses_workspace))
      lines_.add("_Alignas(64) unsigned char none[64];  /* what an empty workspace points to */");
    for (std::size_t i = 0; i < kernel_calls_.size(); ++i) {
      std::string call = kernel_calls_[i];
      const auto put = [&](const std::string& mark, const std::string& text) {
        for (auto at = call.find(mark); at != std::string::npos; at = call.find(mark))
          call.replace(at, mark.size(), text);
      };
      put("$workspace", "workspace != NULL ? (unsigned char *)workspace : none");
      for (std::size_t p = 0; p < data_.size(); ++p)
        put("$" + std::to_string(p) + ";", "(void *)" + data_[p]);
      for (const ir::ExtentDecl& extent : program_.extents)
        put("$" + std::string(extent.name.text()) + ";", names_.of(extent.name));
      const bool last = i + 1 == kernel_calls_.size();
      lines_.add((last ? "" : "if (" + hold(i) + ") ") + std::string("return ") + call + ";");
    }
  }

  // ---- explain ----

  // Until the call has been seen to be good nothing of it is copied; the detail of what follows is ours.
  void check_call(const Check& c) {
    const std::string judged =
        helper("tw_check_call") + "(call, " + quoted_function() + ", " + quoted_text(c) + ")";
    if (kind_ != EntryKind::Explain) return leave_unless_ok(judged, c);
    lines_.add("status = " + judged + ";");
    lines_.open("if (status != TILEWRIGHT_OK) {");
    for (const std::int32_t status : {TILEWRIGHT_NULL_ARGUMENT, TILEWRIGHT_BAD_CALL}) {
      const std::string name(program::status_name(status));
      lines_.add("if (status == " + name + ") " + helper("tw_put_text") + "(&out, \"" +
                 program::refusal_text(program_, c, status) + "\\n\");");
    }
    lines_.add(helper("tw_end_text") + "(&out, text_length);");
    lines_.add("return status;");
    lines_.close();
    lines_.add("asked.executor = call->executor;");
    call_ = "&asked";
  }

  void begin_explain() {
    state_.prelude.use("tw_text");
    lines_.add("struct tw_text out = {text, text == NULL ? 0 : text_size, 0};");
    // What is not read stays as it is: to clear it all a compiler may call memset.
    lines_.add("tilewright_error detail;");
    lines_.add("detail.struct_size = sizeof detail;");
    lines_.add(
        "tilewright_call asked = {.struct_size = sizeof asked, .executor = NULL, .error = "
        "&detail};");
    std::string names, arguments;
    for (const Parameter& parameter : program_.parameters) {
      names += (names.empty() ? "\"" : ", \"") + std::string(parameter.name.text()) + "\"";
      arguments += names_.of(parameter.name) + ", ";
    }
    lines_.add("static const char *const names[] = {" + (names.empty() ? "\"\"" : names) + "};");
    lines_.add("(void)" + std::string(program_.name.text()) + "_table(call, " + arguments +
               "&out);");
  }

  void put(const std::string& text) {
    lines_.add(helper("tw_put_text") + "(out, \"" + text + "\");");
  }
  void put_number(const std::string& number) {
    lines_.add(helper("tw_put_number") + "(out, " + number + ");");
  }

  void put_condition(Expr condition) {
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

  void put_table() {
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
    put("workspace: ");
    lines_.open("if (overflow) {");
    put("more bytes than 64 bits count\\n");
    lines_.turn();
    put_number("needed");
    put(" bytes\\n");
    lines_.close();
  }

  FileState& state_;
  const program::Dispatch& dispatch_;
  const program::Program& program_;
  const program::Contract& contract_;
  EntryKind kind_;
  std::vector<std::string> kernel_calls_;
  mutable Names names_;
  Body body_;
  Lines lines_;
  std::vector<std::string> bytes_;
  std::vector<std::string> data_;
  std::string call_ = "call";
  bool chosen_ = false;
  std::vector<std::string> holds_;  // by variant but the last: the name of whether its guard holds
};

}  // namespace

std::string emit_entry(FileState& state, const program::Dispatch& dispatch, EntryKind kind,
                       std::vector<std::string> kernel_calls) {
  return Entry(state, dispatch, kind, std::move(kernel_calls)).emit();
}

}  // namespace tilewright::c_target

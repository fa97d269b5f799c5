// SPDX-License-Identifier: Apache-2.0
//
// The checks of the contract, in its order, then what the entry is for.
#include "lowering/targets/c/entry.h"

#include "frontend/ir/text.h"
#include "lowering/program/explain.h"
#include "runtime/include/tilewright/runtime.h"

namespace tilewright::c_target {

using program::Check;
using program::CheckKind;
using program::Parameter;

namespace {

// DLPack's code, bits and lanes as one number; 0 for a type that has none here.
std::uint32_t type_word(ScalarType type) {
  const auto word = [](unsigned code, unsigned bits) { return code | bits << 8U | 1U << 16U; };
  if (!type_form(ir::part_type(type))) return 0;
  const ir::TypeInfo& info = ir::type_info(type);
  return word(static_cast<unsigned>(info.dlpack_code), static_cast<unsigned>(info.dlpack_bits));
}

}  // namespace

std::string Entry::emit() {
  const std::string head = signature();
  lines_.add("int32_t status;");
  if (kind_ == EntryKind::Explain) begin_explain();
  const std::size_t n = program_.parameters.size();
  bytes_.resize(n);
  data_.resize(n);
  for (const Check& check : contract_.checks)
    if (program::makes_check(kind_, dispatch_, check)) emit_check(check);
  finish();
  return "\n" + wrapped(head, 0) + "\n" + lines_.text() + "}\n";
}

std::string Entry::signature() const {
  const std::string function(program_.name.text());
  const auto head = [&](const std::string& name, const std::string& rest) {
    std::string text = "int32_t " + name + "(const tilewright_call *call";
    for (const Parameter& parameter : program_.parameters) {
      const bool is_const =
          !parameter.is_output || (kind_ != EntryKind::Run && kind_ != EntryKind::RunPlanned);
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
    case EntryKind::PlanQuery:
      return head(function + "_plan_query", "size_t *plan_size, size_t *workspace_size");
    case EntryKind::Plan: return head(function + "_plan", "void *plan, size_t plan_size");
    case EntryKind::RunPlanned:
      return head(function + "_run",
                  "const void *plan, size_t plan_size, void *workspace, size_t workspace_size");
  }
  __builtin_unreachable();
}

// What to return on a failure, from the status that tw_fail gave.
std::string Entry::refused(const std::string& status, const std::string& name) {
  if (kind_ != EntryKind::Explain) return status;
  return helper("tw_refused") + "(call, &out, text_length, &detail, " + name + ", names)";
}

// Leaves where `wrong` holds.
void Entry::refuse_if(const std::string& wrong, const Check& c, const std::string& expected,
                      const std::string& got, const char* status) {
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

void Entry::leave_unless_ok(const std::string& call, const Check& c) {
  lines_.add("status = " + call + ";");
  lines_.add("if (status != TILEWRIGHT_OK) return " +
             refused("status",
                     "\"" + std::string(program::status_name(program::status_of(c.kind))) + "\"") +
             ";");
}

void Entry::emit_check(const Check& c) {
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
      return refuse_if(dimension(c) + " % INT64_C(" + value + ") != 0", c, "INT64_C(" + value + ")",
                       dimension(c));
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
      return refuse_if("(" + tensor(c.argument) + "->flags & TILEWRIGHT_TENSOR_READ_ONLY) != 0", c);
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
    case CheckKind::PlanSize:
    case CheckKind::PlanAlignment:
    case CheckKind::PlanOverlap:
    case CheckKind::PlanMagic:
    case CheckKind::PlanVariant:
    case CheckKind::PlanExtent: return check_plan(c);
  }
}

// One pass over the values of an input; the first that breaks the fact is reported.
void Entry::check_values(const Check& c) {
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
  lines_.add("const " + storage + " *values = (const " + storage + " *)" + data_[c.argument] + ";");
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

void Entry::check_shape(const Check& c) {
  if (const auto* extent = c.expr.as<ir::Extent>()) {
    const std::string wanted = names_.of(extent->name);
    return refuse_if(dimension(c) + " != " + wanted, c, wanted, dimension(c));
  }
  lines_.open("{");
  lines_.add("bool overflow = false;");
  const std::string wanted = body_.checked_value(c.expr, "overflow");
  lines_.add("const int64_t needed = " + wanted + ";");
  refuse_if("overflow || " + dimension(c) + " != needed || needed < 0", c, "needed", dimension(c));
  lines_.close();
}

void Entry::check_bytes(const Check& c) {
  const std::string name = tensor(c.argument);
  bytes_[c.argument] = names_.fresh(name + "_bytes");
  lines_.add("uint64_t " + bytes_[c.argument] + ";");
  leave_unless_ok(helper("tw_check_bytes") + "(" + call_ + ", " + quoted_function() + ", " +
                      std::to_string(c.argument) + ", " + name + ", " + std::to_string(c.value) +
                      ", " + per_byte(c) + ", " + quoted_text(c) + ", &" + bytes_[c.argument] + ")",
                  c);
  if (!needs_data(c.argument)) return;
  refuse_if(name + "->dl.data == NULL && " + bytes_[c.argument] + " != 0", c, "0", "0",
            "TILEWRIGHT_NULL_ARGUMENT");
  data_[c.argument] = names_.fresh(name + "_data");
  lines_.add("unsigned char *const " + data_[c.argument] + " = " + helper("tw_data") + "(" + name +
             ");");
  if (kind_ == EntryKind::Explain) lines_.add("(void)" + data_[c.argument] + ";");
}

// A formula that overflows.
void Entry::refuse_needed(const Check& c) {
  choose();
  refuse_if("overflow", c, "0", "0", "TILEWRIGHT_OUT_OF_BOUNDS");
}

void Entry::check_workspace(const Check& c) {
  if (!has_workspace()) return;
  switch (c.kind) {
    case CheckKind::WorkspaceSize:
      refuse_needed(c);
      if (kind_ == EntryKind::Explain) return;
      return refuse_if("needed != 0 && (workspace == NULL || workspace_size < (uint64_t)needed)", c,
                       "needed", "(int64_t)workspace_size");
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

void Entry::finish() {
  switch (kind_) {
    case EntryKind::Run:
    case EntryKind::RunPlanned:
    case EntryKind::Plan: return run_chosen();
    case EntryKind::PlanQuery:
      refuse_if("plan_size == NULL || workspace_size == NULL",
                {CheckKind::NotNull, -1, -1, -1, 0, {}, true});
      choose();
      refuse_if("overflow || plan_overflow", {CheckKind::PlanSize, -1, -1, -1, 0, {}, true}, "0",
                "0", "TILEWRIGHT_OUT_OF_BOUNDS");
      lines_.add("*plan_size = (size_t)plan_needed;");
      lines_.add("*workspace_size = (size_t)needed;");
      break;
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

// Until the call has been seen to be good nothing of it is copied; the detail of what follows is ours.
void Entry::check_call(const Check& c) {
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

std::string emit_entry(FileState& state, const program::Dispatch& dispatch, EntryKind kind,
                       const std::vector<KernelCalls>& kernels) {
  return Entry(state, dispatch, kind, kernels).emit();
}

}  // namespace tilewright::c_target

// SPDX-License-Identifier: Apache-2.0
//
// NAME, NAME_query and NAME_explain: the checks of the contract in its order, then what the entry is for. Laws: no
// check touches what an earlier one has not made safe; nothing is written before the last check has passed;
// status, place, numbers and texts are those of a host library.
#include <algorithm>
#include <functional>

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
  if (!type_form(type)) return 0;
  const ir::TypeInfo& info = ir::type_info(type);
  return word(static_cast<unsigned>(info.dlpack_code), static_cast<unsigned>(info.dlpack_bits));
}

class Entry {
 public:
  Entry(FileState& state, const program::Dispatch& dispatch, EntryKind kind,
        const std::vector<KernelCalls>& kernels)
      : state_(state),
        dispatch_(dispatch),
        program_(dispatch.interface),
        contract_(dispatch.contract),
        kind_(kind),
        kernels_(kernels),
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
  bool needs_data(int argument) const {
    const Parameter& of = program_.parameters[static_cast<std::size_t>(argument)];
    switch (kind_) {
      case EntryKind::Query:
      case EntryKind::Table:
      case EntryKind::PlanQuery: return false;
      case EntryKind::Run:
      case EntryKind::Explain: return true;
      case EntryKind::Plan: return of.is_const;
      case EntryKind::RunPlanned: return dispatch_.run_reads(of);
    }
    __builtin_unreachable();
  }
  bool makes(const Check& c) const {
    const bool of_plan = program::is_plan_check(c.kind);
    const bool has_data = c.argument < 0 || needs_data(c.argument);
    switch (kind_) {
      case EntryKind::Run: return !of_plan;
      case EntryKind::Query:
      case EntryKind::Table:
      case EntryKind::PlanQuery: return c.in_query;
      case EntryKind::Plan:
        if (c.kind == CheckKind::PlanOverlap) return c.argument >= 0 && has_data;
        return c.in_query || c.kind == CheckKind::Cpu || c.kind == CheckKind::PlanSize ||
               c.kind == CheckKind::PlanAlignment ||
               (has_data && (c.kind == CheckKind::Strides || c.kind == CheckKind::Alignment ||
                             c.kind == CheckKind::ValueRange ||
                             c.kind == CheckKind::RangeNotEmpty || c.kind == CheckKind::Monotone));
      case EntryKind::RunPlanned:
        return c.in_query || (has_data && (c.other < 0 || needs_data(c.other)));
      case EntryKind::Explain: break;
    }
    return !of_plan && c.kind != CheckKind::WorkspaceAlignment &&
           c.kind != CheckKind::WorkspaceOverlap && c.kind != CheckKind::Injective;
  }

  std::string signature() const {
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
      case CheckKind::PlanSize:
      case CheckKind::PlanAlignment:
      case CheckKind::PlanOverlap:
      case CheckKind::PlanMagic:
      case CheckKind::PlanVariant:
      case CheckKind::PlanExtent: return check_plan(c);
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
    if (!needs_data(c.argument)) return;
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
    for_chosen([&](const program::Variant& variant) {
      const bool with_plan = variant.planned && kind_ >= EntryKind::PlanQuery;
      const Expr total =
          (with_plan ? variant.planned->run_contract : variant.contract).workspace.total;
      lines_.add("needed = " + body_.checked_value(total, "overflow") + ";");
    });
    if (kind_ == EntryKind::Plan || kind_ == EntryKind::RunPlanned) {
      lines_.add("(void)needed;");
      lines_.add("(void)overflow;");
    }
    const bool of_plan = kind_ == EntryKind::Table || kind_ >= EntryKind::PlanQuery;
    if (!dispatch_.has_plan() || !of_plan) return;
    lines_.add("bool plan_overflow = false;");
    lines_.add("int64_t plan_needed;");
    for_chosen([&](const program::Variant& variant) {
      if (!variant.planned) return lines_.add("plan_needed = 0;");
      const Expr bytes =
          state_.context->add(variant.planned->bytes, state_.context->index(head_bytes()));
      lines_.add("plan_needed = " + body_.checked_value(bytes, "plan_overflow") + ";");
    });
  }

  std::int64_t head_bytes() const { return program::plan_head_bytes(program_); }

  // Code for the variant that runs.
  void for_chosen(const std::function<void(const program::Variant&)>& f) {
    const std::size_t n = dispatch_.variants.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (i + 1 < n) lines_.open("if (" + hold(i) + ") {");
      f(dispatch_.variants[i]);
      if (i + 1 < n) lines_.turn();
    }
    for (std::size_t i = 1; i < n; ++i) lines_.close();
  }

  static std::string word(std::uint64_t value) { return "UINT64_C(" + std::to_string(value) + ")"; }

  // Of a variant without a plan nothing is asked.
  void check_plan(const Check& c) {
    choose();
    const std::string words = "((const uint64_t *)plan)";
    switch (c.kind) {
      case CheckKind::PlanSize:
        refuse_if("plan_overflow", c, "0", "0", "TILEWRIGHT_OUT_OF_BOUNDS");
        return refuse_if("plan_needed != 0 && (plan == NULL || plan_size < (uint64_t)plan_needed)",
                         c, "plan_needed", "(int64_t)plan_size");
      case CheckKind::PlanAlignment: {
        const std::string rest = "(uintptr_t)plan % " + std::to_string(c.value);
        return refuse_if("plan_needed != 0 && " + rest + " != 0", c, std::to_string(c.value),
                         "(int64_t)(" + rest + ")");
      }
      case CheckKind::PlanOverlap: {
        const bool of_tensor = c.argument >= 0;
        return refuse_if("!" + disjoint("plan", "(uint64_t)plan_needed",
                                        of_tensor ? data_[c.argument] : "workspace",
                                        of_tensor ? bytes_[c.argument] : "(uint64_t)needed"),
                         c);
      }
      case CheckKind::PlanMagic:
        return refuse_if("plan_needed != 0 && " + words + "[0] != " + word(program::kPlanMagic), c);
      default: break;
    }
    for_chosen([&](const program::Variant& variant) {
      if (!variant.planned) return;
      if (c.kind == CheckKind::PlanVariant) {
        std::string wrong;
        for (int i : {0, 1})
          wrong += (i ? " || " : "") + words + "[" + std::to_string(program::kPlanHash + i) +
                   "] != " + word(variant.planned->hash[i]);
        return refuse_if(wrong, c);
      }
      const auto e = static_cast<std::size_t>(c.value);
      if (!variant.planned->depends_on[e]) return;
      const std::string extent = names_.of(program_.extents[e].name);
      const std::string got =
          "(int64_t)" + words + "[" + std::to_string(program::kPlanExtents + c.value) + "]";
      refuse_if(got + " != " + extent, c, extent, got);
    });
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

  // The call with what the marks stand for. `buffers`: where those of the plan begin.
  std::string call_text(std::string call, const std::string& workspace,
                        const program::Planned* planned, const std::string& buffers) {
    const auto put = [&](const std::string& mark, const std::string& text) {
      for (auto at = call.find(mark); at != std::string::npos; at = call.find(mark))
        call.replace(at, mark.size(), text);
    };
    put("$workspace", workspace);
    for (std::size_t p = 0; p < data_.size(); ++p)
      put("$" + std::string(program_.parameters[p].name.text()) + ";",
          data_[p].empty() ? "NULL" : "(void *)" + data_[p]);
    if (planned)
      for (const program::PlanBuffer& buffer : planned->buffers) {
        const std::string mark = "$" + std::string(buffer.name.text()) + ";";
        if (call.find(mark) == std::string::npos) continue;
        put(mark, "(void *)(" + buffers + " + " + plain_value(buffer.offset) + ")");
      }
    for (const ir::ExtentDecl& extent : program_.extents)
      put("$" + std::string(extent.name.text()) + ";", names_.of(extent.name));
    return call;
  }

  // A value that has been seen not to overflow.
  std::string plain_value(Expr expr) {
    const std::string text = body_.checked_value(expr, "rest");
    return text == "0" ? text : "(" + text + ")";
  }

  void run_variant(std::size_t i) {
    const program::Variant& variant = dispatch_.variants[i];
    const KernelCalls& kernels = kernels_[i];
    const std::string memory = "workspace != NULL ? (unsigned char *)workspace : none";
    if (!variant.planned) {
      if (kind_ == EntryKind::Plan) return lines_.add("return TILEWRIGHT_OK;");
      return lines_.add("return " + call_text(kernels.whole, memory, nullptr, "") + ";");
    }
    const program::Planned& planned = *variant.planned;
    const std::string head = std::to_string(head_bytes());
    lines_.add("bool rest = false;");
    lines_.add("(void)rest;");
    if (kind_ == EntryKind::Plan) return make_plan(planned, kernels);
    if (kind_ == EntryKind::RunPlanned) {
      // The kernel reads it alone.
      lines_.add("unsigned char *const buffers = (unsigned char *)(uintptr_t)plan + " + head + ";");
      lines_.add("return " + call_text(kernels.run, memory, &planned, "buffers") + ";");
      return;
    }
    lines_.add("unsigned char *const buffers = " + memory + ";");
    leave_unless(call_text(kernels.plan, "buffers", &planned, "buffers"));
    lines_.add(
        "return " +
        call_text(kernels.run, "buffers + " + plain_value(planned.bytes), &planned, "buffers") +
        ";");
  }

  void leave_unless(const std::string& call) {
    lines_.add("status = " + call + ";");
    lines_.add("if (status < 0) return status;");
  }

  // The head is written last: what was cancelled is no plan.
  void make_plan(const program::Planned& planned, const KernelCalls& kernels) {
    const auto put_word = [&](int at, const std::string& value) {
      lines_.add("words[" + std::to_string(at) + "] = " + value + ";");
    };
    lines_.add("uint64_t *const words = (uint64_t *)plan;");
    lines_.add("unsigned char *const buffers = (unsigned char *)plan + " +
               std::to_string(head_bytes()) + ";");
    put_word(0, "0");
    leave_unless(call_text(kernels.plan, "none", &planned, "buffers"));
    for (int i : {0, 1}) put_word(program::kPlanHash + i, word(planned.hash[i]));
    put_word(program::kPlanBytes, "(uint64_t)plan_needed");
    for (std::size_t e = 0; e < program_.extents.size(); ++e)
      put_word(program::kPlanExtents + static_cast<int>(e),
               planned.depends_on[e] ? "(uint64_t)" + names_.of(program_.extents[e].name)
                                     : "UINT64_MAX");
    put_word(0, word(program::kPlanMagic));
    lines_.add("return TILEWRIGHT_OK;");
  }

  void run_chosen() {
    if (!has_workspace() && kind_ != EntryKind::Plan) {
      lines_.add("(void)workspace;");
      lines_.add("(void)workspace_size;");
    }
    if (dispatch_.variants.size() > 1 || dispatch_.has_plan()) choose();
    const auto uses_workspace = [](const KernelCalls& calls) {
      return (calls.whole + calls.plan + calls.run).find("$workspace") != std::string::npos;
    };
    const bool buffers = dispatch_.has_plan() && kind_ == EntryKind::Run;
    if (buffers || std::any_of(kernels_.begin(), kernels_.end(), uses_workspace))
      lines_.add("_Alignas(64) unsigned char none[64];  /* what an empty workspace points to */");
    if (kernels_.size() == 1 && !dispatch_.has_plan()) return run_variant(0);
    std::size_t i = 0;
    for_chosen([&](const program::Variant&) { run_variant(i++); });
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
    if (!dispatch_.has_plan()) return;
    put("plan: ");
    put_number("plan_overflow ? -1 : plan_needed");
    put(" bytes\\n");
  }

  FileState& state_;
  const program::Dispatch& dispatch_;
  const program::Program& program_;
  const program::Contract& contract_;
  EntryKind kind_;
  const std::vector<KernelCalls>& kernels_;
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
                       const std::vector<KernelCalls>& kernels) {
  return Entry(state, dispatch, kind, kernels).emit();
}

}  // namespace tilewright::c_target

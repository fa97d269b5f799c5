// SPDX-License-Identifier: Apache-2.0
//
// NAME and NAME_query: the checks of the contract in its order, then the kernel. Laws: no check touches what
// an earlier one has not made safe; nothing is written before the last check has passed; status, place and
// numbers of a failure are those of a host library.
#include "frontend/ir/walk.h"
#include "lowering/program/split_complex.h"
#include "lowering/targets/c/emit.h"
#include "runtime/include/tilewright/runtime.h"

namespace tilewright::c_target {

namespace {

using program::Check;
using program::CheckKind;
using program::Parameter;

const char* status_of(CheckKind kind) {
  switch (kind) {
    case CheckKind::Cpu: return "TILEWRIGHT_UNSUPPORTED_CPU";
    case CheckKind::Call: return "TILEWRIGHT_BAD_CALL";
    case CheckKind::NotNull:
    case CheckKind::ShapeNotNull: return "TILEWRIGHT_NULL_ARGUMENT";
    case CheckKind::Rank: return "TILEWRIGHT_WRONG_RANK";
    case CheckKind::ElementType: return "TILEWRIGHT_WRONG_TYPE";
    case CheckKind::Device: return "TILEWRIGHT_WRONG_DEVICE";
    case CheckKind::ExtentMin:
    case CheckKind::ExtentMax:
    case CheckKind::ExtentMultiple:
    case CheckKind::Shape: return "TILEWRIGHT_WRONG_SHAPE";
    case CheckKind::Strides: return "TILEWRIGHT_UNSUPPORTED_STRIDES";
    case CheckKind::Bytes: return "TILEWRIGHT_OUT_OF_BOUNDS";
    case CheckKind::Alignment: return "TILEWRIGHT_MISALIGNED";
    case CheckKind::Writable: return "TILEWRIGHT_READ_ONLY";
    case CheckKind::Requires: return "TILEWRIGHT_REQUIRES_VIOLATED";
    case CheckKind::Overlap:
    case CheckKind::WorkspaceOverlap: return "TILEWRIGHT_OVERLAP";
    case CheckKind::WorkspaceSize: return "TILEWRIGHT_WORKSPACE_TOO_SMALL";
    case CheckKind::WorkspaceAlignment: return "TILEWRIGHT_WORKSPACE_MISALIGNED";
    case CheckKind::ValueRange:
    case CheckKind::RangeNotEmpty:
    case CheckKind::Monotone:
    case CheckKind::Injective: return "TILEWRIGHT_BAD_VALUES";
  }
  __builtin_unreachable();
}

// DLPack's code, bits and lanes as one number; 0 for a type that has none here.
std::uint32_t type_word(ScalarType type) {
  const auto word = [](unsigned code, unsigned bits) { return code | bits << 8U | 1U << 16U; };
  if (!type_form(ir::part_type(type))) return 0;
  const ir::TypeInfo& info = ir::type_info(type);
  return word(static_cast<unsigned>(info.dlpack_code), static_cast<unsigned>(info.dlpack_bits));
}

class Entry {
 public:
  Entry(FileState& state, const program::Program& program, const program::Contract& contract,
        bool is_query, std::string kernel_call)
      : state_(state),
        program_(program),
        contract_(contract),
        is_query_(is_query),
        kernel_call_(std::move(kernel_call)),
        names_(program),
        body_(state, program, contract, names_) {
    body_.write_to(lines_);
    lines_.set_depth(1);
  }

  std::string emit() {
    const std::string function(program_.name.text());
    std::string text =
        "int32_t " + function + (is_query_ ? "_query" : "") + "(const tilewright_call *call";
    for (const Parameter& parameter : program_.parameters) {
      const bool is_const = !parameter.is_output || is_query_;
      text += std::string(", ") + (is_const ? "const " : "") + "tilewright_tensor *" +
              names_.of(parameter.name);
    }
    text +=
        is_query_ ? ", size_t *workspace_size) {" : ", void *workspace, size_t workspace_size) {";
    lines_.add("int32_t status;");
    const std::size_t n = program_.parameters.size();
    bytes_.resize(n);
    data_.resize(n);
    for (const Check& check : contract_.checks)
      if (!is_query_ || check.in_query) emit_check(check);
    finish();
    return "\n" + wrapped(text, 0) + "\n" + lines_.text() + "}\n";
  }

 private:
  std::string tensor(int argument) { return names_.of(program_.parameters[argument].name); }
  std::string dimension(const Check& c) {
    return tensor(c.argument) + "->dl.shape[" + std::to_string(c.dimension) + "]";
  }
  std::string quoted_function() const { return "\"" + std::string(program_.name.text()) + "\""; }
  std::string quoted_text(const Check& c) const {
    return "\"" + std::string(program::check_text(c.kind)) + "\"";
  }
  std::string helper(std::string_view name) { return state_.prelude.use(name); }

  // Leaves where `wrong` holds.
  void refuse_if(const std::string& wrong, const Check& c, const std::string& expected = "0",
                 const std::string& got = "0", const char* status = nullptr) {
    lines_.add("if (" + wrong + ")");
    lines_.add("  return " + helper("tw_fail") + "(call, " + quoted_function() + ", " +
               (status ? status : status_of(c.kind)) + ", " + std::to_string(c.argument) + ", " +
               std::to_string(c.dimension) + ", " + expected + ", " + got + ", " + quoted_text(c) +
               ");");
  }
  void leave_unless_ok(const std::string& call) {
    lines_.add("status = " + call + ";");
    lines_.add("if (status != TILEWRIGHT_OK) return status;");
  }

  void emit_check(const Check& c) {
    const std::string value = std::to_string(c.value);
    switch (c.kind) {
      case CheckKind::Cpu: return;
      case CheckKind::Call:
        leave_unless_ok(helper("tw_check_call") + "(call, " + quoted_function() + ", " +
                        quoted_text(c) + ")");
        return;
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
        return leave_unless_ok(helper("tw_check_strides") + "(call, " + quoted_function() + ", " +
                               std::to_string(c.argument) + ", " + tensor(c.argument) + ", " +
                               quoted_text(c) + ")");
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
    if (!form)
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
      // What a row has seen is forgotten where the next begins; ValueRange gave each value a byte.
      lines_.add("unsigned char *seen = (unsigned char *)workspace;");
      lines_.open("if (at % row == 0) {");
      lines_.add("for (int64_t v = 0; v < end - least; ++v) seen[v] = 0;");
      lines_.close();
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
    leave_unless_ok(helper("tw_check_bytes") + "(call, " + quoted_function() + ", " +
                    std::to_string(c.argument) + ", " + name + ", " + std::to_string(c.value) +
                    ", " + quoted_text(c) + ", &" + bytes_[c.argument] + ")");
    if (is_query_) return;
    refuse_if(name + "->dl.data == NULL && " + bytes_[c.argument] + " != 0", c, "0", "0",
              "TILEWRIGHT_NULL_ARGUMENT");
    data_[c.argument] = names_.fresh(name + "_data");
    lines_.add("unsigned char *const " + data_[c.argument] + " = " + helper("tw_data") + "(" +
               name + ");");
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

  // The name of the bytes that the formula gives.
  std::string emit_needed(const Check& c) {
    declare_workers();
    lines_.add("bool overflow = false;");
    const std::string total = body_.checked_value(contract_.workspace.total, "overflow");
    lines_.add("const int64_t needed = " + total + ";");
    refuse_if("overflow", c, "0", "0", "TILEWRIGHT_OUT_OF_BOUNDS");
    return "needed";
  }

  void check_workspace(const Check& c) {
    if (!has_workspace()) return;
    switch (c.kind) {
      case CheckKind::WorkspaceSize:
        emit_needed(c);
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
    if (is_query_) {
      const Check missing{CheckKind::NotNull, -1, -1, -1, 0, {}, true};
      refuse_if("workspace_size == NULL", missing);
      const Check size{CheckKind::WorkspaceSize, -1, -1, -1, 0, {}, true};
      emit_needed(size);
      lines_.add("*workspace_size = (size_t)needed;");
      lines_.add("return TILEWRIGHT_OK;");
      return;
    }
    if (!has_workspace()) {
      lines_.add("(void)workspace;");
      lines_.add("(void)workspace_size;");
    }
    if (kernel_call_.find("$workspace") != std::string::npos)
      lines_.add("_Alignas(64) unsigned char none[64];  /* what an empty workspace points to */");
    std::string call = kernel_call_;
    const auto put = [&](const std::string& mark, const std::string& text) {
      for (auto at = call.find(mark); at != std::string::npos; at = call.find(mark))
        call.replace(at, mark.size(), text);
    };
    put("$workspace", "workspace != NULL ? (unsigned char *)workspace : none");
    for (std::size_t p = 0; p < data_.size(); ++p)
      put("$" + std::to_string(p) + ";", "(void *)" + data_[p]);
    for (const ir::ExtentDecl& extent : program_.extents)
      put("$" + std::string(extent.name.text()) + ";", names_.of(extent.name));
    lines_.add("return " + call + ";");
  }

  FileState& state_;
  const program::Program& program_;
  const program::Contract& contract_;
  bool is_query_;
  std::string kernel_call_;
  Names names_;
  Body body_;
  Lines lines_;
  std::vector<std::string> bytes_;
  std::vector<std::string> data_;
};

}  // namespace

std::string emit_function(FileState& state, const program::Program& given,
                          const program::Contract& contract) {
  const program::Program program = program::split_complex(*state.context, given);
  const std::string function(program.name.text());
  Names names(given);
  Body body(state, program, contract, names);
  Lines lines;
  lines.set_depth(1);
  body.write_to(lines);
  for (const ir::ExtentDecl& extent : program.extents) body.bind(extent.name, ScalarType::Index);
  body.bind(contract.workspace.workers, ScalarType::Index);
  // Both parts of a complex argument lie in the memory of one pointer.
  auto part = program.parameters.begin();
  for (const Parameter& parameter : given.parameters) {
    const int parts = ir::scalars_of(parameter.type);
    for (int first = 0; first < parts; ++first, ++part) {
      Buffer buffer;
      buffer.type = part->type;
      buffer.extents = part->shape;
      buffer.base = names.of(parameter.name);
      buffer.writable = part->is_output;
      buffer.step = parts;
      buffer.first = first;
      body.bind_buffer(part->name, std::move(buffer));
    }
  }
  body.emit(program.body);
  if (state.error) return {};

  // The kernel takes what its body uses; `$` marks what the entry puts in.
  std::string head, call;
  const auto take = [&](const std::string& declaration, const std::string& argument) {
    head += (head.empty() ? "" : ", ") + declaration;
    call += (call.empty() ? "" : ", ") + argument;
  };
  const std::string workers = names.of(contract.workspace.workers);
  const bool uses_workers = body.uses(workers);
  if (body.uses("call") || uses_workers) take("const tilewright_call *call", "call");
  if (body.uses("workspace")) take("unsigned char *workspace", "$workspace");
  for (std::size_t p = 0; p < given.parameters.size(); ++p) {
    const Parameter& parameter = given.parameters[p];
    const std::string name = names.of(parameter.name);
    const auto form = type_form(ir::part_type(parameter.type));
    if (!form || !body.uses(name)) continue;
    take(std::string(parameter.is_output ? "" : "const ") + std::string(form->storage) +
             " *restrict " + name,
         "$" + std::to_string(p) + ";");
  }
  for (const ir::ExtentDecl& extent : program.extents)
    if (body.uses(names.of(extent.name)))
      take("int64_t " + names.of(extent.name), "$" + std::string(extent.name.text()) + ";");
  const std::string workers_line =
      uses_workers ? "  const int64_t " + workers +
                         " = call->executor == NULL ? 1 : call->executor->num_workers;\n"
                   : "";
  std::string text =
      "\n/* ---- " + function + " ---- */\n" + body.tasks() + "\n/* `" +
      std::string(program.algorithm.text()) + "`, for arguments that have been checked. */\n" +
      wrapped("static int32_t " + function + "_kernel(" + (head.empty() ? "void" : head) + ") {",
              0) +
      "\n" + workers_line + lines.text() + "  return TILEWRIGHT_OK;\n}\n";
  text += Entry(state, given, contract, false, function + "_kernel(" + call + ")").emit();
  text += Entry(state, given, contract, true, "").emit();
  return text;
}

}  // namespace tilewright::c_target

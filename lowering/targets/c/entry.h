// SPDX-License-Identifier: Apache-2.0
//
// An entry of a library, private to this room: the functions that the header declares, and the table of explain.
// Laws: no check touches what an earlier one has not made safe; nothing is written before the last check has
// passed; status, place, numbers and texts are those of a host library.
//   entry.cpp  the checks of the contract, in its order      entry_run.cpp  which variant runs, and its plan
//   entry_explain.cpp  what NAME_explain writes
#pragma once

#include <functional>

#include "lowering/targets/c/emit.h"

namespace tilewright::c_target {

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

  std::string emit();

 private:
  std::string tensor(int argument) { return names_.of(program_.parameters[argument].name); }
  std::string dimension(const program::Check& c) {
    return tensor(c.argument) + "->dl.shape[" + std::to_string(c.dimension) + "]";
  }
  std::string per_byte(const program::Check& c) const {
    return std::to_string(ir::elements_per_byte(program_.parameters[c.argument].type));
  }
  std::string quoted_function() const { return "\"" + std::string(program_.name.text()) + "\""; }
  std::string quoted_text(const program::Check& c) const {
    return "\"" + std::string(program::check_text(c.kind)) + "\"";
  }
  std::string helper(std::string_view name) { return state_.prelude.use(name); }
  std::string disjoint(const std::string& a, const std::string& a_bytes, const std::string& b,
                       const std::string& b_bytes) {
    return helper("tw_disjoint") + "(" + a + ", " + a_bytes + ", " + b + ", " + b_bytes + ")";
  }
  bool has_workspace() const { return !(contract_.workspace.total == state_.context->index(0)); }
  std::string hold(std::size_t variant) const { return holds_[variant]; }
  std::int64_t head_bytes() const { return program::plan_head_bytes(program_); }
  static std::string word(std::uint64_t value) { return "UINT64_C(" + std::to_string(value) + ")"; }
  void leave_unless(const std::string& call) {
    lines_.add("status = " + call + ";");
    lines_.add("if (status < 0) return status;");
  }
  void put(const std::string& text) {
    lines_.add(helper("tw_put_text") + "(out, \"" + text + "\");");
  }
  void put_number(const std::string& number) {
    lines_.add(helper("tw_put_number") + "(out, " + number + ");");
  }

  // entry.cpp
  bool needs_data(int argument) const { return program::needs_data(kind_, dispatch_, argument); }
  std::string signature() const;
  std::string refused(const std::string& status, const std::string& name);
  void refuse_if(const std::string& wrong, const program::Check& c,
                 const std::string& expected = "0", const std::string& got = "0",
                 const char* status = nullptr);
  void leave_unless_ok(const std::string& call, const program::Check& c);
  void emit_check(const program::Check& c);
  void check_values(const program::Check& c);
  void check_shape(const program::Check& c);
  void check_bytes(const program::Check& c);
  void refuse_needed(const program::Check& c);
  void check_workspace(const program::Check& c);
  void finish();
  void check_call(const program::Check& c);

  // entry_run.cpp
  void declare_workers();
  void choose();
  void for_chosen(const std::function<void(const program::Variant&)>& f);
  void check_plan(const program::Check& c);
  std::string call_text(std::string call, const std::string& workspace,
                        const program::Planned* planned, const std::string& buffers);
  std::string plain_value(Expr expr);
  void run_variant(std::size_t i);
  void make_plan(const program::Planned& planned, const KernelCalls& kernels);
  void run_chosen();

  // entry_explain.cpp
  void begin_explain();
  void put_condition(Expr condition);
  void put_table();
  void put_bytes(const std::string& what, const std::string& bytes, const std::string& overflow);

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

}  // namespace tilewright::c_target

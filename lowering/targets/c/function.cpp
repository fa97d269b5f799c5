// SPDX-License-Identifier: Apache-2.0
//
// The functions of a library: a kernel for each variant, and the entries that judge a call and choose one.
#include "lowering/program/split_complex.h"
#include "lowering/targets/c/emit.h"

namespace tilewright::c_target {

using program::Parameter;

namespace {

// What a parameter's pointer points to.
std::string parameter_element(ScalarType type) {
  const auto form = type_form(ir::part_type(type));
  return ir::is_packed(type) || !form ? "uint8_t" : std::string(form->storage);
}

Buffer parameter_buffer(ir::Context& context, const Parameter& parameter, std::string base) {
  Buffer buffer;
  buffer.type = parameter.type;
  buffer.extents = parameter.shape;
  buffer.base = std::move(base);
  buffer.packed = ir::is_packed(parameter.type);
  buffer.element = parameter_element(parameter.type);
  if (buffer.packed && parameter.shape.size() > 1) {
    const int per_byte = ir::elements_per_byte(parameter.type);
    buffer.extents.back() =
        context.mul(context.ceil_div(parameter.shape.back(), per_byte), context.index(per_byte));
  }
  buffer.writable = parameter.is_output;
  return buffer;
}

// A kernel as text, and how its entry calls it.
struct Kernel {
  std::string text;
  std::string call;
};

// `function`: what its names begin with.
Kernel emit_kernel(FileState& state, const program::Program& given,
                   const program::Contract& contract, const std::string& function,
                   const std::string& title) {
  const program::Program program = program::split_complex(*state.context, given);
  Names names(given, function);
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
      Buffer buffer = parameter_buffer(*state.context, *part, names.of(parameter.name));
      buffer.step = parts;
      buffer.first = first;
      body.bind_buffer(part->name, std::move(buffer));
    }
  }
  body.emit(program.body);
  if (state.error) return {};

  // It takes what its body uses.
  std::string head, call;
  const auto take = [&](const std::string& declaration, const std::string& argument) {
    head += (head.empty() ? "" : ", ") + declaration;
    call += (call.empty() ? "" : ", ") + argument;
  };
  const std::string workers = names.of(contract.workspace.workers);
  const bool uses_workers = body.uses(workers);
  if (body.uses("call") || uses_workers) take("const tilewright_call *call", "call");
  if (body.uses("workspace")) take("unsigned char *workspace", "$workspace");
  for (const Parameter& parameter : given.parameters) {
    const std::string name = names.of(parameter.name);
    if (!body.uses(name)) continue;
    take((parameter.is_output ? "" : "const ") + parameter_element(parameter.type) + " *restrict " +
             name,
         "$" + std::string(parameter.name.text()) + ";");
  }
  for (const ir::ExtentDecl& extent : program.extents)
    if (body.uses(names.of(extent.name)))
      take("int64_t " + names.of(extent.name), "$" + std::string(extent.name.text()) + ";");
  const std::string workers_line =
      uses_workers ? "  const int64_t " + workers +
                         " = call->executor == NULL ? 1 : call->executor->num_workers;\n"
                   : "";
  std::string text =
      body.tasks() + "\n/* " + title + ", for arguments that have been checked. */\n" +
      wrapped("static int32_t " + function + "_kernel(" + (head.empty() ? "void" : head) + ") {",
              0) +
      "\n" + workers_line + lines.text() + "  return TILEWRIGHT_OK;\n}\n";
  return {std::move(text), function + "_kernel(" + call + ")"};
}

}  // namespace

std::string emit_function(FileState& state, const program::Dispatch& dispatch) {
  const std::string function(dispatch.interface.name.text());
  std::string text = "\n/* ---- " + function + " ---- */\n";
  std::vector<KernelCalls> calls;
  for (const program::Variant& variant : dispatch.variants) {
    const std::string base = function + (dispatch.is_single() ? "" : "_" + variant.name);
    const std::string title = "`" + std::string(variant.program.algorithm.text()) + "`" +
                              (dispatch.is_single() ? "" : " by `" + variant.name + "`");
    const auto kernel = [&](const program::Program& program, const program::Contract& contract,
                            const std::string& suffix, const std::string& what) {
      Kernel made = emit_kernel(state, program, contract, base + suffix, title + what);
      text += made.text;
      return std::move(made.call);
    };
    KernelCalls own;
    if (const auto& planned = variant.planned) {
      own.plan = kernel(planned->plan, planned->plan_contract, "_plan", ", what is made once");
      own.run = kernel(planned->run, planned->run_contract, "_run", " with a plan");
    } else {
      own.whole = kernel(variant.program, variant.contract, "", "");
    }
    if (state.error) return {};
    calls.push_back(std::move(own));
  }
  text += emit_entry(state, dispatch, EntryKind::Run, calls);
  for (const EntryKind kind : {EntryKind::Query, EntryKind::Table, EntryKind::Explain})
    text += emit_entry(state, dispatch, kind, {});
  if (!dispatch.has_plan()) return text;
  for (const EntryKind kind : {EntryKind::PlanQuery, EntryKind::Plan, EntryKind::RunPlanned})
    text += emit_entry(state, dispatch, kind, calls);
  return text;
}

}  // namespace tilewright::c_target

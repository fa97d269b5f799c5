// SPDX-License-Identifier: Apache-2.0
//
// The C header of a library: its contract in words, then its declarations.
#include "frontend/ir/text.h"
#include "lowering/artifact/artifact.h"
#include "lowering/program/c_names.h"

namespace tilewright::artifact {

namespace {

std::string shape_text(const program::Parameter& parameter) {
  std::string text = std::string(ir::type_text(parameter.type)) + "[";
  for (std::size_t d = 0; d < parameter.shape.size(); ++d)
    text += (d == 0 ? "" : ", ") + ir::print(parameter.shape[d]);
  return text + "]";
}

// `suffix` of the name; `rest` after the tensors, of which only those of the function itself are written.
std::string declaration(const program::Program& program, const std::string& suffix,
                        const std::string& rest, bool writes = false) {
  const std::string open = "int32_t " + std::string(program.name.text()) + suffix + "(";
  const std::string indent(open.size(), ' ');
  std::string text = open + "const tilewright_call *call";
  const std::vector<std::string> names = program::c_parameter_names(program);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_const = !program.parameters[i].is_output || !writes;
    text += ",\n" + indent + (is_const ? "const " : "") + "tilewright_tensor *" + names[i];
  }
  return text + ",\n" + indent + rest + ");\n";
}

// The constants that no variant reads beside its plan: `w`, or `u, v`.
std::string planned_constants(const program::Dispatch& dispatch) {
  const program::Program& program = dispatch.interface;
  const std::vector<std::string> names = program::c_parameter_names(program);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!dispatch.run_reads(program.parameters[i])) text += (text.empty() ? "" : ", ") + names[i];
  return text;
}

std::string plan_declarations(const program::Dispatch& dispatch) {
  const program::Program& program = dispatch.interface;
  const std::string gone = planned_constants(dispatch);
  return "\n/* A plan holds what is made once of constants, for the variant that runs at these "
         "shapes; it may be\n"
         " * used at all shapes at which a variant runs that reads the same plan. It is the "
         "caller's memory,\n"
         " * aligned to TILEWRIGHT_WORKSPACE_ALIGNMENT, and holds no pointers. Stores its bytes "
         "(0: the variant\n"
         " * has none, and takes null), and the bytes of workspace of a run with it. Reads no "
         "data. */\n" +
         declaration(program, "_plan_query", "size_t *plan_size, size_t *workspace_size") +
         "\n/* Makes the plan. Reads constants alone: the data of other tensors may be null. After "
         "a failure it\n"
         " * is no plan. */\n" +
         declaration(program, "_plan", "void *plan, size_t plan_size") +
         "\n/* Runs with a plan, which is checked before anything is written and not changed: "
         "several threads\n"
         " * may use one." +
         (gone.empty()
              ? ""
              : " Not read but for the shape, so that the data may be null: " + gone + ".") +
         " */\n" +
         declaration(program, "_run",
                     "const void *plan, size_t plan_size, void *workspace, size_t workspace_size",
                     true);
}

std::string guard_text(const program::Variant& variant) {
  std::string text;
  for (ir::Expr condition : variant.guard)
    text += (text.empty() ? "" : ", ") + ir::print(condition);
  return text.empty() ? "every size" : text;
}

std::string plan_text(const program::Program& program, const program::Planned& planned) {
  return std::to_string(program::plan_head_bytes(program)) + " + " + ir::print(planned.bytes) +
         " bytes";
}

std::string contract_text(const program::Dispatch& dispatch, const TargetFacts& target,
                          const Origin& origin) {
  const program::Program& program = dispatch.interface;
  const program::Contract& contract = dispatch.contract;
  const std::string name(program.name.text());
  std::string text =
      "/* " + name + ": made by Tilewright " + origin.tool_version + ". Do not edit.\n *\n";
  auto line = [&](std::string words) {
    // The caller names the schedule and the verdict: neither may end the comment, or look like another.
    for (const auto& [mark, apart] : {std::pair{"*/", "* /"}, std::pair{"/*", "/ *"}})
      for (auto at = words.find(mark); at != std::string::npos; at = words.find(mark))
        words.replace(at, 2, apart);
    text += words.empty() ? " *\n" : " * " + words + "\n";
  };
  line("Algorithm " + std::string(program.algorithm.text()) + " (" + origin.algorithm_hash + "),");
  line("schedule " + origin.schedule_name + " (" + origin.schedule_hash + ").");
  line("Correctness: " + origin.verdict + ".");
  if (!dispatch.is_single()) {
    line("");
    line("Variants; the first whose guard holds runs, " + name + "_explain says which and why:");
    for (std::size_t i = 0; i < dispatch.variants.size(); ++i) {
      const program::Variant& variant = dispatch.variants[i];
      line("  " + variant.name + ": " + guard_text(variant) + "; workspace " +
           ir::print(variant.contract.workspace.total) + " bytes" +
           (variant.planned ? ", plan " + plan_text(program, *variant.planned) : ""));
    }
  }
  line("");
  line("Arguments, in order:");
  const std::vector<std::string> names = program::c_parameter_names(program);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const program::Parameter& parameter = program.parameters[i];
    const std::string own(parameter.name.text());
    line("  " + names[i] + ": " +
         (parameter.is_inout    ? "in and out "
          : parameter.is_output ? "output "
          : parameter.is_const  ? "constant input "
                                : "input ") +
         shape_text(parameter) + (own == names[i] ? "" : ", `" + own + "` of the algorithm"));
  }
  line("Extents, read from the shapes:");
  for (const ir::ExtentDecl& extent : program.extents)
    line("  " + describe_extent(program, contract, extent));
  if (program.extents.empty()) line("  none");
  for (ir::Expr condition : program.requirements) line("Requires " + ir::print(condition) + ".");
  line("");
  line("Layout: compact row-major, in host memory; strides are null or say the same.");
  for (const program::Parameter& parameter : program.parameters)
    if (ir::is_packed(parameter.type))
      line("  " + std::string(parameter.name.text()) + ": " +
           std::to_string(ir::elements_per_byte(parameter.type)) +
           " elements in a byte along the last axis, the first in the low bits; rows begin at a "
           "byte.");
  for (const program::Parameter& parameter : program.parameters)
    if (ir::is_complex(parameter.type))
      line("  " + std::string(parameter.name.text()) + ": a real and an imaginary part of " +
           std::to_string(ir::type_info(ir::part_type(parameter.type)).width) +
           " bits for each element (kDLComplex), aligned to one part.");
  line("Alignment: data of one element; nothing more is assumed.");
  line("Aliasing: no output shares bytes with another argument or the workspace.");
  line("Workspace: " + ir::print(contract.workspace.total) + " bytes, aligned to " +
       std::to_string(program::kWorkspaceAlignment) + "; `workers` is the executor's");
  line("  num_workers, or 1 without an executor. " + name + "_query computes it.");
  if (dispatch.is_single() && dispatch.has_plan())
    line("Plan: " + plan_text(program, *dispatch.variants[0].planned) + ".");
  line(
      "Threads: may be called from several threads at once, each call with outputs and a "
      "workspace");
  line(
      "  of its own. Parallel loops run on call->executor, or on the caller's thread without one.");
  line("Processor: " + target.needs + " (" + target.name + "); elsewhere the call");
  line("  returns TILEWRIGHT_UNSUPPORTED_CPU.");
  line("Returns TILEWRIGHT_OK, or a negative status after one of these checks, in this order, and");
  line("before anything is written:");
  for (const program::Check& check : contract.checks) line("  " + describe_check(program, check));
  return text + " */\n";
}

}  // namespace

std::string make_header(const program::Dispatch& dispatch, const TargetFacts& target,
                        const Origin& origin) {
  const program::Program& program = dispatch.interface;
  const std::string guard = "TILEWRIGHT_GENERATED_" + std::string(program.name.text()) + "_H_";
  std::string text = contract_text(dispatch, target, origin);
  text += "#ifndef " + guard + "\n#define " + guard + "\n\n#include <tilewright/runtime.h>\n\n";
  text += "#if defined(__cplusplus)\nextern \"C\" {\n#endif\n\n";
  text += declaration(program, "", "void *workspace, size_t workspace_size", true);
  text +=
      "\n/* Stores the bytes of workspace that a call with these shapes needs. Reads no data. */\n";
  text += declaration(program, "_query", "size_t *workspace_size");
  text +=
      "\n/* Writes lines of text: the sizes, the variant that a call runs and why, the workspace, "
      "and the\n"
      " * check that refuses the call, if one does. Returns the status of a call with these "
      "arguments\n"
      " * and a workspace that is large enough; values declared injective are not looked at. The "
      "text\n"
      " * is cut to fit text_size and terminated; *text_length, if not null, gets its whole "
      "length.\n"
      " * Writes no tensor, allocates nothing, prints nothing. */\n";
  text += declaration(program, "_explain", "char *text, size_t text_size, size_t *text_length");
  if (dispatch.has_plan()) text += plan_declarations(dispatch);
  text +=
      "\n#if defined(__cplusplus)\n} /* extern \"C\" */\n#endif\n\n#endif /* " + guard + " */\n";
  return text;
}

}  // namespace tilewright::artifact

// SPDX-License-Identifier: Apache-2.0
//
// The manifest: what was built from what, for whom, with which obligations, and what remains trusted.
#include "frontend/base/hash.h"
#include "frontend/base/json.h"
#include "frontend/ir/text.h"
#include "lowering/artifact/artifact.h"
#include "runtime/include/tilewright/runtime.h"

namespace tilewright::artifact {

namespace {

constexpr int kSchema = 1;

// An object, member by member: `Members().add("a", 1).add("b", 2).done()`.
class Members {
 public:
  Members& add(std::string_view name, Json value) {
    object_.set(name, std::move(value));
    return *this;
  }
  Json done() { return std::move(object_); }

 private:
  Json object_ = Json::object();
};

// What is declared of the values, and what makes it true.
Json facts_json(const ir::Facts& facts) {
  Json list = Json::array();
  auto add = [&](std::string fact, bool clamped) {
    list.push(Members()
                  .add("fact", std::move(fact))
                  .add("by", facts.assumed ? "assumed"
                             : clamped     ? "clamp"
                                           : "check at entry")
                  .done());
  };
  if (facts.lower)
    add("range " + ir::print(facts.lower) + " .. " + ir::print(facts.upper), facts.clamp);
  if (facts.monotone) add("monotone", false);
  if (facts.injective) add("injective", false);
  return list;
}

Json parameters_json(const program::Program& program) {
  Json list = Json::array();
  for (const program::Parameter& parameter : program.parameters) {
    Json shape = Json::array();
    for (ir::Expr extent : parameter.shape) shape.push(ir::print(extent));
    Members entry;
    entry.add("name", parameter.name.text())
        .add("kind", parameter.is_inout    ? "inout"
                     : parameter.is_output ? "output"
                                           : "input")
        .add("type", ir::type_text(parameter.type))
        .add("shape", std::move(shape));
    if (parameter.is_const) entry.add("const", true);
    if (parameter.facts.any()) entry.add("facts", facts_json(parameter.facts));
    if (ir::is_packed(parameter.type))
      entry.add("elements_per_byte", ir::elements_per_byte(parameter.type));
    list.push(entry.done());
  }
  return list;
}

Json extents_json(const program::Program& program, const program::Contract& contract) {
  Json list = Json::array();
  for (const ir::ExtentDecl& extent : program.extents) {
    Members entry;
    entry.add("name", extent.name.text()).add("min", extent.min);
    entry.add("max", extent.max ? Json(*extent.max) : Json())
        .add("multiple_of", extent.multiple_of);
    for (const program::ExtentBinding& binding : contract.bindings)
      if (binding.extent == extent.name)
        entry.add("from", Members()
                              .add("parameter", binding.parameter)
                              .add("dimension", binding.dimension)
                              .done());
    list.push(entry.done());
  }
  return list;
}

// What is made once, and what may change without making it again.
Json plan_json(const program::Program& program, const program::Planned& planned) {
  Json buffers = Json::array();
  for (const program::PlanBuffer& buffer : planned.buffers) {
    Json extents = Json::array();
    for (ir::Expr extent : buffer.extents) extents.push(ir::print(extent));
    buffers.push(Members()
                     .add("name", buffer.name.text())
                     .add("type", ir::type_text(buffer.type))
                     .add("extents", std::move(extents))
                     .add("offset", ir::print(buffer.offset))
                     .done());
  }
  Json sizes = Json::array();
  for (std::size_t e = 0; e < program.extents.size(); ++e)
    if (planned.depends_on[e]) sizes.push(program.extents[e].name.text());
  return Members()
      .add("head_bytes", program::plan_head_bytes(program))
      .add("bytes", ir::print(planned.bytes))
      .add("depends_on", std::move(sizes))
      .add("buffers", std::move(buffers))
      .done();
}

// The decision table: the first whose guard holds runs.
Json variants_json(const program::Dispatch& dispatch, const Origin& origin) {
  Json list = Json::array();
  for (std::size_t i = 0; i < dispatch.variants.size(); ++i) {
    const program::Variant& variant = dispatch.variants[i];
    Json guard = Json::array();
    for (ir::Expr condition : variant.guard) guard.push(ir::print(condition));
    Members entry;
    entry.add("name", variant.name).add("guard", std::move(guard));
    entry.add("workspace", ir::print(variant.contract.workspace.total));
    if (variant.planned) entry.add("plan", plan_json(dispatch.interface, *variant.planned));
    if (i < origin.variants.size()) {
      const VariantOrigin& own = origin.variants[i];
      entry.add("runs_for", own.sizes)
          .add("schedule_hash", own.schedule_hash)
          .add("verdict", own.verdict)
          .add("check", own.check)
          .add("proof", own.proof);
    }
    list.push(entry.done());
  }
  return list;
}

Json file_json(const std::string& name, const std::string& bytes) {
  return Members()
      .add("name", name)
      .add("bytes", static_cast<std::int64_t>(bytes.size()))
      .add("hash", content_hash(bytes))
      .done();
}

}  // namespace

std::string make_manifest(const program::Dispatch& dispatch, const TargetFacts& target,
                          const Origin& origin, const Artifact& files) {
  const program::Program& program = dispatch.interface;
  const program::Contract& contract = dispatch.contract;
  Json requirements = Json::array();
  for (ir::Expr condition : program.requirements) requirements.push(ir::print(condition));
  Json checks = Json::array();
  for (const program::Check& check : contract.checks) checks.push(describe_check(program, check));
  Json trusted = Json::array();
  for (const std::string& what : target.trusted) trusted.push(what);

  Members manifest;
  manifest.add("schema", kSchema)
      .add("abi", TILEWRIGHT_ABI_VERSION)
      .add("name", program.name.text());
  manifest.add("tilewright", origin.tool_version).add("llvm", llvm_wall::llvm_version());
  manifest.add(
      "algorithm",
      Members().add("name", program.algorithm.text()).add("hash", origin.algorithm_hash).done());
  manifest.add(
      "schedule",
      Members().add("name", origin.schedule_name).add("hash", origin.schedule_hash).done());
  manifest.add("variants", variants_json(dispatch, origin));
  Members words;
  words.add("name", target.name).add("needs", target.needs);
  for (const auto& [name, value] : target.details) words.add(name, value);
  manifest.add("target", words.done());
  manifest.add("parameters", parameters_json(program))
      .add("extents", extents_json(program, contract));
  manifest.add("requires", std::move(requirements));
  manifest.add("workspace", Members()
                                .add("bytes", ir::print(contract.workspace.total))
                                .add("workers", "num_workers of the executor, 1 without one")
                                .add("alignment", program::kWorkspaceAlignment)
                                .done());
  manifest.add("checks", std::move(checks))
      .add("verdict", origin.verdict)
      .add("check", origin.check)
      .add("proof", origin.proof);
  if (!origin.code.is_null()) manifest.add("code", origin.code);
  manifest.add("trusted", std::move(trusted));
  Members list;
  if (!files.library_name.empty())
    list.add("library", file_json(files.library_name, files.library));
  if (!files.source_name.empty()) list.add("source", file_json(files.source_name, files.source));
  list.add("header", file_json(files.header_name, files.header));
  manifest.add("files", list.done());
  return manifest.done().dump() + "\n";
}

}  // namespace tilewright::artifact

// SPDX-License-Identifier: Apache-2.0
//
// What the functions of one module share: attributes, strings, alias scopes.
#include <llvm/IR/Constants.h>

#include "lowering/llvm/emit_wall.h"
#include "lowering/program/places.h"

namespace tilewright::llvm_wall {

void ModuleState::refuse(Code code, std::string message, std::string remedy, Symbol about) {
  if (error) return;
  error = Diagnostic{
      code, program::place_of(program, about), std::move(message), std::move(remedy), {}};
  error->evidence.emplace_back("program", std::string(program.name.text()));
}

llvm::Constant* ModuleState::text(std::string_view value) {
  const std::string name =
      program.name.text().empty() ? "text" : std::string(program.name.text()) + ".text";
  for (llvm::GlobalVariable& global : module.globals()) {
    auto* data = llvm::dyn_cast<llvm::ConstantDataArray>(global.getInitializer());
    if (data && data->isCString() && data->getAsCString() == llvm::StringRef(value)) return &global;
  }
  auto* data = llvm::ConstantDataArray::getString(llvm, llvm::StringRef(value));
  auto* global = new llvm::GlobalVariable(module, data->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, data, name);
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return global;
}

llvm::Function* ModuleState::make_function(llvm::FunctionType* type, const std::string& name,
                                           bool exported) {
  auto* function = llvm::Function::Create(
      type, exported ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage,
      name, module);
  function->addFnAttr("target-cpu", target.cpu);
  std::string features;
  for (const std::string& feature : target.features)
    features += (features.empty() ? "+" : ",+") + feature;
  if (!features.empty()) function->addFnAttr("target-features", features);
  const std::string width = std::to_string(target.vector_bits);
  function->addFnAttr("min-legal-vector-width", width);
  function->addFnAttr("prefer-vector-width", width);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

namespace {

struct Region {
  Symbol buffer;
  bool in_workspace = false;
  std::vector<Symbol> around;  // workspace buffers that enclose it
};

void collect(program::Stmt stmt, std::vector<Symbol>& around, std::vector<Region>& regions) {
  if (const auto* alloc = stmt.as<program::Alloc>()) {
    const bool in_workspace = alloc->space == program::Space::Workspace;
    if (alloc->space != program::Space::Register)
      regions.push_back({alloc->buffer, in_workspace, around});
    if (in_workspace) around.push_back(alloc->buffer);
    collect(alloc->body, around, regions);
    if (in_workspace) around.pop_back();
    return;
  }
  if (const auto* block = stmt.as<program::Block>())
    for (program::Stmt child : block->body) collect(child, around, regions);
  if (const auto* loop = stmt.as<program::For>()) collect(loop->body, around, regions);
  if (const auto* let = stmt.as<program::Let>()) collect(let->body, around, regions);
  if (const auto* branch = stmt.as<program::If>()) {
    collect(branch->then_body, around, regions);
    if (branch->else_body) collect(branch->else_body, around, regions);
  }
}

bool encloses(const Region& outer, const Region& inner) {
  return std::find(inner.around.begin(), inner.around.end(), outer.buffer) != inner.around.end();
}

}  // namespace

// Buffers are disjoint, which the entry has checked for the caller's; except workspace buffers of which none
// encloses the other: those may lie in the same bytes at different times.
void ModuleState::build_alias_scopes() {
  std::vector<Region> regions;
  for (const program::Parameter& parameter : parts.parameters)
    regions.push_back({parameter.name, false, {}});
  std::vector<Symbol> around;
  collect(parts.body, around, regions);
  llvm::MDBuilder builder(llvm);
  llvm::MDNode* domain = builder.createAliasScopeDomain(llvm::StringRef(program.name.text()));
  std::vector<llvm::Metadata*> scopes;
  for (const Region& region : regions)
    scopes.push_back(builder.createAliasScope(llvm::StringRef(region.buffer.text()), domain));
  for (std::size_t i = 0; i < regions.size(); ++i) {
    std::vector<llvm::Metadata*> others;
    for (std::size_t j = 0; j < regions.size(); ++j) {
      const bool may_share = regions[i].in_workspace && regions[j].in_workspace &&
                             !encloses(regions[i], regions[j]) && !encloses(regions[j], regions[i]);
      if (i != j && !may_share) others.push_back(scopes[j]);
    }
    alias[regions[i].buffer] = {llvm::MDNode::get(llvm, {scopes[i]}),
                                llvm::MDNode::get(llvm, others)};
  }
}

}  // namespace tilewright::llvm_wall

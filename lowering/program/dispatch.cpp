// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/dispatch.h"

#include <algorithm>

#include "frontend/base/format.h"

namespace tilewright::program {

namespace {

// What a caller can see of a parameter.
bool same_parameter(const Parameter& a, const Parameter& b) {
  return a.name == b.name && a.type == b.type && a.shape == b.shape && a.is_output == b.is_output &&
         a.facts == b.facts;
}

bool same_extent(const ir::ExtentDecl& a, const ir::ExtentDecl& b) {
  return a.name == b.name && a.min == b.min && a.max == b.max && a.multiple_of == b.multiple_of;
}

bool same_interface(const Program& a, const Program& b) {
  return a.name == b.name &&
         std::equal(a.extents.begin(), a.extents.end(), b.extents.begin(), b.extents.end(),
                    same_extent) &&
         std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(),
                    b.parameters.end(), same_parameter);
}

// The chosen variant's bytes, as one expression for people.
Expr total_of(ir::Context& context, const std::vector<Variant>& variants) {
  Expr total = variants.back().contract.workspace.total;
  for (std::size_t i = variants.size() - 1; i-- > 0;) {
    const Expr own = variants[i].contract.workspace.total;
    if (own == total) continue;
    Expr guard = variants[i].guard.front();
    for (std::size_t g = 1; g < variants[i].guard.size(); ++g)
      guard = context.op(ir::OpCode::And, {guard, variants[i].guard[g]});
    total = context.select(guard, own, total);
  }
  return total;
}

}  // namespace

Result<Dispatch> single_dispatch(ir::Context& context, const Program& program, std::string name) {
  Dispatch out;
  TILEWRIGHT_TRY(contract, derive_contract(context, program));
  out.interface = program;
  out.contract = contract;
  out.variants.push_back({std::move(name), {}, program, std::move(contract)});
  return out;
}

Result<Dispatch> derive_dispatch(ir::Context& context, std::vector<Variant> variants) {
  if (variants.empty() || !variants.back().guard.empty())
    return fail(Code::ProgramInterface, {}, "no variant takes every size",
                "give a last variant without a guard");
  const Variant& last = variants.back();
  for (Variant& variant : variants) {
    if (&variant != &last && variant.guard.empty())
      return fail(Code::ProgramInterface, {},
                  "variant " + in_backticks(variant.name) + " has no guard and is not the last",
                  "put it last, or give it a guard");
    if (!same_interface(variant.program, last.program))
      return fail(Code::ProgramInterface, {},
                  "variants " + in_backticks(variant.name) + " and " + in_backticks(last.name) +
                      " take other arguments",
                  "build all variants from one algorithm");
    TILEWRIGHT_TRY(contract, derive_contract(context, variant.program));
    variant.contract = std::move(contract);
  }
  Dispatch out;
  out.interface = last.program;
  out.contract = last.contract;
  out.contract.workspace.total = total_of(context, variants);
  out.variants = std::move(variants);
  return out;
}

std::size_t choose(const Dispatch& dispatch, const ir::Bindings& sizes) {
  for (std::size_t i = 0; i + 1 < dispatch.variants.size(); ++i)
    if (std::all_of(dispatch.variants[i].guard.begin(), dispatch.variants[i].guard.end(),
                    [&](Expr condition) { return ir::evaluate_extents(condition, sizes) != 0; }))
      return i;
  return dispatch.variants.size() - 1;
}

const ir::Op* as_comparison(Expr condition) {
  const auto* op = condition.as<ir::Op>();
  if (!op || ir::op_info(op->op).rule != ir::TypeRule::Compare) return nullptr;
  return op->args[0].type() == ScalarType::Index ? op : nullptr;
}

}  // namespace tilewright::program

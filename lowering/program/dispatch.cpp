// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/dispatch.h"

#include <algorithm>

#include "frontend/base/format.h"

namespace tilewright::program {

namespace {

// What a caller can see of a parameter.
bool same_parameter(const Parameter& a, const Parameter& b) {
  return a.name == b.name && a.type == b.type && a.shape == b.shape && a.is_output == b.is_output &&
         a.facts == b.facts && a.is_inout == b.is_inout && a.is_const == b.is_const;
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

// The contract of a variant; a call without a plan has the plan's buffers before the rest of its workspace.
Result<Ok> derive(ir::Context& context, Variant& variant) {
  TILEWRIGHT_TRY(contract, derive_contract(context, variant.program));
  variant.contract = std::move(contract);
  if (!has_plan(variant.program)) return Ok{};
  if (const auto fault = find_plan_fault(variant.program))
    return fail(Code::PlanBuffer, {}, fault->message, fault->remedy);
  TILEWRIGHT_TRY(planned, split_plan(context, variant.program));
  Expr& run_total = planned.run_contract.workspace.total;
  variant.contract.workspace.total =
      with_checks_of_values(context, variant.contract, context.add(planned.bytes, run_total));
  run_total = with_checks_of_values(context, variant.contract, run_total);
  variant.planned = std::move(planned);
  return Ok{};
}

// After the checks of a call without a plan, which has none of these.
void add_plan_checks(Dispatch& dispatch) {
  const Program& program = dispatch.interface;
  auto& checks = dispatch.contract.checks;
  checks.push_back({CheckKind::PlanSize, -1, -1, -1, 0, {}, false});
  checks.push_back({CheckKind::PlanAlignment, -1, -1, -1, kWorkspaceAlignment, {}, false});
  for (int p = 0; p < static_cast<int>(program.parameters.size()); ++p)
    checks.push_back({CheckKind::PlanOverlap, p, -1, -1, 0, {}, false});
  checks.push_back({CheckKind::PlanOverlap, -1, -1, -1, 0, {}, false});
  checks.push_back({CheckKind::PlanMagic, -1, -1, -1, 0, {}, false});
  checks.push_back({CheckKind::PlanVariant, -1, -1, -1, 0, {}, false});
  for (int e = 0; e < static_cast<int>(program.extents.size()); ++e)
    if (std::any_of(dispatch.variants.begin(), dispatch.variants.end(), [&](const Variant& v) {
          return v.planned && v.planned->depends_on[static_cast<std::size_t>(e)];
        }))
      checks.push_back({CheckKind::PlanExtent, -1, -1, -1, e, {}, false});
}

}  // namespace

bool is_plan_check(CheckKind kind) { return kind >= CheckKind::PlanSize; }

bool Dispatch::has_plan() const {
  return std::any_of(variants.begin(), variants.end(),
                     [](const Variant& variant) { return variant.planned.has_value(); });
}

bool Dispatch::run_reads(const Parameter& parameter) const {
  if (!parameter.is_const) return true;
  return std::any_of(variants.begin(), variants.end(), [&](const Variant& variant) {
    return reads_tensor(variant.planned ? variant.planned->run : variant.program, parameter.name);
  });
}

Result<Dispatch> single_dispatch(ir::Context& context, const Program& program, std::string name) {
  Dispatch out;
  out.variants.push_back({std::move(name), {}, program});
  TILEWRIGHT_CHECK_OK(derive(context, out.variants.back()));
  out.interface = program;
  out.contract = out.variants.back().contract;
  if (out.has_plan()) add_plan_checks(out);
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
    TILEWRIGHT_CHECK_OK(derive(context, variant));
  }
  Dispatch out;
  out.interface = last.program;
  out.contract = last.contract;
  out.contract.workspace.total = total_of(context, variants);
  out.variants = std::move(variants);
  if (out.has_plan()) add_plan_checks(out);
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

// SPDX-License-Identifier: Apache-2.0
//
// Which variant runs, and its plan: what is made once of constants. Law: the head of a plan is written last.
#include <algorithm>

#include "frontend/ir/walk.h"
#include "lowering/targets/c/entry.h"

namespace tilewright::c_target {

using program::Check;
using program::CheckKind;

void Entry::declare_workers() {
  bool used = false;
  ir::walk(contract_.workspace.total, [&](Expr e) {
    const auto* var = e.as<ir::Var>();
    used |= var != nullptr && var->name == contract_.workspace.workers;
  });
  if (used)
    lines_.add("const int64_t " + names_.of(contract_.workspace.workers) +
               " = call->executor == NULL ? 1 : call->executor->num_workers;");
}

// Which guards hold, and the bytes that the first variant whose guard does needs.
void Entry::choose() {
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
    const bool with_plan = variant.planned && program::takes_plan(kind_);
    const Expr total =
        (with_plan ? variant.planned->run_contract : variant.contract).workspace.total;
    lines_.add("needed = " + body_.checked_value(total, "overflow") + ";");
  });
  if (kind_ == EntryKind::Plan || kind_ == EntryKind::RunPlanned) {
    lines_.add("(void)needed;");
    lines_.add("(void)overflow;");
  }
  const bool of_plan = kind_ == EntryKind::Table || program::takes_plan(kind_);
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

// Code for the variant that runs.
void Entry::for_chosen(const std::function<void(const program::Variant&)>& f) {
  const std::size_t n = dispatch_.variants.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (i + 1 < n) lines_.open("if (" + hold(i) + ") {");
    f(dispatch_.variants[i]);
    if (i + 1 < n) lines_.turn();
  }
  for (std::size_t i = 1; i < n; ++i) lines_.close();
}

// Of a variant without a plan nothing is asked.
void Entry::check_plan(const Check& c) {
  choose();
  const std::string words = "((const uint64_t *)plan)";
  switch (c.kind) {
    case CheckKind::PlanSize:
      refuse_if("plan_overflow", c, "0", "0", "TILEWRIGHT_OUT_OF_BOUNDS");
      return refuse_if("plan_needed != 0 && (plan == NULL || plan_size < (uint64_t)plan_needed)", c,
                       "plan_needed", "(int64_t)plan_size");
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

// The call with what the marks stand for. `buffers`: where those of the plan begin.
std::string Entry::call_text(std::string call, const std::string& workspace,
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
std::string Entry::plain_value(Expr expr) {
  const std::string text = body_.checked_value(expr, "rest");
  return text == "0" ? text : "(" + text + ")";
}

void Entry::run_variant(std::size_t i) {
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
    // The kernel reads it alone, if at all: of a variant for no cells nothing of the plan is left.
    const std::string call = call_text(kernels.run, memory, &planned, "buffers");
    if (call.find("buffers") != std::string::npos)
      lines_.add("unsigned char *const buffers = (unsigned char *)(uintptr_t)plan + " + head + ";");
    return lines_.add("return " + call + ";");
  }
  lines_.add("unsigned char *const buffers = " + memory + ";");
  leave_unless(call_text(kernels.plan, "buffers", &planned, "buffers"));
  lines_.add(
      "return " +
      call_text(kernels.run, "buffers + " + plain_value(planned.bytes), &planned, "buffers") + ";");
}

// The head is written last: what was cancelled is no plan.
void Entry::make_plan(const program::Planned& planned, const KernelCalls& kernels) {
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
    put_word(
        program::kPlanExtents + static_cast<int>(e),
        planned.depends_on[e] ? "(uint64_t)" + names_.of(program_.extents[e].name) : "UINT64_MAX");
  put_word(0, word(program::kPlanMagic));
  lines_.add("return TILEWRIGHT_OK;");
}

void Entry::run_chosen() {
  if (!has_workspace() && kind_ != EntryKind::Plan) {
    lines_.add("(void)workspace;");
    lines_.add("(void)workspace_size;");
  }
  if (dispatch_.variants.size() > 1 || dispatch_.has_plan()) choose();
  // Of the calls that this entry makes; the buffers of a plan in the workspace are asked for below.
  const auto uses_workspace = [&](const KernelCalls& calls) {
    const std::string parts = kind_ == EntryKind::Plan         ? calls.plan
                              : kind_ == EntryKind::RunPlanned ? calls.whole + calls.run
                                                               : calls.whole;
    return parts.find("$workspace") != std::string::npos;
  };
  const bool buffers = dispatch_.has_plan() && kind_ == EntryKind::Run;
  if (buffers || std::any_of(kernels_.begin(), kernels_.end(), uses_workspace))
    lines_.add("_Alignas(64) unsigned char none[64];  /* what an empty workspace points to */");
  if (kernels_.size() == 1 && !dispatch_.has_plan()) return run_variant(0);
  std::size_t i = 0;
  for_chosen([&](const program::Variant&) { run_variant(i++); });
}

}  // namespace tilewright::c_target

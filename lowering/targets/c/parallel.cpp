// SPDX-License-Identifier: Apache-2.0
//
// Parallel loops: the body becomes a function of its own, which the caller's executor runs in pieces, or this
// thread when there is none. What it needs from outside travels in a structure on the caller's stack.
#include <algorithm>

#include "lowering/targets/c/emit.h"

namespace tilewright::c_target {

namespace {
constexpr int kAbovePrimary = 100;  // a value in brackets
}  // namespace

void Body::emit_parallel(const program::For& loop) {
  const Expr roots[] = {loop.lower, loop.upper};
  begin_statement(roots);
  const std::string lower = value(loop.lower);
  const std::string upper = value(loop.upper);
  const std::string name = names_.fresh(names_.function() + "_parallel");
  const std::string run = names_.fresh(name + "_run");
  const std::string var = names_.of(loop.var);

  Lines inside;
  inside.set_depth(1);
  Body body(state_, program_, contract_, names_);
  body.scalars_ = scalars_;
  body.buffers_ = buffers_;
  body.in_task_ = true;
  body.write_to(inside);
  inside.open("for (int64_t " + var + " = begin; " + var + " < end; ++" + var + ") {");
  inside.add("if (" + helper("tw_cancelled") + "(call)) return TILEWRIGHT_CANCELLED;");
  body.bind(loop.var, ScalarType::Index);
  body.emit(loop.body);
  inside.close();

  // What the body uses of what is in scope here, in a fixed order.
  struct Member {
    std::string type, name;
  };
  std::vector<Member> members;
  for (const auto& [symbol, type] : scalars_)
    if (const auto form = type_form(type))
      members.push_back({std::string(form->value) + " ", names_.of(symbol)});
  for (const auto& [symbol, buffer] : buffers_)
    members.push_back({(buffer.writable ? "" : "const ") + buffer.element + " *", buffer.base});
  std::erase_if(members, [&](const Member& member) { return !body.uses(member.name); });
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.name < b.name; });
  const auto last = std::unique(members.begin(), members.end(),
                                [](const Member& a, const Member& b) { return a.name == b.name; });
  members.erase(last, members.end());

  std::string values = "call";
  std::string task = "\n/* What the iterations of `" + var + "` share. */\nstruct " + name +
                     " {\n  const tilewright_call *call;\n";
  std::string opening = "  const struct " + name + " *const shared = closure;\n" +
                        "  const tilewright_call *const call = shared->call;\n";
  const auto& plan = contract_.workspace;
  const auto slice = plan.slice_size.find(loop.var);
  const bool has_slice = slice != plan.slice_size.end() && body.uses("workspace");
  if (has_slice) {
    task +=
        "  unsigned char *workspace;  /* of all workers */\n  int64_t slice;  /* bytes of one */\n";
    opening += "  unsigned char *const workspace = shared->workspace + worker * shared->slice;\n";
    const Expr sizes[] = {plan.slice_begin.at(loop.var), slice->second};
    begin_statement(sizes);
    use("workspace");
    const bool at_start = sizes[0] == state_.context->index(0);
    values += at_start ? ", workspace" : ", workspace + " + value(sizes[0], kAbovePrimary);
    values += ", " + value(sizes[1]);
  }
  for (const Member& member : members) {
    const bool is_pointer = member.type.back() == '*';
    task += "  " + member.type + member.name + ";\n";
    opening += "  " + (is_pointer ? member.type + "const " : "const " + member.type) + member.name +
               " = shared->" + member.name + ";\n";
    values += ", " + member.name;
    use(member.name);
  }
  use("call");
  task += "};\n\nstatic int32_t " + run +
          "(void *closure, int32_t worker, int64_t begin, int64_t end) {\n" + opening +
          (has_slice ? "" : "  (void)worker;\n") + inside.text() + "  return TILEWRIGHT_OK;\n}\n";
  tasks_ += body.tasks() + task;

  lines().open("{");
  lines().add("struct " + name + " shared = {" + values + "};");
  lines().add("const int64_t first = " + lower + ", end = " + upper + ";");
  lines().add("const tilewright_executor *const executor = call->executor;");
  lines().add("int32_t status;");
  lines().add("if (executor == NULL)");
  lines().add("  status = " + run + "(&shared, 0, first, end);");
  lines().add("else");
  lines().add("  status = executor->parallel_for(executor, call, first, end, 1, " + run +
              ", &shared);");
  lines().add("if (status < 0)");
  lines().add(
      "  return " + helper("tw_fail") + "(call, \"" + std::string(program_.name.text()) +
      "\", status, -1, -1, 0, 0, \"a parallel loop was cancelled, or its executor failed\");");
  lines().close();
}

}  // namespace tilewright::c_target

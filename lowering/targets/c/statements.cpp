// SPDX-License-Identifier: Apache-2.0
//
// Statements. Laws: they run in order, loops ascend, a bound is computed once; a comment behind each store
// says what it is for the algorithm.
#include <algorithm>

#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "lowering/targets/c/emit.h"

namespace tilewright::c_target {

namespace {

// Compilers accept 127 nested blocks at the least, and clang 256 nested brackets.
constexpr int kDeepestBlock = 100;

[[maybe_unused]] std::string_view kind_name(program::StmtKind kind) {
  switch (kind) {
#define TILEWRIGHT_STMT(name) \
  case program::StmtKind::name: return #name;
#include "lowering/program/stmt_kinds.def"
#undef TILEWRIGHT_STMT
  }
  __builtin_unreachable();
}

// "fold c(i, j, k)", so that it cannot end a comment: a name has neither `*` nor `/`, a point may.
std::string provenance(const program::Store& store) {
  std::string text =
      std::string(program::origin_role_text(store.role)) + " " + std::string(store.origin.text());
  text += "(";
  for (std::size_t i = 0; i < store.point.size(); ++i)
    text += (i == 0 ? "" : ", ") + ir::print(store.point[i]);
  for (const auto& [mark, apart] : {std::pair{"*/", "* /"}, std::pair{"/*", "/ *"}})
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
      text.replace(at, 2, apart);
  return text + ")";
}

}  // namespace

void Body::emit(program::Stmt stmt, bool is_last) {
  if (state_.error) return;
  if (out_->depth() > kDeepestBlock)
    return refuse("the program nests " + std::to_string(kDeepestBlock) +
                      " blocks deep, and more than C compilers accept",
                  "build for another target, or nest fewer loops");
  program::visit(stmt,
                 ir::Overloaded{[&](const program::Block& s) { emit_block(s); },
                                [&](const program::For& s) { emit_loop(s); },
                                [&](const program::If& s) { emit_if(s); },
                                [&](const program::Let& s) { emit_let(s, is_last); },
                                [&](const program::Alloc& s) { emit_alloc(s, is_last); },
                                [&](const program::Store& s) { emit_store(s); },
                                // C has no word for it, and it changes nothing.
                                [&](const program::Prefetch& s) {
                                  lines().add("/* " + program::headline(program::Stmt(&s)) + " */");
                                },
                                [&](const auto& other) {
                                  const auto kind = std::remove_cvref_t<decltype(other)>::kKind;
                                  refuse("the C target has no code for the statement `" +
                                             std::string(kind_name(kind)) + "`",
                                         "build for a target that has what the schedule asks for");
                                }});
  memo_.clear();
}

void Body::emit_block(const program::Block& block) {
  for (std::size_t i = 0; i < block.body.size(); ++i)
    emit(block.body[i], i + 1 == block.body.size());
}

void Body::emit_loop(const program::For& loop) {
  switch (loop.loop) {
    case program::LoopKind::Vector: return emit_vector(loop);
    case program::LoopKind::Unrolled: return emit_plain_loop(loop, "  /* unrolled */");
    case program::LoopKind::Parallel:
      if (!in_task_) return emit_parallel(loop);
      return emit_plain_loop(loop, "  /* parallel, inside another */");
    case program::LoopKind::Serial: return emit_plain_loop(loop, "");
  }
}

// What a loop compares with again and again must not change: reads are done once, before it.
std::string Body::stable(Expr expr, const std::string& wish) {
  std::string text = value(expr, 0);
  if (ir::reads(expr).empty()) return text;
  const std::string name = names_.fresh(wish);
  lines().add("const int64_t " + name + " = " + text + ";");
  return name;
}

void Body::emit_plain_loop(const program::For& loop, const std::string& remark) {
  const Expr roots[] = {loop.lower, loop.upper};
  begin_statement(roots);
  const std::string lower = stable(loop.lower, "first");
  const std::string upper = stable(loop.upper, "end");
  const std::string var = names_.of(loop.var);
  lines().open("for (int64_t " + var + " = " + lower + "; " + var + " < " + upper + "; ++" + var +
               ") {" + remark);
  bind(loop.var, ScalarType::Index);
  emit(loop.body);
  scalars_.erase(loop.var);
  lines().close();
}

void Body::emit_if(const program::If& branch) {
  const Expr roots[] = {branch.condition};
  begin_statement(roots);
  lines().open("if (" + value(branch.condition) + ") {");
  emit(branch.then_body);
  if (branch.else_body) {
    lines().turn();
    emit(branch.else_body);
  }
  lines().close();
}

void Body::emit_let(const program::Let& let, bool is_last) {
  if (!is_last) lines().open("{");
  const Expr roots[] = {let.value};
  begin_statement(roots);
  const auto form = type_form(let.value.type());
  const std::string text = value(let.value);
  lines().add("const " + std::string(form ? form->value : "int") + " " + names_.of(let.var) +
              " = " + text + ";");
  bind(let.var, let.value.type());
  emit(let.body);
  if (!uses(names_.of(let.var))) lines().add("(void)" + names_.of(let.var) + ";");
  scalars_.erase(let.var);
  if (!is_last) lines().close();
}

// The cells of a buffer in the function's frame, or its place in the workspace.
void Body::declare_buffer(const program::Alloc& alloc, int private_lanes) {
  Buffer buffer;
  buffer.type = alloc.type;
  buffer.extents.assign(alloc.extents.begin(), alloc.extents.end());
  buffer.base = names_.of(alloc.buffer);
  buffer.private_lanes = private_lanes;
  const bool in_workspace = alloc.space == program::Space::Workspace;
  const auto form = type_form(alloc.type);
  if (!form) {
    suffix(alloc.type);  // refuses
    return;
  }
  buffer.element = in_workspace ? form->workspace : form->storage;
  if (!in_workspace && alloc.space != program::Space::Stack &&
      alloc.space != program::Space::Register)
    return refuse(
        "the C target has no memory `" + std::string(program::space_text(alloc.space)) + "`",
        "build for a target that has what the schedule asks for");
  begin_statement(alloc.extents);
  if (in_workspace) {
    const Expr offset = contract_.workspace.offset.at(alloc.buffer);
    const Expr roots[] = {offset};
    begin_statement(roots);
    const std::string at = value(offset, 0);
    used_.insert("workspace");
    lines().add(buffer.element + " *const " + buffer.base + " = (" + buffer.element +
                " *)(void *)" + (at == "0" ? "workspace;" : "(workspace + (" + at + "));"));
  } else {
    constexpr std::int64_t kMostCells = std::int64_t{1} << 20;
    std::int64_t cells = private_lanes;
    bool fits = true;
    for (Expr extent : alloc.extents) {
      const auto* c = extent.as<ir::IntConst>();
      fits = fits && c != nullptr && c->value >= 0 && cells * c->value <= kMostCells;
      if (fits) cells *= c->value;
    }
    if (!fits)
      return refuse(
          "stack buffer `" + std::string(alloc.buffer.text()) + "` is not of a small constant size",
          "keep it in workspace");
    const char* remark = alloc.space == program::Space::Register ? "  /* in registers */" : "";
    lines().add(buffer.element + " " + buffer.base + "[" +
                std::to_string(std::max<std::int64_t>(cells, 1)) + "];" + remark);
  }
  bind_buffer(alloc.buffer, std::move(buffer));
}

void Body::emit_alloc(const program::Alloc& alloc, bool is_last) {
  if (!is_last) lines().open("{");
  declare_buffer(alloc, 1);
  emit(alloc.body);
  const std::string name = names_.of(alloc.buffer);
  if (!uses(name)) lines().add("(void)" + name + ";");
  buffers_.erase(alloc.buffer);
  if (!is_last) lines().close();
}

void Body::emit_store(const program::Store& store) {
  const auto it = buffers_.find(store.buffer);
  if (it == buffers_.end())
    return refuse("buffer `" + std::string(store.buffer.text()) + "` is not in scope",
                  "this is a defect of Tilewright: please report it with the program");
  std::vector<Expr> roots(store.indices.begin(), store.indices.end());
  roots.push_back(store.value);
  begin_statement(roots);
  const Buffer& buffer = it->second;
  used_.insert(buffer.base);
  const std::string stored = to_memory(value(store.value), buffer.type);
  const std::string line = buffer.packed ? helper("tw_set_nibble") + "(" + buffer.base + ", " +
                                               place(buffer, store.indices) + ", " + stored + ");"
                                         : cell(buffer, store.indices) + " = " + stored + ";";
  // Behind the store where there is room, else before it.
  constexpr std::size_t kRoom = 100;
  const std::string remark = "/* " + provenance(store) + " */";
  if (line.size() + remark.size() + static_cast<std::size_t>(2 * lines().depth()) + 2 <= kRoom)
    return lines().add(line + "  " + remark);
  lines().add(remark);
  lines().add(line);
}

}  // namespace tilewright::c_target

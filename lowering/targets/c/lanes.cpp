// SPDX-License-Identifier: Apache-2.0
//
// Vector loops. Lanes run each statement together before the next; where no lane can see what another one
// wrote, that is a plain loop around the whole body. Else each statement gets a loop over the lanes of its
// own, which opens with what stands between it and the vector loop: the lets of the lane, and its guards as
// `continue`. What such a let or guard reads from memory is kept for each lane when it is reached, because a
// later statement may change it. Law: a lane that is off touches no memory.
#include <algorithm>

#include "frontend/ir/simplify.h"
#include "frontend/ir/walk.h"
#include "lowering/targets/c/emit.h"

namespace tilewright::c_target {

struct Body::Lanes {
  std::string var;
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  std::vector<std::string> opening;  // lines at the start of each loop over the lanes
  std::unordered_set<Symbol> varying;  // variables and private buffers
};

namespace {

// Decides whether the lanes of a vector loop may run one after the other.
class Independence {
 public:
  Independence(ir::Context& context, const program::For& vector)
      : context_(context), vector_(vector) {
    inside_.insert(vector.var);
    visit(vector.body, false);
  }

  bool holds() const {
    // Lanes do not meet within one statement; the lets and guards around it are statements of their own.
    const bool apart = std::none_of(written_.begin(), written_.end(),
                                    [&](Symbol buffer) { return read_before_.contains(buffer); });
    if (stores_ <= 1 && loops_ == 0 && apart) return true;
    return std::all_of(written_.begin(), written_.end(), [&](Symbol buffer) {
      return private_.contains(buffer) || lanes_keep_to_their_cell(buffer);
    });
  }

 private:
  void visit(program::Stmt stmt, bool in_loop) {
    if (const auto* block = stmt.as<program::Block>()) {
      for (program::Stmt child : block->body) visit(child, in_loop);
    } else if (const auto* loop = stmt.as<program::For>()) {
      ++loops_;
      inside_.insert(loop->var);
      add_reads_before(loop->lower);
      add_reads_before(loop->upper);
      visit(loop->body, true);
    } else if (const auto* branch = stmt.as<program::If>()) {
      add_reads_before(branch->condition);
      visit(branch->then_body, in_loop);
      if (branch->else_body) visit(branch->else_body, in_loop);
    } else if (const auto* let = stmt.as<program::Let>()) {
      add_reads_before(let->value);
      inside_.insert(let->var);
      if (let->value.type() == ScalarType::Index)
        lets_[let->var] = ir::substitute(context_, let->value, lets_);
      visit(let->body, in_loop);
    } else if (const auto* alloc = stmt.as<program::Alloc>()) {
      private_.insert(alloc->buffer);
      visit(alloc->body, in_loop);
    } else if (const auto* store = stmt.as<program::Store>()) {
      ++stores_;
      add_reads(store->value);
      for (Expr index : store->indices) add_reads(index);
      written_.insert(store->buffer);
      accesses_[store->buffer].emplace_back(store->indices.begin(), store->indices.end());
    }
  }

  void add_reads_before(Expr expr) {
    add_reads(expr);
    for (const ir::Read* read : ir::reads(expr)) read_before_.insert(read->tensor);
  }

  void add_reads(Expr expr) {
    for (const ir::Read* read : ir::reads(expr))
      accesses_[read->tensor].emplace_back(read->indices.begin(), read->indices.end());
  }

  // All accesses to the buffer are to one cell for each lane, and to another one for another lane.
  bool lanes_keep_to_their_cell(Symbol buffer) const {
    const auto& accesses = accesses_.at(buffer);
    for (const auto& access : accesses)
      if (access != accesses[0]) return false;
    bool apart = false;
    for (Expr index : accesses[0]) {
      const Expr whole = ir::substitute(context_, index, lets_);
      if (!ir::reads(whole).empty()) return false;
      bool by_lane = false;
      for (Symbol name : ir::free_vars(whole)) {
        if (name == vector_.var) by_lane = true;
        if (name != vector_.var && inside_.contains(name)) return false;
      }
      if (by_lane) apart = apart || steps_by_lane(whole);
    }
    return apart;
  }

  bool steps_by_lane(Expr index) const {
    const auto form = ir::linear_form(index);
    if (!form) return false;
    bool steps = false;
    for (const auto& [atom, coefficient] : form->terms) {
      const auto* var = atom.as<ir::Var>();
      if (var != nullptr && var->name == vector_.var) {
        steps = coefficient != 0;
        continue;
      }
      const auto names = ir::free_vars(atom);
      if (std::find(names.begin(), names.end(), vector_.var) != names.end()) return false;
    }
    return steps;
  }

  ir::Context& context_;
  const program::For& vector_;
  std::unordered_set<Symbol> inside_;  // bound by the vector loop and in its body
  std::unordered_set<Symbol> private_;
  std::unordered_set<Symbol> written_;
  std::unordered_set<Symbol> read_before_;  // by lets, guards and bounds
  std::unordered_map<Symbol, std::vector<std::vector<Expr>>> accesses_;
  ir::Substitution lets_;
  int stores_ = 0;
  int loops_ = 0;
};

}  // namespace

void Body::emit_vector(const program::For& loop) {
  const auto* lower = loop.lower.as<ir::IntConst>();
  const auto* upper = loop.upper.as<ir::IntConst>();
  if (lower == nullptr || upper == nullptr)
    return refuse("vector loop `" + std::string(loop.var.text()) + "` has no constant bounds",
                  "split it by a constant first");
  const std::string remark = "  /* vector */";
  if (Independence(*state_.context, loop).holds()) return emit_plain_loop(loop, remark);
  if (upper->value <= lower->value) return;
  Lanes lanes;
  lanes.var = names_.of(loop.var);
  lanes.lower = lower->value;
  lanes.upper = upper->value;
  lanes.varying.insert(loop.var);
  lines().add("/* vector: the " + std::to_string(lanes.upper - lanes.lower) + " lanes of `" +
              lanes.var + "`, one statement after the other */");
  bind(loop.var, ScalarType::Index);
  lanes_ = &lanes;
  emit_lanes(loop.body);
  lanes_ = nullptr;
  scalars_.erase(loop.var);
}

std::string Body::lane_number() const {
  return lanes_->lower == 0 ? lanes_->var
                            : "(" + lanes_->var + " - " + std::to_string(lanes_->lower) + ")";
}

bool Body::varies(Expr expr) const {
  bool result = false;
  ir::walk(expr, [&](Expr e) {
    if (const auto* var = e.as<ir::Var>()) result |= lanes_->varying.contains(var->name);
    if (const auto* read = e.as<ir::Read>()) result |= lanes_->varying.contains(read->tensor);
  });
  return result;
}

void Body::open_lanes() {
  lines().open("for (int64_t " + lanes_->var + " = " + std::to_string(lanes_->lower) + "; " +
               lanes_->var + " < " + std::to_string(lanes_->upper) + "; ++" + lanes_->var + ") {");
  for (const std::string& line : lanes_->opening) lines().add(line);
}

void Body::close_lanes() { lines().close(); }

// How a lane says the value: written out, or kept in an array where memory has a part in it or it is long.
std::string Body::keep_for_lanes(Expr expr, const std::string& wish) {
  constexpr std::size_t kLongText = 200;
  if (ir::reads(expr).empty()) {
    // The text goes into the opening of several loops, where no name of another statement stands.
    begin_statement({});
    Lines before;
    Lines* outer = std::exchange(out_, &before);
    std::string text = value(expr);
    out_ = outer;
    memo_.clear();
    if (before.empty() && text.size() < kLongText) return text;
  }
  const Expr roots[] = {expr};
  begin_statement(roots);
  const auto form = type_form(expr.type());
  const std::string type(form ? form->value : "int");
  const std::string name = names_.fresh(wish);
  lines().add(type + " " + name + "[" + std::to_string(lanes_->upper - lanes_->lower) + "];");
  open_lanes();
  const std::string text = value(expr);
  lines().add(name + "[" + lane_number() + "] = " + text + ";");
  close_lanes();
  memo_.clear();
  return name + "[" + lane_number() + "]";
}

void Body::emit_lanes(program::Stmt stmt) {
  if (state_.error) return;
  program::visit(stmt, ir::Overloaded{[&](const program::Block& s) {
                                        for (program::Stmt child : s.body) emit_lanes(child);
                                      },
                                      [&](const program::For& s) { lanes_loop(s); },
                                      [&](const program::If& s) { lanes_if(s); },
                                      [&](const program::Let& s) { lanes_let(s); },
                                      [&](const program::Alloc& s) {
                                        lanes_->varying.insert(s.buffer);
                                        lines().open("{");
                                        declare_buffer(
                                            s, static_cast<int>(lanes_->upper - lanes_->lower));
                                        emit_lanes(s.body);
                                        buffers_.erase(s.buffer);
                                        lines().close();
                                      },
                                      [&](const auto&) {
                                        open_lanes();
                                        emit(stmt);
                                        close_lanes();
                                      }});
}

void Body::lanes_let(const program::Let& let) {
  const auto form = type_form(let.value.type());
  const std::string text = keep_for_lanes(let.value, names_.of(let.var) + "_of");
  lanes_->varying.insert(let.var);
  lanes_->opening.push_back("const " + std::string(form ? form->value : "int") + " " +
                            names_.of(let.var) + " = " + text + ";");
  bind(let.var, let.value.type());
  emit_lanes(let.body);
  scalars_.erase(let.var);
  lanes_->opening.pop_back();
}

// A condition that reads may do so only in lanes that are on, even where it is the same in all of them.
void Body::lanes_if(const program::If& branch) {
  if (!varies(branch.condition) && ir::reads(branch.condition).empty()) {
    const Expr roots[] = {branch.condition};
    begin_statement(roots);
    lines().open("if (" + value(branch.condition) + ") {");
    emit_lanes(branch.then_body);
    if (branch.else_body) {
      lines().turn();
      emit_lanes(branch.else_body);
    }
    lines().close();
    return;
  }
  const std::string on = keep_for_lanes(branch.condition, "on");
  lanes_->opening.push_back("if (!(" + on + ")) continue;");
  emit_lanes(branch.then_body);
  lanes_->opening.pop_back();
  if (!branch.else_body) return;
  lanes_->opening.push_back("if (" + on + ") continue;");
  emit_lanes(branch.else_body);
  lanes_->opening.pop_back();
}

// Bounds that differ between lanes: every lane counts from its own lower bound, and is on while below its
// upper one.
void Body::lanes_loop(const program::For& loop) {
  const std::string var = names_.of(loop.var);
  const bool reads = !ir::reads(loop.lower).empty() || !ir::reads(loop.upper).empty();
  if (!reads && !varies(loop.lower) && !varies(loop.upper)) {
    const Expr roots[] = {loop.lower, loop.upper};
    begin_statement(roots);
    const std::string lower = value(loop.lower);
    const std::string upper = value(loop.upper, 0);
    lines().open("for (int64_t " + var + " = " + lower + "; " + var + " < " + upper + "; ++" + var +
                 ") {");
    bind(loop.var, ScalarType::Index);
    emit_lanes(loop.body);
    scalars_.erase(loop.var);
    lines().close();
    return;
  }
  const std::string first = keep_for_lanes(loop.lower, "first");
  const std::string end = keep_for_lanes(loop.upper, "end");
  const std::string longest = names_.fresh("longest");
  const std::string step = names_.fresh("step");
  lines().add("int64_t " + longest + " = 0;");
  open_lanes();
  lines().add("if ((" + end + ") - (" + first + ") > " + longest + ") " + longest + " = (" + end +
              ") - (" + first + ");");
  close_lanes();
  lines().open("for (int64_t " + step + " = 0; " + step + " < " + longest + "; ++" + step + ") {");
  lanes_->varying.insert(loop.var);
  lanes_->opening.push_back("const int64_t " + var + " = (" + first + ") + " + step + ";");
  lanes_->opening.push_back("if (" + var + " >= (" + end + ")) continue;");
  bind(loop.var, ScalarType::Index);
  emit_lanes(loop.body);
  scalars_.erase(loop.var);
  lanes_->opening.pop_back();
  lanes_->opening.pop_back();
  lines().close();
}

}  // namespace tilewright::c_target

// SPDX-License-Identifier: Apache-2.0
#include "apps/check/statements.h"

#include <algorithm>

namespace tilewright::checker {

namespace {

constexpr std::size_t kMaxStatements = 100000;

bool reads_memory(Ref e) {
  return e->kind == Kind::Read || std::any_of(e->args.begin(), e->args.end(), reads_memory);
}

}  // namespace

Statements::Statements(Arena& arena, Name text, const Program& program, std::size_t limit)
    : arena_(arena), text_(text), program_(program), lines_{0} {
  for (std::uint32_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') lines_.push_back(i + 1);
  for (const Tensor& p : program.parameters)
    buffers_[p.name] = {p.type, p.shape, nullptr, true, p.is_output, false};
  int position = 0;
  walk(program.body, nullptr, position);
  std::set<Name> constant;
  for (const auto& [name, buffer] : buffers_)
    if (!buffer.is_written) constant.insert(name);
  affine_ = std::make_unique<Affine>(std::move(constant), limit);
}

int Statements::line(std::uint32_t at) const {
  return static_cast<int>(std::upper_bound(lines_.begin(), lines_.end(), at) - lines_.begin());
}

void Statements::refuse(const Stmt& stmt, const std::string& what) const {
  const int line = this->line(stmt.at);
  throw Refused(what, line,
                static_cast<int>(stmt.at - lines_[static_cast<std::size_t>(line) - 1]) + 1);
}

const Around* Statements::under(Around made) { return &arounds_.emplace_back(made); }

void Statements::walk(const std::vector<Stmt>& body, const Around* around, int& position) {
  for (const Stmt& stmt : body) walk(stmt, around, position);
}

void Statements::walk(const Stmt& stmt, const Around* around, int& position) {
  switch (stmt.kind) {
    case StmtKind::For: {
      const Ref lower = settle(stmt.value, stmt, around, position);
      const Ref upper = settle(stmt.upper, stmt, around, position);
      // Lanes do each statement together, so they are no level of time: they come last.
      const bool is_lane = stmt.word == "vector";
      Around made{Around::Kind::Loop, &stmt, lower, upper, position, around};
      int first = 0;
      if (!is_lane) ++position;
      return walk(stmt.body, under(made), is_lane ? position : first);
    }
    case StmtKind::If: return branch(stmt, around, position);
    case StmtKind::Let: return let(stmt, around, position);
    case StmtKind::Ring: {
      const Ref use = settle(stmt.value, stmt, around, position);
      return walk(stmt.body, under({Around::Kind::Ring, &stmt, use, nullptr, 0, around}), position);
    }
    case StmtKind::Alloc:
      if (std::any_of(stmt.indices.begin(), stmt.indices.end(), reads_memory))
        refuse(stmt, "a buffer whose size is data is not followed yet");
      buffers_[stmt.name] = {stmt.type, stmt.indices, around, false, false, false};
      return walk(stmt.body, around, position);
    case StmtKind::Store: {
      Statement made;
      made.at = stmt.at;
      made.target = stmt.name;
      made.indices = stmt.indices;
      made.value = stmt.value;
      buffers_.at(stmt.name).is_written = true;
      return emit(std::move(made), around, position);
    }
    case StmtKind::Prefetch: return;  // no access
    default: {
      const Name word = text_.substr(stmt.at, text_.find_first_of(" \n", stmt.at) - stmt.at);
      refuse(stmt, "`" + std::string(word) + "` is not followed yet");
    }
  }
}

void Statements::branch(const Stmt& stmt, const Around* around, int& position) {
  const Ref condition = settle(stmt.value, stmt, around, position);
  walk(stmt.body, under({Around::Kind::Then, &stmt, condition, nullptr, 0, around}), position);
  walk(stmt.other, under({Around::Kind::Else, &stmt, condition, nullptr, 0, around}), position);
}

// An index without data is what it says wherever it is used; anything else is computed here.
void Statements::let(const Stmt& stmt, const Around* around, int& position) {
  Around made{Around::Kind::Let, &stmt, stmt.value, nullptr, 0, around};
  std::vector<ReadOf> reads;
  this->reads(stmt.value, nullptr, reads);
  if (stmt.value->type != kIndex || !reads.empty()) {
    made.kind = Around::Kind::Computed;
    made.position = static_cast<int>(all_.size());
    computed_.emplace(stmt.name, stmt.value->type);
    Statement computation;
    computation.stores = false;
    computation.at = stmt.at;
    computation.target = stmt.name;
    computation.value = stmt.value;
    emit(std::move(computation), around, position);
  }
  walk(stmt.body, under(made), position);
}

Ref Statements::settle(Ref value, const Stmt& stmt, const Around*& around, int& position) {
  if (!reads_memory(value)) return value;
  Statement made;
  made.stores = false;
  made.at = stmt.at;
  // No name of a text looks like this: after a dot they have a letter.
  made.target = arena_.texts.emplace_back("value." + std::to_string(all_.size()));
  made.value = value;
  Expr name;
  name.kind = Kind::Variable;
  name.type = value->type;
  name.at = value->at;
  name.name = made.target;
  computed_.emplace(made.target, value->type);
  const Around* inside = under(
      {Around::Kind::Computed, &stmt, nullptr, nullptr, static_cast<int>(all_.size()), around});
  emit(std::move(made), around, position);
  around = inside;
  return arena_.add(std::move(name));
}

void Statements::emit(Statement made, const Around* around, int& position) {
  if (all_.size() >= kMaxStatements) throw Refused("too many statements");
  made.number = static_cast<int>(all_.size());
  made.around = around;
  made.position = position++;
  for (Ref index : made.indices) reads(index, nullptr, made.reads);
  reads(made.value, nullptr, made.reads);
  all_.push_back(std::move(made));
}

// The arms of a `select` read under its condition alone.
void Statements::reads(Ref e, const Guard* guard, std::vector<ReadOf>& out) {
  if (e->kind == Kind::Select) {
    reads(e->args[0], guard, out);
    reads(e->args[1], &guards_.emplace_back(Guard{e->args[0], true, guard}), out);
    return reads(e->args[2], &guards_.emplace_back(Guard{e->args[0], false, guard}), out);
  }
  for (Ref arg : e->args) reads(arg, guard, out);
  if (e->kind == Kind::Read || (e->kind == Kind::Variable && computed_.contains(e->name)))
    out.push_back({e, e->name, e->args, guard});
}

std::vector<const Around*> Statements::loops(const Around* around) {
  std::vector<const Around*> out;
  for (; around; around = around->outer)
    if (around->kind == Around::Kind::Loop) out.push_back(around);
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<Linear> Statements::time(const Statement& statement,
                                     const std::vector<Linear>& values) {
  std::vector<Linear> out, lanes;
  const std::vector<const Around*> around = loops(statement.around);
  for (std::size_t i = 0; i < around.size(); ++i) {
    if (!around[i]->is_lane()) out.emplace_back(around[i]->position);
    (around[i]->is_lane() ? lanes : out).push_back(values[i]);
  }
  out.emplace_back(statement.position);
  out.insert(out.end(), lanes.begin(), lanes.end());
  return out;
}

Instance Statements::instance(const Statement& statement) {
  std::vector<Linear> values;
  for (const Around* loop : loops(statement.around))
    values.push_back(Linear::symbol(loop->stmt->name));
  return instance(statement, values);
}

Instance Statements::instance(const Statement& statement, const std::vector<Linear>& values) {
  std::vector<const Around*> path;
  for (const Around* a = statement.around; a; a = a->outer) path.push_back(a);
  Instance out{{}, everything()};
  Environment& names = out.names;
  std::string at;  // the values of the loops so far
  std::size_t next = 0;
  for (auto it = path.rbegin(); it != path.rend(); ++it) {
    const Around& a = **it;
    affine_->spend(out.domain.size() * static_cast<std::size_t>(it - path.rbegin()));
    switch (a.kind) {
      case Around::Kind::Loop: {
        const Value var = values.at(next++);
        at += text(var) + ";";
        const Value lower = affine_->value(a.value, names);
        const Value upper = affine_->value(a.upper, names);
        out.domain = both(out.domain, at_least_zero(plus(var, times(lower, -1))));
        out.domain = both(out.domain, at_least_zero(plus(plus(upper, Linear(-1)), times(var, -1))));
        names.values.insert_or_assign(a.stmt->name, var);
        break;
      }
      case Around::Kind::Then:
      case Around::Kind::Else:
        out.domain =
            both(out.domain, affine_->condition(a.value, a.kind == Around::Kind::Then, names));
        break;
      case Around::Kind::Let:
        names.values.insert_or_assign(a.stmt->name, affine_->value(a.value, names));
        break;
      case Around::Kind::Ring: {
        const Value use = affine_->value(a.value, names);
        const Value phase = quotient(use, a.stmt->number);
        names.values.insert_or_assign(a.stmt->name, plus(use, times(phase, -a.stmt->number)));
        names.values.insert_or_assign(a.stmt->second, phase);
        break;
      }
      case Around::Kind::Computed:
        names.settled[all_[static_cast<std::size_t>(a.position)].target] =
            "#" + std::to_string(a.position) + "(" + at + ")";
        break;
    }
  }
  names.time = "#" + std::to_string(statement.number) + "(" + at + ")";
  return out;
}

Union Statements::guarded(const ReadOf& read, const Environment& names) {
  Union out = everything();
  std::size_t depth = 0;
  for (const Guard* g = read.guard; g; g = g->outer) {
    affine_->spend(out.size() * ++depth);
    out = both(affine_->condition(g->condition, g->holds, names), out);
  }
  return out;
}

Union Statements::sizes(const std::vector<Extent>& extents, const std::vector<Ref>& requirements) {
  Conjunction bounds;
  for (const Extent& extent : extents) {
    const Linear size = Linear::symbol(extent.name);
    bounds.at_least.push_back(size - Linear(extent.min));
    if (extent.max != INT64_MAX) bounds.at_least.push_back(Linear(extent.max) - size);
    if (extent.multiple_of > 1)
      bounds.equal.push_back(size - floor_div(size, extent.multiple_of) * extent.multiple_of);
  }
  Union out = {bounds};
  std::size_t length = extents.size();
  for (Ref requirement : requirements) {
    affine_->spend(out.size() * ++length);
    out = both(out, affine_->condition(requirement, true, {}));
  }
  return out;
}

}  // namespace tilewright::checker

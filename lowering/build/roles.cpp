// SPDX-License-Identifier: Apache-2.0
//
// Roles as a Program that synchronises nothing: what another role than the one of the loop's own nest executes stands
// in a `concurrent` with that role alone, and all of the team in one with the role of the nest. synchronise.h makes of
// these marks one split, in which each role has its part.
#include <algorithm>

#include "lowering/build/nest_emitter.h"
#include "lowering/program/verify.h"

namespace tilewright::build {

namespace {

std::string quoted(Symbol name) { return "`" + std::string(name.text()) + "`"; }

}  // namespace

const tree::Role* role_of(const tree::Loop& loop, Symbol statement) {
  for (const tree::Role& role : loop.roles)
    if (std::find(role.statements.begin(), role.statements.end(), statement) !=
        role.statements.end())
      return &role;
  return nullptr;
}

Stmt Builder::by_role(const tree::Role& role, Stmt body) const {
  program::Role node;
  node.name = role.name;
  node.scope = program_scope(role.scope);
  node.lanes = role.lanes;
  node.registers = role.registers;
  node.body = body;
  const Stmt roles[] = {program::make(context, node)};
  program::Concurrent out;
  out.roles = roles;
  return program::make(context, out);
}

Result<Ok> Builder::begin_roles(const tree::Nest& nest, const tree::Loop& loop) {
  const Span place = loop.roles[0].place.span;
  const std::string path =
      quoted(context.symbol(std::string(nest.name.text()) + "." + std::string(loop.name.text())));
  if (!memories_)
    return refuse(place, "the roles of loop " + path + " are in no loop of a team of agents",
                  "bind a loop around it to blocks, or to cores of an accelerator");
  if (team_roles_ && team_roles_ != &loop)
    return refuse(place, "a second loop of one team has roles: " + path,
                  "give roles to one loop, with the statements of both");
  team_roles_ = &loop;
  team_role_ = role_of(loop, nest.name);
  return Ok{};
}

Result<Stmt> Builder::with_roles(const std::function<Result<Stmt>()>& emit) {
  const tree::Loop* outer = std::exchange(team_roles_, nullptr);
  auto body = emit();
  const bool split = std::exchange(team_roles_, outer) != nullptr;
  return body.ok() && split ? by_role(*team_role_, *body) : std::move(body);
}

// A value that goes from one role to another is in a memory that both reach.
Result<Ok> Builder::fits_role(const tree::Nest& nest, const tree::Role& role) const {
  if (nest.space != tree::Space::None && has_team_memory(nest)) return Ok{};
  return refuse(nest.registered.span.none() ? nest.placed.span : nest.registered.span,
                quoted(nest.name) + " is made by role " + quoted(role.name) +
                    " and read by another, and is in no memory of their team",
                "keep it in such a memory: `keep " + std::string(nest.name.text()) + " in shared`",
                {{"role", std::string(role.name.text())}});
}

void Builder::add_orders(const tree::Loop& loop, Symbol var) {
  for (const tree::OrderEdge& edge : loop.order)
    orders_.push_back({var, edge.before, edge.after, edge.distance});
}

Result<Ok> Builder::fits_registers(const program::Program& program) const {
  for (const Diagnostic& finding : program::verify(program)) {
    if (finding.code != Code::RegisterBudget) continue;
    for (const tree::Nest& nest : schedule.tree.nests)
      for (const tree::Loop& loop : nest.loops)
        if (!loop.roles.empty())
          return refuse(role_of(loop, nest.name)->place.span, finding.message,
                        "give the role more registers or lanes, or keep less in registers",
                        finding.evidence);
  }
  return Ok{};
}

// A value that the text of an interval reads before it is made, or after it is overwritten; none: all is well.
std::optional<Failure> NestEmitter::out_of_time(const std::vector<tree::PipelineRow>& rows) const {
  for (std::size_t p = 0; p < rows.size(); ++p)
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const tree::Nest& maker = *builder_.schedule.tree.find(rows[p].statement);
      if (p == r || &maker == &nest_ || !builder_.reads(rows[r].statement, maker)) continue;
      const std::int64_t behind = rows[r].stage - rows[p].stage;
      if (behind >= (p < r ? 0 : 1) && maker.ring >= behind + (p < r ? 1 : 0)) continue;
      return refuse(
          rows[r].place.span,
          quoted(rows[r].statement) + " reads " + quoted(rows[p].statement) +
              " of another role, whose intervals are not before its own",
          "leave the loop without a pipeline: roles run ahead as far as rings let them",
          {{"stages between", std::to_string(behind)}, {"buffers", std::to_string(maker.ring)}});
    }
  return std::nullopt;
}

// How many intervals one statement of a role is behind another does not depend on when the role begins: if each begins
// with its first stage, there are the fewest.
Result<std::vector<tree::PipelineRow>> NestEmitter::rows_of(const tree::Loop& l) const {
  if (l.roles.empty()) return l.pipeline;
  std::vector<tree::PipelineRow> rows = l.pipeline;
  for (const tree::Role& role : l.roles) {
    std::vector<tree::PipelineRow*> mine;
    for (tree::PipelineRow& row : rows)
      if (role_of(l, row.statement) == &role) mine.push_back(&row);
    const auto first = std::min_element(
        mine.begin(), mine.end(), [](const auto* a, const auto* b) { return a->stage < b->stage; });
    const std::int64_t begin = (*first)->stage;
    for (tree::PipelineRow* row : mine) row->stage -= begin;
  }
  if (!out_of_time(rows)) return rows;
  if (auto failure = out_of_time(l.pipeline)) return *std::move(failure);
  return l.pipeline;
}

}  // namespace tilewright::build

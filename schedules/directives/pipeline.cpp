// SPDX-License-Identifier: Apache-2.0
//
// pipeline c.ko: ap stage 0, c stage 2
//   for ko { ap c }    becomes    for t in 0 .. n + 2 { ap of iteration t   c of iteration t - 2 }
// A row for each statement of the loop, in the order of an interval: what is placed in it, and its own nest for the
// rest. `on UNIT` names a unit of the machine.
#include "schedules/directives/directive.h"

namespace tilewright::directives {

bool Pipeline::parse_rows(Reader& reader, std::vector<tree::PipelineRow>& rows) {
  do {
    auto statement = reader.path("a statement of the loop");
    if (!statement ||
        !reader.cursor.expect("stage", "after the statement", "write `stage` and a number"))
      return false;
    auto stage = reader.count();
    if (!stage) return false;
    tree::PipelineRow row{*statement, *stage, {}, {statement->span}};
    if (reader.cursor.accept("on")) {
      auto unit = reader.name("a unit");
      if (!unit) return false;
      row.unit = *unit;
    }
    rows.push_back(row);
  } while (reader.cursor.accept(","));
  return true;
}

std::optional<Pipeline> Pipeline::parse(Reader& reader) {
  Pipeline out;
  auto loop = reader.loop_name();
  if (!loop || !reader.cursor.expect(":", "after the loop", "write `:` and the table"))
    return std::nullopt;
  out.loop = *loop;
  if (!parse_rows(reader, out.rows)) return std::nullopt;
  return out;
}

std::string Pipeline::print_rows(const std::vector<tree::PipelineRow>& rows) {
  std::string text;
  for (const tree::PipelineRow& row : rows) {
    text += (text.empty() ? "" : ", ") + std::string(row.statement.text()) + " stage " +
            std::to_string(row.stage);
    if (row.unit.valid()) text += " on " + std::string(row.unit.text());
  }
  return text;
}

std::string Pipeline::print() const {
  return "pipeline " + directives::print(loop) + ": " + print_rows(rows);
}

Result<Ok> Pipeline::apply(Target& target) const {
  TILEWRIGHT_TRY(found, find_loop(target, loop));
  if (!found.loop().pipeline.empty())
    return refuse(loop.span, "loop `" + directives::print(loop) + "` has a pipeline already",
                  "write one table for a loop",
                  {{"loop", loop_path(*found.nest, found.loop().name)}});
  for (const tree::PipelineRow& row : rows)
    TILEWRIGHT_CHECK_OK(find_nest(target, row.statement, row.place.span));
  found.loop().pipeline = rows;
  return Ok{};
}

}  // namespace tilewright::directives

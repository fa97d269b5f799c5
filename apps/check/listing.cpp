// SPDX-License-Identifier: Apache-2.0
//
// Statements as text: of each its loops, time, memory, instances, cell and reads. Sets and maps are in the notation
// of isl, under the sizes' constraints of the first line.
#include "apps/check/statements.h"

namespace tilewright::checker {

namespace {

// `[N, data'0] -> { body }`, with the extents and the data that the body mentions.
std::string with_parameters(const Program& program, const std::set<std::string>& symbols,
                            const std::string& body) {
  std::string out;
  for (const Extent& e : program.extents)
    out += (out.empty() ? "[" : ", ") + text(Linear::symbol(e.name));
  for (const std::string& s : symbols)
    if (s.rfind("data.", 0) == 0) out += (out.empty() ? "[" : ", ") + text(Linear::symbol(s));
  return (out.empty() ? "[" : out) + "] -> { " + body + " }";
}

std::string names_of(const std::vector<const Around*>& loops, const char* between) {
  std::string out;
  for (const Around* loop : loops)
    out += (out.empty() ? "" : between) + text(Linear::symbol(loop->stmt->name));
  return out;
}

}  // namespace

std::string listing(Statements& statements, const Program& program) {
  std::set<std::string> symbols;
  std::string body = ": " + text(statements.sizes(), &symbols);
  std::string out = "sizes " + with_parameters(program, symbols, body) + "\n";
  for (const Statement& s : statements.all()) {
    const Instance instance = statements.instance(s);
    const std::vector<const Around*> loops = Statements::loops(s.around);
    out += (s.stores ? "store " : "value ") + std::to_string(s.number) + " " +
           std::string(s.target) + " line " + std::to_string(statements.line(s.at)) + "\n  loops";
    std::vector<Linear> values;
    for (const Around* loop : loops) {
      out += " " + std::string(loop->stmt->word) + " " + std::string(loop->stmt->name);
      values.push_back(Linear::symbol(loop->stmt->name));
    }
    out += "\n  time";
    for (const Linear& part : Statements::time(s, values)) out += " " + text(part);
    const auto line = [&](const std::string& what, const std::vector<Ref>* cell,
                          const Union* where) {
      statements.affine().spend(program.extents.size() + loops.size());
      std::set<std::string> known;
      std::string part = "[" + names_of(loops, ", ") + "]";
      if (cell) {
        part += " -> [";
        for (std::size_t i = 0; i < cell->size(); ++i)
          part +=
              (i ? ", " : "") + text(statements.affine().value((*cell)[i], instance.names), &known);
        part += "]";
      }
      if (where) part += " : " + text(*where, &known);
      out += "\n  " + what + " " + with_parameters(program, known, part);
    };
    const auto buffer = statements.buffers().find(s.target);
    if (s.stores && !buffer->second.is_parameter) {
      out += "\n  memory";
      for (const Around* loop : Statements::loops(buffer->second.around))
        if (!loop->is_lane()) out += " " + std::string(loop->stmt->name);
    }
    line("domain", nullptr, &instance.domain);
    if (s.stores) line("cell", &s.indices, nullptr);
    for (const ReadOf& read : s.reads) {
      const Union where = statements.guarded(read, instance.names);
      line("read " + std::string(read.buffer), &read.indices, read.guard ? &where : nullptr);
    }
    out += "\n";
  }
  for (const auto& [symbol, meaning] : statements.affine().data())
    out += "data " + text(Linear::symbol(symbol)) + " " + meaning + "\n";
  return out;
}

}  // namespace tilewright::checker

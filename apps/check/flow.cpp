// SPDX-License-Identifier: Apache-2.0
#include "apps/check/flow.h"

#include <algorithm>

namespace tilewright::checker {

namespace {

std::vector<Linear> named(const std::vector<const Around*>& loops, const char* suffix) {
  std::vector<Linear> out;
  for (const Around* loop : loops)
    out.push_back(Linear::symbol(std::string(loop->stmt->name) + suffix));
  return out;
}

// Of an instance; lanes of a statement act together.
std::vector<Linear> moment(const Statement& s, const std::vector<Linear>& values) {
  std::vector<Linear> out = Statements::time(s, values);
  const std::vector<const Around*> loops = Statements::loops(s.around);
  const auto lanes =
      std::count_if(loops.begin(), loops.end(), [](const Around* loop) { return loop->is_lane(); });
  out.resize(out.size() - static_cast<std::size_t>(lanes));
  return out;
}

// The ways for `a` to be before `b`. Nothing: the end, before which all is.
Union before(const std::vector<Linear>& a, const std::vector<Linear>& b) {
  if (b.empty()) return everything();
  Union out;
  Conjunction same;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const Linear later = b[i] - a[i];
    if (later.terms().empty() && later.constant() == 0) continue;
    if (later.terms().empty() && later.constant() < 0) return out;
    out.push_back(same);
    if (later.terms().empty()) return out;
    out.back().at_least.push_back(later - Linear(1));
    same.equal.push_back(later);
  }
  return out;
}

Union same_cell(const std::vector<Value>& a, const std::vector<Value>& b) {
  Union out = everything();
  for (std::size_t d = 0; d < a.size(); ++d) out = both(out, is_zero(plus(a[d], times(b[d], -1))));
  return out;
}

// An order of two different values.
Union differs(const Linear& a, const Linear& b) {
  Conjunction less, more;
  less.at_least.push_back(b - a - Linear(1));
  more.at_least.push_back(a - b - Linear(1));
  return {less, more};
}

}  // namespace

Flow::Flow(Statements& statements, const Program& program, const Certificate& certificate,
           Judge& judge)
    : statements_(statements),
      program_(program),
      certificate_(certificate),
      judge_(judge),
      sizes_(statements.sizes()) {}

std::string Flow::place(const Statement& statement) const {
  return "line " + std::to_string(statements_.line(statement.at)) + " of the Program";
}

void Flow::must(bool holds, const std::string& what) const {
  if (!holds) throw Refused("not shown: " + what);
}

std::vector<Value> Flow::cell(const std::vector<Ref>& indices, const Environment& names) {
  std::vector<Value> out;
  for (Ref index : indices) out.push_back(statements_.affine().value(index, names));
  return out;
}

Reading Flow::reading(const Statement& statement) {
  Reading out;
  out.loops = named(Statements::loops(statement.around), "");
  Instance instance = statements_.instance(statement, out.loops);
  out.where = both(sizes_, instance.domain);
  out.names = std::move(instance.names);
  out.time = moment(statement, out.loops);
  return out;
}

Reading Flow::reading(const Statement& statement, const ReadOf& read) {
  Reading out = reading(statement);
  out.where = both(out.where, statements_.guarded(read, out.names));
  out.cell = cell(read.indices, out.names);
  return out;
}

Reading Flow::reading(const Tensor& output) {
  Reading out;
  out.where = sizes_;
  for (std::size_t d = 0; d < output.shape.size(); ++d) {
    const Linear index = Linear::symbol(cell_index(d));
    out.loops.push_back(index);
    out.cell.emplace_back(index);
    const Value extent = statements_.affine().value(output.shape[d], {});
    out.where = both(
        out.where, both(at_least_zero(index), at_least_zero(plus(extent, index * -1 - Linear(1)))));
  }
  return out;
}

std::vector<Found> Flow::found(const Reading& reading, const std::vector<Source>& sources) {
  std::vector<Found> out;
  for (const Source& source : sources) {
    Found made;
    made.writer = source.writer;
    made.where = both(reading.where, statements_.affine().condition(source.where, true, {}));
    for (Ref index : source.instance) {
      const Value value = statements_.affine().value(index, {});
      must(value.form == Value::Form::Linear, "an instance that is quasi-affine");
      made.instance.push_back(value.linear);
    }
    out.push_back(std::move(made));
  }
  return out;
}

bool Flow::is_before(const Statement& statement, const std::vector<Linear>& instance,
                     const std::vector<Linear>& time, const Union& where) {
  return judge_.covered(where, statements_.instance(statement, instance).domain) &&
         judge_.covered(where, before(moment(statement, instance), time));
}

void Flow::bounds(const Reading& reading, Name buffer, const std::string& what) {
  const Buffer& of = statements_.buffers().at(buffer);
  for (std::size_t d = 0; d < of.shape.size(); ++d) {
    const Value extent = statements_.affine().value(of.shape[d], reading.names);
    must(judge_.covered(reading.where, at_least_zero(reading.cell[d])) &&
             judge_.covered(reading.where, at_least_zero(plus(plus(extent, Linear(-1)),
                                                              times(reading.cell[d], -1)))),
         what + " lies in its buffer");
  }
}

void Flow::sources(const Reading& reading, Name buffer, const std::vector<Source>& sources,
                   const std::string& what) {
  const Buffer& of = statements_.buffers().at(buffer);
  const std::vector<const Around*> around = Statements::loops(of.around);
  const std::vector<Found> all = found(reading, sources);
  Union pieces;
  for (const Source& source : sources)
    pieces = either(pieces, statements_.affine().condition(source.where, true, {}));
  must(judge_.covered(reading.where, pieces), what + " finds a value everywhere");
  for (const Found& one : all) {
    const Statement& writer = statements_.all()[static_cast<std::size_t>(one.writer)];
    must(writer.stores && writer.target == buffer, what + " finds what a store to it wrote");
    const auto written = [&](const Statement& s, const std::vector<Linear>& values) {
      return cell(s.indices, statements_.instance(s, values).names);
    };
    must(judge_.covered(one.where, same_cell(written(writer, one.instance), reading.cell)),
         what + " finds its cell");
    // Loops around the memory come first among those around who uses it.
    Conjunction own;
    for (std::size_t i = 0; i < around.size(); ++i)
      if (!around[i]->is_lane()) own.equal.push_back(one.instance.at(i) - reading.loops.at(i));
    must(judge_.covered(one.where, {own}), what + " finds the memory of its own iteration");
    must(is_before(writer, one.instance, reading.time, one.where), what + " comes after the store");
    const std::vector<Linear> time = moment(writer, one.instance);
    for (const Statement& s : statements_.all()) {
      if (!s.stores || s.target != buffer) continue;
      std::vector<Linear> values = named(Statements::loops(s.around), "'1");
      for (std::size_t i = 0; i < around.size(); ++i)
        if (!around[i]->is_lane()) values[i] = reading.loops[i];
      const Union same = same_cell(written(s, values), reading.cell);
      if (same.empty()) continue;
      const std::vector<Linear> at = moment(s, values);
      Union between = both(before(time, at), before(at, reading.time));
      between = both(both(one.where, same), both(between, statements_.instance(s, values).domain));
      must(judge_.empty(between), what + " is not written in between, at " + place(s));
    }
  }
}

Flow::Access Flow::writes(const Statement& s, const std::vector<Linear>& values) {
  const Instance instance = statements_.instance(s, values);
  return {both(sizes_, instance.domain), cell(s.indices, instance.names)};
}

// That may conflict with a write: of the cells of the buffer.
std::vector<Flow::Access> Flow::accesses(const Statement& s, const std::vector<Linear>& values,
                                         Name buffer, bool with_stores) {
  const Instance instance = statements_.instance(s, values);
  std::vector<Access> out;
  if (with_stores && s.stores && s.target == buffer) out.push_back(writes(s, values));
  for (const ReadOf& read : s.reads)
    if (read.buffer == buffer)
      out.push_back({both(both(sizes_, instance.domain), statements_.guarded(read, instance.names)),
                     cell(read.indices, instance.names)});
  return out;
}

void Flow::apart(const Access& a, const std::vector<Access>& others, const Union& where,
                 const std::string& what) {
  for (const Access& b : others) {
    const Union same = same_cell(a.cell, b.cell);
    must(same.empty() || judge_.empty(both(both(a.where, b.where), both(same, where))), what);
  }
}

// `a` writes; `b` uses the same memory in another iteration of a parallel loop around both, for which the memory is
// the same.
void Flow::conflicts(const Statement& a, const Statement& b) {
  const std::vector<const Around*> own =
      Statements::loops(statements_.buffers().at(a.target).around);
  const std::vector<const Around*> of_a = Statements::loops(a.around),
                                   of_b = Statements::loops(b.around);
  for (std::size_t p = 0; p < std::min(of_a.size(), of_b.size()) && of_a[p] == of_b[p]; ++p) {
    if (of_a[p]->stmt->word != "parallel" ||
        std::find(own.begin(), own.end(), of_a[p]) != own.end())
      continue;
    std::vector<Linear> x = named(of_a, "'1"), y = named(of_b, "'2");
    for (std::size_t i = 0; i < p; ++i)
      if (!of_a[i]->is_lane()) y[i] = x[i];
    apart(writes(a, x), accesses(b, y, a.target, b.number >= a.number), differs(x[p], y[p]),
          "iterations of a parallel loop are apart, at " + place(a) + " and " + place(b));
  }
}

void Flow::lanes(const Statement& s) {
  const std::vector<const Around*> loops = Statements::loops(s.around);
  std::vector<Linear> x = named(loops, "'1"), y = named(loops, "'2");
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (!loops[i]->is_lane()) y[i] = x[i];
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (loops[i]->is_lane())
      apart(writes(s, x), accesses(s, y, s.target, true), differs(x[i], y[i]),
            "lanes are apart, at " + place(s));
}

void Flow::check() {
  for (const Statement& s : statements_.all()) {
    for (std::size_t r = 0; r < s.reads.size(); ++r) {
      const ReadOf& read = s.reads[r];
      if (!statements_.buffers().contains(read.buffer)) continue;  // a computation
      const Reading here = reading(s, read);
      const std::string what = "the read of `" + std::string(read.buffer) + "` at " + place(s);
      bounds(here, read.buffer, what);
      if (has_sources(statements_, read))
        sources(here, read.buffer, certificate_.reads.at({s.number, r}), what);
    }
    if (!s.stores) continue;
    Reading store = reading(s);
    store.cell = cell(s.indices, store.names);
    bounds(store, s.target, "the store at " + place(s));
    lanes(s);
    for (const Statement& other : statements_.all()) conflicts(s, other);
  }
  for (const Tensor& p : program_.parameters)
    if (p.is_output)
      sources(reading(p), p.name, certificate_.outputs.at(p.name),
              "the output `" + std::string(p.name) + "`");
  for (const auto& [symbol, meaning] : statements_.affine().data())
    if (meaning.find("/(") != Name::npos || meaning.find("%(") != Name::npos)
      throw Refused("not shown: a divisor that is not 0, in " + meaning);
}

}  // namespace tilewright::checker

// SPDX-License-Identifier: Apache-2.0
#include "apps/check/claims.h"

#include <algorithm>

namespace tilewright::checker {

namespace {

void walk(Ref e, const std::function<void(Ref)>& seen) {
  seen(e);
  for (Ref arg : e->args) walk(arg, seen);
  if (!e->fold) return;
  for (const auto* list : {&e->fold->body, &e->fold->on_empty, &e->fold->base})
    for (Ref part : *list) walk(part, seen);
}

bool is_float(Type type) { return type->kind == Class::Float; }

std::map<std::string, Linear> values_of(const Statement& s, const std::vector<Linear>& instance) {
  std::map<std::string, Linear> out;
  const std::vector<const Around*> loops = Statements::loops(s.around);
  for (std::size_t i = 0; i < loops.size(); ++i) out.emplace(loops[i]->stmt->name, instance.at(i));
  return out;
}

// The condition of a claim at an instance.
Union at(Affine& affine, Ref where, const Statement& s, const std::vector<Linear>& instance) {
  Environment names;
  const std::vector<const Around*> loops = Statements::loops(s.around);
  for (std::size_t i = 0; i < loops.size(); ++i)
    names.values.emplace(loops[i]->stmt->name, instance.at(i));
  return affine.condition(where, true, names);
}

void must(bool holds, const std::string& what) {
  if (!holds) throw Refused("not shown: " + what);
}

}  // namespace

Claims::Claims(const Algorithm& algorithm, const Program& program, Statements& statements,
               const Certificate& certificate, Flow& flow, Judge& judge)
    : algorithm_(algorithm),
      program_(program),
      statements_(statements),
      certificate_(certificate),
      flow_(flow),
      judge_(judge) {
  for (const Equation& e : algorithm.equations) {
    for (std::size_t i = 0; i < e.tensors.size(); ++i) equations_[e.tensors[i]] = {&e, i};
    walk(e.value, [this](Ref x) {
      const bool computes =
          x->kind == Kind::Apply || x->kind == Kind::Convert || x->kind == Kind::Fold;
      if (computes && x->type && is_float(x->type)) widest_ = std::max(widest_, x->type->mantissa);
    });
  }
  for (const Statement& s : statements.all())
    if (!s.stores) computations_[s.target] = s.number;
}

Type Claims::cell_type(Name tensor) {
  const auto equation = equations_.find(tensor);
  if (equation != equations_.end())
    return equation->second.first->types.at(equation->second.second);
  for (const Tensor& input : algorithm_.inputs)
    if (input.name == tensor) return input.type;
  throw Refused("`" + std::string(tensor) + "` is no tensor of the algorithm");
}

bool Claims::is_input(Name tensor) {
  return std::any_of(algorithm_.inputs.begin(), algorithm_.inputs.end(),
                     [&](const Tensor& input) { return input.name == tensor; });
}

Type Claims::value_type(int statement) {
  if (statement < 0 || static_cast<std::size_t>(statement) >= statements_.all().size())
    throw Refused("a value of no statement");
  return statements_.all()[static_cast<std::size_t>(statement)].value->type;
}

Term Claims::definition(Name tensor, const std::vector<Term>& indices) {
  const auto found = equations_.find(tensor);
  if (found == equations_.end()) return nullptr;
  const auto [equation, component] = found->second;
  if (equation->indices.size() != indices.size()) throw Refused("a cell with other indices");
  Terms::Leaves leaves;
  leaves.variable = [&, of = equation](const Expr& variable) -> Term {
    for (std::size_t i = 0; i < indices.size(); ++i)
      if (of->indices[i] == variable.name) return indices[i];
    return nullptr;
  };
  return terms_->from(equation->value, leaves, component);
}

Term Claims::claim(int statement, const std::vector<Term>& instance) {
  const Statement& s = statements_.all().at(static_cast<std::size_t>(statement));
  std::vector<Linear> values;
  for (Term index : instance) {
    const bool is_number = index->kind == TermKind::Number && index->number.is_whole() &&
                           index->number.over == static_cast<Int>(index->number.over);
    if (index->kind != TermKind::Index && !is_number) return nullptr;
    values.push_back(is_number ? Linear(static_cast<Int>(index->number.over)) : index->linear);
  }
  if (values.size() != Statements::loops(s.around).size() ||
      !flow_.is_before(s, values, time_, where_))
    return nullptr;
  const std::vector<Claim>& claims = certificate_.claims[static_cast<std::size_t>(statement)];
  for (std::size_t i = 0; i < claims.size(); ++i)
    if (!claims[i].term.empty() &&
        judge_.covered(where_, at(statements_.affine(), claims[i].where, s, values)))
      return terms_->substituted(claimed(statement, i), values_of(s, values));
  return nullptr;
}

// A claim's term over the loops of its statement.
Term Claims::claimed(int statement, std::size_t piece) {
  const auto [it, is_new] = claimed_.emplace(std::pair(statement, piece), nullptr);
  if (!is_new) return it->second;
  const auto number = static_cast<std::size_t>(statement);
  const Term out = terms_->read(certificate_.claims[number][piece].term);
  std::set<std::string> names;
  for (const Extent& e : program_.extents) names.emplace(e.name);
  for (const Around* loop : Statements::loops(statements_.all()[number].around))
    names.emplace(loop->stmt->name);
  for (const std::string& name : out->free)
    must(names.contains(name),
         "`" + name + "` means something in the claim of statement " + std::to_string(statement));
  return it->second = out;
}

void Claims::begin(const Reading& reading) {
  claimed_.clear();
  terms_ = std::make_unique<Terms>(*this);
  time_ = reading.time;
}

// What the claims of the writer say of the instance.
std::vector<Claims::Case> Claims::cases(const Found& found) {
  const Statement& writer = statements_.all()[static_cast<std::size_t>(found.writer)];
  const std::vector<Claim>& claims = certificate_.claims[static_cast<std::size_t>(found.writer)];
  std::vector<Case> out;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    Case made{both(found.where, at(statements_.affine(), claims[i].where, writer, found.instance)),
              nullptr};
    if (judge_.empty(made.where)) continue;
    made.term = claims[i].term.empty() ? terms_->value(found.writer, found.instance)
                                       : terms_->substituted(claimed(found.writer, i),
                                                             values_of(writer, found.instance));
    out.push_back(std::move(made));
  }
  return out;
}

std::vector<Claims::Case> Claims::cases(const Reading& reading, const Statement& s,
                                        std::size_t number) {
  const ReadOf& read = s.reads[number];
  std::vector<Found> sources;
  if (const auto computed = computations_.find(read.buffer); computed != computations_.end()) {
    const Statement& writer = statements_.all()[static_cast<std::size_t>(computed->second)];
    const auto depth = static_cast<std::ptrdiff_t>(Statements::loops(writer.around).size());
    sources.push_back(
        {writer.number, reading.where, {reading.loops.begin(), reading.loops.begin() + depth}});
  } else {
    sources = flow_.found(reading, certificate_.reads.at({s.number, number}));
  }
  std::vector<Case> out;
  for (const Found& source : sources)
    for (Case& one : cases(source)) out.push_back(std::move(one));
  return out;
}

std::vector<Claims::Situation> Claims::situations(const Reading& reading, const Statement& s) {
  std::vector<Situation> out = {{reading.where, {}}};
  for (std::size_t r = 0; r < s.reads.size(); ++r) {
    const ReadOf& read = s.reads[r];
    if (!computations_.contains(read.buffer) && !has_sources(statements_, read)) continue;
    Reading here = reading;
    const Union guard = statements_.guarded(read, reading.names);
    here.where = guard;
    std::vector<Case> all = cases(here, s, r);
    // Where the read is not made it stands for a value of which nothing is known.
    if (read.guard)
      all.push_back(
          {complement(guard),
           terms_->call("unread", {terms_->number(static_cast<Int>(r))}, read.expr->type)});
    std::vector<Situation> next;
    for (const Situation& before : out)
      for (const Case& one : all) {
        Situation made{{}, before.reads};
        for (const Conjunction& c :
             all.size() == 1 && !read.guard ? before.where : both(before.where, one.where))
          if (!judge_.empty(c)) made.where.push_back(c);
        if (made.where.empty()) continue;
        made.reads[read.expr] = one.term;
        next.push_back(std::move(made));
      }
    out = std::move(next);
  }
  return out;
}

Term Claims::condition(const Union& set) {
  std::vector<Term> all;
  for (const Conjunction& c : set) {
    std::vector<Term> parts = {terms_->condition(Linear(0), true)};
    for (const Linear& e : c.equal) parts.push_back(terms_->condition(e, true));
    for (const Linear& e : c.at_least) parts.push_back(terms_->condition(e, false));
    all.push_back(terms_->apply(TermKind::Not, {terms_->apply(TermKind::And, std::move(parts))}));
  }
  all.push_back(terms_->condition(Linear(0), true));
  return terms_->apply(TermKind::Not, {terms_->apply(TermKind::And, std::move(all))});
}

Term Claims::term(const Value& value) {
  if (value.form == Value::Form::Linear) return terms_->index(value.linear);
  const Term a = term(value.parts[0]), b = term(value.parts[1]);
  if (value.form == Value::Form::Chosen)
    return terms_->apply(TermKind::Select, {condition(value.first), a, b});
  if (value.form == Value::Form::Greatest) return terms_->apply(TermKind::Max, {a, b});
  const Term minus = terms_->number(-1);
  const auto negative = [&](Term x) { return terms_->apply(TermKind::Product, {minus, x}); };
  return negative(terms_->apply(TermKind::Max, {negative(a), negative(b)}));
}

Term Claims::right_side(const Reading& reading, const Statement& s, const Situation& situation) {
  const auto known = [&](const Expr& e) {
    const auto it = situation.reads.find(&e);
    return it == situation.reads.end() ? nullptr : it->second;
  };
  Terms::Leaves leaves;
  leaves.variable = [&](const Expr& e) -> Term {
    if (const Term found = known(e)) return found;
    const auto value = reading.names.values.find(e.name);
    return value == reading.names.values.end() ? nullptr : term(value->second);
  };
  leaves.read = [&](const Expr& e, const std::vector<Term>&) { return known(e); };
  return terms_->from(s.value, leaves);
}

void Claims::equal(Term a, Term b, const Union& where, const std::string& what) {
  for (const Conjunction& c : where) {
    if (judge_.empty(c)) continue;
    where_ = {c};
    if (!terms_->equal(a, b, c))
      throw Refused("not shown: " + what + ": " + terms_->text(a).substr(0, 300) + " = " +
                    terms_->text(b).substr(0, 300) + " where " + text(where_).substr(0, 300));
  }
}

void Claims::statement(const Statement& s) {
  rounding(s);
  const std::vector<Claim>& claims = certificate_.claims[static_cast<std::size_t>(s.number)];
  const std::string what = "the claim at " + flow_.place(s);
  const Reading reading = flow_.reading(s);
  begin(reading);
  Union pieces;
  bool says = false;
  for (const Claim& claim : claims) {
    pieces = either(pieces, statements_.affine().condition(claim.where, true, {}));
    says = says || !claim.term.empty();
  }
  must(judge_.covered(reading.where, pieces), what + " covers all instances");
  if (!says) return;
  for (const Situation& situation : situations(reading, s)) {
    const Term right = right_side(reading, s, situation);
    for (std::size_t i = 0; i < claims.size(); ++i)
      if (!claims[i].term.empty())
        equal(right, claimed(s.number, i),
              both(situation.where, statements_.affine().condition(claims[i].where, true, {})),
              what);
  }
}

void Claims::output(const Tensor& p) {
  const Reading reading = flow_.reading(p);
  begin(reading);
  std::vector<Term> indices;
  for (const Linear& index : reading.loops) indices.push_back(terms_->index(index));
  const Term says = terms_->cell(p.name, indices);
  for (const Found& source : flow_.found(reading, certificate_.outputs.at(p.name)))
    for (const Case& one : cases(source))
      equal(one.term, says, one.where,
            "the output `" + std::string(p.name) + "` is what the algorithm says");
}

// Terms are over the reals, so a float that loses bits is a question of its own: it is the algorithm's rounding where the
// store writes a cell of that type.
void Claims::rounding(const Statement& s) {
  walk(s.value, [&](Ref e) {
    if (!is_float(e->type)) return;
    bool narrows = false;
    if (e->kind == Kind::Apply) narrows = e->type->mantissa < widest_;
    if (e->kind == Kind::Convert) {
      const Type from = e->args.at(0)->type;
      narrows = is_float(from)
                    ? e->type->mantissa < from->mantissa || e->type->exponent < from->exponent
                    : e->type->mantissa < widest_;
    }
    if (!narrows) return;
    bool is_cell = e == s.value && e->kind == Kind::Convert;
    begin(flow_.reading(s));
    const std::vector<Claim>& claims = certificate_.claims[static_cast<std::size_t>(s.number)];
    for (std::size_t i = 0; i < claims.size() && is_cell; ++i) {
      const Term term = claims[i].term.empty() ? nullptr : claimed(s.number, i);
      is_cell = term && term->kind == TermKind::Cell && cell_type(term->name) == e->type;
    }
    must(is_cell, "no float is made narrower than by the algorithm, at " + flow_.place(s));
  });
}

void Claims::check() {
  for (const Statement& s : statements_.all()) statement(s);
  for (const Tensor& p : program_.parameters)
    if (p.is_output) output(p);
}

}  // namespace tilewright::checker

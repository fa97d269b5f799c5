// SPDX-License-Identifier: Apache-2.0
//
// Claims are found store by store, writers before readers; stores that depend on each other are folds, whose
// points are guessed from the order of time and then confirmed by evaluating each step.
#include "lowering/proof/claims.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "lowering/proof/evaluation.h"
#include "lowering/proof/fold_guess.h"
#include "lowering/proof/step_guess.h"

namespace tilewright::proof {

struct Claims::Impl {
  explicit Impl(const Tools& tools_in) : tools(tools_in), evaluation(tools, claims, flows) {}

  Tools tools;
  std::vector<std::vector<Flow>> flows;
  std::vector<Claim> claims;
  Evaluation evaluation;

  Result<Ok> find_flows() {
    const ValueFlow value_flow(tools.statements, tools.polyhedra, tools.limits);
    for (const Statement& one : tools.statements.list) {
      flows.emplace_back();
      for (const Access& access : one.reads) {
        TILEWRIGHT_TRY(flow, value_flow.flow(reader_of(one, access)));
        flows.back().push_back(std::move(flow));
      }
    }
    return Ok{};
  }

  // Groups of statements that depend on each other, writers first.
  // Of those among `some`, where what is in `known` depends on nothing.
  std::vector<std::vector<std::size_t>> groups(const std::vector<std::size_t>& some,
                                               const std::set<std::size_t>& known) const;
  Result<Ok> settle(const std::vector<std::size_t>& group);
  Result<Ok> settle_alone(const Statement& one);
  // By induction over the loop of an algorithm: what one iteration hands to the next is supposed, all else follows,
  // and then what was supposed.
  Result<bool> by_iterations(const std::vector<std::size_t>& group);
  Claim itself(const Statement& one) const;
};

namespace {

// Tarjan's components, without recursion: a Program may be long.
class Components {
 public:
  explicit Components(const std::vector<std::vector<std::size_t>>& edges)
      : edges_(edges), order_(edges.size(), 0), low_(edges.size(), 0), open_(edges.size(), false) {}

  std::vector<std::vector<std::size_t>> find() {
    for (std::size_t node = 0; node < edges_.size(); ++node)
      if (order_[node] == 0) visit(node);
    return std::move(out_);
  }

 private:
  void enter(std::size_t node) {
    order_[node] = low_[node] = ++count_;
    stack_.push_back(node);
    open_[node] = true;
    path_.emplace_back(node, 0);
  }

  void visit(std::size_t root) {
    enter(root);
    while (!path_.empty()) {
      auto& [node, next] = path_.back();
      if (next < edges_[node].size()) {
        const std::size_t to = edges_[node][next++];
        if (order_[to] == 0)
          enter(to);
        else if (open_[to])
          low_[node] = std::min(low_[node], order_[to]);
        continue;
      }
      const std::size_t done = node;
      path_.pop_back();
      if (!path_.empty()) low_[path_.back().first] = std::min(low_[path_.back().first], low_[done]);
      if (low_[done] == order_[done]) close(done);
    }
  }

  void close(std::size_t root) {
    std::vector<std::size_t> component;
    std::size_t node = 0;
    do {
      node = stack_.back();
      stack_.pop_back();
      open_[node] = false;
      component.push_back(node);
    } while (node != root);
    std::sort(component.begin(), component.end());
    out_.push_back(std::move(component));
  }

  const std::vector<std::vector<std::size_t>>& edges_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> low_;
  std::vector<bool> open_;
  std::vector<std::size_t> stack_;
  std::vector<std::pair<std::size_t, std::size_t>> path_;
  std::size_t count_ = 0;
  std::vector<std::vector<std::size_t>> out_;
};

}  // namespace

std::vector<std::vector<std::size_t>> Claims::Impl::groups(
    const std::vector<std::size_t>& some, const std::set<std::size_t>& known) const {
  std::map<std::size_t, std::size_t> place;
  for (std::size_t i = 0; i < some.size(); ++i) place[some[i]] = i;
  std::vector<std::vector<std::size_t>> edges(some.size());
  for (std::size_t i = 0; i < some.size(); ++i)
    for (const Flow& flow : flows[some[i]])
      for (const Source& source : flow.sources) {
        const auto to = source.writer == kGiven ? place.end() : place.find(source.writer);
        if (to != place.end() && !known.contains(source.writer)) edges[i].push_back(to->second);
      }
  std::vector<std::vector<std::size_t>> out = Components(edges).find();
  for (auto& group : out)
    for (std::size_t& number : group) number = some[number];
  return out;
}

Claim Claims::Impl::itself(const Statement& one) const {
  Claim claim;
  claim.known = false;
  Piece piece;
  piece.where = one.domain;
  std::vector<Term> instance;
  for (const Loop& loop : one.loops) instance.push_back(tools.translator.variable(loop.name));
  piece.value =
      tools.terms.value(static_cast<std::int64_t>(one.number), instance, one.value.type());
  claim.pieces.push_back(std::move(piece));
  return claim;
}

Result<Ok> Claims::Impl::settle_alone(const Statement& one) {
  TILEWRIGHT_TRY(pieces, evaluation.evaluate(one));
  TILEWRIGHT_TRY(folds, evaluation.united(std::move(pieces)));
  for (Piece& piece : folds) TILEWRIGHT_CHECK_OK(evaluation.recognise(piece));
  TILEWRIGHT_TRY(simple, evaluation.united(std::move(folds)));
  if (simple.size() > 1) {
    TILEWRIGHT_TRY(cell, evaluation.as_marked(one, simple));
    if (cell) {
      simple.resize(1, Piece());
      simple[0].fold.reset();
      simple[0].steps.reset();
      simple[0].value = cell;
    }
  }
  if (simple.size() == 1) simple[0].where = one.domain;
  claims[one.number].pieces = std::move(simple);
  return Ok{};
}

Result<bool> Claims::Impl::by_iterations(const std::vector<std::size_t>& group) {
  std::set<std::size_t> supposed;
  for (std::size_t number : group) {
    const Statement& one = tools.statements.list[number];
    const Term cell = evaluation.handed_on(one);
    if (!cell) continue;
    supposed.insert(number);
    claims[number] = Claim{};
    Piece piece;
    piece.where = one.domain;
    piece.value = cell;
    claims[number].pieces.push_back(std::move(piece));
  }
  if (supposed.empty()) return false;
  std::map<std::size_t, Claim> suppositions;
  for (std::size_t number : supposed) suppositions[number] = claims[number];
  for (const auto& inner : groups(group, supposed)) {
    if (inner.size() == 1 && supposed.contains(inner[0])) {
      TILEWRIGHT_CHECK_OK(settle_alone(tools.statements.list[inner[0]]));
      const auto& found = claims[inner[0]].pieces;
      const Term wanted = suppositions[inner[0]].pieces[0].value;
      const bool same = std::all_of(found.begin(), found.end(), [&](const Piece& piece) {
        return piece.value && piece.value == wanted;
      });
      claims[inner[0]] = suppositions[inner[0]];
      if (!same) return false;
      continue;
    }
    TILEWRIGHT_CHECK_OK(settle(inner));
  }
  return true;
}

Result<Ok> Claims::Impl::settle(const std::vector<std::size_t>& group) {
  const auto depends_on_itself = [&] {
    for (const Flow& flow : flows[group[0]])
      for (const Source& source : flow.sources)
        if (source.writer == group[0]) return true;
    return false;
  };
  if (group.size() == 1 && !depends_on_itself())
    return settle_alone(tools.statements.list[group[0]]);
  FoldGuess guess(tools, claims, flows, evaluation);
  const std::size_t before = tools.conditions.size();
  TILEWRIGHT_TRY(found, guess.find(group));
  if (found) return Ok{};
  tools.forget(before);
  StepGuess steps(tools, claims, flows, evaluation);
  TILEWRIGHT_TRY(stepped, steps.find(group));
  if (stepped) return Ok{};
  tools.forget(before);
  TILEWRIGHT_TRY(iterated, by_iterations(group));
  if (iterated) return Ok{};
  tools.forget(before);
  for (std::size_t number : group) claims[number] = itself(tools.statements.list[number]);
  return Ok{};
}

Claims::Claims(ir::Context& context, const Statements& statements, poly::Context& polyhedra,
               TermStore& terms, Translator& translator, AlgorithmTerms& algorithm,
               poly::Limits limits)
    : impl_(std::make_unique<Impl>(
          Tools{context, statements, polyhedra, terms, translator, algorithm, limits})) {}
Claims::~Claims() = default;

Result<Ok> Claims::find(const std::function<void(std::size_t, std::size_t)>& found) {
  impl_->tools.forget();  // targets are patterns: a match is a claim to be confirmed
  TILEWRIGHT_CHECK_OK(impl_->find_flows());
  impl_->claims.resize(impl_->flows.size());
  std::vector<std::size_t> all(impl_->flows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const auto& group : impl_->groups(all, {})) {
    const std::size_t mark = impl_->tools.conditions.size();
    const auto settled = impl_->settle(group);
    for (std::size_t number : group)
      if (found) found(number, impl_->claims[number].pieces.size());
    if (settled.ok()) continue;
    // Nothing is known then, which is no reason to stop.
    impl_->tools.forget(mark);
    for (std::size_t number : group) {
      impl_->claims[number] = impl_->itself(impl_->tools.statements.list[number]);
      impl_->claims[number].reason = settled.diagnostics()[0].message;
    }
  }
  return Ok{};
}

const Claim& Claims::of(std::size_t statement) const { return impl_->claims[statement]; }
const std::vector<Flow>& Claims::flows(std::size_t statement) const {
  return impl_->flows[statement];
}

void Tools::note(const poly::Set& where) {
  for (algebra::Obligation& one : terms.take_obligations())
    conditions.push_back({where, std::move(one)});
}

Result<std::vector<Piece>> Claims::found_by(const Reader& reader) {
  const ValueFlow value_flow(impl_->tools.statements, impl_->tools.polyhedra, impl_->tools.limits);
  TILEWRIGHT_TRY(flow, value_flow.flow(reader));
  return impl_->evaluation.found(reader, flow);
}

Result<Term> Claims::term(const Piece& piece) { return impl_->evaluation.term(piece); }

Result<std::string> Claims::text(const Piece& piece) {
  const std::size_t mark = impl_->tools.conditions.size();
  TILEWRIGHT_TRY(written, impl_->evaluation.term(piece));
  impl_->tools.forget(mark);
  return impl_->tools.terms.print(written);
}

Result<std::string> Claims::spelled(const Piece& piece) {
  const std::size_t mark = impl_->tools.conditions.size();
  TILEWRIGHT_TRY(written, impl_->evaluation.term(piece));
  std::string out = impl_->tools.terms.spelled(written).value_or("");
  impl_->tools.forget(mark);
  return out;
}

std::vector<Condition> Claims::conditions() const {
  std::vector<Condition> out;
  const auto same = [](const Condition& a, const Condition& b) {
    return a.holds.condition == b.holds.condition && a.holds.term == b.holds.term &&
           a.holds.unless_empty == b.holds.unless_empty && a.where == b.where &&
           a.holds.variables == b.holds.variables && a.holds.where == b.holds.where;
  };
  for (const Condition& one : impl_->tools.conditions)
    if (std::none_of(out.begin(), out.end(),
                     [&](const Condition& other) { return same(one, other); }))
      out.push_back(one);
  return out;
}

Result<bool> Claims::finds_values(const Statement& one, std::size_t read) {
  const std::size_t mark = impl_->tools.conditions.size();
  auto found = impl_->evaluation.finds_values(one, read);
  impl_->tools.forget(mark);
  return found;
}

Result<GoalState> Claims::prove(const Goal& goal) { return impl_->evaluation.prove(goal); }

}  // namespace tilewright::proof

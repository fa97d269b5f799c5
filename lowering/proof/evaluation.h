// SPDX-License-Identifier: Apache-2.0
//
// The right side of a store, with claims for its reads. For this room's own files; laws: claims.h.
#pragma once

#include <map>

#include "lowering/proof/claims.h"

namespace tilewright::proof {

struct Tools {
  ir::Context& context;
  const Statements& statements;
  poly::Context& polyhedra;
  TermStore& terms;
  Translator& translator;
  AlgorithmTerms& algorithm;
  poly::Limits limits;
  std::vector<Condition> conditions = {};  // of the claims so far

  // The laws that were used since the last call were used at these points.
  void note(const poly::Set& where);
  // They were used in an attempt that led to nothing.
  void forget() { terms.take_obligations(); }
  // So were all since there were so many conditions.
  void forget(std::size_t mark) {
    forget();
    conditions.erase(conditions.begin() + static_cast<std::ptrdiff_t>(mark), conditions.end());
  }
};

// What each read of a right side is, where `where` holds.
struct Situation {
  poly::Set where;
  std::map<const void*, Piece> reads;  // by the node of the read
};

// A point of a target, over the loops of a statement; an index is null where nothing says it.
struct StepPoint {
  std::vector<Term> indices;
  std::vector<Term> point;
  std::vector<AffineExpr> affine;  // the point
};

// Reads that find what a store of the same group wrote, and which field that is.
struct StepInner {
  std::map<const void*, std::size_t> fields;
  std::vector<Term> indices;  // of the group, over the loops of the reader
};

class Evaluation {
 public:
  // The number of a value that no store wrote.
  static constexpr std::int64_t kNothing = std::int64_t{-1} << 40;

  Evaluation(Tools& tools, const std::vector<Claim>& claims,
             const std::vector<std::vector<Flow>>& flows)
      : tools_(tools), claims_(claims), flows_(flows) {}

  Result<std::vector<Piece>> evaluate(const Statement& one);
  // Fewer pieces that say the same: equal values, and folds that differ in their points alone.
  Result<std::vector<Piece>> united(std::vector<Piece> pieces);
  // The cell of the algorithm that the store says it writes, if all pieces are that.
  Result<Term> as_marked(const Statement& one, const std::vector<Piece>& pieces);
  // The cell of a loop of the algorithm that the store may hand to the next iteration, a guess; null for others.
  Term handed_on(const Statement& one);
  // What an iteration finds: in the first what was before, else what the one before computed.
  Result<std::vector<Piece>> as_carried(std::vector<Piece> pieces);
  // Writes a piece as a cell of the algorithm where it is one.
  Result<Ok> recognise(Piece& piece);
  Result<std::vector<Piece>> found(const Reader& reader, const Flow& flow);
  // Whether the read finds what a store wrote wherever a run evaluates it; data may decide that.
  Result<bool> finds_values(const Statement& one, std::size_t read);
  Result<Term> term(const Piece& piece);
  Result<GoalState> prove(const Goal& goal);
  // Equal at all of the points.
  Result<bool> same(Term a, Term b, const poly::Set& where);

  // The cases of a right side. `stand_in`, where it gives a term for a read, is taken for what the read finds.
  using StandIn = std::function<Term(const Access& access, const Flow& flow)>;
  Result<std::vector<Situation>> situations(const Statement& one, const StandIn& stand_in = {});
  // Every cell as it stands.
  Term stated(Expr expr);
  // The right side with its `select`s decided as far as the situation does.
  Result<Expr> decided(Expr expr, const poly::Set& where);
  // Precondition: no read of the situation is a fold.
  Term plain(Expr expr, const Situation& situation);

  // The value as a fold with the bound variables and body of `shape`; nothing where it is none.
  Result<std::optional<FoldValue>> as_fold(Expr expr, const Situation& situation,
                                           const FoldValue& shape);
  Result<std::optional<FoldValue>> as_fold(Term term, const poly::Set& where,
                                           const FoldValue& shape);
  // The value as steps of the target; nothing where it is none. `guess`: the point that it may add.
  Result<std::optional<StepValue>> as_steps(Expr expr, const Situation& situation,
                                            const StepTarget& target, const StepInner& inner = {},
                                            const StepPoint* guess = nullptr);
  // While it lives, steps of all points of a domain stay steps.
  class KeepSteps {
   public:
    explicit KeepSteps(Evaluation& evaluation) : evaluation_(evaluation) {
      evaluation_.keeps_steps_ = true;
    }
    ~KeepSteps() { evaluation_.keeps_steps_ = false; }
    KeepSteps(const KeepSteps&) = delete;
    KeepSteps& operator=(const KeepSteps&) = delete;

   private:
    Evaluation& evaluation_;
  };
  std::optional<StepPoint> step_point(const StepTarget& target, const std::vector<Term>& found);
  std::vector<Term> read_terms(const Situation& situation);
  poly::Set only_point(const poly::Set& where, const StepTarget& target, const StepPoint& at);
  // All points of the target's domain, over the loops and the bound variables.
  std::optional<poly::BasicSet> domain_of(const FoldValue& fold);
  bool is_identity(Term term, bool is_maximum) const;
  // `points` over the loops and then the bound variables, of a set over the loops.
  poly::Set lifted(const poly::Set& where, const std::vector<Term>& bound) const;
  // The term with its cells in the simplest form that they have at all points of `where`.
  Result<Term> simplified(Term term, const poly::Set& where);
  // The points of a set over loops and bound variables at which there are some.
  Result<poly::Set> somewhere(const poly::Set& points, const std::vector<Term>& bound);
  // The laws that were used since the last note matter only there.
  Result<Ok> note_somewhere(const poly::Set& points, const std::vector<Term>& bound);
  // Takes coefficient * value(-1 - number) out of a sum; nothing where it is not linear in those.
  std::optional<Term> take_linear(Term whole, ir::ScalarType type, std::vector<Term>& coefficients);
  // A term that is a factor times the body at some values of the unknowns, plus a rest that is simpler.
  struct Step {
    Term factor;
    std::vector<std::pair<Term, Term>> values;
    Term rest;
  };
  std::optional<Step> step(Term term, Term body, std::span<const Term> unknowns);
  // The values of the bound variables in order; nothing where one is missing or not affine.
  std::optional<std::vector<AffineExpr>> point(const Step& step, const std::vector<Term>& bound);

 private:
  struct Part {
    Term factor;
    poly::Set points;
  };
  Result<std::optional<FoldValue>> joined(const FoldValue& shape, std::vector<Part> parts,
                                          const poly::Set& where);
  Result<bool> sum_parts(Expr expr, const Situation& situation, const FoldValue& shape,
                         std::vector<Part>& parts);
  Result<bool> maximum_parts(Expr expr, const Situation& situation, const FoldValue& shape,
                             std::vector<Part>& parts);
  poly::BasicSet implied(const FoldValue& shape);
  bool term_parts(Term term, const poly::Set& where, const FoldValue& shape,
                  std::vector<Part>& parts);
  struct States;
  struct StepQuestion;
  Result<States> states_of(const Situation& situation, const StepTarget& target,
                           const StepInner& inner);
  bool equal_in_cases(Term a, Term b, Term conditions, int depth);
  Result<bool> is_candidate(const StepQuestion& question, Term candidate, Term conditions);
  Result<bool> all_before(const poly::Set& a, const poly::Set& b, const StepTarget& target);
  Result<bool> may_follow(const poly::Set& a, const poly::Set& b, const StepTarget& target);
  Result<std::optional<StepValue>> kept_steps(StepQuestion& question);
  Result<std::optional<StepValue>> merged_steps(StepQuestion& question);
  Result<std::optional<StepValue>> appended_steps(StepQuestion& question, const StepPoint& at);
  Result<Ok> recognise_steps(Piece& piece);
  Result<std::optional<StepValue>> steps_read(Expr expr, Situation& situation);
  // Whether `more` is in `into` now.
  Result<bool> united_steps(Piece& into, Piece& more);
  Result<Term> term_of_steps(const Piece& piece);
  // One value over the loops of the statement: the names of the access stay in it.
  Result<Piece> chosen_by_data(const Access& access, const std::vector<Piece>& pieces);
  // What a cell without a value holds.
  Term nothing(ir::ScalarType type) { return tools_.terms.value(kNothing, {}, type); }
  bool may_be_nothing(Term term);
  Result<std::vector<Piece>> pulled_back(const Reader& reader, const Source& source);
  Result<AffineExpr> simplified(const AffineExpr& expr, const poly::Set& where);
  void solve(const poly::Set& where, Goal& goal);
  // The expression with the largest parts of it that are folds as reads of their own.
  Result<Expr> folds_named(Expr expr, Situation& situation, const FoldValue& shape);
  Result<GoalState> prove_as_is(const Goal& goal);
  // The cells that differ by a loop whose value both pieces know, as one.
  Result<std::optional<Term>> common_cell(const Piece& a, const Piece& b);
  // The conditions in the term that hold, or fail, at all of the points.
  Result<Term> decided(Term term, const poly::Set& where);
  // The points for all values of data, with a dimension for each.
  poly::Set with_data(const poly::Set& where, const DataNames& data);
  Result<bool> same_sets(const algebra::SameSets& sets, const poly::Set& where);
  Result<bool> empty(const poly::Set& set) const;

  Tools& tools_;
  const std::vector<Claim>& claims_;
  const std::vector<std::vector<Flow>>& flows_;
  bool keeps_steps_ = false;
};

}  // namespace tilewright::proof

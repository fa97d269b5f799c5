// SPDX-License-Identifier: Apache-2.0
//
// What a Program's stores write, as docs/decisions/proof.md defines it: the claim of each store is its right side, where each
// read stands for the claim of the store that its source tells; and what an output holds at the end is what the algorithm
// says. Law: `check` returns only where all of that was shown. A claim is shown with those of earlier instances alone,
// so claims that lean on each other are no circle.
#pragma once

#include "apps/check/flow.h"
#include "apps/check/terms.h"

namespace tilewright::checker {

class Claims final : public Meaning {
 public:
  Claims(const Algorithm& algorithm, const Program& program, Statements& statements,
         const Certificate& certificate, Flow& flow, Judge& judge);
  void check();

  bool empty(const Conjunction& set) override { return judge_.empty(set); }
  Type cell_type(Name tensor) override;
  Type value_type(int statement) override;
  bool is_input(Name tensor) override;
  Term definition(Name tensor, const std::vector<Term>& indices) override;
  Term claim(int statement, const std::vector<Term>& instance) override;

 private:
  // What a value is, where that holds.
  struct Case {
    Union where;
    Term term;
  };
  struct Situation {
    Union where;
    std::map<Ref, Term> reads;
  };
  // Terms of one statement, or of the end: what they remember of earlier instances is of use to no other.
  void begin(const Reading& reading);
  void statement(const Statement& s);
  void output(const Tensor& p);
  void equal(Term a, Term b, const Union& where, const std::string& what);
  std::vector<Case> cases(const Found& found);
  std::vector<Case> cases(const Reading& reading, const Statement& s, std::size_t read);
  std::vector<Situation> situations(const Reading& reading, const Statement& s);
  Term right_side(const Reading& reading, const Statement& s, const Situation& situation);
  Term term(const Value& value);
  Term condition(const Union& set);
  Term claimed(int statement, std::size_t piece);
  void rounding(const Statement& s);

  const Algorithm& algorithm_;
  const Program& program_;
  Statements& statements_;
  const Certificate& certificate_;
  Flow& flow_;
  Judge& judge_;
  std::map<Name, std::pair<const Equation*, std::size_t>>
      equations_;  // by tensor: and its number in it
  std::map<Name, int> computations_;
  int widest_ = 0;  // mantissa of what the algorithm does
  // Of what is shown now.
  std::unique_ptr<Terms> terms_;
  std::map<std::pair<int, std::size_t>, Term> claimed_;
  std::vector<Linear> time_;
  Union where_;
};

}  // namespace tilewright::checker

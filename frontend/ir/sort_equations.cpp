// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/sort_equations.h"

#include "frontend/ir/walk.h"

namespace tilewright::ir {

namespace {

// Runs are twice as long from one iteration to the next: more than any tensor needs.
constexpr std::int64_t kMaxStages = 62;

// With N values in each row and runs of `width`, in iteration `stage`:
//   begin[j]     where the pair of runs begins in which place j lies
//   value[i, j]  the j-th value in the order so far
//   left[i, j]   how far into the left run, counted in places, the merged places up to j reach: a recurrence, which
//                takes from the left run unless the next of the right run comes before
//   from[i, j]   the same before place j
//   merged[i, j] the new order
class SortMaker {
 public:
  SortMaker(Context& context, const Sort& sort) : context_(context), sort_(sort) {
    for (Symbol index : sort.indices) row_.push_back(context.var(index));
    at_ = context.var(sort.var);
    place_ = context.cast(ScalarType::I64, at_);
    n_ = context.cast(ScalarType::I64, sort.upper);
  }

  SortedEquations make() {
    SortedEquations out;
    out.equations = {of_row("key", sort_.value), of_row("start", place_),
                     scalar("one", integer(1))};
    Loop stages;
    stages.var = name("stage");
    stages.trips = context_.index(kMaxStages);
    stages.condition = context_.lt(width(), n_);
    stages.carries = {{name("order"), name("start"), name("merged")},
                      {name("width"), name("one"), name("doubled")}};
    stages.first = out.equations.size();
    Equation begin = of_row("begin", context_.sub(place_, context_.floor_mod(place_, pair())));
    begin.indices = {sort_.var};
    begin.shape = {sort_.upper};
    out.equations.push_back(begin);
    out.equations.push_back(of_row("value", cell("key", sort_.value.type(), own("order"))));
    out.equations.push_back(of_row("left", left()));
    const Expr before =
        context_.select(context_.lt(context_.index(0), at_),
                        row_read("left", context_.sub(at_, context_.index(1))), integer(0));
    out.equations.push_back(of_row("from", context_.max(before, begin_here())));
    const Expr takes_left = context_.lt(own("from"), own("left"));
    out.equations.push_back(
        of_row("merged", cell("order", ScalarType::I64,
                              context_.select(takes_left, own("from"), right_of(own("from"))))));
    out.equations.push_back(scalar("doubled", pair()));
    stages.last = out.equations.size();
    out.loops = {stages};
    out.equations.push_back(result());
    return out;
  }

 private:
  Symbol name(std::string_view suffix) const {
    return context_.symbol(std::string(sort_.name.text()) + "." + std::string(suffix));
  }
  Expr integer(std::int64_t value) const { return context_.integer(ScalarType::I64, value); }
  Expr width() const { return context_.read(name("width"), {}, ScalarType::I64); }
  Expr pair() const { return context_.mul(width(), integer(2)); }
  Expr begin_here() const {
    const Expr at[] = {at_};
    return context_.read(name("begin"), at, ScalarType::I64);
  }

  Equation scalar(std::string_view suffix, Expr value) const {
    Equation out;
    out.name = name(suffix);
    out.type = value.type();
    out.value = value;
    return out;
  }
  Equation of_row(std::string_view suffix, Expr value) const {
    Equation out = scalar(suffix, value);
    out.indices = sort_.indices;
    out.indices.push_back(sort_.var);
    out.shape = sort_.shape;
    out.shape.push_back(sort_.upper);
    return out;
  }

  Expr row_read(std::string_view suffix, Expr index) const {
    return read(suffix, index, ScalarType::I64);
  }
  Expr own(std::string_view suffix) const { return row_read(suffix, at_); }
  Expr read(std::string_view suffix, Expr index, ScalarType type) const {
    std::vector<Expr> indices = row_;
    indices.push_back(index);
    return context_.read(name(suffix), indices, type);
  }
  // The cell of this row that a number names; the nearest where it names none.
  Expr cell(std::string_view suffix, ScalarType type, Expr number) const {
    const Expr last = context_.add(sort_.upper, context_.index(-1));
    const Expr index = context_.min(context_.cast(ScalarType::Index, number), last);
    return read(suffix, context_.max(index, context_.index(0)), type);
  }

  // Where the right run stands when the left one stands at `left`.
  Expr right_of(Expr left) const {
    return context_.sub(context_.add(context_.add(place_, width()), begin_here()), left);
  }

  // Of equal ones the left one stays first.
  Expr comes_before(Expr right, Expr left) const {
    const Expr better = context_.op(sort_.descending ? OpCode::Gt : OpCode::Lt, {right, left});
    if (!is_float(left.type())) return better;
    const Expr to_the_end = context_.both(context_.op(OpCode::Eq, {right, right}),
                                          context_.op(OpCode::Ne, {left, left}));
    return context_.op(OpCode::Or, {better, to_the_end});
  }

  Expr left() const {
    const Symbol state[] = {name("taken")};
    // A new pair of runs begins beyond all that was taken before.
    const Expr at = context_.max(context_.var(state[0], ScalarType::I64), begin_here());
    const Expr right = right_of(at);
    const auto below = [&](Expr place, Expr bound) {
      return context_.lt(place, context_.min(context_.add(begin_here(), bound), n_));
    };
    const ScalarType type = sort_.value.type();
    const Expr right_comes = context_.both(
        below(right, pair()), comes_before(cell("value", type, right), cell("value", type, at)));
    const Expr takes = context_.both(below(at, width()), context_.op(OpCode::Not, {right_comes}));
    const Expr next[] = {context_.add(at, context_.select(takes, integer(1), integer(0)))};
    const Expr start[] = {integer(0)};
    Fold scan;
    scan.monoid = context_.symbol(monoid_text(Monoid::Last));
    scan.scan = true;
    scan.vars = {&sort_.var, 1};
    scan.state = state;
    scan.base = start;
    scan.body = next;
    return context_.fold(scan);
  }

  // The places are within the row, and say so.
  Equation result() const {
    const Expr rank = context_.var(sort_.rank);
    Expr place = row_read("order", rank);
    if (!(sort_.length == sort_.upper))
      place = context_.select(context_.lt(rank, sort_.upper), place, integer(0));
    const Expr last = context_.cast(ScalarType::I64, context_.add(sort_.upper, context_.index(-1)));
    Equation out = of_row("", context_.max(context_.min(place, last), integer(0)));
    out.name = sort_.name;
    out.indices.back() = sort_.rank;
    out.shape.back() = sort_.length;
    return out;
  }

  Context& context_;
  const Sort& sort_;
  std::vector<Expr> row_;
  Expr at_;
  Expr place_;
  Expr n_;
};

}  // namespace

SortedEquations sort_equations(Context& context, const Sort& sort) {
  return SortMaker(context, sort).make();
}

}  // namespace tilewright::ir

// SPDX-License-Identifier: Apache-2.0
//
// Lanes run along one index of the equation or along the innermost fold variable, whichever reads
// memory best; a cell's fold order is lexicographic either way, so an exact reading does not depend
// on the choice.
#include "frontend/ir/equation_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/ir/intervals.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"

namespace tilewright::ir {

namespace {

constexpr int kMaxLanes = 256;

struct Loop {
  Symbol var;
  bool is_fold = false;
  bool lanes = false;
  Expr lower_expr;
  Expr upper_expr;
  std::int64_t extent = 0;  // of an index of the equation
  // Slots and code.
  Slot first = 0;
  Slot column = 0;
  BlockId bounds = 0;
  Slot lower = 0;
  Slot upper = 0;
  std::vector<std::uint8_t> mask;
  std::int64_t now = 0;  // value, or first lane
};

// How a read's address moves with a variable: 0 not at all, 1 to the neighbour, 3 otherwise.
int stride_cost(const Read& read, const Cells& cells, Symbol var) {
  const Expr last = read.indices.empty() ? Expr() : read.indices.back();
  int cost = 0;
  for (std::size_t d = 0; d < read.indices.size(); ++d) {
    const auto free = free_vars(read.indices[d]);
    if (std::find(free.begin(), free.end(), var) == free.end()) continue;
    const bool neighbour =
        d + 1 == read.indices.size() && cells.strides[d] == 1 && !read.indices[d].as<Read>();
    cost = std::max(cost, neighbour && last ? 1 : 3);
  }
  return cost;
}

// Runs one equation into `out` (and the interval arrays).
class EquationRun {
 public:
  EquationRun(const EquationContext& context, const EquationMode& mode)
      : algorithm_(context.algorithm),
        equation_(context.equation),
        bindings_(context.bindings),
        store_(context.store),
        reals_(mode.reals),
        fused_(mode.fused),
        intervals_(mode.intervals) {}

  Result<Ok> execute(Tensor* out, std::vector<Scalar>* low, std::vector<Scalar>* high,
                     std::int64_t* steps_left) {
    out_ = out;
    out_low_ = low;
    out_high_ = high;
    steps_left_ = steps_left;
    for (std::int64_t extent : out->shape)
      if (extent == 0) return Ok{};
    unwrap_value();
    choose_loops();
    TILEWRIGHT_CHECK_OK(compile());
    frame_ = std::make_unique<TapeFrame>(builder_->tape(), width_, intervals_);
    reader_ = std::make_unique<CellReader>(store_);
    const auto n = static_cast<std::size_t>(width_);
    acc_.resize(n);
    acc_low_.resize(n);
    acc_high_.resize(n);
    term_.resize(n);
    strides_ = row_major(out->shape);
    if (!run_loop(0)) return *failure_;
    return Ok{};
  }

  // Whether the equation's values are known without error.
  bool result_certain() const { return result_certain_; }

 private:
  // Casts around a fold are applied to its result.
  void unwrap_value() {
    body_ = equation_.value;
    if (equation_.type != body_.type()) casts_.push_back({body_.type(), equation_.type});
    while (const auto* cast = body_.as<Cast>()) {
      if (!has_fold(cast->value)) break;
      casts_.insert(casts_.begin(), {cast->value.type(), body_.type()});
      body_ = cast->value;
    }
    fold_ = body_.as<Fold>();
    if (fold_) body_ = fold_->body[0];
  }

  std::int64_t guess_extent(const Fold& fold, std::size_t i) const {
    if (!free_vars(fold.upper[i]).empty() || !free_vars(fold.lower[i]).empty()) return 64;
    if (!reads(fold.upper[i]).empty() || !reads(fold.lower[i]).empty()) return 64;
    return evaluate_extents(fold.upper[i], bindings_) - evaluate_extents(fold.lower[i], bindings_);
  }

  // Costs per scalar: what reads cost, and what starting a column costs.
  double cost_of(Symbol var, std::int64_t extent) const {
    double cost = 0;
    for (const Read* read : reads(body_)) {
      auto tensor = store_.tensor(read->tensor);
      if (tensor) cost += stride_cost(*read, store_[*tensor], var);
    }
    return cost + 1 + 40.0 / static_cast<double>(std::clamp<std::int64_t>(extent, 1, kMaxLanes));
  }

  void choose_loops() {
    std::size_t best = equation_.indices.size();
    double best_cost = std::numeric_limits<double>::infinity();
    for (std::size_t d = equation_.indices.size(); d-- > 0;) {
      const double cost = cost_of(equation_.indices[d], out_->shape[d]);
      if (cost < best_cost) best = d, best_cost = cost;
    }
    const std::size_t last = fold_ ? fold_->vars.size() - 1 : 0;
    // Along the fold, the sum itself is a serial chain.
    const bool along_fold =
        fold_ && cost_of(fold_->vars[last], guess_extent(*fold_, last)) + 2 < best_cost;
    auto index_loop = [&](std::size_t d, bool lanes) {
      Loop loop;
      loop.var = equation_.indices[d];
      loop.extent = out_->shape[d];
      loop.lanes = lanes;
      dimension_.push_back(d);
      loops_.push_back(std::move(loop));
    };
    for (std::size_t d = 0; d < equation_.indices.size(); ++d)
      if (along_fold || d != best) index_loop(d, false);
    if (!along_fold && best < equation_.indices.size()) index_loop(best, true);
    num_index_loops_ = loops_.size();
    for (std::size_t i = 0; fold_ && i < fold_->vars.size(); ++i) {
      Loop loop;
      loop.var = fold_->vars[i];
      loop.is_fold = true;
      loop.lanes = along_fold && i == last;
      loop.lower_expr = fold_->lower[i];
      loop.upper_expr = fold_->upper[i];
      loops_.push_back(std::move(loop));
    }
    along_fold_ = along_fold;
    width_ = 1;
    // Intervals keep nine columns where the others keep one: shorter ones stay in the first cache.
    const int most = intervals_ ? kMaxLanes / 4 : kMaxLanes;
    if (along_fold) width_ = most;
    if (!along_fold && num_index_loops_ > 0)
      width_ = static_cast<int>(std::min<std::int64_t>(most, loops_[num_index_loops_ - 1].extent));
  }

  Result<Ok> compile() {
    const int levels = static_cast<int>(loops_.size()) + 1;
    builder_ = std::make_unique<TapeBuilder>(store_, levels, reals_, intervals_);
    // Bounds see only the variables outside of their loop.
    for (std::size_t k = 0; k < loops_.size(); ++k) {
      Loop& loop = loops_[k];
      if (loop.is_fold) {
        loop.bounds = builder_->begin_flat();
        TILEWRIGHT_TRY(lower, builder_->compile(loop.lower_expr));
        TILEWRIGHT_TRY(upper, builder_->compile(loop.upper_expr));
        const bool columns = builder_->info(lower).column || builder_->info(upper).column;
        loop.lower = columns ? builder_->as_column(lower) : lower;
        loop.upper = columns ? builder_->as_column(upper) : upper;
        builder_->end_flat();
      }
      const int level = static_cast<int>(k) + 1;
      if (loop.lanes) {
        const auto slots = builder_->add_lane_var(loop.var, level);
        loop.first = slots.first;
        loop.column = slots.all;
      } else {
        loop.first = builder_->add_var(loop.var, level);
      }
    }
    const bool lanes =
        std::any_of(loops_.begin(), loops_.end(), [](const Loop& l) { return l.lanes; });
    auto compile_term = [&](Expr expr) -> Result<Slot> {
      TILEWRIGHT_TRY(slot, builder_->compile(expr));
      return lanes ? builder_->as_column(slot) : slot;
    };
    const auto* product = body_.as<Op>();
    product_ = fold_ && fold_->monoid_kind() == Monoid::Sum && product &&
               product->op == OpCode::Mul && is_float(body_.type());
    direct_ = product_ && (reals_ || fused_);
    // A product that one operation adds is needed itself for its interval only.
    if (!direct_ || intervals_) {
      TILEWRIGHT_TRY(term, compile_term(body_));
      root_ = term;
      term_certain_ = builder_->info(term).certain;
    }
    if (direct_) {
      TILEWRIGHT_TRY(x, compile_term(product->args[0]));
      TILEWRIGHT_TRY(y, compile_term(product->args[1]));
      factor_x_ = x;
      factor_y_ = y;
    }
    const ScalarType type = builder_->in_reading(body_.type());
    if (fold_) combine_ = op_kernel(monoid_op(fold_->monoid_kind()), type);
    multiply_add_ = reals_ ? multiply_add_kernel() : op_kernel(OpCode::Fma, type);
    return Ok{};
  }

  bool run_loop(std::size_t depth) {
    if (depth == num_index_loops_) return run_cell(depth);
    Loop& loop = loops_[depth];
    if (loop.lanes) return run_lanes(depth, 0, loop.extent);
    for (loop.now = 0; loop.now < loop.extent; ++loop.now) {
      set_scalar(depth);
      if (!run_loop(depth + 1)) return false;
    }
    return true;
  }

  void set_scalar(std::size_t depth) {
    frame_->value[loops_[depth].first]->i = loops_[depth].now;
    dirty_ = std::min(dirty_, depth + 1);
  }

  bool run_lanes(std::size_t depth, std::int64_t lower, std::int64_t upper) {
    Loop& loop = loops_[depth];
    for (loop.now = lower; loop.now < upper; loop.now += width_) {
      lanes_.n = static_cast<int>(std::min<std::int64_t>(width_, upper - loop.now));
      set_scalar(depth);
      Scalar* column = frame_->value[loop.column];
      for (int l = 0; l < lanes_.n; ++l) column[l].i = loop.now + l;
      const bool done = loop.is_fold ? run_term() : run_loop(depth + 1);
      if (!done) return false;
    }
    return true;
  }

  // One cell, or one column of cells.
  bool run_cell(std::size_t depth) {
    const int n = along_fold_ ? 1 : lanes_.n;
    lost_ = false;
    if (fold_) {
      const Scalar identity = identity_value();
      std::fill_n(acc_.begin(), n, identity);
      if (with_terms()) fold_intervals_.start(fold_->monoid_kind(), body_.type(), n);
      if (!run_fold(depth)) return false;
      if (with_terms()) {
        fold_intervals_.finish(acc_low_.data(), acc_high_.data(), n);
      } else {
        std::copy_n(acc_.begin(), n, acc_low_.begin());
        std::copy_n(acc_.begin(), n, acc_high_.begin());
      }
      return store_cells(acc_.data(), acc_low_.data(), acc_high_.data(), n);
    }
    if (!run_levels()) return false;
    std::copy_n(frame_->value[root_], n, acc_.begin());
    if (intervals_) {
      std::copy_n(frame_->low[root_], n, acc_low_.begin());
      std::copy_n(frame_->high[root_], n, acc_high_.begin());
    }
    return store_cells(acc_.data(), acc_low_.data(), acc_high_.data(), n);
  }

  bool with_terms() const { return intervals_ && !term_certain_; }

  Scalar identity_value() const {
    const bool floating = is_float(body_.type());
    Scalar out;
    out.i = 0;
    const ScalarType type = body_.type();
    const double inf = std::numeric_limits<double>::infinity();
    switch (fold_->monoid_kind()) {
      case Monoid::Sum: break;
      case Monoid::Prod:
        if (floating)
          out.f = 1;
        else
          out.i = 1;
        break;
      case Monoid::Min:
        if (floating)
          out.f = inf;
        else
          out.i = greatest_integer(type);
        break;
      case Monoid::Max:
        if (floating)
          out.f = -inf;
        else
          out.i = lowest_integer(type);
        break;
      default: break;  // run_fold() runs the others
    }
    return out;
  }

  bool run_fold(std::size_t depth) {
    if (depth == loops_.size()) return run_term();
    Loop& loop = loops_[depth];
    Undefined bad;
    if (!run(builder_->tape(), loop.bounds, *frame_, lanes_here(), *reader_, &bad))
      return trap(bad);
    if (builder_->info(loop.lower).column) return run_uneven(depth);
    const std::int64_t lower = frame_->value[loop.lower]->i;
    const std::int64_t upper = frame_->value[loop.upper]->i;
    note_uncertain(loop, 0);
    if (loop.lanes) return run_lanes(depth, lower, upper);
    for (loop.now = lower; loop.now < upper; ++loop.now) {
      set_scalar(depth);
      if (!run_fold(depth + 1)) return false;
    }
    return true;
  }

  // A bound that rounding may change leaves nothing to say about the cell.
  void note_uncertain(const Loop& loop, int l) {
    for (Slot slot : {loop.lower, loop.upper})
      lost_ |= intervals_ && frame_->low[slot][l].i != frame_->high[slot][l].i;
  }

  // Bounds that differ between lanes: each lane takes part from its lower to its upper bound.
  bool run_uneven(std::size_t depth) {
    Loop& loop = loops_[depth];
    const std::uint8_t* outer = mask_;
    const auto n = static_cast<std::size_t>(lanes_.n);
    const std::vector<Scalar> lower(frame_->value[loop.lower], frame_->value[loop.lower] + n);
    const std::vector<Scalar> upper(frame_->value[loop.upper], frame_->value[loop.upper] + n);
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
    for (std::size_t l = 0; l < n; ++l) {
      if ((outer && !outer[l]) || lower[l].i >= upper[l].i) continue;
      first = std::min(first, lower[l].i);
      end = std::max(end, upper[l].i);
      note_uncertain(loop, static_cast<int>(l));
    }
    loop.mask.resize(n);
    bool done = true;
    for (loop.now = first; done && loop.now < end; ++loop.now) {
      bool all = true;
      std::uint8_t any = 0;
      for (std::size_t l = 0; l < n; ++l) {
        const bool on = (!outer || outer[l]) && lower[l].i <= loop.now && loop.now < upper[l].i;
        loop.mask[l] = on ? kActive : 0;
        all &= on;
        any |= loop.mask[l];
      }
      if (!any) continue;
      mask_ = all ? nullptr : loop.mask.data();
      set_scalar(depth);
      done = run_fold(depth + 1);
    }
    mask_ = outer;
    return done;
  }

  Lanes lanes_here() const { return {lanes_.n, mask_, kActive}; }

  bool run_levels() {
    const Lanes lanes = lanes_here();
    for (std::size_t level = dirty_; level <= loops_.size(); ++level) {
      const auto block = static_cast<BlockId>(level);
      *steps_left_ -=
          static_cast<std::int64_t>(builder_->tape().blocks[level].size() + 1) * lanes.n;
      Undefined bad;
      if (!run(builder_->tape(), block, *frame_, lanes, *reader_, &bad)) return trap(bad);
    }
    // A level whose loop variable did not change keeps its values.
    dirty_ = loops_.size() + 1;
    if (*steps_left_ >= 0) return true;
    failure_ = fail({Code::InterpretLimit,
                     equation_.span,
                     "the interpreter reached its step limit in equation `" +
                         std::string(equation_.name.text()) + "`",
                     "interpret at smaller sizes, or raise the limit",
                     {}});
    return false;
  }

  bool run_term() {
    if (!run_levels()) return false;
    if (along_fold_) return fold_one();
    const int n = lanes_.n;
    Scalar* into = mask_ ? term_.data() : acc_.data();
    if (direct_)
      multiply_add_(into, frame_->value[factor_x_], frame_->value[factor_y_], acc_.data(), n,
                    mask_);
    else
      combine_(into, acc_.data(), frame_->value[root_], nullptr, n, mask_);
    if (mask_)
      for (int l = 0; l < n; ++l)
        if (mask_[l]) acc_[static_cast<std::size_t>(l)] = term_[static_cast<std::size_t>(l)];
    if (with_terms()) fold_intervals_.add(frame_->low[root_], frame_->high[root_], n, mask_);
    return true;
  }

  // Lanes are successive terms of one cell.
  bool fold_one() {
    const int n = lanes_.n;
    Scalar acc = acc_[0];
    const Scalar* x = frame_->value[direct_ ? factor_x_ : root_];
    const Scalar* y = frame_->value[factor_y_];
    if (direct_ && reals_) {
      for (int l = 0; l < n; ++l) acc.f = x[l].f * y[l].f + acc.f;
    } else if (reals_ && fold_->monoid_kind() == Monoid::Sum && is_float(body_.type())) {
      for (int l = 0; l < n; ++l) acc.f += x[l].f;
    } else if (direct_) {
      for (int l = 0; l < n; ++l) multiply_add_(&acc, x + l, y + l, &acc, 1, nullptr);
    } else {
      for (int l = 0; l < n; ++l) combine_(&acc, &acc, x + l, nullptr, 1, nullptr);
    }
    acc_[0] = acc;
    if (with_terms())
      fold_intervals_.add_to_one(frame_->low[root_], frame_->high[root_], n, nullptr);
    return true;
  }

  bool store_cells(Scalar* value, Scalar* low, Scalar* high, int n) {
    for (const auto& [from, to] : casts_) {
      const Kernel kernel = cast_kernel(builder_->in_reading(from), builder_->in_reading(to));
      const int bad = from == to ? -1 : kernel(value, value, nullptr, nullptr, n, nullptr);
      if (bad >= 0) return trap({nullptr, bad});
      if (intervals_) interval_cast(from, to, low, high, low, high, n);
    }
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < num_index_loops_; ++k)
      offset += loops_[k].now * strides_[dimension_[k]];
    const std::int64_t step =
        along_fold_ || num_index_loops_ == 0 ? 0 : strides_[dimension_[num_index_loops_ - 1]];
    const bool floating = is_float(equation_.type);
    for (int l = 0; l < n; ++l) {
      const auto at = static_cast<std::size_t>(offset + l * step);
      out_->data[at] = value[l];
      if (!intervals_) continue;
      if (lost_ || (floating && std::isnan(value[l].f)))
        no_claim(equation_.type, &low[l], &high[l]);
      (*out_low_)[at] = low[l];
      (*out_high_)[at] = high[l];
      result_certain_ &= low[l].i == high[l].i;
    }
    return true;
  }

  std::string place(int lane) const {
    std::string text(equation_.name.text());
    std::vector<std::int64_t> cell(equation_.indices.size());
    for (std::size_t k = 0; k < num_index_loops_; ++k)
      cell[dimension_[k]] = loops_[k].now + (loops_[k].lanes ? lane : 0);
    text += "[";
    for (std::size_t d = 0; d < cell.size(); ++d) text += (d ? ", " : "") + std::to_string(cell[d]);
    return text + "]";
  }

  void add_sizes(Diagnostic* diagnostic) const {
    for (const ExtentDecl& extent : algorithm_.extents)
      diagnostic->evidence.emplace_back(extent.name.text(),
                                        std::to_string(bindings_.at(extent.name)));
  }

  bool trap(const Undefined& bad) {
    Diagnostic out{Code::UndefinedOperation, equation_.span, "", "", {}};
    out.evidence.emplace_back("cell", place(bad.lane));
    for (std::size_t k = num_index_loops_; k < loops_.size(); ++k)
      out.evidence.emplace_back(loops_[k].var.text(),
                                std::to_string(loops_[k].now + (loops_[k].lanes ? bad.lane : 0)));
    if (bad.instr && bad.instr->kind == Instr::Kind::Read) {
      describe_read(bad, &out);
    } else {
      const std::string what = bad.instr && bad.instr->expr ? print(bad.instr->expr) : "the cast";
      out.message = "`" + what + "` has no value here";
      out.remedy = "guard it with select, or state with `requires` what makes it defined";
    }
    add_sizes(&out);
    failure_ = fail(std::move(out));
    return false;
  }

  void describe_read(const Undefined& bad, Diagnostic* out) const {
    const ReadSite& site = builder_->tape().reads[bad.instr->site];
    const Cells& cells = store_[site.tensor];
    std::string at, shape;
    const bool affine = !bad.instr->column || site.affine;
    for (std::size_t d = 0; d < site.parts.size(); ++d) {
      const ReadSite::Part& part = site.parts[d];
      const std::int64_t i =
          frame_->value[part.slot][affine ? 0 : bad.lane].i + (affine ? part.step * bad.lane : 0);
      at += (d ? ", " : "") + std::to_string(i);
      shape += (d ? ", " : "") + std::to_string(cells.shape[d]);
    }
    out->code = Code::CellOutOfBounds;
    out->message = "`" + print(bad.instr->expr) + "` reads outside of `" +
                   std::string(cells.name.text()) + "`";
    out->remedy = "guard the read with select, or narrow the domain of the equation";
    out->evidence.emplace_back("reads", std::string(cells.name.text()) + "[" + at + "]");
    out->evidence.emplace_back("shape", "[" + shape + "]");
  }

  const Algorithm& algorithm_;
  const Equation& equation_;
  const Bindings& bindings_;
  const CellStore& store_;
  bool reals_;
  bool fused_;
  bool intervals_;

  Expr body_;
  const Fold* fold_ = nullptr;
  std::vector<std::pair<ScalarType, ScalarType>> casts_;
  std::vector<Loop> loops_;
  std::vector<std::size_t> dimension_;  // of the equation, by index loop
  std::size_t num_index_loops_ = 0;
  bool along_fold_ = false;
  bool product_ = false;
  bool direct_ = false;  // products are added without being computed first
  bool term_certain_ = false;
  int width_ = 1;

  std::unique_ptr<TapeBuilder> builder_;
  std::unique_ptr<TapeFrame> frame_;
  std::unique_ptr<CellReader> reader_;
  Slot root_ = 0;
  Slot factor_x_ = 0;
  Slot factor_y_ = 0;
  Kernel combine_ = nullptr;
  Kernel multiply_add_ = nullptr;
  FoldIntervals fold_intervals_;

  Tensor* out_ = nullptr;
  std::vector<Scalar>* out_low_ = nullptr;
  std::vector<Scalar>* out_high_ = nullptr;
  std::int64_t* steps_left_ = nullptr;
  std::vector<std::int64_t> strides_;
  std::vector<Scalar> acc_, acc_low_, acc_high_, term_;
  Lanes lanes_;
  const std::uint8_t* mask_ = nullptr;
  std::size_t dirty_ = 0;
  bool lost_ = false;
  bool result_certain_ = true;
  std::optional<Failure> failure_;
};

}  // namespace

Result<Ok> run_equation(const EquationContext& context, const EquationMode& mode,
                        EquationResult* result, std::int64_t* steps_left) {
  EquationRun run(context, mode);
  TILEWRIGHT_CHECK_OK(run.execute(result->value, result->low, result->high, steps_left));
  result->certain = run.result_certain();
  return Ok{};
}

}  // namespace tilewright::ir

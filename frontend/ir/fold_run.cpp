// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/fold_run.h"

#include <cmath>
#include <functional>

#include "frontend/ir/intervals.h"
#include "frontend/ir/reduction.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"

namespace tilewright::ir {

namespace {

// A value and the interval that holds what any conforming program computes for it.
struct Uncertain {
  Scalar value;
  Scalar low;
  Scalar high;
};

Uncertain certain(Scalar value) { return {value, value, value}; }

class FoldRun {
 public:
  FoldRun(const EquationContext& context, const EquationMode& mode,
          std::span<EquationResult> results, std::int64_t* steps_left)
      : algorithm_(context.algorithm),
        equation_(context.equation),
        bindings_(context.bindings),
        fold_(*context.equation.fold()),
        mode_(mode),
        results_(results),
        steps_left_(steps_left),
        reader_(context.store),
        builder_(context.store, 1, mode.reals, mode.intervals) {}

  Result<Ok> execute() {
    TILEWRIGHT_CHECK_OK(compile());
    shape_ = results_[0].value->shape;
    strides_ = row_major(shape_);
    frame_ = std::make_unique<TapeFrame>(builder_.tape(), 1, mode_.intervals);
    const bool done = fold_.is_update() ? run_update() : run_cells(0);
    if (!done) return *failure_;
    return Ok{};
  }

 private:
  // Code for some values, run as a whole.
  struct Routine {
    BlockId block = 0;
    std::vector<Slot> slots;
  };

  Result<Routine> compile_code(std::span<const Expr> exprs) {
    Routine out;
    out.block = builder_.begin_flat();
    for (Expr expr : exprs) {
      TILEWRIGHT_TRY(slot, builder_.compile(expr));
      out.slots.push_back(slot);
    }
    builder_.end_flat();
    return out;
  }

  std::vector<Expr> copied(NodeList<Expr> exprs) {
    std::vector<Expr> out;
    for (Expr expr : exprs) out.push_back(copy_into(local_, expr));
    return out;
  }

  Result<Ok> compile() {
    reduction_ = reduction_of(algorithm_, fold_);
    const std::size_t n = reduction_.types.size();
    for (Symbol index : equation_.indices) vars_[index] = builder_.add_var(index, 0);
    if (!fold_.scan)
      for (Symbol var : fold_.vars) vars_[var] = builder_.add_var(var, 0);
    std::vector<Expr> before;
    for (std::size_t i = 0; i < n; ++i) {
      const Symbol name = local_.symbol("@" + std::to_string(i));
      const bool floating = is_float(reduction_.types[i]);
      before_.push_back(builder_.add_var(name, 0, floating, false));
      before.push_back(local_.var(name, reduction_.types[i]));
    }
    // The fold in terms of the local context.
    Fold fold = fold_;
    const std::vector<Expr> body = copied(fold_.body);
    fold.body = body;
    MonoidDecl declared;
    if (reduction_.declared) {
      declared = *reduction_.declared;
      declared.identity = copied(declared.identity);
      declared.combine = copied(declared.combine);
      reduction_.declared = &declared;
    }
    std::vector<Expr> next = next_values(local_, reduction_, fold, before);
    const std::vector<Expr> start =
        fold_.base.empty() ? identity(local_, reduction_) : copied(fold_.base);
    reduction_.declared = nullptr;
    if (next.size() == 1 && !fold_.scan && mode_.fused && !mode_.reals) next[0] = fused(next[0]);
    for (std::size_t i = 0; !fold_.scan && i < fold_.vars.size(); ++i) {
      const Expr bounds[] = {copy_into(local_, fold_.lower[i]), copy_into(local_, fold_.upper[i])};
      TILEWRIGHT_TRY(code, compile_code(bounds));
      bounds_.push_back(code);
    }
    TILEWRIGHT_TRY(start_code, compile_code(start));
    start_ = start_code;
    TILEWRIGHT_TRY(where_code, compile_code(copied(fold_.where)));
    where_ = where_code;
    TILEWRIGHT_TRY(at_code, compile_code(copied(fold_.at)));
    at_ = at_code;
    TILEWRIGHT_TRY(empty_code, compile_code(copied(fold_.on_empty)));
    on_empty_ = empty_code;
    next.insert(next.end(), body.begin(), body.end());
    if (!fold_.state.empty()) next.resize(n);
    TILEWRIGHT_TRY(next_code, compile_code(next));
    next_ = next_code;
    const bool sum = reduction_.kind == Monoid::Sum || reduction_.kind == Monoid::Prod;
    any_order_ = sum && mode_.intervals && !fold_.is_update() && fold_.state.empty();
    return Ok{};
  }

  // A step of the fold adds a product by one operation, as the pass `contract` makes code do.
  Expr fused(Expr next) {
    const auto* sum = next.as<Op>();
    if (!sum || sum->op != OpCode::Add || !is_float(sum->type)) return next;
    const auto* product = sum->args[1].as<Op>();
    if (!product || product->op != OpCode::Mul) return next;
    return local_.op(OpCode::Fma, {product->args[0], product->args[1], sum->args[0]});
  }

  bool run_code(const Routine& code) {
    *steps_left_ -= static_cast<std::int64_t>(builder_.tape().blocks[code.block].size() + 1);
    if (*steps_left_ < 0) {
      failure_ = fail({Code::InterpretLimit,
                       equation_.span,
                       "the interpreter reached its step limit in equation `" +
                           std::string(equation_.name.text()) + "`",
                       "interpret at smaller sizes, or raise the limit",
                       {}});
      return false;
    }
    Undefined bad;
    return run(builder_.tape(), code.block, *frame_, {}, reader_, &bad) || trap(bad);
  }

  Uncertain result(Slot slot) const {
    return {*frame_->value[slot], *frame_->low[slot], *frame_->high[slot]};
  }
  std::int64_t integer(Slot slot) const { return frame_->value[slot]->i; }
  bool is_uncertain(Slot slot) const {
    return mode_.intervals && frame_->low[slot]->i != frame_->high[slot]->i;
  }

  void set(Symbol var, std::int64_t value) { frame_->value[vars_.at(var)]->i = value; }
  void set_before(const std::vector<Uncertain>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      *frame_->value[before_[i]] = values[i].value;
      if (!mode_.intervals) continue;
      *frame_->low[before_[i]] = values[i].low;
      *frame_->high[before_[i]] = values[i].high;
    }
  }

  bool values_of(const Routine& code, std::vector<Uncertain>& out) {
    if (!run_code(code)) return false;
    out.clear();
    for (Slot slot : code.slots) out.push_back(result(slot));
    out.resize(std::min(out.size(), reduction_.types.size()));
    return true;
  }

  // Every index but that of a scan, then the reduction or the scan.
  bool run_cells(std::size_t dimension) {
    if (dimension == shape_.size()) return fold_.scan ? run_scan() : run_reduction();
    const Symbol index = equation_.indices[dimension];
    if (fold_.scan && index == fold_.vars[0]) {
      along_ = dimension;
      return shape_[dimension] == 0 || run_cells(dimension + 1);
    }
    for (std::int64_t i = 0; i < shape_[dimension]; ++i) {
      set(index, i);
      if (!run_cells(dimension + 1)) return false;
    }
    return true;
  }

  void start_intervals() {
    if (any_order_) intervals_.start(reduction_.kind, reduction_.types[0], 1);
  }

  // One more term; with `any_order_` the interval is that of all terms so far.
  bool step() {
    set_before(now_);
    if (!run_code(next_)) return false;
    const std::size_t n = reduction_.types.size();
    for (std::size_t i = 0; i < n; ++i) now_[i] = result(next_.slots[i]);
    if (!any_order_) return true;
    const Uncertain term = result(next_.slots[n]);
    intervals_.add(&term.low, &term.high, 1, nullptr);
    return true;
  }

  void settle_intervals() {
    if (any_order_) intervals_.finish(&now_[0].low, &now_[0].high, 1);
  }

  bool run_reduction() {
    lost_ = false;
    live_ = false;
    if (!values_of(start_, now_)) return false;
    start_intervals();
    if (!each_term(0, [&] {
          live_ = true;
          return step();
        }))
      return false;
    settle_intervals();
    if (!live_ && !on_empty_.slots.empty() && !values_of(on_empty_, now_)) return false;
    return store(now_);
  }

  bool run_scan() {
    const Symbol index = fold_.vars[0];
    lost_ = false;
    set(index, 0);
    if (!values_of(start_, now_)) return false;
    start_intervals();
    for (std::int64_t t = 0; t < shape_[along_]; ++t) {
      set(index, t);
      if (!step()) return false;
      settle_intervals();
      if (!store(now_)) return false;
    }
    return true;
  }

  // Terms in lexicographic order, where the condition holds.
  bool each_term(std::size_t depth, const std::function<bool()>& f) {
    if (depth == fold_.vars.size()) {
      if (where_.slots.empty()) return f();
      if (!run_code(where_)) return false;
      lost_ |= is_uncertain(where_.slots[0]);
      return integer(where_.slots[0]) == 0 || f();
    }
    const Routine& bounds = bounds_[depth];
    if (!run_code(bounds)) return false;
    lost_ |= is_uncertain(bounds.slots[0]) || is_uncertain(bounds.slots[1]);
    const std::int64_t lower = integer(bounds.slots[0]);
    const std::int64_t upper = integer(bounds.slots[1]);
    for (std::int64_t i = lower; i < upper; ++i) {
      set(fold_.vars[depth], i);
      if (!each_term(depth + 1, f)) return false;
    }
    return true;
  }

  bool run_update() {
    if (!each_cell(0, [&] { return values_of(start_, now_) && store(now_); })) return false;
    lost_ = false;
    if (!each_term(0, [&] { return run_code(at_) && update_cell(); })) return false;
    // A term that may go elsewhere leaves nothing to say about any cell.
    if (lost_)
      for (std::size_t p = 0; p < results_.size(); ++p)
        for (std::size_t i = 0; i < results_[p].value->data.size(); ++i) forget(p, i);
    return true;
  }

  bool each_cell(std::size_t dimension, const std::function<bool()>& f) {
    if (dimension == shape_.size()) return f();
    for (std::int64_t i = 0; i < shape_[dimension]; ++i) {
      set(equation_.indices[dimension], i);
      if (!each_cell(dimension + 1, f)) return false;
    }
    return true;
  }

  bool update_cell() {
    std::int64_t offset = 0;
    std::string cell;
    bool inside = true;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      const std::int64_t i = integer(at_.slots[d]);
      lost_ |= is_uncertain(at_.slots[d]);
      inside = inside && i >= 0 && i < shape_[d];
      offset += inside ? i * strides_[d] : 0;
      cell += (d ? ", " : "") + std::to_string(i);
    }
    if (!inside) {
      Diagnostic out{Code::CellOutOfBounds,
                     equation_.span,
                     "a term of `" + std::string(equation_.name.text()) + "` goes outside of it",
                     "declare the range of the indices, or leave the term out with `where`",
                     {}};
      out.evidence.emplace_back("cell", std::string(equation_.name.text()) + "[" + cell + "]");
      return refuse(std::move(out));
    }
    const auto at = static_cast<std::size_t>(offset);
    for (std::size_t p = 0; p < results_.size(); ++p) {
      now_[p] = certain(results_[p].value->data[at]);
      if (mode_.intervals)
        now_[p].low = (*results_[p].low)[at], now_[p].high = (*results_[p].high)[at];
    }
    if (!step()) return false;
    write(at, now_);
    return true;
  }

  bool store(std::vector<Uncertain> values) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < shape_.size(); ++d)
      offset += frame_->value[vars_.at(equation_.indices[d])]->i * strides_[d];
    const ScalarType from = reduction_.types[0];
    if (equation_.parts.empty() && from != equation_.type) {
      const Kernel kernel =
          cast_kernel(builder_.in_reading(from), builder_.in_reading(equation_.type));
      Uncertain& v = values[0];
      if (builder_.in_reading(from) != builder_.in_reading(equation_.type) &&
          kernel(&v.value, &v.value, nullptr, nullptr, 1, nullptr) >= 0)
        return trap({});
      if (mode_.intervals) interval_cast(from, equation_.type, &v.low, &v.high, &v.low, &v.high, 1);
    }
    write(static_cast<std::size_t>(offset), values);
    if (lost_ && mode_.intervals)
      for (std::size_t p = 0; p < results_.size(); ++p) forget(p, static_cast<std::size_t>(offset));
    return true;
  }

  void write(std::size_t at, const std::vector<Uncertain>& values) {
    for (std::size_t p = 0; p < results_.size(); ++p) {
      results_[p].value->data[at] = values[p].value;
      if (!mode_.intervals) continue;
      (*results_[p].low)[at] = values[p].low;
      (*results_[p].high)[at] = values[p].high;
      results_[p].certain &= values[p].low.i == values[p].high.i;
      if (is_float(results_[p].value->type) && std::isnan(values[p].value.f)) forget(p, at);
    }
  }

  void forget(std::size_t part, std::size_t at) {
    if (!mode_.intervals) return;
    no_claim(results_[part].value->type, &(*results_[part].low)[at], &(*results_[part].high)[at]);
    results_[part].certain = false;
  }

  bool refuse(Diagnostic out) {
    for (const auto& names : {equation_.indices, {fold_.vars.begin(), fold_.vars.end()}})
      for (Symbol name : names)
        if (vars_.contains(name))
          out.evidence.emplace_back(name.text(), std::to_string(frame_->value[vars_.at(name)]->i));
    for (const ExtentDecl& extent : algorithm_.extents)
      out.evidence.emplace_back(extent.name.text(), std::to_string(bindings_.at(extent.name)));
    failure_ = fail(std::move(out));
    return false;
  }

  bool trap(const Undefined& bad) {
    Diagnostic out{Code::UndefinedOperation, equation_.span, "", "", {}};
    const std::string what = bad.instr && bad.instr->expr ? print(bad.instr->expr) : "the cast";
    const bool reads = bad.instr && bad.instr->kind == Instr::Kind::Read;
    if (reads) out.code = Code::CellOutOfBounds;
    out.message = "`" + what + (reads ? "` reads outside of its tensor" : "` has no value here");
    out.remedy = reads ? "declare the range of the indices, or narrow the domain"
                       : "guard it with select, or state with `requires` what makes it defined";
    for (const ReadSite::Part& part :
         reads ? builder_.tape().reads[bad.instr->site].parts : std::vector<ReadSite::Part>())
      out.evidence.emplace_back("index", std::to_string(frame_->value[part.slot]->i));
    return refuse(std::move(out));
  }

  const Algorithm& algorithm_;
  const Equation& equation_;
  const Bindings& bindings_;
  const Fold& fold_;
  const EquationMode mode_;
  std::span<EquationResult> results_;
  std::int64_t* steps_left_;
  Context local_;
  CellReader reader_;
  TapeBuilder builder_;
  std::unique_ptr<TapeFrame> frame_;
  Reduction reduction_;
  std::unordered_map<Symbol, Slot> vars_;
  std::vector<Slot> before_;
  std::vector<Routine> bounds_;
  Routine start_, where_, at_, on_empty_, next_;
  FoldIntervals intervals_;
  bool any_order_ = false;
  std::vector<std::int64_t> shape_, strides_;
  std::size_t along_ = 0;
  std::vector<Uncertain> now_;
  bool live_ = false;
  bool lost_ = false;
  std::optional<Failure> failure_;
};

}  // namespace

Result<Ok> run_fold(const EquationContext& context, const EquationMode& mode,
                    std::span<EquationResult> results, std::int64_t* steps_left) {
  return FoldRun(context, mode, results, steps_left).execute();
}

}  // namespace tilewright::ir

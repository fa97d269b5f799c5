// SPDX-License-Identifier: Apache-2.0
//
// Buffers in the order in which they are made of each other. Those that are made of themselves are worked out
// together: what one step adds, times the steps that a value can go through, times what a step makes larger.
#include "lowering/rounding/static_bounds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"
#include "lowering/program/call.h"
#include "lowering/rounding/index_sizes.h"
#include "lowering/rounding/transfer.h"

namespace tilewright::rounding {

namespace {

using ir::Expr;
using program::LoopKind;
using program::Stmt;

constexpr double kInf = std::numeric_limits<double>::infinity();

// A store, or the result of a described instruction.
struct Write {
  Symbol buffer;
  std::vector<Expr> cell;  // names of `let`s replaced
  Expr value;
  const program::Call* call = nullptr;
  std::vector<LoopRange> loops;
  std::string statement;
};

struct Buffer {
  ir::ScalarType type = ir::ScalarType::F32;
  std::size_t depth = 0;  // loops around it
  bool is_input = false;
  std::vector<std::size_t> writes = {};
  std::set<Symbol> sources = {};
  // Worked out.
  bool is_known = false;
  Bound bound = {};
};

class Solver {
 public:
  Solver(ir::Context& context, const program::Program& program, const Units& units)
      : context_(context),
        program_(program),
        sizes_(context, program),
        transfer_(units, out_,
                  {[this](const ir::Read& read) { return read_of(read.tensor); },
                   [this](Expr index) { return sizes_.size(replaced(index)); },
                   [this](Expr index) { return sizes_.least(replaced(index)); }}) {}

  Result<StaticBounds> run() {
    for (const program::Parameter& parameter : program_.parameters) {
      if (ir::is_complex(parameter.type)) return refuse("complex numbers");
      Buffer buffer{parameter.type};
      buffer.is_input = !parameter.is_output || parameter.is_inout;
      buffers_[parameter.name] = buffer;
    }
    TILEWRIGHT_CHECK_OK(collect(program_.body));
    for (auto& [name, buffer] : buffers_) find_sources(buffer);
    for (const auto& group : groups()) solve(group);
    for (const program::Parameter& parameter : program_.parameters) {
      if (!parameter.is_output) continue;
      const std::string name(parameter.name.text());
      out_.outputs.push_back(
          {parameter.name, "|" + name + "|", "err(" + name + ")", !ir::is_float(parameter.type)});
    }
    return std::move(out_);
  }

 private:
  Failure refuse(const std::string& what) const {
    return fail(Code::ProofUnknown, Span{}, "no rounding bound of " + what,
                "state the Program for one thread of a host, over real numbers");
  }
  Expr replaced(Expr expr) const {
    return scalars_.empty() ? expr : ir::substitute(context_, expr, scalars_);
  }

  // ---- what is written where ----

  Result<Ok> collect(Stmt stmt) {
    if (!stmt) return Ok{};
    if (const auto* block = stmt.as<program::Block>()) {
      for (Stmt child : block->body) TILEWRIGHT_CHECK_OK(collect(child));
      return Ok{};
    }
    if (const auto* loop = stmt.as<program::For>()) {
      loops_.push_back({loop->var, replaced(loop->lower), replaced(loop->upper), loop->loop});
      sizes_.enter(loops_.back());
      TILEWRIGHT_CHECK_OK(collect(loop->body));
      loops_.pop_back();
      return Ok{};
    }
    if (const auto* branch = stmt.as<program::If>()) {
      TILEWRIGHT_CHECK_OK(collect(branch->then_body));
      return collect(branch->else_body);
    }
    if (const auto* let = stmt.as<program::Let>()) {
      if (ir::is_complex(let->value.type())) return refuse("complex numbers");
      if (let->value.type() == ir::ScalarType::Index) scalars_[let->var] = replaced(let->value);
      transfer_.let(let->var, let->value);
      return collect(let->body);
    }
    if (const auto* ring = stmt.as<program::Ring>()) {
      const Expr depth = context_.index(ring->depth);
      scalars_[ring->slot] = context_.floor_mod(replaced(ring->use), depth);
      scalars_[ring->phase] = context_.floor_div(replaced(ring->use), depth);
      return collect(ring->body);
    }
    if (const auto* alloc = stmt.as<program::Alloc>()) {
      if (ir::is_complex(alloc->type)) return refuse("complex numbers");
      buffers_[alloc->buffer] = {alloc->type, loops_.size()};
      return collect(alloc->body);
    }
    if (const auto* store = stmt.as<program::Store>()) {
      Write write{store->buffer, {}, store->value, nullptr, loops_, program::headline(stmt)};
      for (Expr index : store->indices) write.cell.push_back(replaced(index));
      writes_.push_back(std::move(write));
      return Ok{};
    }
    if (const auto* call = stmt.as<program::Call>()) return collect_call(stmt, *call);
    if (stmt.as<program::Prefetch>()) return Ok{};
    return refuse("`" + program::headline(stmt) + "`");
  }

  Result<Ok> collect_call(Stmt stmt, const program::Call& call) {
    const auto meaning = meaning_of(call);
    if (!meaning) return refuse("the call `" + std::string(call.callee.text()) + "`");
    for (program::Tile tile : call.operands) {
      if (tile->operand != meaning->result.name) continue;
      Write write{tile->buffer, {}, {}, &call, loops_, program::headline(stmt)};
      for (Expr index : tile->indices) write.cell.push_back(replaced(index));
      writes_.push_back(std::move(write));
    }
    return Ok{};
  }

  std::optional<machine::Meaning> meaning_of(const program::Call& call) const {
    const program::Intrinsic* intrinsic = program_.find_intrinsic(call.callee);
    return intrinsic ? program::description_of(context_, *intrinsic) : std::nullopt;
  }

  void add_reads(Expr expr, std::set<Symbol>& out, std::set<const void*>& seen) {
    if (!seen.insert(expr.node()).second) return;
    if (const auto* read = expr.as<ir::Read>()) {
      out.insert(read->tensor);
      return;
    }
    const Expr value = transfer_.resolved(expr);
    if (!(value == expr)) return add_reads(value, out, seen);
    ir::for_each_child(expr, [&](Expr child) { add_reads(child, out, seen); });
  }

  std::set<Symbol> reads_of(const Write& write) {
    std::set<Symbol> out;
    if (write.call) {
      for (program::Tile tile : write.call->operands)
        if (tile->operand != meaning_of(*write.call)->result.name) out.insert(tile->buffer);
      return out;
    }
    std::set<const void*> seen;
    add_reads(write.value, out, seen);
    return out;
  }

  void find_sources(Buffer& buffer) {
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      const auto found = buffers_.find(writes_[i].buffer);
      if (found == buffers_.end() || &found->second != &buffer) continue;
      buffer.writes.push_back(i);
      buffer.sources.merge(reads_of(writes_[i]));
    }
  }

  // ---- order ----

  // Buffers that are made of each other, sources first.
  std::vector<std::vector<Symbol>> groups() {
    std::map<Symbol, std::set<Symbol>> reach;
    for (const auto& [name, buffer] : buffers_) {
      std::vector<Symbol> open(buffer.sources.begin(), buffer.sources.end());
      while (!open.empty()) {
        const Symbol next = open.back();
        open.pop_back();
        if (!buffers_.contains(next) || !reach[name].insert(next).second) continue;
        open.insert(open.end(), buffers_[next].sources.begin(), buffers_[next].sources.end());
      }
    }
    std::vector<std::vector<Symbol>> out;
    std::set<Symbol> done;
    while (done.size() < buffers_.size()) {
      for (const auto& [name, buffer] : buffers_) {
        if (done.contains(name)) continue;
        const bool ready = std::all_of(reach[name].begin(), reach[name].end(), [&](Symbol source) {
          return done.contains(source) || reach[source].contains(name) || source == name;
        });
        if (!ready) continue;
        std::vector<Symbol> group;
        for (const auto& [other, its] : buffers_)
          if (other == name || (reach[name].contains(other) && reach[other].contains(name)))
            group.push_back(other);
        done.insert(group.begin(), group.end());
        out.push_back(std::move(group));
        break;
      }
    }
    return out;
  }

  // ---- sizes and errors ----

  Bound read_of(Symbol name) {
    if (group_.contains(name)) return own_;
    const auto found = buffers_.find(name);
    if (found == buffers_.end() || !found->second.is_known)
      return {Formula::name("unbounded"), Formula::name("unbounded"), 0.0, 0.0};
    return found->second.bound;
  }

  Bound bound_of(const Write& write) {
    if (!write.call) return transfer_.of(write.value, write.statement);
    const auto meaning = meaning_of(*write.call);
    const auto operand = [&](std::size_t i) {
      for (program::Tile tile : write.call->operands)
        if (tile->operand == meaning->operands[i].name) return read_of(tile->buffer);
      return Bound{};
    };
    double terms = 1;
    for (std::size_t d = meaning->num_results; d < meaning->dims.size(); ++d)
      terms *= static_cast<double>(meaning->lengths[d]);
    return transfer_.dot(meaning->result.type, operand(meaning->accumulator),
                         operand(meaning->left), operand(meaning->right), terms,
                         meaning->unit.subnormals);
  }

  static std::string list(const std::vector<Symbol>& names) {
    std::string out;
    for (Symbol name : names) out += (out.empty() ? "" : ",") + std::string(name.text());
    return out;
  }

  void define(const std::string& name, const Formula& value) {
    out_.definitions.push_back({name, value});
  }

  // Reads of integers have the bound of their type, and how they came about is a decision: they are left out.
  void solve(const std::vector<Symbol>& all) {
    std::vector<Symbol> group;
    for (Symbol name : all) {
      if (ir::is_float(buffers_[name].type)) group.push_back(name);
      buffers_[name].is_known = true;
    }
    if (group.empty()) return;
    bool is_given = false;
    std::vector<std::size_t> writes;
    for (Symbol name : group) {
      const Buffer& buffer = buffers_[name];
      is_given = is_given || buffer.is_input;
      writes.insert(writes.end(), buffer.writes.begin(), buffer.writes.end());
    }
    const std::string name = list(group);
    Bound result;
    if (is_given && writes.empty()) {
      result.size = Formula::name("|" + name + "|");
    } else {
      const Formula given = is_given ? Formula::name("|" + name + "| given") : Formula(0.0);
      group_ = {group.begin(), group.end()};
      const double least = nonnegative(writes) && !is_given ? 0 : -kInf;
      const std::size_t facts = out_.ranges.size();
      own_ = Bound{0.0, 0.0, 1.0, 0.0, least, kInf, false};
      define("|" + name + "|", total(group, writes, true, given));
      // Ranges are those of the second look, which has the sizes.
      out_.ranges.resize(facts);
      result.size = Formula::name("|" + name + "|");
      own_ = Bound{result.size, 0.0, 0.0, 1.0, least, kInf, false};
      transfer_.set_own_error(Formula::name("err(" + name + ")"));
      define("err(" + name + ")", total(group, writes, false, 0.0));
      result.error = Formula::name("err(" + name + ")");
      result.least = least;
      group_.clear();
      double limit = kInf;
      for (Symbol one : group) limit = std::min(limit, ir::largest_finite(buffers_[one].type));
      out_.ranges.push_back({result.size + result.error, limit});
    }
    for (Symbol one : group) {
      buffers_[one].is_known = true;
      buffers_[one].bound = result;
    }
    // Outputs are asked for by their own names.
    if (group.size() > 1 && !writes.empty())
      for (Symbol one : group) {
        define("|" + std::string(one.text()) + "|", result.size);
        define("err(" + std::string(one.text()) + ")", result.error);
      }
  }

  // Of all cells ever, given that what is read from the group is.
  bool nonnegative(const std::vector<std::size_t>& writes) {
    const std::size_t ranges = out_.ranges.size();
    own_ = Bound{0.0, 0.0, 1.0, 0.0, 0, kInf, false};
    bool all = true;
    for (std::size_t i : writes) all = all && bound_of(writes_[i]).least >= 0;
    out_.ranges.resize(ranges);
    return all;
  }

  // How often a value may go through this write on its way.
  Formula steps(const std::vector<Symbol>& group, const Write& write) {
    std::size_t depth = write.loops.size();
    for (Symbol name : group) depth = std::min(depth, buffers_[name].depth);
    std::vector<LoopRange> loops(write.loops.begin() + static_cast<std::ptrdiff_t>(depth),
                                 write.loops.end());
    if (group.size() == 1 && keeps_cell(write)) return sizes_.visits(loops, write.cell);
    // Lanes act together, and iterations of a parallel loop know nothing of each other.
    std::erase_if(loops, [](const LoopRange& loop) {
      return loop.kind == LoopKind::Vector || loop.kind == LoopKind::Parallel;
    });
    return sizes_.visits(loops, {});
  }

  // Reads of its own buffer are of the cell that it writes.
  bool keeps_cell(const Write& write) const {
    if (write.call) {
      for (program::Tile tile : write.call->operands) {
        if (tile->buffer != write.buffer) continue;
        for (std::size_t d = 0; d < write.cell.size(); ++d)
          if (!(replaced(tile->indices[d]) == write.cell[d])) return false;
      }
      return true;
    }
    bool same = true;
    std::set<const void*> seen;
    const std::function<void(Expr)> look = [&](Expr expr) {
      if (!seen.insert(expr.node()).second) return;
      if (const auto* read = expr.as<ir::Read>()) {
        if (read->tensor != write.buffer) return;
        for (std::size_t d = 0; d < write.cell.size(); ++d)
          same = same && replaced(read->indices[d]) == write.cell[d];
        return;
      }
      const Expr value = transfer_.resolved(expr);
      if (!(value == expr)) return look(value);
      ir::for_each_child(expr, look);
    };
    look(write.value);
    return same;
  }

  // The start, and what all steps add, times what the steps make larger.
  Formula total(const std::vector<Symbol>& group, const std::vector<std::size_t>& writes,
                bool of_sizes, Formula start) {
    Formula exponent(0.0);
    Formula merges(1.0);
    // Copies that were unrolled say the same: by what they add and how often.
    struct Step {
      Formula amount;
      Formula count;
      double copies = 0;
    };
    std::map<std::string, Step> all;
    std::set<std::string> starts;
    std::vector<std::size_t> adding;
    std::vector<std::size_t> merged;
    for (std::size_t i : writes) {
      const Write& write = writes_[i];
      const Bound bound = bound_of(write);
      const Formula& amount = of_sizes ? bound.size : bound.error;
      const Formula& own = of_sizes ? bound.own_size : bound.own_error;
      const bool larger = !(own.is_number() && own.number() <= 1);
      // A choice between what there was and something else adds nothing.
      if (own.is_zero() || (!bound.grows && !larger)) {
        if (starts.insert(amount.text()).second) start = Formula::larger(start, amount);
        continue;
      }
      const Formula count = steps(group, write);
      Step& step = all[amount.text() + " by " + count.text()];
      step = {amount, count, step.copies + 1};
      (merging(write) ? merged : adding).push_back(i);
      // own^count, where the logarithm of what is near 1 is at most its distance from it.
      if (larger)
        exponent =
            exponent + count * (own.is_number() ? Formula(std::log(own.number()) * (1 + 0x1p-40))
                                                : Formula::larger(own - Formula(1.0), 0.0));
      if (merging(write)) merges = merges + count;
    }
    // A value that is merged may have been added to in each of the cells that it has gone through, unless all that
    // is over by then.
    if (in_turn(group, adding, merged)) merges = 1.0;
    Formula added(0.0);
    for (const auto& [text, step] : all)
      added = added + Formula(step.copies) * step.amount * step.count * merges;
    const Formula whole = start + added;
    return exponent.is_zero() ? whole : whole * Formula::exp(exponent);
  }

  // Every merge comes after every addition, and no loop leads back.
  bool in_turn(const std::vector<Symbol>& group, const std::vector<std::size_t>& adding,
               const std::vector<std::size_t>& merged) const {
    std::size_t depth = 1000;
    for (Symbol name : group) depth = std::min(depth, buffers_.at(name).depth);
    for (std::size_t a : adding)
      for (std::size_t m : merged) {
        const auto& x = writes_[a].loops;
        const auto& y = writes_[m].loops;
        const bool shared = x.size() > depth && y.size() > depth && x[depth].var == y[depth].var &&
                            x[depth].kind != LoopKind::Vector;
        if (m < a || shared) return false;
      }
    return true;
  }

  bool merging(const Write& write) const { return !keeps_cell(write); }

  ir::Context& context_;
  const program::Program& program_;
  StaticBounds out_;
  IndexSizes sizes_;
  Transfer transfer_;
  std::map<Symbol, Buffer> buffers_;
  std::vector<Write> writes_;
  std::vector<LoopRange> loops_;
  ir::Substitution scalars_;
  std::set<Symbol> group_;
  Bound own_;
};

}  // namespace

Names StaticBounds::evaluate(Names given) const {
  for (const Definition& one : definitions) given[one.name] = one.value.evaluate(given);
  const bool fits = std::all_of(ranges.begin(), ranges.end(), [&](const Range& range) {
    return range.size.evaluate(given) <= range.limit;
  });
  if (!fits)
    for (const OutputBound& output : outputs)
      if (!output.exact) given[output.error] = kInf;
  return given;
}

Result<StaticBounds> static_bounds(ir::Context& context, const program::Program& program,
                                   const Units& units) {
  return Solver(context, program, units).run();
}

}  // namespace tilewright::rounding

// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/call_values.h"

#include <map>

#include "frontend/ir/walk.h"

namespace tilewright::proof {

namespace {

constexpr std::int64_t kMaxTerms = 64;  // of a fold that is written out

class Description {
 public:
  Description(ir::Context& context, const program::Intrinsic& intrinsic, const program::Call& call)
      : context_(context), meaning_(intrinsic.meaning) {
    for (program::Tile tile : call.operands) {
      tiles_[tile->operand] = tile;
      // The lengths of the tiles are the sizes of the description.
      const std::vector<Expr>* shape = meaning_.shape_of(tile->operand);
      for (std::size_t d = 0; shape && d < shape->size() && d < tile->lengths.size(); ++d)
        if (const auto* extent = (*shape)[d].as<ir::Extent>())
          sizes_[extent->name] = tile->lengths[d];
    }
  }

  Result<std::vector<CallOutput>> outputs(std::string_view prefix) {
    std::vector<CallOutput> out;
    for (const ir::Equation* equation : meaning_.outputs()) {
      const auto tile = tiles_.find(equation->name);
      if (tile == tiles_.end() || !equation->parts.empty())
        return refuse("an output without a tile");
      CallOutput one;
      std::vector<Expr> indices;
      for (std::size_t d = 0; d < equation->indices.size(); ++d) {
        const Symbol lane = context_.symbol(std::string(prefix) + std::to_string(out.size()) + "." +
                                            std::to_string(d));
        one.lanes.push_back({lane, tile->second->lengths[d]});
        indices.push_back(context_.var(lane));
      }
      one.buffer = tile->second->buffer;
      one.cell = cell_of(tile->second, indices);
      TILEWRIGHT_TRY(value, this->value(*equation, indices));
      one.value = value;
      out.push_back(std::move(one));
    }
    return out;
  }

 private:
  Failure refuse(const std::string& what) const {
    return fail(Code::ProofUnknown, Span{},
                "the proof cannot write out `" + std::string(meaning_.name.text()) + "`: " + what,
                "describe the instruction by sums of known length");
  }

  std::vector<Expr> cell_of(program::Tile tile, const std::vector<Expr>& indices) {
    std::vector<Expr> cell(tile->indices.begin(), tile->indices.end());
    for (std::size_t d = 0; d < indices.size(); ++d) {
      Expr& index = cell[static_cast<std::size_t>(tile->sliced[d])];
      index = context_.add(index, indices[d]);
    }
    return cell;
  }

  Result<Expr> value(const ir::Equation& equation, const std::vector<Expr>& indices) {
    ir::Substitution at = sizes_;
    for (std::size_t d = 0; d < indices.size(); ++d) at[equation.indices[d]] = indices[d];
    return written_out(ir::substitute(context_, equation.value, at));
  }

  Result<Expr> written_out(Expr expr) {
    if (const auto* fold = expr.as<ir::Fold>()) return terms(*fold);
    if (const auto* read = expr.as<ir::Read>()) {
      std::vector<Expr> indices;
      for (Expr index : read->indices) {
        TILEWRIGHT_TRY(written, written_out(index));
        indices.push_back(written);
      }
      if (const ir::Equation* equation = meaning_.definition(read->tensor))
        return value(*equation, indices);
      const auto tile = tiles_.find(read->tensor);
      if (tile == tiles_.end()) return refuse("an operand without a tile");
      return context_.read(tile->second->buffer, cell_of(tile->second, indices), expr.type());
    }
    std::optional<Failure> failure;
    const Expr out = ir::rebuild(context_, expr, [&](Expr child) {
      auto written = written_out(child);
      if (!written.ok()) failure = Failure{written.diagnostics()};
      return written.ok() ? *written : child;
    });
    if (failure) return *failure;
    return out;
  }

  Result<Expr> terms(const ir::Fold& fold) {
    const ir::Monoid monoid = fold.monoid_kind();
    if (!fold.is_plain() || fold.vars.size() != 1)
      return refuse("a fold other than a plain one over one variable");
    const auto* lower = fold.lower[0].as<ir::IntConst>();
    const auto* upper = fold.upper[0].as<ir::IntConst>();
    const std::int64_t first = fold.lower[0] ? (lower ? lower->value : -1) : 0;
    if (first < 0 || upper == nullptr || upper->value - first > kMaxTerms)
      return refuse("a fold whose length is no small number");
    const ir::OpCode op = ir::monoid_op(monoid);
    Expr sum;
    for (std::int64_t i = first; i < upper->value; ++i) {
      TILEWRIGHT_TRY(term, written_out(ir::substitute(context_, fold.body[0],
                                                      {{fold.vars[0], context_.index(i)}})));
      sum = sum ? context_.op(op, {sum, term}) : term;
    }
    return sum ? sum : context_.monoid_identity(monoid, fold.body[0].type());
  }

  ir::Context& context_;
  const ir::Algorithm& meaning_;
  std::map<Symbol, program::Tile> tiles_;
  ir::Substitution sizes_;
};

}  // namespace

Result<std::vector<CallOutput>> outputs_of(ir::Context& context, const program::Program& program,
                                           const program::Call& call, std::string_view prefix) {
  const program::Intrinsic* intrinsic = program.find_intrinsic(call.callee);
  if (intrinsic == nullptr)
    return fail(Code::ProofUnknown, Span{},
                "`" + std::string(call.callee.text()) + "` is not described",
                "describe it in the Program");
  return Description(context, *intrinsic, call).outputs(prefix);
}

}  // namespace tilewright::proof

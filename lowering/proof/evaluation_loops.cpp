// SPDX-License-Identifier: Apache-2.0
//
// Loops of the algorithm: what an iteration of the Program finds is what the one of the algorithm finds.
#include <algorithm>

#include "frontend/algebra/from_expr.h"
#include "lowering/proof/evaluation.h"
#include "lowering/proof/names.h"

namespace tilewright::proof {

using poly::BasicSet;
using poly::Set;

Term Evaluation::handed_on(const Statement& one) {
  for (const Carried& carried : tools_.algorithm.carried()) {
    if (!(carried.next == one.marked)) continue;
    const std::size_t around = carried.indices.size() - one.mark.size();
    if (one.mark.size() > carried.indices.size() || around > one.loops.size()) continue;
    std::vector<Term> cell;
    for (std::size_t i = 0; i < around; ++i)
      cell.push_back(tools_.translator.variable(one.loops[i].name));
    for (Expr index : one.mark) cell.push_back(stated(index));
    return tools_.algorithm.cell(carried.next, cell);
  }
  return {};
}

Result<std::vector<Piece>> Evaluation::as_carried(std::vector<Piece> pieces) {
  if (pieces.size() < 2) return pieces;
  for (const Carried& carried : tools_.algorithm.carried()) {
    std::vector<Term> unknowns;
    for (std::size_t i = 0; i < carried.indices.size(); ++i)
      unknowns.push_back(tools_.terms.variable(
          tools_.context.symbol("?" + std::string(carried.indices[i].text()))));
    algebra::Leaves leaves;
    leaves.variable = [&](Symbol name) -> Term {
      for (std::size_t i = 0; i < unknowns.size(); ++i)
        if (carried.indices[i] == name) return unknowns[i];
      return {};
    };
    const Term starts = algebra::from_expr(tools_.terms, carried.starts, leaves);
    const Term continues = algebra::from_expr(tools_.terms, carried.continues, leaves);
    for (const Piece& first : pieces) {
      if (!first.value || tools_.terms.monomials(first.value).size() != 1) continue;
      const auto match = tools_.terms.match(continues, unknowns, first.value);
      if (!match || match->values.size() != unknowns.size() ||
          !(match->factor == tools_.terms.integer(1)))
        continue;
      std::vector<Term> cell;
      for (Term unknown : unknowns)
        for (const auto& [name, value] : match->values)
          if (name == unknown) cell.push_back(value);
      const auto iteration = tools_.translator.affine(cell[carried.loop]);
      if (!iteration) continue;
      bool all = true;
      for (const Piece& piece : pieces) {
        BasicSet when;
        const bool is_first =
            piece.value && piece.value == tools_.terms.substitute(starts, match->values);
        if (is_first)
          when.equal(*iteration, AffineExpr());
        else
          when.at_least(*iteration, AffineExpr(1));
        const bool is_next =
            piece.value && piece.value == tools_.terms.substitute(continues, match->values);
        all = all && (is_first || is_next);
        if (!all) break;
        TILEWRIGHT_TRY(inside, poly::is_subset(tools_.polyhedra, piece.where,
                                               Set(piece.where.space(), when), tools_.limits));
        all = inside;
        if (!all) break;
      }
      if (!all) continue;
      Piece out;
      out.where = pieces[0].where;
      for (const Piece& piece : pieces) {
        TILEWRIGHT_TRY(where, poly::unite(tools_.polyhedra, out.where, piece.where, tools_.limits));
        out.where = std::move(where);
      }
      out.value = tools_.algorithm.cell(carried.name, cell);
      std::vector<Piece> single;
      single.push_back(std::move(out));
      return single;
    }
  }
  tools_.forget();
  return pieces;
}

}  // namespace tilewright::proof

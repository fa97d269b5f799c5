// SPDX-License-Identifier: Apache-2.0
//
// The algebraic steps of a schedule: algorithm -> algorithm. A step judges its side conditions on the
// equations themselves and refuses (E0326) with the condition that fails and where; it knows monoids,
// products and bounds, and no operator. Law: the derived algorithm is well formed and has the inputs and
// outputs of the one before, with the same values over the reals wherever those are defined
// (tests/laws/derive_test.cpp). Rounding is judged on the derived algorithm.
#pragma once

#include "schedules/tree/tree.h"

namespace tilewright::tree {

struct Derivation {
  ir::Algorithm algorithm;
  Symbol reshaped;  // the equation whose dimensions differ from before, if any
  std::vector<Symbol> added;  // before their only reader
  std::vector<Symbol> removed;  // what nothing reads any more
};

Result<Derivation> derive(ir::Context& context, const ir::Algorithm& algorithm,
                          const AlgebraStep& step);

// All steps in order.
Result<ir::Algorithm> derive(ir::Context& context, const ir::Algorithm& algorithm,
                             const std::vector<AlgebraStep>& steps);
// Whether some step rounds where the algorithm does not. Another order of folding does not count, since the
// bound of an algorithm is for every order; that of a declared monoid is for the order of the terms alone.
bool rounds_otherwise(const ir::Algorithm& algorithm, const std::vector<AlgebraStep>& steps);

// Adds the step to the tree: new equations get a plain nest before their reader, reshaped ones a plain nest in
// the place of theirs. Refuses (E0326) where loops of an equation that the step changes were changed already.
Result<Ok> add_step(ir::Context& context, const ir::Algorithm& original, Tree& tree,
                    const AlgebraStep& step);

// The span of the word to blame, the equation that the step is about.
Span place_of(const AlgebraStep& step);

// For the files of the steps.
Failure refuse_step(Span place, std::string message, std::string remedy,
                    std::vector<std::pair<std::string, std::string>> evidence);
Result<Derivation> split_reduction(ir::Context& context, const ir::Algorithm& algorithm,
                                   const SplitReductionStep& step);
Result<Derivation> defer(ir::Context& context, const ir::Algorithm& algorithm,
                         const DeferStep& step);
Result<Derivation> recompute(ir::Context& context, const ir::Algorithm& algorithm,
                             const RecomputeStep& step);
// `c.part`, or `c.part_2`, ...: a path that the algorithm does not have.
Symbol path_below(ir::Context& context, const ir::Algorithm& algorithm, Symbol equation,
                  std::string_view part);
// The tensors of an equation of this name whose value is the fold, where those are several; else none.
std::vector<ir::TensorPart> parts_below(ir::Context& context, const ir::Algorithm& algorithm,
                                        Symbol name, const ir::Fold& fold);
// `c.some[i] = or(k where ...) true`, whether a reduction has terms: over its variables, with the given name.
ir::Equation has_terms(ir::Context& context, const ir::Equation& reduction, Symbol name);
// Whether any equation reads a tensor of this one.
bool is_read(const ir::Algorithm& algorithm, const ir::Equation& equation);

}  // namespace tilewright::tree

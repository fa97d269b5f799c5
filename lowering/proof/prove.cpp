// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/prove.h"

#include <algorithm>
#include <iterator>

#include "frontend/ir/walk.h"

#include "lowering/check/check.h"
#include "lowering/proof/claims.h"
#include "lowering/proof/defined.h"
#include "lowering/proof/synchronised.h"
#include "lowering/proof/width.h"

namespace tilewright::proof {

std::string_view verdict_text(Verdict verdict) {
  constexpr std::string_view kTexts[] = {"proved", "refuted", "unknown"};
  return kTexts[static_cast<int>(verdict)];
}

std::string_view obligation_text(ObligationKind kind) {
  constexpr std::string_view kTexts[] = {"bounds",   "width",   "initialised", "apart",
                                         "written",  "value",   "defined",     "phases",
                                         "progress", "ordered", "complete",    "rounding"};
  return kTexts[static_cast<int>(kind)];
}

namespace {

class Prover {
 public:
  Prover(ir::Context& context, const ir::Algorithm& algorithm, const ProveOptions& options,
         const program::Program& program, Statements statements)
      : context_(context),
        options_(options),
        algorithm_(algorithm),
        program_(program),
        statements_(std::move(statements)),
        translator_(context, terms_, statements_.extents()),
        algorithm_terms_(context, terms_, algorithm),
        claims_(context, statements_, polyhedra_, terms_, translator_, algorithm_terms_) {}

  Result<Proof> run() {
    TILEWRIGHT_TRY(bounds, out_of_bounds(statements_, polyhedra_));
    TILEWRIGHT_CHECK_OK(faults(ObligationKind::Bounds, bounds));
    width();
    TILEWRIGHT_TRY(races, conflicts(statements_, polyhedra_));
    TILEWRIGHT_CHECK_OK(faults(ObligationKind::Apart, races));
    TILEWRIGHT_CHECK_OK(claims_.find([&](std::size_t number, std::size_t pieces) {
      if (options_.progress) options_.progress(line(number), pieces);
    }));
    if (statements_.has_agents) TILEWRIGHT_CHECK_OK(synchronised());
    TILEWRIGHT_CHECK_OK(initialised());
    TILEWRIGHT_CHECK_OK(add_claims());
    for (const Buffer& buffer : statements_.buffers)
      if (buffer.kind == Buffer::Kind::Output || buffer.kind == Buffer::Kind::Inout)
        TILEWRIGHT_CHECK_OK(output(buffer));
    TILEWRIGHT_CHECK_OK(defined());
    rounding();
    out_.verdict = Verdict::Proved;
    for (const Obligation& one : out_.obligations) {
      if (one.verdict == Verdict::Refuted) out_.verdict = Verdict::Refuted;
      if (one.verdict == Verdict::Unknown && out_.verdict == Verdict::Proved)
        out_.verdict = Verdict::Unknown;
    }
    if (options_.wants_reasons && out_.verdict == Verdict::Proved)
      TILEWRIGHT_CHECK_OK(give_reasons());
    return std::move(out_);
  }

 private:
  Result<Ok> give_reasons() {
    Reasons out;
    for (const Statement& one : statements_.list) {
      auto& reads = out.reads.emplace_back();
      for (const Flow& flow : claims_.flows(one.number)) reads.push_back(flow.sources);
      const Claim& claim = claims_.of(one.number);
      auto& pieces = out.claims.emplace_back();
      for (const Piece& piece : claim.pieces) {
        Reasons::Piece& made = pieces.emplace_back();
        made.where = piece.where;
        if (!claim.known || piece.steps || !piece.names.empty()) continue;
        TILEWRIGHT_TRY(term, claims_.spelled(piece));
        made.term = std::move(term);
      }
    }
    const ValueFlow value_flow(statements_, polyhedra_);
    for (const Buffer& buffer : statements_.buffers) {
      if (buffer.kind != Buffer::Kind::Output) continue;
      TILEWRIGHT_TRY(flow, value_flow.flow(reader_of(statements_, buffer)));
      out.outputs.emplace_back(buffer.name.text(), std::move(flow.sources));
    }
    out_.reasons = std::move(out);
    return Ok{};
  }

  std::string line(std::size_t statement) const {
    return program::headline(statements_.list[statement].origin);
  }

  void add(ObligationKind kind, Verdict verdict, std::string subject, std::string detail = {}) {
    out_.obligations.push_back({kind, verdict, std::move(subject), std::move(detail)});
  }

  Result<std::string> counterexample(const poly::Set& where) {
    TILEWRIGHT_TRY(point, poly::smallest_point(polyhedra_, where));
    return point ? point->text() : std::string("some sizes");
  }

  Result<Ok> faults(ObligationKind kind, const std::vector<Fault>& found) {
    if (found.empty())
      add(kind, Verdict::Proved, std::to_string(statements_.list.size()) + " stores");
    for (const Fault& fault : found) {
      TILEWRIGHT_TRY(at, counterexample(fault.where));
      std::string subject = line(fault.first);
      if (fault.second != fault.first) subject += " and " + line(fault.second);
      add(kind, fault.certain ? Verdict::Refuted : Verdict::Unknown, std::move(subject),
          std::string(fault.buffer.text()) +
              (fault.certain ? " at " : ", if the data say so, at ") + at);
    }
    return Ok{};
  }

  // Values flow as they do in one order of what agents do: they do in every run where this holds.
  Result<Ok> synchronised() {
    constexpr ObligationKind kKinds[] = {ObligationKind::Phases, ObligationKind::Progress,
                                         ObligationKind::Ordered, ObligationKind::Complete};
    const auto checked = not_synchronised(statements_, polyhedra_,
                                          [&](std::size_t statement) -> const std::vector<Flow>& {
                                            return claims_.flows(statement);
                                          });
    if (!checked.ok()) {
      one_order_ = false;
      add(ObligationKind::Ordered, Verdict::Unknown, "agents", checked.diagnostics()[0].message);
      return Ok{};
    }
    const std::vector<SyncFinding>& found = *checked;
    for (std::size_t rule = 0; rule < std::size(kKinds); ++rule) {
      bool all = true;
      for (const SyncFinding& one : found) {
        if (static_cast<std::size_t>(one.rule) != rule) continue;
        all = false;
        add(kKinds[rule], Verdict::Unknown, one.subject, one.detail);
      }
      if (all)
        add(kKinds[rule], Verdict::Proved, std::to_string(statements_.events.size()) + " points");
    }
    one_order_ = found.empty();
    return Ok{};
  }

  // Of what follows from the flow of values.
  Verdict refuted_by_flow() const { return one_order_ ? Verdict::Refuted : Verdict::Unknown; }

  void width() {
    const Width found = index_width(context_, program_);
    if (found.faults.empty())
      add(ObligationKind::Width, Verdict::Proved,
          std::to_string(found.operations) + " operations, " + std::to_string(found.addresses) +
              " addresses");
    for (const WidthFault& fault : found.faults) {
      const bool shown = !fault.at.empty();
      add(ObligationKind::Width, shown ? Verdict::Refuted : Verdict::Unknown, fault.statement,
          "`" + fault.operation + "` " +
              (shown ? "at " + fault.at : "may have any value in " + fault.range));
    }
  }

  Result<Ok> initialised() {
    const std::size_t before = out_.obligations.size();
    std::size_t reads = 0;
    for (const Statement& one : statements_.list) {
      for (std::size_t r = 0; r < one.reads.size(); ++r, ++reads) {
        const Access& access = one.reads[r];
        const std::string name(access.buffer.text());
        const poly::Set& unwritten = claims_.flows(one.number)[r].unwritten;
        TILEWRIGHT_TRY(none, poly::is_empty(polyhedra_, unwritten));
        const bool certain = access.under.empty() && access.known.empty() && one.under.empty();
        if (!none && certain) {
          TILEWRIGHT_TRY(at, counterexample(unwritten));
          add(ObligationKind::Initialised, refuted_by_flow(), line(one.number), name + " at " + at);
          continue;
        }
        if (none && !written_under_conditions(access.buffer)) continue;
        TILEWRIGHT_TRY(found, claims_.finds_values(one, r));
        if (!found)
          add(ObligationKind::Initialised, Verdict::Unknown, line(one.number),
              name + ", which data may leave without a value");
      }
    }
    if (out_.obligations.size() == before)
      add(ObligationKind::Initialised, Verdict::Proved, std::to_string(reads) + " reads");
    return Ok{};
  }

  // Some store to it may leave a cell as it was.
  bool written_under_conditions(Symbol buffer) const {
    return std::any_of(statements_.list.begin(), statements_.list.end(),
                       [&](const Statement& one) { return one.buffer == buffer && one.keeps; });
  }

  Result<Ok> add_claims() {
    for (const Statement& one : statements_.list) {
      std::string text;
      for (const Piece& piece : claims_.of(one.number).pieces) {
        TILEWRIGHT_TRY(value, claims_.text(piece));
        if (!text.empty()) text += "; ";
        text += value;
      }
      const std::string& reason = claims_.of(one.number).reason;
      if (!reason.empty()) text += " (" + reason + ")";
      out_.claims.push_back({line(one.number), std::move(text)});
    }
    return Ok{};
  }

  Result<Ok> output(const Buffer& buffer) {
    const std::string name(buffer.name.text());
    const Reader reader = reader_of(statements_, buffer);
    const ValueFlow value_flow(statements_, polyhedra_);
    TILEWRIGHT_TRY(flow, value_flow.flow(reader));
    TILEWRIGHT_TRY(all, poly::is_empty(polyhedra_, flow.unwritten));
    if (!all) {
      TILEWRIGHT_TRY(at, counterexample(flow.unwritten));
      add(ObligationKind::Written, refuted_by_flow(), name, "at " + at);
      return Ok{};
    }
    add(ObligationKind::Written, Verdict::Proved, name);
    TILEWRIGHT_TRY(pieces, claims_.found_by(reader));
    std::vector<Term> cell;
    for (const Loop& loop : reader.loops) cell.push_back(translator_.variable(loop.name));
    const Term right = algorithm_terms_.cell(tensor_of(buffer.name), cell);
    for (const Piece& piece : pieces) {
      TILEWRIGHT_TRY(left, claims_.term(piece));
      Goal goal;
      goal.where = piece.where;
      goal.left = left;
      goal.right = right;
      TILEWRIGHT_TRY(state, claims_.prove(goal));
      const bool holds = state == GoalState::Holds;
      add(ObligationKind::Value, holds ? Verdict::Proved : Verdict::Unknown, name,
          holds ? ""
                : "the program stores " + terms_.print(left) + ", the algorithm says " +
                      terms_.print(right) + ", where " + piece.where.text());
    }
    return Ok{};
  }

  // The output that goes into the storage of an argument.
  Symbol tensor_of(Symbol argument) const {
    for (const ir::TensorPart& output : algorithm_.output_tensors())
      if (algorithm_.argument_of(output.name) == argument) return output.name;
    return argument;
  }

  Result<Ok> defined() {
    Defined facts(terms_, translator_, polyhedra_, algorithm_terms_);
    std::size_t shown = 0;
    for (const Condition& one : claims_.conditions()) {
      TILEWRIGHT_TRY(holds, facts.holds(one));
      shown += holds;
      if (!holds)
        add(ObligationKind::Defined, Verdict::Unknown, terms_.print(one.holds),
            terms_.print(algorithm_terms_.expand(one.holds.term)) + " where " + one.where.text());
    }
    if (shown > 0)
      add(ObligationKind::Defined, Verdict::Proved, std::to_string(shown) + " conditions");
    if (terms_.limit_reached())
      add(ObligationKind::Defined, Verdict::Unknown, "a term grew too large");
    return Ok{};
  }

  // Terms are over the reals, so a float that loses bits is a question of its own: it is the algorithm's own
  // rounding where the store writes a cell of that type.
  void rounding() {
    std::size_t narrowed = 0;
    const std::size_t before = out_.obligations.size();
    for (const Statement& one : statements_.list) {
      ir::walk(one.value, [&](Expr expr) {
        if (expr.as<ir::Op>() && ir::is_float(expr.type()) &&
            ir::type_info(expr.type()).mantissa_bits < widest_operation()) {
          ++narrowed;
          add(ObligationKind::Rounding, Verdict::Unknown, line(one.number),
              "an operation in " + std::string(ir::type_text(expr.type())) +
                  ", and the algorithm has wider ones");
        }
        const auto* cast = expr.as<ir::Cast>();
        if (cast == nullptr || !ir::is_float(expr.type()) || !ir::is_float(cast->value.type()))
          return;
        const ir::TypeInfo& from = ir::type_info(cast->value.type());
        const ir::TypeInfo& to = ir::type_info(expr.type());
        if (to.mantissa_bits >= from.mantissa_bits && to.exponent_bits >= from.exponent_bits)
          return;
        ++narrowed;
        if (expr == one.value && writes_cells_of(one, expr.type())) return;
        add(ObligationKind::Rounding, Verdict::Unknown, line(one.number),
            "a value of " + std::string(from.text) + " is rounded to " + std::string(to.text) +
                ", which the algorithm does not do there");
      });
    }
    if (narrowed > 0 && out_.obligations.size() == before)
      add(ObligationKind::Rounding, Verdict::Proved, std::to_string(narrowed) + " conversions");
  }

  // Bits of the mantissa.
  int widest_operation() const {
    int widest = 0;
    for (const ir::Equation& equation : algorithm_.equations)
      ir::walk(equation.value, [&](Expr expr) {
        const bool operation = expr.as<ir::Op>() || expr.as<ir::Fold>();
        if (operation && ir::is_float(expr.type()))
          widest = std::max(widest, ir::type_info(expr.type()).mantissa_bits);
      });
    return widest;
  }

  bool writes_cells_of(const Statement& one, ir::ScalarType type) {
    const std::vector<Piece>& pieces = claims_.of(one.number).pieces;
    return std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
      if (!piece.value) return false;
      const auto cell = terms_.cell_of(piece.value);
      return cell && algorithm_.type_of(cell->tensor) == type;
    });
  }

  ir::Context& context_;
  const ProveOptions& options_;
  const ir::Algorithm& algorithm_;
  const program::Program& program_;
  Statements statements_;
  poly::Context polyhedra_;
  TermStore terms_;
  Translator translator_;
  AlgorithmTerms algorithm_terms_;
  Claims claims_;
  bool one_order_ = true;
  Proof out_;
};

}  // namespace

Result<Proof> prove(ir::Context& context, const ir::Algorithm& algorithm,
                    const program::Program& program, const ProveOptions& options) {
  // An output that the Program does not have would be in no obligation.
  TILEWRIGHT_CHECK_OK(check::check_interface(algorithm, program));
  TILEWRIGHT_TRY(statements, statements_of(context, program));
  if (statements.has_agents) {
    poly::Context polyhedra;
    TILEWRIGHT_CHECK_OK(choose_interleaving(statements, polyhedra));
  }
  return Prover(context, algorithm, options, program, std::move(statements)).run();
}

}  // namespace tilewright::proof

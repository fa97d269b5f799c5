// SPDX-License-Identifier: Apache-2.0
#include "lowering/certificate/certificate.h"

#include <map>

#include "apps/check/accept.h"
#include "apps/check/certificate.h"
#include "lowering/proof/emptiness.h"

namespace tilewright::certificate {

namespace {

using poly::AffineExpr;

AffineExpr affine(const checker::Linear& linear) {
  AffineExpr out(linear.constant());
  for (const auto& [atom, coefficient] : linear.terms()) {
    const AffineExpr one =
        atom.floor ? poly::floor_div(affine(atom.floor->numerator), atom.floor->denominator)
                   : AffineExpr::variable(atom.name);
    out = out + one * coefficient;
  }
  return out;
}

class Recorder final : public checker::Evidence {
 public:
  std::optional<std::string> of(const checker::Conjunction& set, const std::string& key) override {
    poly::BasicSet basic;
    for (const checker::Linear& e : set.equal) basic.equalities.push_back(affine(e));
    for (const checker::Linear& e : set.at_least) basic.inequalities.push_back(affine(e));
    const proof::Emptiness found = proof::prove_empty(basic);
    if (found.verdict != proof::Emptiness::Verdict::Empty) return {};
    return lemmas_[key] = found.evidence.text();
  }

  std::string text() const {
    std::string out;
    for (const auto& [key, evidence] : lemmas_)
      out.append("lemma ").append(key).append(" ").append(evidence).append("\n");
    return out;
  }

 private:
  std::map<std::string, std::string> lemmas_;
};

std::string times(std::int64_t coefficient, const std::string& what) {
  return coefficient == 1 ? what : std::to_string(coefficient) + " * " + what;
}

// In the language of Programs. The parts with a coefficient of that sign; of `whole` all, others being subtracted.
std::string text(const AffineExpr& expr, bool positive, bool whole) {
  std::string out;
  const auto add = [&](std::int64_t coefficient, const std::string& what) {
    const std::int64_t factor = positive ? coefficient : -coefficient;
    if (factor > 0)
      out += (out.empty() ? "" : " + ") + times(factor, what);
    else if (whole)
      out += (out.empty() ? "0 - " : " - ") + times(-factor, what);
  };
  const auto add_constant = [&](std::int64_t value) {
    if (value != 0) add(value < 0 ? -1 : 1, std::to_string(value < 0 ? -value : value));
  };
  for (const poly::LinearTerm& term : expr.terms()) add(term.coefficient, term.name);
  for (const poly::FloorTerm& floor : expr.floors())
    add(floor.coefficient, "((" + text(floor.numerator, true, true) + ") / " +
                               std::to_string(floor.denominator) + ")");
  add_constant(expr.constant());
  return out.empty() ? "0" : out;
}

std::string text(const poly::BasicSet& set) {
  std::string out;
  const auto add = [&](const AffineExpr& expr, const char* sign) {
    out += (out.empty() ? "" : " && ") + text(expr, true, false) + sign + text(expr, false, false);
  };
  for (const AffineExpr& expr : set.equalities) add(expr, " == ");
  for (const AffineExpr& expr : set.inequalities) add(expr, " >= ");
  return out.empty() ? "true" : out;
}

std::string text(const poly::Set& set) {
  std::string out;
  for (const poly::BasicSet& piece : set.pieces()) out += (out.empty() ? "" : " || ") + text(piece);
  return out.empty() ? "false" : out;
}

std::string text(const std::vector<proof::Source>& sources) {
  std::string out;
  for (const proof::Source& source : sources) {
    out += "if " + text(source.condition) + " : from " + std::to_string(source.writer) + " : ";
    for (std::size_t i = 0; i < source.instance.size(); ++i)
      out += (i == 0 ? "" : ", ") + text(source.instance[i], true, true);
    out += "\n";
  }
  return out;
}

std::string hints(const checker::Statements& statements, const checker::Program& program,
                  const std::string& algorithm_text, const std::string& program_text,
                  const proof::Reasons& reasons) {
  std::string out = "certificate 1\nalgorithm " + checker::digest(algorithm_text) + "\nprogram " +
                    checker::digest(program_text) + "\n";
  for (const checker::Statement& s : statements.all()) {
    const auto number = static_cast<std::size_t>(s.number);
    for (std::size_t r = 0; r < s.reads.size(); ++r)
      if (checker::has_sources(statements, s.reads[r]))
        out += "read " + std::to_string(number) + " " + std::to_string(r) + "\n" +
               text(reasons.reads.at(number).at(r));
    out += "claim " + std::to_string(number) + "\n";
    for (const proof::Reasons::Piece& piece : reasons.claims.at(number))
      out += "if " + text(piece.where) + " : " +
             (piece.term.empty() ? "itself" : "is " + piece.term) + "\n";
  }
  for (const checker::Tensor& p : program.parameters)
    for (const auto& [name, sources] : reasons.outputs)
      if (p.is_output && name == p.name) out += "output " + name + "\n" + text(sources);
  return out;
}

}  // namespace

static Failure refused(const std::exception& why) {
  return fail(Code::ProofUnknown, {},
              "tilewright-check does not follow the proof: " + std::string(why.what()),
              "the proof stands, without a certificate");
}

Result<std::string> write_certificate(const std::string& algorithm_text,
                                      const std::string& program_text,
                                      const proof::Reasons& reasons) {
  try {
    checker::Arena arena;
    const checker::Program program = checker::read_program(arena, program_text);
    const checker::Statements statements(arena, program_text, program);
    if (statements.all().size() != reasons.claims.size())
      throw checker::Refused("the checker sees other statements than the prover");
    return with_lemmas(algorithm_text, program_text,
                       hints(statements, program, algorithm_text, program_text, reasons));
  } catch (const std::exception& why) {
    return refused(why);
  }
}

Result<std::string> with_lemmas(const std::string& algorithm, const std::string& program,
                                const std::string& certificate) {
  try {
    checker::Arena arena;
    Recorder recorder;
    checker::accept(arena, algorithm, program, certificate, &recorder);
    return certificate + recorder.text();
  } catch (const std::exception& why) {
    return refused(why);
  }
}

}  // namespace tilewright::certificate

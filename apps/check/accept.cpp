// SPDX-License-Identifier: Apache-2.0
#include "apps/check/accept.h"

#include <algorithm>
#include <bit>

#include "apps/check/claims.h"

namespace tilewright::checker {

namespace {

class Lemmas final : public Evidence {
 public:
  explicit Lemmas(const std::map<Name, Name>& lemmas) : lemmas_(lemmas) {}
  std::optional<std::string> of(const Conjunction&, const std::string& key) override {
    const auto it = lemmas_.find(key);
    if (it == lemmas_.end()) return {};
    used_.insert(it->first);
    return std::string(it->second);
  }
  bool all_used() const { return used_.size() == lemmas_.size(); }

 private:
  const std::map<Name, Name>& lemmas_;
  std::set<Name> used_;
};

bool same(Ref a, Ref b) {
  if (!a || !b) return a == b;
  return a->kind == b->kind && a->kind != Kind::Fold && a->type == b->type && a->grid == b->grid &&
         a->name == b->name && a->op == b->op && a->integer == b->integer &&
         std::bit_cast<std::uint64_t>(a->real) == std::bit_cast<std::uint64_t>(b->real) &&
         std::equal(a->args.begin(), a->args.end(), b->args.begin(), b->args.end(), same);
}

bool same(const Tensor& a, const Tensor& b) {
  return a.name == b.name && a.type == b.type && a.is_const == b.is_const &&
         a.is_output == b.is_output && a.is_inout == b.is_inout && same(a.lower, b.lower) &&
         same(a.upper, b.upper) && a.clamp == b.clamp && a.monotone == b.monotone &&
         a.injective == b.injective && a.assumed == b.assumed &&
         std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end(),
                    [](Ref x, Ref y) { return same(x, y); });
}

// The Program is called as the algorithm is: with the same extents and tensors.
void check_interface(const Algorithm& algorithm, const Program& program) {
  const auto must = [](bool holds, const std::string& what) {
    if (!holds) throw Refused(what);
  };
  must(program.algorithm == algorithm.name, "the Program is for another algorithm");
  must(algorithm.loops.empty(), "algorithms with loops are not followed yet");
  std::set<Name> extents;
  for (const Extent& e : algorithm.extents) extents.insert(e.name);
  for (const Extent& e : program.extents)
    must(extents.erase(e.name) == 1,
         "the extent `" + std::string(e.name) + "` is not the algorithm's");
  must(extents.empty(), "an extent of the algorithm is none of the Program");
  std::vector<Tensor> tensors = algorithm.inputs;
  for (const Equation& e : algorithm.equations) {
    must(e.into.empty() && !e.is_view, "an equation that shares memory is not followed yet");
    for (std::size_t i = 0; e.is_output && i < e.tensors.size(); ++i) {
      Tensor& made = tensors.emplace_back();
      made.name = e.tensors[i];
      made.type = e.types.at(i);
      made.shape = e.shape;
      made.is_output = true;
    }
  }
  must(tensors.size() == program.parameters.size(), "the Program has other tensors");
  for (const Tensor& p : program.parameters)
    must(std::any_of(tensors.begin(), tensors.end(),
                     [&](const Tensor& t) { return !t.is_inout && same(t, p); }),
         "`" + std::string(p.name) + "` is not the algorithm's tensor");
}

template <class F>
auto in_text(std::size_t number, const F& read) {
  try {
    return read();
  } catch (Refused& refused) {
    refused.file = number;
    throw;
  }
}

}  // namespace

std::string accept(Arena& arena, Name algorithm_text, Name program_text, Name certificate_text,
                   Evidence* evidence) {
  const Algorithm algorithm = in_text(0, [&] { return read_algorithm(arena, algorithm_text); });
  std::unique_ptr<Statements> statements;
  const Program program = in_text(1, [&] {
    Program out = read_program(arena, program_text);
    check_interface(algorithm, out);
    return out;
  });
  in_text(1, [&] { statements = std::make_unique<Statements>(arena, program_text, program); });
  return in_text(2, [&] {
    const Certificate certificate = read_certificate(arena, certificate_text, algorithm_text,
                                                     program_text, program, *statements);
    Lemmas lemmas(certificate.lemmas);
    if (evidence && !certificate.lemmas.empty()) throw Refused("lemmas, and one who proves");
    Judge judge(statements->affine(), evidence ? *evidence : lemmas);
    Flow flow(*statements, program, certificate, judge);
    flow.check();
    Claims(algorithm, program, *statements, certificate, flow, judge).check();
    const Union allowed = statements->sizes();
    const bool all =
        judge.covered(statements->sizes(algorithm.extents, algorithm.requirements), allowed);
    if (!evidence && !lemmas.all_used()) throw Refused("a lemma that nothing needs");
    return all ? "all sizes" : "sizes with " + text(allowed);
  });
}

}  // namespace tilewright::checker

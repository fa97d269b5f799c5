// SPDX-License-Identifier: Apache-2.0
#include "lowering/mutants/mutate.h"

#include <set>

#include "frontend/ir/random.h"
#include "lowering/program/text.h"
#include "lowering/program/verify.h"

namespace tilewright::mutants {

namespace {

// Of one statement: so that a kind is not spent at the first place it fits.
constexpr std::size_t kPerStatement = 2;

template <class T>
void shuffle(ir::Random& random, std::vector<T>& values) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[static_cast<std::size_t>(random.next() % i)]);
}

// Where the texts of the two begin to differ, one line each.
std::pair<std::string, std::string> first_difference(Stmt before, Stmt after) {
  const std::string a = program::print(before);
  const std::string b = program::print(after);
  std::size_t line_a = 0;
  std::size_t line_b = 0;
  while (line_a < a.size() && line_b < b.size()) {
    const std::size_t end_a = std::min(a.find('\n', line_a), a.size());
    const std::size_t end_b = std::min(b.find('\n', line_b), b.size());
    if (a.compare(line_a, end_a - line_a, b, line_b, end_b - line_b) != 0) break;
    line_a = end_a + 1;
    line_b = end_b + 1;
  }
  const auto line = [](const std::string& text, std::size_t at) {
    if (at >= text.size()) return std::string();
    std::string one = text.substr(at, std::min(text.find('\n', at), text.size()) - at);
    one.erase(0, std::min(one.find_first_not_of(' '), one.size()));
    return one;
  };
  return {line(a, line_a), line(b, line_b)};
}

}  // namespace

const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> kinds = [] {
    std::vector<Kind> all;
    for (const auto& some : {kinds_of_bounds(), kinds_of_addresses(), kinds_of_values(),
                             kinds_of_order(), kinds_of_memory(), kinds_of_agents()})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return kinds;
}

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : all_kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

Mutants mutate(ir::Context& context, const program::Program& program,
               const MutateOptions& options) {
  Mutants out;
  std::vector<Site> sites = sites_of(context, program);
  std::set<std::string> known = {program::print(program.body)};
  std::uint64_t number = 0;
  for (const Kind& kind : all_kinds()) {
    out.ill_formed.push_back(0);
    // The mutants of a kind do not depend on which others are asked for, but for equal ones.
    ir::Random random(options.seed * 1'000'003 + ++number);
    if (!options.kind.empty() && options.kind != kind.name) continue;
    if ((number + options.seed) % options.every != 0) continue;
    std::vector<std::size_t> order(sites.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    shuffle(random, order);
    int made = 0;
    for (std::size_t at : order) {
      if (made >= options.per_kind) break;
      const Site& site = sites[at];
      std::vector<Stmt> edits;
      kind.edits(site, edits);
      shuffle(random, edits);
      std::size_t here = 0;
      for (Stmt edit : edits) {
        if (made >= options.per_kind || here >= kPerStatement) break;
        if (edit == site.stmt) continue;
        program::Program wrong = with_statement(context, program, site.number, edit);
        if (!program::verify(wrong).empty()) {
          ++out.ill_formed.back();
          continue;
        }
        if (!known.insert(program::print(wrong.body)).second) continue;
        auto [before, after] = first_difference(site.stmt, edit);
        out.list.push_back(
            {&kind, site.number, std::move(before), std::move(after), std::move(wrong)});
        ++made;
        ++here;
      }
    }
  }
  return out;
}

}  // namespace tilewright::mutants

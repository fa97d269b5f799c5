// SPDX-License-Identifier: Apache-2.0
//
// The text of evidence, printed and read.
#include "lowering/proof/evidence.h"

#include <charconv>

namespace tilewright::proof {
namespace {

constexpr std::string_view kSigns = "+=!?";

// The next word, up to a space or the end; the space goes with it.
std::string_view take_word(std::string_view& rest) {
  std::size_t length = std::min(rest.find(' '), rest.size());
  std::string_view word = rest.substr(0, length);
  // A space at the very end is left, where no word is.
  rest.remove_prefix(length + 1 < rest.size() ? length + 1 : length);
  return word;
}

// Only as `std::to_string` writes it.
template <class Number>
std::optional<Number> read_number(std::string_view text) {
  Number value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (std::to_string(value) != text) return std::nullopt;
  return value;
}

std::optional<Term> read_term(std::string_view text) {
  Term term;
  if (std::size_t star = text.find('*'); star != std::string_view::npos) {
    std::optional<std::int64_t> factor = read_number<std::int64_t>(text.substr(0, star));
    if (!factor || *factor == 0 || *factor == 1) return std::nullopt;
    term.factor = *factor;
    text.remove_prefix(star + 1);
  }
  std::optional<std::uint32_t> index = read_number<std::uint32_t>(text);
  if (!index) return std::nullopt;
  term.index = *index;
  return term;
}

std::optional<Step> read_step(std::string_view& rest) {
  std::string_view sign = take_word(rest);
  if (sign.size() != 1 || kSigns.find(sign[0]) == std::string_view::npos) return std::nullopt;
  Step step;
  step.kind = sign == "+"   ? Step::Kind::Combine
              : sign == "=" ? Step::Kind::Squeeze
              : sign == "!" ? Step::Kind::End
                            : Step::Kind::Cases;
  if (step.kind == Step::Kind::Cases) {
    std::optional<std::int64_t> bound = read_number<std::int64_t>(take_word(rest));
    if (!bound) return std::nullopt;
    step.bound = *bound;
  }
  while (!rest.empty() && kSigns.find(rest[0]) == std::string_view::npos) {
    std::optional<Term> term = read_term(take_word(rest));
    bool ordered = step.kind == Step::Kind::Squeeze || step.terms.empty() ||
                   step.terms.back().index < term->index;
    if (!term || !ordered) return std::nullopt;
    step.terms.push_back(*term);
  }
  if (step.terms.empty()) return std::nullopt;
  if (step.kind == Step::Kind::Squeeze &&
      (step.terms.size() != 2 || step.terms[0].factor != 1 || step.terms[1].factor != 1)) {
    return std::nullopt;
  }
  return step;
}

}  // namespace

std::string Evidence::text() const {
  std::string out;
  for (const Step& step : steps) {
    if (!out.empty()) out += ' ';
    out += step.kind == Step::Kind::Combine   ? '+'
           : step.kind == Step::Kind::Squeeze ? '='
           : step.kind == Step::Kind::End     ? '!'
                                              : '?';
    if (step.kind == Step::Kind::Cases) out += " " + std::to_string(step.bound);
    for (const Term& term : step.terms) {
      out += ' ';
      if (term.factor != 1) out += std::to_string(term.factor) + "*";
      out += std::to_string(term.index);
    }
  }
  return out;
}

std::optional<Evidence> parse_evidence(std::string_view text) {
  Evidence evidence;
  // Branches that have no end yet.
  std::size_t open = 1;
  while (open > 0) {
    std::optional<Step> step = read_step(text);
    if (!step) return std::nullopt;
    if (step->kind == Step::Kind::Cases) ++open;
    if (step->kind == Step::Kind::End) --open;
    evidence.steps.push_back(std::move(*step));
  }
  if (!text.empty()) return std::nullopt;
  return evidence;
}

}  // namespace tilewright::proof

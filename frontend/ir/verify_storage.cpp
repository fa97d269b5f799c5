// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/verify_storage.h"

#include "frontend/base/format.h"

namespace tilewright::ir {

namespace {

Diagnostic finding(Code code, std::string message, std::string remedy) {
  return {code, {}, std::move(message), std::move(remedy), {}, {}};
}

}  // namespace

std::optional<Diagnostic> wrong_facts(const Input& input) {
  const Facts& facts = input.facts;
  if (!facts.any() && !facts.clamp && !facts.assumed) return std::nullopt;
  const std::string name = in_backticks(input.name.text());
  auto refuse = [&](std::string message, std::string remedy) {
    Diagnostic d = finding(Code::FactForm, std::move(message), std::move(remedy));
    d.span = input.span;
    return std::optional(std::move(d));
  };
  if (!is_integer(input.type))
    return refuse("a fact about the values of " + name + ", which is no tensor of integers",
                  "declare facts of what others use as indices");
  if (is_packed(input.type))
    return refuse("a fact about the values of " + name + ", whose elements share bytes",
                  "declare none: the type itself bounds the values");
  if (!facts.any() || (facts.clamp && !facts.lower))
    return refuse(facts.clamp ? "`clamp` of " + name + " without a range"
                              : "`assumed` of " + name + " without a fact",
                  "write the range, as in `range 0 .. N clamp`");
  if ((facts.monotone || facts.injective) && input.shape.empty())
    return refuse("an order of the values of " + name + ", which has one",
                  "declare it of a tensor with a dimension");
  if (facts.injective && (!facts.lower || facts.clamp))
    return refuse("`injective` of " + name +
                      (facts.clamp ? " with `clamp`, which may join values" : " without a range"),
                  "write `range 0 .. N injective`");
  if (facts.clamp && facts.assumed)
    return refuse("`clamp` of " + name + " is done, not assumed", "drop one of the two");
  return std::nullopt;
}

std::optional<Diagnostic> wrong_into(const Algorithm& algorithm, const Equation& equation) {
  if (!equation.into.valid()) return std::nullopt;
  const Input* input = algorithm.find_input(equation.into);
  const std::string name = in_backticks(equation.into.text());
  auto refuse = [&](const std::string& message, std::string remedy) {
    Diagnostic d = finding(Code::InPlaceForm, message, std::move(remedy));
    d.span = equation.span;
    return std::optional(std::move(d));
  };
  if (!input) return refuse(name + " is no input", "name an input, whose storage the output takes");
  if (!equation.is_output || !equation.parts.empty())
    return refuse(in_backticks(equation.name.text()) +
                      (equation.is_output ? " is several tensors" : " is no output"),
                  "give out one tensor in an equation of its own");
  if (!(input->shape == equation.shape) || input->type != equation.type)
    return refuse(in_backticks(equation.name.text()) + " has another type or shape than " + name,
                  "give both the same");
  if (input->is_const || input->facts.any())
    return refuse(name + (input->is_const ? " is `const`" : " has declared facts") +
                      ", which its new value need not have",
                  "drop the declaration, or give out a tensor of its own");
  if (algorithm.new_value(equation.into) != &equation)
    return refuse("two outputs go into " + name, "give one of them storage of its own");
  return std::nullopt;
}

}  // namespace tilewright::ir

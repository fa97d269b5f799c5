// SPDX-License-Identifier: Apache-2.0
//
// Declarations and definitions, in the order in which the program makes them.
#include <algorithm>

#include "frontend/base/format.h"
#include "frontend/language/node.h"

namespace tilewright::language {

namespace detail {

Place place_of(Where where) { return {where.file_name(), where.line(), where.column()}; }

namespace {

DeclarationPtr declare(Algorithm& algorithm, Declaration declaration) {
  declaration.owner = algorithm.state()->owner;
  auto made = std::make_shared<Declaration>(std::move(declaration));
  algorithm.state()->declarations.push_back(made);
  return made;
}

Diagnostic found_at(Code code, std::string message, std::string remedy, Where where) {
  return {std::string(code_text(code)), std::move(message), std::move(remedy), place_of(where), {}};
}

}  // namespace

}  // namespace detail

using detail::Declaration;

Algorithm::Algorithm(std::string name, Where where)
    : state_(std::make_shared<detail::AlgorithmState>()) {
  state_->owner = std::make_shared<detail::Owner>(detail::Owner{std::move(name)});
  state_->where = where;
}

const std::string& Algorithm::name() const { return state_->owner->name; }

void Algorithm::require(Operand condition) { state_->requirements.push_back(std::move(condition)); }

Extent::Extent(Algorithm& algorithm, std::string name, Where where)
    : Extent(algorithm, std::move(name), ExtentRange{}, where) {}

Extent::Extent(Algorithm& algorithm, std::string name, const ExtentRange& range, Where where) {
  Declaration extent;
  extent.kind = Declaration::Kind::Extent;
  extent.name = std::move(name);
  extent.where = where;
  extent.range = range;
  declaration_ = detail::declare(algorithm, std::move(extent));
}

Tensor::Tensor(Algorithm& algorithm, std::string name, Declared declared, Where where)
    : algorithm_(algorithm.state()) {
  Declaration tensor;
  tensor.kind = declared.input ? Declaration::Kind::Input : Declaration::Kind::Equation;
  tensor.name = std::move(name);
  tensor.where = where;
  if (declared.type) tensor.type = declared.type->name();
  tensor.shape = std::move(declared.shape);
  tensor.is_output = declared.output;
  tensor.what = std::move(declared.what);
  tensor.facts = std::move(declared.facts);
  tensor.values = std::move(declared.range);
  if (declared.into) tensor.into = declared.into->declaration_;
  declaration_ = detail::declare(algorithm, std::move(tensor));
}

Tensor::Tensor(Algorithm& algorithm, std::string name, Where where)
    : Tensor(algorithm, std::move(name), Declared{}, where) {}

Tensor::Tensor(Algorithm& algorithm, std::string name, Type type, Where where)
    : Tensor(algorithm, std::move(name), Declared{.type = &type}, where) {}

Input::Input(Algorithm& algorithm, std::string name, Type type, std::vector<Operand> shape,
             const char* what, const Facts* facts, Where where)
    : Tensor(algorithm, std::move(name),
             Declared{.input = true,
                      .type = &type,
                      .shape = std::move(shape),
                      .what = what,
                      .facts = facts ? facts->words_ : std::string(),
                      .range = facts ? facts->range_ : std::vector<Operand>()},
             where) {}

Input::Input(Algorithm& algorithm, std::string name, Type type, std::vector<Operand> shape,
             Where where)
    : Input(algorithm, std::move(name), type, std::move(shape), "", nullptr, where) {}

Input::Input(Algorithm& algorithm, std::string name, Type type, std::vector<Operand> shape,
             Facts facts, Where where)
    : Input(algorithm, std::move(name), type, std::move(shape), "", &facts, where) {}

ConstInput::ConstInput(Algorithm& algorithm, std::string name, Type type,
                       std::vector<Operand> shape, Where where)
    : Input(algorithm, std::move(name), type, std::move(shape), "const", nullptr, where) {}

ConstInput::ConstInput(Algorithm& algorithm, std::string name, Type type,
                       std::vector<Operand> shape, Facts facts, Where where)
    : Input(algorithm, std::move(name), type, std::move(shape), "const", &facts, where) {}

InOut::InOut(Algorithm& algorithm, std::string name, Type type, std::vector<Operand> shape,
             Where where)
    : Input(algorithm, std::move(name), type, std::move(shape), "inout", nullptr, where) {}

Output::Output(Algorithm& algorithm, std::string name, Where where)
    : Tensor(algorithm, std::move(name), Declared{.output = true}, where) {}

Output::Output(Algorithm& algorithm, std::string name, Type type, Where where)
    : Tensor(algorithm, std::move(name), Declared{.output = true, .type = &type}, where) {}

Output::Output(Algorithm& algorithm, std::string name, const InOut& into, Where where)
    : Tensor(algorithm, std::move(name), Declared{.output = true, .into = &into}, where) {}

Output::Output(Algorithm& algorithm, std::string name, Type type, const InOut& into, Where where)
    : Tensor(algorithm, std::move(name), Declared{.output = true, .type = &type, .into = &into},
             where) {}

View::View(Algorithm& algorithm, std::string name, Where where)
    : Tensor(algorithm, std::move(name), Declared{.what = "view"}, where) {}

View::View(Algorithm& algorithm, std::string name, Type type, Where where)
    : Tensor(algorithm, std::move(name), Declared{.type = &type, .what = "view"}, where) {}

Tensor Tensor::operator[](const std::string& field) const {
  Tensor out = *this;
  auto part = std::make_shared<Declaration>(*declaration_);
  part->whole = declaration_->whole ? declaration_->whole : declaration_;
  part->name += "." + field;
  out.declaration_ = std::move(part);
  return out;
}

Ref Tensor::element(std::vector<Operand> args, Where where) const {
  return Ref(algorithm_, declaration_, std::move(args), where);
}

Ref::Ref(std::shared_ptr<detail::AlgorithmState> algorithm, detail::DeclarationPtr declaration,
         std::vector<Operand> args, Where where)
    : algorithm_(std::move(algorithm)),
      declaration_(std::move(declaration)),
      args_(std::move(args)),
      where_(where) {}

void Ref::operator=(Operand value) && {
  Declaration& tensor = *declaration_;
  const std::string name = in_backticks(tensor.name);
  if (tensor.kind != Declaration::Kind::Equation || tensor.whole) {
    const std::string why = tensor.kind == Declaration::Kind::Input
                                ? " is an input, which the caller gives"
                            : tensor.whole ? " is one of the tensors of an equation"
                                           : " is carried by a loop";
    algorithm_->mistakes.push_back(detail::found_at(Code::InputDefined, name + why,
                                                    "define a `Tensor` or an `Output`", where_));
    algorithm_->mistakes.back().notes.push_back({detail::place_of(tensor.where), "declared here"});
    return;
  }
  if (tensor.is_defined) {
    algorithm_->mistakes.push_back(detail::found_at(Code::DuplicateName, name + " is defined twice",
                                                    "give the second equation a tensor of its own",
                                                    where_));
    algorithm_->mistakes.back().notes.push_back(
        {detail::place_of(tensor.defined), "defined first here"});
    return;
  }
  tensor.is_defined = true;
  tensor.defined = where_;
  algorithm_->definitions.push_back(
      {declaration_, std::move(args_), std::move(value), where_, nullptr, nullptr, nullptr});
}

Monoid::Monoid(Algorithm& algorithm, std::string name, std::vector<Field> fields, Values identity,
               Where where)
    : state_(std::make_shared<detail::MonoidState>()) {
  Declaration declaration;
  declaration.kind = Declaration::Kind::Monoid;
  declaration.name = std::move(name);
  declaration.where = where;
  state_->declaration = detail::declare(algorithm, std::move(declaration));
  state_->fields = std::move(fields);
  state_->identity = identity.list();
  state_->left = "a";
  state_->right = "b";
  state_->combined = where;
  algorithm.state()->monoids.push_back(state_);
}

Monoid& Monoid::commutative() {
  state_->commutative = true;
  return *this;
}

Monoid::Combination Monoid::operator()(const Element& left, const Element& right,
                                       Where where) const {
  Combination out;
  out.monoid_ = state_;
  out.left_ = left.name();
  out.right_ = right.name();
  out.where_ = where;
  return out;
}

void Monoid::Combination::operator=(Values values) && {
  monoid_->left = std::move(left_);
  monoid_->right = std::move(right_);
  monoid_->combine = values.list();
  monoid_->combined = where_;
}

namespace {

// The fold names the declaration, so that one of another algorithm is found.
Reduction declared(const Reduction& fold, const detail::DeclarationPtr& monoid, Where where) {
  if (!fold.node()->fold) return fold;
  return Reduction(detail::make_fold(monoid->name, *fold.node()->fold, where, monoid));
}

}  // namespace

Reduction Monoid::operator()(const RDom& domain, Values terms, Where where) const {
  return declared(detail::fold("", {domain}, terms, where), state_->declaration, where);
}

Reduction Monoid::operator()(std::initializer_list<RDom> domain, Values terms, Where where) const {
  return declared(detail::fold("", domain, terms, where), state_->declaration, where);
}

Reduction Monoid::scan(const Var& along, Values terms, Where where) const {
  return declared(detail::scan("", along, terms, where), state_->declaration, where);
}

Loop::Loop(Algorithm& algorithm, std::string name, Operand trips, Where where)
    : algorithm_(algorithm.state()), state_(std::make_shared<detail::LoopState>()) {
  Declaration declaration;
  declaration.kind = Declaration::Kind::Loop;
  declaration.name = std::move(name);
  declaration.where = where;
  state_->declaration = detail::declare(algorithm, std::move(declaration));
  state_->trips = std::move(trips);
  algorithm_->definitions.push_back(
      {state_->declaration, {}, std::nullopt, where, state_, nullptr, nullptr});
}

Tensor Loop::carry(std::string name, const Tensor& start, Where where) {
  Declaration declaration;
  declaration.kind = Declaration::Kind::Carry;
  declaration.owner = algorithm_->owner;
  declaration.name = std::move(name);
  declaration.where = where;
  Tensor out = start;
  out.algorithm_ = algorithm_;
  out.declaration_ = std::make_shared<Declaration>(std::move(declaration));
  algorithm_->declarations.push_back(out.declaration_);
  state_->carries.push_back({out.declaration_, start.declaration_, nullptr, where});
  return out;
}

void Loop::while_(Operand condition) { state_->condition = std::move(condition); }

void Loop::next(const Tensor& carried, const Tensor& value, Where where) {
  for (auto& carry : state_->carries)
    if (carry.tensor == carried.declaration_) {
      carry.next = value.declaration_;
      return;
    }
  algorithm_->mistakes.push_back(detail::found_at(
      Code::LoopForm, in_backticks(carried.declaration_->name) + " is not carried by this loop",
      "carry it: `Tensor h = l.carry(\"h\", start)`", where));
}

void Loop::end(Where where) {
  if (state_->ended) {
    algorithm_->mistakes.push_back(detail::found_at(
        Code::LoopForm, "the loop over " + in_backticks(state_->declaration->name) + " ends twice",
        "end it once", where));
    return;
  }
  state_->ended = true;
  algorithm_->definitions.push_back(
      {state_->declaration, {}, std::nullopt, where, nullptr, state_, nullptr});
}

namespace detail {
namespace {

// Whether `from` is `to` or calls it, directly or not. No algorithm calls itself, so it ends.
bool calls(const AlgorithmState& from, const AlgorithmState& to) {
  return &from == &to ||
         std::any_of(from.definitions.begin(), from.definitions.end(), [&](const Definition& one) {
           return one.call && calls(*one.call->callee, to);
         });
}

}  // namespace
}  // namespace detail

void call(std::vector<Tensor> results, const Algorithm& callee, std::vector<Argument> arguments,
          Where where) {
  auto made = std::make_shared<detail::CallState>();
  made->callee = callee.state();
  std::shared_ptr<detail::AlgorithmState> caller;
  for (const Tensor& result : results) {
    Declaration& tensor = *result.declaration_;
    caller = result.algorithm_;
    if (tensor.is_defined || tensor.kind != Declaration::Kind::Equation) {
      caller->mistakes.push_back(
          detail::found_at(tensor.is_defined ? Code::DuplicateName : Code::InputDefined,
                           in_backticks(tensor.name) + " cannot be the result of a call",
                           "give the result a `Tensor` or an `Output` of its own", where));
      return;
    }
    tensor.is_defined = true;
    tensor.defined = where;
    made->results.push_back(result.declaration_);
  }
  if (!caller) return;
  if (detail::calls(*made->callee, *caller)) {
    caller->mistakes.push_back(
        detail::found_at(Code::CallMismatch, in_backticks(caller->owner->name) + " calls itself",
                         "call algorithms that do not call this one; a `Loop` repeats", where));
    return;
  }
  for (Argument& argument : arguments)
    made->arguments.push_back({std::move(argument.input), argument.tensor.declaration_,
                               std::move(argument.indices), argument.where});
  caller->definitions.push_back(
      {made->results[0], {}, std::nullopt, where, nullptr, nullptr, made});
}

}  // namespace tilewright::language

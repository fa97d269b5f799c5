// SPDX-License-Identifier: Apache-2.0
//
// Declarations and definitions, in the order in which the program makes them.
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
  declaration_ = detail::declare(algorithm, std::move(tensor));
}

Tensor::Tensor(Algorithm& algorithm, std::string name, Where where)
    : Tensor(algorithm, std::move(name), Declared{}, where) {}

Tensor::Tensor(Algorithm& algorithm, std::string name, Type type, Where where)
    : Tensor(algorithm, std::move(name), Declared{false, false, &type, {}}, where) {}

Input::Input(Algorithm& algorithm, std::string name, Type type, std::vector<Operand> shape,
             Where where)
    : Tensor(algorithm, std::move(name), Declared{true, false, &type, std::move(shape)}, where) {}

Output::Output(Algorithm& algorithm, std::string name, Where where)
    : Tensor(algorithm, std::move(name), Declared{false, true, nullptr, {}}, where) {}

Output::Output(Algorithm& algorithm, std::string name, Type type, Where where)
    : Tensor(algorithm, std::move(name), Declared{false, true, &type, {}}, where) {}

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
  if (tensor.kind == Declaration::Kind::Input) {
    algorithm_->mistakes.push_back(detail::found_at(Code::InputDefined,
                                                    name + " is an input, which the caller gives",
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
  algorithm_->definitions.push_back({declaration_, std::move(args_), std::move(value), where_});
}

}  // namespace tilewright::language

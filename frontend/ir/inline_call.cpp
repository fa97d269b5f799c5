// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/inline_call.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "frontend/base/format.h"
#include "frontend/ir/reduction.h"
#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"

namespace tilewright::ir {

namespace {

class Inliner {
 public:
  Inliner(Context& context, const Algorithm& caller, const Call& call)
      : context_(context), caller_(caller), call_(call), callee_(*call.callee) {
    for (const ExtentDecl& e : caller.extents) taken_.insert(e.name);
    for (const Input& i : caller.inputs) taken_.insert(i.name);
    for (const Equation& e : caller.equations) taken_.insert(e.name);
    for (const Loop& loop : caller.loops) {
      taken_.insert(loop.var);
      for (const Carry& carry : loop.carries) taken_.insert(carry.name);
    }
    for (Symbol result : call.results) taken_.insert(result);
  }

  Result<Inlined> run() {
    TILEWRIGHT_CHECK_OK(bind_arguments());
    TILEWRIGHT_CHECK_OK(name_equations());
    Inlined out;
    for (Expr requirement : callee_.requirements) {
      const Expr moved = move(requirement);
      const auto& known = caller_.requirements;
      const auto* constant = moved.as<BoolConst>();
      if (std::find(known.begin(), known.end(), moved) == known.end() &&
          !(constant && constant->value))
        out.requirements.push_back(moved);
    }
    for (const Equation& equation : callee_.equations) out.equations.push_back(moved(equation));
    for (const Loop& loop : callee_.loops) out.loops.push_back(moved(loop));
    return out;
  }

 private:
  Failure mismatch(std::string message, std::string remedy, Span span) const {
    return fail(Diagnostic{Code::CallMismatch,
                           span.none() ? call_.span : span,
                           std::move(message),
                           std::move(remedy),
                           {},
                           {}});
  }
  std::string shown(Symbol name) const { return in_backticks(name.text()); }

  // Each input once, with its type and shape; what stands for the callee's extents follows from the shapes.
  Result<Ok> bind_arguments() {
    for (const Argument& argument : call_.arguments) {
      const Input* input = callee_.find_input(argument.input);
      if (!input)
        return mismatch(shown(callee_.name) + " has no input " + shown(argument.input),
                        "name its inputs", argument.span);
      if (!arguments_.emplace(input->name, &argument).second)
        return mismatch("the input " + shown(argument.input) + " is given twice", "give it once",
                        argument.span);
      const auto* shape = caller_.shape_of(argument.tensor);
      const auto type = caller_.type_of(argument.tensor);
      const std::size_t fixed = argument.leading.size();
      if (!shape || type != input->type || shape->size() != fixed + input->shape.size())
        return mismatch(
            "the argument of " + shown(argument.input) + " is no " +
                std::string(type_text(input->type)) + " tensor with " +
                std::to_string(input->shape.size()) + " dimensions",
            "give it a tensor of its type; leading dimensions may be fixed, as in `w[0]`",
            argument.span);
      for (std::size_t d = 0; d < input->shape.size(); ++d)
        if (const auto* extent = input->shape[d].as<Extent>())
          extents_.emplace(extent->name, (*shape)[fixed + d]);
    }
    for (const Input& input : callee_.inputs)
      if (!arguments_.contains(input.name))
        return mismatch(
            "the input " + shown(input.name) + " of " + shown(callee_.name) + " is missing",
            "write `" + std::string(input.name.text()) + " = ...`", {});
    for (const ExtentDecl& extent : callee_.extents)
      if (!extents_.contains(extent.name))
        return mismatch("no argument says what the extent " + shown(extent.name) + " of " +
                            shown(callee_.name) + " is",
                        "give an input a dimension that is this extent alone", {});
    return check_shapes();
  }

  Result<Ok> check_shapes() const {
    for (const Input& input : callee_.inputs) {
      const Argument& argument = *arguments_.at(input.name);
      const auto& shape = *caller_.shape_of(argument.tensor);
      for (std::size_t d = 0; d < input.shape.size(); ++d) {
        const Expr wanted = move(input.shape[d]);
        const Expr found = shape[argument.leading.size() + d];
        if (!(wanted == found))
          return mismatch("dimension " + std::to_string(d) + " of the argument of " +
                              shown(input.name) + " is `" + print(found) + "` where `" +
                              print(wanted) + "` is needed",
                          "give arguments whose shapes agree", argument.span);
      }
    }
    return Ok{};
  }

  Result<Ok> name_equations() {
    const auto outputs = callee_.outputs();
    if (outputs.size() != call_.results.size())
      return mismatch(shown(callee_.name) + " has " + std::to_string(outputs.size()) +
                          " outputs, found " + std::to_string(call_.results.size()) + " names",
                      "name each output, as in `h, c = cell(...)`", {});
    for (std::size_t i = 0; i < outputs.size(); ++i) names_[outputs[i]->name] = call_.results[i];
    const std::string path = std::string(call_.results[0].text()) + ".";
    for (const Equation& equation : callee_.equations)
      if (!names_.contains(equation.name))
        names_[equation.name] = context_.symbol(path + std::string(equation.name.text()));
    for (const Equation& equation : callee_.equations)
      for (const TensorPart& part : equation.parts) names_[part.name] = part_name(equation, part);
    for (const Loop& loop : callee_.loops) {
      names_[loop.var] = context_.symbol(path + std::string(loop.var.text()));
      extents_[loop.var] = context_.extent(names_[loop.var]);
      for (const Carry& carry : loop.carries)
        names_[carry.name] = context_.symbol(path + std::string(carry.name.text()));
    }
    return start_tensors();
  }

  // A loop carries on from tensors, so an argument that is a part of one has to be an equation first.
  Result<Ok> start_tensors() const {
    for (const Loop& loop : callee_.loops)
      for (const Carry& carry : loop.carries)
        for (Symbol tensor : {carry.start, carry.next}) {
          const auto argument = arguments_.find(tensor);
          if (argument == arguments_.end() || argument->second->leading.empty()) continue;
          return mismatch(
              "a loop of " + shown(callee_.name) + " carries on from " + shown(tensor) +
                  ", for which a part of " + shown(argument->second->tensor) + " is given",
              "name the part: `view part[i] = w[0, i]`, and give that", argument->second->span);
        }
    return Ok{};
  }

  Symbol tensor_name(Symbol name) const {
    const auto argument = arguments_.find(name);
    return argument == arguments_.end() ? names_.at(name) : argument->second->tensor;
  }

  Loop moved(const Loop& loop) const {
    Loop out = loop;
    out.var = names_.at(loop.var);
    out.trips = move(loop.trips);
    if (loop.condition) out.condition = move(loop.condition);
    out.span = call_.span;
    for (Carry& carry : out.carries)
      carry = {names_.at(carry.name), tensor_name(carry.start), tensor_name(carry.next)};
    return out;
  }

  Symbol part_name(const Equation& equation, const TensorPart& part) const {
    const std::string_view field = part.name.text().substr(equation.name.text().size());
    return context_.symbol(std::string(names_.at(equation.name).text()) + std::string(field));
  }

  // A name that a fold or an equation binds: another one where the caller has it.
  Symbol bound(Symbol name) const {
    Symbol out = name;
    while (taken_.contains(out)) out = context_.symbol(std::string(out.text()) + "_");
    return out;
  }

  Expr move(Expr root) const {
    return rewrite(context_, root, [&](Expr e) -> Expr {
      if (const auto* extent = e.as<Extent>()) {
        const auto it = extents_.find(extent->name);
        return it == extents_.end() ? Expr() : it->second;
      }
      if (const auto* var = e.as<Var>()) return context_.var(bound(var->name), var->type);
      if (const auto* fold = e.as<Fold>()) return moved(*fold);
      const auto* read = e.as<Read>();
      if (!read) return {};
      const auto argument = arguments_.find(read->tensor);
      if (argument == arguments_.end())
        return context_.read(names_.at(read->tensor), read->indices, read->type);
      std::vector<Expr> indices = argument->second->leading;
      indices.insert(indices.end(), read->indices.begin(), read->indices.end());
      return context_.read(argument->second->tensor, indices, read->type);
    });
  }

  Expr moved(const Fold& fold) const {
    std::vector<Symbol> vars, state;
    for (Symbol name : fold.vars) vars.push_back(bound(name));
    for (Symbol name : fold.state) state.push_back(bound(name));
    Fold out = fold;
    out.vars = vars;
    out.state = state;
    return context_.fold(out);
  }

  Equation moved(const Equation& equation) const {
    Equation out = equation;
    out.name = names_.at(equation.name);
    out.is_output = false;
    out.into = {};
    out.span = call_.span;
    for (Symbol& index : out.indices) index = bound(index);
    for (Expr& extent : out.shape) extent = move(extent);
    out.value = move(equation.value);
    // The names of a recurrence's values are those of its tensors.
    const Fold* fold = out.fold();
    const auto fields = fold ? part_names(callee_, *fold) : std::vector<std::string>();
    for (std::size_t i = 0; i < out.parts.size(); ++i)
      out.parts[i].name = context_.symbol(std::string(out.name.text()) + "." + fields[i]);
    return out;
  }

  Context& context_;
  const Algorithm& caller_;
  const Call& call_;
  const Algorithm& callee_;
  std::unordered_set<Symbol> taken_;
  std::unordered_map<Symbol, const Argument*> arguments_;
  std::unordered_map<Symbol, Expr> extents_;
  std::unordered_map<Symbol, Symbol> names_;
};

}  // namespace

Result<Inlined> inline_call(Context& context, const Algorithm& caller, const Call& call) {
  return Inliner(context, caller, call).run();
}

}  // namespace tilewright::ir

// SPDX-License-Identifier: Apache-2.0
//
// Declared reductions and algorithms.
#include "apps/check/reader.h"

namespace tilewright::checker {

void Reader::forget(const std::vector<Name>& names) {
  for (Name name : names) scope_.erase(name);
}

Extent Reader::extent() {
  Extent out;
  out.name = name();
  if (accept("min")) out.min = integer();
  if (accept("max")) out.max = integer();
  if (accept("multiple_of")) out.multiple_of = integer();
  if (out.min < 0 || out.max < out.min || out.multiple_of < 1) refuse("no size is such");
  return out;
}

Tensor Reader::tensor_type(Name name) {
  Tensor out;
  out.name = name;
  out.type = type();
  expect("[");
  out.shape = list("]", kIndex);
  return out;
}

void Reader::facts(Tensor& tensor) {
  if (accept("range")) {
    tensor.lower = expr_of(kIndex);
    expect("..");
    tensor.upper = expr_of(kIndex);
  }
  tensor.clamp = accept("clamp");
  tensor.monotone = accept("monotone");
  tensor.injective = accept("injective");
  tensor.assumed = accept("assumed");
  const bool any = tensor.lower || tensor.monotone || tensor.injective;
  if ((any && !tensor.type->is_integer()) || (tensor.assumed && !any) ||
      ((tensor.clamp || tensor.injective) && !tensor.lower))
    refuse("a fact that the tensor cannot have");
}

Monoid Reader::monoid() {
  Monoid out;
  expect("monoid");
  const std::uint32_t at = peek().at;
  out.name = name();
  if (is_word(out.name) || monoid_named(out.name)) refuse_at(at, "no name for a reduction");
  expect("(");
  do {
    out.fields.push_back(name());
    expect(":");
    out.types.push_back(type());
  } while (accept(","));
  expect(")");
  out.commutative = accept("commutative");
  expect("{");
  const auto values = [&] {
    std::vector<Ref> list;
    for (std::size_t i = 0; i < out.types.size(); ++i) {
      if (i > 0) expect(",");
      list.push_back(expr_of(out.types[i]));
    }
    return list;
  };
  expect("identity");
  out.identity = values();
  expect("combine");
  expect("(");
  out.left = name();
  expect(",");
  out.right = name();
  expect(")");
  expect("=");
  std::vector<Name> names;
  for (Name side : {out.left, out.right})
    for (std::size_t i = 0; i < out.fields.size(); ++i) {
      names.push_back(
          arena_.texts.emplace_back(std::string(side) + "." + std::string(out.fields[i])));
      declare(names.back(), {What::Variable, out.types[i]});
    }
  out.combine = values();
  forget(names);
  expect("}");
  return out;
}

void Reader::loop(Algorithm& out) {
  Loop made;
  expect("loop");
  made.var = name();
  expect("<");
  may_read_ = false;
  made.trips = expr_of(kIndex, infix("<")->precedence + 1);
  may_read_ = true;
  declare(made.var, {What::Extent, kIndex});
  const bool is_conditional = accept("while");
  const std::size_t condition_at = next_;
  // The condition may read what is carried, which is declared after it: it is read last.
  if (is_conditional)
    while (!at("carry") && peek().kind != TokenKind::End) next();
  std::vector<Name> names;
  expect("carry");
  std::vector<std::pair<Meaning, std::uint32_t>> carried;
  do {
    const Token token = peek();
    Carry carry;
    carry.name = name();
    expect("=");
    const Token start = peek();
    carry.start = name();
    const Meaning* meaning = find(carry.start);
    if (!meaning || meaning->what != What::Tensor) refuse_at(start.at, "no tensor to start from");
    carried.push_back({*meaning, token.at});
    expect("then");
    carry.next = name();
    made.carries.push_back(carry);
  } while (accept(","));
  for (std::size_t i = 0; i < carried.size(); ++i) declare(made.carries[i].name, carried[i].first);
  if (is_conditional) {
    const std::size_t after = next_;
    next_ = condition_at;
    made.condition = expr_of(kBool);
    if (!at("carry")) refuse("expected `carry`");
    next_ = after;
  }
  expect("{");
  made.first = out.equations.size();
  const std::size_t place = out.loops.size();
  out.loops.push_back(made);
  {
    const Nest nest(*this, bodies_, kMaxBodies);
    statements(out);
  }
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const Meaning* next = find(made.carries[i].next);
    if (!next || next->what != What::Tensor || next->type != carried[i].first.type ||
        next->rank != carried[i].first.rank)
      refuse_at(carried[i].second, "carried on from a tensor that there is not");
  }
  expect("}");
  out.loops[place].last = out.equations.size();
  if (made.first == out.equations.size()) refuse("a loop without equations");
  // Of the body nothing but what it carries is known after it.
  for (std::size_t i = made.first; i < out.equations.size(); ++i) forget(out.equations[i].tensors);
  for (std::size_t i = place + 1; i < out.loops.size(); ++i)
    for (const Carry& carry : out.loops[i].carries) scope_.erase(carry.name);
  scope_.erase(made.var);
}

void Reader::equation(Algorithm& out) {
  Equation made;
  const std::uint32_t at = peek().at;
  made.is_output = accept("output");
  made.is_view = !made.is_output && accept("view");
  made.name = name();
  expect("[");
  if (!accept("]")) {
    do {
      made.indices.push_back(name());
      expect("<");
      may_read_ = false;
      made.shape.push_back(expr_of(kIndex, infix("<")->precedence + 1));
      may_read_ = true;
    } while (accept(","));
    expect("]");
  }
  expect(":");
  const bool is_tuple = accept("(");
  do made.types.push_back(type());
  while (is_tuple && accept(","));
  if (is_tuple) expect(")");
  if (accept("into")) made.into = name();
  expect("=");
  for (Name index : made.indices) declare(index, {What::Variable, kIndex});
  indices_ = made.indices;
  may_fold_ = true;
  folds_ = 0;
  made.value = expr();
  may_fold_ = false;
  forget(made.indices);
  indices_.clear();
  // A fold stands at the root, or under one conversion there.
  Ref root = made.value;
  if (root->kind == Kind::Convert) root = root->args[0];
  const FoldParts* fold = root->fold;
  if (folds_ > (fold ? 1 : 0)) refuse_at(at, "a fold inside of a value");
  std::vector<Type> types = {made.value->type};
  if (fold && fold->body.size() > 1) types = fields(*fold, fold->body, at);
  if (types != made.types || (types.size() > 1 && root != made.value))
    refuse_at(at, "the value is of another type");
  if (types.size() == 1) {
    made.tensors = {made.name};
  } else {
    const Monoid* declared = monoid_named(fold->monoid);
    const std::vector<Name> fields = !fold->state.empty() ? fold->state
                                     : declared           ? declared->fields
                                                          : std::vector<Name>{"value", "index"};
    for (Name field : fields)
      made.tensors.push_back(
          arena_.texts.emplace_back(std::string(made.name) + "." + std::string(field)));
  }
  for (std::size_t i = 0; i < types.size(); ++i)
    declare(made.tensors[i], {What::Tensor, types[i], made.indices.size()});
  out.equations.push_back(std::move(made));
}

void Reader::statements(Algorithm& out) {
  while (!at("}")) {
    if (at("loop") && peek(1).kind == TokenKind::Word) {
      loop(out);
    } else {
      equation(out);
    }
  }
}

Algorithm Reader::algorithm() {
  Algorithm out;
  expect("algorithm");
  out.name = name();
  if (is_word(out.name)) refuse("a word of the language is no name");
  expect("(");
  if (!accept(")")) {
    do {
      out.extents.push_back(extent());
      declare(out.extents.back().name, {What::Extent, kIndex});
    } while (accept(","));
    expect(")");
  }
  expect("{");
  may_read_ = false;
  while (accept("requires")) out.requirements.push_back(expr_of(kBool));
  while (at("input") || at("const") || (at("inout") && is(peek(2), ":"))) {
    const bool is_const = accept("const");
    const bool is_inout = !is_const && accept("inout");
    if (!is_inout) expect("input");
    const Name name = this->name();
    expect(":");
    Tensor input = tensor_type(name);
    input.is_const = is_const;
    input.is_inout = is_inout;
    facts(input);
    declare(name, {What::Tensor, input.type, input.shape.size()});
    out.inputs.push_back(std::move(input));
  }
  may_read_ = true;
  statements(out);
  expect("}");
  return out;
}

Algorithm Reader::algorithm_file() {
  while (at("monoid")) {
    if (monoids_.size() == 256) refuse("too many reductions");
    monoids_.push_back(monoid());
  }
  Algorithm out = algorithm();
  if (peek().kind != TokenKind::End) refuse("expected the end of the text");
  out.monoids = std::move(monoids_);
  return out;
}

Algorithm read_algorithm(Arena& arena, Name text) { return Reader(arena, text).algorithm_file(); }

}  // namespace tilewright::checker

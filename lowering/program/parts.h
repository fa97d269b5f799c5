// SPDX-License-Identifier: Apache-2.0
//
// Bodies of for_each_part and map_parts, derived from the fields of each kind. The end of program.h, which
// declares what they use; include that.
#pragma once

namespace tilewright::program {

namespace parts_detail {

// Names that stand for no variable, buffer or object.
inline bool is_label(std::string_view field_name) {
  return field_name == "origin" || field_name == "callee" || field_name == "after";
}

template <class T>
constexpr bool kPart = std::is_same_v<T, Stmt> || std::is_same_v<T, Expr> ||
                       std::is_same_v<T, Symbol> || std::is_same_v<T, Tile>;
template <class T>
constexpr bool kList = false;
template <class T>
constexpr bool kList<std::span<const T>> = kPart<T>;

template <class T>
bool present(const T& value) {
  if constexpr (std::is_same_v<T, Symbol>)
    return value.valid();
  else
    return static_cast<bool>(value);
}

template <class F, class T>
void visit_part(std::string_view name, const T& value, F& f) {
  if constexpr (std::is_same_v<T, Tile>) {
    f(name, value->buffer);
    for (Expr e : value->indices) f(name, e);
    for (Expr e : value->lengths) f(name, e);
  } else if constexpr (kPart<T>) {
    if (present(value)) f(name, value);
  } else if constexpr (kList<T>) {
    for (const auto& element : value) visit_part(name, element, f);
  }
}

template <class F, class T>
T mapped(ir::Context& context, std::string_view name, const T& value, F& f) {
  if constexpr (std::is_same_v<T, Tile>) {
    std::vector<Expr> indices;
    std::vector<Expr> lengths;
    const Symbol buffer = f(name, value->buffer);
    for (Expr e : value->indices) indices.push_back(f(name, e));
    for (Expr e : value->lengths) lengths.push_back(f(name, e));
    return make_tile(context, value->operand, buffer, indices, value->sliced, lengths);
  } else {
    return present(value) ? f(name, value) : value;
  }
}

}  // namespace parts_detail

template <class F>
void for_each_part(Stmt stmt, F&& f) {
  visit(stmt, [&](const auto& node) {
    using Node = std::remove_cvref_t<decltype(node)>;
    for_each_field(node, [&](std::string_view name, const auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      // The name of a role or kernel is a label too.
      constexpr bool labelled = std::is_same_v<Node, Role> || std::is_same_v<Node, Kernel>;
      if constexpr (std::is_same_v<T, Symbol> && labelled) return;
      if (!parts_detail::is_label(name)) parts_detail::visit_part(name, value, f);
    });
  });
}

template <class F>
Stmt map_parts(ir::Context& context, Stmt stmt, F&& f) {
  return visit(stmt, [&](const auto& original) {
    using Node = std::remove_cvref_t<decltype(original)>;
    Node node = original;
    // What the lists point to until the node is interned.
    std::tuple<std::vector<std::vector<Stmt>>, std::vector<std::vector<Expr>>,
               std::vector<std::vector<Symbol>>, std::vector<std::vector<Tile>>>
        owned;
    auto replace = [&](std::string_view name, auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      constexpr bool labelled = std::is_same_v<Node, Role> || std::is_same_v<Node, Kernel>;
      if constexpr (std::is_same_v<T, Symbol> && labelled) return;
      if (parts_detail::is_label(name)) return;
      if constexpr (parts_detail::kPart<T>) {
        value = parts_detail::mapped(context, name, value, f);
      } else if constexpr (parts_detail::kList<T>) {
        std::vector<std::remove_const_t<typename T::element_type>> list;
        list.reserve(value.size());
        for (const auto& element : value)
          list.push_back(parts_detail::mapped(context, name, element, f));
        auto& keep = std::get<std::vector<decltype(list)>>(owned);
        keep.push_back(std::move(list));
        value = keep.back();
      }
    };
    std::apply([&](const auto&... fields) { (replace(fields.name, node.*(fields.member)), ...); },
               Node::fields);
    return make(context, node);
  });
}

}  // namespace tilewright::program

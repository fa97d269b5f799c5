// SPDX-License-Identifier: Apache-2.0
//
// Hash-consed IR nodes. A node kind is an aggregate derived from a family's base node, which names
// its fields once in `static constexpr auto fields`; hashing, equality, walking, printing and JSON
// derive from that. Laws: equal nodes of one store are the same pointer; a node's hash depends on
// its content alone.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "frontend/base/arena.h"
#include "frontend/base/hash.h"
#include "frontend/base/symbol.h"

namespace tilewright {

// One named field of a node kind: `field("lhs", &Add::lhs)`.
template <class Owner, class T>
struct Field {
  std::string_view name;
  T Owner::* member;
  bool optional = false;  // left out of JSON where it has the value of a new node
};
template <class Owner, class T>
constexpr Field<Owner, T> field(std::string_view name, T Owner::* member) {
  return {name, member, false};
}
template <class Owner, class T>
constexpr Field<Owner, T> optional_field(std::string_view name, T Owner::* member) {
  return {name, member, true};
}

// Calls f(name, value) for each declared field, in order.
template <class Node, class F>
constexpr void for_each_field(const Node& node, F&& f) {
  std::apply([&](const auto&... fields) { (f(fields.name, node.*(fields.member)), ...); },
             Node::fields);
}

// An immutable list inside a node. Copied into the arena when the node is interned.
template <class T>
using NodeList = std::span<const T>;

struct NodeHeader {
  std::uint16_t kind = 0;
  std::uint32_t index = 0;  // dense within its family, for side tables
  std::uint64_t hash = 0;
};

namespace node_detail {

// A handle is anything with hash() and ==: Symbol, Expr, Stmt.
template <class T>
concept Handle = requires(const T& t) {
  { t.hash() } -> std::convertible_to<std::uint64_t>;
};

template <class T>
std::uint64_t hash_value(const T& value) {
  if constexpr (Handle<T>) {
    return value.hash();
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(value);
  } else {
    std::uint64_t hash = value.size();
    for (const auto& element : value) hash = hash_combine(hash, hash_value(element));
    return hash;
  }
}

template <class T>
bool equal_value(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  } else if constexpr (Handle<T> || std::is_enum_v<T> || std::is_integral_v<T>) {
    return a == b;
  } else {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!equal_value(a[i], b[i])) return false;
    return true;
  }
}

template <class T>
void own_value(Arena& arena, T& value) {
  if constexpr (!(Handle<T> || std::is_enum_v<T> || std::is_arithmetic_v<T>))
    value = arena.copy(value);
}

}  // namespace node_detail

// The nodes of one context. T must declare kFamily (0 for expressions, 1 for statements, below
// kNumFamilies), kKind, fields, and `std::uint64_t salt() const` for header data such as its type.
class NodeStore {
 public:
  static constexpr int kNumFamilies = 4;

  // Returns the one node equal to `candidate`, creating it when new. Lists may point anywhere
  // meanwhile.
  template <class T>
  const T* intern(T candidate) {
    candidate.kind = static_cast<std::uint16_t>(T::kKind);
    std::uint64_t hash = hash_combine(candidate.kind + 0x100U * T::kFamily, candidate.salt());
    for_each_field(candidate, [&](std::string_view, const auto& value) {
      hash = hash_combine(hash, node_detail::hash_value(value));
    });
    candidate.hash = hash;
    auto& family = families_[T::kFamily];
    auto [it, end] = family.by_hash.equal_range(hash);
    for (; it != end; ++it)
      if (same(candidate, *it->second)) return static_cast<const T*>(it->second);
    std::apply(
        [&](const auto&... fields) {
          (node_detail::own_value(arena_, candidate.*(fields.member)), ...);
        },
        T::fields);
    candidate.index = static_cast<std::uint32_t>(family.size++);
    const T* node = arena_.create<T>(candidate);
    family.by_hash.emplace(hash, node);
    return node;
  }

  // Number of nodes of a family: an upper bound of every index.
  std::size_t size(int family) const { return families_[family].size; }
  Arena& arena() { return arena_; }
  SymbolTable& symbols() { return symbols_; }

 private:
  template <class T>
  static bool same(const T& a, const NodeHeader& header) {
    if (header.kind != a.kind) return false;
    const T& b = static_cast<const T&>(header);
    if (a.salt() != b.salt()) return false;
    return std::apply(
        [&](const auto&... fields) {
          return (node_detail::equal_value(a.*(fields.member), b.*(fields.member)) && ...);
        },
        T::fields);
  }

  struct Family {
    std::unordered_multimap<std::uint64_t, const NodeHeader*> by_hash;
    std::size_t size = 0;
  };
  Arena arena_;
  SymbolTable symbols_{arena_};
  Family families_[kNumFamilies];
};

}  // namespace tilewright

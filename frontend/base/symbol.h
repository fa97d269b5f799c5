// SPDX-License-Identifier: Apache-2.0
//
// Interned names. A Symbol is one pointer; equal text in one table is the same pointer. Order is by
// text, so that nothing depends on addresses. Law: symbols of one SymbolTable are equal iff their
// text is.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "frontend/base/arena.h"

namespace tilewright {

class Symbol {
 public:
  Symbol() = default;
  bool valid() const { return entry_ != nullptr; }
  std::string_view text() const { return entry_ ? entry_->text : std::string_view{}; }
  // Depends on the text alone: stable between runs and tables.
  std::uint64_t hash() const { return entry_ ? entry_->hash : 0; }
  friend bool operator==(Symbol a, Symbol b) { return a.entry_ == b.entry_; }
  friend bool operator<(Symbol a, Symbol b) { return a.text() < b.text(); }

 private:
  friend class SymbolTable;
  struct Entry {
    std::string_view text;
    std::uint64_t hash;
  };
  explicit Symbol(const Entry* entry) : entry_(entry) {}
  const Entry* entry_ = nullptr;
};

// Owns the text of its symbols; they are valid while it lives.
class SymbolTable {
 public:
  explicit SymbolTable(Arena& arena);
  ~SymbolTable();
  SymbolTable(const SymbolTable&) = delete;
  SymbolTable& operator=(const SymbolTable&) = delete;
  Symbol intern(std::string_view text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright

template <>
struct std::hash<tilewright::Symbol> {
  std::size_t operator()(tilewright::Symbol s) const noexcept {
    return static_cast<std::size_t>(s.hash());
  }
};

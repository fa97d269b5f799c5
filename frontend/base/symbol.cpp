// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/symbol.h"

#include <unordered_map>

#include "frontend/base/hash.h"

namespace tilewright {

struct SymbolTable::Impl {
  Arena& arena;
  std::unordered_map<std::string_view, const Symbol::Entry*> entries;
};

SymbolTable::SymbolTable(Arena& arena) : impl_(std::make_unique<Impl>(Impl{arena, {}})) {}
SymbolTable::~SymbolTable() = default;

Symbol SymbolTable::intern(std::string_view text) {
  if (auto it = impl_->entries.find(text); it != impl_->entries.end()) return Symbol(it->second);
  const std::string_view owned = impl_->arena.copy(text);
  const auto* entry = impl_->arena.create<Symbol::Entry>(owned, hash_bytes(owned));
  impl_->entries.emplace(owned, entry);
  return Symbol(entry);
}

}  // namespace tilewright

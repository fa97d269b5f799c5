// SPDX-License-Identifier: Apache-2.0
#include "schedules/layout/banks.h"

#include <algorithm>
#include <map>
#include <set>

namespace tilewright::layout {

std::int64_t turns(std::span<const Bits> byte_addresses, const Banks& banks) {
  std::map<Bits, std::set<Bits>> wanted;
  for (Bits address : byte_addresses) {
    const Bits word = address >> banks.word_bits;
    wanted[word & ((Bits{1} << banks.bank_bits) - 1)].insert(word);
  }
  std::size_t most = 0;
  for (const auto& [bank, words] : wanted) most = std::max(most, words.size());
  return static_cast<std::int64_t>(most);
}

std::int64_t turns(const LinearMap& lanes, const LinearMap& layout, int element_bits,
                   const Banks& banks) {
  const LinearMap elements = compose(layout, lanes);
  const int below_word = std::min(banks.word_bits - element_bits, elements.out_bits());
  const int word_bits = elements.out_bits() - below_word;
  const LinearMap words =
      compose(LinearMap::bit_range(elements.out_bits(), below_word, word_bits), elements);
  const LinearMap bank =
      compose(LinearMap::bit_range(word_bits, 0, std::min(word_bits, banks.bank_bits)), words);
  return std::int64_t{1} << (words.rank() - bank.rank());
}

}  // namespace tilewright::layout

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "apps/tutorial/lesson.h"
#include "attention_head.h"

int main() {
  const std::size_t queries = 11, keys = 19, depth = 13;
  lesson::Floats q({queries, depth}), k({keys, depth}), v({keys, depth}), o({queries, depth});
  lesson::fill(q);
  lesson::fill(k, 5);
  lesson::fill(v, 11);
  lesson::run(attention_head_query, attention_head, q, k, v, o);

  double worst = 0;
  for (std::size_t s = 0; s < queries; ++s) {
    const std::size_t seen = s + keys - queries + 1;
    std::vector<double> weight(seen);
    double total = 0;
    for (std::size_t t = 0; t < seen; ++t) {
      double score = 0;
      for (std::size_t d = 0; d < depth; ++d)
        score += static_cast<double>(q.values[s * depth + d]) * k.values[t * depth + d];
      total += weight[t] = std::exp(score / std::sqrt(static_cast<double>(depth)));
    }
    for (std::size_t d = 0; d < depth; ++d) {
      double expected = 0;
      for (std::size_t t = 0; t < seen; ++t)
        expected += weight[t] / total * v.values[t * depth + d];
      worst = std::max(worst, std::fabs(expected - o.values[s * depth + d]));
    }
  }
  std::printf("largest difference: %.1e\n", worst);
  lesson::expect(worst < 1e-5, "a few roundings of numbers below 1");
  return 0;
}

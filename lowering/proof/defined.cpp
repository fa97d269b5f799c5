// SPDX-License-Identifier: Apache-2.0
#include "lowering/proof/defined.h"

namespace tilewright::proof {

Result<bool> Defined::holds(const algebra::Obligation& obligation) {
  // Cells of inputs, by hypothesis.
  return obligation.condition == algebra::Condition::Finite && terms_.is_read(obligation.term);
}

}  // namespace tilewright::proof

// SPDX-License-Identifier: Apache-2.0
#include "lowering/rounding/units.h"

#include <algorithm>

#include "frontend/ir/math_table.h"

namespace tilewright::rounding {

namespace {

bool is_short(ir::ScalarType type) {
  return ir::type_info(type).digits() < ir::type_info(ir::ScalarType::F32).digits();
}

double smallest_normal(ir::ScalarType type) {
  return ir::smallest_subnormal(type) / ir::unit_roundoff(type) / 2;
}

// Short types compute in f32 and round once more.
constexpr double kInF32 = 0x1p-23;

}  // namespace

Units units_of(const machine::Machine& machine) {
  return {machine.numeric.fma_rounds_once, machine.numeric.subnormals, 1};
}

// Round to nearest: half a unit of the result's last place, below the normal numbers half the smallest one. The
// bound by the rounded value instead of the exact one costs nothing: u|exact| and u|rounded| both hold.
Step rounding_step(const Units& units, ir::ScalarType type) {
  Step out{ir::unit_roundoff(type) + (is_short(type) ? kInF32 : 0), ir::smallest_subnormal(type)};
  if (!units.subnormals) out.absolute = std::max(out.absolute, 2 * smallest_normal(type));
  return out;
}

Step math_step(const Units& units, ir::OpCode op, ir::ScalarType type) {
  const ir::ScalarType base =
      type == ir::ScalarType::F64 ? ir::ScalarType::F64 : ir::ScalarType::F32;
  // A square root is an operation of IEEE.
  const double ulps = op == ir::OpCode::Sqrt ? 0.5 : ir::math_ulps(op) * units.ulp_scale;
  // A unit in the last place is at most two roundings of the exact result; of the computed one a little more.
  Step out{2 * ulps * ir::unit_roundoff(base) * (1 + 0x1p-20), ulps * ir::smallest_subnormal(base)};
  if (is_short(type)) {
    const Step once = rounding_step(units, type);
    out.relative += once.relative;
    out.absolute += once.absolute;
  }
  return out;
}

}  // namespace tilewright::rounding

// SPDX-License-Identifier: Apache-2.0
//
// The Program's operations on data, against frontend/ir/evaluate.h on values: every operation and conversion of every
// type. The values are known, so this is about the formulas; that rewrites keep them is the law of terms.
#include "lowering/validate/operations.h"

#include <gtest/gtest.h>

#include <cmath>

#include "frontend/ir/evaluate.h"
#include "frontend/ir/random.h"
#include "frontend/ir/value.h"

namespace tilewright::validate {
namespace {

using ir::OpCode;
using ir::ScalarType;

std::vector<ScalarType> types() {
  std::vector<ScalarType> out;
  for (int i = 0; i < ir::kNumScalarTypes; ++i) {
    const auto type = static_cast<ScalarType>(i);
    if (type != ScalarType::Index && !ir::is_complex(type)) out.push_back(type);
  }
  return out;
}

ir::Scalar value_of(ScalarType type, ir::Random& random) {
  ir::Scalar out{};
  if (ir::is_float(type)) {
    static const double kValues[] = {0.0,   -0.0,  1.0,   -1.5,  0.3,     3e38,
                                     -3e38, 1e-41, 448.0, 449.0, 65504.0, 65520.0};
    const double x = random.chance(50) ? kValues[random.between(0, 11)]
                                       : std::ldexp(random.between(-1'000'000, 1'000'000),
                                                    random.between(-40, 10));
    out.f = ir::round_to_type(type, x);
    return out;
  }
  const bool small = random.chance(40);
  out.i = ir::wrap_to_type(
      type, small ? random.between(-3, 9) : static_cast<std::int64_t>(random.next()));
  if (type == ScalarType::Bool) out.i = random.between(0, 1);
  return out;
}

Datum datum_of(ScalarType type, ir::Scalar value) {
  if (ir::is_float(type)) return Datum::number(bits_of_double(value_sort(type), value.f));
  return Datum::number(static_cast<std::uint64_t>(value.i) & mask_of(value_sort(type).bits));
}

bool same(ScalarType type, ir::Scalar expected, const std::optional<Datum>& got) {
  if (!got || !got->is_bits()) return false;
  if (ir::is_float(type) && std::isnan(expected.f)) return is_nan(value_sort(type), got->bits);
  return got->bits == datum_of(type, expected).bits;
}

TEST(Operations, AreThoseOfTheLanguage) {
  Terms terms;
  Arithmetic arithmetic(terms);
  Operations operations(arithmetic);
  ir::Random random(3);
  for (const ScalarType type : types())
    for (int o = 0; o < ir::kNumOps; ++o) {
      const auto op = static_cast<OpCode>(o);
      if (!ir::op_accepts(op, type) || ir::is_complex(ir::op_result(op, type))) continue;
      if (op == OpCode::Re || op == OpCode::Im || op == OpCode::Conj) continue;
      for (int n = 0; n < 60; ++n) {
        ir::Scalar args[3];
        Datum data[3];
        for (int a = 0; a < 3; ++a) {
          args[a] = value_of(type, random);
          data[a] = datum_of(type, args[a]);
        }
        bool undefined = false;
        const ir::Scalar expected = ir::evaluate_op(op, type, args, &undefined);
        if (undefined) continue;
        const auto count = static_cast<std::size_t>(ir::op_info(op).arity);
        EXPECT_TRUE(same(ir::op_result(op, type), expected, operations.op(op, type, {data, count})))
            << ir::op_info(op).text << " of " << ir::type_text(type) << " " << args[0].f << " "
            << args[1].f << " " << args[0].i << " " << args[1].i;
      }
    }
}

TEST(Operations, ConversionsAreThoseOfTheLanguage) {
  Terms terms;
  Arithmetic arithmetic(terms);
  Operations operations(arithmetic);
  ir::Random random(4);
  for (const ScalarType from : types())
    for (const ScalarType to : types())
      for (int n = 0; n < 60; ++n) {
        const ir::Scalar value = value_of(from, random);
        const Datum data = datum_of(from, value);
        const std::string text = std::string(ir::type_text(from)) + " to " +
                                 std::string(ir::type_text(to)) + " " + std::to_string(value.f) +
                                 " " + std::to_string(value.i);
        bool undefined = false;
        if (ir::casts(from, to) && to != ScalarType::Bool) {
          const ir::Scalar expected = ir::evaluate_cast(from, to, value, &undefined);
          if (!undefined) {
            EXPECT_TRUE(same(to, expected, operations.cast(from, to, data))) << "cast " << text;
          }
        }
        if (ir::saturates(from, to)) {
          EXPECT_TRUE(
              same(to, ir::evaluate_saturate(from, to, value), operations.saturate(from, to, data)))
              << "saturate " << text;
        }
        if (ir::is_float(from) && ir::is_number(from) && ir::is_float(to)) {
          EXPECT_TRUE(same(from, ir::evaluate_round_to(from, to, value),
                           operations.round_to(from, to, data)))
              << "round_to " << text;
        }
      }
}

TEST(Operations, ValuesLieInMemoryAsTensorsDo) {
  Terms terms;
  Arithmetic arithmetic(terms);
  Operations operations(arithmetic);
  ir::Random random(5);
  for (const ScalarType type : types())
    for (int n = 0; n < 100; ++n) {
      ir::Tensor tensor = ir::make_tensor(type, {1});
      tensor.data[0] = value_of(type, random);
      const auto bytes = ir::element_bytes(tensor);
      std::uint64_t bits = 0;
      for (std::size_t k = 0; k < bytes.size(); ++k)
        bits |= static_cast<std::uint64_t>(bytes[k]) << (8 * k);
      const Datum data = datum_of(type, tensor.data[0]);
      const auto stored = operations.store(type, data);
      ASSERT_TRUE(stored && stored->is_bits());
      const std::uint64_t mask = ir::is_packed(type) ? 15U : ~std::uint64_t{0};
      EXPECT_EQ(stored->bits & mask, bits & mask) << ir::type_text(type) << " " << tensor.data[0].f;
      EXPECT_TRUE(same(type, tensor.data[0], operations.load(type, Datum::number(bits))))
          << ir::type_text(type);
    }
}

}  // namespace
}  // namespace tilewright::validate

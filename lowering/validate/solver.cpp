// SPDX-License-Identifier: Apache-2.0
#include "lowering/validate/solver.h"

#include <z3.h>

namespace tilewright::validate {

namespace {

constexpr std::size_t kMostNodes = 400;
constexpr unsigned kResourceLimit = 4'000'000;

// A query as a list of steps, each over earlier ones; the text of the list is the query's name.
struct Step {
  TermOp op = TermOp::Var;
  Sort sort;
  int a = -1, b = -1, c = -1;
  std::uint64_t extra = 0;
};

class Query {
 public:
  Query(const Terms& terms, const std::function<TermId(TermId)>& representative)
      : terms_(terms), representative_(representative) {}

  // -1: too large.
  int add(TermId id) {
    if (const auto it = numbers_.find(id); it != numbers_.end()) return it->second;
    const Term& t = terms_[id];
    Step step{t.op, t.sort, -1, -1, -1, t.extra};
    if (t.op == TermOp::Const || is_bit_level(t.op)) {
      // Operands of a comparison are unknown values whatever they are made of.
      int* const places[] = {&step.a, &step.b, &step.c};
      const TermId children[] = {t.a, t.b, t.c};
      for (int k = 0; k < 3; ++k) {
        if (children[k] == 0) continue;
        *places[k] = add(children[k]);
        if (*places[k] < 0) return -1;
      }
    } else {
      const TermId one = representative_(id);
      if (one != id) return numbers_[id] = add(one);
      step = {TermOp::Var, t.sort, -1, -1, -1, 0};
    }
    if (steps_.size() >= kMostNodes) return -1;
    steps_.push_back(step);
    return numbers_[id] = static_cast<int>(steps_.size()) - 1;
  }

  std::string name() const {
    std::string out;
    for (const Step& s : steps_) {
      out += std::to_string(static_cast<int>(s.op)) + ":" + std::to_string(s.sort.bits) + ":" +
             std::to_string(s.a) + ":" + std::to_string(s.b) + ":" + std::to_string(s.c) + ":" +
             std::to_string(s.op == TermOp::Var ? 0 : s.extra) + ";";
    }
    return out;
  }
  const std::vector<Step>& steps() const { return steps_; }

 private:
  const Terms& terms_;
  const std::function<TermId(TermId)>& representative_;
  std::unordered_map<TermId, int> numbers_;
  std::vector<Step> steps_;
};

class Z3Query {
 public:
  Z3Query() {
    Z3_config config = Z3_mk_config();
    context_ = Z3_mk_context(config);
    Z3_del_config(config);
    Z3_set_error_handler(context_, [](Z3_context, Z3_error_code) {});
  }
  ~Z3Query() { Z3_del_context(context_); }
  Z3Query(const Z3Query&) = delete;
  Z3Query& operator=(const Z3Query&) = delete;

  void build(const std::vector<Step>& steps) {
    for (const Step& step : steps) values_.push_back(make(step));
  }
  Z3_ast value(int number) const { return values_[static_cast<std::size_t>(number)]; }

  // Whether the goal holds for all values.
  bool proves(Z3_ast goal) {
    Z3_solver solver = Z3_mk_solver_for_logic(context_, Z3_mk_string_symbol(context_, "QF_BV"));
    Z3_solver_inc_ref(context_, solver);
    Z3_params params = Z3_mk_params(context_);
    Z3_params_inc_ref(context_, params);
    Z3_params_set_uint(context_, params, Z3_mk_string_symbol(context_, "rlimit"), kResourceLimit);
    Z3_solver_set_params(context_, solver, params);
    for (const Z3_ast fact : facts_) Z3_solver_assert(context_, solver, fact);
    Z3_solver_assert(context_, solver, Z3_mk_not(context_, goal));
    const bool proved =
        Z3_solver_check(context_, solver) == Z3_L_FALSE && Z3_get_error_code(context_) == Z3_OK;
    Z3_params_dec_ref(context_, params);
    Z3_solver_dec_ref(context_, solver);
    return proved;
  }

  Z3_ast goal(Claim::Kind kind, bool is_equality, TermOp op, Z3_ast a, Z3_ast b) {
    if (is_equality) return Z3_mk_eq(context_, a, b);
    if (kind == Claim::Kind::True) return Z3_mk_eq(context_, a, number(1, 1));
    const bool is_signed = kind == Claim::Kind::NoSignedWrap;
    Z3_ast both[2] = {nullptr, nullptr};
    switch (op) {
      case TermOp::Add:
        both[0] = Z3_mk_bvadd_no_overflow(context_, a, b, is_signed);
        both[1] = is_signed ? Z3_mk_bvadd_no_underflow(context_, a, b) : Z3_mk_true(context_);
        break;
      case TermOp::Sub:
        both[0] = is_signed ? Z3_mk_bvsub_no_overflow(context_, a, b) : Z3_mk_true(context_);
        both[1] = Z3_mk_bvsub_no_underflow(context_, a, b, is_signed);
        break;
      case TermOp::Mul:
        both[0] = Z3_mk_bvmul_no_overflow(context_, a, b, is_signed);
        both[1] = is_signed ? Z3_mk_bvmul_no_underflow(context_, a, b) : Z3_mk_true(context_);
        break;
      case TermOp::Shl: {
        const Z3_ast moved = Z3_mk_bvshl(context_, a, b);
        const Z3_ast back =
            is_signed ? Z3_mk_bvashr(context_, moved, b) : Z3_mk_bvlshr(context_, moved, b);
        both[0] = both[1] = Z3_mk_eq(context_, back, a);
        break;
      }
      default: return Z3_mk_false(context_);
    }
    return Z3_mk_and(context_, 2, both);
  }

 private:
  Z3_sort sort(int bits) { return Z3_mk_bv_sort(context_, static_cast<unsigned>(bits)); }
  Z3_ast number(int bits, std::uint64_t value) {
    return Z3_mk_unsigned_int64(context_, value, sort(bits));
  }
  Z3_ast bit(Z3_ast truth) { return Z3_mk_ite(context_, truth, number(1, 1), number(1, 0)); }
  Z3_ast truth(Z3_ast one) { return Z3_mk_eq(context_, one, number(1, 1)); }
  Z3_ast fresh(int bits) { return Z3_mk_fresh_const(context_, "v", sort(bits)); }

  // One outcome of four, unknown, for a pair of operands.
  Z3_ast compare(const Step& step) {
    const auto key = static_cast<std::uint64_t>(step.a) << 32U | static_cast<std::uint32_t>(step.b);
    auto [it, is_new] = outcomes_.try_emplace(key, nullptr);
    if (is_new) it->second = fresh(2);
    Z3_ast any = Z3_mk_false(context_);
    for (unsigned k = 0; k < 4; ++k) {
      if ((step.extra >> k & 1U) == 0) continue;
      Z3_ast both[2] = {any, Z3_mk_eq(context_, it->second, number(2, k))};
      any = Z3_mk_or(context_, 2, both);
    }
    return bit(any);
  }

  Z3_ast minimum(Z3_ast less, Z3_ast a, Z3_ast b) { return Z3_mk_ite(context_, less, a, b); }

  Z3_ast make(const Step& s) {
    const auto at = [&](int k) { return values_[static_cast<std::size_t>(k)]; };
    const int bits = s.sort.bits;
    switch (s.op) {
      case TermOp::Const: return number(bits, s.extra);
      case TermOp::Add: return Z3_mk_bvadd(context_, at(s.a), at(s.b));
      case TermOp::Sub: return Z3_mk_bvsub(context_, at(s.a), at(s.b));
      case TermOp::Mul: return Z3_mk_bvmul(context_, at(s.a), at(s.b));
      case TermOp::UDiv: return Z3_mk_bvudiv(context_, at(s.a), at(s.b));
      case TermOp::SDiv: return Z3_mk_bvsdiv(context_, at(s.a), at(s.b));
      case TermOp::URem: return Z3_mk_bvurem(context_, at(s.a), at(s.b));
      case TermOp::SRem: return Z3_mk_bvsrem(context_, at(s.a), at(s.b));
      case TermOp::Shl: return Z3_mk_bvshl(context_, at(s.a), at(s.b));
      case TermOp::LShr: return Z3_mk_bvlshr(context_, at(s.a), at(s.b));
      case TermOp::AShr: return Z3_mk_bvashr(context_, at(s.a), at(s.b));
      case TermOp::And: return Z3_mk_bvand(context_, at(s.a), at(s.b));
      case TermOp::Or: return Z3_mk_bvor(context_, at(s.a), at(s.b));
      case TermOp::Xor: return Z3_mk_bvxor(context_, at(s.a), at(s.b));
      case TermOp::Not: return Z3_mk_bvnot(context_, at(s.a));
      case TermOp::Eq: return bit(Z3_mk_eq(context_, at(s.a), at(s.b)));
      case TermOp::Ult: return bit(Z3_mk_bvult(context_, at(s.a), at(s.b)));
      case TermOp::Slt: return bit(Z3_mk_bvslt(context_, at(s.a), at(s.b)));
      case TermOp::UMin: return minimum(Z3_mk_bvult(context_, at(s.a), at(s.b)), at(s.a), at(s.b));
      case TermOp::UMax: return minimum(Z3_mk_bvult(context_, at(s.a), at(s.b)), at(s.b), at(s.a));
      case TermOp::SMin: return minimum(Z3_mk_bvslt(context_, at(s.a), at(s.b)), at(s.a), at(s.b));
      case TermOp::SMax: return minimum(Z3_mk_bvslt(context_, at(s.a), at(s.b)), at(s.b), at(s.a));
      case TermOp::Ite: return Z3_mk_ite(context_, truth(at(s.a)), at(s.b), at(s.c));
      case TermOp::Extract: {
        const auto low = static_cast<unsigned>(s.extra);
        return Z3_mk_extract(context_, low + static_cast<unsigned>(bits) - 1, low, at(s.a));
      }
      case TermOp::Concat: return Z3_mk_concat(context_, at(s.a), at(s.b));
      case TermOp::SExt: {
        const auto from = Z3_get_bv_sort_size(context_, Z3_get_sort(context_, at(s.a)));
        return Z3_mk_sign_ext(context_, static_cast<unsigned>(bits) - from, at(s.a));
      }
      case TermOp::FNeg:
        return Z3_mk_bvxor(context_, at(s.a), number(bits, std::uint64_t{1} << (bits - 1)));
      case TermOp::FAbs: return Z3_mk_bvand(context_, at(s.a), number(bits, mask_of(bits - 1)));
      case TermOp::FCmp: return compare(s);
      case TermOp::AsBits:
      case TermOp::AsFloat: return at(s.a);
      default: return fresh(bits);
    }
  }

  Z3_context context_ = nullptr;
  std::vector<Z3_ast> values_;
  std::vector<Z3_ast> facts_;
  std::unordered_map<std::uint64_t, Z3_ast> outcomes_;
};

}  // namespace

bool is_bit_level(TermOp op) {
  switch (op) {
    case TermOp::Var:
    case TermOp::FAdd:
    case TermOp::FSub:
    case TermOp::FMul:
    case TermOp::FDiv:
    case TermOp::Fma:
    case TermOp::Sqrt:
    case TermOp::RoundEven:
    case TermOp::Floor:
    case TermOp::Ceil:
    case TermOp::FTrunc:
    case TermOp::FToSI:
    case TermOp::FToUI:
    case TermOp::FToSISat:
    case TermOp::FToUISat:
    case TermOp::SIToF:
    case TermOp::UIToF:
    case TermOp::FExt:
    case TermOp::FRound:
    case TermOp::FusedStep: return false;
    default: return true;
  }
}

bool Solver::ask(Claim::Kind kind, bool is_equality, TermOp op, TermId a, TermId b,
                 const std::function<TermId(TermId)>& representative) {
  Query query(terms_, representative);
  const int x = query.add(a);
  const int y = query.add(b);
  if (x < 0 || y < 0) return false;
  ++answered;
  const std::string name = std::to_string(static_cast<int>(kind)) + (is_equality ? "=" : "!") +
                           std::to_string(static_cast<int>(op)) + " " + std::to_string(x) + " " +
                           std::to_string(y) + " " + query.name();
  auto [it, is_new] = verdicts_.try_emplace(name, false);
  if (!is_new) return it->second;
  ++queries;
  Z3Query z3;
  z3.build(query.steps());
  return it->second = z3.proves(z3.goal(kind, is_equality, op, z3.value(x), z3.value(y)));
}

bool Solver::equal(TermId a, TermId b, const std::function<TermId(TermId)>& representative) {
  if (terms_.sort(a).bits != terms_.sort(b).bits) return false;
  return ask(Claim::Kind::True, true, TermOp::Eq, a, b, representative);
}

bool Solver::holds(const Claim& claim, const std::function<TermId(TermId)>& representative) {
  return ask(claim.kind, false, claim.op, claim.a, claim.b, representative);
}

}  // namespace tilewright::validate

// SPDX-License-Identifier: Apache-2.0
#include "lowering/validate/terms.h"

#include "frontend/base/format.h"
#include "frontend/base/hash.h"
#include "lowering/validate/rewriter.h"

namespace tilewright::validate {

bool is_commutative(TermOp op) {
  switch (op) {
    case TermOp::Add:
    case TermOp::Mul:
    case TermOp::And:
    case TermOp::Or:
    case TermOp::Xor:
    case TermOp::Eq:
    case TermOp::UMin:
    case TermOp::UMax:
    case TermOp::SMin:
    case TermOp::SMax:
    case TermOp::FAdd:
    case TermOp::FMul:
    case TermOp::Fma: return true;
    default: return false;
  }
}

namespace {

struct OpRow {
  std::string_view name;
  int arity;
};
constexpr OpRow kOps[] = {
#define TILEWRIGHT_TERM_OP(name, arity) {#name, arity},
#include "lowering/validate/term_ops.def"
#undef TILEWRIGHT_TERM_OP
};

std::uint64_t hash_of(const Term& t) {
  std::uint64_t h = static_cast<std::uint64_t>(t.op) << 16U |
                    static_cast<std::uint64_t>(t.sort.kind) << 8U | t.sort.bits;
  h = hash_combine(h, static_cast<std::uint64_t>(t.a) << 32U | t.b);
  return hash_combine(h, static_cast<std::uint64_t>(t.c) ^ t.extra * 0x9e3779b97f4a7c15ULL);
}

}  // namespace

std::string_view term_op_text(TermOp op) { return kOps[static_cast<std::size_t>(op)].name; }
int arity_of(TermOp op) { return kOps[static_cast<std::size_t>(op)].arity; }

Terms::Terms() : nodes_(1), table_(1U << 12U) {}

void Terms::grow() {
  std::vector<TermId> larger(table_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (TermId id = 1; id < nodes_.size(); ++id) {
    std::size_t at = hash_of(nodes_[id]) & mask;
    while (larger[at] != 0) at = (at + 1) & mask;
    larger[at] = id;
  }
  table_ = std::move(larger);
}

TermId Terms::intern(const Term& term) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash_of(term) & mask;
  for (; table_[at] != 0; at = (at + 1) & mask)
    if (nodes_[table_[at]] == term) return table_[at];
  const auto id = static_cast<TermId>(nodes_.size());
  nodes_.push_back(term);
  table_[at] = id;
  if (nodes_.size() * 2 > table_.size()) grow();
  return id;
}

TermId Terms::constant(Sort sort, std::uint64_t bits) {
  const std::uint64_t value = is_nan(sort, bits) ? quiet_nan(sort) : bits;
  return intern({TermOp::Const, sort, 0, 0, 0, value});
}

TermId Terms::var(Sort sort, std::uint64_t number) {
  return intern({TermOp::Var, sort, 0, 0, 0, number});
}

TermId Terms::make(TermOp op, Sort sort, TermId a, TermId b, TermId c, std::uint64_t extra) {
  if (a == 0) return 0;
  const int arity = arity_of(op);
  if ((arity > 1 && b == 0) || (arity > 2 && c == 0)) return 0;
  bool known = true;
  for (const TermId child : {a, b, c}) known &= child == 0 || nodes_[child].op == TermOp::Const;
  if (known) {
    const auto bits = fold(op, sort, nodes_[a].sort, nodes_[a].extra, b ? nodes_[b].extra : 0,
                           c ? nodes_[c].extra : 0, extra);
    return bits ? constant(sort, *bits) : 0;
  }
  const Term term{op, sort, a, b, c, extra};
  const TermId rewritten = Rewriter(*this).rewrite(term);
  return rewritten != 0 ? rewritten : intern(term);
}

TermId Terms::extract(TermId a, int low, int width) {
  if (low == 0 && width == sort(a).bits) return a;
  return make(TermOp::Extract, int_sort(width), a, 0, 0, static_cast<std::uint64_t>(low));
}

TermId Terms::concat(TermId high, TermId low) {
  return make(TermOp::Concat, int_sort(sort(high).bits + sort(low).bits), high, low);
}

TermId Terms::zext(TermId a, int width) {
  const int more = width - sort(a).bits;
  return more == 0 ? a : concat(constant(int_sort(more), 0), a);
}

std::string Terms::text(TermId id, int most) const {
  struct Printer {
    const Terms& terms;
    int left;
    std::string operator()(TermId at) {
      const Term& t = terms.nodes_[at];
      if (t.op == TermOp::Const) {
        if (is_float(t.sort)) return format_double(double_of(t.sort, t.extra));
        return std::to_string(t.sort.bits == 64 ? static_cast<std::int64_t>(t.extra)
                                                : static_cast<std::int64_t>(t.extra));
      }
      if (t.op == TermOp::Var)
        return t.extra < terms.var_names.size() ? terms.var_names[t.extra]
                                                : "v" + std::to_string(t.extra);
      if (--left < 0) return "...";
      std::string out(term_op_text(t.op));
      if (t.op == TermOp::Extract || t.op == TermOp::FCmp) out += "." + std::to_string(t.extra);
      out += "." + std::to_string(t.sort.bits) + "(";
      bool first = true;
      for (const TermId child : {t.a, t.b, t.c}) {
        if (child == 0) continue;
        if (!first) out += ", ";
        first = false;
        out += (*this)(child);
      }
      return out + ")";
    }
  };
  return id == 0 ? "no value" : Printer{*this, most}(id);
}

}  // namespace tilewright::validate

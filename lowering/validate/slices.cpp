// SPDX-License-Identifier: Apache-2.0
//
// Bits that move: shifts and masks by constants, truncations, extensions and concatenations are one form, a list of
// slices. Laws: a concatenation's neighbours are never both constants nor adjoining slices of one base, and its high
// part is no concatenation; a slice's base is neither a constant, a slice, a select nor a bitwise operation.
#include "lowering/validate/rewriter.h"

namespace tilewright::validate {

std::vector<Slice> Rewriter::slices(Id id) {
  std::vector<Slice> out;
  while (is(id, TermOp::Concat)) {
    out.push_back({at(id).a, 0, at(at(id).a).sort.bits});
    id = at(id).b;
  }
  out.push_back({id, 0, at(id).sort.bits});
  for (Slice& one : out)
    if (is(one.base, TermOp::Extract))
      one = {at(one.base).a, static_cast<int>(at(one.base).extra) + one.low, one.width};
  return out;
}

Rewriter::Id Rewriter::slice(const Slice& s) {
  if (s.low == 0 && s.width == at(s.base).sort.bits) return s.base;
  if (is_const(s.base)) return number(int_sort(s.width), at(s.base).extra >> s.low);
  return t_.make(TermOp::Extract, int_sort(s.width), s.base, 0, 0,
                 static_cast<std::uint64_t>(s.low));
}

Rewriter::Id Rewriter::join(std::span<const Slice> from) {
  std::vector<Slice> merged;
  for (const Slice& one : from) {
    if (one.width == 0) continue;
    if (!merged.empty()) {
      Slice& before = merged.back();
      if (is_const(before.base) && is_const(one.base)) {
        const std::uint64_t high = (at(before.base).extra >> before.low) & mask_of(before.width);
        const std::uint64_t low = (at(one.base).extra >> one.low) & mask_of(one.width);
        const int width = before.width + one.width;
        before = {number(int_sort(width), high << one.width | low), 0, width};
        continue;
      }
      if (before.base == one.base && before.low == one.low + one.width) {
        before = {one.base, one.low, before.width + one.width};
        continue;
      }
    }
    merged.push_back(one);
  }
  Id out = 0;
  for (std::size_t i = merged.size(); i-- > 0;) {
    const Id part = slice(merged[i]);
    if (out == 0) {
      out = part;
      continue;
    }
    // A part may have come back as several.
    if (is(part, TermOp::Concat)) {
      std::vector<Slice> again = slices(part);
      const std::vector<Slice> rest = slices(out);
      again.insert(again.end(), rest.begin(), rest.end());
      out = join(again);
      continue;
    }
    const int width = at(part).sort.bits + at(out).sort.bits;
    // Straight to the table: the neighbours are merged already.
    out = t_.intern({TermOp::Concat, int_sort(width), part, out, 0, 0});
  }
  return out;
}

int Rewriter::known_zeros(Id id) {
  if (is_const(id)) {
    int zeros = 0;
    while (zeros < at(id).sort.bits && (at(id).extra >> (at(id).sort.bits - 1 - zeros) & 1) == 0)
      ++zeros;
    return zeros;
  }
  if (is(id, TermOp::Concat) && is_const(at(id).a)) return known_zeros(at(id).a);
  return 0;
}

// Both lists get the same borders.
void Rewriter::cut(std::vector<Slice>& a, std::vector<Slice>& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const int width = std::min(a[i].width, b[i].width);
    for (std::vector<Slice>* list : {&a, &b}) {
      Slice& one = (*list)[i];
      if (one.width == width) continue;
      const Slice rest{one.base, one.low, one.width - width};
      one = {one.base, one.low + one.width - width, width};
      list->insert(list->begin() + static_cast<std::ptrdiff_t>(i) + 1, rest);
    }
  }
}

// Runs of equal bits of a constant are slices of their own.
static std::vector<Slice> runs(Terms& t, std::uint64_t bits, int width) {
  std::vector<Slice> out;
  for (int high = width; high > 0;) {
    const bool ones = (bits >> (high - 1) & 1) != 0;
    int low = high - 1;
    while (low > 0 && (((bits >> (low - 1)) & 1) != 0) == ones) --low;
    out.push_back(
        {t.constant(int_sort(high - low), ones ? mask_of(high - low) : 0), 0, high - low});
    high = low;
  }
  return out;
}

// And, Or, Xor slice by slice, as long as that leaves an operation out.
Rewriter::Id Rewriter::bitwise(const Term& term) {
  const int width = term.sort.bits;
  std::vector<Slice> a = slices(term.a);
  std::vector<Slice> b = slices(term.b);
  const auto spread = [&](std::vector<Slice>& list) {
    std::vector<Slice> out;
    for (const Slice& one : list) {
      if (!is_const(one.base)) {
        out.push_back(one);
        continue;
      }
      const auto parts = runs(t_, (at(one.base).extra >> one.low) & mask_of(one.width), one.width);
      out.insert(out.end(), parts.begin(), parts.end());
    }
    list = std::move(out);
  };
  spread(a);
  spread(b);
  cut(a, b);
  if (a.size() == 1 && !is_const(a[0].base) && !is_const(b[0].base)) return 0;
  std::vector<Slice> out;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int n = a[i].width;
    const bool left = is_const(a[i].base);
    if (left || is_const(b[i].base)) {
      const Slice& c = left ? a[i] : b[i];
      const Slice& other = left ? b[i] : a[i];
      const bool ones = ((at(c.base).extra >> c.low) & 1) != 0;
      const bool keeps = (term.op == TermOp::And) == ones || (term.op == TermOp::Xor && !ones);
      if (term.op == TermOp::Xor ? !ones : keeps) {
        out.push_back(other);
      } else if (term.op == TermOp::Xor) {
        out.push_back({t_.negate(slice(other)), 0, n});
      } else {
        out.push_back(c);
      }
      continue;
    }
    out.push_back({t_.make(term.op, int_sort(n), slice(a[i]), slice(b[i])), 0, n});
  }
  (void)width;
  // Parts that were made here may be concatenations themselves.
  std::vector<Slice> flat;
  for (const Slice& one : out) {
    if (one.low != 0 || one.width != at(one.base).sort.bits || !is(one.base, TermOp::Concat)) {
      flat.push_back(one);
      continue;
    }
    const auto parts = slices(one.base);
    flat.insert(flat.end(), parts.begin(), parts.end());
  }
  return join(flat);
}

// By a constant below the width.
Rewriter::Id Rewriter::shift(const Term& term) {
  if (!is_const(term.b)) return 0;
  const int width = term.sort.bits;
  const std::uint64_t by = at(term.b).extra;
  if (by >= static_cast<std::uint64_t>(width)) return 0;
  const int count = static_cast<int>(by);
  if (count == 0) return term.a;
  const Id kept = t_.extract(term.a, term.op == TermOp::Shl ? 0 : count, width - count);
  if (term.op == TermOp::AShr) return t_.sext(kept, width);
  const Id zeros = number(int_sort(count), 0);
  return term.op == TermOp::Shl ? t_.concat(kept, zeros) : t_.concat(zeros, kept);
}

Rewriter::Id Rewriter::extract(const Term& term) {
  const int low = static_cast<int>(term.extra);
  const int width = term.sort.bits;
  const Term of = at(term.a);
  if (width == of.sort.bits) return term.a;
  switch (of.op) {
    case TermOp::Extract: return t_.extract(of.a, low + static_cast<int>(of.extra), width);
    case TermOp::Concat: {
      std::vector<Slice> out;
      int end = of.sort.bits;
      for (const Slice& one : slices(term.a)) {
        const int begin = end - one.width;
        const int from = std::max(begin, low);
        const int to = std::min(end, low + width);
        if (from < to) out.push_back({one.base, one.low + from - begin, to - from});
        end = begin;
      }
      return join(out);
    }
    case TermOp::Ite:
      return t_.ite(of.a, t_.extract(of.b, low, width), t_.extract(of.c, low, width));
    case TermOp::And:
    case TermOp::Or:
    case TermOp::Xor:
      return t_.make(of.op, term.sort, t_.extract(of.a, low, width), t_.extract(of.b, low, width));
    case TermOp::Not: return t_.negate(t_.extract(of.a, low, width));
    case TermOp::SExt: {
      const int inner = t_.sort(of.a).bits;
      if (low + width <= inner) return t_.extract(of.a, low, width);
      if (low >= inner) return t_.sext(t_.extract(of.a, inner - 1, 1), width);
      return t_.sext(t_.extract(of.a, low, inner - low), width);
    }
    // The low bits of a sum are those of the operands' low bits.
    case TermOp::Add:
    case TermOp::Sub:
    case TermOp::Mul:
      if (low != 0) return 0;
      return t_.make(of.op, term.sort, t_.extract(of.a, 0, width), t_.extract(of.b, 0, width));
    default: return 0;
  }
}

Rewriter::Id Rewriter::extend(const Term& term) {
  const Term of = at(term.a);
  if (of.sort == term.sort) return term.a;
  if (of.op == TermOp::SExt) return t_.sext(of.a, term.sort.bits);
  if (known_zeros(term.a) > 0) return t_.zext(term.a, term.sort.bits);
  return 0;
}

}  // namespace tilewright::validate

// SPDX-License-Identifier: Apache-2.0
//
// Random values, computed here point by point, against their terms: a term has the value; values with the same term
// are the same; a value that was rewritten by laws of the reals is shown equal; one with a fault is not.
// TILEWRIGHT_FIRST_SEED and TILEWRIGHT_CASES choose other cases.
#include <cstdlib>

#include "tests/unit/frontend/algebra/term_cases.h"

namespace tilewright::algebra {
namespace {

enum class Kind {
  Leaf,
  Number,
  Add,
  Sub,
  Mul,
  Div,
  Neg,
  Exp,
  Root,
  Max,
  Min,
  Select,
  Sum,
  MaxOver
};

struct Tree {
  Kind kind = Kind::Number;
  int leaf = 0;  // which; of a selection which condition; of a number its value
  std::vector<std::shared_ptr<const Tree>> args;
};
using Node = std::shared_ptr<const Tree>;

Node make(Kind kind, std::vector<Node> args = {}, int leaf = 0) {
  return std::make_shared<Tree>(Tree{kind, leaf, std::move(args)});
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(hash_combine(seed, 99)) {}
  int below(int n) {
    state_ = hash_combine(state_, 1);
    return static_cast<int>((state_ >> 20U) % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_;
};

// Leaves 0..3 are x[i,j], y[i,j], w[i], w[j]; 4..6 read the innermost bound variable: x[i,k], w[k], y[k,j].
Node random_tree(Random& random, int depth, int bound) {
  if (depth == 0 || random.below(6) == 0) {
    if (random.below(5) == 0) return make(Kind::Number, {}, random.below(7) - 3);
    return make(Kind::Leaf, {},
                bound > 0 && random.below(2) ? 4 + random.below(3) : random.below(4));
  }
  const auto arg = [&] { return random_tree(random, depth - 1, bound); };
  switch (random.below(13)) {
    case 0:
    case 1: return make(Kind::Add, {arg(), arg()});
    case 2: return make(Kind::Sub, {arg(), arg()});
    case 3:
    case 4: return make(Kind::Mul, {arg(), arg()});
    case 5: return make(Kind::Div, {arg(), arg()});
    case 6: return make(Kind::Neg, {arg()});
    case 7: return make(Kind::Exp, {arg()});
    case 8: return make(Kind::Root, {make(Kind::Exp, {arg()})});
    case 9: return make(random.below(2) ? Kind::Max : Kind::Min, {arg(), arg()});
    case 10: return make(Kind::Select, {arg(), arg()}, random.below(4));
    default: {
      if (bound >= 2) return arg();
      const Node body = random_tree(random, depth - 1, bound + 1);
      return make(random.below(3) ? Kind::Sum : Kind::MaxOver, {body}, random.below(3));
    }
  }
}

// The same value, by a law at a random place.
Node rewritten(Random& random, const Node& tree) {
  Tree out = *tree;
  for (Node& arg : out.args)
    if (random.below(2)) arg = rewritten(random, arg);
  const Node self = std::make_shared<Tree>(out);
  const auto at = [&](std::size_t i) { return out.args[i]; };
  switch (out.kind) {
    case Kind::Add:
      if (at(1)->kind == Kind::Add && random.below(2))
        return make(Kind::Add, {make(Kind::Add, {at(0), at(1)->args[0]}), at(1)->args[1]});
      return make(Kind::Add, {at(1), at(0)});
    case Kind::Mul:
      if (at(1)->kind == Kind::Add)
        return make(Kind::Add, {make(Kind::Mul, {at(1)->args[0], at(0)}),
                                make(Kind::Mul, {at(0), at(1)->args[1]})});
      return make(Kind::Mul, {at(1), at(0)});
    case Kind::Sub: return make(Kind::Neg, {make(Kind::Sub, {at(1), at(0)})});
    case Kind::Div:
      return make(Kind::Mul, {at(0), make(Kind::Div, {make(Kind::Number, {}, 1), at(1)})});
    case Kind::Exp:
      if (at(0)->kind == Kind::Add)
        return make(Kind::Mul,
                    {make(Kind::Exp, {at(0)->args[1]}), make(Kind::Exp, {at(0)->args[0]})});
      return make(Kind::Div,
                  {make(Kind::Number, {}, 1), make(Kind::Exp, {make(Kind::Neg, {at(0)})})});
    case Kind::Max: return make(Kind::Max, {at(1), at(0)});
    case Kind::Min:
      return make(Kind::Neg,
                  {make(Kind::Max, {make(Kind::Neg, {at(1)}), make(Kind::Neg, {at(0)})})});
    case Kind::Sum:
      if (at(0)->kind == Kind::Add)
        return make(Kind::Add, {make(Kind::Sum, {at(0)->args[1]}, out.leaf),
                                make(Kind::Sum, {at(0)->args[0]}, out.leaf)});
      return self;
    case Kind::Leaf: {
      // Subtract, then add.
      const Node other = make(Kind::Leaf, {}, random.below(4));
      return make(Kind::Add, {make(Kind::Sub, {self, other}), other});
    }
    default: return self;
  }
}

// One fault.
Node broken(Random& random, const Node& tree) {
  if (!tree->args.empty() && random.below(4)) {
    Tree out = *tree;
    Node& arg = out.args[static_cast<std::size_t>(random.below(static_cast<int>(out.args.size())))];
    arg = broken(random, arg);
    return std::make_shared<Tree>(out);
  }
  return random.below(2) ? make(Kind::Neg, {tree})
                         : make(Kind::Add, {tree, make(Kind::Leaf, {}, random.below(4))});
}

// The value, by definition; NaN where it has none that is far from trouble.
class Values {
 public:
  Values(const Terms& terms, const TermPoint& point, std::int64_t n)
      : x_(terms_symbol(terms, "x")),
        y_(terms_symbol(terms, "y")),
        w_(terms_symbol(terms, "w")),
        point_(point),
        n_(n),
        i_(point.index(terms_symbol(terms, "i"))),
        j_(point.index(terms_symbol(terms, "j"))) {}

  double of(const Node& tree, std::int64_t k = 0) {
    const auto arg = [&](std::size_t at) { return of(tree->args[at], k); };
    switch (tree->kind) {
      case Kind::Leaf: return leaf(tree->leaf, k);
      case Kind::Number: return tree->leaf;
      case Kind::Add: return arg(0) + arg(1);
      case Kind::Sub: return arg(0) - arg(1);
      case Kind::Mul: return arg(0) * arg(1);
      case Kind::Div: {
        const double by = arg(1);
        return std::abs(by) < 1e-3 ? std::nan("") : arg(0) / by;
      }
      case Kind::Neg: return -arg(0);
      case Kind::Exp: {
        const double by = arg(0);
        return std::abs(by) > 12 ? std::nan("") : std::exp(by);
      }
      case Kind::Root: return std::sqrt(arg(0));
      case Kind::Max: return greater(arg(0), arg(1));
      case Kind::Min: return -greater(-arg(0), -arg(1));
      case Kind::Select: return arg(holds(tree->leaf) ? 0 : 1);
      case Kind::Sum:
      case Kind::MaxOver: {
        double out = tree->kind == Kind::Sum ? 0 : -HUGE_VAL;
        const std::int64_t high = tree->leaf == 0 ? n_ : tree->leaf == 1 ? i_ + 1 : j_;
        for (std::int64_t at = 0; at < high; ++at) {
          const double value = of(tree->args[0], at);
          out = tree->kind == Kind::Sum ? out + value : greater(out, value);
        }
        return std::isinf(out) ? std::nan("") : out;  // the greatest of nothing
      }
    }
    return 0;
  }

 private:
  static Symbol terms_symbol(const Terms& terms, const char* name) {
    return const_cast<Terms&>(terms).symbol(name);
  }
  static double greater(double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
  }
  bool holds(int condition) const {
    return condition == 0   ? i_ < j_
           : condition == 1 ? i_ >= j_
           : condition == 2 ? i_ == j_
                            : i_ < 1;
  }
  double leaf(int which, std::int64_t k) const {
    const auto read = [&](Symbol tensor, std::vector<std::int64_t> at) {
      return point_.read(tensor, at);
    };
    switch (which) {
      case 0: return read(x_, {i_, j_});
      case 1: return read(y_, {i_, j_});
      case 2: return read(w_, {i_});
      case 3: return read(w_, {j_});
      case 4: return read(x_, {i_, k});
      case 5: return read(w_, {k});
      default: return read(y_, {k, j_});
    }
  }
  Symbol x_;
  Symbol y_;
  Symbol w_;
  const TermPoint& point_;
  std::int64_t n_;
  std::int64_t i_;
  std::int64_t j_;
};

class Maker {
 public:
  explicit Maker(Terms& terms) : terms_(terms), store_(terms.store) {
    i_ = store_.variable(terms.symbol("i"));
    j_ = store_.variable(terms.symbol("j"));
  }
  Term of(const Node& tree, Term k = {}) {
    const auto arg = [&](std::size_t at) { return of(tree->args[at], k); };
    switch (tree->kind) {
      case Kind::Leaf: return leaf(tree->leaf, k);
      case Kind::Number: return store_.integer(tree->leaf);
      case Kind::Add: return store_.add(arg(0), arg(1));
      case Kind::Sub: return store_.subtract(arg(0), arg(1));
      case Kind::Mul: return store_.multiply(arg(0), arg(1));
      case Kind::Div: return store_.divide(arg(0), arg(1));
      case Kind::Neg: return store_.negate(arg(0));
      case Kind::Exp: return store_.exp(arg(0));
      case Kind::Root: return store_.power(arg(0), 1, 2);
      case Kind::Max: return store_.maximum(arg(0), arg(1));
      case Kind::Min: return store_.minimum(arg(0), arg(1));
      case Kind::Select: return store_.select(condition(tree->leaf), arg(0), arg(1));
      case Kind::Sum:
      case Kind::MaxOver: {
        const Term inner = store_.fresh_variable();
        const Term high = tree->leaf == 0   ? store_.extent(terms_.symbol("N"))
                          : tree->leaf == 1 ? store_.add(i_, store_.integer(1))
                                            : j_;
        const Domain domain{
            {inner},
            {{{inner, false},
              {store_.subtract(store_.subtract(high, inner), store_.integer(1)), false}}}};
        const Term body = of(tree->args[0], inner);
        return tree->kind == Kind::Sum ? store_.sum(domain, body)
                                       : store_.maximum_over(domain, body);
      }
    }
    return {};
  }

 private:
  Term condition(int which) {
    switch (which) {
      case 0: return store_.less(i_, j_);
      case 1: return store_.negation(store_.less(i_, j_));
      case 2: return store_.equal_to(i_, j_);
      default: return store_.less(i_, store_.integer(1));
    }
  }
  Term leaf(int which, Term k) {
    const auto read = [&](const char* tensor, std::vector<Term> at) {
      return store_.read(terms_.symbol(tensor), at, ir::ScalarType::F64);
    };
    switch (which) {
      case 0: return read("x", {i_, j_});
      case 1: return read("y", {i_, j_});
      case 2: return read("w", {i_});
      case 3: return read("w", {j_});
      case 4: return read("x", {i_, k});
      case 5: return read("w", {k});
      default: return read("y", {k, j_});
    }
  }
  Terms& terms_;
  TermStore& store_;
  Term i_;
  Term j_;
};

constexpr int kPoints = 6;

std::vector<double> values_of(Terms& terms, const Node& tree) {
  std::vector<double> out;
  for (int i = 0; i < kPoints; ++i) {
    const std::int64_t n = 2 + i % 3;
    const TermPoint point = terms.point(static_cast<std::uint64_t>(i), n);
    const double value = Values(terms, point, n).of(tree);
    out.push_back(std::abs(value) > 1e6 ? std::nan("") : value);
  }
  return out;
}

// How many points have a value; -1: some differ.
int num_agreeing(const std::vector<double>& a, const std::vector<double>& b) {
  int out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i])) continue;
    if (std::abs(a[i] - b[i]) > 1e-6 * (1 + std::abs(a[i]))) return -1;
    ++out;
  }
  return out;
}

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given ? std::strtoull(given, nullptr, 10) : otherwise;
}

TEST(TermFuzz, ValuesRewritesAndFaults) {
  const std::uint64_t first = number_of("TILEWRIGHT_FIRST_SEED", 0);
  const std::uint64_t cases = number_of("TILEWRIGHT_CASES", 400);
  int num_compared = 0;
  int num_rewritten = 0;
  int num_shown = 0;
  int num_faults = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Terms terms;
    Maker maker(terms);
    Random random(seed);
    const Node tree = random_tree(random, 2 + static_cast<int>(seed % 3), 0);
    const Term term = maker.of(tree);
    const std::vector<double> want = values_of(terms, tree);
    std::vector<double> got;
    for (int i = 0; i < kPoints; ++i)
      got.push_back(
          evaluate(terms.store, term, terms.point(static_cast<std::uint64_t>(i), 2 + i % 3))
              .value_or(std::nan("")));
    const int agreeing = num_agreeing(want, got);
    EXPECT_GE(agreeing, 0) << seed << ": " << terms.print(term);
    num_compared += std::max(agreeing, 0);
    const Node other = rewritten(random, tree);
    const Equality equality = terms.store.equal(maker.of(other), term);
    ++num_rewritten;
    if (equality.verdict == Verdict::Equal) ++num_shown;
    const Node fault = broken(random, tree);
    const std::vector<double> faulty = values_of(terms, fault);
    if (num_agreeing(want, faulty) >= 0) continue;
    ++num_faults;
    const Term wrong = maker.of(fault);
    EXPECT_NE(terms.store.equal(wrong, term).verdict, Verdict::Equal)
        << seed << ": " << terms.print(wrong) << "\n"
        << terms.print(term);
  }
  RecordProperty("compared", num_compared);
  RecordProperty("shown", num_shown);
  RecordProperty("faults", num_faults);
  EXPECT_GT(num_compared, static_cast<int>(cases));
  EXPECT_GT(num_faults, static_cast<int>(cases) / 4);
  // Some rewrites need more than the normal form knows; most do not.
  EXPECT_GE(num_shown * 100, num_rewritten * 95) << num_shown << " of " << num_rewritten;
}

// The points v of a conjunction, from -3 to 12, for j = 5.
std::vector<int> counts(Terms& terms, Term variable, const std::vector<Conjunction>& parts) {
  std::vector<int> out;
  TermPoint point;
  point.index = [](Symbol) { return std::int64_t{5}; };
  for (std::int64_t v = -3; v <= 12; ++v) {
    int count = 0;
    for (const Conjunction& part : parts) {
      const std::pair<Term, Term> value[] = {{variable, terms.store.integer(v)}};
      const Term holds = terms.store.substitute(terms.store.holds(part), value);
      count += evaluate(terms.store, holds, point).value_or(0) != 0 ? 1 : 0;
    }
    out.push_back(count);
  }
  return out;
}

// Folds put together from random pieces and single points: where the sets that are asked for are the same, the values
// are; where they are not, the values differ.
TEST(TermFuzz, SetsDecide) {
  const std::uint64_t first = number_of("TILEWRIGHT_FIRST_SEED", 0);
  const std::uint64_t cases = number_of("TILEWRIGHT_CASES", 300);
  int num_same = 0;
  int num_other = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Terms terms;
    TermStore& store = terms.store;
    Random random(seed + 5000);
    const bool is_sum = random.below(2) == 0;
    const Term j = store.variable(terms.symbol("j"));
    const auto body = [&](Term v) {
      const Term at[] = {v};
      const Term x = store.read(terms.symbol("x"), at, ir::ScalarType::F64);
      const Term w = store.read(terms.symbol("w"), at, ir::ScalarType::F64);
      return is_sum ? store.multiply(store.exp(x), w) : store.add(x, w);
    };
    // Bounds are numbers or about j.
    const auto bound = [&](int number) {
      return random.below(2) ? store.integer(number) : store.add(j, store.integer(number - 5));
    };
    const auto piece = [&](int low, int high) {
      if (high == low + 1 && random.below(2)) return body(bound(low));
      const Term v = store.fresh_variable();
      const Domain domain{
          {v},
          {{{store.subtract(v, bound(low)), false},
            {store.subtract(store.subtract(bound(high), v), store.integer(1)), false}}}};
      return is_sum ? store.sum(domain, body(v)) : store.maximum_over(domain, body(v));
    };
    const auto join = [&](Term a, Term b) {
      return is_sum ? store.add(a, b) : store.maximum(a, b);
    };
    Term whole = piece(0, 10);
    int at = 0;
    Term parts;
    while (at < 10) {
      const int next = std::min(10, at + 1 + random.below(4));
      const bool fault = random.below(8) == 0;
      const Term part = piece(fault ? std::max(0, at - 1) : at, next);
      parts = parts ? join(parts, part) : part;
      at = next;
    }
    const Equality equality = store.equal(whole, parts);
    TermPoint point = terms.point(seed, 10);
    point.index = [](Symbol) { return std::int64_t{5}; };
    const double a = evaluate(store, whole, point).value_or(0);
    const double b = evaluate(store, parts, point).value_or(1);
    bool same = equality.verdict != Verdict::NotShown;
    for (const SameSets& sets : equality.sets) {
      std::vector<int> left = counts(terms, sets.variables[0], sets.left);
      std::vector<int> right = counts(terms, sets.variables[0], sets.right);
      EXPECT_EQ(sets.counted, is_sum);
      if (!sets.counted)
        for (std::vector<int>* side : {&left, &right})
          for (int& count : *side) count = std::min(count, 1);
      same = same && left == right;
    }
    EXPECT_EQ(same, std::abs(a - b) <= 1e-9 * (1 + std::abs(a))) << seed << "\n"
                                                                 << terms.print(whole) << "\n"
                                                                 << terms.print(parts);
    ++(same ? num_same : num_other);
  }
  EXPECT_GT(num_same, static_cast<int>(cases) / 4);
  EXPECT_GT(num_other, 0);
}

}  // namespace
}  // namespace tilewright::algebra

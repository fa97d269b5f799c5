// SPDX-License-Identifier: Apache-2.0
//
// Emptiness of conjunctions: the prover against isl and enumeration, its evidence before the checker, and the
// checker against evidence that is wrong. Neither of the two knows the other; isl knows neither.
#include "lowering/proof/emptiness.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "tests/unit/lowering/proof/conjunctions.h"

namespace tilewright::proof {
namespace {

using Verdict = Emptiness::Verdict;

std::string text_of(const BasicSet& set) { return poly::Set(space_of(set), set).text(); }

bool isl_says_empty(poly::Context& context, const BasicSet& set) {
  Result<bool> empty = poly::is_empty(context, poly::Set(space_of(set), set), poly::Limits{0});
  EXPECT_TRUE(empty.ok()) << text_of(set);
  return empty.ok() && *empty;
}

std::string checked(const BasicSet& set, const std::string& evidence) {
  return check::check_empty(conjunction_of(set), evidence);
}

std::string evidence_of(const BasicSet& set) {
  Emptiness result = prove_empty(set);
  EXPECT_EQ(result.verdict, Verdict::Empty) << text_of(set);
  return result.evidence.text();
}

// The verdict must be right, with evidence or a point to show for it.
void expect_right(poly::Context& context, const BasicSet& set) {
  Emptiness result = prove_empty(set);
  bool empty = isl_says_empty(context, set);
  if (result.verdict == Verdict::Empty) {
    ASSERT_TRUE(empty) << text_of(set);
    std::string text = result.evidence.text();
    ASSERT_EQ(checked(set, text), "") << text_of(set) << "\n" << text;
    std::optional<Evidence> again = parse_evidence(text);
    ASSERT_TRUE(again.has_value()) << text;
    ASSERT_EQ(*again, result.evidence) << text;
    ASSERT_EQ(again->text(), text);
  } else {
    ASSERT_EQ(result.verdict, Verdict::NotEmpty) << result.reason << "\n" << text_of(set);
    ASSERT_FALSE(empty) << text_of(set);
    ASSERT_EQ(set.contains(result.point), true) << text_of(set);
  }
  // The same once more.
  Emptiness again = prove_empty(set);
  ASSERT_EQ(again.evidence, result.evidence);
  ASSERT_EQ(again.point, result.point);
  ASSERT_EQ(again.operations, result.operations);
}

TEST(Emptiness, OneStepOfEachKind) {
  AffineExpr x = var("x");
  AffineExpr y = var("y");
  // A common divisor that the constant does not have.
  EXPECT_EQ(evidence_of(BasicSet().equal(x * 2, y * 2 + AffineExpr(1))), "! 0");
  // Multipliers. Facts are sorted: -x - y + 4, -x + y + 1, 2*x - 5 which is x - 3 when rounded.
  EXPECT_EQ(
      evidence_of(BasicSet().at_least(x * 2, 5).at_least(AffineExpr(4), x + y).at_least(y, x - 1)),
      "! 0 1 2*2");
  // Two chunks of a ring of three: their slots are equal, so they are three apart.
  AffineExpr k = var("k");
  AffineExpr l = var("l");
  BasicSet ring = BasicSet().at_least(k, 0).less(k, l).less(l, k + AffineExpr(3));
  EXPECT_EQ(evidence_of(ring.equal(modulo(k, 3), modulo(l, 3))), "+ -1*0 3 + 0 4 ! 8 9");
  // Rounding alone: 1 <= 3*x <= 2.
  EXPECT_EQ(evidence_of(BasicSet().at_least(x * 3, 1).at_least(AffineExpr(2), x * 3)), "! 0 1");
  // Between 5/2 and 11/4 there are fractions and no integer.
  BasicSet thin;
  thin.at_least(x * 3 + y * 2, 0).at_least(AffineExpr(1), x * 3 + y * 2);
  thin.at_least(x * 2 - y * 3, 0).at_least(AffineExpr(1), x * 2 - y * 3);
  thin.at_least(x + y, 1).at_least(AffineExpr(2), x + y).at_least(x - y, 1);
  thin.at_least(AffineExpr(3), x * 2 + y * 5);
  poly::Context context;
  expect_right(context, thin);
}

TEST(Emptiness, ConstantsAlone) {
  EXPECT_EQ(evidence_of(BasicSet().at_least(AffineExpr(-1), 0)), "! 0");
  EXPECT_EQ(evidence_of(BasicSet().equal(AffineExpr(3), 0)), "! 0");
  EXPECT_EQ(prove_empty(BasicSet()).verdict, Verdict::NotEmpty);
  EXPECT_EQ(prove_empty(BasicSet().at_least(AffineExpr(2), 1)).verdict, Verdict::NotEmpty);
}

// What the proof of a Program asks, written by hand with and without the fault.
TEST(Emptiness, ObligationsOfPrograms) {
  poly::Context context;
  AffineExpr i = var("i");
  AffineExpr m = var("M");
  // A loop in tiles of 32 with a tail: the tiles reach every point, and no point outside.
  BasicSet missed = BasicSet().at_least(i, 0).less(i, m).at_least(floor_div(i, 32),
                                                                  floor_div(m, 32) + AffineExpr(1));
  EXPECT_EQ(checked(missed, evidence_of(missed)), "");
  BasicSet fault =
      BasicSet().at_least(i, 0).less(i, m).at_least(floor_div(i, 32), floor_div(m, 32));
  EXPECT_EQ(prove_empty(fault).verdict, Verdict::NotEmpty);
  // A ring of 3 slots: two chunks in flight never share one; with 4 in flight they do.
  for (std::int64_t in_flight : {3, 4}) {
    BasicSet slots = BasicSet().at_least(var("k"), 0).less(var("k"), var("l"));
    slots.less(var("l"), var("k") + AffineExpr(in_flight));
    slots.equal(modulo(var("k"), 3), modulo(var("l"), 3));
    EXPECT_EQ(prove_empty(slots).verdict, in_flight == 3 ? Verdict::Empty : Verdict::NotEmpty);
    expect_right(context, slots);
  }
  // A vector of 8 lanes, the last one masked: no lane beyond M stores.
  AffineExpr lane = var("io") * 8 + var("lane");
  BasicSet masked = BasicSet().at_least(var("lane"), 0).less(var("lane"), 8).at_least(var("io"), 0);
  masked.less(var("io"), ceil_div(m, 8)).less(var("lane"), m - var("io") * 8).at_least(lane, m);
  EXPECT_EQ(checked(masked, evidence_of(masked)), "");
  // An index that wraps in a table of 2^31 entries.
  BasicSet wide = BasicSet().at_least(i, 0).less(i, std::int64_t{1} << 31);
  wide.at_least(i * 4096 + AffineExpr(4095), std::int64_t{1} << 43);
  EXPECT_EQ(checked(wide, evidence_of(wide)), "");
}

struct Family {
  const char* name;
  int cases;
  std::function<BasicSet(ConjunctionMaker&)> make;
};

TEST(EmptinessLaw, RandomConjunctionsAsIslSays) {
  poly::Context context;
  const Family families[] = {
      {"few names without bounds", 400, [](ConjunctionMaker& m) { return m.anything(3, false); }},
      {"few names in a box", 300, [](ConjunctionMaker& m) { return m.anything(3, true); }},
      {"more names in a box", 150, [](ConjunctionMaker& m) { return m.anything(5, true); }},
  };
  for (const Family& family : families) {
    for (std::uint32_t seed = 0; seed < static_cast<std::uint32_t>(family.cases); ++seed) {
      ConjunctionMaker maker(seed);
      ASSERT_NO_FATAL_FAILURE(expect_right(context, family.make(maker)))
          << family.name << ", seed " << seed;
    }
  }
}

// Many names without any bounds and large coefficients: here numbers may leave 62 bits on the way to a point,
// never a verdict be wrong.
TEST(EmptinessLaw, ManyNamesWithoutBoundsAreSeldomUnknown) {
  poly::Context context;
  int unknown = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    ConjunctionMaker maker(seed);
    BasicSet set = maker.anything(5, false);
    if (prove_empty(set).verdict == Verdict::Unknown) {
      ++unknown;
      continue;
    }
    ASSERT_NO_FATAL_FAILURE(expect_right(context, set)) << "seed " << seed;
  }
  EXPECT_LE(unknown, 3);
}

TEST(EmptinessLaw, ObligationsAsIslSays) {
  poly::Context context;
  int num_empty = 0;
  int num_points = 0;
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    ConjunctionMaker maker(seed);
    BasicSet set = maker.structured();
    ASSERT_NO_FATAL_FAILURE(expect_right(context, set)) << "seed " << seed;
    (prove_empty(set).verdict == Verdict::Empty ? num_empty : num_points) += 1;
  }
  // The generator makes both.
  EXPECT_GT(num_empty, 250);
  EXPECT_GT(num_points, 50);
}

// In a small box every point can be tried, without isl.
TEST(EmptinessLaw, AsEnumerationSays) {
  for (std::uint32_t seed = 5000; seed < 5200; ++seed) {
    ConjunctionMaker maker(seed);
    BasicSet set = maker.anything(3, true);
    bool found = false;
    for (int a = -4; a <= 4; ++a) {
      for (int b = -4; b <= 4; ++b) {
        for (int c = -4; c <= 4; ++c) {
          found = found || set.contains({{"a", a}, {"b", b}, {"c", c}}) == true;
        }
      }
    }
    ASSERT_EQ(prove_empty(set).verdict, found ? Verdict::NotEmpty : Verdict::Empty)
        << "seed " << seed << " " << text_of(set);
  }
}

TEST(EmptinessLaw, LargeNumbersAreRightOrUnknown) {
  poly::Context context;
  int known = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    ConjunctionMaker maker(seed);
    auto large = [&] { return maker.pick(-1, 1) * (std::int64_t{1} << maker.pick(0, 61)); };
    BasicSet set;
    for (int c = 0; c < 5; ++c) {
      AffineExpr expr(large() + maker.pick(-2, 2));
      for (const char* name : {"x", "y", "z"}) {
        if (maker.one_in(2)) expr = expr + var(name) * (large() + maker.pick(-1, 1));
      }
      if (maker.one_in(3)) {
        expr = floor_div(expr, std::int64_t{1} << maker.pick(0, 61)) - AffineExpr(3);
      }
      (maker.one_in(3) ? set.equalities : set.inequalities).push_back(expr);
    }
    Emptiness result = prove_empty(set);
    if (result.verdict == Verdict::Unknown) {
      ASSERT_NE(result.reason, "");
      continue;
    }
    ++known;
    ASSERT_EQ(result.verdict == Verdict::Empty, isl_says_empty(context, set)) << text_of(set);
    if (result.verdict == Verdict::Empty) {
      ASSERT_EQ(checked(set, result.evidence.text()), "") << text_of(set);
    } else {
      // `contains` has 64 bits too, and may give up.
      ASSERT_NE(set.contains(result.point), false) << text_of(set);
    }
  }
  EXPECT_GT(known, 100);
}

TEST(Emptiness, LimitsEndInUnknown) {
  ConjunctionMaker maker(3);
  BasicSet hard = maker.writer_between();
  Emptiness limited = prove_empty(hard, {3, 100});
  EXPECT_EQ(limited.verdict, Verdict::Unknown);
  EXPECT_EQ(limited.reason, "the limit of operations was reached");
  BasicSet overflowed =
      BasicSet().at_least(AffineExpr(std::numeric_limits<std::int64_t>::max()) + AffineExpr(1), 0);
  EXPECT_EQ(prove_empty(overflowed).verdict, Verdict::Unknown);
  check::Linear large = check::Linear(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(check::check_empty({{}, {large}}, "! 0"), "");
  EXPECT_EQ(check::check_empty({{}, {large + check::Linear(-1)}}, "! 0"),
            "a constraint with a number that leaves 64 bits");
  EXPECT_NE(check::check_empty({{}, {floor_div(large, 0)}}, "! 0"), "");
  // A name that could be taken for a floor.
  BasicSet named = BasicSet().at_least(AffineExpr::variable("[1*i 0/2]"), 1);
  EXPECT_EQ(prove_empty(named).verdict, Verdict::Unknown);
  EXPECT_NE(checked(named, "! 0"), "");
}

TEST(Evidence, OnlyItsOwnTextIsRead) {
  for (const char* text : {"! 0", "+ 2*0 3 ! 0 7", "? -4 0 -2*3 ! 1 ! 2", "= 4 3 ! -5*0",
                           "? 0 1 ? 1 1 ! 0 ! 1 + 1 9223372036854775807*2 ! 3"}) {
    std::optional<Evidence> evidence = parse_evidence(text);
    ASSERT_TRUE(evidence.has_value()) << text;
    EXPECT_EQ(evidence->text(), text);
  }
  for (const char* text : {"",
                           "!",
                           "! ",
                           "! 0 ",
                           " ! 0",
                           "!  0",
                           "! 00",
                           "! 0x",
                           "! -1",
                           "! 1*0",
                           "! 0*1",
                           "! +1*0",
                           "! 1 1",
                           "! 2 1",
                           "+ 0",
                           "? 0 1 ! 0",
                           "? 0 ! 0 ! 0",
                           "? ! 0 ! 0",
                           "= 1 ! 0",
                           "= 1 2 3 ! 0",
                           "= 2*1 2 ! 0",
                           "! 0 ! 0",
                           "- 0",
                           "! 9223372036854775808*0",
                           "! 4294967296",
                           "! 2**1"}) {
    EXPECT_FALSE(parse_evidence(text).has_value()) << text;
  }
}

// The conjunction x >= 1, y >= 1, x + y <= 3 has points; each text would prove it empty by one wrong step.
TEST(Checker, RefusesWrongSteps) {
  BasicSet set = BasicSet().at_least(var("x"), 1).at_least(var("y"), 1);
  set.at_least(AffineExpr(3), var("x") + var("y"));
  // Facts: 0: -x - y + 3, 1: y - 1, 2: x - 1.
  for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
           {"! 0 1 2", "the end of a branch is no contradiction"},
           {"! -1*1", "a factor that may not be"},
           {"! 0*1", "a factor that may not be"},
           {"! 3", "an index out of range"},
           {"! -1", "an index out of range"},
           {"! 18446744073709551616*1", "'18446744073709551616' is no number of 64 bits"},
           {"! ", "a step without terms"},
           {"+ 0 1", "a branch has no end"},
           {"", "a branch has no end"},
           {"= 0 1 ! 3", "= of two facts that are not opposite"},
           {"= 1 1 ! 3", "= of two facts that are not opposite"},
           {"= 0 ! 3", "= takes two facts"},
           {"* 0", "no step is called '*'"},
           // The second case is not x <= 1 again.
           {"? 1 1 ! 2*1 ! 3", "the end of a branch is no contradiction"},
           {"? 1 2 ! 0 ! 0", "an index out of range"},
           {"? 0 1 ! 2 3", "the end of a branch is no contradiction"}}) {
    EXPECT_EQ(checked(set, text), reason) << text;
  }
  // Both cases need their own evidence; with x = 0 the set is empty, with x >= 1 it is not.
  BasicSet one = BasicSet(set).at_least(var("y"), 2).at_least(var("x"), 2);
  EXPECT_EQ(checked(one, evidence_of(one)), "");
  EXPECT_NE(checked(one, evidence_of(one) + " ! 0"), "");
  EXPECT_EQ(checked(one, evidence_of(one) + " "), "");
  // Numbers that grow from step to step until they leave the range, to either side.
  check::Linear x =
      check::Linear::symbol("x") + check::Linear::symbol("y") * (std::int64_t{1} << 62);
  check::Conjunction growing{{x, check::Linear::symbol("z")}, {}};
  EXPECT_EQ(check::check_empty(growing, "+ 0 4611686018427387904*1 ! 2"),
            "the end of a branch is no contradiction");
  for (const char* factor : {"2", "-2", "8", "-8", "9223372036854775807", "-9223372036854775808"}) {
    std::string text = "+ 0 4611686018427387904*1 ! " + std::string(factor) + "*2";
    EXPECT_EQ(check::check_empty(growing, text), "a number left 128 bits") << text;
  }
}

// A change of one word, number or character.
std::string mutated(const std::string& text, ConjunctionMaker& maker) {
  std::vector<std::string> words;
  std::string word;
  for (char c : text + " ") {
    if (c != ' ') {
      word += c;
    } else {
      // Two spaces made an empty word, one or the other time.
      if (!word.empty() || maker.one_in(2)) words.push_back(word.empty() ? "0" : std::move(word));
      word.clear();
    }
  }
  if (words.empty()) return text + "! 0";
  std::size_t at =
      static_cast<std::size_t>(maker.pick(0, static_cast<std::int64_t>(words.size()) - 1));
  switch (maker.pick(0, 6)) {
    case 0: words[at] = std::to_string(maker.pick(-3, 12)); break;
    case 1:
      words[at] = std::to_string(maker.pick(-3, 12)) + "*" + std::to_string(maker.pick(0, 12));
      break;
    case 2: words[at] = std::string(1, "+=!?"[maker.pick(0, 3)]); break;
    case 3: words.erase(words.begin() + static_cast<std::ptrdiff_t>(at)); break;
    case 4: words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), words[at]); break;
    case 5:
      std::swap(words[at],
                words[static_cast<std::size_t>(maker.pick(0, static_cast<std::int64_t>(at)))]);
      break;
    default: {
      char& c = words[at][static_cast<std::size_t>(
          maker.pick(0, static_cast<std::int64_t>(words[at].size()) - 1))];
      c = "0123456789*-+=!? "[maker.pick(0, 16)];
    }
  }
  std::string out;
  for (const std::string& part : words) out += (out.empty() ? "" : " ") + part;
  return out;
}

// The same conjunction without one of its constraints, or with one constant off, as long as it has points.
std::optional<BasicSet> with_points(poly::Context& context, BasicSet set, ConjunctionMaker& maker) {
  for (int attempt = 0; attempt < 6; ++attempt) {
    if (!set.inequalities.empty()) {
      std::size_t at = static_cast<std::size_t>(
          maker.pick(0, static_cast<std::int64_t>(set.inequalities.size()) - 1));
      if (maker.one_in(3)) {
        set.inequalities.erase(set.inequalities.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        set.inequalities[at] = set.inequalities[at] + AffineExpr(maker.pick(1, 3));
      }
    }
    if (maker.one_in(3) && !set.equalities.empty()) set.equalities.pop_back();
    if (!isl_says_empty(context, set)) return set;
  }
  return std::nullopt;
}

// No evidence, however it came about, proves a conjunction empty that has points: that of a neighbour that
// is empty, and changes of it, against the nearest conjunctions that are not.
TEST(CheckerLaw, NothingProvesEmptyWhatHasPoints) {
  poly::Context context;
  int tried = 0;
  int still_proves = 0;
  int changed = 0;
  for (std::uint32_t seed = 0; seed < 250; ++seed) {
    ConjunctionMaker maker(seed);
    BasicSet set = maker.one_in(2) ? maker.structured() : maker.anything(3, maker.one_in(2));
    Emptiness result = prove_empty(set);
    if (result.verdict != Verdict::Empty) continue;
    std::string text = result.evidence.text();
    for (int neighbour = 0; neighbour < 2; ++neighbour) {
      std::optional<BasicSet> other = with_points(context, set, maker);
      if (!other) continue;
      check::Conjunction conjunction = conjunction_of(*other);
      std::string now = text;
      for (int change = 0; change < 50; ++change) {
        ASSERT_NE(check::check_empty(conjunction, now), "")
            << "seed " << seed << " " << text_of(*other) << "\n"
            << now;
        ++tried;
        now = mutated(maker.one_in(3) ? now : text, maker);
      }
    }
    for (int change = 0; change < 20; ++change) {
      std::string now = mutated(text, maker);
      if (now == text) continue;
      ++changed;
      still_proves += checked(set, now).empty();
    }
  }
  EXPECT_GT(tried, 10000);
  // A changed proof is a proof now and then: another of two bounds, a multiple of a step not used.
  EXPECT_LT(still_proves * 10, changed);
  RecordProperty("changes_that_still_prove", still_proves);
  RecordProperty("changes", changed);
}

// Texts made of random steps, against conjunctions with points.
TEST(CheckerLaw, RandomEvidenceIsRejected) {
  poly::Context context;
  int tried = 0;
  for (std::uint32_t seed = 0; tried < 10000; ++seed) {
    ConjunctionMaker maker(seed);
    BasicSet set = maker.one_in(2) ? maker.anything(3, maker.one_in(2)) : maker.structured();
    if (isl_says_empty(context, set)) continue;
    check::Conjunction conjunction = conjunction_of(set);
    for (int text = 0; text < 100; ++text, ++tried) {
      std::string evidence;
      std::int64_t facts =
          static_cast<std::int64_t>(set.equalities.size() + set.inequalities.size());
      auto terms = [&](std::int64_t most) {
        for (std::int64_t t = maker.pick(1, 3); t > 0; --t) {
          evidence += " " + (maker.one_in(2) ? "" : std::to_string(maker.pick(-2, 4)) + "*") +
                      std::to_string(maker.pick(0, most));
        }
      };
      int open = 1;
      for (int step = 0; step < 12 && open > 0; ++step) {
        if (!evidence.empty()) evidence += " ";
        switch (maker.pick(0, 4)) {
          case 0:
            evidence += "+";
            terms(facts++);
            break;
          case 1:
            evidence += "= " + std::to_string(maker.pick(0, facts)) + " " +
                        std::to_string(maker.pick(0, facts));
            break;
          case 2:
            evidence += "? " + std::to_string(maker.pick(-3, 3));
            terms(2);
            ++facts;
            ++open;
            break;
          default:
            evidence += "!";
            terms(facts);
            --open;
        }
      }
      ASSERT_NE(check::check_empty(conjunction, evidence), "")
          << "seed " << seed << " " << text_of(set) << "\n"
          << evidence;
    }
  }
}

TEST(CheckerLaw, ExpressionsHaveTheirValues) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    ConjunctionMaker maker(seed);
    BasicSet set = maker.anything(3, false);
    std::vector<AffineExpr> exprs = set.equalities;
    exprs.insert(exprs.end(), set.inequalities.begin(), set.inequalities.end());
    for (const AffineExpr& expr : exprs) {
      poly::Binding at{
          {"a", maker.pick(-20, 20)}, {"b", maker.pick(-20, 20)}, {"c", maker.pick(-20, 20)}};
      std::map<std::string, check::Linear> values;
      for (const auto& [name, value] : at) values.emplace(name, check::Linear(value));
      check::Linear value = linear_of(expr).substituted(values);
      ASSERT_TRUE(value.terms().empty() && !value.broken());
      ASSERT_EQ(value.constant(), expr.evaluate(at)) << expr.text();
      // Canonical: what is built in another order is the same.
      ASSERT_EQ((linear_of(expr) + check::Linear::symbol("a")) - check::Linear::symbol("a"),
                linear_of(expr));
    }
  }
}

// Time for one obligation, as properties of the report; no bound is asserted.
TEST(Emptiness, TimePerObligation) {
  std::vector<BasicSet> sets;
  for (std::uint32_t seed = 0; seed < 500; ++seed)
    sets.push_back(ConjunctionMaker(seed).structured());
  auto start = std::chrono::steady_clock::now();
  std::vector<std::pair<std::size_t, std::string>> proofs;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    Emptiness result = prove_empty(sets[s]);
    ASSERT_NE(result.verdict, Verdict::Unknown);
    if (result.verdict == Verdict::Empty) proofs.emplace_back(s, result.evidence.text());
  }
  auto proved = std::chrono::steady_clock::now();
  std::size_t bytes = 0;
  for (const auto& [s, text] : proofs) {
    ASSERT_EQ(checked(sets[s], text), "");
    bytes += text.size();
  }
  auto end = std::chrono::steady_clock::now();
  auto nanoseconds = [](auto duration) {
    return static_cast<int>(std::chrono::nanoseconds(duration).count());
  };
  RecordProperty("prove_ns", nanoseconds((proved - start) / sets.size()));
  RecordProperty("check_ns", nanoseconds((end - proved) / proofs.size()));
  RecordProperty("evidence_bytes", static_cast<int>(bytes / proofs.size()));
}

}  // namespace
}  // namespace tilewright::proof

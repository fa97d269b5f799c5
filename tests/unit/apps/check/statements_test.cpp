// SPDX-License-Identifier: Apache-2.0
//
// What tilewright-check says that a Program does, against a run: a small executor here runs the loops of a Program at
// given sizes, lanes statement by statement, and writes down each store with the values of its loops, its cell and
// the cells that it reads. The checker's sets have to hold exactly these, in that order of time.
#include "apps/check/statements.h"

#include "tests/unit/apps/check/texts.h"

namespace tilewright::checker {
namespace {

using Values = std::map<Name, Int>;
using Sizes = std::map<std::string, Int>;

struct Data {};  // thrown by what depends on data

Int floored(Int a, Int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

Int evaluate(Ref e, const Values& values) {
  if (e->kind == Kind::Integer || e->kind == Kind::Boolean) return e->integer;
  if (e->kind == Kind::Variable) {
    const auto it = values.find(e->name);
    return it == values.end() ? throw Data() : it->second;
  }
  if (e->kind == Kind::Select)
    return evaluate(e->args[evaluate(e->args[0], values) ? 1 : 2], values);
  if (e->kind != Kind::Apply) throw Data();
  const Name op = e->op->text;
  const Int a = evaluate(e->args[0], values);
  if (op == "!") return !a;
  if (e->op->arity == 1) return op == "-" ? -a : op == "abs" ? std::abs(a) : throw Data();
  const Int b = evaluate(e->args[1], values);
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return floored(a, b);
  if (op == "%") return a - b * floored(a, b);
  if (op == "min") return std::min(a, b);
  if (op == "max") return std::max(a, b);
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "&&") return a && b;
  if (op == "||") return a || b;
  throw Data();
}

using Cell = std::pair<Name, std::vector<Int>>;

struct Event {
  std::uint32_t at = 0;
  std::vector<Int> loops;
  std::vector<Int> cell;
  std::vector<Cell> reads;
};

class Executor {
 public:
  Executor(const Program& program, const Sizes& sizes) {
    Lane all;
    for (const auto& [name, value] : sizes)
      for (const Extent& e : program.extents)
        if (e.name == name) all.values[e.name] = value;
    run(program.body, {all});
  }
  std::vector<Event> events;

 private:
  struct Lane {
    Values values;
    std::vector<Int> loops;
  };
  using Lanes = std::vector<Lane>;

  void run(const std::vector<Stmt>& body, const Lanes& lanes) {
    if (lanes.empty()) return;
    for (const Stmt& stmt : body) run(stmt, lanes);
  }

  void run(const Stmt& stmt, Lanes lanes) {
    if (stmt.kind == StmtKind::For && stmt.word == "vector") {
      Lanes all;
      for (Int i = stmt.value->integer; i < stmt.upper->integer; ++i)
        for (Lane lane : lanes) all.push_back(with(lane, stmt.name, i, true));
      return run(stmt.body, all);
    }
    if (stmt.kind == StmtKind::For) {
      Int least = INT64_MAX, most = INT64_MIN;
      for (const Lane& lane : lanes) {
        least = std::min(least, evaluate(stmt.value, lane.values));
        most = std::max(most, evaluate(stmt.upper, lane.values));
      }
      for (Int i = least; i < most; ++i) {
        Lanes active;
        for (const Lane& lane : lanes)
          if (evaluate(stmt.value, lane.values) <= i && i < evaluate(stmt.upper, lane.values))
            active.push_back(with(lane, stmt.name, i, true));
        run(stmt.body, active);
      }
      return;
    }
    if (stmt.kind == StmtKind::If) {
      Lanes arms[2];
      for (const Lane& lane : lanes)
        arms[evaluate(stmt.value, lane.values) ? 0 : 1].push_back(lane);
      run(stmt.body, arms[0]);
      return run(stmt.other, arms[1]);
    }
    if (stmt.kind == StmtKind::Let && stmt.value->type == kIndex) {
      for (Lane& lane : lanes)
        lane = with(lane, stmt.name, evaluate(stmt.value, lane.values), false);
      return run(stmt.body, lanes);
    }
    if (stmt.kind == StmtKind::Ring) {
      for (Lane& lane : lanes) {
        const Int use = evaluate(stmt.value, lane.values);
        lane = with(lane, stmt.second, floored(use, stmt.number), false);
        lane = with(lane, stmt.name, use - stmt.number * floored(use, stmt.number), false);
      }
      return run(stmt.body, lanes);
    }
    if (stmt.kind == StmtKind::Store || stmt.kind == StmtKind::Let) {
      for (const Lane& lane : lanes) {
        if (events.size() > 5000) throw Data();
        Event event{stmt.at, lane.loops, {}, {}};
        if (stmt.kind == StmtKind::Store)
          for (Ref index : stmt.indices) event.cell.push_back(evaluate(index, lane.values));
        reads(stmt.value, lane.values, event.reads);
        events.push_back(std::move(event));
      }
      if (stmt.kind == StmtKind::Let) {
        computed_.insert(stmt.name);
        run(stmt.body, lanes);
      }
      return;
    }
    run(stmt.body, lanes);  // an alloc
  }

  static Lane with(Lane lane, Name name, Int value, bool is_loop) {
    lane.values[name] = value;
    if (is_loop) lane.loops.push_back(value);
    return lane;
  }

  void reads(Ref e, const Values& values, std::vector<Cell>& out) {
    if (e->kind == Kind::Select) {
      reads(e->args[0], values, out);
      return reads(e->args[evaluate(e->args[0], values) ? 1 : 2], values, out);
    }
    Cell cell{e->name, {}};
    if (e->kind == Kind::Read) {
      for (Ref index : e->args) cell.second.push_back(evaluate(index, values));
      out.push_back(cell);
    } else if (e->kind == Kind::Variable && computed_.contains(e->name)) {
      out.push_back(cell);
    }
    for (Ref arg : e->kind == Kind::Read ? std::vector<Ref>() : e->args) reads(arg, values, out);
  }

  std::set<Name> computed_;
};

// The checker's sets at a point.
class Point {
 public:
  Point(Statements& statements, const Statement& statement, const Sizes& sizes,
        const std::vector<Int>& loops)
      : statements_(statements), statement_(statement) {
    for (const auto& [name, value] : sizes) numbers_.emplace(name, Linear(value));
    std::vector<Linear> values;
    for (const Int value : loops) values.emplace_back(value);
    instance_ = statements.instance(statement, values);
    time_ = Statements::time(statement, values);
  }
  bool exists() const { return holds(instance_.domain); }
  std::vector<Int> time() const {
    std::vector<Int> out;
    for (const Linear& part : time_) out.push_back(number(part));
    return out;
  }
  std::vector<Int> cell(const std::vector<Ref>& indices) const {
    std::vector<Int> out;
    for (Ref index : indices)
      out.push_back(number(statements_.affine().value(index, instance_.names)));
    return out;
  }
  std::vector<Cell> reads() const {
    std::vector<Cell> out;
    for (const ReadOf& read : statement_.reads)
      if (holds(statements_.guarded(read, instance_.names)))
        out.push_back({read.buffer, cell(read.indices)});
    return out;
  }

 private:
  Int number(const Linear& linear) const {
    const Linear value = linear.substituted(numbers_);
    if (!value.terms().empty()) throw Data();
    return value.constant();
  }
  Int number(const Value& value) const {
    if (value.form == Value::Form::Linear) return number(value.linear);
    if (value.form == Value::Form::Chosen) {
      EXPECT_NE(holds(value.first), holds(value.second));
      return number(value.parts[holds(value.first) ? 0 : 1]);
    }
    const Int a = number(value.parts[0]), b = number(value.parts[1]);
    return value.form == Value::Form::Least ? std::min(a, b) : std::max(a, b);
  }
  bool holds(const Union& set) const {
    for (const Conjunction& c : set) {
      bool all = true;
      for (const Linear& e : c.equal) all = all && number(e) == 0;
      for (const Linear& e : c.at_least) all = all && number(e) >= 0;
      if (all) return true;
    }
    return false;
  }

  Statements& statements_;
  const Statement& statement_;
  std::map<std::string, Linear> numbers_;
  Instance instance_;
  std::vector<Linear> time_;
};

std::size_t compare_all(const std::string& text, const Sizes& sizes) {
  Arena arena;
  const Program program = read_program(arena, text);
  Statements statements(arena, text, program, 100 * kMaxWork);
  const std::vector<Event> events = Executor(program, sizes).events;
  std::map<std::uint32_t, const Statement*> by_place;
  for (const Statement& s : statements.all()) by_place[s.at] = &s;
  std::map<const Statement*, std::set<std::vector<Int>>> executed;
  std::vector<Int> before;
  for (const Event& event : events) {
    const auto found = by_place.find(event.at);
    if (found == by_place.end()) {
      ADD_FAILURE() << "no statement at byte " << event.at;
      return 0;
    }
    const Statement& s = *found->second;
    const Point point(statements, s, sizes, event.loops);
    EXPECT_TRUE(point.exists()) << "line " << statements.line(s.at);
    EXPECT_EQ(point.cell(s.indices), event.cell);
    // The same cells, in whatever order the two look at them.
    std::vector<Cell> expected = event.reads, found_reads = point.reads();
    std::sort(expected.begin(), expected.end());
    std::sort(found_reads.begin(), found_reads.end());
    EXPECT_EQ(found_reads, expected);
    executed[&s].insert(event.loops);
    const std::vector<Int> time = point.time();
    EXPECT_LT(before, time) << "line " << statements.line(s.at);
    before = time;
  }
  // Beside what was executed nothing exists.
  for (const Statement& s : statements.all()) {
    std::set<std::vector<Int>> near = {std::vector<Int>(Statements::loops(s.around).size(), 0)};
    std::size_t tried = 0;
    for (const std::vector<Int>& loops : executed[&s]) {
      if (++tried % 7 != 1 && tried > 50) continue;
      for (std::size_t i = 0; i < loops.size(); ++i)
        for (const Int step : {-1, 1}) {
          near.insert(loops);
          std::vector<Int> moved = loops;
          moved[i] += step;
          near.insert(moved);
        }
    }
    for (const std::vector<Int>& loops : near)
      EXPECT_EQ(Point(statements, s, sizes, loops).exists(), executed[&s].contains(loops));
  }
  return events.size();
}

// How many instances were compared; none where the Program depends on data or products of sizes, or is large.
std::size_t compare(const std::string& text, const Sizes& sizes) {
  try {
    return compare_all(text, sizes);
  } catch (const Data&) {
    return 0;
  }
}

TEST(CheckerStatements, AreThoseOfARun) {
  std::size_t instances = 0;
  int programs = 0;
  for (std::uint64_t seed = 0; seed < 160; ++seed) {
    const Built one = built(seed);
    if (!one) continue;
    const std::size_t found = compare(one.program, one.sizes);
    std::string at = "seed " + std::to_string(seed) + "\n" + one.program;
    for (const auto& [name, value] : one.sizes) at += name + " = " + std::to_string(value) + "\n";
    ASSERT_FALSE(HasFailure()) << at;
    programs += found > 0;
    instances += found;
  }
  EXPECT_GT(programs, 40);
  EXPECT_GT(instances, 10000U);
}

TEST(CheckerStatements, OfAProgramByHand) {
  const std::string text = R"(program p for p {
  extent N multiple_of 4
  requires 4 <= N
  input x : f32[N]
  output y : f32[N]
  alloc t : f32[4] in stack {
    for b in 0 .. min(N / 4, 10) {
      vector i in 0 .. 4 {
        alloc u : f32[1] in stack {
          t[i] = select(0 < b * 4 + i, x[b * 4 + i - 1], f32(0))
        }
        if i % 2 == 0 {
          y[b * 4 + i] = t[i]
        } else {
          let v = t[i] + t[i - 1] {
            y[b * 4 + i] = v
          }
        }
      }
      if x[b] < f32(0) {
        y[b] = f32(0)
      }
    }
  }
}
)";
  Arena arena;
  const Program program = read_program(arena, text);
  Statements statements(arena, text, program);
  const std::string domain = "b >= 0 and floor((N)/4) - b - 1 >= 0 and -b + 9 >= 0";
  const std::string lanes = domain + " and i >= 0 and -i + 3 >= 0";
  const std::string odd = "(" + lanes + " and 2*floor((i)/2) - i - 1 >= 0) or (" + lanes +
                          " and -2*floor((i)/2) + i - 1 >= 0)";
  EXPECT_EQ(listing(statements, program),
            "sizes [N] -> { : N - 4*floor((N)/4) = 0 and N >= 0 and N - 4 >= 0 }\n"
            "store 0 t line 10\n"
            "  loops for b vector i\n  time 0 b 0 i\n  memory\n"
            "  domain [N] -> { [b, i] : " +
                lanes +
                " }\n"
                "  cell [N] -> { [b, i] -> [i] }\n"
                "  read x [N] -> { [b, i] -> [4*b + i - 1] : 4*b + i - 1 >= 0 }\n"
                "store 1 y line 13\n"
                "  loops for b vector i\n  time 0 b 1 i\n"
                "  domain [N] -> { [b, i] : 2*floor((i)/2) - i = 0 and " +
                lanes +
                " }\n"
                "  cell [N] -> { [b, i] -> [4*b + i] }\n"
                "  read t [N] -> { [b, i] -> [i] }\n"
                "value 2 v line 15\n"
                "  loops for b vector i\n  time 0 b 2 i\n"
                "  domain [N] -> { [b, i] : " +
                odd +
                " }\n"
                "  read t [N] -> { [b, i] -> [i] }\n"
                "  read t [N] -> { [b, i] -> [i - 1] }\n"
                "store 3 y line 16\n"
                "  loops for b vector i\n  time 0 b 3 i\n"
                "  domain [N] -> { [b, i] : " +
                odd +
                " }\n"
                "  cell [N] -> { [b, i] -> [4*b + i] }\n"
                "  read v [N] -> { [b, i] -> [] }\n"
                "value 4 value.4 line 20\n"
                "  loops for b\n  time 0 b 4\n"
                "  domain [N] -> { [b] : " +
                domain +
                " }\n"
                "  read x [N] -> { [b] -> [b] }\n"
                "store 5 y line 21\n"
                "  loops for b\n  time 0 b 5\n"
                "  domain [N, data'0] -> { [b] : " +
                domain +
                " and data'0 - 1 >= 0 }\n"
                "  cell [N] -> { [b] -> [b] }\n"
                "data data'0 #4(b;)\n");
}

TEST(CheckerStatements, RefusesWhatItCannotFollow) {
  const auto refusal = [](const std::string& body) {
    const std::string text =
        "program p for p {\n  extent N\n  input x : f32[N]\n  output y : f32[N]\n" + body + "}\n";
    Arena arena;
    try {
      const Program program = read_program(arena, text);
      Statements statements(arena, text, program, 100000);
      listing(statements, program);
    } catch (const Refused& e) {
      return std::to_string(e.line) + ":" + std::to_string(e.column) + " " + e.what();
    }
    return std::string("followed");
  };
  EXPECT_EQ(refusal("  kernel main {\n  }\n"), "5:3 `kernel` is not followed yet");
  EXPECT_EQ(refusal("  while x[0] < f32(0) {\n  }\n"), "5:3 `while` is not followed yet");
  EXPECT_EQ(refusal("  atomic sum y[0] by f32(1)\n"), "5:3 `atomic` is not followed yet");
  EXPECT_EQ(refusal("  y[9223372036854775807 + 1] = f32(0)\n"), "0:0 a number leaves 64 bits");
  // Work that multiplies is given up in time: a value of many cases that is used often, sizes on every line.
  std::string value = "v", lines;
  for (int k = 0; k < 300; ++k) value += " + 1";
  for (int k = 0; k < 200; ++k) lines += "      y[" + value + "] = f32(0)\n";
  std::string many = "i != 0";
  for (int k = 1; k < 10; ++k) many += " && i != " + std::to_string(k);
  EXPECT_EQ(refusal("  for i in 0 .. N {\n    let v = select(" + many + ", i, 0) {\n" + lines +
                    "    }\n  }\n"),
            "0:0 too many conditions");
  // Conditions that double with every level are given up in time.
  std::string cases;
  for (int k = 0; k < 40; ++k) cases += (k ? " && (" : "(") + ("i != " + std::to_string(k)) + ")";
  EXPECT_EQ(
      refusal("  for i in 0 .. N {\n    if " + cases + " {\n      y[i] = f32(0)\n    }\n  }\n"),
      "0:0 conditions with too many cases");
}

TEST(CheckerStatements, SetsAreExact) {
  // Complements, floors, min, max and selections of small values, against their meaning.
  const std::string text = R"(program p for p {
  output y : f32[1]
  for a in -3 .. 4 {
    for b in -3 .. 4 {
      if max(min(a, 2 * b), b - 1) / 2 % 3 <= abs(a - b) - 1 && !(a == b || select(a < b, b, 3) > a + 1) {
        y[0] = f32(0)
      }
      if a % 3 == 1 || max(a, b / 2) < 2 && a != b {
        y[0] = f32(1)
      }
    }
  }
}
)";
  EXPECT_GT(compare(text, {}), 20U);
  Arena arena;
  const Program program = read_program(arena, text);
  Statements statements(arena, text, program);
  const Union domain = statements.instance(statements.all()[1]).domain;
  const Union outside = complement(domain);
  const auto holds = [](const Union& set, Int a, Int b) {
    const std::map<std::string, Linear> values = {{"a", Linear(a)}, {"b", Linear(b)}};
    for (const Conjunction& c : set) {
      bool all = true;
      for (const Linear& e : c.equal) all = all && e.substituted(values).constant() == 0;
      for (const Linear& e : c.at_least) all = all && e.substituted(values).constant() >= 0;
      if (all) return true;
    }
    return false;
  };
  for (Int a = -5; a < 6; ++a)
    for (Int b = -5; b < 6; ++b)
      ASSERT_NE(holds(domain, a, b), holds(outside, a, b)) << a << " " << b;
}

}  // namespace
}  // namespace tilewright::checker

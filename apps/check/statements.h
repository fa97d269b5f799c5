// SPDX-License-Identifier: Apache-2.0
//
// What a Program does, as docs/decisions/proof.md defines it: statements, each with its instances, their time, the cell that
// an instance writes and the cells that it reads. A statement is a store; or a computation that is made once
// and used later: a `let`, or a condition or bound that reads memory. Its result is a cell without indices.
//
// Time is a vector of positions in the text and values of loops, compared from the left; lanes of vector loops come
// last. A buffer exists once for each value of the loops around its `alloc`, lanes excepted: they share it.
#pragma once

#include <optional>

#include "apps/check/affine.h"

namespace tilewright::checker {

// Steps with constraints, for all sets of a Program together: some seconds.
inline constexpr std::size_t kMaxWork = 5000000;

// What stands around a statement; a list from inside out.
struct Around {
  enum class Kind : std::uint8_t { Loop, Then, Else, Let, Ring, Computed };
  Kind kind = Kind::Loop;
  const Stmt* stmt = nullptr;
  Ref value = nullptr;  // lower bound, condition, value, number of the use
  Ref upper = nullptr;
  int position = 0;  // of a loop, or the number of what was Computed
  const Around* outer = nullptr;

  bool is_lane() const { return kind == Kind::Loop && stmt->word == "vector"; }
};

// The read is done where these conditions hold; a list from inside out.
struct Guard {
  Ref condition = nullptr;
  bool holds = true;
  const Guard* outer = nullptr;
};

struct ReadOf {
  Ref expr = nullptr;
  Name buffer;
  std::vector<Ref> indices;
  const Guard* guard = nullptr;
};

struct Statement {
  int number = 0;
  bool stores = true;  // else a computation
  std::uint32_t at = 0;
  Name target;
  std::vector<Ref> indices;
  Ref value = nullptr;
  const Around* around = nullptr;
  int position = 0;
  std::vector<ReadOf> reads;
};

struct Buffer {
  Type type = nullptr;
  std::vector<Ref> shape;
  const Around* around = nullptr;  // its `alloc`; of parameters nothing is around
  bool is_parameter = false, is_output = false, is_written = false;
};

// Of one statement under given values of its loops.
struct Instance {
  Environment names;
  Union domain;
};

class Statements {
 public:
  // Refuses what it cannot follow: all that is not done by one thread.
  Statements(Arena& arena, Name text, const Program& program, std::size_t limit = kMaxWork);
  Statements(const Statements&) = delete;
  Statements& operator=(const Statements&) = delete;

  const std::vector<Statement>& all() const { return all_; }
  const std::map<Name, Buffer>& buffers() const { return buffers_; }
  Affine& affine() { return *affine_; }

  // What holds of the sizes of every call.
  Union sizes() { return sizes(program_.extents, program_.requirements); }
  Union sizes(const std::vector<Extent>& extents, const std::vector<Ref>& requirements);
  // The loops around, from outside in.
  static std::vector<const Around*> loops(const Around* around);
  // One value for each loop.
  Instance instance(const Statement& statement, const std::vector<Linear>& values);
  // With the names of the loops themselves as values.
  Instance instance(const Statement& statement);
  Union guarded(const ReadOf& read, const Environment& names);
  // Positions and values of loops.
  static std::vector<Linear> time(const Statement& statement, const std::vector<Linear>& values);
  int line(std::uint32_t at) const;

 private:
  struct Settled {
    Ref value = nullptr;
    std::optional<int> number;  // the computation, where it reads
  };
  void walk(const std::vector<Stmt>& body, const Around* around, int& position);
  void walk(const Stmt& stmt, const Around* around, int& position);
  void branch(const Stmt& stmt, const Around* around, int& position);
  void let(const Stmt& stmt, const Around* around, int& position);
  // A value that is evaluated here once: itself, or where it reads memory the name of a computation, which then
  // stands around too.
  Ref settle(Ref value, const Stmt& stmt, const Around*& around, int& position);
  void emit(Statement made, const Around* around, int& position);
  void reads(Ref e, const Guard* guard, std::vector<ReadOf>& out);
  const Around* under(Around made);
  [[noreturn]] void refuse(const Stmt& stmt, const std::string& what) const;

  Arena& arena_;
  Name text_;
  const Program& program_;
  std::vector<Statement> all_;
  std::map<Name, Buffer> buffers_;
  std::map<Name, Type> computed_;  // names of computations
  std::deque<Around> arounds_;
  std::deque<Guard> guards_;
  std::vector<std::uint32_t> lines_;  // where they begin
  std::unique_ptr<Affine> affine_;
};

// All statements as text, in the notation of isl.
std::string listing(Statements& statements, const Program& program);

}  // namespace tilewright::checker

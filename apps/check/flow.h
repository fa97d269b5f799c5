// SPDX-License-Identifier: Apache-2.0
//
// What a Program's memory does, as docs/decisions/proof.md defines it: each read finds what the source that the certificate
// tells wrote last, each access lies in its buffer, iterations of parallel loops and lanes do not conflict, each cell of an
// output is written. Law: `check` returns only where all of that was shown for all sizes; otherwise Refused.
#pragma once

#include "apps/check/certificate.h"
#include "apps/check/judge.h"

namespace tilewright::checker {

// Who reads: an instance of a statement, or the caller after the end.
struct Reading {
  Union where;  // the instances that read, at allowed sizes
  std::vector<Linear> loops;  // their values, from outside in
  std::vector<Linear> time;  // without lanes; empty: after the end
  std::vector<Value> cell;
  Environment names;
};
// A source of a reading: where it is the writer, and the instance that wrote.
struct Found {
  int writer = 0;
  Union where;
  std::vector<Linear> instance;
};

class Flow {
 public:
  Flow(Statements& statements, const Program& program, const Certificate& certificate,
       Judge& judge);
  void check();

  // All instances of a statement.
  Reading reading(const Statement& statement);
  Reading reading(const Statement& statement, const ReadOf& read);
  Reading reading(const Tensor& output);
  std::vector<Found> found(const Reading& reading, const std::vector<Source>& sources);
  // Whether the instance is one of the statement's and before the time, wherever the set holds.
  bool is_before(const Statement& statement, const std::vector<Linear>& instance,
                 const std::vector<Linear>& time, const Union& where);
  std::string place(const Statement& statement) const;

 private:
  struct Access {
    Union where;
    std::vector<Value> cell;
  };
  std::vector<Value> cell(const std::vector<Ref>& indices, const Environment& names);
  void bounds(const Reading& reading, Name buffer, const std::string& what);
  void sources(const Reading& reading, Name buffer, const std::vector<Source>& sources,
               const std::string& what);
  void conflicts(const Statement& a, const Statement& b);
  void lanes(const Statement& s);
  Access writes(const Statement& s, const std::vector<Linear>& values);
  std::vector<Access> accesses(const Statement& s, const std::vector<Linear>& values, Name buffer,
                               bool with_stores);
  void apart(const Access& a, const std::vector<Access>& others, const Union& where,
             const std::string& what);
  void must(bool holds, const std::string& what) const;

  Statements& statements_;
  const Program& program_;
  const Certificate& certificate_;
  Judge& judge_;
  Union sizes_;
};

}  // namespace tilewright::checker

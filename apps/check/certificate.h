// SPDX-License-Identifier: Apache-2.0
//
// A certificate as it is written: hints of which the checker believes nothing. Text in lines, the order of which is fixed:
//   certificate 1
//   algorithm DIGEST
//   program DIGEST
//   read STATEMENT READ        of each statement and each of its reads of memory that is written
//   if CONDITION : from STATEMENT : INDEX, ...       who wrote the cell, and in which instance
//   claim STATEMENT            of each statement
//   if CONDITION : is TERM     what it writes there
//   if CONDITION : itself      nothing is said there
//   output NAME                of each output, over the names `d0`, `d1`, ... of a cell: `if` lines as of a read
//   lemma KEY EVIDENCE         sorted by key; each has to be used
// Statements are numbered as `tilewright-check --statements` lists them. Conditions and indices are written as in a
// Program, over the loops around the statement and the extents; terms as terms.h says. Tests: certificate_test.cpp.
#pragma once

#include "apps/check/statements.h"

namespace tilewright::checker {

struct Source {
  int writer = 0;
  Ref where = nullptr;
  std::vector<Ref> instance;  // the loops around the writer, from outside in
};

struct Claim {
  Ref where = nullptr;
  Name term;  // empty: the value itself
};

struct Certificate {
  std::map<std::pair<int, std::size_t>, std::vector<Source>> reads;
  std::vector<std::vector<Claim>> claims;  // of each statement
  std::map<Name, std::vector<Source>> outputs;
  std::map<Name, Name> lemmas;
};

// 16 hexadecimal digits. Nothing is believed because of it: it only tells which texts belong together.
std::string digest(Name text);
// Of the cell of an output.
std::string cell_index(std::size_t dimension);
// Whether a certificate tells the sources: what a computation gave, and inputs, need none.
bool has_sources(const Statements& statements, const ReadOf& read);

Certificate read_certificate(Arena& arena, Name text, Name algorithm_text, Name program_text,
                             const Program& program, const Statements& statements);

}  // namespace tilewright::checker

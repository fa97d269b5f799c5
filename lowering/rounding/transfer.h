// SPDX-License-Identifier: Apache-2.0
//
// What one expression makes of the sizes and errors of its operands. For the files of this room. Law: of
// static_bounds.h, for one operation.
#pragma once

#include <functional>
#include <limits>
#include <unordered_map>

#include "lowering/rounding/static_bounds.h"

namespace tilewright::rounding {

// |exact| <= size + own_size * X, |machine - exact| <= error + own_error * E, where X and E are the size and the error
// of the buffers that are being worked out; least <= exact <= most.
struct Bound {
  Formula size;
  Formula error;
  Formula own_size;
  Formula own_error;
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool grows = false;  // something is added to what it is made of, beyond a choice between them
};

class Transfer {
 public:
  struct Names {
    std::function<Bound(const ir::Read& read)> read;
    std::function<Formula(ir::Expr index)> index_size;  // at least |index|
    std::function<double(ir::Expr index)> index_least;
  };
  Transfer(const Units& units, StaticBounds& out, Names names)
      : units_(units), out_(out), names_(std::move(names)) {}

  // The error of what is worked out, once it is.
  void set_own_error(Formula error) { own_error_ = std::move(error); }
  void let(Symbol name, ir::Expr value) { lets_[name] = value; }
  Bound of(ir::Expr expr, const std::string& statement);
  // c + sum of `terms` products of numbers of these sizes, each step rounded.
  Bound dot(ir::ScalarType type, const Bound& c, const Bound& a, const Bound& b, double terms,
            bool subnormals);
  ir::Expr resolved(ir::Expr expr) const;

 private:
  Bound op(const ir::Op& op, const std::string& statement);
  Bound math(const ir::Op& op, const Bound& a, const std::string& statement);
  Bound quotient(const ir::Op& op, const Bound& a, const Bound& b, const std::string& statement);
  Bound rounded(Bound exact, const Step& step, ir::ScalarType type);
  Bound integer(ir::Expr expr) const;
  Formula fact(Fact::Kind kind, ir::Expr operation, const std::string& statement);
  Formula at_least(double known, Fact::Kind kind, ir::Expr operation, const std::string& statement);
  void limit(const Bound& value, ir::ScalarType type);

  Units units_;
  Formula own_error_;
  StaticBounds& out_;
  Names names_;
  std::unordered_map<Symbol, ir::Expr> lets_;
  std::unordered_map<const void*, std::string> facts_;
};

}  // namespace tilewright::rounding

// SPDX-License-Identifier: Apache-2.0
//
// The wall: the only header of this room that sees isl, for its own .cpp files. Every operation opens an
// Operation, converts values to isl objects, lets isl work, and closes with one of the `finish` functions,
// which free what they take and turn isl's error state into a diagnostic. isl's functions accept null
// operands and free the others, so nothing in between needs a check.
#pragma once

#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/map.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>
#include <isl/version.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedules/polyhedra/map.h"
#include "schedules/polyhedra/set.h"

namespace tilewright::poly {

// A pointer to an isl object that is freed unless released.
template <class T, T* (*Free)(T*)>
class Owned {
 public:
  explicit Owned(T* pointer) : pointer_(pointer) {}
  Owned(Owned&& other) noexcept : pointer_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      Free(pointer_);
      pointer_ = other.release();
    }
    return *this;
  }
  ~Owned() { Free(pointer_); }
  T* get() const { return pointer_; }
  T* release() { return std::exchange(pointer_, nullptr); }
  explicit operator bool() const { return pointer_ != nullptr; }

 private:
  T* pointer_;
};

using IslSet = Owned<isl_set, isl_set_free>;
using IslBasicSet = Owned<isl_basic_set, isl_basic_set_free>;
using IslBasicSetList = Owned<isl_basic_set_list, isl_basic_set_list_free>;
using IslMap = Owned<isl_map, isl_map_free>;
using IslVal = Owned<isl_val, isl_val_free>;
using IslMat = Owned<isl_mat, isl_mat_free>;
using IslAff = Owned<isl_aff, isl_aff_free>;
using IslPoint = Owned<isl_point, isl_point_free>;
using IslSpace = Owned<isl_space, isl_space_free>;

// What the conversion of a conjunction gave, for each way its names were laid out: operations on growing unions
// convert the same conjunctions again and again. Law: an entry is what the conversion would make anew.
class Conversions {
 public:
  struct Layout {
    std::vector<std::string> names;  // parameters, then dimensions
    std::size_t num_params = 0;
    std::size_t num_in = 0;  // of a wrapped map; kNoMap for a set
    friend bool operator==(const Layout&, const Layout&) = default;
  };
  static constexpr std::size_t kNoMap = static_cast<std::size_t>(-1);
  struct PieceHash {
    std::size_t operator()(const BasicSet& piece) const;
  };
  using Known = std::unordered_map<BasicSet, IslBasicSet, PieceHash>;

  // Of a layout. Valid until the next call.
  Known& of(const Layout& layout);
  void added() { ++size_; }

 private:
  static constexpr std::size_t kMost = 1 << 15;  // conjunctions; then all are forgotten
  std::vector<std::pair<Layout, std::unique_ptr<Known>>> layouts_;
  std::size_t size_ = 0;
};

struct Context::Impl {
  isl_ctx* ctx = nullptr;
  Conversions conversions;
};

class Operation {
 public:
  Operation(Context& context, const Limits& limits);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  isl_ctx* ctx() const { return ctx_; }
  // True when isl reported an error or a value did not fit.
  bool failed() const;
  // Forgets an error that the caller has dealt with. False when it was the limit: that one stays.
  bool forgive();
  // Makes the operation fail for a reason of ours.
  void refuse(std::string reason) { refusal_ = std::move(reason); }
  // E0701 or E0702; `doing` completes "could not ...".
  Failure failure(std::string_view doing) const;

  // Makes all following conversions use the parameters of both, those of the first in front, so that isl
  // has nothing to align and the order of parameters is ours.
  void share_params(const std::vector<std::string>& first, const std::vector<std::string>& second);
  isl_set* to_isl(const Set& set);
  isl_map* to_isl(const Map& map);
  isl_val* to_isl(std::int64_t value) { return isl_val_int_from_si(ctx_, value); }
  // The value of an integer; 0 and a failed operation when it does not fit.
  std::int64_t take_int(isl_val* value);
  // The pieces of a set with explicit divisions. `dims` names its dimensions.
  std::vector<BasicSet> pieces_of(isl_set* set, const std::vector<std::string>& dims);
  // One conjunction. Precondition: its divisions are explicit.
  BasicSet basic_set_of(isl_basic_set* set, const std::vector<std::string>& names);
  // An integer-valued isl expression. `names` are its parameters, then its inputs.
  AffineExpr affine_of(isl_aff* aff, const std::vector<std::string>& names);
  // Parameter names of the set, then `dims`.
  std::vector<std::string> names_of(isl_set* set, const std::vector<std::string>& dims) const;

  Result<Set> finish(isl_set* set, std::vector<std::string> dims, std::string_view doing);
  Result<Map> finish(isl_map* map, std::vector<std::string> in, std::vector<std::string> out,
                     std::string_view doing);
  Result<bool> finish(isl_bool answer, std::string_view doing);

 private:
  struct Quotient {
    AffineExpr numerator;
    std::int64_t denominator;
  };
  Quotient quotient_of(isl_aff* aff, const std::vector<std::string>& names,
                       const std::vector<AffineExpr>& divs);
  bool distinct(const std::vector<std::string>& names);
  isl_set* union_of(isl_space* space, const Conversions::Layout& layout,
                    const std::vector<BasicSet>& pieces);
  isl_basic_set* to_isl(isl_space* space, const std::vector<std::string>& names,
                        std::size_t num_params, const BasicSet& piece);
  isl_basic_set* from_matrices(isl_space* space, const std::vector<std::string>& names,
                               const BasicSet& piece);
  isl_mat* matrix(const std::vector<std::string>& names, const std::vector<AffineExpr>& rows);
  isl_aff* affine(isl_space* space, const std::vector<std::string>& names, std::size_t num_params,
                  const AffineExpr& expr);
  // The position in names, or a failed operation.
  std::size_t position(const std::vector<std::string>& names, std::string_view name);
  std::vector<AffineExpr> divisions(isl_basic_set* set, const std::vector<std::string>& names,
                                    std::vector<AffineExpr>& tautologies);
  std::vector<AffineExpr> rows(isl_mat* matrix, const std::vector<std::string>& names,
                               const std::vector<AffineExpr>& divisions);

  isl_ctx* ctx_;
  Conversions& conversions_;
  std::vector<std::string> shared_params_;
  // Why the operation failed on our side; empty when it did not.
  // Lowers the limit for a conjunction of many constraints: one of isl's steps touches a whole tableau.
  void weigh(const BasicSet& piece, std::size_t num_names);

  std::string refusal_;
  std::uint64_t limit_ = 0;
  std::uint64_t largest_ = 0;  // tableau so far
};

}  // namespace tilewright::poly

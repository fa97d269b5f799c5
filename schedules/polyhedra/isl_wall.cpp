// SPDX-License-Identifier: Apache-2.0
//
// Conversion between our values and isl's objects, and of isl's errors to diagnostics. Maps travel as
// wrapped sets, so that one conversion serves both.
#include "schedules/polyhedra/isl_wall.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tilewright::poly {

static constexpr std::string_view kOverflow = "a coefficient does not fit in 64 bits";

Context::Context() : impl_(std::make_unique<Impl>()) {
  impl_->ctx = isl_ctx_alloc();
  isl_options_set_on_error(impl_->ctx, ISL_ON_ERROR_CONTINUE);
}

std::string library_version() {
  std::string text = isl_version();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Context::~Context() {
  if (impl_ == nullptr) return;
  impl_->conversions = Conversions();
  isl_ctx_free(impl_->ctx);
}

Context::Context(Context&&) noexcept = default;

Context& Context::operator=(Context&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

std::size_t Conversions::PieceHash::operator()(const BasicSet& piece) const {
  std::size_t seed = piece.equalities.size();
  for (const auto* list : {&piece.equalities, &piece.inequalities})
    for (const AffineExpr& expr : *list) seed = seed * 31 + expr.hash();
  return seed;
}

Conversions::Known& Conversions::of(const Layout& layout) {
  if (size_ > kMost) {
    layouts_.clear();
    size_ = 0;
  }
  for (auto& [known, pieces] : layouts_)
    if (known == layout) return *pieces;
  layouts_.emplace_back(layout, std::make_unique<Known>());
  return *layouts_.back().second;
}

Operation::Operation(Context& context, const Limits& limits)
    : ctx_(context.impl().ctx),
      conversions_(context.impl().conversions),
      limit_(limits.max_operations) {
  isl_ctx_reset_error(ctx_);
  isl_ctx_reset_operations(ctx_);
  isl_ctx_set_max_operations(ctx_, limits.max_operations);
}

void Operation::weigh(const BasicSet& piece, std::size_t num_names) {
  // Rows times columns up to which a step is as quick as the limit takes it to be.
  constexpr std::uint64_t kQuickTableau = 256;
  std::size_t divisions = 0;
  for (const auto* list : {&piece.equalities, &piece.inequalities})
    for (const AffineExpr& expr : *list) divisions += expr.floors().size();
  const std::uint64_t rows = piece.equalities.size() + piece.inequalities.size() + 2 * divisions;
  const std::uint64_t tableau = rows * (num_names + divisions);
  if (limit_ == 0 || tableau <= std::max(largest_, kQuickTableau)) return;
  largest_ = tableau;
  isl_ctx_set_max_operations(ctx_, std::max<std::uint64_t>(limit_ * kQuickTableau / tableau, 1));
}

Operation::~Operation() {
  isl_ctx_set_max_operations(ctx_, 0);
  isl_ctx_reset_error(ctx_);
}

bool Operation::failed() const {
  return !refusal_.empty() || isl_ctx_last_error(ctx_) != isl_error_none;
}

bool Operation::forgive() {
  if (!refusal_.empty() || isl_ctx_last_error(ctx_) == isl_error_quota) return false;
  isl_ctx_reset_error(ctx_);
  return true;
}

Failure Operation::failure(std::string_view doing) const {
  std::string message = "could not " + std::string(doing);
  if (refusal_.empty() && isl_ctx_last_error(ctx_) == isl_error_quota) {
    message += ": more than " + std::to_string(isl_ctx_get_max_operations(ctx_)) + " operations";
    return fail(Code::PolyhedraLimit, Span{}, message,
                "simplify the index expressions and conditions, or split the equation");
  }
  if (refusal_ == kOverflow)
    return fail(Code::PolyhedraFailure, Span{}, message + ": " + refusal_,
                "write sizes, indices and bounds with smaller numbers");
  const char* text = isl_ctx_last_error_msg(ctx_);
  message +=
      ": " + (!refusal_.empty() ? refusal_ : std::string(text != nullptr ? text : "unknown"));
  return fail(Code::PolyhedraFailure, Span{}, message,
              "this is a defect of Tilewright: please report it with the algorithm and schedule");
}

std::size_t Operation::position(const std::vector<std::string>& names, std::string_view name) {
  auto place = std::find(names.begin(), names.end(), name);
  if (place != names.end()) return static_cast<std::size_t>(place - names.begin());
  refusal_ = "symbol `" + std::string(name) + "` is not in the space";
  return 0;
}

isl_mat* Operation::matrix(const std::vector<std::string>& names,
                           const std::vector<AffineExpr>& rows) {
  isl_mat* result = isl_mat_alloc(ctx_, static_cast<unsigned>(rows.size()),
                                  static_cast<unsigned>(names.size() + 1));
  auto set = [&](int row, std::size_t column, std::int64_t value) {
    if (value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max()) {
      result =
          isl_mat_set_element_si(result, row, static_cast<int>(column), static_cast<int>(value));
    } else {
      result = isl_mat_set_element_val(result, row, static_cast<int>(column), to_isl(value));
    }
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    int row = static_cast<int>(i);
    for (std::size_t column = 1; column <= names.size(); ++column) set(row, column, 0);
    set(row, 0, rows[i].constant());
    for (const LinearTerm& term : rows[i].terms()) {
      set(row, 1 + position(names, term.name), term.coefficient);
    }
  }
  return result;
}

isl_basic_set* Operation::from_matrices(isl_space* space, const std::vector<std::string>& names,
                                        const BasicSet& piece) {
  return isl_basic_set_from_constraint_matrices(space, matrix(names, piece.equalities),
                                                matrix(names, piece.inequalities), isl_dim_cst,
                                                isl_dim_param, isl_dim_set, isl_dim_div);
}

isl_aff* Operation::affine(isl_space* space, const std::vector<std::string>& names,
                           std::size_t num_params, const AffineExpr& expr) {
  isl_aff* result = isl_aff_zero_on_domain(isl_local_space_from_space(isl_space_copy(space)));
  result = isl_aff_set_constant_val(result, to_isl(expr.constant()));
  for (const LinearTerm& term : expr.terms()) {
    std::size_t place = position(names, term.name);
    bool is_param = place < num_params;
    result = isl_aff_set_coefficient_val(result, is_param ? isl_dim_param : isl_dim_in,
                                         static_cast<int>(is_param ? place : place - num_params),
                                         to_isl(term.coefficient));
  }
  for (const FloorTerm& floor : expr.floors()) {
    isl_aff* inner = affine(space, names, num_params, floor.numerator);
    inner = isl_aff_floor(isl_aff_scale_down_val(inner, to_isl(floor.denominator)));
    result = isl_aff_add(result, isl_aff_scale_val(inner, to_isl(floor.coefficient)));
  }
  return result;
}

isl_basic_set* Operation::to_isl(isl_space* space, const std::vector<std::string>& names,
                                 std::size_t num_params, const BasicSet& piece) {
  BasicSet linear;
  BasicSet divided;
  for (const AffineExpr& expr : piece.equalities) {
    if (expr.overflowed()) refusal_ = kOverflow;
    (expr.floors().empty() ? linear : divided).equalities.push_back(expr);
  }
  for (const AffineExpr& expr : piece.inequalities) {
    if (expr.overflowed()) refusal_ = kOverflow;
    (expr.floors().empty() ? linear : divided).inequalities.push_back(expr);
  }
  if (!refusal_.empty()) {
    isl_space_free(space);
    return nullptr;
  }
  IslSpace kept(isl_space_copy(space));
  isl_basic_set* result = from_matrices(space, names, linear);
  for (const AffineExpr& expr : divided.equalities) {
    isl_aff* value = affine(kept.get(), names, num_params, expr);
    result = isl_basic_set_intersect(result, isl_aff_zero_basic_set(value));
  }
  for (const AffineExpr& expr : divided.inequalities) {
    isl_aff* value = affine(kept.get(), names, num_params, expr);
    result = isl_basic_set_intersect(result,
                                     isl_basic_set_from_constraint(isl_inequality_from_aff(value)));
  }
  return result;
}

isl_set* Operation::union_of(isl_space* space, const Conversions::Layout& layout,
                             const std::vector<BasicSet>& pieces) {
  if (!distinct(layout.names)) {
    isl_space_free(space);
    return nullptr;
  }
  if (pieces.empty()) return isl_set_empty(space);
  Conversions::Known& known = conversions_.of(layout);
  std::vector<IslSet> parts;
  for (const BasicSet& piece : pieces) {
    auto place = known.find(piece);
    if (place == known.end()) {
      IslBasicSet made(to_isl(isl_space_copy(space), layout.names, layout.num_params, piece));
      if (!made || !refusal_.empty()) {
        isl_space_free(space);
        return nullptr;
      }
      place = known.emplace(piece, std::move(made)).first;
      conversions_.added();
    }
    weigh(piece, layout.names.size());
    parts.emplace_back(isl_set_from_basic_set(isl_basic_set_copy(place->second.get())));
  }
  isl_space_free(space);
  // In pairs: isl compares both sides of a union, so that one which grows by single conjunctions is quadratic.
  while (parts.size() > 1) {
    std::vector<IslSet> wider;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
      wider.emplace_back(isl_set_union(parts[i].release(), parts[i + 1].release()));
    if (parts.size() % 2 != 0) wider.push_back(std::move(parts.back()));
    parts = std::move(wider);
  }
  return parts.front().release();
}

static std::vector<std::string> joined(const std::vector<std::string>& a,
                                       const std::vector<std::string>& b) {
  std::vector<std::string> result = a;
  result.insert(result.end(), b.begin(), b.end());
  return result;
}

static isl_space* named_params(isl_space* space, const std::vector<std::string>& params) {
  for (std::size_t i = 0; i < params.size(); ++i) {
    space =
        isl_space_set_dim_name(space, isl_dim_param, static_cast<unsigned>(i), params[i].c_str());
  }
  return space;
}

// A name that stands twice would make constraints ambiguous.
bool Operation::distinct(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      refusal_ = "symbol `" + names[i] + "` stands twice in one space";
      return false;
    }
  }
  return true;
}

void Operation::share_params(const std::vector<std::string>& first,
                             const std::vector<std::string>& second) {
  shared_params_ = first;
  for (const std::string& name : second) {
    if (std::find(first.begin(), first.end(), name) == first.end()) {
      shared_params_.push_back(name);
    }
  }
}

isl_set* Operation::to_isl(const Set& set) {
  const Space& space = set.space();
  const std::vector<std::string>& params = shared_params_.empty() ? space.params : shared_params_;
  isl_space* isl = isl_space_set_alloc(ctx_, static_cast<unsigned>(params.size()),
                                       static_cast<unsigned>(space.dims.size()));
  return union_of(named_params(isl, params),
                  {joined(params, space.dims), params.size(), Conversions::kNoMap}, set.pieces());
}

isl_map* Operation::to_isl(const Map& map) {
  const MapSpace& space = map.space();
  const std::vector<std::string>& params = shared_params_.empty() ? space.params : shared_params_;
  isl_space* isl = isl_space_alloc(ctx_, static_cast<unsigned>(params.size()),
                                   static_cast<unsigned>(space.in.size()),
                                   static_cast<unsigned>(space.out.size()));
  isl = isl_space_wrap(named_params(isl, params));
  return isl_set_unwrap(
      union_of(isl, {joined(params, joined(space.in, space.out)), params.size(), space.in.size()},
               map.pieces()));
}

std::int64_t Operation::take_int(isl_val* value) {
  IslVal owned(value);
  if (isl_val_is_int(value) != isl_bool_true) {
    if (!failed()) refusal_ = "a value is not an integer";
    return 0;
  }
  return isl_val_get_num_si(value);
}

// The numerator and denominator of an isl expression whose first divisions are `divs`.
Operation::Quotient Operation::quotient_of(isl_aff* aff, const std::vector<std::string>& names,
                                           const std::vector<AffineExpr>& divs) {
  IslVal scale(isl_aff_get_denominator_val(aff));
  auto scaled = [&](isl_val* value) {
    return take_int(isl_val_mul(value, isl_val_copy(scale.get())));
  };
  isl_size params = isl_aff_dim(aff, isl_dim_param);
  std::size_t num_params = static_cast<std::size_t>(std::max<isl_size>(params, 0));
  AffineExpr numerator(scaled(isl_aff_get_constant_val(aff)));
  for (std::size_t i = 0; i < names.size(); ++i) {
    bool is_param = i < num_params;
    isl_val* value = isl_aff_get_coefficient_val(aff, is_param ? isl_dim_param : isl_dim_in,
                                                 static_cast<int>(is_param ? i : i - num_params));
    numerator = numerator + AffineExpr::variable(names[i], scaled(value));
  }
  for (std::size_t i = 0; i < divs.size(); ++i) {
    isl_val* value = isl_aff_get_coefficient_val(aff, isl_dim_div, static_cast<int>(i));
    numerator = numerator + divs[i] * scaled(value);
  }
  std::int64_t denominator = take_int(scale.release());
  if (!failed() && denominator <= 0) refusal_ = "a division has no explicit form";
  return {std::move(numerator), std::max<std::int64_t>(denominator, 1)};
}

AffineExpr Operation::affine_of(isl_aff* aff, const std::vector<std::string>& names) {
  std::vector<AffineExpr> divs;
  isl_size num_divs = isl_aff_dim(aff, isl_dim_div);
  for (int div = 0; div < num_divs && !failed(); ++div) {
    // isl hands out floor(e) as an expression of its own: its only division is itself.
    IslAff inner(isl_aff_get_div(aff, div));
    Quotient quotient = quotient_of(inner.get(), names, divs);
    divs.push_back(floor_div(quotient.numerator, quotient.denominator));
  }
  Quotient quotient = quotient_of(aff, names, divs);
  return floor_div(quotient.numerator, quotient.denominator);
}

// Each division as an expression, in order: a later one may use an earlier one. Adds to `tautologies` the
// constraints that only say what a division is.
std::vector<AffineExpr> Operation::divisions(isl_basic_set* set,
                                             const std::vector<std::string>& names,
                                             std::vector<AffineExpr>& tautologies) {
  std::vector<AffineExpr> result;
  isl_size num_divs = isl_basic_set_dim(set, isl_dim_div);
  for (int div = 0; div < num_divs && !failed(); ++div) {
    IslAff aff(isl_basic_set_get_div(set, div));
    Quotient quotient = quotient_of(aff.get(), names, result);
    AffineExpr rest = modulo(quotient.numerator, quotient.denominator);
    tautologies.push_back(rest);
    tautologies.push_back(AffineExpr(quotient.denominator - 1) - rest);
    result.push_back(floor_div(quotient.numerator, quotient.denominator));
  }
  result.resize(static_cast<std::size_t>(std::max<isl_size>(num_divs, 0)));
  return result;
}

std::vector<AffineExpr> Operation::rows(isl_mat* matrix, const std::vector<std::string>& names,
                                        const std::vector<AffineExpr>& divisions) {
  std::vector<AffineExpr> result;
  isl_size num_rows = isl_mat_rows(matrix);
  for (int row = 0; row < num_rows; ++row) {
    int column = 0;
    auto next = [&] { return take_int(isl_mat_get_element_val(matrix, row, column++)); };
    AffineExpr expr(next());
    for (const std::string& name : names) expr = expr + AffineExpr::variable(name, next());
    for (const AffineExpr& division : divisions) expr = expr + division * next();
    if (expr.overflowed()) refusal_ = kOverflow;
    result.push_back(std::move(expr));
  }
  return result;
}

// Equalities have one sign, so that equal sets found on different ways print alike.
static AffineExpr with_canonical_sign(const AffineExpr& expr) {
  std::int64_t first = !expr.terms().empty()    ? expr.terms().front().coefficient
                       : !expr.floors().empty() ? expr.floors().front().coefficient
                                                : expr.constant();
  return first < 0 ? -expr : expr;
}

static void sort_unique(std::vector<AffineExpr>& exprs) {
  std::sort(exprs.begin(), exprs.end());
  exprs.erase(std::unique(exprs.begin(), exprs.end()), exprs.end());
}

BasicSet Operation::basic_set_of(isl_basic_set* set, const std::vector<std::string>& names) {
  BasicSet result;
  std::vector<AffineExpr> tautologies;
  std::vector<AffineExpr> divs = divisions(set, names, tautologies);
  IslMat equalities(
      isl_basic_set_equalities_matrix(set, isl_dim_cst, isl_dim_param, isl_dim_set, isl_dim_div));
  IslMat inequalities(
      isl_basic_set_inequalities_matrix(set, isl_dim_cst, isl_dim_param, isl_dim_set, isl_dim_div));
  for (const AffineExpr& expr : rows(equalities.get(), names, divs)) {
    result.equalities.push_back(with_canonical_sign(expr));
  }
  for (AffineExpr& expr : rows(inequalities.get(), names, divs)) {
    bool known = std::find(tautologies.begin(), tautologies.end(), expr) != tautologies.end();
    bool trivial = expr.is_constant() && expr.constant() >= 0;
    if (!known && !trivial) result.inequalities.push_back(std::move(expr));
  }
  sort_unique(result.equalities);
  sort_unique(result.inequalities);
  return result;
}

std::vector<std::string> Operation::names_of(isl_set* set,
                                             const std::vector<std::string>& dims) const {
  std::vector<std::string> names;
  isl_size num_params = isl_set_dim(set, isl_dim_param);
  for (int i = 0; i < num_params; ++i) {
    names.emplace_back(isl_set_get_dim_name(set, isl_dim_param, static_cast<unsigned>(i)));
  }
  names.insert(names.end(), dims.begin(), dims.end());
  return names;
}

std::vector<BasicSet> Operation::pieces_of(isl_set* set, const std::vector<std::string>& dims) {
  std::vector<BasicSet> result;
  IslSet explicit_set(isl_set_compute_divs(isl_set_copy(set)));
  if (!explicit_set) return result;
  std::vector<std::string> names = names_of(explicit_set.get(), dims);
  IslBasicSetList list(isl_set_get_basic_set_list(explicit_set.get()));
  isl_size count = isl_basic_set_list_size(list.get());
  for (int i = 0; i < count && !failed(); ++i) {
    IslBasicSet piece(isl_basic_set_list_get_at(list.get(), i));
    if (isl_basic_set_plain_is_empty(piece.get()) == isl_bool_true) continue;
    result.push_back(basic_set_of(piece.get(), names));
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

Result<Set> Operation::finish(isl_set* set, std::vector<std::string> dims, std::string_view doing) {
  IslSet owned(set);
  if (failed() || set == nullptr || !distinct(names_of(set, dims))) return failure(doing);
  Space space{names_of(set, {}), std::move(dims)};
  std::vector<BasicSet> pieces = pieces_of(set, space.dims);
  if (failed()) return failure(doing);
  return Set(std::move(space), std::move(pieces));
}

Result<Map> Operation::finish(isl_map* map, std::vector<std::string> in,
                              std::vector<std::string> out, std::string_view doing) {
  IslSet owned(isl_map_wrap(map));
  if (failed() || !owned) return failure(doing);
  MapSpace space{names_of(owned.get(), {}), std::move(in), std::move(out)};
  std::vector<std::string> taken = joined(space.params, space.in);
  if (!distinct(taken)) return failure(doing);
  for (std::string& name : space.out) {
    while (std::find(taken.begin(), taken.end(), name) != taken.end()) name += "'";
    taken.push_back(name);
  }
  std::vector<BasicSet> pieces = pieces_of(owned.get(), joined(space.in, space.out));
  if (failed()) return failure(doing);
  return Map(std::move(space), std::move(pieces));
}

Result<bool> Operation::finish(isl_bool answer, std::string_view doing) {
  if (failed() || answer == isl_bool_error) return failure(doing);
  return answer == isl_bool_true;
}

}  // namespace tilewright::poly

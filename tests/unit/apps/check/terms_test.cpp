// SPDX-License-Identifier: Apache-2.0
//
// The checker's algebra: what is equal is shown, near misses are not, and each of those has values at which it differs.
#include <gtest/gtest.h>

#include "tests/unit/apps/check/term_values.h"

namespace tilewright::checker {
namespace {

// `where` is a text of conditions; over names n, m (sizes), i, j, u.
struct Pair {
  const char* name;
  const char* where;
  const char* left;
  const char* right;
};

void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.name; }

// Of 0 <= k < n, and so on.
#define K_BELOW(limit) "((>= {1*k 0}) (>= {-1*k " limit "}))"
#define SUM_N(body) "(sum (k) " K_BELOW("1*n -1") " " body ")"
#define MAX_N(body) "(maximum (k) " K_BELOW("1*n -1") " " body ")"
#define X_K "(cell x {1*k 0})"
#define Y_K "(cell y {1*k 0})"
#define X_I "(cell x {1*i 0})"
#define Y_I "(cell y {1*i 0})"
#define DOT \
  "(sum (d) ((>= {1*d 0}) (>= {-1*d 3})) (* (cell q {1*i 0} {1*d 0}) (cell x {1*k 0} {1*d 0})))"

const Pair kEqual[] = {
    {"order", "", "(+ " X_I " (* 2 " Y_I "))", "(+ (* " Y_I " 2) " X_I ")"},
    {"distributes", "", "(* (+ " X_I " 1) (+ " X_I " -1))", "(+ (^ " X_I " 2) -1)"},
    {"difference", "", "(+ " X_I " (* -1 " X_I "))", "0"},
    {"exponentials", "", "(* (exp " X_I ") (exp " Y_I "))", "(exp (+ " Y_I " " X_I "))"},
    {"exponential_of_difference", "", "(* (exp (+ " X_I " (* -1 " Y_I "))) (exp " Y_I "))",
     "(exp " X_I ")"},
    {"exponential_divided", "", "(* (exp " X_I ") (^ (exp " Y_I ") -1))",
     "(exp (+ " X_I " (* -1 " Y_I ")))"},
    {"root_of_exponential", "", "(^ (exp " X_I ") 1/2)", "(exp (* 1/2 " X_I "))"},
    {"logarithm", "", "(log (exp " X_I "))", X_I},
    {"minus_infinity", "", "(exp (+ -inf " X_I "))", "0"},
    {"root_twice", "", "(* (^ (exp " X_I ") 1/2) (^ (exp " X_I ") 1/2))", "(exp " X_I ")"},
    {"index_cells", "(>= {1*i 0})(>= {-1*i 3})", "(cell x {4*[1*i 0/4] 1*i 0})", X_I},
    {"index_by_equality", "(= {1*i -1*j -1})", X_I, "(cell x {1*j 1})"},
    {"index_not_by_unit", "(= {1*i -6*[1*i 0/6] 0})", "(cell x {6*[1*i 5/6] 0})", X_I},
    {"size_as_number", "", "(* {2*n 3} " X_I ")", "(+ (* 2 {1*n 0} " X_I ") (* 3 " X_I "))"},
    {"sum_splits", "(>= {1*i 0})(>= {1*n -1*i 0})",
     "(+ (sum (k) ((>= {1*k 0}) (>= {1*i -1*k -1})) " X_K ")"
     "(sum (k) ((>= {-1*i 1*k 0}) (>= {-1*k 1*n -1})) " X_K "))",
     SUM_N(X_K)},
    {"sum_peels", "(>= {1*n -1})",
     "(+ (cell x {0}) (sum (k) ((>= {1*k -1}) (>= {-1*k 1*n -1})) " X_K "))", SUM_N(X_K)},
    {"sum_is_linear", "", SUM_N("(+ (* 3 " X_K ") " Y_K ")"),
     "(+ " SUM_N(Y_K) " (* 3 " SUM_N(X_K) "))"},
    {"factor_leaves", "", SUM_N("(* " X_I " " X_K ")"), "(* " SUM_N(X_K) " " X_I ")"},
    {"exponential_leaves", "", SUM_N("(exp (+ " X_K " (* -1 " X_I ")))"),
     "(* (exp (* -1 " X_I ")) " SUM_N("(exp " X_K ")") ")"},
    {"empty_sum", "(>= {-1*n 0})", SUM_N(X_K), "0"},
    {"single_point", "", "(sum (k) ((= {1*k -1*i 0})) " X_K ")", X_I},
    {"single_point_guarded", "(>= {1*i 0})", "(sum (k) ((= {1*k -1*i 0}) (>= {1*k 0})) " X_K ")",
     X_I},
    {"strides", "(>= {1*n 0})",
     "(+ (sum (k) ((>= {1*k 0}) (>= {-1*k 1*n -1}) (= {1*k -2*[1*k 0/2] 0})) " X_K ")"
     "(sum (k) ((>= {1*k 0}) (>= {-1*k 1*n -1}) (= {1*k -2*[1*k 0/2] -1})) " X_K "))",
     SUM_N(X_K)},
    {"lanes_and_tail", "(>= {1*n 0})",
     "(+ (sum (k) ((>= {1*k 0}) (>= {-1*k 4*[1*n 0/4] -1})) " X_K ")"
     "(sum (k) ((>= {1*k -4*[1*n 0/4] 0}) (>= {-1*k 1*n -1})) " X_K "))",
     SUM_N(X_K)},
    {"renamed", "", SUM_N(X_K), "(sum (l) ((>= {1*l 0}) (>= {-1*l 1*n -1})) (cell x {1*l 0}))"},
    {"two_variables_in_any_order", "",
     "(sum (k l) ((>= {1*k 0}) (>= {-1*k 2}) (>= {1*l 0}) (>= {-1*l 4})) (cell z {1*k 0} {1*l 0}))",
     "(sum (l k) ((>= {1*k 0}) (>= {-1*k 2}) (>= {1*l 0}) (>= {-1*l 4})) (cell z {1*k 0} {1*l "
     "0}))"},
    {"sum_of_sums", "",
     "(sum (k) ((>= {1*k 0}) (>= {-1*k 2})) (sum (l) ((>= {1*l 0}) (>= {-1*l 4})) (cell z {1*k 0} "
     "{1*l 0})))",
     "(sum (k) ((>= {1*k 0}) (>= {-1*k 4})) (sum (l) ((>= {1*l 0}) (>= {-1*l 2})) (cell z {1*l 0} "
     "{1*k 0})))"},
    {"product_of_matrices", "",
     "(sum (k) ((>= {1*k 0}) (>= {-1*k 2})) (* (sum (l) ((>= {1*l 0}) (>= {-1*l 2})) (* (cell a "
     "{1*i 0} {1*l 0}) (cell b {1*l 0} {1*k 0}))) (cell c {1*k 0} {1*j 0})))",
     "(sum (l) ((>= {1*l 0}) (>= {-1*l 2})) (* (cell a {1*i 0} {1*l 0}) (sum (k) ((>= {1*k 0}) (>= "
     "{-1*k 2})) (* (cell b {1*l 0} {1*k 0}) (cell c {1*k 0} {1*j 0})))))"},
    {"selection_in_sum", "(>= {1*i 0})(>= {1*n -1*i 0})",
     SUM_N("(select (>= {-1*k 1*i -1}) " X_K " 0)"),
     "(sum (k) ((>= {1*k 0}) (>= {-1*k 1*i -1})) " X_K ")"},
    {"selection_splits", "(>= {1*i 0})(>= {1*n -1*i 0})",
     SUM_N("(select (>= {-1*k 1*i -1}) " X_K " " Y_K ")"),
     "(+ (sum (k) ((>= {1*k 0}) (>= {-1*k 1*i -1})) " X_K ")"
     "(sum (k) ((>= {1*k -1*i 0}) (>= {-1*k 1*n -1})) " Y_K "))"},
    {"masked_exponential", "(>= {1*i 0})(>= {1*n -1*i -1})",
     SUM_N("(exp (+ (select (>= {-1*k 1*i 0}) " X_K " -inf) (* -1 " Y_I ")))"),
     "(* (exp (* -1 " Y_I ")) (sum (k) ((>= {1*k 0}) (>= {-1*k 1*i 0})) (exp " X_K ")))"},
    {"selection_decided", "(>= {1*i -5})", "(select (>= {1*i -3}) " X_I " " Y_I ")", X_I},
    {"selection_by_cases", "", "(select (>= {1*i 0}) " X_I " (cell x {1*i 0}))", X_I},
    {"selection_same_index", "", "(select (= {1*i -3}) (cell x {3}) " X_I ")", X_I},
    {"either_condition", "", "(select (! (& (>= {1*i 0}) (>= {3}))) 1 2)",
     "(select (>= {1*i 0}) 2 1)"},
    {"maximum_splits", "(>= {1*i 0})(>= {1*n -1*i 0})",
     "(max (maximum (k) ((>= {1*k 0}) (>= {1*i -1*k -1})) " X_K ")"
     "(maximum (k) ((>= {-1*i 1*k 0}) (>= {-1*k 1*n -1})) " X_K "))",
     MAX_N(X_K)},
    {"maximum_may_overlap", "(>= {1*i 1})(>= {1*n -1*i 0})",
     "(max (maximum (k) ((>= {1*k 0}) (>= {1*i -1*k 0}) (>= {-1*k 1*n -1})) " X_K ")"
     "(maximum (k) ((>= {-1*i 1*k 0}) (>= {1*k 0}) (>= {-1*k 1*n -1})) " X_K "))",
     MAX_N(X_K)},
    {"maximum_with_point", "(>= {1*n -1})",
     "(max (cell x {1*n -1}) (maximum (k) ((>= {1*k 0}) (>= {-1*k 1*n -2})) " X_K "))", MAX_N(X_K)},
    {"maximum_of_one_point", "(>= {-1*n 1})(>= {1*n -1})", "(max -inf (cell x {1*n -1}))",
     MAX_N(X_K)},
    {"variance_step", "(>= {1*u 0})",
     "(+ (* (+ (cell x {1*u 0}) (* -1 " Y_I ")) (+ (cell x {1*u 0}) (* -1 " Y_I
     "))) (sum (k) ((>= {1*k 0}) (>= {1*u -1*k -1})) (^ (+ " X_K " (* -1 " Y_I ")) 2)))",
     "(sum (k) ((>= {1*k 0}) (>= {1*u -1*k 0})) (^ (+ " X_K " (* -1 " Y_I ")) 2))"},
    {"variance_of_parts", "(>= {1*n 0})",
     "(+ (sum (k) ((>= {1*k 0}) (>= {-1*k 1*n -1}) (= {1*k -2*[1*k 0/2] 0})) (* (cell mean) -2 " X_K
     "))"
     "(sum (k) ((>= {1*k 0}) (>= {-1*k 1*n -1}) (= {1*k -2*[1*k 0/2] 0})) (* (^ (cell mean) 2) 1))"
     "(sum (k) ((>= {1*k 0}) (>= {-1*k 1*n -1}) (= {1*k -2*[1*k 0/2] 0})) (^ " X_K " 2))"
     "(sum (k) ((>= {1*k 0}) (>= {-1*k 1*n -1}) (= {1*k -2*[1*k 1/2] 1})) (^ (+ " X_K
     " (* -1 (cell mean))) 2)))",
     SUM_N("(* (+ " X_K " (* -1 (cell mean))) (+ (* -1 (cell mean)) " X_K "))")},
    {"maximum_shifted", "", MAX_N("(+ " X_K " " X_I ")"), "(+ " MAX_N(X_K) " " X_I ")"},
    {"maximum_scaled", "", MAX_N("(* 3 (exp " X_I ") " X_K ")"),
     "(* (exp " X_I ") " MAX_N(X_K) " 3)"},
    {"maximum_of_none", "(>= {-1*n 0})", MAX_N(X_K), "-inf"},
    {"maximum_masked", "(>= {1*i 0})(>= {1*n -1*i -1})",
     MAX_N("(select (>= {-1*k 1*i 0}) " X_K " -inf)"),
     "(maximum (k) ((>= {1*k 0}) (>= {-1*k 1*i 0})) " X_K ")"},
    {"maximum_of_minus_infinity", "", "(max -inf " X_I " (max " Y_I " -inf))",
     "(max " Y_I " " X_I ")"},
    {"softmax", "(>= {1*n -1})",
     "(* " SUM_N("(* (exp (+ " X_K " (* -1 " MAX_N(X_K) "))) " Y_K ")") " (^ " SUM_N(
         "(exp (+ " X_K " (* -1 " MAX_N(X_K) ")))") " -1))",
     "(* " SUM_N("(* " Y_K " (exp " X_K "))") " (^ " SUM_N("(exp " X_K ")") " -1))"},
    {"softmax_with_another_reference", "(>= {1*n -1})",
     "(* " SUM_N("(* (exp (+ " X_K " (* -1 " Y_I "))) " Y_K
                 ")") " (^ " SUM_N("(exp (+ " X_K " (* -1 " Y_I ")))") " -1))",
     "(* " SUM_N("(* (exp (+ " X_K " (* -1 " MAX_N(X_K) "))) " Y_K ")") " (^ " SUM_N(
         "(exp (+ " X_K " (* -1 " MAX_N(X_K) ")))") " -1))"},
    {"rescaled", "(>= {1*u 0})",
     "(+ (* (sum (k) ((>= {1*k 0}) (>= {4*u -1*k -1})) (exp (+ " X_K
     " (* -1 (value 1 {1*u -1}))))) (exp (+ (value 1 {1*u -1}) (* -1 (value 1 {1*u 0})))))"
     "(exp (+ (cell x {4*u 0}) (* -1 (value 1 {1*u 0})))) (exp (+ (cell x {4*u 1}) (* -1 (value 1 "
     "{1*u 0}))))"
     "(exp (+ (cell x {4*u 2}) (* -1 (value 1 {1*u 0})))) (exp (+ (cell x {4*u 3}) (* -1 (value 1 "
     "{1*u 0})))))",
     "(* (exp (* -1 (value 1 {1*u 0}))) (sum (k) ((>= {1*k 0}) (>= {4*u -1*k 3})) (exp " X_K ")))"},
    {"attention_step", "(>= {1*u 0})",
     "(+ (* (exp (* -1 (value 1 {1*u 0}))) (sum (k) ((>= {1*k 0}) (>= {1*u -1*k -1})) (* (exp " DOT
     ") (cell v {1*k 0} {1*j 0}))))"
     "(* (exp (+ (sum (e) ((>= {1*e 0}) (>= {-1*e 3})) (* (cell q {1*i 0} {1*e 0}) (cell x {1*u 0} "
     "{1*e 0}))) (* -1 (value 1 {1*u 0})))) (cell v {1*u 0} {1*j 0})))",
     "(sum (k) ((>= {1*k 0}) (>= {1*u -1*k 0})) (* (exp (+ " DOT
     " (* -1 (value 1 {1*u 0})))) (cell v {1*k 0} {1*j 0})))"},
    {"set_in_denominator", "(>= {1*n -1})",
     "(* " X_I " (^ (+ (exp (cell x {0})) (sum (k) ((>= {1*k -1}) (>= {-1*k 1*n -1})) (exp " X_K
     "))) -1/2))",
     "(* " X_I " (^ " SUM_N("(exp " X_K ")") " -1/2))"},
    {"reciprocal_of_a_sum_in_parts", "(>= {1*n -1})",
     "(* (exp (* -1 " X_I ")) (^ (+ (exp (+ (cell x {0}) (* -1 " X_I
     "))) (sum (k) ((>= {1*k -1}) (>= {-1*k 1*n -1})) (exp (+ " X_K " (* -1 " X_I "))))) -1))",
     "(^ " SUM_N("(exp " X_K ")") " -1)"},
    {"set_in_exponent", "(>= {1*n -1})",
     "(* " Y_I " (exp (+ (cell x {0}) (sum (k) ((>= {1*k -1}) (>= {-1*k 1*n -1})) " X_K "))))",
     "(* (exp " SUM_N(X_K) ") " Y_I ")"},
    {"doubled", "", "(+ " SUM_N(X_K) " " SUM_N(X_K) ")", "(* 2 " SUM_N(X_K) ")"},
    {"taken_away", "(>= {1*n -1})", "(+ " SUM_N(X_K) " (* -1 (cell x {1*n -1})))",
     "(sum (k) ((>= {1*k 0}) (>= {-1*k 1*n -2})) " X_K ")"},
    {"variance", "(>= {1*n -1})",
     "(^ (+ 1/100000 (* (^ {1*n 0} -1) " SUM_N("(^ (+ " X_K " (* -1 " X_I ")) 2)") ")) -1/2)",
     "(^ (+ (* " SUM_N("(* (+ " X_K " (* -1 " X_I ")) (+ " X_K " (* -1 " X_I
                       ")))") " (^ {1*n 0} -1)) 1/100000) -1/2)"},
    {"rounding_stays", "", "(call round_to_bf16_to_f32 f32 (+ " X_I " " Y_I "))",
     "(call round_to_bf16_to_f32 f32 (+ " Y_I " " X_I "))"},
    {"wraps_once", "",
     "(wrap i32 (+ (wrap i32 (* (cell p {1*i 0}) (cell p {1*j 0}))) (wrap i32 (cell p {1*i 0}))))",
     "(wrap i32 (* (cell p {1*i 0}) (+ 1 (cell p {1*j 0}))))"},
    {"narrow_in_wide", "", "(wrap i32 (cell p {1*i 0}))", "(cell p {1*i 0})"},
    {"wrapped_sum", "(>= {1*n -1})",
     "(wrap i32 (+ (wrap i32 (sum (k) ((>= {1*k 0}) (>= {-1*k 1*n -2})) (wrap i32 (* (cell p {1*k "
     "0}) (cell p {1*k 1}))))) (wrap i32 (* (cell p {1*n -1}) (cell p {1*n 0})))))",
     "(wrap i32 " SUM_N("(* (cell p {1*k 0}) (cell p {1*k 1}))") ")"},
    {"another_monoid", "", "(fold prod_of_f32 f32 (k) " K_BELOW("1*n -1") " 1 (+ " X_K " 1))",
     "(fold prod_of_f32 f32 (l) ((>= {-1*l 1*n -1}) (>= {1*l 0})) 1 (+ 1 (cell x {1*l 0})))"},
    {"another_monoid_over_the_same_set", "",
     "(fold prod_of_f32 f32 (k) ((>= {2*k 0}) (>= {-1*k 1*n -1})) 1 " X_K ")",
     "(fold prod_of_f32 f32 (k) ((>= {2*k 1}) (>= {-1*k 1*n -1})) 1 " X_K ")"},
    {"equation", "", "(cell twice {1*i 0})", "(* 2 " X_I ")"},
    {"claim_is_finite", "(>= {1*u 0})", "(+ (value 1 {1*u 0}) (* -1 (value 1 {1*u 0})))", "0"},
    {"same_infinite_sides", "", "(+ (maximum (k) () " X_K ") " X_I " (* -1 " X_I "))",
     "(maximum (k) () " X_K ")"},
};

const Pair kDifferent[] = {
    {"wrong_sign", "", "(+ " X_I " (* -1 " Y_I "))", "(+ " X_I " " Y_I ")"},
    {"square_lost", "", "(* (+ " X_I " 1) (+ " X_I " -1))", "(+ " X_I " -1)"},
    {"division_by_zero", "", "(* " X_I " (^ {1*i 0} -1) {1*i 0})", X_I},
    {"square_root_of_square", "", "(^ (^ " X_I " 2) 1/2)", X_I},
    {"root_of_negative", "", "(^ (^ " X_I " 1/2) 2)", X_I},
    {"roots_of_negative_factors", "", "(* (^ " X_I " 1/2) (^ " Y_I " 1/2))",
     "(^ (* " X_I " " Y_I ") 1/2)"},
    {"exponential_of_sum", "", "(+ (exp " X_I ") (exp " Y_I "))", "(exp (+ " Y_I " " X_I "))"},
    {"logarithm_of_product", "", "(log (* " X_I " " Y_I "))", "(+ (log " X_I ") (log " Y_I "))"},
    {"exponential_of_logarithm", "", "(exp (log " X_I "))", X_I},
    {"infinite_difference", "(>= {-1*n 0})", "(+ " MAX_N(X_K) " (* -1 " MAX_N(X_K) "))", "0"},
    {"infinite_difference_somewhere", "(>= {1*n 0})",
     "(exp (+ " X_I " " MAX_N(X_K) " (* -1 " MAX_N(X_K) ")))", "(exp " X_I ")"},
    {"zero_times_infinity", "(>= {-1*n 0})", "(* 0 " MAX_N(X_K) ")", "0"},
    {"infinite_factor_of_empty_sum", "(>= {-1*n 0})(>= {1*m 0})",
     "(sum (l) ((>= {1*l 0}) (>= {-1*l 1*m -1})) (* " MAX_N(X_K) " (cell y {1*l 0})))",
     "(* " MAX_N(X_K) " (sum (l) ((>= {1*l 0}) (>= {-1*l 1*m -1})) (cell y {1*l 0})))"},
    {"infinite_distributes", "(>= {-1*n 0})", "(* (+ " X_I " " Y_I ") " MAX_N(X_K) ")",
     "(+ (* " X_I " " MAX_N(X_K) ") (* " Y_I " " MAX_N(X_K) "))"},
    {"negative_scale_of_maximum", "", MAX_N("(* -1 " X_K ")"), "(* -1 " MAX_N(X_K) ")"},
    {"unknown_scale_of_maximum", "", MAX_N("(* " X_I " " X_K ")"), "(* " X_I " " MAX_N(X_K) ")"},
    {"softmax_of_none", "(>= {1*n 0})", SUM_N("(exp (+ " X_K " (* -1 " MAX_N(X_K) ")))"),
     "(* (exp (* -1 " MAX_N(X_K) ")) " SUM_N("(exp " X_K ")") ")"},
    {"short_tail", "(>= {1*n -1})", "(sum (k) ((>= {1*k 0}) (>= {-1*k 1*n -2})) " X_K ")",
     SUM_N(X_K)},
    {"first_lost", "(>= {1*n -1})", "(sum (k) ((>= {1*k -1}) (>= {-1*k 1*n -1})) " X_K ")",
     SUM_N(X_K)},
    {"counted_twice", "(>= {1*n -3})",
     "(+ (sum (k) ((>= {1*k 0}) (>= {-1*k 2})) " X_K
     ") (sum (k) ((>= {1*k -2}) (>= {-1*k 1*n -1})) " X_K "))",
     SUM_N(X_K)},
    {"hole", "(>= {1*n -4})",
     "(+ (sum (k) ((>= {1*k 0}) (>= {-1*k 1})) " X_K
     ") (sum (k) ((>= {1*k -3}) (>= {-1*k 1*n -1})) " X_K "))",
     SUM_N(X_K)},
    {"lanes_lose_tail", "(>= {1*n 0})",
     "(sum (k) ((>= {1*k 0}) (>= {-1*k 4*[1*n 0/4] -1})) " X_K ")", SUM_N(X_K)},
    {"stride_of_three", "(>= {1*n 0})",
     "(+ (sum (k) ((>= {1*k 0}) (>= {-1*k 1*n -1}) (= {1*k -3*[1*k 0/3] 0})) " X_K ")"
     "(sum (k) ((>= {1*k 0}) (>= {-1*k 1*n -1}) (= {1*k -3*[1*k 0/3] -1})) " X_K "))",
     SUM_N(X_K)},
    {"point_outside", "(>= {1*n -1})", "(+ " SUM_N(X_K) " (cell x {1*n 0}))", SUM_N(X_K)},
    {"point_without_guard", "", "(sum (k) ((= {1*k -1*i 0}) (>= {1*k 0})) " X_K ")", X_I},
    {"half_points", "(>= {1*n 0})", "(sum (k) ((>= {1*k 0}) (>= {-2*k 1*n -1})) (cell x {2*k 0}))",
     SUM_N(X_K)},
    {"bound_variable_leaves", "(>= {1*n -1})", SUM_N("(* " X_K " " Y_K ")"),
     "(* (cell y {1*n -1}) " SUM_N(X_K) ")"},
    {"captured", "(>= {1*n -2})",
     "(sum (k) " K_BELOW(
         "1*n -1") " (sum (l) ((>= {1*l 0}) (>= {-1*l 1})) (cell z {1*k 0} {1*l 0})))",
     "(sum (k) " K_BELOW(
         "1*n -1") " (sum (l) ((>= {1*l 0}) (>= {-1*l 1})) (cell z {1*k 0} {1*k 0})))"},
    {"transposed", "",
     "(sum (k l) ((>= {1*k 0}) (>= {-1*k 2}) (>= {1*l 0}) (>= {-1*l 4})) (cell z {1*k 0} {1*l 0}))",
     "(sum (k l) ((>= {1*k 0}) (>= {-1*k 2}) (>= {1*l 0}) (>= {-1*l 4})) (cell z {1*l 0} {1*k "
     "0}))"},
    {"square_of_sum", "(>= {1*n -2})", "(^ " SUM_N(X_K) " 2)", SUM_N("(^ " X_K " 2)")},
    {"product_of_sums", "(>= {1*n -2})", "(* " SUM_N(X_K) " " SUM_N(Y_K) ")",
     SUM_N("(* " X_K " " Y_K ")")},
    {"maximum_is_no_sum", "(>= {1*n -2})", "(+ " MAX_N(X_K) " " MAX_N(Y_K) ")",
     MAX_N("(+ " X_K " " Y_K ")")},
    {"maximum_of_fewer", "(>= {1*n -2})",
     "(maximum (k) ((>= {1*k -1}) (>= {-1*k 1*n -1})) " X_K ")", MAX_N(X_K)},
    {"maximum_with_zero", "(>= {1*n -1})", "(max 0 " MAX_N(X_K) ")", MAX_N(X_K)},
    {"maximum_of_two_points", "(>= {-1*n 2})(>= {1*n -1})", "(max -inf (cell x {1*n -1}))",
     MAX_N(X_K)},
    {"variance_step_twice", "(>= {1*u -1})",
     "(+ (* 2 (+ (cell x {1*u 0}) (* -1 " Y_I ")) (+ (cell x {1*u 0}) (* -1 " Y_I
     "))) (sum (k) ((>= {1*k 0}) (>= {1*u -1*k -1})) (^ (+ " X_K " (* -1 " Y_I ")) 2)))",
     "(sum (k) ((>= {1*k 0}) (>= {1*u -1*k 0})) (^ (+ " X_K " (* -1 " Y_I ")) 2))"},
    {"maximum_of_more", "(>= {1*n -1})", "(max (cell x {-1}) " MAX_N(X_K) ")", MAX_N(X_K)},
    {"selection_elsewhere", "(>= {1*n -3})", SUM_N("(select (>= {-1*k 1}) " X_K " " Y_K ")"),
     SUM_N(X_K)},
    {"selection_off_by_one", "(>= {1*i 0})(>= {1*n -1*i -1})",
     SUM_N("(select (>= {-1*k 1*i 0}) " X_K " 0)"),
     "(sum (k) ((>= {1*k 0}) (>= {-1*k 1*i -1})) " X_K ")"},
    {"mask_to_zero", "(>= {1*i 0})(>= {1*n -1*i -2})",
     SUM_N("(exp (select (>= {-1*k 1*i 0}) " X_K " 0))"),
     "(sum (k) ((>= {1*k 0}) (>= {-1*k 1*i 0})) (exp " X_K "))"},
    {"undecided", "", "(select (>= {1*i -3}) " X_I " " Y_I ")", X_I},
    {"not_less_is_no_less", "", "(select (! (< " X_I " " Y_I ")) 1 0)",
     "(select (< " X_I " " Y_I ") 1 0)"},
    {"comparison_of_undefined", "", "(select (! (< (^ " X_I " 1/2) 0)) 1 0)",
     "(select (< 0 (^ " X_I " 1/2)) 1 0)"},
    {"rescale_missing", "(>= {1*u -1})",
     "(+ (sum (k) ((>= {1*k 0}) (>= {1*u -1*k -1})) (exp (+ " X_K " (* -1 (value 1 {1*u -1})))))"
     "(exp (+ (cell x {1*u 0}) (* -1 (value 1 {1*u 0})))))",
     "(* (exp (* -1 (value 1 {1*u 0}))) (sum (k) ((>= {1*k 0}) (>= {1*u -1*k 0})) (exp " X_K ")))"},
    {"rescale_inverted", "(>= {1*u -1})",
     "(+ (* (sum (k) ((>= {1*k 0}) (>= {1*u -1*k -1})) (exp (+ " X_K
     " (* -1 (value 1 {1*u -1}))))) (exp (+ (value 1 {1*u 0}) (* -1 (value 1 {1*u -1})))))"
     "(exp (+ (cell x {1*u 0}) (* -1 (value 1 {1*u 0})))))",
     "(* (exp (* -1 (value 1 {1*u 0}))) (sum (k) ((>= {1*k 0}) (>= {1*u -1*k 0})) (exp " X_K ")))"},
    {"attention_of_another_row", "(>= {1*u -1})",
     "(+ (* (exp (* -1 (value 1 {1*u 0}))) (sum (k) ((>= {1*k 0}) (>= {1*u -1*k -1})) (* (exp " DOT
     ") (cell v {1*k 0} {1*j 0}))))"
     "(* (exp (+ (sum (e) ((>= {1*e 0}) (>= {-1*e 3})) (* (cell q {1*i 0} {1*e 0}) (cell x {1*u 0} "
     "{1*e 0}))) (* -1 (value 1 {1*u 0})))) (cell v {1*u 1} {1*j 0})))",
     "(sum (k) ((>= {1*k 0}) (>= {1*u -1*k 0})) (* (exp (+ " DOT
     " (* -1 (value 1 {1*u 0})))) (cell v {1*k 0} {1*j 0})))"},
    {"attention_with_short_product", "(>= {1*u -1})",
     "(+ (* (exp (* -1 (value 1 {1*u 0}))) (sum (k) ((>= {1*k 0}) (>= {1*u -1*k -1})) (* (exp " DOT
     ") (cell v {1*k 0} {1*j 0}))))"
     "(* (exp (+ (sum (e) ((>= {1*e 0}) (>= {-1*e 2})) (* (cell q {1*i 0} {1*e 0}) (cell x {1*u 0} "
     "{1*e 0}))) (* -1 (value 1 {1*u 0})))) (cell v {1*u 0} {1*j 0})))",
     "(sum (k) ((>= {1*k 0}) (>= {1*u -1*k 0})) (* (exp (+ " DOT
     " (* -1 (value 1 {1*u 0})))) (cell v {1*k 0} {1*j 0})))"},
    {"other_set_in_denominator", "(>= {1*n -1})",
     "(* " X_I " (^ (+ 1 (^ (sum (k) ((>= {1*k -1}) (>= {-1*k 1*n -1})) " X_K ") 2)) -1/2))",
     "(* " X_I " (^ (+ 1 (^ " SUM_N(X_K) " 2)) -1/2))"},
    {"other_set_in_exponent", "(>= {1*n -1})",
     "(exp (sum (k) ((>= {1*k -1}) (>= {-1*k 1*n -1})) " X_K "))", "(exp " SUM_N(X_K) ")"},
    {"index_at_some_points", "(>= {1*i 0})", "(cell x {4*[1*i 0/4] 0})", X_I},
    {"index_beyond_equality", "(= {1*i -1*j -1})", X_I, "(cell x {1*j 2})"},
    {"other_size", "(>= {1*n -1})", "(* {1*n 0} " X_I ")", "(* {1*m 0} " X_I ")"},
    {"rounding_moves", "", "(call round_to_bf16_to_f32 f32 (+ " X_I " " Y_I "))",
     "(+ (call round_to_bf16_to_f32 f32 " X_I ") (call round_to_bf16_to_f32 f32 " Y_I "))"},
    {"rounding_dropped", "", "(call round_to_bf16_to_f32 f32 " X_I ")", X_I},
    {"wrap_lost", "", "(wrap i8 (* (cell p {1*i 0}) (cell p {1*j 0})))",
     "(* (cell p {1*i 0}) (cell p {1*j 0}))"},
    {"wide_in_narrow", "", "(wrap i8 (cell w {1*i 0}))", "(cell w {1*i 0})"},
    {"wrap_of_half", "", "(wrap i8 (* 1/2 (wrap i8 (* 3 (cell p {1*i 0})))))",
     "(wrap i8 (* 3/2 (cell p {1*i 0})))"},
    {"wrap_of_real", "", "(wrap i8 (* " X_I " (wrap i8 (* 3 (cell p {1*i 0})))))",
     "(wrap i8 (* 3 " X_I " (cell p {1*i 0})))"},
    {"unsigned_in_signed", "", "(wrap i8 (cell b {1*i 0}))", "(cell b {1*i 0})"},
    {"another_monoid_over_less", "(>= {1*n -2})",
     "(fold prod_of_f32 f32 (k) " K_BELOW("1*n -1") " 1 " X_K ")",
     "(fold prod_of_f32 f32 (k) " K_BELOW("1*n -2") " 1 " X_K ")"},
    {"another_monoid_is_not_linear", "(>= {1*n -2})",
     "(fold prod_of_f32 f32 (k) " K_BELOW("1*n -1") " 1 (* 2 " X_K "))",
     "(* 2 (fold prod_of_f32 f32 (k) " K_BELOW("1*n -1") " 1 " X_K "))"},
    {"equation_of_another_cell", "", "(cell twice {1*j 0})", "(* 2 " X_I ")"},
    {"value_of_another_instance", "", "(value 2 {1*i 0})", "(value 2 {1*j 0})"},
    {"value_of_another_store", "", "(value 2 {1*i 0})", "(value 3 {1*i 0})"},
    {"unknown_value_may_be_infinite", "", "(* 0 (value 9 {1*i 0}))", "0"},
    {"variance_without_epsilon", "(>= {1*n -1})",
     "(* (^ " SUM_N("(^ (+ " X_K " (* -1 " X_I ")) 2)") " -1) " SUM_N("(^ (+ " X_K " (* -1 " X_I
                                                                      ")) 2)") ")",
     "(* 1 1)"},
    {"floor_is_not_linear", "", "(floor (* 1/2 {1*i 0}))", "(* 1/2 (floor {1*i 0}))"},
    {"minimum_for_maximum", "", "(max " X_I " " Y_I ")",
     "(* -1 (max (* -1 " X_I ") (* -1 " Y_I ")))"},
};

class TermTest : public testing::Test {
 protected:
  TermTest() : terms(meaning) {
    meaning.terms = &terms;
    meaning.types = {{"p", "i8"}, {"w", "i32"}, {"b", "u8"}};
    meaning.equations["twice"] = [this](const std::vector<Term>& at) {
      return terms.apply(TermKind::Product, {terms.number(2), terms.cell("x", at)});
    };
    meaning.equations["mean"] = [this](const std::vector<Term>&) {
      return terms.read("(* " SUM_N(X_K) " (^ {1*n 0} -1))");
    };
    // A running maximum, and a store that is -inf at first.
    meaning.claims[1] = [this](const std::vector<Term>& at) {
      const Term all =
          terms.read("(maximum (k) ((>= {1*k 0}) (>= {1*step -1*k 0})) (cell x {1*k 0} {0}))");
      const auto step = linear_of(at[0]);
      return terms.substituted(all, {{"step", *step + Linear(2)}});
    };
    meaning.claims[9] = [this](const std::vector<Term>&) { return terms.real(-HUGE_VAL); };
  }
  Conjunction where_of(const char* text) {
    Conjunction out;
    const std::string all = "(sum () (" + std::string(text) + ") 1)";
    return terms.read(all)->domain;
  }
  // At points of `where`: nothing if they agree at all that were tried.
  std::optional<std::string> difference(Term a, Term b, const Conjunction& where) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      Point at;
      at.meaning = &meaning;
      at.seed = seed;
      at.positive = seed % 4 == 0;
      const Int range = seed < 10 ? 4 : 12;
      std::uint64_t random = seed;
      for (int tries = 0; tries < 400; ++tries) {
        for (const char* name : {"n", "m", "i", "j", "u"}) {
          random = random * 6364136223846793005 + 1442695040888963407;
          at.names[name] = static_cast<Int>((random >> 33) % static_cast<std::uint64_t>(range)) - 2;
        }
        if (contains(where, at.names)) break;
      }
      if (!contains(where, at.names)) continue;
      const double x = value_of(a, at), y = value_of(b, at);
      if (!at.lost && !alike(x, y)) return std::to_string(x) + " and " + std::to_string(y);
    }
    return std::nullopt;
  }
  TestMeaning meaning;
  Terms terms;
};

class EqualTerms : public TermTest, public testing::WithParamInterface<Pair> {};
TEST_P(EqualTerms, AreShown) {
  const Conjunction where = where_of(GetParam().where);
  const Term a = terms.read(GetParam().left), b = terms.read(GetParam().right);
  EXPECT_FALSE(difference(a, b, where)) << *difference(a, b, where);
  EXPECT_TRUE(terms.equal(a, b, where));
  EXPECT_TRUE(terms.equal(b, a, where));
  EXPECT_LT(meaning.asked, 600);
}
INSTANTIATE_TEST_SUITE_P(All, EqualTerms, testing::ValuesIn(kEqual),
                         [](const auto& one) { return one.param.name; });

class DifferentTerms : public TermTest, public testing::WithParamInterface<Pair> {};
TEST_P(DifferentTerms, AreNotShown) {
  const Conjunction where = where_of(GetParam().where);
  const Term a = terms.read(GetParam().left), b = terms.read(GetParam().right);
  EXPECT_TRUE(difference(a, b, where)) << "no witness";
  EXPECT_FALSE(terms.equal(a, b, where));
  EXPECT_FALSE(terms.equal(b, a, where));
}
INSTANTIATE_TEST_SUITE_P(All, DifferentTerms, testing::ValuesIn(kDifferent),
                         [](const auto& one) { return one.param.name; });

TEST_F(TermTest, AreReadAsTheyArePrinted) {
  for (const auto* list : {kEqual, kDifferent})
    for (std::size_t i = 0; i < (list == kEqual ? std::size(kEqual) : std::size(kDifferent)); ++i)
      for (const char* text : {list[i].left, list[i].right}) {
        const Term term = terms.read(text);
        EXPECT_EQ(terms.read(terms.text(term)), term) << text;
      }
}

TEST_F(TermTest, OtherTextsAreRefused) {
  for (const char* text : {"",
                           "(",
                           ")",
                           "(+",
                           "(+)",
                           "(+ 1 2",
                           "(+ 1 2))",
                           "1 2",
                           "{",
                           "{}",
                           "{i}",
                           "{1*}",
                           "{1*i}",
                           "{1*i 2",
                           "{1*@1.0 0}",
                           "{1*%1 0}",
                           "{1*[1*i 0/0] 0}",
                           "{1*[1*i 0/-2] 0}",
                           "{9223372036854775808}",
                           "1/0",
                           "1/",
                           "--1",
                           "nan",
                           "(select 1 2)",
                           "(exp 1 2)",
                           "(^ 2)",
                           "(^ 2 x)",
                           "(wrap f32 1)",
                           "(wrap 1)",
                           "(value x {0})",
                           "(value 1 2)",
                           "(sum k () 1)",
                           "(sum (k) () )",
                           "(sum (k) () 1 2)",
                           "(sum (k) ((> {1*k 0})) 1)",
                           "(what 1)",
                           "(! 2)",
                           "(! (! (cell x {0})))",
                           "(& (cell x {0}))",
                           "(select 2 1 0)",
                           "(call f zz 1)",
                           "123456789012345678901234567890123456789012"})
    EXPECT_THROW(terms.read(text), Refused) << text;
  std::string deep, floors = "{";
  for (int i = 0; i < 100000; ++i) deep += "(exp ", floors += "1*[";
  EXPECT_THROW(terms.read(deep), Refused);
  EXPECT_THROW(terms.read(floors), Refused);
}

TEST_F(TermTest, NumbersThatLeave127BitsAreRefused) {
  Term big = terms.number(Rational(static_cast<Wide>(1) << 100));
  const Term term = terms.apply(TermKind::Product, {big, big, terms.cell("x", {})});
  EXPECT_THROW(terms.equal(term, terms.number(0), {}), Refused);
}

TEST_F(TermTest, WorkIsLimited) {
  TestMeaning other;
  Terms few(other, 200);
  EXPECT_THROW(few.equal(few.read("(^ (+ (cell x) (cell y) (cell z) 1) 4)"), few.number(0), {}),
               Refused);
}

TEST_F(TermTest, RealsAreExact) {
  for (const double value : {0.0, 1.0, -0.375, 1e-5, 0.1, 1e-12, 3e38, 1e-45, -1e300}) {
    Point at;
    EXPECT_EQ(value_of(terms.real(value), at), value);
    EXPECT_TRUE(terms.equal(terms.apply(TermKind::Sum, {terms.real(value), terms.cell("x", {})}),
                            terms.apply(TermKind::Sum, {terms.cell("x", {}), terms.real(value)}),
                            {}));
  }
  EXPECT_THROW(terms.real(NAN), Refused);
}

// A name that stands for an index with a bound variable's own name inside of another fold.
TEST_F(TermTest, NothingIsCaptured) {
  const Term inner = terms.read(
      "(sum (k) ((>= {1*k 0}) (>= {1*i -1*k 0})) (* (cell x {1*k 0}) (cell y {1*i 0})))");
  const Term once =
      terms.fold(TermKind::SumOver, {"i"}, where_of("(>= {1*i 0})(>= {-1*i 3})"), {inner});
  const Term whole = terms.read(
      "(sum (i) ((>= {1*i 0}) (>= {-1*i 3})) (sum (k) ((>= {1*k 0}) (>= {1*i -1*k 0})) (* (cell x "
      "{1*k 0}) (cell y {1*i 0}))))");
  EXPECT_EQ(once, whole);
  Point at;
  at.meaning = &meaning;
  double by_hand = 0;
  for (Int i = 0; i <= 3; ++i)
    for (Int k = 0; k <= i; ++k) {
      at.names = {{"i", i}, {"k", k}};
      by_hand += value_of(terms.read("(* (cell x {1*k 0}) (cell y {1*i 0}))"), at);
    }
  EXPECT_TRUE(alike(value_of(whole, at), by_hand));
}

TEST_F(TermTest, FiniteIsWhatIsFiniteAtAllPoints) {
  const std::pair<const char*, bool> terms_and_answers[] = {{X_I, true},
                                                            {"-inf", false},
                                                            {MAX_N(X_K), false},
                                                            {SUM_N(X_K), true},
                                                            {"(exp " X_I ")", true},
                                                            {"(^ " X_I " -1)", false},
                                                            {"(^ (exp " X_I ") -1)", true},
                                                            {"(^ " X_I " 1/2)", false},
                                                            {"(log " X_I ")", false},
                                                            {"(log (+ 1 (^ " X_I " 2)))", true},
                                                            {"(value 1 {0})", true},
                                                            {"(value 9 {0})", false},
                                                            {"(select (>= {1*i 0}) 1 -inf)", false},
                                                            {"(max -inf " X_I ")", true},
                                                            {"(exp -inf)", true},
                                                            {"(call tanh f32 " X_I ")", true},
                                                            {"(call f f32 " X_I ")", false},
                                                            {"(value 3 {0})", false}};
  for (const auto& [text, answer] : terms_and_answers)
    EXPECT_EQ(terms.finite(terms.read(text), {}), answer) << text;
  for (const char* text :
       {"(sum (k) ((>= {1*k 0})) " X_K ")", "(maximum (k) ((>= {1*k 0})) " X_K ")",
        "(sum (k l) ((>= {1*k -1*l 0}) (>= {-1*k 1*l 3})) " X_K ")"})
    EXPECT_FALSE(terms.finite(terms.read(text), {})) << text;
  EXPECT_TRUE(terms.finite(
      terms.read(
          "(sum (k l) ((>= {1*k -1*l 0}) (>= {-1*k 1*l 3}) (>= {1*l 0}) (>= {-1*l 1*n 0})) " X_K
          ")"),
      {}));
  EXPECT_TRUE(terms.finite(terms.read(MAX_N(X_K)), where_of("(>= {1*n -1})")));
  EXPECT_TRUE(terms.finite(terms.read("(^ {1*n 0} -1)"), where_of("(>= {1*n -1})")));
  EXPECT_FALSE(terms.finite(terms.read("(^ {1*n 0} -1)"), where_of("(>= {1*n 0})")));
}

// Random terms, and others made of them by laws or by faults: what is shown has equal values.
class Maker {
 public:
  Maker(Terms& terms, std::uint64_t seed) : terms_(terms), state_(seed * 2 + 1) {}
  std::uint64_t below(std::uint64_t n) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return (state_ >> 33) % n;
  }

  Term term(int depth, bool bound = false) {
    if (depth == 0 || below(6) == 0) return leaf(bound);
    const auto part = [&] { return term(depth - 1, bound); };
    switch (below(12)) {
      case 0:
      case 1: return terms_.apply(TermKind::Sum, {part(), part()});
      case 2:
      case 3: return terms_.apply(TermKind::Product, {part(), part()});
      case 4: return terms_.apply(TermKind::Exp, {leaf(bound)});
      case 5: return terms_.power(part(), below(2) ? Rational(2) : Rational(-1));
      case 6: return terms_.power(part(), Rational(below(2) ? 1 : -1, 2));
      case 7: return terms_.apply(TermKind::Max, {part(), part()});
      case 8: return terms_.apply(TermKind::Select, {condition(bound), part(), part()});
      case 9:
        return terms_.apply(TermKind::Select,
                            {terms_.apply(TermKind::Less, {part(), part()}), part(), part()});
      default: {
        if (bound) return part();
        const Term body = term(depth - 1, true);
        return terms_.fold(below(3) ? TermKind::SumOver : TermKind::MaxOver, {"k"}, domain(),
                           {body});
      }
    }
  }

 private:
  Linear index(bool bound) {
    const char* names[] = {"i", "n", bound ? "k" : "i"};
    return Linear::symbol(names[below(3)]) + Linear(static_cast<Int>(below(2)));
  }
  Term leaf(bool bound) {
    switch (below(8)) {
      case 0:
        return terms_.number(
            Rational(static_cast<Int>(below(5)) - 2, 1 + static_cast<Int>(below(2))));
      case 1: return terms_.index(index(bound));
      case 2: return below(2) ? terms_.real(-HUGE_VAL) : terms_.number(0);
      default: return terms_.cell(below(2) ? "x" : "y", {terms_.index(index(bound))});
    }
  }
  Term condition(bool bound) {
    return terms_.condition(index(bound) * (below(2) ? 1 : -1) + Linear(static_cast<Int>(below(4))),
                            below(3) == 0);
  }
  Conjunction domain() {
    const Linear k = Linear::symbol("k");
    Conjunction out{
        {}, {k, Linear::symbol(below(2) ? "n" : "i") - k - Linear(static_cast<Int>(below(2)))}};
    if (below(4) == 0) out.equal.push_back(k - floor_div(k, 2) * 2);
    return out;
  }
  Terms& terms_;
  std::uint64_t state_;
};

TEST_F(TermTest, WhatIsShownOfRandomTermsIsTrue) {
  const char* slow = std::getenv("TILEWRIGHT_SLOW_TESTS");
  const std::uint64_t count = slow ? 10000 : 60;
  const Conjunction where = where_of("(>= {1*i 1})(>= {1*n 0})");
  int shown = 0, unshown = 0;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Terms own(meaning);
    meaning.equations.clear();
    meaning.claims.clear();
    Maker make(own, seed);
    const Term a = make.term(3);
    // Of one term in itself, in another shape; or one that is near.
    const Term one = make.term(1), c = own.condition(Linear::symbol("i") - Linear(1), false);
    const Term others[] = {
        own.apply(TermKind::Sum, {a, one, own.apply(TermKind::Product, {own.number(-1), one})}),
        own.apply(TermKind::Product, {a, one, own.power(one, -1)}),
        own.apply(TermKind::Select, {c, a, own.apply(TermKind::Product, {own.number(1), a})}),
        own.apply(
            TermKind::Product,
            {own.apply(TermKind::Exp, {one}), a,
             own.apply(TermKind::Exp, {own.apply(TermKind::Product, {own.number(-1), one})})}),
        own.apply(TermKind::Max, {a, own.apply(TermKind::Sum, {a, own.number(0)})}),
        own.apply(TermKind::Sum,
                  {own.apply(TermKind::Product, {a, one}),
                   own.apply(TermKind::Product,
                             {a, own.apply(TermKind::Sum,
                                           {own.number(1), own.apply(TermKind::Product,
                                                                     {own.number(-1), one})})})}),
        own.substituted(a, {{"i", Linear::symbol("n")}}),
        make.term(2)};
    for (const Term b : others) {
      bool equal = false;
      try {
        equal = own.equal(a, b, where);
      } catch (const Refused&) {
      }
      (equal ? shown : unshown)++;
      if (!equal) continue;
      const auto differs = difference(a, b, where);
      EXPECT_FALSE(differs) << seed << ": " << own.text(a) << "\nand " << own.text(b) << "\n"
                            << *differs;
      if (differs) return;
    }
  }
  EXPECT_GT(shown, static_cast<int>(count));
  EXPECT_GT(unshown, static_cast<int>(count));
}

}  // namespace
}  // namespace tilewright::checker

// SPDX-License-Identifier: Apache-2.0
#include "lowering/rounding/formula.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <unordered_map>

namespace tilewright::rounding {

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
enum Kind {
  kNumber,
  kName,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kLarger,
  kSmaller,
  kExp,
  kExpm1,
  kRoot
};
constexpr double kUp = 1 + 0x1p-50;
}  // namespace

struct Formula::Node {
  int kind = kNumber;
  double value = 0;
  std::string name = {};
  std::shared_ptr<const Node> a = {};
  std::shared_ptr<const Node> b = {};
};

Formula::Formula(double value) : node_(std::make_shared<Node>(Node{kNumber, value})) {}

Formula Formula::name(std::string text) {
  return Formula(std::make_shared<Node>(Node{kName, 0, std::move(text)}));
}

bool Formula::is_number() const { return node_->kind == kNumber; }
double Formula::number() const { return node_->value; }

namespace {

// Upwards, but for what is taken off.
double computed(int kind, double a, double b) {
  switch (kind) {
    case kAdd: return a == 0 ? b : b == 0 ? a : (a + b) * kUp;
    case kSubtract: return (a - b) * (a > b ? 1 - 0x1p-50 : 1);
    case kMultiply: return a == 0 || b == 0 ? 0 : a == 1 ? b : b == 1 ? a : a * b * kUp;
    case kDivide: return a == 0 && b > 0 ? 0 : b > 0 ? a / b * kUp : kInf;
    case kLarger: return std::max(a, b);
    case kSmaller: return std::min(a, b);
    case kExp: return std::exp(a) * (1 + 0x1p-45);
    case kExpm1: return std::expm1(a) * (1 + 0x1p-45);
    default: return std::sqrt(std::max(a, 0.0)) * kUp;
  }
}

}  // namespace

Formula Formula::make(int kind, const Formula& a, const Formula& b) {
  if (a.is_number() && b.is_number()) return Formula(computed(kind, a.number(), b.number()));
  if (kind == kAdd && a.is_zero()) return b;
  if ((kind == kAdd || kind == kSubtract) && b.is_zero()) return a;
  if (kind == kMultiply && (a.is_zero() || b.is_zero())) return Formula(0.0);
  if (kind == kMultiply && a.is_number() && a.number() == 1) return b;
  if ((kind == kMultiply || kind == kDivide) && b.is_number() && b.number() == 1) return a;
  if (kind == kDivide && a.is_zero()) return a;
  if ((kind == kLarger || kind == kSmaller) && a.node_ == b.node_) return a;
  if (kind == kLarger && a.is_zero()) return b;
  if (kind == kLarger && b.is_zero()) return a;
  return Formula(std::make_shared<Node>(Node{kind, 0, {}, a.node_, b.node_}));
}

Formula operator+(const Formula& a, const Formula& b) { return Formula::make(kAdd, a, b); }
Formula operator*(const Formula& a, const Formula& b) {
  return b.is_number() ? Formula::make(kMultiply, b, a) : Formula::make(kMultiply, a, b);
}
Formula operator-(const Formula& a, const Formula& b) { return Formula::make(kSubtract, a, b); }
Formula operator/(const Formula& a, const Formula& b) { return Formula::make(kDivide, a, b); }
Formula Formula::larger(const Formula& a, const Formula& b) { return make(kLarger, a, b); }
Formula Formula::smaller(const Formula& a, const Formula& b) { return make(kSmaller, a, b); }
Formula Formula::exp(const Formula& a) { return make(kExp, a, a); }
Formula Formula::expm1(const Formula& a) { return make(kExpm1, a, a); }
Formula Formula::root(const Formula& a) { return make(kRoot, a, a); }

namespace {

// Formulas share their parts: each is evaluated once.
double value_of(const Formula::Node* node, const Names& names,
                std::unordered_map<const Formula::Node*, double>& known) {
  if (node->kind == kNumber) return node->value;
  if (node->kind == kName) {
    const auto found = names.find(node->name);
    return found == names.end() ? kInf : found->second;
  }
  if (const auto found = known.find(node); found != known.end()) return found->second;
  const double a = value_of(node->a.get(), names, known);
  const double b = node->a == node->b ? a : value_of(node->b.get(), names, known);
  const double out = computed(node->kind, a, b);
  const double kept = std::isnan(out) ? kInf : out;
  known.emplace(node, kept);
  return kept;
}

std::string number_text(double value) {
  char text[40];
  const double bits = std::log2(value);
  if (value > 0 && std::isfinite(bits) && bits == std::floor(bits) && std::fabs(bits) > 9)
    std::snprintf(text, sizeof text, "2^%d", static_cast<int>(bits));
  else
    std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace

double Formula::evaluate(const Names& names) const {
  std::unordered_map<const Node*, double> known;
  return value_of(node_.get(), names, known);
}

std::string Formula::text() const { return text(0); }

std::string Formula::text(int precedence) const {
  const auto part = [](const std::shared_ptr<const Node>& node, int own) {
    return Formula(node).text(own);
  };
  const auto infix = [&](const char* op, int own) {
    const std::string all = part(node_->a, own) + op + part(node_->b, own + 1);
    return own < precedence ? "(" + all + ")" : all;
  };
  const auto call = [&](const char* function, bool two) {
    return std::string(function) + "(" + part(node_->a, 0) + (two ? ", " + part(node_->b, 0) : "") +
           ")";
  };
  switch (node_->kind) {
    case kNumber: return number_text(node_->value);
    case kName: return node_->name;
    case kAdd: return infix(" + ", 1);
    case kSubtract: return infix(" - ", 1);
    case kMultiply: return infix("*", 2);
    case kDivide: return infix("/", 2);
    case kLarger: return call("max", true);
    case kSmaller: return call("min", true);
    case kExp: return call("exp", false);
    case kExpm1: return call("expm1", false);
    default: return call("sqrt", false);
  }
}

}  // namespace tilewright::rounding

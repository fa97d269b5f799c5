// SPDX-License-Identifier: Apache-2.0
//
// Expressions. Laws: the value is that of frontend/ir/evaluate.h; the arm that a select does not choose is not
// evaluated; a value that occurs more than once and is no trifle is computed once, under a name, so that the
// length of the text is that of the Program and not of its expressions written out as trees.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "frontend/ir/walk.h"
#include "lowering/targets/c/emit.h"

namespace tilewright::c_target {

namespace {

// Nested deeper than this, an operand gets a name: compilers limit the brackets that they accept.
constexpr int kDeepText = 12;

bool is_index_sum(OpCode op) {
  return op == OpCode::Add || op == OpCode::Sub || op == OpCode::Mul || op == OpCode::Neg;
}

// Whether C would compute it as int: literals, and what is made of them alone.
bool is_narrow(Expr expr) {
  if (expr.as<ir::IntConst>()) return true;
  if (const auto* select = expr.as<ir::Select>())
    return is_narrow(select->then_value) && is_narrow(select->else_value);
  const auto* op = expr.as<ir::Op>();
  return op != nullptr && is_index_sum(op->op) &&
         std::all_of(op->args.begin(), op->args.end(), [](Expr arg) { return is_narrow(arg); });
}

bool keeps_grid(OpCode op) {
  switch (op) {
    case OpCode::Neg:
    case OpCode::Abs:
    case OpCode::Min:
    case OpCode::Max:
    case OpCode::Floor:
    case OpCode::Ceil:
    case OpCode::Rint: return true;
    default: return false;
  }
}

const char* comparison(OpCode op) {
  switch (op) {
    case OpCode::Eq: return "==";
    case OpCode::Ne: return "!=";
    case OpCode::Lt: return "<";
    case OpCode::Le: return "<=";
    case OpCode::Gt: return ">";
    case OpCode::Ge: return ">=";
    default: return nullptr;
  }
}

std::string float_literal(double value, bool is_double) {
  char buffer[64];
  const auto done = is_double
                        ? std::to_chars(buffer, buffer + sizeof(buffer), value)
                        : std::to_chars(buffer, buffer + sizeof(buffer), static_cast<float>(value));
  std::string text(buffer, done.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + (is_double ? "" : "f");
}

std::string integer_literal(std::int64_t value) {
  if (value == INT64_MIN) return "INT64_MIN";
  const bool small = value >= -INT32_MAX && value <= INT32_MAX;
  return small ? std::to_string(value) : "INT64_C(" + std::to_string(value) + ")";
}

// Nodes of the expression as a tree, as far as it matters.
int weight(Expr expr, int enough) {
  int total = 0;
  ir::for_each_child(expr, [&](Expr child) {
    if (total < enough) total += weight(child, enough - total);
  });
  return total + 1;
}

}  // namespace

std::optional<TypeForm> type_form(ScalarType type) {
  switch (type) {
    case ScalarType::Bool: return TypeForm{"bool", "uint8_t", "tw_workspace_u8", "bool"};
    case ScalarType::I4: return TypeForm{"int8_t", "int8_t", "tw_workspace_i8", "i4"};
    case ScalarType::I8: return TypeForm{"int8_t", "int8_t", "tw_workspace_i8", "i8"};
    case ScalarType::I16: return TypeForm{"int16_t", "int16_t", "tw_workspace_i16", "i16"};
    case ScalarType::U4: return TypeForm{"uint8_t", "uint8_t", "tw_workspace_u8", "u4"};
    case ScalarType::U8: return TypeForm{"uint8_t", "uint8_t", "tw_workspace_u8", "u8"};
    case ScalarType::U16: return TypeForm{"uint16_t", "uint16_t", "tw_workspace_u16", "u16"};
    case ScalarType::U32: return TypeForm{"uint32_t", "uint32_t", "tw_workspace_u32", "u32"};
    case ScalarType::U64: return TypeForm{"uint64_t", "uint64_t", "tw_workspace_u64", "u64"};
    case ScalarType::I32: return TypeForm{"int32_t", "int32_t", "tw_workspace_i32", "i32"};
    case ScalarType::Index:
    case ScalarType::I64: return TypeForm{"int64_t", "int64_t", "tw_workspace_i64", "i64"};
    case ScalarType::BF16:
    case ScalarType::F16: return TypeForm{"float", "uint16_t", "tw_workspace_u16", "f32"};
    case ScalarType::F4E2M1:
    case ScalarType::F6E2M3:
    case ScalarType::F6E3M2:
    case ScalarType::F8E4M3:
    case ScalarType::F8E5M2:
    case ScalarType::F8E8M0: return TypeForm{"float", "uint8_t", "tw_workspace_u8", "f32"};
    case ScalarType::TF32:
    case ScalarType::F32: return TypeForm{"float", "float", "tw_workspace_f32", "f32"};
    case ScalarType::F64: return TypeForm{"double", "double", "tw_workspace_f64", "f64"};
    default: return std::nullopt;
  }
}

std::string Body::suffix(ScalarType type) {
  const auto form = type_form(type);
  if (!form)
    refuse("the C target has no form for `" + std::string(ir::type_text(type)) + "`",
           "build for another target, or cast to a type that C has");
  return form ? std::string(form->suffix) : "i32";
}

std::string Body::name_of(Symbol name) {
  std::string text = names_.of(name);
  used_.insert(text);
  return text;
}

// ---- names for what occurs again ----

void Body::count_uses(Expr expr) {
  if (++uses_[expr] > 1) return;
  ir::for_each_child(expr, [&](Expr child) { count_uses(child); });
}

void Body::begin_statement(std::span<const Expr> roots) {
  memo_.clear();
  uses_.clear();
  for (Expr root : roots)
    if (root) count_uses(root);
}

bool Body::wants_name(Expr expr) {
  constexpr int kTrifle = 4;
  if (weight(expr, kTrifle) < kTrifle) return false;
  const auto found = uses_.find(expr);
  return text_depth_ > kDeepText || (found != uses_.end() && found->second > 1);
}

std::string Body::value(Expr expr, int precedence) {
  if (auto it = memo_.find(expr); it != memo_.end()) return it->second;
  if (wants_name(expr)) {
    const int depth = std::exchange(text_depth_, 0);
    const Text text = text_of(expr);
    text_depth_ = depth;
    const auto form = type_form(expr.type());
    const std::string name = names_.fresh("t");
    lines().add("const " + std::string(form ? form->value : "int") + " " + name + " = " +
                text.text + ";");
    memo_[expr] = name;
    return name;
  }
  ++text_depth_;
  const Text text = text_of(expr);
  --text_depth_;
  return text.precedence < precedence ? "(" + text.text + ")" : text.text;
}

std::string Body::checked_value(Expr expr, const std::string& overflow) {
  const Expr roots[] = {expr};
  begin_statement(roots);
  overflow_ = &overflow;
  std::string text = value(expr);
  overflow_ = nullptr;
  return text;
}

// ---- kinds ----

Text Body::text_of(Expr expr) {
  suffix(expr.type());  // refuses what C has no form for
  return ir::visit(
      expr, ir::Overloaded{[&](const ir::IntConst&) { return constant(expr); },
                           [&](const ir::FloatConst&) { return constant(expr); },
                           [&](const ir::BoolConst&) { return constant(expr); },
                           [&](const ir::Var& v) { return Text{name_of(v.name), kPrimary}; },
                           [&](const ir::Extent& e) { return Text{name_of(e.name), kPrimary}; },
                           [&](const ir::Read& read) { return load(read); },
                           [&](const ir::Op& op) { return op_text(op); },
                           [&](const ir::Select& s) { return select(s); },
                           [&](const ir::Cast& c) {
                             return cast(value(c.value, kUnary), c.value.type(), c.type);
                           },
                           [&](const ir::RoundTo& r) { return round_to(r); },
                           [&](const ir::Saturate& s) { return saturate(s); },
                           [&](const auto&) {
                             refuse("the C target has no code for this kind of expression",
                                    "build for another target");
                             return Text{"0", kPrimary};
                           }});
}

Text Body::constant(Expr expr) {
  if (const auto* c = expr.as<ir::BoolConst>()) return {c->value ? "true" : "false", kPrimary};
  if (const auto* c = expr.as<ir::IntConst>())
    return {expr.type() == ScalarType::U64
                ? "UINT64_C(" + std::to_string(static_cast<std::uint64_t>(c->value)) + ")"
                : integer_literal(c->value),
            c->value < 0 && expr.type() != ScalarType::U64 ? kUnary : kPrimary};
  const auto* c = expr.as<ir::FloatConst>();
  const bool is_double = expr.type() == ScalarType::F64;
  if (std::isfinite(c->value))
    return {float_literal(c->value, is_double), std::signbit(c->value) ? kUnary : kPrimary};
  std::string bits = std::isnan(c->value) ? "7ff8" : c->value > 0 ? "7ff0" : "fff0";
  if (is_double)
    return {helper("tw_from_bits_f64") + "(UINT64_C(0x" + bits + "000000000000))", kPrimary};
  bits = std::isnan(c->value) ? "7fc0" : c->value > 0 ? "7f80" : "ff80";
  const char* remark = std::isnan(c->value) ? " /* nan */"
                       : c->value > 0       ? " /* inf */"
                                            : " /* -inf */";
  return {helper("tw_from_bits_f32") + "(0x" + bits + "0000u" + remark + ")", kPrimary};
}

Text Body::infix(const char* op, int precedence, Expr a, Expr b) {
  const std::string left = value(a, precedence);
  return {left + " " + op + " " + value(b, precedence + 1), precedence};
}

Text Body::call(const std::string& name, std::span<const Expr> args) {
  std::string text = name + "(";
  for (std::size_t i = 0; i < args.size(); ++i) text += (i == 0 ? "" : ", ") + value(args[i]);
  return {text + ")", kPrimary};
}

Text Body::op_text(const ir::Op& op) {
  const ScalarType type = op.args[0].type();
  if (const char* compares = comparison(op.op)) {
    const std::string left = value(op.args[0], kSum);
    return {left + " " + compares + " " + value(op.args[1], kSum),
            op.op == OpCode::Eq || op.op == OpCode::Ne ? kEqual : kRelation};
  }
  if (type == ScalarType::Bool) {
    // Where overflow counts, both sides are looked at.
    const bool both = overflow_ != nullptr;
    switch (op.op) {
      case OpCode::Or:
      case OpCode::And: {
        const char* word = op.op == OpCode::Or ? (both ? " | " : " || ") : (both ? " & " : " && ");
        const int own = op.op == OpCode::Or ? (both ? kBitOr : kOr) : (both ? kBitAnd : kAnd);
        const auto side = [&](Expr arg) {
          const auto* same = arg.as<ir::Op>();
          const bool nested = same && same->op == op.op && !memo_.contains(arg);
          return value(arg, nested ? own : both ? kUnary : kEqual);
        };
        const std::string left = side(op.args[0]);
        return {left + word + side(op.args[1]), own};
      }
      case OpCode::Not: return {"!" + value(op.args[0], kUnary), kUnary};
      default: break;
    }
  }
  if (ir::is_float(type)) return float_op(op);
  return type == ScalarType::Index ? index_op(op) : integer_op(op);
}

// Index arithmetic is that of the integers; that 64 bits hold it is shown elsewhere, or told by overflow_.
Text Body::index_op(const ir::Op& op) {
  if (overflow_ != nullptr &&
      (op.op == OpCode::Add || op.op == OpCode::Sub || op.op == OpCode::Mul)) {
    const char* name = op.op == OpCode::Add   ? "tw_checked_add"
                       : op.op == OpCode::Sub ? "tw_checked_sub"
                                              : "tw_checked_mul";
    const std::string left = value(op.args[0]);
    return {helper(name) + "(" + left + ", " + value(op.args[1]) + ", &" + *overflow_ + ")",
            kPrimary};
  }
  const bool narrow = is_index_sum(op.op) && is_narrow(Expr(&op));
  const auto sum = [&](const char* text, int precedence) {
    Text out = infix(text, precedence, op.args[0], op.args[1]);
    if (narrow)
      out.text = "(int64_t)" + value(op.args[0], kUnary) + " " + text + " " +
                 value(op.args[1], precedence + 1);
    return out;
  };
  switch (op.op) {
    case OpCode::Add: return sum("+", kSum);
    case OpCode::Sub: return sum("-", kSum);
    case OpCode::Mul: return sum("*", kProduct);
    case OpCode::Neg:
      if (overflow_ == nullptr) return {"-" + value(op.args[0], kPrimary), kUnary};
      return integer_op(op);
    default: return integer_op(op);
  }
}

Text Body::integer_op(const ir::Op& op) {
  const std::string type = suffix(op.args[0].type());
  const bool is_unsigned = ir::is_unsigned(op.args[0].type());
  switch (op.op) {
    case OpCode::BitAnd: return call(helper("tw_and_" + type), op.args);
    case OpCode::BitOr: return call(helper("tw_or_" + type), op.args);
    case OpCode::BitXor: return call(helper("tw_xor_" + type), op.args);
    case OpCode::BitNot: return call(helper("tw_not_" + type), op.args);
    case OpCode::ShiftLeft: return call(helper("tw_shift_left_" + type), op.args);
    case OpCode::ShiftRight:
      return call(helper((is_unsigned ? "tw_ushift_right_" : "tw_shift_right_") + type), op.args);
    case OpCode::RandomBits: {
      const Text bits = call(helper("tw_threefry"), op.args);
      if (op.args[0].type() == ScalarType::U64) return bits;
      return {"(uint32_t)" + bits.text, kUnary};
    }
    case OpCode::Add: return call(helper("tw_add_" + type), op.args);
    case OpCode::Sub: return call(helper("tw_sub_" + type), op.args);
    case OpCode::Mul: return call(helper("tw_mul_" + type), op.args);
    case OpCode::Div: return call(helper((is_unsigned ? "tw_udiv_" : "tw_div_") + type), op.args);
    case OpCode::Mod: return call(helper((is_unsigned ? "tw_umod_" : "tw_mod_") + type), op.args);
    case OpCode::Neg: return call(helper("tw_neg_" + type), op.args);
    case OpCode::Min: return call(helper("tw_min_" + type), op.args);
    case OpCode::Max: return call(helper("tw_max_" + type), op.args);
    case OpCode::Abs:
      if (is_unsigned) return {value(op.args[0], kUnary), kUnary};
      return call(helper("tw_magnitude_" + type), op.args);
    case OpCode::Fma: {
      const std::string add = helper("tw_add_" + type);
      const std::string mul = helper("tw_mul_" + type);
      const std::string a = value(op.args[0]);
      const std::string b = value(op.args[1]);
      return {add + "(" + mul + "(" + a + ", " + b + "), " + value(op.args[2]) + ")", kPrimary};
    }
    default:
      refuse("the C target has no `" + std::string(ir::op_info(op.op).text) + "` on integers",
             "cast to a float type first");
      return {"0", kPrimary};
  }
}

Text Body::float_op(const ir::Op& op) {
  const ScalarType type = op.args[0].type();
  const std::string kind = suffix(type);
  Text out;
  switch (op.op) {
    case OpCode::Add: out = infix("+", kSum, op.args[0], op.args[1]); break;
    case OpCode::Sub: out = infix("-", kSum, op.args[0], op.args[1]); break;
    case OpCode::Mul: out = infix("*", kProduct, op.args[0], op.args[1]); break;
    case OpCode::Div: out = infix("/", kProduct, op.args[0], op.args[1]); break;
    case OpCode::Neg: out = {"-" + value(op.args[0], kPrimary), kUnary}; break;
    case OpCode::Abs: out = call(helper("tw_abs_" + kind), op.args); break;
    case OpCode::Min: out = call(helper("tw_min_" + kind), op.args); break;
    case OpCode::Max: out = call(helper("tw_max_" + kind), op.args); break;
    case OpCode::Fma: out = call(helper("tw_fma_" + kind), op.args); break;
    case OpCode::Floor: out = call(helper("tw_floor_" + kind), op.args); break;
    case OpCode::Ceil: out = call(helper("tw_ceil_" + kind), op.args); break;
    case OpCode::Rint: out = call(helper("tw_rint_" + kind), op.args); break;
    case OpCode::Sqrt: out = call(helper("tw_sqrt_" + kind), op.args); break;
    default: {
      const std::string name = math_function(state_, op.op, type == ScalarType::F64);
      if (name.empty())
        refuse("the C target has no `" + std::string(ir::op_info(op.op).text) + "`",
               "build for another target");
      out = call(name, op.args);
    }
  }
  // An operation of a narrower type is that of f32 rounded once more; some stay on the grid by themselves.
  if (keeps_grid(op.op) || type == ScalarType::F32 || type == ScalarType::F64) return out;
  return {round_to_grid(out.text, ScalarType::F32, type), kPrimary};
}

// ---- memory ----

// Row-major, by Horner's rule: (i * K + k) * N + n.
std::string Body::place(const Buffer& buffer, std::span<const Expr> indices) {
  std::string text;
  int precedence = kPrimary;
  bool narrow = true;
  // `extent` is empty before the first index that is not 0.
  const auto step = [&](const std::string& extent, bool extent_is_narrow, const std::string& index,
                        bool index_is_narrow) {
    if (!text.empty() && extent != "1") {
      const bool bare = precedence >= kProduct || text.find(' ') == std::string::npos;
      text = (bare ? text : "(" + text + ")") + " * " + extent;
      if (narrow && extent_is_narrow) text = "(int64_t)" + text;
      narrow = false;
      precedence = kProduct;
    }
    if (index == "0") return;
    if (text.empty()) {
      text = index;
      narrow = index_is_narrow;
      precedence = kSum;
    } else {
      text += index[0] == '-' ? " - " + index.substr(1) : " + " + index;
      narrow = false;
      precedence = kSum;
    }
  };
  for (std::size_t d = 0; d < indices.size(); ++d)
    step(text.empty() ? "" : value(buffer.extents[d], kUnary), is_narrow(buffer.extents[d]),
         value(indices[d], text.empty() ? kSum : kProduct), is_narrow(indices[d]));
  if (buffer.private_lanes > 1)
    step(std::to_string(buffer.private_lanes), true, lane_number(), false);
  if (buffer.step > 1) step(std::to_string(buffer.step), true, std::to_string(buffer.first), true);
  return text.empty() ? "0" : text;
}

std::string Body::cell(const Buffer& buffer, std::span<const Expr> indices) {
  return buffer.base + "[" + place(buffer, indices) + "]";
}

Text Body::load(const ir::Read& read) {
  const auto it = buffers_.find(read.tensor);
  if (it == buffers_.end()) {
    refuse("buffer `" + std::string(read.tensor.text()) + "` is not in scope",
           "this is a defect of Tilewright: please report it with the program");
    return {"0", kPrimary};
  }
  used_.insert(it->second.base);
  if (it->second.packed)
    return from_memory(
        helper("tw_nibble") + "(" + it->second.base + ", " + place(it->second, read.indices) + ")",
        it->second);
  return from_memory(cell(it->second, read.indices), it->second);
}

// ---- choice ----

// An arm that needs lines of its own makes the choice a statement.
Text Body::select(const ir::Select& s) {
  const std::string condition = value(s.condition, kOr);
  if (overflow_ != nullptr && s.type != ScalarType::Bool) {
    const std::string a = value(s.then_value);
    return {helper("tw_choose_" + suffix(s.type)) + "(" + condition + ", " + a + ", " +
                value(s.else_value) + ")",
            kPrimary};
  }
  Lines* outer = out_;
  Lines arms[2];
  std::string values[2];
  for (int arm = 0; arm < 2; ++arm) {
    const auto memo = memo_;
    arms[arm].set_depth(outer->depth() + 1);
    out_ = &arms[arm];
    values[arm] = value(arm == 0 ? s.then_value : s.else_value, kConditional + (arm == 0));
    memo_ = memo;
  }
  out_ = outer;
  if (arms[0].empty() && arms[1].empty())
    return {condition + " ? " + values[0] + " : " + values[1], kConditional};
  const auto form = type_form(s.type);
  const std::string name = names_.fresh("t");
  lines().add(std::string(form ? form->value : "int") + " " + name + ";");
  lines().open("if (" + condition + ") {");
  lines().append(arms[0]);
  lines().add(name + " = " + values[0] + ";");
  lines().turn();
  lines().append(arms[1]);
  lines().add(name + " = " + values[1] + ";");
  lines().close();
  return {name, kPrimary};
}

}  // namespace tilewright::c_target

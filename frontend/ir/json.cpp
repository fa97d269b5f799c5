// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/json.h"

#include <bit>
#include <cmath>
#include <limits>

#include "frontend/base/format.h"
#include "frontend/ir/declarations_json.h"
#include "frontend/ir/expr_syntax.h"
#include "frontend/ir/json_fields.h"
#include "frontend/ir/verify.h"

namespace tilewright::ir {

namespace {

constexpr std::string_view kKinds[] = {
#define TILEWRIGHT_EXPR(name) #name,
#include "frontend/ir/expr_kinds.def"
#undef TILEWRIGHT_EXPR
};

}  // namespace

Json FieldWriter::value(Expr expr) const {
  Json json = Json::object();
  json.set("kind", kKinds[static_cast<int>(expr.kind())]);
  json.set("type", type_text(expr.type()));
  visit(expr, [&](const auto& node) { write_fields(*this, node, json); });
  return json;
}

Json FieldWriter::value(double number) const {
  return std::isfinite(number) ? Json(number) : Json(format_double(number));
}

bool FieldReader::refuse(const std::string& message) {
  std::string path;
  for (const std::string& part : path_) path += (path.empty() ? "" : ".") + part;
  if (failure_.diagnostics.empty())
    failure_ = Failure{{Diagnostic{Code::BadJson,
                                   {},
                                   message,
                                   "`tilewright opt --json` shows the form that is read",
                                   {},
                                   {{"path", path.empty() ? "the root" : path}}}}};
  return false;
}

bool FieldReader::read(const Json& json, Symbol& out) {
  const std::string* text = json.as_string();
  if (!text) return refuse("a name is needed here");
  out = context_.symbol(*text);
  return true;
}

bool FieldReader::read(const Json& json, ScalarType& out) {
  const std::string* text = json.as_string();
  const auto type = text ? parse_type(*text) : std::nullopt;
  if (!type) return refuse("a type such as `f32` is needed here");
  out = *type;
  return true;
}

bool FieldReader::read(const Json& json, OpCode& out) {
  const std::string* text = json.as_string();
  for (int i = 0; text && i < kNumOps; ++i)
    if (op_info(static_cast<OpCode>(i)).name == *text) {
      out = static_cast<OpCode>(i);
      return true;
    }
  return refuse("an operation such as `Add` is needed here");
}

bool FieldReader::read(const Json& json, Monoid& out) {
  const std::string* text = json.as_string();
  const Monoid monoid = text ? monoid_of_name(*text) : Monoid::Declared;
  if (monoid == Monoid::Declared) return refuse("a reduction such as `sum` is needed here");
  out = monoid;
  return true;
}

bool FieldReader::read(const Json& json, std::int64_t& out) {
  if (!json.as_integer()) return refuse("an integer is needed here");
  out = *json.as_integer();
  return true;
}

bool FieldReader::read(const Json& json, bool& out) {
  if (!json.as_bool()) return refuse("`true` or `false` is needed here");
  out = *json.as_bool();
  return true;
}

bool FieldReader::read(const Json& json, double& out) {
  if (const double* number = json.as_double()) {
    out = *number;
  } else if (const auto* integer = json.as_integer()) {
    out = static_cast<double>(*integer);
  } else if (const std::string* text = json.as_string(); text && *text == "nan") {
    out = std::numeric_limits<double>::quiet_NaN();
  } else if (text && (*text == "inf" || *text == "-inf")) {
    out = *text == "inf" ? std::numeric_limits<double>::infinity()
                         : -std::numeric_limits<double>::infinity();
  } else {
    return refuse("a number, or \"nan\", \"inf\", \"-inf\", is needed here");
  }
  return true;
}

// Makes each kind through the context's builders after checking what they assert. A kind without an
// overload does not compile.
struct ExprBuilder {
  FieldReader& reader;
  Context& context = reader.context();

  Expr refuse(const std::string& message) {
    reader.refuse(message);
    return {};
  }
  Expr typed(Expr expr, ScalarType type) {
    return expr.type() == type ? expr : refuse("the type is not that of the value");
  }

  Expr operator()(const IntConst& n) {
    if ((n.type != ScalarType::Index && !is_integer(n.type)) ||
        wrap_to_type(n.type, n.value) != n.value)
      return refuse("the integer does not fit its type");
    return context.integer(n.type, n.value);
  }
  Expr operator()(const FloatConst& n) {
    if (!is_float(n.type)) return refuse("a float constant has a float type");
    if (std::isnan(n.value) ? !has_nan(n.type)
                            : std::bit_cast<std::uint64_t>(round_to_type(n.type, n.value)) !=
                                  std::bit_cast<std::uint64_t>(n.value))
      return refuse("the number is not on the grid of its type");
    return context.real(n.type, n.value);
  }
  Expr operator()(const BoolConst& n) { return typed(context.boolean(n.value), n.type); }
  Expr operator()(const Var& n) { return context.var(n.name, n.type); }
  Expr operator()(const Extent& n) { return typed(context.extent(n.name), n.type); }
  Expr operator()(const Read& n) {
    for (Expr index : n.indices)
      if (index.type() != ScalarType::Index) return refuse("an index has type `index`");
    return context.read(n.tensor, n.indices, n.type);
  }
  Expr operator()(const Op& n) {
    ScalarType type = ScalarType::Index;
    if (!op_type(n.op, n.args, &type))
      return refuse(in_backticks(op_info(n.op).name) + " does not take these operands");
    return type == n.type ? context.op(n.op, n.args) : refuse("the type is not that of the value");
  }
  Expr operator()(const Select& n) {
    if (n.condition.type() != ScalarType::Bool || n.then_value.type() != n.else_value.type())
      return refuse("a select has a `bool` condition and arms of one type");
    return typed(context.select(n.condition, n.then_value, n.else_value), n.type);
  }
  Expr operator()(const Cast& n) {
    if (!casts(n.value.type(), n.type)) return refuse("there is no such conversion");
    return context.cast(n.type, n.value);
  }
  Expr operator()(const Saturate& n) {
    if (!saturates(n.value.type(), n.type)) return refuse("`saturate` makes integers and floats");
    return context.saturate(n.type, n.value);
  }
  Expr operator()(const RoundTo& n) {
    if (!is_float(n.grid) || !op_accepts(OpCode::Rint, n.value.type()))
      return refuse("`round_to` takes floats");
    return typed(context.round_to(n.grid, n.value), n.type);
  }
  Expr operator()(const Fold& n) {
    if (n.body.empty()) return refuse("a fold has a term");
    if (n.vars.empty() ||
        (!n.scan && (n.vars.size() != n.lower.size() || n.vars.size() != n.upper.size())))
      return refuse("a fold has two bounds for each variable");
    for (NodeList<Expr> bounds : {n.lower, n.upper, n.at})
      for (Expr bound : bounds)
        if (bound.type() != ScalarType::Index) return refuse("a bound has type `index`");
    return typed(context.fold(n), n.type);
  }
};

bool FieldReader::read(const Json& json, Expr& out) {
  const Json* kind = json.find("kind");
  const std::string* name = kind ? kind->as_string() : nullptr;
  if (!name) return refuse("an expression with a `kind` is needed here");
  ScalarType type = ScalarType::Index;
  if (!member(*this, json, "type", type)) return false;
#define TILEWRIGHT_EXPR(Kind)                          \
  if (*name == #Kind) {                                \
    Kind node;                                         \
    node.type = type;                                  \
    if (!read_fields(*this, json, node)) return false; \
    out = ExprBuilder{*this}(node);                    \
    return static_cast<bool>(out);                     \
  }
#include "frontend/ir/expr_kinds.def"
#undef TILEWRIGHT_EXPR
  return refuse(in_backticks(*name) + " is no kind of expression");
}

Json to_json(Expr expr) { return FieldWriter().value(expr); }

namespace {

template <class T>
Json list_json(const std::vector<T>& values) {
  Json out = Json::array();
  for (const T& value : values) out.push(FieldWriter().value(value));
  return out;
}

Json monoid_json(const MonoidDecl& monoid) {
  Json out = Json::object();
  out.set("name", monoid.name.text());
  out.set("fields", list_json(monoid.fields));
  out.set("types", list_json(monoid.types));
  out.set("commutative", monoid.commutative);
  out.set("identity", list_json(monoid.identity));
  out.set("left", monoid.left.text());
  out.set("right", monoid.right.text());
  out.set("combine", list_json(monoid.combine));
  return out;
}

Json loop_json(const Loop& loop) {
  Json out = Json::object();
  out.set("var", loop.var.text());
  out.set("trips", to_json(loop.trips));
  if (loop.condition) out.set("while", to_json(loop.condition));
  Json carries = Json::array();
  for (const Carry& carry : loop.carries) {
    Json one = Json::object();
    one.set("name", carry.name.text());
    one.set("start", carry.start.text());
    one.set("next", carry.next.text());
    carries.push(std::move(one));
  }
  out.set("carry", std::move(carries));
  out.set("first", static_cast<std::int64_t>(loop.first));
  out.set("last", static_cast<std::int64_t>(loop.last));
  return out;
}

}  // namespace

Json to_json(const Algorithm& algorithm) {
  Json json = Json::object();
  json.set("format", "tilewright.algorithm");
  json.set("version", 1);
  json.set("name", algorithm.name.text());
  write_declarations(json, algorithm.extents, algorithm.requirements);
  if (!algorithm.monoids.empty()) {
    Json monoids = Json::array();
    for (const MonoidDecl& monoid : algorithm.monoids) monoids.push(monoid_json(monoid));
    json.set("monoids", std::move(monoids));
  }
  Json inputs = Json::array();
  for (const Input& input : algorithm.inputs) {
    Json one = tensor_json(input.name, input.type, input.shape);
    write_facts(one, input.facts);
    if (input.is_const) one.set("const", true);
    inputs.push(std::move(one));
  }
  json.set("inputs", std::move(inputs));
  Json equations = Json::array();
  for (const Equation& equation : algorithm.equations) {
    Json one = tensor_json(equation.name, equation.type, equation.shape);
    Json indices = Json::array();
    for (Symbol index : equation.indices) indices.push(Json(index.text()));
    one.set("indices", std::move(indices));
    one.set("output", equation.is_output);
    if (equation.is_view) one.set("view", true);
    if (equation.into.valid()) one.set("into", equation.into.text());
    if (!equation.parts.empty()) {
      Json parts = Json::array();
      for (const TensorPart& part : equation.parts) {
        Json json_part = Json::object();
        json_part.set("name", part.name.text());
        json_part.set("type", type_text(part.type));
        parts.push(std::move(json_part));
      }
      one.set("parts", std::move(parts));
    }
    one.set("value", to_json(equation.value));
    equations.push(std::move(one));
  }
  json.set("equations", std::move(equations));
  if (!algorithm.loops.empty()) {
    Json loops = Json::array();
    for (const Loop& loop : algorithm.loops) loops.push(loop_json(loop));
    json.set("loops", std::move(loops));
  }
  return json;
}

namespace {

class AlgorithmReader : public DeclarationReader {
 public:
  using DeclarationReader::DeclarationReader;
  using DeclarationReader::read;

  bool read(const Json& json, Input& out) {
    return member(*this, json, "name", out.name) && member(*this, json, "type", out.type) &&
           list(*this, json, "shape", out.shape) && read_facts(json, out.facts) &&
           (!json.find("const") || member(*this, json, "const", out.is_const));
  }
  bool read(const Json& json, Equation& out) {
    return member(*this, json, "name", out.name) && member(*this, json, "type", out.type) &&
           list(*this, json, "shape", out.shape) && list(*this, json, "indices", out.indices) &&
           member(*this, json, "output", out.is_output) &&
           (!json.find("view") || member(*this, json, "view", out.is_view)) &&
           (!json.find("into") || member(*this, json, "into", out.into)) &&
           (!json.find("parts") || list(*this, json, "parts", out.parts)) &&
           member(*this, json, "value", out.value);
  }
  bool read(const Json& json, TensorPart& out) {
    return member(*this, json, "name", out.name) && member(*this, json, "type", out.type);
  }
  bool read(const Json& json, Carry& out) {
    return member(*this, json, "name", out.name) && member(*this, json, "start", out.start) &&
           member(*this, json, "next", out.next);
  }
  bool read(const Json& json, Loop& out) {
    std::int64_t first = 0;
    std::int64_t last = 0;
    if (!member(*this, json, "var", out.var) || !member(*this, json, "trips", out.trips) ||
        (json.find("while") && !member(*this, json, "while", out.condition)) ||
        !list(*this, json, "carry", out.carries) || !member(*this, json, "first", first) ||
        !member(*this, json, "last", last))
      return false;
    if (first < 0 || last < 0) return refuse("the equations of a loop are counted from 0");
    out.first = static_cast<std::size_t>(first);
    out.last = static_cast<std::size_t>(last);
    return true;
  }
  bool read(const Json& json, MonoidDecl& out) {
    return member(*this, json, "name", out.name) && list(*this, json, "fields", out.fields) &&
           list(*this, json, "types", out.types) &&
           member(*this, json, "commutative", out.commutative) &&
           list(*this, json, "identity", out.identity) && member(*this, json, "left", out.left) &&
           member(*this, json, "right", out.right) && list(*this, json, "combine", out.combine);
  }
  bool read(const Json& json, Algorithm& out) {
    return header(json, "tilewright.algorithm") && member(*this, json, "name", out.name) &&
           list(*this, json, "extents", out.extents) &&
           list(*this, json, "requirements", out.requirements) &&
           (!json.find("monoids") || list(*this, json, "monoids", out.monoids)) &&
           list(*this, json, "inputs", out.inputs) &&
           list(*this, json, "equations", out.equations) &&
           (!json.find("loops") || list(*this, json, "loops", out.loops));
  }
};

}  // namespace

Result<Algorithm> algorithm_from_json(Context& context, const Json& json) {
  AlgorithmReader reader(context);
  Algorithm algorithm;
  if (!reader.read(json, algorithm)) return reader.failure();
  std::vector<Diagnostic> findings = verify(algorithm);
  if (!findings.empty()) return Failure{std::move(findings)};
  return algorithm;
}

}  // namespace tilewright::ir

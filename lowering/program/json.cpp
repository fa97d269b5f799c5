// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/json.h"

#include "frontend/base/format.h"
#include "frontend/ir/declarations_json.h"
#include "lowering/program/verify.h"

namespace tilewright::program {

namespace {

constexpr std::string_view kKinds[] = {
#define TILEWRIGHT_STMT(name) #name,
#include "lowering/program/stmt_kinds.def"
#undef TILEWRIGHT_STMT
};

struct StmtWriter : ir::FieldWriter {
  using ir::FieldWriter::value;
  Json value(LoopKind kind) const { return Json(loop_kind_text(kind)); }
  Json value(Space space) const { return Json(space_text(space)); }
  Json value(OriginRole role) const { return Json(origin_role_text(role)); }
  Json value(Stmt stmt) const {
    if (!stmt) return {};
    Json json = Json::object();
    json.set("kind", kKinds[static_cast<int>(stmt.kind())]);
    visit(stmt, [&](const auto& node) { ir::write_fields(*this, node, json); });
    return json;
  }
};

// Rebuilds each kind through its builder. A kind without an overload does not compile.
struct StmtBuilder {
  ir::Context& context;
  Stmt operator()(const Block& n) { return make_block(context, n.body); }
  Stmt operator()(const For& n) {
    return make_for(context, n.loop, n.var, n.lower, n.upper, n.body);
  }
  Stmt operator()(const If& n) { return make_if(context, n.condition, n.then_body, n.else_body); }
  Stmt operator()(const Let& n) { return make_let(context, n.var, n.value, n.body); }
  Stmt operator()(const Alloc& n) {
    return make_alloc(context, n.buffer, n.type, n.extents, n.space, n.body);
  }
  Stmt operator()(const Store& n) {
    return make_store(context, n.buffer, n.indices, n.value, n.role, n.origin, n.point);
  }
};

class StmtReader : public ir::DeclarationReader {
 public:
  using DeclarationReader::DeclarationReader;
  using DeclarationReader::read;

  bool read(const Json& json, LoopKind& out) { return named(json, loop_kind_text, 4, out); }
  bool read(const Json& json, Space& out) { return named(json, space_text, 3, out); }
  bool read(const Json& json, OriginRole& out) { return named(json, origin_role_text, 6, out); }

  // An empty name is none: the origin of a store without one.
  bool read(const Json& json, Symbol& out) {
    const std::string* text = json.as_string();
    if (text && text->empty()) return true;
    return DeclarationReader::read(json, out);
  }

  bool read(const Json& json, Stmt& out) {
    if (json.is_null()) return true;
    const Json* kind = json.find("kind");
    const std::string* name = kind ? kind->as_string() : nullptr;
    if (!name) return refuse("a statement with a `kind` is needed here");
#define TILEWRIGHT_STMT(Kind)                                               \
  if (*name == #Kind) {                                                     \
    Kind node;                                                              \
    return read_fields(*this, json, node) && present(node, Kind::fields) && \
           static_cast<bool>(out = StmtBuilder{context_}(node));            \
  }
#include "lowering/program/stmt_kinds.def"
#undef TILEWRIGHT_STMT
    return refuse(in_backticks(*name) + " is no kind of statement");
  }

  bool read(const Json& json, Parameter& out) {
    return member(*this, json, "name", out.name) && member(*this, json, "type", out.type) &&
           list(*this, json, "shape", out.shape) && member(*this, json, "output", out.is_output) &&
           read_facts(json, out.facts);
  }
  bool read(const Json& json, Program& out) {
    return header(json, "tilewright.program") && member(*this, json, "name", out.name) &&
           member(*this, json, "algorithm", out.algorithm) &&
           list(*this, json, "extents", out.extents) &&
           list(*this, json, "requirements", out.requirements) &&
           list(*this, json, "parameters", out.parameters) && member(*this, json, "body", out.body);
  }

 private:
  // Only the else arm of an `if` may be absent.
  template <class Node, class Fields>
  bool present(const Node& node, const Fields& declared) {
    auto good = [&](std::string_view name, const auto& value) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, Stmt>) {
        if (!value && name != "else")
          return refuse("the statement " + in_backticks(name) + " is missing");
      }
      return true;
    };
    return std::apply(
        [&](const auto&... fields) { return (good(fields.name, node.*(fields.member)) && ...); },
        declared);
  }

  template <class Enum>
  bool named(const Json& json, std::string_view (*text_of)(Enum), int count, Enum& out) {
    const std::string* text = json.as_string();
    std::string choices;
    for (int i = 0; i < count; ++i) {
      const std::string_view candidate = text_of(static_cast<Enum>(i));
      if (text && candidate == *text) {
        out = static_cast<Enum>(i);
        return true;
      }
      (choices += i > 0 ? ", " : "") += in_backticks(candidate);
    }
    return refuse("one of " + choices + " is needed here");
  }
};

}  // namespace

Json to_json(const Program& program) {
  Json json = Json::object();
  json.set("format", "tilewright.program");
  json.set("version", 1);
  json.set("name", program.name.text());
  json.set("algorithm", program.algorithm.text());
  ir::write_declarations(json, program.extents, program.requirements);
  Json parameters = Json::array();
  for (const Parameter& parameter : program.parameters) {
    Json one = ir::tensor_json(parameter.name, parameter.type, parameter.shape);
    one.set("output", parameter.is_output);
    ir::write_facts(one, parameter.facts);
    parameters.push(std::move(one));
  }
  json.set("parameters", std::move(parameters));
  json.set("body", StmtWriter().value(program.body));
  return json;
}

Result<Program> program_from_json(ir::Context& context, const Json& json) {
  StmtReader reader(context);
  Program program;
  if (!reader.read(json, program)) return reader.failure();
  std::vector<Diagnostic> findings = verify(program);
  if (!findings.empty()) return Failure{std::move(findings)};
  return program;
}

}  // namespace tilewright::program

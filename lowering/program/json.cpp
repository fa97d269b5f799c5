// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/json.h"

#include "frontend/base/format.h"
#include "frontend/ir/declarations_json.h"
#include "frontend/ir/json.h"
#include "lowering/program/verify.h"

namespace tilewright::program {

namespace {

struct StmtWriter : ir::FieldWriter {
  using ir::FieldWriter::value;
  Json value(Expr expr) const { return expr ? FieldWriter::value(expr) : Json(); }
  Json value(LoopKind kind) const { return Json(loop_kind_text(kind)); }
  Json value(Space space) const { return Json(space_text(space)); }
  Json value(OriginRole role) const { return Json(origin_role_text(role)); }
  Json value(Scope scope) const { return Json(scope_text(scope)); }
  Json value(Proxy proxy) const { return Json(proxy_text(proxy)); }
  Json value(Completion completion) const { return Json(completion_text(completion)); }
  Json value(ObjectKind kind) const { return Json(object_kind_text(kind)); }
  Json value(SignalKind kind) const { return Json(signal_kind_text(kind)); }
  Json value(VoteKind kind) const { return Json(vote_kind_text(kind)); }
  Json value(Tile tile) const {
    Json json = Json::object();
    ir::write_fields(*this, *tile, json);
    return json;
  }
  Json value(Stmt stmt) const {
    if (!stmt) return {};
    Json json = Json::object();
    json.set("kind", stmt_kind_text(stmt.kind()));
    visit(stmt, [&](const auto& node) { ir::write_fields(*this, node, json); });
    return json;
  }
};

class StmtReader : public ir::DeclarationReader {
 public:
  using DeclarationReader::DeclarationReader;
  using DeclarationReader::read;

  bool read(const Json& json, LoopKind& out) {
    return named(json, loop_kind_text, kNumLoopKinds, out);
  }
  bool read(const Json& json, Space& out) { return named(json, space_text, kNumSpaces, out); }
  bool read(const Json& json, OriginRole& out) {
    return named(json, origin_role_text, kNumOriginRoles, out);
  }
  bool read(const Json& json, Scope& out) { return named(json, scope_text, kNumScopes, out); }
  bool read(const Json& json, Proxy& out) { return named(json, proxy_text, kNumProxies, out); }
  bool read(const Json& json, Completion& out) {
    return named(json, completion_text, kNumCompletions, out);
  }
  bool read(const Json& json, ObjectKind& out) {
    return named(json, object_kind_text, kNumObjectKinds, out);
  }
  bool read(const Json& json, SignalKind& out) {
    return named(json, signal_kind_text, kNumSignalKinds, out);
  }
  bool read(const Json& json, VoteKind& out) {
    return named(json, vote_kind_text, kNumVoteKinds, out);
  }
  bool read(const Json& json, Tile& out) {
    TileNode node;
    if (!read_fields(*this, json, node)) return false;
    out = Tile(context_.store().intern(node));
    return true;
  }
  // Null is none; whether an expression may be missing, the verifier knows.
  bool read(const Json& json, Expr& out) {
    return json.is_null() || DeclarationReader::read(json, out);
  }

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
           static_cast<bool>(out = make(context_, node));                   \
  }
#include "lowering/program/stmt_kinds.def"
#undef TILEWRIGHT_STMT
    return refuse(in_backticks(*name) + " is no kind of statement");
  }

  bool read(const Json& json, Parameter& out) {
    return member(*this, json, "name", out.name) && member(*this, json, "type", out.type) &&
           list(*this, json, "shape", out.shape) && member(*this, json, "output", out.is_output) &&
           (!json.find("inout") || member(*this, json, "inout", out.is_inout)) &&
           (!json.find("const") || member(*this, json, "const", out.is_const)) &&
           read_facts(json, out.facts);
  }
  bool read(const Json& json, Intrinsic& out) {
    if (!member(*this, json, "library", out.is_library)) return false;
    const Json* meaning = json.find("meaning");
    if (!meaning) return refuse("the member `meaning` is missing");
    auto algorithm = ir::algorithm_from_json(context_, *meaning);
    if (!algorithm.ok())
      return refuse("the meaning is no algorithm: " + algorithm.diagnostics()[0].message);
    out.meaning = std::move(*algorithm);
    return true;
  }
  bool read(const Json& json, Program& out) {
    return header(json, "tilewright.program") && member(*this, json, "name", out.name) &&
           member(*this, json, "algorithm", out.algorithm) &&
           list(*this, json, "extents", out.extents) &&
           list(*this, json, "requirements", out.requirements) &&
           list(*this, json, "parameters", out.parameters) &&
           (!json.find("intrinsics") || list(*this, json, "intrinsics", out.intrinsics)) &&
           member(*this, json, "body", out.body);
  }

 private:
  // Only the else arm of an `if` and the body of an atomic may be absent.
  template <class Node, class Fields>
  bool present(const Node& node, const Fields& declared) {
    auto good = [&](std::string_view name, const auto& value) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, Stmt>) {
        if (!value && name != "else" && !std::is_same_v<Node, Atomic>)
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
    if (parameter.is_inout) one.set("inout", true);
    if (parameter.is_const) one.set("const", true);
    ir::write_facts(one, parameter.facts);
    parameters.push(std::move(one));
  }
  json.set("parameters", std::move(parameters));
  if (!program.intrinsics.empty()) {
    Json intrinsics = Json::array();
    for (const Intrinsic& intrinsic : program.intrinsics) {
      Json one = Json::object();
      one.set("library", intrinsic.is_library);
      one.set("meaning", ir::to_json(intrinsic.meaning));
      intrinsics.push(std::move(one));
    }
    json.set("intrinsics", std::move(intrinsics));
  }
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

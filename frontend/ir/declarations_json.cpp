// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/declarations_json.h"

#include "frontend/ir/json.h"

#include "frontend/base/format.h"

namespace tilewright::ir {

void write_declarations(Json& object, std::span<const ExtentDecl> extents,
                        std::span<const Expr> requirements) {
  const FieldWriter writer;
  Json list = Json::array();
  for (const ExtentDecl& extent : extents) {
    Json one = Json::object();
    one.set("name", extent.name.text());
    one.set("min", extent.min);
    if (extent.max) one.set("max", *extent.max);
    one.set("multiple_of", extent.multiple_of);
    list.push(std::move(one));
  }
  object.set("extents", std::move(list));
  list = Json::array();
  for (Expr requirement : requirements) list.push(writer.value(requirement));
  object.set("requirements", std::move(list));
}

Json tensor_json(Symbol name, ScalarType type, std::span<const Expr> shape) {
  const FieldWriter writer;
  Json json = Json::object();
  json.set("name", name.text());
  json.set("type", type_text(type));
  Json extents = Json::array();
  for (Expr extent : shape) extents.push(writer.value(extent));
  json.set("shape", std::move(extents));
  return json;
}

bool DeclarationReader::read(const Json& json, ExtentDecl& out) {
  if (!member(*this, json, "name", out.name) || !member(*this, json, "min", out.min) ||
      !member(*this, json, "multiple_of", out.multiple_of))
    return false;
  if (!json.find("max")) return true;
  out.max = 0;
  return member(*this, json, "max", *out.max);
}

bool DeclarationReader::header(const Json& json, std::string_view format) {
  const Json* found = json.find("format");
  const std::string* text = found ? found->as_string() : nullptr;
  if (!text || *text != format) return refuse("this is not " + in_backticks(format));
  std::int64_t version = 0;
  if (!member(*this, json, "version", version)) return false;
  return version == 1 || refuse("version " + std::to_string(version) + " is not known");
}

void write_facts(Json& object, const Facts& facts) {
  if (!facts.any() && !facts.clamp && !facts.assumed) return;
  Json out = Json::object();
  if (facts.lower) {
    out.set("lower", to_json(facts.lower));
    out.set("upper", to_json(facts.upper));
  }
  out.set("clamp", facts.clamp);
  out.set("monotone", facts.monotone);
  out.set("injective", facts.injective);
  out.set("assumed", facts.assumed);
  object.set("facts", std::move(out));
}

bool DeclarationReader::read_facts(const Json& json, Facts& out) {
  const Json* facts = json.find("facts");
  if (!facts) return true;
  path_.push_back("facts");
  const bool range = facts->find("lower") != nullptr;
  const bool good = (!range || (member(*this, *facts, "lower", out.lower) &&
                                member(*this, *facts, "upper", out.upper))) &&
                    member(*this, *facts, "clamp", out.clamp) &&
                    member(*this, *facts, "monotone", out.monotone) &&
                    member(*this, *facts, "injective", out.injective) &&
                    member(*this, *facts, "assumed", out.assumed);
  path_.pop_back();
  return good;
}

}  // namespace tilewright::ir

// SPDX-License-Identifier: Apache-2.0
//
// Nodes to a machine. Law: a machine comes out only when every key was there that must be, none that must not,
// and each value has its type and range; else all faults are reported, not the first alone.
#include <algorithm>

#include "frontend/base/format.h"
#include "schedules/machine/fields.h"
#include "schedules/machine/reader.h"
#include "schedules/machine/text.h"

namespace tilewright::machine {

namespace {

// Which faults of verify() stand where in the text.
Failure with_places(Failure failure, const Node& root) {
  for (Diagnostic& diagnostic : failure.diagnostics) {
    for (const auto& [name, value] : diagnostic.evidence) {
      const Node* node = &root;
      std::string_view rest = name;
      while (node != nullptr && !rest.empty()) {
        const std::size_t dot = rest.find('.');
        const Member* member = node->find(rest.substr(0, dot));
        node = member == nullptr ? nullptr : &member->value;
        rest = dot == std::string_view::npos ? "" : rest.substr(dot + 1);
      }
      if (node == nullptr) continue;
      diagnostic.span = node->span;
      break;
    }
  }
  return failure;
}

}  // namespace

const Member* Node::find(std::string_view name) const {
  for (const Member& member : members)
    if (member.name == name) return &member;
  return nullptr;
}

Node from_json_value(const Json& json) {
  Node out;
  if (const bool* boolean = json.as_bool()) {
    out.kind = Node::Kind::Boolean;
    out.boolean = *boolean;
  } else if (const std::int64_t* integer = json.as_integer()) {
    out.kind = Node::Kind::Integer;
    out.integer = *integer;
  } else if (const double* number = json.as_double()) {
    out.kind = Node::Kind::Number;
    out.number = *number;
  } else if (const std::string* text = json.as_string()) {
    out.kind = Node::Kind::Text;
    out.text = *text;
  } else if (const Json::Array* list = json.as_array()) {
    out.kind = Node::Kind::List;
    for (const Json& item : *list) out.items.push_back(from_json_value(item));
  } else if (const Json::Object* object = json.as_object()) {
    out.kind = Node::Kind::Table;
    for (const auto& [name, value] : *object)
      out.members.push_back({name, {}, from_json_value(value)});
  }
  return out;
}

Result<Machine> read_machine(const Node& root) {
  if (root.kind != Node::Kind::Table)
    return fail(Code::MachineType, root.span, "a machine is a table",
                "write the keys of docs/machines.md");
  std::vector<Diagnostic> diagnostics;
  Machine machine;
  Reader reader(root, "a machine", "", diagnostics);
  visit(reader, machine);
  reader.finish();
  if (!diagnostics.empty()) return Failure{std::move(diagnostics)};
  auto verified = verify(machine);
  if (!verified.ok()) return with_places(std::move(verified).failure(), root);
  return machine;
}

Result<Machine> parse_machine(const Source& source) {
  TILEWRIGHT_TRY(root, read_toml(source));
  return read_machine(root);
}

namespace {

Result<Instruction> read_instruction(const Node& root) {
  if (root.kind != Node::Kind::Table)
    return fail(Code::MachineType, root.span, "an instruction is a table",
                "write the keys of docs/machines.md");
  std::vector<Diagnostic> diagnostics;
  Instruction instruction;
  Reader reader(root, "an instruction", "", diagnostics);
  visit(reader, instruction);
  reader.finish();
  if (!diagnostics.empty()) return Failure{std::move(diagnostics)};
  ir::Context context;
  auto made = meaning(context, instruction);
  if (!made.ok()) return with_places(std::move(made).failure(), root);
  return instruction;
}

}  // namespace

Result<Instruction> parse_instruction(const Source& source) {
  TILEWRIGHT_TRY(root, read_toml(source));
  return read_instruction(root);
}

Result<Instruction> instruction_from_json(const Json& json) {
  return read_instruction(from_json_value(json));
}

Result<Machine> from_json(const Json& json) { return read_machine(from_json_value(json)); }

}  // namespace tilewright::machine

// SPDX-License-Identifier: Apache-2.0
//
// What a TOML or JSON text holds, with places: the reader of machines sees neither library. Private to this
// room.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/base/json.h"
#include "frontend/base/result.h"
#include "schedules/machine/machine.h"

namespace tilewright::machine {

struct Member;

struct Node {
  enum class Kind : std::uint8_t { Boolean, Integer, Number, Text, List, Table, Other };
  Kind kind = Kind::Other;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<Node> items;
  std::vector<Member> members;
  Span span;

  const Member* find(std::string_view name) const;
};

struct Member {
  std::string name;
  Span span;
  Node value;
};

// E0401 for what is no TOML, E0405 for a key that is there twice.
Result<Node> read_toml(const Source& source);
Node from_json_value(const Json& json);
// Reads all fields of a machine, or fails with everything that is wrong.
Result<Machine> read_machine(const Node& root);

}  // namespace tilewright::machine

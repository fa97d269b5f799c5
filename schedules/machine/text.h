// SPDX-License-Identifier: Apache-2.0
//
// Text of machines: TOML, format 1 (docs/machines.md), and JSON of the same shape. A reader gives a complete
// machine or diagnostics (E04xx) for everything that is wrong with the text: no key is guessed, none is
// ignored. Laws: parse(print(m)) == m, print(parse(t)) == t for canonical t (no comments, keys in their
// order), from_json(to_json(m)) == m.
#pragma once

#include <string>

#include "frontend/base/json.h"
#include "frontend/base/result.h"
#include "schedules/machine/instruction.h"
#include "schedules/machine/machine.h"

namespace tilewright::machine {

inline constexpr std::int64_t kMachineFormat = 1;

Result<Machine> parse_machine(const Source& source);
std::string print(const Machine& machine);
Json to_json(const Machine& machine);
Result<Machine> from_json(const Json& json);

// The same for instructions, with the same laws; E0413 where the parts of one do not fit together.
Result<Instruction> parse_instruction(const Source& source);
std::string print(const Instruction& instruction);
Json to_json(const Instruction& instruction);
Result<Instruction> instruction_from_json(const Json& json);

}  // namespace tilewright::machine

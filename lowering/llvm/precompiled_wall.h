// SPDX-License-Identifier: Apache-2.0
//
// What every source of this room includes; the build precompiles it.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

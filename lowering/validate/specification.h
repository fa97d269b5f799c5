// SPDX-License-Identifier: Apache-2.0
//
// The Program, run on data: the statements of program::interpret, lanes of vector loops one statement after the
// other. Law: on known values the outputs are those of program::interpret, bit for bit. What stops it: control flow
// or an address that depends on an input's value, and whatever the interpreter would trap.
#pragma once

#include <unordered_map>

#include "lowering/program/program.h"
#include "lowering/validate/execute.h"
#include "lowering/validate/operations.h"

namespace tilewright::validate {

// Elements as they lie in memory, in the sort of their storage; packed ones in a byte each.
using Cells = std::vector<Datum>;

class Specification {
 public:
  // `program` without complex types, whose parts are named as split_complex does.
  Specification(ir::Context& context, const program::Program& program, const ir::Bindings& sizes,
                Arithmetic& arithmetic)
      : context_(context),
        program_(program),
        sizes_(sizes),
        do_(arithmetic),
        operations_(arithmetic) {}

  // The cells of a parameter; an output's are poison until they are written.
  void bind(Symbol parameter, std::shared_ptr<Cells> cells, std::int64_t first, std::int64_t step);
  // False after `stop` says why.
  bool run();

  Stop stop;
  std::int64_t steps = 0;
  std::int64_t step_limit = 0;

 private:
  struct Buffer {
    ir::ScalarType type = ir::ScalarType::F32;
    std::vector<std::int64_t> shape;
    // One for each lane that allocates it, or one for all.
    std::vector<std::shared_ptr<Cells>> copies;
    std::int64_t first = 0;
    std::int64_t step = 1;
  };
  using Lanes = std::vector<int>;  // those that are on

  bool fail(std::string reason);
  bool known(const std::optional<Datum>& datum, const char* what, std::int64_t* out);
  bool run(program::Stmt stmt, const Lanes& lanes);
  bool loop(const program::For& loop, const Lanes& lanes);
  bool branch(const program::If& branch, const Lanes& lanes);
  bool allocate(const program::Alloc& alloc, const Lanes& lanes);
  bool store(const program::Store& store, const Lanes& lanes);
  bool call(const program::Call& call);
  bool tile_cells(const program::TileNode& tile, std::vector<Datum*>* cells, ir::ScalarType* type);
  std::optional<Datum> evaluate(ir::Expr expr, int lane);
  std::optional<Datum> operation(const ir::Op& op, int lane);
  std::optional<Datum> choose(const ir::Select& select, int lane);
  // Null after `stop` says why.
  Datum* cell(Symbol buffer, std::span<const ir::Expr> indices, int lane);
  Datum* cell_at(Buffer& buffer, Symbol name, std::span<const std::int64_t> indices, int lane);

  ir::Context& context_;
  const program::Program& program_;
  const ir::Bindings& sizes_;
  Arithmetic& do_;
  Operations operations_;
  std::unordered_map<Symbol, Buffer> buffers_;
  std::unordered_map<Symbol, std::vector<Datum>> values_;  // one, or one for each lane
  std::unordered_map<Symbol, std::optional<machine::Meaning>> meanings_;
  int width_ = 1;
};

}  // namespace tilewright::validate

// SPDX-License-Identifier: Apache-2.0
//
// A call of a library function through its C interface, in the memory of a machine: descriptors, shapes, workspace,
// call context, executor and error detail as runtime.h lays them out. The workspace has the size that NAME_query says.
#pragma once

#include "lowering/program/dispatch.h"
#include "lowering/validate/execute.h"
#include "lowering/validate/operations.h"

namespace tilewright::validate {

// A tensor's memory in units: elements, parts of complex elements, or bytes of packed elements.
struct Units {
  Sort sort;
  std::vector<Datum> values;  // poison: nothing was written
};
Sort unit_sort(ir::ScalarType type);

class FunctionCall {
 public:
  FunctionCall(ir::Context& context, const program::Dispatch& dispatch, const Listing& listing,
               const ir::Bindings& sizes, Arithmetic& arithmetic, bool with_executor);

  // One for each parameter. False after stop() says why.
  bool run(const std::vector<Units>& contents);
  // Of a parameter, after the run.
  bool read(std::size_t parameter, Units* out);
  const Stop& stop() const { return machine_.stop; }
  Machine& machine() { return machine_; }

 private:
  bool fail(std::string reason);
  void put(std::uint32_t object, std::size_t offset, int bytes, std::uint64_t value);
  void put_pointer(std::uint32_t object, std::size_t offset, const Datum& value);
  std::uint32_t zeros(std::string name, std::size_t bytes, std::int64_t align);
  std::uint32_t descriptor(std::size_t parameter);
  bool invoke(const std::string& name, const std::vector<Datum>& arguments);

  const program::Dispatch& dispatch_;
  const Listing& listing_;
  const ir::Bindings& sizes_;
  Machine machine_;
  bool with_executor_;
  std::vector<std::uint32_t> data_;
};

}  // namespace tilewright::validate

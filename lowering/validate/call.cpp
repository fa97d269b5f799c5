// SPDX-License-Identifier: Apache-2.0
#include "lowering/validate/call.h"

#include <cstddef>

#include "frontend/ir/value.h"
#include "runtime/include/tilewright/runtime.h"

namespace tilewright::validate {

Sort unit_sort(ir::ScalarType type) {
  if (ir::is_packed(type)) return int_sort(8);
  return storage_sort(ir::part_type(type));
}

FunctionCall::FunctionCall(ir::Context& context, const program::Dispatch& dispatch,
                           const Listing& listing, const ir::Bindings& sizes,
                           Arithmetic& arithmetic, bool with_executor)
    : dispatch_(dispatch),
      listing_(listing),
      sizes_(sizes),
      machine_(context, listing, arithmetic),
      with_executor_(with_executor) {}

bool FunctionCall::fail(std::string reason) {
  if (machine_.stop.reason.empty()) machine_.stop.reason = std::move(reason);
  return false;
}

void FunctionCall::put(std::uint32_t object, std::size_t offset, int bytes, std::uint64_t value) {
  machine_.memory().store(Datum::pointer(object, static_cast<std::int64_t>(offset)),
                          int_sort(8 * bytes), 1, Datum::number(value & mask_of(8 * bytes)));
}

void FunctionCall::put_pointer(std::uint32_t object, std::size_t offset, const Datum& value) {
  machine_.memory().store(Datum::pointer(object, static_cast<std::int64_t>(offset)), kPointer, 1,
                          value);
}

std::uint32_t FunctionCall::zeros(std::string name, std::size_t bytes, std::int64_t align) {
  const std::uint32_t object =
      machine_.memory().add(std::move(name), static_cast<std::int64_t>(bytes), align);
  for (std::size_t i = 0; i < bytes; ++i) put(object, i, 1, 0);
  return object;
}

std::uint32_t FunctionCall::descriptor(std::size_t p) {
  const program::Parameter& parameter = dispatch_.interface.parameters[p];
  const ir::TypeInfo& info = ir::type_info(parameter.type);
  const std::string name(parameter.name.text());
  const std::size_t rank = parameter.shape.size();
  const std::uint32_t shape = zeros("the shape of " + name, 8 * rank, 8);
  for (std::size_t d = 0; d < rank; ++d)
    put(shape, 8 * d, 8,
        static_cast<std::uint64_t>(ir::evaluate_extents(parameter.shape[d], sizes_)));
  const std::uint32_t out = zeros("the descriptor of " + name, sizeof(tilewright_tensor), 8);
  put_pointer(out, offsetof(tilewright_tensor, dl.data), Datum::pointer(data_[p], 0));
  put(out, offsetof(tilewright_tensor, dl.device), 4, kDLCPU);
  put(out, offsetof(tilewright_tensor, dl.ndim), 4, rank);
  put(out, offsetof(tilewright_tensor, dl.dtype), 1, static_cast<std::uint64_t>(info.dlpack_code));
  put(out, offsetof(tilewright_tensor, dl.dtype) + 1, 1,
      static_cast<std::uint64_t>(info.dlpack_bits));
  put(out, offsetof(tilewright_tensor, dl.dtype) + 2, 2, 1);
  put_pointer(out, offsetof(tilewright_tensor, dl.shape), Datum::pointer(shape, 0));
  put(out, offsetof(tilewright_tensor, size_bytes), 8, machine_.memory()[data_[p]].bytes.size());
  return out;
}

bool FunctionCall::invoke(const std::string& name, const std::vector<Datum>& arguments) {
  const Function* function = listing_.find(name);
  if (function == nullptr) return fail("the IR has no function `" + name + "`");
  std::vector<Datum> status;
  if (!machine_.call(*function, arguments, &status)) return false;
  if (status.size() == 1 && status[0] == Datum::number(0)) return true;
  return fail("`" + name + "` refused its arguments" +
              (status.size() == 1 && status[0].is_bits()
                   ? " with status " + std::to_string(sign_extend(status[0].bits, 32))
                   : ""));
}

bool FunctionCall::run(const std::vector<Units>& contents) {
  Memory& memory = machine_.memory();
  const auto& parameters = dispatch_.interface.parameters;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Units& units = contents[p];
    const int size = bytes_of(units.sort);
    const std::string name(parameters[p].name.text());
    data_.push_back(
        memory.add("`" + name + "`", static_cast<std::int64_t>(units.values.size()) * size,
                   ir::is_packed(parameters[p].type) ? 1 : ir::size_bytes(parameters[p].type)));
    for (std::size_t i = 0; i < units.values.size(); ++i)
      memory.store(Datum::pointer(data_[p], static_cast<std::int64_t>(i) * size), units.sort, 1,
                   units.values[i]);
    memory[data_[p]].is_writable = parameters[p].is_output;
  }
  const std::uint32_t error = zeros("the error detail", sizeof(tilewright_error), 8);
  put(error, offsetof(tilewright_error, struct_size), 4, sizeof(tilewright_error));
  const std::uint32_t call = zeros("the call context", sizeof(tilewright_call), 8);
  put(call, offsetof(tilewright_call, struct_size), 4, sizeof(tilewright_call));
  put_pointer(call, offsetof(tilewright_call, error), Datum::pointer(error, 0));
  if (with_executor_) {
    const std::uint32_t executor = zeros("the executor", sizeof(tilewright_executor), 8);
    put(executor, offsetof(tilewright_executor, struct_size), 4, sizeof(tilewright_executor));
    put(executor, offsetof(tilewright_executor, num_workers), 4, 2);
    put_pointer(executor, offsetof(tilewright_executor, parallel_for), machine_.parallel_for());
    put_pointer(call, offsetof(tilewright_call, executor), Datum::pointer(executor, 0));
  }
  std::vector<Datum> arguments{Datum::pointer(call, 0)};
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const std::uint32_t tensor = descriptor(p);
    memory[tensor].is_writable = false;
    arguments.push_back(Datum::pointer(tensor, 0));
  }
  memory[call].is_writable = false;
  const std::string name(dispatch_.interface.name.text());
  const std::uint32_t size = zeros("the size of the workspace", 8, 8);
  std::vector<Datum> query = arguments;
  query.push_back(Datum::pointer(size, 0));
  if (!invoke(name + "_query", query)) return false;
  Datum bytes;
  memory.load(Datum::pointer(size, 0), int_sort(64), 1, &bytes);
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 26;
  if (!bytes.is_bits() || bytes.bits > kMostBytes)
    return fail("a workspace that is too large to follow");
  machine_.workspace = memory.add("the workspace", static_cast<std::int64_t>(bytes.bits),
                                  program::kWorkspaceAlignment);
  arguments.push_back(bytes.bits == 0 ? Datum::pointer(0, 0)
                                      : Datum::pointer(machine_.workspace, 0));
  arguments.push_back(bytes);
  return invoke(name, arguments);
}

bool FunctionCall::read(std::size_t p, Units* out) {
  const std::size_t size = static_cast<std::size_t>(bytes_of(out->sort));
  const std::size_t count = machine_.memory()[data_[p]].bytes.size() / size;
  out->values.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    if (!machine_.memory().load(Datum::pointer(data_[p], static_cast<std::int64_t>(i * size)),
                                out->sort, 1, &out->values[i]))
      return fail(machine_.memory().error);
  return true;
}

}  // namespace tilewright::validate

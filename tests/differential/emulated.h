// SPDX-License-Identifier: Apache-2.0
//
// Code for AArch64, run under an emulator: objects of the code generator and of a C compiler are linked with a
// freestanding harness by lld, without a C library, and called through pipes by files. Where clang, lld or the
// emulator is missing the reason is said.
#pragma once

#include <cstring>

#include "lowering/targets/c/target.h"
#include "tests/differential/compiled_program.h"
#include "tests/differential/subjects.h"

namespace tilewright::test {

class Emulated {
 public:
  // Empty where everything is there.
  static std::string why_not() {
    for (const char* tool : {"qemu-aarch64 --version", "/usr/lib/llvm-22/bin/clang --version",
                             "/usr/lib/llvm-22/bin/ld.lld --version"})
      if (std::system((std::string(tool) + " >/dev/null 2>&1").c_str()) != 0)
        return std::string(tool) + " does not run here";
    return {};
  }

  explicit Emulated(Tally& tally) : tally_(tally) {
    folder_ = (std::filesystem::temp_directory_path() / "tilewright.XXXXXX").string();
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~Emulated() { std::filesystem::remove_all(folder_); }
  Emulated(const Emulated&) = delete;
  Emulated& operator=(const Emulated&) = delete;

  // For NEON by the code generator, and as C; a message when something is wrong.
  std::string add(ir::Context& context, Subject subject) {
    ++tally_.programs;
    tally_.parallel += has_loop(subject.program.body, program::LoopKind::Parallel);
    tally_.vector += has_loop(subject.program.body, program::LoopKind::Vector);
    const auto target = host::find_target("aarch64-neon");
    Function function{
        subjects_.size(), named(context, subject.program), "aarch64-neon", {}, nullptr};
    auto dispatch = program::single_dispatch(context, function.program, "alone");
    if (!dispatch.ok()) return laws::messages(dispatch.diagnostics());
    auto object = llvm_wall::compile_function(context, *dispatch, target->options);
    if (object.ok()) {
      write(std::to_string(functions_.size()) + ".o", object->bytes);
      functions_.push_back(std::move(function));
    } else if (is_refusal(object.diagnostics()[0])) {
      ++tally_.unlowered;
    } else {
      return laws::messages(object.diagnostics()) + program::print(subject.program);
    }
    Function as_c{subjects_.size(), named(context, subject.program), "C for aarch64", {}, &context};
    auto in_c = program::single_dispatch(context, as_c.program, "alone");
    if (!in_c.ok()) return laws::messages(in_c.diagnostics());
    as_c.dispatch = *std::move(in_c);
    const c_target::Function alone[] = {{&context, &as_c.dispatch}};
    const auto source = c_target::emit_file(alone);
    if (source.ok()) {
      functions_.push_back(std::move(as_c));
      ++tally_.as_c;
    } else if (is_refusal(source.diagnostics()[0])) {
      ++tally_.not_in_c;
    } else {
      return laws::messages(source.diagnostics()) + program::print(subject.program);
    }
    subjects_.push_back(std::move(subject));
    return {};
  }

  // The first difference.
  std::string run() {
    if (const std::string wrong = link(); !wrong.empty()) return wrong;
    std::string request;
    for (const Function& function : functions_)
      for (const Expected& expected : subjects_[function.subject].expected)
        for (const bool on_executor : {false, true})
          append_call(request, function, expected, on_executor);
    write("request", request);
    const int status = std::system(
        ("qemu-aarch64 " + folder_ + "/run <" + folder_ + "/request >" + folder_ + "/reply")
            .c_str());
    reply_ = read_file(folder_ + "/reply");
    at_ = 0;
    for (const Function& function : functions_)
      for (const Expected& expected : subjects_[function.subject].expected)
        for (const bool on_executor : {false, true}) {
          ++(function.context ? tally_.c_runs : tally_.runs);
          const std::string wrong = compare(function, expected);
          if (!wrong.empty())
            return wrong + (on_executor ? ", in pieces, " : ", serial, ") + function.how + ", " +
                   laws::print_sizes(expected.bindings) + program::print(function.program) +
                   subjects_[function.subject].text;
        }
    return status == 0 ? "" : "the emulator ends with " + std::to_string(status);
  }

 private:
  struct Function {
    std::size_t subject = 0;
    program::Program program;
    std::string how;
    program::Dispatch dispatch;  // of those in C
    ir::Context* context = nullptr;
  };

  program::Program named(ir::Context& context, program::Program program) const {
    program.name = context.symbol("f" + std::to_string(functions_.size()));
    return program;
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }

  std::string link() {
    const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
    const std::string source = root ? root : ".";
    std::string table;
    std::string list;
    std::vector<c_target::Function> in_c;
    std::string objects;
    for (std::size_t f = 0; f < functions_.size(); ++f) {
      const std::string name(functions_[f].program.name.text());
      table += "extern int " + name + "(), " + name + "_query();\n";
      list += "  (void *)" + name + ", (void *)" + name + "_query,\n";
      if (functions_[f].context)
        in_c.push_back({functions_[f].context, &functions_[f].dispatch});
      else
        objects += " " + folder_ + "/" + std::to_string(f) + ".o";
    }
    auto c = c_target::emit_file(in_c);
    if (!c.ok()) return laws::messages(c.diagnostics());
    write("c.c", *c);
    write("table.c", table + "void *const functions[] = {\n" + list + "};\n");
    const std::string compile =
        "/usr/lib/llvm-22/bin/clang --target=aarch64-linux-gnu -ffreestanding -O2 -w -I" + source +
        "/runtime/include -c -o ";
    std::string command;
    for (const auto& [file, from] :
         {std::pair{"harness", source + "/tests/differential/emulated/harness.c"},
          std::pair{"table", folder_ + "/table.c"}, std::pair{"c", folder_ + "/c.c"}})
      command += compile + folder_ + "/" + file + ".o " + from + " && ";
    command += "/usr/lib/llvm-22/bin/ld.lld -static -o " + folder_ + "/run " + folder_ +
               "/harness.o " + folder_ + "/table.o " + folder_ + "/c.o" + objects;
    if (std::system(("(" + command + ") >" + folder_ + "/log 2>&1").c_str()) == 0) return {};
    return "no program for AArch64: " + read_file(folder_ + "/log").substr(0, 4000);
  }

  static void append_word(std::string& out, std::int64_t word) {
    out.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  void append_call(std::string& out, const Function& function, const Expected& expected,
                   bool on_executor) const {
    append_word(out, &function - functions_.data());
    append_word(out, on_executor);
    append_word(out, static_cast<std::int64_t>(function.program.parameters.size()));
    for (const program::Parameter& parameter : function.program.parameters) {
      // An argument that is read and written is sent as the caller gives it.
      const bool is_read = !parameter.is_output || parameter.is_inout;
      const ir::Tensor& value = (is_read ? expected.inputs : expected.values).at(parameter.name);
      const DLDataType type = Argument::dtype(parameter.type);
      append_word(out, type.code);
      append_word(out, type.bits);
      append_word(out, static_cast<std::int64_t>(value.shape.size()));
      for (std::int64_t extent : value.shape) append_word(out, extent);
      append_word(out, is_read);
      const auto bytes = ir::tensor_bytes(value);
      append_word(out, static_cast<std::int64_t>(bytes.size()));
      if (is_read) out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  }

  std::int64_t take_word() {
    std::int64_t word = -1000;
    if (at_ + sizeof(word) <= reply_.size()) std::memcpy(&word, reply_.data() + at_, sizeof(word));
    at_ += sizeof(word);
    return word;
  }
  std::string compare(const Function& function, const Expected& expected) {
    const std::int64_t query = take_word();
    take_word();
    const std::int64_t status = take_word();
    if (query != TILEWRIGHT_OK || status != TILEWRIGHT_OK)
      return "status " + std::to_string(query) + " and " + std::to_string(status);
    if (take_word() != 1) return "wrote around a buffer";
    for (const program::Parameter& parameter : function.program.parameters) {
      const ir::Tensor& want = expected.values.at(parameter.name);
      const std::size_t size = ir::tensor_bytes(want).size();
      if (at_ + size > reply_.size()) return "the reply ends early";
      const auto* bytes = reinterpret_cast<const std::byte*>(reply_.data() + at_);
      at_ += size;
      const ir::Tensor got = ir::tensor_from_bytes(parameter.type, want.shape, {bytes, size});
      for (std::size_t i = 0; i < want.data.size(); ++i)
        if (!same_bits(want, got, i))
          return std::string(parameter.name.text()) + " cell " + std::to_string(i) + " differs";
    }
    return {};
  }

  Tally& tally_;
  std::string folder_;
  std::vector<Subject> subjects_;
  std::vector<Function> functions_;
  std::string reply_;
  std::size_t at_ = 0;
};

}  // namespace tilewright::test

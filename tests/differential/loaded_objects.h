// SPDX-License-Identifier: Apache-2.0
//
// Objects of the code generator, loaded: linked by the system's linker into one shared object, so that many
// programs cost one link. No C library takes part: an unresolved reference fails the link.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/include/tilewright/runtime.h"

namespace tilewright::test {

class LoadedObjects {
 public:
  LoadedObjects() = default;
  ~LoadedObjects() {
    if (handle_) dlclose(handle_);
  }
  LoadedObjects(const LoadedObjects&) = delete;
  LoadedObjects& operator=(const LoadedObjects&) = delete;

  void add(std::string bytes) { objects_.push_back(std::move(bytes)); }

  bool load() {
    std::string folder = (std::filesystem::temp_directory_path() / "tilewright.XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) return false;
    const std::string library = folder + "/all.so";
    std::string command = "cc -shared -nostdlib -o " + library;
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      const std::string path = folder + "/" + std::to_string(i) + ".o";
      std::ofstream(path, std::ios::binary) << objects_[i];
      command += " " + path;
    }
    EXPECT_EQ(std::system(command.c_str()), 0);
    handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << dlerror();
    std::filesystem::remove_all(folder);
    return handle_ != nullptr;
  }
  bool ready() const { return handle_ != nullptr; }

  std::int32_t query(const std::string& name, const tilewright_call* call,
                     const std::vector<tilewright_tensor*>& tensors, std::size_t* size) {
    std::vector<void*> words{const_cast<tilewright_call*>(call)};
    words.insert(words.end(), tensors.begin(), tensors.end());
    words.push_back(size);
    return invoke(name + "_query", words);
  }
  // Status and whole text of NAME_explain; a text that is cut differently than told fails the test.
  std::pair<std::int32_t, std::string> explain(const std::string& name, const tilewright_call* call,
                                               const std::vector<tilewright_tensor*>& tensors) {
    std::vector<void*> words{const_cast<tilewright_call*>(call)};
    words.insert(words.end(), tensors.begin(), tensors.end());
    std::size_t length = 0;
    char short_text[8];
    std::memset(short_text, 'x', sizeof short_text);
    words.insert(words.end(), {short_text, reinterpret_cast<void*>(std::size_t{5}), &length});
    const std::int32_t first = invoke(name + "_explain", words);
    std::string text(length + 1, 'x');
    words.resize(words.size() - 3);
    words.insert(words.end(),
                 {text.data(), reinterpret_cast<void*>(text.size()), static_cast<void*>(nullptr)});
    EXPECT_EQ(invoke(name + "_explain", words), first);
    EXPECT_EQ(text.back(), '\0');
    text.pop_back();
    EXPECT_EQ(text.find('\0'), std::string::npos);
    EXPECT_EQ(std::string(short_text), text.substr(0, 4));
    EXPECT_EQ(std::string(short_text + 5, 3), "xxx");
    return {first, text};
  }
  // Any entry: the call, the tensors, then these words.
  std::int32_t enter(const std::string& function, const tilewright_call* call,
                     const std::vector<tilewright_tensor*>& tensors,
                     const std::vector<void*>& more) {
    std::vector<void*> words{const_cast<tilewright_call*>(call)};
    words.insert(words.end(), tensors.begin(), tensors.end());
    words.insert(words.end(), more.begin(), more.end());
    return invoke(function, words);
  }
  std::int32_t run(const std::string& name, const tilewright_call* call,
                   const std::vector<tilewright_tensor*>& tensors, void* workspace,
                   std::size_t workspace_size) {
    std::vector<void*> words{const_cast<tilewright_call*>(call)};
    words.insert(words.end(), tensors.begin(), tensors.end());
    words.push_back(workspace);
    words.push_back(reinterpret_cast<void*>(workspace_size));
    return invoke(name, words);
  }

 private:
  // Every argument is one integer register or stack word, so one signature serves: words that a function
  // does not expect are left unread.
  std::int32_t invoke(const std::string& name, std::vector<void*> w) {
    void* symbol = dlsym(handle_, name.c_str());
    EXPECT_NE(symbol, nullptr) << name;
    if (symbol == nullptr) return 1;
    constexpr std::size_t kWords = 32;
    EXPECT_LE(w.size(), kWords);
    w.resize(kWords);
    return call_words(symbol, w, std::make_index_sequence<kWords>());
  }

  template <std::size_t>
  using Word = void*;
  template <std::size_t... kIndex>
  static std::int32_t call_words(void* symbol, const std::vector<void*>& w,
                                 std::index_sequence<kIndex...>) {
    using Function = std::int32_t (*)(Word<kIndex>...);
    return reinterpret_cast<Function>(symbol)(w[kIndex]...);
  }

  std::vector<std::string> objects_;
  void* handle_ = nullptr;
};

}  // namespace tilewright::test

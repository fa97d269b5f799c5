// SPDX-License-Identifier: Apache-2.0
//
// libLLVM loads Debian's libz3. A second Z3 in the process would silently win or lose symbol by symbol, and a
// header of another version than the running library would misread its structures. So there is one, and it is the
// one whose header we compile with.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <llvm-c/Core.h>
#include <z3.h>
#include <z3_version.h>

namespace tilewright {
namespace {

// Base names of the shared objects in this process that begin with a prefix.
std::vector<std::string> mapped(const std::string& prefix) {
  struct Search {
    std::string prefix;
    std::vector<std::string> found;
  } search{prefix, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& out = *static_cast<Search*>(data);
        std::string path = info->dlpi_name;
        path = path.substr(path.rfind('/') + 1);
        if (path.starts_with(out.prefix)) out.found.push_back(path);
        return 0;
      },
      &search);
  return search.found;
}

TEST(Z3, HeaderAndRunningLibraryAgree) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned build = 0;
  unsigned revision = 0;
  Z3_get_version(&major, &minor, &build, &revision);
  EXPECT_EQ(major, static_cast<unsigned>(Z3_MAJOR_VERSION));
  EXPECT_EQ(minor, static_cast<unsigned>(Z3_MINOR_VERSION));
  EXPECT_EQ(build, static_cast<unsigned>(Z3_BUILD_NUMBER));
  EXPECT_EQ(revision, static_cast<unsigned>(Z3_REVISION_NUMBER));
  EXPECT_EQ(std::string(Z3_get_full_version()), std::string(Z3_FULL_VERSION));
}

TEST(Z3, OneInTheProcessThatLoadsLlvm) {
  unsigned llvm_major = 0;
  LLVMGetVersion(&llvm_major, nullptr, nullptr);
  EXPECT_EQ(llvm_major, 22U);
  const std::vector<std::string> llvm = mapped("libLLVM");
  ASSERT_EQ(llvm.size(), 1U) << testing::PrintToString(llvm);
  EXPECT_EQ(mapped("libz3").size(), 1U) << testing::PrintToString(mapped("libz3"));

  // What libLLVM's own calls reach is what ours reach.
  void* library = dlopen(llvm[0].c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  Dl_info theirs{};
  Dl_info ours{};
  ASSERT_NE(dladdr(dlsym(library, "Z3_get_version"), &theirs), 0);
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "Z3_get_version"), &ours), 0);
  EXPECT_EQ(theirs.dli_fbase, ours.dli_fbase);
  EXPECT_EQ(theirs.dli_saddr, ours.dli_saddr);
  dlclose(library);
}

}  // namespace
}  // namespace tilewright

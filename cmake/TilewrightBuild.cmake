# SPDX-License-Identifier: Apache-2.0
# What every target of the tree is built with: sanitizers, a fast linker, ccache, and reproducible
# paths. Law: the same commit gives the same objects in any folder, so a ccache is shared by clones.

# Floats are what the source says: no product and sum is contracted into an fma behind its back.
add_compile_options(-ffp-contract=off)

# Paths in debug information and in __FILE__ start at the repository's root.
file(RELATIVE_PATH source_from_build ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -fmacro-prefix-map=${source_from_build}=)

if(TILEWRIGHT_SANITIZE)
  add_compile_options(-fsanitize=${TILEWRIGHT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TILEWRIGHT_SANITIZE})
endif()

if(TILEWRIGHT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "TILEWRIGHT_FUZZ needs clang; use the preset fuzz")
  endif()
  # Coverage counters everywhere; only the targets in tests/fuzz link libFuzzer's main.
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# The first linker that this compiler can really link a program with; the compiler's own otherwise.
include(CheckCXXSourceCompiles)
foreach(linker mold lld)
  set(CMAKE_REQUIRED_LINK_OPTIONS -fuse-ld=${linker})
  check_cxx_source_compiles("#include <vector>\nint main() { return int(std::vector<int>(3).size()) - 3; }"
    TILEWRIGHT_LINKS_WITH_${linker})
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(TILEWRIGHT_LINKS_WITH_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()

# ccache with precompiled headers: gcc has to keep the #include of the header in preprocessed text,
# clang must not write the header's time stamp into it. CCACHE_BASEDIR makes paths relative.
find_program(TILEWRIGHT_CCACHE ccache)
if(TILEWRIGHT_CCACHE)
  set(launcher /usr/bin/env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    CCACHE_ABSSTDERR=1 ${TILEWRIGHT_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

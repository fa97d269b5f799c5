# SPDX-License-Identifier: Apache-2.0
# tilewright_room(): one static library per room, with the warnings and the wall of its row.

add_library(tilewright_warnings INTERFACE)
# g++ 12 sees moves of empty variants and appends to short strings, inlined from libstdc++, as reads of what is not
# initialised and writes beyond the end; clang 22 has the same checks and the tree has the sanitizers.
# clang blames the user of std::stable_sort for a deprecated call inside libstdc++ 12; g++ still warns of others.
target_compile_options(tilewright_warnings INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
  -ffp-contract=off  # not a warning: no room may contract a*b+c, since the IR states every fma
  $<$<BOOL:${TILEWRIGHT_WERROR}>:-Werror>)

# The precompiled standard headers that every room shares. Third-party headers never stand in it: they
# would be seen outside their wall.
file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "// The carrier of the precompiled header.\n")
add_library(tilewright_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
target_link_libraries(tilewright_precompiled PRIVATE tilewright_warnings)
target_precompile_headers(tilewright_precompiled PRIVATE
  <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view>
  <tuple> <unordered_map> <utility> <variant> <vector>)
# When flags change, the header is rebuilt beside its old self, which is then rightly not used.
set_target_properties(tilewright_precompiled PROPERTIES PCH_WARN_INVALID OFF)

# Sets <out> to the target name of a room's folder: frontend/ir -> tilewright_frontend_ir.
function(tilewright_room_target room out)
  string(REPLACE "/" "_" name ${room})
  set(${out} tilewright_${name} PARENT_SCOPE)
endfunction()

# Links a third-party library named in a row's WALL. System include paths, never visible to dependants.
function(tilewright_link_wall target wall)
  if(wall STREQUAL "fmt")
    target_link_libraries(${target} PRIVATE fmt::fmt)
  elseif(wall STREQUAL "nlohmann_json")
    target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json)
  elseif(wall STREQUAL "xxhash")
    target_link_libraries(${target} PRIVATE xxhash)
  elseif(wall STREQUAL "tomlplusplus")
    # From its headers alone: Debian's shared library is built for exceptions, which end at no room's wall.
    target_include_directories(${target} SYSTEM PRIVATE
      $<TARGET_PROPERTY:tomlplusplus::tomlplusplus,INTERFACE_INCLUDE_DIRECTORIES>)
    target_compile_definitions(${target} PRIVATE TOML_HEADER_ONLY=1 TOML_EXCEPTIONS=0)
  elseif(wall STREQUAL "isl")
    target_link_libraries(${target} PRIVATE isl)
  elseif(wall STREQUAL "gmp")
    target_link_libraries(${target} PRIVATE gmpxx gmp)
  elseif(wall STREQUAL "z3")
    target_link_libraries(${target} PRIVATE z3)
  elseif(wall STREQUAL "checker")
    target_link_libraries(${target} PRIVATE tilewright_check_parts)
  elseif(wall STREQUAL "llvm")
    # The shared libLLVM: the imported target carries no include folders of its own.
    target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
    target_link_libraries(${target} PRIVATE LLVM)
  else()
    message(FATAL_ERROR "room ${target}: unknown third party '${wall}'")
  endif()
endfunction()

# Declares a room. A folder without sources has no library; its headers may still be included.
function(tilewright_room room)
  cmake_parse_arguments(ROOM "" "" "DEPS;WALL" ${ARGN})
  tilewright_room_target(${room} target)
  set_property(GLOBAL PROPERTY TILEWRIGHT_WALL_OF_${target} ${ROOM_WALL})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${room}/*.cpp)
  if(NOT sources)
    return()
  endif()
  # Data files of a room are part of its library: embedded_files(), declared in the room's embedded.h.
  file(GLOB data CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${room}/*.toml)
  if(data)
    set(embedded ${PROJECT_BINARY_DIR}/embedded/${target}.cpp)
    get_filename_component(leaf ${room} NAME)
    add_custom_command(OUTPUT ${embedded} COMMAND ${CMAKE_COMMAND} -D NAMESPACE=tilewright::${leaf}
      -D HEADER=${room}/embedded.h -D OUTPUT=${embedded} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake -- ${data}
      DEPENDS ${data} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
    list(APPEND sources ${embedded})
  endif()
  add_library(${target} STATIC ${sources})
  # Loops over columns of scalars are what the interpreters spend their time in.
  set(hot_loops ${sources})
  list(FILTER hot_loops INCLUDE REGEX "/(kernels|intervals)\\.cpp$")
  if(hot_loops)
    set_source_files_properties(${hot_loops} PROPERTIES COMPILE_OPTIONS "-O3"
      SKIP_PRECOMPILE_HEADERS ON)
  endif()
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  # Headers that are installed, as <tilewright/...>.
  if(EXISTS ${PROJECT_SOURCE_DIR}/${room}/include)
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/${room}/include)
  endif()
  target_link_libraries(${target} PRIVATE tilewright_warnings)
  # A room whose third party is heavy names what to precompile; the others share the standard headers.
  if(EXISTS ${PROJECT_SOURCE_DIR}/${room}/precompiled_wall.h)
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/${room}/precompiled_wall.h)
  else()
    target_precompile_headers(${target} REUSE_FROM tilewright_precompiled)
  endif()
  foreach(dep IN LISTS ROOM_DEPS)
    tilewright_room_target(${dep} dep_target)
    if(TARGET ${dep_target})
      target_link_libraries(${target} PUBLIC ${dep_target})
    endif()
  endforeach()
  foreach(wall IN LISTS ROOM_WALL)
    tilewright_link_wall(${target} ${wall})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY TILEWRIGHT_ROOM_TARGETS ${target})
endfunction()

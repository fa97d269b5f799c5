# SPDX-License-Identifier: Apache-2.0
# tilewright_add_library(<target> ALGORITHM <file.tw> | FROM <executable> [NAME <algorithm>]
#                        [SCHEDULE <file.tws> | SCHEDULES <file.tws>...] [TARGET <machine>] [DEFINE <EXTENT=N>...])
# A library target built by the compiler from an algorithm and a schedule, or from several between which it chooses
# at run time by their guards. Linking it gives its header and the
# runtime's; a program that wants the thread pool also links tilewright::runtime. The folder of the manifest
# is the target's property TILEWRIGHT_FOLDER. FROM takes a program that states algorithms in C++ (its main calls
# generator_main() of <tilewright/generator.h>) and is run for the one called NAME, by default <target>.

function(tilewright_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 KERNEL "" "ALGORITHM;FROM;NAME;SCHEDULE;TARGET" "DEFINE;SCHEDULES")
  if((KERNEL_ALGORITHM AND KERNEL_FROM) OR NOT (KERNEL_ALGORITHM OR KERNEL_FROM) OR KERNEL_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tilewright_add_library(${target}): one of ALGORITHM <file.tw> and FROM <executable> is needed; "
      "not understood: '${KERNEL_UNPARSED_ARGUMENTS}'")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.tilewright)
  file(MAKE_DIRECTORY ${folder})
  if(KERNEL_FROM)
    set(name ${target})
    if(KERNEL_NAME)
      set(name ${KERNEL_NAME})
    endif()
    set(algorithm ${folder}/${name}.tw)
    add_custom_command(OUTPUT ${algorithm} COMMAND ${KERNEL_FROM} -g ${name} -o ${algorithm}
      DEPENDS ${KERNEL_FROM} COMMENT "Algorithm ${name}" VERBATIM)
  else()
    get_filename_component(algorithm ${KERNEL_ALGORITHM} ABSOLUTE)
    # The files are named after the algorithm, the last of its file, so that is read now and again when it changes.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${algorithm})
    file(STRINGS ${algorithm} headings REGEX "^[ \t]*algorithm[ \t]+[A-Za-z_][A-Za-z0-9_]*")
    set(heading "")
    foreach(line IN LISTS headings)
      set(heading "${line}")
    endforeach()
    if(NOT heading MATCHES "algorithm[ \t]+([A-Za-z_][A-Za-z0-9_]*)")
      message(FATAL_ERROR "tilewright_add_library(${target}): ${algorithm} names no algorithm")
    endif()
    set(name ${CMAKE_MATCH_1})
  endif()

  set(inputs ${algorithm})
  set(options)
  if(KERNEL_SCHEDULE)
    get_filename_component(schedule ${KERNEL_SCHEDULE} ABSOLUTE)
    list(APPEND inputs ${schedule})
    list(APPEND options --schedule ${schedule})
  endif()
  foreach(variant IN LISTS KERNEL_SCHEDULES)
    get_filename_component(schedule ${variant} ABSOLUTE)
    list(APPEND inputs ${schedule})
    list(APPEND options ${schedule})
  endforeach()
  if(KERNEL_TARGET)
    list(APPEND options --target ${KERNEL_TARGET})
  endif()
  foreach(definition IN LISTS KERNEL_DEFINE)
    list(APPEND options -D ${definition})
  endforeach()
  add_custom_command(
    OUTPUT ${folder}/lib${name}.a ${folder}/${name}.h ${folder}/${name}.json
    COMMAND tilewright::compiler compile ${algorithm} ${options} -o ${folder}
    DEPENDS ${inputs} tilewright::compiler
    COMMENT "Tilewright ${name}" VERBATIM)
  add_custom_target(${target}_files
    DEPENDS ${folder}/lib${name}.a ${folder}/${name}.h ${folder}/${name}.json)
  add_library(${target} STATIC IMPORTED GLOBAL)
  add_dependencies(${target} ${target}_files)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION ${folder}/lib${name}.a
    INTERFACE_INCLUDE_DIRECTORIES ${folder}
    INTERFACE_LINK_LIBRARIES tilewright::runtime_headers
    TILEWRIGHT_FOLDER ${folder})
endfunction()

# SPDX-License-Identifier: Apache-2.0
# tilewright_kernel(): algorithm + schedule -> static library and header, made during the build by the
# `tilewright` that the same build made. tilewright_app(): the programs of an application, one per schedule.

# Declares the imported library <target>, whose headers are found by those who link it.
function(tilewright_kernel target)
  cmake_parse_arguments(KERNEL "" "ALGORITHM;SCHEDULE;TARGET" "" ${ARGN})
  get_filename_component(name ${KERNEL_ALGORITHM} NAME_WE)
  set(folder ${PROJECT_BINARY_DIR}/kernels/${target})
  set(options -o ${folder})
  if(KERNEL_SCHEDULE)
    list(APPEND options --schedule ${KERNEL_SCHEDULE})
  endif()
  if(KERNEL_TARGET)
    list(APPEND options --target ${KERNEL_TARGET})
  endif()
  add_custom_command(OUTPUT ${folder}/lib${name}.a
    BYPRODUCTS ${folder}/${name}.h ${folder}/${name}.json
    COMMAND tilewright compile ${KERNEL_ALGORITHM} ${options}
    DEPENDS tilewright ${KERNEL_ALGORITHM} ${KERNEL_SCHEDULE}
    COMMENT "Compiling kernel ${target}" VERBATIM)
  add_custom_target(${target}_files DEPENDS ${folder}/lib${name}.a)
  # CMake wants the folder of an imported target to exist when it configures.
  file(MAKE_DIRECTORY ${folder})
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${folder}/lib${name}.a)
  target_include_directories(${target} INTERFACE ${folder})
  target_link_libraries(${target} INTERFACE tilewright_runtime_headers)
  add_dependencies(${target} ${target}_files)
endfunction()

# An application is a folder apps/<name> with <name>.tw, main.cpp, reference.cpp and schedules/*.tws. It
# becomes bin/apps/<name>, which has no schedule, and bin/apps/<name>-<schedule>; the tests run each on small
# sizes, among them 0, 1 and primes.
function(tilewright_app name)
  set(source ${PROJECT_SOURCE_DIR}/apps/${name})
  # Without a schedule the machine is ours to choose: the oldest that there is.
  tilewright_kernel(kernel_${name} ALGORITHM ${source}/${name}.tw TARGET x86-64-v3)
  set(variants ${name})
  file(GLOB schedules CONFIGURE_DEPENDS ${source}/schedules/*.tws)
  foreach(schedule IN LISTS schedules)
    get_filename_component(variant ${schedule} NAME_WE)
    tilewright_kernel(kernel_${name}-${variant} ALGORITHM ${source}/${name}.tw SCHEDULE ${schedule})
    list(APPEND variants ${name}-${variant})
  endforeach()

  # The header says the same for every schedule, so one object serves them all.
  add_library(app_${name} OBJECT ${source}/main.cpp ${source}/reference.cpp)
  target_link_libraries(app_${name} PRIVATE kernel_${name} tilewright_apps_runner tilewright_warnings)
  target_precompile_headers(app_${name} REUSE_FROM tilewright_precompiled)
  foreach(variant IN LISTS variants)
    add_executable(${variant} $<TARGET_OBJECTS:app_${name}>)
    target_link_libraries(${variant} PRIVATE kernel_${variant} tilewright_apps_runner)
    set_target_properties(${variant} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/apps
      LINKER_LANGUAGE CXX)
    add_test(NAME app_${variant} COMMAND ${variant} --small)
    set_tests_properties(app_${variant} PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77)
  endforeach()
endfunction()

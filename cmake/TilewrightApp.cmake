# SPDX-License-Identifier: Apache-2.0
# tilewright_app(): the programs of an application, one per schedule. Their libraries are made as a user's project
# makes them, by tilewright_add_library(), with the compiler that the same build made.

add_executable(tilewright::compiler ALIAS tilewright)
add_library(tilewright::runtime ALIAS tilewright_runtime)
add_library(tilewright::runtime_headers ALIAS tilewright_runtime_headers)
include(${CMAKE_CURRENT_LIST_DIR}/package/TilewrightAddLibrary.cmake)

# An application is a folder apps/<name> with <name>.tw, main.cpp, reference.cpp and schedules/*.tws. It
# becomes bin/apps/<name>, which has no schedule, and bin/apps/<name>-<schedule>; the tests run each on small
# sizes, among them 0, 1 and primes.
function(tilewright_app name)
  set(source ${PROJECT_SOURCE_DIR}/apps/${name})
  # Without a schedule the machine is ours to choose: the oldest that there is.
  tilewright_add_library(kernel_${name} ALGORITHM ${source}/${name}.tw TARGET x86-64-v3)
  set(variants ${name})
  file(GLOB schedules CONFIGURE_DEPENDS ${source}/schedules/*.tws)
  foreach(schedule IN LISTS schedules)
    get_filename_component(variant ${schedule} NAME_WE)
    tilewright_add_library(kernel_${name}-${variant} ALGORITHM ${source}/${name}.tw SCHEDULE ${schedule})
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

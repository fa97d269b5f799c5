# SPDX-License-Identifier: Apache-2.0
# cmake -D build= -D project= -D scratch= -D generator= -P: see CMakeLists.txt beside it.

function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${output}")
  endif()
  message(STATUS "${what}: done")
endfunction()

file(REMOVE_RECURSE ${scratch})
file(MAKE_DIRECTORY ${scratch})
step("install" ${CMAKE_COMMAND} --install ${build} --prefix ${scratch}/first)
file(RENAME ${scratch}/first ${scratch}/moved)
step("configure" ${CMAKE_COMMAND} -G ${generator} -S ${project} -B ${scratch}/build
  -D CMAKE_BUILD_TYPE=Release -D CMAKE_PREFIX_PATH=${scratch}/moved)
step("build" ${CMAKE_COMMAND} --build ${scratch}/build)
step("test" ${CMAKE_CTEST_COMMAND} --test-dir ${scratch}/build --output-on-failure --no-tests=error)

# A changed schedule rebuilds the library, an unchanged one does not.
file(TOUCH ${scratch}/stamp)
step("build again" ${CMAKE_COMMAND} --build ${scratch}/build)
file(GLOB_RECURSE libraries ${scratch}/build/*/libmatrix_product.a)
foreach(library IN LISTS libraries)
  if(${library} IS_NEWER_THAN ${scratch}/stamp)
    message(FATAL_ERROR "${library} was built again although nothing had changed")
  endif()
endforeach()

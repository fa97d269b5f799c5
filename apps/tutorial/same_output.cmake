# SPDX-License-Identifier: Apache-2.0
# cmake -D first=COMMAND -D second=COMMAND -P same_output.cmake: both succeed and print the same.
foreach(which first second)
  execute_process(COMMAND ${${which}} OUTPUT_VARIABLE output_${which} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${${which}}: exit status ${status}")
  endif()
endforeach()
if(NOT output_first STREQUAL output_second)
  message(FATAL_ERROR "${first} prints\n${output_first}but ${second}\n${output_second}")
endif()

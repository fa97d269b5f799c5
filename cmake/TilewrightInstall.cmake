# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: the compiler, the checker of proofs, the runtime with its header, and the CMake
# package that gives find_package(tilewright), the targets tilewright::compiler, tilewright::language, tilewright::runtime and
# tilewright::runtime_headers, and tilewright_add_library(). Law: the installed tree may be moved.
# Tests: tests/package.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)

set_target_properties(tilewright PROPERTIES EXPORT_NAME compiler)
set_target_properties(tilewright_runtime PROPERTIES EXPORT_NAME runtime)
set_target_properties(tilewright_runtime_headers PROPERTIES EXPORT_NAME runtime_headers)
set_target_properties(tilewright_language PROPERTIES EXPORT_NAME language)
install(TARGETS tilewright tilewright-check tilewright_language tilewright_runtime tilewright_runtime_headers EXPORT tilewright_targets)
install(FILES ${PROJECT_SOURCE_DIR}/runtime/include/tilewright/runtime.h
  ${PROJECT_SOURCE_DIR}/frontend/language/include/tilewright/language.h
  ${PROJECT_SOURCE_DIR}/frontend/language/include/tilewright/language_result.h
  ${PROJECT_SOURCE_DIR}/apps/generator/include/tilewright/generator.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tilewright)
install(EXPORT tilewright_targets NAMESPACE tilewright:: FILE tilewrightTargets.cmake
  DESTINATION ${package_folder})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/package/tilewrightConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/tilewrightConfig.cmake INSTALL_DESTINATION ${package_folder})
# Before 1.0 a change of the minor version may break what a project relies on.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/tilewrightConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/tilewrightConfig.cmake
  ${PROJECT_BINARY_DIR}/package/tilewrightConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/package/TilewrightAddLibrary.cmake
  DESTINATION ${package_folder})

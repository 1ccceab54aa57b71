# Rules for files that `cmake --install` copies. Those of programs are beside
# their targets. The installed tree may be moved: hftac finds the runtime in
# ../lib, and find_package(Hfta) finds all files relative to its own.

include(CMakePackageConfigHelpers)

set(HFTA_BINARY_DIR bin)
set(HFTA_INCLUDE_DIR include)
set(HFTA_LINK_OPTIONS "")
if(HFTA_SANITIZE)
  set(HFTA_LINK_OPTIONS -fsanitize=address,undefined)
endif()

install(TARGETS hfta_runtime ARCHIVE DESTINATION lib)
install(DIRECTORY runtime/include/hfta DESTINATION include
  FILES_MATCHING PATTERN "*.h")

configure_package_config_file(
  cmake/HftaConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/HftaConfig.cmake
  INSTALL_DESTINATION lib/cmake/Hfta
  PATH_VARS HFTA_BINARY_DIR HFTA_INCLUDE_DIR)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cmake/HftaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/cmake/HftaConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/HftaConfigVersion.cmake
  DESTINATION lib/cmake/Hfta)

install(FILES CHANGELOG.md LICENSE README.md DESTINATION share/doc/hfta)
install(DIRECTORY docs DESTINATION share/doc/hfta FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples/embed examples/fashion examples/ranks
  DESTINATION share/doc/hfta/examples
  FILES_MATCHING
  PATTERN "*.md" PATTERN "*.hfta" PATTERN "*.onnx" PATTERN "*.py"
  PATTERN "*.c" PATTERN "CMakeLists.txt"
  PATTERN "__pycache__" EXCLUDE)
# The reference pages of the dialects and the passes exist only if the target
# `mlir-doc` was built.
foreach(page Dialect GpuDialect Transforms Conversion Pipelines)
  install(FILES ${PROJECT_BINARY_DIR}/docs/Hfta${page}.md
    DESTINATION share/doc/hfta/docs OPTIONAL)
endforeach()

# Rules for files that `cmake --install` copies, and that packages hold. Those of programs
# are beside their targets. The installed tree may be moved: hftac needs no other file, and
# find_package(Hfta) finds all files relative to its own.
#
# The component `hfta` is for those who train models, `dev` for those who link generated
# libraries into programs of their own.

include(CMakePackageConfigHelpers)

set(HFTA_BINARY_DIR bin)
set(HFTA_INCLUDE_DIR include)
set(HFTA_LINK_OPTIONS "")
if(HFTA_SANITIZE)
  set(HFTA_LINK_OPTIONS -fsanitize=address,undefined)
endif()

install(TARGETS hfta_runtime ARCHIVE DESTINATION lib COMPONENT dev)
install(DIRECTORY runtime/include/hfta DESTINATION include COMPONENT dev
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
  DESTINATION lib/cmake/Hfta COMPONENT dev)

install(DIRECTORY python/hfta DESTINATION lib/python3/dist-packages COMPONENT hfta
  FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)

install(FILES CHANGELOG.md LICENSE README.md DESTINATION share/doc/hfta COMPONENT hfta)
install(DIRECTORY docs DESTINATION share/doc/hfta COMPONENT hfta
  FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples/embed examples/fashion examples/ranks
  DESTINATION share/doc/hfta/examples COMPONENT hfta
  FILES_MATCHING
  PATTERN "*.md" PATTERN "*.hfta" PATTERN "*.onnx" PATTERN "*.py"
  PATTERN "*.c" PATTERN "CMakeLists.txt"
  PATTERN "__pycache__" EXCLUDE)
# The reference pages of the dialects and the passes exist only if the target
# `mlir-doc` was built.
foreach(page Dialect GpuDialect Transforms Conversion Pipelines)
  install(FILES ${PROJECT_BINARY_DIR}/docs/Hfta${page}.md
    DESTINATION share/doc/hfta/docs COMPONENT hfta OPTIONAL)
endforeach()

# The licences of what hftac contains, from the Debian packages that it is built with.
set(third_party "hftac contains code of these packages, whose sources Debian and the LLVM
project publish. The programs that it makes contain code of zlib1g-dev.\n")
foreach(package llvm-22-dev libmlir-22-dev liblld-22-dev libprotobuf-dev libonnx-dev
        zlib1g-dev libzstd-dev libstdc++6 libc6)
  if(EXISTS /usr/share/doc/${package}/copyright)
    file(READ /usr/share/doc/${package}/copyright licence)
    string(APPEND third_party "\n======== ${package} ========\n\n${licence}")
  endif()
endforeach()
file(READ ${PROJECT_SOURCE_DIR}/third_party/uplot/LICENSE licence)
string(APPEND third_party "\n======== uPlot, in the pages of programs ========\n\n${licence}")
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/THIRD-PARTY CONTENT "${third_party}")
install(FILES ${PROJECT_BINARY_DIR}/THIRD-PARTY DESTINATION share/doc/hfta COMPONENT hfta)

# Debian packages and the archive that scripts/package makes.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_NAME hfta)
set(CPACK_PACKAGE_CONTACT "The developers of Hfta <hfta@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler for training many models at once")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL hfta dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz) # Debian 11 can't read zstd
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_HFTA_PACKAGE_NAME hfta)
set(CPACK_DEBIAN_HFTA_DESCRIPTION
"compiler for training many models at once
 hftac compiles a sweep of hyper-parameters over an ONNX model to one program that
 trains all copies of the model, each exactly as if it were trained alone. Neither
 hftac nor its programs need anything but the C library.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME hfta-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "hfta (= ${HFTA_VERSION})")
set(CPACK_DEBIAN_DEV_DESCRIPTION
"compiler for training many models at once - development files
 The C runtime's headers and archive, and a package for CMake, for programs that
 libraries made by hftac are linked into.")
include(CPack)

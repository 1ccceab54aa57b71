# Parsing the headers of MLIR and of the dialect takes most of the compile time.
# The target HftaPrecompiledHeaders precompiles them once for all targets that
# link MLIR. Files must still include all that they use; a build without
# HFTA_PRECOMPILE_HEADERS checks this.

option(HFTA_PRECOMPILE_HEADERS "Parse MLIR's headers once" ON)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # By default, CMake also passes `-include HEADER`, with the absolute path of a
  # header that includes the precompiled ones. ccache doesn't make this path
  # relative, so clones of the repository couldn't share cached results.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH
    -Xclang -include-pch -Xclang <PCH_FILE>)
endif()

# Makes a target use the precompiled headers. The target's flags must be LLVM's,
# like those of HftaPrecompiledHeaders.
function(hfta_use_precompiled_headers target)
  if(HFTA_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM HftaPrecompiledHeaders)
  endif()
endfunction()

# Adds a library of the compiler; takes the arguments of add_mlir_library.
function(add_hfta_library name)
  add_mlir_library(${name} ${ARGN})
  hfta_use_precompiled_headers(obj.${name})
endfunction()

# Gives LLVM's flags and the precompiled headers to tests and fuzz targets,
# which aren't made by LLVM's functions. Precompiled headers need equal flags, so
# executables are compiled with -fPIC like libraries, not with -fPIE.
function(hfta_use_llvm_flags target)
  llvm_update_compile_flags(${target})
  target_compile_options(${target} PRIVATE -fPIC)
  hfta_use_precompiled_headers(${target})
endfunction()

# Most of the code to compile is headers of MLIR and of the dialect. They are
# precompiled once, by the target HftaPrecompiledHeaders, for all targets that
# link MLIR. No file may rely on that: each includes what it uses, which a build
# without HFTA_PRECOMPILE_HEADERS checks.

option(HFTA_PRECOMPILE_HEADERS "Parse MLIR's headers once" ON)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # CMake would also pass the path of a header that includes the others. ccache
  # doesn't make that path relative, so clones of the repository could not share
  # their results.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH
    -Xclang -include-pch -Xclang <PCH_FILE>)
endif()

# Uses the precompiled headers for a target whose flags are LLVM's.
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
# which aren't made by LLVM's functions. Precompiled headers are for one set of
# flags, and executables would be compiled with -fPIE.
function(hfta_use_llvm_flags target)
  llvm_update_compile_flags(${target})
  target_compile_options(${target} PRIVATE -fPIC)
  hfta_use_precompiled_headers(${target})
endfunction()

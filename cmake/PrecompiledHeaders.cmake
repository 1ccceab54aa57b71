# Headers of MLIR and of the dialect are most of what there is to compile. They are
# precompiled once, by the target HftaPrecompiledHeaders, for all that link MLIR.
# No file may rely on it: each includes what it uses, which a build without
# HFTA_PRECOMPILE_HEADERS shows.

option(HFTA_PRECOMPILE_HEADERS "Parse MLIR's headers once" ON)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # CMake would also give the path of a header that includes the others, which
  # ccache doesn't make relative: clones could not share what they compile.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH
    -Xclang -include-pch -Xclang <PCH_FILE>)
endif()

# Of a target whose flags are LLVM's.
function(hfta_use_precompiled_headers target)
  if(HFTA_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM HftaPrecompiledHeaders)
  endif()
endfunction()

# A library of the compiler; takes what add_mlir_library takes.
function(add_hfta_library name)
  add_mlir_library(${name} ${ARGN})
  hfta_use_precompiled_headers(obj.${name})
endfunction()

# The same for tests and fuzz targets, which aren't made by LLVM's functions:
# precompiled headers are for one set of flags, and executables would have -fPIE.
function(hfta_use_llvm_flags target)
  llvm_update_compile_flags(${target})
  target_compile_options(${target} PRIVATE -fPIC)
  hfta_use_precompiled_headers(${target})
endfunction()

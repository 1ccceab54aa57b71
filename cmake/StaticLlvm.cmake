# Programs that compile are linked with the archives of LLVM and MLIR: they start in
# 10 ms instead of 55 and compile a fifth faster than with the shared libraries, whose
# calls go through tables and whose code can't be laid out together.
#
# The libraries of this tree name the shared libMLIR and libLLVM, as MLIR's own CMake
# functions make them; the archives may not meet these in one program, where LLVM's
# command-line options would be registered twice. So a program takes the archives of
# our libraries by path, and all of LLVM's and MLIR's after them.

option(HFTA_STATIC_LLVM "Link programs with LLVM's and MLIR's archives" ON)

file(GLOB hfta_llvm_archives
  ${LLVM_LIBRARY_DIRS}/libMLIR*.a ${LLVM_LIBRARY_DIRS}/libLLVM*.a)
if(HFTA_STATIC_LLVM AND NOT hfta_llvm_archives)
  message(STATUS "No archives of LLVM in ${LLVM_LIBRARY_DIRS}: programs take the "
    "shared libraries")
  set(HFTA_STATIC_LLVM OFF)
endif()

# The libraries that `libraries` need: of this tree in `ours`, others in `others`,
# without LLVM's and MLIR's.
function(hfta_collect_libraries ours others)
  set(waiting ${ARGN})
  set(seen "")
  set(own "")
  set(foreign "")
  while(waiting)
    list(POP_FRONT waiting library)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" library "${library}")
    if(library IN_LIST seen OR library MATCHES "^(MLIR|LLVM)")
      continue()
    endif()
    list(APPEND seen ${library})
    set(is_own FALSE)
    if(TARGET ${library})
      get_target_property(is_imported ${library} IMPORTED)
      if(NOT is_imported)
        set(is_own TRUE)
      endif()
    endif()
    if(is_own)
      list(APPEND own ${library})
      get_target_property(needed ${library} INTERFACE_LINK_LIBRARIES)
      if(needed)
        list(APPEND waiting ${needed})
      endif()
    else()
      list(APPEND foreign ${library})
    endif()
  endwhile()
  set(${ours} ${own} PARENT_SCOPE)
  set(${others} ${foreign} PARENT_SCOPE)
endfunction()

# Links a program with libraries of this tree and with all of LLVM and MLIR that they
# need. `mlir`, after MLIR, are components that the program itself calls.
function(hfta_link_compiler target)
  cmake_parse_arguments(LINK "" "" "MLIR" ${ARGN})
  # The cache of compiled kernels knows a compiler by it.
  target_link_options(${target} PRIVATE -Wl,--build-id=sha1)
  if(NOT HFTA_STATIC_LLVM)
    target_link_libraries(${target} PRIVATE ${LINK_UNPARSED_ARGUMENTS})
    if(LINK_MLIR)
      mlir_target_link_libraries(${target} PRIVATE ${LINK_MLIR})
    endif()
    return()
  endif()
  hfta_collect_libraries(ours others ${LINK_UNPARSED_ARGUMENTS})
  set(archives "")
  foreach(library ${ours})
    list(APPEND archives $<TARGET_FILE:${library}>)
    target_include_directories(${target} PRIVATE
      $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
  add_dependencies(${target} ${ours})
  target_link_libraries(${target} PRIVATE
    -Wl,--start-group ${archives} ${hfta_llvm_archives} -Wl,--end-group
    ${others} z zstd)
  target_link_options(${target} PRIVATE -Wl,--gc-sections)
  # An archive that was made again is linked again.
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${archives})
endfunction()

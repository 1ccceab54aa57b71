# hftac and hfta-opt are linked statically with LLVM and MLIR. They start in 10 ms instead
# of 55 and compile a fifth faster than with the shared libraries, whose functions are
# called through the PLT and can't be laid out together with ours. With the archives of all
# other libraries, too, they are files that run on any Linux system.
#
# MLIR's CMake functions make the libraries of this tree depend on the shared libMLIR and
# libLLVM. A program with both these and the archives would register LLVM's command-line
# options twice. So programs link our libraries by the paths of their archives, without
# these dependencies, followed by all archives of LLVM and MLIR.

option(HFTA_STATIC_LLVM "Link programs with LLVM's and MLIR's archives" ON)

file(GLOB hfta_llvm_archives
  ${LLVM_LIBRARY_DIRS}/libMLIR*.a ${LLVM_LIBRARY_DIRS}/libLLVM*.a)
if(HFTA_STATIC_LLVM AND NOT hfta_llvm_archives)
  message(STATUS "No archives of LLVM in ${LLVM_LIBRARY_DIRS}: programs take the "
    "shared libraries")
  set(HFTA_STATIC_LLVM OFF)
endif()

set(is_static ${HFTA_STATIC_LLVM})
if(HFTA_SANITIZE)
  set(is_static OFF) # a sanitizer replaces functions of a shared C library
endif()
option(HFTA_STATIC_PROGRAMS "Link programs without any shared library" ${is_static})
if(HFTA_STATIC_PROGRAMS)
  find_library(HFTA_PROTOBUF_ARCHIVE libprotobuf.a REQUIRED)
  add_library(HftaNoUserDatabase OBJECT ${PROJECT_SOURCE_DIR}/tools/NoUserDatabase.c)
endif()

include(CheckLinkerFlag)
check_linker_flag(CXX -Wl,--icf=all HFTA_HAS_ICF)

# Collects the given libraries and all that they depend on, except for LLVM's and MLIR's:
# sets the variable `ours` to targets of this tree, and `others` to all other libraries.
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

# Links a program with libraries of this tree, and with what they need of LLVM and MLIR.
# After the keyword MLIR follow components of MLIR that the program itself calls.
function(hfta_link_compiler target)
  cmake_parse_arguments(LINK "" "" "MLIR" ${ARGN})
  # The build ID identifies the compiler in the keys of the cache of compiled kernels.
  target_link_options(${target} PRIVATE -Wl,--build-id=sha1)
  if(NOT HFTA_STATIC_LLVM)
    target_link_libraries(${target} PRIVATE ${LINK_UNPARSED_ARGUMENTS})
    if(LINK_MLIR)
      mlir_target_link_libraries(${target} PRIVATE ${LINK_MLIR})
    endif()
    return()
  endif()
  hfta_collect_libraries(ours others ${LINK_UNPARSED_ARGUMENTS})
  if(HFTA_STATIC_PROGRAMS)
    list(TRANSFORM others REPLACE "^protobuf::libprotobuf$" ${HFTA_PROTOBUF_ARCHIVE})
    # Position-independent, so that its addresses can be drawn at random.
    target_link_options(${target} PRIVATE -static-pie)
    target_link_libraries(${target} PRIVATE $<TARGET_OBJECTS:HftaNoUserDatabase>)
    add_dependencies(${target} HftaNoUserDatabase)
  endif()
  set(archives "")
  foreach(library ${ours})
    list(APPEND archives $<TARGET_FILE:${library}>)
    target_include_directories(${target} PRIVATE
      $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
  add_dependencies(${target} ${ours})
  target_link_libraries(${target} PRIVATE
    -Wl,--start-group ${archives} ${others} ${hfta_llvm_archives} -Wl,--end-group
    z zstd)
  target_link_options(${target} PRIVATE -Wl,--gc-sections)
  # Equal functions are kept once, which makes programs a seventh smaller. Nothing of LLVM,
  # MLIR or Hfta tells functions apart by their addresses: type and pass IDs are variables.
  if(HFTA_HAS_ICF)
    target_link_options(${target} PRIVATE -Wl,--icf=all)
  endif()
  # Makes the program depend on the archives' files, so that changed ones are linked again.
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${archives})
endfunction()

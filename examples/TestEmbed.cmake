# Installs Hfta, moves the installed tree, then builds and runs the embed
# example with it. Needs the variables BUILD (Hfta's build folder), SOURCE (the
# example), WORK (a folder for all output), GENERATOR and COMPILER.

include(${CMAKE_CURRENT_LIST_DIR}/TestRun.cmake)

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/moved)
file(GLOB_RECURSE left ${WORK}/moved/lib/*Hfta*.a)
if(left)
  message(FATAL_ERROR "installed without need: ${left}")
endif()
foreach(file bin/hfta-opt include/hfta/embed.h share/doc/hfta/README.md
        share/doc/hfta/docs/binary.md share/doc/hfta/examples/embed/main.c
        share/doc/hfta/examples/ranks/sweep.hfta)
  if(NOT EXISTS ${WORK}/moved/${file})
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()
run(${WORK}/moved/bin/hfta-opt --version)

run(${CMAKE_COMMAND} -S ${SOURCE} -B build -G ${GENERATOR}
  -DCMAKE_C_COMPILER=${COMPILER} -DCMAKE_C_FLAGS=-Wall\ -Wextra\ -Werror
  -DCMAKE_PREFIX_PATH=${WORK}/moved)
run(${CMAKE_COMMAND} --build build)
run(build/embed)
foreach(line "step 600  sine" "rings, copy 1: loss" "the two sines are equal")
  if(NOT output MATCHES "${line}")
    message(FATAL_ERROR "no '${line}' in\n${output}")
  endif()
endforeach()
if(NOT EXISTS ${WORK}/checkpoints/step-00000600/copy-0002.safetensors)
  message(FATAL_ERROR "no checkpoint in ${WORK}/checkpoints")
endif()

# Nothing has changed, so nothing must be compiled again.
run(${CMAKE_COMMAND} --build build)
if(output MATCHES "hftac")
  message(FATAL_ERROR "compiled again without need\n${output}")
endif()
message(STATUS "embed runs against a moved tree")

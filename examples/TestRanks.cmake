# Builds the program of the ranks example with an installed tree, with CMake and
# without, and runs it on 1 to 4 ranks. Needs the variables INSTALLED (the
# tree), WORK (a folder for all output), GENERATOR and COMPILER.

include(${CMAKE_CURRENT_LIST_DIR}/TestRun.cmake)

find_program(mpicc mpicc)
find_program(mpirun mpirun)
# Debian's openmpi-bin has mpicc, but the headers are in libopenmpi-dev.
if(mpicc)
  execute_process(COMMAND ${mpicc} --showme:incdirs
    OUTPUT_VARIABLE folders OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(folders)
  find_file(header mpi.h PATHS ${folders} NO_DEFAULT_PATH)
endif()
if(NOT header OR NOT mpirun)
  message(STATUS "skipped: needs mpicc (Debian's package libopenmpi-dev) and mpirun")
  return()
endif()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
# mpirun creates sockets in TMPDIR. Their paths must be short, so they aren't in WORK.
run(mktemp -d)
string(STRIP "${output}" temporary)
set(ENV{TMPDIR} ${temporary})
set(ENV{OMPI_MCA_rmaps_base_oversubscribe} 1)
set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)
set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
# mpicc calls this compiler.
set(ENV{OMPI_CC} ${COMPILER})
set(ENV{PATH} "${INSTALLED}/bin:$ENV{PATH}")

set(source ${INSTALLED}/share/doc/hfta/examples/ranks)
set(flags "-Wall -Wextra -Werror")
run(${CMAKE_COMMAND} -S ${source} -B build -G ${GENERATOR}
  -DCMAKE_C_COMPILER=${COMPILER} -DCMAKE_C_FLAGS=${flags}
  -DCMAKE_PREFIX_PATH=${INSTALLED})
run(${CMAKE_COMMAND} --build build)
run(build/fit checkpoints-0)
set(alone "${output}")
string(REGEX MATCHALL "step +[0-9]+: losses [-+e.0-9]+ " lines "${alone}")
list(LENGTH lines count)
if(NOT count EQUAL 4 OR NOT alone MATCHES "largest errors: ")
  message(FATAL_ERROR "expected losses of 4 steps and the largest errors, got\n"
    "${alone}")
endif()
file(GLOB names RELATIVE ${WORK}/checkpoints-0
  ${WORK}/checkpoints-0/*/*.safetensors)
foreach(ranks 1 2 3 4)
  run(${mpirun} -n ${ranks} --bind-to none build/fit checkpoints-${ranks})
  if(NOT output STREQUAL alone)
    message(FATAL_ERROR "${ranks} ranks:\n${output}\none process:\n${alone}")
  endif()
  foreach(name ${names})
    run(${CMAKE_COMMAND} -E compare_files
      ${WORK}/checkpoints-0/${name} ${WORK}/checkpoints-${ranks}/${name})
  endforeach()
endforeach()

# Builds with the two commands of README.md that need no CMake.
file(STRINGS ${source}/README.md commands REGEX "^(hftac|mpicc) ")
list(LENGTH commands count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "expected 2 commands in README.md, got: ${commands}")
endif()
file(COPY ${source}/curve.hfta ${source}/main.c DESTINATION ${WORK})
foreach(command ${commands})
  run(sh -c "${command}")
endforeach()
run(${mpirun} -n 2 --bind-to none ./fit)
if(NOT output STREQUAL alone)
  message(FATAL_ERROR "without CMake:\n${output}\nwith it:\n${alone}")
endif()
file(REMOVE_RECURSE ${temporary})
message(STATUS "the program of examples/ranks runs on 1 to 4 ranks")

# Functions that add tests. Each test has a label: `scripts/test --quick` runs the
# tests `quick`, `scripts/test` also `full`, and `scripts/check long` those that are
# `long`. Tests without RUN_SERIAL run in parallel, one per core.

# Timeouts of single tests and of suites, in seconds: many times what they take
# on two cores.
set(HFTA_TEST_TIMEOUT 300)
set(HFTA_SUITE_TIMEOUT 3600)
if(HFTA_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  foreach(timeout TEST SUITE)
    math(EXPR HFTA_${timeout}_TIMEOUT "5 * ${HFTA_${timeout}_TIMEOUT}")
  endforeach()
endif()

include(GoogleTest)

# Adds a quick test; the arguments after its name are its command.
function(hfta_add_unit_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES
    LABELS quick TIMEOUT ${HFTA_TEST_TIMEOUT})
endfunction()

# Adds the tests of a GoogleTest binary, each as a process of its own.
function(hfta_discover_tests target)
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS quick TIMEOUT ${HFTA_TEST_TIMEOUT})
endfunction()

# Divides the tests of a GoogleTest binary among the tests NAME-1 to NAME-SHARDS,
# for a binary that takes too long to start to have a process for each test.
# CTest begins with the tests of the highest COST. GoogleTest deals the tests out
# in turns, so that the last LONG shards, which are for scripts/check long, have
# cases of all kinds, as the others do.
function(hfta_add_test_shards name target)
  cmake_parse_arguments(SUITE "" "SHARDS;COST;LABEL;LONG" "ENVIRONMENT" ${ARGN})
  foreach(shard RANGE 1 ${SUITE_SHARDS})
    math(EXPR index "${shard} - 1")
    math(EXPR left "${SUITE_SHARDS} - ${index}")
    set(label ${SUITE_LABEL})
    if(SUITE_LONG AND left LESS_EQUAL SUITE_LONG)
      set(label long)
    endif()
    add_test(NAME ${name}-${shard} COMMAND ${target})
    set_tests_properties(${name}-${shard} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${SUITE_SHARDS};GTEST_SHARD_INDEX=${index};${SUITE_ENVIRONMENT}"
      LABELS ${label} TIMEOUT ${HFTA_SUITE_TIMEOUT} COST ${SUITE_COST})
  endforeach()
endfunction()

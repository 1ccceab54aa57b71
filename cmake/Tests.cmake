# Labels: `quick` tests are run by `scripts/test --quick`, the others are
# `full`. Tests without RUN_SERIAL run side by side, one per core.

# The seconds after which a test has failed: many times what it takes on two
# cores.
set(HFTA_TEST_TIMEOUT 300)
set(HFTA_SUITE_TIMEOUT 3600)
if(HFTA_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  foreach(timeout TEST SUITE)
    math(EXPR HFTA_${timeout}_TIMEOUT "5 * ${HFTA_${timeout}_TIMEOUT}")
  endforeach()
endif()

include(GoogleTest)

# Adds one test, with its name and command.
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

# Adds the tests of a GoogleTest binary that takes long to start, or for which a
# process for each test isn't worth it, as NAME-1 to NAME-SHARDS. Tests with the
# highest COST begin first.
function(hfta_add_test_shards name target)
  cmake_parse_arguments(SUITE "" "SHARDS;COST;LABEL" "ENVIRONMENT" ${ARGN})
  foreach(shard RANGE 1 ${SUITE_SHARDS})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}-${shard} COMMAND ${target})
    set_tests_properties(${name}-${shard} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${SUITE_SHARDS};GTEST_SHARD_INDEX=${index};${SUITE_ENVIRONMENT}"
      LABELS ${SUITE_LABEL} TIMEOUT ${HFTA_SUITE_TIMEOUT} COST ${SUITE_COST})
  endforeach()
endfunction()

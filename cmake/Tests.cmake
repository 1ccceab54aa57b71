# Labels: `quick` is what `scripts/test --quick` runs, `full` the rest. Tests that
# don't say RUN_SERIAL run side by side, one a core.

# Seconds after which a test has failed: many times what it takes on two cores.
set(HFTA_TEST_TIMEOUT 300)
set(HFTA_SUITE_TIMEOUT 3600)
set(HFTA_LONG_SUITE_TIMEOUT 7200)
if(HFTA_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  foreach(timeout TEST SUITE LONG_SUITE)
    math(EXPR HFTA_${timeout}_TIMEOUT "5 * ${HFTA_${timeout}_TIMEOUT}")
  endforeach()
endif()

include(GoogleTest)

# One test: its name, and the command.
function(hfta_add_unit_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES
    LABELS quick TIMEOUT ${HFTA_TEST_TIMEOUT})
endfunction()

# The tests of a GoogleTest binary, a process each.
function(hfta_discover_tests target)
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS quick TIMEOUT ${HFTA_TEST_TIMEOUT})
endfunction()

# Runs a command in WORK and sets `output` to what it prints. Ends the script
# with an error if the command fails.
function(run)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY ${WORK}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "'${ARGV}' ended with ${code}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

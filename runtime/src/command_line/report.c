//===- report.c - Messages about errors of commands -----------------------===//

#include "command_line/command.h"
#include "command_line/rank_name.h"
#include "progress/screen.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

/// Reports an error with the rank's name and ends all ranks. Doesn't return.
static void report_of_rank(const hfta_invocation *invocation,
                           hfta_status status, const char *message) {
  hfta_communicator *communicator = invocation->ranks->communicator;
  hfta_rank_name name = hfta_name_rank(invocation->program, communicator->rank,
                                       communicator->size);
  char line[sizeof(((hfta_error *)0)->message) + 256];
  snprintf(line, sizeof(line), "%s: %s: error: %s", invocation->binary,
           name.text, message);
  hfta_communicator_fail(communicator, status, line);
}

int hfta_report(const hfta_invocation *invocation, hfta_status status,
                const char *message) {
  fflush(stdout);
  const hfta_rank_state *ranks = invocation->ranks;
  if (ranks->communicator && ranks->communicator->size > 1)
    report_of_rank(invocation, status, message);
  if (ranks->is_silent)
    return (int)status;
  hfta_screen_begin_output(invocation->screen);
  if (invocation->tells_job)
    fprintf(stderr, "%s: error: job '%s': %s\n", invocation->binary,
            invocation->job, message);
  else
    fprintf(stderr, "%s: error: %s\n", invocation->binary, message);
  hfta_screen_end_output(invocation->screen);
  return (int)status;
}

int hfta_report_output(const hfta_invocation *invocation) {
  char message[256];
  snprintf(message, sizeof(message), "cannot write to standard output: %s",
           strerror(errno ? errno : EIO));
  return hfta_report(invocation, HFTA_CANNOT_WRITE, message);
}

int hfta_report_usage(const hfta_invocation *invocation, const char *format,
                      ...) {
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  hfta_report(invocation, HFTA_USAGE, message);
  if (invocation->ranks->is_silent)
    return HFTA_USAGE;
  fprintf(stderr, "%s: note: '%s %s --help' lists the options\n",
          invocation->binary, invocation->binary, invocation->command);
  return HFTA_USAGE;
}

//===- ranks.c - Commands that run on several ranks -----------------------===//

#include "command_line/ranks.h"

#include "instance/join.h"

#include <string.h>
#include <time.h>

void hfta_expect_ranks(const hfta_invocation *invocation) {
  hfta_launcher launcher;
  hfta_launcher_find(&launcher);
  invocation->ranks->is_silent = launcher.rank > 0;
}

/// Ends this rank's silence. Rank 0 reports an error that all ranks have, and
/// its exit makes the launcher end the others within some seconds. So a rank
/// that is still running after these seconds has an error of its own, and
/// reports it.
static void speak_if_alone(const hfta_invocation *invocation) {
  const struct timespec moment = {5, 0};
  if (invocation->ranks->is_silent)
    nanosleep(&moment, NULL);
  invocation->ranks->is_silent = false;
}

int hfta_join_ranks(const hfta_invocation *invocation,
                    const hfta_rank_arguments *arguments) {
  hfta_rank_state *state = invocation->ranks;
  const char *text = arguments->ranks ? arguments->ranks : "auto";
  hfta_rank_options options = {.library = arguments->library,
                               .timeout = (double)arguments->timeout};
  if (strcmp(text, "1") == 0)
    options.ranks = HFTA_RANKS_ONE;
  else if (strcmp(text, "auto") != 0)
    return hfta_report_usage(invocation,
                             "option '--ranks' is 'auto' or '1', got '%s': "
                             "a launcher starts ranks, such as mpirun -n 4",
                             text);
  state->timeout = options.timeout;
  hfta_launcher launcher;
  hfta_launcher_find(&launcher);
  int size = options.ranks == HFTA_RANKS_ONE ? 1 : launcher.size;
  hfta_error error;
  int64_t arrays = invocation->program->search
                       ? invocation->program->search->array_count
                       : 1;
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < arrays && status == HFTA_OK; ++i)
    status = hfta_check_ranks(invocation->arrays[i], size, &error);
  if (status != HFTA_OK)
    return hfta_report(invocation, status, error.message);
  status = hfta_communicator_open(&options, &state->communicator, &error);
  if (status != HFTA_OK) {
    speak_if_alone(invocation);
    return hfta_report(invocation, status, error.message);
  }
  state->is_silent = false;
  return -1;
}

void hfta_leave_ranks(const hfta_invocation *invocation) {
  hfta_communicator_close(invocation->ranks->communicator);
  invocation->ranks->communicator = NULL;
}

bool hfta_is_first_rank(const hfta_invocation *invocation) {
  const hfta_communicator *communicator = invocation->ranks->communicator;
  return !communicator || communicator->rank == 0;
}

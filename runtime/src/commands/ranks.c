//===- ranks.c - Commands that run on several ranks -----------------------===//

#include "commands/ranks.h"

#include "instance/join.h"
#include "text/ranges.h"
#include "workload/share.h"

#include <string.h>
#include <time.h>

/// Returns the stage of a worker, and in `*out_replica` its number in the
/// stage.
static int32_t find_stage(const hfta_program *program, int64_t worker,
                          int64_t *out_replica) {
  int32_t stage = 0;
  while (worker >= program->stages[stage].replicas)
    worker -= program->stages[stage++].replicas;
  *out_replica = worker;
  return stage;
}

hfta_rank_name hfta_name_rank(const hfta_program *program, int rank,
                              int ranks) {
  hfta_rank_name out;
  hfta_ranges stages = {0}, replicas = {0};
  int64_t workers = hfta_rank_worker_count(program, ranks, rank);
  // In a program of one stage, the name has only the rank's first replica.
  if (program->stage_count == 1)
    workers = 1;
  for (int64_t i = 0; i < workers; ++i) {
    int64_t replica, worker = hfta_rank_worker(program, ranks, rank, i);
    hfta_ranges_add(&stages, find_stage(program, worker, &replica));
    hfta_ranges_add(&replicas, replica);
  }
  const size_t size = sizeof(out.text);
  const char *plural = workers > 1 ? "s" : "";
  if (program->stage_count == 1)
    snprintf(out.text, size, "rank %d (replica %s)", rank, replicas.text);
  else if (stages.count > 1)
    snprintf(out.text, size, "rank %d (stages %s)", rank, stages.text);
  else
    snprintf(out.text, size, "rank %d (stage %s, replica%s %s)", rank,
             stages.text, plural, replicas.text);
  return out;
}

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
  hfta_status status = hfta_check_ranks(invocation->program, size, &error);
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

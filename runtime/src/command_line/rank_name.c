//===- rank_name.c - Names of ranks for messages --------------------------===//

#include "command_line/rank_name.h"

#include "text/ranges.h"
#include "workload/share.h"

#include <stdio.h>

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

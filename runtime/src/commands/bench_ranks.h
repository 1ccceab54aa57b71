//===- bench_ranks.h - What ranks did, and how they are linked --*- C -*-===//
//
// Called by all ranks together; rank 0 alone has what comes out. Where there is
// one rank there are no links.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMANDS_BENCH_RANKS_H
#define HFTA_SRC_COMMANDS_BENCH_RANKS_H

#include "commands/bench_phases.h"
#include "hfta/communicator.h"

/// Seconds of a rank in all timed steps. What it does at the same time on
/// several queues, of one worker or of several, counts several times.
typedef struct hfta_rank_time {
  double busy;          ///< tasks, copies and fills
  double waiting;       ///< what computes has to wait for other queues
  double communicating; ///< messages, the wait for other ranks included
  uint64_t peak_bytes;  ///< that the rank plans
} hfta_rank_time;

/// Adds an activity to its rank's.
void hfta_rank_time_add(hfta_rank_time *self, const hfta_activity *activity);

/// Between two ranks, in either direction.
typedef struct hfta_link {
  double latency;          ///< seconds that the smallest message takes
  double bytes_per_second; ///< of a large one, apart from the latency
  double slowdown; ///< of what computes while a message is awaited; at least 1
} hfta_link;

typedef struct hfta_rank_measures {
  int ranks;
  hfta_rank_time *times; ///< one a rank
  hfta_link *links; ///< of ranks i < j at [i * ranks + j]; NULL: not measured
} hfta_rank_measures;

/// Bytes a second, by the seconds of the smallest message and of one of so many
/// bytes: after the latency if that can be told apart, else in all of the time.
double hfta_link_rate(double small, double large, uint64_t bytes);

/// Collects the ranks' times, and adds their times of tasks to rank 0's.
hfta_status hfta_gather_times(hfta_communicator *communicator,
                              const hfta_rank_time *own, hfta_task_time *tasks,
                              uint32_t task_count, hfta_rank_measures *out,
                              hfta_error *error);

/// Sends messages between each two ranks, one pair after the other.
/// `task_seconds` are those of a task beside which a message is awaited.
hfta_status hfta_measure_links(hfta_communicator *communicator,
                               double task_seconds, hfta_rank_measures *out,
                               hfta_error *error);

void hfta_rank_measures_free(hfta_rank_measures *self);

/// Writes the keys `rank_times`, of a step, and if they were measured `links`.
void hfta_write_rank_measures(const hfta_rank_measures *self, int64_t steps,
                              hfta_json_writer *writer);

/// Prints a table of the ranks' times of a step.
void hfta_print_rank_times(const hfta_rank_measures *self,
                           const hfta_program *program, int64_t steps);

#endif // HFTA_SRC_COMMANDS_BENCH_RANKS_H

//===- bench_ranks.h - Times of ranks, and speed of their links ---*- C -*-===//
//
// The functions that take a communicator are collective: all ranks call them,
// and rank 0 gets the results. A single rank has no links.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMAND_LINE_BENCH_BENCH_RANKS_H
#define HFTA_SRC_COMMAND_LINE_BENCH_BENCH_RANKS_H

#include "command_line/bench/bench_phases.h"
#include "hfta/communicator.h"

/// The seconds that a rank has spent in all timed steps. Activities of
/// different queues and workers are added up, even if they were simultaneous.
typedef struct hfta_rank_time {
  double busy;    ///< tasks, copies, fills, and transfers from and to the store
  double waiting; ///< waits of queue 0 of each worker, which computes, for
                  ///< other queues
  double communicating; ///< messages, including the time that other ranks are
                        ///< waited for
  uint64_t peak_bytes;  ///< the peak memory by the rank's plan
} hfta_rank_time;

/// Adds an activity's time to the rank's times.
void hfta_rank_time_add(hfta_rank_time *self, const hfta_activity *activity);

/// The speed of messages between two ranks, in either direction.
typedef struct hfta_link {
  double latency;          ///< seconds that a small message takes
  double bytes_per_second; ///< the rate of a large message, beyond the latency
  double slowdown; ///< the factor by which computing slows down while a message
                   ///< is awaited, at least 1
} hfta_link;

/// The measurements of all ranks, on rank 0. Released by
/// hfta_rank_measures_free.
typedef struct hfta_rank_measures {
  int ranks;
  hfta_rank_time *times; ///< one per rank; NULL: not measured
  hfta_link *links; ///< the link of ranks i < j is at [i * ranks + j]; NULL:
                    ///< not measured
} hfta_rank_measures;

/// Returns a link's bytes per second, from the seconds that a small message and
/// one of `bytes` bytes take. The latency is subtracted, unless the times
/// differ too little to separate it.
double hfta_link_rate(double small, double large, uint64_t bytes);

/// Gathers the ranks' times in `out->times` on rank 0, and adds the other
/// ranks' times of tasks to rank 0's `tasks`.
hfta_status hfta_gather_times(hfta_communicator *communicator,
                              const hfta_rank_time *own, hfta_task_time *tasks,
                              uint32_t task_count, hfta_rank_measures *out,
                              hfta_error *error);

/// Measures the link of each pair of ranks, one pair at a time, while the other
/// ranks wait. `task_seconds` is the typical duration of a task, used to
/// measure hfta_link.slowdown.
hfta_status hfta_measure_links(hfta_communicator *communicator,
                               double task_seconds, hfta_rank_measures *out,
                               hfta_error *error);

void hfta_rank_measures_free(hfta_rank_measures *self);

/// Writes the key "rank_times", with the times per step, and the key "links" if
/// links were measured.
void hfta_write_rank_measures(const hfta_rank_measures *self, int64_t steps,
                              hfta_json_writer *writer);

/// Prints a table of the ranks' times per step.
void hfta_print_rank_times(const hfta_rank_measures *self,
                           const hfta_program *program, int64_t steps);

#endif // HFTA_SRC_COMMAND_LINE_BENCH_BENCH_RANKS_H

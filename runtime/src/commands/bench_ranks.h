//===- bench_ranks.h - Times of ranks and links between them ------*- C -*-===//
//
// All ranks call these functions together; only rank 0 gets the results. Where
// there is one rank there are no links.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMANDS_BENCH_RANKS_H
#define HFTA_SRC_COMMANDS_BENCH_RANKS_H

#include "commands/bench_phases.h"
#include "hfta/communicator.h"

/// The seconds of a rank in all timed steps. Simultaneous activities on several
/// queues, of one worker or of several, all count.
typedef struct hfta_rank_time {
  double busy;          ///< tasks, copies and fills
  double waiting;       ///< waits of computing queues for other queues
  double communicating; ///< messages, including the wait for other ranks
  uint64_t peak_bytes;  ///< planned by the rank
} hfta_rank_time;

/// Adds an activity to the rank's times.
void hfta_rank_time_add(hfta_rank_time *self, const hfta_activity *activity);

/// A link between two ranks, in either direction.
typedef struct hfta_link {
  double latency;          ///< seconds for the smallest message
  double bytes_per_second; ///< rate of a large message, without the latency
  double slowdown; ///< factor for computation while a message is awaited; at
                   ///< least 1
} hfta_link;

typedef struct hfta_rank_measures {
  int ranks;
  hfta_rank_time *times; ///< one per rank
  hfta_link *links; ///< the link of ranks i < j is at [i * ranks + j]; NULL:
                    ///< not measured
} hfta_rank_measures;

/// Returns the bytes per second of a link, by the seconds of the smallest
/// message and of one of `bytes` bytes: without the latency if that can be
/// separated, else over the whole time.
double hfta_link_rate(double small, double large, uint64_t bytes);

/// Collects the ranks' times on rank 0, and adds the times of their tasks to
/// rank 0's.
hfta_status hfta_gather_times(hfta_communicator *communicator,
                              const hfta_rank_time *own, hfta_task_time *tasks,
                              uint32_t task_count, hfta_rank_measures *out,
                              hfta_error *error);

/// Measures the links by messages between each pair of ranks, one pair after
/// the other. `task_seconds` is the length of a task during which a message is
/// awaited.
hfta_status hfta_measure_links(hfta_communicator *communicator,
                               double task_seconds, hfta_rank_measures *out,
                               hfta_error *error);

void hfta_rank_measures_free(hfta_rank_measures *self);

/// Writes the keys `rank_times`, per step, and `links` if they were measured.
void hfta_write_rank_measures(const hfta_rank_measures *self, int64_t steps,
                              hfta_json_writer *writer);

/// Prints a table of the ranks' times per step.
void hfta_print_rank_times(const hfta_rank_measures *self,
                           const hfta_program *program, int64_t steps);

#endif // HFTA_SRC_COMMANDS_BENCH_RANKS_H

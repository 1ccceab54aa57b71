//===- share.h - The part of a step that a worker does ------------*- C -*-===//
//
// The replicas of a stage share a step's groups of micro-batches: micro-batch m
// belongs to group m mod G, and group c to replica c mod R. Workers are the
// replicas of all stages, numbered stage by stage. Each of the W workers has a
// place, which is its number unless hfta_program.worker_places gives another
// one. Of P ranks, rank p has the workers whose places begin with floor(p W /
// P) and end before rank p + 1's first. The results for a group never depend on
// the rank that computes it.
//
// In a program with several stages, each worker computes its own share. In a
// program with one stage, a rank has a single worker, which computes the shares
// of all the rank's replicas.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_WORKLOAD_SHARE_H
#define HFTA_SRC_WORKLOAD_SHARE_H

#include "hfta/program_queries.h"

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

/// Returns a stage of the program. With stage -1, the whole program as one
/// stage; if the program has several, this has a single replica.
hfta_stage hfta_program_stage(const hfta_program *program, int32_t stage);

/// Returns the number of a stage's first worker.
int64_t hfta_first_worker(const hfta_program *program, int32_t stage);

/// Returns a worker's place: its position, from 0, in the order in which
/// workers are assigned to ranks.
int64_t hfta_worker_place(const hfta_program *program, int64_t worker);

/// Returns the rank that has a worker. There may be at most as many ranks as
/// workers.
int hfta_rank_of_worker(const hfta_program *program, int ranks, int64_t worker);

/// Return the number of a rank's workers, and one of these: `index`, from 0,
/// counts them in the order of their numbers.
int64_t hfta_rank_worker_count(const hfta_program *program, int ranks,
                               int rank);
int64_t hfta_rank_worker(const hfta_program *program, int ranks, int rank,
                         int64_t index);

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//
//
// In these functions, `ranks` ranks share the replicas of one stage; there may
// be at most as many ranks as replicas.

/// Returns the rank that has a replica.
int hfta_rank_of_replica(const hfta_stage *stage, int ranks, int64_t replica);

/// Returns the first of a set of replicas that a rank has; -1 if it has none of
/// them. A single rank has all replicas, even if it runs several stages as one.
int64_t hfta_rank_first_of(const hfta_stage *stage, int ranks, int rank,
                           const hfta_replicas *replicas);

/// Returns the rank that has a group.
int hfta_rank_of_group(const hfta_stage *stage, int ranks, int64_t group);

/// Return the number of groups, and of a step's micro-batches, that a rank has:
/// at least one of each.
int64_t hfta_rank_groups(const hfta_stage *stage, int ranks, int rank);
int64_t hfta_rank_micro_batches(const hfta_program *program,
                                const hfta_stage *stage, int ranks, int rank);

/// The micro-batches and groups of a step that a rank computes for a stage,
/// each in ascending order.
typedef struct hfta_share {
  hfta_stage stage;
  int rank, ranks;
  int64_t micro_batch_count, group_count;
  int64_t *micro_batches; ///< numbers of the micro-batches in the step
  /// For each micro-batch, the position of its group in `groups`.
  int64_t *group_of;
  int64_t *groups; ///< numbers of the groups
} hfta_share;

/// Fills `self` with the share of `rank` among `ranks` ranks of a stage.
/// HFTA_UNSUPPORTED without enough memory; hfta_share_destroy frees it, also
/// after a failure.
hfta_status hfta_share_create(hfta_share *self, const hfta_program *program,
                              int32_t stage, int rank, int ranks,
                              hfta_error *error);
void hfta_share_destroy(hfta_share *self);

/// Returns how many of the first `count` micro-batches of a step belong to the
/// share.
int64_t hfta_share_count(const hfta_share *self, int64_t count);

#endif // HFTA_SRC_WORKLOAD_SHARE_H

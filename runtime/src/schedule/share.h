//===- share.h - The part of a step that a worker does ------------*- C -*-===//
//
// The replicas of a stage share a step's groups of micro-batches: micro-batch m
// belongs to group m mod G, group c to replica c mod R. Workers are the
// replicas of all stages, numbered stage by stage. Each of the W workers has a
// place, which is its number unless the program gives another one: of P ranks,
// rank p has the workers with places from floor(p W / P) up to the next rank's
// first. The results for a group never depend on the rank that computes it.
//
// Where a program has several stages, each worker does its own share; where it
// has one, a rank does the share of all its replicas together.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_SHARE_H
#define HFTA_SRC_SCHEDULE_SHARE_H

#include "hfta/instance.h"

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

/// Returns a stage of the program. -1: the whole program as one stage; if it
/// has several stages, that stage has a single worker.
hfta_stage hfta_program_stage(const hfta_program *program, int32_t stage);

/// Returns the number of a stage's first worker.
int64_t hfta_first_worker(const hfta_program *program, int32_t stage);

/// Returns a worker's place among all workers.
int64_t hfta_worker_place(const hfta_program *program, int64_t worker);

/// Returns the rank that has a worker; there are at most as many ranks as
/// workers.
int hfta_rank_of_worker(const hfta_program *program, int ranks, int64_t worker);

/// Return how many workers a rank has, and the number of one of them: `index`,
/// from 0, counts them in the order of their numbers.
int64_t hfta_rank_worker_count(const hfta_program *program, int ranks,
                               int rank);
int64_t hfta_rank_worker(const hfta_program *program, int ranks, int rank,
                         int64_t index);

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//
//
// In these functions `ranks` ranks share a stage, at most as many as it has
// replicas.

/// Returns the rank that has a replica.
int hfta_rank_of_replica(const hfta_stage *stage, int ranks, int64_t replica);

/// Returns the first replica of a set that a rank has; -1: it has none of them.
/// A single rank has all of them, also where it runs several stages in one
/// place.
int64_t hfta_rank_first_of(const hfta_stage *stage, int ranks, int rank,
                           const hfta_replicas *replicas);

/// Returns the rank that has a group.
int hfta_rank_of_group(const hfta_stage *stage, int ranks, int64_t group);

/// Return how many groups, and how many of a step's micro-batches, a rank has:
/// at least one of each.
int64_t hfta_rank_groups(const hfta_stage *stage, int ranks, int rank);
int64_t hfta_rank_micro_batches(const hfta_program *program,
                                const hfta_stage *stage, int ranks, int rank);

/// A rank's micro-batches and groups, each in ascending order.
typedef struct hfta_share {
  hfta_stage stage;
  int rank, ranks;
  int64_t micro_batch_count, group_count;
  int64_t *micro_batches; ///< their numbers in the step
  int64_t *group_of;      ///< for each: the position of its group in `groups`
  int64_t *groups;        ///< their numbers
} hfta_share;

hfta_status hfta_share_create(hfta_share *self, const hfta_program *program,
                              int32_t stage, int rank, int ranks,
                              hfta_error *error);
void hfta_share_destroy(hfta_share *self);

/// Returns how many of a step's first `count` micro-batches are the rank's.
int64_t hfta_share_count(const hfta_share *self, int64_t count);

#endif // HFTA_SRC_SCHEDULE_SHARE_H

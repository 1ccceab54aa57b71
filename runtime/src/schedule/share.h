//===- share.h - Which part of a step a worker does -------------*- C -*-===//
//
// The replicas of a stage share a step's groups of micro-batches: micro-batch m
// belongs to group m mod G, group c to replica c mod R. Workers are the
// replicas of all stages, numbered stage by stage. Each of the W has a place,
// which is its number if the program doesn't say otherwise: of P ranks, rank p
// has the workers with places from floor(p W / P) on, up to the next rank's
// first. What is computed for a group never depends on where.
//
// Where a program has several stages each worker does its own share; where it
// has one, a rank does that of all its replicas together.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_SHARE_H
#define HFTA_SRC_SCHEDULE_SHARE_H

#include "hfta/instance.h"

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

/// A stage of the program. -1: all of it, as its one stage does it, or one
/// worker alone where it has several.
hfta_stage hfta_program_stage(const hfta_program *program, int32_t stage);

/// The number of a stage's first worker.
int64_t hfta_first_worker(const hfta_program *program, int32_t stage);

/// A worker's place among all.
int64_t hfta_worker_place(const hfta_program *program, int64_t worker);

/// The rank, of at most as many as there are workers, that has a worker.
int hfta_rank_of_worker(const hfta_program *program, int ranks, int64_t worker);

/// How many workers a rank has, and the number of one of them: `index`, from 0,
/// counts them in the order of their numbers.
int64_t hfta_rank_worker_count(const hfta_program *program, int ranks,
                               int rank);
int64_t hfta_rank_worker(const hfta_program *program, int ranks, int rank,
                         int64_t index);

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//
//
// A stage is shared by `ranks`, at most as many as its replicas.

/// The rank that has a replica.
int hfta_rank_of_replica(const hfta_stage *stage, int ranks, int64_t replica);

/// The first of some replicas that a rank has; -1: it has none of them. One
/// rank has all, also where it does several stages' in one place.
int64_t hfta_rank_first_of(const hfta_stage *stage, int ranks, int rank,
                           const hfta_replicas *replicas);

/// The rank that has a group.
int hfta_rank_of_group(const hfta_stage *stage, int ranks, int64_t group);

/// How many groups, and how many of a step's micro-batches, a rank has. At
/// least one of each.
int64_t hfta_rank_groups(const hfta_stage *stage, int ranks, int rank);
int64_t hfta_rank_micro_batches(const hfta_program *program,
                                const hfta_stage *stage, int ranks, int rank);

/// A rank's micro-batches and groups, each in ascending order.
typedef struct hfta_share {
  hfta_stage stage;
  int rank, ranks;
  int64_t micro_batch_count, group_count;
  int64_t *micro_batches; ///< their numbers in the step
  int64_t *group_of;      ///< of each: the place of its group in `groups`
  int64_t *groups;        ///< their numbers
} hfta_share;

hfta_status hfta_share_create(hfta_share *self, const hfta_program *program,
                              int32_t stage, int rank, int ranks,
                              hfta_error *error);
void hfta_share_destroy(hfta_share *self);

/// How many of a step's first `count` micro-batches are the rank's.
int64_t hfta_share_count(const hfta_share *self, int64_t count);

#endif // HFTA_SRC_SCHEDULE_SHARE_H

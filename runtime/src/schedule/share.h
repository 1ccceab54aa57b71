//===- share.h - Which part of a step a rank does ---------------*- C -*-===//
//
// A program's workers share a step's groups of micro-batches: micro-batch m
// belongs to group m mod G, group c to worker c mod W. Of P ranks, rank p does
// what the workers from floor(p W / P) on do, up to the next rank's first. What
// is computed for a group never depends on where.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_SHARE_H
#define HFTA_SRC_SCHEDULE_SHARE_H

#include "hfta/instance.h"

/// The rank, of `ranks`, at most as many as the program's workers, that has a
/// group.
int hfta_rank_of_group(const hfta_program *program, int ranks, int64_t group);

/// How many groups, and how many of a step's micro-batches, a rank has. At
/// least one of each.
int64_t hfta_rank_groups(const hfta_program *program, int ranks, int rank);
int64_t hfta_rank_micro_batches(const hfta_program *program, int ranks,
                                int rank);

/// A rank's micro-batches and groups, each in ascending order.
typedef struct hfta_share {
  int rank, ranks;
  int64_t micro_batch_count, group_count;
  int64_t *micro_batches; ///< their numbers in the step
  int64_t *group_of;      ///< of each: the place of its group in `groups`
  int64_t *groups;        ///< their numbers
} hfta_share;

hfta_status hfta_share_create(hfta_share *self, const hfta_program *program,
                              int rank, int ranks, hfta_error *error);
void hfta_share_destroy(hfta_share *self);

/// How many of a step's first `count` micro-batches are the rank's.
int64_t hfta_share_count(const hfta_share *self, int64_t count);

/// What the instance's rank does.
const hfta_share *hfta_instance_share(const hfta_instance *instance);

#endif // HFTA_SRC_SCHEDULE_SHARE_H

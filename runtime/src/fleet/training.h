//===- training.h - The copies that a model of a fleet trains -----*- C -*-===//
//
// A model of a fleet consists of some or all copies of a program. If these take
// turns in groups within a memory budget, several seats can train groups of the
// same program at the same time; each model then has some of the groups.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FLEET_TRAINING_H
#define HFTA_SRC_FLEET_TRAINING_H

#include "workload/workload.h"

enum { HFTA_TRAINING_NAME_BYTES = 160 };

typedef struct hfta_fleet_training {
  const hfta_program *program;
  int64_t first_copy, copies;
  char name[HFTA_TRAINING_NAME_BYTES]; ///< the job's name, followed by the
                                       ///< copies' numbers if the job has
                                       ///< several parts
} hfta_fleet_training;

/// Returns the number of groups in which a program's copies take turns within
/// its memory budget; 1 if it has no budget, or if its groups depend on each
/// other.
int64_t hfta_program_group_count(const hfta_program *program);

/// Returns the number of parts of a program with `groups` groups: one per
/// group, but at most one per seat.
int64_t hfta_count_parts(int64_t groups, int64_t seats);

/// Returns the number of parts into which a program is divided for `seats`
/// seats.
int64_t hfta_fleet_count_parts(const hfta_program *program, int64_t seats);

/// Returns part number `index` of `count`. It has consecutive groups.
hfta_fleet_training hfta_fleet_take_part(const hfta_program *program,
                                         int64_t count, int64_t index);

/// Returns the workload of all that the program can do for the training's
/// copies.
hfta_workload hfta_fleet_workload(const hfta_fleet_training *training);

#endif // HFTA_SRC_FLEET_TRAINING_H

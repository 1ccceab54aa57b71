//===- training.h - Units of copies that train at seats -----------*- C -*-===//
//
// A model of a fleet consists of copies of a program. If these take turns in
// groups within a budget of memory, several seats can have groups of one
// program at the same time: then each model has some of the groups.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FLEET_TRAINING_H
#define HFTA_SRC_FLEET_TRAINING_H

#include "schedule/workload.h"

enum { HFTA_TRAINING_NAME_BYTES = 160 };

typedef struct hfta_fleet_training {
  const hfta_program *program;
  int64_t first_copy, copies;
  char name[HFTA_TRAINING_NAME_BYTES]; ///< the job's, with the copies if it has
                                       ///< several parts
} hfta_fleet_training;

/// Returns the number of groups in which a program's copies take turns by its
/// budget; 1: it has no budget, or its groups depend on each other.
int64_t hfta_program_group_count(const hfta_program *program);

/// Returns the number of parts of a program with `groups` groups: as many, but
/// at most one per seat.
int64_t hfta_count_parts(int64_t groups, int64_t seats);

/// Returns the number of parts of a program.
int64_t hfta_fleet_count_parts(const hfta_program *program, int64_t seats);

/// Returns part number `index` of `count`: consecutive groups.
hfta_fleet_training hfta_fleet_take_part(const hfta_program *program,
                                         int64_t count, int64_t index);

/// Returns the workload of everything that the program can do for these copies,
/// at a seat or not.
hfta_workload hfta_fleet_workload(const hfta_fleet_training *training);

#endif // HFTA_SRC_FLEET_TRAINING_H

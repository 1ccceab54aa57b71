//===- training.h - What trains at seats as one -----------------*- C -*-===//
//
// A fleet's model is a program's copies. Where these take turns in groups
// within a budget of memory, several seats can have groups of one program at
// the same time: then each model has some of its groups.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FLEET_TRAINING_H
#define HFTA_SRC_FLEET_TRAINING_H

#include "schedule/workload.h"

enum { HFTA_TRAINING_NAME_BYTES = 160 };

typedef struct hfta_fleet_training {
  const hfta_program *program;
  int64_t first_copy, copies;
  char name[HFTA_TRAINING_NAME_BYTES]; ///< the job's, or with its copies
} hfta_fleet_training;

/// In how many groups a program's copies take turns, as its budget says; 1: it
/// has none, or its groups need each other.
int64_t hfta_program_group_count(const hfta_program *program);

/// Parts of a program with so many groups: as many, but no more than seats.
int64_t hfta_count_parts(int64_t groups, int64_t seats);

/// The same of a program.
int64_t hfta_fleet_count_parts(const hfta_program *program, int64_t seats);

/// Part number `index` of so many: groups that follow each other.
hfta_fleet_training hfta_fleet_take_part(const hfta_program *program,
                                         int64_t count, int64_t index);

/// Everything that the program can do for these copies, at a seat or not.
hfta_workload hfta_fleet_workload(const hfta_fleet_training *training);

#endif // HFTA_SRC_FLEET_TRAINING_H

//===- rank_name.h - Names of ranks for messages ------------------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_RANK_NAME_H
#define HFTA_SRC_COMMAND_LINE_RANK_NAME_H

#include "hfta/program.h"

/// The name of a rank for messages, such as "rank 3 (stage 1, replica 0)", or
/// "rank 3 (replica 3)" by its first worker in a program of one stage.
typedef struct hfta_rank_name {
  char text[192];
} hfta_rank_name;
hfta_rank_name hfta_name_rank(const hfta_program *program, int rank, int ranks);

#endif // HFTA_SRC_COMMAND_LINE_RANK_NAME_H

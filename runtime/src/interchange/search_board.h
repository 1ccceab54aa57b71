//===- search_board.h - A search in TensorBoard's format ----------*- C -*-===//
//
// Follows the lines of a search's journal while they are written.
//
// Threads: an object is used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INTERCHANGE_SEARCH_BOARD_H
#define HFTA_SRC_INTERCHANGE_SEARCH_BOARD_H

#include "hfta/program.h"
#include "hfta/status.h"

typedef struct hfta_search_board hfta_search_board;

/// Creates the folder and its files for a program with a search of at most
/// `trials` trials.
hfta_status hfta_search_board_open(const char *folder,
                                   const hfta_program *program, int64_t trials,
                                   int64_t steps_per_epoch,
                                   hfta_search_board **out, hfta_error *error);

/// Adds what complete lines of a journal say, and writes it.
hfta_status hfta_search_board_add(hfta_search_board *self, const char *lines,
                                  size_t size, hfta_error *error);

/// NULL is allowed.
void hfta_search_board_close(hfta_search_board *self);

#endif // HFTA_SRC_INTERCHANGE_SEARCH_BOARD_H

//===- search_info.h - What info says about a search --------------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_TRIALS_SEARCH_INFO_H
#define HFTA_SRC_COMMAND_LINE_TRIALS_SEARCH_INFO_H

#include "hfta/json.h"
#include "hfta/program.h"

/// Prints two or more lines about the search of these arrays' programs.
void hfta_print_search(FILE *file, const hfta_program *const *arrays);

/// Writes the key "search" and its object.
void hfta_put_search(hfta_json_writer *writer,
                     const hfta_program *const *arrays);

#endif // HFTA_SRC_COMMAND_LINE_TRIALS_SEARCH_INFO_H

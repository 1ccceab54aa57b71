//===- print_schedules.h - A program's schedules as text --------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_PRINT_SCHEDULES_H
#define HFTA_SRC_COMMAND_LINE_PRINT_SCHEDULES_H

#include "hfta/program.h"

// Return the word that MLIR's dialect has for a number of an enumeration, which
// each line names; "?" for unknown numbers.
const char *hfta_space_word(uint32_t space);         ///< hfta_space
const char *hfta_repeat_kind_word(uint32_t kind);    ///< hfta_repeat_kind
const char *hfta_due_kind_word(uint64_t kind);       ///< hfta_due_kind
const char *hfta_contents_word(uint32_t contents);   ///< hfta_contents
const char *hfta_residency_word(uint32_t residency); ///< hfta_residency

/// Prints all schedules to standard output, in the MLIR syntax that `hftac
/// --emit=scheduled` prints.
void hfta_print_schedules(const hfta_program *program);

#endif // HFTA_SRC_COMMAND_LINE_PRINT_SCHEDULES_H

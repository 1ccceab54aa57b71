//===- command_records.h - The records of commands ----------------*- C -*-===//

#ifndef HFTA_SRC_PROGRAM_COMMAND_RECORDS_H
#define HFTA_SRC_PROGRAM_COMMAND_RECORDS_H

#include "hfta/program.h"

#include <stdbool.h>

/// A member of an hfta_command that counts for a kind of command.
typedef struct hfta_command_field {
  hfta_command_field_kind kind;
  const char *text; ///< words before it in a line of text; NULL: it stands in
                    ///< the braces at the end of the line
  const char *key;  ///< its name in JSON; NULL: it isn't there
} hfta_command_field;

/// A record of hfta/commands.h.
typedef struct hfta_command_record {
  const char *word;  ///< the command's name
  uint32_t flags;    ///< hfta_command_flag
  const char *queue; ///< how traces call a queue with such commands, or NULL
  const hfta_command_field *fields;
  uint32_t field_count;
} hfta_command_record;

/// Returns the record of a kind of command. An unknown kind has a record
/// without fields and flags, and the word "?".
const hfta_command_record *hfta_find_command_record(uint32_t kind);

/// Returns whether a member of the command means this.
bool hfta_command_has(const hfta_command *command,
                      hfta_command_field_kind field);

/// Returns whether the command's record has this flag.
static inline bool hfta_command_is(const hfta_command *command,
                                   hfta_command_flag flag) {
  return (hfta_find_command_record(command->kind)->flags & flag) != 0;
}

/// Returns whether a command transfers from a place of this kind.
static inline bool hfta_command_reads(const hfta_command *command,
                                      hfta_space space) {
  return hfta_command_has(command, HFTA_FIELD_FROM) &&
         command->from.space == (uint32_t)space;
}

/// Returns whether a command transfers to a place of this kind.
static inline bool hfta_command_writes(const hfta_command *command,
                                       hfta_space space) {
  return hfta_command_has(command, HFTA_FIELD_TO) &&
         command->to.space == (uint32_t)space;
}

/// Returns whether the command names the segment, or the host's image of it, as
/// one of its places. Segments that its task uses don't count.
bool hfta_command_names_segment(const hfta_command *command, uint32_t segment);

#endif // HFTA_SRC_PROGRAM_COMMAND_RECORDS_H

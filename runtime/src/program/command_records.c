//===- command_records.c - The records of commands ------------------------===//

#include "program/command_records.h"

// The fields of each command: an array run_fields, and so on.
#define HFTA_FIELD(kind, text, key) {HFTA_FIELD_##kind, text, key}
#define HFTA_COMMAND(identifier, word, number, flags, queue, ...)              \
  static const hfta_command_field word##_fields[] = {__VA_ARGS__};
HFTA_COMMANDS
#undef HFTA_COMMAND
#undef HFTA_FIELD

const hfta_command_record *hfta_find_command_record(uint32_t kind) {
  static const hfta_command_record records[] = {
#define HFTA_COMMAND(identifier, word, number, flags, queue, ...)              \
  [number] = {#word, flags, queue, word##_fields,                              \
              sizeof(word##_fields) / sizeof(*word##_fields)},
      HFTA_COMMANDS
#undef HFTA_COMMAND
  };
  static const hfta_command_record unknown = {"?", 0, NULL, NULL, 0};
  bool is_known =
      kind < sizeof(records) / sizeof(*records) && records[kind].word;
  return is_known ? &records[kind] : &unknown;
}

bool hfta_command_has(const hfta_command *command,
                      hfta_command_field_kind field) {
  const hfta_command_record *record = hfta_find_command_record(command->kind);
  for (uint32_t i = 0; i < record->field_count; ++i)
    if (record->fields[i].kind == field)
      return true;
  return false;
}

/// Returns the place that a member of this kind is; NULL if it isn't one, or is
/// one in the arena.
static const hfta_place *find_place(const hfta_command *command,
                                    hfta_command_field_kind kind) {
  switch (kind) {
  case HFTA_FIELD_TO:
  case HFTA_FIELD_AT:
  case HFTA_FIELD_AT_COPIES:
  case HFTA_FIELD_SUMS:
  case HFTA_FIELD_SEGMENT:
    return &command->to;
  case HFTA_FIELD_FROM:
  case HFTA_FIELD_RECEIVED:
    return &command->from;
  case HFTA_FIELD_TASK:
  case HFTA_FIELD_EVENT:
  case HFTA_FIELD_REPEAT_KIND:
  case HFTA_FIELD_PERIOD:
  case HFTA_FIELD_STAGE:
  case HFTA_FIELD_ORDER:
  case HFTA_FIELD_CASE:
  case HFTA_FIELD_GROUP:
  case HFTA_FIELD_CONTENTS:
  case HFTA_FIELD_AHEAD:
  case HFTA_FIELD_ADDRESS:
  case HFTA_FIELD_BYTES:
  case HFTA_FIELD_EVENTS:
  case HFTA_FIELD_PLACES:
  case HFTA_FIELD_COPIES:
  case HFTA_FIELD_DUE:
  case HFTA_FIELD_REPLICAS:
  case HFTA_FIELD_RECEIVERS:
    break;
  }
  return NULL;
}

bool hfta_command_names_segment(const hfta_command *command, uint32_t segment) {
  const hfta_command_record *record = hfta_find_command_record(command->kind);
  for (uint32_t i = 0; i < record->field_count; ++i) {
    const hfta_place *place = find_place(command, record->fields[i].kind);
    if (place && place->index == segment &&
        (place->space == HFTA_SPACE_SEGMENT || place->space == HFTA_SPACE_HOST))
      return true;
  }
  return false;
}

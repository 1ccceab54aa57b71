//===- schedules_json.h - A program's schedules as JSON ---------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_SCHEDULES_JSON_H
#define HFTA_SRC_COMMAND_LINE_SCHEDULES_JSON_H

#include "hfta/json.h"
#include "hfta/program.h"

/// Writes the key "schedules" of the current object, with the information that
/// `info --schedule` prints as text.
void hfta_put_schedules(hfta_json_writer *writer, const hfta_program *program);

/// Writes a key with the list of a set's replicas, by their numbers.
void hfta_put_replicas(hfta_json_writer *writer, const char *key,
                       const hfta_replicas *replicas);

#endif // HFTA_SRC_COMMAND_LINE_SCHEDULES_JSON_H

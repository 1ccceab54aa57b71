//===- journal_line.h - The syntax of a journal's lines ---------*- C -*-===//

#ifndef HFTA_SRC_TUNING_JOURNAL_LINE_H
#define HFTA_SRC_TUNING_JOURNAL_LINE_H

#include "hfta/json.h"
#include "tuning/journal.h"

/// Writes the first line, and a line break.
void hfta_journal_write_facts(hfta_json_writer *writer,
                              const hfta_journal_fact *facts, int64_t count);

/// Compares a file's first line with the facts of this run. Fails with
/// HFTA_INVALID_INPUT, naming the first fact that differs.
hfta_status hfta_journal_compare_facts(const char *line, const char *path,
                                       const hfta_journal_fact *facts,
                                       int64_t count, hfta_error *error);

/// Returns a fact of a file's first line, which the caller frees; NULL if there
/// is none.
char *hfta_journal_copy_fact(const char *line, const char *name);

/// Takes the value of a number, or of a string that stands for one that isn't
/// finite. Returns false if the event is anything else.
bool hfta_journal_take_number(const hfta_json_reader *reader,
                              hfta_json_event event, double *out);

/// Writes a setting's value: the text of a choice that has one, and a whole
/// number without an exponent.
void hfta_journal_put_value(hfta_json_writer *writer,
                            const hfta_search_setting *setting, double value);

/// Writes an evaluated line, and a line break.
void hfta_journal_write_evaluated(hfta_json_writer *writer,
                                  const hfta_evaluated *values, int64_t count);

/// Calls `function` for each run of an evaluated line, which is line `number`
/// of its file. Fails with HFTA_INVALID_INPUT if the line isn't one.
hfta_status hfta_journal_parse_evaluated(
    const char *line, int64_t number,
    hfta_status (*function)(void *argument, const hfta_evaluated *value),
    void *argument, hfta_error *error);

#endif // HFTA_SRC_TUNING_JOURNAL_LINE_H

//===- journal_line.c - The syntax of a journal's lines -------------------===//

#include "tuning/journal_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t VERSION = 1;

//===----------------------------------------------------------------------===//
// The first line
//===----------------------------------------------------------------------===//

void hfta_journal_write_facts(hfta_json_writer *writer,
                              const hfta_journal_fact *facts, int64_t count) {
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, "event", "search");
  hfta_json_put_integer(writer, "version", VERSION);
  for (int64_t i = 0; i < count; ++i)
    hfta_json_put_string(writer, facts[i].name, facts[i].text);
  hfta_json_end_object(writer);
  hfta_json_newline(writer);
}

char *hfta_journal_copy_fact(const char *line, const char *name) {
  hfta_json_reader reader;
  hfta_json_read(&reader, line, strlen(line));
  char *found = NULL;
  bool is_meant = false;
  while (!found) {
    hfta_json_event event = hfta_json_next(&reader);
    if (event == HFTA_JSON_END || event == HFTA_JSON_ERROR)
      break;
    if (event == HFTA_JSON_STRING && is_meant && reader.depth == 1)
      found = strdup(reader.string);
    is_meant = event == HFTA_JSON_KEY && strcmp(reader.string, name) == 0;
  }
  hfta_json_read_end(&reader);
  return found;
}

static bool is_first_line(const char *line) {
  char *event = hfta_journal_copy_fact(line, "event");
  bool is_search = event && strcmp(event, "search") == 0;
  free(event);
  return is_search;
}

hfta_status hfta_journal_compare_facts(const char *line, const char *path,
                                       const hfta_journal_fact *facts,
                                       int64_t count, hfta_error *error) {
  if (!is_first_line(line))
    return hfta_fail(
        error, HFTA_INVALID_INPUT,
        "'%s' isn't a search's journal: line 1 doesn't say what it "
        "searches",
        path ? path : "the journal");
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < count && status == HFTA_OK; ++i) {
    char *old = hfta_journal_copy_fact(line, facts[i].name);
    if (!facts[i].may_change && (!old || strcmp(old, facts[i].text) != 0))
      status = hfta_fail(error, HFTA_INVALID_INPUT,
                         "'%s' belongs to another search: its %s is '%.200s', "
                         "this one's is '%.200s'",
                         path ? path : "the journal", facts[i].name,
                         old ? old : "unknown", facts[i].text);
    free(old);
  }
  return status;
}

void hfta_journal_put_value(hfta_json_writer *writer,
                            const hfta_search_setting *setting, double value) {
  if (setting->labels)
    hfta_json_string(writer, setting->labels[(int64_t)value]);
  else if (value == floor(value) && fabs(value) < 0x1p53)
    hfta_json_integer(writer, (int64_t)value);
  else
    hfta_json_number(writer, value, HFTA_F64);
}

//===----------------------------------------------------------------------===//
// Evaluated lines
//===----------------------------------------------------------------------===//

/// Writes an array of one member of all values, at `offset` of each.
static void put_numbers(hfta_json_writer *writer, const char *name,
                        const hfta_evaluated *values, int64_t count,
                        size_t offset) {
  hfta_json_key(writer, name);
  hfta_json_begin_array(writer);
  for (int64_t i = 0; i < count; ++i) {
    double value;
    memcpy(&value, (const char *)&values[i] + offset, sizeof(value));
    hfta_json_number(writer, value, HFTA_F64);
  }
  hfta_json_end_array(writer);
}

void hfta_journal_write_evaluated(hfta_json_writer *writer,
                                  const hfta_evaluated *values, int64_t count) {
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, "event", "evaluated");
  hfta_json_put_integer(writer, "fold", values->fold);
  hfta_json_put_integer(writer, "epoch", values->epoch);
  hfta_json_key(writer, "trials");
  hfta_json_begin_array(writer);
  for (int64_t i = 0; i < count; ++i)
    hfta_json_integer(writer, values[i].trial);
  hfta_json_end_array(writer);
  put_numbers(writer, "train_loss", values, count,
              offsetof(hfta_evaluated, train_loss));
  put_numbers(writer, "validation_loss", values, count,
              offsetof(hfta_evaluated, loss));
  put_numbers(writer, "validation_metric", values, count,
              offsetof(hfta_evaluated, metric));
  hfta_json_end_object(writer);
  hfta_json_newline(writer);
}

/// A line that is being parsed, with a growing array of values.
typedef struct parsed {
  hfta_json_reader reader;
  hfta_evaluated *values;
  int64_t count;
} parsed;

bool hfta_journal_take_number(const hfta_json_reader *reader,
                              hfta_json_event event, double *out) {
  const char *text = reader->string;
  if (event == HFTA_JSON_INTEGER || event == HFTA_JSON_NUMBER)
    *out = reader->number;
  else if (event == HFTA_JSON_STRING && strcmp(text, "nan") == 0)
    *out = NAN;
  else if (event == HFTA_JSON_STRING && strcmp(text, "inf") == 0)
    *out = INFINITY;
  else if (event == HFTA_JSON_STRING && strcmp(text, "-inf") == 0)
    *out = -INFINITY;
  else
    return false;
  return true;
}

/// Parses the array of trials, which comes before the arrays of their values.
static bool parse_trials(parsed *self) {
  if (hfta_json_next(&self->reader) != HFTA_JSON_BEGIN_ARRAY || self->values)
    return false;
  for (;;) {
    hfta_json_event event = hfta_json_next(&self->reader);
    if (event == HFTA_JSON_END_ARRAY)
      return self->count > 0;
    if (event != HFTA_JSON_INTEGER || self->reader.integer < 0)
      return false;
    hfta_evaluated *more =
        realloc(self->values, sizeof(*more) * (size_t)(self->count + 1));
    if (!more)
      return false;
    self->values = more;
    more[self->count++] = (hfta_evaluated){.trial = self->reader.integer,
                                           .train_loss = NAN,
                                           .loss = NAN,
                                           .metric = NAN};
  }
}

/// Parses an array with one number for each trial into the member at `offset`.
static bool parse_numbers(parsed *self, size_t offset) {
  if (hfta_json_next(&self->reader) != HFTA_JSON_BEGIN_ARRAY)
    return false;
  for (int64_t i = 0; i < self->count; ++i) {
    double value;
    hfta_json_event event = hfta_json_next(&self->reader);
    if (!hfta_journal_take_number(&self->reader, event, &value))
      return false;
    memcpy((char *)&self->values[i] + offset, &value, sizeof(value));
  }
  return hfta_json_next(&self->reader) == HFTA_JSON_END_ARRAY;
}

static bool parse_integer(parsed *self, int64_t *out) {
  bool is_valid = hfta_json_next(&self->reader) == HFTA_JSON_INTEGER &&
                  self->reader.integer >= 0;
  *out = is_valid ? self->reader.integer : 0;
  return is_valid;
}

/// Parses the value of the key that has been read.
static bool parse_value(parsed *self, int64_t *fold, int64_t *epoch) {
  const char *key = self->reader.string;
  if (strcmp(key, "fold") == 0)
    return parse_integer(self, fold);
  if (strcmp(key, "epoch") == 0)
    return parse_integer(self, epoch);
  if (strcmp(key, "trials") == 0)
    return parse_trials(self);
  if (strcmp(key, "train_loss") == 0)
    return parse_numbers(self, offsetof(hfta_evaluated, train_loss));
  if (strcmp(key, "validation_loss") == 0)
    return parse_numbers(self, offsetof(hfta_evaluated, loss));
  if (strcmp(key, "validation_metric") == 0)
    return parse_numbers(self, offsetof(hfta_evaluated, metric));
  return hfta_json_skip(&self->reader, hfta_json_next(&self->reader));
}

static bool parse_line(parsed *self) {
  int64_t fold = 0, epoch = 0;
  hfta_json_event event = hfta_json_next(&self->reader);
  if (event != HFTA_JSON_BEGIN_OBJECT)
    return false;
  while ((event = hfta_json_next(&self->reader)) == HFTA_JSON_KEY)
    if (!parse_value(self, &fold, &epoch))
      return false;
  for (int64_t i = 0; i < self->count; ++i) {
    self->values[i].fold = fold;
    self->values[i].epoch = epoch;
  }
  return event == HFTA_JSON_END_OBJECT && epoch > 0 && self->count > 0 &&
         hfta_json_next(&self->reader) == HFTA_JSON_END;
}

hfta_status hfta_journal_parse_evaluated(
    const char *line, int64_t number,
    hfta_status (*function)(void *argument, const hfta_evaluated *value),
    void *argument, hfta_error *error) {
  parsed self = {.count = 0};
  hfta_json_read(&self.reader, line, strlen(line));
  hfta_status status =
      parse_line(&self)
          ? HFTA_OK
          : hfta_fail(error, HFTA_INVALID_INPUT,
                      "line %lld of the search's journal isn't as this program "
                      "writes it: '%.200s'",
                      (long long)number, line);
  for (int64_t i = 0; i < self.count && status == HFTA_OK; ++i)
    status = function(argument, &self.values[i]);
  hfta_json_read_end(&self.reader);
  free(self.values);
  return status;
}

//===- request.c - What a user asks of a running search -------------------===//

#include "tuning/request.h"

#include "tuning/journal_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// A record of HFTA_REQUESTS.
typedef struct record {
  const char *word, *required, *optional;
} record;

static const record RECORDS[] = {
#define HFTA_REQUEST(identifier, word, required, optional)                     \
  {word, required, optional},
    HFTA_REQUESTS
#undef HFTA_REQUEST
};

void hfta_request_free(hfta_request *self) {
  free(self->id);
  free(self->trials);
  free(self->values);
  *self = (hfta_request){.id = NULL};
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// The fields that a request may have.
typedef enum field {
  COMMAND,
  ID,
  TRIALS,
  TRIAL,
  SETTINGS,
  SET,
  COUNT,
  AT,
  SCORE,
  WARM,
  NOW,
  FIELD_COUNT
} field;

static const char *const FIELDS[FIELD_COUNT] = {
    "command", "id", "trials", "trial", "settings", "set",
    "count",   "at", "score",  "warm",  "now"};

typedef struct parsing {
  hfta_json_reader reader;
  const hfta_search_space *space;
  hfta_request *request;
  bool has[FIELD_COUNT];
  char command[32]; ///< the word, as far as it fits
  hfta_error *error;
} parsing;

static hfta_status fail(const parsing *self, const char *name,
                        const char *expected) {
  return hfta_fail(self->error, HFTA_INVALID_INPUT, "'%s': expected %s", name,
                   expected);
}

static hfta_status no_memory(const parsing *self) {
  return hfta_fail(self->error, HFTA_UNSUPPORTED,
                   "not enough memory for a request");
}

/// Appends a trial's number.
static hfta_status add_trial(parsing *self, hfta_json_event event,
                             const char *name) {
  hfta_request *request = self->request;
  if (event != HFTA_JSON_INTEGER || self->reader.integer < 0)
    return fail(self, name, "numbers of trials");
  int64_t *more = realloc(request->trials,
                          sizeof(*more) * (size_t)(request->trial_count + 1));
  if (!more)
    return no_memory(self);
  request->trials = more;
  more[request->trial_count++] = self->reader.integer;
  return HFTA_OK;
}

static hfta_status parse_trials(parsing *self) {
  hfta_status status = HFTA_OK;
  if (hfta_json_next(&self->reader) != HFTA_JSON_BEGIN_ARRAY)
    return fail(self, "trials", "a list of numbers of trials, such as [3, 5]");
  hfta_json_event event = hfta_json_next(&self->reader);
  for (; event != HFTA_JSON_END_ARRAY && status == HFTA_OK;
       event = hfta_json_next(&self->reader)) {
    status = add_trial(self, event, "trials");
    if (status != HFTA_OK)
      return status;
  }
  return self->request->trial_count > 0
             ? HFTA_OK
             : fail(self, "trials", "at least one number of a trial");
}

/// Returns the number of a setting; -1 if there is none of this name.
static int64_t find_setting(const hfta_search_space *space, const char *name) {
  for (int64_t i = 0; i < space->count; ++i)
    if (strcmp(space->settings[i].name, name) == 0)
      return i;
  return -1;
}

static hfta_status fail_unknown(const parsing *self) {
  char names[256] = "";
  size_t length = 0;
  for (int64_t i = 0; i < self->space->count && length < sizeof(names) - 1;
       ++i) {
    int more = snprintf(names + length, sizeof(names) - length, "%s%s",
                        i ? ", " : "", self->space->settings[i].name);
    length += more > 0 ? (size_t)more : 0;
  }
  return hfta_fail(self->error, HFTA_INVALID_INPUT,
                   "there is no setting '%.64s', expected one of: %s",
                   self->reader.string, names);
}

/// Checks that a value is one that the search could have drawn.
static hfta_status check_value(const parsing *self, int64_t number,
                               double value) {
  const hfta_search_setting *setting = &self->space->settings[number];
  bool is_whole = value == floor(value);
  bool is_in = value >= setting->low && value <= setting->high;
  if (setting->distribution == HFTA_CHOICE) {
    is_in = false;
    for (int64_t i = 0; i < setting->choice_count; ++i)
      is_in |= setting->choices[i] == value;
    return is_in ? HFTA_OK : fail(self, setting->name, "one of its choices");
  }
  bool wants_whole = setting->distribution == HFTA_INTEGERS ||
                     setting->distribution == HFTA_LOG_INTEGERS;
  return is_in && (is_whole || !wants_whole)
             ? HFTA_OK
             : hfta_fail(self->error, HFTA_INVALID_INPUT,
                         "'%s': expected a %snumber from %g to %g, got %g",
                         setting->name, wants_whole ? "whole " : "",
                         setting->low, setting->high, value);
}

/// Parses the value of a setting: the text of a choice if these have texts,
/// else a number.
static hfta_status parse_value(parsing *self, int64_t number, double *out) {
  const hfta_search_setting *setting = &self->space->settings[number];
  hfta_json_event event = hfta_json_next(&self->reader);
  if (setting->labels) {
    for (int64_t i = 0; event == HFTA_JSON_STRING && i < setting->choice_count;
         ++i)
      if (strcmp(setting->labels[i], self->reader.string) == 0) {
        *out = setting->choices[i];
        return HFTA_OK;
      }
    return fail(self, setting->name, "one of its choices, as a string");
  }
  if (event != HFTA_JSON_INTEGER && event != HFTA_JSON_NUMBER)
    return fail(self, setting->name, "a number");
  *out = self->reader.number;
  return check_value(self, number, *out);
}

/// Parses an object of settings into a new row. Its beginning has been read.
static hfta_status parse_row(parsing *self) {
  hfta_request *request = self->request;
  size_t settings = (size_t)self->space->count;
  double *more = realloc(request->values, sizeof(*more) * settings *
                                              (size_t)(request->row_count + 1));
  if (!more)
    return no_memory(self);
  request->values = more;
  double *row = more + settings * (size_t)request->row_count++;
  for (size_t i = 0; i < settings; ++i)
    row[i] = NAN;
  hfta_json_event event;
  while ((event = hfta_json_next(&self->reader)) == HFTA_JSON_KEY) {
    int64_t number = find_setting(self->space, self->reader.string);
    if (number < 0)
      return fail_unknown(self);
    hfta_status status = parse_value(self, number, &row[number]);
    if (status != HFTA_OK)
      return status;
  }
  return event == HFTA_JSON_END_OBJECT
             ? HFTA_OK
             : fail(self, "settings", "an object of settings");
}

static hfta_status parse_set(parsing *self) {
  if (hfta_json_next(&self->reader) != HFTA_JSON_BEGIN_OBJECT)
    return fail(self, "set", "an object, such as {\"lr\": 0.01}");
  return parse_row(self);
}

static hfta_status parse_settings(parsing *self) {
  if (hfta_json_next(&self->reader) != HFTA_JSON_BEGIN_ARRAY)
    return fail(self, "settings",
                "a list of objects, such as [{\"lr\": 0.01}]");
  hfta_json_event event = hfta_json_next(&self->reader);
  for (; event == HFTA_JSON_BEGIN_OBJECT;
       event = hfta_json_next(&self->reader)) {
    hfta_status status = parse_row(self);
    if (status != HFTA_OK)
      return status;
  }
  return event == HFTA_JSON_END_ARRAY && self->request->row_count > 0
             ? HFTA_OK
             : fail(self, "settings", "a list of at least one object");
}

static hfta_status parse_boolean(parsing *self, const char *name, bool *out) {
  hfta_json_event event = hfta_json_next(&self->reader);
  *out = event == HFTA_JSON_TRUE;
  return event == HFTA_JSON_TRUE || event == HFTA_JSON_FALSE
             ? HFTA_OK
             : fail(self, name, "true or false");
}

static hfta_status parse_id(parsing *self) {
  hfta_json_event event = hfta_json_next(&self->reader);
  hfta_json_writer writer;
  if (event != HFTA_JSON_INTEGER && event != HFTA_JSON_STRING)
    return fail(self, "id", "a whole number or a string");
  hfta_json_to_memory(&writer);
  if (event == HFTA_JSON_INTEGER)
    hfta_json_integer(&writer, self->reader.integer);
  else
    hfta_json_string(&writer, self->reader.string);
  const char *text = hfta_json_text(&writer, NULL);
  self->request->id = text ? strdup(text) : NULL;
  hfta_json_release(&writer);
  return self->request->id ? HFTA_OK : no_memory(self);
}

static hfta_status parse_field(parsing *self, field which) {
  hfta_request *request = self->request;
  switch (which) {
  case COMMAND:
    if (hfta_json_next(&self->reader) != HFTA_JSON_STRING)
      return fail(self, "command", "a word, such as \"status\"");
    snprintf(self->command, sizeof(self->command), "%s", self->reader.string);
    return HFTA_OK;
  case ID:
    return parse_id(self);
  case TRIALS:
    return parse_trials(self);
  case TRIAL:
    return add_trial(self, hfta_json_next(&self->reader), "trial");
  case SETTINGS:
    return parse_settings(self);
  case SET:
    return parse_set(self);
  case COUNT:
    if (hfta_json_next(&self->reader) != HFTA_JSON_INTEGER ||
        self->reader.integer < 1)
      return fail(self, "count", "a whole number of at least 1");
    request->count = self->reader.integer;
    return HFTA_OK;
  case AT:
    if (hfta_json_next(&self->reader) != HFTA_JSON_INTEGER ||
        self->reader.integer < 1)
      return fail(self, "at", "a whole number of epochs of at least 1");
    request->at = self->reader.integer;
    return HFTA_OK;
  case SCORE:
    return hfta_journal_take_number(
               &self->reader, hfta_json_next(&self->reader), &request->score)
               ? HFTA_OK
               : fail(self, "score",
                      "a number, or \"nan\", \"inf\" or \"-inf\"");
  case WARM:
    return parse_boolean(self, "warm", &request->warm);
  case NOW:
    return parse_boolean(self, "now", &request->now);
  case FIELD_COUNT:
    break;
  }
  return HFTA_OK;
}

static hfta_status parse_fields(parsing *self) {
  if (hfta_json_next(&self->reader) != HFTA_JSON_BEGIN_OBJECT)
    return hfta_fail(self->error, HFTA_INVALID_INPUT,
                     "expected an object on one line, such as "
                     "{\"command\":\"status\"}");
  hfta_status status = HFTA_OK;
  hfta_json_event event;
  while (status == HFTA_OK &&
         (event = hfta_json_next(&self->reader)) == HFTA_JSON_KEY) {
    int which = 0;
    while (which < FIELD_COUNT &&
           strcmp(FIELDS[which], self->reader.string) != 0)
      ++which;
    if (which == FIELD_COUNT)
      return hfta_fail(self->error, HFTA_INVALID_INPUT,
                       "there is no field '%.64s'", self->reader.string);
    if (self->has[which])
      return hfta_fail(self->error, HFTA_INVALID_INPUT,
                       "field '%s' is there twice", FIELDS[which]);
    self->has[which] = true;
    status = parse_field(self, (field)which);
  }
  if (status == HFTA_OK && (event != HFTA_JSON_END_OBJECT ||
                            hfta_json_next(&self->reader) != HFTA_JSON_END))
    status = hfta_fail(self->error, HFTA_INVALID_INPUT,
                       "malformed JSON after %zu bytes", self->reader.offset);
  return status;
}

/// Returns whether a list of words, separated by spaces, contains a word.
static bool contains(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
    if ((at == list || at[-1] == ' ') &&
        (at[length] == ' ' || at[length] == '\0'))
      return true;
  return false;
}

static hfta_status find_kind(parsing *self) {
  char words[256] = "";
  size_t length = 0;
  for (int i = 0; i < HFTA_REQUEST_COUNT; ++i) {
    if (strcmp(self->command, RECORDS[i].word) == 0) {
      self->request->kind = (hfta_request_kind)i;
      return HFTA_OK;
    }
    int more = snprintf(words + length, sizeof(words) - length, "%s%s",
                        i ? ", " : "", RECORDS[i].word);
    length += more > 0 ? (size_t)more : 0;
  }
  return self->has[COMMAND]
             ? hfta_fail(self->error, HFTA_INVALID_INPUT,
                         "there is no command '%s', expected one of: %s",
                         self->command, words)
             : hfta_fail(self->error, HFTA_INVALID_INPUT,
                         "'command' is missing, expected one of: %s", words);
}

/// Checks that the request has the fields of its kind, and no others.
static hfta_status check_fields(parsing *self) {
  const record *kind = &RECORDS[self->request->kind];
  for (int i = TRIALS; i < FIELD_COUNT; ++i) {
    bool required = contains(kind->required, FIELDS[i]);
    if (required && !self->has[i])
      return hfta_fail(self->error, HFTA_INVALID_INPUT, "'%s' needs '%s'",
                       kind->word, FIELDS[i]);
    if (self->has[i] && !required && !contains(kind->optional, FIELDS[i]))
      return hfta_fail(self->error, HFTA_INVALID_INPUT,
                       "'%s' has no field '%s'", kind->word, FIELDS[i]);
  }
  return HFTA_OK;
}

hfta_status hfta_request_parse(const char *text, size_t size,
                               const hfta_search_space *space,
                               hfta_request *out, hfta_error *error) {
  *out = (hfta_request){.warm = true};
  parsing self = {.space = space, .request = out, .error = error};
  hfta_json_read(&self.reader, text, size);
  hfta_status status = parse_fields(&self);
  hfta_json_read_end(&self.reader);
  if (status == HFTA_OK)
    status = find_kind(&self);
  return status == HFTA_OK ? check_fields(&self) : status;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void put_row(const hfta_request *self, const hfta_search_space *space,
                    int64_t row, hfta_json_writer *writer) {
  const double *values = self->values + space->count * row;
  hfta_json_begin_object(writer);
  for (int64_t i = 0; i < space->count; ++i)
    if (!isnan(values[i])) {
      hfta_json_key(writer, space->settings[i].name);
      hfta_journal_put_value(writer, &space->settings[i], values[i]);
    }
  hfta_json_end_object(writer);
}

void hfta_request_write(const hfta_request *self,
                        const hfta_search_space *space,
                        hfta_json_writer *writer) {
  const record *kind = &RECORDS[self->kind];
  hfta_json_put_string(writer, "command", kind->word);
  if (contains(kind->required, "trials")) {
    hfta_json_key(writer, "trials");
    hfta_json_begin_array(writer);
    for (int64_t i = 0; i < self->trial_count; ++i)
      hfta_json_integer(writer, self->trials[i]);
    hfta_json_end_array(writer);
  }
  if (contains(kind->required, "trial"))
    hfta_json_put_integer(writer, "trial", self->trials[0]);
  if (contains(kind->required, "set")) {
    hfta_json_key(writer, "set");
    put_row(self, space, 0, writer);
  }
  if (contains(kind->required, "settings")) {
    hfta_json_key(writer, "settings");
    hfta_json_begin_array(writer);
    for (int64_t i = 0; i < self->row_count; ++i)
      put_row(self, space, i, writer);
    hfta_json_end_array(writer);
  }
  if (contains(kind->required, "count"))
    hfta_json_put_integer(writer, "count", self->count);
  if (contains(kind->required, "score")) {
    hfta_json_put_integer(writer, "at", self->at);
    hfta_json_key(writer, "score");
    hfta_json_number(writer, self->score, HFTA_F64);
  }
  if (contains(kind->optional, "warm"))
    hfta_json_put_boolean(writer, "warm", self->warm);
  if (contains(kind->optional, "now"))
    hfta_json_put_boolean(writer, "now", self->now);
}

//===- journal.c - What a search has done and decided ---------------------===//

#include "tuning/journal.h"

#include "hfta/json.h"
#include "instance/share_state.h"
#include "system/file.h"
#include "system/path.h"
#include "tuning/journal_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hfta_journal {
  char *path;     ///< NULL: nothing is written
  int descriptor; ///< -1: this rank doesn't write the file
  char *text;     ///< the file's complete lines when it was opened, each ended
                  ///< by a 0 byte in place of its line break
  uint64_t bytes; ///< size of `text`
  const char **lines;  ///< the lines in order
  const char **sorted; ///< the lines that aren't evaluations, sorted
  int64_t line_count, sorted_count;
  hfta_json_writer added; ///< lines that haven't been written yet
  uint64_t written;       ///< bytes of `added` that have been
};

static const char EVALUATED[] = "{\"event\":\"evaluated\",";
static const char COMMAND[] = "{\"event\":\"command\",";

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static hfta_status no_memory(hfta_error *error) {
  return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a journal");
}

static hfta_status cannot_write(const hfta_journal *self, hfta_error *error) {
  return hfta_fail(error, HFTA_CANNOT_WRITE, "cannot write '%s': %s",
                   self->path, strerror(errno));
}

/// Reads the file's complete lines, if there is a file.
static hfta_status read_lines(hfta_journal *self, const char *path,
                              hfta_error *error) {
  hfta_mapping mapping;
  if (!hfta_path_exists(path))
    return HFTA_OK;
  hfta_status status = hfta_mapping_open(path, &mapping, error);
  if (status != HFTA_OK)
    return status;
  uint64_t bytes = mapping.size;
  while (bytes > 0 && mapping.bytes[bytes - 1] != '\n')
    --bytes;
  self->text = malloc(bytes + 1);
  if (self->text && bytes > 0)
    memcpy(self->text, mapping.bytes, bytes);
  self->bytes = bytes;
  hfta_mapping_close(&mapping);
  return self->text ? HFTA_OK : no_memory(error);
}

/// Sends rank 0's lines to all ranks.
static hfta_status share_lines(hfta_journal *self,
                               hfta_communicator *communicator,
                               hfta_error *error) {
  hfta_status status =
      hfta_share_bytes(communicator, "the journal's size", &self->bytes,
                       sizeof(self->bytes), error);
  if (status != HFTA_OK || self->bytes == 0)
    return status;
  if (!self->text)
    self->text = malloc(self->bytes + 1);
  if (!self->text)
    return no_memory(error);
  return hfta_share_bytes(communicator, "the journal", self->text, self->bytes,
                          error);
}

bool hfta_journal_has_lines(const char *path) {
  hfta_journal self = {.text = NULL};
  hfta_error error;
  bool has = read_lines(&self, path, &error) == HFTA_OK && self.bytes > 0;
  free(self.text);
  return has;
}

static int compare_lines(const void *one, const void *other) {
  return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static bool is_evaluated(const char *line) {
  return strncmp(line, EVALUATED, sizeof(EVALUATED) - 1) == 0;
}

bool hfta_journal_is_command(const char *line, const char **members) {
  *members = line + sizeof(COMMAND) - 1;
  return strncmp(line, COMMAND, sizeof(COMMAND) - 1) == 0;
}

/// Returns whether a line is one from which the others follow.
static bool is_input(const char *line) {
  const char *members;
  return is_evaluated(line) || hfta_journal_is_command(line, &members);
}

/// Divides the text into lines, and sorts those that are compared.
static hfta_status divide(hfta_journal *self, hfta_error *error) {
  int64_t count = 0;
  for (uint64_t i = 0; i < self->bytes; ++i)
    count += self->text[i] == '\n';
  self->lines = calloc((size_t)count + 1, sizeof(*self->lines));
  self->sorted = calloc((size_t)count + 1, sizeof(*self->sorted));
  if (!self->lines || !self->sorted)
    return no_memory(error);
  const char *begin = self->text;
  for (uint64_t i = 0; i < self->bytes; ++i) {
    if (self->text[i] != '\n')
      continue;
    self->text[i] = '\0';
    self->lines[self->line_count++] = begin;
    if (!is_input(begin))
      self->sorted[self->sorted_count++] = begin;
    begin = self->text + i + 1;
  }
  qsort(self->sorted, (size_t)self->sorted_count, sizeof(*self->sorted),
        compare_lines);
  return HFTA_OK;
}

static hfta_status create(hfta_journal **out, hfta_error *error) {
  *out = calloc(1, sizeof(**out));
  if (!*out)
    return no_memory(error);
  (*out)->descriptor = -1;
  hfta_json_to_memory(&(*out)->added);
  return HFTA_OK;
}

/// Opens the file for appending, and removes a line that a crash has cut off.
static hfta_status open_file(hfta_journal *self, const char *path,
                             hfta_error *error) {
  self->path = strdup(path);
  if (!self->path)
    return no_memory(error);
  self->descriptor =
      open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (self->descriptor < 0 ||
      ftruncate(self->descriptor, (off_t)self->bytes) != 0)
    return cannot_write(self, error);
  return HFTA_OK;
}

hfta_status hfta_journal_open(const char *path, const hfta_journal_fact *facts,
                              int64_t count, hfta_communicator *communicator,
                              hfta_journal **out, hfta_error *error) {
  bool is_first = communicator->rank == 0;
  hfta_journal *self;
  hfta_status status = create(&self, error);
  if (status == HFTA_OK && path && is_first)
    status = read_lines(self, path, error);
  if (status == HFTA_OK)
    status = share_lines(self, communicator, error);
  if (status == HFTA_OK)
    status = divide(self, error);
  if (status == HFTA_OK && self->line_count > 0)
    status =
        hfta_journal_compare_facts(self->lines[0], path, facts, count, error);
  if (status == HFTA_OK && path && is_first)
    status = open_file(self, path, error);
  if (status == HFTA_OK && self->line_count == 0)
    hfta_journal_write_facts(&self->added, facts, count);
  *out = status == HFTA_OK ? self : NULL;
  if (status != HFTA_OK)
    hfta_journal_close(self);
  return status;
}

hfta_status hfta_journal_read(const char *path, hfta_communicator *communicator,
                              hfta_journal **out, hfta_error *error) {
  hfta_journal *self;
  hfta_status status = create(&self, error);
  if (status == HFTA_OK && (!communicator || communicator->rank == 0))
    status = read_lines(self, path, error);
  if (status == HFTA_OK && communicator)
    status = share_lines(self, communicator, error);
  if (status == HFTA_OK && self->bytes == 0)
    status = hfta_fail(error, HFTA_INVALID_INPUT,
                       "'%s' doesn't exist or has no complete line: no search "
                       "has been saved there",
                       path);
  if (status == HFTA_OK)
    status = divide(self, error);
  *out = status == HFTA_OK ? self : NULL;
  if (status != HFTA_OK)
    hfta_journal_close(self);
  return status;
}

void hfta_journal_close(hfta_journal *self) {
  if (!self)
    return;
  if (self->descriptor >= 0)
    close(self->descriptor);
  hfta_json_release(&self->added);
  free(self->path);
  free(self->text);
  free(self->lines);
  free(self->sorted);
  free(self);
}

const char *hfta_journal_added(const hfta_journal *self, size_t *size) {
  return hfta_json_text(&self->added, size);
}

bool hfta_journal_is_resumed(const hfta_journal *self) {
  return self->line_count > 0;
}

hfta_status hfta_journal_check(const hfta_journal *self, const char *path,
                               const hfta_journal_fact *facts, int64_t count,
                               hfta_error *error) {
  return hfta_journal_compare_facts(self->lines[0], path, facts, count, error);
}

char *hfta_journal_find_fact(const hfta_journal *self, const char *name) {
  return hfta_journal_copy_fact(self->lines[0], name);
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

hfta_status hfta_journal_visit(const hfta_journal *self,
                               hfta_status (*function)(void *argument,
                                                       int64_t number,
                                                       const char *line),
                               void *argument) {
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < self->line_count && status == HFTA_OK; ++i)
    if (is_input(self->lines[i]))
      status = function(argument, i + 1, self->lines[i]);
  return status;
}

hfta_status hfta_journal_add_command(hfta_journal *self, const char *members,
                                     hfta_error *error) {
  size_t length = sizeof(COMMAND) + strlen(members);
  char *line = malloc(length);
  if (!line)
    return no_memory(error);
  snprintf(line, length, "%s%s", COMMAND, members);
  hfta_json_raw(&self->added, line);
  hfta_json_newline(&self->added);
  free(line);
  return hfta_json_finish(&self->added, error);
}

hfta_status hfta_journal_add_evaluated(hfta_journal *self,
                                       const hfta_evaluated *values,
                                       int64_t count, hfta_error *error) {
  hfta_journal_write_evaluated(&self->added, values, count);
  return hfta_json_finish(&self->added, error);
}

/// Returns the first of the sorted lines that isn't before the line's key.
static int64_t find_key(const hfta_journal *self, const char *line,
                        size_t key_bytes) {
  int64_t low = 0, high = self->sorted_count;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (strncmp(self->sorted[middle], line, key_bytes) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

hfta_status hfta_journal_say(hfta_journal *self, const char *line,
                             size_t key_bytes, hfta_error *error) {
  int64_t found = find_key(self, line, key_bytes);
  bool is_known = found < self->sorted_count &&
                  strncmp(self->sorted[found], line, key_bytes) == 0;
  if (is_known && strcmp(self->sorted[found], line) == 0)
    return HFTA_OK;
  if (is_known)
    return hfta_fail(error, HFTA_INTERNAL,
                     "the search decides otherwise than its journal says: "
                     "'%.300s' instead of '%.300s'",
                     line, self->sorted[found]);
  hfta_json_raw(&self->added, line);
  hfta_json_newline(&self->added);
  return hfta_json_finish(&self->added, error);
}

hfta_status hfta_journal_sync(hfta_journal *self, hfta_error *error) {
  size_t length = 0;
  const char *text = hfta_json_text(&self->added, &length);
  if (self->descriptor < 0)
    return HFTA_OK;
  while (text && self->written < length) {
    ssize_t count =
        write(self->descriptor, text + self->written, length - self->written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return cannot_write(self, error);
    self->written += (uint64_t)count;
  }
  return fdatasync(self->descriptor) == 0 ? HFTA_OK : cannot_write(self, error);
}

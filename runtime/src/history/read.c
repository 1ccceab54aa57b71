//===- read.c - Reads logs and journals -----------------------------------===//

#include "history/history_impl.h"

#include "system/path.h"
#include "system/stat_calls.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hfta_status read_line(hfta_history_reader *reader, hfta_json_tree *tree,
                             const char *text, size_t size) {
  const char *problem;
  const hfta_json_value *line = hfta_json_parse(tree, text, size, &problem);
  if (!line)
    return hfta_history_fail(reader, problem);
  if (!hfta_json_get_text(line, "event"))
    return hfta_history_fail(reader,
                             "expected a line of a log, which has an 'event'");
  bool is_known;
  hfta_status status = hfta_read_journal_line(reader, line, &is_known);
  return status == HFTA_OK && !is_known ? hfta_read_log_line(reader, line)
                                        : status;
}

/// Returns when a file's training began.
static double find_begin(const hfta_history *self, FILE *file) {
  struct stat facts = {0};
  if (hfta_fstat(fileno(file), &facts) != 0)
    return 0;
  double begin =
      (double)facts.st_mtim.tv_sec + (double)facts.st_mtim.tv_nsec * 1e-9;
  const hfta_rows *epochs = &self->rows[HFTA_EPOCH_ROWS];
  for (int64_t row = 0; row < epochs->count; ++row)
    begin -= epochs->seconds[row];
  return begin;
}

static hfta_status read_file(const char *path, hfta_histories *out,
                             hfta_error *error) {
  hfta_history_reader reader = {.path = path, .out = out, .error = error};
  FILE *file = fopen(path, "re");
  if (!file)
    return hfta_fail(error, HFTA_INVALID_INPUT, "cannot read '%s': %s", path,
                     strerror(errno));
  int64_t before = out->count;
  hfta_json_tree tree = {0};
  char *text = NULL;
  size_t capacity = 0;
  hfta_status status = HFTA_OK;
  errno = 0;
  for (ssize_t size;
       status == HFTA_OK && (size = getline(&text, &capacity, file)) > 0;) {
    ++reader.line;
    // A line without a line break is still being written.
    if (text[size - 1] == '\n')
      status = read_line(&reader, &tree, text, (size_t)size - 1);
  }
  if (status == HFTA_OK && ferror(file))
    status = hfta_fail(error, HFTA_INVALID_INPUT, "cannot read '%s': %s", path,
                       strerror(errno));
  if (status == HFTA_OK && out->count == before)
    status = hfta_fail(error, HFTA_INVALID_INPUT,
                       "'%s' is no log: it has no start or search event", path);
  for (int64_t i = before; i < out->count; ++i)
    out->list[i].begin = find_begin(&out->list[i], file);
  hfta_json_tree_free(&tree);
  free(text);
  fclose(file);
  return status;
}

static int compare_names(const void *left, const void *right) {
  return strcmp(*(char *const *)left, *(char *const *)right);
}

/// Reads the journals of the jobs whose folders are in a folder, in the order
/// of their names. Sets `*found` to their number.
static hfta_status read_jobs(const char *path, hfta_histories *out,
                             int64_t *found, hfta_error *error) {
  DIR *folder = opendir(path);
  if (!folder)
    return hfta_fail(error, HFTA_INVALID_INPUT, "cannot read '%s': %s", path,
                     strerror(errno));
  char **names = NULL;
  size_t count = 0;
  hfta_status status = HFTA_OK;
  for (struct dirent *entry; status == HFTA_OK && (entry = readdir(folder));) {
    hfta_path journal;
    if (*entry->d_name == '.' ||
        hfta_path_format(&journal, NULL, "%s/%s/search.jsonl", path,
                         entry->d_name) != HFTA_OK ||
        !hfta_path_exists(journal.text))
      continue;
    char **more = realloc(names, (count + 1) * sizeof(*names));
    char *copy = strdup(journal.text);
    if (more)
      names = more;
    if (more && copy) {
      names[count++] = copy;
      continue;
    }
    free(copy);
    status = hfta_fail(error, HFTA_UNSUPPORTED,
                       "not enough memory to read '%s'", path);
  }
  closedir(folder);
  if (count > 0)
    qsort(names, count, sizeof(*names), compare_names);
  for (size_t i = 0; i < count; ++i) {
    if (status == HFTA_OK)
      status = read_file(names[i], out, error);
    free(names[i]);
  }
  free(names);
  *found = (int64_t)count;
  return status;
}

hfta_status hfta_histories_read(const char *path, hfta_histories *out,
                                hfta_error *error) {
  if (!hfta_path_is_folder(path))
    return read_file(path, out, error);
  hfta_path journal;
  hfta_status status =
      hfta_path_format(&journal, error, "%s/search.jsonl", path);
  if (status != HFTA_OK)
    return status;
  if (hfta_path_exists(journal.text))
    return read_file(journal.text, out, error);
  int64_t found = 0;
  status = read_jobs(path, out, &found, error);
  if (status != HFTA_OK || found > 0)
    return status;
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "folder '%s' has no journal of a search, search.jsonl; the "
                   "log of another training is the file of 'train --log'",
                   path);
}

//===- replaces.c - Refuses outputs that would replace inputs -------------===//

#include "checkpoint/replaces.h"

#include "checkpoint/checkpoint_impl.h"
#include "system/path.h"
#include "system/stat_calls.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/// Returns whether two paths lead to the same existing regular file.
static bool are_one_file(const char *left, const char *right) {
  struct stat one, other;
  return hfta_stat(left, &one) == 0 && hfta_stat(right, &other) == 0 &&
         S_ISREG(one.st_mode) && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

/// Returns a file's name within its folder, and the folder's device and inode
/// in `*folder`. NULL if the folder doesn't exist.
static const char *open_folder(const char *path, struct stat *folder) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  hfta_path parent;
  if (hfta_path_format(&parent, NULL, "%.*s./", (int)(name - path), path) !=
          HFTA_OK ||
      hfta_stat(parent.text, folder) != 0)
    return NULL;
  return name;
}

/// Returns whether two paths name the same file, even if it doesn't exist yet.
static bool will_be_one_file(const char *left, const char *right) {
  struct stat file, one, other;
  if (hfta_stat(left, &file) == 0 || hfta_stat(right, &file) == 0)
    return are_one_file(left, right);
  const char *first = open_folder(left, &one);
  const char *second = open_folder(right, &other);
  return first && second && strcmp(first, second) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

hfta_status hfta_refuse_to_write_twice(const char *output, const char *what,
                                       const char *other, hfta_error *error) {
  if (!output || !other || !will_be_one_file(output, other))
    return HFTA_OK;
  return hfta_fail(error, HFTA_USAGE, "'%s' would replace the %s '%s'", output,
                   what, other);
}

hfta_status hfta_refuse_to_replace(const char *output, const char *input,
                                   hfta_error *error) {
  if (!are_one_file(output, input))
    return HFTA_OK;
  return hfta_fail(error, HFTA_USAGE, "'%s' would replace the input '%s'",
                   output, input);
}

hfta_status hfta_refuse_to_replace_program(const char *output,
                                           hfta_error *error) {
  if (!are_one_file(output, "/proc/self/exe"))
    return HFTA_OK;
  return hfta_fail(error, HFTA_USAGE, "'%s' would replace the running program",
                   output);
}

/// Returns whether a name in a folder of checkpoints is that of a file that a
/// search saves there (src/tuning): its journal, or a trial's state.
static bool is_of_search(const char *name) {
  return strcmp(name, HFTA_SEARCH_JOURNAL) == 0 ||
         strncmp(name, HFTA_TRIAL_PREFIX, sizeof(HFTA_TRIAL_PREFIX) - 1) == 0;
}

/// Compares an output with all files of `folder` if that is a checkpoint, else
/// with the files of the checkpoints in it, or of a search.
static hfta_status refuse_files(const char *output, const char *folder,
                                bool is_checkpoint, hfta_error *error) {
  DIR *entries = opendir(folder);
  if (!entries)
    return HFTA_OK;
  hfta_status status = HFTA_OK;
  for (struct dirent *entry;
       status == HFTA_OK && (entry = readdir(entries)) != NULL;) {
    hfta_path path;
    if (hfta_path_format(&path, NULL, "%s/%s", folder, entry->d_name) !=
        HFTA_OK)
      continue;
    if (is_checkpoint || is_of_search(entry->d_name))
      status = hfta_refuse_to_replace(output, path.text, error);
    else if (hfta_checkpoint_step_of(entry->d_name) >= 0)
      status = refuse_files(output, path.text, true, error);
  }
  closedir(entries);
  return status;
}

hfta_status hfta_refuse_to_replace_checkpoint(const char *output,
                                              const char *folder,
                                              hfta_error *error) {
  if (!folder)
    return HFTA_OK;
  return refuse_files(output, folder, hfta_checkpoint_step_of(folder) >= 0,
                      error);
}

static hfta_status refuse_source(const char *output,
                                 const hfta_data_source *source,
                                 const char *root, hfta_error *error) {
  if (source->format == HFTA_DATA_NONE)
    return HFTA_OK;
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < hfta_source_files(source) && status == HFTA_OK;
       ++i) {
    hfta_path path;
    if (hfta_path_under(&path, root, hfta_source_path(source, i), NULL) ==
        HFTA_OK)
      status = hfta_refuse_to_replace(output, path.text, error);
  }
  return status;
}

hfta_status hfta_refuse_to_replace_data(const char *output,
                                        const hfta_program *program,
                                        const char *root, hfta_error *error) {
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < program->data_field_count && status == HFTA_OK;
       ++i) {
    const hfta_data_field *field = &program->data_fields[i];
    status = refuse_source(output, &field->train, root, error);
    if (status == HFTA_OK)
      status = refuse_source(output, &field->test, root, error);
    if (status == HFTA_OK)
      status = refuse_source(output, &field->validation, root, error);
  }
  return status;
}

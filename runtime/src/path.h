//===- path.h - Names and folders -------------------------------*- C -*-===//

#ifndef HFTA_SRC_PATH_H
#define HFTA_SRC_PATH_H

#include "hfta/status.h"

#include <stdbool.h>

typedef struct hfta_path {
  char text[4096];
} hfta_path;

/// Formats a path; one that is too long is HFTA_INVALID_INPUT.
hfta_status hfta_path_format(hfta_path *path, hfta_error *error,
                             const char *format, ...) HFTA_PRINTF(3, 4);

/// `path` if it is absolute or `root` is NULL or empty, else root/path.
hfta_status hfta_path_under(hfta_path *out, const char *root, const char *path,
                            hfta_error *error);

/// What follows the last slash, slashes at the end aside. Points into `path`.
const char *hfta_path_name(const char *path);

bool hfta_path_is_folder(const char *path);
bool hfta_path_exists(const char *path);

/// Makes a folder and those above it; one that is there is no failure.
hfta_status hfta_folder_make(const char *path, hfta_error *error);

/// Makes the folder's entries durable.
hfta_status hfta_folder_sync(const char *path, hfta_error *error);

/// Removes a folder with the files in it (not folders in it). What isn't there
/// is no failure.
hfta_status hfta_folder_remove(const char *path, hfta_error *error);

#endif // HFTA_SRC_PATH_H

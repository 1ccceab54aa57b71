//===- path.h - Names and folders -------------------------------*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_PATH_H
#define HFTA_SRC_SYSTEM_PATH_H

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

/// `prefix` and 16 digits that nobody else draws, on no other machine either.
hfta_status hfta_path_unique(hfta_path *out, const char *prefix,
                             hfta_error *error);

/// Makes a folder and those above it durably; one that is there is no failure.
hfta_status hfta_folder_make(const char *path, hfta_error *error);

/// Makes a folder that wasn't there: hfta_path_unique.
hfta_status hfta_folder_make_unique(hfta_path *out, const char *prefix,
                                    hfta_error *error);

/// Makes the folder's entries durable.
hfta_status hfta_folder_sync(const char *path, hfta_error *error);

/// Removes a folder with the files in it; folders in it stay, and it with them,
/// which is a failure. Links are removed, not followed: the one at `path` too.
/// What isn't there is no failure.
hfta_status hfta_folder_remove(const char *path, hfta_error *error);

#endif // HFTA_SRC_SYSTEM_PATH_H

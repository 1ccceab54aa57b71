//===- path.h - Names and folders -------------------------------*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_PATH_H
#define HFTA_SRC_SYSTEM_PATH_H

#include "hfta/status.h"

#include <stdbool.h>

typedef struct hfta_path {
  char text[4096];
} hfta_path;

/// Formats a path; HFTA_INVALID_INPUT if it is too long.
hfta_status hfta_path_format(hfta_path *path, hfta_error *error,
                             const char *format, ...) HFTA_PRINTF(3, 4);

/// Returns `path` if it is absolute or `root` is NULL or empty, else root/path.
hfta_status hfta_path_under(hfta_path *out, const char *root, const char *path,
                            hfta_error *error);

/// Returns the part after the last slash, ignoring slashes at the end. Points
/// into `path`.
const char *hfta_path_name(const char *path);

bool hfta_path_is_folder(const char *path);
bool hfta_path_exists(const char *path);

/// Returns `prefix` followed by 16 random digits, which no other process draws,
/// not even on another machine.
hfta_status hfta_path_unique(hfta_path *out, const char *prefix,
                             hfta_error *error);

/// Makes a folder and those above it, durably. It is no failure if the folder
/// exists.
hfta_status hfta_folder_make(const char *path, hfta_error *error);

/// Makes a new folder with a name from hfta_path_unique.
hfta_status hfta_folder_make_unique(hfta_path *out, const char *prefix,
                                    hfta_error *error);

/// Makes the folder's entries durable.
hfta_status hfta_folder_sync(const char *path, hfta_error *error);

/// Removes a folder and the files in it. A folder inside it isn't removed,
/// which is a failure. Links are removed, not followed, even if `path` itself
/// is one. It is no failure if there is nothing at `path`.
hfta_status hfta_folder_remove(const char *path, hfta_error *error);

#endif // HFTA_SRC_SYSTEM_PATH_H

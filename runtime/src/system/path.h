//===- path.h - Paths and folders ---------------------------------*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_PATH_H
#define HFTA_SRC_SYSTEM_PATH_H

#include "hfta/status.h"

#include <stdbool.h>

typedef struct hfta_path {
  char text[4096];
} hfta_path;

/// Formats a path. Fails with HFTA_INVALID_INPUT if it is too long.
hfta_status hfta_path_format(hfta_path *path, hfta_error *error,
                             const char *format, ...) HFTA_PRINTF(3, 4);

/// Sets `*out` to `path` if that is absolute or `root` is NULL or empty, else
/// to root/path. Fails with HFTA_INVALID_INPUT if the path is too long.
hfta_status hfta_path_under(hfta_path *out, const char *root, const char *path,
                            hfta_error *error);

/// Returns the part of a path after the last slash, not counting slashes at the
/// end. The result points into `path`.
const char *hfta_path_name(const char *path);

bool hfta_path_is_folder(const char *path);
bool hfta_path_exists(const char *path);

/// Sets `*out` to `prefix` followed by 16 random hexadecimal digits. No other
/// process gets the same digits, not even on another machine.
hfta_status hfta_path_unique(hfta_path *out, const char *prefix,
                             hfta_error *error);

/// Creates a folder and its missing ancestors, and syncs them to disk. It isn't
/// a failure if the folder exists. Fails with HFTA_CANNOT_WRITE.
hfta_status hfta_folder_make(const char *path, hfta_error *error);

/// Creates a new folder with a name from hfta_path_unique.
hfta_status hfta_folder_make_unique(hfta_path *out, const char *prefix,
                                    hfta_error *error);

/// Syncs a folder, so that its entries survive a crash.
hfta_status hfta_folder_sync(const char *path, hfta_error *error);

/// Removes a folder and the files in it. Fails with HFTA_CANNOT_WRITE if the
/// folder contains another folder. Links, even `path` itself, are removed and
/// not followed. It isn't a failure if there is nothing at `path`.
hfta_status hfta_folder_remove(const char *path, hfta_error *error);

#endif // HFTA_SRC_SYSTEM_PATH_H

//===- stat_calls.h - stat and its kin as system calls ------------*- C -*-===//
//
// glibc has the functions of stat only since its version 2.33. These do the
// same by a system call, so that programs run with older versions, too.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_STAT_CALLS_H
#define HFTA_SRC_SYSTEM_STAT_CALLS_H

#include <fcntl.h>
#include <sys/stat.h>

/// Like fstatat: writes the facts of `path`, which is relative to the folder
/// that is open as `folder` (AT_FDCWD: the working folder). With the flag
/// AT_SYMLINK_NOFOLLOW they are those of a symbolic link itself. Returns 0, or
/// -1 with the reason in errno.
int hfta_fstatat(int folder, const char *path, struct stat *out, int flags);

/// Like stat: the facts of the file that `path` leads to.
int hfta_stat(const char *path, struct stat *out);

/// Like lstat: those of a symbolic link itself.
int hfta_lstat(const char *path, struct stat *out);

/// Like fstat: those of an open file.
int hfta_fstat(int descriptor, struct stat *out);

#endif // HFTA_SRC_SYSTEM_STAT_CALLS_H

//===- stat_calls.c - stat and its kin as system calls --------------------===//

#include "system/stat_calls.h"

#include <sys/syscall.h>
#include <unistd.h>

int hfta_fstatat(int folder, const char *path, struct stat *out, int flags) {
  // On 64-bit Linux the kernel's structure is that of <sys/stat.h>.
  return (int)syscall(SYS_newfstatat, folder, path, out, flags);
}

int hfta_stat(const char *path, struct stat *out) {
  return hfta_fstatat(AT_FDCWD, path, out, 0);
}

int hfta_lstat(const char *path, struct stat *out) {
  return hfta_fstatat(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

int hfta_fstat(int descriptor, struct stat *out) {
  return (int)syscall(SYS_fstat, descriptor, out);
}

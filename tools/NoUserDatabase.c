//===- NoUserDatabase.c - What a static program knows of users ------------===//
//
// LLVM looks up a user's home folder here if HOME isn't set. The functions of a
// static C library would load the system's libraries for this, which crash a
// program that was linked with another version of the C library.
//
//===----------------------------------------------------------------------===//

#include <pwd.h>
#include <stddef.h>

/// Tells that no user has this number.
int getpwuid_r(uid_t user, struct passwd *entry, char *buffer, size_t size,
               struct passwd **out) {
  (void)user, (void)entry, (void)buffer, (void)size;
  *out = NULL;
  return 0;
}

/// Tells that no user has this name.
int getpwnam_r(const char *name, struct passwd *entry, char *buffer,
               size_t size, struct passwd **out) {
  (void)name, (void)entry, (void)buffer, (void)size;
  *out = NULL;
  return 0;
}

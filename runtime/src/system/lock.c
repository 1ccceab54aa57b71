//===- lock.c - Locks between processes -----------------------------------===//

#include "system/lock.h"
#include "system/stat_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/// The number of attempts to get a shared lock, and the pause between them.
/// Attempts are repeated because another holder of the shared lock may lock the
/// file exclusively for a moment, to find out whether it is the last one.
enum { SHARED_TRIES = 50, SHARED_PAUSE_NANOSECONDS = 2000000 };

hfta_lock_state hfta_lock_descriptor(int descriptor, bool shared) {
  if (flock(descriptor, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0)
    return HFTA_LOCK_TAKEN;
  return errno == EWOULDBLOCK || errno == EACCES ? HFTA_LOCK_BUSY
                                                 : HFTA_LOCK_ABSENT;
}

static hfta_lock_state lock_patiently(int descriptor, bool shared) {
  hfta_lock_state state = hfta_lock_descriptor(descriptor, shared);
  for (int i = 1; shared && state == HFTA_LOCK_BUSY && i < SHARED_TRIES; ++i) {
    nanosleep(&(struct timespec){.tv_nsec = SHARED_PAUSE_NANOSECONDS}, NULL);
    state = hfta_lock_descriptor(descriptor, shared);
  }
  return state;
}

/// Returns whether the path still names the open file. If not, the previous
/// holder of the lock has removed it.
static bool is_in_place(const hfta_folder_lock *lock) {
  struct stat opened, named;
  return hfta_fstat(lock->descriptor, &opened) == 0 &&
         hfta_lstat(lock->path.text, &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

hfta_status hfta_folder_lock_take(hfta_folder_lock *lock, const char *folder,
                                  bool shared, hfta_error *error) {
  lock->descriptor = -1;
  lock->absent = false;
  hfta_status status =
      hfta_path_format(&lock->path, error, "%s/.hfta-lock", folder);
  while (status == HFTA_OK) {
    lock->descriptor =
        open(lock->path.text, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (lock->descriptor < 0)
      return hfta_fail(error, HFTA_CANNOT_WRITE,
                       "cannot write to checkpoint folder '%s': %s", folder,
                       strerror(errno));
    hfta_lock_state state = lock_patiently(lock->descriptor, shared);
    if (state == HFTA_LOCK_BUSY) {
      close(lock->descriptor);
      lock->descriptor = -1;
      return hfta_fail(error, HFTA_INVALID_INPUT,
                       "checkpoint folder '%s' is in use by another training",
                       folder);
    }
    lock->absent = state == HFTA_LOCK_ABSENT;
    if (lock->absent || is_in_place(lock))
      return HFTA_OK;
    close(lock->descriptor);
    lock->descriptor = -1;
  }
  return status;
}

void hfta_folder_unlock(hfta_folder_lock *lock) {
  if (lock->descriptor < 0)
    return;
  // Other processes may share the lock, so the file is removed only if this
  // process can lock it exclusively. A process that locks the file while it is
  // being removed notices that, by is_in_place.
  if (hfta_lock_descriptor(lock->descriptor, false) != HFTA_LOCK_BUSY &&
      is_in_place(lock))
    unlink(lock->path.text);
  close(lock->descriptor);
  lock->descriptor = -1;
}

//===- lock.h - Locks between processes -------------------------*- C -*-===//
//
// The locks are those of flock(2). A lock belongs to the open file: it ends
// with the process, however that ends, and it also works between two instances
// in one process. On NFS, Linux turns it into a lock on the server.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_LOCK_H
#define HFTA_SRC_SYSTEM_LOCK_H

#include "system/path.h"

#include <stdbool.h>

typedef enum hfta_lock_state {
  HFTA_LOCK_TAKEN,
  HFTA_LOCK_BUSY,  ///< another holder has it
  HFTA_LOCK_ABSENT ///< the file system has no locks
} hfta_lock_state;

/// Locks an open file without waiting, until it is closed.
hfta_lock_state hfta_lock_descriptor(int descriptor, bool shared);

/// The lock of a folder, which is a lock on the file `.hfta-lock` in it.
typedef struct hfta_folder_lock {
  hfta_path path;
  int descriptor; ///< -1 if the lock wasn't taken
  bool absent;    ///< the file system has no locks, so nobody is kept out
} hfta_folder_lock;

/// Takes a folder's lock, exclusively or shared. If it is busy, the failure is
/// HFTA_INVALID_INPUT, whose message says who probably holds it.
/// hfta_folder_unlock must be called in any case.
hfta_status hfta_folder_lock_take(hfta_folder_lock *lock, const char *folder,
                                  bool shared, hfta_error *error);

/// Releases the lock, and removes the file if nobody else holds the lock. The
/// file of a killed process locks nothing. Releasing twice is allowed.
void hfta_folder_unlock(hfta_folder_lock *lock);

#endif // HFTA_SRC_SYSTEM_LOCK_H

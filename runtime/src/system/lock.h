//===- lock.h - Locks between processes -------------------------*- C -*-===//
//
// Locks of flock(2). A lock belongs to the open file: it ends with the process,
// however that ends, and it also works between two instances in one process. On
// NFS, Linux turns it into a lock on the server.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_LOCK_H
#define HFTA_SRC_SYSTEM_LOCK_H

#include "system/path.h"

#include <stdbool.h>

typedef enum hfta_lock_state {
  HFTA_LOCK_TAKEN,
  HFTA_LOCK_BUSY,  ///< another holder has the lock
  HFTA_LOCK_ABSENT ///< the file system has no locks
} hfta_lock_state;

/// Tries to lock an open file, exclusively or shared, without waiting. The lock
/// lasts until the file is closed.
hfta_lock_state hfta_lock_descriptor(int descriptor, bool shared);

/// The lock of a folder, which is a lock on the file `.hfta-lock` in it.
typedef struct hfta_folder_lock {
  hfta_path path;
  int descriptor; ///< -1 if the lock wasn't taken
  bool absent; ///< whether the file system has no locks, so that nobody is kept
               ///< out
} hfta_folder_lock;

/// Takes a folder's lock, exclusively or shared. Fails with HFTA_INVALID_INPUT
/// if another process or instance holds it, and with HFTA_CANNOT_WRITE if the
/// lock's file can't be created. hfta_folder_unlock must be called even after a
/// failure.
hfta_status hfta_folder_lock_take(hfta_folder_lock *lock, const char *folder,
                                  bool shared, hfta_error *error);

/// Releases the lock, and removes its file if nobody else holds the lock. If a
/// killed process leaves the file, that locks nothing. Releasing twice is
/// allowed.
void hfta_folder_unlock(hfta_folder_lock *lock);

#endif // HFTA_SRC_SYSTEM_LOCK_H

//===- lock.h - Locks between processes -------------------------*- C -*-===//
//
// flock(2): a lock belongs to the open file, so that it ends with the process,
// however that ends, and keeps apart two instances in one process too. Linux
// turns it into a lock of the server's on NFS.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_LOCK_H
#define HFTA_SRC_SYSTEM_LOCK_H

#include "system/path.h"

#include <stdbool.h>

typedef enum hfta_lock_state {
  HFTA_LOCK_TAKEN,
  HFTA_LOCK_BUSY,  ///< another has it
  HFTA_LOCK_ABSENT ///< the file system has no locks
} hfta_lock_state;

/// Locks an open file without waiting, until it is closed.
hfta_lock_state hfta_lock_descriptor(int descriptor, bool shared);

/// A folder's lock: that of the file `.hfta-lock` in it.
typedef struct hfta_folder_lock {
  hfta_path path;
  int descriptor; ///< -1: not taken
  bool absent;    ///< the file system has no locks: nothing is kept out
} hfta_folder_lock;

/// Takes a folder's lock: alone, or shared with others that share it. If it is
/// busy, the failure is HFTA_INVALID_INPUT and says who is meant to have it.
/// Released by hfta_folder_unlock in any case.
hfta_status hfta_folder_lock_take(hfta_folder_lock *lock, const char *folder,
                                  bool shared, hfta_error *error);

/// Removes the file too if nobody else has the lock. What a killed process has
/// left locks nothing. Releasing twice is allowed.
void hfta_folder_unlock(hfta_folder_lock *lock);

#endif // HFTA_SRC_SYSTEM_LOCK_H

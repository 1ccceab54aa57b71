//===- FakeOpenMpi.h - An Open MPI without another rank ---------*- C -*-===//
//
// The functions of MPI that the runtime calls, for a host program that has
// initialised MPI as rank 0 of 2. Rank 1 doesn't exist: all messages to it come
// back, so that it seems to do everything that rank 0 does.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_FAKE_OPEN_MPI_H
#define HFTA_UNITTESTS_FAKE_OPEN_MPI_H

#include <stdatomic.h>

/// Ways in which the simulated rank 1 or MPI misbehaves. Tests set them.
typedef struct fake_mpi {
  atomic_bool is_silent;  ///< rank 1 sends only heartbeats
  atomic_bool is_reading; ///< sends to rank 1 never complete, except heartbeats
  atomic_bool is_sending; ///< messages from rank 1 are arriving, so that
                          ///< receives can't be cancelled
  atomic_bool is_absent;  ///< rank 1 takes no part in creating communicators
  atomic_bool hangs;      ///< MPI_Test doesn't return
  atomic_int tests;       ///< the number of calls of MPI_Test so far
} fake_mpi;

extern fake_mpi fake;

/// Completes all requests, except those of heartbeats, as if the messages from
/// rank 1 arrived now.
void fake_mpi_deliver(void);

#endif // HFTA_UNITTESTS_FAKE_OPEN_MPI_H

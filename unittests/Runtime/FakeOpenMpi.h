//===- FakeOpenMpi.h - An Open MPI without another rank ---------*- C -*-===//
//
// The functions of MPI that the runtime calls, for a host program that has
// initialised MPI as rank 0 of 2. All messages to rank 1 come back, so that
// rank 1 seems to do everything that rank 0 does.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_FAKE_OPEN_MPI_H
#define HFTA_UNITTESTS_FAKE_OPEN_MPI_H

#include <stdatomic.h>

/// Ways in which rank 1 behaves differently from rank 0.
typedef struct fake_mpi {
  atomic_bool is_silent;  ///< it sends only heartbeats
  atomic_bool is_reading; ///< it never finishes reading messages
  atomic_bool is_sending; ///< its messages are arriving: receives can't be
                          ///< cancelled
  atomic_bool is_absent;  ///< it doesn't take part in making a communicator
  atomic_bool hangs;      ///< MPI_Test doesn't return
  atomic_int tests;       ///< counts the calls of MPI_Test
} fake_mpi;

extern fake_mpi fake;

/// Ends all messages that haven't ended, except heartbeats: those from rank 1
/// arrive.
void fake_mpi_deliver(void);

#endif // HFTA_UNITTESTS_FAKE_OPEN_MPI_H

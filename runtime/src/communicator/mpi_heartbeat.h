//===- mpi_heartbeat.h - Which ranks are alive and go on --------*- C -*-===//
//
// Each rank sends a few bytes to every other one, several times within the
// timeout and at least once a second: a counter of its own progress, the rank
// that it waits for, and for how long none of the ranks that it waits for has
// made progress. A rank whose counter stands still makes no progress; the ranks
// that wait for it aren't to blame.
//
// Threads: only the thread that calls MPI uses these functions and data.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_MPI_HEARTBEAT_H
#define HFTA_SRC_COMMUNICATOR_MPI_HEARTBEAT_H

#include "communicator/mpi_library.h"

#include <stdbool.h>

typedef enum hfta_rank_state {
  HFTA_RANK_WORKS,
  HFTA_RANK_FAILS, ///< it has an error to report
  HFTA_RANK_ENDS   ///< it has ended: this is its last message
} hfta_rank_state;

typedef struct hfta_heartbeat {
  uint64_t counter;
  int32_t rank;
  int32_t waits_for; ///< one of the ranks that it waits for; -1 if it waits for
                     ///< none
  int32_t state;     ///< hfta_rank_state
  float idle; ///< seconds since the last progress of this rank, of a rank that
              ///< it waits for, or of one that these wait for in turn
} hfta_heartbeat;

/// The information about one rank. Times are seconds of the owner's clock.
typedef struct hfta_peer {
  hfta_heartbeat last; ///< the last heartbeat received from it
  double heard;        ///< when `last` was received
  double progressed; ///< when its counter changed or a message from it arrived
  hfta_heartbeat sent; ///< the heartbeat in flight to it
  void *request;       ///< the MPI request of `sent`; NULL if none is in flight
  bool has_latest;     ///< the latest heartbeat was sent to it
} hfta_peer;

typedef struct hfta_heartbeats {
  const hfta_mpi *mpi;
  void *communicator; ///< the MPI communicator
  int rank, size;
  hfta_peer *peers;  ///< one for each rank, this one included
  double interval;   ///< seconds between two heartbeats
  uint64_t counter;  ///< the progress counter of this rank
  double progressed; ///< when `counter` last changed
  double next;       ///< when the next heartbeats are due
  hfta_heartbeat own;
  hfta_heartbeat incoming;
  void *request; ///< the MPI request of `incoming`
  int working;   ///< the number of other ranks that haven't ended yet
  int failing;   ///< the lowest other rank that has failed; -1 if none
} hfta_heartbeats;

hfta_status hfta_heartbeats_begin(hfta_heartbeats *heartbeats,
                                  const hfta_mpi *mpi, void *communicator,
                                  double now, hfta_error *error);
void hfta_heartbeats_free(hfta_heartbeats *heartbeats);

/// Cancels the receive that waits for the next heartbeat, after a failure. The
/// last heartbeats that were sent may still be in flight, so that their memory
/// must stay allocated.
void hfta_heartbeats_cancel(hfta_heartbeats *heartbeats);

/// The state that a rank reports about itself.
typedef struct hfta_own_state {
  uint64_t counter;
  int waits_for; ///< one of the ranks that it waits for; -1 if it waits for
                 ///< none
  double
      idle; ///< seconds since the last progress of any rank that it waits for
  hfta_rank_state state;
} hfta_own_state;

/// Receives the heartbeats that have come, and sends those that are due, at
/// once if the state has changed. Returns MPI's error code.
int hfta_heartbeats_tick(hfta_heartbeats *heartbeats, double now,
                         const hfta_own_state *own);

/// Returns the seconds for which neither a rank nor the ranks that it waits for
/// have made progress, as far as is known here.
double hfta_heartbeats_idle(const hfta_heartbeats *heartbeats, int rank,
                            double now);

/// Whether all other ranks have been sent that this rank ends.
bool hfta_heartbeats_have_told(const hfta_heartbeats *heartbeats);

/// Whether all ranks have ended and no heartbeat to another rank is in flight.
bool hfta_heartbeats_are_over(const hfta_heartbeats *heartbeats);

/// Returns the rank that keeps this one from going on, which has waited for
/// `peer` since `began`; -1 if the wait may still end.
int hfta_heartbeats_blame(const hfta_heartbeats *heartbeats, int peer,
                          double began, double now, double timeout);

/// Whether a heartbeat of a rank has arrived lately.
bool hfta_heartbeats_answers(const hfta_heartbeats *heartbeats, int rank,
                             double now, double timeout);

#endif // HFTA_SRC_COMMUNICATOR_MPI_HEARTBEAT_H

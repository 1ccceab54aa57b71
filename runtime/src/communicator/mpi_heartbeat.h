//===- mpi_heartbeat.h - Heartbeats between ranks -----------------*- C -*-===//
//
// Each rank sends a small message, a heartbeat, to every other rank, several
// times within the timeout and at least once a second. It contains a counter of
// the rank's own progress, a rank that it waits for, and the time for which
// none of the ranks that it waits for has made progress. So all ranks can find
// the one that has stopped, and don't blame ranks that only wait for it.
//
// Threads: only the thread that calls MPI uses these functions and data.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_MPI_HEARTBEAT_H
#define HFTA_SRC_COMMUNICATOR_MPI_HEARTBEAT_H

#include "communicator/mpi_library.h"

#include <stdbool.h>

typedef enum hfta_rank_state {
  HFTA_RANK_WORKS,
  HFTA_RANK_FAILS, ///< the rank has an error to report
  HFTA_RANK_ENDS   ///< the rank has ended; this is its last heartbeat
} hfta_rank_state;

typedef struct hfta_heartbeat {
  uint64_t counter;  ///< the rank's progress counter
  int32_t rank;      ///< the rank that sends the heartbeat
  int32_t waits_for; ///< one of the ranks that the sender waits for; -1 if none
  int32_t state;     ///< hfta_rank_state
  float idle; ///< seconds since the last progress of the sender, of a rank that
              ///< it waits for, or of one further along the chain of waiting
              ///< ranks
} hfta_heartbeat;

/// The information about one rank. Times are in seconds of the owner's clock.
typedef struct hfta_peer {
  hfta_heartbeat last; ///< the last heartbeat received from the rank
  double heard;        ///< when `last` was received
  double progressed; ///< when the rank's counter last changed or a message from
                     ///< it arrived
  hfta_heartbeat sent; ///< the last heartbeat sent to the rank
  void *request;       ///< the MPI request of `sent`; NULL if none is in flight
  bool has_latest;     ///< whether the latest heartbeat was sent to the rank
} hfta_peer;

typedef struct hfta_heartbeats {
  const hfta_mpi *mpi;
  void *communicator; ///< the MPI communicator
  int rank, size;
  hfta_peer *peers;        ///< one for each rank, this one included
  double interval;         ///< seconds between two heartbeats
  uint64_t counter;        ///< the progress counter of this rank
  double progressed;       ///< when `counter` last changed
  double next;             ///< when the next heartbeats are due
  hfta_heartbeat own;      ///< the latest heartbeat of this rank
  hfta_heartbeat incoming; ///< the buffer in which heartbeats are received
  void *request;           ///< the MPI request of `incoming`
  int working;             ///< the number of other ranks that haven't ended yet
  int failing; ///< the lowest other rank that has failed; -1 if none
} hfta_heartbeats;

/// Starts to exchange heartbeats; `rank` and `size` must be set. Fails with
/// HFTA_UNSUPPORTED if there isn't enough memory, and with HFTA_INTERNAL if MPI
/// fails.
hfta_status hfta_heartbeats_begin(hfta_heartbeats *heartbeats,
                                  const hfta_mpi *mpi, void *communicator,
                                  double now, hfta_error *error);
void hfta_heartbeats_free(hfta_heartbeats *heartbeats);

/// Cancels the receive of the next heartbeat, after a failure. Heartbeats that
/// were sent may still be in flight, so the struct and its peers must stay
/// allocated.
void hfta_heartbeats_cancel(hfta_heartbeats *heartbeats);

/// The state that a rank reports about itself in its heartbeats.
typedef struct hfta_own_state {
  uint64_t counter; ///< the rank's progress counter
  int waits_for;    ///< one of the ranks that this rank waits for; -1 if none
  /// Seconds since the last progress of any rank that this rank waits for.
  double idle;
  hfta_rank_state state;
} hfta_own_state;

/// Receives the heartbeats that have arrived, and sends one if it is due or the
/// state has changed. Returns MPI's error code.
int hfta_heartbeats_tick(hfta_heartbeats *heartbeats, double now,
                         const hfta_own_state *own);

/// Returns the seconds since the last known progress of a rank, or of any of
/// the ranks that it waits for.
double hfta_heartbeats_idle(const hfta_heartbeats *heartbeats, int rank,
                            double now);

/// Returns whether all other ranks have been sent the heartbeat that says that
/// this rank has ended.
bool hfta_heartbeats_have_told(const hfta_heartbeats *heartbeats);

/// Returns whether all other ranks have ended and all of this rank's heartbeats
/// were sent.
bool hfta_heartbeats_are_over(const hfta_heartbeats *heartbeats);

/// Returns the rank to blame for a wait of this rank for a message of `peer`:
/// the last rank in the chain of ranks that wait for each other, if it has made
/// no progress for the timeout. Returns -1 if the wait may still end. `began`
/// is when the wait began; times are in seconds of the owner's clock.
int hfta_heartbeats_blame(const hfta_heartbeats *heartbeats, int peer,
                          double began, double now, double timeout);

/// Returns whether a heartbeat of a rank has arrived within the last timeout /
/// 2 seconds.
bool hfta_heartbeats_answers(const hfta_heartbeats *heartbeats, int rank,
                             double now, double timeout);

#endif // HFTA_SRC_COMMUNICATOR_MPI_HEARTBEAT_H

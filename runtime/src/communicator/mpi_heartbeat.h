//===- mpi_heartbeat.h - Which ranks are alive and go on --------*- C -*-===//
//
// Each rank sends a few bytes to every other one, several times in the timeout
// and at least once a second: a counter of what it has done, for whom it waits,
// and how long nothing that it waits for has gone on. A rank whose counter
// stands still is without progress; the ranks that wait for it aren't to blame.
//
// Threads: all of this belongs to the thread that calls MPI.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMUNICATOR_MPI_HEARTBEAT_H
#define HFTA_SRC_COMMUNICATOR_MPI_HEARTBEAT_H

#include "communicator/mpi_library.h"

#include <stdbool.h>

typedef enum hfta_rank_state {
  HFTA_RANK_WORKS,
  HFTA_RANK_FAILS, ///< it has an error to report
  HFTA_RANK_ENDS   ///< its last message
} hfta_rank_state;

typedef struct hfta_heartbeat {
  uint64_t counter;
  int32_t rank;
  int32_t waits_for; ///< one of those that it waits for; -1: nobody
  int32_t state;     ///< hfta_rank_state
  float idle;        ///< seconds since it has made progress, or one of those
                     ///< that it waits for, or that these wait for
} hfta_heartbeat;

/// What is known of a rank. Times are seconds of the owner's clock.
typedef struct hfta_peer {
  hfta_heartbeat last; ///< that came
  double heard;        ///< when it did
  double progressed;   ///< when its counter moved, or a message of it came
  hfta_heartbeat sent; ///< the one on its way to it
  void *request;       ///< of it; NULL: none is on its way
  bool has_latest;     ///< what is to be sent now was
} hfta_peer;

typedef struct hfta_heartbeats {
  const hfta_mpi *mpi;
  void *communicator; ///< of MPI
  int rank, size;
  hfta_peer *peers;  ///< a rank each, this one too
  double interval;   ///< seconds between two of them
  uint64_t counter;  ///< of this rank
  double progressed; ///< when it moved
  double next;       ///< when the next ones are sent
  hfta_heartbeat own;
  hfta_heartbeat incoming;
  void *request; ///< of `incoming`
  int working;   ///< other ranks that haven't said that they end
  int failing;   ///< the lowest other rank that has said that it fails; -1
} hfta_heartbeats;

hfta_status hfta_heartbeats_begin(hfta_heartbeats *heartbeats,
                                  const hfta_mpi *mpi, void *communicator,
                                  double now, hfta_error *error);
void hfta_heartbeats_free(hfta_heartbeats *heartbeats);

/// What a rank says of itself.
typedef struct hfta_own_state {
  uint64_t counter;
  int waits_for; ///< -1: nobody
  double idle;   ///< seconds, of those that it waits for
  hfta_rank_state state;
} hfta_own_state;

/// Takes what came; sends what is due: at once if the state has changed.
/// Returns an error of MPI.
int hfta_heartbeats_tick(hfta_heartbeats *heartbeats, double now,
                         const hfta_own_state *own);

/// Seconds for which neither a rank nor what it waits for has gone on, as far
/// as is known here.
double hfta_heartbeats_idle(const hfta_heartbeats *heartbeats, int rank,
                            double now);

/// The others have been sent that this rank ends.
bool hfta_heartbeats_have_told(const hfta_heartbeats *heartbeats);

/// No heartbeat is on its way to another rank, or from one that hasn't ended.
bool hfta_heartbeats_are_over(const hfta_heartbeats *heartbeats);

/// The rank that keeps this one from going on, which has waited for `peer`
/// since `began`; -1: that may still go on.
int hfta_heartbeats_blame(const hfta_heartbeats *heartbeats, int peer,
                          double began, double now, double timeout);

/// Whether a rank has been heard of lately.
bool hfta_heartbeats_answers(const hfta_heartbeats *heartbeats, int rank,
                             double now, double timeout);

#endif // HFTA_SRC_COMMUNICATOR_MPI_HEARTBEAT_H

//===- seat.h - Threads and memory that several instances use ---*- C -*-===//
//
// A seat is lent to one instance at a time: threads for its kernels, and the
// arena that holds its segments which aren't resident. The state that an
// instance keeps from one call to the next lies elsewhere, so that it may use
// another seat each time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_SEAT_H
#define HFTA_SRC_SCHEDULE_SEAT_H

#include "hfta/device.h"

typedef struct hfta_seat {
  hfta_device *device; ///< its threads run the kernels; outlives the instance
  char *arena;         ///< NULL: no instance at this seat needs an arena
  uint64_t arena_bytes;
  bool is_used; ///< another instance has written to the arena meanwhile
} hfta_seat;

/// Moves the instance to a seat, from the next call on; no call may be in
/// flight. The instance must have been created for a workload with a seat. Once
/// another instance has used its seat, it may not be called until it sits
/// again.
void hfta_instance_sit(hfta_instance *instance, const hfta_seat *seat);

/// Gives the instance's tasks priority among all that share the seat's threads.
/// May be called while another thread runs it.
void hfta_instance_go_first(hfta_instance *instance);

/// Returns the seconds for which the instance's tasks have occupied threads of
/// seats.
double hfta_instance_computed(hfta_instance *instance);

#endif // HFTA_SRC_SCHEDULE_SEAT_H

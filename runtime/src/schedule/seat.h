//===- seat.h - Threads and memory that several instances use ---*- C -*-===//
//
// What one instance at a time is lent: threads for its kernels, and the arena
// in which what isn't resident lies. What an instance keeps from one call to
// the next it keeps elsewhere, so that it may sit at another seat each time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_SEAT_H
#define HFTA_SRC_SCHEDULE_SEAT_H

#include "hfta/device.h"

typedef struct hfta_seat {
  hfta_device *device; ///< whose threads run kernels; outlives the instance
  char *arena;         ///< NULL: nobody who sits here needs one
  uint64_t arena_bytes;
  bool is_used; ///< another one has written to the arena meanwhile
} hfta_seat;

/// From the next call on; no call may be under way. The instance was created
/// for a workload with a seat, and may not be called before it sits again once
/// its seat is another one's.
void hfta_instance_sit(hfta_instance *instance, const hfta_seat *seat);

/// Of all that share the seat's threads, the instance's tasks go first. May be
/// called while another thread runs it.
void hfta_instance_go_first(hfta_instance *instance);

/// Seconds for which the instance's tasks have had threads of seats.
double hfta_instance_computed(hfta_instance *instance);

#endif // HFTA_SRC_SCHEDULE_SEAT_H

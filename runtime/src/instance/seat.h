//===- seat.h - Threads and memory that several instances use ---*- C -*-===//
//
// A seat consists of threads for kernels and an arena for segments that aren't
// resident. It is lent to one instance at a time. The state that an instance
// keeps from call to call is elsewhere, so that it may use another seat each
// time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_SEAT_H
#define HFTA_SRC_INSTANCE_SEAT_H

#include "hfta/device.h"
#include "hfta/instance.h"

typedef struct hfta_seat {
  /// A device whose threads run the kernels; outlives the instance.
  hfta_device *device;
  char *arena; ///< NULL: no instance at this seat needs an arena
  uint64_t arena_bytes;
  bool is_used; ///< another instance has written to the arena since the
                ///< instance that sits down now was last here
} hfta_seat;

/// Moves the instance to a seat, from the next call on. No call may be in
/// flight. The instance must have been created for a workload with a seat. Once
/// another instance has used its seat, this function must be called again
/// before any other call.
void hfta_instance_sit(hfta_instance *instance, const hfta_seat *seat);

/// Gives the instance's tasks priority over those of other instances that share
/// the seat's threads. May be called while another thread runs the instance.
void hfta_instance_go_first(hfta_instance *instance);

/// Returns for how many seconds the instance's tasks have occupied the threads
/// of seats.
double hfta_instance_computed(hfta_instance *instance);

#endif // HFTA_SRC_INSTANCE_SEAT_H

//===- ahead.h - Steps that a device gets before it is done -----*- C -*-===//
//
// A device that does its work by itself is given a step while it still is at
// the one before: the host reads, uploads and launches meanwhile. What the host
// writes for a step, and what the step leaves for it, lies in one of two areas
// then, of which the device has the other one, until the host has settled the
// step. Where that can't be, steps are hfta_instance_step's.
//
// Threads: one. Between a step that was posted and its end nothing else is done
// with the instance.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_AHEAD_H
#define HFTA_SRC_SCHEDULE_AHEAD_H

#include "hfta/device.h"
#include "hfta/instance.h"

/// Steps that a device has been given and the host hasn't settled.
enum { HFTA_MOST_POSTED_STEPS = HFTA_DEVICE_MARKS };

typedef struct hfta_ahead hfta_ahead;

/// Whether steps of the instance may be posted now and then: on one device that
/// has marks and all copies, by one rank, without a preconditioner.
bool hfta_instance_may_run_ahead(const hfta_instance *instance);

/// Whether the next one may: also without an observer and gradients that wait
/// for an update, and while nothing is measured.
bool hfta_instance_runs_ahead(const hfta_instance *instance);

/// Gives the device a step, after at most one that isn't settled. `inputs`, a
/// pointer a data field, stay until it is, and so do those that were offered.
/// After a failure it hasn't been given; the one before is settled as ever.
hfta_status hfta_instance_post_step(hfta_instance *instance,
                                    const void *const *inputs);

/// Waits for the first step that isn't settled, of which there is one. Its
/// losses, one a copy, are as hfta_instance_step has them, and reports are of
/// this step. After a failure neither this step nor what was posted behind it
/// has been done: nothing is under way, and the instance's steps are those
/// before.
hfta_status hfta_instance_settle_step(hfta_instance *instance, double *losses);

/// As the device's functions of these names; false where it has none.
bool hfta_instance_lock(hfta_instance *instance, void *memory, uint64_t bytes);
void hfta_instance_unlock(hfta_instance *instance, void *memory);

/// Nothing is under way. NULL is allowed.
void hfta_ahead_free(hfta_ahead *self, hfta_device *device);

#endif // HFTA_SRC_SCHEDULE_AHEAD_H

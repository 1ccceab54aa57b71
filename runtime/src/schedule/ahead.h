//===- ahead.h - Steps posted to a device ahead of time -----------*- C -*-===//
//
// A device that works asynchronously is given a step while it is still running
// the previous one: meanwhile the host reads, uploads and launches. The host
// images of a step, both the values written for it and its results, then lie in
// one of two areas; the device uses the other area for the other step. An area
// is free again once the host has settled its step. Where this isn't possible,
// steps are run by hfta_instance_step.
//
// Threads: one. Between the post of a step and its end the instance is used for
// nothing else.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_AHEAD_H
#define HFTA_SRC_SCHEDULE_AHEAD_H

#include "hfta/device.h"
#include "hfta/instance.h"

/// The most steps that a device has been given and the host hasn't settled.
enum { HFTA_MOST_POSTED_STEPS = HFTA_DEVICE_MARKS };

typedef struct hfta_ahead hfta_ahead;

/// Whether steps of the instance can be posted in principle: on one device that
/// has marks and holds all copies, with one rank and without a preconditioner.
bool hfta_instance_may_run_ahead(const hfta_instance *instance);

/// Whether the next step may be posted: this also needs that there is no
/// observer, that no gradients wait for an update, and that the width of turns
/// isn't being measured.
bool hfta_instance_runs_ahead(const hfta_instance *instance);

/// Gives the device a step, after at most one that isn't settled. `inputs`, one
/// pointer per data field, must stay until the step is settled, as must offered
/// inputs. After a failure the step wasn't posted; the one before is settled as
/// usual.
hfta_status hfta_instance_post_step(hfta_instance *instance,
                                    const void *const *inputs);

/// Waits for the first step that isn't settled; there must be one. Its losses,
/// one per copy, are as in hfta_instance_step, and reports are those of this
/// step. After a failure neither this step nor a step posted after it counts as
/// done: nothing is in flight, and the instance's number of steps is that from
/// before them.
hfta_status hfta_instance_settle_step(hfta_instance *instance, double *losses);

/// Call the device's functions of these names; false if it has none.
bool hfta_instance_lock(hfta_instance *instance, void *memory, uint64_t bytes);
void hfta_instance_unlock(hfta_instance *instance, void *memory);

/// Frees the areas; no step may be in flight. NULL is allowed.
void hfta_ahead_free(hfta_ahead *self, hfta_device *device);

#endif // HFTA_SRC_SCHEDULE_AHEAD_H

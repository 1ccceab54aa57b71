//===- ahead.h - Steps posted to a device ahead of time -----------*- C -*-===//
//
// A device that works asynchronously, such as a GPU, is given a step (the step
// is posted) while it still runs the one before. Meanwhile the host reads data,
// uploads and launches. The host's images of segments, with the values written
// for a step and its results, are double-buffered: there are two areas, used by
// alternate steps, because the device may work on two steps. The host settles a
// step when it waits for the step's end and reads its results; then the step's
// area is free again. Where steps can't be posted, hfta_instance_step runs
// them.
//
// Threads: one. Between the post of a step and its end, the instance is used
// only for posting and settling steps.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_AHEAD_H
#define HFTA_SRC_SCHEDULE_AHEAD_H

#include "hfta/instance.h"
#include "workload/memory_plan.h"

/// Returns whether steps of the instance can be posted in principle. They need
/// one rank and one worker, whose device has marks and holds all copies; and no
/// parts, no arena, no windows and no preconditioner.
bool hfta_instance_may_run_ahead(const hfta_instance *instance);

/// Returns whether the next step may be posted. Besides the conditions of
/// hfta_instance_may_run_ahead this needs that there is no observer, that no
/// gradients wait for an update or must be cleared, and that the search for the
/// width of turns has ended.
bool hfta_instance_runs_ahead(const hfta_instance *instance);

/// Posts a step; at most one earlier step may be unsettled. `inputs` has one
/// pointer per data field. The data must not change until the step is settled,
/// nor may offered data. If the call fails, the step wasn't posted; an earlier
/// step is settled as usual.
hfta_status hfta_instance_post_step(hfta_instance *instance,
                                    const void *const *inputs);

/// Settles the oldest posted step, of which there must be one: waits for its
/// end, and writes its losses, as hfta_instance_step does, and its reports. If
/// the call fails, neither this step nor one posted after it counts as done:
/// nothing is in flight, and the instance's number of steps is that from before
/// them.
hfta_status hfta_instance_settle_step(hfta_instance *instance, double *losses);

/// Call the functions `lock` and `unlock` of the instance's device.
/// hfta_instance_lock returns false if the device has no such function or the
/// memory can't be locked; such memory must not be unlocked.
bool hfta_instance_lock(hfta_instance *instance, void *memory, uint64_t bytes);
void hfta_instance_unlock(hfta_instance *instance, void *memory);

#endif // HFTA_SRC_SCHEDULE_AHEAD_H

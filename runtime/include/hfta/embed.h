//===- embed.h - A compiled training inside another program -----*- C -*-===//
//
// The functions below are the ones that a generated library's NAME_create,
// NAME_step and so on call. A program may also call them itself, with the
// pointer that NAME_create gave.
//
// Errors: every function that can fail returns a status; hfta_instance_message
// returns the reason until the next call on the same instance. A failed call
// leaves the instance usable unless the text says otherwise.
// Threads: an instance is used by one thread at a time; any number of
// instances, of one program or of several, may be used at once. There is no
// global state. The library installs no signal handlers.
// Memory: everything is allocated in hfta_instance_create, nothing in
// hfta_instance_step, _accumulate, _update and _evaluate.
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMBED_H
#define HFTA_EMBED_H

#include "hfta/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hfta_program;

/// A program's memory and threads.
typedef struct hfta_instance hfta_instance;

/// Options of hfta_instance_create; all zero means the defaults.
typedef struct hfta_options {
  int32_t threads;     ///< 1 .. 256; 0: one per processor
  uint32_t ranks;      ///< 0: the launcher's ranks, if the program has several
                       ///< workers; 1: this process alone
  const char *device;  ///< NULL: "cpu"
  int64_t total_steps; ///< the step at which a cosine schedule ends; 0: the
                       ///< job's `steps`
  const char *mpi;     ///< path of the MPI library; NULL: the process's own, or
                       ///< Open MPI's libmpi.so.40
  double rank_timeout; ///< seconds that a rank may make no progress before it
                       ///< counts as lost; 0: 120
  const char *spill_directory; ///< folder of the file to which a program with
                               ///< a budget of memory moves tensors; NULL: the
                               ///< folder that the job names, or the working
                               ///< folder
  int32_t io_threads; ///< threads that read and write that file, 1 .. 16; 0: 2
  const char *store;  ///< layers that slow that file down or make it fail, to
                      ///< measure or to test (see the runtime's store.h); NULL:
                      ///< none
  hfta_error *error;  ///< receives why creation failed, or NULL; borrowed
                      ///< during hfta_instance_create only
} hfta_options;

/// One copy's tensor. `data` points into the instance: it is valid until the
/// instance is destroyed, and may be read and written between calls. It is NULL
/// if the host can't address the device's memory, or if the tensor is spilled
/// to a file; checkpoints hold such a tensor. A tensor that all copies share
/// has the same `data` for each of them.
typedef struct hfta_tensor_info {
  const char *name;
  const int64_t *shape;
  void *data;
  uint64_t bytes;
  uint32_t type; ///< hfta_element_type
  uint32_t rank;
} hfta_tensor_info;

/// Makes an instance at step 0 with initial weights, together with the other
/// ranks if there are several: all ranks make the same calls in the same order
/// and pass the whole batch, of which each rank reads its own micro-batches.
/// `*out` is the caller's until hfta_instance_destroy; NULL after a failure.
hfta_status hfta_instance_create(const struct hfta_program *program,
                                 const hfta_options *options,
                                 hfta_instance **out);

/// Destroys an instance; NULL is allowed. Several ranks call it together. After
/// a failure none waits for the others, except for about half a second for
/// messages in flight, or two if MPI itself hangs. Memory that such messages
/// may still reach stays allocated until the process ends.
void hfta_instance_destroy(hfta_instance *instance);

/// Returns the reason of the last call that failed; "" if none did. Owned by
/// the instance.
const char *hfta_instance_message(const hfta_instance *instance);

int64_t hfta_instance_copies(const hfta_instance *instance);

/// Returns the number of samples of one step.
int64_t hfta_instance_batch(const hfta_instance *instance);

/// Returns the steps done since the initial weights, those before a loaded
/// checkpoint included.
int64_t hfta_instance_steps(const hfta_instance *instance);

/// Runs one whole training step: accumulate, then update. It may do both for a
/// few copies after the others, with the same results (equal up to rounding
/// where K-FAC preconditions the gradients with the step's rows). `inputs`
/// holds one pointer per field of the data block, in the block's order, each to
/// a whole batch in the file's element type, row-major, before the block's
/// arithmetic. `losses` (NULL is allowed) receives one loss per copy, from
/// before the update. A copy whose loss isn't finite is no failure. A step or
/// an update that fails after it has begun may have changed some weights and
/// not others: load a checkpoint before the training goes on.
hfta_status hfta_instance_step(hfta_instance *instance,
                               const void *const *inputs, double *losses);

/// Offers the batch of the call after the next one, with one pointer per field:
/// it is copied to the device while the next step, accumulation or evaluation
/// computes. Its bytes must not change until the call that takes it, which is
/// one of the same kind with the same pointers; any other call copies its own
/// batch. NULL takes the last offer back, and so does a call that fails.
void hfta_instance_offer(hfta_instance *instance, const void *const *inputs);

/// Runs forward and backward: adds one batch's gradients to those since the
/// last update. HFTA_UNSUPPORTED for a program with a budget of memory, in
/// which gradients don't outlive a step. A failure of this function or of
/// hfta_instance_update discards all gradients since the last update:
/// accumulate them again.
hfta_status hfta_instance_accumulate(hfta_instance *instance,
                                     const void *const *inputs, double *losses);

/// Clips the accumulated gradients, runs the optimizer's step with them, and
/// sets them to zero. Learning rates follow the job's schedule unless they are
/// set.
hfta_status hfta_instance_update(hfta_instance *instance);

/// Overrides the job's schedule for a copy, from the next update on. NaN
/// restores the schedule.
hfta_status hfta_instance_set_learning_rate(hfta_instance *instance,
                                            int64_t copy, double rate);

/// Chooses the copies that run from the next call on: `count` numbers,
/// ascending, at least one. The others keep their state, which checkpoints
/// still hold; their losses and metrics are NaN. At first all copies run. In a
/// job with a preconditioner, a changed choice between an accumulation and its
/// update is HFTA_USAGE.
hfta_status hfta_instance_set_live(hfta_instance *instance,
                                   const int32_t *copies, int64_t count);

/// Computes the loss and metric of one batch in inference mode, averaged over
/// its first `valid_samples` samples; the rest of the batch must be readable
/// and is ignored. Either result may be NULL.
hfta_status hfta_instance_evaluate(hfta_instance *instance,
                                   const void *const *inputs,
                                   int64_t valid_samples, double *losses,
                                   double *metrics);

/// Computes the model's outputs for one batch, in inference mode. `inputs`
/// holds one pointer per model input, in the model's order, each to a tensor of
/// the input's type and shape. The outputs are then read with
/// hfta_instance_tensor. HFTA_USAGE where a job has several stages.
hfta_status hfta_instance_infer(hfta_instance *instance,
                                const void *const *inputs);

/// Finds a copy's tensor by its name: a weight, optimizer state or output. In a
/// job of several stages it is HFTA_USAGE on a rank that has no worker of the
/// tensor's stage, and writing to `data` changes the tensor of one worker only;
/// the other workers of its stage keep their values.
hfta_status hfta_instance_tensor(hfta_instance *instance, int64_t copy,
                                 const char *name, hfta_tensor_info *out);

/// Writes folder/step-00000100, complete or not at all; makes `folder` if it
/// doesn't exist. An older checkpoint of the same step is replaced, others
/// stay. Fails while a training (hfta_train) uses the folder. Only the first of
/// several ranks writes it; all ranks return its result.
hfta_status hfta_instance_save(hfta_instance *instance, const char *folder);

/// Loads the newest checkpoint in `folder`, or `folder` itself if it is one.
/// After a failure the instance is as it was before, unless somebody changes
/// the checkpoint's files while they are read. Only the first of several ranks
/// reads it and sends it to the others, which need no access to the folder.
hfta_status hfta_instance_load(hfta_instance *instance, const char *folder);

#ifdef __cplusplus
}
#endif

#endif // HFTA_EMBED_H

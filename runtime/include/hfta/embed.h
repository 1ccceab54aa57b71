//===- embed.h - A compiled training inside another program -----*- C -*-===//
//
// What the functions NAME_create, NAME_step ... of a generated library call,
// and what a program may call itself with the pointer that it got there.
//
// Errors: every function that can fail returns a status; the reason stands in
// hfta_instance_message until the next call on the same instance. A failed
// call leaves the instance usable unless the text says otherwise.
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

/// All zero means defaults.
typedef struct hfta_options {
  int32_t threads;     ///< 1 .. 256; 0: one a processor
  uint32_t ranks;      ///< 0: those of the launcher, if the program has several
                       ///< workers; 1: this process alone
  const char *device;  ///< NULL: "cpu"
  int64_t total_steps; ///< where a cosine schedule ends; 0: the job's `steps`
  const char *mpi;     ///< the library of MPI; NULL: the process' own, or Open
                       ///< MPI's libmpi.so.40
  double rank_timeout; ///< seconds that a rank may be without progress; 0: 120
  const char *spill_directory; ///< where the program's file lies, if it needs
                               ///< one: NULL: the job's folder for it, or the
                               ///< working folder
  int32_t io_threads;          ///< that read and write it, 1 .. 16; 0: 2
  const char *store; ///< what lies before the file, as store.h has it, to
                     ///< measure or to test; NULL: nothing
  hfta_error *error; ///< receives why creation failed, or NULL; borrowed
                     ///< during hfta_instance_create only
} hfta_options;

/// One copy's tensor. `data` leads into the instance: it is valid until the
/// instance is destroyed, may be read and written between calls, and is NULL
/// if the host can't address the device's memory, or if
/// the tensor is spilled: checkpoints have it. A tensor that all copies
/// share has the same `data` for each of them.
typedef struct hfta_tensor_info {
  const char *name;
  const int64_t *shape;
  void *data;
  uint64_t bytes;
  uint32_t type; ///< hfta_element_type
  uint32_t rank;
} hfta_tensor_info;

/// Makes an instance at step 0 with initial weights, together with the other
/// ranks if there are several: these make the same calls in the same order,
/// with the whole batch, of which each reads its own micro-batches. `*out` is
/// the caller's until hfta_instance_destroy; NULL after a failure.
hfta_status hfta_instance_create(const struct hfta_program *program,
                                 const hfta_options *options,
                                 hfta_instance **out);

/// NULL is allowed. Several ranks call it together; none waits where they have
/// failed.
void hfta_instance_destroy(hfta_instance *instance);

/// Why the last call that failed did; "" before. Owned by the instance.
const char *hfta_instance_message(const hfta_instance *instance);

int64_t hfta_instance_copies(const hfta_instance *instance);

/// Samples of one step.
int64_t hfta_instance_batch(const hfta_instance *instance);

/// Steps done since the initial weights, those before a checkpoint included.
int64_t hfta_instance_steps(const hfta_instance *instance);

/// One whole training step: accumulate, then update, or both for a few copies
/// after the other, which gives the same; to rounding where K-FAC makes
/// preconditioned gradients of the step's rows. `inputs` holds one
/// pointer a field of the data block, in its order, each to a whole batch in
/// the file's element type, row-major, before the block's arithmetic. `losses`
/// (NULL is allowed) receives one loss a copy, that before the update. A copy
/// whose loss isn't finite is no failure.
hfta_status hfta_instance_step(hfta_instance *instance,
                               const void *const *inputs, double *losses);

/// Offers the batch of the call after the next one, a pointer a field: it comes
/// to the device while the next step, accumulation or evaluation computes. Its
/// bytes must not change until the call that takes it, which is one of the same
/// kind with the same pointers; any other call brings its own batch. NULL: the
/// batch that was offered last won't come; nor does it after a call that fails.
void hfta_instance_offer(hfta_instance *instance, const void *const *inputs);

/// Forward and backward: adds one batch's gradients to those since the last
/// update. HFTA_UNSUPPORTED for a program with a budget of memory, in which
/// gradients don't outlive a step.
hfta_status hfta_instance_accumulate(hfta_instance *instance,
                                     const void *const *inputs, double *losses);

/// Clipping and the optimizer's step with the accumulated gradients; leaves
/// them zero. Learning rates follow the job's schedule unless set.
hfta_status hfta_instance_update(hfta_instance *instance);

/// Overrides the job's schedule for a copy, from the next update on. NaN goes
/// back to the schedule.
hfta_status hfta_instance_set_learning_rate(hfta_instance *instance,
                                            int64_t copy, double rate);

/// The copies that run from the next call on: `count` numbers, ascending, at
/// least one. The others keep their state, which checkpoints hold as before;
/// their losses and metrics are NaN. At first all run. Of a job with a
/// preconditioner, other ones than before are HFTA_USAGE between an
/// accumulation and its update.
hfta_status hfta_instance_set_live(hfta_instance *instance,
                                   const int32_t *copies, int64_t count);

/// Loss and metric of one batch in inference mode, averaged over its first
/// `valid_samples` samples; the rest of the batch must be readable and is
/// ignored. Either result may be NULL.
hfta_status hfta_instance_evaluate(hfta_instance *instance,
                                   const void *const *inputs,
                                   int64_t valid_samples, double *losses,
                                   double *metrics);

/// The model's outputs for one batch, in inference mode. `inputs` holds one
/// pointer a model input, in the model's order, each to a tensor of the
/// input's type and shape. Outputs are then read with hfta_instance_tensor.
/// HFTA_USAGE where a job has several stages.
hfta_status hfta_instance_infer(hfta_instance *instance,
                                const void *const *inputs);

/// A copy's tensor by its name: weights, optimizer state, outputs. Of several
/// stages: HFTA_USAGE on a rank that has no worker of the tensor's stage; what
/// is written to `data` is one worker's, and others of its stage keep what they
/// have.
hfta_status hfta_instance_tensor(hfta_instance *instance, int64_t copy,
                                 const char *name, hfta_tensor_info *out);

/// Writes folder/step-00000100, complete or not at all; makes `folder` if it
/// isn't there. An older checkpoint of the same step is replaced, others stay.
/// Fails while a training (hfta_train) has the folder. The first of several
/// ranks alone writes it; all return what came of it.
hfta_status hfta_instance_save(hfta_instance *instance, const char *folder);

/// Loads the newest checkpoint in `folder`, or `folder` itself if it is one.
/// After a failure the instance is as it was before, unless somebody changes
/// the checkpoint's files while they are read. The first of several ranks alone
/// reads it and hands it to the others, which need no folder in common with it.
hfta_status hfta_instance_load(hfta_instance *instance, const char *folder);

#ifdef __cplusplus
}
#endif

#endif // HFTA_EMBED_H

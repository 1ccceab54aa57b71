//===- embed.h - A compiled training inside another program -----*- C -*-===//
//
// A generated library's functions, NAME_create, NAME_step and so on, call the
// functions below. A program may also call these itself, with the instance that
// NAME_create returned.
//
// Errors: functions that can fail return a status; hfta_instance_message then
// returns the reason, until the next call on the same instance. A failed call
// leaves the instance usable, unless the function's comment says otherwise.
// Threads: an instance is used by one thread at a time; any number of
// instances, of one program or of several, may be used at once. There is no
// global state. The library installs no signal handlers.
// Memory: hfta_instance_create allocates the memory of all later calls, except
// that hfta_instance_restart needs some for as long as it runs. The first steps
// allocate a little more, on a GPU (for its graphs) or with several ranks (for
// messages).
//===----------------------------------------------------------------------===//

#ifndef HFTA_EMBED_H
#define HFTA_EMBED_H

#include "hfta/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hfta_program;

/// A program at run time: its memory, its state and its threads.
typedef struct hfta_instance hfta_instance;

/// Options of hfta_instance_create; all zero means the defaults.
typedef struct hfta_options {
  int32_t threads; ///< number of threads that run kernels, 1 .. 256; 0: one per
                   ///< processor
  uint32_t ranks;  ///< 0: all ranks of the launcher, if the program has several
                   ///< workers; 1: this process alone
  const char *device;  ///< the device, such as "cpu" or "cuda:0"; NULL: the one
                       ///< that the program was compiled for
  int64_t total_steps; ///< number of steps after which schedules without a
                       ///< length end; 0: the job's `steps`
  const char *mpi;     ///< path of the MPI library; NULL: the process's own, or
                       ///< Open MPI's libmpi.so.40
  double rank_timeout; ///< seconds without progress after which a rank counts
                       ///< as lost; 0: 120
  /// Folder for the file to which a program with a memory budget moves tensors;
  /// NULL: the folder that the job names, or the working folder.
  const char *spill_directory;
  int32_t io_threads; ///< threads that read and write the file of spilled
                      ///< tensors, 1 .. 16; 0: 2
  /// Layers that slow the file of spilled tensors down or make it fail, to
  /// measure or to test (see the runtime's store.h); NULL: none.
  const char *store;
  hfta_error *error; ///< receives the reason if creation fails; may be NULL;
                     ///< borrowed during hfta_instance_create only
} hfta_options;

/// A tensor of one copy. `data` points into the instance: it is valid until the
/// instance is destroyed, and may be read and written between calls. It is NULL
/// if the host can't address the device's memory, or if the tensor is spilled
/// to a file; its values are then available in checkpoints. A tensor that all
/// copies share has the same `data` for each of them.
typedef struct hfta_tensor_info {
  const char *name;
  const int64_t *shape;
  void *data;
  uint64_t bytes;
  uint32_t type; ///< hfta_element_type
  uint32_t rank;
} hfta_tensor_info;

/// Creates an instance at step 0 with initial weights. `options` may be NULL.
/// `*out` is the caller's until hfta_instance_destroy; NULL after a failure. If
/// there are several ranks, all of them must make the same calls in the same
/// order and pass the whole batch, of which each rank reads only its own
/// micro-batches.
hfta_status hfta_instance_create(const struct hfta_program *program,
                                 const hfta_options *options,
                                 hfta_instance **out);

/// Destroys an instance; NULL is allowed. With several ranks, all of them make
/// this call. After a failure no rank waits for the others, except for messages
/// in flight: about half a second, or two seconds if MPI itself hangs. Memory
/// that such messages may still reach stays allocated until the process ends.
void hfta_instance_destroy(hfta_instance *instance);

/// Returns the message of the last call that failed; "" if none did. The
/// instance owns the text.
const char *hfta_instance_message(const hfta_instance *instance);

int64_t hfta_instance_copies(const hfta_instance *instance);

/// Returns the number of samples of one step.
int64_t hfta_instance_batch(const hfta_instance *instance);

/// Returns the number of steps done since the initial weights, including those
/// before a loaded checkpoint.
int64_t hfta_instance_steps(const hfta_instance *instance);

/// Runs one training step: forward, backward and update, with the same results
/// as hfta_instance_accumulate and hfta_instance_update (equal up to rounding
/// where K-FAC preconditions gradients with the step's rows). It may run the
/// whole step for some copies before it begins with others. `inputs` holds one
/// pointer per field of the data block, in the block's order, each to a whole
/// batch in the file's element type, row-major, before the block's arithmetic.
/// If the block augments samples, what is drawn for a sample depends on its
/// position in the batch and on the number of steps done.
/// `losses` (or NULL) receives one loss per copy, from before the update. A
/// loss that isn't finite is no failure. If a step or an update fails after it
/// has begun, some weights may have changed and others not: load a checkpoint
/// before the training goes on.
hfta_status hfta_instance_step(hfta_instance *instance,
                               const void *const *inputs, double *losses);

/// Announces the batch of the call after the next one, so that it is copied to
/// the device while the next step, accumulation or evaluation computes.
/// `inputs` holds one pointer per field, as in hfta_instance_step. The data
/// must not change until the call that takes them: a call of the same kind with
/// the same pointers. Any other call copies its own batch as usual. NULL
/// withdraws the last offer, and so does a call that fails.
void hfta_instance_offer(hfta_instance *instance, const void *const *inputs);

/// Runs forward and backward, and adds one batch's gradients to those since the
/// last update. `inputs` and `losses` are as in hfta_instance_step.
/// HFTA_UNSUPPORTED for a program with a memory budget, whose gradients don't
/// outlive a step. If this function or hfta_instance_update fails, all
/// gradients since the last update are discarded and must be accumulated again.
hfta_status hfta_instance_accumulate(hfta_instance *instance,
                                     const void *const *inputs, double *losses);

/// Clips the accumulated gradients, runs the optimizer's step with them, and
/// sets them to zero. Learning rates follow the job's schedule, unless
/// hfta_instance_set_learning_rate has set them.
hfta_status hfta_instance_update(hfta_instance *instance);

/// Sets a copy's learning rate, from the next update on, in place of the job's
/// schedule. NaN restores the schedule.
hfta_status hfta_instance_set_learning_rate(hfta_instance *instance,
                                            int64_t copy, double rate);

/// Sets a hyper-parameter of a copy, from the next call on, in place of the
/// job's number: one that `info --json` lists for each copy, such as "lr" or
/// "weight_decay", or "seed", which decides initial weights
/// (hfta_instance_restart) and later random numbers. HFTA_USAGE if there is no
/// such copy or name, or for a number that isn't finite; a period must be a
/// whole number of at least 1, a seed a whole number below 2^53. Ranges of the
/// job's language aren't checked, and numbers that hftac derives from others,
/// such as K-FAC's kl_clip from the momentum, don't change with them.
/// HFTA_UNSUPPORTED for a number that has no effect in the program, such as the
/// rate of a dropout that is 0 in all copies of the job. With several ranks,
/// all of them must set the same numbers.
hfta_status hfta_instance_set_hyper_parameter(hfta_instance *instance,
                                              int64_t copy, const char *name,
                                              double value);

/// Returns a copy's hyper-parameter; NaN if there is no such copy or name, or
/// for a seed of 2^53 or more.
double hfta_instance_hyper_parameter(const hfta_instance *instance,
                                     int64_t copy, const char *name);

/// Sets the number of steps after which a copy's schedules of learning rate and
/// damping end; 0: hfta_options.total_steps.
hfta_status hfta_instance_set_horizon(hfta_instance *instance, int64_t copy,
                                      int64_t steps);

/// Sets the number of steps done, by which the next call's random numbers,
/// learning rates and periods go. Copies that are at different steps are run by
/// calls of their own, each after hfta_instance_set_live and this function.
/// HFTA_USAGE if the number is negative.
hfta_status hfta_instance_set_steps(hfta_instance *instance, int64_t steps);

/// Gives some copies the initial weights, statistics and optimizer state that
/// they would have in a new instance with their present hyper-parameters.
/// `copies` are as in hfta_instance_set_live; which copies run, and the number
/// of steps done, stay as they are. Withdraws an offered batch; allocates
/// memory for the largest tensor and for all that copies share. HFTA_USAGE if
/// `copies` is wrong or gradients are accumulated. HFTA_UNSUPPORTED if all
/// copies share a value that training changes, such as running statistics of
/// layers that they have in common. After another failure, the state of
/// `copies` is undefined: restart them again, or load a checkpoint.
hfta_status hfta_instance_restart(hfta_instance *instance,
                                  const int32_t *copies, int64_t count);

/// Chooses the copies that run from the next call on: `count` numbers of
/// copies, at least one, in ascending order. At first all copies run. Copies
/// that don't run keep their state, which checkpoints still contain; their
/// losses and metrics are NaN. HFTA_USAGE if, in a job with a preconditioner,
/// the choice changes between an accumulation and its update.
hfta_status hfta_instance_set_live(hfta_instance *instance,
                                   const int32_t *copies, int64_t count);

/// Computes each copy's mean loss and metrics over the first `valid_samples`
/// samples of one batch, in inference mode. The rest of the batch is ignored,
/// but must be readable. `losses` receive one value per copy, and `metrics` one
/// value per copy for each of the job's metrics; either may be NULL.
hfta_status hfta_instance_evaluate(hfta_instance *instance,
                                   const void *const *inputs,
                                   int64_t valid_samples, double *losses,
                                   double *metrics);

/// Computes the model's outputs for one batch, in inference mode;
/// hfta_instance_tensor then finds them. `inputs` holds one pointer per model
/// input, in the model's order, each to a tensor of the input's type and shape.
/// HFTA_USAGE if the program has no inference, or if the job has several
/// stages.
hfta_status hfta_instance_infer(hfta_instance *instance,
                                const void *const *inputs);

/// Finds a copy's weight, optimizer state or output by its name. HFTA_USAGE if
/// there is none, or if its memory isn't kept between calls. In a job of
/// several stages, it is also HFTA_USAGE on a rank that has no worker of the
/// tensor's stage; and writing to `data` changes the tensor of one worker only,
/// not of the other workers of its stage.
hfta_status hfta_instance_tensor(hfta_instance *instance, int64_t copy,
                                 const char *name, hfta_tensor_info *out);

/// Writes a checkpoint of the current step, such as folder/step-00000100,
/// completely or not at all. It has one number of steps and none of the numbers
/// that hfta_instance_set_hyper_parameter and hfta_instance_set_horizon have
/// set: set these again after a load. Creates `folder` if it doesn't exist. An
/// older checkpoint of the same step is replaced; other checkpoints stay. Fails
/// while a training (hfta_train) uses the folder. With several ranks only rank
/// 0 writes the checkpoint, and all ranks return its result.
hfta_status hfta_instance_save(hfta_instance *instance, const char *folder);

/// Loads the newest checkpoint in `folder`, or `folder` itself if it is a
/// checkpoint. After a failure the instance is unchanged, unless somebody
/// changed the checkpoint's files during the load. With several ranks only rank
/// 0 reads the checkpoint and sends it to the others, which need no access to
/// the folder.
hfta_status hfta_instance_load(hfta_instance *instance, const char *folder);

#ifdef __cplusplus
}
#endif

#endif // HFTA_EMBED_H

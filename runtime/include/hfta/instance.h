//===- instance.h - Segments, scalars and steps of a program ----*- C -*-===//
//
// The interface that the trainer needs beyond embed.h, whose rules on errors,
// threads and memory hold here too. An instance owns the memory of all segments
// that its work needs, and runs the program's schedules: `initialize` when it
// is created; `step`, `accumulate`, `update`, `evaluate` and `infer` in the
// functions of these names.
//===----------------------------------------------------------------------===//

#ifndef HFTA_INSTANCE_H
#define HFTA_INSTANCE_H

#include "hfta/embed.h"
#include "hfta/program.h"
#include "hfta/tensor_view.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The memory that a program needs, in bytes, by its use. It follows from the
/// program's table alone, without an instance.
typedef struct hfta_memory_plan {
  uint64_t parameters;
  uint64_t gradients;
  uint64_t optimizer_state;
  uint64_t statistics;
  uint64_t curvature;   ///< factors and inverses of a preconditioner, with the
                        ///< sums that they are computed from
  uint64_t activations; ///< saved activations and cuts, in all instances
  uint64_t workspace;
  uint64_t input_output; ///< inputs, outputs, scalars, results
  uint64_t prefetch;     ///< batches of data in the host's memory:
                         ///< HFTA_BATCHES_OF_DATA, and one more for a GPU
  /// Constants, which are part of the binary and not allocated.
  uint64_t constants;
  uint64_t scratch; ///< scratch memory of kernels, of all threads together
  uint64_t arena; ///< memory in which segments that aren't resident have places
                  ///< while they are used
  uint64_t store; ///< memory of the store itself: buffer, threads, checksums
  uint64_t peak;  ///< the sum of all but constants
} hfta_memory_plan;

/// Returns the memory that a program needs on one rank for all of its schedules
/// and copies, with kernels on `threads` threads.
hfta_memory_plan hfta_program_memory(const hfta_program *program, int threads);

/// Returns whether some of the program's segments are spilled to a store.
bool hfta_program_spills(const hfta_program *program);

/// Returns the name of the device that a program's tasks run on: `text` unless
/// it is NULL, else the one that is usual for the program's target, such as
/// "cpu".
const char *hfta_program_device(const hfta_program *program, const char *text);

/// Returns the number of threads to use: `threads` if that isn't 0, else one
/// per processor, but at most the number for which memory is planned. For a
/// target that runs all copies at once, such as a GPU, it is the number of
/// copies.
int hfta_program_threads(const hfta_program *program, int64_t threads);

/// Returns the most copies of a turn, for which an instance has memory: the
/// number that the schedule gives, else one per thread; all copies if no
/// schedule takes turns. With one copy per thread, threads don't wait for each
/// other within a turn, and the activations that a copy saves for its backward
/// stay in its thread's caches. An instance uses narrower turns where these
/// turn out to be faster.
int64_t hfta_program_copies_at_once(const hfta_program *program, int threads);

/// Returns the bytes of one instance of a segment. A segment of slabs has one
/// slab per copy, or only as many as a turn has copies if the copies of
/// different turns share slabs.
uint64_t hfta_program_segment_bytes(const hfta_program *program, uint32_t index,
                                    int threads);

/// Returns the bytes of scratch memory that each thread needs.
uint64_t hfta_program_scratch_bytes(const hfta_program *program);

/// Checks everything in a program's table that the runtime relies on: ABI
/// version, indices, sizes, tasks, schedules. HFTA_INTERNAL describes the first
/// fault.
hfta_status hfta_program_check(const hfta_program *program, hfta_error *error);

/// Checks that this CPU has all features that the program's code uses.
/// HFTA_UNSUPPORTED names those that it lacks.
hfta_status hfta_program_check_cpu(const hfta_program *program,
                                   hfta_error *error);

/// Returns whether a copy has the tensor. Some tensors belong to a single copy.
bool hfta_tensor_is_of(const hfta_tensor *tensor, int64_t copy);
/// Returns the model from which a copy was made.
const hfta_model *hfta_program_model(const hfta_program *program, int64_t copy);

/// Returns the first schedule of this name (with several stages, the first
/// stage's); NULL if the program has none.
const hfta_schedule *hfta_program_find_schedule(const hfta_program *program,
                                                const char *name);

/// Returns a stage's schedule of this name; with stage -1, the one for the
/// whole program. NULL if there is none.
const hfta_schedule *
hfta_program_find_stage_schedule(const hfta_program *program, const char *name,
                                 int32_t stage);

/// Returns whether the host has an image of the segment: memory of the same
/// size from which or to which some schedule transfers the segment's bytes.
bool hfta_segment_has_image(const hfta_program *program, uint32_t segment);

/// Return whether the program has a schedule for training steps, and one for
/// evaluation.
bool hfta_program_trains(const hfta_program *program);
bool hfta_program_evaluates(const hfta_program *program);

/// Returns the number of samples of one micro-batch.
int64_t hfta_program_micro_batch(const hfta_program *program);

/// Returns a copy's value of a hyper-parameter; `otherwise` if the program has
/// no hyper-parameter of this name.
double hfta_program_hyper_parameter(const hfta_program *program,
                                    const char *name, int64_t copy,
                                    double otherwise);

/// Returns the index of a copy's tensor in hfta_program.tensors; UINT32_MAX if
/// there is none of this name.
uint32_t hfta_program_find_tensor(const hfta_program *program, int64_t copy,
                                  const char *name);

const hfta_program *hfta_instance_program(const hfta_instance *instance);

int hfta_instance_threads(const hfta_instance *instance);

/// Returns an array that says for each copy whether it runs. The instance owns
/// it; hfta_instance_set_live updates it, unless parts were joined (parts.h).
const bool *hfta_instance_live(const hfta_instance *instance);
int64_t hfta_instance_live_count(const hfta_instance *instance);

/// Returns the hfta_error in which failed calls on the instance leave their
/// message.
hfta_error *hfta_instance_error(hfta_instance *instance);

/// Resets the instance to step 0 and its initial weights.
hfta_status hfta_instance_reset(hfta_instance *instance);

/// Sets the number of steps after which a cosine schedule ends.
void hfta_instance_set_total_steps(hfta_instance *instance, int64_t steps);

/// Sets the number of steps done, after a checkpoint was loaded: the next step
/// is number `steps` + 1.
void hfta_instance_set_steps(hfta_instance *instance, int64_t steps);

/// Sets `*out` to the learning rate that a copy's next update uses. HFTA_USAGE
/// for a cosine schedule if the number of steps is unknown.
hfta_status hfta_instance_learning_rate(hfta_instance *instance, int64_t copy,
                                        double *out);

/// Values of one copy's last update.
typedef struct hfta_update_report {
  // The following values exist only with a preconditioner (K-FAC).
  double kl_scale; ///< factor by which KL clipping scaled the gradients
  double skipped;  ///< number of statistics that were left out because they
                   ///< weren't finite
  double retried;  ///< number of inverses that needed more damping
  double kept; ///< number of inverses that failed with every damping, so that
               ///< the old ones were kept
  // The following values exist only if the loss is scaled.
  double loss_scale;    ///< factor by which the step's loss was multiplied
  double skipped_steps; ///< number of steps so far that changed nothing,
                        ///< because their gradients weren't finite
} hfta_update_report;

/// Returns the report of a copy's last update; values that the program doesn't
/// have are NaN.
hfta_update_report hfta_instance_report(const hfta_instance *instance,
                                        int64_t copy);

/// Returns the damping that the next update of a copy uses, by its schedule;
/// NaN without a preconditioner.
double hfta_instance_damping(const hfta_instance *instance, int64_t copy);

/// Copy `bytes` bytes of a copy's tensor, from `offset` on, to or from the
/// host's memory; `tensor` is an index into hfta_program.tensors. A write goes
/// to all workers of this rank that have the tensor, a read takes the bytes
/// from one of them. HFTA_USAGE if the rank has no such worker, or if the
/// tensor's memory isn't kept between calls.
hfta_status hfta_instance_read(hfta_instance *instance, uint32_t tensor,
                               int64_t copy, uint64_t offset, void *to,
                               uint64_t bytes);
hfta_status hfta_instance_write(hfta_instance *instance, uint32_t tensor,
                                int64_t copy, uint64_t offset, const void *from,
                                uint64_t bytes);

/// Evaluate several batches together: call _begin, then _add for each batch,
/// then _end, which writes one mean loss and metric per copy (either array may
/// be NULL). A mean over no valid element is NaN.
hfta_status hfta_instance_evaluate_begin(hfta_instance *instance);
hfta_status hfta_instance_evaluate_add(hfta_instance *instance,
                                       const void *const *inputs,
                                       int64_t valid_samples);
hfta_status hfta_instance_evaluate_end(hfta_instance *instance, double *losses,
                                       double *metrics);

#ifdef __cplusplus
}
#endif

#endif // HFTA_INSTANCE_H

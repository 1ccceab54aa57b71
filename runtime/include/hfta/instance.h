//===- instance.h - Segments, scalars and steps of a program ----*- C -*-===//
//
// The interface that the trainer needs beyond embed.h, whose rules on errors,
// threads and memory hold here too. An instance owns one allocation that holds
// every instance of every segment, and runs the program's schedules:
// `initialize` when it is made; `step`, `accumulate`, `update`, `evaluate` and
// `infer` when they are called.
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

/// Bytes of memory as the program plans them, known without an instance.
typedef struct hfta_memory_plan {
  uint64_t parameters;
  uint64_t gradients;
  uint64_t optimizer_state;
  uint64_t statistics;
  uint64_t curvature;   ///< a preconditioner's, with the sums that it is
                        ///< computed from
  uint64_t activations; ///< saved activations and cuts, all instances
  uint64_t workspace;
  uint64_t input_output; ///< inputs, outputs, scalars
  uint64_t prefetch;     ///< HFTA_BATCHES_OF_DATA batches in the host's memory,
                         ///< one more for a GPU
  uint64_t constants;    ///< part of the binary's image, not allocated
  uint64_t scratch;      ///< scratch memory of all threads together
  uint64_t arena;        ///< memory in which segments that aren't resident get
                         ///< places
  uint64_t store;        ///< the store's own: buffer, threads, checksums
  uint64_t peak;         ///< the sum of all but constants
} hfta_memory_plan;

hfta_memory_plan hfta_program_memory(const hfta_program *program, int threads);

/// Whether some of the program's segments lie in a store.
bool hfta_program_spills(const hfta_program *program);

/// Returns the device that a program's tasks run on: `text` if it names one,
/// else "cpu", or "cuda:0" for a program with images.
const char *hfta_program_device(const hfta_program *program, const char *text);

/// Returns the number of threads to use: `threads`, or for 0 one per processor,
/// but at most the number for which memory is planned. A program with images
/// has as many threads as copies, which all run at once.
int hfta_program_threads(const hfta_program *program, int64_t threads);

/// Returns the most copies that make up a turn where copies take turns: one per
/// thread, so that threads need not wait for each other within a turn, and the
/// activations that a copy saves for backward stay in the caches of its thread.
/// An instance takes fewer copies where that turns out to be faster, but has
/// memory for this many.
int64_t hfta_program_copies_at_once(const hfta_program *program, int threads);

/// Returns the bytes of one instance of a segment; a segment of slabs has as
/// many slabs as copies run at once.
uint64_t hfta_program_segment_bytes(const hfta_program *program, uint32_t index,
                                    int threads);

/// Returns the bytes of scratch memory that each thread needs.
uint64_t hfta_program_scratch_bytes(const hfta_program *program);

/// Checks everything that the runtime relies on: version, indices, sizes,
/// tasks.
hfta_status hfta_program_check(const hfta_program *program, hfta_error *error);

/// Returns HFTA_UNSUPPORTED, and names the feature, if this CPU lacks a feature
/// that the code uses.
hfta_status hfta_program_check_cpu(const hfta_program *program,
                                   hfta_error *error);

/// Whether a copy has the tensor.
bool hfta_tensor_is_of(const hfta_tensor *tensor, int64_t copy);
/// Returns the model that a copy is an instance of.
const hfta_model *hfta_program_model(const hfta_program *program, int64_t copy);

/// Returns the first schedule of this name (with several stages, the first
/// stage's); NULL if the program has none.
const hfta_schedule *hfta_program_find_schedule(const hfta_program *program,
                                                const char *name);

/// Returns a stage's schedule of this name; stage -1: the whole program's.
const hfta_schedule *
hfta_program_find_stage_schedule(const hfta_program *program, const char *name,
                                 int32_t stage);

/// Whether a schedule copies to or from the host's image of the segment.
bool hfta_segment_has_image(const hfta_program *program, uint32_t segment);

/// Whether the program was compiled for training.
bool hfta_program_trains(const hfta_program *program);
bool hfta_program_evaluates(const hfta_program *program);

/// Returns the number of samples of one micro-batch.
int64_t hfta_program_micro_batch(const hfta_program *program);

/// Returns a hyper-parameter's value; `otherwise` if the program has none.
double hfta_program_hyper_parameter(const hfta_program *program,
                                    const char *name, int64_t copy,
                                    double otherwise);

/// Returns the index of a copy's tensor in the table, UINT32_MAX if there is
/// none.
uint32_t hfta_program_find_tensor(const hfta_program *program, int64_t copy,
                                  const char *name);

const hfta_program *hfta_instance_program(const hfta_instance *instance);

int hfta_instance_threads(const hfta_instance *instance);

/// Returns whether each copy runs; the array is kept up to date.
const bool *hfta_instance_live(const hfta_instance *instance);
int64_t hfta_instance_live_count(const hfta_instance *instance);

/// Returns the place where calls on the instance leave their error.
hfta_error *hfta_instance_error(hfta_instance *instance);

/// Returns the instance to step 0 and initial weights.
hfta_status hfta_instance_reset(hfta_instance *instance);

/// Sets the step at which a cosine schedule ends.
void hfta_instance_set_total_steps(hfta_instance *instance, int64_t steps);

/// Sets the number of steps done, for loaders of checkpoints: the next step is
/// number `steps` + 1.
void hfta_instance_set_steps(hfta_instance *instance, int64_t steps);

/// Returns the rate that the next update of a copy uses. Fails for a cosine
/// schedule of unknown length.
hfta_status hfta_instance_learning_rate(hfta_instance *instance, int64_t copy,
                                        double *out);

/// Values of one copy's last update.
typedef struct hfta_update_report {
  // With a preconditioner:
  double kl_scale; ///< factor by which the gradients were scaled (KL clipping)
  double skipped;  ///< statistics that weren't finite and were left out
  double retried;  ///< inverses that needed more damping
  double kept;     ///< inverses that failed with every damping: the old ones
                   ///< stayed
  // With a scaled loss:
  double loss_scale;    ///< factor by which the step's loss was multiplied
  double skipped_steps; ///< so far: steps that changed nothing, because their
                        ///< gradients weren't finite
} hfta_update_report;

/// Returns the last update's values; those that don't exist in the program are
/// NaN.
hfta_update_report hfta_instance_report(const hfta_instance *instance,
                                        int64_t copy);

/// Returns the damping that the next update of a copy uses, by its schedule;
/// NaN without a preconditioner.
double hfta_instance_damping(const hfta_instance *instance, int64_t copy);

/// Copy a tensor of one copy to or from the host's memory: a write goes to all
/// workers that have the tensor, a read takes it from one. HFTA_USAGE on a rank
/// that has none of them.
hfta_status hfta_instance_read(hfta_instance *instance, uint32_t tensor,
                               int64_t copy, uint64_t offset, void *to,
                               uint64_t bytes);
hfta_status hfta_instance_write(hfta_instance *instance, uint32_t tensor,
                                int64_t copy, uint64_t offset, const void *from,
                                uint64_t bytes);

/// Evaluate several batches together: begin, add each batch, end. Averages
/// without any valid element are NaN.
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

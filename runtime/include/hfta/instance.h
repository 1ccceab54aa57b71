//===- instance.h - Segments, scalars and steps of a program ----*- C -*-===//
//
// What the trainer needs beyond embed.h, whose rules on errors, threads and
// memory hold here too. An instance owns one region of memory for every
// instance of every segment and runs the program's schedules: `initialize` when
// it is made, `step`, `accumulate`, `update`, `evaluate` and `infer` when they
// are asked for.
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

/// Bytes as the program plans them. They are known without an instance.
typedef struct hfta_memory_plan {
  uint64_t parameters;
  uint64_t gradients;
  uint64_t optimizer_state;
  uint64_t statistics;
  uint64_t curvature;   ///< of a preconditioner, with the sums it is made of
  uint64_t activations; ///< saved and cuts, all instances
  uint64_t workspace;
  uint64_t input_output; ///< inputs, outputs, scalars
  uint64_t prefetch;     ///< HFTA_BATCHES_OF_DATA, of a GPU one more, in the
                         ///< host's memory
  uint64_t constants;    ///< in the binary's image, not in memory of our own
  uint64_t scratch;      ///< of all threads
  uint64_t arena;        ///< in which what isn't resident has places
  uint64_t store;        ///< the store's own: buffer, threads, checksums
  uint64_t peak;         ///< all but constants
} hfta_memory_plan;

hfta_memory_plan hfta_program_memory(const hfta_program *program, int threads);

/// Whether some segments of it lie in a store.
bool hfta_program_spills(const hfta_program *program);

/// The device that a program's tasks run on, where `text` names another one or
/// is NULL: "cpu", or "cuda:0" of a program with images.
const char *hfta_program_device(const hfta_program *program, const char *text);

/// As many as are asked for; of 0, one a processor, but no more than memory is
/// planned for. Of a program with images as many as copies, which go at once.
int hfta_program_threads(const hfta_program *program, int64_t threads);

/// The most copies that make a turn where copies take turns: one a thread, so
/// that threads need not wait for each other within it, and what a copy saves
/// for backward stays in the caches of its thread. An instance takes fewer
/// where that turns out to be faster, and has memory for these.
int64_t hfta_program_copies_at_once(const hfta_program *program, int threads);

/// Bytes of one instance of a segment; of slabs, as many as copies run at once.
uint64_t hfta_program_segment_bytes(const hfta_program *program, uint32_t index,
                                    int threads);

/// Bytes of the scratch that each thread needs.
uint64_t hfta_program_scratch_bytes(const hfta_program *program);

/// Checks what the runtime relies on: version, indices, sizes, tasks.
hfta_status hfta_program_check(const hfta_program *program, hfta_error *error);

/// HFTA_UNSUPPORTED if this CPU lacks a feature that the code uses; names it.
hfta_status hfta_program_check_cpu(const hfta_program *program,
                                   hfta_error *error);

/// Whether a copy has the tensor.
bool hfta_tensor_is_of(const hfta_tensor *tensor, int64_t copy);
/// The model that a copy is of.
const hfta_model *hfta_program_model(const hfta_program *program, int64_t copy);

/// The first of this name, of several stages' the first one's; NULL if the
/// program has none.
const hfta_schedule *hfta_program_find_schedule(const hfta_program *program,
                                                const char *name);

/// That of a stage; -1: of the whole program.
const hfta_schedule *
hfta_program_find_stage_schedule(const hfta_program *program, const char *name,
                                 int32_t stage);

/// Whether a schedule copies to or from the host's image of the segment.
bool hfta_segment_has_image(const hfta_program *program, uint32_t segment);

/// Whether it was compiled for training.
bool hfta_program_trains(const hfta_program *program);
bool hfta_program_evaluates(const hfta_program *program);

/// Samples of one micro-batch.
int64_t hfta_program_micro_batch(const hfta_program *program);

/// A hyper-parameter's value; `otherwise` if the program has none.
double hfta_program_hyper_parameter(const hfta_program *program,
                                    const char *name, int64_t copy,
                                    double otherwise);

/// The table's index of a copy's tensor, UINT32_MAX if there is none.
uint32_t hfta_program_find_tensor(const hfta_program *program, int64_t copy,
                                  const char *name);

const hfta_program *hfta_instance_program(const hfta_instance *instance);

int hfta_instance_threads(const hfta_instance *instance);

/// Whether a copy runs, one answer a copy; kept up to date.
const bool *hfta_instance_live(const hfta_instance *instance);
int64_t hfta_instance_live_count(const hfta_instance *instance);

/// Where calls on the instance leave their error.
hfta_error *hfta_instance_error(hfta_instance *instance);

/// Back to step 0 and initial weights.
hfta_status hfta_instance_reset(hfta_instance *instance);

/// Where a cosine schedule ends.
void hfta_instance_set_total_steps(hfta_instance *instance, int64_t steps);

/// For loaders of checkpoints: the next step is step number `steps` + 1.
void hfta_instance_set_steps(hfta_instance *instance, int64_t steps);

/// The rate that the next update of a copy takes. Fails for a cosine schedule
/// of unknown length.
hfta_status hfta_instance_learning_rate(hfta_instance *instance, int64_t copy,
                                        double *out);

/// What the last update tells of one copy.
typedef struct hfta_update_report {
  // Of a preconditioner.
  double kl_scale; ///< what its gradients were multiplied with
  double skipped;  ///< statistics that weren't finite and were left out
  double retried;  ///< inverses that took more damping
  double kept;     ///< inverses that no damping gave: the old ones stayed
  // Of a scaled loss.
  double loss_scale;    ///< what the step's loss was multiplied with
  double skipped_steps; ///< so far: gradients weren't finite, nothing changed
} hfta_update_report;

/// Numbers of what a program doesn't have are NaN.
hfta_update_report hfta_instance_report(const hfta_instance *instance,
                                        int64_t copy);

/// The damping that the next update of a copy takes, by its schedule; NaN
/// without a preconditioner.
double hfta_instance_damping(const hfta_instance *instance, int64_t copy);

/// Copies a tensor of one copy to or from the host's memory; to all workers
/// that have it, from one. HFTA_USAGE on a rank without any.
hfta_status hfta_instance_read(hfta_instance *instance, uint32_t tensor,
                               int64_t copy, uint64_t offset, void *to,
                               uint64_t bytes);
hfta_status hfta_instance_write(hfta_instance *instance, uint32_t tensor,
                                int64_t copy, uint64_t offset, const void *from,
                                uint64_t bytes);

/// Sums over several batches: begin, add each, end. Averages without any valid
/// element are NaN.
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

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
#include "hfta/program_queries.h"
#include "hfta/tensor_view.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/// Sets the number of steps after which schedules end that have no length.
void hfta_instance_set_total_steps(hfta_instance *instance, int64_t steps);

/// Sets `*out` to the learning rate that a copy's next update uses. HFTA_USAGE
/// if the schedule ends with the training, whose number of steps is unknown.
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

/// Returns the mean of a term of the loss over one copy's last step, before the
/// update and without the term's weight. `term` is an index into
/// hfta_program.loss_terms.
double hfta_instance_term_loss(const hfta_instance *instance, int64_t copy,
                               uint32_t term);

/// Returns the mean of a term of the loss over one copy's last evaluation,
/// without the term's weight.
double hfta_instance_term_mean(const hfta_instance *instance, int64_t copy,
                               uint32_t term);

/// Returns the number that the next update of a copy uses, by its schedule, for
/// a row of hfta_program.scheduled_numbers; NaN if there is no such row. A
/// preconditioner's damping is row 0.
double hfta_instance_scheduled_number(const hfta_instance *instance,
                                      uint32_t row, int64_t copy);

/// Sets the factor by which a schedule `plateau` multiplies a number of a copy.
/// `number` 0 is the learning rate, and i + 1 is row i of
/// hfta_program.scheduled_numbers. Other schedules ignore it.
void hfta_instance_set_schedule_factor(hfta_instance *instance, uint32_t number,
                                       int64_t copy, double factor);

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
/// then _end, which writes one mean loss per copy, and one value per copy for
/// each metric (either array may be NULL). A mean over no valid element is NaN.
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

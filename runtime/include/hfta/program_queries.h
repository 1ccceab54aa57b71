//===- program_queries.h - Facts about a program's table ----------*- C -*-===//
//
// Questions whose answers follow from a program's table alone, without an
// instance or a device, and the checks of the table.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PROGRAM_QUERIES_H
#define HFTA_PROGRAM_QUERIES_H

#include "hfta/program.h"
#include "hfta/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Returns whether some of the program's segments are spilled to a store.
bool hfta_program_spills(const hfta_program *program);

/// Returns whether a segment holds state that copies keep from step to step:
/// parameters, statistics, optimizer state or curvature.
bool hfta_segment_is_state(const hfta_segment *segment);

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

/// Returns the offset in its segment of a tensor of a copy that has it.
uint64_t hfta_tensor_offset(const hfta_program *program,
                            const hfta_tensor *tensor, int64_t copy);

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

/// Returns the number of doubles of an array of metrics: for each metric one
/// value per copy, then for each metric that is a matrix, the counts of each
/// copy, row by row. 0 if the program has no metrics.
int64_t hfta_program_metric_values(const hfta_program *program);

/// Returns the counts of a metric that is a matrix in such an array, those of
/// the first copy; those of the others follow. NULL for another metric.
const double *hfta_program_metric_matrix(const hfta_program *program,
                                         const double *metrics,
                                         uint32_t metric);

/// Returns the metric by which copies are compared or, if they are compared by
/// the loss or by scores from outside, the first one that isn't a matrix. NULL
/// if there is none.
const hfta_metric *hfta_program_main_metric(const hfta_program *program);

/// Returns a copy's value of this metric in an array of metrics; NaN if there
/// is none.
double hfta_program_main_value(const hfta_program *program,
                               const double *metrics, int64_t copy);

/// Returns the bytes of scores that metrics of ranks keep in the host's memory
/// during an evaluation, for each sample and copy.
uint64_t hfta_program_score_bytes(const hfta_program *program);

/// Returns the name of the score by which copies are compared: "loss", or that
/// of a metric.
const char *hfta_program_score_name(const hfta_program *program);

/// Returns a copy's score, from the losses and metrics of an evaluation of
/// `copies` copies. `metrics` may be NULL if copies are compared by the loss.
double hfta_validation_score(const hfta_validation *by, int64_t copies,
                             int64_t copy, const double *losses,
                             const double *metrics);
/// Returns the number of fields of a batch: those of the data block, and those
/// that the runtime makes.
uint32_t hfta_program_field_count(const hfta_program *program);

/// Returns whether a field of the data block is augmented.
bool hfta_field_is_augmented(const hfta_data_field *field);

/// Returns the number of samples of one micro-batch.
int64_t hfta_program_micro_batch(const hfta_program *program);

/// Returns the index of a copy's tensor in hfta_program.tensors; UINT32_MAX if
/// there is none of this name.
uint32_t hfta_program_find_tensor(const hfta_program *program, int64_t copy,
                                  const char *name);

#ifdef __cplusplus
}
#endif

#endif // HFTA_PROGRAM_QUERIES_H

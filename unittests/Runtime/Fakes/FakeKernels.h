//===- FakeKernels.h - The fake program's tasks -----------------*- C -*-===//

#ifndef HFTA_UNITTESTS_FAKE_KERNELS_H
#define HFTA_UNITTESTS_FAKE_KERNELS_H

#include "hfta/program.h"

/// The tensors, in the order of the program's table.
enum fake_tensor {
  FAKE_W0,
  FAKE_W1,
  FAKE_G0,
  FAKE_G1,
  FAKE_M0,
  FAKE_M1,
  FAKE_HIDDEN_ACTIVATION,
  FAKE_PROBABILITIES,
  FAKE_HIDDEN_GRADIENT,
  FAKE_IMAGE,
  FAKE_LABEL,
  FAKE_LOGITS,
  FAKE_LOSS,
  FAKE_LOSS_SUM,
  FAKE_LOSS_WEIGHT,
  FAKE_METRIC_SUMS,
  FAKE_METRIC_WEIGHTS,
  FAKE_NORM,
  FAKE_STEP,
  FAKE_MICRO_BATCH,
  FAKE_VALID,
  FAKE_RATE,
  FAKE_CLIP,
  FAKE_SEED,
  FAKE_ROWS,
  FAKE_MOMENTUM,
  FAKE_CLIP_NORM,
  FAKE_PLAIN_TENSOR_COUNT,
  // Tensors of programs with a preconditioner: for each copy, the number of
  // runs of each kind of `every`, and the values that the host writes and
  // reads.
  FAKE_DUE = FAKE_PLAIN_TENSOR_COUNT,
  FAKE_OTHERS,
  FAKE_ANY,
  FAKE_NONE,
  FAKE_DAMPING,
  FAKE_KL_SCALE,
  FAKE_SKIPPED,
  FAKE_RETRIED,
  FAKE_KEPT,
  FAKE_TENSOR_COUNT
};

enum fake_segment {
  FAKE_SEGMENT_CONSTANTS,
  FAKE_SEGMENT_PARAMETERS,
  FAKE_SEGMENT_GRADIENTS,
  FAKE_SEGMENT_STATE,
  FAKE_SEGMENT_SAVED,
  FAKE_SEGMENT_CUT,
  FAKE_SEGMENT_SCRATCH,
  FAKE_SEGMENT_INPUT,
  FAKE_SEGMENT_OUTPUT,
  FAKE_SEGMENT_SCALARS,
  FAKE_SEGMENT_BATCH_SCALARS, ///< has an instance per micro-batch
  FAKE_SEGMENT_RESULTS,
  FAKE_SEGMENT_COUNT
};

/// The constants that kernels read through FAKE_ROWS. In generated code they
/// are immediate operands, but this code is compiled once for all programs.
typedef struct fake_shape {
  int64_t rows;     ///< rows of a micro-batch
  float loss_scale; ///< 1 / batch
} fake_shape;

/// The initial contents of the segment of constants.
typedef struct fake_constants {
  fake_shape shape;
  double momentum[8];
  double clip_norm[8];
} fake_constants;

enum fake_task {
  FAKE_INIT,
  FAKE_EVALUATE,
  FAKE_INFER,
  FAKE_FORWARD_0,
  FAKE_FORWARD_1,
  FAKE_BACKWARD_0,
  FAKE_BACKWARD_1,
  FAKE_NORM_0,
  FAKE_NORM_1,
  FAKE_CLIPS,
  FAKE_UPDATE_0,
  FAKE_UPDATE_1,
  FAKE_PLAIN_TASK_COUNT,
  FAKE_COUNT_DUE = FAKE_PLAIN_TASK_COUNT, ///< four tasks, one per hfta_due_kind
  FAKE_COUNT_OTHERS,
  FAKE_COUNT_ANY,
  FAKE_COUNT_NONE,
  FAKE_SCALES,
  FAKE_TASK_COUNT
};

enum { FAKE_MAX_OPERANDS = 11, FAKE_KERNEL_COUNT = FAKE_TASK_COUNT + 1 };

/// A kernel of a task, which runs once per copy.
typedef struct fake_kernel {
  enum fake_task task;
  const char *name;
  hfta_kernel function;
  int by_row; ///< whether there is an item per row; else there is one
  int count;  ///< the number of operands
  enum fake_tensor tensors[FAKE_MAX_OPERANDS];
} fake_kernel;

/// The kernels, sorted by task and by their order within the task.
extern const fake_kernel fake_kernels[FAKE_KERNEL_COUNT];

#endif // HFTA_UNITTESTS_FAKE_KERNELS_H

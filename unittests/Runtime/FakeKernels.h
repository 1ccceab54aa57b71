//===- FakeKernels.h - The fake program's tasks -----------------*- C -*-===//

#ifndef HFTA_UNITTESTS_FAKE_KERNELS_H
#define HFTA_UNITTESTS_FAKE_KERNELS_H

#include "hfta/program.h"

/// Tensors, in the order of the table. Names as in the program.
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
  FAKE_METRIC_SUM,
  FAKE_NORM,
  FAKE_STEP,
  FAKE_MICRO_BATCH,
  FAKE_VALID,
  FAKE_LOSS_SCALE,
  FAKE_RATE,
  FAKE_CLIP,
  FAKE_SEED,
  FAKE_ROWS,
  FAKE_MOMENTUM,
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
  FAKE_SEGMENT_COUNT
};

/// Constants that kernels get through FAKE_ROWS: generated code has them in its
/// instructions, ours is compiled once.
typedef struct fake_shape {
  int64_t rows; ///< of a micro-batch
} fake_shape;

/// The tasks find where tensors lie through the table that `context` leads to:
/// offset and stride of every tensor, in the constants' image after the shape.
typedef struct fake_layout {
  fake_shape shape;
  hfta_binding tensors[FAKE_TENSOR_COUNT];
  double momentum[8];
} fake_layout;

void fake_init(const hfta_task_context *context);
void fake_forward0(const hfta_task_context *context);
void fake_forward1(const hfta_task_context *context);
void fake_backward0(const hfta_task_context *context);
void fake_backward1(const hfta_task_context *context);
void fake_norm0(const hfta_task_context *context);
void fake_norm1(const hfta_task_context *context);
void fake_update0(const hfta_task_context *context);
void fake_update1(const hfta_task_context *context);
void fake_evaluate(const hfta_task_context *context);
void fake_infer(const hfta_task_context *context);

#endif // HFTA_UNITTESTS_FAKE_KERNELS_H

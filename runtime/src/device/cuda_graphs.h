//===- cuda_graphs.h - Runs of tasks as graphs ------------------*- C -*-===//
//
// A run is the sequence of tasks that a queue gets between two other commands.
// From the second time on that a run comes with the same addresses and copies,
// it is launched as one CUDA graph: one call of the driver instead of one for
// each kernel, and kernels that don't depend on each other run side by side.
// Values that change from step to step, such as learning rates, lie in memory,
// not in a graph.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_CUDA_GRAPHS_H
#define HFTA_SRC_DEVICE_CUDA_GRAPHS_H

#include "device/cuda_launch.h"

#include <stdbool.h>

typedef struct hfta_cuda_graphs hfta_cuda_graphs;

/// The failed call and its object, for a message.
typedef struct hfta_cuda_failure {
  const char *call;
  char of[512];
} hfta_cuda_failure;

/// Makes an object for the tasks of a program. Program and launcher are
/// borrowed. Returns NULL if memory runs out.
hfta_cuda_graphs *hfta_cuda_graphs_create(const hfta_cuda_launcher *launcher,
                                          const hfta_program *program);

/// NULL is allowed. The GPU's context must be current.
void hfta_cuda_graphs_destroy(hfta_cuda_graphs *self);

/// Adds a task to the run; the call is copied. Returns false if memory runs
/// out.
bool hfta_cuda_graphs_add(hfta_cuda_graphs *self, const hfta_task_call *call,
                          uint32_t number);

/// Whether the run has tasks.
bool hfta_cuda_graphs_has_run(const hfta_cuda_graphs *self);

/// Drops the run's tasks.
void hfta_cuda_graphs_drop(hfta_cuda_graphs *self);

/// Launches the run on a stream and begins another one. The GPU's context must
/// be current.
hfta_cu_result hfta_cuda_graphs_flush(hfta_cuda_graphs *self,
                                      hfta_cu_stream stream,
                                      hfta_cuda_failure *failure);

#endif // HFTA_SRC_DEVICE_CUDA_GRAPHS_H

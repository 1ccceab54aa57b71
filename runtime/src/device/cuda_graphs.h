//===- cuda_graphs.h - Runs of tasks as graphs ------------------*- C -*-===//
//
// What a queue gets between two other commands is a run of tasks. From the
// second time on that the same tasks come with the same places and copies, they
// are one graph of the driver's: one call instead of one a kernel, and kernels
// that have nothing to wait for run side by side. What changes from step to
// step, rates for example, lies in memory, not in a graph.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_CUDA_GRAPHS_H
#define HFTA_SRC_DEVICE_CUDA_GRAPHS_H

#include "device/cuda_launch.h"

#include <stdbool.h>

typedef struct hfta_cuda_graphs hfta_cuda_graphs;

/// What failed, for a message.
typedef struct hfta_cuda_failure {
  const char *call;
  char of[512];
} hfta_cuda_failure;

/// For the tasks of a program, which is borrowed, as is the launcher. NULL
/// without memory.
hfta_cuda_graphs *hfta_cuda_graphs_create(const hfta_cuda_launcher *launcher,
                                          const hfta_program *program);

/// NULL is allowed. The context is current.
void hfta_cuda_graphs_destroy(hfta_cuda_graphs *self);

/// Adds a task to the run; the call is copied. False without memory.
bool hfta_cuda_graphs_add(hfta_cuda_graphs *self, const hfta_task_call *call,
                          uint32_t number);

/// Whether the run has tasks.
bool hfta_cuda_graphs_has_run(const hfta_cuda_graphs *self);

/// Forgets the run.
void hfta_cuda_graphs_drop(hfta_cuda_graphs *self);

/// Gives the run to a stream and begins another one. The context is current.
hfta_cu_result hfta_cuda_graphs_flush(hfta_cuda_graphs *self,
                                      hfta_cu_stream stream,
                                      hfta_cuda_failure *failure);

#endif // HFTA_SRC_DEVICE_CUDA_GRAPHS_H

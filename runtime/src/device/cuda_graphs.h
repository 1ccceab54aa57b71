//===- cuda_graphs.h - Runs of tasks as graphs ------------------*- C -*-===//
//
// A run is a sequence of tasks that a queue gets without another command in
// between. When a run comes again with the same addresses and copies, it is
// launched as one CUDA graph: this takes one driver call instead of one per
// kernel, and kernels that don't depend on each other run concurrently. Values
// that change from step to step, such as learning rates, are in memory and not
// part of the graph.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_CUDA_GRAPHS_H
#define HFTA_SRC_DEVICE_CUDA_GRAPHS_H

#include "device/cuda_launch.h"

#include <stdbool.h>

typedef struct hfta_cuda_graphs hfta_cuda_graphs;

/// A driver call that failed, and the object that it was for, for error
/// messages.
typedef struct hfta_cuda_failure {
  const char *call;
  char of[512];
} hfta_cuda_failure;

/// Creates an object for the tasks of a program. Program and launcher are
/// borrowed. Returns NULL if there isn't enough memory.
hfta_cuda_graphs *hfta_cuda_graphs_create(const hfta_cuda_launcher *launcher,
                                          const hfta_program *program);

/// Destroys the object and its graphs. The GPU's context must be current. NULL
/// is allowed.
void hfta_cuda_graphs_destroy(hfta_cuda_graphs *self);

/// Appends a task call, which is copied, to the current run; `number` is the
/// task's number in its program. Returns false if there isn't enough memory.
bool hfta_cuda_graphs_add(hfta_cuda_graphs *self, const hfta_task_call *call,
                          uint32_t number);

/// Returns whether the current run has tasks.
bool hfta_cuda_graphs_has_run(const hfta_cuda_graphs *self);

/// Drops the tasks of the current run without launching them.
void hfta_cuda_graphs_drop(hfta_cuda_graphs *self);

/// Launches the current run on a stream and begins a new one. Returns the
/// driver's result; if it isn't 0, `failure` describes it. The GPU's context
/// must be current.
hfta_cu_result hfta_cuda_graphs_flush(hfta_cuda_graphs *self,
                                      hfta_cu_stream stream,
                                      hfta_cuda_failure *failure);

#endif // HFTA_SRC_DEVICE_CUDA_GRAPHS_H

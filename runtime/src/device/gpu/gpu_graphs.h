//===- gpu_graphs.h - Runs of tasks as graphs -------------------*- C -*-===//
//
// A run is a sequence of tasks that a queue gets without another command in
// between. When a run comes again with the same addresses and copies, it is
// launched as one graph: this takes one driver call instead of one per
// kernel, and kernels that don't depend on each other run concurrently. Values
// that change from step to step, such as learning rates, are in memory and not
// part of the graph.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_GPU_GPU_GRAPHS_H
#define HFTA_SRC_DEVICE_GPU_GPU_GRAPHS_H

#include "device/gpu/gpu_launch.h"

#include <stdbool.h>

typedef struct hfta_gpu_graphs hfta_gpu_graphs;

/// The object of a call that has failed, for error messages.
typedef struct hfta_gpu_failure {
  char of[512];
} hfta_gpu_failure;

/// Creates an object for the tasks of a program. Program and launcher are
/// borrowed. Returns NULL if there isn't enough memory.
hfta_gpu_graphs *hfta_gpu_graphs_create(const hfta_gpu_launcher *launcher,
                                        const hfta_program *program);

/// Destroys the object and its graphs. NULL is allowed.
void hfta_gpu_graphs_destroy(hfta_gpu_graphs *self);

/// Appends a task call, which is copied, to the current run; `number` is the
/// task's number in its program. Returns false if there isn't enough memory.
bool hfta_gpu_graphs_add(hfta_gpu_graphs *self, const hfta_task_call *call,
                         uint32_t number);

/// Returns whether the current run has tasks.
bool hfta_gpu_graphs_has_run(const hfta_gpu_graphs *self);

/// Drops the tasks of the current run without launching them.
void hfta_gpu_graphs_drop(hfta_gpu_graphs *self);

/// Launches the current run on a stream and begins a new one. Returns the
/// driver's result; if it isn't a success, `failure` says what it is for.
hfta_gpu_result hfta_gpu_graphs_flush(hfta_gpu_graphs *self,
                                      hfta_gpu_stream stream,
                                      hfta_gpu_failure *failure);

#endif // HFTA_SRC_DEVICE_GPU_GPU_GRAPHS_H

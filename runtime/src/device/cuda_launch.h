//===- cuda_launch.h - Tasks on a GPU ---------------------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_LAUNCH_H
#define HFTA_SRC_DEVICE_CUDA_LAUNCH_H

#include "device/cuda_images.h"
#include "hfta/launch.h"

/// Where a task's kernels go, and with what.
typedef struct hfta_cuda_launcher {
  const hfta_cuda *cuda;
  const hfta_cuda_images *images;
  hfta_cu_address scratch; ///< hfta_cuda_scratch_bytes of it
  uint64_t *parameters;    ///< HFTA_CUDA_PARAMETERS, of the launch at hand
  void **places;           ///< as many
} hfta_cuda_launcher;

/// Of a kernel at most, and a NULL behind them.
enum { HFTA_CUDA_PARAMETERS = 2 * HFTA_MAX_BINDINGS + 2 };

/// Scratch memory of all threads of the launch that needs most.
uint64_t hfta_cuda_scratch_bytes(const hfta_program *program);

/// Launches a task's kernels, each for as many copies at once as lie at equal
/// distances. `number` is the task's in its program. The result of the first
/// call that fails; `failed` is its launch then.
hfta_cu_result hfta_cuda_launch(const hfta_cuda_launcher *launcher,
                                hfta_cu_stream stream,
                                const hfta_task_call *call, uint32_t number,
                                const hfta_launch **failed);

#endif // HFTA_SRC_DEVICE_CUDA_LAUNCH_H

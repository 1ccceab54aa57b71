//===- gpu_launch.h - Launching tasks on a GPU --------------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_GPU_GPU_LAUNCH_H
#define HFTA_SRC_DEVICE_GPU_GPU_LAUNCH_H

#include "device/gpu/gpu_driver.h"
#include "hfta/launch.h"

/// A function that is passed kernels one by one, until it returns a result that
/// isn't a success.
typedef struct hfta_gpu_taker {
  hfta_gpu_result (*take)(void *argument, const hfta_gpu_kernel *kernel);
  void *argument;
} hfta_gpu_taker;

/// The resources for launching the kernels of a program.
typedef struct hfta_gpu_launcher {
  hfta_gpu *gpu;
  hfta_gpu_code *code;
  hfta_gpu_address scratch; ///< memory of hfta_gpu_scratch_bytes bytes
  uint64_t *parameters; ///< buffer of HFTA_GPU_PARAMETERS parameters, for the
                        ///< current kernel
  void **places; ///< buffer of HFTA_GPU_PARAMETERS pointers to parameters
} hfta_gpu_launcher;

/// Returns the bytes of scratch memory that the program's kernels need, if a
/// launch runs for at most `copies` copies: the maximum over all launches, each
/// for all of its threads.
uint64_t hfta_gpu_scratch_bytes(const hfta_program *program, int64_t copies);

/// Passes a task's kernels to the taker in order. A kernel is passed once for
/// each sequence of consecutive copies whose operands have a constant stride.
/// `number` is the task's number in its program. Returns the first result that
/// isn't a success; `*failed` is then the launch that it is for.
hfta_gpu_result hfta_gpu_give(const hfta_gpu_launcher *launcher,
                              const hfta_task_call *call, uint32_t number,
                              const hfta_gpu_taker *taker,
                              const hfta_launch **failed);

/// A stream on which kernels are launched one by one.
typedef struct hfta_gpu_destination {
  hfta_gpu *gpu;
  hfta_gpu_stream stream;
} hfta_gpu_destination;

/// Returns a taker that launches kernels on the destination's stream.
/// `destination` is borrowed.
hfta_gpu_taker hfta_gpu_take_to(hfta_gpu_destination *destination);

/// Launches a task's kernels on a stream, as hfta_gpu_give passes them.
hfta_gpu_result hfta_gpu_launch(const hfta_gpu_launcher *launcher,
                                hfta_gpu_stream stream,
                                const hfta_task_call *call, uint32_t number,
                                const hfta_launch **failed);

#endif // HFTA_SRC_DEVICE_GPU_GPU_LAUNCH_H

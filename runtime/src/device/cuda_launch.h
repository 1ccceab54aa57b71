//===- cuda_launch.h - Launching tasks on a GPU -------------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_LAUNCH_H
#define HFTA_SRC_DEVICE_CUDA_LAUNCH_H

#include "device/cuda_images.h"
#include "hfta/launch.h"

/// One launch of a task's kernel, for copies whose operands have a constant
/// stride. Everything is borrowed for the duration of the call that passes it.
typedef struct hfta_cuda_kernel {
  const hfta_launch *launch;
  hfta_cu_function function;
  unsigned blocks, copies, block_threads, shared_bytes;
  const uint64_t *parameters; ///< an address and a stride in bytes for each
                              ///< operand, then the address of scratch memory
  void **places; ///< pointers to the parameters, to the tensor maps if there
                 ///< are any, and a final NULL
} hfta_cuda_kernel;

/// A function that is passed kernels one by one, until it returns a result that
/// isn't 0.
typedef struct hfta_cuda_taker {
  hfta_cu_result (*take)(void *argument, const hfta_cuda_kernel *kernel);
  void *argument;
  const char *call; ///< the name of the driver call that it makes, for messages
} hfta_cuda_taker;

/// The launch that failed, and the driver call that failed.
typedef struct hfta_cuda_failed {
  const hfta_launch *launch;
  const char *call;
} hfta_cuda_failed;

/// The resources for launching the kernels of a program.
typedef struct hfta_cuda_launcher {
  const hfta_cuda *cuda;
  hfta_cuda_images images;
  hfta_cu_address scratch; ///< device memory of hfta_cuda_scratch_bytes bytes
  uint64_t *parameters; ///< buffer of HFTA_CUDA_PARAMETERS parameters, for the
                        ///< current kernel
  void **places; ///< buffer of HFTA_CUDA_PARAMETERS pointers to parameters
  void *maps;    ///< buffer of hfta_cuda_most_map_bytes bytes for the current
                 ///< kernel's tensor maps (cuda_maps.h)
} hfta_cuda_launcher;

/// The most pointers to parameters that a kernel has, including the final NULL.
enum { HFTA_CUDA_PARAMETERS = 2 * HFTA_MAX_BINDINGS + 3 };

/// Returns the bytes of scratch memory that the program's kernels need, if a
/// launch runs for at most `copies` copies: the maximum over all launches, each
/// for all of its threads.
uint64_t hfta_cuda_scratch_bytes(const hfta_program *program, int64_t copies);

/// Passes a task's kernels to the taker in order. A kernel is passed once for
/// each sequence of consecutive copies whose operands have a constant stride.
/// `number` is the task's number in its program. Returns the first result that
/// isn't 0, and describes it in `failed`.
hfta_cu_result hfta_cuda_give(const hfta_cuda_launcher *launcher,
                              const hfta_task_call *call, uint32_t number,
                              const hfta_cuda_taker *taker,
                              hfta_cuda_failed *failed);

/// A stream on which kernels are launched one by one.
typedef struct hfta_cuda_destination {
  const hfta_cuda *cuda;
  hfta_cu_stream stream;
} hfta_cuda_destination;

/// Returns a taker that launches kernels on the destination's stream.
/// `destination` is borrowed.
hfta_cuda_taker hfta_cuda_take_to(hfta_cuda_destination *destination);

/// Launches a task's kernels on a stream, as hfta_cuda_give passes them.
hfta_cu_result hfta_cuda_launch(const hfta_cuda_launcher *launcher,
                                hfta_cu_stream stream,
                                const hfta_task_call *call, uint32_t number,
                                hfta_cuda_failed *failed);

#endif // HFTA_SRC_DEVICE_CUDA_LAUNCH_H

//===- cuda_launch.h - Tasks on a GPU ---------------------------*- C -*-===//

#ifndef HFTA_SRC_DEVICE_CUDA_LAUNCH_H
#define HFTA_SRC_DEVICE_CUDA_LAUNCH_H

#include "device/cuda_images.h"
#include "hfta/launch.h"

/// A kernel of a task's for copies that lie at equal distances. All is
/// borrowed, for as long as the call that tells of it takes.
typedef struct hfta_cuda_kernel {
  const hfta_launch *launch;
  hfta_cu_function function;
  unsigned blocks, copies, block_threads, shared_bytes;
  const uint64_t *parameters; ///< an address and a distance of each operand,
                              ///< then scratch memory
  void **places; ///< of the parameters, of the maps where there are some, and
                 ///< NULL behind them
} hfta_cuda_kernel;

/// Takes kernels one by one; what isn't 0 ends that.
typedef struct hfta_cuda_taker {
  hfta_cu_result (*take)(void *argument, const hfta_cuda_kernel *kernel);
  void *argument;
  const char *call; ///< of the driver's, which it makes
} hfta_cuda_taker;

/// What failed: a kernel, and the driver's call for it.
typedef struct hfta_cuda_failed {
  const hfta_launch *launch;
  const char *call;
} hfta_cuda_failed;

/// Where a task's kernels go, and with what.
typedef struct hfta_cuda_launcher {
  const hfta_cuda *cuda;
  hfta_cuda_images images;
  hfta_cu_address scratch; ///< hfta_cuda_scratch_bytes of it
  uint64_t *parameters;    ///< HFTA_CUDA_PARAMETERS, of the kernel at hand
  void **places;           ///< as many
  void *maps; ///< hfta_cuda_most_map_bytes, of the kernel at hand (cuda_maps.h)
} hfta_cuda_launcher;

/// Of a kernel at most, and a NULL behind them.
enum { HFTA_CUDA_PARAMETERS = 2 * HFTA_MAX_BINDINGS + 3 };

/// Scratch memory of all threads of the launch that needs most.
uint64_t hfta_cuda_scratch_bytes(const hfta_program *program);

/// Gives a task's kernels to somebody, each for as many copies at once as lie
/// at equal distances. `number` is the task's in its program. The first result
/// that isn't 0; `failed` tells of what it is then.
hfta_cu_result hfta_cuda_give(const hfta_cuda_launcher *launcher,
                              const hfta_task_call *call, uint32_t number,
                              const hfta_cuda_taker *taker,
                              hfta_cuda_failed *failed);

/// Where kernels that are launched one by one go.
typedef struct hfta_cuda_destination {
  const hfta_cuda *cuda;
  hfta_cu_stream stream;
} hfta_cuda_destination;

/// Launches kernels.
hfta_cuda_taker hfta_cuda_take_to(hfta_cuda_destination *destination);

/// Gives them to a stream.
hfta_cu_result hfta_cuda_launch(const hfta_cuda_launcher *launcher,
                                hfta_cu_stream stream,
                                const hfta_task_call *call, uint32_t number,
                                hfta_cuda_failed *failed);

#endif // HFTA_SRC_DEVICE_CUDA_LAUNCH_H

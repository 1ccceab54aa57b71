//===- gpu_driver.h - The functions of a GPU's driver -----------*- C -*-===//
//
// A table of the functions that the device for GPUs needs of a driver. Each
// driver has a folder beside this one, fills in a table of its own, and begins
// the struct of an open GPU with hfta_gpu. Handles of streams, events and so on
// are the driver's; only the table's functions look into them.
//
// Threads: a GPU is used by one thread at a time, and its functions are called
// on a thread that has called `enter`.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_GPU_GPU_DRIVER_H
#define HFTA_SRC_DEVICE_GPU_GPU_DRIVER_H

#include "hfta/program.h"
#include "hfta/status.h"

#include <stdbool.h>

typedef uint64_t hfta_gpu_address;
typedef struct hfta_gpu_function_handle *hfta_gpu_function; ///< a kernel
typedef struct hfta_gpu_stream_handle *hfta_gpu_stream;
typedef struct hfta_gpu_event_handle *hfta_gpu_event;
typedef struct hfta_gpu_graph_handle *hfta_gpu_graph;
typedef struct hfta_gpu_graph_node_handle *hfta_gpu_graph_node;
typedef struct hfta_gpu_graph_exec_handle *hfta_gpu_graph_exec;

/// The code of a program's kernels, loaded onto a GPU.
typedef struct hfta_gpu_code hfta_gpu_code;

/// An open GPU.
typedef struct hfta_gpu {
  const struct hfta_gpu_driver *driver;
  const char *name; ///< the GPU's name, for messages
} hfta_gpu;

/// The result of a call of the driver.
typedef struct hfta_gpu_result {
  int code;          ///< the driver's own code; 0: success
  bool lacks_memory; ///< there isn't enough memory, of the GPU or the host
  const char *call;  ///< the driver's name of the function; NULL: no function
                     ///< was called, because the host has too little memory
} hfta_gpu_result;

/// The result of a call that wasn't made.
static const hfta_gpu_result hfta_gpu_success = {0, false, ""};
static const hfta_gpu_result hfta_gpu_lacks_host_memory = {-1, true, NULL};

/// One launch of a task's kernel, for copies whose operands have a constant
/// stride. Everything is borrowed for the duration of the call that passes it.
typedef struct hfta_gpu_kernel {
  const hfta_launch *launch;
  uint32_t task, number; ///< the task's index in its program, and the launch's
                         ///< index in its task
  hfta_gpu_function function;
  unsigned blocks, copies, block_threads, shared_bytes;
  const uint64_t *parameters; ///< an address and a stride in bytes for each
                              ///< operand, then the address of scratch memory
  void **places; ///< pointers to the parameters, to what the driver adds to
                 ///< them, and a final NULL
  uint32_t place_count; ///< number of pointers before the NULL
} hfta_gpu_kernel;

/// The most pointers that a kernel has in `places`: two for each operand, one
/// for scratch memory, one that the driver adds, and the final NULL.
enum { HFTA_GPU_PARAMETERS = 2 * HFTA_MAX_BINDINGS + 3 };

/// The functions of a driver.
typedef struct hfta_gpu_driver {
  /// Opens GPU number `index` of the machine. Fails with HFTA_UNSUPPORTED if
  /// there is no driver or no GPU, with HFTA_USAGE if `index` is too large, and
  /// with HFTA_INTERNAL if a call fails.
  hfta_status (*open)(int index, hfta_gpu **out, hfta_error *error);
  void (*close)(hfta_gpu *gpu);
  /// Makes the GPU the one that the calling thread's calls are for.
  hfta_gpu_result (*enter)(hfta_gpu *gpu);
  /// Fills in the name and the meaning of a result's code; a text that the
  /// driver doesn't know is left as it is.
  void (*describe)(hfta_gpu *gpu, int code, const char **name,
                   const char **text);

  /// Loads the images of a program that suit the GPU best. Fails with
  /// HFTA_UNSUPPORTED if there are none.
  hfta_status (*load)(hfta_gpu *gpu, const hfta_program *program,
                      hfta_gpu_code **out, hfta_error *error);
  void (*unload)(hfta_gpu *gpu, hfta_gpu_code *code);
  /// Completes a kernel for the loaded code: fills in `function`, and changes
  /// `block_threads`, `shared_bytes` and `places` (to which it may append one
  /// pointer) where the code needs it. What it points to is valid until the
  /// next call.
  hfta_gpu_result (*prepare)(hfta_gpu *gpu, hfta_gpu_code *code,
                             hfta_gpu_kernel *kernel);

  /// Returns the free bytes of the GPU's memory; 0 if that isn't known.
  uint64_t (*free_bytes)(hfta_gpu *gpu);
  /// Allocates memory, aligned to at least 256 bytes.
  hfta_gpu_result (*memory_allocate)(hfta_gpu *gpu, hfta_gpu_address *out,
                                     uint64_t bytes);
  void (*memory_free)(hfta_gpu *gpu, hfta_gpu_address address);
  /// Fills memory with zeros.
  hfta_gpu_result (*memory_clear)(hfta_gpu *gpu, hfta_gpu_address to,
                                  uint64_t bytes, hfta_gpu_stream stream);
  /// Copies between any two places in the GPU's and the host's memory.
  hfta_gpu_result (*memory_copy)(hfta_gpu *gpu, hfta_gpu_address to,
                                 hfta_gpu_address from, uint64_t bytes,
                                 hfta_gpu_stream stream);
  /// Page-lock memory of the host, in whole pages, and end that.
  hfta_gpu_result (*host_lock)(hfta_gpu *gpu, void *memory, uint64_t bytes);
  void (*host_unlock)(hfta_gpu *gpu, void *memory);

  /// Creates a stream that doesn't wait for other streams by itself.
  hfta_gpu_result (*stream_create)(hfta_gpu *gpu, hfta_gpu_stream *out);
  void (*stream_destroy)(hfta_gpu *gpu, hfta_gpu_stream stream);
  hfta_gpu_result (*stream_synchronize)(hfta_gpu *gpu, hfta_gpu_stream stream);
  /// Makes later work of a stream wait for the event's last record.
  hfta_gpu_result (*stream_wait)(hfta_gpu *gpu, hfta_gpu_stream stream,
                                 hfta_gpu_event event);
  /// Makes a stream call a function of the host, on a thread of the driver.
  hfta_gpu_result (*stream_call)(hfta_gpu *gpu, hfta_gpu_stream stream,
                                 void (*function)(void *argument),
                                 void *argument);
  hfta_gpu_result (*event_create)(hfta_gpu *gpu, hfta_gpu_event *out);
  void (*event_destroy)(hfta_gpu *gpu, hfta_gpu_event event);
  hfta_gpu_result (*event_record)(hfta_gpu *gpu, hfta_gpu_event event,
                                  hfta_gpu_stream stream);
  hfta_gpu_result (*event_synchronize)(hfta_gpu *gpu, hfta_gpu_event event);

  /// Launches a kernel as a grid of (blocks, 1, copies).
  hfta_gpu_result (*launch)(hfta_gpu *gpu, const hfta_gpu_kernel *kernel,
                            hfta_gpu_stream stream);
  hfta_gpu_result (*graph_create)(hfta_gpu *gpu, hfta_gpu_graph *out);
  void (*graph_destroy)(hfta_gpu *gpu, hfta_gpu_graph graph);
  /// Adds a kernel, which waits for `before_count` earlier nodes.
  hfta_gpu_result (*graph_add)(hfta_gpu *gpu, hfta_gpu_graph_node *out,
                               hfta_gpu_graph graph,
                               const hfta_gpu_graph_node *before,
                               size_t before_count,
                               const hfta_gpu_kernel *kernel);
  hfta_gpu_result (*graph_instantiate)(hfta_gpu *gpu, hfta_gpu_graph_exec *out,
                                       hfta_gpu_graph graph);
  hfta_gpu_result (*graph_launch)(hfta_gpu *gpu, hfta_gpu_graph_exec exec,
                                  hfta_gpu_stream stream);
  /// Destroys an executable graph. If it is in flight, the driver completes it
  /// first.
  void (*graph_exec_destroy)(hfta_gpu *gpu, hfta_gpu_graph_exec exec);
} hfta_gpu_driver;

/// Fills the error with the name of the call that failed and the meaning of its
/// result. Returns HFTA_INTERNAL, or HFTA_UNSUPPORTED if the host had too
/// little memory to make the call. `of` names the object of the call; NULL if
/// there is none.
hfta_status hfta_gpu_fail(hfta_gpu *gpu, hfta_gpu_result result, const char *of,
                          hfta_error *error);

#endif // HFTA_SRC_DEVICE_GPU_GPU_DRIVER_H

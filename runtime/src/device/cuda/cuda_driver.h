//===- cuda_driver.h - The functions of NVIDIA's driver ---------*- C -*-===//
//
// The part of the CUDA driver API that the runtime uses, with its own
// declarations. So programs are built without a CUDA toolkit, and the driver's
// library is opened only when a GPU is used. Types, codes and argument lists
// are those of NVIDIA's cuda.h; a test compares them where that file is
// installed.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_CUDA_CUDA_DRIVER_H
#define HFTA_SRC_DEVICE_CUDA_CUDA_DRIVER_H

#include "hfta/status.h"

#include <stddef.h>
#include <stdint.h>

typedef int hfta_cu_result; ///< a CUresult: 0 means success
typedef int hfta_cu_device;
typedef uint64_t hfta_cu_address;
typedef struct CUctx_st *hfta_cu_context;
typedef struct CUmod_st *hfta_cu_module;
typedef struct CUfunc_st *hfta_cu_function;
typedef struct CUstream_st *hfta_cu_stream;
typedef struct CUevent_st *hfta_cu_event;
typedef struct CUgraph_st *hfta_cu_graph;
typedef struct CUgraphNode_st *hfta_cu_graph_node;
typedef struct CUgraphExec_st *hfta_cu_graph_exec;
/// A CUtensorMap, which must be aligned to 64 bytes.
typedef struct hfta_cu_tensor_map {
  uint64_t opaque[16];
} hfta_cu_tensor_map;
typedef void (*hfta_cu_host_function)(void *argument);

/// A copy of the struct CUDA_KERNEL_NODE_PARAMS.
typedef struct hfta_cu_kernel_node {
  hfta_cu_function function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z;
  unsigned shared_bytes;
  void **parameters;
  void **extra;
  void *kernel;            ///< alternative to `function`; always NULL here
  hfta_cu_context context; ///< NULL: the current context
} hfta_cu_kernel_node;

enum {
  HFTA_CU_NO_DEVICE = 100,
  HFTA_CU_OUT_OF_MEMORY = 2,
  HFTA_CU_INVALID_IMAGE = 200,
  HFTA_CU_INVALID_PTX = 218,
  HFTA_CU_JIT_COMPILER_NOT_FOUND = 221,
  HFTA_CU_NO_BINARY_FOR_GPU = 209,
  HFTA_CU_UNSUPPORTED_PTX_VERSION = 222,
  HFTA_CU_COMPUTE_CAPABILITY_MAJOR = 75,
  HFTA_CU_COMPUTE_CAPABILITY_MINOR = 76,
  HFTA_CU_STREAM_NON_BLOCKING = 1,
  HFTA_CU_EVENT_DISABLE_TIMING = 2,
  HFTA_CU_MAX_DYNAMIC_SHARED_BYTES = 8, ///< an attribute of functions
  HFTA_CU_MAP_UINT16 = 1,
  HFTA_CU_MAP_UINT32 = 2,
  HFTA_CU_MAP_NOT_INTERLEAVED = 0,
  HFTA_CU_MAP_SWIZZLE_32 = 1,
  HFTA_CU_MAP_SWIZZLE_64 = 2,
  HFTA_CU_MAP_SWIZZLE_128 = 3,
  HFTA_CU_MAP_PROMOTION_256 = 3,
  HFTA_CU_MAP_FILL_ZEROS = 0
};

/// The list of functions, as X(member, the driver's name, arguments).
#define HFTA_CU_FUNCTIONS(X)                                                   \
  X(init, "cuInit", (unsigned flags))                                          \
  X(device_count, "cuDeviceGetCount", (int *count))                            \
  X(device_get, "cuDeviceGet", (hfta_cu_device * device, int ordinal))         \
  X(device_name, "cuDeviceGetName",                                            \
    (char *name, int length, hfta_cu_device device))                           \
  X(device_attribute, "cuDeviceGetAttribute",                                  \
    (int *value, int attribute, hfta_cu_device device))                        \
  X(context_retain, "cuDevicePrimaryCtxRetain",                                \
    (hfta_cu_context * context, hfta_cu_device device))                        \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (hfta_cu_device device))  \
  X(context_set, "cuCtxSetCurrent", (hfta_cu_context context))                 \
  X(memory_info, "cuMemGetInfo_v2", (size_t *available, size_t *total))        \
  X(memory_allocate, "cuMemAlloc_v2",                                          \
    (hfta_cu_address * address, size_t bytes))                                 \
  X(memory_free, "cuMemFree_v2", (hfta_cu_address address))                    \
  X(host_lock, "cuMemHostRegister_v2",                                         \
    (void *memory, size_t bytes, unsigned flags))                              \
  X(host_unlock, "cuMemHostUnregister", (void *memory))                        \
  X(memory_set, "cuMemsetD8Async",                                             \
    (hfta_cu_address to, unsigned char value, size_t bytes,                    \
     hfta_cu_stream stream))                                                   \
  X(memory_copy, "cuMemcpyAsync",                                              \
    (hfta_cu_address to, hfta_cu_address from, size_t bytes,                   \
     hfta_cu_stream stream))                                                   \
  X(module_load, "cuModuleLoadData",                                           \
    (hfta_cu_module * module, const void *image))                              \
  X(module_unload, "cuModuleUnload", (hfta_cu_module module))                  \
  X(module_function, "cuModuleGetFunction",                                    \
    (hfta_cu_function * function, hfta_cu_module module, const char *name))    \
  X(function_set, "cuFuncSetAttribute",                                        \
    (hfta_cu_function function, int function_attribute, int value))            \
  X(tensor_map_encode, "cuTensorMapEncodeTiled",                               \
    (hfta_cu_tensor_map * map, int data_type, uint32_t rank, void *address,    \
     const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,      \
     const uint32_t *steps, int interleave, int swizzle, int promotion,        \
     int fill))                                                                \
  X(launch_kernel, "cuLaunchKernel",                                           \
    (hfta_cu_function function, unsigned grid_x, unsigned grid_y,              \
     unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,    \
     unsigned shared_bytes, hfta_cu_stream stream, void **parameters,          \
     void **extra))                                                            \
  X(launch_host, "cuLaunchHostFunc",                                           \
    (hfta_cu_stream stream, hfta_cu_host_function function, void *argument))   \
  X(stream_create, "cuStreamCreate",                                           \
    (hfta_cu_stream * stream, unsigned flags))                                 \
  X(stream_destroy, "cuStreamDestroy_v2", (hfta_cu_stream stream))             \
  X(stream_synchronize, "cuStreamSynchronize", (hfta_cu_stream stream))        \
  X(stream_wait, "cuStreamWaitEvent",                                          \
    (hfta_cu_stream stream, hfta_cu_event event, unsigned flags))              \
  X(event_create, "cuEventCreate", (hfta_cu_event * event, unsigned flags))    \
  X(event_record, "cuEventRecord",                                             \
    (hfta_cu_event event, hfta_cu_stream stream))                              \
  X(event_synchronize, "cuEventSynchronize", (hfta_cu_event event))            \
  X(event_destroy, "cuEventDestroy_v2", (hfta_cu_event event))                 \
  X(graph_create, "cuGraphCreate", (hfta_cu_graph * graph, unsigned flags))    \
  X(graph_destroy, "cuGraphDestroy", (hfta_cu_graph graph))                    \
  X(graph_add_kernel, "cuGraphAddKernelNode_v2",                               \
    (hfta_cu_graph_node * node, hfta_cu_graph graph,                           \
     const hfta_cu_graph_node *before, size_t before_count,                    \
     const hfta_cu_kernel_node *kernel))                                       \
  X(graph_instantiate, "cuGraphInstantiateWithFlags",                          \
    (hfta_cu_graph_exec * exec, hfta_cu_graph graph,                           \
     unsigned long long flags))                                                \
  X(graph_launch, "cuGraphLaunch",                                             \
    (hfta_cu_graph_exec exec, hfta_cu_stream stream))                          \
  X(graph_exec_destroy, "cuGraphExecDestroy", (hfta_cu_graph_exec exec))       \
  X(error_name, "cuGetErrorName", (hfta_cu_result result, const char **name))  \
  X(error_text, "cuGetErrorString", (hfta_cu_result result, const char **text))

typedef struct hfta_cuda {
#define HFTA_CU_MEMBER(member, name, arguments)                                \
  hfta_cu_result(*member) arguments;
  HFTA_CU_FUNCTIONS(HFTA_CU_MEMBER)
#undef HFTA_CU_MEMBER
  int is_emulated; ///< nonzero if the driver is the emulated one, which runs
                   ///< only images of kind HFTA_IMAGE_EMULATED
} hfta_cuda;

/// Loads the functions of libcuda.so.1 once per process; the library stays
/// open. Fails with HFTA_UNSUPPORTED if there is no driver, or if it lacks a
/// function. Any thread may call this.
hfta_status hfta_cuda_load(const hfta_cuda **out, hfta_error *error);

#endif // HFTA_SRC_DEVICE_CUDA_CUDA_DRIVER_H

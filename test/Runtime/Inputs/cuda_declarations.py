#!/usr/bin/env python3
"""Writes C code that compiles only if the runtime's declarations in cuda_driver.h agree
with NVIDIA's cuda.h, which the code includes.

    cuda_declarations.py cuda_driver.h > check.c"""

import re
import sys

TYPES = {"hfta_cu_result": "CUresult", "hfta_cu_device": "CUdevice",
         "hfta_cu_address": "CUdeviceptr", "hfta_cu_context": "CUcontext",
         "hfta_cu_module": "CUmodule", "hfta_cu_function": "CUfunction",
         "hfta_cu_stream": "CUstream", "hfta_cu_event": "CUevent",
         "hfta_cu_graph": "CUgraph", "hfta_cu_graph_node": "CUgraphNode",
         "hfta_cu_graph_exec": "CUgraphExec",
         "hfta_cu_kernel_node": "CUDA_KERNEL_NODE_PARAMS_v2",
         "hfta_cu_host_function": "CUhostFn", "hfta_cu_tensor_map": "CUtensorMap",
         "int attribute": "CUdevice_attribute attribute",
         "int function_attribute": "CUfunction_attribute attribute",
         "int data_type": "CUtensorMapDataType type",
         "uint32_t": "cuuint32_t", "uint64_t": "cuuint64_t",
         "int interleave": "CUtensorMapInterleave interleave",
         "int swizzle": "CUtensorMapSwizzle swizzle",
         "int promotion": "CUtensorMapL2promotion promotion",
         "int fill": "CUtensorMapFloatOOBfill fill"}
NUMBERS = {"NO_DEVICE": "CUDA_ERROR_NO_DEVICE", "OUT_OF_MEMORY": "CUDA_ERROR_OUT_OF_MEMORY",
           "INVALID_IMAGE": "CUDA_ERROR_INVALID_IMAGE",
           "INVALID_PTX": "CUDA_ERROR_INVALID_PTX",
           "JIT_COMPILER_NOT_FOUND": "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
           "NO_BINARY_FOR_GPU": "CUDA_ERROR_NO_BINARY_FOR_GPU",
           "UNSUPPORTED_PTX_VERSION": "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
           "COMPUTE_CAPABILITY_MAJOR": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR",
           "COMPUTE_CAPABILITY_MINOR": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR",
           "STREAM_NON_BLOCKING": "CU_STREAM_NON_BLOCKING",
           "EVENT_DISABLE_TIMING": "CU_EVENT_DISABLE_TIMING",
           "MAX_DYNAMIC_SHARED_BYTES": "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
           "MAP_UINT16": "CU_TENSOR_MAP_DATA_TYPE_UINT16",
           "MAP_UINT32": "CU_TENSOR_MAP_DATA_TYPE_UINT32",
           "MAP_NOT_INTERLEAVED": "CU_TENSOR_MAP_INTERLEAVE_NONE",
           "MAP_SWIZZLE_32": "CU_TENSOR_MAP_SWIZZLE_32B",
           "MAP_SWIZZLE_64": "CU_TENSOR_MAP_SWIZZLE_64B",
           "MAP_SWIZZLE_128": "CU_TENSOR_MAP_SWIZZLE_128B",
           "MAP_PROMOTION_256": "CU_TENSOR_MAP_L2_PROMOTION_L2_256B",
           "MAP_FILL_ZEROS": "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE"}

header = open(sys.argv[1]).read().replace("\\\n", "\n")
functions = re.findall(r'X\(\w+,\s*"(\w+)",\s*(\(.*?\))\)\s', header + "\n", re.DOTALL)
numbers = re.findall(r"HFTA_CU_(\w+) = (\d+)", header)
if len(functions) < 25 or len(numbers) != len(NUMBERS):
    sys.exit(f"error: found {len(functions)} functions, {len(numbers)} numbers")
print("#include <cuda.h>")
for name, arguments in functions:
    for mine, theirs in TYPES.items():
        arguments = re.sub(rf"\b{mine}\b", theirs, arguments)
    print(f"CUresult (*check_{name}){' '.join(arguments.split())} = {name};")
# Maps the members of hfta_cu_kernel_node, in order, to those of CUDA_KERNEL_NODE_PARAMS_v2.
MEMBERS = {"function": "func", "grid_x": "gridDimX", "grid_y": "gridDimY",
           "grid_z": "gridDimZ", "block_x": "blockDimX", "block_y": "blockDimY",
           "block_z": "blockDimZ", "shared_bytes": "sharedMemBytes",
           "parameters": "kernelParams", "extra": "extra", "kernel": "kern",
           "context": "ctx"}
struct = re.search(r"typedef struct hfta_cu_kernel_node \{(.*?)\}", header, re.DOTALL)
own = re.findall(r"(\w+)[,;]", re.sub(r"///.*", "", struct.group(1)))
if own != list(MEMBERS):
    sys.exit(f"error: hfta_cu_kernel_node has {own}")
print("#include <stddef.h>")
print("typedef struct { CUfunction function; "
      "unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z; unsigned shared_bytes; "
      "void **parameters; void **extra; void *kernel; CUcontext context; } kernel_node;")
for mine, theirs in MEMBERS.items():
    print(f"_Static_assert(offsetof(kernel_node, {mine}) == "
          f'offsetof(CUDA_KERNEL_NODE_PARAMS_v2, {theirs}), "{mine}");')
print('_Static_assert(sizeof(CUtensorMap) == 16 * sizeof(uint64_t), "tensor_map");')
for name, value in numbers:
    print(f'_Static_assert({NUMBERS[name]} == {value}, "{name}");')

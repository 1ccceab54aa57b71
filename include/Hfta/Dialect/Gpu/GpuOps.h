//===- GpuOps.h - What threads of a GPU do together -------------*- C++ -*-===//

#ifndef HFTA_DIALECT_GPU_GPUOPS_H
#define HFTA_DIALECT_GPU_GPUOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Hfta/Dialect/Gpu/GpuDialect.h.inc"
#include "Hfta/Dialect/Gpu/GpuEnums.h.inc"

#define GET_OP_CLASSES
#include "Hfta/Dialect/Gpu/GpuOps.h.inc"

#endif // HFTA_DIALECT_GPU_GPUOPS_H

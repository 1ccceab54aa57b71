//===- HftaOps.h - Ops of the hfta dialect ----------------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_HFTAOPS_H
#define HFTA_DIALECT_HFTA_IR_HFTAOPS_H

#include "Hfta/Dialect/Hfta/IR/HftaCommands.h"
#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Dialect/Hfta/IR/HftaInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::hfta {
struct OptimizerInfo;
} // namespace mlir::hfta

#define GET_OP_CLASSES
#include "Hfta/Dialect/Hfta/IR/HftaOps.h.inc"

#endif // HFTA_DIALECT_HFTA_IR_HFTAOPS_H

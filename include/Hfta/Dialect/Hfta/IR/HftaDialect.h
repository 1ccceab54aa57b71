//===- HftaDialect.h - The hfta dialect -------------------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_HFTADIALECT_H
#define HFTA_DIALECT_HFTA_IR_HFTADIALECT_H

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h.inc"
#include "Hfta/Dialect/Hfta/IR/HftaEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Hfta/Dialect/Hfta/IR/HftaAttributes.h.inc"

#endif // HFTA_DIALECT_HFTA_IR_HFTADIALECT_H

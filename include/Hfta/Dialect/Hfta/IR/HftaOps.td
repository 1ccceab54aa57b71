//===- HftaOps.td - All ops of the dialect -----------------*- tablegen -*-===//

#ifndef HFTA_OPS
#define HFTA_OPS

include "Hfta/Dialect/Hfta/IR/HftaCurvatureOps.td"
include "Hfta/Dialect/Hfta/IR/HftaElementwiseOps.td"
include "Hfta/Dialect/Hfta/IR/HftaLayerOps.td"
include "Hfta/Dialect/Hfta/IR/HftaMatrixOps.td"
include "Hfta/Dialect/Hfta/IR/HftaScheduleOps.td"
include "Hfta/Dialect/Hfta/IR/HftaShapeOps.td"
include "Hfta/Dialect/Hfta/IR/HftaStructureOps.td"
include "Hfta/Dialect/Hfta/IR/HftaTransferOps.td"

#endif // HFTA_OPS

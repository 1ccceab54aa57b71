//===- HftaDocumentation.td - Ops on the dialect's page ----*- tablegen -*-===//

#ifndef HFTA_DOCUMENTATION
#define HFTA_DOCUMENTATION

include "Hfta/Dialect/Hfta/IR/HftaGradientOps.td"
include "Hfta/Dialect/Hfta/IR/HftaOps.td"

#endif // HFTA_DOCUMENTATION

//===- HftaDocumentation.td - What the dialect's page shows -*- tablegen -*-===//

#ifndef HFTA_DOCUMENTATION
#define HFTA_DOCUMENTATION

include "Hfta/Dialect/Hfta/IR/HftaGradientOps.td"
include "Hfta/Dialect/Hfta/IR/HftaOps.td"

#endif // HFTA_DOCUMENTATION

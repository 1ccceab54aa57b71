//===- TargetModel.cpp - The costs of code on the target ------------------===//

#include "Hfta/Target/TargetModel.h"
#include "Hfta/Target/Processors.h"

using namespace mlir;
using namespace mlir::hfta;

/// The most bytes that one program is assumed to get of a server's shared
/// cache.
static constexpr int64_t kMostStreamBytes = 24 << 20;

TargetModel TargetModel::get(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  TargetAttr target = TargetAttr::get(module);
  if (auto processor = dyn_cast_or_null<ProcessorAttr>(
          target ? target.getMachine() : Attribute()))
    return TargetModel(processor);
  return TargetModel(hfta::getProcessor(op->getContext(), kBaseCpu));
}

int64_t TargetModel::getStreamBytes() const {
  return std::min(kMostStreamBytes,
                  processor.getCaches().back().getBytes() / 4 * 3);
}

//===- MultiModelWorkload.cpp - Models that share devices -----------------===//

#include "Hfta/Planning/Models/MultiModelWorkload.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

llvm::StringRef planning::getName(UnitKind kind) {
  switch (kind) {
  case UnitKind::forward:
    return "f";
  case UnitKind::loss:
    return "fl";
  case UnitKind::backward:
    return "b";
  }
  llvm_unreachable("all kinds are listed");
}

double ShardedModel::getBatchSeconds() const {
  double seconds = 0;
  for (const ShardUnit &unit : units)
    seconds += unit.seconds;
  return seconds;
}

double ShardedModel::getSeconds() const {
  return static_cast<double>(batches) * getBatchSeconds();
}

int64_t ShardedModel::getUnitCount() const {
  return batches * static_cast<int64_t>(units.size());
}

double MultiModelWorkload::getSeconds() const {
  double seconds = 0;
  for (const ShardedModel &model : models)
    seconds += model.getSeconds();
  return seconds;
}

double MultiModelWorkload::getLowerBound() const {
  double bound = getSeconds() / static_cast<double>(devices);
  for (const ShardedModel &model : models)
    bound = std::max(bound, model.getSeconds());
  return bound;
}

bool MultiModelWorkload::hasTransfers() const {
  return llvm::any_of(models, [](const ShardedModel &model) {
    return llvm::any_of(model.units, [](const ShardUnit &unit) {
      return unit.bytesIn > 0 || unit.bytesOut > 0;
    });
  });
}

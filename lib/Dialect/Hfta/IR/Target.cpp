//===- Target.cpp - Attributes of devices that code is made for -----------===//

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

// Checks constraints (C1) and (C2) of the attribute.
LogicalResult CacheAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t bytes, int64_t ways,
                                int64_t lineBytes) {
  if (lineBytes < 16 || !llvm::isPowerOf2_64(lineBytes))
    return emitError() << "a cache line has a power of two of bytes, at least "
                          "16, got "
                       << lineBytes;
  if (ways < 1 || bytes < 1 || bytes % lineBytes != 0 ||
      bytes / lineBytes % ways != 0)
    return emitError() << "a cache of " << bytes << " bytes has no whole sets "
                       << "of " << ways << " lines of " << lineBytes
                       << " bytes";
  return success();
}

// Checks constraints (C1) to (C4) of the attribute.
LogicalResult
ProcessorAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t vectorBytes, int64_t vectorRegisters,
                      int64_t fmaUnits, ArrayRef<CacheAttr> caches,
                      StringRef features, StringRef llvmFeatures) {
  if (!llvm::is_contained({16, 32, 64}, vectorBytes))
    return emitError() << "vectors have 16, 32 or 64 bytes, got "
                       << vectorBytes;
  if (vectorRegisters < 8)
    return emitError() << "expected at least 8 vector registers, got "
                       << vectorRegisters;
  if (fmaUnits < 1)
    return emitError() << "expected at least one FMA unit, got " << fmaUnits;
  if (caches.empty())
    return emitError() << "expected at least one cache";
  for (auto [before, after] :
       llvm::zip(caches.drop_back(), caches.drop_front())) {
    if (after.getBytes() < before.getBytes())
      return emitError() << "a cache of " << after.getBytes()
                         << " bytes comes after a larger one of "
                         << before.getBytes();
    if (after.getLineBytes() != before.getLineBytes())
      return emitError() << "caches have lines of " << before.getLineBytes()
                         << " and of " << after.getLineBytes() << " bytes";
  }
  if (features.empty() != llvmFeatures.empty() ||
      features.count(',') != llvmFeatures.count(','))
    return emitError() << "expected as many LLVM features as features, got '"
                       << llvmFeatures << "' for '" << features << "'";
  return success();
}

bool ProcessorAttr::hasFeature(StringRef name) const {
  return llvm::is_contained(llvm::split(getFeatures(), ','), name);
}

// Checks constraints (C1) and (C2) of the attribute.
LogicalResult GpuAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              ArrayRef<StringAttr> chips, int64_t warpThreads,
                              int64_t sharedBytes, ArrayRef<StringAttr>) {
  if (chips.empty())
    return emitError() << "expected at least one chip";
  llvm::SmallDenseSet<StringAttr> seen;
  for (StringAttr chip : chips)
    if (!seen.insert(chip).second)
      return emitError() << "names the chip " << chip << " twice";
  if (warpThreads < 1 || !llvm::isPowerOf2_64(warpThreads))
    return emitError() << "a warp has a power of two of threads, got "
                       << warpThreads;
  if (sharedBytes < 1)
    return emitError() << "blocks have shared memory, got " << sharedBytes
                       << " bytes";
  return success();
}

bool GpuAttr::hasTensorUnit(StringRef name) const {
  return llvm::any_of(getTensorUnits(),
                      [&](StringAttr unit) { return unit.getValue() == name; });
}

TargetAttr TargetAttr::get(Operation *module) {
  return module
             ? module->getAttrOfType<TargetAttr>(HftaDialect::kTargetAttrName)
             : TargetAttr();
}

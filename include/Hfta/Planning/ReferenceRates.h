//===- ReferenceRates.h - The assumed rates of a device ---------*- C++ -*-===//
//
// Rates for estimates where nothing was measured. They are those of a few
// cores; a plan depends on how they compare with each other and with links.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_REFERENCERATES_H
#define HFTA_PLANNING_REFERENCERATES_H

namespace mlir::hfta::planning {

inline constexpr double kFlopsPerSecond = 1e11;
inline constexpr double kBytesPerSecond = 4e10;
/// The time that a kernel's threads take to begin and to end together.
inline constexpr double kSecondsPerKernel = 5e-6;

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_REFERENCERATES_H

//===- ReferenceRates.h - The assumed rates of a device ---------*- C++ -*-===//
//
// Rates for estimates without measurements, in the order of magnitude of a few
// CPU cores. A plan depends only on their ratios to each other and to the rates
// of links.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_COMMON_REFERENCERATES_H
#define HFTA_PLANNING_COMMON_REFERENCERATES_H

namespace mlir::hfta::planning {

inline constexpr double kFlopsPerSecond = 1e11;
inline constexpr double kBytesPerSecond = 4e10;
/// The time, in seconds, that threads need to begin and to end a kernel
/// together.
inline constexpr double kSecondsPerKernel = 5e-6;

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_COMMON_REFERENCERATES_H

//===- Timing.h - Time of each phase ----------------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_TIMING_H
#define HFTA_LIB_DRIVER_TIMING_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <string>
#include <vector>

namespace mlir::hfta {

/// Measures the steps of a compilation. Each step ends where the next begins.
class Timing {
public:
  /// Announces every step on `progress`, if that isn't null.
  explicit Timing(llvm::raw_ostream *progress) : progress(progress) {}

  void begin(llvm::StringRef step);
  /// Ends the last step.
  void print(llvm::raw_ostream &os);

private:
  using Clock = std::chrono::steady_clock;
  struct Step {
    std::string name;
    Clock::time_point begin;
  };
  llvm::raw_ostream *progress;
  std::vector<Step> steps;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_TIMING_H

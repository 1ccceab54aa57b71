//===- Timing.h - Times of a compilation's steps ----------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_COMPILE_TIMING_H
#define HFTA_LIB_DRIVER_COMPILE_TIMING_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <string>
#include <vector>

namespace mlir::hfta {

/// Measures the time of a compilation's steps. A step ends when the next one
/// begins.
class Timing {
public:
  /// Prints the name of each step to `progress` when it begins, unless that is
  /// null.
  explicit Timing(llvm::raw_ostream *progress) : progress(progress) {}

  void begin(llvm::StringRef step);
  /// Ends the last step and prints the time of each.
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

#endif // HFTA_LIB_DRIVER_COMPILE_TIMING_H

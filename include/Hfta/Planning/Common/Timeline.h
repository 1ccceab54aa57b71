//===- Timeline.h - The drawing of a step over time -------------*- C++ -*-===//
//
// Draws a simulated or measured step as an SVG, with a row per worker for its
// computations, and below each a row for its transfers. Simulated and measured
// steps have the same colours and names, so that they can be compared.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_COMMON_TIMELINE_H
#define HFTA_PLANNING_COMMON_TIMELINE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta::planning {

/// The kinds of bars, in the order of the legend.
enum class BarKind : uint8_t {
  forward,
  recompute,
  backward,
  backwardInput,
  backwardWeight,
  invert,
  precondition,
  update,
  other,
  // Transfers, which are drawn below the computations:
  value,
  inverse,
  gradient,
  direction,
  sum,
  factorSum,
  read,
  write
};

struct TimelineBar {
  size_t row = 0;
  BarKind kind = BarKind::other;
  double begin = 0, end = 0; ///< seconds
  /// The index of the bar's stage among the worker's stages. The bars of later
  /// stages have paler colours.
  int64_t chunk = 0;
  std::string label; ///< text in the bar, if there is room for it
  std::string title; ///< tooltip
};

struct Timeline {
  std::string title;
  std::vector<std::string> rows;
  std::vector<TimelineBar> bars;
};

/// Appends the rows of `other`, whose names are prefixed by `words`.
void appendRows(Timeline &timeline, Timeline other, const std::string &words);

/// Returns the timeline of the last complete step in a trace that `train
/// --trace` has written. It has a row per worker if there are several stages,
/// otherwise a row per rank. The error says what is wrong with the file, whose
/// name is `file`.
llvm::Expected<Timeline> readTrace(llvm::StringRef text, llvm::StringRef file);

/// Returns a timeline with the rows of both, on one time scale.
Timeline layBeside(const Timeline &planned, const Timeline &measured);

void writeSvg(const Timeline &timeline, llvm::raw_ostream &os);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_COMMON_TIMELINE_H

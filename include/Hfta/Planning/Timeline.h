//===- Timeline.h - The drawing of a step over time -------------*- C++ -*-===//
//
// A simulated or measured step as an SVG: a row per worker that shows what it
// computes, and below that what it sends. Both kinds of step have the same
// colours and names, so that they can be compared.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_TIMELINE_H
#define HFTA_PLANNING_TIMELINE_H

#include "Hfta/Planning/KfacSimulation.h"
#include "Hfta/Planning/PipelineSimulation.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta::planning {

/// The kind of a bar, in the order of the legend.
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
  // The kinds that are drawn below these:
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
  /// Counts the worker's stages, from 0: those of later ones are paler.
  int64_t chunk = 0;
  std::string label; ///< drawn where there is room for it
  std::string title; ///< shown when pointed at
};

struct Timeline {
  std::string title;
  std::vector<std::string> rows;
  std::vector<TimelineBar> bars;
};

/// Appends the rows of `other`, each with `words` before its name.
void appendRows(Timeline &timeline, Timeline other, const std::string &words);

/// Draws a run that has ended.
Timeline getTimeline(const PipelineRun &run, llvm::StringRef title);

/// Draws a step of K-FAC that has ended, with a row per rank.
Timeline getTimeline(const KfacRun &run, int64_t ranks, llvm::StringRef title);

/// Reads the last whole step of a trace that `train --trace` wrote, with a row
/// per worker if there are several stages, otherwise per rank. An error says
/// what is wrong with the file.
llvm::Expected<Timeline> readTrace(llvm::StringRef text, llvm::StringRef file);

/// Returns the rows of both timelines, with a common scale of time.
Timeline layBeside(const Timeline &planned, const Timeline &measured);

void writeSvg(const Timeline &timeline, llvm::raw_ostream &os);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_TIMELINE_H

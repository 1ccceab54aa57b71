//===- Timeline.h - What was done when, as a drawing ------------*- C++ -*-===//
//
// A simulated step, or a measured one, as an SVG: a row a worker, with what it
// computes, and under that what it sends. Both kinds of step have the same
// colours and names, so that one can be laid beside the other.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_TIMELINE_H
#define HFTA_PLANNING_TIMELINE_H

#include "Hfta/Planning/KfacSimulation.h"
#include "Hfta/Planning/PipelineSimulation.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta::planning {

/// What a bar is; the order is that of the legend.
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
  // What is drawn under these:
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
  /// Of the worker's stages, from 0: those of later ones are paler.
  int64_t chunk = 0;
  std::string label; ///< drawn where there is room for it
  std::string title; ///< shown when pointed at
};

struct Timeline {
  std::string title;
  std::vector<std::string> rows;
  std::vector<TimelineBar> bars;
};

/// Adds the rows of another one below, each with these words before its name.
void appendRows(Timeline &timeline, Timeline other, const std::string &words);

/// Of a run that has ended.
Timeline getTimeline(const PipelineRun &run, llvm::StringRef title);

/// Of a step of K-FAC that has ended, a row a rank.
Timeline getTimeline(const KfacRun &run, int64_t ranks, llvm::StringRef title);

/// The last whole step of a trace as `train --trace` writes it, a row a worker
/// of several stages, else a row a rank. An error says what is wrong with the
/// file.
llvm::Expected<Timeline> readTrace(llvm::StringRef text, llvm::StringRef file);

/// The rows of both, in the same scale of time.
Timeline layBeside(const Timeline &planned, const Timeline &measured);

void writeSvg(const Timeline &timeline, llvm::raw_ostream &os);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_TIMELINE_H

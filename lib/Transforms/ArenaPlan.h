//===- ArenaPlan.h - When segments lie in the arena, and where --*- C++ -*-===//
//
// The arena is one region of memory that a schedule hands out to segments that
// needn't be in memory all the time. What uses them is a sequence of positions:
// tasks, or loops of tasks, in the order in which they run. A segment lies in
// the arena in *windows*, each from before its first use to after its last one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_ARENAPLAN_H
#define HFTA_LIB_TRANSFORMS_ARENAPLAN_H

#include "AllocateIntervals.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// What runs at one position with a segment.
struct ArenaUse {
  int64_t position;
  bool reads, writes;
  /// The hyper-parameter that says in which steps it takes place, for some
  /// copies; empty: in all.
  StringRef period = {};
};

/// A segment that the arena holds for some of the time.
struct ArenaSegment {
  int64_t number; ///< in the module's table
  int64_t bytes;  ///< in the arena: of all instances and of a turn's copies
  /// Whether it is in the store while it isn't here; else it is here from its
  /// first use to its last one.
  bool isSpilled;
  /// Whether what it holds is needed by other calls: parameters, not
  /// activations.
  bool isState;
  /// Whether it is to stay between its first two uses, if there is room for it.
  bool isHeld;
  /// What it holds at its first use, where no call before has left something.
  Contents initial;
  SmallVector<ArenaUse> uses; ///< by position, each once
};

/// A time in which a segment lies at one place.
struct ArenaWindow {
  int64_t segment;     ///< in the module's table
  int64_t first, last; ///< positions that use it
  Contents contents;   ///< what it begins with
  bool evicts;         ///< whether it is written to the store at its end
  StringRef period;    ///< of all its uses
  /// Positions in which the place is the window's: transfers have some time
  /// before and behind the uses.
  LiveInterval interval;
};

struct ArenaPlan {
  SmallVector<ArenaWindow> windows; ///< by their intervals' begin
  int64_t bytes = 0;                ///< of the arena
  /// The first position at which most bytes are in use.
  int64_t findFullest() const;
};

/// Windows for all uses within `capacity` bytes. What is to be held is, where
/// that fits. Each transfer is given the time of one position at least, where
/// that fits, then as much as fits; what is used again soon stays where it is
/// rather than that. If nothing fits, a
/// plan with the least that was found: its `bytes` tell how much.
ArenaPlan planArena(ArrayRef<ArenaSegment> segments, int64_t capacity);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_ARENAPLAN_H

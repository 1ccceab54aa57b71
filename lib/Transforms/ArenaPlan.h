//===- ArenaPlan.h - Times and places of segments in the arena --*- C++ -*-===//
//
// The arena is one region of memory that a schedule hands out to segments that
// needn't be in memory all the time. Their uses are at positions of a sequence:
// tasks, or loops of tasks, in the order in which they run. A segment has a
// place in the arena only during *windows*, intervals of this sequence, each
// from before its first use to after its last one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_ARENAPLAN_H
#define HFTA_LIB_TRANSFORMS_ARENAPLAN_H

#include "AllocateIntervals.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// The use of a segment at one position.
struct ArenaUse {
  int64_t position;
  bool reads, writes;
  /// The hyper-parameter that says in which steps the use takes place, for some
  /// copies; empty: in all.
  StringRef period = {};
};

/// A segment that the arena holds for some of the time.
struct ArenaSegment {
  int64_t number; ///< in the module's table
  int64_t bytes;  ///< in the arena: of all instances and of a turn's copies
  /// Whether the store keeps it while it isn't in the arena; else it is in the
  /// arena from its first use to its last one.
  bool isSpilled;
  /// Whether other calls need its contents: true for parameters, not for
  /// activations.
  bool isState;
  /// Whether it should stay between its first two uses, if there is room for
  /// it.
  bool isHeld;
  /// Its contents at its first use, if no earlier call has left any.
  Contents initial;
  SmallVector<ArenaUse> uses; ///< in order of position, each once
};

/// A time during which a segment lies at one place.
struct ArenaWindow {
  int64_t segment;     ///< in the module's table
  int64_t first, last; ///< positions that use it
  Contents contents;   ///< at its begin
  bool evicts;         ///< whether it is written to the store at its end
  StringRef period;    ///< if all its uses have the same
  /// The positions during which the place is reserved: transfers have some time
  /// before and after the uses.
  LiveInterval interval;
};

struct ArenaPlan {
  SmallVector<ArenaWindow> windows; ///< in order of their intervals' begin
  int64_t bytes = 0;                ///< the arena's size
  /// Returns the first position at which most bytes are in use.
  int64_t findFullest() const;
};

/// Plans windows for all uses within `capacity` bytes. Segments that should be
/// held are, where that fits. Each transfer is given at least the time of one
/// position, where that fits, then as much as fits; but before that, segments
/// that are used again soon stay where they are. If nothing fits, returns the
/// plan with the fewest bytes that was found, as its `bytes` show.
ArenaPlan planArena(ArrayRef<ArenaSegment> segments, int64_t capacity);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_ARENAPLAN_H

//===- ArenaPlan.h - Times and places of segments in the arena --*- C++ -*-===//
//
// The arena is one region of memory, shared by segments that needn't be in
// memory all the time. A *position* is the number of a task, or of a loop of
// tasks, in the order in which a schedule runs them. A segment has a place in
// the arena only during *windows*: intervals of positions, each of which covers
// some of the segment's uses and, before and after these, time for transfers.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_SPILL_ARENAPLAN_H
#define HFTA_LIB_TRANSFORMS_SPILL_ARENAPLAN_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Memory/AllocateIntervals.h"

namespace mlir::hfta {

/// A use of a segment at one position.
struct ArenaUse {
  int64_t position;
  bool reads, writes;
  /// For a use that doesn't take place in every step, the name of the
  /// hyper-parameter with its period (hfta.every); otherwise empty.
  StringRef period = {};
};

/// A segment that is in the arena for some of the time.
struct ArenaSegment {
  int64_t number; ///< its index in the module's `hfta.segments`
  int64_t bytes;  ///< size in the arena: all instances, for a turn's copies
  /// Whether the store holds the segment while it isn't in the arena. If not,
  /// the segment stays in the arena from its first use to its last one.
  bool isSpilled;
  /// Whether later calls need its contents: true for parameters, false for
  /// activations.
  bool isState;
  /// Whether it should stay in the arena between its first two uses, if there
  /// is room.
  bool isHeld;
  /// Its contents at the first use, unless the store has some.
  Contents initial;
  SmallVector<ArenaUse> uses; ///< by position, one at each
};

/// An interval of positions during which a segment has one place in the arena.
struct ArenaWindow {
  int64_t segment;     ///< its index in the module's `hfta.segments`
  int64_t first, last; ///< positions of its first and last use
  Contents contents;   ///< its contents at the first use
  bool evicts;         ///< whether its contents are evicted at the end
  StringRef period;    ///< the common period of its uses, if there is one
  /// The place's offset, and the positions for which it is reserved. These may
  /// begin before the first use and end after the last, so that transfers
  /// overlap with other tasks.
  LiveInterval interval;
};

struct ArenaPlan {
  SmallVector<ArenaWindow> windows; ///< by the first position of `interval`
  int64_t bytes = 0;                ///< the arena's size
  /// Returns the first of the positions at which the most bytes are in use.
  int64_t findFullest() const;
};

/// Plans windows that cover all uses within `capacity` bytes. Greedy: as far as
/// there is room, first lets segments with `isHeld` stay between their first
/// two uses, then gives each transfer one position to overlap with, then lets
/// segments stay between neighbouring uses instead of moving them, and then
/// gives transfers further positions. If even windows without overlap don't
/// fit, returns these; `bytes` of the plan then exceeds `capacity`.
ArenaPlan planArena(ArrayRef<ArenaSegment> segments, int64_t capacity);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SPILL_ARENAPLAN_H

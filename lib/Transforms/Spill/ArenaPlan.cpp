//===- ArenaPlan.cpp - Times and places of segments in the arena ----------===//

#include "Spill/ArenaPlan.h"

#include <tuple>

using namespace mlir;
using namespace mlir::hfta;

/// The most positions by which a fetch may precede its use, or an eviction may
/// follow it. More than a few hide no more latency, but take room from segments
/// that are used sooner.
static constexpr int64_t kMostTime = 4;

namespace {

/// Consecutive uses of a segment between which it stays in the arena. Each stay
/// becomes a window.
struct Stay {
  const ArenaSegment *segment;
  size_t begin, end;     ///< half-open range of indices into its uses
  int64_t ahead = 0;     ///< positions that the fetch has before the first use
  int64_t behind = 0;    ///< positions that the eviction has after the last use
  bool isMerged = false; ///< joined to an earlier stay, which replaces it
  int64_t getFirst() const { return segment->uses[begin].position; }
  int64_t getLast() const { return segment->uses[end - 1].position; }
  bool isWritten() const {
    return llvm::any_of(llvm::ArrayRef(segment->uses).slice(begin, end - begin),
                        [](const ArenaUse &use) { return use.writes; });
  }
  /// Returns the common period of its uses; empty if they differ.
  StringRef getPeriod() const {
    StringRef period = segment->uses[begin].period;
    for (size_t i = begin; i < end; ++i)
      if (segment->uses[i].period != period)
        return {};
    return period;
  }
  /// Whether the segment is written to the store at the end of the stay: it has
  /// changed, and its contents are needed later.
  bool evicts() const {
    return segment->isSpilled && isWritten() &&
           (segment->isState || end < segment->uses.size());
  }
  Contents getContents() const {
    return segment->isSpilled && (segment->isState || begin > 0)
               ? Contents::stored
               : segment->initial;
  }
};

class ArenaPlanner {
public:
  ArenaPlanner(ArrayRef<ArenaSegment> segments, int64_t capacity)
      : capacity(capacity) {
    for (const ArenaSegment &segment : segments)
      addStays(segment);
  }

  ArenaPlan plan() {
    holdWished();
    for (Stay &stay : stays)
      giveTime(stay);
    if (!fits())
      withdrawTime();
    if (fits()) {
      keepBetweenUses();
      giveMoreTime();
    }
    return get();
  }

private:
  /// Adds one stay for each use of a spilled segment, and one stay for all uses
  /// of any other segment.
  void addStays(const ArenaSegment &segment) {
    size_t count = segment.uses.size();
    for (size_t i = 0; i < count; ++i) {
      size_t end = segment.isSpilled ? i + 1 : count;
      stays.push_back({&segment, i, end});
      i = end - 1;
    }
  }

  /// Whether the fetch may begin one position earlier: it reads the store, and
  /// the segment's preceding use is before that position.
  bool canFetchAhead(const Stay &stay) const {
    const Stay *before = &stay;
    do {
      if (before == stays.begin())
        break;
      --before;
    } while (before->isMerged);
    bool isFirst = before == &stay || before->segment != stay.segment;
    int64_t earliest = isFirst ? 0 : before->getLast() + 1;
    return stay.getContents() == Contents::stored &&
           stay.getFirst() - stay.ahead > earliest;
  }

  LiveInterval getInterval(const Stay &stay) const {
    return {stay.segment->bytes, stay.getFirst() - stay.ahead,
            stay.getLast() + stay.behind};
  }

  int64_t allocate(SmallVectorImpl<LiveInterval> &intervals) const {
    SmallVector<LiveInterval *> all;
    for (const Stay &stay : stays)
      if (!stay.isMerged)
        intervals.push_back(getInterval(stay));
    for (LiveInterval &interval : intervals)
      all.push_back(&interval);
    return allocateIntervals(all);
  }
  int64_t countBytes() const {
    SmallVector<LiveInterval> intervals;
    return allocate(intervals);
  }
  bool fits() const { return countBytes() <= capacity; }

  void giveTime(Stay &stay) const {
    stay.ahead = 0;
    stay.ahead = canFetchAhead(stay) ? 1 : 0;
    stay.behind = stay.evicts() ? 1 : 0;
  }

  /// Removes the positions that transfers overlap with, largest segments first,
  /// until everything fits; tasks then wait for these transfers. Afterwards
  /// gives them back wherever they fit.
  void withdrawTime() {
    SmallVector<Stay *> bySize;
    for (Stay &stay : stays)
      bySize.push_back(&stay);
    llvm::sort(bySize, [](Stay *a, Stay *b) {
      return std::tie(b->segment->bytes, a) < std::tie(a->segment->bytes, b);
    });
    for (Stay *stay : bySize) {
      stay->ahead = stay->behind = 0;
      if (fits())
        break;
    }
    for (Stay *stay : bySize) {
      Stay before = *stay;
      giveTime(*stay);
      if (!fits())
        *stay = before;
    }
  }

  /// Joins the first two stays of segments with `isHeld` where that fits,
  /// smallest segments first.
  void holdWished() {
    SmallVector<size_t> gaps;
    for (size_t i = 0; i + 1 < stays.size(); ++i)
      if (stays[i].segment->isHeld && stays[i].begin == 0 &&
          stays[i].segment == stays[i + 1].segment)
        gaps.push_back(i);
    llvm::stable_sort(gaps, [&](size_t a, size_t b) {
      return stays[a].segment->bytes < stays[b].segment->bytes;
    });
    joinWhereItFits(gaps);
  }

  void joinWhereItFits(ArrayRef<size_t> gaps) {
    for (size_t gap : gaps) {
      SmallVector<Stay> before = stays;
      join(gap);
      if (!fits())
        stays = std::move(before);
    }
    llvm::erase_if(stays, [](const Stay &stay) { return stay.isMerged; });
  }

  /// Joins neighbouring stays of a segment with equal periods where that fits,
  /// which saves the eviction and the fetch between them. Takes the shortest
  /// gaps first: a gap's length is the cost, in bytes times positions, of each
  /// byte that isn't moved.
  void keepBetweenUses() {
    SmallVector<size_t> gaps;
    for (size_t i = 0; i + 1 < stays.size(); ++i)
      if (stays[i].segment == stays[i + 1].segment &&
          stays[i].getPeriod() == stays[i + 1].getPeriod())
        gaps.push_back(i);
    auto getLength = [&](size_t i) {
      return stays[i + 1].getFirst() - stays[i].getLast();
    };
    llvm::stable_sort(
        gaps, [&](size_t a, size_t b) { return getLength(a) < getLength(b); });
    joinWhereItFits(gaps);
  }

  /// Joins stay `gap` with the next one. If `gap` itself has been joined to
  /// earlier stays, extends the first of these.
  void join(size_t gap) {
    size_t first = gap;
    while (stays[first].isMerged)
      --first;
    Stay &next = stays[gap + 1];
    stays[first].end = std::max(stays[first].end, next.end);
    stays[first].behind =
        stays[first].evicts() ? std::min<int64_t>(next.behind, 1) : 0;
    next.isMerged = true;
  }

  /// Gives each transfer one more position where that fits, in kMostTime
  /// rounds. Starts from 0, because the eviction of a joined stay may have
  /// none.
  void giveMoreTime() {
    for (int64_t time = 0; time < kMostTime; ++time)
      for (Stay &stay : stays) {
        if (stay.evicts() && stay.behind == time)
          growIfItFits(stay.behind);
        if (stay.ahead == time && canFetchAhead(stay))
          growIfItFits(stay.ahead);
      }
  }

  void growIfItFits(int64_t &time) const {
    ++time;
    if (!fits())
      --time;
  }

  ArenaPlan get() const {
    ArenaPlan plan;
    SmallVector<LiveInterval> intervals;
    plan.bytes = allocate(intervals);
    for (auto [stay, interval] : llvm::zip_equal(stays, intervals))
      plan.windows.push_back({stay.segment->number, stay.getFirst(),
                              stay.getLast(), stay.getContents(), stay.evicts(),
                              stay.getPeriod(), interval});
    llvm::sort(plan.windows, [](const ArenaWindow &a, const ArenaWindow &b) {
      return std::tie(a.interval.first, a.segment) <
             std::tie(b.interval.first, b.segment);
    });
    return plan;
  }

  SmallVector<Stay> stays; ///< grouped by segment, in the order of uses
  int64_t capacity;
};

} // namespace

int64_t ArenaPlan::findFullest() const {
  int64_t fullest = 0, most = 0;
  for (const ArenaWindow &begun : windows) {
    int64_t position = begun.interval.first, inUse = 0;
    for (const ArenaWindow &window : windows)
      if (window.interval.first <= position && position <= window.interval.last)
        inUse += window.interval.bytes;
    if (inUse > most) {
      most = inUse;
      fullest = position;
    }
  }
  return fullest;
}

ArenaPlan hfta::planArena(ArrayRef<ArenaSegment> segments, int64_t capacity) {
  return ArenaPlanner(segments, capacity).plan();
}

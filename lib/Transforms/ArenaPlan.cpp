//===- ArenaPlan.cpp - When segments lie in the arena, and where ----------===//

#include "ArenaPlan.h"

#include <tuple>

using namespace mlir;
using namespace mlir::hfta;

/// Positions that a fetch may begin before its use, and that an eviction may
/// take behind it: more than a few hide no more, and crowd out what is used
/// sooner.
static constexpr int64_t kMostTime = 4;

namespace {

/// A run of a segment's uses between which it stays in the arena.
struct Stay {
  const ArenaSegment *segment;
  size_t begin, end;     ///< of the segment's uses
  int64_t ahead = 0;     ///< positions between the fetch and the first use
  int64_t behind = 0;    ///< positions that an eviction has after the last
  bool isMerged = false; ///< into the one before it
  int64_t getFirst() const { return segment->uses[begin].position; }
  int64_t getLast() const { return segment->uses[end - 1].position; }
  bool isWritten() const {
    return llvm::any_of(llvm::ArrayRef(segment->uses).slice(begin, end - begin),
                        [](const ArenaUse &use) { return use.writes; });
  }
  /// Of uses in certain steps; empty if some are in others.
  StringRef getPeriod() const {
    StringRef period = segment->uses[begin].period;
    for (size_t i = begin; i < end; ++i)
      if (segment->uses[i].period != period)
        return {};
    return period;
  }
  /// What nothing reads any more isn't kept.
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
  /// Of what isn't stored one stay has all uses.
  void addStays(const ArenaSegment &segment) {
    size_t count = segment.uses.size();
    for (size_t i = 0; i < count; ++i) {
      size_t end = segment.isSpilled ? i + 1 : count;
      stays.push_back({&segment, i, end});
      i = end - 1;
    }
  }

  /// Whether the fetch may begin a position earlier: not before the segment's
  /// uses that come before.
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

  /// Takes transfers their time, the largest first, until all fits: tasks wait
  /// for these then. Some have been in vain and get it back.
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

  /// Joins the first two stays of what is to be held, the smallest first.
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

  /// Joins neighbouring stays of a segment, of the same steps, where both
  /// transfers between them can be spared, those first that keep the fewest
  /// bytes for the shortest time for each byte that isn't moved.
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

  /// Stay `gap` and the one behind it become one, in the place of the first of
  /// all that were joined with it.
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

  /// A position more for each transfer, then another one. What has been joined
  /// may have none yet behind it.
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

  SmallVector<Stay> stays; ///< of each segment in a row
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

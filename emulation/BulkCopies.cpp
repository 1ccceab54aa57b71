//===- BulkCopies.cpp - Bulk copies of tensors, and mbarriers -------------===//

#include "BulkCopies.h"
#include "Fibers.h"
#include "TensorMaps.h"
#include "WarpGroups.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <vector>

using namespace bulk_copies;
using tensor_maps::Map;

/// The most arrivals of a phase.
static constexpr uint32_t kMostArrivals = (1 << 20) - 1;
/// The most bytes that an mbarrier can expect.
static constexpr uint32_t kMostBytes = (1 << 20) - 1;

namespace {
struct Barrier {
  uint32_t arrivals;  ///< the arrivals that complete a phase
  uint32_t pending;   ///< arrivals that the current phase still lacks
  int64_t bytes;      ///< expected bytes that haven't come yet
  uint64_t phase = 0; ///< the number of phases that are over

  /// Begins another phase if the current one is over.
  void advance() {
    if (pending > 0 || bytes != 0)
      return;
    pending = arrivals;
    ++phase;
  }
};
struct Copy {
  void *to;
  Map map;
  int32_t coordinates[tensor_maps::kMostDimensions];
  Barrier *barrier;
};
/// A phase for which a thread waits.
struct Wait {
  Barrier *barrier;
  uint64_t phase;
};
} // namespace

static std::map<const void *, Barrier> barriers;
static std::vector<Copy> begun;

static Barrier &find(const void *place) {
  auto found = barriers.find(place);
  if (found == barriers.end())
    fibers::fail("uses an mbarrier that isn't initialised");
  return found->second;
}

//===----------------------------------------------------------------------===//
// Mbarriers
//===----------------------------------------------------------------------===//

void bulk_copies::initialise(void *place, uint32_t arrivals) {
  if (reinterpret_cast<uintptr_t>(place) % sizeof(uint64_t) != 0 ||
      arrivals == 0 || arrivals > kMostArrivals)
    fibers::fail("initialises an mbarrier that there can't be");
  barriers[place] = {arrivals, arrivals, 0};
}

static void arriveAt(Barrier &barrier, uint32_t arrivals) {
  if (arrivals == 0 || arrivals > barrier.pending)
    fibers::fail("has more arrivals at an mbarrier than a phase has");
  barrier.pending -= arrivals;
  barrier.advance();
}

void bulk_copies::arrive(void *place, uint32_t arrivals) {
  arriveAt(find(place), arrivals);
  // Other threads run first: if this arrival came too early, they notice it.
  fibers::yield();
}

void bulk_copies::arriveExpecting(void *place, uint32_t bytes) {
  Barrier &barrier = find(place);
  if (bytes > kMostBytes)
    fibers::fail("expects more bytes at an mbarrier than that can count");
  barrier.bytes += bytes;
  arriveAt(barrier, 1);
}

/// Makes the barrier's copies. An access to unmapped memory leaves this
/// function by a jump (longjmp): `begun` must be whole at that point.
static void makeCopies(Barrier &barrier) {
  auto isOfBarrier = [&](const Copy &copy) { return copy.barrier == &barrier; };
  int64_t bytes = 0;
  for (const Copy &copy : begun) {
    if (!isOfBarrier(copy))
      continue;
    tensor_maps::copyBox(copy.map, copy.coordinates, copy.to);
    bytes += int64_t(copy.map.getBoxBytes());
  }
  begun.erase(std::remove_if(begun.begin(), begun.end(), isOfBarrier),
              begun.end());
  barrier.bytes -= bytes;
  if (barrier.pending == 0 && barrier.bytes < 0)
    fibers::setFailure("copies more bytes than an mbarrier expects");
  barrier.advance();
}

static bool isOver(void *argument) {
  auto *wait = static_cast<Wait *>(argument);
  if (wait->barrier->phase == wait->phase)
    makeCopies(*wait->barrier);
  return wait->barrier->phase != wait->phase;
}

void bulk_copies::wait(void *place, uint32_t parity) {
  Barrier &barrier = find(place);
  if (parity > 1)
    fibers::fail("waits for an mbarrier's parity that is neither 0 nor 1");
  if (barrier.phase % 2 == parity) {
    Wait wait = {&barrier, barrier.phase};
    fibers::waitUntil(isOver, &wait);
  }
  warp_groups::fence();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void bulk_copies::begin(void *to, const void *description, void *place,
                        uint32_t rank, int32_t first, int32_t second,
                        int32_t third, int32_t fourth, int32_t fifth) {
  Copy copy = {to, {}, {first, second, third, fourth, fifth}, &find(place)};
  if (!tensor_maps::decode(description, copy.map))
    fibers::fail("copies by what is no tensor map");
  if (copy.map.rank != rank)
    fibers::fail("copies with fewer or more coordinates than a tensor has");
  if (reinterpret_cast<uintptr_t>(to) % kAlignment != 0)
    fibers::fail("copies a box to a place that isn't aligned to 128 bytes");
  std::memset(to, 0xFF, copy.map.getBoxBytes());
  begun.push_back(copy);
}

bool bulk_copies::areMade() {
  return begun.empty() &&
         std::all_of(barriers.begin(), barriers.end(),
                     [](const auto &own) { return own.second.bytes == 0; });
}

void bulk_copies::forget() {
  begun.clear();
  barriers.clear();
}

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

/// The most arrivals that a phase can have; PTX's limit.
static constexpr uint32_t kMostArrivals = (1 << 20) - 1;
/// The most bytes that an mbarrier can expect at once; PTX's limit.
static constexpr uint32_t kMostBytes = (1 << 20) - 1;

namespace {
struct Barrier {
  uint32_t arrivals;  ///< arrivals of each phase
  uint32_t pending;   ///< arrivals that the current phase still needs
  int64_t bytes;      ///< expected bytes minus copied bytes; negative if copies
                      ///< came before the bytes were announced
  uint64_t phase = 0; ///< the number of the current phase, from 0

  /// Begins the next phase if the current one has all arrivals and bytes.
  void advance() {
    if (pending > 0 || bytes != 0)
      return;
    pending = arrivals;
    ++phase;
  }
};
/// A copy that was begun.
struct Copy {
  void *to;
  Map map;
  int32_t coordinates[tensor_maps::kMostDimensions];
  Barrier *barrier;
};
/// A phase of an mbarrier that a thread waits for.
struct Wait {
  Barrier *barrier;
  uint64_t phase;
};
} // namespace

static std::map<const void *, Barrier> barriers; ///< by address
static std::vector<Copy> begun; ///< copies that aren't made yet

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
  // Let all other threads run first, so that they see the data as it is now. If
  // this arrival came too early, they compute wrong results.
  fibers::yield();
}

void bulk_copies::arriveExpecting(void *place, uint32_t bytes) {
  Barrier &barrier = find(place);
  if (bytes > kMostBytes)
    fibers::fail("expects more bytes at an mbarrier than that can count");
  barrier.bytes += bytes;
  arriveAt(barrier, 1);
}

/// Makes the barrier's copies. A copy that reads unmapped memory leaves this
/// function by siglongjmp, from the signal handler in Kernels.cpp. So `begun`
/// is changed only after all copies are made: `forget` can then still clear it.
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

/// Returns whether the phase of a Wait is over. If it isn't, first makes the
/// barrier's copies, as nothing else can go on.
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

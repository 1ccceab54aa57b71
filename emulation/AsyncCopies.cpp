//===- AsyncCopies.cpp - Asynchronous copies (cp.async) -------------------===//

#include "AsyncCopies.h"
#include "Fibers.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace async_copies;

namespace {
struct Copy {
  void *to;
  const void *from;
  uint32_t count;
  uint64_t group; ///< the number of the copy's group, from 0
};
struct Thread {
  std::vector<Copy> begun; ///< copies that aren't made yet
  uint64_t groups;         ///< groups that were committed
};
} // namespace

static Thread threads[fibers::kMost];

void async_copies::begin(void *to, const void *from, uint32_t count) {
  Thread &thread = threads[fibers::getThread()];
  std::memset(to, 0xFF, kBytes);
  thread.begun.push_back({to, from, std::min(count, kBytes), thread.groups});
}

void async_copies::commit() { ++threads[fibers::getThread()].groups; }

// A copy that reads unmapped memory leaves this function by siglongjmp, from
// the signal handler in Kernels.cpp. So `begun` is changed only after all
// copies are made: `forget` can then still clear it.
void async_copies::wait(uint32_t left) {
  Thread &thread = threads[fibers::getThread()];
  auto isLeft = [&](const Copy &copy) {
    return copy.group + left >= thread.groups;
  };
  for (const Copy &copy : thread.begun) {
    if (isLeft(copy))
      continue;
    unsigned char bytes[kBytes] = {};
    if (copy.count > 0)
      std::memcpy(bytes, copy.from, copy.count);
    std::memcpy(copy.to, bytes, kBytes);
  }
  auto isMade = [&](const Copy &copy) { return !isLeft(copy); };
  thread.begun.erase(
      std::remove_if(thread.begun.begin(), thread.begun.end(), isMade),
      thread.begun.end());
}

void async_copies::forget() {
  for (Thread &thread : threads) {
    thread.begun.clear();
    thread.groups = 0;
  }
}

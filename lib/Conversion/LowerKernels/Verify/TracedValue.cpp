//===- TracedValue.cpp - Symbolic values of a traced kernel ---------------===//

#include "Verify/TracedValue.h"

using namespace mlir;
using namespace mlir::hfta;

/// Releases a long chain in a loop, as recursion could overflow the stack.
Running::~Running() {
  std::shared_ptr<Running> next = std::move(before);
  while (next && next.use_count() == 1)
    next = std::move(next->before);
}

void TracedElement::add(const TracedElement &other) {
  llvm::append_range(reads, other.reads);
  for (const std::shared_ptr<Running> &running : other.running)
    if (!llvm::is_contained(this->running, running))
      this->running.push_back(running);
}

TracedElement TracedMemory::read(int64_t address) const {
  auto found = stored.find(address);
  if (isPanel && found != stored.end())
    return found->second;
  TracedElement element;
  element.reads.push_back(
      {this, address,
       found == stored.end() ? nullptr : found->second.running.front()});
  return element;
}

namespace {
class Load : public TracedValue {
public:
  /// An element is read from `memory` when it is asked for, so that must be
  /// before anything else is stored there.
  Load(const TracedMemory &memory, int64_t address)
      : memory(memory), address(address) {}
  TracedElement get(int64_t lane) const override {
    return memory.read(address + lane);
  }

private:
  const TracedMemory &memory;
  int64_t address;
};

class Broadcast : public TracedValue {
public:
  explicit Broadcast(TracedRef scalar) : scalar(std::move(scalar)) {}
  TracedElement get(int64_t) const override { return scalar->get(0); }

private:
  TracedRef scalar;
};

class Shuffle : public TracedValue {
public:
  Shuffle(TracedRef first, TracedRef second, int64_t firstLanes,
          ArrayRef<int64_t> mask)
      : first(std::move(first)), second(std::move(second)),
        firstLanes(firstLanes), mask(mask) {}
  TracedElement get(int64_t lane) const override {
    int64_t from = mask[lane];
    if (from < 0)
      return {};
    return from < firstLanes ? first->get(from)
                             : second->get(from - firstLanes);
  }

private:
  TracedRef first, second;
  int64_t firstLanes;
  SmallVector<int64_t> mask;
};

class Elements : public TracedValue {
public:
  explicit Elements(ArrayRef<TracedRef> scalars) : scalars(scalars) {}
  TracedElement get(int64_t lane) const override {
    return scalars[lane]->get(0);
  }

private:
  SmallVector<TracedRef> scalars;
};

class Start : public TracedValue {
public:
  Start(TracedRef value, int64_t sum) : value(std::move(value)), sum(sum) {}
  TracedElement get(int64_t lane) const override {
    TracedElement element = value->get(lane);
    llvm::erase_if(element.reads, [&](const TracedRead &read) {
      return !read.held || read.held->sum != sum;
    });
    return element;
  }

private:
  TracedRef value;
  int64_t sum;
};

class Lanes : public TracedValue {
public:
  explicit Lanes(SmallVector<TracedElement> lanes) : lanes(std::move(lanes)) {}
  TracedElement get(int64_t lane) const override { return lanes[lane]; }

private:
  SmallVector<TracedElement> lanes;
};
} // namespace

TracedRef hfta::traceLoad(const TracedMemory &memory, int64_t address) {
  return std::make_shared<Load>(memory, address);
}

TracedRef hfta::traceBroadcast(TracedRef scalar) {
  return std::make_shared<Broadcast>(std::move(scalar));
}

TracedRef hfta::traceShuffle(TracedRef first, TracedRef second,
                             int64_t firstLanes, ArrayRef<int64_t> mask) {
  return std::make_shared<Shuffle>(std::move(first), std::move(second),
                                   firstLanes, mask);
}

TracedRef hfta::traceElements(ArrayRef<TracedRef> scalars) {
  return std::make_shared<Elements>(scalars);
}

TracedRef hfta::traceStart(TracedRef value, int64_t sum) {
  return std::make_shared<Start>(std::move(value), sum);
}

TracedRef hfta::traceLanes(SmallVector<TracedElement> lanes) {
  return std::make_shared<Lanes>(std::move(lanes));
}

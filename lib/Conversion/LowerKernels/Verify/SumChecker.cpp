//===- SumChecker.cpp - Checking terms against an order -------------------===//

#include "Verify/SumChecker.h"
#include "Hfta/Target/ReferenceModel.h"
#include "Plan/LoopPlan.h"

using namespace mlir;
using namespace mlir::hfta;

/// The most terms of a sum that is checked; longer sums would take too long.
static constexpr int64_t kMostTerms = 1 << 16;
/// The bit of a read that has the same address for all terms, such as a factor
/// of the whole sum.
static constexpr uint64_t kSamePlace = uint64_t(1) << 63;

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

SumChecker::SumChecker(func::FuncOp kernel, ArrayRef<SumOrderAttr> orders)
    : kernel(kernel) {
  for (SumOrderAttr order : orders) {
    sums.push_back({order, {}, nullptr});
    tooLong |= order.getNumTerms() > kMostTerms || order.getReads().size() > 63;
    anyLanes |= order.getLanes() > 1;
  }
  if (tooLong)
    return;
  for (Sum &sum : sums) {
    ArrayRef<int64_t> axes = sum.order.getAxes();
    SmallVector<int64_t> place(axes.size(), 0);
    sum.distances.resize(sum.order.getReads().size());
    for (int64_t term = 0; term < sum.order.getNumTerms(); ++term) {
      for (auto [read, distances] :
           llvm::zip(sum.order.getReads(), sum.distances))
        distances.push_back(read.compose(place).front());
      for (size_t axis = axes.size(); axis-- > 0;) {
        if (++place[axis] < axes[axis])
          break;
        place[axis] = 0;
      }
    }
    if (sum.order.getLanes() > 1)
      sum.tree = buildTree(sum.order);
  }
}

LogicalResult SumChecker::checkLanes() {
  using Rule = ReferenceModel::Sums;
  for (auto [number, sum] : llvm::enumerate(sums)) {
    int64_t row = sum.order.getAxes().back();
    int64_t lanes = sum.order.getLanes(), vectors = sum.order.getVectors();
    bool isRow = lanes == Rule::kRowLanes && row >= Rule::kMinReducedRow &&
                 vectors == (row >= Rule::kLongRow ? Rule::kRowSums : 1);
    if (!isRow && (lanes > 1 || vectors > 1))
      return kernel.emitError()
             << "sum " << number << " has " << lanes << " lanes and " << vectors
             << " vectors along a row of " << row
             << ", but the rule for all targets has others";
  }
  return success();
}

/// Returns the tree in which the lanes' terms are combined in halves, as the
/// order describes.
SumChecker::TreeRef SumChecker::buildTree(SumOrderAttr order) {
  int64_t row = order.getAxes().back(), rows = order.getNumTerms() / row;
  int64_t lanes = order.getLanes(), vectors = order.getVectors();
  int64_t full = row / lanes * lanes;
  auto makeLane = [&](int64_t begin, int64_t end, int64_t step) {
    auto lane = std::make_shared<Tree>();
    for (int64_t number = 0; number < rows; ++number)
      for (int64_t term = begin; term < end; term += step)
        lane->terms.push_back(number * row + term);
    return lane;
  };
  auto join = [](TreeRef left, TreeRef right) {
    return std::make_shared<Tree>(Tree{{}, std::move(left), std::move(right)});
  };
  SmallVector<TreeRef> parts;
  for (int64_t part = 0; part < lanes * vectors; ++part)
    parts.push_back(makeLane(part, full, lanes * vectors));
  auto halve = [&] {
    size_t half = parts.size() / 2;
    for (size_t i = 0; i < half; ++i)
      parts[i] = join(parts[i], parts[half + i]);
    parts.resize(half);
  };
  while (static_cast<int64_t>(parts.size()) > lanes)
    halve();
  int64_t begin = full;
  for (int64_t width : splitIntoVectors(row % lanes, lanes)) {
    while (static_cast<int64_t>(parts.size()) > width)
      halve();
    for (int64_t lane = 0; lane < width; ++lane)
      parts[lane] =
          join(parts[lane], makeLane(begin + lane, begin + lane + 1, 1));
    begin += width;
  }
  while (parts.size() > 1)
    halve();
  return parts.front();
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

bool SumChecker::keepReads(const Sum &sum, const Reads &first,
                           const Reads &reads, int64_t term,
                           SmallVectorImpl<uint64_t> &kept) {
  if (reads.size() != first.size() ||
      (!sum.distances.empty() &&
       term >= static_cast<int64_t>(sum.distances.front().size())))
    return false;
  for (auto [from, read, bits] : llvm::zip(first, reads, kept)) {
    if (from.memory != read.memory)
      return false;
    int64_t distance = read.address - from.address;
    if (distance != 0)
      bits &= ~kSamePlace;
    for (auto [number, distances] : llvm::enumerate(sum.distances))
      if (distances[term] != distance)
        bits &= ~(uint64_t(1) << number);
    if (bits == 0)
      return false;
  }
  return true;
}

static SmallVector<uint64_t, 2> keepAll(size_t reads, size_t stated) {
  return SmallVector<uint64_t, 2>(reads,
                                  kSamePlace | ((uint64_t(1) << stated) - 1));
}

LogicalResult SumChecker::addTerm(Operation &op, int64_t number, int64_t result,
                                  ArrayRef<TracedElement> operands,
                                  TracedElement &element) {
  const Sum &sum = sums[number];
  Reads reads;
  SmallVector<std::shared_ptr<Running>, 1> running;
  auto addRunning = [&](const std::shared_ptr<Running> &value) {
    bool isSame = value && value->sum == number;
    if (isSame && value->result == result &&
        !llvm::is_contained(running, value))
      running.push_back(value);
    return isSame;
  };
  for (const TracedElement &operand : operands) {
    for (const TracedRead &read : operand.reads)
      if (!addRunning(read.held))
        reads.push_back({read.memory, read.address, nullptr});
    for (const std::shared_ptr<Running> &value : operand.running)
      addRunning(value);
  }
  if (running.size() > 1 || (!running.empty() && running.front()->isCombined))
    return op.emitOpError() << "combines parts of sum " << number
                            << " that its order doesn't combine";
  auto next = std::make_shared<Running>();
  if (running.empty()) {
    next->sum = number;
    next->result = result;
    next->kept = keepAll(reads.size(), sum.distances.size());
    next->first = std::make_shared<Reads>(reads);
  } else {
    const Running &before = *running.front();
    next->sum = before.sum;
    next->result = before.result;
    next->terms = before.terms;
    next->first = before.first;
    next->kept = before.kept;
    if (sum.order.getLanes() == 1 &&
        !keepReads(sum, *next->first, reads, next->terms, next->kept))
      return op.emitOpError()
             << "adds a wrong term to sum " << number << ", expected term "
             << next->terms << " of its order";
  }
  ++next->terms;
  if (sum.order.getLanes() > 1) {
    next->last = std::move(reads);
    next->before = running.empty() ? nullptr : running.front();
  }
  element.running.push_back(std::move(next));
  return success();
}

LogicalResult SumChecker::combine(Operation &op, int64_t number,
                                  ArrayRef<TracedElement> operands,
                                  TracedElement &element) {
  auto combined = std::make_shared<Running>();
  combined->sum = number;
  combined->isCombined = true;
  std::shared_ptr<Running> *sides[] = {&combined->left, &combined->right};
  for (auto [side, operand] : llvm::zip(sides, operands))
    for (const std::shared_ptr<Running> &value : operand.running) {
      if (value->sum != number)
        continue;
      if (*side)
        return op.emitOpError() << "combines parts of sum " << number
                                << " that its order doesn't combine";
      *side = value;
    }
  element.running.push_back(std::move(combined));
  return success();
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

bool SumChecker::matches(const Sum &sum, const Running *running,
                         const Tree &tree, const Reads &first,
                         SmallVectorImpl<uint64_t> &kept) const {
  if (!running)
    return false;
  if (tree.left)
    return running->isCombined &&
           matches(sum, running->left.get(), *tree.left, first, kept) &&
           matches(sum, running->right.get(), *tree.right, first, kept);
  if (running->isCombined ||
      running->terms != static_cast<int64_t>(tree.terms.size()))
    return false;
  for (int64_t term : llvm::reverse(tree.terms)) {
    if (!keepReads(sum, first, running->last, term, kept))
      return false;
    running = running->before.get();
  }
  return true;
}

/// Returns whether each read of the order has been seen.
bool SumChecker::hasAllReads(const Sum &sum, ArrayRef<uint64_t> kept) const {
  uint64_t seen = 0;
  for (uint64_t bits : kept)
    seen |= bits;
  return losesReads ||
         llvm::all_of(llvm::seq<size_t>(0, sum.distances.size()),
                      [&](size_t read) { return seen >> read & 1; });
}

bool SumChecker::isComplete(const Sum &sum, const Running &running) const {
  if (!sum.tree)
    return !running.isCombined && running.terms == sum.order.getNumTerms() &&
           hasAllReads(sum, running.kept);
  // The outermost combination is that of the initial value with all lanes.
  if (!running.isCombined || running.left || !running.right)
    return false;
  const Running *leaf = running.right.get();
  while (leaf && leaf->isCombined)
    leaf = leaf->left.get();
  if (!leaf)
    return false;
  SmallVector<uint64_t> kept(
      keepAll(leaf->first->size(), sum.distances.size()));
  return matches(sum, running.right.get(), *sum.tree, *leaf->first, kept) &&
         hasAllReads(sum, kept);
}

LogicalResult SumChecker::checkComplete(const Running &running) {
  Sum &sum = sums[running.sum];
  sum.isStored = true;
  if (isComplete(sum, running))
    return success();
  InFlightDiagnostic error = kernel.emitOpError()
                             << "stores sum " << running.sum;
  if (sum.tree)
    return error << " with other lanes than its order has";
  return error << " with " << running.terms << " of the "
               << sum.order.getNumTerms() << " terms of its order";
}

LogicalResult SumChecker::store(TracedMemory &memory, int64_t address,
                                TracedElement element) {
  auto found = memory.stored.find(address);
  if (!memory.isPanel && found != memory.stored.end())
    for (const std::shared_ptr<Running> &old : found->second.running) {
      bool goesOn = llvm::any_of(element.running,
                                 [&](const std::shared_ptr<Running> &running) {
                                   return running->sum == old->sum;
                                 });
      if (!goesOn && failed(checkComplete(*old)))
        return failure();
    }
  if (!element.running.empty() || memory.isPanel)
    memory.stored[address] = std::move(element);
  else
    memory.stored.erase(address);
  return success();
}

LogicalResult SumChecker::checkStored(const TracedMemory &memory) {
  for (const auto &stored : memory.stored)
    for (const std::shared_ptr<Running> &running : stored.second.running)
      if (failed(checkComplete(*running)))
        return failure();
  return success();
}

LogicalResult SumChecker::checkAll() {
  for (auto [number, sum] : llvm::enumerate(sums))
    if (!sum.isStored)
      return kernel.emitOpError() << "doesn't store sum " << number;
  return success();
}

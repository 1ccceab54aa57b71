//===- MeasuredKfac.cpp - K-FAC costs from measured tasks -----------------===//

#include "Hfta/Planning/Kfac/MeasuredKfac.h"

#include "Hfta/Support/TaskNames.h"
#include "Kfac/KfacStep.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

KfacCosts KfacRates::getCosts() const {
  KfacCosts costs;
  costs.invert = makeMeasuredInversionCost(inversions);
  costs.reduceFactors = reduceFactors;
  costs.reduceGradients = reduceGradients;
  costs.broadcast = [message = message](int64_t ranks) {
    TransferCost broadcast = message;
    broadcast.secondsPerElement *=
        static_cast<double>(std::max<int64_t>(ranks - 1, 0));
    return broadcast;
  };
  costs.isOverlapped = isOverlapped;
  costs.isByBlocks = true;
  costs.bytesPerElement = bytesPerElement;
  return costs;
}

namespace {

class KfacMeasurer {
public:
  KfacMeasurer(const MeasuredCosts &measured, const KfacWorkload &workload,
               KfacModel &model, KfacRates &rates);

  llvm::Error measure();

private:
  /// Returns the seconds that one rank would need for a part's tasks of a
  /// block, each run once for all copies, whichever ranks they were measured
  /// on; nothing if there are no such tasks.
  std::optional<double> get(llvm::StringRef part, int64_t block) const;
  /// Returns the sum of the part's seconds over all blocks, and over tasks that
  /// belong to no block; nothing if there are no such tasks.
  std::optional<double> getAll(llvm::StringRef part) const;
  llvm::Error checkBlocks() const;
  void measurePass(int64_t block, bool isForward);
  void measureMeans(int64_t block);
  void measurePrecondition(int64_t block);
  void measureUpdate();
  void measureSums();
  void measureInversions();
  template <typename Element, typename Seconds>
  static void share(const std::vector<Element *> &among, double seconds,
                    Seconds member);

  const MeasuredCosts &measured;
  const KfacWorkload &workload;
  KfacModel &model;
  KfacRates &rates;
  /// The measured tasks, sorted so that results don't depend on the hash
  /// table's order.
  std::map<std::string, MeasuredTask> byName;
  /// The seconds of tasks, by part and block.
  std::map<std::pair<std::string, int64_t>, double> tasks;
  /// The factor from one measured micro-batch to a rank's share of a step.
  double microBatches;
};

} // namespace

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

static constexpr int64_t kNoBlock = -1;

/// Splits a task's name: "invert.3.on_0" into the part "invert" and block 3.
static std::pair<llvm::StringRef, int64_t> splitName(llvm::StringRef name) {
  auto [part, rest] = name.split('.');
  int64_t block = kNoBlock;
  if (rest.split('.').first.getAsInteger(10, block) || block < 0)
    block = kNoBlock;
  return {part, block};
}

KfacMeasurer::KfacMeasurer(const MeasuredCosts &measured,
                           const KfacWorkload &workload, KfacModel &model,
                           KfacRates &rates)
    : measured(measured), workload(workload), model(model), rates(rates),
      microBatches(static_cast<double>(measured.microBatches) *
                   static_cast<double>(workload.batch) /
                   static_cast<double>(measured.batch) /
                   static_cast<double>(workload.ranks)) {
  for (const auto &task : measured.tasks)
    byName[task.getKey().str()] = task.getValue();
  for (const auto &[name, task] : byName) {
    // If the number of copies is unknown, each run was for all copies.
    double times = task.copies > 0
                       ? task.copies / static_cast<double>(workload.copies)
                       : task.runs;
    auto [part, block] = splitName(name);
    tasks[{part.str(), block}] +=
        times > 0 ? task.seconds / times : task.seconds;
  }
}

std::optional<double> KfacMeasurer::get(llvm::StringRef part,
                                        int64_t block) const {
  auto known = tasks.find({part.str(), block});
  return known == tasks.end() ? std::nullopt : std::optional(known->second);
}

std::optional<double> KfacMeasurer::getAll(llvm::StringRef part) const {
  std::optional<double> sum;
  for (const auto &[name, seconds] : tasks)
    if (name.first == part)
      sum = sum.value_or(0) + seconds;
  return sum;
}

llvm::Error KfacMeasurer::checkBlocks() const {
  auto blocks = static_cast<int64_t>(model.blocks.size());
  for (const auto &[name, seconds] : tasks)
    if (name.first == parts::kPreconditionRows)
      return llvm::createStringError(
          "tasks: '" + name.first + "." + llvm::Twine(name.second) +
          "' works with rows, as steps of one micro-batch do: expected costs "
          "of a program with several");
  for (int64_t block = 0; block < blocks; ++block)
    if (!get(parts::kForward, block) && !get(parts::kForwardMoments, block))
      return llvm::createStringError(
          "tasks: expected one with the name 'forward." + llvm::Twine(block) +
          "', for each of the program's " + llvm::Twine(blocks) + " blocks");
  for (const auto &[name, seconds] : tasks)
    if (name.second >= blocks)
      return llvm::createStringError(
          "tasks: expected those of the program's " + llvm::Twine(blocks) +
          " blocks, got '" + name.first + "." + llvm::Twine(name.second) + "'");
  return llvm::Error::success();
}

/// Replaces the estimates in `member` by measured seconds, which are divided in
/// proportion to the estimates, or equally if all of them are zero.
template <typename Element, typename Seconds>
void KfacMeasurer::share(const std::vector<Element *> &among, double seconds,
                         Seconds member) {
  double whole = 0;
  for (Element *element : among)
    whole += element->*member;
  for (Element *element : among)
    element->*member = whole > 0 ? seconds * (element->*member / whole)
                                 : seconds / static_cast<double>(among.size());
}

//===----------------------------------------------------------------------===//
// The tasks of a rank
//===----------------------------------------------------------------------===//

/// Sets the times of a block's forward or backward and of its moments. The
/// moments take the time by which the task's version with moments is longer. If
/// only that version was measured, its time is divided in proportion to the
/// estimates.
void KfacMeasurer::measurePass(int64_t block, bool isForward) {
  std::vector<KfacFactor *> factors;
  double estimated = 0;
  for (KfacFactor &factor : model.factors)
    if (factor.block == block && factor.isInput == isForward) {
      factors.push_back(&factor);
      estimated += factor.moment;
    }
  KfacBlock &own = model.blocks[block];
  double &pass = isForward ? own.forward : own.backward;
  double plain = 0, moments = 0;
  bool isMeasured = false, hasMoments = false;
  auto addBoth = [&](llvm::StringRef part) {
    std::optional<double> first = get(part, block);
    std::optional<double> second = get(parts::getMomentsPart(part), block);
    isMeasured |= first || second;
    hasMoments |= second.has_value();
    if (first && second) {
      plain += *first;
      moments += std::max(0.0, *second - *first);
    } else if (second) {
      double share = pass + estimated > 0 ? pass / (pass + estimated) : 1;
      plain += share * *second;
      moments += (1 - share) * *second;
    } else {
      plain += first.value_or(0);
    }
  };
  if (isForward) {
    addBoth(parts::kForward);
  } else {
    addBoth(parts::kBackward);
    addBoth(parts::kBackwardWeight);
  }
  if (std::optional<double> besides = get(
          isForward ? parts::kSharedMoments : parts::kSampledMoments, block)) {
    moments += *besides;
    hasMoments = true;
  }
  if (isMeasured)
    pass = plain * microBatches;
  if (hasMoments)
    share(factors, moments * microBatches, &KfacFactor::moment);
}

void KfacMeasurer::measureMeans(int64_t block) {
  std::vector<KfacFactor *> factors;
  for (KfacFactor &factor : model.factors)
    if (factor.block == block)
      factors.push_back(&factor);
  if (std::optional<double> seconds = get(parts::kCurvature, block))
    share(factors, *seconds, &KfacFactor::mean);
}

void KfacMeasurer::measurePrecondition(int64_t block) {
  std::vector<KfacLayer *> layers;
  for (KfacLayer &layer : model.layers)
    if (layer.gradientElements > 0 && model.getBlock(layer) == block)
      layers.push_back(&layer);
  if (std::optional<double> seconds = get(parts::kPrecondition, block))
    share(layers, *seconds, &KfacLayer::precondition);
}

/// Sets the time of work that each rank does after the shared work: updates,
/// and the running statistics of all of the step's micro-batches.
void KfacMeasurer::measureUpdate() {
  std::optional<double> update = getAll(parts::kUpdate);
  if (!update)
    return;
  for (llvm::StringRef part :
       {parts::kScale, parts::kNorm, parts::kClip, parts::kReport})
    *update += getAll(part).value_or(0);
  *update += getAll(parts::kStatistics).value_or(0) *
             static_cast<double>(measured.microBatches);
  model.update = *update;
}

/// Adds to all-reduces the time of adding up: each rank adds up its share of
/// all groups' sums.
void KfacMeasurer::measureSums() {
  // Both are indexed by whether moments are added up, rather than gradients.
  double seconds[2] = {0, 0}, times[2] = {0, 0};
  for (const auto &[name, task] : byName) {
    llvm::StringRef part = splitName(name).first;
    if (!part.consume_front(parts::kCombine) || part.starts_with("_results"))
      continue;
    bool isMoment = part.starts_with("_moments");
    seconds[isMoment] += task.seconds;
    times[isMoment] += task.copies;
  }
  for (bool isMoment : {false, true}) {
    TransferCost &reduce =
        isMoment ? rates.reduceFactors : rates.reduceGradients;
    if (times[isMoment] > 0)
      reduce.secondsPerElement += seconds[isMoment] / times[isMoment] /
                                  static_cast<double>(workload.elementsOfPart) *
                                  static_cast<double>(workload.groups - 1) /
                                  static_cast<double>(workload.ranks);
  }
}

//===----------------------------------------------------------------------===//
// Inversions
//===----------------------------------------------------------------------===//

/// Returns, for each size, the factor by which its matrices take longer than
/// estimated, given the measured seconds of all blocks. The factors are those
/// that make these seconds most likely if they were counts: maximum likelihood
/// by expectation maximization (L. Shepp, Y. Vardi, 1982).
static std::map<int64_t, double>
fitSizes(llvm::ArrayRef<std::map<int64_t, double>> estimated,
         llvm::ArrayRef<double> seconds) {
  constexpr int kRounds = 200;
  double all = 0, measured = 0;
  std::map<int64_t, double> wholes, factors;
  for (auto [sizes, time] : llvm::zip_equal(estimated, seconds)) {
    measured += time;
    for (auto [size, estimate] : sizes) {
      wholes[size] += estimate;
      all += estimate;
    }
  }
  if (all <= 0)
    return factors;
  for (auto [size, whole] : wholes)
    factors[size] = measured / all;
  for (int round = 0; round < kRounds; ++round) {
    std::map<int64_t, double> explained;
    for (auto [sizes, time] : llvm::zip_equal(estimated, seconds)) {
      double sum = 0;
      for (auto [size, estimate] : sizes)
        sum += factors[size] * estimate;
      for (auto [size, estimate] : sizes)
        explained[size] += sum > 0 ? estimate * time / sum : 0;
    }
    for (auto &[size, factor] : factors)
      factor *= wholes[size] > 0 ? explained[size] / wholes[size] : 1;
  }
  return factors;
}

/// Sets the times of inversions. If no measured block has a size, its estimate
/// is scaled by the ratio of all measured times to their estimates.
void KfacMeasurer::measureInversions() {
  KfacPlan alone;
  alone.columns.factors.assign(model.factors.size(), 0);
  alone.owners.assign(model.factors.size(), 0);
  InversionCost estimate = makeMeasuredInversionCost(rates.inversions);
  std::vector<std::map<int64_t, double>> estimated;
  std::vector<double> seconds;
  std::map<int64_t, double> factors;
  double all = 0, whole = 0;
  for (const InversionTask &task : listInversions(model, alone)) {
    std::optional<double> time = get(parts::kInvert, task.block);
    std::map<int64_t, double> sizes;
    for (auto [size, count] : task.counts) {
      sizes[size] = estimate(size, count);
      factors[size] = 0;
      all += time ? sizes[size] : 0;
    }
    if (!time)
      continue;
    whole += *time;
    estimated.push_back(std::move(sizes));
    seconds.push_back(*time);
  }
  if (all <= 0 || whole <= 0)
    return;
  for (auto &[size, factor] : factors)
    factor = whole / all;
  for (auto [size, factor] : fitSizes(estimated, seconds))
    factors[size] = factor;
  rates.inversions.clear();
  for (auto [size, factor] : factors) {
    // No inversion takes zero time.
    constexpr double kLeast = 1e-12;
    double each = estimate(size, 2) - estimate(size, 1);
    rates.inversions.push_back(
        {size, factor * std::max(0.0, estimate(size, 1) - each),
         std::max(factor * each, kLeast)});
  }
}

llvm::Error KfacMeasurer::measure() {
  if (llvm::Error error = checkBlocks())
    return error;
  for (int64_t block : llvm::seq<int64_t>(0, model.blocks.size())) {
    measurePass(block, /*isForward=*/true);
    measurePass(block, /*isForward=*/false);
    measureMeans(block);
    measurePrecondition(block);
  }
  measureUpdate();
  measureSums();
  measureInversions();
  return llvm::Error::success();
}

llvm::Error planning::measureKfac(const MeasuredCosts &measured,
                                  const KfacWorkload &workload,
                                  KfacModel &model, KfacRates &rates) {
  return KfacMeasurer(measured, workload, model, rates).measure();
}

//===- Optimizers.cpp - One record for each optimizer ---------------------===//
//
// An optimizer's record consists of its parameters, its states, and its update
// as a formula. The order of floating-point operations is that of PyTorch or,
// if that lacks the optimizer, of its authors' program, so that results differ
// by rounding errors at most. docs/adding-a-setting.md explains how to add an
// optimizer.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/Job/Averages.h"
#include "OptimizerUpdate.h"

#include "Hfta/Dialect/Hfta/IR/PackedTriangle.h"

using namespace mlir;
using namespace mlir::hfta;
using Kind = ParameterInfo::Kind;

ArrayRef<OptimizerInfo> hfta::getOptimizers() {
  static const std::vector<OptimizerInfo> kOptimizers = [] {
    std::vector<OptimizerInfo> all;
    for (ArrayRef<OptimizerInfo> some :
         {getMomentumOptimizers(), getAdaptiveOptimizers(),
          getScaledOptimizers(), getMatrixOptimizers(),
          getScheduleFreeOptimizers(), getKroneckerOptimizers()})
      llvm::append_range(all, some);
    return all;
  }();
  return kOptimizers;
}

const OptimizerInfo *hfta::findOptimizer(StringRef name) {
  return findByName(getOptimizers(), name);
}

/// The axes that number a layer's outputs where nothing else is known.
static constexpr int64_t kFirstAxis[] = {0};

/// Returns the number of elements along some axes.
static int64_t countElements(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shape[axis];
  return count;
}

/// Returns the shape of a symmetric matrix' triangle, its elements, or a number
/// for each of its `side` rows.
static std::optional<SmallVector<int64_t>> getShapeOverSide(StateExtent extent,
                                                            int64_t side) {
  if (side > kMostSide)
    return std::nullopt;
  switch (extent) {
  case StateExtent::rowTriangle:
  case StateExtent::columnTriangle:
    return SmallVector<int64_t>{*getPackedSize(side)};
  case StateExtent::rowSquare:
  case StateExtent::columnSquare:
    return SmallVector<int64_t>{side, side};
  default:
    return SmallVector<int64_t>{side};
  }
}

std::optional<SmallVector<int64_t>>
OptimizerState::getShape(ArrayRef<int64_t> parameter,
                         ArrayRef<int64_t> outputAxes) const {
  SmallVector<int64_t> shape = llvm::to_vector(parameter);
  size_t rank = shape.size();
  if (rank < leastRank)
    return std::nullopt;
  if (rank > 0 && outputAxes.empty())
    outputAxes = kFirstAxis;
  switch (extent) {
  case StateExtent::parameter:
    return shape;
  case StateExtent::number:
    return SmallVector<int64_t>();
  case StateExtent::unlessMatrix:
    return rank < 2 ? std::optional(shape) : std::nullopt;
  case StateExtent::rows:
  case StateExtent::columns:
    if (rank < 2)
      return std::nullopt;
    shape.erase(shape.end() - (extent == StateExtent::rows ? 1 : 2));
    return shape;
  case StateExtent::outputs:
    return llvm::map_to_vector(outputAxes,
                               [&](int64_t axis) { return parameter[axis]; });
  case StateExtent::rowTriangle:
  case StateExtent::rowSquare:
  case StateExtent::rowSide:
    return getShapeOverSide(extent, countElements(parameter, outputAxes));
  case StateExtent::columnTriangle:
  case StateExtent::columnSquare:
  case StateExtent::columnSide:
    if (rank < 2)
      return std::nullopt;
    return getShapeOverSide(extent, llvm::product_of(parameter) /
                                        countElements(parameter, outputAxes));
  }
  llvm_unreachable("all extents have a shape");
}

SmallVector<const OptimizerState *>
OptimizerInfo::getStates(ArrayRef<StringRef> given) const {
  SmallVector<const OptimizerState *> present;
  for (const OptimizerState &state : states)
    if (state.onlyWith.empty() || llvm::is_contained(given, state.onlyWith))
      present.push_back(&state);
  return present;
}

SmallVector<const OptimizerState *>
OptimizerInfo::getStates(ArrayRef<StringRef> given, ArrayRef<int64_t> parameter,
                         ArrayRef<int64_t> outputAxes) const {
  return llvm::filter_to_vector(
      getStates(given), [&](const OptimizerState *state) {
        return state->getShape(parameter, outputAxes).has_value();
      });
}

int64_t OptimizerInfo::countStateElements(ArrayRef<StringRef> given,
                                          ArrayRef<int64_t> parameter,
                                          ArrayRef<int64_t> outputAxes) const {
  int64_t count = 0;
  for (const OptimizerState *state : getStates(given, parameter, outputAxes))
    count += llvm::product_of(*state->getShape(parameter, outputAxes));
  return count;
}

SmallVector<StringRef>
OptimizerInfo::getScalars(ArrayRef<StringRef> given) const {
  SmallVector<StringRef> names;
  for (const ParameterInfo &parameter : parameters)
    if (parameter.kind != Kind::flag && parameter.kind != Kind::word &&
        (parameter.kind != Kind::optional ||
         llvm::is_contained(given, parameter.name)))
      names.push_back(parameter.name);
  if (usesStep)
    names.push_back("step");
  return names;
}

bool OptimizerInfo::keepsAverage() const {
  return findByName(states, kAverageOffsetState);
}

bool OptimizerInfo::hasOption(StringRef option) const {
  for (const ParameterInfo &parameter : parameters) {
    SmallVector<StringRef> words;
    parameter.words.split(words, '|');
    bool isOption =
        parameter.kind == Kind::flag || parameter.kind == Kind::optional;
    if ((isOption && parameter.name == option) ||
        (parameter.kind == Kind::word && llvm::is_contained(words, option)))
      return true;
  }
  return false;
}

SmallVector<StringRef> hfta::getGivenOptions(const OptimizerKind &kind) {
  return SmallVector<StringRef>(kind.options.begin(), kind.options.end());
}

const OptimizerInfo *hfta::findAveragingOptimizer(const Job &job) {
  for (const OptimizerKind &kind : job.optimizers)
    if (const OptimizerInfo *info = findOptimizer(kind.name);
        info && info->keepsAverage())
      return info;
  return nullptr;
}

const ParameterGroup *hfta::findOptimizerGroup(const Job &job,
                                               ArrayRef<int64_t> groups) {
  for (int64_t index : llvm::reverse(groups))
    if (job.groupsOfParameters[index].optimizer >= 0)
      return &job.groupsOfParameters[index];
  return nullptr;
}

SmallVector<StringRef> hfta::getStateOrder() {
  SmallVector<StringRef> order;
  for (const OptimizerInfo &optimizer : getOptimizers()) {
    // States that are new come directly before the next one that is known.
    auto *next = order.end();
    for (const OptimizerState &state : llvm::reverse(optimizer.states)) {
      auto *known = llvm::find(order, state.name);
      assert(known == order.end() || known <= next);
      next = known != order.end() ? known : order.insert(next, state.name);
    }
  }
  return order;
}

std::string hfta::describeStates(const Job &job, int64_t kind) {
  if (job.optimizers.empty())
    return "";
  const OptimizerKind &own = job.optimizers[kind];
  std::string text = own.name;
  for (const OptimizerState *state :
       findOptimizer(own.name)->getStates(getGivenOptions(own)))
    if (!state->onlyWith.empty())
      text += " " + state->onlyWith.str();
  for (const ParameterGroup &group : job.groupsOfParameters)
    if (group.optimizer >= 0)
      text +=
          " of " + group.members + ": " + job.optimizers[group.optimizer].name;
  if (!job.lossScale.empty())
    text += " loss_scale";
  if (!job.average.empty())
    text += " average";
  if (job.preconditioner.empty())
    return text;
  text += " " + job.preconditioner + " " + job.kfacMethod + " others " +
          job.kfacOthers + " embedding " + job.kfacEmbedding + " block " +
          std::to_string(job.kfacBlock) + " in " + job.getInversionType();
  for (const std::string &pattern : job.kfacExclude)
    text += " without " + pattern;
  return text;
}

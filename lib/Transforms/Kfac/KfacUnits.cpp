//===- KfacUnits.cpp - Parameters that K-FAC treats together --------------===//

#include "Kfac/KfacUnits.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

#include "Hfta/Dialect/Hfta/IR/Training.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// A parameter's symbol, and the copy that uses it, or -1 for all copies.
using Key = std::pair<StringRef, int64_t>;
using Layers = std::map<Key, SmallVector<LayerOp>>;

class UnitFinder {
public:
  explicit UnitFinder(TaskBuilder &tasks) : tasks(tasks), job(tasks.getJob()) {}

  std::vector<KfacUnit> find();

private:
  void collectLayers();
  SmallVector<int64_t> getCopies(VariableOp variable) const;
  static SmallVector<LayerOp> findLayers(const Layers &all,
                                         const TrainedLeaf &leaf);
  VariableOp getGradient(VariableOp variable) const {
    return tasks.getVariables().lookupOf(variable, Purpose::gradient);
  }
  bool isExcluded(VariableOp variable) const;

  void decide(KfacUnit &unit);
  void makePlain(KfacUnit &unit, const Twine &reason) const {
    unit.rule = KfacRule::plain;
    unit.reason = reason.str();
  }
  void makeKronecker(KfacUnit &unit);
  void makeUnitWise(KfacUnit &unit, bool isBias);
  bool hasSameOrder(const KfacUnit &unit, VariableOp bias, bool isColumn) const;
  void takeBias(KfacUnit &unit, bool isColumn);

  TaskBuilder &tasks;
  const Job &job;
  /// For each parameter, the layers of which it is the weight, and those of
  /// which it is the bias.
  Layers layersOf, biasOf;
  std::vector<std::unique_ptr<ParameterPattern>> excluded;
  /// Biases that belong to another parameter's unit.
  std::set<Key> taken;
};

} // namespace

void UnitFinder::collectLayers() {
  for (auto function : tasks.getModule().getOps<func::FuncOp>()) {
    // Skip backwards from drawn targets: they name the same layers again, and
    // store no gradients.
    auto task = function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
    if (task && task.getPart() == parts::kSampledMoments)
      continue;
    for (auto layer : function.getOps<LayerOp>()) {
      int64_t copy = layer.getCopy().value_or(-1);
      layersOf[{layer.getParameter(), copy}].push_back(layer);
      if (layer.getBias())
        biasOf[{*layer.getBias(), copy}].push_back(layer);
    }
  }
}

/// Returns the copies that use a parameter separately, each of which gets a
/// unit; {-1} if all copies use it together.
SmallVector<int64_t> UnitFinder::getCopies(VariableOp variable) const {
  auto isApart = [&](const Layers &layers) {
    auto next = layers.lower_bound({variable.getSymName(), 0});
    return next != layers.end() && next->first.first == variable.getSymName();
  };
  if (variable.getCopy())
    return {static_cast<int64_t>(*variable.getCopy())};
  if (!isApart(layersOf) && !isApart(biasOf))
    return {-1};
  return llvm::to_vector(llvm::seq<int64_t>(0, job.copies));
}

/// Returns the layers in `all` of the leaf's variable, for all copies and for
/// the leaf's copy.
SmallVector<LayerOp> UnitFinder::findLayers(const Layers &all,
                                            const TrainedLeaf &leaf) {
  SmallVector<LayerOp> layers;
  StringRef name = VariableOp(leaf.variable).getSymName();
  SmallVector<int64_t> copies = {-1};
  if (leaf.copy)
    copies.push_back(*leaf.copy);
  for (int64_t copy : copies)
    if (auto found = all.find({name, copy}); found != all.end())
      llvm::append_range(layers, found->second);
  return layers;
}

bool UnitFinder::isExcluded(VariableOp variable) const {
  return llvm::any_of(excluded, [&](const auto &pattern) {
    return pattern->matches(variable.getOwnName());
  });
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Whether the elements of a bias (`isColumn`), or of a shift, are in the order
/// of the unit's output columns, or features. Along a single axis there is only
/// one order.
bool UnitFinder::hasSameOrder(const KfacUnit &unit, VariableOp bias,
                              bool isColumn) const {
  LayerOp layer = unit.layers.front();
  SmallVector<int64_t> axes = unit.featureAxes;
  ArrayRef<int64_t> shape = getShape(layer.getOutputGradient());
  if (isColumn) {
    const LayerSide &side = unit.axes->output;
    shape = side.shape;
    axes = side.blocks;
    llvm::append_range(axes, side.columns);
    if (side.kind != LayerSide::Kind::columns)
      return true;
  }
  llvm::erase_if(axes, [&](int64_t axis) { return shape[axis] == 1; });
  if (axes.size() <= 1)
    return true;
  std::optional<GradientPath> path =
      GradientPath::find(layer.getOutputGradient(), getGradient(bias));
  return llvm::is_sorted(axes) && path && path->keepsOrder();
}

/// Takes a bias into the weight's unit if it is trained, all layers of the
/// weight add it, and no other op does.
void UnitFinder::takeBias(KfacUnit &unit, bool isColumn) {
  LayerOp first = unit.layers.front();
  if (!first.getBias())
    return;
  StringRef name = *first.getBias();
  VariableOp bias = tasks.lookup(name);
  int64_t copy = unit.weight.copy.value_or(-1);
  for (LayerOp layer : unit.layers)
    if (layer.getBias() != first.getBias() ||
        (isColumn && !layer.getBiasColumn()))
      return;
  if (!bias.getTrained() || !getGradient(bias) || isExcluded(bias))
    return;
  // Any other use of the bias would contribute to its gradient.
  for (int64_t of : {int64_t(-1), copy}) {
    if (layersOf.count({name, of}))
      return;
    auto users = biasOf.find({name, of});
    if (users != biasOf.end() &&
        !llvm::all_of(users->second, [&](LayerOp layer) {
          return layer.getParameter() == first.getParameter();
        }))
      return;
  }
  int64_t elements = bias.getTensorType().getNumElements();
  int64_t expected =
      isColumn ? unit.axes->blocks * unit.axes->outputs : unit.features;
  if (elements != expected || !hasSameOrder(unit, bias, isColumn))
    return;
  unit.bias = TrainedLeaf{bias, unit.weight.copy};
  taken.insert({name, copy});
}

static bool isSameSide(const LayerSide &first, const LayerSide &second) {
  return first.kind == second.kind &&
         first.blocks.size() == second.blocks.size() &&
         first.columns.size() == second.columns.size();
}

void UnitFinder::makeKronecker(KfacUnit &unit) {
  VariableOp gradient = getGradient(unit.weight.variable);
  for (LayerOp layer : unit.layers) {
    std::optional<LayerAxes> axes = getLayerAxes(layer);
    std::optional<GradientPath> path =
        GradientPath::find(layer.getWeightGradient(), gradient);
    if (!axes)
      return makePlain(unit, "it is the weight of layers of different kinds");
    if (!path || !path->getReduced().empty())
      return makePlain(unit, "a layer uses a part of it");
    if (!unit.axes) {
      unit.axes = axes;
      unit.path = path;
      continue;
    }
    bool isSame = unit.axes->blocks == axes->blocks &&
                  unit.axes->weightShape == axes->weightShape &&
                  unit.axes->permutation == axes->permutation &&
                  isSameSide(unit.axes->input, axes->input) &&
                  isSameSide(unit.axes->output, axes->output);
    if (!isSame || !(*unit.path == *path))
      return makePlain(unit, "its layers don't use it in the same way");
  }
  unit.rule = KfacRule::kronecker;
  if (unit.axes->input.kind != LayerSide::Kind::lookups)
    takeBias(unit, /*isColumn=*/true);
}

/// Gives a unit the rule `unit`, if each sample's gradient of the parameter can
/// be computed as a sum over positions; otherwise makes it plain. This is for
/// scales of normalized values and, with `isBias`, for parameters that are
/// added.
void UnitFinder::makeUnitWise(KfacUnit &unit, bool isBias) {
  if (job.kfacOthers == "plain")
    return makePlain(unit, "'others = plain'");
  LayerOp layer = unit.layers.front();
  if (unit.layers.size() > 1)
    return makePlain(unit, "it is used several times");
  bool isNorm = !isBias && layer.getKind() == LayerKind::norm;
  Value from = isBias ? layer.getOutputGradient() : layer.getWeightGradient();
  if (!isNorm && from != layer.getOutputGradient())
    return makePlain(unit, "the gradients of single samples aren't known");
  ArrayRef<int64_t> shape = getShape(layer.getOutputGradient());
  unit.path = GradientPath::find(from, getGradient(unit.weight.variable));
  std::optional<SampleAxis> samples;
  if (std::optional<int64_t> stride = layer.getOutputSamples())
    samples = findSampleAxis(shape, *stride, job.getMicroBatch());
  if (!unit.path || !unit.path->keepsOrder() || !samples)
    return makePlain(unit, "the gradients of single samples aren't known");
  unit.samples = *samples;
  // A norm's op may have added up its scale's gradient over all axes but axis
  // 1.
  if (getShape(from) == shape) {
    unit.parts = from;
    for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
      if (!llvm::is_contained(unit.path->getReduced(), axis))
        unit.featureAxes.push_back(axis);
  } else {
    unit.featureAxes = {1};
  }
  // An axis of a single sample isn't summed over, but it numbers no features
  // either.
  if (shape[samples->axis] == 1)
    llvm::erase(unit.featureAxes, samples->axis);
  if (llvm::is_contained(unit.featureAxes, samples->axis))
    return makePlain(unit, "each sample has elements of its own in it");
  unit.rule = KfacRule::unit;
  unit.features =
      VariableOp(unit.weight.variable).getTensorType().getNumElements();
  if (isNorm)
    takeBias(unit, /*isColumn=*/false);
}

void UnitFinder::decide(KfacUnit &unit) {
  VariableOp variable = unit.weight.variable;
  if (isExcluded(variable))
    return makePlain(unit, "'exclude'");
  unit.layers = findLayers(layersOf, unit.weight);
  if (unit.layers.empty()) {
    unit.layers = findLayers(biasOf, unit.weight);
    if (unit.layers.empty())
      return makePlain(unit, "it is the weight of no layer that kfac knows");
    return makeUnitWise(unit, /*isBias=*/true);
  }
  LayerKind kind = unit.layers.front().getKind();
  for (LayerOp layer : unit.layers)
    if (layer.getKind() != kind)
      return makePlain(unit, "it is the weight of layers of different kinds");
  switch (kind) {
  case LayerKind::dense:
  case LayerKind::convolution:
  case LayerKind::transposed_convolution:
    return makeKronecker(unit);
  case LayerKind::embedding:
    if (job.kfacEmbedding == "plain")
      return makePlain(unit, "'embedding = plain'");
    return makeKronecker(unit);
  case LayerKind::norm:
  case LayerKind::other:
    return makeUnitWise(unit, /*isBias=*/false);
  }
}

std::vector<KfacUnit> UnitFinder::find() {
  for (const std::string &pattern : job.kfacExclude)
    excluded.push_back(std::make_unique<ParameterPattern>(pattern));
  collectLayers();
  std::vector<KfacUnit> units;
  for (auto variable : tasks.getModule().getOps<VariableOp>()) {
    if (!variable.getTrained() || !getGradient(variable))
      continue;
    for (int64_t copy : getCopies(variable)) {
      KfacUnit unit;
      unit.weight = {variable, copy < 0 ? std::nullopt : std::optional(copy)};
      decide(unit);
      units.push_back(std::move(unit));
    }
  }
  llvm::erase_if(units, [&](const KfacUnit &unit) {
    return taken.count({VariableOp(unit.weight.variable).getSymName(),
                        unit.weight.copy.value_or(-1)});
  });
  return units;
}

std::vector<KfacUnit> hfta::findKfacUnits(TaskBuilder &tasks) {
  return UnitFinder(tasks).find();
}

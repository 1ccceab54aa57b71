//===- CutPoints.cpp - Values after which a model can be cut --------------===//

#include "Hfta/Transforms/Pipeline/CutPoints.h"
#include "Pipeline/ModelGraph.h"
#include "Tasks/TaskBuilder.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// Finds the cut points of a model in one pass over its ops, from each cut
/// point to the next.
class CutPointFinder {
public:
  explicit CutPointFinder(const ModelGraph &graph)
      : graph(graph), live(graph.findLive()) {
    for (Operation *op : live) {
      bool reached = false, isPrepared = !isa<ReadOp>(op);
      for (Value operand : op->getOperands()) {
        Operation *producer = graph.getProducer(operand);
        reached |= producer ? fromData.contains(producer)
                            : isa<BlockArgument>(operand);
        isPrepared &= !producer || prepared.contains(producer);
      }
      if (reached)
        fromData.insert(op);
      if (isPrepared && !(reached && hasFloatResult(op)))
        prepared.insert(op);
      graph.forEachProducer(
          op, [&](Operation *producer) { usersOf[producer].push_back(op); });
    }
  }

  SmallVector<StringRef> find();

private:
  /// The ops on which some values depend, back to the last cut point so far.
  struct Part {
    DenseSet<Operation *> ops;
    bool followsLast = false; ///< whether an op uses the last cut point
    bool isLayer = false;     ///< whether an op reads the weight of a layer
  };
  static bool hasFloatResult(Operation *op);
  /// Whether an op's value carries on the dependence of the training on data:
  /// if not, the value needn't be among those of a cut.
  bool carriesOn(Operation *op) const {
    return fromData.contains(op) && !prepared.contains(op);
  }
  Part getPart(ArrayRef<Operation *> values);
  bool isAlone(const Part &part, ArrayRef<Operation *> values);

  const ModelGraph &graph;
  SmallVector<Operation *> live;
  DenseSet<Operation *> fromData;
  /// Ops that have no gradient: those computed from data with results that
  /// aren't floats, such as a mask that all layers use, and those computed from
  /// values that never change. Like labels, their results are passed on beside
  /// the cuts.
  DenseSet<Operation *> prepared;
  /// The live users of each op.
  DenseMap<Operation *, SmallVector<Operation *>> usersOf;
  SmallVector<Operation *> last; ///< the values of the last cut point
};

} // namespace

bool hfta::isWeightRead(ReadOp read) {
  auto model = read->getParentOfType<ModelOp>();
  auto variable = model.lookupSymbol<VariableOp>(read.getVariable());
  return variable && variable.getTrained() &&
         variable.getTensorType().getRank() > 1;
}

bool CutPointFinder::hasFloatResult(Operation *op) {
  return llvm::any_of(op->getResultTypes(), [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  });
}

CutPointFinder::Part CutPointFinder::getPart(ArrayRef<Operation *> values) {
  Part part;
  SmallVector<Operation *> pending(values);
  while (!pending.empty())
    graph.forEachProducer(pending.pop_back_val(), [&](Operation *producer) {
      bool isLast = llvm::is_contained(last, producer);
      part.followsLast |= isLast;
      auto read = dyn_cast<ReadOp>(producer);
      part.isLayer |= read && isWeightRead(read);
      if (part.ops.insert(producer).second && !isLast)
        pending.push_back(producer);
    });
  return part;
}

/// Whether only `values` carry the dependence on data out of `part`, so that
/// they can be a cut.
bool CutPointFinder::isAlone(const Part &part, ArrayRef<Operation *> values) {
  auto isInside = [&](Operation *user) {
    return part.ops.contains(user) || llvm::is_contained(values, user);
  };
  return llvm::all_of(part.ops, [&](Operation *op) {
    return !carriesOn(op) || llvm::all_of(usersOf[op], isInside);
  });
}

/// Returns the names of the cut points, in program order. Each part between two
/// cuts has a layer: an activation function or a norm stays with the layer
/// before it.
SmallVector<StringRef> CutPointFinder::find() {
  SmallVector<StringRef> names;
  StringRef pending;
  bool hasLayer = false;
  auto take = [&](const Part &part) {
    if (part.isLayer && !pending.empty()) {
      if (hasLayer)
        names.push_back(pending);
      hasLayer = false;
    }
    hasLayer |= part.isLayer;
  };
  DenseSet<Operation *> liveOps(live.begin(), live.end());
  for (Operation *op : live) {
    StringRef name = getOriginName(op);
    auto function = op->getParentOfType<func::FuncOp>();
    if (name.empty() || function.getSymName() != "forward")
      continue;
    SmallVector<Operation *> values = graph.findValues(name);
    // Several values may have the same name: handle it at the last one.
    if (values.empty() || values.back() != op ||
        !llvm::all_of(values, [&](Operation *value) {
          return liveOps.contains(value) && carriesOn(value);
        }))
      continue;
    Part part = getPart(values);
    if ((!last.empty() && !part.followsLast) || !isAlone(part, values))
      continue;
    take(part);
    pending = name;
    last = values;
  }
  SmallVector<Operation *> losses;
  for (Operation *op : graph.getLosses())
    if (op)
      losses.push_back(op);
  take(getPart(losses));
  return names;
}

SmallVector<StringRef> hfta::findCutPoints(const ModelGraph &graph) {
  return CutPointFinder(graph).find();
}

std::vector<std::string> hfta::findCutPoints(ModuleOp module) {
  std::vector<std::string> names;
  SmallVector<ModelOp> models(module.getOps<ModelOp>());
  if (models.size() == 1)
    for (StringRef name : findCutPoints(ModelGraph(models.front())))
      names.push_back(name.str());
  return names;
}

//===- KfacFromRows.cpp - Gradients that are never formed -----------------===//

#include "Kfac/KfacFromRows.h"

#include "Hfta/Transforms/Precision/Precision.h"
#include "Tasks/Blocks.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Choice of units
//===----------------------------------------------------------------------===//

/// The cost of a multiply-add in f64, in which inner products are computed,
/// relative to one in f32: a vector has half as many elements. Jobs in f64 use
/// the same number, although all cost the same there.
static constexpr double kWideCost = 2;

/// Whether a block with `rows` rows of `inputs` and `outputs` columns takes
/// fewer multiply-adds from its rows than from its gradient. Work common to
/// both ways isn't counted: the sum over rows of outer products, and the
/// unpacking of inverses. Measured times per multiply-add of both ways agreed
/// within 10 %, for layers [785, 256] and [785, 512] with 64 to 512 rows.
static bool isCheaperFromRows(double rows, double inputs, double outputs) {
  double fromGradient = inputs * outputs * (inputs + outputs);
  double fromRows = rows * (inputs * inputs + outputs * outputs);
  double innerProducts = kWideCost * rows * rows * (inputs + outputs);
  return fromRows + innerProducts < fromGradient;
}

/// Whether a dense layer's input and output gradient number their rows in the
/// same order; false for other layers.
static bool hasRowsInOrder(LayerOp layer, const LayerAxes &axes) {
  auto getRows = [&](int64_t operand, const LayerSide &side) {
    AffineMap map =
        cast<AffineMapAttr>((*layer.getIndexingMaps())[operand]).getValue();
    SmallVector<AffineExpr> rows;
    for (int64_t axis : side.getRows())
      rows.push_back(map.getResult(axis));
    return rows;
  };
  return layer.getKind() == LayerKind::dense &&
         getRows(0, axes.input) == getRows(1, axes.output);
}

/// Whether a step preconditions the unit from rows. It uses the gradient where
/// rows would first have to be copied out of a convolution's windows or
/// concatenated from several uses of the weight, where the factors are cut into
/// blocks, and where that is cheaper.
static bool isFromRows(const KfacUnit &unit, const Job &job) {
  if (unit.rule != KfacRule::kronecker || unit.layers.size() != 1 ||
      !hasRowsInOrder(unit.layers.front(), *unit.axes))
    return false;
  const LayerAxes &axes = *unit.axes;
  int64_t inputs = unit.getInputColumns();
  bool isCut = std::max(inputs, axes.outputs) > job.kfacBlock;
  return !isCut && isCheaperFromRows(static_cast<double>(axes.rows),
                                     static_cast<double>(inputs),
                                     static_cast<double>(axes.outputs));
}

/// Whether steps of the job can precondition from rows: each has one
/// micro-batch, and inverses are used. In eigenbases, the transformed gradient
/// is divided element by element, so that it must be formed.
static bool takesRows(const Job &job) {
  return job.kfacMethod != Job::kEigen && job.microBatches == 1;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// Makes backward tasks save the inputs and output gradients of their layers.
class RowKeeper {
public:
  explicit RowKeeper(TaskBuilder &tasks) : tasks(tasks) {}

  void keep(KfacUnit &unit) {
    LayerOp layer = unit.layers.front();
    unit.inputRows = keep(layer, layer.getInput(), "input");
    unit.outputRows = keep(layer, layer.getOutputGradient(), "output");
  }
  ArrayRef<VariableOp> getLeft() const { return left; }

private:
  VariableOp keep(LayerOp layer, Value value, StringRef side);
  VariableOp findKept(Value value);

  TaskBuilder &tasks;
  /// The new variables with rows, by value and copy (-1: all), as several
  /// layers may share the rows.
  std::map<std::pair<const void *, int64_t>, VariableOp> known;
  SmallVector<VariableOp> left;
};
} // namespace

static TaskAttr getTaskOf(LayerOp layer) {
  return layer->getParentOfType<func::FuncOp>()->getAttrOfType<TaskAttr>(
      HftaDialect::kTaskAttrName);
}

/// Skips casts that only make elements wider.
static Value skipWidening(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>()) {
    auto from =
        dyn_cast<FloatType>(getElementTypeOrSelf(cast.getInput().getType()));
    auto to = dyn_cast<FloatType>(cast.getElementType());
    if (!from || !to || getWider(from, to) != to)
      break;
    value = cast.getInput();
  }
  return value;
}

/// Returns the variable from which a task reads `value`, perhaps reshaped, if
/// it keeps its contents until gradients are preconditioned: then rows needn't
/// be saved again. Otherwise returns null. Saved values keep theirs until the
/// next step's forward, and so do cuts unless they are received from another
/// stage.
VariableOp RowKeeper::findKept(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  auto read = value.getDefiningOp<ReadOp>();
  if (!read || read.getCopy())
    return {};
  VariableOp variable = tasks.lookup(read.getVariable());
  bool isCut =
      variable.getRole() == Role::cut && tasks.getJob().getStageCount() == 1;
  return isCut || variable.getRole() == Role::saved ? variable : VariableOp();
}

VariableOp RowKeeper::keep(LayerOp layer, Value value, StringRef side) {
  std::optional<int64_t> copy = layer.getCopy();
  value = skipWidening(value);
  if (VariableOp kept = findKept(value))
    return kept;
  VariableOp &kept = known[{value.getAsOpaquePointer(), copy.value_or(-1)}];
  if (kept)
    return kept;
  OpBuilder &builder = tasks.getBuilder();
  builder.setInsertionPoint(layer->getBlock()->getTerminator());
  if (copy && isArrayed(value))
    value = UnstackOp::create(builder, layer.getLoc(),
                              getLogicalType(value.getType()), value,
                              layer.getCopyAttr());
  // Rows have the type in which the gradient would be computed.
  value =
      tasks.castTo(value, tasks.getFloatType(tasks.getJob().precision.compute));
  std::string place = side.str();
  if (copy)
    place += "." + std::to_string(*copy);
  kept = tasks.declareCarried(
      names::getCompilerSymbol("rows/" + place + "/" + layer.getParameter()),
      cast<RankedTensorType>(value.getType()), Role::saved);
  kept.setBlock(getTaskOf(layer).getBlock());
  kept->setLoc(layer.getLoc());
  tasks.write(value, kept);
  left.push_back(kept);
  return kept;
}

SmallVector<VariableOp> hfta::leaveRows(TaskBuilder &tasks,
                                        MutableArrayRef<KfacUnit> units) {
  if (!takesRows(tasks.getJob()))
    return {};
  RowKeeper keeper(tasks);
  for (KfacUnit &unit : units)
    if (isFromRows(unit, tasks.getJob()))
      keeper.keep(unit);
  return llvm::to_vector(keeper.getLeft());
}

//===----------------------------------------------------------------------===//
// Versions of tasks
//===----------------------------------------------------------------------===//

namespace {
/// Builds the versions of backward tasks that save rows instead of gradients.
class RowsVersions {
public:
  RowsVersions(TaskBuilder &tasks, ArrayRef<KfacUnit> units,
               ArrayRef<VariableOp> left)
      : tasks(tasks) {
    for (const KfacUnit &unit : units) {
      note(unit, unit.weight);
      if (unit.bias)
        note(unit, *unit.bias);
      if (!unit.isFromRows())
        continue;
      TaskAttr task = getTaskOf(unit.layers.front());
      StringRef part = task.getPart().getValue();
      for (StringRef version : {part, parts::getMomentsPart(part)})
        versioned.insert({version, task.getBlock()});
    }
    for (VariableOp variable : left)
      rows.insert(variable.getSymName());
  }

  void build() {
    for (auto function :
         llvm::to_vector(tasks.getModule().getOps<func::FuncOp>())) {
      auto task = function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
      if (!task)
        continue;
      StringRef part = task.getPart().getValue();
      if (versioned.count({part, task.getBlock()}) > 0)
        buildVersion(function, parts::getRowsPart(part), task.getBlock());
    }
  }

private:
  void note(const KfacUnit &unit, const TrainedLeaf &leaf) {
    VariableOp gradient =
        tasks.getVariables().lookupOf(leaf.variable, Purpose::gradient);
    auto &found = unit.isFromRows() ? untaken : taken;
    found[gradient.getSymName()].insert(leaf.copy.value_or(-1));
  }
  /// Whether no task of a step uses the gradient that `write` stores, for any
  /// copy that the write is for.
  bool isUntaken(WriteOp write) const {
    StringRef name = write.getVariable();
    auto known = untaken.find(name);
    if (known == untaken.end())
      return false;
    if (!write.getCopy())
      return taken.count(name) == 0;
    return known->second.count(static_cast<int64_t>(*write.getCopy())) > 0;
  }

  void buildVersion(func::FuncOp function, StringRef part, int64_t block) {
    Block &original = function.getBody().front();
    func::FuncOp version = tasks.startTask(part, block);
    IRMapping values;
    for (Operation &op : original.without_terminator()) {
      auto write = dyn_cast<WriteOp>(op);
      if (!isa<LayerOp>(op) && !(write && isUntaken(write)))
        tasks.getBuilder().clone(op, values);
    }
    eraseDeadOps(version.getBody().front());
    for (auto write : llvm::to_vector(original.getOps<WriteOp>()))
      if (rows.count(write.getVariable()) > 0)
        write.erase();
    eraseDeadOps(original);
  }

  TaskBuilder &tasks;
  /// By the symbol of a gradient, the copies (-1: all) for which no task of a
  /// step uses it, and those for which some task does.
  std::map<StringRef, std::set<int64_t>> untaken, taken;
  std::set<StringRef> rows; ///< the variables that are written in their place
  /// The tasks of which versions are built, by part and block.
  std::set<std::pair<StringRef, int64_t>> versioned;
};
} // namespace

void hfta::buildRowsVersions(TaskBuilder &tasks, ArrayRef<KfacUnit> units,
                             ArrayRef<VariableOp> left) {
  RowsVersions(tasks, units, left).build();
}
